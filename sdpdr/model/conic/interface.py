"""The interface of this package to cvxpy, as a solver of conic programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import cvxpy as cp
import cvxpy.settings as names
import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.solution import Solution as CvxpySolution
from cvxpy.reductions.solution import failure_solution
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import NotAcceptedError, UncertifiedWarning, warn
from sdpdr.linalg.spectral import form_root
from sdpdr.model.conic.program import (
    AUXILIARY,
    SQUARES,
    Columns,
    ConeRows,
    ConicProgram,
    Kind,
    with_numbers,
)
from sdpdr.model.conic.read import Reading, read_conic
from sdpdr.model.labels import Labels
from sdpdr.program.run import Status
from sdpdr.program.solution import Solution

_KINDS: dict[type, Kind] = {
    cp.constraints.Zero: "zero",
    cp.constraints.NonNeg: "nonnegative",
    cp.SOC: "second-order",
    cp.constraints.PSD: "psd",
    cp.constraints.ExpCone: "exponential",
    cp.constraints.PowCone3D: "power",
}
# Cones that semidefinite programs do not describe.
OTHER_CONES = (cp.constraints.ExpCone, cp.constraints.PowCone3D)
# Other solvers call a point feasible if it is feasible for data within this relative distance.
_NEARBY = 1e-6
# Relative size up to which negative eigenvalues of forms count as rounding.
_INDEFINITE = 1e-12
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


@contextmanager
def without_values(problem: cp.Problem) -> Iterator[None]:
    """Hide the values of a problem's variables.

    Canonicalization computes from them the values of the variables that it adds, and fails if they
    are nan, as those of a solver that has failed may be.
    """
    kept = [(v, v._value) for v in problem.variables()]
    for v, _ in kept:
        v.save_value(None)
    try:
        yield
    finally:
        for v, value in kept:
            v._value = value


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

    SUPPORTED_CONSTRAINTS: ClassVar[list[type]] = [k for k in _KINDS if k not in OTHER_CONES]

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
            warn(
                _INACCURATE.format(solution.status.name, solution.status.advice), UncertifiedWarning
            )
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
    """Whether a bound is proved, and the point is feasible for data that are equal in practice.

    Without a bound the optimum may be far from the value, however near the data are.
    """
    nearby = solution.status is Status.OPTIMAL_NEARBY and solution.epsilon <= _NEARBY
    return nearby and solution.bound is not None


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


def conic_program(
    data: Mapping[str, Any],
    labels: Mapping[int, str] | None = None,
    variables: Mapping[int, str] | None = None,
    *,
    maximize: bool = False,
    arguments: str | None = None,
) -> ConicProgram:
    """The program that cvxpy passes to a solver, with names.

    Parameters
    ----------
    data : mapping
        As returned by `ConicInterface.apply`.
    labels, variables : mapping from identity to name, optional
        Names of constraints and of variables. Without labels, rows of one kind are one group.
    maximize : bool, default False
        Whether the problem maximises the negative of the cost.
    arguments : str, optional
        The name of columns that stand for expressions.

    Returns
    -------
    ConicProgram

    Raises
    ------
    ModelError
        If a number is not finite.
    """
    stuffed, matrix = data[names.PARAM_PROB], data[names.A].copy()
    matrix.eliminate_zeros()
    # Sorted, as comparisons of rows expect.
    matrix.sort_indices()
    cones = _grouped(stuffed) if labels is None else _labelled(stuffed, labels)
    program = ConicProgram(
        cost=np.asarray(data[names.C], dtype=float),
        constant=float(data[names.OFFSET]),
        matrix=matrix,
        rhs=np.asarray(data[names.B], dtype=float),
        cones=cones,
        columns=columns_of(stuffed, variables or {}),
        maximize=maximize,
        root=_root(data.get(names.P)),
        arguments=arguments,
    )
    return with_numbers(program)


def _root(form: Any) -> sp.csr_array | None:
    """R with R^T R = P, where cvxpy minimises half the form of P; None if P is zero."""
    if form is None or not sp.csr_array(form).count_nonzero():
        return None
    P = sp.csr_array(form)
    diagonal = P.diagonal()
    if not (P - sp.diags_array(diagonal)).count_nonzero() and np.all(diagonal >= 0.0):
        used = np.flatnonzero(diagonal)
        return sp.csr_array(sp.diags_array(np.sqrt(diagonal), format="csr")[used])
    used = np.flatnonzero(abs(P).sum(axis=0))
    root, least = form_root(P[used][:, used].toarray())
    if least < -_INDEFINITE:
        raise NotAcceptedError(
            "the objective is not convex: the matrix of a quadratic form in it has a negative "
            f"eigenvalue, {least:.1e} relative to its size; drop the concave part."
        )
    return sp.csr_array(sp.csr_array(root) @ sp.eye_array(P.shape[0], format="csr")[used])


def _cones(stuffed: Any) -> Iterator[tuple[Any, ConeRows]]:
    """Constraints in cvxpy's order, with each of their cones; these have no labels."""
    for c, rows in rows_of(stuffed.constraints):
        kind = _KINDS[type(c)]
        if kind == "psd":
            # The entries of a batch of matrices are interleaved.
            batch = math.prod(c.args[0].shape[:-2])
            each = rows.reshape(-1, batch).T
        else:
            each = np.atleast_2d(rows)
        exponents = np.ravel(c.alpha.value, order="F") if kind == "power" else np.zeros(len(each))
        for part, exponent in zip(each, exponents.tolist(), strict=True):
            yield c, ConeRows(kind, "", part, exponent)


