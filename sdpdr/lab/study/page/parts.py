"""What a page is made of, before it becomes HTML, Markdown or reStructuredText."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sdpdr.lab.library.fields import read_toml
from sdpdr.lab.study.schema import HONESTY

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Still
    from plotly.graph_objects import Figure

MISSING = "–"
TONES = ("", "good", "fair", "bad", "soft")
"""How a cell is to be taken; each has a colour and a sign of its own."""


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


def toned(values: Iterable[Any], tone: str, chosen: Iterable[Any] | None = None) -> list[Cell]:
    """Values in a tone where they are chosen; by default, where they are not zero or empty.

    Examples
    --------
    >>> [cell.tone for cell in toned([0, 3], "bad")]
    ['', 'bad']
    """
    kept = list(values)
    return [
        Cell(value, tone if such else "")
        for value, such in zip(kept, kept if chosen is None else chosen, strict=True)
    ]


@dataclass(frozen=True)
class Heading:
    """How a column of a table is shown.

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
        >>> Heading("gap", ".1e").show(2.3e-8), Heading("memory", "bytes").show(3.5e6)
        ('2.3e-08', '3.5 MB')
        >>> Heading("gap", ".1e").show(float("nan")), Heading("why").show("")
        ('–', '–')
        """
        value = value_of(cell)
        if value is None or value == "":
            return MISSING
        if not self.style or isinstance(value, str):
            return str(value)
        if self.style == "bytes":
            return show_bytes(value)
        return format(int(value) if self.style == "d" else value, self.style)


def _known() -> Iterator[tuple[str, Heading]]:
    """What is known of columns, by their names in frames."""
    with Path(__file__).with_name("columns.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            title = row["title"] or row["name"]
            yield row["name"], Heading(title, row["style"], row["hint"])
    for word, words in HONESTY.items():
        yield word or "none", Heading(word or "no claim", "d", words)


_KNOWN: Mapping[str, Heading] = dict(_known())
_BY_TITLE: Mapping[str, Heading] = {known.title: known for known in _KNOWN.values()}


_WORDS: Mapping[str, Any] = read_toml(Path(__file__).with_name("words.toml"), "page").content


def told(name: str, **known: object) -> str:
    """What ``words.toml`` says under a name, in one line; nothing if it does not know the name.

    Examples
    --------
    >>> told("accuracy"), told("claims-table")
    ('Accuracy reached', 'Instances, by what the claim was worth.')
    """
    return " ".join(Template(_WORDS.get(name, "")).substitute(known).split())


def listed(name: str) -> list[str]:
    """The points that ``words.toml`` lists under a name, a line each."""
    return [" ".join(point.split()) for point in _WORDS["points"][name]]


def headed(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Columns of a frame under the headings that readers see.

    Examples
    --------
    >>> frame = pd.DataFrame({"worst": [0.1], "gap": [0.2], "n": [3]})
    >>> headed(frame, "gap", "worst").columns.to_list()
    ['gap', 'worst error']
    """
    return frame[[*names]].rename(columns={name: known.title for name, known in _KNOWN.items()})


def column(title: str) -> Heading:
    """How a column of this title is shown; what has no style is text.

    Examples
    --------
    >>> column("gap").style, column("instance").is_number
    ('.1e', False)
    """
    return _BY_TITLE.get(title, Heading(title))


@dataclass(frozen=True, eq=False)
class Table:
    """A table.

    Attributes
    ----------
    name : str
        Short, unique in the page; letters, digits and hyphens.
    frame : DataFrame
        Plain values or `Cell`. Its columns are the headings, see `column`; the first one names
        the row.
    words : str, default ""
        How to read it.
    is_long : bool, default False
        Whether it has a field to filter it with.
    """

    name: str
    frame: pd.DataFrame
    words: str = ""
    is_long: bool = False

    @property
    def columns(self) -> list[Heading]:
        """How each of its columns is shown."""
        return [column(title) for title in self.frame.columns]

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """Its cells."""
        return list(self.frame.itertuples(index=False, name=None))


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure that is drawn when a page has room for it.

    Attributes
    ----------
    name : str
        Short, unique in the page; letters, digits and hyphens.
    words : str
        How to read it.
    draw : callable, optional
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
    draw: Callable[[], Figure] | None = None
    still: Callable[[], Still] | None = None
    is_small: bool = False
    keys: Sequence[tuple[str, str, str]] = ()
    min_width: int = 0


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page with a heading.

    Attributes
    ----------
    name : str
        Short, unique in the page; letters, digits and hyphens.
    title : str
    words : sequence of str
        Paragraphs.
    charts : sequence of Chart
    tables : sequence of Table
    facts : mapping from what to how much
    points : sequence of str
        A list.
    code : mapping from caption to text
    """

    name: str
    title: str
    words: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    points: Sequence[str] = ()
    code: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def told(cls, name: str, words: Sequence[str] = (), **parts: Any) -> Section:
        """With the title, and above the words the paragraph, that ``words.toml`` has for it."""
        first = told(f"{name}-words")
        return cls(name, told(name), [first, *words] if first else words, **parts)

    @property
    def has_content(self) -> bool:
        """Whether there is more to it than words."""
        return any((self.charts, self.tables, self.facts, self.points, self.code))


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
    is_live : bool, default True
        Whether tables can be sorted and figures move, as HTML.
    """

    title: str
    lead: str
    verdict: Sequence[str]
    sections: Sequence[Section]
    tone: str = ""
    is_live: bool = True


def value_of(cell: Any) -> Any:
    """The plain value of a cell; None for every kind of missing number."""
    value = cell.value if isinstance(cell, Cell) else cell
    if value is None or isinstance(value, str):
        return value
    if value is pd.NA or not np.isfinite(value):
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
