"""How a text table is written, and its columns, converted some rows at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sdpdr.lab.tables.cells import is_padded, numbers_of, ungrouped
from sdpdr.lab.tables.lines import PercentSigns

# A sign of percent at the end of a number.
_PERCENT = re.compile(r"^([-+\u2212]?[\d.,'\s]*\d[\d.,'\s]*?)\s*%$")


def without_percent(cell: str) -> str:
    """A number without its sign of percent; any other cell as it is."""
    return _PERCENT.sub(r"\1", cell)


@dataclass(frozen=True)
class Form:
    """How a text table is written.

    Its header has no name for names of rows if it is ``indexed``, and its first lines have no
    points if it is ``unmarked``.
    """

    separator: str
    decimal: str
    encoding: str
    skip: int
    indexed: bool
    thousands: str | None
    percent: bool
    unknown: Collection[str]
    without: Collection[int]
    transpose: bool
    unmarked: bool

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
        if self.thousands is None:
            return cells
        return [ungrouped(cell, self.thousands, self.decimal) for cell in cells]


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

    def __init__(
        self,
        names: Sequence[str],
        form: Form,
        texts: Collection[int],
        as_written: Callable[[str], bool],
    ) -> None:
        self.lines: list[int] = []
        self.again: set[int] = set()
        self.marked: set[str] = set()
        self.padded: set[str] = set()
        self.signs = PercentSigns()
        self._names, self._form = names, form
        self._asked = {k for k, name in enumerate(names) if as_written(name)}
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
