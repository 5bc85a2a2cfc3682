"""A solver runs, here or in a worker; whatever becomes of it is an outcome."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import NotAcceptedError, SdpdrError
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.reduce import Composed, Reduction
from sdpdr.solvers.base import Outcome, Solver
from sdpdr.solvers.processes.ends import is_worker
from sdpdr.solvers.processes.isolate import Task, run_isolated, wait_for_server
from sdpdr.solvers.processes.native import is_fork_of_native
from sdpdr.solvers.screen import admit, failure, screen

# How a panic of native code written in Rust is called, which is a `BaseException` and no more.
_PANIC = "PanicException"


def runs_apart(solver: Solver, isolate: bool | None) -> bool:
    """Whether a solver is to run in a worker.

    By default where there is a time limit and the code is not ours: set-up, compilation and a
    long step look at no clock. Also in a fork of a process where native code has computed. A
    solver that may end the process that it runs in always does. Within a worker nobody needs
    another.
    """
    if is_worker():
        return bool(isolate)
    if isolate is not None:
        return isolate or solver.is_dangerous
    limited = solver.time_limit is not None
    native = solver.is_native and (limited or is_fork_of_native())
    return native or solver.is_dangerous or (limited and not solver.obeys_time_limit)


def until_there_is_a_worker(solver: Solver) -> float:
    """Wait for a worker where a solver is to run in one: seconds the first time, then milliseconds.

    Returns
    -------
    float
        Seconds waited, which are no solver's.
    """
    watch = Deadline()
    if runs_apart(solver, None):
        wait_for_server()
    return watch.spent


def run_solver(solver: Solver, task: Task, isolate: bool | None) -> Outcome:
    """Run a solver here or in a worker, within its time limit.

    Parameters
    ----------
    solver : Solver
    task : callable without arguments
        Has it run; for instance ``functools.partial(solver.run, sdp)``.
    isolate : bool, optional
        See `sdpdr.solve`. Without it, a solver that obeys its time limit runs here where it cannot
        be sent to another process.

    Returns
    -------
    Outcome
        With its wall-clock and CPU seconds; never an exception for a solver's failure.

    Raises
    ------
    SdpdrError
        That which the solver raised; `NotAcceptedError` if it cannot be sent to a worker.
    """
    watch = Deadline()
    apart, task = runs_apart(solver, isolate), partial(_with_cpu, task)
    try:
        if apart:
            try:
                found = run_isolated(task, solver.name, solver.time_limit, show=solver.verbose)
            except NotAcceptedError:
                if isolate or not solver.obeys_time_limit or solver.is_dangerous:
                    raise
                apart, watch = False, Deadline()
                found = task()
        else:
            found = task()
        outcome = admit(found, solver.name)
        elapsed = watch.spent
        # A worker that was ended has not said what it took: one processor, as far as anybody knows.
        cpu = elapsed if outcome.cpu is None else outcome.cpu
        return replace(outcome, seconds=_checked(outcome, elapsed, isolated=apart), cpu=cpu)
    except SdpdrError:
        raise
    except BaseException as error:  # Solvers are other people's code, and may raise anything.
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        seconds = {"solve": watch.spent}
        return replace(failure(solver.name, error), seconds=seconds)


def _with_cpu(task: Task) -> Outcome:
    """What a task returns, with the CPU seconds of this process and of those that it waited for."""
    before = sum(os.times()[:4])
    found = task()
    spent = sum(os.times()[:4]) - before
    return replace(found, cpu=spent) if isinstance(found, Outcome) else found


def _checked(outcome: Outcome, elapsed: float, *, isolated: bool = False) -> dict[str, float]:
    """Seconds by our own clock; a solver only says which of them went into compiling.

    The start of a worker is not the solver's: there it is believed what it says of its own time,
    as long as that fits in.
    """
    compiling = float(outcome.seconds.get("compile", 0.0))
    if not 0.0 <= compiling <= elapsed:  # which refuses nan as well
        compiling = 0.0
    solving = elapsed - compiling
    told = float(outcome.seconds.get("solve", solving))
    if isolated and 0.0 <= told <= solving:
        solving = told
    return {"compile": compiling, "solve": solving}


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
