"""Keep output of native code and warnings of cvxpy from the user."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from sdpdr.solvers.processes.ends import deaf

# Whose warnings our own grading replaces; those of other modules pass, whichever thread warns.
_THEIRS = r"(sdpdr\.solvers|cvxpy|cvxopt|scs|clarabel|sdpap|scipy|numpy)(\.|$)"


@contextmanager
def silence() -> Iterator[None]:
    """Send the process's standard output to nowhere while the block runs.

    SCS prints one message from C whatever its options are, which
    ``contextlib.redirect_stdout`` does not reach; so the file descriptor itself is redirected and
    put back. The descriptor belongs to all threads: where there are several, nothing is done,
    since what the others print is worth more than what is kept out.
    """
    if threading.active_count() > 1:
        yield
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    try:
        saved = os.dup(1)
    except OSError:  # there is no standard output, as in a daemon
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)


@contextmanager
def undisturbed(verbose: bool) -> Iterator[None]:
    """Run native code, with signals to end held back, and without output unless verbose."""
    with deaf(), nullcontext() if verbose else silence():
        yield


_lock = threading.Lock()
_inside, _saved = 0, warnings.catch_warnings()


@contextmanager
def quiet() -> Iterator[None]:
    """Keep cvxpy and the solvers below it from warning, in any number of threads.

    Filters of warnings belong to all threads. The first thread in sets them and the last one out
    puts them back; were each to put back what it had found, the filters could stay.
    """
    if getattr(sys.flags, "context_aware_warnings", False):  # each thread has its own
        with warnings.catch_warnings():
            _ignore()
            yield
        return
    _enter()
    try:
        yield
    finally:
        _leave()


def _ignore() -> None:
    for category in (UserWarning, RuntimeWarning):
        warnings.filterwarnings("ignore", category=category, module=_THEIRS)


def _enter() -> None:
    global _inside, _saved
    with _lock:
        _inside += 1
        if _inside == 1:
            _saved = warnings.catch_warnings()
            _saved.__enter__()
            _ignore()


def _leave() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if _inside == 0:
            _saved.__exit__(None, None, None)


def _begin_again() -> None:
    """In a forked process no other thread is inside, nor holds the lock."""
    global _lock, _inside
    _lock = threading.Lock()
    if _inside:
        _inside = 0
        _saved.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
