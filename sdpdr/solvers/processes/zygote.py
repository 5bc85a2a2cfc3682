"""The process that forks workers: it has imported everything and has never computed anything.

To start Python and import a solver takes seconds, and a fork takes milliseconds. A fork is safe
only where no thread is in the middle of something, so it cannot be the user's process that forks.
This one has a single thread, runs no solver, and hands every worker over unused.

`serve` is the program of a process of its own, and ``workers`` is the other side.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import NotAcceptedError, SdpdrError
from sdpdr.solvers.processes.ends import listen
from sdpdr.solvers.screen import failure

# A message is its kind, its length, and so many bytes.
HEADER = struct.Struct("<cQ")
QUESTION, ANSWER, POSTED, DEAF, HEARING = b"?", b"=", b"*", b"-", b"+"
# What comes through a line: a byte to interrupt the worker, or to end it and to tell how it ended;
# the end of the line ends the worker.
INTERRUPT, END = b"i", b"e"
# Seconds without a worker after which the process ends, and between looks for its parent.
IDLE, _LOOK = 600.0, 5.0
# What tasks are made of, all solvers and models as they are written: 1.8 s of the processor once,
# 0.4 s more than without models, which took 0.5 s of it in every worker that was sent one.
_IMPORTED = ("cvxpy", "sdpdr.solving.attempt", "sdpdr.model.blocks", "sdpdr.graphs")
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def serve(control: socket.socket) -> NoReturn:
    """Fork a worker for every request that comes through a socket, until the socket ends."""
    # No worker looks for garbage among what is imported, which would copy all of its pages.
    gc.disable()
    for name in _IMPORTED:
        import_module(name)
    with suppress(OSError):
        os.chdir("/")
    _quiet()
    _Zygote(control).run()
    os._exit(0)


def _quiet() -> None:
    """No streams of the process that asked; what this one would say is of no interest."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


class _Zygote:
    def __init__(self, control: socket.socket) -> None:
        self._control, self._parent = control, os.getppid()
        self._pids: dict[int, int] = {}  # of workers that live, by the number of their line
        self._lines: dict[int, socket.socket] = {}
        self._unasked: set[int] = set()  # ended, but not yet reaped, and nobody wants to know
        self._awake, self._alarm = os.pipe()
        for end in (self._awake, self._alarm):
            os.set_blocking(end, False)
        self._poll = select.poll()

    def run(self) -> None:
        """Serve until nobody can ask any more, or nobody has for a long time."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._alarm, warn_on_full_buffer=False)
        for end in (self._control.fileno(), self._awake):
            self._poll.register(end, select.POLLIN)
        adopt_orphans()
        idle = Deadline(IDLE)
        while os.getppid() == self._parent:
            ready = {number for number, _ in self._poll.poll(1000.0 * _LOOK)}
            if self._awake in ready:
                with suppress(BlockingIOError):
                    os.read(self._awake, 4096)
                self._reap()
            for number in ready & set(self._lines):
                self._hear(number)
            if self._control.fileno() in ready and not self._fork():
                break
            if self._pids:
                idle = Deadline(IDLE)
            elif idle.is_over():
                break
        for pid in self._pids.values():
            end_tree(pid)

    def _fork(self) -> bool:
        """Fork a worker; False where nobody is left to ask for one."""
        message, ends, _, _ = socket.recv_fds(self._control, 1, 3)
        if not message:
            return False
        self._import(message)
        if len(ends) != 3:
            for end in ends:
                os.close(end)
            return True
        talk, line, said = ends
        here = os.getpid()
        gc.freeze()
        try:
            pid = os.fork()
        except OSError as error:
            os.write(line, f"failed: {error}\n".encode())
            for end in ends:
                os.close(end)
            return True
        if pid == 0:
            self._leave()
            os.close(line)
            _work(here, talk, said)
        os.close(talk)
        os.close(said)
        self._pids[line], self._lines[line] = pid, socket.socket(fileno=line)
        self._poll.register(line, select.POLLIN)
        self._tell(line, f"{pid}\n")
        return True

    def _import(self, name: bytes) -> None:
        """Import what the worker is to find imported; the first byte of its name has been read."""
        # Byte by byte: with the first of the next request come its descriptors.
        while not name.endswith(b"\n") and (more := self._control.recv(1)):
            name += more
        if name.strip():
            with suppress(Exception):  # told by the worker, which needs it
                import_module(name.strip().decode())

    def _leave(self) -> None:
        """Be a worker, which knows of no other."""
        gc.enable()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._control.close()
        for line in self._lines.values():
            line.close()
        os.close(self._awake)
        os.close(self._alarm)

    def _hear(self, number: int) -> None:
        """A request to interrupt or to end a worker, or the end of its line, which ends it too."""
        try:
            word = self._lines[number].recv(1)
        except ConnectionError:
            word = b""
        if word == INTERRUPT:
            os.kill(self._pids[number], signal.SIGINT)
        elif word == END:
            end_tree(self._pids[number])
        elif not word:
            end_tree(self._pids[number])
            self._unasked.add(self._forget(number))

    def _forget(self, number: int) -> int:
        self._poll.unregister(number)
        self._lines.pop(number).close()
        return self._pids.pop(number)

    def _reap(self) -> None:
        """Tell the ends of workers, and end what they have left running."""
        for number, pid in list(self._pids.items()):
            ended = _ended(pid)
            if ended is not None:
                self._tell(number, " ".join(map(str, ended)) + "\n")
                self._forget(number)
        for orphan in _children(os.getpid()):
            if orphan not in self._unasked and orphan not in self._pids.values():
                end_tree(orphan)
                self._unasked.add(orphan)
        self._unasked = {pid for pid in self._unasked if _ended(pid) is None}

    def _tell(self, number: int, words: str) -> None:
        with suppress(OSError):  # nobody wants to know
            self._lines[number].sendall(words.encode())


def _ended(pid: int) -> tuple[int, float, int] | None:
    """Exit status, seconds of the processor and most bytes of a child, and an end to its group.

    None while it lives.
    """
    try:
        done, status, used = os.wait4(pid, os.WNOHANG)
    except ChildProcessError:
        return -signal.SIGKILL, 0.0, 0
    if not done:
        return None
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    unit = 1 if sys.platform == "darwin" else 1024
    seconds, most = used.ru_utime + used.ru_stime, used.ru_maxrss * unit
    return os.waitstatus_to_exitcode(status), seconds, most


def end_tree(pid: int) -> None:
    """End a process that has not been reaped, its group, and all that it has started."""
    for one in (*_descendants(pid), pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(one, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """Children and their children, where the system tells; the group is ended in any case."""
    return [one for child in _children(pid) for one in (child, *_descendants(child))]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError, ValueError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def adopt_orphans() -> None:
    """Have the system hand over what a child leaves running, where it can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


