"""A task in a worker with limits of time, memory, processor and files; and how it ended.

A run must not hurt others, so each has a process of its own; `sdpdr.solvers.processes` forks it
from one that has imported everything and in which no solver ever ran.
"""

from __future__ import annotations

import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import StudyError, require_packages
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.processes import workers
from sdpdr.solvers.processes.ends import crash_claim, listen
from sdpdr.solvers.processes.worker import Worker, WorkerLost

require_packages("studies", "study", "psutil")
import psutil  # noqa: E402 - once it is known to be there

# Imported before a worker is forked, and with it everything that a run may need.
_NEEDS = "sdpdr.lab.study.carry_out"
# Signals by which somebody outside ends a process; a run that ends so is tried again.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Seconds between looks: often at first, since a short run may need memory fast.
_SOON, _LATER, _TREE = 0.01, 0.05, 0.2
# A run may not fill the disk: bytes that one of its files may have.
_LARGEST_FILE = 2**30
_LONGEST = 200  # letters of what was said last
# Address space beyond the memory limit that a process may reserve, as a share and in bytes.
_RESERVE, _RESERVED = 0.5, 2**30


@dataclass(frozen=True)
class Ended:
    """How a task ended.

    Attributes
    ----------
    how : {"answered", "late", "hungry", "crashed", "killed", "lost"}
        It answered; it was ended by us at its limit of time, or at that of memory (or said itself
        that memory had run out); it ended by itself; it was ended by somebody else; or what
        starts processes was.
    answer : object
        What the task returned.
    words : str
        In what way, where there is no answer, and the last that it said.
    wall, cpu : float
        Seconds.
    peak_memory : int
        Bytes beyond those that it began with.
    """

    how: str
    answer: Any = None
    words: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    peak_memory: int = 0


def run_fenced(
    task: Callable[[], Any],
    *,
    wall_limit: float,
    memory_limit: int,
    cpu_limit: float,
    threads: int = 1,
    cores: set[int] | None = None,
    stop: threading.Event | None = None,
) -> Ended:
    """Run a task in a process of its own, and end it at its limits.

    It ends with this process, however that ends, and all that it has started ends with it.

    Parameters
    ----------
    task : callable without arguments
        It and what it returns are pickled.
    wall_limit : float
        Seconds.
    memory_limit : int
        Bytes beyond those of a process that has imported everything.
    cpu_limit : float
        Seconds of the processor; a fence for what outlives everything else.
    threads : int, default 1
        For all native code.
    cores : set of int, optional
        Processors that it may use, where the system lets a process choose.
    stop : threading.Event, optional
        Ends the task when another thread sets it.

    Raises
    ------
    StudyError
        No process can be had.
    CancelledError
        It was stopped.
    """
    with hire() as worker:
        deadline, watch, reason = Deadline(wall_limit), _Watch(worker.pid), ""
        around = _surroundings(watch.reserved, memory_limit, cpu_limit, threads, cores)
        # Two steps, so that the modules can be found in which a task's parts are defined.
        worker.ask(pickle.dumps((around, "the run", pickle.dumps(partial(_unheard, task)))))
        while worker.code is None and not worker.is_lost:
            worker.step(watch.pause())
            if stop is not None and stop.is_set():
                raise CancelledError
            if not reason:
                late = deadline.is_over()
                reason = "late" if late else "hungry" if watch.memory() > memory_limit else ""
                if reason:
                    worker.end()
        wall = deadline.spent
    if worker.is_lost:
        return Ended("lost", words="what starts processes was ended from outside", wall=wall)
    how, answer, words = reason, None, f"ended by us after {wall_limit:g} s"
    if reason == "hungry":
        words = f"ended by us at its memory limit of {memory_limit / 2**20:.0f} MiB"
    if reason:
        words += _last_said(worker)
    else:
        how, answer, words = _what_happened(worker)
    peak = max(watch.peak, worker.memory - watch.start, 0)
    return Ended(how, answer, words, wall, worker.seconds, peak)


