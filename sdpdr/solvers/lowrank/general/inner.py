"""The inner loop: Newton steps on the augmented Lagrangian, by conjugate gradients.

References
----------
Dembo and Steihaug, Math. Program. 26, 1983; Nocedal and Wright, section 7.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.frame import Journal, Options
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian
from sdpdr.solvers.lowrank.general.kkt import SparseNewton, is_sparse
from sdpdr.solvers.lowrank.general.lagrangian import Layout, Local
from sdpdr.solvers.lowrank.general.line_search import Curve
from sdpdr.solvers.lowrank.general.precondition import (
    block_preconditioner,
    saddle_cost,
    saddle_preconditioner,
)
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.general.verdict import is_unbounded, reported, stationarity, violation

Solve = Callable[[Array], Array]

_LEAST_BEND = 1e-12  # relative curvature that still counts as positive


def truncated_newton(
    hessian: Hessian,
    gradient: Array,
    precondition: Solve,
    accuracy: float,
    limit: int,
    late: Callable[[], bool],
) -> tuple[Array, int]:
    """A descent direction: Newton's where the second derivative is positive along the way.

    Conjugate gradients stop at a relative residual. Where they meet negative curvature, its
    direction joins the step with a weight that makes both equally long.

    Parameters
    ----------
    hessian : Hessian
    gradient : array
    precondition : callable
        The inverse of a positive definite approximation of the second derivative.
    accuracy : float
    limit : int
        Most products with the second derivative.
    late : callable
        Says when time is up.

    Returns
    -------
    direction : array
    products : int
    """
    step = np.zeros_like(gradient)
    residual = gradient
    solved = precondition(residual)
    rho = first = float(residual @ solved)
    direction = -solved
    step2, overlap, size2 = 0.0, 0.0, rho  # of step and direction, in the preconditioner's norm
    for count in range(1, max(limit, 1) + 1):
        curved = hessian @ direction
        bend = float(direction @ curved)
        if bend <= _LEAST_BEND * size2:
            weight = np.sqrt(step2 / size2) if count > 1 else 1.0
            return step + weight * direction, count
        alpha = rho / bend
        step = step + alpha * direction
        step2 += 2.0 * alpha * overlap + alpha**2 * size2
        residual = residual + alpha * curved
        solved = precondition(residual)
        rho_next = float(residual @ solved)
        if not rho_next > accuracy**2 * first or late():
            break
        beta = rho_next / rho
        overlap = beta * (overlap + alpha * size2)
        size2, rho = rho_next + beta**2 * size2, rho_next
        direction = -solved + beta * direction
    return step, count


_MOST_STEPS = 100  # in one round
_MOST_PRODUCTS = 500  # in one step

_MAX_FILL = 20_000_000
_REUSED = 10  # products up to which a preconditioner is good for another step
_SHORT = 0.5  # step lengths below this are cut short


class Inner:
    """Minimises augmented Lagrangians of one problem.

    Parameters
    ----------
    problem : FactorProblem
    options : Options
    journal : Journal

    Attributes
    ----------
    latest : Local or None
        The point reached so far.
    jacobians : list of Jacobian
        One for each matrix variable.
    """

    def __init__(self, problem: FactorProblem, options: Options, journal: Journal) -> None:
        self.problem, self.options, self.journal = problem, options, journal
        self.latest: Local | None = None
        self.jacobians = [Jacobian(block.forms) for block in problem.blocks]
        self._saddle: tuple[tuple[int, ...], Solve] | None = None
        self._newton: SparseNewton | None = None
        self._fill: tuple[int, float] | None = None
        self._spent = 0.0  # on products in the last step that had blocks as preconditioner

    def minimize(self, local: Local, accuracy: float) -> Local:
        """Go down until the gradient adds less than ``accuracy`` to the gap."""
        self.latest = local
        kept = local.active
        for _ in range(_MOST_STEPS):
            gradient = local.gradient()
            size = stationarity(local, gradient)
            if size <= accuracy or self.journal.exhausted or is_unbounded(local):
                break
            direction = self._direction(local, gradient, size, kept)
            local, length, foreseen = self._move(local, direction, kept)
            if length == 0.0:
                break
            self.latest = local
            kept = local.active | foreseen if length < _SHORT else local.active
            self.note(local, size)
        return local

    def note(self, local: Local, size: float) -> None:
        """Enter a step to a point in the journal, which a gradient of some size led to."""
        self.journal.note(
            value=reported(self.problem, local.objective),
            penalty=local.function.penalty if local.active.any() else None,
            infeasibility=violation(local),
            stationarity=size,
            rank=max(local.function.layout.ranks),
        )

    def _move(
        self, local: Local, direction: Array, kept: NDArray[np.bool_]
    ) -> tuple[Local, float, NDArray[np.bool_]]:
        """The next point, the length of the step, and the rows that a full one would meet."""
        curve = Curve(local, direction)
        length = curve.best()
        layout = local.function.layout
        vector = layout.project(local.vector + length * direction)
        # A step cut short ran into rows that its model did not know of.
        return local.function.at(vector), length, kept | curve.kept(1.0)

    def _direction(
        self, local: Local, gradient: Array, size: float, kept: NDArray[np.bool_]
    ) -> Array:
        hessian = Hessian(local, self.jacobians, kept)
        solve, saddle = self._preconditioner(hessian, size)
        accuracy = min(0.1, float(np.sqrt(size)))
        direction, products = truncated_newton(
            hessian, gradient, solve, accuracy, _MOST_PRODUCTS, self.journal.late
        )
        self.journal.products += products
        if not saddle:
            self._spent = products * hessian.cost
        elif products > _REUSED:
            self._saddle = None
        return direction

    def _preconditioner(self, hessian: Hessian, size: float) -> tuple[Solve, bool]:
        """Blocks while they serve; the saddle, from step to step, once it is the cheaper way."""
        if self._saddle is not None and self._saddle[0] == hessian.local.function.layout.ranks:
            return self._saddle[1], True
        self._saddle = None
        shift = max(1e-10, min(1e-3, 0.1 * size))
        if saddle_cost(hessian) < self._spent:
            self.journal.factorizations += 1
            solve: Solve | None = saddle_preconditioner(hessian, shift)
        else:
            solve = self._sparse(hessian, shift)
        if solve is None:
            return block_preconditioner(hessian), False
        self._saddle = hessian.local.function.layout.ranks, solve
        return solve, True

    def _sparse(self, hessian: Hessian, shift: float) -> Solve | None:
        """A sparse factorization, where it is wanted or worth it; else None."""
        layout, newton = hessian.local.function.layout, self.options.newton
        if newton == "cg" or not is_sparse(self.problem):
            return None
        if self._newton is None or self._newton.layout.ranks != layout.ranks:
            if newton == "auto" and self._fill_cost(layout) >= self._spent:
                return None
            self._newton = SparseNewton(layout, self.jacobians)
        solve, tries = self._newton.solver(hessian, shift)
        self.journal.factorizations += tries
        return solve

    def _fill_cost(self, layout: Layout) -> float:
        """Multiplications of a sparse factorization, predicted from that at rank one."""
        if self._fill is None:
            ones = Layout(self.problem, tuple(1 for _ in layout.ranks))
            self._fill = SparseNewton(ones, self.jacobians).cost()
        r = max(layout.ranks)
        entries, products = self._fill
        most = self.options.max_fill
        if entries * r**2 > (_MAX_FILL if most is None else most):
            return float("inf")
        return products * r**3
