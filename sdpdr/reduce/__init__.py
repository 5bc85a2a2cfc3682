"""Reductions from one program to another, each with ``accepts``, ``apply`` and a ``lift``."""

from sdpdr.reduce.base import Composed, Reduced, Reduction
from sdpdr.reduce.dedupe import Dedupe
from sdpdr.reduce.dual import Dual
from sdpdr.reduce.face import Face
from sdpdr.reduce.scale import Scale

__all__ = ["Composed", "Dedupe", "Dual", "Face", "Reduced", "Reduction", "Scale"]
