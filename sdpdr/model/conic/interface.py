"""The interface of this package to cvxpy, as a solver of conic programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import cvxpy as cp
import cvxpy.settings as names
import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.solution import Solution as CvxpySolution
from cvxpy.reductions.solution import failure_solution
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import UncertifiedWarning, warn
from sdpdr.model.conic.canonical import KINDS, OTHER_CONES, conic_program, rows_of
from sdpdr.model.conic.read import Reading, read_conic
from sdpdr.program.run import Status
from sdpdr.program.solution import Solution

# Other solvers call a point feasible if it is feasible for data within this relative distance.
_NEARBY = 1e-6
_INACCURATE = (
    "cvxpy's status is 'optimal_inaccurate', because the answer is {}. {} "
    "`problem.solver_stats.extra_stats` holds the full answer."
)
_CONSTRAINTS = "constraints"
_CLAIMED = {"infeasible": cp.INFEASIBLE_INACCURATE, "unbounded": cp.UNBOUNDED_INACCURATE}
_STATUSES = {
    Status.SOLVED: cp.OPTIMAL,
    Status.INFEASIBLE: cp.INFEASIBLE,
    Status.UNBOUNDED: cp.UNBOUNDED,
    Status.TIME_LIMIT: cp.USER_LIMIT,
    Status.ITERATION_LIMIT: cp.USER_LIMIT,
    Status.INTERRUPTED: cp.USER_LIMIT,
}


class ReadProgram(Protocol):
    """A program that was read from cvxpy, in some form of ours, and the way back."""

    @property
    def n_rows(self) -> int:
        """Number of cvxpy's rows."""

    def primal(self, values: Mapping[str, Any]) -> Array:
        """Columns of cvxpy at a point."""

    def dual(self, duals: Mapping[str, Array]) -> Array:
        """Multipliers of cvxpy's rows."""

    def has_multipliers(self, duals: Mapping[str, Array]) -> bool:
        """Whether `dual` can be computed."""

    def beyond(self, z: Array, tol: float) -> Index:
        """Rows of the cones whose dual does not contain the multipliers z."""

    def report(self, value: float) -> float:
        """A value in the sense of the program that cvxpy minimises."""


@dataclass(frozen=True, eq=False)
class GradedAnswer:
    """A graded solution and the reading of the program that it answers."""

    reading: ReadProgram
    solution: Solution
    seconds: float | None = None


