"""A page as one HTML file that fetches nothing, as Markdown, and as reStructuredText."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape
from matplotlib import rc_context
from matplotlib.figure import Figure
from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from sdpdr.base.errors import FileFormatError
from sdpdr.base.files import write_text
from sdpdr.lab.plot.style import INK
from sdpdr.lab.study.page.parts import Cell, Chart, Heading, Page, Table, value_of

# Longer texts than this are broken into lines.
_LONG = 36
MOST_ROWS = 60
"""Where nothing can be sorted or filtered, longer tables are cut, with a sentence that says so."""


def write_page(page: Page, path: str | PathLike[str]) -> None:
    """Write a page; a reader finds a whole one or none.

    Parameters
    ----------
    page : Page
    path : path
        The suffix tells the format: ``.html``, ``.md``, or ``.rst`` with its figures beside it.

    Raises
    ------
    FileFormatError
        The suffix is another.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".rst":
        to_rst(page, path.parent, path.stem)
    elif suffix in (".html", ".htm"):
        write_text(path, to_html(page))
    elif suffix == ".md":
        write_text(path, to_markdown(page))
    else:
        raise FileFormatError(
            f"{path}: a report cannot be written as {suffix or 'a file without a suffix'}. Choose "
            "one of .html, .htm, .md, .rst."
        )


# -- HTML -------------------------------------------------------------------------------------


def to_html(page: Page) -> str:
    """The whole page.

    Text is escaped wherever it comes from. Beyond that, the policy of the page names the digests
    of its own scripts, so that a browser refuses any other, and forbids it to fetch.

    Parameters
    ----------
    page : Page

    Returns
    -------
    str
    """
    environment = _environment()
    environment.filters |= {"cell": _cell, "svg": inline_svg, "json": _json}
    charts = [chart for section in page.sections for chart in section.charts]
    figures = {chart.name: chart.draw() for chart in charts if chart.draw is not None}
    loader = environment.loader
    assert loader is not None
    scripts = [
        _plotly() if figures else "",
        loader.get_source(environment, "page.js")[0] if page.is_live else "",
    ]
    return environment.get_template("page.html").render(
        page=page,
        figures=figures,
        scripts=[Markup(script) for script in scripts],
        policy=_policy(*scripts),
        zip=zip,
    )


def _json(figure: Any) -> Markup:
    """Data and layout of a figure, safe inside an element."""
    return htmlsafe_json_dumps(figure, dumps=lambda figure: figure.to_json())


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def _policy(*scripts: str) -> str:
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts if script)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed or chr(39) + 'none' + chr(39)}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _cell(cell: Any, column: Heading, is_head: bool) -> Markup:
    """An element of a table; where its text does not, an attribute tells how it is sorted."""
    value, text = value_of(cell), column.show(cell)
    tone, hint = (cell.tone, cell.hint) if isinstance(cell, Cell) else ("", "")
    kinds = (
        "n" if column.is_number else "", "words" if len(text) > _LONG else "", tone
    )  # fmt: skip
    attributes = {
        "data-v": None if isinstance(value, str) and value else "" if value is None else value,
        "class": " ".join(filter(None, kinds)) or None,
        "title": hint or None,
    }
    written = "".join(
        f' {name}="{escape(given)}"' for name, given in attributes.items() if given is not None
    )
    start, end = ('th scope="row"', "th") if is_head else ("td", "td")
    return Markup(f"<{start}{written}>{escape(text)}</{end}>")


def svg_of(figure: Figure, salt: str) -> str:
    """A figure as SVG, the same each time, without a date; its text stays text."""
    buffer = io.StringIO()
    unnamed: dict[str, Any] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=unnamed, dpi=170)
    return buffer.getvalue()


def inline_svg(figure: Figure, prefix: str) -> Markup:
    """A figure as an element of a page: its ink follows the page's, its text stays text.

    Parameters
    ----------
    figure : Figure
    prefix : str
        Goes before all identifiers, which must be unique in a page.
    """
    svg = svg_of(figure, prefix)
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # In a page the names of the two vocabularies are known, so they need no address.
    svg = re.sub(r'\s+xmlns(:xlink)?="[^"]*"', "", svg)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{prefix}-", svg)
    return Markup(svg.replace(INK, "currentColor"))


