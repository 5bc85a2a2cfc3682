"""Workers: processes that wait with everything imported, so that isolation costs next to nothing.

Pools of threads (Rust's in Clarabel, those of BLAS libraries) are not there in a forked process,
and whoever waits for one waits for ever. Solvers then run in a worker, see `sdpdr.solvers.running`.

The first worker that is hired starts a process (see ``zygote``) that imports everything once and
forks a worker for every task from then on, also for several threads at once. A worker that is ended
costs nothing: the next one is forked as fast. The zygote ends after ten idle minutes and with this
process, however that ends; so do its workers, since whoever holds the other end of their lines is
gone. Nothing is written to disk.
"""

from __future__ import annotations

import atexit
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from sdpdr.base.files import occupy_standard
from sdpdr.solvers.processes.zygote import (
    ANSWER,
    DEAF,
    END,
    HEADER,
    HEARING,
    INTERRUPT,
    POSTED,
    QUESTION,
    serve,
)


class _Native:
    has_computed = False
    is_inherited = False

    @classmethod
    def begin_again(cls) -> None:
        """Take note of a fork."""
        cls.is_inherited = cls.is_inherited or cls.has_computed


def native_code_runs() -> None:
    """Take note that native code, perhaps with threads, computes in this process."""
    _Native.has_computed = True


def is_fork_of_native() -> bool:
    """Whether this process was forked off one in which native code had computed."""
    return _Native.is_inherited


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Native.begin_again)


# Seconds of a single wait: a poll takes no more than 32 bits of milliseconds.
_LONGEST = 1e6
# Bytes of what a worker prints that are kept; the end is what tells.
_ENOUGH = 100_000
_CHUNK = 1 << 20
_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR if hasattr(select, "poll") else 0
THREADED = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; import socket; "
    "from sdpdr.solvers.processes.zygote import serve; serve(socket.socket(fileno={number}))"
)

POSSIBLE = all(hasattr(os, name) for name in ("fork", "killpg")) and hasattr(socket, "recv_fds")


class WorkerLost(Exception):
    """No worker can be had; the words say why."""


