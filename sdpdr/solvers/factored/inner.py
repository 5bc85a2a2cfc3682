"""The inner loop: Newton steps on the augmented Lagrangian, by conjugate gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdpdr.linalg.svec import Array
from sdpdr.solvers.factored.hessian import Hessian
from sdpdr.solvers.factored.jacobian import Jacobian
from sdpdr.solvers.factored.journal import Journal
from sdpdr.solvers.factored.kkt import SparseNewton, is_sparse
from sdpdr.solvers.factored.lagrangian import Layout, Local
from sdpdr.solvers.factored.line_search import Curve
from sdpdr.solvers.factored.newton_cg import Solve, truncated_newton
from sdpdr.solvers.factored.options import Options
from sdpdr.solvers.factored.pins import Pins
from sdpdr.solvers.factored.precondition import (
    block_preconditioner,
    saddle_cost,
    saddle_preconditioner,
)
from sdpdr.solvers.factored.problem import Problem
from sdpdr.solvers.factored.refute import is_unbounded
from sdpdr.solvers.factored.verdict import reported, stationarity, violation

_MOST_STEPS = 100  # in one round
_MOST_PRODUCTS = 500  # in one step

_REUSED = 10  # products up to which a preconditioner is good for another step
_SHORT = 0.5  # step lengths below this are cut short


class Inner:
    """Minimises augmented Lagrangians of one problem.

    Parameters
    ----------
    problem : Problem
    options : Options
    journal : Journal

    Attributes
    ----------
    latest : Local or None
        The point reached so far.
    """

    def __init__(self, problem: Problem, options: Options, journal: Journal) -> None:
        self.problem, self.options, self.journal = problem, options, journal
        self.latest: Local | None = None
        self._jacobians = [Jacobian(block.forms) for block in problem.blocks]
        self._pins = Pins(problem)
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
            self.journal.note(
                value=reported(self.problem, local.objective),
                penalty=local.function.penalty,
                infeasibility=violation(local),
                stationarity=size,
                rank=max(local.function.layout.ranks),
            )
        return local

    def _move(
        self, local: Local, direction: Array, kept: NDArray[np.bool_]
    ) -> tuple[Local, float, NDArray[np.bool_]]:
        """The next point, the length of the step, and the rows that a full one would meet."""
        if self._pins.any:
            trial, length = self._pins.search(local, direction)
            return trial, length, kept
        curve = Curve(local, direction)
        length = curve.best()
        layout = local.function.layout
        vector = layout.project(local.vector + length * direction)
        # A step cut short ran into rows that its model did not know of.
        return local.function.at(vector), length, kept | curve.kept(1.0)

    def _direction(
        self, local: Local, gradient: Array, size: float, kept: NDArray[np.bool_]
    ) -> Array:
        hessian = Hessian(local, self._jacobians, kept)
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
            self._newton = SparseNewton(layout, self._jacobians)
        solve, tries = self._newton.solver(hessian, shift)
        self.journal.factorizations += tries
        return solve

    def _fill_cost(self, layout: Layout) -> float:
        """Multiplications of a sparse factorization, predicted from that at rank one."""
        if self._fill is None:
            ones = Layout(self.problem, tuple(1 for _ in layout.ranks))
            self._fill = SparseNewton(ones, self._jacobians).cost()
        r = max(layout.ranks)
        entries, products = self._fill
        if entries * r**2 > self.options.max_fill:
            return float("inf")
        return products * r**3
