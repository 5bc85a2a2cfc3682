"""A table as a file has it: named columns, of text where the file holds text."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType

import numpy as np

from sdpdr.base.arrays import ALLOWED, Array, Index, is_admissible
from sdpdr.base.columns import UNNAMED
from sdpdr.base.errors import DataTypeError, FileFormatError, UnknownNameError
from sdpdr.lab.tables.cells import (
    SAID,
    doubt_of_unknown,
    has_comma,
    hint,
    is_far,
    is_missing,
    is_number,
    plain,
)

# Lines of units or totals that are worth a list; more are a column of another kind.
_FEW = 4


@dataclass(frozen=True, eq=False)
class FileTable:
    """Named columns as a file has them.

    Parameters
    ----------
    file : str
        Name of the file, for messages.
    columns : mapping from name to array of shape (n,)
        Of text where a file holds text. Without a header the names are ``"1"``, ``"2"``, ...
    lines : sequence of int, optional
        Of the file, where each row stands.
    separator : str
        What separates the cells of a text file; empty of another one.
    decimal : str, default "."
        What its numbers have for a point.
    named : bool, default True
        Whether the file names its columns.
    padded : collection of str, optional
        Columns of numbers of which some are written with zeros before them, as codes are.
    left : array of int, optional
        Of a table that rows were left out of, which those are that it has.
    """

    file: str
    columns: Mapping[str, np.ndarray]
    lines: Sequence[int] | None = None
    separator: str = ""
    decimal: str = "."
    named: bool = True
    padded: Collection[str] = ()
    left: Index | None = None

    def number(self, row: int) -> int:
        """How messages call a row: its number in the file, from one on."""
        return 1 + int(row if self.left is None else self.left[row])

    def place(self, row: int) -> str:
        """Where a row stands: its line in the file, or its number where the file has no lines."""
        return f"row {self.number(row)}" if self.lines is None else f"line {self.lines[row]}"

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))

    @property
    def manner(self) -> str:
        """How a text file was read, in words; empty if as everybody expects."""
        usual = self.separator in ("", ",", "\t")
        said = [] if usual else [f"cells are separated by {SAID[self.separator]}"]
        said += ["numbers have decimal commas"] if self.decimal == "," else []
        return " and ".join(said)

    @property
    def index(self) -> Sequence[str]:
        """First columns without a name, where other programs write numbers or names of rows."""
        return list(takewhile(UNNAMED.fullmatch, self.columns))

    def select(self, columns: Sequence[str] = (), drop: Sequence[str] = ()) -> FileTable:
        """Keep the columns named (all but the index if none is), less those dropped.

        Raises
        ------
        UnknownNameError
            Offering the nearest name.
        """
        for name in (*columns, *drop):
            if name not in self.columns:
                raise UnknownNameError("column", name, [known or "''" for known in self.columns])
        wanted = columns or [name for name in self.columns if name not in self.index]
        kept = {name: self.columns[name] for name in wanted if name not in drop}
        return replace(self, columns=MappingProxyType(kept))

    def numbers(self) -> Array:
        """The columns side by side as floats, shape (n, D); a missing entry is ``nan``.

        Raises
        ------
        DataTypeError
            A column holds something else; the message names it and how to leave it out.
        FileFormatError
            A number is beyond the range of `sdpdr.base.arrays`; the message names its line.
        """
        if not self.columns:
            raise DataTypeError(f"{self.file}: no column is left. Name or drop fewer of them.")
        return np.column_stack([self._floats(name) for name in self.columns])

    def values(self, name: str) -> np.ndarray:
        """One column: numbers if all its entries are numbers, text otherwise."""
        column = self.select([name]).columns[name]
        try:
            return _as_floats(column, self.decimal)
        except (ValueError, TypeError):
            return column.astype(str)

    def _floats(self, name: str) -> Array:
        column = self.columns[name]
        try:
            numbers = _as_floats(column, self.decimal)
        except (ValueError, TypeError):
            entries = column.tolist()
            row = next(
                (i for i, entry in enumerate(entries) if not is_number(entry, self.decimal)), 0
            )
            said = self._hint(name, str(entries[row]), row)
            raise DataTypeError(
                f"{self.file}: column {name!r} holds {entries[row]!r} ({self.place(row)}), which "
                f"is not a number. Leave the column out with --drop {shlex.quote(name)}, take "
                f"others with --columns, or encode it.{said}"
            ) from None
        return self._admissible(name, numbers)

    def _hint(self, name: str, entry: str, row: int) -> str:
        if entry == name:
            return " That row seems to repeat the names of the columns: delete the line."
        if said := doubt_of_unknown(entry):
            return said
        said = hint(entry, self.separator, self.decimal)
        if not said and self.separator == "," and has_comma(entry):
            return " --decimal , reads decimal commas, if no number has a decimal point."
        if not said and self.named and (lines := self._at_the_ends(name)):
            listed = ",".join(map(str, lines))
            one, them = f"line {listed} is no point", "it"
            if len(lines) > 1:
                one, them = f"lines {listed} are no points", "them"
            return f" If {one}, but units or a total, --drop-lines {listed} leaves {them} out."
        if not said and not self.named and row == 0 and self.lines is not None:
            return self._of_title(name)
        return said

    def _of_title(self, name: str) -> str:
        """What to do if the first line is a title that is as wide as the table."""
        numeric = [is_number(e, self.decimal) and not is_missing(e) for e in self.columns[name]]
        first = numeric.index(True) if any(numeric) else 0
        lines = self.lines or []
        above = str(lines[first - 1] - 1) if first > 1 else "N"
        many = "the lines" if first > 1 else "as many lines as stand"
        return (
            f" If it is a title, --skip {above} leaves out {many} above the names of the columns, "
            "and --header yes says that there are names."
        )

    def _at_the_ends(self, name: str) -> list[int]:
        """Lines of a column without a number, if they are few, first or last ones."""
        numeric = [is_number(entry, self.decimal) for entry in self.columns[name].tolist()]
        if self.lines is None or not any(numeric):
            return []
        first, last = numeric.index(True), self.n - numeric[::-1].index(True)
        outside = [*range(first), *range(last, self.n)]
        few = len(outside) <= _FEW and all(numeric[first:last])
        return [self.lines[row] for row in outside] if few else []

    def rows(self, kept: np.ndarray) -> FileTable:
        """The table of some rows, by a mask."""
        rows = np.flatnonzero(kept)
        lines = self.lines and [self.lines[int(row)] for row in rows]
        columns = {name: column[kept] for name, column in self.columns.items()}
        left = rows if self.left is None else self.left[rows]
        return replace(self, columns=MappingProxyType(columns), lines=lines, left=left)

    def _admissible(self, name: str, numbers: Array) -> Array:
        """The numbers, if they are in range; those that are not finite are for others to refuse."""
        column = self.columns[name]
        written = column.dtype.kind in "OUS"
        for row in np.flatnonzero(~is_admissible(numbers) | (written & (numbers == 0.0))).tolist():
            entry = column[row]
            if isinstance(entry, str):
                wrong = not is_missing(entry) and is_far(plain(entry, self.decimal))
            else:
                wrong = bool(np.isfinite(numbers[row])) and not is_admissible(numbers[row])
            if wrong:
                raise FileFormatError(
                    f"{self.file}, {self.place(row)}: column {name!r} holds {str(entry)!r}; "
                    f"expected {ALLOWED}. Choose another unit."
                )
        return numbers


def _as_floats(column: np.ndarray, decimal: str = ".") -> Array:
    if column.dtype.kind not in "biufOUS":
        raise TypeError(f"{column.dtype} is not a kind of number")
    if column.dtype.kind in "OUS":
        column = np.array([_known(x, decimal) for x in column], dtype=object)
    return column.astype(float)


def _known(entry: object, decimal: str) -> object:
    """An entry as Python reads numbers; nan where it is missing."""
    if is_missing(entry):
        return np.nan
    if isinstance(entry, str) and "_" in entry:
        raise ValueError("an underscore is no part of a number")
    return plain(entry, decimal) if isinstance(entry, str) else entry
