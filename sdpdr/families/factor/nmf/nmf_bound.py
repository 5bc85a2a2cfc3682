"""Lower bounds on the error of every nonnegative factorization with k components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, DataTypeError, ShapeError
from sdpdr.base.progress import Progress
from sdpdr.families.factor.nmf.bounds import nmf_overlap
from sdpdr.families.factor.nmf.rank import overlap_bound, unexplained
from sdpdr.families.factor.nonnegative.cone_search import cone_search
from sdpdr.families.factor.nonnegative.inputs import (
    SparseMatrix,
    checked_matrix,
    dense_matrix,
    number_of_components,
    require_nonnegative,
)
from sdpdr.families.factor.nonnegative.projection import alternate, coordinate_descent
from sdpdr.families.factor.nonnegative.truncation import clipped_svd, closed_form, singular_tail
from sdpdr.program import Solution, as_dense
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.solve import solve

METHODS = ("auto", "eckart_young", "overlap", "cones")
# Rows and columns together up to which "auto" solves the program, and an exact method is used.
PROGRAM_LIMIT, EXACT_LIMIT = 60, 40
# Smaller side, components, and coordinates to branch over, up to which "auto" searches.
SEARCH_SIDE, SEARCH_COMPONENTS, SEARCH_COORDINATES = 4, 3, 9

# Rounds of alternation, and entries of a matrix up to which they take negligible time.
_ROUNDS, _SMALL = 50, 2500
# Iterations of scikit-learn's descent, and random starts of it on small matrices.
_DESCENTS, _STARTS = 2000, 8
# Errors below this share of the norm count as zero.
_ZERO = 1e-9


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
        The proof of the lower bound in words, and what was left out.
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
        return (self.upper - self.lower) / max(self.upper, _ZERO * self.norm)

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
    progress: Progress | bool | None = None,
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
        For the program. "auto" is ``"clarabel"`` up to 40 rows and columns, then ``"scs"``.
    seed : int, default 0
        Of the search, and of the descents that find a factorization if none is given.
    progress : bool or callable, optional
        Of the search; by default on a terminal only.

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
    V = _matrix(X, method)
    validate.positive_number("tol", tol)
    validate.positive_number("time_limit", time_limit)
    given = _factors(V, W, H, k)
    if given:
        k = given[0].shape[1]
    elif k is None:
        raise DataError("give k, the number of components, or a factorization W, H.")
    state = _Bounds(V, number_of_components(k, V.shape, "k"), given, seed)
    state.add("eckart_young", singular_tail(V, state.k), "the singular values beyond the first k")
    core = state.core
    if method == "overlap" or (method == "auto" and state.needs_program(tol)):
        lower, proof, Z = _overlap(core.V, core.k, solver, time_limit)
        state.add("overlap", lower, proof)
        if not lower:
            state.left_out += f"; {proof}"
        if Z is not None and not given:
            state.offer(*_quick(core.V, core.k, Z))
    if method == "cones" or (method == "auto" and state.needs_search(tol)):
        found = cone_search(
            core.V,
            core.k,
            tol=tol,
            max_nodes=10**7,
            time_limit=time_limit,
            seed=seed,
            progress=progress,
        )
        state.add("cones", found.lower, f"{found.argument}, which ended {found.status.name}")
        if not given:
            state.offer(found.W, found.H)
    return state.result()


def check_method(name: str, method: str, X: Any) -> None:
    """Refuse unknown methods, and sparse data for methods that take a dense matrix.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    method : str
    X : object

    Raises
    ------
    UnknownNameError, DataTypeError
    """
    validate.choice(name, method, METHODS)
    if sp.issparse(X) and method in ("overlap", "cones"):
        raise DataTypeError(
            f"X is sparse, and {name}={method!r} is proved by dense programs. Pass "
            f"{name}='eckart_young', or X.toarray() if X is small."
        )


def _matrix(X: Any, method: str) -> Matrix:
    """A checked matrix; a sparse one becomes dense if it is small."""
    check_method("method", method, X)
    V = checked_matrix(X, "X", accept_sparse="csr")
    require_nonnegative(V)
    if not sp.issparse(V):
        return V
    return V.toarray() if sum(V.shape) <= PROGRAM_LIMIT else sp.csr_array(V)


class _Core:
    """A matrix without its zero rows and columns, where the best factors are zero."""

    def __init__(self, V: Matrix, k: int) -> None:
        self.shape, self.components = V.shape, k
        nonzero = V.nonzero()
        self.rows, self.columns = np.unique(nonzero[0]), np.unique(nonzero[1])
        self.V = V[self.rows][:, self.columns]
        self.k = min(k, *self.V.shape)

    def lifted(self, W: Array, H: Array) -> tuple[Array, Array]:
        """Factors of the whole from factors of the core."""
        left = np.zeros((self.shape[0], self.components))
        right = np.zeros((self.components, self.shape[1]))
        left[self.rows, : self.k] = W
        right[: self.k, self.columns] = H
        return left, right


class _Bounds:
    """The bounds so far, and the factorization that they are compared with."""

    def __init__(self, V: Matrix, k: int, given: tuple[Array, Array] | None, seed: int) -> None:
        self.V, self.k, self.sparse = V, k, sp.issparse(V)
        self.norm = SparseMatrix(V).norm if self.sparse else float(np.linalg.norm(V))
        self.parts: dict[str, float] = {}
        self.proofs: dict[str, str] = {}
        self.left_out = ""
        self.upper = np.inf
        self.core = _Core(V, k)
        best = given or (None if self.sparse else closed_form(V, k))
        if best:
            self._keep(*best)
            return
        for factors in _candidates(self.core, seed):
            self.offer(*factors)

    def offer(self, W: Array, H: Array) -> None:
        """Factors of the core, which are kept if they are the best so far."""
        self._keep(*self.core.lifted(W, H))

    def _keep(self, W: Array, H: Array) -> None:
        if self.sparse:
            error = SparseMatrix(self.V).error(W, H) * self.norm
        else:
            error = float(np.linalg.norm(self.V - W @ H))
        if error < self.upper:
            self.W, self.H, self.upper = W, H, error

    def add(self, name: str, lower: float, proof: str) -> None:
        self.parts[name] = max(0.0, lower)
        self.proofs[name] = proof

    def _apart(self, tol: float) -> bool:
        return self.upper - max(self.parts.values()) > tol * self.norm

    def needs_program(self, tol: float) -> bool:
        n = sum(self.core.V.shape)
        if self._apart(tol) and (self.sparse or n > PROGRAM_LIMIT):
            advice = "takes X.toarray()" if self.sparse else "solves it anyway"
            self.left_out = (
                f"; the program was left out, since {n} rows and columns are more than "
                f"{PROGRAM_LIMIT} (method='overlap' {advice})"
            )
            return False
        # One component is the leading singular pair, and the first bound is exact.
        return self._apart(tol) and self.k > 1

    def needs_search(self, tol: float) -> bool:
        side = min(self.core.V.shape)
        small = side <= SEARCH_SIDE and self.k <= SEARCH_COMPONENTS and not self.sparse
        return self._apart(tol) and small and self.k * (side - 1) <= SEARCH_COORDINATES

    def result(self) -> NMFBound:
        best = max(self.parts, key=lambda name: self.parts[name])
        # By rounding, a factorization that attains the bound may seem to beat it.
        lower = min(self.parts[best], self.upper)
        argument = f"{best}: {self.proofs[best]}{self.left_out}"
        if self.sparse and not lower:
            argument = (
                "no bound is known: singular values take a dense matrix of too large an order"
            )
        parts = MappingProxyType(self.parts)
        return NMFBound(lower, self.upper, self.norm, self.k, argument, parts, self.W, self.H)


def _quick(V: Array, k: int, near: Array | None = None) -> tuple[Array, Array]:
    """Factors of a matrix near V, refitted to V and improved where that takes negligible time."""
    near = V if near is None else near
    W, _ = closed_form(near, k) or clipped_svd(near, k)
    return alternate(V, W, _ROUNDS if V.size <= _SMALL else 0)


def _candidates(core: _Core, seed: int) -> Iterator[tuple[Array, Array]]:
    """Factors of the core: quick ones, scikit-learn's, and the matrix itself if k is enough."""
    V, k = core.V, core.k
    dense = not sp.issparse(V)
    if dense:
        yield _quick(V, k)
    small = np.prod(V.shape) <= _SMALL
    for start in range(1 + (_STARTS if small else 0)):
        init, seed_of = "random" if start else "nndsvda", seed + start
        yield coordinate_descent(V, k, init=init, seed=seed_of, tol=1e-6, steps=_DESCENTS)
    if dense and k == min(V.shape):
        n, m = V.shape
        yield (np.eye(n), V) if n <= m else (V, np.eye(m))


