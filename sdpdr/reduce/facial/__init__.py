"""Facial reduction with proof."""

from sdpdr.reduce.facial.exposure import Exposure, verify
from sdpdr.reduce.facial.faces import Consequences
from sdpdr.reduce.facial.reduction import FacialReduction, facial_reduction

__all__ = [
    "Consequences",
    "Exposure",
    "FacialReduction",
    "facial_reduction",
    "verify",
]
