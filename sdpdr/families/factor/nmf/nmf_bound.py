"""Lower bounds on the error of every non-negative factorization with k components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.progress import Progress
from sdpdr.families.factor.nmf.bounds import nmf_overlap
from sdpdr.families.factor.nmf.rank import overlap_bound, unexplained
from sdpdr.families.factor.nonnegative.cone_search import cone_search
from sdpdr.families.factor.nonnegative.inputs import (
    dense_matrix,
    nonnegative_matrix,
    number_of_components,
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

# Rounds of alternation, and entries of a matrix up to which they take no time.
_ROUNDS, _SMALL = 50, 2500
# Iterations of scikit-learn's descent, and random starts of it on small matrices.
_DESCENTS, _STARTS = 2000, 8
# Errors below this share of the norm are none.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class NMFBound:
    """What is proved about the error of non-negative factorizations of a matrix.

    Attributes
    ----------
    lower : float
        No factorization with k components has a smaller :math:`|X - WH|_F`.
    upper : float
        The error of the factorization given, or of the best one that was met on the way.
    norm : float
        :math:`|X|_F`, to divide both by.
    n_components : int
        k.
    argument : str
        What proves the lower bound, and what was left out.
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

        An error below 1e-9 of the norm counts as zero.
        """
        return (self.upper - self.lower) / max(self.upper, _NOTHING * self.norm)

    @property
    def relative(self) -> tuple[float, float]:
        """Both errors, relative to the norm."""
        return self.lower / self.norm, self.upper / self.norm

    def __repr__(self) -> str:
        lower, upper = self.relative
        return (
            f"NMFBound(k={self.n_components}: relative error at least {lower:.6g}, "
            f"here {upper:.6g}, gap {self.gap:.1e})"
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
    r"""Bound the error of all non-negative factorizations :math:`X \approx W H` with k components.

    Give any factorization, from any program, to learn how far from the best it is at most. Three
    arguments are at hand:

    ``eckart_young``
        The singular values that k leaves out. Any size, one decomposition.
    ``overlap``
        One semidefinite program (`sdpdr.methods.nmf_overlap`), whose multipliers give a bound by an
        eigenvalue and singular values, however inaccurate they are. Never worse than the first.
        Of order n + m twice: seconds for 60 rows and columns, a minute for 150.
    ``cones``
        Branch and bound (`sdpdr.nonnegative.cone_search`), for a smaller side of at most 4.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Not negative.
    W : array_like of shape (n, k), optional
    H : array_like of shape (k, m), optional
        A factorization in the orientation of scikit-learn: ``W = nmf.fit_transform(X)``,
        ``H = nmf.components_``.
    k : int, optional
        1 to min(n, m); needed if no factorization is given.
    method : {"auto", "eckart_young", "overlap", "cones"}, default "auto"
        "auto" goes through the three in order, as far as the size permits, until the bounds meet.
        The first is always used.
    tol : float, default 1e-4
        Bounds meet where they differ by this share of the norm of X.
    time_limit : float, default 10
        Seconds for the solver and for the search, each.
    solver : str or Solver, default "auto"
        For the program. "auto" is ``"clarabel"`` up to 40 rows and columns, then ``"scs"``.
    seed : int, default 0
        Of the search, and of starts of a descent that finds a factorization if none is given.
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
    V = nonnegative_matrix(X)
    validate.choice("method", method, METHODS)
    validate.positive_number("tol", tol)
    validate.positive_number("time_limit", time_limit)
    given = _factors(V, W, H, k)
    if given:
        k = given[0].shape[1]
    elif k is None:
        raise DataError("give k, the number of components, or a factorization W, H.")
    k = number_of_components(k, V.shape, "k")
    state = _Bounding(V, k, given, seed)
    core = state.core
    state.add("eckart_young", singular_tail(V, k), "the singular values beyond the first k")
    if method == "overlap" or (method == "auto" and state.wants_program(tol)):
        lower, words, Z = _overlap(core.V, core.k, solver, time_limit)
        state.add("overlap", lower, words)
        if not lower:
            state.left_out += f"; {words}"
        if Z is not None and not given:
            state.offer(*_quick(core.V, core.k, Z))
    if method == "cones" or (method == "auto" and state.wants_search(tol)):
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


class _Core:
    """A matrix without its rows and columns of zeros, which a best factorization leaves zero."""

    def __init__(self, V: Array, k: int) -> None:
        self.shape, self.components = V.shape, k
        self.rows, self.columns = np.flatnonzero(V.any(axis=1)), np.flatnonzero(V.any(axis=0))
        self.V = V[np.ix_(self.rows, self.columns)]
        self.k = min(k, *self.V.shape)

    def lifted(self, W: Array, H: Array) -> tuple[Array, Array]:
        """Factors of the whole from factors of the core."""
        left = np.zeros((self.shape[0], self.components))
        right = np.zeros((self.components, self.shape[1]))
        left[self.rows, : self.k] = W
        right[: self.k, self.columns] = H
        return left, right


