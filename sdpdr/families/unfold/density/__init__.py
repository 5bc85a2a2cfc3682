"""How dense points lie: by a kernel, by a ball, by an ellipsoid; and the least ellipsoid itself."""

from sdpdr.families.unfold.density.ellipsoid import Ellipsoid, ball_volume, minimum_ellipsoid
from sdpdr.families.unfold.density.estimates import ball, ellipsoid, kernel

__all__ = ["Ellipsoid", "ball", "ball_volume", "ellipsoid", "kernel", "minimum_ellipsoid"]
