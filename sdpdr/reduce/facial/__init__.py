"""Facial reduction with proof."""

from sdpdr.reduce.facial.narrowed import Consequences
from sdpdr.reduce.facial.reduction import (
    Exposure,
    FacialReduction,
    exposures_from,
    facial_reduction,
    verify,
)

__all__ = [
    "Consequences",
    "Exposure",
    "FacialReduction",
    "exposures_from",
    "facial_reduction",
    "verify",
]
