"""Reports of the best point so far, and outcomes of processes that ended without an answer.

A solver runs either in the calling process, which needs no reports, or in a worker (see
`sdpdr.solvers.processes.isolate`), whose parent keeps the last point that was posted.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sdpdr.base.deadline import Deadline, in_seconds
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.solvers.base import Outcome

# Seconds between points that are made for a report, because pickling takes time.
SELDOM = 0.25

_listener: Callable[[Point], None] | None = None
_deafness: Callable[[bool], object] | None = None
_soonest = Deadline(0.0)


def post(point: Point | Callable[[], Point]) -> None:
    """Report the best point so far to the parent process; costs nothing without one.

    Parameters
    ----------
    point : Point or callable without arguments
        A point of the program that the solver was given. A callable is called only if the parent
        listens, and at most every quarter of a second.

    Examples
    --------
    >>> post(Point())  # in no worker, without effect
    """
    global _soonest
    if _listener is None:
        return
    if callable(point):
        if not _soonest.is_over():
            return
        point = point()
        _soonest = Deadline(SELDOM)
    _listener(point)


def listen(
    listener: Callable[[Point], None] | None, deafness: Callable[[bool], object] | None = None
) -> None:
    """Pass posted points to a function, which makes this process a worker; None ends that.

    Parameters
    ----------
    listener : callable or None
    deafness : callable, optional
        Called with True when the process becomes `deaf`, and with False when it no longer is.
    """
    global _listener, _deafness
    _listener, _deafness = listener, deafness


def is_worker() -> bool:
    """Whether this process is a worker, so that its crash does no harm."""
    return _listener is not None


@contextmanager
def deaf() -> Iterator[None]:
    """In a worker, ignore interrupts while native code runs, which does not react to them.

    The interrupt would be raised when the native code returns, and destroy its answer.
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


# Bytes of the output of a process that are read; its end explains a crash.
_KEPT_BYTES = 100_000


def last_said(path: Path) -> str:
    """The end of the output of a process, which may be large."""
    with open(path, "rb") as stream:
        stream.seek(max(0, path.stat().st_size - _KEPT_BYTES))
        return stream.read().decode("utf-8", errors="replace")


def stopped(
    name: str, time_limit: float | None, offer: str = "it had no point to offer"
) -> Outcome:
    """The outcome of a process that was ended because its time was up.

    Examples
    --------
    >>> stopped("scs", 2.0).claim.message
    'scs was stopped after 2 s; it had no point to offer'
    """
    words = f"{name} was stopped after {in_seconds(time_limit)} s; {offer}"
    seconds = {"compile": 0.0, "solve": float(time_limit or 0.0)}
    return Outcome(Point(), Verdict.TIME_LIMIT, Claim("killed", message=words), seconds)


def failed(name: str, status: str, what: str) -> Outcome:
    """The outcome of a process that failed for a reason outside of the solver.

    Examples
    --------
    >>> failed("scs", "no worker", "could not be run").claim.message
    'scs could not be run'
    """
    return Outcome(Point(), Verdict.FAILED, Claim(status, message=f"{name} {what}"))


def crash_claim(name: str, code: int, said: str) -> Claim:
    """The claim of a process that ended without an answer.

    Examples
    --------
    >>> crash_claim("sdpa", 0, "").message
    'sdpa crashed: its process ended with exit status 0 and without an answer.'
    """
    last = (said.strip().splitlines() or [""])[-1]
    if is_starved(said):
        return Claim("out of memory", message=starved_words(name, last))
    if code >= 0:
        words = f"{name} crashed: its process ended with exit status {code} and without an answer."
        return Claim("crashed", message=f"{words} {last}".strip())
    known = {number.value: number.name for number in signal.Signals}
    killer = known.get(-code, f"signal {-code}")
    words = f"{name} crashed: its process was ended by {killer}."
    if killer == "SIGKILL":
        words += " Systems end processes so when memory runs out; it may not have fitted in."
    return Claim("crashed", message=f"{words} {last}".strip())


# Messages of Python, C++, Rust and PARDISO if memory runs out.
_SIGNS = (
    "MemoryError",
    "bad_alloc",
    "memory allocation of",
    "annot allocate memory",
    "ut of memory",
    "not enough memory",
    "nsufficient memory",
)


def is_starved(words: str) -> bool:
    """Whether the message of an error, or the output of a process, reports a lack of memory.

    Examples
    --------
    >>> is_starved("terminate called after throwing an instance of 'std::bad_alloc'")
    True
    >>> is_starved("memory of former failures")
    False
    """
    return any(sign in words for sign in _SIGNS)


def starved_words(name: str, detail: str = "") -> str:
    """The message if a solver runs out of memory, with advice.

    Examples
    --------
    >>> starved_words("scs").split(".")[0]
    'scs did not fit into memory'
    """
    sparing = "" if name == "lowrank" else "solver 'lowrank', "
    words = (
        f"{name} did not fit into memory. Use {sparing}fewer points or neighbours, "
        'landmarks (form="landmark"), or more memory.'
    )
    return f"{words} ({detail})" if detail else words


# Files with the memory limit of a container, for versions 2 and 1 of control groups. Without a
# limit they contain "max", or a number larger than any memory.
_SHARES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def allowed_memory() -> float:
    """Bytes that a process may take at most, including those that other processes use now.

    It is the least of the limits of the machine, of the container and of the process. Free memory
    is not considered, because it changes all the time and a plan should not.

    Examples
    --------
    >>> allowed_memory() > 0.0
    True
    """
    limits = [float("inf")]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES"))
    for share in _SHARES:
        with suppress(OSError, ValueError):
            limits.append(float(int(share.read_text())))
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # Only POSIX has it.
        return min(limits)
    soft = getrlimit(RLIMIT_AS)[0]
    return min([*limits, *([] if soft == RLIM_INFINITY else [float(soft)])])
