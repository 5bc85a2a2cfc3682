"""Solvers reached through cvxpy: each is a table of names, the run is shared.

cvxpy drops the last point of a solver that gave up, since it may be far from optimal. Here every
point is graded, whatever the solver
says of it, and the last one is often all but optimal: Clarabel and CVXOPT give up where rounding
keeps them from the last digits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np
from cvxpy.lin_ops.lin_utils import ID_COUNTER
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL
from cvxpy.reductions.solvers.conic_solvers.cvxopt_conif import CVXOPT

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome, Progress, Solver
from sdpdr.solvers.conic import ConicForm
from sdpdr.solvers.processes.ends import deaf, is_worker
from sdpdr.solvers.processes.isolate import run_isolated
from sdpdr.solvers.processes.silence import quiet, silence
from sdpdr.solvers.processes.workers import native_code_runs
from sdpdr.solvers.render import Rendered, render
from sdpdr.solvers.screen import failure
from sdpdr.solvers.splitting import Milestone, split


class ClarabelKeeping(CLARABEL):  # type: ignore[misc]  # cvxpy's classes have no types
    """Clarabel's, with points for all but the programs that it never began to solve."""

    STATUS_MAP: ClassVar[dict[str, str]] = CLARABEL.STATUS_MAP | {
        # Clarabel's own words; cvxpy 1.7 has no names for them.
        "NumericalError": cp.OPTIMAL_INACCURATE,
        "InsufficientProgress": cp.OPTIMAL_INACCURATE,
    }

    def name(self) -> str:
        """A name that no solver of cvxpy has, as cvxpy demands."""
        return "CLARABEL_KEEPING"


class CvxoptKeeping(CVXOPT):  # type: ignore[misc]  # likewise
    """CVXOPT's, with points for what it calls unknown."""

    STATUS_MAP: ClassVar[dict[str, str]] = CVXOPT.STATUS_MAP | {"unknown": cp.OPTIMAL_INACCURATE}

    def name(self) -> str:
        """A name that no solver of cvxpy has, as cvxpy demands."""
        return "CVXOPT_KEEPING"


_VERDICTS = {
    cp.OPTIMAL: Verdict.SOLVED,
    cp.OPTIMAL_INACCURATE: Verdict.INACCURATE,
    cp.INFEASIBLE: Verdict.INFEASIBLE,
    cp.INFEASIBLE_INACCURATE: Verdict.INFEASIBLE,
    cp.UNBOUNDED: Verdict.UNBOUNDED,
    cp.UNBOUNDED_INACCURATE: Verdict.UNBOUNDED,
}

# SCS's own words for a run cut short before it could tell, and for an inaccurate solution.
_INDETERMINATE, _INACCURATE = -3, 2
# Seconds of SCS at least, which takes zero for no limit, and its share of what is left.
_MOMENT, _EARLY = 1e-3, 0.9

# What native codes raise through cvxpy when they give up: their failure, not the caller's.
_GIVING_UP = (cp.SolverError, ArithmeticError, ValueError, RuntimeError)


def _count_from_above(problem: cp.Problem) -> None:
    """Keep what cvxpy makes from now on from sharing the identity of what is in the problem.

    It numbers variables and constraints within a process; a problem that was made in another one
    and solved in a worker brings numbers that the worker has still to give.
    """
    named = [*problem.variables(), *problem.parameters(), *problem.constraints]
    for constraint in problem.constraints:
        named.extend(constraint.dual_variables)
    highest = max((each.id for each in named), default=0)
    ID_COUNTER.count = max(ID_COUNTER.count, highest + 1)