# -- the worker -----------------------------------------------------------------------------------


def _work(parent: int, talk: int, said: int) -> NoReturn:
    """Receive a task, do it, send what it returns, and end."""
    code = 1
    try:
        os.setsid()
        end_with(parent)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.close(said)
        channel = socket.socket(fileno=talk)
        surroundings, name, task = _question(channel)
        _settle(surroundings)
        listen(
            lambda point: _send(channel, POSTED, pickle.dumps(point)),
            lambda deaf: _send(channel, DEAF if deaf else HEARING, b""),
        )
        _send(channel, ANSWER, answer(task, name))
        code = 0
    except KeyboardInterrupt:
        code = 130
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        if not isinstance(leaving.code, int | None):
            sys.stderr.write(f"{leaving.code}\n")
    except BaseException as error:
        with suppress(Exception):
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        _flush()
        os._exit(code & 0xFF)


def end_with(parent: int) -> None:
    """Have the system end this process when its parent ends, where it can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _question(channel: socket.socket) -> tuple[Mapping[str, Any], str, bytes]:
    stream = channel.makefile("rb")
    _, length = HEADER.unpack(stream.read(HEADER.size))
    surroundings, name, task = pickle.loads(stream.read(length))
    return surroundings, name, task


def _settle(surroundings: Mapping[str, Any]) -> None:
    """Take over the folder, the paths, the environment and the limits of who asks."""
    sys.path[:] = surroundings["path"]
    os.environ.clear()
    os.environ.update(surroundings["environment"])
    with suppress(OSError):
        os.chdir(surroundings["folder"])
    if surroundings["cores"] and hasattr(os, "sched_setaffinity"):
        with suppress(OSError, ValueError):
            os.sched_setaffinity(0, surroundings["cores"])
    if surroundings["threads"] is not None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(surroundings["threads"])
    import resource

    for what, (soft, hard) in surroundings["limits"].items():
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (soft, hard))


def answer(task: bytes, name: str) -> bytes:
    """What a task returns or raises, pickled."""
    try:
        return pickle.dumps(_unpickled(task, name)())
    except SdpdrError as error:
        return pickle.dumps(error)
    except Exception as error:  # Solvers are other people's code, and may raise anything.
        return pickle.dumps(failure(name, error))


def _unpickled(task: bytes, name: str) -> Callable[[], Any]:
    try:
        found: Callable[[], Any] = pickle.loads(task)
    except (AttributeError, ImportError) as error:
        raise NotAcceptedError(
            f"solver {name!r} cannot be found in another process ({error}); define it at the top "
            "level of a module that can be imported, or pass isolate=False."
        ) from error
    return found


def _send(channel: socket.socket, kind: bytes, content: bytes) -> None:
    with _held():
        channel.sendall(HEADER.pack(kind, len(content)) + content)


@contextmanager
def _held() -> Iterator[None]:
    """Have requests to end wait meanwhile: after half a message, the next would be taken for it.

    Handlers are exchanged, since a mask is that of one thread: native code has others, by which a
    signal reaches Python all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # where Python's handlers never run
        return
    held: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    handled = {number: handler for number, handler in before.items() if callable(handler)}
    try:
        for number in handled:
            signal.signal(number, lambda heard, frame: held.append(heard))
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        for heard in held:
            signal.raise_signal(heard)


def _flush() -> None:
    """Python's streams and those of C, which nobody flushes for who leaves in a hurry."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(Exception):
        ctypes.CDLL(None).fflush(None)
