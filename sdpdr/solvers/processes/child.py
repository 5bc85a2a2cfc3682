"""The worker's side: settle into the caller's surroundings, run the task, send messages.

A message is one byte for its kind, followed by its content: `ANSWER` and `POSTED` are pickles;
`DEAF` and `HEARING` say whether native code runs that cannot be interrupted.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from sdpdr.base.errors import NotAcceptedError, SdpdrError
from sdpdr.solvers.processes.ends import listen
from sdpdr.solvers.screen import failure

ANSWER, POSTED, DEAF, HEARING = b"=", b"*", b"-", b"+"
_PR_SET_PDEATHSIG = 1


def surroundings() -> dict[str, Any]:
    """Return what a worker takes over from this process besides its folder and module path."""
    import resource

    known = [getattr(resource, f"RLIMIT_{name}", None) for name in ("AS", "DATA", "FSIZE")]
    has_cores = hasattr(os, "sched_getaffinity")
    return {
        "environment": dict(os.environ),
        "cores": os.sched_getaffinity(0) if has_cores else None,
        "threads": _threads(),
        "limits": {one: resource.getrlimit(one) for one in known if one is not None},
    }


def _threads() -> int:
    """Threads that native code of this process may use."""
    for name in ("OPENBLAS", "OMP"):
        given = os.environ.get(f"{name}_NUM_THREADS", "").partition(",")[0].strip()
        if given.isdigit() and int(given) > 0:
            return int(given)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return cores or 1


def work(channel: Connection, printed: Connection, parent: int, question: bytes) -> None:
    """Run a task in this process, send what it returns or raises, and end the process."""
    code = 1
    try:
        os.setsid()
        _end_with(parent)
        for stream in (1, 2):
            os.dup2(printed.fileno(), stream)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        around, name, task = pickle.loads(question)
        _settle(around)
        listen(
            lambda point: _send(channel, POSTED, pickle.dumps(point)),
            lambda is_deaf: _send(channel, DEAF if is_deaf else HEARING),
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


def _end_with(parent: int) -> None:
    """Have the system end this process when the fork server ends, where it can do that.

    The server ends with the last process that holds its descriptor, which must be the caller alone.
    """
    from multiprocessing import forkserver

    held: Any = forkserver._forkserver
    if held._forkserver_alive_fd is not None:
        os.close(held._forkserver_alive_fd)
        held._forkserver_alive_fd = None
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _settle(around: Mapping[str, Any]) -> None:
    """Take over the environment and the limits of the caller."""
    os.environ.clear()
    os.environ.update(around["environment"])
    if around["cores"] and hasattr(os, "sched_setaffinity"):
        with suppress(OSError, ValueError):
            os.sched_setaffinity(0, around["cores"])
    from threadpoolctl import threadpool_limits

    threadpool_limits(around["threads"])
    import resource

    for what, (soft, hard) in around["limits"].items():
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (soft, hard))


def answer(task: bytes, name: str) -> bytes:
    """Return what a pickled task returns or raises, pickled."""
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


def _send(channel: Connection, kind: bytes, content: bytes = b"") -> None:
    with uninterrupted(), suppress(OSError):  # the caller may be gone
        channel.send_bytes(kind + content)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay signals until the block ends: half a message would spoil the next one.

    Handlers are exchanged, because a mask belongs to one thread: native code has others, through
    which a signal still reaches Python.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python runs no handlers there
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
    """Flush the streams of Python and of C, which `os._exit` would drop."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(Exception):
        ctypes.CDLL(None).fflush(None)
