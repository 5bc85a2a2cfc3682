r"""Bounds on the optimal value at any size, proved from any solver's multipliers.

Nothing a solver says is believed but its multipliers y, and of these nothing but the numbers. The
program is brought to equations, with matrices and scalars in cones (`dual_form`). A factorization
whose residual is bounded proves each matrix of dual slack positive semidefinite, and the dual value
is summed, with all rounding accounted for. Multipliers that do not suffice are moved inwards by as
little as can be verified (`inwards`).

The kernel (`sdpdr.certify.prove`) proves more for programs up to some thousand unknowns; this room
is for those beyond.
"""

from sdpdr.certify.bounds.certificate import Certificate, certify

__all__ = ["Certificate", "certify"]
