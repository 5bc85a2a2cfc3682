"""A solver in a process of its own, for native code that may hang, crash or ignore a time limit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from sdpdr.base.deadline import Deadline, in_seconds
from sdpdr.base.errors import NotAcceptedError, SdpdrError
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.processes import alone, workers
from sdpdr.solvers.processes.ends import crash_claim, failed, stopped
from sdpdr.solvers.processes.worker import Worker, WorkerLost

Task: TypeAlias = Callable[[], Outcome]

# Seconds that an interrupted worker has to hand over the point it has reached.
LAST_WORDS = 5.0
# Seconds beyond the limit until a worker is asked to end, and from there until it is ended: most
# solvers keep the limit themselves, late by a step.
PATIENCE, GRACE = 0.3, 0.4


def run_isolated(task: Task, name: str, time_limit: float | None, *, show: bool = False) -> Outcome:
    """Run a solver in a worker process that is ended when time is up.

    The worker has imported this package already, so it costs milliseconds; the first of a process
    waits two or three seconds until there is one, which are not counted. It searches modules where
    this process does, so solvers of your own need only live in a module that can be imported. It
    ends with this process, however that ends, and all that it has started ends with it.

    Parameters
    ----------
    task : callable without arguments
        For instance ``functools.partial(solver.run, sdp)``; it is pickled. What it hands to
        `sdpdr.solvers.processes.ends.post` meanwhile is not lost when it is ended.
    name : str
        Of the solver, for messages.
    time_limit : float, optional
        Seconds, packing the program for the way included. The worker is asked to end `PATIENCE`
        later, as Ctrl-C does, and ended another `GRACE` later.
    show : bool, default False
        Print what the worker prints.

    Returns
    -------
    Outcome
        With verdict ``TIME_LIMIT`` if it was ended, ``INTERRUPTED`` if it was interrupted and had
        a point to offer, and ``FAILED`` if it crashed or ran out of memory; each with the last
        point that was posted, if any. ``FAILED`` also if there is no worker to be had, or what it
        sends is garbled.

    Raises
    ------
    NotAcceptedError
        If the task cannot be pickled, or not be found in another process.
    SdpdrError
        That which the task raised. Any other error is an outcome that says so.
    KeyboardInterrupt
        If the worker was interrupted and had nothing to offer within `LAST_WORDS` seconds, or
        at once where native code runs that nobody can interrupt.
    """
    watch = Deadline()
    pickled = _pickle(task, name)
    if not workers.POSSIBLE:
        return alone.run_alone(pickled, name, time_limit)
    question = pickle.dumps((workers.surroundings(), name, pickled))
    packing = watch.spent
    try:
        worker = workers.hire()
    except WorkerLost as lost:
        return failed(name, "no worker", f"was not run, since there is no worker for it: {lost}")
    with worker:
        worker.show = show
        worker.ask(question)
        asked_by = _wait(worker, None if time_limit is None else time_limit - packing)
        if worker.answer is None:
            return _unanswered(worker, name, time_limit, asked_by)
        found: Outcome | SdpdrError = _read(worker.answer, name)
    if isinstance(found, SdpdrError):
        raise found
    # Who is asked to end in the middle of something may take that for a failure of its own.
    if asked_by == "clock" and found.verdict in (Verdict.INTERRUPTED, Verdict.FAILED):
        words = f"{name} was asked to end after {in_seconds(time_limit)} s."
        claim = replace(found.claim, status="time_limit", message=words)
        return replace(found, verdict=Verdict.TIME_LIMIT, claim=claim)
    return found


def _wait(worker: Worker, time_limit: float | None) -> str:
    """Wait until a worker is done or has to be ended; who asked it to end, "clock" or "person"."""
    asked_by = ""
    deadline = Deadline(None if time_limit is None else max(0.0, time_limit + PATIENCE))
    while not worker.is_done:
        left = deadline.left()
        try:
            if left != 0.0:
                worker.step(left)
                continue
        except KeyboardInterrupt:
            if asked_by == "person":
                raise
            asked_by, deadline = "person", Deadline(0.0 if worker.is_deaf else LAST_WORDS)
            worker.interrupt()
            continue
        if asked_by:
            break
        asked_by, deadline = "clock", Deadline(GRACE)
        worker.interrupt()
    return asked_by


def _unanswered(worker: Worker, name: str, time_limit: float | None, asked_by: str) -> Outcome:
    """The outcome of a worker that was ended, or ended by itself, without an answer."""
    point = None if worker.posted is None else _read(worker.posted, name)
    if asked_by == "person":
        if not isinstance(point, Point):
            raise KeyboardInterrupt
        return Outcome(point, Verdict.INTERRUPTED, Claim("interrupted"))
    if isinstance(point, Outcome):
        return point
    if asked_by != "clock":
        ended = _ended_by_itself(worker, name)
    elif point is None:
        ended = stopped(name, time_limit)
    else:
        ended = stopped(name, time_limit, "its best point is kept")
    return ended if point is None else replace(ended, point=point)


def _ended_by_itself(worker: Worker, name: str) -> Outcome:
    if worker.is_lost:
        words = "did not come to an end: what starts workers was ended, and its worker with it."
        return failed(name, "lost", words)
    assert worker.code is not None
    said = bytes(worker.said).decode(errors="replace")
    return Outcome(Point(), Verdict.FAILED, crash_claim(name, worker.code, said))


def _read(sent: bytes, name: str) -> Any:
    """What a worker has sent, or an outcome that says why nobody can read it."""
    try:
        return pickle.loads(sent)
    except Exception as error:  # Other people's objects may raise anything here.
        why = f"{type(error).__name__}: {error}"
        return failed(name, "garbled", f"sent what cannot be read, so it is lost ({why}).")


def _pickle(task: Task, name: str) -> bytes:
    try:
        return pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotAcceptedError(
            f"solver {name!r} and its program cannot be sent to a child process ({error}); define "
            "their classes and functions at the top level of a module, or pass isolate=False."
        ) from error