# -- terminal ---------------------------------------------------------------------------------

_COLOURS = {"good": "green", "fair": "yellow", "bad": "red", "soft": "dim"}


def to_terminal(table: Table) -> RichTable:
    """A table for a terminal, by rich."""
    built = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, caption_justify="left")
    for column in table.columns:
        if column.is_number:
            built.add_column(column.title, justify="right", no_wrap=True)
        else:
            built.add_column(column.title, overflow="fold")
    for row in table.rows:
        texts = [column.show(cell) for column, cell in zip(table.columns, row, strict=True)]
        tones = [cell.tone if isinstance(cell, Cell) else "" for cell in row]
        built.add_row(
            *(Text(t, _COLOURS.get(tone, "")) for t, tone in zip(texts, tones, strict=True))
        )
    return built


# -- Markdown and reStructuredText ------------------------------------------------------------


def _as_text(
    page: Page,
    dialect: str,
    escape: Callable[[str], str],
    drawn: Callable[[Chart], str] | None = None,
    without: Sequence[str] = (),
) -> str:
    """The whole page as a dialect of plain text.

    Parameters
    ----------
    page : Page
    dialect : str
        Name of the template of its parts.
    escape : callable
        Makes text stay as it is, on one line.
    drawn : callable, optional
        Writes a figure and returns its name; without it, figures are left out.
    without : sequence of str
        Names of the sections that are left out.
    """

    def finalize(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    environment = _environment(finalize=finalize)
    environment.filters |= {
        "as_it_is": Markup,
        "drawn": drawn,
        "fence": _fence,
        "underlined": lambda text, sign: Markup(_underlined(escape(text), sign)),
    }
    facts = [Heading("what"), Heading("how")]
    text = environment.get_template("page.txt").render(
        page=page, dialect=f"{dialect}.txt", without=without, draws=drawn is not None,
        facts=facts, most=MOST_ROWS, zip=zip,
    )  # fmt: skip
    return f"{text.rstrip()}\n"


def _environment(**options: Any) -> Environment:
    return Environment(
        loader=PackageLoader("sdpdr.lab.study.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )


def to_markdown(page: Page) -> str:
    """Title, verdict, and the tables of every section; figures are left to the HTML page.

    Parameters
    ----------
    page : Page

    Returns
    -------
    str
        In GitHub's flavour.
    """
    return _as_text(page, "markdown", escape_markdown)


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> print(escape_markdown("<b> a|b *c*"))
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


def _fence(text: str) -> Markup:
    """Longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return Markup("`" * max(3, longest + 1))


def to_rst(page: Page, folder: Path, name: str) -> None:
    """Write ``name.rst`` and one SVG a figure, ``name-*.svg``, into a folder; no run by itself.

    Parameters
    ----------
    page : Page
    folder : Path
    name : str
        Of the file and of its figures, without a suffix.
    """

    def drawn(chart: Chart) -> Markup:
        assert chart.still is not None
        file = f"{name}-{chart.name}"
        write_text(folder / f"{file}.svg", svg_of(chart.still(), file))
        return Markup(f"{file}.svg")

    write_text(folder / f"{name}.rst", _as_text(page, "rst", escape_rst, drawn, ["runs"]))


def escape_rst(text: str) -> str:
    r"""Text that reStructuredText shows as it is, on one line.

    Examples
    --------
    >>> print(escape_rst("a *b* `auto` c_ |d|"))
    a \*b\* \`auto\` c\_ \|d\|
    """
    plain = " ".join(str(text).split())
    plain = re.sub(r"([\\*`|])", r"\\\1", plain)
    plain = re.sub(r"_(?!\w)", r"\_", plain)
    # At the beginning of a line these would make a list, a comment or a field.
    return re.sub(r"^([-+:.]|\d+[.)])(?=\s|:|\.)", r"\\\1", plain)


def _underlined(title: str, sign: str) -> str:
    return f"{title}\n{sign * len(title)}"
