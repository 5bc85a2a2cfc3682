"""Progress of work: a line on the terminal, elsewhere nothing; and a log for interruptions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from enum import Enum
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

if TYPE_CHECKING:
    from rich.status import Status

Progress: TypeAlias = Callable[[Mapping[str, Any]], None]
Count: TypeAlias = Callable[[int], None]


class Advised(Enum):
    """Base of statuses, whose values are advice: what the status means and what to do."""

    @property
    def advice(self) -> str:
        """The meaning of the status, and advice."""
        return str(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


def has_terminal(stream: TextIO | None = None) -> bool:
    """Whether a stream, by default standard error, is a terminal; a daemon has no streams."""
    stream = sys.stderr if stream is None else stream
    return stream is not None and stream.isatty()


class Log:
    """The work at hand, for the message after an interruption, and the line that shows it.

    Examples
    --------
    >>> with Log() as log, show_count(None, "reading", 4) as count:
    ...     count(3)
    ...     log.doing.partition(",")[0]
    'reading: 75 %'
    """

    def __init__(self) -> None:
        self.doing = ""
        self.line: Status | None = None

    def now(self, words: str) -> None:
        """Note and show the work that begins."""
        self.doing = words
        if self.line is not None:
            self.line.update(words)

    def __enter__(self) -> Log:
        self._token = _LOG.set(self)
        return self

    def __exit__(self, *raised: object) -> None:
        _LOG.reset(self._token)


_LOG: ContextVar[Log | None] = ContextVar("the log of the work at hand", default=None)


def enter_phase(words: str) -> None:
    """Note in the log, if there is one, the work that begins."""
    log = _LOG.get()
    if log is not None:
        log.now(words)


@contextmanager
def show_phase(
    progress: Progress | bool | None, words: str
) -> Iterator[Callable[[str], None] | None]:
    """Yield a function that shows or notes the work at hand; None if nothing is to be shown.

    A callable follows iterations, and no words; True and False force the display; by default it
    shows on a terminal only, and the log notes it.
    """
    progress = False if callable(progress) else progress
    log = None if progress is False else _LOG.get()
    shown = has_terminal() if progress is None else progress
    if shown and log is None:
        log = Log()
    token = _LOG.set(log)
    try:
        if log is None:
            yield None
            return
        before, line = log.doing, log.line
        log.now(words)
        opened = shown and line is None
        with _line(words) if opened else nullcontext(line) as log.line:
            try:
                yield log.now
            finally:
                log.line = line
        # After an exception they stay, for the message about the interruption.
        log.now(before)
    finally:
        _LOG.reset(token)


def _line(words: str) -> AbstractContextManager[Status | None]:
    """The line on the terminal; none without rich, which alone can draw it."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return nullcontext()
    return Console(stderr=True).status(words)


@contextmanager
def show_progress(progress: Progress | bool | None, what: str) -> Iterator[Progress | None]:
    """Yield a function to report iterations to, or None.

    A callable is passed on; for all else see `show_phase`.
    """
    with show_phase(progress, f"solving: {what}") as show:
        proved = ""

        def report(record: Mapping[str, Any]) -> None:
            nonlocal proved
            if record.get("bound") is not None:
                gap = record.get("gap")
                proved = f", bound {record['bound']:.6g}"
                proved += "" if gap is None else f", gap {gap:.1e}"
            assert show is not None
            show(
                f"solving: {what}, iteration {record['iteration']}, "
                f"value {record['value']:.6g}{proved}, {record['seconds']:.1f} s"
            )

        yield progress if callable(progress) else report if show is not None else None


@contextmanager
def show_count(progress: Progress | bool | None, what: str, total: int) -> Iterator[Count]:
    """Yield a function to call with the number of further pieces of work that are done.

    A callable receives records with the keys ``what``, ``done``, ``total`` and ``seconds``.

    Examples
    --------
    >>> with show_count(lambda record: print(record["done"], "of", record["total"]), "x", 5) as add:
    ...     add(2)
    ...     add(3)
    2 of 5
    5 of 5
    """
    begin, done = monotonic(), 0
    with show_phase(progress, what) as show:

        def count(more: int) -> None:
            nonlocal done
            done += more
            seconds = monotonic() - begin
            if callable(progress):
                progress({"what": what, "done": done, "total": total, "seconds": seconds})
            elif show is not None:
                show(f"{what}: {100 * done // max(total, 1)} %, {seconds:.1f} s")

        yield count
