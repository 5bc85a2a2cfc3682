"""The landmark form: few columns, rows added as they are broken, a proof for the full program."""

from sdpdr.solving.landmark.solver import LandmarkSolver, landmark_way

__all__ = ["LandmarkSolver", "landmark_way"]
