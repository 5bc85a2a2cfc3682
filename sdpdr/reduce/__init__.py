"""Reductions from one program to another, each with ``accepts``, ``apply`` and a ``lift``."""

from sdpdr.reduce.balance import Balance
from sdpdr.reduce.base import Composed, Dual, Reduced, Reduction
from sdpdr.reduce.chordal import Chordal
from sdpdr.reduce.dedupe import Dedupe
from sdpdr.reduce.face import Face
from sdpdr.reduce.facial import Exposure, FacialReduction, exposures_from, facial_reduction
from sdpdr.reduce.landmark import Elastic, Landmark
from sdpdr.reduce.scale import Scale

__all__ = [
    "Balance",
    "Chordal",
    "Composed",
    "Dedupe",
    "Dual",
    "Elastic",
    "Exposure",
    "Face",
    "FacialReduction",
    "Landmark",
    "Reduced",
    "Reduction",
    "Scale",
    "exposures_from",
    "facial_reduction",
]
