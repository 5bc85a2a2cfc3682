"""A task in a process of its own, with limits on time, memory and files, and how it ended.

Each task has a guard, a worker of `sdpdr.solvers.processes` that never computes. The guard forks a
runner, watches it, and ends it with every process that it has started, however the study ends.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import parent_process
from typing import Any, NoReturn

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import StudyError, require_packages
from sdpdr.solvers.processes import fork_server
from sdpdr.solvers.processes.child import surroundings
from sdpdr.solvers.processes.ends import crash_claim, listen
from sdpdr.solvers.processes.fork_server import Server, Worker, WorkerUnavailable

# Signals by which the user or the system ends a process; such a run is tried again.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Seconds between checks of time and memory, and between searches for child processes.
_CHECK, _CHECK_CHILDREN = 0.02, 0.2
# Largest size of a file in bytes: a run must not fill the disk.
_LARGEST_FILE = 2**30
# Address space beyond the memory limit that a process may reserve without using it: a share of the
# limit, and bytes.
_RESERVED_SHARE, _RESERVED = 0.5, 2**30
# Bytes read at a time, bytes of output that are kept, and letters of its last line in a message.
_CHUNK, _KEPT_OUTPUT, _LONGEST_LINE = 2**16, 2**13, 200
# Native code takes its number of threads from these variables, with _NUM_THREADS after each.
_THREADED = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
# Where the runner writes its answer, and beyond the descriptors that a guard may have open.
_ANSWER, _MOST_DESCRIPTORS = 63, 1024
# Options of prctl(2): the signal that a process gets when its parent ends, and adoption of orphans.
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
# Its workers start with everything imported that a run may need.
_SERVER = Server(["psutil", "sdpdr.lab.study.task"])


@dataclass(frozen=True)
class SandboxLimits:
    """Limits of a task: seconds, bytes, CPU seconds, threads and processors."""

    wall: float
    memory: int
    cpu: float
    threads: int = 1
    cores: tuple[int, ...] = ()


@dataclass(frozen=True)
class RunOutcome:
    """How a task ended: "ANSWERED", "LOST", or one of `sdpdr.lab.study.schema.OUTCOMES`."""

    end: str
    answer: Any = None
    message: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    peak_memory: int = 0


def run_in_sandbox(
    task: Callable[[], Any], limits: SandboxLimits, stop: threading.Event | None = None
) -> RunOutcome:
    """Run a task in a process of its own, and end it at its limits."""
    require_packages("studies", "study", "psutil")
    if not fork_server.POSSIBLE:
        raise StudyError("studies need a system that forks processes, such as Linux or macOS.")
    # The guard must not import the modules of a task, which therefore stays pickled until later.
    guard = pickle.dumps(partial(_supervise, limits, pickle.dumps(task)))
    around = surroundings() | {"threads": 1}
    try:
        worker = Worker(pickle.dumps((around, "the run", guard)), _SERVER)
    except WorkerUnavailable as error:
        raise StudyError(f"the process that starts runs cannot start: {error}.") from error
    watch = Deadline()
    with worker:
        while not worker.channel.poll(None if stop is None else 0.1):
            if stop is not None and stop.is_set():
                raise CancelledError
        with suppress(EOFError, OSError):
            outcome = pickle.loads(worker.channel.recv_bytes()[1:])
            if isinstance(outcome, RunOutcome):
                return _unpacked(outcome) if outcome.end == "ANSWERED" else outcome
    return RunOutcome("LOST", message="its guard was ended from outside", wall=watch.spent)


def _unpacked(outcome: RunOutcome) -> RunOutcome:
    """Unpickle the answer, whose classes may raise any error."""
    try:
        return replace(outcome, answer=pickle.loads(outcome.answer)[0])
    except Exception as error:
        message = f"its answer cannot be read: {type(error).__name__}: {error}"
        return replace(outcome, end="CRASHED", answer=None, message=message)


# -- the guard ------------------------------------------------------------------------------------


def _supervise(limits: SandboxLimits, task: bytes) -> RunOutcome:
    """Fork a runner for a task, and watch it until it ends or must be ended."""
    # The guard outlives what started it, so that it can end the runner and all its processes.
    study = parent_process()
    assert study is not None
    _prctl(_PR_SET_PDEATHSIG, 0)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    answer, answer_out = os.pipe()
    output, output_out = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become_runner(limits, task, answer_out, output_out)
    for descriptor in (answer_out, output_out):
        os.close(descriptor)
    for source in (answer, output):
        os.set_blocking(source, False)
    memory, deadline, end = _Memory(pid), Deadline(limits.wall), ""
    parts, opened = {answer: b"", output: b""}, {answer, output}
    while (ended := os.wait4(pid, os.WNOHANG))[0] == 0:
        ready = select.select([study.sentinel, *opened], [], [], _CHECK)[0]
        if study.sentinel in ready:  # The study has ended.
            _end_all(pid)
            os._exit(1)
        opened -= {source for source in ready if not _read(source, parts)}
        parts[output] = parts[output][-_KEPT_OUTPUT:]
        if deadline.is_over() or memory.used() > limits.memory:
            end = "TIME_LIMIT" if deadline.is_over() else "OUT_OF_MEMORY"
            _end_all(pid)
            ended = os.wait4(pid, 0)
            break
    wall = deadline.spent
    while _read(answer, parts) and select.select([answer], [], [], 0)[0]:
        pass
    _read(output, parts)
    _end_all(pid)
    _, status, usage = ended
    printed = parts[output].decode(errors="replace")
    if not end:
        end, message = _own_end(os.waitstatus_to_exitcode(status), parts[answer], printed)
    else:
        limit = f"after {limits.wall:g} s"
        if end == "OUT_OF_MEMORY":
            limit = f"at its memory limit of {limits.memory / 2**20:.0f} MiB"
        message = f"ended by us {limit}{_last_line(printed)}"
    unit = 1 if sys.platform == "darwin" else 1024
    peak = max(memory.peak, usage.ru_maxrss * unit - memory.start, 0)
    kept = parts[answer] if end == "ANSWERED" else None
    return RunOutcome(end, kept, message, wall, usage.ru_utime + usage.ru_stime, peak)


def _read(source: int, parts: dict[int, bytes]) -> bool:
    """Append a chunk if there is one; return whether the other end is open."""
    try:
        more = os.read(source, _CHUNK)
    except BlockingIOError:
        return True
    parts[source] += more
    return bool(more)


def _own_end(code: int, answer: bytes, printed: str) -> tuple[str, str]:
    """Return how a runner ended that the guard did not end, and why there is no answer."""
    if code == 0 and answer:
        return "ANSWERED", ""
    if -code in _FROM_OUTSIDE:
        name = signal.Signals(-code).name
        words = f"its process was ended by {name}, and not by us; systems do so when memory ends."
        return "KILLED", words + _last_line(printed)
    claim = crash_claim("the run", code, printed)
    end = "OUT_OF_MEMORY" if claim.status == "out of memory" else "CRASHED"
    return end, claim.message


def _last_line(printed: str) -> str:
    lines = printed.strip().splitlines()
    return f" (last line of its output: {lines[-1].strip()[:_LONGEST_LINE]})" if lines else ""


def _end_all(pid: int) -> None:
    """End a runner and its descendants, also orphans, which Linux gives to the guard."""
    import psutil

    for _ in range(100):
        children = psutil.Process().children(recursive=True)
        for child in children:
            with suppress(psutil.Error):
                child.kill()
        others = [child for child in children if child.pid != pid]
        psutil.wait_procs(others, timeout=0.1)
        if not others:
            return


class _Memory:
    """The memory of a process and its descendants, beyond what it began with."""

    def __init__(self, pid: int) -> None:
        import psutil

        self.peak = self.start = 0
        self._children: list[Any] = []
        self._next_search = Deadline(_CHECK_CHILDREN)
        self._process: Any = None
        with suppress(psutil.Error):  # It may have ended already.
            self._process = psutil.Process(pid)
            self.start = self._process.memory_info().rss

    def used(self) -> int:
        """Return the bytes used now."""
        import psutil

        used = 0
        with suppress(psutil.Error, AttributeError):
            used = self._process.memory_info().rss - self.start
            if self._next_search.is_over():
                self._next_search = Deadline(_CHECK_CHILDREN)
                self._children = self._process.children(recursive=True)
            for child in self._children:
                with suppress(psutil.Error):
                    used += child.memory_info().rss
        self.peak = max(self.peak, used)
        return used


# -- the runner -----------------------------------------------------------------------------------


def _become_runner(limits: SandboxLimits, task: bytes, answer: int, output: int) -> NoReturn:
    """Run a task in this process, send its result, and exit."""
    code = 1
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (1, 2):
            os.dup2(output, number)
        # Nothing that the task writes may reach the guard's own channel.
        os.dup2(answer, _ANSWER, inheritable=False)
        os.closerange(3, _ANSWER)
        os.closerange(_ANSWER + 1, _MOST_DESCRIPTORS)
        listen(lambda point: None)
        _limit(limits)
        returned = pickle.dumps((pickle.loads(task)(),))
        while returned:
            returned = returned[os.write(_ANSWER, returned) :]
        code = 0
    except SystemExit as leaving:
        os.write(2, f"{leaving}\n".encode(errors="replace"))
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(code)


def _limit(limits: SandboxLimits) -> None:
    """Set the limits that the system enforces."""
    import resource

    import psutil

    reserved = psutil.Process().memory_info().vms
    for what, limit in (
        (resource.RLIMIT_AS, int(reserved + (1.0 + _RESERVED_SHARE) * limits.memory) + _RESERVED),
        (resource.RLIMIT_CPU, int(limits.cpu) + 1),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
    ):
        hard = resource.getrlimit(what)[1]
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with suppress(ValueError, OSError):  # macOS has no limit on the address space.
            resource.setrlimit(what, (soft, hard))
    os.environ |= {f"{name}_NUM_THREADS": str(limits.threads) for name in _THREADED}
    if limits.threads > 1:
        from threadpoolctl import threadpool_limits

        threadpool_limits(limits.threads)
    if limits.cores:
        os.sched_setaffinity(0, limits.cores)


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)
