"""Many solves, each in a process of its own, written down as they end and taken up again.

What a native solver does to its process, it does to a child: a crash, an exit without a word and
a hang are results. The journal has one JSON object a line; what stands in it is not run again.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import psutil

Task = Mapping[str, Any]
Work = Callable[[Task], Mapping[str, Any]]

_FORK = multiprocessing.get_context("fork") if hasattr(os, "fork") else None


@dataclass
class _Running:
    task: Task
    process: Any
    answer: Connection
    deadline: float


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
    running: list[_Running] = []
    try:
        while True:
            while len(running) < workers and (task := next(waiting, None)) is not None:
                running.append(_start(task, work, limit))
            if not running:
                return
            left = min(r.deadline for r in running) - time.monotonic()
            ready = wait([r.answer for r in running], timeout=max(0.0, left))
            for one in list(running):
                if one.answer in ready or time.monotonic() >= one.deadline:
                    running.remove(one)
                    yield {**one.task, **_end(one)}
    finally:
        for one in running:
            _end(one)


def _start(task: Task, work: Work, limit: float) -> _Running:
    assert _FORK is not None
    ours, theirs = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_child, args=(task, work, theirs))
    process.start()
    theirs.close()
    return _Running(task, process, ours, time.monotonic() + limit)


def _child(task: Task, work: Work, answer: Connection) -> None:
    os.setsid()  # so that its own children end with it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    before = processor_seconds()
    try:
        result = dict(work(task))
    except Exception as error:  # an exception is what we are looking for
        result = {"error": f"{type(error).__name__}: {error}"[:300]}
    # Work may know better which part of it counts.
    result.setdefault("cpu", processor_seconds() - before)
    answer.send(result)


def processor_seconds() -> float:
    """Of this process and all that it has started so far."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = children.ru_utime + children.ru_stime
    return time.process_time() + ended + _seconds_of_living_children()


def _seconds_of_living_children() -> float:
    """Processor time of processes that wait for more work, which no accounting has seen yet."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = child.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def _end(one: _Running) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if one.answer.poll():
        with suppress(EOFError):
            result = one.answer.recv()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(one.process.pid, signal.SIGKILL)
    one.process.kill()  # where it was too young to have a group of its own
    late = time.monotonic() >= one.deadline
    one.process.join()
    if not result:
        code = one.process.exitcode
        word = "stopped at the limit of time" if late else f"the process ended (exit code {code})"
        result = {"error": word}
    return result
