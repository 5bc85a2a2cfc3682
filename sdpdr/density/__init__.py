"""How dense points lie: by a kernel, by a ball, by an ellipsoid; and the least ellipsoid itself."""

from sdpdr.density.ellipsoid import Ellipsoid, minimum_ellipsoid
from sdpdr.density.estimates import ball, ellipsoid, kernel
from sdpdr.density.volumes import ball_volume

__all__ = ["Ellipsoid", "ball", "ball_volume", "ellipsoid", "kernel", "minimum_ellipsoid"]
