"""A task in a process of its own, with limits on time, memory and files; and how it ended.

A `Sandbox` is a guard: a Python process that has imported everything that a run may need and that
never computes. For each task it forks a runner, watches it, and ends it together with every process
that it has started. The guard ends when its end of the line closes, however the study ends.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import StudyError, require_packages

# Signals by which the user or the system ends a process; such a run is tried again.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Seconds between looks at time and memory, and between looks for new child processes.
_LOOK, _LOOK_FOR_CHILDREN = 0.02, 0.2
# A run may not fill the disk: largest size of a file in bytes.
_LARGEST_FILE = 2**30
# Address space beyond the memory limit that a process may reserve without using it: a share of the
# limit, and bytes.
_RESERVED_SHARE, _RESERVED = 0.5, 2**30
_CHUNK, _KEPT_OUTPUT, _LONGEST_LINE = 2**16, 2**13, 200
# Native code takes its number of threads from these variables, with _NUM_THREADS after each.
_THREADED = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
# Of prctl(2): the signal that a process gets when its parent ends; and that orphans come to it.
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


@dataclass(frozen=True)
class SandboxLimits:
    """What a task may take.

    Attributes
    ----------
    wall : float
        Seconds.
    memory : int
        Bytes beyond those of a process that has imported everything.
    cpu : float
        CPU seconds; a second fence, enforced by the system.
    threads : int, default 1
        Of native code.
    cores : tuple of int, optional
        Processors that it may use, where the system lets a process choose.
    """

    wall: float
    memory: int
    cpu: float
    threads: int = 1
    cores: tuple[int, ...] = ()


@dataclass(frozen=True)
class RunOutcome:
    """How a task ended.

    Attributes
    ----------
    how : {"answered", "late", "hungry", "crashed", "killed", "lost"}
        It answered; it reached its limit of time, or of memory (or reported itself that memory
        had run out); it ended by itself without an answer; another program ended it; or another
        program ended its guard.
    answer : object
        What the task returned.
    message : str
        Why there is no answer, with the last line that it printed.
    wall, cpu : float
        Seconds.
    peak_memory : int
        Bytes beyond those that it began with.
    """

    how: str
    answer: Any = None
    message: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    peak_memory: int = 0


class Sandbox:
    """Runs tasks one after another, each in a process of its own.

    Parameters
    ----------
    imports : str, default "sdpdr.lab.study.run_task"
        A module that is imported once, before processes are forked.

    Raises
    ------
    StudyError
        The system cannot fork.
    PackageMissingError

    Examples
    --------
    >>> from functools import partial
    >>> with Sandbox() as sandbox:
    ...     outcome = sandbox.run(partial(sum, [1, 2]), SandboxLimits(60.0, 10**9, 60.0))
    >>> outcome.how, outcome.answer
    ('answered', 3)
    """

    def __init__(self, imports: str = "sdpdr.lab.study.run_task") -> None:
        require_packages("studies", "study", "psutil")
        if not hasattr(os, "fork"):
            raise StudyError("studies need a system that forks processes, such as Linux or macOS.")
        self._imports = imports
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start(self) -> None:
        """Start a guard; it is ready once it has sent a first message."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - until it is closed
        self._line, theirs = Pipe()
        # The folder in which the study happens to run must not hide modules of the library.
        path = [*filter(None, sys.path), str(Path(__file__).parents[3])]
        program = (
            f"import sys; sys.path[:] = {path!r}; from {__name__} import serve; "
            f"serve({theirs.fileno()}, {self._imports!r})"
        )
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                # One thread, so that it can fork; runners get as many as they are allowed.
                env=os.environ | {f"{name}_NUM_THREADS": "1" for name in _THREADED},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._is_ready = False

    def run(
        self,
        task: Callable[[], Any],
        limits: SandboxLimits,
        stop: threading.Event | None = None,
    ) -> RunOutcome:
        """Run a task, and end it at its limits.

        Parameters
        ----------
        task : callable without arguments
            It and what it returns are pickled.
        limits : SandboxLimits
        stop : threading.Event, optional
            Ends the task when another thread sets it.

        Raises
        ------
        StudyError
            No process can be started.
        CancelledError
            `stop` was set; the sandbox is closed.
        """
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        if not self._is_ready:
            self._wait_until_ready(stop)
        watch = Deadline()
        try:
            # Pickled twice, since the guard must not import the modules of a task.
            self._line.send_bytes(pickle.dumps((limits, pickle.dumps(task))))
            self._wait(stop)
            outcome: RunOutcome = self._line.recv()
        except (EOFError, OSError):
            self.close()
            return RunOutcome("lost", message="its guard was ended from outside", wall=watch.spent)
        return _unpacked(outcome) if outcome.how == "answered" else outcome

    def close(self) -> None:
        """End the guard, and with it whatever runs."""
        self._line.close()
        if self._process is not None:
            self._process.wait()
        self._process = None
        self._errors.close()

    def _wait_until_ready(self, stop: threading.Event | None) -> None:
        try:
            self._wait(stop)
            self._line.recv_bytes()
        except (EOFError, OSError):
            self._errors.seek(0)
            last = _last_line(self._errors.read()) or "it printed nothing"
            self.close()
            raise StudyError(f"the process that starts runs cannot start: {last}.") from None
        self._is_ready = True

    def _wait(self, stop: threading.Event | None) -> None:
        """Wait for a message of the guard, or for another thread that wants it no more."""
        while not self._line.poll(0.1 if stop is not None else None):
            if stop is not None and stop.is_set():
                self.close()
                raise CancelledError


