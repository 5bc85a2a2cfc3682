"""Workers: processes that multiprocessing's fork server starts with this package imported.

Starting Python and importing a solver takes seconds, and a fork takes milliseconds. But a process
in which native code has run cannot be forked safely, so the fork server imports everything and
computes nothing. It starts with the first worker and ends with this process, even after a crash;
on Linux its workers end with it. It is separate from the server of `multiprocessing`, which belongs
to the user, who may preload other modules.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from multiprocessing import context, current_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from sdpdr.base.files import occupy_standard
from sdpdr.solvers.processes import child

try:
    from multiprocessing import forkserver, popen_forkserver, reduction, util

    POSSIBLE = True
except ImportError:  # Windows and WebAssembly have no fork
    POSSIBLE = False

# Modules that tasks use: all solvers, and models as they are written.
_PRELOADED = [
    "sdpdr.solving.attempt",
    "sdpdr.solvers.cvxpy_interfaces",
    "sdpdr.model.to_cvxpy",
    "sdpdr.model.blocks",
    "sdpdr.graphs",
]
_UNINTERRUPTIBLE = "sdpdr.solvers.processes.uninterruptible"
# With one thread in each library the server can be forked; workers get as many as their caller.
_ONE_THREAD = {
    f"{name}_NUM_THREADS": "1"
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "RAYON")
}


# Descriptors that `_start` opens at once: a socket, three pipes, and one more end of a pipe.
_DESCRIPTORS = 8


class WorkerUnavailable(Exception):
    """No worker can be started; the message says why."""


class Worker:
    """A process that runs one task.

    Leaving its context ends it with everything that it has started.

    Parameters
    ----------
    question : bytes
        Its surroundings, its name and its task, pickled.
    server : Server, optional
        Starts it; by default the one of all solvers.

    Attributes
    ----------
    pid : int
    channel, printed : Connection
        Its messages, and what it prints.
    sentinel : int
        A descriptor that becomes readable when it has ended.
    """

    def __init__(self, question: bytes, server: Server | None = None) -> None:
        occupy_standard()
        with ExitStack() as undo:
            try:
                self.channel, theirs = map(undo.enter_context, context.BaseContext().Pipe(False))
                said, saying = os.pipe()
                self.printed = undo.enter_context(Connection(said, writable=False))
                output = undo.enter_context(Connection(saying, readable=False))
                self._popen = _start(theirs, output, question, server or _server)
            except OSError as error:
                raise WorkerUnavailable(f"no process can be started: {error}") from error
            theirs.close()
            output.close()
            undo.pop_all()
        self.pid: int = self._popen.pid
        self.sentinel: int = self._popen.sentinel

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *raised: object) -> None:
        end_tree(self.pid)
        self.channel.close()
        self.printed.close()
        self._popen.finalizer()

    def interrupt(self) -> None:
        """Send it the signal of Ctrl-C."""
        with suppress(OSError):
            os.kill(self.pid, signal.SIGINT)

    def exit_status(self) -> int | None:
        """Return its exit status after it has ended; None if the fork server died with it."""
        try:
            return int(forkserver.read_signed(self.sentinel))
        except (OSError, EOFError):
            return None


def _start(channel: Connection, printed: Connection, question: bytes, server: Server) -> Any:
    """Start a process that runs `child.work`; return multiprocessing's handle of it.

    A server that was killed, or that cannot fork, is replaced once.
    """
    _require_descriptors()
    for attempt in (1, 2):
        arguments = (channel, printed, server.pid, question)
        try:
            return _Popen(context.ForkServerProcess(target=child.work, args=arguments), server)
        except (ConnectionError, EOFError, FileNotFoundError) as error:
            server.stop()
            if attempt == 2:
                raise OSError("the process that starts workers ended before it did") from error
    return None


def _require_descriptors() -> None:
    """Raise an OSError if this process can open too few files to start another.

    A fork server ends, and all its workers with it, if a caller connects and cannot go on.
    """
    with ExitStack() as opened:
        for _ in range(_DESCRIPTORS):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))


class Server:
    """A fork server of our own that has imported some modules, replaced in a fork of this process.

    Without the fork server of the system it starts nothing.
    """

    def __init__(self, preloaded: Sequence[str]) -> None:
        self._preloaded = list(preloaded)
        self._server: Any = None
        # The id of a server that has started a worker, and so has imported all modules.
        self._begun: int | None = None
        if POSSIBLE:
            self._renew()
            os.register_at_fork(after_in_child=self.abandon)

    def _renew(self) -> None:
        self._lock, self._server = threading.Lock(), forkserver.ForkServer()
        self._server.set_forkserver_preload([_UNINTERRUPTIBLE, *self._preloaded])

    def connect(self, descriptors: list[int]) -> tuple[int, int]:
        """Return the ends of a new process: how it ended, and where it reads."""
        self.ensure_running()
        ends: tuple[int, int] = self._server.connect_to_new_process(descriptors)
        return ends

    def note_worker(self) -> None:
        """Remember that it has started a worker."""
        self._begun = self._server._forkserver_pid

    @property
    def has_begun(self) -> bool:
        """Whether it has started a worker and has not been replaced since."""
        return self._begun is not None and self._begun == self._server._forkserver_pid

    def ensure_running(self) -> None:
        """Start it, or start it again."""
        with self._lock:
            given = {**_ONE_THREAD, "PYTHONPATH": _importable_from(), "PYTHONSAFEPATH": "1"}
            before = {name: os.environ.get(name) for name in given}
            # Ctrl-C reaches the whole group of a terminal, and the server until it ignores it.
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                os.environ.update(given)
                self._server.ensure_running()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                for name, value in before.items():
                    os.environ.pop(name, None)
                    if value is not None:
                        os.environ[name] = value

    @property
    def pid(self) -> int:
        """Its process."""
        self.ensure_running()
        return int(self._server._forkserver_pid)

    def stop(self) -> None:
        """End it with its workers; the next worker starts a new one."""
        with self._lock, suppress(OSError):
            pid = self._server._forkserver_pid
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
            self._server._stop()

    def abandon(self) -> None:
        """In a fork of this process, leave the server to the parent."""
        alive = self._server._forkserver_alive_fd
        if alive is not None:
            os.close(alive)
        self._renew()


def _importable_from() -> str:
    """The module path of the server: this package first, then that of the user."""
    here = str(Path(__file__).parents[3])
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])


def _surroundings_of_python(name: str) -> dict[str, Any]:
    """The data with which multiprocessing prepares a child, without the user's script.

    The folder of this process may have been removed; the child then stays in the server's.
    """
    data = {"name": name, "authkey": current_process().authkey, "sys_argv": sys.argv}
    folder = ""
    with suppress(OSError):
        data["dir"] = folder = os.getcwd()
    data["sys_path"] = [place or folder for place in sys.path]
    return data


if POSSIBLE:

    class _Popen(popen_forkserver.Popen):
        """multiprocessing's, with our server, and without importing the user's script again."""

        def __init__(self, process: Any, server: Server) -> None:
            self._by = server
            super().__init__(process)

        def _launch(self, process: Any) -> None:
            buffer = io.BytesIO()
            context.set_spawning_popen(self)
            try:
                reduction.dump(_surroundings_of_python(process._name), buffer)
                reduction.dump(process, buffer)
            finally:
                context.set_spawning_popen(None)
            self.sentinel, to_child = self._by.connect(self._fds)  # type: ignore[attr-defined]
            # The child detects by this pipe that this process has ended.
            ours = os.dup(to_child)
            ends = (ours, self.sentinel)
            self.finalizer = util.Finalize(self, util.close_fds, ends)  # type: ignore[attr-defined]
            with open(to_child, "wb", closefd=True) as stream, suppress(BrokenPipeError):
                stream.write(buffer.getbuffer())
            self.pid = forkserver.read_signed(self.sentinel)
            self._by.note_worker()


_server = Server(_PRELOADED)


def has_begun() -> bool:
    """Whether the next worker is started at once."""
    return _server.has_begun


def end_tree(pid: int) -> None:
    """End a process, its group, and everything that it has started."""
    for one in (*_descendants(pid), pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(one, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """Children and their children, if the system lists them; the group is ended in any case."""
    return [one for each in _children(pid) for one in (each, *_descendants(each))]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError, ValueError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found
