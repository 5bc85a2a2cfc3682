"""A solver runs, here or in a worker; whatever becomes of it is an outcome."""

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

# How a panic of native code written in Rust is called, which is a `BaseException` and no more.
_PANIC = "PanicException"


def runs_apart(solver: Solver, isolate: bool | None, step: float = inf) -> bool:
    """Whether a solver is to run in a worker.

    By default where there is a time limit and the code is not ours: set-up, compilation and a
    long step look at no clock. Steps that take no longer than a worker may be late need none.
    Also in a fork of a process where native code has computed. A solver that may end the process
    that it runs in always does. A worker needs no other.

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
        Has it run; for instance ``functools.partial(solver.run, sdp)``.
    isolate : bool, optional
        See `sdpdr.solve`. Without it, a solver that obeys its time limit runs here where it cannot
        be sent to another process.
    step : float, optional
        See `runs_apart`.

    Returns
    -------
    Outcome
        With its wall-clock and CPU seconds; never an exception for a solver's failure.

    Raises
    ------
    SdpdrError
        That which the solver raised; `NotAcceptedError` if it cannot be sent to a worker.
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
    """What a task returns, with the seconds that it took where it ran, by our own clocks.

    CPU seconds are those of this process and of others that it waited for. A solver only says which
    of the seconds went into compiling.
    """
    watch, before = Deadline(), sum(os.times()[:4])
    outcome = admit(task(), name)
    elapsed, cpu = watch.spent, sum(os.times()[:4]) - before
    compiling = float(outcome.seconds.get("compile", 0.0))
    if not 0.0 <= compiling <= elapsed:  # which refuses nan as well
        compiling = 0.0
    return replace(outcome, seconds={"compile": compiling, "solve": elapsed - compiling}, cpu=cpu)


def point_found(solver: Solver, sdp: SDP, steps: Sequence[Reduction] = ()) -> Point:
    """The point that a solver finds by way of reductions; empty where there is none."""
    deadline = Deadline(solver.time_limit)
    reduced = Composed(steps).apply(sdp)
    if solver.accepts(reduced.sdp) is not None:
        return Point()
    solver = replace(solver, time_limit=deadline.left())
    outcome = run_solver(solver, partial(solver.run, reduced.sdp), None)
    point = screen(reduced.sdp, outcome).point
    return reduced.lift(point) if point.values else Point()
