r"""Derivatives of the optimum, and of where it is attained, by parameters.

The conditions of optimality (`sdpdr.solving.derivatives.kkt`) hold along a change of a parameter
p; where their derivative by x and y has an inverse, the theorem of implicit functions gives

.. math::  F(x, y; p) = 0 \quad\Rightarrow\quad
           \partial_{(x, y)} F \; (x, y)' = -\partial_p F.

F is affine in p, so that its derivative by p is a difference. Where the derivative by x and y has
no inverse, the equations tell whether one exists all the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import EffortSpentError
from sdpdr.base.errors import DataError, NotSmoothError
from sdpdr.linalg import svec_size
from sdpdr.model import Model
from sdpdr.model.parameters import Parameter
from sdpdr.program.attain.cone import ConeProgram, cone_program
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point, Value, arranged
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import facial_reduction
from sdpdr.reduce.squared import squared
from sdpdr.solving.derivatives.kkt import Reached
from sdpdr.solving.derivatives.newton import GAPS, Central, End, optimum
from sdpdr.solving.derivatives.system import System

# Values, relative to the constant beside them, that may be no more than errors.
_ROUNDED = 1e-6
# Share of a change that equations which depend on others may contradict, by rounding.
_DOUBT = 1e-6
# What an eigenvalue keeps at least, as the gap becomes a tenth, unless it vanishes together with
# that of its multiplier, both of them like the root of the gap.
_KEPT = 0.6
# Multipliers that grow by more than this as the gap becomes a tenth have no limit: they grow at
# least like its root where they do, mostly like its inverse.
_GROWTH = 2.0
# Products of rows and entries up to which a step takes less than a second or so.
_LARGEST = 1e10
NO_INTERIOR = (
    "the program has no interior at these values of the parameters, and its multipliers, which "
    "would be the derivative, have no limit: the optimal value may change on one side only, or not "
    "at a rate. Take differences of two solutions, or another value, for which rows leave room (a "
    "limit that is positive rather than zero)."
)


class Optimum:
    """An answer, as precise as doubles allow, and what its conditions say of changes.

    Parameters
    ----------
    model : Model
    solution : Solution
        At the present values of the parameters.

    Raises
    ------
    NotSmoothError
        If multipliers are unlimited or there are none, even on the face that the rows state.
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
        found = None if here is None else _end(*here)
        if here is None or found is None:
            if self._faced:
                # Multipliers of the whole program, that might do instead, need not exist.
                raise NotSmoothError(NO_INTERIOR)
            raise DataError(
                "no precise optimum was found from this solution, or the program is too large for "
                "one: solve with a smaller tol, or take differences of two solutions instead."
            )
        if found.growth > _GROWTH:
            raise NotSmoothError(NO_INTERIOR)
        self.program: ConeProgram = here[0]
        self.found: Central = found.central
        self._kept: float = found.kept

    def _on_face(self, solution: Solution) -> Solution:
        if not self._faced or not self._faced.original.is_point(solution.values):
            return solution
        duals = {label: np.nan_to_num(y) for label, y in solution.duals.items()}
        point = self._faced.push(Point(solution.values, duals))
        return replace(solution, values=point.values, duals=point.duals)

    def reduced(self) -> SDP:
        """The program at the present values of the parameters, on the face of the answer.

        Raises
        ------
        NotSmoothError
            If it lies on another face, or on none.
        """
        found = facial_reduction(self.model.to_sdp())
        steps, before = found.exposures, self._faced.exposures
        if found.infeasible or [e.multipliers for e in steps] != [e.multipliers for e in before]:
            raise NotSmoothError(NO_INTERIOR)
        return found.sdp

    @property
    def solution(self) -> Solution:
        """The answer on its face with the precise point and multipliers; nothing is proved anew."""
        values = self.program.values(self.found.at.x, tuple(v.name for v in self.sdp.variables))
        duals = self.program.duals(self._given.duals, self.found.at.y)
        return replace(
            self._given,
            value=self.sdp.report(self.sdp.primal_value(values)),
            values=values,
            duals=complete_multipliers(self.sdp, duals),
        )

    @property
    def values(self) -> dict[str, Value]:
        """The precise point of the whole program."""
        return dict(self._faced.embed(Point(self.solution.values, {})).values)

    @cached_property
    def system(self) -> System:
        """Their derivative by point and multipliers."""
        return System(self.found.place)

    def changes(self, parameter: Parameter) -> list[tuple[Array, Array]]:
        """Derivatives of the residuals by every entry of a parameter, which they are affine in.

        Raises
        ------
        NotSmoothError
            If the number of rows, or the face that they state, depends on the parameter.
        """
        x, y, of = self.found.at.x, self.found.at.y, self.found.place.of
        before = _residuals(self.program, x, y)

        def change(step: float) -> tuple[Array, Array]:
            program = cone_program(self.reduced())
            if not self._is_like(program):
                raise NotSmoothError(
                    f"the rows of the program, or the face that they state, change with "
                    f"{parameter.name!r}: take differences of two solutions instead."
                )
            after = _residuals(program, x, y)
            missed, slack = ((a - b) / step for a, b in zip(after, before, strict=True))
            return of.rows * missed, of.units * slack / of.price

        return parameter.at_each_entry(change)

    def _is_like(self, program: ConeProgram) -> bool:
        """Whether x means the same in another program."""
        x, names = self.found.at.x, tuple(v.name for v in self.program.sdp.psd_variables)
        if not _fit(self.program, program):
            return False
        here, there = self.program.values(x, names), program.values(x, names)
        return all(np.allclose(here[name], there[name], rtol=1e-12) for name in names)

    def has_slope(self, parameter: Parameter) -> bool:
        """Whether the optimal value has a derivative by a parameter."""
        return all(self.system.doubt(*change) <= _DOUBT for change in self.changes(parameter))

    def derivative(self, parameter: Parameter) -> dict[str, Array]:
        """Derivatives of the variables that were written, by a parameter.

        Raises
        ------
        NotSmoothError
        """
        self._require_smooth(parameter)
        names, shapes = self._names(), self.model.shapes
        slopes: dict[str, list[Array]] = {name: [] for name in names}
        for change in self.changes(parameter):
            dx = self.system.slope(*change).dx
            reduced = tuple(v.name for v in self.sdp.variables)
            step = self.program.values(dx * self.found.place.of.units, reduced)
            moved = self._faced.embed(Point(step, {})).values
            for name in names:
                seen = arranged(moved[name], shapes[name]) if name in shapes else moved[name]
                slopes[name].append(np.asarray(seen))
        return {
            name: np.reshape(each, (*parameter.shape, *each[0].shape))
            for name, each in slopes.items()
        }

    def _names(self) -> tuple[str, ...]:
        """Of the variables that were written, and not added by functions of them."""
        added = tuple(f"{block.label}." for block in self.model.blocks)
        return tuple(v.name for v in self.model.variables() if not v.name.startswith(added))

    def _places(self) -> NDArray[np.bool_]:
        """Which entries of x are theirs."""
        names, chosen = self._names(), np.zeros(self.found.at.x.size, dtype=bool)
        for block in self.program.blocks:
            chosen[block.part] = block.name in names
        for v in self.sdp.vector_variables:
            start = self.program.part(v.name).start
            chosen[start : start + v.size] = v.name in names
        return chosen

    def _require_smooth(self, parameter: Parameter) -> None:
        if self._kept < _KEPT:
            raise NotSmoothError(
                "the solution has no derivative here, since a slack, or an eigenvalue, vanishes "
                "together with its multiplier, as far as can be told: move the parameter a little."
            )
        if not self.system.leaves(self._places()):
            raise NotSmoothError(
                "the solution has no derivative here, since its point is not unique: add a price "
                "that chooses one, for instance on squares."
            )
        if not self.has_slope(parameter):
            raise NotSmoothError(
                f"the solution has no derivative by {parameter.name!r} here, since rows that depend"
                " on each other come apart as it changes: leave one of them out."
            )


