"""A page as reStructuredText with figures that stand still, for the documentation."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from sdpdr.base.files import write_text
from sdpdr.lab.study.page.parts import MOST_ROWS, Chart, Page, Section, Table


def to_rst(page: Page, folder: Path, name: str, *, without: tuple[str, ...] = ("runs",)) -> None:
    """Write ``name.rst`` and one SVG a figure, ``name-*.svg``, into a folder.

    Parameters
    ----------
    page : Page
    folder : Path
    name : str
        Of the file and of its figures, without a suffix.
    without : tuple of str, default ("runs",)
        Names of the sections that are left out.
    """
    stills = {
        chart.name: chart.still()
        for section in page.sections
        if section.name not in without
        for chart in section.charts
        if chart.still is not None
    }
    for chart, figure in stills.items():
        write_text(folder / f"{name}-{chart}.svg", svg_of(figure, f"{name}-{chart}"))
    blocks = [_heading(page.title, "=")]
    blocks += [f"*{escape(page.lead)}*" if page.lead else ""]
    blocks += [escape(sentence) for sentence in page.verdict]
    for section in page.sections:
        if section.name not in without:
            blocks += _section(section, name)
    write_text(folder / f"{name}.rst", "\n\n".join(filter(None, blocks)) + "\n")


def svg_of(figure: Figure, salt: str) -> str:
    """A figure as SVG, the same each time, without a date."""
    buffer = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()


def _section(section: Section, name: str) -> Iterator[str]:
    charts = [chart for chart in section.charts if chart.still is not None]
    if not any((section.tables, charts, section.facts, section.points, section.code)):
        return
    yield _heading(section.title, "-")
    yield from map(escape, section.words)
    for chart in charts:
        yield _figure(chart, name)
    if section.facts:
        yield _list_table([["what", "how"], *map(list, section.facts.items())])
    if section.points:
        yield "\n".join(f"- {escape(point)}" for point in section.points)
    for table in section.tables:
        yield escape(table.words)
        yield _table(table)
        if len(table.rows) > MOST_ROWS:
            yield f"*{len(table.rows) - MOST_ROWS} more rows are in the HTML page.*"
    for caption, text in section.code.items():
        yield f"{escape(caption)}:"
        yield ".. code-block:: text\n\n" + _indented(text)


def _figure(chart: Chart, name: str) -> str:
    words = escape(chart.words)
    return f".. figure:: {name}-{chart.name}.svg\n   :alt: {words}\n\n   {words}"


def _table(table: Table) -> str:
    rows = [[column.title for column in table.columns]]
    for row in table.rows[:MOST_ROWS]:
        rows.append([column.show(cell) for column, cell in zip(table.columns, row, strict=True)])
    return _list_table(rows)


def _list_table(rows: list[list[str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        for k, cell in enumerate(row):
            lines.append(f"   {'*' if k == 0 else ' '} - {escape(cell)}".rstrip())
    return "\n".join(lines)


def escape(text: str) -> str:
    r"""Text that reStructuredText shows as it is, on one line.

    Examples
    --------
    >>> print(escape("a *b* `auto` c_ |d|"))
    a \*b\* \`auto\` c\_ \|d\|
    """
    plain = " ".join(str(text).split())
    plain = re.sub(r"([\\*`|])", r"\\\1", plain)
    plain = re.sub(r"_(?!\w)", r"\_", plain)
    # At the beginning of a line these would make a list, a comment or a field.
    return re.sub(r"^([-+:.]|\d+[.)])(?=\s|:|\.)", r"\\\1", plain)


def _heading(title: str, sign: str) -> str:
    text = escape(title)
    return f"{text}\n{sign * len(text)}"


def _indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.strip().splitlines())
