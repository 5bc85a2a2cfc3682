"""Problems written in cvxpy, as programs in the standard form."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

import cvxpy as cp
import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.model.conic.canonical import Canonicalized, canonicalized
from sdpdr.model.conic.interface import ConicInterface, GradedAnswer
from sdpdr.model.conic.kept import (
    as_dense_array,
    dual_values,
    kept_dual_values,
    kept_point,
    kept_value,
)
from sdpdr.model.conic.labels import labels_of, names_of
from sdpdr.model.conic.read import Reading, read_conic
from sdpdr.model.conic.refusals import refuse
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution

# Rounding errors of symmetric parts, relative to the largest entry.
_ASYMMETRY = 1e-9


@dataclass(frozen=True, eq=False)
class _WayBack:
    """The data for the way back from a program to its cvxpy problem."""

    made: Canonicalized
    reading: Reading


@dataclass(frozen=True, eq=False, repr=False)
class CvxpyProgram(SDP):
    """A program that was read from a cvxpy problem, by `sdpdr.from_cvxpy`.

    Rows have the names of the problem's constraints, and variables those of its variables. A matrix
    that is the negative of a variable X is called "-X"; any other one has its constraint's name.
    Programs that are derived from it by a reduction, or sent to another process, have no way back
    to the problem.
    """

    _way: _WayBack | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_way": None}

    def give_back(self, solution: Solution) -> cp.Problem:
        """Store an answer in the problem: status, value, and values of variables and constraints.

        Parameters
        ----------
        solution : Solution
            An answer to this program.

        Returns
        -------
        cvxpy.Problem
            The one that was read.

        Raises
        ------
        DataError
            If the program is not the one that was read but derived from it, or if the solution is
            of another program.
        cvxpy.SolverError
            As cvxpy raises it, if there is no point and nothing was proved.

        Examples
        --------
        >>> import cvxpy as cp
        >>> import sdpdr
        >>> x = cp.Variable(2, name="x")
        >>> program = sdpdr.from_cvxpy(cp.Problem(cp.Maximize(cp.sum(x)), [cp.norm(x) <= 1]))
        >>> problem = program.give_back(sdpdr.solve(program))
        >>> problem.status, x.value.round(4)
        ('optimal', array([0.7071, 0.7071]))
        """
        if self._way is None:
            raise DataError(
                "this program was derived from one that from_cvxpy returned, and does not hold the "
                "problem: call give_back on that one."
            )
        if solution.values and not self.is_point(solution.values):
            raise DataError("the solution is of another program: it lacks variables of this one.")
        way = self._way
        try:
            answer = GradedAnswer(way.reading, solution)
            way.made.problem.unpack_results(answer, way.made.chain, way.made.inverse)
        except cp.SolverError:
            raise cp.SolverError(
                f"SDPDR has no point to give back: {solution.status.name}. {solution.advice}"
            ) from None
        return way.made.problem

    def in_problem(self, solution: Solution) -> Solution:
        """An answer that knows the problem's variables and constraints; the problem stays as it is.

        Examples
        --------
        >>> import cvxpy as cp
        >>> import numpy as np
        >>> import sdpdr
        >>> X = cp.Variable((2, 2), symmetric=True, name="X")
        >>> above = X >> 2 * np.eye(2)
        >>> program = sdpdr.from_cvxpy(cp.Problem(cp.Minimize(cp.trace(X)), [above]))
        >>> found = program.in_problem(sdpdr.solve(program))
        >>> found[X].round(4) + 0.0, found.dual(above).round(4) + 0.0
        (array([[2., 0.],
               [0., 2.]]), array([[1., 0.],
               [0., 1.]]))
        """
        if self._way is None or not self.is_point(solution.values):
            return solution
        made, answer = self._way.made, GradedAnswer(self._way.reading, solution)
        inverted = made.chain.invert(answer, made.inverse)
        values, names = inverted.primal_vars, names_of(made.problem)
        return replace(
            solution,
            in_problem={
                name: np.asarray(as_dense_array(values[v.id]))
                for v, name in names.items()
                if v.id in values
            },
            duals_in_problem=dual_values(made.problem, inverted.dual_vars),
            labels={**names, **dict(labels_of(made.problem))},
        )

    def kept(self) -> Point | None:
        """The answer stored in the problem, as a point of this program.

        Returns
        -------
        Point or None
            Without multipliers unless all are known; None if a value is missing, such as one of a
            variable that cvxpy adds.

        Examples
        --------
        >>> import cvxpy as cp
        >>> import sdpdr
        >>> X = cp.Variable((2, 2), PSD=True, name="X")
        >>> problem = cp.Problem(cp.Maximize(X[0, 1]), [(cp.trace(X) == 2).set_label("trace")])
        >>> _ = problem.solve(solver=cp.CLARABEL)
        >>> point = sdpdr.from_cvxpy(problem).kept()
        >>> point.values["X"].round(4).tolist(), point.duals["trace"].round(4).tolist()
        ([[1.0, 1.0], [1.0, 1.0]], [0.5])
        """
        way = self._way
        point = None if way is None else kept_point(way.made)
        if way is None or point is None or not point.is_whole or np.any(np.isnan(point.x)):
            return None
        kept = [(name, kept_value(v)) for v, name in names_of(way.made.problem).items()]
        by_name = {name: value for name, value in kept if value is not None}
        values = {
            v.name: by_name[v.name].reshape(v.extents, order="F")
            for v in self.variables
            if v.name in by_name and by_name[v.name].size == math.prod(v.extents)
        }
        if not self.is_point(values) or not _agree(way.reading.primal(values), point.x):
            return None
        duals = way.reading.multipliers(kept_dual_values(way.made))
        return Point(values, duals if self.is_dual_point(duals) else {})


def _agree(one: Array, other: Array) -> bool:
    """Whether all known numbers agree up to rounding."""
    known = ~np.isnan(other)
    size = float(np.max(np.abs(other[known]), initial=0.0))
    return bool(np.all(np.abs(one - other)[known] <= _ASYMMETRY * size))


def read_problem(problem: cp.Problem, name: str | None = None) -> CvxpyProgram:
    """A cvxpy problem as a program in the standard form (see `sdpdr.from_cvxpy`)."""
    refuse(problem)
    made = canonicalized(problem, ConicInterface())
    reading = read_conic(made.conic)
    parts = {f.name: getattr(reading.sdp, f.name) for f in fields(SDP) if f.init}
    program = CvxpyProgram(**{**parts, "name": name or ""})
    object.__setattr__(program, "_way", _WayBack(made, reading))
    return program
