"""Pages of sections with figures and tables, as one HTML file or as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure
from rich.filesize import decimal

from sdpdr.base.errors import FileFormatError
from sdpdr.base.files import has_ending, write_file, write_text
from sdpdr.lab.plot.style import to_svg
from sdpdr.lab.study.schema import PARTS

MISSING = "–"
# Longer tables are cut in Markdown, with a sentence that says so.
MOST_ROWS = 60
# A text of more letters is broken into lines.
LONG = 36
# Format of numbers by the title of their column; other numbers have four digits.
_FORMATS = {
    title: form
    for form, titles in {
        ".1e": ("gap", "worst error", "apart", "tol", "tolerance"),
        ".9g": ("value", "other value", "bound"),
        ".2f": ("times the fastest", "exponent"),
        "#.3g": ("mean seconds", "seconds", *PARTS),
    }.items()
    for title in titles
}
_BYTES = ("memory", "median memory")


@dataclass(frozen=True)
class Cell:
    """A value of a table with a tone: "", "good", "fair", "bad" or "soft"."""

    value: Any
    tone: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """A frame of values or `Cell`, whose columns are the headings, and how to read it."""

    frame: pd.DataFrame
    note: str = ""

    @cached_property
    def heads(self) -> list[tuple[str, bool]]:
        """Headings, and whether their columns hold numbers."""
        return [(title, self._is_number(title)) for title in self.frame.columns]

    def _is_number(self, title: str) -> bool:
        values = [_value(cell) for cell in self.frame[title]]
        known = [value for value in values if value is not None and value != ""]
        return bool(known) and not any(isinstance(value, (str, bool)) for value in known)

    @cached_property
    def has_words(self) -> bool:
        """Whether a cell holds a long text, which a narrow screen shows below the other cells."""
        return any(len(text) > LONG for line in self.lines for text, _ in line)

    @cached_property
    def lines(self) -> list[list[tuple[str, str]]]:
        """Texts and tones of the cells, line by line."""
        titles = list(self.frame.columns)
        return [
            [
                (show(cell, title), cell.tone if isinstance(cell, Cell) else "")
                for title, cell in zip(titles, cells, strict=True)
            ]
            for cells in self.frame.itertuples(index=False, name=None)
        ]


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, drawn when it is needed, with a caption and a name that is unique in the page."""

    name: str
    caption: str
    figure: Callable[[], Figure]


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page: paragraphs, pictures, tables, facts, a list of points, and code."""

    name: str
    title: str
    text: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    points: Sequence[str] = ()
    code: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Page:
    """A title, a question, the answer in sentences, and sections."""

    title: str
    lead: str
    verdict: Sequence[str]
    sections: Sequence[Section]


def write_page(page: Page, path: str | PathLike[str]) -> None:
    """Write a page as ``.html`` or ``.md``, whole or not at all.

    The HTML file contains everything that it shows, and runs no scripts. Markdown has no figures.
    """
    path = Path(path)
    if has_ending(path, ".html"):
        write_text(path, to_html(page))
    elif has_ending(path, ".md"):
        write_text(path, to_markdown(page))
    else:
        raise FileFormatError(f"{path}: expected a report called *.html or *.md.")


def to_html(page: Page) -> str:
    """Return the page as HTML; all text is escaped, wherever it comes from."""
    environment = _environment()
    environment.globals["LONG"] = LONG
    environment.filters["svg"] = lambda picture: Markup(to_svg(picture.figure(), picture.name))
    return environment.get_template("page.html").render(page=page)


def to_markdown(page: Page, pictures: Path | None = None) -> str:
    """Return the page in GitHub's Markdown; figures are written as SVG to `pictures`, if given."""

    def draw(picture: Picture) -> Markup:
        assert pictures is not None
        write_file(pictures / f"{picture.name}.svg", picture.figure().savefig)
        return Markup(f"{pictures.name}/{picture.name}.svg")

    def finalize(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape_markdown(str(value)))

    environment = _environment(finalize=finalize)
    environment.filters |= {"draw": draw, "fenced": _fenced}
    template = environment.get_template("page.md")
    text = template.render(page=page, most=MOST_ROWS, draws=pictures is not None)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _environment(**options: Any) -> Environment:
    return Environment(
        loader=PackageLoader("sdpdr.lab.study"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )


def escape_markdown(text: str) -> str:
    r"""Escape a text so that Markdown shows it as it is, on one line.

    Examples
    --------
    >>> print(escape_markdown("<b> a|b *c*"))
    &lt;b&gt; a\|b \*c\*
    """
    plain = " ".join(text.split())
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = re.sub(r"([\\|*`\[\]~$])", r"\\\1", plain)
    # An underscore inside a word is no emphasis, and an @ in an address no mention of an account.
    plain = re.sub(r"(?<!\w)_|_(?!\w)", r"\_", plain)
    plain = re.sub(r"(?<!\w)@(?=\w)", "@&#8203;", plain)
    # At the beginning of a line these would make a heading or a list.
    return re.sub(r"^([-+#=]|\d+[.)])(?=\s|$)", r"\\\1", plain)


def _fenced(text: str) -> Markup:
    """A block of code; its fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markup(f"{fence}\n{text.strip()}\n{fence}")


def show(cell: Any, title: str = "") -> str:
    """Return a cell of a column as text.

    Examples
    --------
    >>> show(2.3e-8, "gap"), show(3.5e6, "memory"), show(float("nan"), "gap"), show("")
    ('2.3e-08', '3.5 MB', '–', '–')
    """
    value = _value(cell)
    if value is None or value == "":
        return MISSING
    if isinstance(value, (str, bool)):
        return str(value)
    if title in _BYTES:
        return decimal(int(value))
    if isinstance(value, int) or (value.is_integer() and title not in _FORMATS):
        return f"{value:.0f}"
    return format(value, _FORMATS.get(title, ".4g"))


def _value(cell: Any) -> Any:
    """The plain value of a cell; None for missing numbers."""
    value = cell.value if isinstance(cell, Cell) else cell
    if isinstance(value, str):
        return value
    if pd.isna(value) or not np.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
