"""Factors of a matrix through a polynomial of their inner products, by convex iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError, SolveFailedError
from sdpdr.base.progress import Progress
from sdpdr.families.factor.polynomial.fit import Fit, Misfit, evaluate, misfit_bound
from sdpdr.families.factor.polynomial.recipe import (
    Lift,
    checked_coefficients,
    known_entries,
    model_of,
    polynomial_lift,
)
from sdpdr.model.blocks.polynomial import PolynomialLift
from sdpdr.program import Solution
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.directions import Schur
from sdpdr.solving.iterate.records import IterationStatus, State
from sdpdr.solving.solve import solve

# Sizes of a random start that are tried until its products are about as large as the data.
_SIZES = np.geomspace(1e-3, 1e3, 61)
# The least size that is that near is taken, since beyond its turns g returns to the same values.
_NEAR = 0.2
# Seconds after the limit in which the factors of the last program are still moved.
_AFTER = 3.0
# Where another start would end alike.
_FINAL = (
    IterationStatus.INTERRUPTED,
    IterationStatus.INFEASIBLE,
    IterationStatus.FAILED,
)

ARGUMENT = "singular values of the entries under the inverse of g, weighted by its chords"
_NO_ARGUMENT = "g is unknown, or not increasing where it is evaluated, or entries are unknown"


@dataclass(frozen=True, eq=False)
class PolynomialFactors:
    r"""Factors with :math:`V_{ij} \approx g(W_i \cdot H_j)`, and what is known about them.

    Attributes
    ----------
    W : array of shape (N, k)
    H : array of shape (k, m)
    coefficients : array of shape (D,)
        Of g, from :math:`c_1`.
    status : IterationStatus
        RANK_REACHED where the entries are met exactly; SETTLED for a regularized program;
        otherwise how the iteration ended.
    error : float
        :math:`|g(WH) - V|_F / |V|_F` over the known entries.
    misfit : float
        :math:`|g(WH) - V|_F`.
    objective : float
        What is to be small: the misfit, or the regularized objective.
    bound : float or None
        No factors have a smaller objective.
    argument : str
        What proves the bound, or why there is none.
    trivial : float
        Objective of factors that are zero.
    programs : int
        Semidefinite programs solved.
    states : tuple of State
        The convex iterations, one for each start, with their histories.
    solution : Solution or None
        Of the regularized program.
    """

    W: Array
    H: Array
    coefficients: Array
    status: IterationStatus
    error: float
    misfit: float
    objective: float
    bound: float | None
    argument: str
    trivial: float
    programs: int
    states: tuple[State, ...] = ()
    solution: Solution | None = None

    @property
    def gap(self) -> float:
        """Distance of the objective to the bound, relative to the objective of zero factors."""
        if self.bound is None:
            return float("inf")
        return max(0.0, self.objective - self.bound) / self.trivial

    def product(self) -> Array:
        """:math:`g(W H)`, the unknown entries too; shape (N, m)."""
        return evaluate(self.coefficients, self.W @ self.H)

    def __repr__(self) -> str:
        bound = "none" if self.bound is None else f"{self.bound:.6g}"
        return (
            f"PolynomialFactors({self.status.name} after {self.programs} programs: error "
            f"{self.error:.1e}, objective {self.objective:.6g}, bound {bound})"
        )


def polynomial(
    X: ArrayLike,
    coefficients: Sequence[float] | None,
    n_components: int = 1,
    *,
    lift: Lift = "layers",
    nonnegative: bool = True,
    regularization: float | None = None,
    degree: int = 2,
    restarts: int = 0,
    max_iter: int = 50,
    tol: float = 1e-9,
    seed: int = 0,
    solver: str | Solver = "clarabel",
    accuracy: float = 1e-7,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
) -> PolynomialFactors:
    r"""Find factors with :math:`V_{ij} = g(W_i \cdot H_j)`.

    Convex iteration on `sdpdr.methods.polynomial_factorization`, whose matrices are to have
    rank k and one: each is given the trace of its own Schur complement as a cost, from random
    factors on. After each program, the factors read off are moved to the best fit nearby by the
    method of Levenberg and Marquardt. The search ends when they meet the entries, or when the
    iteration stalls; a stall proves nothing.

    With a ``regularization`` one program is solved instead, whose bound holds for all factors,
    and the factors read off are moved to a stationary point.

    Where unknown entries of V are ``nan``, their values are those of the factors found
    (`PolynomialFactors.product`).

    Parameters
    ----------
    X, coefficients, n_components, lift, nonnegative, regularization, degree
        As of `sdpdr.methods.polynomial_factorization`. Unknown coefficients (None) are
        experimental: entries may be met with coefficients that are far from those that made
        them, see the method's page.
    restarts : int, default 0
        Random starts that may follow the first.
    max_iter : int, default 50
        Programs in each start.
    tol : float, default 1e-9
        Relative misfit at which entries count as met.
    seed : int, default 0
    solver : str or Solver, default "clarabel"
        See `sdpdr.solve`; the program is written with matrix inequalities (``form="lmi"``).
    accuracy : float, default 1e-7
        Relative gap asked of each solve.
    time_limit : float, optional
        Seconds of the whole, what it takes to write the program and all starts included.
    progress : bool or callable, optional
        Show progress; by default on a terminal only.

    Returns
    -------
    PolynomialFactors
        However it ended. ``bound`` proves how small the misfit can be where g is increasing.

    Raises
    ------
    DataError, ModelError, UnknownNameError
        As of `sdpdr.methods.polynomial_factorization`.
    InfeasibleError
        No factors of any number of components give the entries, as where one lies below the least
        value of g.
    SolveFailedError
        No program was solved.

    References
    ----------
    Vasiloglou thesis, (2.98), (3.115)-(3.119) and (4.120).

    Examples
    --------
    >>> t = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
    >>> found = polynomial(t + t**2 / 2, [1.0, 0.5])
    >>> found.status, found.error < 1e-12, found.H.round(6).ravel().tolist()
    (IterationStatus.RANK_REACHED, True, [0.7, 1.2])
    """
    deadline = Deadline(time_limit)
    V = known_entries(X)
    c = None if coefficients is None else checked_coefficients(coefficients)
    misfit = regularization is not None
    held = polynomial_lift(V, c, n_components, lift=lift, misfit=misfit, degree=degree)
    model = model_of(held, V, c, nonnegative, regularization)
    price = regularization or 0.0
    squares = Misfit(V, nonnegative, c is None, held.anchors, price, deadline.later(_AFTER))
    reader, size = _FactorReader(held, squares, c), float(np.sqrt(np.nansum(V**2)))
    if regularization is not None:
        solution = solve(
            model,
            solver,
            "lmi",
            tol=unless_configured(solver, accuracy),
            seed=unless_configured(solver, seed),
            time_limit=deadline.left(),
        )
        solution.gram()  # raises if there is no point
        fit = reader.fit(solution)
        return result_of(
            fit, IterationStatus.SETTLED, size, objective=fit.objective, bound=solution.bound,
            argument=solution.argument, trivial=0.5 * size**2, programs=1, solution=solution,
        )  # fmt: skip
    validate.positive_integer("restarts", restarts, at_least=0)
    validate.positive_number("tol", tol)
    if c is not None:
        _refuse_below(V, c, nonnegative, tol * size)
    ways = {name: Schur(rank) for name, rank in held.ranks.items()}
    iteration = ConvexIteration(
        model, n_components, tuple(ways), ways, max_iter=max_iter, seed=seed, solver=solver,
        form="lmi", accuracy=accuracy, time_limit=deadline.left(), progress=progress,
    )  # fmt: skip
    reader.enough = tol * size
    states = _search(iteration, ways, reader, restarts)
    if reader.best is None:
        raise _no_answer(states[-1])
    bound = None if c is None else misfit_bound(V, c, n_components, nonnegative)
    status = states[-1].status
    if status is IterationStatus.RANK_REACHED and not reader.met:
        status = IterationStatus.STALLED
    return result_of(
        reader.best, status, size, states=states, programs=sum(len(s.history) for s in states),
        objective=reader.best.misfit, bound=bound, trivial=size,
        argument=_NO_ARGUMENT if bound is None else ARGUMENT,
    )  # fmt: skip


@dataclass(eq=False)
class _FactorReader:
    """From answers to factors, of which the best are kept; from random factors to first costs.

    A misfit of ``enough`` meets the entries.
    """

    held: PolynomialLift
    squares: Misfit
    coefficients: Array | None
    enough: float = 0.0
    best: Fit | None = None

    def fit(self, solution: Solution) -> Fit:
        """The best fit near the factors that an answer holds."""
        W, H, c = self.held.read(solution.values)
        low = 0.0 if self.squares.nonnegative else -np.inf
        W, H, coefficients = np.maximum(W, low), np.maximum(H, low), self.coefficients
        if coefficients is None:
            assert c is not None
            coefficients = np.concatenate([[1.0], np.maximum(c, low)])
        return self.squares.descend(W, H, coefficients)

    def accept(self, state: State) -> bool:
        """Whether the entries are met; asked after every program."""
        assert state.last is not None
        fit = self.fit(state.last)
        if self.best is None or fit.misfit < self.best.misfit:
            self.best = fit
        return self.met

    @property
    def met(self) -> bool:
        """Whether they were by any answer."""
        return self.best is not None and self.best.misfit <= self.enough

    def drawn(self, rng: np.random.Generator) -> dict[str, Array]:
        """What random factors, with the anchors, put below the corner of each matrix.

        Their entries are about as large as the data.
        """
        held, V, c = self.held, self.squares.V, self.coefficients
        W = rng.random((held.n_rows, held.n_components))
        H = rng.random((held.n_columns, held.n_components))
        if held.anchors is not None:
            W[held.anchors] = np.eye(held.n_components)
        if c is None:
            c = np.concatenate([[1.0], rng.random(held.degree - 1)])
        T, known = W @ H.T, ~np.isnan(V)
        wanted = float(np.linalg.norm(V[known]))
        away = [abs(np.linalg.norm(evaluate(c, s * T[known])) - wanted) for s in _SIZES]
        near = np.array(away) <= max(_NEAR * wanted, min(away))
        return held.corners(W, H * _SIZES[np.argmax(near)], c)


def _search(
    iteration: ConvexIteration, ways: Mapping[str, Schur], reader: _FactorReader, restarts: int
) -> tuple[State, ...]:
    """One start after the other, until the entries are met or nothing is left to try."""
    deadline, states = Deadline(iteration.time_limit), []
    for number in range(restarts + 1):
        corners = reader.drawn(np.random.default_rng([iteration.seed, number]))
        directions = {name: ways[name].at(below) for name, below in corners.items()}
        state = State(IterationStatus.RUNNING, (), directions, next(iter(ways)), start=number)
        rest = replace(iteration, time_limit=deadline.left())
        states.append(rest.run(state, reader.accept))
        if reader.met or deadline.is_over() or states[-1].status in _FINAL:
            break
    return tuple(states)


def _refuse_below(V: Array, c: Array, nonnegative: bool, rounding: float) -> None:
    """Refuse entries that g takes nowhere: no program needs to be solved to know."""
    g = np.polynomial.Polynomial([0.0, *c]).trim()
    ends = (g.coef[-1], g.coef[-1] * (-1.0) ** g.degree())
    if min(ends[:1] if nonnegative else ends) < 0.0:
        return
    # Further points than the extrema do no harm: the least value is below that of any.
    at = np.append(np.real(g.deriv().roots()), 0.0)
    least = float(np.min(g(np.maximum(at, 0.0) if nonnegative else at)))
    if np.nanmin(V) < least - rounding:
        raise InfeasibleError(
            f"no factors of any number of components give the entry {np.nanmin(V):.6g}, which lies "
            f"below the least value of g, {least:.6g}. Pass other coefficients or a regularization."
        )


def _no_answer(state: State) -> Exception:
    if state.status is IterationStatus.INFEASIBLE:
        return InfeasibleError(
            "the solver says that no factors give these entries, of any number of components: an "
            "entry may lie below the least value of g. Pass other coefficients or a regularization."
        )
    return SolveFailedError(f"there are no factors: {state.status.name}. {state.status.advice}")


def result_of(fit: Fit, status: IterationStatus, size: float, **rest: Any) -> PolynomialFactors:
    """The record of a fit to entries of a size."""
    return PolynomialFactors(
        fit.W, fit.H.T, fit.coefficients, status, fit.misfit / size, fit.misfit, **rest
    )
