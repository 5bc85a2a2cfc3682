"""A table as a file has it: a data frame of text or numbers, and strict conversion to numbers."""

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
from sdpdr.lab.tables.options import ReadOptions

MISSING = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a", "#na", "(null)", "\\n"}
)
"""How other programs write missing values, in lower case."""
_MINUS = "\u2212"
_BLANKS = " \u00a0\u202f\u2009\u2007"
_MARKS = {"'": "'\u2019", "space": _BLANKS}
_NUMBER_LIKE = re.compile(
    rf"[-+{_MINUS}]?[$€£]?\d[\d.,'\u2019{_BLANKS}]*(?:[eE][-+]?\d+)?\s?[%$€£]?"
)
# Marks and words that often stand for a missing value but may also mean something else.
_SEEMS_MISSING = re.compile(r"[^\w\s]{1,3}|[nk][./]?[ad]\.?|missing|unknown", re.IGNORECASE)
_PLAIN = ReadOptions(decimal=".")
# Lines of units or totals at the ends of a table that are worth a list.
_FEW = 4


def is_missing(cell: object) -> bool:
    """Return whether a cell of text holds no value."""
    return not isinstance(cell, str) or cell.lower() in MISSING


def is_number(cell: str, options: ReadOptions) -> bool:
    """Return whether a cell is a number, as the options write numbers."""
    try:
        float(plain(cell, options))
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_5 as fifteen; in a file it is a slip.


def looks_like_number(cell: str) -> bool:
    """Return whether a cell is a number in some notation: with thousands, percent or money."""
    return _NUMBER_LIKE.fullmatch(cell) is not None


