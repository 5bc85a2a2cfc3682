"""Two bases for a stack of matrices: local methods, and the convex program that bounds them."""

from sdpdr.bilinear.bases import Bases
from sdpdr.bilinear.certificate import certify, smoothed
from sdpdr.bilinear.closed import two_d_pca, two_d_svd
from sdpdr.bilinear.frank_wolfe import frank_wolfe
from sdpdr.bilinear.inputs import matrices, numbers_of_components
from sdpdr.bilinear.interior import interior_point
from sdpdr.bilinear.local import alternating, ascent, glram
from sdpdr.bilinear.relaxation import Relaxation
from sdpdr.bilinear.runs import Record, RunStatus

__all__ = [
    "Bases",
    "Record",
    "Relaxation",
    "RunStatus",
    "alternating",
    "ascent",
    "certify",
    "frank_wolfe",
    "glram",
    "interior_point",
    "matrices",
    "numbers_of_components",
    "smoothed",
    "two_d_pca",
    "two_d_svd",
]
