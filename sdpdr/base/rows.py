"""Rows of data by their numbers: in words of messages, and in columns that only count them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.errors import RowNumbersWarning

# What pandas calls a column without a name, which is where it writes its index.
_UNNAMED = "Unnamed: "
# Fewer rows may be counted by chance, by a column that has a name.
_COUNTED = 10

_FIRST_ROW = ContextVar("number of the first row", default=0)


@contextmanager
def rows_from(first: int) -> Iterator[None]:
    """Messages number rows of data from here on; the rows of a file are counted from one.

    Examples
    --------
    >>> with rows_from(1):
    ...     numbered([0, 4])
    '1, 5'
    """
    token = _FIRST_ROW.set(first)
    try:
        yield
    finally:
        _FIRST_ROW.reset(token)


def numbered(rows: ArrayLike) -> str:
    """Rows of data in words, by the numbers that whoever passed them counts with."""
    return listed(np.atleast_1d(rows) + _FIRST_ROW.get())


def listed(indices: ArrayLike, limit: int = 8) -> str:
    """First few indices in words: ``"0, 1, 2, ... (30 in all)"``."""
    numbers = np.asarray(indices).tolist()
    head = ", ".join(str(number) for number in numbers[:limit])
    return head if len(numbers) <= limit else f"{head}, ... ({len(numbers)} in all)"


def counts_rows(name: object, column: ArrayLike) -> bool:
    """Whether a column of whole numbers is 0, ..., n - 1 or 1, ..., n, and not by chance.

    Examples
    --------
    >>> counts_rows("t", np.arange(1, 21)), counts_rows("t", [0, 1, 2])
    (True, False)
    >>> counts_rows("Unnamed: 0", [0, 1, 2]), counts_rows("Unnamed: 0", [0, 2, 1])
    (True, False)
    """
    entries = np.asarray(column)
    n = len(entries)
    least = 2 if str(name).startswith(_UNNAMED) else _COUNTED
    if n < least or entries.dtype.kind not in "iu" or entries[0] not in (0, 1):
        return False
    return bool(np.array_equal(entries - entries[0], np.arange(n)))


def warn_of_row_numbers(X: Any) -> None:
    """Warn of columns of a data frame that count its rows.

    Warns
    -----
    RowNumbersWarning
        Naming them. Frames of one column, and arrays, whose columns have no names, pass.

    Examples
    --------
    >>> import pandas, warnings
    >>> frame = pandas.DataFrame({"Unnamed: 0": range(20), "x": np.cos(range(20))})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_row_numbers(frame)
    >>> print(str(caught[0].message).partition(",")[0])
    column 'Unnamed: 0' counts the rows
    """
    columns = getattr(X, "columns", ())
    if len(columns) < 2 or len(set(columns)) < len(columns):
        return
    for name in columns:
        if counts_rows(name, X[name]):
            warn(
                f"column {name!r} counts the rows, and is taken for a coordinate. Leave it out "
                f"with X.drop(columns={name!r}) or pandas.read_csv(FILE, index_col={name!r}); if "
                "it is a coordinate, pass X.to_numpy().",
                RowNumbersWarning,
                stacklevel=3,
            )
