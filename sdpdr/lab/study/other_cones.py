"""Runs of cvxpy problems with exponential and power cones, which have no standard form.

The solvers that take these cones get the problem as cvxpy writes it, and `sdpdr.verify` proves its
optimum. All other contestants refuse it, and their records say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan

import cvxpy as cp
import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import NotAcceptedError
from sdpdr.model.conic.refusals import needed_cones
from sdpdr.program import Status
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Solver
from sdpdr.solvers.cvxpy_solver import CvxpySolver
from sdpdr.solvers.rendering import Rendered
from sdpdr.solving.verify.verify import verify

# The form in which such problems are solved.
FORM = "cvxpy"


@dataclass(frozen=True)
class CheckedAnswer:
    """An answer of a solver, and what is proved of the problem.

    Attributes
    ----------
    claim : Claim
    verdict : Verdict
        The solver's own.
    proved : Solution
    value : float
        At the point returned; ``nan`` if there is none.
    violation : float
        Largest distance of the point from a constraint, relative to its largest entry.
    timings : dict
        Seconds by phase, as of `sdpdr.Solution`.
    """

    claim: Claim
    verdict: Verdict
    proved: Solution
    value: float
    violation: float
    timings: dict[str, float]

    @property
    def error(self) -> float:
        """Violation, or distance of the value from the proved one, relatively, if that is more."""
        attained = self.proved.attained
        if attained is None:
            return np.inf
        distance = abs(self.value - attained) / max(abs(attained), 1.0)
        return max(distance, self.violation) if isfinite(distance) else np.inf

    @property
    def status(self) -> Status:
        """The status of the proof, if the point is as near to the optimum as requested."""
        is_near = self.error <= self.proved.tol
        if self.proved.status is not Status.SOLVED or is_near:
            return self.proved.status
        late = {Verdict.TIME_LIMIT: Status.TIME_LIMIT, Verdict.FAILED: Status.FAILED}
        return late.get(self.verdict, Status.INACCURATE)


def solve_as_written(problem: cp.Problem, solver: Solver | str, form: str) -> CheckedAnswer:
    """Solve a problem through cvxpy, and prove its optimum.

    Parameters
    ----------
    problem : cvxpy.Problem
    solver : Solver or str
        Configured, or the name "auto", which takes no such problem.
    form : str

    Returns
    -------
    CheckedAnswer

    Raises
    ------
    NotAcceptedError
        The solver does not take the cones of the problem, or not in this form.
    SolverMissingError, SolverLicenceError

    Examples
    --------
    >>> from sdpdr.solvers import Clarabel
    >>> x = cp.Variable(3)
    >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1])
    >>> answer = solve_as_written(problem, Clarabel(), "cvxpy")
    >>> answer.status, round(answer.value, 4)
    (Status.SOLVED, 1.0986)
    """
    if not isinstance(solver, CvxpySolver) or form != FORM:
        raise _refusal(problem, solver, form)
    solver.require()
    watch = Deadline()
    try:
        problem.get_problem_data(solver.interface())
    except cp.SolverError:
        raise _refusal(problem, solver, form) from None
    variables = {variable.name(): variable for variable in problem.variables()}
    outcome = solver.run_rendered(Rendered(problem, variables, {}), watch.spent)
    value, violation = nan, np.inf
    if outcome.point.values:
        value, violation = float(problem.objective.value), _violation(problem)
    watch = Deadline()
    proved = verify(problem, tol=solver.tol)
    timings = {**outcome.seconds, "certify": watch.spent}
    return CheckedAnswer(outcome.claim, outcome.verdict, proved, value, violation, timings)


def _refusal(problem: cp.Problem, solver: Solver | str, form: str) -> NotAcceptedError:
    what, kind = next(needed_cones(problem))
    name = solver if isinstance(solver, str) else solver.name
    return NotAcceptedError(
        f"{what} needs the {kind} cone, which solver {name!r} does not take in form {form!r}. "
        f"Clarabel and SCS take it in form {FORM!r}, and sdpdr.verify(problem) proves the optimum."
    )


def _violation(problem: cp.Problem) -> float:
    """Largest distance of the values of variables from a constraint or an attribute."""
    found = [np.max(constraint.violation(), initial=0.0) for constraint in problem.constraints]
    found += [np.max(abs(v.project(v.value) - v.value), initial=0.0) for v in problem.variables()]
    sizes = [np.max(abs(v.value), initial=1.0) for v in problem.variables()]
    return float(max(found) / max(sizes))
