r"""Lower bounds on the nonnegative rank: fooling sets, and the overlap with few components.

Let Z have nonnegative rank k and length one. For any B, and any symmetric :math:`N \ge 0`,

.. math::

    \langle V, Z\rangle \le \Big(\sum_{l \le k} \sigma_l(V - B)^2\Big)^{1/2}
    + \sqrt k\, \lambda_{\max}\!\left(\begin{pmatrix} 0 & B \\ B^T & 0 \end{pmatrix} + N\right) .

The first term bounds :math:`\langle V - B, Z\rangle` because Z has rank k. For the second, take
:math:`Z = \sum_l w_l h_l^T` with :math:`|w_l| = |h_l|`, and :math:`Q = \sum_l z_l z_l^T`,
:math:`z_l = (w_l, h_l)`. Then :math:`Q \ge 0`, so :math:`2\langle B, Z\rangle` is at most the inner
product of Q with the matrix in brackets, and so at most its largest eigenvalue times
:math:`\operatorname{tr} Q = 2 \sum_l |w_l||h_l| \le 2\sqrt k (\sum_l |w_l|^2|h_l|^2)^{1/2} \le
2 \sqrt k\,|Z|_F`; the last step, because the components have nonnegative inner products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.families.factor.nmf.bounds import nmf_dnn
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.solve import solve

Flags: TypeAlias = npt.NDArray[np.bool_]


def fooling_set(X: ArrayLike) -> Index:
    r"""Entries (i, j) with :math:`V_{ij} > 0` of which no two lie in one positive rectangle.

    For any two of them :math:`V_{ij'} V_{i'j} = 0`. A component :math:`w h^T \le V` that were
    positive at both would be positive at (i, j') and (i', j) too, so each entry needs a component
    of its own: their number is a lower bound on the nonnegative rank, which depends on the zeros
    alone. The set is grown greedily from every entry in turn; a larger one may exist.

    Parameters
    ----------
    X : array_like of shape (N, m)
        Nonnegative.

    Returns
    -------
    ndarray of int, shape (p, 2)

    References
    ----------
    Fiorini, Kaibel, Pashkovich and Theis, "Combinatorial bounds on nonnegative rank and extended
    formulations", Discrete Mathematics 313, 2013.

    Examples
    --------
    >>> fooling_set([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]]).shape
    (4, 2)
    >>> len(fooling_set([[1.0, 2.0], [3.0, 4.0]]))
    1
    """
    V = nonnegative_matrix(X) > 0.0
    entries = np.argwhere(V)
    # Those in sparse rows and columns are in conflict with the fewest others.
    crowd = V.sum(axis=1)[entries[:, 0]] + V.sum(axis=0)[entries[:, 1]]
    entries = entries[np.argsort(crowd, kind="stable")]
    found = [_grown(V, entries, seed) for seed in range(len(entries))]
    return np.asarray(entries[max(found, key=len)])


def _grown(V: Flags, entries: Index, seed: int) -> list[int]:
    """The set of one entry and, in order, every other that is compatible with those before it."""
    free = _apart(V, entries, seed)
    chosen = [seed]
    while free.any():
        chosen.append(int(np.argmax(free)))
        free &= _apart(V, entries, chosen[-1])
    return chosen


def _apart(V: Flags, entries: Index, at: int) -> Flags:
    """Which entries share no positive rectangle with one of them."""
    i, j = entries[at]
    return ~(V[i, entries[:, 1]] & V[entries[:, 0], j])


def overlap_bound(V: Array, k: int, B: Array, N: Array) -> float:
    r"""A bound on :math:`\langle V, Z\rangle` over Z of nonnegative rank k and length one.

    Parameters
    ----------
    V : array of shape (n, m)
    k : int
    B : array of shape (n, m)
    N : array of shape (n + m, n + m)
        Symmetric; negative entries count as zero.

    Returns
    -------
    float
        Increased by its rounding error.

    Examples
    --------
    With both zero it is the bound of Eckart and Young.

    >>> V = np.diag([3.0, 4.0])
    >>> round(overlap_bound(V, 1, np.zeros((2, 2)), np.zeros((4, 4))), 9)
    4.0
    """
    values = np.linalg.svd(V - B, compute_uv=False)
    zeros = np.zeros
    n, m = V.shape
    bracket = np.block([[zeros((n, n)), B], [B.T, zeros((m, m))]]) + np.maximum(N, 0.0)
    largest = max(0.0, float(np.linalg.eigvalsh(bracket)[-1]))
    # Eigenvalues and singular values are off by a small multiple of the rounding of the norms.
    error = 4.0 * (n + m) * np.finfo(float).eps
    error *= float(values[0]) + np.sqrt(k) * float(np.linalg.norm(bracket))
    return float(np.linalg.norm(values[:k]) + np.sqrt(k) * largest + error)


def unexplained(norm: float, overlap: float) -> float:
    r"""A lower bound on the error if the overlap is at most ``overlap``.

    :math:`|V - sZ|_F^2 \ge |V|_F^2 - \langle V, Z\rangle^2` for every scale s.

    Examples
    --------
    >>> round(unexplained(5.0, 4.0), 12)
    3.0
    """
    square = (norm - overlap) * (norm + overlap) - 8.0 * np.finfo(float).eps * norm**2
    return float(np.sqrt(max(0.0, square)))


# The ratio is rounded up to an integer, so rounding errors must not lift it above one.
_ROUNDING = 1e-12
# Rounds of scaling that balance rows and columns.
_ROUNDS = 200


@dataclass(frozen=True)
class RankBound:
    """Proved bounds on the number of nonnegative components that a matrix needs.

    Attributes
    ----------
    lower : int
        No factorization V = W H with nonnegative factors has fewer components.
    ratio : float
        The proved bound of the doubly nonnegative program, before it is rounded up.
    rank : int
        The numerical rank.
    fooling : int
        Size of the fooling set found.
    upper : int
        The smaller side, which is always enough.
    argument : str
        The proof of ``lower``.
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
    r"""A proved lower bound on the number of nonnegative components that a matrix needs.

    With :math:`\nu` the value of `sdpdr.methods.nmf_dnn`, every exact factorization with k
    components has

    .. math:: k \ge \frac{\nu(V)^2}{|V|_F^2},

    because :math:`\nu(V) \le \sum_l |w_l||h_l| \le \sqrt k\, (\sum_l |w_l|^2|h_l|^2)^{1/2} \le
    \sqrt k\,|V|_F`. The bound on :math:`\nu` is proved, with all rounding accounted for.
    The rank and a fooling set are two further lower bounds.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, not negative.
    balance : bool, default True
        Try the matrix with rows and columns scaled to equal lengths, too. That changes the ratio
        but not the nonnegative rank.
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
    rank = int(np.linalg.matrix_rank(V, rtol=4.0 * max(V.shape) * np.finfo(float).eps))
    fooling = len(fooling_set(V))
    found = {
        "the doubly nonnegative program": int(np.ceil(ratio * (1.0 - _ROUNDING))),
        "a fooling set": fooling,
        "the rank": rank,
    }
    argument = max(found, key=lambda name: found[name])
    return RankBound(found[argument], ratio, rank, fooling, min(V.shape), argument)


def _ratio(V: Array, solver: str | Solver) -> float:
    """The squared bound on the norm over the squared length."""
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
