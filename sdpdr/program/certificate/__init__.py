r"""Bounds on the optimal value that we prove ourselves, from any solver's multipliers.

Only the multipliers y of a solver are used, never its word. Arguments are tried in turn:

*Lifting* (`lifting`), for programs whose rows fix diagonals or traces: multipliers that lack
little are raised along them.

*Scaling* and *mixing* (`scaling`), for programs that reward every direction, as unfolding does:
multipliers are divided by the smallest eigenvalue of a pencil, the Laplacian bound
U = d^T w / lambda_2(L(w)), or mixed with the largest ones that the price of slack allows.

*Limits* (`account`, with `sdpdr.program.limits`), for programs whose rows limit traces and
scalars, directly or by shortest paths: what the dual slack lacks costs no more than its size
times these limits.

*Moving* (`moving`), for all others: towards a strictly feasible dual point, or along a direction
in which every dual slack grows.

In each case the final multipliers are verified by a factorization of the dual slack, not by an
eigenvalue estimate (`arithmetic`): by its inertia, or, with ``rigorous=True``, with all rounding
accounted for (`sdpdr.linalg.verified`), so that the bound is a theorem.
"""

from sdpdr.program.certificate.certify import certify
from sdpdr.program.certificate.free import Certificate

__all__ = ["Certificate", "certify"]