class ConicInterface(ConicSolver):  # type: ignore[misc]  # cvxpy's classes have no types
    """The supported cones, and the conversion of answers; it does not solve."""

    SUPPORTED_CONSTRAINTS: ClassVar[list[type]] = [k for k in KINDS if k not in OTHER_CONES]

    def name(self) -> str:
        """A name that no solver of cvxpy has, as cvxpy demands."""
        return "SDPDR"

    def import_solver(self) -> None:
        """Do nothing: there is no module to import."""

    def supports_quad_obj(self) -> bool:
        """Squares in the objective stay squares, instead of cones."""
        return True

    def cite(self, data: object) -> str:
        """No citation."""
        return ""

    def apply(self, problem: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The data of the program, and the data for the inversion.

        Rows stay in cvxpy's own order, in which the bounds of all second-order cones of one
        constraint come first. cvxpy rearranges them for other solvers by sparse products; here
        `_parts` finds the rows of each cone.

        Parameters
        ----------
        problem : cvxpy's program over cones

        Returns
        -------
        data, inverse_data : dict
        """
        *form, cost, constant, matrix, rhs = problem.apply_parameters(
            quad_obj=problem.P is not None
        )
        matrix, rhs = sp.csr_array(matrix), np.array(rhs, dtype=float)
        # Equations A x + b = 0 come first, followed by rows of A x + b in a cone.
        equations = sum(c.size for c in problem.constraints if isinstance(c, cp.constraints.Zero))
        rhs[:equations] *= -1.0
        matrix.data[matrix.indptr[equations] :] *= -1.0
        data = {
            names.PARAM_PROB: problem,
            names.C: cost,
            names.OFFSET: constant,
            names.A: matrix,
            names.B: rhs,
        }
        data |= {names.P: form[0]} if form else {}
        return data, {self.VAR_ID: problem.x.id, _CONSTRAINTS: problem.constraints}

    def solve_via_data(self, *args: Any, **options: Any) -> GradedAnswer:
        """Refuse: this class only reads."""
        raise NotImplementedError("ConicInterface reads programs; sdpdr.CVXPY solves them.")

    def invert(self, answer: GradedAnswer, inverse_data: Mapping[str, Any]) -> CvxpySolution:
        """The answer as a solution of cvxpy.

        Parameters
        ----------
        answer : GradedAnswer
        inverse_data : mapping

        Returns
        -------
        cvxpy.reductions.solution.Solution
        """
        solution, reading = answer.solution, answer.reading
        status = status_of(solution)
        if status == cp.OPTIMAL_INACCURATE and solution.status is Status.OPTIMAL_NEARBY:
            warn(_INACCURATE.format(solution.status.name, solution.advice), UncertifiedWarning)
        attributes = {
            names.EXTRA_STATS: solution,
            names.SOLVE_TIME: answer.seconds,
            names.NUM_ITERS: solution.claimed.iterations,
        }
        duals = _duals(answer, inverse_data, missing=status in names.SOLUTION_PRESENT)
        if status not in names.SOLUTION_PRESENT:
            failure = failure_solution(status, attributes)
            failure.dual_vars.update(duals)
            return failure
        primal = {inverse_data[self.VAR_ID]: reading.primal(solution.values)}
        # cvxpy minimises, and negates the value of a maximisation itself.
        value = reading.report(solution.value)
        return CvxpySolution(status, value, primal, duals, attributes)


class ConesOnly(ConicInterface):
    """The same cones, without squares in the objective: cvxpy turns them into cones."""

    def supports_quad_obj(self) -> bool:
        """Squares in the objective become cones."""
        return False


def status_of(solution: Solution) -> str:
    """The status of cvxpy for a graded solution.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    str
        ``"optimal"`` if both sides are proved, or if a bound is proved and the point is feasible
        for data within 1e-6 of the given ones; ``"..._inaccurate"`` otherwise.
    """
    status = _STATUSES.get(solution.status)
    if status is not None and (solution.values or status in names.INF_OR_UNB):
        return status
    # If neither a point nor a proof is left, as after an interruption, report the solver's claim.
    empty = not solution.values if status else solution.status is Status.UNVERIFIED
    if empty and solution.claimed.verdict in _CLAIMED:
        return _CLAIMED[solution.claimed.verdict]
    if not solution.values:
        return cp.SOLVER_ERROR
    if _is_nearby_with_bound(solution):
        return cp.OPTIMAL
    return cp.OPTIMAL_INACCURATE


def _is_nearby_with_bound(solution: Solution) -> bool:
    """Whether a bound is near the value of a point that is feasible for data equal in practice.

    Without such a bound the optimum may be far from the value, however near the data are.
    """
    if solution.status is not Status.OPTIMAL_NEARBY or solution.bound is None:
        return False
    gap = abs(solution.value - solution.bound)
    size = max(abs(solution.value), abs(solution.bound), solution.gap_scale)
    return solution.epsilon <= _NEARBY and gap <= solution.tol * size


def _duals(
    answer: GradedAnswer, inverse_data: Mapping[str, Any], *, missing: bool
) -> dict[int, Any]:
    """Multipliers by constraint, of the answer or of the proof of infeasibility.

    If there are none and `missing`, they are nan, because cvxpy would keep old ones.
    """
    ray, reading = answer.solution.ray, answer.reading
    multipliers = answer.solution.duals if ray is None else ray.duals
    if reading.has_multipliers(multipliers):
        z = reading.dual(multipliers)
    elif missing:
        z = np.full(reading.n_rows, np.nan)
    else:
        return {}
    if answer.solution.exposures and ray is None:
        # On a face the dual cones are larger, so multipliers outside the original ones are nan.
        z[reading.beyond(z, _NEARBY)] = np.nan
    constraints = inverse_data[_CONSTRAINTS]
    return {c.id: _as_dual(c, z[rows.ravel()]) for c, rows in rows_of(constraints)}


def _as_dual(constraint: Any, z: Array) -> Any:
    """Multipliers of a constraint in the shape that cvxpy expects."""
    if isinstance(constraint, cp.constraints.PSD):
        return z.reshape(constraint.args[0].shape, order="F")
    return z.item() if z.size == 1 else z


def read_data(data: Mapping[str, Any], **names_of: Any) -> Reading:
    """The program that cvxpy passes to a solver, in the standard form (see `conic_program`)."""
    return read_conic(conic_program(data, **names_of))
