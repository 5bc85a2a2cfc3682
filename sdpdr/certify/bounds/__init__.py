r"""Bounds on the optimal value at any size, proved from any solver's multipliers.

Nothing a solver says is believed but its multipliers y, and of these nothing but the numbers. The
program is brought to equations, with matrices and scalars in cones, and every argument ends at one
checker (`checker`): it proves each matrix of dual slack positive semidefinite by a factorization
whose residual is bounded, and sums the dual value, with all rounding accounted for. The arguments
differ in the multipliers that they check:

*Scaling* (`scaling`): the multiple of y at which the dual slack becomes positive semidefinite; for
unfolding the Laplacian bound :math:`d^T w / \lambda_2(L(w))`. Where penalties limit multipliers,
y is mixed with the largest ones allowed.

*Limits* (`lifting`): what the dual slack lacks costs no more than its size times limits on traces
and scalars, which follow from the constraints (`limits`).

The kernel (`sdpdr.certify.prove`) proves more for programs up to some thousand unknowns; this room
is for those beyond.
"""

from sdpdr.certify.bounds.certificate import Certificate, certify

__all__ = ["Certificate", "certify"]
