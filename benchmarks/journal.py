"""Many solves in children of this process, written down as they end and taken up again.

What a native solver does to its process, it does to a child: a crash, an exit without a word and
a hang are results, and the next task gets a new child. The journal has one JSON object a line; what
stands in it is not run again.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import psutil

Task = Mapping[str, Any]
Work = Callable[[Task], Mapping[str, Any]]

_FORK = multiprocessing.get_context("fork") if hasattr(os, "fork") else None


@dataclass
class _Worker:
    """A child that does one task after the other, and what it is at."""

    process: Any
    line: Connection
    task: Task = field(default_factory=dict)
    deadline: float = math.inf

    def begin(self, task: Task, limit: float) -> None:
        self.task, self.deadline = task, time.monotonic() + limit
        with suppress(BrokenPipeError):  # it died idle: told as the result of this task
            self.line.send(task)

    def result(self) -> tuple[dict[str, Any], bool]:
        """What the task gave, and whether the child can go on."""
        if self.line.poll():
            with suppress(EOFError, ConnectionResetError):
                return self.line.recv(), True
        late = time.monotonic() >= self.deadline
        self.end()
        code = self.process.exitcode
        word = "stopped at the limit of time" if late else f"the process ended (exit code {code})"
        return {"error": word}, False

    def end(self) -> None:
        """End the child with all that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()  # where it was too young to have a group of its own
        self.process.join()


def carry_out(
    tasks: Iterable[Task], work: Work, path: Path, *, workers: int = 2, limit: float = 60.0
) -> list[dict[str, Any]]:
    """Do what is not in the journal yet, and return all of it, in the order of the tasks.

    Parameters
    ----------
    tasks : iterable of mappings
        Ready for JSON; ``key`` tells them apart.
    work : callable
        From a task to what is to be written down, ready for JSON. Runs in a child process.
    path : Path
        The journal.
    workers : int
    limit : float
        Seconds by the clock after which a child is ended.
    """
    assert _FORK is not None, "these scripts fork; run them on Linux or macOS"
    tasks = list(tasks)
    done = read(path)
    waiting = iter([task for task in tasks if task["key"] not in done])
    left = sum(task["key"] not in done for task in tasks)
    path.parent.mkdir(parents=True, exist_ok=True)
    start, count = time.monotonic(), 0
    # Ended politely, it ends its children first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with path.open("a", encoding="utf-8") as journal:
        for result in _results(waiting, work, workers, limit):
            done[result["key"]] = result
            journal.write(json.dumps(result) + "\n")
            journal.flush()
            count += 1
            if count % 100 == 0 or count == left:
                print(f"{count} of {left}, {time.monotonic() - start:.0f} s", flush=True)
    return [done[task["key"]] for task in tasks]


def read(path: Path) -> dict[str, dict[str, Any]]:
    """What the journal has, by key; a last line that was cut off does not count."""
    found = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for line in lines:
        with suppress(json.JSONDecodeError):
            row = json.loads(line)
            found[row["key"]] = row
    return found


def _results(
    waiting: Iterator[Task], work: Work, workers: int, limit: float
) -> Iterator[dict[str, Any]]:
    idle: list[_Worker] = []
    busy: list[_Worker] = []
    try:
        while True:
            while len(busy) < workers and (task := next(waiting, None)) is not None:
                worker = idle.pop() if idle else _hire(work)
                busy.append(worker)
                worker.begin(task, limit)
            if not busy:
                return
            left = min(w.deadline for w in busy) - time.monotonic()
            ready = wait([w.line for w in busy], timeout=max(0.0, left))
            for worker in list(busy):
                if worker.line in ready or time.monotonic() >= worker.deadline:
                    busy.remove(worker)
                    result, alive = worker.result()
                    if alive:
                        idle.append(worker)
                    yield {**worker.task, **result}
    finally:
        for worker in busy + idle:
            worker.end()


def _hire(work: Work) -> _Worker:
    assert _FORK is not None
    ours, theirs = _FORK.Pipe()
    process = _FORK.Process(target=_serve, args=(work, theirs, ours))
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _serve(work: Work, line: Connection, other_end: Connection) -> None:
    other_end.close()  # or this process would never hear that its parent is gone
    os.setsid()  # so that its own children end with it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    with suppress(EOFError):
        while True:
            line.send(_done(work, line.recv()))


def _done(work: Work, task: Task) -> dict[str, Any]:
    before = processor_seconds()
    try:
        result = dict(work(task))
    except Exception as error:  # an exception is what we are looking for
        result = {"error": f"{type(error).__name__}: {error}"[:300]}
    # Work may know better which part of it counts.
    result.setdefault("cpu", processor_seconds() - before)
    return result


class _Clock:
    """CPU seconds of this process and all that it has started, but for its own.

    To look for children takes milliseconds.
    """

    def __init__(self) -> None:
        self._own = 0.0

    def __call__(self) -> float:
        begin = time.process_time()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = children.ru_utime + children.ru_stime
        seconds = begin - self._own + ended + _seconds_of_living_children()
        self._own += time.process_time() - begin
        return seconds


processor_seconds = _Clock()


def _seconds_of_living_children() -> float:
    """Processor time of processes that wait for more work, which no accounting has seen yet."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = child.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total
