"""The best point so far, handed to whoever waits, so that a solver that is ended loses nothing.

A solver runs either in the process that asked, where nobody listens here, or in a worker (see
`sdpdr.solvers.processes.isolate`), whose parent keeps what was posted last.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sdpdr.program.point import Point

# Seconds between points that are made for the purpose; to pickle one takes time.
SELDOM = 0.25

_listener: Callable[[Point], None] | None = None
_deafness: Callable[[bool], object] | None = None
_last = -float("inf")


def post(point: Point | Callable[[], Point]) -> None:
    """Hand over the best point so far; costs nothing where nobody listens.

    Parameters
    ----------
    point : Point or callable without arguments
        Of the program that the solver was given. A callable is called only where somebody
        listens, and at most every quarter of a second.

    Examples
    --------
    >>> post(Point())  # nobody listens
    """
    global _last
    if _listener is None:
        return
    if callable(point):
        if time.monotonic() - _last < SELDOM:
            return
        point = point()
        _last = time.monotonic()
    _listener(point)


def listen(
    listener: Callable[[Point], None] | None, deafness: Callable[[bool], object] | None = None
) -> None:
    """Have posted points given to a function; None ends that. This process is then a worker.

    Parameters
    ----------
    listener : callable or None
    deafness : callable, optional
        Told when the process becomes `deaf`, and when it is no more.
    """
    global _listener, _deafness
    _listener, _deafness = listener, deafness


def is_worker() -> bool:
    """Whether this process is a worker, which may crash and hurt nobody."""
    return _listener is not None


@contextmanager
def deaf() -> Iterator[None]:
    """In a worker, be deaf to requests to end while native code runs that makes nothing of them.

    The request would be heard when the native code returns, and destroy the answer just found.
    """
    if not is_worker() or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _deafness is not None:
        _deafness(True)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if _deafness is not None:
            _deafness(False)
