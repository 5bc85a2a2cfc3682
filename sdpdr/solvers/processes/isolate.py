"""A solver in a process of its own, for native code that may hang, crash or ignore a time limit."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import wait
from typing import Any, TypeAlias

from sdpdr.base.deadline import Deadline, in_seconds
from sdpdr.base.errors import NotAcceptedError, SdpdrError
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.processes import fork_server
from sdpdr.solvers.processes.child import (
    ANSWER,
    DEAF,
    HEARING,
    POSTED,
    answer,
    surroundings,
    uninterrupted,
)
from sdpdr.solvers.processes.ends import crash_claim, failed, stopped
from sdpdr.solvers.processes.fork_server import Worker, WorkerUnavailable

Task: TypeAlias = Callable[[], Outcome]

# Seconds that an interrupted worker has to hand over the point it has reached.
LAST_WORDS = 5.0
# Seconds beyond the limit until a worker gets a signal to end, and from there until it is killed:
# most solvers keep the limit themselves, late by a step.
PATIENCE, GRACE = 0.3, 0.4
# Seconds after which a wait begins anew: a signal that the system hands to another thread is
# answered by the main one, but does not wake it.
_WAKES = 1.0
# Bytes of what a worker prints that are kept; the end is what explains a crash.
_KEPT_BYTES = 100_000


def run_isolated(task: Task, name: str, time_limit: float | None, *, show: bool = False) -> Outcome:
    """Run a solver in a worker process that is ended when time is up.

    The worker is a fork of a process that has imported this package, so it costs milliseconds; the
    first worker of a process waits two or three seconds for that one, which are not counted. It
    searches modules where this process does, so solvers of your own need only live in a module that
    can be imported. It ends with this process, and all that it has started ends with it. Where the
    system has no fork server, as Windows and WebAssembly, the solver runs in this process.

    Parameters
    ----------
    task : callable without arguments
        For instance ``functools.partial(solver.run, sdp)``; it is pickled. What it passes to
        `sdpdr.solvers.processes.ends.post` meanwhile is not lost when it is ended.
    name : str
        Name of the solver, for messages.
    time_limit : float, optional
        Seconds, packing the program for the way included. The worker gets the signal of
        Ctrl-C `PATIENCE` later, and is killed another `GRACE` later.
    show : bool, default False
        Print what the worker prints.

    Returns
    -------
    Outcome
        With verdict ``TIME_LIMIT`` if it was ended, ``INTERRUPTED`` if it was interrupted and had
        a point to offer, and ``FAILED`` if it crashed or ran out of memory; each with the last
        point that was posted, if any. ``FAILED`` also if no worker can be started, or if what it
        sends is garbled.

    Raises
    ------
    NotAcceptedError
        If the task cannot be pickled, or not be found in another process.
    SdpdrError
        That which the task raised. Any other error is an outcome that says so.
    KeyboardInterrupt
        If the worker was interrupted and had nothing to offer within `LAST_WORDS` seconds, or
        at once where native code runs that cannot be interrupted.
    """
    watch = Deadline()
    pickled = _pickle(task, name)
    if not fork_server.POSSIBLE:
        return _raised(_read(answer(pickled, name), name))
    question = pickle.dumps((surroundings(), name, pickled))
    packing = watch.spent
    try:
        worker = Worker(question)
    except WorkerUnavailable as lost:
        return failed(name, "no worker", f"was not run, since there is no worker for it: {lost}")
    with worker:
        heard = _Heard(worker, show)
        asked_by = _wait(heard, None if time_limit is None else time_limit - packing)
        if heard.answer is None:
            return _unanswered(heard, name, time_limit, asked_by)
        found = _raised(_read(heard.answer, name))
    # A solver that is interrupted in the middle of a step may report a failure.
    if asked_by == "clock" and found.verdict in (Verdict.INTERRUPTED, Verdict.FAILED):
        words = f"{name} was stopped after {in_seconds(time_limit)} s."
        claim = replace(found.claim, status="time_limit", message=words)
        return replace(found, verdict=Verdict.TIME_LIMIT, claim=claim)
    return found


def _raised(found: Outcome | SdpdrError) -> Outcome:
    """An outcome; an error is raised."""
    if isinstance(found, SdpdrError):
        raise found
    return found


class _Heard:
    """What a worker has said so far.

    Attributes
    ----------
    answer, posted : bytes or None
        What the task returned, and the last point it posted, pickled.
    printed : bytearray
        The end of what it printed.
    is_deaf : bool
        Whether interrupting it is in vain.
    has_ended : bool
    """

    def __init__(self, worker: Worker, show: bool) -> None:
        self.worker, self.show = worker, show
        self.answer: bytes | None = None
        self.posted: bytes | None = None
        self.printed = bytearray()
        self.is_deaf = self.has_ended = False
        self._open: list[Any] = [worker.channel, worker.printed, worker.sentinel]

    @property
    def is_done(self) -> bool:
        """Whether it has answered or ended."""
        return self.answer is not None or self.has_ended

    def step(self, patience: float | None) -> None:
        """Wait until something happens, at most so many seconds, and take note of it."""
        for source in wait(self._open, patience):
            if source is self.worker.channel:
                self._receive()
            elif source is self.worker.printed:
                self._listen()
            else:
                self._drain()
                self.has_ended = True

    def _receive(self) -> None:
        try:
            with uninterrupted():
                message = self.worker.channel.recv_bytes()
        except (EOFError, OSError):
            self._open.remove(self.worker.channel)
            return
        kind, content = message[:1], message[1:]
        if kind == ANSWER:
            self.answer = content
        elif kind == POSTED:
            self.posted = content
        elif kind in (DEAF, HEARING):
            self.is_deaf = kind == DEAF

    def _listen(self) -> None:
        words = os.read(self.worker.printed.fileno(), 1 << 20)
        if not words:
            self._open.remove(self.worker.printed)
        self.printed += words
        del self.printed[:-_KEPT_BYTES]
        if self.show:
            sys.stdout.write(words.decode(errors="replace"))

    def _drain(self) -> None:
        """Read what is left in the pipes of a worker that has ended."""
        for source, read in (
            (self.worker.channel, self._receive),
            (self.worker.printed, self._listen),
        ):
            while source in self._open and wait([source], 0.0):
                read()


def _wait(heard: _Heard, time_limit: float | None) -> str:
    """Wait until a worker is done or has to be ended; return who ended it, "clock" or "user"."""
    asked_by = ""
    deadline = Deadline(None if time_limit is None else max(0.0, time_limit + PATIENCE))
    while not heard.is_done:
        left = deadline.left()
        try:
            if left != 0.0:
                heard.step(_WAKES if left is None else min(left, _WAKES))
                continue
        except KeyboardInterrupt:
            if asked_by == "user":
                raise
            asked_by, deadline = "user", Deadline(0.0 if heard.is_deaf else LAST_WORDS)
            heard.worker.interrupt()
            continue
        if asked_by:
            break
        asked_by, deadline = "clock", Deadline(GRACE)
        heard.worker.interrupt()
    return asked_by


def _unanswered(heard: _Heard, name: str, time_limit: float | None, asked_by: str) -> Outcome:
    """The outcome of a worker that was ended, or ended by itself, without an answer."""
    point = None if heard.posted is None else _read(heard.posted, name)
    if asked_by == "user":
        if not isinstance(point, Point):
            raise KeyboardInterrupt
        return Outcome(point, Verdict.INTERRUPTED, Claim("interrupted"))
    if isinstance(point, Outcome):
        return point
    if asked_by != "clock":
        ended = _ended_by_itself(heard, name)
    elif point is None:
        ended = stopped(name, time_limit)
    else:
        ended = stopped(name, time_limit, "its best point is kept")
    return ended if point is None else replace(ended, point=point)


def _ended_by_itself(heard: _Heard, name: str) -> Outcome:
    code = heard.worker.exit_status()
    if code is None:
        words = "did not come to an end: what starts workers was ended, and its worker with it."
        return failed(name, "lost", words)
    said = bytes(heard.printed).decode(errors="replace")
    return Outcome(Point(), Verdict.FAILED, crash_claim(name, code, said))


def _read(sent: bytes, name: str) -> Any:
    """What a worker has sent, or an outcome that says why it cannot be read."""
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


def wait_for_server() -> float:
    """Wait until a worker can be had, and return for how many seconds: some the first time."""
    watch = Deadline()
    if fork_server.POSSIBLE and not fork_server.has_begun():
        question = pickle.dumps((surroundings(), "", pickle.dumps(int)))
        with suppress(WorkerUnavailable), Worker(question) as worker:
            wait([worker.channel, worker.sentinel])
    return watch.spent
