"""Numbers and names of rows and columns in messages, as the user counts them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Index

# Rows that a message names; if there are more, it has the line of the first only.
_MANY = 8


@dataclass(frozen=True)
class _Calling:
    """How messages name rows and columns: by numbers, or by those given here.

    Rows of a file are counted from one; in a file of text they have ``lines`` as well.
    """

    is_file: bool = False
    lines: Index | None = None
    rows: Index | None = None
    columns: Sequence[str] = ()
    labels: Sequence[object] = ()


_AS_PASSED = _Calling()
_CALLING = ContextVar("how messages name rows and columns", default=_AS_PASSED)


@contextmanager
def _called(how: _Calling) -> Iterator[None]:
    token = _CALLING.set(how)
    try:
        yield
    finally:
        _CALLING.reset(token)


def rows_of_file(
    lines: Index | None = None, columns: Sequence[str] = ()
) -> AbstractContextManager[None]:
    """Let messages count rows from one, with the lines of a file of text that hold them."""
    return _called(_Calling(True, lines, None, columns))


def is_frame(X: object, *others: str) -> TypeGuard[Any]:
    """Whether it is a frame of pandas, or one of other kinds of pandas.

    If pandas is not imported, X is none; the import would take longer than a small solve.
    """
    pandas = sys.modules.get("pandas")
    kinds = ("DataFrame", *others)
    return pandas is not None and isinstance(X, tuple(getattr(pandas, kind) for kind in kinds))


def rows_like(X: object) -> AbstractContextManager[None]:
    """Let messages name rows of a frame by its index, unless that only counts them."""
    how = _CALLING.get()
    if not is_frame(X, "Series"):
        return _called(how)
    counts = X.index.equals(sys.modules["pandas"].RangeIndex(len(X)))
    return _called(how if counts else replace(how, labels=list(X.index)))


def rows_of(sample: Index) -> AbstractContextManager[None]:
    """Let messages about a sample number rows as in the data that it was drawn from."""
    how = _CALLING.get()
    return _called(replace(how, rows=sample if how.rows is None else how.rows[sample]))


def numbered(rows: ArrayLike) -> str:
    """Return rows for a message, by the numbers or labels that the user gave them."""
    how, found = _CALLING.get(), np.atleast_1d(rows)
    rows = found if how.rows is None else how.rows[found]
    if how.labels:
        return listed([repr(how.labels[k]) for k in rows])
    if not how.is_file:
        return listed(rows)
    if how.lines is None:
        return f"{listed(rows + 1)} (counted from 1)"
    if len(rows) > _MANY:
        return f"{listed(rows + 1)}, the first in line {how.lines[rows[0]]}"
    return f"{listed(rows + 1)} (line{'s' * (len(rows) > 1)} {listed(how.lines[rows])})"


def entry(i: ArrayLike, j: ArrayLike) -> str:
    """Return an entry of a square matrix D for a message, by row and column as the user has it."""
    if not _CALLING.get().is_file:
        return f"D[{numbered(np.hstack([i, j]))}]"
    return f"row {numbered(i)}, column {numbered(j).partition(' (')[0]}"


def named(columns: Index, X: object) -> str:
    """Return columns for a message, by name if they have any, else by number."""
    names = list(getattr(X, "columns", _CALLING.get().columns))
    return listed([repr(names[k]) for k in columns]) if names else listed(columns)


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the singular or plural."""
    if n == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{n} {noun[:-1]}ies"
    return f"{n} {noun}es" if noun.endswith(("s", "x")) else f"{n} {noun}s"


def enumerated(names: Iterable[str], most: int | None = None) -> str:
    """Return names as they are listed in a sentence, the last of ``most`` for those left out.

    Examples
    --------
    >>> enumerated(["a"]), enumerated("abc"), enumerated("abcdef", most=3)
    ('a', 'a, b and c', 'a, b and 4 more')
    """
    shown = list(names)
    if most is not None and len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def listed(indices: ArrayLike | Sequence[str], limit: int = _MANY) -> str:
    """Return the first few indices for a message: ``"0, 1, 2, ... (30 in all)"``."""
    numbers = np.asarray(indices).tolist()
    head = ", ".join(str(number) for number in numbers[:limit])
    return head if len(numbers) <= limit else f"{head}, ... ({len(numbers)} in all)"
