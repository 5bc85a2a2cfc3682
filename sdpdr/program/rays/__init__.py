r"""Proofs that a program has no feasible point, or no limit to its objective.

*Infeasible.* Multipliers y (:math:`y \ge 0` on inequalities) and :math:`Z \succeq 0` with

.. math::  A^*(y) - G^*(Z) \succeq 0, \qquad B^T y - H^* Z \ (= 0, \ge 0), \qquad
           -b^T y - \langle g, Z\rangle > 0

leave no point: at one, the first two pair to something that is not negative, and equals
:math:`b^T y + \langle g, Z\rangle` at most, which is negative. It is the bound that these
multipliers prove for the program without objective, whose value is zero wherever it has one
(`farkas`). What multipliers of a solver lack is made up for as it is for bounds
(`sdpdr.program.certificate`).

*Unbounded.* A direction D in the cones with A(D) = 0 (not above 0 on inequalities), G(D)
positive semidefinite and :math:`\langle C, D\rangle < 0` leads from any feasible point to ever
better ones. It is a ray of the first kind for the dual program (`recession`).

Solvers say "infeasible" without handing over why. `search` writes programs, always feasible and
always bounded, whose answers are such rays.
"""

from sdpdr.program.rays.farkas import prove_infeasible
from sdpdr.program.rays.ray import Ray
from sdpdr.program.rays.recession import drifting, prove_unbounded
from sdpdr.program.rays.search import find_infeasibility, find_unboundedness

__all__ = [
    "Ray",
    "drifting",
    "find_infeasibility",
    "find_unboundedness",
    "prove_infeasible",
    "prove_unbounded",
]