def _begin(sdp: SDP, solution: Solution) -> tuple[ConeProgram, Reached] | None:
    """The program over a cone, and the answer in it; None where it lacks something, or is large."""
    if not sdp.is_point(solution.values) or not sdp.is_dual_point(solution.duals):
        return None
    # A long length is many arrows, and a factorization of all of them fills in.
    length = squared(sdp)
    if length is not None and length.heads is not None:
        return None
    entries = sum(v.size for v in sdp.psd_variables) + sdp.n_rows
    rows = sdp.n_rows + sum(svec_size(lmi.order) for lmi in sdp.lmis)
    if rows * rows * entries > _LARGEST:
        return None
    try:
        program = cone_program(sdp)
    except EffortSpentError:
        return None
    y = program.multipliers(solution.duals)
    if not np.isfinite(y).all():
        return None
    return program, Reached.by(program, program.vector(solution.values), y)


def _fit(one: ConeProgram, other: ConeProgram) -> bool:
    """Whether programs have the same cone and as many rows."""
    return (
        one.A.shape == other.A.shape
        and [b.order for b in one.blocks] == [b.order for b in other.blocks]
        and [r.label for r in one.rows] == [r.label for r in other.rows]
    )


def _end(program: ConeProgram, at: Reached) -> End | None:
    """Where the central path ends, or the nearest end to multipliers that have no limit on it.

    Any multipliers do, with which no eigenvalue vanishes on both sides.
    """
    constant = program.sdp.constant
    size = abs(program.value(at.x) - constant)
    if size <= _ROUNDED * abs(constant):
        size = abs(constant) or 1.0
    found = optimum(program, at, size)
    if found is None and size < abs(constant):
        size = abs(constant)
        found = optimum(program, at, size)
    if found is not None and _has_limits(found):
        return found
    other = optimum(program, at, size, GAPS[-2:])
    return other if other is not None and _has_limits(other) else found


def _has_limits(found: End) -> bool:
    return found.growth <= _GROWTH and found.kept >= _KEPT


def _residuals(program: ConeProgram, x: Array, y: Array) -> tuple[Array, Array]:
    return program.b - program.A @ x, program.c + program.curvature * x - program.A.T @ y
