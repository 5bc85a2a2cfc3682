"""A page as one HTML file that fetches nothing and runs nothing but its own two scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sdpdr.lab.study.page.parts import Cell, Chart, Column, Page, value_of

# Longer texts than this are broken into lines.
_LONG = 36


@dataclass(frozen=True)
class Drawn:
    """A figure ready for the page.

    Attributes
    ----------
    json : str
        Data and layout, safe inside an element.
    height : int
        Pixels, kept free until it is drawn.
    """

    json: Markup
    height: int


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
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("sdpdr.lab.study.page"), PackageLoader("sdpdr.lab.study")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = _cell
    figures = _drawn(page)
    plotly = _plotly() if figures else ""
    loader = environment.loader
    assert loader is not None
    script = loader.get_source(environment, "study.js")[0]
    return environment.get_template("study.html").render(
        page=page,
        figures=figures,
        has_charts=bool(figures),
        plotly=Markup(plotly),
        script=Markup(script),
        policy=_policy(plotly, script),
        zip=zip,
    )


def _drawn(page: Page) -> Mapping[str, Drawn]:
    return {chart.name: _draw(chart) for section in page.sections for chart in section.charts}


def _draw(chart: Chart) -> Drawn:
    figure = chart.draw()
    text = figure.to_json()
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Drawn(Markup(text), int(figure.layout.height))


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def _policy(*scripts: str) -> str:
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts if script)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _cell(cell: Any, column: Column, is_head: bool) -> Markup:
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
