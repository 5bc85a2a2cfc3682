r"""Lower bounds on the error of nonnegative factorizations, and on the nonnegative rank.

Let Z have nonnegative rank k and length one. For any B, and any symmetric :math:`N \ge 0`,

.. math::

    \langle V, Z\rangle \le \Big(\sum_{l \le k} \sigma_l(V - B)^2\Big)^{1/2}
    + \sqrt k\, \lambda_{\max}\!\left(\begin{pmatrix} 0 & B \\ B^T & 0 \end{pmatrix} + N\right) .

The first term bounds :math:`\langle V - B, Z\rangle`. The second one bounds
:math:`\langle B, Z\rangle`, since Z is the corner of a nonnegative positive semidefinite matrix of
trace at most :math:`2 \sqrt k`: the sum of :math:`z_l z_l^T` over components
:math:`z_l = (w_l, h_l)` of equal lengths, whose inner products are nonnegative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError, DataTypeError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.nmf.recipes import EXACT, nmf_dnn, nmf_overlap
from sdpdr.families.factor.nonnegative.branch_and_bound import cone_search
from sdpdr.families.factor.nonnegative.inputs import (
    checked_matrix,
    nonnegative_matrix,
    norm_of,
    number_of_components,
    require_nonnegative,
    residual,
)
from sdpdr.families.factor.nonnegative.search import factors_found
from sdpdr.families.factor.nonnegative.truncation import eckart_young_bound
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solvers.registry import first_usable
from sdpdr.solving.solve import solve

METHODS = ("auto", "eckart_young", "overlap", "cones")
# Rows and columns together up to which "auto" solves the program.
_PROGRAM = 60
# Smaller side, components, and coordinates to branch over, up to which "auto" searches.
_SIDE, _COMPONENTS, _COORDINATES = 4, 3, 9


@dataclass(frozen=True, eq=False)
class NMFBound:
    """A proved lower bound on the error of nonnegative factorizations of a matrix.

    Attributes
    ----------
    lower : float
        No factorization with k components has a smaller :math:`|X - WH|_F`.
    upper : float
        The error of the factorization given, or of the best one found.
    norm : float
        :math:`|X|_F`, to divide both by.
    n_components : int
        k.
    argument : str
        The argument for the lower bound, and what was left out.
    parts : mapping of str to float
        The lower bound of each method that was used.
    W, H : array
        The factorization whose error is ``upper``.
    """

    lower: float
    upper: float
    norm: float
    n_components: int
    argument: str
    parts: Mapping[str, float]
    W: Array
    H: Array

    @property
    def gap(self) -> float:
        """The share of the error that another factorization might save, at most; 0 to 1.

        An error below 1e-9 of the norm counts as zero. Near an exact factorization any remaining
        error gives a gap near one; ``norm_gap`` is the same amount relative to the matrix.
        """
        return (self.upper - self.lower) / max(self.upper, ROUNDING * self.norm)

    @property
    def norm_gap(self) -> float:
        """The error that another factorization might save, relative to the norm of the matrix."""
        return (self.upper - self.lower) / self.norm

    @property
    def relative(self) -> tuple[float, float]:
        """Both errors, relative to the norm."""
        return self.lower / self.norm, self.upper / self.norm

    def __repr__(self) -> str:
        lower, upper = self.relative
        return (
            f"NMFBound(k={self.n_components}: relative error at least {lower:.6g}, here "
            f"{upper:.6g}, gap {self.gap:.1e} of the error, {self.norm_gap:.1e} of the norm)"
        )


@checks_keywords
def nmf_bound(
    X: ArrayLike,
    W: ArrayLike | None = None,
    H: ArrayLike | None = None,
    k: int | None = None,
    *,
    method: str = "auto",
    tol: float = 1e-4,
    time_limit: float = 10.0,
    solver: str | Solver = "auto",
    seed: int = 0,
) -> NMFBound:
    r"""Bound the error of all nonnegative factorizations :math:`X \approx W H` with k components.

    Pass any factorization, from any software, to see how far it is from the best at most. There are
    three proofs:

    ``eckart_young``
        The singular values beyond the first k. Any size, one decomposition; sparse matrices with at
        most 4000 rows or columns.
    ``overlap``
        One semidefinite program (`sdpdr.methods.nmf_overlap`), whose multipliers give a bound by an
        eigenvalue and singular values, however inaccurate they are. Never worse than the first.
        It has two matrices of order n + m: seconds for 60 rows and columns, a minute for 150.
    ``cones``
        Branch and bound (`sdpdr.nonnegative.cone_search`), for a smaller side of at most 4.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, m)
        Nonnegative.
    W : array_like of shape (n, k), optional
    H : array_like of shape (k, m), optional
        A factorization in the orientation of scikit-learn: ``W = nmf.fit_transform(X)``,
        ``H = nmf.components_``.
    k : int, optional
        1 to min(n, m); needed if no factorization is given.
    method : {"auto", "eckart_young", "overlap", "cones"}, default "auto"
        "auto" tries the three in order, as far as the size permits, until the bounds meet. The
        first is always used, and it alone takes sparse matrices of more than 60 rows and columns.
    tol : float, default 1e-4
        Bounds that differ by at most this share of the norm of X meet.
    time_limit : float, default 10
        Seconds for the solver and for the search, each.
    solver : str or Solver, default "auto"
        For the program. "auto" is ``"clarabel"`` up to 40 rows and columns, then ``"scs"``, and
        ``"dense"`` where neither is installed.
    seed : int, default 0
        Seed of the descents that find a factorization if none is given.

    Returns
    -------
    NMFBound

    Raises
    ------
    DataError
        An entry of X, W or H is negative or not finite, X is zero, k is out of range or missing,
        or only one of W and H is given.
    ShapeError
        The shapes of X, W, H and k do not fit.
    UnknownNameError
        For a method that is none of these.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import nmf_bound
    >>> from sklearn.decomposition import NMF
    >>> X = np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])
    >>> nmf = NMF(2, init="nndsvda", tol=1e-10, max_iter=10_000)
    >>> W = nmf.fit_transform(X)
    >>> found = nmf_bound(X, W, nmf.components_)
    >>> [round(float(error), 4) for error in found.relative], found.gap < 1e-4
    ([0.2509, 0.2509], True)
    >>> round(found.parts["eckart_young"] / found.norm, 4)
    0.226
    """
    check_method("method", method, X)
    validate.positive_number("tol", tol)
    validate.positive_number("time_limit", time_limit)
    V, given, k = _inputs(X, W, H, k)
    # The best factors of zero rows and columns are zero.
    rows, columns = (np.unique(at) for at in V.nonzero())
    core = V[rows][:, columns]
    inner, norm = min(k, *core.shape), norm_of(V)

    best = given or _padded(factors_found(core, inner, seed), rows, columns, V.shape, k)
    upper = residual(V, *best)
    proofs = {"eckart_young": (eckart_young_bound(V, k), "the singular values beyond the first k")}

    def is_open() -> bool:
        """Whether "auto" goes on to the next method."""
        return method == "auto" and upper - max(proofs.values())[0] > tol * norm

    left_out, dense = "", not sp.issparse(V)
    if is_open() and not (dense and sum(core.shape) <= _PROGRAM):
        left_out = (
            f"; the program was left out, since {sum(core.shape)} rows and columns are more than "
            f"{_PROGRAM} (method='overlap' {'solves it anyway' if dense else 'takes X.toarray()'})"
        )
    # One component is the leading singular pair, and the first bound is exact.
    if method == "overlap" or (is_open() and not left_out and inner > 1):
        proofs["overlap"] = _overlap(core, inner, solver, time_limit)
        if not proofs["overlap"][0]:
            left_out += f"; {proofs['overlap'][1]}"
    side = min(core.shape)
    few = side <= _SIDE and inner <= _COMPONENTS and inner * (side - 1) <= _COORDINATES
    if method == "cones" or (is_open() and dense and few):
        found = cone_search(core, inner, tol=tol, max_nodes=10**7, time_limit=time_limit)
        argument = f"{found.argument}, which ended {found.status.name}"
        proofs["cones"] = (found.lower, argument)
        if given is None and found.upper < upper:
            best, upper = _padded((found.W, found.H), rows, columns, V.shape, k), found.upper
    name = max(proofs, key=lambda name: proofs[name][0])
    lower, argument = proofs[name]
    argument = f"{name}: {argument}{left_out}"
    if not dense and not lower:
        argument = "no bound is known: singular values take a dense matrix of too large an order"
    parts = MappingProxyType({name: max(0.0, lower) for name, (lower, _) in proofs.items()})
    # By rounding, a factorization that attains the bound may seem to beat it.
    return NMFBound(min(lower, upper), upper, norm, k, argument, parts, *best)


def _inputs(
    X: ArrayLike, W: ArrayLike | None, H: ArrayLike | None, k: int | None
) -> tuple[Matrix, tuple[Array, Array] | None, int]:
    """The checked matrix, the factorization if one is given, and the number of components."""
    V = checked_matrix(X, accept_sparse="csr")
    require_nonnegative(V)
    if sp.issparse(V):
        V = V.toarray() if sum(V.shape) <= _PROGRAM else sp.csr_array(V)
    given = _factors(V, W, H, k)
    if given is None and k is None:
        raise DataError("give k, the number of components, or a factorization W, H.")
    return V, given, number_of_components(given[0].shape[1] if given else k, V.shape, "k")


def _padded(
    factors: tuple[Array, Array], rows: Index, columns: Index, shape: tuple[int, int], k: int
) -> tuple[Array, Array]:
    """Factors of some rows and columns as k components of a matrix that is zero elsewhere."""
    W, H = factors
    left, right = np.zeros((shape[0], k)), np.zeros((k, shape[1]))
    left[rows, : W.shape[1]], right[: len(H), columns] = W, H
    return left, right


def check_method(name: str, method: str, X: Any) -> None:
    """Refuse unknown methods, and sparse data for methods that take a dense matrix."""
    validate.choice(name, method, METHODS)
    if sp.issparse(X) and method in ("overlap", "cones"):
        raise DataTypeError(
            f"X is sparse, and {name}={method!r} is proved by dense programs. Pass "
            f"{name}='eckart_young', or X.toarray() if X is small."
        )


def _overlap(V: Array, k: int, solver: str | Solver, time_limit: float) -> tuple[float, str]:
    """The bound of the program, from multipliers of any accuracy, and its proof."""
    V = V if V.shape[0] <= V.shape[1] else V.T
    n, m = V.shape
    norm = float(np.linalg.norm(V))
    # The bound loses far less than the tolerance of the multipliers.
    small = n + m <= EXACT
    unit, tol = V / norm, 1e-8 if small else 1e-4
    if solver == "auto":
        solver = first_usable(*([] if small else ["scs"]), "clarabel", "dense")
    solution = solve(
        nmf_overlap(unit, k), solver, tol=unless_configured(solver, tol), time_limit=time_limit,
        progress=False,
    )  # fmt: skip
    found = [solution.duals.get(label, np.nan) for label in ("same_corner", "non_negative")]
    corner, signs = map(np.asarray, found)
    if not (np.isfinite(corner).all() and np.isfinite(signs).all()):
        return 0.0, f"{solution.solver} gave no multipliers ({solution.status.name})"
    N = np.zeros((n + m, n + m))
    i, j = np.triu_indices(n + m, 1)
    N[i, j] = N[j, i] = signs
    overlap = overlap_bound(unit, k, corner.reshape(n, m), N)
    # |V - s Z|^2 >= |V|^2 - <V, Z>^2 for every scale s.
    square = (1.0 - overlap) * (1.0 + overlap) - 8.0 * np.finfo(float).eps
    proof = f"multipliers of the program from {solution.solver}"
    return norm * float(np.sqrt(max(0.0, square))), proof


def overlap_bound(V: Array, k: int, B: Array, N: Array) -> float:
    r"""A bound on :math:`\langle V, Z\rangle` over Z of nonnegative rank k and length one.

    B has the shape of V and N is symmetric of order n + m; its negative entries count as zero. The
    rounding error is added. With both zero it is the bound of Eckart and Young.
    """
    values = np.linalg.svd(V - B, compute_uv=False)
    n, m = V.shape
    bracket = np.block([[np.zeros((n, n)), B], [B.T, np.zeros((m, m))]]) + np.maximum(N, 0.0)
    largest = max(0.0, float(np.linalg.eigvalsh(bracket)[-1]))
    # Eigenvalues and singular values are off by a small multiple of the rounding of the norms.
    error = 4.0 * (n + m) * np.finfo(float).eps
    error *= float(values[0]) + np.sqrt(k) * float(np.linalg.norm(bracket))
    return float(np.linalg.norm(values[:k]) + np.sqrt(k) * largest + error)


def _factors(
    V: Matrix, W: ArrayLike | None, H: ArrayLike | None, k: int | None
) -> tuple[Array, Array] | None:
    if W is None and H is None:
        return None
    if W is None or H is None:
        raise DataError("give both W and H, or neither and k: a factorization has two factors.")
    left, right = checked_matrix(W, "W"), checked_matrix(H, "H")
    for name, factor in (("W", left), ("H", right)):
        if np.any(factor < 0.0):
            i, j = np.argwhere(factor < 0.0)[0]
            raise DataError(
                f"{name}[{i}, {j}] = {factor[i, j]:g}: the bound is on factorizations without "
                "negative entries only. Clip this one at zero first."
            )
    if (len(left), right.shape[1]) != V.shape or left.shape[1] != len(right):
        raise ShapeError(
            f"X of shape {V.shape} needs W of shape ({V.shape[0]}, k) and H of shape "
            f"(k, {V.shape[1]}); they have {left.shape} and {right.shape}. scikit-learn's H is "
            "components_."
        )
    if k is not None and k != left.shape[1]:
        raise ShapeError(f"k={k}, but W and H have {left.shape[1]} components; leave k out.")
    return left, right


# -- the nonnegative rank --------------------------------------------------------------------------

# Rounds of scaling that balance rows and columns.
_SCALINGS = 200


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
    upper : int
        The smaller side, which is always enough.
    argument : str
        The proof of ``lower``.
    """

    lower: int
    ratio: float
    rank: int
    upper: int
    argument: str

    def __repr__(self) -> str:
        return (
            f"RankBound(at least {self.lower}, at most {self.upper}: rank {self.rank}, program "
            f"{self.ratio:.6g})"
        )