def _overlap(
    V: Array, k: int, solver: str | Solver, time_limit: float
) -> tuple[float, str, Array | None]:
    """The bound of the program, from multipliers of any accuracy, its proof, and the Z it found."""
    n, m = V.shape
    if n > m:
        lower, proof, Z = _overlap(V.T, k, solver, time_limit)
        return lower, proof, None if Z is None else Z.T
    norm = float(np.linalg.norm(V))
    # The bound loses far less than the tolerance of the multipliers.
    small = n + m <= EXACT_LIMIT
    unit, tol = V / norm, 1e-8 if small else 1e-4
    if solver == "auto":
        solver = "clarabel" if small else "scs"
    solution = solve(
        nmf_overlap(unit, k),
        solver,
        tol=unless_configured(solver, tol),
        time_limit=time_limit,
        progress=False,
    )
    nothing = np.array([np.nan])
    duals = [solution.duals.get(label, nothing) for label in ("same_corner", "non_negative")]
    if not all(np.all(np.isfinite(values)) for values in duals):
        return 0.0, f"{solution.solver} gave no multipliers ({solution.status.name})", None
    B = duals[0].reshape(n, m)
    N = np.zeros((n + m, n + m))
    rows, columns = np.triu_indices(n + m, 1)
    N[rows, columns] = N[columns, rows] = duals[1]
    overlap = overlap_bound(unit, k, B, N)
    proof = f"multipliers of the program from {solution.solver}"
    return norm * unexplained(1.0, overlap), proof, _corner(solution, n)


