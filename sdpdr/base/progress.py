"""Progress of long work: a line on the terminal that updates itself, and nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from math import inf
from time import perf_counter
from typing import Any, TextIO, TypeAlias

from rich.console import Console

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


class Deadline:
    """What is spent of a number of seconds, and what is left; without a number nothing ends.

    Examples
    --------
    >>> Deadline(None).left(), Deadline(0.0).is_over()
    (None, True)
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds, self._begin = inf if seconds is None else seconds, perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since it was made."""
        return perf_counter() - self._begin

    def left(self, at_most: float = inf) -> float | None:
        """Seconds left, no more than so many; None for any number."""
        seconds = min(max(0.0, self._seconds - self.spent), at_most)
        return None if seconds == inf else seconds

    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self.left() == 0.0


def has_terminal(stream: TextIO | None = None) -> bool:
    """Whether somebody is looking: at a stream, or at the errors of this process.

    A daemon has no streams at all.
    """
    stream = sys.stderr if stream is None else stream
    return stream is not None and stream.isatty()


@contextmanager
def show_progress(progress: Progress | bool | None, what: str) -> Iterator[Progress | None]:
    """Yield a function to report iterations to.

    Parameters
    ----------
    progress : bool or callable, optional
        A callable is passed on; True and False force the display; by default it shows on a
        terminal only.
    what : str
        What is being done.
    """
    if callable(progress):
        yield progress
        return
    wanted = has_terminal() if progress is None else progress
    if not wanted:
        yield None
        return
    console = Console(stderr=True)
    with console.status(f"solving: {what}") as status:
        proved = ""

        def report(record: Mapping[str, Any]) -> None:
            nonlocal proved
            if record.get("bound") is not None:
                proved = f", bound {record['bound']:.6g}"
                if record.get("gap") is not None:
                    proved += f", gap {record['gap']:.1e}"
            status.update(
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
    start, done = perf_counter(), 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if report is not None:
            seconds = perf_counter() - start
            report({"what": what, "done": done, "total": total, "seconds": seconds})

    if callable(progress) or not (has_terminal() if progress is None else progress):
        report = progress if callable(progress) else None
        yield count
        return
    with Console(stderr=True).status(what) as status:

        def report(record: Mapping[str, Any]) -> None:
            status.update(f"{what}: {100 * done // total} %, {record['seconds']:.1f} s")

        yield count
