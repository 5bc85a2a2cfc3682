"""Factors of a matrix through a polynomial of their inner products, by least squares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.nonnegative.search import coordinate_descent
from sdpdr.families.factor.polynomial.fit import (
    EXACT,
    Fit,
    Misfit,
    evaluate,
    inverse_image,
    misfit_bound,
)
from sdpdr.families.factor.polynomial.recipe import Lift, checked_input, parts_of
from sdpdr.families.limits import ROUNDING
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solvers.registry import first_usable
from sdpdr.solving.iterate.records import IterationStatus
from sdpdr.solving.solve import solve

# Sizes of a random start that are tried until its products are about as large as the data.
_SIZES = np.geomspace(1e-3, 1e3, 61)
# Seconds after the limit in which factors read off the regularized program are still moved.
_AFTER = 3.0
# Tolerance of descents from random factors, and of the last one: entries that are met to the first
# are met to rounding, and others are fitted to the second.
_ROUGH, _FINE = 1e-6, 1e-10
# Relative gap requested of the regularized program.
_ACCURACY = 1e-8
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
        bound proves that nothing fits better; TIME_LIMIT if time ran out before the last start, and
        STALLED otherwise.
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
    starts : int
        Factors from which a descent began.
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
    starts: int

    @property
    def gap(self) -> float:
        """Distance of the objective to the bound, relative to the objective of zero factors."""
        if self.bound is None:
            return float("inf")
        return float(max(0.0, self.objective - self.bound)) / self.trivial

    @classmethod
    def of(
        cls, fit: Fit, status: IterationStatus, size: float, starts: int, objective: float,
        bound: float | None, trivial: float,
    ) -> PolynomialFactors:  # fmt: skip
        """The factors of a fit to a matrix of a given size."""
        return cls(
            fit.W, fit.H.T, fit.coefficients, status, fit.misfit / size, fit.misfit, objective,
            bound, trivial, starts,
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
    nonnegative: bool = True,
    degree: int = 2,
    starts: int = 10,
    tol: float = 1e-9,
    seed: int = 0,
    regularization: float | None = None,
    lift: Lift = "layers",
    solver: str | Solver = "auto",
    time_limit: float | None = None,
) -> PolynomialFactors:
    r"""Find factors with :math:`V_{ij} = g(W_i \cdot H_j)`.

    The method of Levenberg and Marquardt moves factors to the best fit nearby. If g is increasing
    and all entries are known, they are those of :math:`g^{-1}(V)`, which for one component and
    :math:`g(t) = ct` are the best; else random factors, until one of the ``starts`` meets the
    entries. A stall proves nothing, and another seed may do better.

    With a ``regularization`` one program is solved instead, whose bound holds for all factors,
    and the factors read off are moved to a stationary point.

    Unknown entries of V are ``nan``; `PolynomialFactors.product` has their values.

    Parameters
    ----------
    X, coefficients, n_components, nonnegative, degree, regularization
        As of `sdpdr.methods.polynomial_factorization`. Unknown coefficients (None) are
        experimental: entries may be met with coefficients that are far from those that made
        them, see the method's page.
    starts : int, default 10
        Random factors to begin from, at most.
    tol : float, default 1e-9
        Relative misfit at which entries count as met.
    seed : int, default 0
    lift : {"layers", "moments"}, default "layers"
        The form of the program with a regularization.
    solver : str or Solver, default "auto"
        For that program, written with matrix inequalities (``form="lmi"``). "auto" is
        ``"clarabel"``, or ``"dense"`` where that is not installed.
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
    InfeasibleError, SolveFailedError
        The program with a regularization has no answer.

    References
    ----------
    Vasiloglou thesis, (2.98), (3.115)-(3.119) and (4.120). Its convex iteration on the program runs
    by `sdpdr.iterate.ConvexIteration`, see the method's page.

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
    if regularization is not None:
        return _regularized(
            X, coefficients, n_components, lift, nonnegative, regularization, degree, seed, solver,
            deadline,
        )  # fmt: skip
    V, c, k, degree = checked_input(X, coefficients, n_components, nonnegative, degree)
    most = validate.positive_integer("starts", starts)
    size, bound, theta = float(np.sqrt(np.nansum(V**2))), None, None
    enough = validate.positive_number("tol", tol) * size
    if c is not None:
        bound = misfit_bound(V, c, k, nonnegative)
        theta = inverse_image(V, c, nonnegative)
    squares = Misfit(V, nonnegative, c is None, deadline=deadline)
    if theta is not None and np.any(theta):
        assert c is not None
        W, H = _factors(theta, k, nonnegative)
        is_best = c.size == 1 and (k == 1 or not nonnegative)
        is_large = V.size * (W.size + H.size) > _SLOPES
        best, used, is_late = squares.at(W, H, c), 1, False
        if not is_best and not is_large:
            best = squares.descend(W, H, c)
    else:
        starts_at = _drawn(V, c, k, degree, nonnegative, seed)
        rough = (squares.descend(*start, tol=_ROUGH) for start in starts_at)
        best, used = next(rough), 1
        while best.misfit > _ROUGH * size and used < most and not deadline.is_over():
            best, used = min(best, next(rough), key=lambda fit: fit.misfit), used + 1
        is_late = used < most and deadline.is_over()
        last = EXACT if best.misfit <= _ROUGH * size else _FINE
        best = squares.descend(best.W, best.H, best.coefficients, tol=last)
    status = IterationStatus.TIME_LIMIT if is_late else IterationStatus.STALLED
    if best.misfit <= enough:
        status = IterationStatus.RANK_REACHED
    elif bound is not None and best.misfit <= bound + ROUNDING * size:
        status = IterationStatus.SETTLED
    best = _scaled(best, V, nonnegative)
    return PolynomialFactors.of(best, status, size, used, best.misfit, bound, size)


