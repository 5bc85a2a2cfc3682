"""What a page is made of, before it becomes HTML, Markdown or reStructuredText."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sdpdr.base.errors import ShapeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Still
    from plotly.graph_objects import Figure

MISSING = "–"
TONES = ("", "good", "fair", "bad", "soft")
"""How a cell is to be taken; each has a colour and a sign of its own."""
MOST_ROWS = 60
"""Where nothing can be sorted or filtered, longer tables are cut, with a sentence that says so."""


@dataclass(frozen=True)
class Cell:
    """A value with more to it than the value.

    Attributes
    ----------
    value : object
        Text, a number, or None.
    tone : str, default ""
        One of `TONES`.
    hint : str, default ""
        Shown when pointed at.
    """

    value: Any
    tone: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str
    style : str, default ""
        A format specification for numbers, ``"bytes"``, or empty for text.
    hint : str, default ""
        What it holds, shown when its heading is pointed at.
    """

    title: str
    style: str = ""
    hint: str = ""

    @property
    def is_number(self) -> bool:
        """Whether its cells are sorted as numbers and set flush right."""
        return bool(self.style)

    def show(self, cell: Any) -> str:
        """A cell in words.

        Examples
        --------
        >>> Column("gap", ".1e").show(2.3e-8), Column("memory", "bytes").show(3.5e6)
        ('2.3e-08', '3.5 MB')
        >>> Column("gap", ".1e").show(float("nan")), Column("why").show("")
        ('–', '–')
        """
        value = value_of(cell)
        if value is None or value == "":
            return MISSING
        if not self.style or isinstance(value, str):
            return str(value)
        return show_bytes(value) if self.style == "bytes" else format(value, self.style)


@dataclass(frozen=True, eq=False)
class Table:
    """A table.

    Attributes
    ----------
    name : str
        Short, unique in the page; letters, digits and hyphens.
    columns : sequence of Column
        The first one names the row.
    rows : sequence of sequences
        Plain values or `Cell`, one for each column.
    words : str, default ""
        How to read it.
    is_long : bool, default False
        Whether it has a field to filter it with, and is left out of short reports.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    words: str = ""
    is_long: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ShapeError(
                    f"table {self.name!r} has {len(self.columns)} columns, but a row of "
                    f"{len(row)} cells: {row}."
                )


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure that is drawn when a page has room for it.

    Attributes
    ----------
    name : str
        Short, unique in the page; letters, digits and hyphens.
    words : str
        How to read it.
    draw : callable
        Returns the interactive figure.
    still : callable, optional
        Returns the same on paper, for documents that cannot move.
    is_small : bool, default False
        Whether two of them fit side by side.
    keys : sequence of (name, sign, colour)
        What its colours mean, where no trace of the figure tells.
    min_width : int, default 0
        Pixels; where the page is narrower, the figure scrolls.
    """

    name: str
    words: str
    draw: Callable[[], Figure]
    still: Callable[[], Still] | None = None
    is_small: bool = False
    keys: Sequence[tuple[str, str, str]] = ()
    min_width: int = 0


@dataclass(frozen=True, eq=False)
class Section:
    """A section of a page.

    Attributes
    ----------
    name, title : str
        The name is unique in the page; letters, digits and hyphens.
    words : sequence of str
        Paragraphs before everything else.
    charts : sequence of Chart
    tables : sequence of Table
    facts : mapping from what to how much
    points : sequence of str
        A list.
    code : mapping from caption to text
        Set as it is.
    """

    name: str
    title: str
    words: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    points: Sequence[str] = ()
    code: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Page:
    """A page.

    Attributes
    ----------
    title : str
    lead : str
        One sentence below the title.
    verdict : sequence of str
        The answer, in sentences.
    sections : sequence of Section
    tone : str, default ""
        Of the verdict, one of `TONES`.
    """

    title: str
    lead: str
    verdict: Sequence[str]
    sections: Sequence[Section]
    tone: str = ""


Rows: TypeAlias = Sequence[Sequence[Any]]


def value_of(cell: Any) -> Any:
    """The plain value of a cell; None for every kind of missing number."""
    value = cell.value if isinstance(cell, Cell) else cell
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ == "NAType" or not np.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def show_bytes(value: float) -> str:
    """Bytes in units of thousands.

    Examples
    --------
    >>> show_bytes(512), show_bytes(2_340_000_000)
    ('512 B', '2.3 GB')
    """
    size, units = float(value), ["B", "kB", "MB", "GB", "TB"]
    while abs(size) >= 999.5 and len(units) > 1:
        size, units = size / 1000.0, units[1:]
    return f"{_two_digits(size)} {units[0]}"


def show_seconds(value: float) -> str:
    """A duration as people say it.

    Examples
    --------
    >>> show_seconds(0.0042), show_seconds(12.34), show_seconds(4000)
    ('4.2 ms', '12 s', '67 min')
    """
    if not np.isfinite(value):
        return MISSING
    if value < 1.0:
        return f"{_two_digits(1000.0 * value)} ms"
    if value < 120.0:
        return f"{_two_digits(value)} s"
    return f"{value / 60.0:.0f} min" if value < 7200.0 else f"{value / 3600.0:.1f} h"


def _two_digits(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.2g}"
