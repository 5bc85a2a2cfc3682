"""Random programs whose optimal values are known exactly."""

from sdpdr.library.planted.kinds import KINDS, planted
from sdpdr.library.planted.program import Planted

__all__ = ["KINDS", "Planted", "planted"]
