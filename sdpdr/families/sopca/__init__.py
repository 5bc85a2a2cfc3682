"""Two bases for a stack of matrices: local methods, and the convex program that bounds them."""

from sdpdr.families.sopca.bases import Bases, two_d_svd
from sdpdr.families.sopca.convex import certify
from sdpdr.families.sopca.interior import interior_point
from sdpdr.families.sopca.local import alternating, ascent, glram
from sdpdr.families.sopca.relaxation import Relaxation
from sdpdr.families.sopca.runs import RunStatus

__all__ = [
    "Bases",
    "Relaxation",
    "RunStatus",
    "alternating",
    "ascent",
    "certify",
    "glram",
    "interior_point",
    "two_d_svd",
]
