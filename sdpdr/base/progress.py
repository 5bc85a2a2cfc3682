"""Progress of work: a line on the terminal, elsewhere nothing.

A command opens a `Log`, so that an interruption can say what was going on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import partial
from typing import Any, TextIO, TypeAlias

from rich.console import Console

from sdpdr.base.deadline import Deadline

Progress: TypeAlias = Callable[[Mapping[str, Any]], None]
Count: TypeAlias = Callable[[int], None]


class Advised(Enum):
    """Base of statuses, whose members say in words what they mean and what to do."""

    @property
    def advice(self) -> str:
        """What the status means and what to do."""
        return str(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


def has_terminal(stream: TextIO | None = None) -> bool:
    """Whether somebody is looking: at a stream, or at the errors of this process.

    A daemon has no streams at all.
    """
    stream = sys.stderr if stream is None else stream
    return stream is not None and stream.isatty()


class Log:
    """What a command is doing, for the message after an interruption.

    Examples
    --------
    >>> with Log() as log, show_count(None, "reading", 4) as count:
    ...     count(3)
    ...     log.doing.partition(",")[0]
    'reading: 75 %'
    """

    def __init__(self) -> None:
        self.doing = ""

    def now(self, words: str) -> None:
        """Note what is done from here on."""
        self.doing = words

    def __enter__(self) -> Log:
        self._token = _LOG.set(self)
        return self

    def __exit__(self, *raised: object) -> None:
        _LOG.reset(self._token)


_LOG: ContextVar[Log | None] = ContextVar("the log of a command", default=None)
# What shows the words of the solve that is being carried out, if anything does.
_SHOW: ContextVar[Callable[[str], None] | None] = ContextVar("what shows words", default=None)


def working(words: str) -> None:
    """Tell the log, if there is one, what is done from here on."""
    log = _LOG.get()
    if log is not None:
        log.now(words)


@contextmanager
def _display(progress: bool | None, words: str) -> Iterator[Callable[[str], None] | None]:
    """Where words about work go that is being done: terminal, log, or nowhere, which is None."""
    log = None if progress is False else _LOG.get()
    log = Log() if log is None else log
    before = log.doing
    log.now(words)
    if has_terminal() if progress is None else progress:
        with Console(stderr=True).status(words) as status:

            def show(latest: str) -> None:
                status.update(latest)
                log.now(latest)

            yield show
    else:
        yield log.now if log is _LOG.get() else None
    # After an exception the words stay, to tell what was interrupted.
    log.now(before)


@contextmanager
def _shown_by(show: Callable[[str], None] | None) -> Iterator[None]:
    """Let further phases of a solve be told to whoever shows its progress."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


def enter_phase(words: str) -> None:
    """Tell whoever shows the progress of the solve at hand what is done from here on.

    Examples
    --------
    >>> with Log() as log, show_progress(None, "lowrank"):
    ...     print(log.doing)
    ...     enter_phase("proving: what lowrank found")
    ...     print(log.doing)
    solving: lowrank
    proving: what lowrank found
    """
    show = _SHOW.get()
    if show is not None:
        show(words)


@contextmanager
def show_progress(progress: Progress | bool | None, what: str) -> Iterator[Progress | None]:
    """Yield a function to report iterations to.

    Parameters
    ----------
    progress : bool or callable, optional
        A callable is passed on; True and False force the display; by default it shows on a
        terminal only, and a log notes it.
    what : str
        What is being done.
    """
    if callable(progress):
        with _shown_by(None):
            yield progress
        return
    with _display(progress, f"solving: {what}") as show, _shown_by(show):
        if show is None:
            yield None
            return
        proved = ""

        def report(record: Mapping[str, Any]) -> None:
            nonlocal proved
            if record.get("bound") is not None:
                proved = f", bound {record['bound']:.6g}"
                if record.get("gap") is not None:
                    proved += f", gap {record['gap']:.1e}"
            show(
                f"solving: {what}, iteration {record['iteration']}, "
                f"value {record['value']:.6g}{proved}, {record['seconds']:.1f} s"
            )

        yield report


@contextmanager
def show_count(progress: Progress | bool | None, what: str, total: int) -> Iterator[Count]:
    """Yield a function to be told how many more pieces of the work are done.

    Parameters
    ----------
    progress : bool or callable, optional
        As for `show_progress`; a callable receives records with the keys ``what``, ``done``,
        ``total`` and ``seconds``.
    what : str
        What is being done.
    total : int
        How many pieces there are.

    Examples
    --------
    >>> with show_count(lambda record: print(record["done"], "of", record["total"]), "x", 5) as add:
    ...     add(2)
    ...     add(3)
    2 of 5
    5 of 5
    """
    clock, done = Deadline(), 0
    report: Progress | None = progress if callable(progress) else None

    def count(more: int) -> None:
        nonlocal done
        done += more
        if report is not None:
            report({"what": what, "done": done, "total": total, "seconds": clock.spent})

    if callable(progress):
        yield count
        return
    with _display(progress, what) as show:
        report = None if show is None else partial(_show_share, show)
        yield count


def _show_share(show: Callable[[str], None], record: Mapping[str, Any]) -> None:
    share = 100 * record["done"] // max(record["total"], 1)
    show(f"{record['what']}: {share} %, {record['seconds']:.1f} s")
