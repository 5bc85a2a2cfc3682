r"""The optimum as the end of the central path, and how it moves with the data.

Along the path u and y are functions of :math:`\mu`, whose derivative says what vanishes at the
optimum, whether multipliers have a limit, and where the path ends. All data are affine in every
parameter, so that derivatives of the conditions of optimality by it are differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, NotSmoothError
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.faces import DUAL, PRIMAL
from sdpdr.certify.flat import Answer, FlatProgram
from sdpdr.certify.margin import margin
from sdpdr.certify.units import Units
from sdpdr.linalg.magnitudes import largest_of_rows
from sdpdr.model import Model
from sdpdr.model.parameters import Parameter
from sdpdr.program.point import Value, arranged
from sdpdr.program.solution import Solution
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.derivatives.equations import Equations
from sdpdr.solving.derivatives.flat_model import NO_INTERIOR, FlatModel, flat_model
from sdpdr.solving.derivatives.kkt import System
from sdpdr.solving.derivatives.path import follow_path

# Share of its size by which the point moves where the program is to stay solvable: the square of
# it, by which a matrix off its face misses the cone, is far above what solvers miss.
_ASIDE = 1e-2
# CPU seconds of each test whether the moved program is solvable; if it is not proved by then, it
# counts as unsolvable.
_SECONDS = 1.0
# Share of the largest terms of a derivative that is rounding of the point and the multipliers.
_ROUNDING = 1e-8
# Share of a change that dependent equations may contradict, by rounding.
_CONTRADICTED = 1e-6
# Differences of rates, relative to their sizes, of multipliers that are all but the same.
_SAME = 1e-4
# Squared number of equations, times the number of unknowns, up to which a step takes about a
# second.
_LARGEST = 1e10
# Share of a change by which constraints on a face are tried to the other side; they are exact.
_BACK = 2.0**-20
_ALONE = (
    "the optimal value has no derivative here: as soon as the parameter changes, constraints that "
    "depend on each other come apart, or variables without bounds get costs. Leave one of the "
    "constraints out, or let them change together."
)
_IMPRECISE = (
    "no precise optimum was found from this solution, perhaps as optimal points are unlimited: "
    "bound the variables, solve with a smaller tol, or take differences of two solutions instead."
)
_TOO_LARGE = (
    "the program is too large for the derivative of its point: take differences of two solutions "
    "instead."
)
_TOUCHING = (
    "the solution has no derivative here, since a slack, or an eigenvalue, vanishes together with "
    "its multiplier, as far as can be told: move the parameter a little."
)
_UNTOLD = (
    "the solution may have no derivative here: a slack, or an eigenvalue, and its multiplier are "
    "both so small that doubles do not tell which of them vanishes. Move the parameter a little, "
    "or take differences of two solutions instead."
)
_SEVERAL = (
    "the solution has no derivative here, since its point is not unique: add a penalty that "
    "selects one, for instance on squares."
)


class Change(NamedTuple):
    """What a parameter changes, for each unit of it.

    Attributes
    ----------
    offset, cost, B, g : float, array, sparse array, array
        Changes of the data of the minimisation.
    moved : callable
        The flat program with the parameter changed by a number.
    """

    offset: float
    cost: Array
    B: sp.csr_array
    g: Array
    moved: Callable[[float], FlatProgram]

    def rate(self, u: Array, y: Array) -> float:
        """Derivative of the Lagrangian, which is that of the optimal value at an optimum."""
        return float(self.offset + self.cost @ u + y @ (self.g - self.B @ u))

    def residuals(self, u: Array, y: Array) -> tuple[Array, Array]:
        """Derivatives of the residuals ``c - B^T y`` and ``g - B u``."""
        return self.cost - self.B.T @ y, self.g - self.B @ u

    def above_rounding(self, u: Array, y: Array) -> tuple[Array, Array]:
        """`residuals` without what the rounding of a point and multipliers leaves of them."""
        largest = [float(np.max(np.abs(v), initial=0.0)) for v in (u, y)]
        B = abs(self.B)
        sizes = [
            np.abs(self.cost) + largest[1] * B.sum(axis=0),
            np.abs(self.g) + largest[0] * B.sum(axis=1),
        ]
        slack, missed = (
            np.where(np.abs(v) > _ROUNDING * size, v, 0.0)
            for v, size in zip(self.residuals(u, y), sizes, strict=True)
        )
        return slack, missed


class Optimum:
    """An answer to a model as precise as doubles allow, and its derivatives.

    Attributes
    ----------
    is_large : bool
        Whether Newton's method would take too long: point and multipliers are the solution's.

    Raises
    ------
    NotSmoothError
        If there is no feasible point, or multipliers are unlimited or there are none, even on the
        face that the constraints state.
    DataError
        If the solution has no point or no multipliers, or is too far from the optimum.
    """

    def __init__(self, model: Model, solution: Solution) -> None:
        self.model, self._values = model, solution.values
        self.flat_model = flat_model(model, self._values)
        answer = self.flat_model.answer(solution)
        if answer is None and self.flat_model.faces:
            # Multipliers of the whole program, that might do instead, need not exist.
            raise NotSmoothError(NO_INTERIOR)
        if answer is None:
            raise DataError(
                f"a derivative needs a point and all multipliers; this solution "
                f"({solution.status.name} by {solution.solver}) lacks some."
            )
        self.units, self._fixed = Units.of(self.flat_model.flat), self._unchanged()
        self.of = self._equations(self.flat_model)
        x, z = self.units.point(answer.x), self.units.multipliers(answer.z)
        flat = self.of.flat
        self.answer = Answer(x, flat.b - flat.A @ x, z, True)
        self.u, self.y = self.of.from_answer(self.answer)
        self.is_large = self.of.g.size**2 * self.of.c.size > _LARGEST
        if not self.is_large:
            self._refine()
        elif self.flat_model.faces:
            raise NotSmoothError(NO_INTERIOR)

    def _refine(self) -> None:
        """Take the end of the central path for point and multipliers.

        Where that is not clear, they are those of the last point of the path: feasible on both
        sides, and optimal but for its gap.
        """
        failure = NotSmoothError(NO_INTERIOR) if self.flat_model.faces else DataError(_IMPRECISE)
        with np.errstate(all="ignore"):
            try:
                self._path = follow_path(self.of, self.answer)
            except np.linalg.LinAlgError:
                raise failure from None
        last = self._path.last
        if last.imbalance > _SAME:
            raise failure
        self.u, self.y = last.end if self._path.is_told else (last.u, last.y)

    def _equations(self, given: FlatModel) -> Equations:
        return Equations.of(self.units.program(given.flat), self._null(), self._fixed)

    def _unchanged(self) -> NDArray[np.bool_]:
        """Which rows of the cones no parameter changes."""
        flat = self.flat_model.flat
        same = np.ones(flat.b.size, dtype=bool)
        for parameter in self.model.parameters().values():
            before = parameter.value
            # Steps differ, so that no sum of entries stays as it is.
            steps = np.linspace(1.0, 2.0, before.size).reshape(before.shape)
            try:
                parameter.value = before + steps * np.maximum(1.0, np.abs(before))
                now = flat_model(self.model, self._values).flat
            except NotSmoothError:
                continue  # `changes` refuses it
            finally:
                parameter.value = before
            if now.A.shape == flat.A.shape:
                changed = np.asarray(abs(now.A - flat.A).sum(axis=1)).ravel()
                same &= (now.b == flat.b) & (changed == 0.0)
        return same

    def _null(self) -> dict[int, Array]:
        """Null vectors of matrices in the units of the program."""
        found = {}
        for first, u in self.flat_model.null.items():
            k = np.arange(len(u))
            units = np.sqrt(self.units.unknowns[first + k * (k + 3) // 2])
            found[first] = u * units[:, None]
        return found

    def values_of(self, u: Array) -> Mapping[str, Value]:
        """Values of the model's variables, linear in u."""
        return self.flat_model.values(self.units.given_point(self.of.unknowns(u)))

    def changes(self, parameter: Parameter) -> list[Change]:
        """What every entry of a parameter changes, which all data are affine in."""
        of, before = self.of, parameter.value

        def change(step: float) -> Change:
            flat, other = of.flat, self._moved(parameter)
            if self.flat_model.faces:
                # Constraints that a face leaves no room may be satisfied to one side only.
                parameter.value = before - _BACK * (parameter.value - before)
                flat_model(self.model, self._values)
            cost, B, g = (other.c - of.c) / step, (other.B - of.B) / step, (other.g - of.g) / step
            offset = (other.flat.offset - flat.offset) / step

            def moved(by: float) -> FlatProgram:
                t = by / step
                return replace(
                    flat,
                    c=flat.c + t * (other.flat.c - flat.c),
                    E=sp.csr_array(flat.E + t * (other.flat.E - flat.E)),
                    f=flat.f + t * (other.flat.f - flat.f),
                    A=sp.csr_array(flat.A + t * (other.flat.A - flat.A)),
                    b=flat.b + t * (other.flat.b - flat.b),
                )

            return Change(float(offset), cost, B, g, moved)

        return parameter.at_each_entry(change)

    def _moved(self, parameter: Parameter) -> Equations:
        """The program at other values of a parameter, with u and y as they are here."""
        now = flat_model(self.model, self._values)
        nulls = [
            {first: u.shape for first, u in one.null.items()} for one in (now, self.flat_model)
        ]
        if now.faces != self.flat_model.faces or nulls[0] != nulls[1]:
            raise NotSmoothError(NO_INTERIOR)
        flat = self.of.flat
        if now.flat.A.shape == flat.A.shape and now.flat.E.shape == flat.E.shape:
            other = self._equations(now)
            if other.is_like(self.of):
                return other
        raise NotSmoothError(
            f"the constraints of the program, or the face that they state, change with "
            f"{parameter.name!r}: take differences of two solutions instead."
        )

    def rate(self, change: Change) -> float:
        """Derivative of the optimal value of the minimisation."""
        return self.units.cost * change.rate(self.u, self.y)

    @property
    def value(self) -> float:
        """The optimal value."""
        value = float(self.of.c @ self.u) + self.of.flat.offset
        return self.units.cost * (-value if self.model.is_maximization else value)

    @property
    def values(self) -> dict[str, Value]:
        """The optimal point."""
        return dict(self.values_of(self.u))

    @cached_property
    def _system(self) -> System:
        """The system at the optimum."""
        path = self._path
        before = None if path.before is None else System(path.before, path.quotients)
        return System(path.last, path.quotients, before)

    def agree(self, changes: Sequence[Change]) -> bool:
        """Whether all optimal points and multipliers give the same rates.

        Raises
        ------
        NotSmoothError
            If the optimum is lost after some change: equations come apart, or multipliers or points
            are unlimited and there are none.
        """
        seen = [one.above_rounding(self.u, self.y) for one in changes]
        if not all(self.of.allow(*one) for one in seen):
            raise NotSmoothError(_ALONE)
        first = self._path.first
        is_bounded = self.of.is_inside(first.u, first.y)
        if not is_bounded and not all(map(self._stays_solvable, changes)):
            raise NotSmoothError(NO_INTERIOR)
        is_same = all(self._system.contradiction(*one) <= _CONTRADICTED for one in seen)
        if not is_bounded and not is_same:
            raise NotSmoothError(NO_INTERIOR)
        return is_same and all(map(self._is_settled, changes))

    def _is_settled(self, change: Change) -> bool:
        """Whether the rest of the path would not change the rate.

        That is beside multipliers of the size that would make up for all terms of some unknown's
        equation, so that units of unknowns and of constraints do not matter. One that vanishes
        together with its slack is known to the root of a gap only, which is seen beside others.
        """
        of = self.of
        end = change.rate(*self._path.last.end)
        misses = np.abs(change.g) + abs(change.B) @ np.abs(self.u)
        size = abs(change.offset) + float(np.abs(change.cost) @ np.abs(self.u))
        if self._path.keeps_touching:
            sizes = np.full(of.g.size, np.max(np.abs(self.y), initial=0.0))
        else:
            B = abs(of.B)
            B.eliminate_zeros()
            terms = np.abs(of.c) + B.T @ np.abs(self.y)
            shares = sp.csr_array((terms[B.indices] / B.data, B.indices, B.indptr), B.shape)
            sizes = largest_of_rows(shares)
        size += float(sizes @ misses)
        return abs(end - change.rate(self.u, self.y)) <= _SAME * size

    def _stays_solvable(self, change: Change) -> bool:
        """Whether the program has points and multipliers after a small change to either side."""
        du, _ = self._system.least_solution(*change.residuals(self.u, self.y))
        step = _ASIDE * float(np.linalg.norm(self.u) / (np.linalg.norm(du) or 1.0))
        try:
            margins = [
                margin(change.moved(by), side, partial(ask_solver, seconds=_SECONDS))
                for by in (-step, step)
                for side in (PRIMAL, DUAL)
            ]
        except UnprovedError:
            return False
        return all(one.is_positive or one.is_zero for one in margins)

    def derivative(self, parameter: Parameter) -> dict[str, Array]:
        """Derivatives of the user's variables, or a `NotSmoothError` if there are none.

        Raises
        ------
        NotSmoothError
        DataError
            If the program is too large.
        """
        if self.is_large:
            raise DataError(_TOO_LARGE)
        names, shapes, changes = self._names(), self.model.shapes, self.changes(parameter)
        if self._path.touches:
            raise NotSmoothError(_TOUCHING)
        if not self._system.determines(self._are_among(names)):
            raise NotSmoothError(_SEVERAL)
        if not self.agree(changes):
            raise NotSmoothError(
                f"the solution has no derivative by {parameter.name!r} here, since constraints "
                "that depend on each other come apart as it changes: leave one of them out."
            )
        if not self._path.is_told:
            raise NotSmoothError(_UNTOLD)
        slopes: dict[str, list[Array]] = {name: [] for name in names}
        for change in changes:
            residuals = change.residuals(self.u, self.y)
            moved = self.values_of(self._system.least_solution(*residuals)[0])
            for name in names:
                seen = arranged(moved[name], shapes[name]) if name in shapes else moved[name]
                slopes[name].append(np.asarray(seen))
        return {
            name: np.reshape(each, (*parameter.shape, *each[0].shape))
            for name, each in slopes.items()
        }

    def _are_among(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Which entries of u variables are made of."""
        found = np.zeros(self.of.c.size, dtype=bool)
        for name in names:
            found[self.flat_model.places[name]] = True
        return found

    def _names(self) -> tuple[str, ...]:
        """Names of the variables that were written, not those that functions added."""
        added = tuple(f"{block.label}." for block in self.model.blocks)
        return tuple(v.name for v in self.model.variables() if not v.name.startswith(added))
