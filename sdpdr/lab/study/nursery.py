"""A process that has imported everything and forks a child for every run; looking after processes.

A run must not hurt others, so each has a process of its own; but to start Python and to import a
solver takes longer than many a run. The nursery does that once. A child inherits it all, and with
it nothing that a solver has done before, since no solver ever ran in the nursery.

`Nursery` lives where runs are asked for; the process itself is `sdpdr.lab.study.cradle`.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from typing import Any

from sdpdr.base.errors import PackageMissingError, StudyError
from sdpdr.solvers.processes.ends import last_said

try:
    import psutil
except ImportError as missing:
    raise PackageMissingError('studies need psutil: pip install "sdpdr[study]"') from missing

# Seconds between looks: often at first, since a short run may need memory fast.
_SOON, _LATER, _TREE = 0.01, 0.05, 0.2


class Watch:
    """The memory of a process and of all that it has started."""

    def __init__(self, pid: int) -> None:
        self._children: list[psutil.Process] = []
        self.peak = 0
        self._begin = self._looked = time.monotonic()
        try:
            self._process: psutil.Process | None = psutil.Process(pid)
            self.start = self._process.memory_info().rss
        except psutil.Error:  # It has ended already.
            self._process, self.start = None, 0

    def pause(self) -> float:
        """Seconds until the next look."""
        return _SOON if time.monotonic() - self._begin < 1.0 else _LATER

    def memory(self) -> int:
        """Bytes now, beyond those at the start."""
        if self._process is None:
            return 0
        try:
            used = self._process.memory_info().rss - self.start
            if time.monotonic() - self._looked > _TREE:
                # To look for children costs a millisecond of everybody's time.
                self._looked = time.monotonic()
                self._children = self._process.children(recursive=True)
            for child in self._children:
                with suppress(psutil.Error):
                    used += child.memory_info().rss
        except psutil.Error:
            return 0
        self.peak = max(self.peak, used)
        return int(used)


def end_tree(pid: int) -> None:
    """End a process and all that it has started."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (*process.children(recursive=True), process):
            with suppress(psutil.Error):
                one.kill()


def end_orphans() -> None:
    """End whatever this process has adopted."""
    for orphan in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            orphan.kill()
            orphan.wait()


def reserved() -> int:
    """Bytes of address space that this process has."""
    return int(psutil.Process().memory_info().vms)


_THREADED = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
# Signals by which somebody outside ends a process; a run that ends so is tried again.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Of what a process said last, in characters.
_ENOUGH = 2_000
# Without the folder in which it happens to run, whose files might be taken for modules.
_PROGRAM = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; "
    "from sdpdr.lab.study.cradle import serve; serve()"
)