@dataclass(frozen=True)
class CvxpySolver(Solver):
    """A solver that cvxpy knows (options as in `Solver`)."""

    backend: ClassVar[str]
    # Our class for it, in place of cvxpy's, that keeps the last point even of a run that gave up.
    keeping: ClassVar[type | None] = None
    is_native: ClassVar[bool] = True
    forms: ClassVar[tuple[str, ...]] = ("gram", "lmi", "chordal", "chordal-lmi", "cvxpy")

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Render the program in cvxpy and solve it."""
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
        problem, watch = rendered.problem, Deadline()
        native_code_runs()
        _count_from_above(problem)
        options = {**self.native_options(), **self.options}
        try:
            # Our own grading replaces warnings that a solution may be inaccurate.
            with quiet(), deaf(), nullcontext() if self.verbose else silence():
                self._solve(problem, options)
        except _GIVING_UP as error:
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

    def _given(self, deadline: Deadline) -> dict[str, Any]:
        """Its options by its own names, with what is left of the time as their limit."""
        rest = replace(self, time_limit=deadline.left())
        return {**rest.native_options(), **self.options}

    def _solve(self, problem: cp.Problem, options: Mapping[str, Any]) -> None:
        """Have cvxpy solve a problem."""
        solver = self.backend if self.keeping is None else self.keeping()
        problem.solve(solver=solver, verbose=self.verbose, **options)

    def _verdict(self, status: str, seconds: Mapping[str, float]) -> Verdict:
        if status in (cp.USER_LIMIT, cp.OPTIMAL_INACCURATE) and self._is_late(seconds):
            return Verdict.TIME_LIMIT
        if status == cp.USER_LIMIT:
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


@dataclass(frozen=True)
class Clarabel(CvxpySolver):
    """Clarabel, an interior-point method (options as in `Solver`)."""

    name: ClassVar[str] = "clarabel"
    package: ClassVar[str] = "clarabel"
    module: ClassVar[str] = "clarabel"
    licence: ClassVar[str] = "Apache-2.0"
    limits: ClassVar[Mapping[str, str]] = {"max_iter": "max_iter", "time_limit": "time_limit"}
    backend: ClassVar[str] = cp.CLARABEL
    keeping: ClassVar[type | None] = ClarabelKeeping

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve the program as it stands, without cvxpy, which would compile it for longer."""
        deadline = Deadline(self.time_limit)
        native_code_runs()
        try:
            with deaf():
                outcome = ConicForm(sdp).solve(partial(self._given, deadline), verbose=self.verbose)
        except _GIVING_UP as error:
            seconds = {"compile": 0.0, "solve": deadline.spent}
            return replace(failure(self.name, error), seconds=seconds)
        compiling = deadline.spent - outcome.seconds["solve"]
        return replace(outcome, seconds={**outcome.seconds, "compile": compiling})


@dataclass(frozen=True)
class Scs(CvxpySolver):
    """SCS, an operator-splitting method (options as in `Solver`).

    Parameters
    ----------
    milestones : tuple of Milestone, optional
        Where it gives up unless it has come so far, of programs in the standard form; what "auto"
        sets where it tries SCS before others, and nobody else has to.
    """

    name: ClassVar[str] = "scs"
    package: ClassVar[str] = "scs"
    module: ClassVar[str] = "scs"
    licence: ClassVar[str] = "MIT"
    limits: ClassVar[Mapping[str, str]] = {"max_iters": "max_iter", "time_limit_secs": "time_limit"}
    backend: ClassVar[str] = cp.SCS

    milestones: tuple[Milestone, ...] = ()

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve the program as it stands, without cvxpy, which would compile it for longer."""
        deadline = Deadline(self.time_limit)
        native_code_runs()
        try:
            with deaf(), nullcontext() if self.verbose else silence():
                outcome = split(
                    sdp,
                    partial(self._given, deadline),
                    verbose=self.verbose,
                    milestones=self.milestones,
                )
        except _GIVING_UP as error:
            seconds = {"compile": 0.0, "solve": deadline.spent}
            return replace(failure(self.name, error), seconds=seconds)
        late = outcome.verdict is Verdict.INACCURATE and self._is_late(outcome.seconds)
        return replace(outcome, verdict=Verdict.TIME_LIMIT) if late else outcome

    def native_options(self) -> dict[str, Any]:
        """The uniform options in SCS's names, and more iterations than by its defaults."""
        most = {} if self.defaults else {"max_iters": 100_000}
        return most | super().native_options()

    def _given(self, deadline: Deadline) -> dict[str, Any]:
        """Options with a limit that is a little less than what is left."""
        options = super()._given(deadline)
        if self.time_limit is not None:
            # It looks at the clock every 25 iterations; interrupted by then, it has no point.
            options["time_limit_secs"] = max(_MOMENT, _EARLY * deadline.ahead)
        return options

    def _solve(self, problem: cp.Problem, options: Mapping[str, Any]) -> None:
        """Solve in steps, since cvxpy drops the point of a run that was cut short."""
        deadline = Deadline(self.time_limit)
        data, chain, inverse = problem.get_problem_data(self.backend)
        given = {**options, **self._given(deadline)}
        found = chain.solve_via_data(problem, data, verbose=self.verbose, solver_opts=given)
        info = found["info"]
        if info["status_val"] == _INDETERMINATE and np.isfinite(found["x"]).all():
            info["status_val"] = _INACCURATE
        problem.unpack_results(found, chain, inverse)

    def _is_late(self, seconds: Mapping[str, float]) -> bool:
        # Its limit was shortened, also by what compilation took.
        return super()._is_late({"solve": sum(seconds.values()) / _EARLY})


