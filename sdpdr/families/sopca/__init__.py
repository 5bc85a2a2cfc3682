"""Two bases for a stack of matrices: local searches, and the relaxation that bounds them."""

from sdpdr.families.sopca.bases import alternating, ascent, glram, two_d_svd
from sdpdr.families.sopca.interior import interior_point

__all__ = ["alternating", "ascent", "glram", "interior_point", "two_d_svd"]