def rows_of(constraints: Sequence[Any]) -> Iterator[tuple[Any, Index]]:
    """Constraints with their rows in cvxpy's order; a row of indices for each of several cones."""
    begin = 0
    for c in constraints:
        rows = np.arange(begin, begin + c.size)
        begin += c.size
        if isinstance(c, cp.SOC):
            count = c.num_cones()
            rows = np.column_stack([rows[:count], rows[count:].reshape(count, -1)])
        elif isinstance(c, OTHER_CONES):
            rows = rows.reshape(3, -1).T
        yield c, rows


def _labelled(stuffed: Any, labels: Mapping[int, str]) -> list[ConeRows]:
    """A cone for each constraint, or several if it holds several."""
    seen = Labels([SQUARES])
    return [
        replace(cone, label=seen.take(labels.get(c.id, AUXILIARY))) for c, cone in _cones(stuffed)
    ]


def _grouped(stuffed: Any) -> list[ConeRows]:
    """All equations as one group, all inequalities as another, and numbered other cones."""
    cones: list[ConeRows] = []
    linear = {"zero": [np.arange(0)], "nonnegative": [np.arange(0)]}
    for _, cone in _cones(stuffed):
        if cone.kind in linear:
            linear[cone.kind].append(cone.rows)
        else:
            cones.append(replace(cone, label=f"{cone.kind} {len(cones) + 1}"))
    return [
        ConeRows("zero", "equations", np.concatenate(linear["zero"])),
        ConeRows("nonnegative", "inequalities", np.concatenate(linear["nonnegative"])),
        *cones,
    ]


def columns_of(stuffed: Any, variables: Mapping[int, str]) -> list[Columns]:
    """Columns by variable; those that cvxpy has added are one group at the end."""
    named, added = [], [np.arange(0)]
    seen = Labels([AUXILIARY])
    for v in stuffed.variables:
        begin = stuffed.var_id_to_col[v.id]
        place = np.arange(begin, begin + v.size)
        name = variables.get(v.id, v.name() if v.name() in variables.values() else None)
        if name is None:
            added.append(place)
            continue
        named.append(Columns(seen.take(name), place))
    return [*named, Columns(AUXILIARY, np.concatenate(added))]


def read_data(data: Mapping[str, Any], **names_of: Any) -> Reading:
    """The program that cvxpy passes to a solver, in the standard form (see `conic_program`)."""
    return read_conic(conic_program(data, **names_of))