def plain(cell: str, options: ReadOptions) -> str:
    r"""Return a number as Python writes it; raise ValueError if marks stand in the wrong places.

    Examples
    --------
    >>> plain("1.250,5", ReadOptions(decimal=",", thousands="."))
    '1250.5'
    >>> plain("\u22121,5", ReadOptions(decimal=",")), plain("12 %", ReadOptions(percent=True))
    ('-1.5', '12')
    """
    number = cell.replace(_MINUS, "-")
    if options.percent:
        number = number.removesuffix("%").rstrip(_BLANKS)
    if options.thousands:
        marks = _MARKS.get(options.thousands, options.thousands)
        if re.fullmatch(rf"[-+]?\d{{1,3}}(?:[{marks}]\d{{3}})+(?:[.,]\d*)?", number):
            number = re.sub(f"[{marks}]", "", number)
        elif options.thousands != options.decimal and re.search(f"[{marks}]", number):
            raise ValueError(f"{cell!r} has a mark that is not between thousands")
    if options.decimal == "any":
        return number.replace(",", ".")
    if options.decimal == ",":
        if "." in number:
            raise ValueError(f"{cell!r} has a point")
        return number.replace(",", ".")
    return number


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of a file.

    Parameters
    ----------
    file : str
        Name of the file, for messages.
    frame : DataFrame
        Text where the file holds text; its index counts the rows of the file from 0, also after
        rows were left out. Without a header the columns are called ``"1"``, ``"2"``, ...
    lines : array of int, optional
        The line of the file on which each row of the file begins.
    options : ReadOptions
        How its numbers are written.
    named : bool, default True
        Whether the file names its columns.
    remarks : tuple of str
        How the file was read, where that is not obvious.
    row_names : tuple of str
        Columns that are known to name rows, and are not coordinates.
    """

    file: str
    frame: pd.DataFrame
    lines: Index | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    named: bool = True
    remarks: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()
    _known: dict[str, tuple[Array, int | None]] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.frame.columns)

    @property
    def is_text(self) -> bool:
        """Whether the file holds text."""
        return self.lines is not None

    @property
    def index(self) -> list[str]:
        """First columns without a name, where other programs write numbers or names of rows."""
        return list(takewhile(UNNAMED.fullmatch, self.columns))

    def place(self, row: int) -> str:
        """Return where a row of this table stands: its line, or its number in another file."""
        number = int(self.frame.index[row])
        return f"row {number + 1}" if self.lines is None else f"line {self.lines[number]}"

    def require(self, names: Sequence[str]) -> None:
        """Refuse names of columns that the table does not have, offering the nearest.

        Raises
        ------
        UnknownNameError
        """
        for name in names:
            if name not in self.frame:
                raise UnknownNameError("column", name, [known or "''" for known in self.columns])

    def rows(self, kept: np.ndarray) -> Table:
        """Return the table of some rows, by a mask."""
        return replace(self, frame=self.frame[kept])

    def missing(self, name: str) -> np.ndarray:
        """Return for every row whether the column has no value there."""
        column = self.frame[name]
        gone = np.asarray(column.isna(), dtype=bool)
        if _is_numeric(column):
            return gone
        return gone | np.array([is_missing(str(cell)) for cell in column], dtype=bool)

    def is_numeric(self, name: str) -> bool:
        """Return whether all values of a column are numbers, and there are some."""
        return self._parsed(name)[1] is None and not self.missing(name).all()

    def floats(self, name: str) -> Array:
        """Return a column as floats, with ``nan`` for missing values.

        Raises
        ------
        DataTypeError
            A cell is not a number; the message names its row and column, and what to do.
        FileFormatError
            A number is out of the range of `sdpdr.base.arrays`.
        """
        numbers, bad = self._parsed(name)
        if bad is not None:
            raise DataTypeError(self._refusal(name, bad))
        for row in np.flatnonzero(self._out_of_range(name, numbers)).tolist():
            raise FileFormatError(
                f"{self.file}, {self.place(row)}: column {name!r} holds "
                f"{str(self.frame[name].iloc[row])!r}; expected {ALLOWED}. Choose another unit."
            )
        codes = [float(value) for value in self.options.na_values if is_number(value, _PLAIN)]
        return np.where(np.isin(numbers, codes), np.nan, numbers)

    def numbers(self, names: Sequence[str]) -> Array:
        """Return columns side by side as floats, shape (n, D); see `floats`."""
        if not names:
            raise DataTypeError(f"{self.file}: no column is left. Name or drop fewer of them.")
        return np.column_stack([self.floats(name) for name in names])

    def texts(self, name: str) -> list[str | None]:
        """Return a column as words, None where a value is missing; 3.0 is ``"3"``."""
        column, missing = self.frame[name], self.missing(name)
        return [None if gone else _word(x) for x, gone in zip(column, missing, strict=True)]

    def _parsed(self, name: str) -> tuple[Array, int | None]:
        """The floats of a column, and the first row that holds something else, if any."""
        if name not in self._known:
            self._known[name] = _floats_of(self.frame[name], self.options)
        return self._known[name]

    def _out_of_range(self, name: str, numbers: Array) -> np.ndarray:
        wrong = np.isfinite(numbers) & ~is_admissible(numbers)
        if _is_numeric(self.frame[name]):
            return np.asarray(wrong)
        # Text may write a number that is read as infinity or zero.
        for row in np.flatnonzero(~np.isfinite(numbers) | (numbers == 0.0)).tolist():
            cell = self.frame[name].iloc[row]
            if isinstance(cell, str) and any(c.isdigit() for c in cell) and not is_missing(cell):
                wrong[row] = not is_written_admissibly(plain(cell, self.options))
        return np.asarray(wrong)

    # -- what to do about a bad cell -----------------------------------------------------------

    def _refusal(self, name: str, row: int) -> str:
        cell = str(self.frame[name].iloc[row])
        return (
            f"{self.file}, {self.place(row)}: column {name!r} holds {cell!r}, which is not a "
            f"number. {self._advice(name, cell, row)}"
        )

    def _advice(self, name: str, cell: str, row: int) -> str:
        leave_out = f"--drop {shlex.quote(name)} leaves the column out."
        if not self.is_text:
            return leave_out
        if self.named and cell == name:
            return f"The line repeats the names: --drop-lines {self._line(row)} leaves it out."
        if cell.endswith("%") and not self.options.percent:
            return "If it is a percentage, --percent reads 12 % as 12."
        if mark := _thousands_mark(cell, self.options):
            return f"If it has marks between thousands, {mark} reads them."
        if cell.strip() and _SEEMS_MISSING.fullmatch(cell):
            return (
                f"If it stands for a missing value, --na-values={shlex.quote(cell)} with --missing "
                f"drop leaves such rows out; {leave_out}"
            )
        if lines := self._at_the_ends(name):
            listed = ",".join(map(str, lines))
            what = f"line {listed} is" if len(lines) == 1 else f"lines {listed} are"
            return f"If {what} not a point, --drop-lines {listed} leaves it out; {leave_out}"
        return f"Correct the cell; or {leave_out}"

    def _line(self, row: int) -> int:
        return 0 if self.lines is None else int(self.lines[int(self.frame.index[row])])

    def _at_the_ends(self, name: str) -> list[int]:
        """Lines of the first and last rows without a number, if these are few."""
        cells = self.frame[name].tolist()
        good = np.array([isinstance(c, str) and is_number(c, self.options) for c in cells])
        if not good.any():
            return []
        first, last = int(np.argmax(good)), len(good) - int(np.argmax(good[::-1]))
        outside = [*range(first), *range(last, len(good))]
        inside = [cells[k] for k in np.flatnonzero(~good[first:last]) + first]
        if len(outside) > _FEW or not all(map(is_missing, inside)):
            return []
        return [self._line(row) for row in outside]


def _thousands_mark(cell: str, options: ReadOptions) -> str:
    """Options that read a number with groups of three digits; empty for another cell."""
    found = re.fullmatch(
        rf"[-+{_MINUS}]?\d{{1,3}}(?P<mark>[.,'\u2019{_BLANKS}])\d{{3}}(?:(?P=mark)\d{{3}})*"
        r"(?P<point>[.,]\d+)?",
        cell,
    )
    if found is None or options.thousands or (found["point"] or "")[:1] == found["mark"]:
        return ""
    mark = {",": ",", ".": ".", "'": "\\'", "\u2019": "\\'"}.get(found["mark"], "space")
    point = (found["point"] or "")[:1]
    return f"--thousands {mark}" + (f" --decimal {point}" if point else "")


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column holds real numbers or truths."""
    types = pd.api.types
    real = types.is_numeric_dtype(column) and not types.is_complex_dtype(column)
    return bool(real or types.is_bool_dtype(column))


def _floats_of(column: pd.Series[Any], options: ReadOptions) -> tuple[Array, int | None]:
    """The floats of a column, and the first row that holds something else, if any."""
    if _is_numeric(column):
        return column.to_numpy(dtype=float, na_value=np.nan), None
    found = np.full(len(column), np.nan)
    if not pd.api.types.is_string_dtype(column) and column.dtype != object:
        return found, 0
    for row, cell in enumerate(column.tolist()):
        if isinstance(cell, str):
            if is_number(cell, options):
                found[row] = float(plain(cell, options))
            elif not is_missing(cell):
                return found, row
        elif isinstance(cell, bool | int | float):
            found[row] = cell
        elif not (pd.api.types.is_scalar(cell) and pd.isna(cell)):
            return found, row
    return found, None


def _word(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