def _corner(solution: Solution, n: int) -> Array | None:
    """The Z of a solution, clipped; None if there is none."""
    P = solution.values.get("P")
    if P is None:
        return None
    Z = np.maximum(as_dense(P)[:n, n:], 0.0)
    return Z if np.all(np.isfinite(Z)) and Z.any() else None


def _factors(
    V: Matrix, W: ArrayLike | None, H: ArrayLike | None, k: int | None
) -> tuple[Array, Array] | None:
    if W is None and H is None:
        return None
    if W is None or H is None:
        raise DataError("give both W and H, or neither and k: a factorization has two factors.")
    left, right = _factor(W, "W"), _factor(H, "H")
    fits = left.shape[0] == V.shape[0] and right.shape[1] == V.shape[1]
    if not fits or left.shape[1] != right.shape[0]:
        raise ShapeError(
            f"X of shape {V.shape} needs W of shape ({V.shape[0]}, k) and H of shape "
            f"(k, {V.shape[1]}); they have {left.shape} and {right.shape}. scikit-learn's H is "
            "components_."
        )
    if k is not None and k != left.shape[1]:
        raise ShapeError(f"k={k}, but W and H have {left.shape[1]} components; leave k out.")
    return left, right


def _factor(values: ArrayLike, name: str) -> Array:
    factor = dense_matrix(values, name)
    if np.any(factor < 0.0):
        i, j = np.argwhere(factor < 0.0)[0]
        raise DataError(
            f"{name}[{i}, {j}] = {factor[i, j]:g}: the bound is on factorizations without negative "
            "entries only. Clip this one at zero first."
        )
    return factor
