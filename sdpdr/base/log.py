"""What a command is doing, for whoever interrupts it, and where nobody looks, in lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from threading import Event, Thread
from typing import TextIO

from sdpdr.base.deadline import Deadline


def has_terminal(stream: TextIO | None = None) -> bool:
    """Whether somebody is looking: at a stream, or at the errors of this process.

    A daemon has no streams at all.
    """
    stream = sys.stderr if stream is None else stream
    return stream is not None and stream.isatty()


class Log:
    """What a command is doing: for whoever interrupts it, and where nobody looks, in lines.

    Parameters
    ----------
    write : callable, optional
        Is given a line now and then, from a thread of its own, so that native code that calls
        nobody is told of as well; without one nothing is written.
    foretold : callable, optional
        Is given what is about to be done, the seconds that it is predicted to take, and seconds
        and memory in words.
    every : float, default 5
        Seconds between lines at first; of long work, a twentieth of the time spent.

    Examples
    --------
    >>> from sdpdr.base.progress import show_count
    >>> with Log() as log, show_count(None, "reading", 4) as count:
    ...     count(3)
    ...     log.doing.partition(",")[0]
    'reading: 75 %'
    """

    def __init__(
        self,
        write: Callable[[str], object] | None = None,
        foretold: Callable[[str, float, str], object] | None = None,
        every: float = 5.0,
    ) -> None:
        self.doing, self.foretold = "", foretold
        self._write, self._every, self._clock = write, every, Deadline()
        self._over = Event()

    def now(self, words: str) -> None:
        """What is done from here on."""
        self.doing = words

    def __enter__(self) -> Log:
        self._token = LOG.set(self)
        self._clock = Deadline()
        if self._write is not None:
            Thread(target=self._lines, daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        LOG.reset(self._token)

    def _lines(self) -> None:
        assert self._write is not None
        while not self._over.wait(max(self._every, self._clock.spent / 20.0)):
            if self.doing:
                self._write(f"{self._clock.spent:.0f} s: {self.doing}")


LOG: ContextVar[Log | None] = ContextVar("the log of a command", default=None)


def working(words: str) -> None:
    """Tell the log, if there is one, what is done from here on."""
    log = LOG.get()
    if log is not None:
        log.now(words)


def foretell(what: str, seconds: float, words: str) -> None:
    """Tell the log, if there is one, what is about to be done and what it is predicted to take."""
    log = LOG.get()
    if log is not None and log.foretold is not None:
        log.foretold(what, seconds, words)