def _unpacked(outcome: RunOutcome) -> RunOutcome:
    """The outcome with its answer, which other people's classes may have part in."""
    try:
        (answer,) = pickle.loads(outcome.answer)
    except Exception as error:
        message = f"its answer cannot be read: {type(error).__name__}: {error}"
        return RunOutcome("crashed", None, message, outcome.wall, outcome.cpu, outcome.peak_memory)
    return RunOutcome("answered", answer, "", outcome.wall, outcome.cpu, outcome.peak_memory)


# -- the guard ------------------------------------------------------------------------------------


def serve(number: int, imports: str) -> None:
    """Be a guard: run the tasks that come in by a line, until it closes.

    Parameters
    ----------
    number : int
        File descriptor of the line.
    imports : str
        A module.
    """
    importlib.import_module(imports)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    with Connection(number) as line, suppress(EOFError, OSError):
        line.send_bytes(b"ready")
        while True:
            limits, task = pickle.loads(line.recv_bytes())
            line.send(_supervise(line, limits, task))


def _supervise(line: Connection, limits: SandboxLimits, task: bytes) -> RunOutcome:
    """Fork a runner for a task, and watch it until it ends or must be ended."""
    answer, answer_out = os.pipe()
    output, output_out = os.pipe()
    pid = os.fork()
    if pid == 0:
        line.close()
        os.close(answer)
        os.close(output)
        _become_runner(limits, task, answer_out, output_out)
    os.close(answer_out)
    os.close(output_out)
    os.set_blocking(answer, False)
    os.set_blocking(output, False)
    watch, deadline, how = _Memory(pid), Deadline(limits.wall), ""
    parts, opened = {answer: b"", output: b""}, {answer, output}
    while (ended := os.wait4(pid, os.WNOHANG))[0] == 0:
        ready = select.select([line.fileno(), *opened], [], [], _LOOK)[0]
        if line.fileno() in ready:  # Nothing is sent meanwhile, so the study has ended.
            _end_all(pid)
            raise EOFError
        opened -= {source for source in opened & set(ready) if not _read(source, parts)}
        parts[output] = parts[output][-_KEPT_OUTPUT:]
        if deadline.is_over() or watch.used() > limits.memory:
            how = "late" if deadline.is_over() else "hungry"
            _end_all(pid)
            ended = os.wait4(pid, 0)
            break
    wall = deadline.spent
    while _read(answer, parts) and select.select([answer], [], [], 0)[0]:
        pass
    _read(output, parts)
    _end_all(pid)
    os.close(answer)
    os.close(output)
    _, status, usage = ended
    said = parts[output].decode(errors="replace")
    if not how:
        how, message = _own_end(os.waitstatus_to_exitcode(status), parts[answer], said)
    else:
        limit = f"after {limits.wall:g} s"
        if how == "hungry":
            limit = f"at its memory limit of {limits.memory / 2**20:.0f} MiB"
        message = f"ended by us {limit}{_last_words(said)}"
    return RunOutcome(
        how,
        parts[answer] if how == "answered" else None,
        message,
        wall,
        usage.ru_utime + usage.ru_stime,
        max(
            watch.peak, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) - watch.start, 0
        ),
    )