class _Bounding:
    """The bounds so far, and the factorization that they are compared with."""

    def __init__(self, V: Array, k: int, given: tuple[Array, Array] | None, seed: int) -> None:
        self.V, self.k, self.norm = V, k, float(np.linalg.norm(V))
        self.parts: dict[str, float] = {}
        self.words: dict[str, str] = {}
        self.left_out = ""
        self.upper = np.inf
        self.core = _Core(V, k)
        if known := given or closed_form(V, k):
            self._keep(*known)
            return
        for factors in _found(self.core, seed):
            self.offer(*factors)

    def offer(self, W: Array, H: Array) -> None:
        """Factors of the core, which are kept if they are the best so far."""
        self._keep(*self.core.lifted(W, H))

    def _keep(self, W: Array, H: Array) -> None:
        error = float(np.linalg.norm(self.V - W @ H))
        if error < self.upper:
            self.W, self.H, self.upper = W, H, error

    def add(self, name: str, lower: float, words: str) -> None:
        self.parts[name] = max(0.0, lower)
        self.words[name] = words

    def _apart(self, tol: float) -> bool:
        return self.upper - max(self.parts.values()) > tol * self.norm

    def wants_program(self, tol: float) -> bool:
        n = sum(self.core.V.shape)
        if self._apart(tol) and n > PROGRAM_LIMIT:
            self.left_out = (
                f"; the program was left out, since {n} rows and columns are more than "
                f"{PROGRAM_LIMIT} (method='overlap' solves it all the same)"
            )
        # One component is the leading singular pair, and the first bound is exact.
        return self._apart(tol) and n <= PROGRAM_LIMIT and self.k > 1

    def wants_search(self, tol: float) -> bool:
        side = min(self.core.V.shape)
        small = side <= SEARCH_SIDE and self.k <= SEARCH_COMPONENTS
        return self._apart(tol) and small and self.k * (side - 1) <= SEARCH_COORDINATES

    def result(self) -> NMFBound:
        best = max(self.parts, key=lambda name: self.parts[name])
        # A factorization that attains the bound may seem to beat it by rounding.
        lower = min(self.parts[best], self.upper)
        words = f"{best}: {self.words[best]}{self.left_out}"
        parts = MappingProxyType(self.parts)
        return NMFBound(lower, self.upper, self.norm, self.k, words, parts, self.W, self.H)


def _quick(V: Array, k: int, near: Array | None = None) -> tuple[Array, Array]:
    """Factors of a matrix near V, refitted to V and mended a little where that takes no time."""
    near = V if near is None else near
    W, _ = closed_form(near, k) or clipped_svd(near, k)
    return alternate(V, W, _ROUNDS if V.size <= _SMALL else 0)


def _found(core: _Core, seed: int) -> Iterator[tuple[Array, Array]]:
    """Factors of the core: quick ones, scikit-learn's, and the matrix itself where k is enough."""
    V, k = core.V, core.k
    yield _quick(V, k)
    for start in range(1 + (_STARTS if V.size <= _SMALL else 0)):
        init, seed_of = "random" if start else "nndsvda", seed + start
        yield coordinate_descent(V, k, init=init, seed=seed_of, tol=1e-6, steps=_DESCENTS)
    if k == min(V.shape):
        n, m = V.shape
        yield (np.eye(n), V) if n <= m else (V, np.eye(m))


def _overlap(
    V: Array, k: int, solver: str | Solver, time_limit: float
) -> tuple[float, str, Array | None]:
    """The bound of the program, from multipliers of whatever accuracy, and the Z it found."""
    n, m = V.shape
    if n > m:
        lower, words, Z = _overlap(V.T, k, solver, time_limit)
        return lower, words, None if Z is None else Z.T
    norm = float(np.linalg.norm(V))
    # Of the multipliers our bound loses far less than the tolerance of operator splitting.
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
    words = f"multipliers of the program from {solution.solver}"
    return norm * unexplained(1.0, overlap), words, _corner(solution, n)


def _corner(solution: Solution, n: int) -> Array | None:
    """The Z of a solution, clipped; None if there is none."""
    P = solution.values.get("P")
    if P is None:
        return None
    Z = np.maximum(as_dense(P)[:n, n:], 0.0)
    return Z if np.all(np.isfinite(Z)) and Z.any() else None


def _factors(
    V: Array, W: ArrayLike | None, H: ArrayLike | None, k: int | None
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
            "entries, and says nothing about this one. Clip it first, if that is meant."
        )
    return factor
