"""Facial reduction with proof, over the rationals."""

from sdpdr.reduce.facial.exposure import Exposure, verify
from sdpdr.reduce.facial.reduction import FacialReduction, exposures_from, facial_reduction

__all__ = ["Exposure", "FacialReduction", "exposures_from", "facial_reduction", "verify"]
