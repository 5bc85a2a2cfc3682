"""Solvers reached through cvxpy: a problem solved, its point read.

cvxpy is imported where a problem of its own is solved, since that takes longer than most solves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome, Progress, Solver
from sdpdr.solvers.processes.native import native_code_runs
from sdpdr.solvers.processes.silence import quiet, undisturbed
from sdpdr.solvers.screen import failure

if TYPE_CHECKING:
    import cvxpy as cp

    from sdpdr.solvers.rendering import Rendered

# By cvxpy's own words.
_VERDICTS = {
    "optimal": Verdict.SOLVED,
    "optimal_inaccurate": Verdict.INACCURATE,
    "infeasible": Verdict.INFEASIBLE,
    "infeasible_inaccurate": Verdict.INFEASIBLE,
    "unbounded": Verdict.UNBOUNDED,
    "unbounded_inaccurate": Verdict.UNBOUNDED,
}
# What native codes raise when they give up: their failure, not the caller's.
_GIVING_UP = (ArithmeticError, ValueError, RuntimeError)


def _count_from_above(problem: cp.Problem) -> None:
    """Keep what cvxpy makes from now on from sharing the identity of what is in the problem.

    It numbers variables and constraints within a process; a problem that was made in another one
    and solved in a worker brings numbers that the worker has still to give.
    """
    from cvxpy.lin_ops.lin_utils import ID_COUNTER

    named = [*problem.variables(), *problem.parameters(), *problem.constraints]
    for constraint in problem.constraints:
        named.extend(constraint.dual_variables)
    highest = max((each.id for each in named), default=0)
    ID_COUNTER.count = max(ID_COUNTER.count, highest + 1)


@dataclass(frozen=True)
class CvxpySolver(Solver):
    """A solver that cvxpy knows (options as in `Solver`)."""

    needs: ClassVar[tuple[str, ...]] = ("cvxpy",)
    backend: ClassVar[str]
    is_native: ClassVar[bool] = True
    forms: ClassVar[tuple[str, ...]] = ("gram", "lmi", "chordal", "chordal-lmi", "cvxpy")

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Render the program in cvxpy and solve it."""
        from sdpdr.solvers.rendering import render

        deadline = Deadline(self.time_limit)
        rendered = render(sdp)
        rest = replace(self, time_limit=deadline.left())
        outcome = rest.run_rendered(rendered, deadline.spent)
        if not outcome.point.duals:
            return outcome
        empty = {r.label: np.zeros(0) for r in sdp.rows if r.m == 0}
        return replace(
            outcome, point=replace(outcome.point, duals={**outcome.point.duals, **empty})
        )

    def run_rendered(self, rendered: Rendered, rendering: float = 0.0) -> Outcome:
        """Solve a cvxpy problem and read its point; the value is that of its minimisation."""
        from cvxpy import SolverError

        problem, watch = rendered.problem, Deadline()
        native_code_runs()
        _count_from_above(problem)
        options = {**self.native_options(), **self.options}
        try:
            # Our own grading replaces warnings that a solution may be inaccurate.
            with quiet(), undisturbed(self.verbose):
                self._solve(problem, options)
        except (SolverError, *_GIVING_UP) as error:
            seconds = {"compile": rendering, "solve": watch.spent}
            failed = replace(failure(self.name, error), seconds=seconds)
            # What cvxpy does not accept from a solver that was interrupted at its limit.
            return replace(failed, verdict=Verdict.TIME_LIMIT) if self._is_late(seconds) else failed
        total = watch.spent
        stats = problem.solver_stats
        solving = min(total, (stats.solve_time if stats else None) or total)
        seconds = {"compile": rendering + total - solving, "solve": solving}
        iterations = stats.num_iters if stats and isinstance(stats.num_iters, int) else None
        value = None if problem.value is None else float(problem.value)
        claim = Claim(str(problem.status), value, iterations, self._remark(problem.status))
        return Outcome(_point(rendered), self._verdict(problem.status, seconds), claim, seconds)

    def _as_it_stands(self, solve: Callable[[Deadline], Outcome]) -> Outcome:
        """Solve a program without cvxpy, which would compile it for longer."""
        deadline = Deadline(self.time_limit)
        native_code_runs()
        try:
            with undisturbed(self.verbose):
                outcome = solve(deadline)
        except _GIVING_UP as error:
            seconds = {"compile": 0.0, "solve": deadline.spent}
            return replace(failure(self.name, error), seconds=seconds)
        compiling = deadline.spent - outcome.seconds["solve"]
        return replace(outcome, seconds={**outcome.seconds, "compile": compiling})

    def _given(self, deadline: Deadline) -> dict[str, Any]:
        """Its options by its own names, with what is left of the time as their limit."""
        rest = replace(self, time_limit=deadline.left())
        return {**rest.native_options(), **self.options}

    def _solve(self, problem: cp.Problem, options: Mapping[str, Any]) -> None:
        """Have cvxpy solve a problem."""
        problem.solve(solver=self.interface(), verbose=self.verbose, **options)

    def interface(self) -> Any:
        """What cvxpy calls it by, or our class for it."""
        return self.backend

    def _verdict(self, status: str, seconds: Mapping[str, float]) -> Verdict:
        if status in ("user_limit", "optimal_inaccurate") and self._is_late(seconds):
            return Verdict.TIME_LIMIT
        if status == "user_limit":
            return Verdict.ITERATION_LIMIT
        return _VERDICTS.get(status, Verdict.FAILED)

    def _is_late(self, seconds: Mapping[str, float]) -> bool:
        return self.time_limit is not None and seconds["solve"] >= 0.9 * self.time_limit

    def _remark(self, status: str) -> str:
        """What to say about a status beyond its name."""
        return ""


def _point(rendered: Rendered) -> Point:
    values = {
        name: np.asarray(v.value, dtype=float)
        for name, v in rendered.variables.items()
        if v.value is not None
    }
    used = {v.id for v in rendered.problem.variables()}
    # Variables that nothing mentions never reach the solver, and zero will do for them.
    values |= {n: np.zeros(v.shape) for n, v in rendered.variables.items() if v.id not in used}
    duals: dict[str, Array] = {}
    for label, constraint in rendered.constraints.items():
        dual = constraint.dual_value
        if dual is not None:
            array = np.asarray(dual, dtype=float)
            duals[label] = (array + array.T) / 2.0 if array.ndim == 2 else np.atleast_1d(array)
    complete = len(values) == len(rendered.variables)
    return Point(values if complete else {}, duals)
