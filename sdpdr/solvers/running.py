"""Run a solver, here or in a worker; every end, also a crash, is an outcome."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import NotAcceptedError, SdpdrError
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.reduce import Composed, Reduction
from sdpdr.solvers.base import Outcome, Solver
from sdpdr.solvers.processes.ends import is_worker
from sdpdr.solvers.processes.isolate import PATIENCE, Task, run_isolated
from sdpdr.solvers.processes.native import is_fork_of_native
from sdpdr.solvers.screen import admit, failure, screen

# Type name of a panic of native code in Rust, which derives from `BaseException` directly.
_PANIC = "PanicException"


def runs_apart(solver: Solver, isolate: bool | None, step: float = inf) -> bool:
    """Whether a solver is to run in a worker.

    By default native code does if there is a time limit, because set-up, compilation and long steps
    check no clock; steps shorter than the delay of a worker need none. It also does in a fork of a
    process in which native code has run. A solver that ignores its time limit does if it has one,
    and a solver that may end its process always does. A worker starts no other.

    Parameters
    ----------
    solver : Solver
    isolate : bool, optional
        See `sdpdr.solve`.
    step : float, optional
        Seconds that a step takes at most, where that is known.
    """
    if is_worker():
        return bool(isolate)
    if isolate is not None:
        return isolate or solver.is_dangerous
    limited = solver.time_limit is not None and step > PATIENCE
    native = solver.is_native and (limited or is_fork_of_native())
    return native or solver.is_dangerous or (limited and not solver.obeys_time_limit)


def run_solver(solver: Solver, task: Task, isolate: bool | None, step: float = inf) -> Outcome:
    """Run a solver here or in a worker, within its time limit.

    Parameters
    ----------
    solver : Solver
    task : callable without arguments
        Runs the solver; for instance ``functools.partial(solver.run, sdp)``.
    isolate : bool, optional
        See `sdpdr.solve`. By default, a solver that obeys its time limit runs here if it cannot be
        sent to another process.
    step : float, optional
        See `runs_apart`.

    Returns
    -------
    Outcome
        With its wall-clock and CPU seconds; never an exception for a solver's failure.

    Raises
    ------
    SdpdrError
        An error of sdpdr that the solver raised; `NotAcceptedError` if it cannot be sent to a
        worker.
    """
    watch, timed = Deadline(), partial(_timed, task, solver.name)
    try:
        if runs_apart(solver, isolate, step):
            try:
                found = run_isolated(timed, solver.name, solver.time_limit, show=solver.verbose)
            except NotAcceptedError:
                if isolate or not solver.obeys_time_limit or solver.is_dangerous:
                    raise
                found = timed()
        else:
            found = timed()
    except SdpdrError:
        raise
    except BaseException as error:  # Solvers are other people's code, and may raise anything.
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        found = failure(solver.name, error)
    if found.cpu is None:
        # The CPU time of a killed run is unknown; assume one processor.
        spent = {"compile": 0.0, "solve": watch.spent}
        found = replace(admit(found, solver.name), seconds=spent, cpu=watch.spent)
    return found


def _timed(task: Task, name: str) -> Outcome:
    """The outcome of a task, with wall-clock and CPU seconds measured in its own process.

    CPU seconds are those of this process and of children that it waited for. Only the share of
    compilation is reported by the solver.
    """
    watch, before = Deadline(), sum(os.times()[:4])
    outcome = admit(task(), name)
    elapsed, cpu = watch.spent, sum(os.times()[:4]) - before
    compiling = float(outcome.seconds.get("compile", 0.0))
    if not 0.0 <= compiling <= elapsed:  # also false for nan
        compiling = 0.0
    return replace(outcome, seconds={"compile": compiling, "solve": elapsed - compiling}, cpu=cpu)


def point_found(solver: Solver, sdp: SDP, steps: Sequence[Reduction] = ()) -> Point:
    """The point that a solver finds after reductions; empty if it finds none."""
    deadline = Deadline(solver.time_limit)
    reduced = Composed(steps).apply(sdp)
    if solver.accepts(reduced.sdp) is not None:
        return Point()
    solver = replace(solver, time_limit=deadline.left())
    outcome = run_solver(solver, partial(solver.run, reduced.sdp), None)
    point = screen(reduced.sdp, outcome).point
    return reduced.lift(point) if point.values else Point()
