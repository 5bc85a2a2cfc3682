"""Factors of a matrix through a polynomial of their inner products, by convex iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError, SolveFailedError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.nonnegative.inputs import number_of_components, partial_matrix
from sdpdr.families.factor.nonnegative.search import coordinate_descent
from sdpdr.families.factor.polynomial.fit import (
    Fit,
    Misfit,
    evaluate,
    inverse_image,
    misfit_bound,
)
from sdpdr.families.factor.polynomial.lifts import Layers, Moments
from sdpdr.families.factor.polynomial.recipe import (
    Lift,
    check_signs,
    checked_coefficients,
    parts_of,
)
from sdpdr.families.limits import ROUNDING
from sdpdr.program import Solution
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solvers.registry import first_usable
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.directions import Schur
from sdpdr.solving.iterate.records import IterationStatus, State
from sdpdr.solving.solve import solve

# Sizes of a random start that are tried until its products are about as large as the data.
_SIZES = np.geomspace(1e-3, 1e3, 61)
# Seconds after the limit in which the factors of the last program are still moved.
_AFTER = 3.0
# Relative gaps requested of programs in the iteration, and of the regularized one.
_ACCURACY, _ACCURACY_OF_BOUND = 1e-7, 1e-8
# Entries of the matrix of slopes up to which the least squares, which are dense, are solved.
_SLOPES = 10**6


@dataclass(frozen=True, eq=False)
class PolynomialFactors:
    r"""Factors with :math:`V_{ij} \approx g(W_i \cdot H_j)`, and how good they are.

    Attributes
    ----------
    W : array of shape (N, k)
    H : array of shape (k, m)
    coefficients : array of shape (D,)
        Coefficients of g, from :math:`c_1`.
    status : IterationStatus
        RANK_REACHED if the entries are met exactly; SETTLED for a regularized program, and if the
        bound proves that nothing fits better; otherwise how the iteration ended.
    error : float
        :math:`|g(WH) - V|_F / |V|_F` over the known entries.
    misfit : float
        :math:`|g(WH) - V|_F`.
    objective : float
        The misfit, or the regularized objective.
    bound : float or None
        No factors have a smaller objective; None if g is unknown, or not increasing where it is
        evaluated, or entries are unknown.
    trivial : float
        Objective of factors that are zero.
    programs : int
        Semidefinite programs solved.
    """

    W: Array
    H: Array
    coefficients: Array
    status: IterationStatus
    error: float
    misfit: float
    objective: float
    bound: float | None
    trivial: float
    programs: int

    @property
    def gap(self) -> float:
        """Distance of the objective to the bound, relative to the objective of zero factors."""
        if self.bound is None:
            return float("inf")
        return float(max(0.0, self.objective - self.bound)) / self.trivial

    @classmethod
    def of(
        cls, fit: Fit, status: IterationStatus, size: float, programs: int, objective: float,
        bound: float | None, trivial: float,
    ) -> PolynomialFactors:  # fmt: skip
        """The factors of a fit to a matrix of a given size."""
        return cls(
            fit.W, fit.H.T, fit.coefficients, status, fit.misfit / size, fit.misfit, objective,
            bound, trivial, programs,
        )  # fmt: skip

    def product(self) -> Array:
        """:math:`g(W H)`, the unknown entries too; shape (N, m)."""
        return evaluate(self.coefficients, self.W @ self.H)


@checks_keywords
def polynomial(
    X: ArrayLike,
    coefficients: Sequence[float] | None,
    n_components: int = 1,
    *,
    lift: Lift = "layers",
    nonnegative: bool = True,
    regularization: float | None = None,
    degree: int = 2,
    max_iter: int = 50,
    tol: float = 1e-9,
    seed: int = 0,
    solver: str | Solver = "auto",
    time_limit: float | None = None,
) -> PolynomialFactors:
    r"""Find factors with :math:`V_{ij} = g(W_i \cdot H_j)`.

    Convex iteration on `sdpdr.methods.polynomial_factorization`, whose matrices are to have
    rank k and one: each is given the trace of its own Schur complement as a cost, from random
    factors on. After each program, the factors read off are moved to the best fit nearby by the
    method of Levenberg and Marquardt. The search ends when they meet the entries, or when the
    iteration stalls; a stall proves nothing, and another seed may do better.

    With a ``regularization`` one program is solved instead, whose bound holds for all factors,
    and the factors read off are moved to a stationary point.

    Unknown entries of V are ``nan``; `PolynomialFactors.product` has their values.

    Parameters
    ----------
    X, coefficients, n_components, lift, nonnegative, regularization, degree
        As of `sdpdr.methods.polynomial_factorization`. Unknown coefficients (None) are
        experimental: entries may be met with coefficients that are far from those that made
        them, see the method's page.
    max_iter : int, default 50
        Programs.
    tol : float, default 1e-9
        Relative misfit at which entries count as met.
    seed : int, default 0
    solver : str or Solver, default "auto"
        "auto" is ``"clarabel"``, or ``"dense"`` where that is not installed.
        See `sdpdr.solve`; the program is written with matrix inequalities (``form="lmi"``).
    time_limit : float, optional
        Seconds.

    Returns
    -------
    PolynomialFactors
        However it ended. ``bound`` proves how small the misfit can be if g is increasing.

    Raises
    ------
    DataError, ModelError, UnknownNameError
        As of `sdpdr.methods.polynomial_factorization`.
    InfeasibleError
        No factors of any number of components give the entries: one may lie below the least value
        of g.
    SolveFailedError
        No program was solved.

    References
    ----------
    Vasiloglou thesis, (2.98), (3.115)-(3.119) and (4.120).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.factorize import polynomial
    >>> t = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
    >>> found = polynomial(t + t**2 / 2, [1.0, 0.5])
    >>> found.status, found.error < 1e-12, found.H.round(6).ravel().tolist()
    (IterationStatus.RANK_REACHED, True, [0.7, 1.2])
    """
    deadline = Deadline(time_limit)
    solver = first_usable("clarabel", "dense") if solver == "auto" else solver
    V, c, held, model = parts_of(
        X, coefficients, n_components, lift, nonnegative, regularization, degree
    )
    later, size = deadline.later(_AFTER), float(np.sqrt(np.nansum(V**2)))
    squares = Misfit(V, nonnegative, c is None, held.anchor, regularization or 0.0, later)

    def fit_near(solution: Solution) -> Fit:
        """The best fit near the factors that an answer holds."""
        W, H, found = held.read(solution.values)
        start = c if found is None else np.concatenate([[1.0], np.maximum(found, squares.low)])
        assert start is not None
        return squares.descend(np.maximum(W, squares.low), np.maximum(H, squares.low), start)

    if regularization is not None:
        solution = solve(
            model, solver, "lmi", tol=unless_configured(solver, _ACCURACY_OF_BOUND),
            seed=unless_configured(solver, seed), time_limit=deadline.left(),
        )  # fmt: skip
        solution.gram()  # raises if there is no point
        fit = fit_near(solution)
        return PolynomialFactors.of(
            fit, IterationStatus.SETTLED, size, 1, fit.objective, solution.bound, 0.5 * size**2
        )
    enough = validate.positive_number("tol", tol) * size
    ways = {name: Schur(rank) for name, rank in held.ranks.items()}
    iteration = ConvexIteration(
        model, n_components, tuple(ways), ways, max_iter=max_iter, seed=seed, solver=solver,
        form="lmi", accuracy=_ACCURACY, time_limit=deadline.left(), progress=False,
    )  # fmt: skip
    best: Fit | None = None

    def is_met(state: State) -> bool:
        """Whether the factors of the last program fit the entries; keep the best factors so far."""
        nonlocal best
        assert state.last is not None
        fit = fit_near(state.last)
        best = fit if best is None or fit.misfit < best.misfit else best
        return best.misfit <= enough

    corners = _drawn(held, V, c, np.random.default_rng([seed, 0]))
    directions = {name: ways[name].at(below) for name, below in corners.items()}
    start = State(IterationStatus.RUNNING, (), directions, next(iter(ways)), start=0)
    state = iteration.run(start, is_met)
    if best is None:
        if state.status is IterationStatus.INFEASIBLE:
            raise InfeasibleError(
                "no factors of any number of components give these entries: one may lie below the "
                "least value of g. Pass other coefficients or a regularization."
            )
        raise SolveFailedError(f"no factors: {state.status.name}. {state.status.advice}")
    status = state.status
    if status is IterationStatus.RANK_REACHED and best.misfit > enough:
        status = IterationStatus.STALLED
    bound = None if c is None else misfit_bound(V, c, n_components, nonnegative)
    return PolynomialFactors.of(best, status, size, len(state.history), best.misfit, bound, size)


def without_programs(
    X: Array, coefficients: Sequence[float], n_components: int, nonnegative: bool, tol: float,
    deadline: Deadline,
) -> PolynomialFactors | None:  # fmt: skip
    r"""The best fit near factors of the inverse image, with its bound; None if there is no image.

    RANK_REACHED if the entries are met up to a relative ``tol``, SETTLED if the bound proves that
    nothing fits better, as for one component and a linear g, and STALLED otherwise.
    """
    V, c = partial_matrix(X, nonnegative=False), checked_coefficients(coefficients)
    k = number_of_components(n_components, V.shape)
    check_signs(V, c, nonnegative)
    bound, theta = misfit_bound(V, c, k, nonnegative), inverse_image(V, c, nonnegative)
    if bound is None or theta is None or not np.any(theta):
        return None
    W, H = _factors(theta, k, nonnegative)
    squares = Misfit(V, nonnegative, deadline=deadline)
    is_best = c.size == 1 and (k == 1 or not nonnegative)
    is_large = V.size * (W.size + H.size) > _SLOPES
    fit = squares.at(W, H, c) if is_best or is_large else squares.descend(W, H, c)
    # With an entry of W that is 1, or columns of mean one, as those of the programs.
    if k == 1 or nonnegative:
        scale = fit.W[np.argmax(np.sum(V**2, axis=1))] if k == 1 else np.mean(fit.W, axis=0)
        scale = np.where(scale == 0.0, 1.0, scale)
        fit = fit._replace(W=fit.W / scale, H=fit.H * scale)
    size, status = float(np.linalg.norm(V)), IterationStatus.STALLED
    if fit.misfit <= tol * size:
        status = IterationStatus.RANK_REACHED
    elif fit.misfit <= bound + ROUNDING * size:
        status = IterationStatus.SETTLED
    return PolynomialFactors.of(fit, status, size, 0, fit.misfit, bound, size)


def _factors(theta: Array, k: int, nonnegative: bool) -> tuple[Array, Array]:
    """W of shape (N, k) and H of shape (m, k) of a matrix: singular vectors, or near them."""
    left, sizes, right = np.linalg.svd(theta, full_matrices=False)
    W, H = left[:, :k] * np.sqrt(sizes[:k]), right[:k].T * np.sqrt(sizes[:k])
    if not nonnegative:
        return W, H
    # Those of one component are of one sign if no entry is negative, up to rounding.
    W, H = np.abs(W), np.abs(H)
    if k > 1:
        W, components = coordinate_descent(
            theta, k, init="custom", seed=0, tol=1e-8, steps=1000,
            W=np.ascontiguousarray(W), H=np.ascontiguousarray(H.T),
        )  # fmt: skip
        H = components.T
    return W, H


def _drawn(
    held: Layers | Moments, V: Array, c: Array | None, rng: np.random.Generator
) -> dict[str, Array]:
    """Matrices of random factors, of the least size at which g is as large as the data."""
    W = rng.random((held.n_rows, held.n_components))
    H = rng.random((held.n_columns, held.n_components))
    if held.anchor is not None:
        W[held.anchor] = 1.0
    if c is None:
        c = np.concatenate([[1.0], rng.random(held.degree - 1)])
    known = ~np.isnan(V)
    T, wanted = (W @ H.T)[known], np.linalg.norm(V[known])
    sizes = [s for s in _SIZES if np.linalg.norm(evaluate(c, s * T)) >= wanted]
    return held.corners(W, H * (sizes or _SIZES[-1:])[0], c)
