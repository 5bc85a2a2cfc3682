"""A page as Markdown, in GitHub's flavour: words and tables, for pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdpdr.lab.study.page.parts import MOST_ROWS, Page, Section, Table


def to_markdown(page: Page) -> str:
    """Title, verdict, and the tables of every section; figures are left to the HTML page.

    Parameters
    ----------
    page : Page

    Returns
    -------
    str
    """
    blocks = [f"# {escape(page.title)}"]
    if page.lead:
        blocks.append(f"*{escape(page.lead)}*")
    blocks += [f"**{escape(s)}**" if k == 0 else escape(s) for k, s in enumerate(page.verdict)]
    for section in page.sections:
        blocks += [block for block in _section(section) if block]
    return "\n\n".join(blocks) + "\n"


def _section(section: Section) -> Iterator[str]:
    if not any((section.tables, section.facts, section.points, section.code)):
        return
    yield f"## {escape(section.title)}"
    yield from map(escape, section.words)
    if section.facts:
        facts = [f"| {escape(what)} | {escape(how)} |" for what, how in section.facts.items()]
        yield "\n".join(["| what | |", "|:--|:--|", *facts])
    yield "\n".join(f"- {escape(point)}" for point in section.points)
    for table in section.tables:
        yield escape(table.words)
        yield _table(table)
        if len(table.rows) > MOST_ROWS:
            yield f"*{len(table.rows) - MOST_ROWS} more rows are in the HTML page.*"
    for caption, text in section.code.items():
        yield f"**{escape(caption)}**"
        yield _code(text)


def _table(table: Table) -> str:
    head = " | ".join(escape(column.title) for column in table.columns)
    rule = "|".join("--:" if column.is_number else ":--" for column in table.columns)
    lines = [f"| {head} |", f"|{rule}|"]
    for row in table.rows[:MOST_ROWS]:
        cells = (column.show(cell) for column, cell in zip(table.columns, row, strict=True))
        lines.append(f"| {' | '.join(map(escape, cells))} |")
    return "\n".join(lines)


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> print(escape("<b> a|b *c*"))
    &lt;b&gt; a\|b \*c\*
    """
    plain = " ".join(str(text).split())
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = re.sub(r"([\\|*`\[\]~])", r"\\\1", plain)
    # An underscore inside a word is no emphasis; a mention of somebody is none either.
    plain = re.sub(r"(?<!\w)_|_(?!\w)", r"\_", plain)
    plain = re.sub(r"(?<!\w)@(?=\w)", "@&#8203;", plain)
    # At the beginning of a line these would make a heading or a list.
    return re.sub(r"^([-+#=]|\d+[.)])(?=\s|$)", r"\\\1", plain)


def _code(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.strip()}\n{fence}"
