r"""Derivatives of the optimum, and of the point that attains it, by parameters.

The conditions of optimality (`sdpdr.solving.derivatives.place`) hold along a change of a parameter
p; where their derivative by x and y has an inverse, the theorem of implicit functions gives

.. math::  F(x, y; p) = 0 \quad\Rightarrow\quad
           \partial_{(x, y)} F \; (x, y)' = -\partial_p F.

F is affine in p, so that its derivative by p is a difference. Where the derivative by x and y has
no inverse, the equations say whether one exists all the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, NotSmoothError
from sdpdr.linalg import svec_size
from sdpdr.model import Model
from sdpdr.model.parameters import Parameter
from sdpdr.program.point import Point, Value, arranged
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import facial_reduction
from sdpdr.solving.derivatives.cone import ConeProgram, Reached, cone_program
from sdpdr.solving.derivatives.path import End, end_of_path
from sdpdr.solving.derivatives.system import System

# Share of a change that dependent equations may contradict, by rounding.
_CONTRADICTED = 1e-6
# The least share that an eigenvalue keeps as the gap becomes a tenth. One that vanishes together
# with that of its multiplier keeps the root of a tenth.
_KEPT = 0.6
# Multipliers that grow by more than this as the gap becomes a tenth have no limit: they grow like
# the inverse of the gap, or at least of its root.
_GROWTH = 2.0
# Squares of the number of constraints times entries up to which a step takes about a second.
_LARGEST = 1e10
NO_INTERIOR = (
    "the program has no interior at these values of the parameters, and its multipliers, which "
    "would be the derivative, have no limit: the optimal value may change on one side only, or not "
    "at a rate. Take differences of two solutions, or another value, for which rows leave room (a "
    "limit that is positive rather than zero)."
)
_IMPRECISE = (
    "no precise optimum was found from this solution, or the program is too large for one: solve "
    "with a smaller tol, or take differences of two solutions instead."
)
_TOUCHING = (
    "the solution has no derivative here, since a slack, or an eigenvalue, vanishes together with "
    "its multiplier, as far as can be told: move the parameter a little."
)
_SEVERAL = (
    "the solution has no derivative here, since its point is not unique: add a price that chooses "
    "one, for instance on squares."
)


class Optimum:
    """An answer to a model as precise as doubles allow, and its derivatives.

    Raises
    ------
    NotSmoothError
        If multipliers are unlimited or there are none, even on the face that the constraints state.
    DataError
        If the program is too large, or the answer too far from the optimum.
    """

    def __init__(self, model: Model, solution: Solution) -> None:
        self.model = model
        self._faced = facial_reduction(model.to_sdp())
        # A face that only a solver's hints have found is not found again for other numbers.
        if len(self._faced.exposures) < len(solution.exposures) or self._faced.infeasible:
            raise NotSmoothError(NO_INTERIOR)
        self.sdp: SDP = self._faced.sdp
        self._given = self._on_face(solution)
        here = _begin(self.sdp, self._given)
        end = None if here is None else _end(self.sdp, *here)
        if here is None or end is None:
            # Multipliers of the whole program, that might do instead, need not exist.
            raise NotSmoothError(NO_INTERIOR) if self._faced else DataError(_IMPRECISE)
        if end.growth > _GROWTH:
            raise NotSmoothError(NO_INTERIOR)
        self.program: ConeProgram = here[0]
        self._end = end

    def _on_face(self, solution: Solution) -> Solution:
        """The answer to the reduced program."""
        if not self._faced or not self._faced.original.is_point(solution.values):
            return solution
        duals = {label: np.nan_to_num(y) for label, y in solution.duals.items()}
        point = self._faced.push(Point(solution.values, duals))
        return replace(solution, values=point.values, duals=point.duals)

    def reduced(self) -> SDP:
        """The program at the present values; a `NotSmoothError` if it lies on another face."""
        found = facial_reduction(self.model.to_sdp())
        steps, before = found.exposures, self._faced.exposures
        if found.infeasible or [e.multipliers for e in steps] != [e.multipliers for e in before]:
            raise NotSmoothError(NO_INTERIOR)
        return found.sdp

    @property
    def solution(self) -> Solution:
        """The answer on its face with the precise point and multipliers; nothing is proved anew."""
        reached = self._end.place.reached
        values = self.program.values(reached.x)
        return replace(
            self._given,
            value=self.sdp.report(self.sdp.primal_value(values)),
            values=values,
            duals=self.program.duals(reached.y),
        )

    @property
    def values(self) -> dict[str, Value]:
        """The precise point of the whole program."""
        return dict(self._faced.embed(Point(self.solution.values, {})).values)

    @cached_property
    def _system(self) -> System:
        """The derivative of the conditions by point and multipliers."""
        return System(self._end.place)

    def _changes(self, parameter: Parameter) -> list[tuple[Array, Array]]:
        """Derivatives of both residuals by every entry of a parameter, which they are affine in."""
        place = self._end.place
        x, y, _ = place.reached

        def residuals(program: ConeProgram) -> tuple[Array, Array]:
            equations = program.equations
            return equations.b - equations.A @ x, equations.slack(x, y)

        before = residuals(self.program)

        def change(step: float) -> tuple[Array, Array]:
            program = cone_program(self.reduced())
            if not self.program.is_like(program, x):
                raise NotSmoothError(
                    f"the rows of the program, or the face that they state, change with "
                    f"{parameter.name!r}: take differences of two solutions instead."
                )
            missed, slack = (
                (a - b) / step for a, b in zip(residuals(program), before, strict=True)
            )
            return place.of.rows * missed, place.of.units * slack / place.of.price

        return parameter.at_each_entry(change)

    def has_slope(self, parameter: Parameter) -> bool:
        """Whether the optimal value has a derivative by a parameter."""
        return self._agree(self._changes(parameter))

    def _agree(self, changes: list[tuple[Array, Array]]) -> bool:
        """Whether constraints that depend on each other still do after changes."""
        return all(self._system.contradiction(*change) <= _CONTRADICTED for change in changes)

    def derivative(self, parameter: Parameter) -> dict[str, Array]:
        """Derivatives of the user's variables, or a `NotSmoothError` if there are none."""
        names, shapes = self._names(), self.model.shapes
        if self._end.kept < _KEPT:
            raise NotSmoothError(_TOUCHING)
        if not self._system.determines(self.program.is_among(names)):
            raise NotSmoothError(_SEVERAL)
        changes = self._changes(parameter)
        if not self._agree(changes):
            raise NotSmoothError(
                f"the solution has no derivative by {parameter.name!r} here, since rows that depend"
                " on each other come apart as it changes: leave one of them out."
            )
        slopes: dict[str, list[Array]] = {name: [] for name in names}
        for change in changes:
            dx = self._system.slope(*change) * self._end.place.of.units
            moved = self._faced.embed(Point(self.program.values(dx), {})).values
            for name in names:
                seen = arranged(moved[name], shapes[name]) if name in shapes else moved[name]
                slopes[name].append(np.asarray(seen))
        return {
            name: np.reshape(each, (*parameter.shape, *each[0].shape))
            for name, each in slopes.items()
        }

    def _names(self) -> tuple[str, ...]:
        """Names of the variables that were written, not those that functions added."""
        added = tuple(f"{block.label}." for block in self.model.blocks)
        return tuple(v.name for v in self.model.variables() if not v.name.startswith(added))


def _begin(sdp: SDP, solution: Solution) -> tuple[ConeProgram, Reached] | None:
    """The program over a cone, and the answer in it; None where it lacks something, or is large."""
    if not sdp.is_point(solution.values) or not sdp.is_dual_point(solution.duals):
        return None
    slack = sum(svec_size(lmi.order) for lmi in sdp.lmis)
    rows, entries = sdp.n_rows + slack, sum(v.size for v in sdp.variables) + sdp.n_rows + slack
    if rows * rows * entries > _LARGEST:
        return None
    program = cone_program(sdp)
    reached = program.reached(Point(solution.values, solution.duals))
    return None if reached is None else (program, reached)


def _end(sdp: SDP, program: ConeProgram, near: Reached) -> End | None:
    """Where the central path ends; None where Newton's method does not get there."""
    equations = program.equations
    size = max(abs(equations.value(near.x)), abs(sdp.constant)) or 1.0
    return end_of_path(equations, near, size)
