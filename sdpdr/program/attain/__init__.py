r"""The other side of a proof: a value that some feasible point is proved to have.

A bound says that no feasible point is better. That one is as good is a second theorem, and needs a
point that is feasible, not nearly so: where a program is ill-posed, points that violate their rows
by rounding alone can be better by half.
"""

from sdpdr.program.attain.attain import Attained, InterruptedProofError, attain
from sdpdr.program.attain.closed import made_psd
from sdpdr.program.attain.inward import central_multipliers, inward_multipliers

__all__ = [
    "Attained",
    "InterruptedProofError",
    "attain",
    "central_multipliers",
    "inward_multipliers",
    "made_psd",
]
