"""How a text table is written, and its columns, converted some rows at a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sdpdr.base.columns import is_named_as_id
from sdpdr.lab.tables.cells import is_padded, numbers_of, ungrouped
from sdpdr.lab.tables.lines import PercentSigns

# A sign of percent at the end of a number.
_PERCENT = re.compile(r"^([-+\u2212]?[\d.,'\s]*\d[\d.,'\s]*?)\s*%$")


def without_percent(cell: str) -> str:
    """A number without its sign of percent; any other cell as it is."""
    return _PERCENT.sub(r"\1", cell)


@dataclass(frozen=True)
class Form:
    """How a text table is written: as far as it is said, and what is found by looking.

    Attributes
    ----------
    header : {"auto", "yes", "no"}, default "auto"
        Whether the first line names the columns. By default it does if it has no number, has text
        above a number, or counts: 0, 1, 2, ...
    separator : str, optional
        Between cells; a blank stands for any number of them. By default the one that gives all
        lines the same number of cells, and most of them numbers.
    decimal : {".", ","}, optional
        By default a comma where cells have commas for points, and none has a point.
    skip : int, default 0
        Lines before the table: a title, for instance. One that tells the separator (``sep=;``), as
        spreadsheets write it, is heeded and skipped in any case.
    thousands : {".", ",", "'", "space"}, optional
        Between the thousands of numbers. If a point or a comma, the decimal mark is the other one.
    percent : bool, default False
        Whether ``12 %`` is 12.
    unknown : collection of str, optional
        Cells that say that an entry is not known, beside the usual ones.
    without : collection of int, optional
        Lines of the file that are left out: units below the names, or a total.
    transpose : bool, default False
        Whether columns are points, and the first of them names the coordinates.
    as_written : collection of str
        Columns that are kept as text, be they numbers or not. Columns without a name, or with the
        name of an id, are kept so in any case.
    encoding : str
    indexed : bool
        Whether the header has no name for names of rows.
    unmarked : bool
        Whether the first lines have no points, and nobody has said what points are.
    """

    header: str = "auto"
    separator: str = ""
    decimal: str = ""
    skip: int = 0
    thousands: str = ""
    percent: bool = False
    unknown: Collection[str] = ()
    without: Collection[int] = ()
    transpose: bool = False
    as_written: Collection[str] = ()
    encoding: str = ""
    indexed: bool = False
    unmarked: bool = False

    @property
    def is_of_text(self) -> bool:
        """Whether something is said that only a text has."""
        marks = self.separator or self.decimal or self.thousands
        return bool(marks or self.skip or self.percent or self.unknown or self.without)

    def keeps(self, name: str) -> bool:
        """Whether a column of some name is kept as text, be it numbers or not."""
        return name in self.as_written or is_named_as_id(name)

    def known(self, cells: Sequence[str]) -> Sequence[str]:
        """Cells as they are written; empty where what stands in them is not known."""
        if not self.unknown:
            return cells
        return ["" if cell in self.unknown else cell for cell in cells]

    def plain(self, cells: Sequence[str]) -> Sequence[str]:
        """Cells without marks between thousands and signs of percent; empty where not known."""
        cells = self.known(cells)
        if self.percent:
            cells = [without_percent(cell) for cell in cells]
        if not self.thousands:
            return cells
        return [ungrouped(cell, self.thousands, self.decimal) for cell in cells]


AS_FOUND = Form()
"""Of which nothing is said."""


class GrowingColumns:
    """Columns that are read some rows at a time: floats, or the cells of those that are kept.

    Attributes
    ----------
    lines : list of int
        Where the rows stand.
    kept : set of int
        Columns of text.
    again : set of int
        Those of them that began as numbers, and are to be read anew.
    marked : set of str
        Numbers with points of a form that is unmarked.
    padded : set of str
        Columns of numbers of which some begin with zeros, by the first rows.
    signs : PercentSigns
    """

    def __init__(self, names: Sequence[str], form: Form, texts: Collection[int]) -> None:
        self.lines: list[int] = []
        self.again: set[int] = set()
        self.marked: set[str] = set()
        self.padded: set[str] = set()
        self.signs = PercentSigns()
        self._names, self._form = names, form
        self._asked = {k for k, name in enumerate(names) if form.keeps(name)}
        self.kept = self._asked | set(texts)
        self._parts: list[list[np.ndarray]] = [[] for _ in names]

    def add(self, rows: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Take some rows more."""
        lines = [number for number, _ in rows]
        self.lines += lines
        for k, written in enumerate(zip(*(row for _, row in rows), strict=True)):
            self._parts[k].append(self._part(k, written, lines))

    def _part(self, k: int, written: Sequence[str], lines: Sequence[int]) -> np.ndarray:
        cells = (self._form.known if k in self._asked else self._form.plain)(written)
        numbers = None if k in self.kept else numbers_of(cells, self._form.decimal)
        if numbers is not None:
            if not self._parts[k] and any(map(is_padded, cells)):
                self.padded.add(self._names[k])
            if self._form.unmarked and self._form.decimal == ".":
                self.marked |= {cell for cell in cells if "." in cell}
            if self._form.percent:
                self.signs.see(k, written, lines)
            return numbers
        if k not in self.kept:
            self.kept.add(k)
            self.again |= {k} if self._parts[k] else set()
        return np.array(cells, dtype=object)

    def joined(self) -> dict[str, np.ndarray]:
        """The columns by name."""
        parts = zip(self._names, self._parts, strict=True)
        return {name: np.concatenate(part) if part else np.zeros(0) for name, part in parts}