@dataclass(frozen=True)
class Cvxopt(CvxpySolver):
    """CVXOPT, an interior-point method (options as in `Solver`)."""

    name: ClassVar[str] = "cvxopt"
    package: ClassVar[str] = "cvxopt"
    module: ClassVar[str] = "cvxopt"
    extra: ClassVar[str] = "cvxopt"
    licence: ClassVar[str] = "GPL-3.0"
    obeys_time_limit: ClassVar[bool] = False
    limits: ClassVar[Mapping[str, str]] = {"max_iters": "max_iter"}
    backend: ClassVar[str] = cp.CVXOPT
    keeping: ClassVar[type | None] = CvxoptKeeping

    def _solve(self, problem: cp.Problem, options: Mapping[str, Any]) -> None:
        """Have cvxpy solve a problem, unless CVXOPT breaks down."""
        try:
            super()._solve(problem, options)
        except KeyError as error:
            raise cp.SolverError("CVXOPT broke down before it had a point") from error

    def run_rendered(self, rendered: Rendered, rendering: float = 0.0) -> Outcome:
        """Solve a cvxpy problem, and undo what cvxpy has done to CVXOPT's global options."""
        options = _global_options()
        # Other threads would read them too; CVXOPT computes one at a time in any case.
        with _Options.lock:
            before = dict(options)
            try:
                return super().run_rendered(rendered, rendering)
            finally:
                # cvxpy does so itself, unless CVXOPT breaks down.
                options.clear()
                options.update(before)


class _Options:
    """Who uses CVXOPT's global options."""

    lock = threading.Lock()

    @classmethod
    def begin_again(cls) -> None:
        """In a forked process nobody does."""
        cls.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Options.begin_again)


def _global_options() -> dict[str, Any]:
    """CVXOPT's own; none where it is not installed."""
    with suppress(ImportError):
        from cvxopt import solvers

        return solvers.options
    return {}


@dataclass(frozen=True)
class Sdpa(CvxpySolver):
    """SDPA, an interior-point method made for semidefinite programs (options as in `Solver`).

    Notes
    -----
    It always runs in a worker, a process of its own. SDPA ends the process that it runs in on some
    programs, with exit status 0; and it remembers from a first solve whether its linear systems
    were dense, after which sparse ones, which programs with several matrices have, come out wrong.
    """

    name: ClassVar[str] = "sdpa"
    package: ClassVar[str] = "sdpa-python"
    module: ClassVar[str] = "sdpap"
    extra: ClassVar[str] = "sdpa"
    licence: ClassVar[str] = "GPL-2.0"
    obeys_time_limit: ClassVar[bool] = False
    warms_up: ClassVar[bool] = False
    is_dangerous: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, str]] = {"maxIteration": "max_iter"}
    backend: ClassVar[str] = cp.SDPA

    def run_rendered(self, rendered: Rendered, rendering: float = 0.0) -> Outcome:
        """Solve a cvxpy problem in a worker, unless this process is one."""
        if is_worker():
            return super().run_rendered(rendered, rendering)
        task = partial(self.run_rendered, rendered, rendering)
        return run_isolated(task, self.name, self.time_limit, show=self.verbose)

    def _verdict(self, status: str, seconds: Mapping[str, float]) -> Verdict:
        # cvxpy says "infeasible" where SDPA says only that one of the two programs, or both, is.
        if status == cp.INFEASIBLE:
            return Verdict.FAILED
        return super()._verdict(status, seconds)

    def _remark(self, status: str) -> str:
        if status == cp.INFEASIBLE:
            return "SDPA found the program infeasible or unbounded, and cannot tell which"
        return super()._remark(status)


@dataclass(frozen=True)
class Mosek(CvxpySolver):
    """MOSEK, a commercial interior-point method (options as in `Solver`)."""

    name: ClassVar[str] = "mosek"
    package: ClassVar[str] = "mosek"
    module: ClassVar[str] = "mosek"
    extra: ClassVar[str] = "mosek"
    licence: ClassVar[str] = "commercial"
    limits: ClassVar[Mapping[str, str]] = {
        "MSK_DPAR_OPTIMIZER_MAX_TIME": "time_limit",
        "MSK_IPAR_INTPNT_MAX_ITERATIONS": "max_iter",
    }
    backend: ClassVar[str] = cp.MOSEK

    @classmethod
    def licence_problem(cls) -> str | None:
        """MOSEK's own words when it will not give out a licence."""
        import mosek

        try:
            with mosek.Env() as env:
                env.checkoutlicense(mosek.feature.pton)
        except mosek.Error as error:
            code = str(error).split(":")[0].removeprefix("rescode.")
            return f"MOSEK reports {code}. Put a licence file where MOSEK looks for one."
        return None

    def native_options(self) -> dict[str, Any]:
        """The uniform options in MOSEK's names, in the box that cvxpy wants around them."""
        return {"mosek_params": super().native_options()}
