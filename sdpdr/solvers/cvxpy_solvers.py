"""The solvers that cvxpy knows: each is a table of names, and what it alone needs."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.program.run import Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.work import is_tiny
from sdpdr.solvers.base import Outcome, Progress
from sdpdr.solvers.conic import ConicForm, solve_tiny
from sdpdr.solvers.cvxpy_solver import CvxpySolver
from sdpdr.solvers.processes.ends import is_worker
from sdpdr.solvers.processes.isolate import run_isolated
from sdpdr.solvers.splitting import split

if TYPE_CHECKING:
    import cvxpy as cp

    from sdpdr.solvers.rendering import Rendered

# SCS's own words for a run cut short before it could tell, and for an inaccurate solution.
_INDETERMINATE, _INACCURATE = -3, 2
# Seconds of SCS at least, which takes zero for no limit, and its share of what is left.
_MOMENT, _EARLY = 1e-3, 0.9


@dataclass(frozen=True)
class Clarabel(CvxpySolver):
    """Clarabel, an interior-point method (options as in `Solver`)."""

    name: ClassVar[str] = "clarabel"
    package: ClassVar[str] = "clarabel"
    module: ClassVar[str] = "clarabel"
    licence: ClassVar[str] = "Apache-2.0"
    limits: ClassVar[Mapping[str, str]] = {"max_iter": "max_iter", "time_limit": "time_limit"}
    needs: ClassVar[tuple[str, ...]] = ()  # but for the form "cvxpy"
    backend: ClassVar[str] = "CLARABEL"

    def interface(self) -> Any:
        """Our class, which keeps the last point even of a run that gave up."""
        from sdpdr.solvers.cvxpy_interfaces import ClarabelKeeping

        return ClarabelKeeping()

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve the program as it stands."""

        def solve(deadline: Deadline) -> Outcome:
            if is_tiny(sdp):
                # A digit more costs nothing, and tells an optimum of zero from one next to it.
                sharper = replace(self, tol=0.1 * self.tol)
                return solve_tiny(sdp, partial(sharper._given, deadline), verbose=self.verbose)
            return ConicForm(sdp).solve(partial(self._given, deadline), verbose=self.verbose)

        return self._as_it_stands(solve)


@dataclass(frozen=True)
class Scs(CvxpySolver):
    """SCS, an operator-splitting method (options as in `Solver`)."""

    name: ClassVar[str] = "scs"
    package: ClassVar[str] = "scs"
    module: ClassVar[str] = "scs"
    licence: ClassVar[str] = "MIT"
    limits: ClassVar[Mapping[str, str]] = {"max_iters": "max_iter", "time_limit_secs": "time_limit"}
    needs: ClassVar[tuple[str, ...]] = ()  # but for the form "cvxpy"
    backend: ClassVar[str] = "SCS"

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve the program as it stands."""

        def solve(deadline: Deadline) -> Outcome:
            options = partial(self._given, deadline)
            return split(sdp, options, verbose=self.verbose)

        outcome = self._as_it_stands(solve)
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
    backend: ClassVar[str] = "CVXOPT"

    def interface(self) -> Any:
        """Our class, which keeps the last point even of a run that gave up."""
        from sdpdr.solvers.cvxpy_interfaces import CvxoptKeeping

        return CvxoptKeeping()

    def _solve(self, problem: cp.Problem, options: Mapping[str, Any]) -> None:
        """Have cvxpy solve a problem, unless CVXOPT breaks down."""
        try:
            super()._solve(problem, options)
        except KeyError as error:
            from cvxpy import SolverError

            raise SolverError("CVXOPT broke down before it had a point") from error

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
    """The lock of CVXOPT's global options."""

    lock = threading.Lock()

    @classmethod
    def begin_again(cls) -> None:
        """Make a new lock in a forked process, in which no thread holds it."""
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
    backend: ClassVar[str] = "SDPA"

    def run_rendered(self, rendered: Rendered, rendering: float = 0.0) -> Outcome:
        """Solve a cvxpy problem in a worker, unless this process is one."""
        if is_worker():
            return super().run_rendered(rendered, rendering)
        task = partial(self.run_rendered, rendered, rendering)
        return run_isolated(task, self.name, self.time_limit, show=self.verbose)

    def _verdict(self, status: str, seconds: Mapping[str, float]) -> Verdict:
        # cvxpy says "infeasible" where SDPA says only that one of the two programs, or both, is.
        if status == "infeasible":
            return Verdict.FAILED
        return super()._verdict(status, seconds)

    def _remark(self, status: str) -> str:
        if status == "infeasible":
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
    backend: ClassVar[str] = "MOSEK"

    @classmethod
    def licence_problem(cls) -> str | None:
        """MOSEK's own words when it will not give out a licence."""
        default = os.path.expanduser("~/mosek/mosek.lic")
        place = os.environ.get("MOSEKLM_LICENSE_FILE", default)
        file = Path(place)
        return _refused(place, file.stat().st_mtime if file.is_file() else None)

    def native_options(self) -> dict[str, Any]:
        """The uniform options in MOSEK's names, in the box that cvxpy wants around them."""
        return {"mosek_params": super().native_options()}


@cache
def _refused(place: str, changed: float | None) -> str | None:
    """Check MOSEK's licence, once for each state of its file: repeated checks wait for seconds.

    Parameters
    ----------
    place : str
        Where MOSEK looks for its licence.
    changed : float or None
        When a file there was last changed.
    """
    import mosek

    try:
        with mosek.Env() as env:
            env.checkoutlicense(mosek.feature.pton)
    except mosek.Error as error:
        code = str(error).split(":")[0].removeprefix("rescode.")
        return f"MOSEK reports {code}. Put a licence file where MOSEK looks for one."
    return None
