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
import socket
import subprocess
import sys
import threading
import weakref
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from sdpdr.base.files import occupy_standard
from sdpdr.solvers.processes.worker import CHUNK, Worker, WorkerLost
from sdpdr.solvers.processes.zygote import serve


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


THREADED = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; import socket; "
    "from sdpdr.solvers.processes.zygote import serve; serve(socket.socket(fileno={number}))"
)

POSSIBLE = all(hasattr(os, name) for name in ("fork", "killpg")) and hasattr(socket, "recv_fds")


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
            with _lock:
                worker = Worker(control, needs)
                _alive.add(worker)
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
        while more := os.read(_stderr, CHUNK):
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
