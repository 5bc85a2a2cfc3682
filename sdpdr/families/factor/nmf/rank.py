"""Lower bounds on the non-negative rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.families.factor.nmf.bounds import nmf_dnn
from sdpdr.families.factor.nonnegative.fooling import fooling_set
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.solve import solve

# The ratio is raised to an integer, so rounding must not lift it above one.
_ROUNDING = 1e-12
# Rounds that balance rows and columns.
_ROUNDS = 200


@dataclass(frozen=True)
class RankBound:
    """What is proved about the number of non-negative components that a matrix needs.

    Attributes
    ----------
    lower : int
        No factorization V = W H with non-negative factors has fewer components.
    ratio : float
        The bound of the doubly non-negative program, before it is raised to an integer; proved.
    rank : int
        The rank, counting the singular values that rounding cannot explain.
    fooling : int
        Size of the fooling set found.
    upper : int
        The smaller side, which is always enough.
    argument : str
        What proves ``lower``.
    """

    lower: int
    ratio: float
    rank: int
    fooling: int
    upper: int
    argument: str

    def __repr__(self) -> str:
        return (
            f"RankBound(at least {self.lower}, at most {self.upper}: rank {self.rank}, program "
            f"{self.ratio:.6g}, fooling set {self.fooling})"
        )


def nonnegative_rank_bound(
    X: ArrayLike, *, balance: bool = True, solver: str | Solver = "auto"
) -> RankBound:
    r"""The least number of non-negative components that a matrix needs, at least.

    With :math:`\nu` the value of `sdpdr.methods.nmf_dnn`, every exact factorization with k
    components has

    .. math:: k \ge \frac{\nu(V)^2}{|V|_F^2},

    because :math:`\nu(V) \le \sum_l |w_l||h_l| \le \sqrt k\, (\sum_l |w_l|^2|h_l|^2)^{1/2} \le
    \sqrt k\,|V|_F`. Used is the *proved* bound on :math:`\nu`, with all rounding accounted for.
    The rank and a fooling set are two further lower bounds.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, not negative.
    balance : bool, default True
        Try the matrix with rows and columns scaled to equal lengths, too. That changes the ratio
        but not the non-negative rank.
    solver : str or Solver, default "auto"

    Returns
    -------
    RankBound

    Raises
    ------
    DataError
        An entry is negative or not finite, or all are zero.

    References
    ----------
    Fawzi and Parrilo, "Lower bounds on nonnegative rank via nonnegative nuclear norms",
    Mathematical Programming 153, 2015. Vasiloglou thesis, section 4.1.1.1.

    Examples
    --------
    The slack matrix of a square has rank three, and needs four components.

    >>> nonnegative_rank_bound([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
    RankBound(at least 4, at most 4: rank 3, program 4, fooling set 4)
    """
    V = nonnegative_matrix(X)
    tried = [V]
    if balance:
        tried.append(_balanced(V))
    ratio = max(_ratio(matrix, solver) for matrix in tried)
    values = np.linalg.svd(V, compute_uv=False)
    rank = int(np.sum(values > 4.0 * max(V.shape) * np.finfo(float).eps * values[0]))
    fooling = len(fooling_set(V))
    found = {
        "the doubly non-negative program": int(np.ceil(ratio * (1.0 - _ROUNDING))),
        "a fooling set": fooling,
        "the rank": rank,
    }
    argument = max(found, key=lambda name: found[name])
    return RankBound(found[argument], ratio, rank, fooling, min(V.shape), argument)


def _ratio(V: Array, solver: str | Solver) -> float:
    """The square of the proved bound on the norm over that of the length."""
    unit = V / np.linalg.norm(V)
    solution = solve(nmf_dnn(unit), solver, tol=unless_configured(solver, 1e-8), rigorous=True)
    if solution.bound is None:
        return 1.0
    return max(1.0, solution.bound**2 / float(np.sum(unit * unit)))


def _balanced(V: Array) -> Array:
    """Rows and columns scaled to equal lengths, as far as the zeros permit."""
    scaled = V / np.linalg.norm(V)
    for _ in range(_ROUNDS):
        for axis in (0, 1):
            lengths = np.linalg.norm(scaled, axis=axis, keepdims=True)
            scaled = scaled / np.where(lengths > 0.0, lengths, 1.0)
    return np.asarray(scaled)
