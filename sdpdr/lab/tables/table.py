"""A table as read from a file: a frame of text or numbers, with strict conversion to numbers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.base.arrays import ALLOWED, Array, Index, is_admissible, is_written_admissibly
from sdpdr.base.columns import UNNAMED
from sdpdr.base.errors import DataTypeError, FileFormatError, UnknownNameError

MISSING = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a", "#na", "(null)", "\\n"}
)
"""Texts that other programs write for missing values, in lower case."""
# Numbers with thousands separators, percent or currency signs, which are refused with advice.
_NUMBER_LIKE = re.compile(
    r"[-+\u2212]?[$€£]?(?:\d{1,3}(?:[.,'\u2019\s]\d{3})+(?:[.,]\d*)?|\d+(?:[.,]\d*)?|[.,]\d+)"
    r"(?:[eE][-+]?\d+)?\s?[%$€£]?"
)
# Texts that often stand for a missing value but may also mean something else.
_SEEMS_MISSING = re.compile(r"[^\w\s]{1,3}|[nk][./]?[ad]\.?|missing|unknown", re.IGNORECASE)
LABEL_NAMES = re.compile(
    r"labels?|class|target|category|species|cluster|group|name|klasse|gruppe|classe|groupe",
    re.IGNORECASE,
)
"""Names of columns whose whole numbers are labels, not quantities."""
_TRUTHS = {"true": 1.0, "false": 0.0}
# Up to this many lines of bad cells are listed.
_LISTED_LINES = 4


@dataclass(frozen=True)
class ReadOptions:
    """The format of a table as far as the user gives it; see `sdpdr embed --help`."""

    header: str = "auto"
    sep: str | None = None
    decimal: str | None = None
    drop_lines: tuple[int, ...] = ()
    na_values: tuple[str, ...] = ()
    key: str | None = None


def default_names(n: int) -> list[str]:
    """Return names of columns or points that have none: ``"1"``, ``"2"``, ..."""
    return [str(k + 1) for k in range(n)]


def is_missing(cell: object) -> bool:
    """Return whether a cell of text holds no value."""
    return not isinstance(cell, str) or cell.lower() in MISSING


def looks_like_number(cell: str) -> bool:
    """Return whether a cell is a number in some notation: with thousands, percent or money."""
    return _NUMBER_LIKE.fullmatch(cell) is not None


def plain(cell: str, decimal: str | None) -> str:
    r"""Return a number as Python writes it; empty if a point stands beside decimal commas.

    Examples
    --------
    >>> plain("\u22121,5", ","), plain("1.250,5", ",")
    ('-1.5', '')
    """
    text = cell.replace("\u2212", "-")
    if decimal != ",":
        return text
    return "" if "." in text else text.replace(",", ".")


def number(cell: str, decimal: str | None) -> float | None:
    """Return a cell as a number; None if it is none with this decimal mark."""
    try:
        # Python reads 1_5 as fifteen; in a file it is a mistake.
        return None if "_" in cell else float(plain(cell, decimal))
    except ValueError:
        return None


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of a file, text where the file holds text.

    The index of ``frame`` counts the rows of the file from 0; ``lines`` has the line of a text file
    on which each begins. ``named`` says whether the file names its columns, which are called "1",
    "2", ... otherwise; ``remarks`` how it was read; ``row_names`` which columns name rows.
    """

    file: str
    frame: pd.DataFrame
    lines: Index | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    named: bool = True
    remarks: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()
    _parsed: dict[str, tuple[Array, list[int]]] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.frame.columns)

    @property
    def index(self) -> list[str]:
        """First columns without a name, where other programs write numbers or names of rows."""
        return list(takewhile(UNNAMED.fullmatch, self.columns))

    def place(self, row: int) -> str:
        """Return where a row of this table stands: its line, or its number in another file."""
        k = int(self.frame.index[row])
        return f"row {k + 1}" if self.lines is None else f"line {self.lines[k]}"

    def require(self, names: Sequence[str]) -> None:
        """Refuse names of columns that the table does not have, offering the nearest."""
        for name in names:
            if name not in self.frame:
                raise UnknownNameError("column", name, [known or "''" for known in self.columns])

    def rows(self, kept: np.ndarray) -> Table:
        """Return the table of some rows, by a mask."""
        return replace(self, frame=self.frame[kept])

    def missing(self, *names: str) -> np.ndarray:
        """Return for every row whether one of some columns has no value there."""
        gone = np.zeros(len(self), dtype=bool)
        for name in names:
            column = self.frame[name]
            gone |= np.asarray(column.isna(), dtype=bool)
            if not _is_numeric(column):
                gone |= np.array([is_missing(str(cell)) for cell in column], dtype=bool)
        return gone

    def is_numeric(self, name: str) -> bool:
        """Return whether all values of a column are numbers, and there are some."""
        return not self._numbers(name)[1] and not self.missing(name).all()

    def floats(self, name: str) -> Array:
        """Return a column as floats, with ``nan`` for missing values, 1 for true and 0 for false.

        The first cell that is no number, or out of range, is refused by its row and column.
        """
        values, bad = self._numbers(name)
        if bad:
            raise DataTypeError(self._refusal(name, bad))
        column = self.frame[name]
        for row in np.flatnonzero(~is_admissible(values) | (values == 0.0)).tolist():
            cell = column.iloc[row]
            if isinstance(cell, str):  # a text may hold a number that is read as infinity or zero
                written = plain(cell, self.options.decimal) if re.search(r"\d", cell) else "0"
                allowed = is_missing(cell) or is_written_admissibly(written)
            else:
                allowed = values[row] == 0.0 or not np.isfinite(values[row])
            if not allowed:
                raise FileFormatError(
                    f"{self.file}, {self.place(row)}: column {name!r} holds {str(cell)!r}; "
                    f"expected {ALLOWED}. Choose another unit."
                )
        codes = [x for word in self.options.na_values if (x := number(word, ".")) is not None]
        return np.where(np.isin(values, codes), np.nan, values)

    def numbers(self, names: Sequence[str]) -> Array:
        """Return columns side by side as floats, shape (n, D); see `floats`."""
        if not names:
            raise DataTypeError(f"{self.file}: no column is left. Name or drop fewer of them.")
        return np.column_stack([self.floats(name) for name in names])

    def texts(self, name: str) -> list[str | None]:
        """Return a column as words, None where a value is missing; 3.0 is ``"3"``."""
        words = [
            str(int(x)) if isinstance(x, float) and x.is_integer() else str(x)
            for x in self.frame[name]
        ]
        gone = self.missing(name).tolist()
        return [None if none else word for word, none in zip(words, gone, strict=True)]

    def holds_truths(self, name: str) -> bool:
        """Whether a column holds true and false, which count as one and zero."""
        words = (str(cell).lower() for cell in self.frame[name] if not is_missing(str(cell)))
        return next(words, None) in _TRUTHS and all(word in _TRUTHS for word in words)

    def _numbers(self, name: str) -> tuple[Array, list[int]]:
        """The floats of a column, and the rows that hold something else."""
        if name not in self._parsed:
            self._parsed[name] = _floats_of(self.frame[name], self.options.decimal)
        return self._parsed[name]

    def _refusal(self, name: str, bad: Sequence[int]) -> str:
        """Return a message with the bad cell, its place, and the option that helps."""
        row = bad[0]
        cell = str(self.frame[name].iloc[row])
        without = f"--drop {shlex.quote(name)} leaves the column out"
        if self.lines is None:
            advice = without
        elif cell and _SEEMS_MISSING.fullmatch(cell):
            given = f"--na-values={shlex.quote(cell)} --missing drop"
            advice = f"If it stands for a missing value, {given} leaves such rows out; {without}"
        elif looks_like_number(cell):
            advice = f"Write it without units and without marks between thousands; or {without}"
        elif len(bad) <= _LISTED_LINES:
            lines = ",".join(str(self.lines[k]) for k in self.frame.index[list(bad)])
            advice = f"Correct it; or --drop-lines {lines} leaves such lines out, or {without}"
        else:
            advice = f"Correct it; or {without}"
        return (
            f"{self.file}, {self.place(row)}: column {name!r} holds {cell!r}, which is not a "
            f"number. {advice}."
        )


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column holds real numbers or truths, and no text."""
    types = pd.api.types
    real = types.is_numeric_dtype(column) and not types.is_complex_dtype(column)
    return bool(real or types.is_bool_dtype(column))


def _floats_of(column: pd.Series[Any], decimal: str | None) -> tuple[Array, list[int]]:
    """The floats of a column, and the rows that hold something else."""
    if _is_numeric(column):
        return column.to_numpy(dtype=float, na_value=np.nan), []
    found, bad = np.full(len(column), np.nan), []
    if not pd.api.types.is_string_dtype(column) and column.dtype != object:
        return found, [0]
    cells = column.tolist()
    truths = all(is_missing(cell) or cell.lower() in _TRUTHS for cell in cells)
    for row, cell in enumerate(cells):
        if is_missing(cell) and (isinstance(cell, str) or pd.isna(cell)):
            continue
        value = cell if not isinstance(cell, str) else number(cell, decimal)
        if truths and isinstance(cell, str):
            value = _TRUTHS[cell.lower()]
        if isinstance(value, bool | int | float):
            found[row] = value
        else:
            bad.append(row)
    return found, bad