def _read(source: int, parts: dict[int, bytes]) -> bool:
    """Append a chunk, if there is one; whether the other end is open."""
    try:
        more = os.read(source, _CHUNK)
    except BlockingIOError:
        return True
    parts[source] += more
    return bool(more)


def _own_end(code: int, answer: bytes, said: str) -> tuple[str, str]:
    """How a runner ended that the guard did not end, and why there is no answer."""
    from sdpdr.solvers.processes.ends import crash_claim

    if code == 0 and answer:
        return "answered", ""
    if -code in FROM_OUTSIDE:
        name = signal.Signals(-code).name
        words = f"its process was ended by {name}, and not by us; systems do so when memory ends."
        return "killed", words + _last_words(said)
    claim = crash_claim("the run", code, said)
    return ("hungry" if claim.status == "out of memory" else "crashed"), claim.message


def _last_words(said: str) -> str:
    line = _last_line(said.encode(errors="replace"))
    return f" (last line of its output: {line})" if line else ""


def _last_line(said: bytes) -> str:
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1].strip()[:_LONGEST_LINE] if lines else ""


def _end_all(pid: int) -> None:
    """End a runner, its process group, and all that it has started, also what left the group."""
    import psutil

    for _ in range(100):
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        children = psutil.Process().children(recursive=True)
        for child in children:
            with suppress(psutil.Error):
                child.kill()
        others = [child for child in children if child.pid != pid]
        psutil.wait_procs(others, timeout=0.1)
        if not others:
            return


class _Memory:
    """The memory of a process and of all that it has started, beyond what it began with."""

    def __init__(self, pid: int) -> None:
        import psutil

        self.peak = self.start = 0
        self._children: list[Any] = []
        self._looked = Deadline(_LOOK_FOR_CHILDREN)
        self._process: Any = None
        with suppress(psutil.Error):  # It may have ended already.
            self._process = psutil.Process(pid)
            self.start = self._process.memory_info().rss

    def used(self) -> int:
        """Bytes now."""
        import psutil

        used = 0
        with suppress(psutil.Error, AttributeError):
            used = self._process.memory_info().rss - self.start
            if self._looked.is_over():
                self._looked = Deadline(_LOOK_FOR_CHILDREN)
                self._children = self._process.children(recursive=True)
            for child in self._children:
                with suppress(psutil.Error):
                    used += child.memory_info().rss
        self.peak = max(self.peak, used)
        return used


# -- the runner -----------------------------------------------------------------------------------


def _become_runner(limits: SandboxLimits, task: bytes, answer: int, output: int) -> NoReturn:
    """Run a task in this process, send what it returns, and end."""
    code = 1
    try:
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (1, 2):
            os.dup2(output, number)
        os.close(output)
        _limit(limits)
        returned = pickle.dumps((pickle.loads(task)(),))
        while returned:
            returned = returned[os.write(answer, returned) :]
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
    """Limits that the system enforces."""
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
        with suppress(ValueError, OSError):  # macOS knows no limit of address space.
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