@checks_keywords
def nonnegative_rank_bound(X: ArrayLike, *, solver: str | Solver = "auto") -> RankBound:
    r"""A proved lower bound on the number of nonnegative components that a matrix needs.

    With :math:`\nu` the value of `sdpdr.methods.nmf_dnn`, every exact factorization with k
    components has

    .. math:: k \ge \frac{\nu(V)^2}{|V|_F^2},

    because :math:`\nu(V) \le \sum_l |w_l||h_l| \le \sqrt k\, (\sum_l |w_l|^2|h_l|^2)^{1/2} \le
    \sqrt k\,|V|_F`. The bound on :math:`\nu` is proved, with all rounding accounted for. Scaling
    rows and columns changes the ratio but not the nonnegative rank, so the matrix is tried as it is
    and with rows and columns of equal lengths. The rank is a further bound.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, nonnegative.
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

    >>> from sdpdr.factorize import nonnegative_rank_bound
    >>> nonnegative_rank_bound([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
    RankBound(at least 4, at most 4: rank 3, program 4)
    """
    V = nonnegative_matrix(X)
    ratio = max(_ratio(V, solver), _ratio(_balanced(V), solver))
    rank = int(np.linalg.matrix_rank(V, rtol=4.0 * max(V.shape) * np.finfo(float).eps))
    proved = int(np.ceil(ratio * (1.0 - NEGLIGIBLE)))
    argument = "the doubly nonnegative program" if proved > rank else "the rank"
    return RankBound(max(proved, rank), ratio, rank, min(V.shape), argument)


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
    for _ in range(_SCALINGS):
        for axis in (0, 1):
            lengths = np.linalg.norm(scaled, axis=axis, keepdims=True)
            scaled = scaled / np.where(lengths > 0.0, lengths, 1.0)
    return np.asarray(scaled)