def _regularized(
    X: ArrayLike, coefficients: Sequence[float] | None, n_components: int, lift: Lift,
    nonnegative: bool, regularization: float, degree: int, seed: int, solver: str | Solver,
    deadline: Deadline,
) -> PolynomialFactors:  # fmt: skip
    """The best fit near the factors that the answer of the regularized program holds."""
    solver = first_usable("clarabel", "dense") if solver == "auto" else solver
    V, c, held, model = parts_of(
        X, coefficients, n_components, lift, nonnegative, regularization, degree
    )
    assert c is not None  # unknown coefficients have no regularized program
    solution = solve(
        model, solver, "lmi", tol=unless_configured(solver, _ACCURACY),
        seed=unless_configured(solver, seed), time_limit=deadline.left(),
    )  # fmt: skip
    solution.gram()  # raises if there is no point
    W, H, _ = held.read(solution.values)
    squares = Misfit(V, nonnegative, regularization=regularization, deadline=deadline.later(_AFTER))
    fit = squares.descend(np.maximum(W, squares.low), np.maximum(H, squares.low), c)
    size = float(np.sqrt(np.nansum(V**2)))
    return PolynomialFactors.of(
        fit, IterationStatus.SETTLED, size, 1, fit.objective, solution.bound, 0.5 * size**2
    )


def _scaled(fit: Fit, V: Array, nonnegative: bool) -> Fit:
    """The fit with an entry of W that is 1, or columns of mean one, as those of the programs."""
    k = fit.W.shape[1]
    if k > 1 and not nonnegative:
        return fit
    row = int(np.argmax(np.nansum(V**2, axis=1)))
    scale = fit.W[row] if k == 1 else np.mean(fit.W, axis=0)
    scale = np.where(scale == 0.0, 1.0, scale)
    return fit._replace(W=fit.W / scale, H=fit.H * scale)


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
    V: Array, c: Array | None, k: int, degree: int, nonnegative: bool, seed: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Random factors and coefficients, of the least size at which g is as large as the data."""
    rng, known = np.random.default_rng(seed), ~np.isnan(V)
    draw = rng.random if nonnegative else rng.standard_normal
    wanted = np.linalg.norm(V[known])
    while True:
        W, H = draw((V.shape[0], k)), draw((V.shape[1], k))
        g = np.concatenate([[1.0], rng.random(degree - 1)]) if c is None else c
        T = (W @ H.T)[known]
        sizes = [s for s in _SIZES if np.linalg.norm(evaluate(g, s * T)) >= wanted]
        root = np.sqrt((sizes or _SIZES[-1:])[0])
        yield root * W, root * H, g