@dataclass(frozen=True)
class Ended:
    """How a child ended.

    Attributes
    ----------
    how : {"answered", "late", "hungry", "crashed", "killed", "lost"}
        It answered; it was ended by us at its limit of time or of memory; it ended by itself; it
        was ended by somebody else; or its nursery was.
    answer : object
        What the task returned.
    words : str
        In what way, and the last that it said.
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


class Nursery:
    """A process that forks a child for every task that it is given.

    It ends when it is closed, and also when the process that made it ends, however that ends.

    Parameters
    ----------
    threads : int, default 1
        For all native code.
    cores : set of int, optional
        Processors that it may use, where the system lets a process choose.

    """

    def __init__(self, threads: int = 1, cores: set[int] | None = None) -> None:
        pinned = {f"{name}_NUM_THREADS": str(threads) for name in _THREADED}
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as the process lives
        self._is_ready = False
        # Lines go to and from the nursery; what else it says is of interest only if it fails.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=os.environ | pinned | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        if cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self._process.pid, cores)

    def run(
        self, task: Callable[[], Any], *, wall_limit: float, memory_limit: int, cpu_limit: float
    ) -> Ended:
        """Run a task in a child, and end it at its limits.

        Parameters
        ----------
        task : callable without arguments
            It and what it returns are pickled.
        wall_limit : float
            Seconds.
        memory_limit : int
            Bytes beyond those of the nursery.
        cpu_limit : float
            Seconds of the processor; a fence for what outlives everything else.
        """
        with tempfile.TemporaryDirectory(prefix=".sdpdr-") as place:
            folder = Path(place)
            request = (sys.path, memory_limit, int(cpu_limit) + 1)
            # Two steps, so that the modules can be found in which a task's parts are defined.
            (folder / "question").write_bytes(pickle.dumps(request) + pickle.dumps(task))
            try:
                self._greet()
                return self._watched(folder, wall_limit, memory_limit)
            except StudyError:
                raise
            except (BrokenPipeError, EOFError, ValueError):
                self.close()
                return Ended("lost", words="the process that starts runs was ended from outside")

    def _greet(self) -> None:
        """Wait until everything is imported.

        Raises
        ------
        StudyError
            It cannot be.
        """
        if self._is_ready:
            return
        try:
            self._is_ready = bool(self._line(None))
        except EOFError:
            if self._process.wait() <= 0:
                raise
            self._said.seek(0)
            said = self._said.read()[-_ENOUGH:].decode("utf-8", errors="replace")
            last = (said.strip().splitlines() or ["it said nothing"])[-1]
            raise StudyError(f"the process that starts runs cannot start: {last}") from None

    def lives(self) -> bool:
        """Whether it can be given a task."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it, and the child that it may have."""
        end_tree(self._process.pid)
        self._process.wait()

    def _watched(self, folder: Path, wall_limit: float, memory_limit: int) -> Ended:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{folder}\n".encode())
        self._process.stdin.flush()
        pid = int(self._line(None) or "0")
        begin = time.monotonic()
        watch = Watch(pid)
        try:
            reason = ""
            while not (ended := self._line(watch.pause())):
                if time.monotonic() - begin > wall_limit:
                    reason = "late"
                elif watch.memory() > memory_limit:
                    reason = "hungry"
                if reason:
                    end_tree(pid)
                    ended = self._line(None)
                    break
        except BaseException:
            end_tree(pid)
            raise
        code, cpu, peak = ended.split()
        wall = time.monotonic() - begin
        peak_memory = max(watch.peak, int(peak) - watch.start, 0)
        answer = folder / "answer"
        said = _last_words(folder / "said")
        if reason:
            return Ended(reason, None, said, wall, float(cpu), peak_memory)
        if int(code) == 0 and answer.exists():
            try:
                found = pickle.loads(answer.read_bytes())
            except Exception as error:  # A child may have written anything there.
                return Ended("crashed", None, f"its answer cannot be read: {error}", wall)
            return Ended("answered", found, said, wall, float(cpu), peak_memory)
        how, words = _what_happened(int(code), said)
        return Ended(how, None, words, wall, float(cpu), peak_memory)

    def _line(self, patience: float | None) -> str:
        """A line from the nursery; empty if there is none within so many seconds.

        Raises
        ------
        EOFError
            There will be none.
        """
        assert self._process.stdout is not None
        stream = self._process.stdout
        if patience is not None and not select([stream], [], [], patience)[0]:
            return ""
        line = stream.readline().decode()
        if not line:
            raise EOFError
        return line.strip()


def _what_happened(code: int, said: str) -> tuple[str, str]:
    """How a child ended that gave no answer, and in words."""
    if code >= 0:
        return "crashed", f"its process ended with exit status {code}. {said}".strip()
    number = signal.Signals(-code) if -code in set(signal.Signals) else None
    name = f"signal {-code}" if number is None else number.name
    if number in FROM_OUTSIDE:
        words = f"its process was ended by {name}, and not by us; systems do so when memory ends."
        return "killed", f"{words} {said}".strip()
    return "crashed", f"its process was ended by {name}. {said}".strip()


def _last_words(path: Path) -> str:
    """The last line that a process said, without what would upset a terminal."""
    if not path.exists():
        return ""
    lines = [line for line in last_said(path)[-_ENOUGH:].splitlines() if line.strip()]
    return "".join(c for c in (lines or [""])[-1] if c.isprintable()).strip()
