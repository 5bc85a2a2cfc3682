"""Random programs whose optimal values are known exactly."""

from sdpdr.lab.library.planted.kinds import KINDS, planted
from sdpdr.lab.library.planted.program import Planted

__all__ = ["KINDS", "Planted", "planted"]