def hire() -> Worker:
    """A worker for a run; the first takes seconds, since everything is imported before.

    Raises
    ------
    StudyError
        There is none to be had.
    """
    if not workers.POSSIBLE:
        raise StudyError("studies need a system that forks, such as Linux or macOS.")
    try:
        return workers.hire(_NEEDS)
    except WorkerLost as lost:
        raise StudyError(f"no process can be had for a run: {lost}") from None


def _unheard(task: Callable[[], Any]) -> tuple[Any]:
    """What a task returns, wrapped: a worker sends errors as well."""
    listen(lambda point: None)  # points that are posted on the way take time to send
    return (task(),)


def _surroundings(
    reserved: int, memory_limit: int, cpu_limit: float, threads: int, cores: set[int] | None
) -> dict[str, Any]:
    """Those of this process, and limits by the system beyond those that are watched."""
    import resource

    around = workers.surroundings()
    for what, limit in (
        (resource.RLIMIT_AS, int(reserved + (1.0 + _RESERVE) * memory_limit) + _RESERVED),
        (resource.RLIMIT_CPU, int(cpu_limit) + 1),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
    ):
        hard = resource.getrlimit(what)[1]
        around["limits"][what] = limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard
    pinned = {f"{name}_NUM_THREADS": str(threads) for name in workers.THREADED}
    around |= {"environment": around["environment"] | pinned, "threads": threads}
    return around | ({"cores": cores} if cores else {})


def _what_happened(worker: Worker) -> tuple[str, Any, str]:
    """How a task ended that nobody here ended, its answer, and words."""
    assert worker.code is not None
    if worker.code == 0 and worker.answer is not None:
        try:
            found = pickle.loads(worker.answer)
        except Exception as error:  # Other people's objects may raise anything here.
            return "crashed", None, f"its answer cannot be read: {error}"
        if isinstance(found, tuple):
            return "answered", found[0], ""
        if not isinstance(found, Outcome):
            return "crashed", None, str(found)
        claim = found.claim
    elif -worker.code in FROM_OUTSIDE:
        name = signal.Signals(-worker.code).name
        words = f"its process was ended by {name}, and not by us; systems do so when memory ends."
        return "killed", None, words + _last_said(worker)
    else:
        claim = crash_claim("the run", worker.code, worker.said.decode(errors="replace"))
    return "hungry" if claim.status == "out of memory" else "crashed", None, claim.message


def _last_said(worker: Worker) -> str:
    """The last line that it printed, as the end of a sentence."""
    lines = worker.said.decode(errors="replace").strip().splitlines()
    return f" (the last that it said: {lines[-1].strip()[:_LONGEST]})" if lines else ""


class _Watch:
    """The memory of a process and of all that it has started."""

    def __init__(self, pid: int) -> None:
        self._children: list[psutil.Process] = []
        self.peak = self.start = self.reserved = 0
        self._begun, self._looked = Deadline(), Deadline(_TREE)
        self._process: psutil.Process | None = None
        with suppress(psutil.Error):  # It may have ended already.
            self._process = psutil.Process(pid)
            begun = self._process.memory_info()
            self.start, self.reserved = begun.rss, int(begun.vms)

    def pause(self) -> float:
        """Seconds until the next look."""
        return _SOON if self._begun.spent < 1.0 else _LATER

    def memory(self) -> int:
        """Bytes now, beyond those at the start."""
        if self._process is None:
            return 0
        try:
            used = self._process.memory_info().rss - self.start
            if self._looked.is_over():
                # To look for children costs a millisecond of everybody's time.
                self._looked = Deadline(_TREE)
                self._children = self._process.children(recursive=True)
            for child in self._children:
                with suppress(psutil.Error):
                    used += child.memory_info().rss
        except psutil.Error:
            return 0
        self.peak = max(self.peak, used)
        return int(used)
