"""Programs with known answers, and laws for new blocks and maps: for authors of these and solvers.

Two collections test a solver. *Planted programs* (`planted`) have an optimum that is known exactly
by construction, with or without interior. *Hard instances* (`hard_instances`) are small programs on
which solvers in double precision are often wrong; the answer to each is proved by hand.
A `GroundTruth` lists false statements of a solution:

>>> import sdpdr
>>> from sdpdr.testing import planted
>>> made = planted("chain", seed=3)
>>> made.truth.contradictions(sdpdr.solve(made.sdp))
()

`graded` is for teachers: it says how good the point and the multipliers of a student are, without
an answer key.
"""

from sdpdr.linalg import check_map
from sdpdr.model import check_block
from sdpdr.testing.grade import Grade, graded
from sdpdr.testing.instances import find_hard_instance, hard_instances
from sdpdr.testing.planted_kinds import KINDS, planted
from sdpdr.testing.planted_program import Planted
from sdpdr.testing.truth import CHAPTERS, GroundTruth, HardInstance

__all__ = [
    "CHAPTERS",
    "KINDS",
    "Grade",
    "GroundTruth",
    "HardInstance",
    "Planted",
    "check_block",
    "check_map",
    "find_hard_instance",
    "graded",
    "hard_instances",
    "planted",
]