class Worker:
    """A process that does one task.

    Leaving its context ends it, and all that it has started.

    Attributes
    ----------
    pid : int
    code : int or None
        Its exit status, as `subprocess` gives them, once it has ended.
    seconds : float
        Of the processor, and
    memory : int
        the most bytes that it had, once it has ended.
    is_lost : bool
        Whether nobody is left to tell how it ended, and so it has.
    answer, posted : bytes or None
        What the task returned, and the last point it posted meanwhile, pickled.
    said : bytearray
        The end of what it printed.
    is_deaf : bool
        Whether it said that asking it to end is in vain.
    """

    def __init__(self, control: socket.socket, needs: str = "") -> None:
        self.pid, self.said = 0, bytearray()
        self.seconds, self.memory = 0.0, 0
        self.code: int | None = None
        self.answer: bytes | None = None
        self.posted: bytes | None = None
        self.show = self.is_deaf = self.is_lost = False
        self._unsent, self._received, self._line_said = memoryview(b""), bytearray(), b""
        self._poll = select.poll()
        self._talk, self._line, self._said, theirs = _ends()
        _alive.add(self)
        try:
            with _lock:
                socket.send_fds(control, [f"{needs}\n".encode()], theirs)
        except OSError:
            self.close()
            raise
        finally:
            for end in theirs:
                os.close(end)
        self._talk.setblocking(False)
        os.set_blocking(self._said, False)
        for end in (self._talk.fileno(), self._line.fileno(), self._said):
            self._poll.register(end, select.POLLIN)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def born(self) -> bool:
        """Wait for it; False where it was not to be."""
        word = self._line.recv(256)
        while word and b"\n" not in word:
            more = self._line.recv(256)
            word = word + more if more else b""
        first, _, self._line_said = word.partition(b"\n")
        if not first.isdigit():
            if first:
                raise WorkerLost(first.decode(errors="replace"))
            return False
        self.pid = int(first)
        return True

    def ask(self, question: bytes) -> None:
        """Have a question sent while `step` waits for the answer."""
        self._unsent = memoryview(HEADER.pack(QUESTION, len(question)) + question)
        self._poll.modify(self._talk.fileno(), select.POLLIN | select.POLLOUT)

    @property
    def is_done(self) -> bool:
        """Whether it has answered or ended."""
        return self.answer is not None or self.code is not None or self.is_lost

    def step(self, patience: float | None) -> None:
        """Wait until something happens, at most so many seconds, and take note of it."""
        milliseconds = None if patience is None else 1000.0 * min(max(0.0, patience), _LONGEST)
        for number, event in self._poll.poll(milliseconds):
            if number == self._said:
                self._listen()
            elif number == self._talk.fileno():
                if event & select.POLLOUT:
                    self._send()
                if event & _READABLE:
                    self._receive()
            elif number == self._line.fileno():
                self._hear_the_end()

    def interrupt(self) -> None:
        """Ask it to come to an end."""
        with suppress(OSError):
            self._line.send(INTERRUPT)

    def end(self) -> None:
        """End it and all that it has started; `step` waits until it has ended."""
        with suppress(OSError):
            self._line.send(END)

    def close(self) -> None:
        """End it; what is said on a line that has ended is to end the worker."""
        self._talk.close()
        self._line.close()
        if self._said >= 0:
            os.close(self._said)
            self._said = -1

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            while words := os.read(self._said, _CHUNK):
                self.said += words
                if self.show:
                    sys.stdout.write(words.decode(errors="replace"))
                del self.said[:-_ENOUGH]
            self._mute(self._said)

    def _send(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[self._talk.send(self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except ConnectionError:  # it has ended, and the line will say how
            self._unsent = memoryview(b"")
        with suppress(OSError):  # it is not looked at any more
            self._poll.modify(self._talk.fileno(), select.POLLIN)

    def _mute(self, number: int) -> None:
        """Do not look any more at what has ended."""
        with suppress(KeyError):
            self._poll.unregister(number)

    def _receive(self) -> None:
        with suppress(BlockingIOError):
            try:
                while data := self._talk.recv(_CHUNK):
                    self._received += data
                    self._sort()
            except ConnectionError:
                pass
            self._mute(self._talk.fileno())

    def _sort(self) -> None:
        """Take whole messages out of what was received."""
        while len(self._received) >= HEADER.size:
            kind, length = HEADER.unpack_from(self._received)
            end = HEADER.size + length
            if len(self._received) < end:
                return
            content = bytes(memoryview(self._received)[HEADER.size : end])
            del self._received[:end]
            if kind == ANSWER:
                self.answer = content
            elif kind == POSTED:
                self.posted = content
            elif kind in (DEAF, HEARING):
                self.is_deaf = kind == DEAF

    def _hear_the_end(self) -> None:
        data = b""
        with suppress(ConnectionError):
            data = self._line.recv(256)
        self._line_said += data
        if b"\n" not in self._line_said and data:
            return
        # Whatever it had to say is in the pipes by now.
        self._receive()
        self._listen()
        words = self._line_said.partition(b"\n")[0].split()
        self.is_lost = not words
        if words:
            self.code, self.seconds, self.memory = int(words[0]), float(words[1]), int(words[2])


def _ends() -> tuple[socket.socket, socket.socket, int, list[int]]:
    """Our ends of what a worker talks through, of its line, and of what it prints; its own.

    Raises
    ------
    WorkerLost
        This process may not open any more, which is no fault of the zygote's.
    """
    with ExitStack() as undo:
        try:
            occupy_standard()
            talk, theirs = map(undo.enter_context, socket.socketpair())
            line, its = map(undo.enter_context, socket.socketpair())
            said, saying = os.pipe()
        except OSError as error:
            raise WorkerLost(f"this process cannot open what leads to one: {error}") from error
        undo.pop_all()
    return talk, line, said, [theirs.detach(), its.detach(), saying]


def hire(needs: str = "") -> Worker:
    """A worker, for the price of a fork; for the first, that of starting the zygote.

    Parameters
    ----------
    needs : str, optional
        A module that is to be imported in the worker from the beginning; once for all workers.

    Raises
    ------
    WorkerLost
        The zygote cannot be started, or cannot fork, or this process is out of descriptors.
    """
    for _ in range(2):
        control = _zygote()
        try:
            worker = Worker(control, needs)
        except OSError:  # nobody is there to receive it
            _dismiss(control)
            continue
        try:
            if worker.born():
                return worker
        except BaseException:
            worker.close()
            raise
        worker.close()
        _dismiss(control)
    raise WorkerLost(f"the process that starts workers cannot start: {_last_words()}")


def prepare_by_fork() -> None:
    """Fork it off this very process, which costs milliseconds.

    For a process that has imported everything and computed nothing so far, as that of the command
    line at its beginning; `is_prepared` is then true, and native solvers are isolated.
    """
    global _control, _forked
    if not POSSIBLE or _control is not None:
        return
    occupy_standard()
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        with suppress(OSError):
            os.setsid()
        serve(theirs)
    theirs.close()
    _control, _forked = ours, True


def is_prepared() -> bool:
    """Whether this process forked off a zygote at its beginning."""
    return _forked


def surroundings() -> dict[str, Any]:
    """What a worker takes over from this process, since it was forked off another."""
    import resource

    known = [getattr(resource, f"RLIMIT_{name}", None) for name in ("AS", "DATA", "FSIZE")]
    has_cores = hasattr(os, "sched_getaffinity")
    folder = "/"
    with suppress(OSError):
        folder = os.getcwd()
    return {
        "path": list(sys.path),
        "environment": dict(os.environ),
        "folder": folder,
        "cores": os.sched_getaffinity(0) if has_cores else None,
        "threads": None if _forked else _threads(),
        "limits": {one: resource.getrlimit(one) for one in known if one is not None},
    }


def _threads() -> int | None:
    """Threads of native code here; None for one, with which the zygote has begun."""
    for name in ("OPENBLAS", "OMP"):
        given = os.environ.get(f"{name}_NUM_THREADS", "").partition(",")[0].strip()
        if given.isdigit():
            return int(given) if int(given) > 1 else None
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return found if found and found > 1 else None


# -- the zygote, of which a process has at most one ------------------------------------------------

_lock = threading.Lock()
_starting = threading.Lock()
_control: socket.socket | None = None
_process: subprocess.Popen[bytes] | None = None
_stderr = -1
_forked = False
_alive: weakref.WeakSet[Worker] = weakref.WeakSet()


def _zygote() -> socket.socket:
    global _control, _process
    with _starting:
        if _control is not None:
            return _control
        _close_stderr()
        try:
            occupy_standard()
            with ExitStack() as undo:
                ours, theirs = map(undo.enter_context, socket.socketpair())
                _process = _started(theirs)
                theirs.close()
                undo.pop_all()
        except OSError as error:
            raise WorkerLost(f"the process that starts workers cannot start: {error}") from error
        _control = ours
        return ours


def _started(theirs: socket.socket) -> subprocess.Popen[bytes]:
    """A new zygote, which listens at its end of a socket."""
    global _stderr
    _stderr, said = os.pipe()
    # One thread, so that it can fork; workers are given as many as this process has.
    alone = {f"{name}_NUM_THREADS": "1" for name in THREADED}
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _program(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=os.environ | alone,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    finally:
        os.close(said)


def _program(number: int) -> str:
    # Not the folder in which it happens to run, whose files might be taken for modules.
    here = str(Path(__file__).parents[3])
    return _PROGRAM.format(path=[*filter(None, sys.path), here], number=number)


def _dismiss(control: socket.socket) -> None:
    """Forget a zygote that has ended, unless somebody else did and has started another."""
    global _control, _process, _forked
    with _starting:
        if _control is not control:
            return
        control.close()
        if _process is not None:
            _process.wait()
        _control, _process, _forked = None, None, False


def _last_words() -> str:
    said = b""
    with suppress(OSError):
        os.set_blocking(_stderr, False)
        while more := os.read(_stderr, _CHUNK):
            said += more
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _close_stderr() -> None:
    global _stderr
    if _stderr >= 0:
        os.close(_stderr)
    _stderr = -1


@atexit.register
def _end() -> None:
    """Let go of the zygote, which ends."""
    if _control is not None:
        _control.close()
    if _process is not None:
        with suppress(subprocess.TimeoutExpired):
            _process.wait(1.0)


def _begin_again() -> None:
    """In a forked process: leave zygote and workers to the parent, and own none."""
    global _lock, _starting, _control, _process, _stderr, _forked
    _lock, _starting = threading.Lock(), threading.Lock()
    for worker in list(_alive):
        worker.close()
    _alive.clear()
    if _control is not None:
        _control.close()
    _close_stderr()
    if _process is not None:
        _process.returncode = 0  # the parent's to wait for
    _control, _process, _forked = None, None, False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
