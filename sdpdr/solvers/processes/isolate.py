"""Run a solver in a worker process, because native code may hang, crash or ignore a time limit."""

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

# Seconds in which an interrupted worker may return the point that it has reached.
LAST_WORDS = 5.0
# Seconds after the limit until a worker is interrupted, and then until it is killed: most solvers
# respect the limit themselves, late by a step.
PATIENCE, GRACE = 0.3, 0.4
# Seconds after which a wait is repeated: a signal that the system delivers to another thread is
# handled by the main thread, but does not wake it.
_WAKES = 1.0
# Bytes of the output of a worker that are kept, its end, which explains a crash.
_KEPT_BYTES = 100_000


def run_isolated(task: Task, name: str, time_limit: float | None, *, show: bool = False) -> Outcome:
    """Run a solver in a worker process that is ended when time is up.

    The worker is a fork of a server that has imported this package, so it costs milliseconds. The
    first worker waits two or three seconds for the server, which are not counted. The worker has
    the module path of this process, so solvers of your own only need to be in a module that can be
    imported. It ends with this process, and all its children end with it. On systems without a
    fork server (Windows, WebAssembly) the solver runs in this process.

    Parameters
    ----------
    task : callable without arguments
        For instance ``functools.partial(solver.run, sdp)``; it is pickled. Points that it passes
        to `sdpdr.solvers.processes.ends.post` are kept if it is ended.
    name : str
        Name of the solver, for messages.
    time_limit : float, optional
        Seconds, including those to pickle the program. The worker gets the signal of Ctrl-C
        `PATIENCE` later, and is killed another `GRACE` later.
    show : bool, default False
        Print what the worker prints.

    Returns
    -------
    Outcome
        With verdict ``TIME_LIMIT`` if it was ended, ``INTERRUPTED`` if it was interrupted and had
        a point, and ``FAILED`` if it crashed or ran out of memory; each with the last point that
        was posted, if any. ``FAILED`` also if no worker can be started, or its answer cannot be
        read.

    Raises
    ------
    NotAcceptedError
        If the task cannot be pickled, or is not found in another process.
    SdpdrError
        An error of sdpdr that the task raised. Any other error becomes an outcome.
    KeyboardInterrupt
        If the worker was interrupted and returned no point within `LAST_WORDS` seconds, or at
        once if native code runs that cannot be interrupted.
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
        messages = _Messages(worker, show)
        ended_by = _wait(messages, None if time_limit is None else time_limit - packing)
        if messages.answer is None:
            return _unanswered(messages, name, time_limit, ended_by)
        found = _raised(_read(messages.answer, name))
    # A solver that is interrupted in the middle of a step may report a failure.
    if ended_by == "clock" and found.verdict in (Verdict.INTERRUPTED, Verdict.FAILED):
        words = f"{name} was stopped after {in_seconds(time_limit)} s."
        claim = replace(found.claim, status="time_limit", message=words)
        return replace(found, verdict=Verdict.TIME_LIMIT, claim=claim)
    return found


def _raised(found: Outcome | SdpdrError) -> Outcome:
    """Return an outcome, or raise the error in its place."""
    if isinstance(found, SdpdrError):
        raise found
    return found


class _Messages:
    """The messages and the output of a worker so far.

    Attributes
    ----------
    answer, posted : bytes or None
        The result of the task, and the last point that it posted, pickled.
    printed : bytearray
        The end of its output.
    is_uninterruptible : bool
        Whether it ignores interrupts now.
    has_ended : bool
    """

    def __init__(self, worker: Worker, show: bool) -> None:
        self.worker, self.show = worker, show
        self.answer: bytes | None = None
        self.posted: bytes | None = None
        self.printed = bytearray()
        self.is_uninterruptible = self.has_ended = False
        self._open: list[Any] = [worker.channel, worker.printed, worker.sentinel]

    @property
    def is_done(self) -> bool:
        """Whether it has answered or ended."""
        return self.answer is not None or self.has_ended

    def step(self, patience: float | None) -> None:
        """Wait for messages, output or the end of the worker, at most for some seconds."""
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
            self.is_uninterruptible = kind == DEAF

    def _listen(self) -> None:
        words = os.read(self.worker.printed.fileno(), 1 << 20)
        if not words:
            self._open.remove(self.worker.printed)
        self.printed += words
        del self.printed[:-_KEPT_BYTES]
        if self.show:
            sys.stdout.write(words.decode(errors="replace"))

    def _drain(self) -> None:
        """Read the rest of the pipes of a worker that has ended."""
        for source, read in (
            (self.worker.channel, self._receive),
            (self.worker.printed, self._listen),
        ):
            while source in self._open and wait([source], 0.0):
                read()


def _wait(messages: _Messages, time_limit: float | None) -> str:
    """Wait until a worker is done or has to be ended; return "clock" or "user" if one ended it."""
    ended_by = ""
    deadline = Deadline(None if time_limit is None else max(0.0, time_limit + PATIENCE))
    while not messages.is_done:
        left = deadline.left()
        try:
            if left != 0.0:
                messages.step(_WAKES if left is None else min(left, _WAKES))
                continue
        except KeyboardInterrupt:
            if ended_by == "user":
                raise
            ended_by = "user"
            deadline = Deadline(0.0 if messages.is_uninterruptible else LAST_WORDS)
            messages.worker.interrupt()
            continue
        if ended_by:
            break
        ended_by, deadline = "clock", Deadline(GRACE)
        messages.worker.interrupt()
    return ended_by


def _unanswered(messages: _Messages, name: str, time_limit: float | None, ended_by: str) -> Outcome:
    """The outcome of a worker that ended, or was ended, without an answer."""
    point = None if messages.posted is None else _read(messages.posted, name)
    if ended_by == "user":
        if not isinstance(point, Point):
            raise KeyboardInterrupt
        return Outcome(point, Verdict.INTERRUPTED, Claim("interrupted"))
    if isinstance(point, Outcome):
        return point
    if ended_by != "clock":
        ended = _ended_by_itself(messages, name)
    elif point is None:
        ended = stopped(name, time_limit)
    else:
        ended = stopped(name, time_limit, "its best point is kept")
    return ended if point is None else replace(ended, point=point)


def _ended_by_itself(messages: _Messages, name: str) -> Outcome:
    code = messages.worker.exit_status()
    if code is None:
        words = "did not come to an end: what starts workers was ended, and its worker with it."
        return failed(name, "lost", words)
    said = bytes(messages.printed).decode(errors="replace")
    return Outcome(Point(), Verdict.FAILED, crash_claim(name, code, said))


def _read(sent: bytes, name: str) -> Any:
    """The object that a worker sent, or an outcome with the reason why it cannot be read."""
    try:
        return pickle.loads(sent)
    except Exception as error:  # Objects of foreign code may raise anything here.
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
    """Wait until workers can be started, and return the seconds; zero after the first time."""
    watch = Deadline()
    if fork_server.POSSIBLE and not fork_server.has_begun():
        question = pickle.dumps((surroundings(), "", pickle.dumps(int)))
        with suppress(WorkerUnavailable), Worker(question) as worker:
            wait([worker.channel, worker.sentinel])
    return watch.spent
