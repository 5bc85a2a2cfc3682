"""Reductions from one program to another, each with ``accepts``, ``apply`` and a ``lift``."""

from sdpdr.base.gather import names as _names
from sdpdr.reduce.balance import Balance as Balance
from sdpdr.reduce.base import Composed as Composed
from sdpdr.reduce.base import Reduced as Reduced
from sdpdr.reduce.base import Reduction as Reduction
from sdpdr.reduce.chordal import Chordal as Chordal
from sdpdr.reduce.dedupe import Dedupe as Dedupe
from sdpdr.reduce.dual import Dual as Dual
from sdpdr.reduce.face import Face as Face
from sdpdr.reduce.facial import Exposure as Exposure
from sdpdr.reduce.facial import FacialReduction as FacialReduction
from sdpdr.reduce.facial import facial_reduction as facial_reduction
from sdpdr.reduce.landmark import Landmark as Landmark
from sdpdr.reduce.scale import Scale as Scale

__all__ = _names(vars())
