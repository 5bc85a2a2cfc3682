"""Figures that move: ``moving:: KIND FILE.json`` draws one, still, from ``docs/moving``.

What is drawn here is the whole picture, with words, for readers without scripts. The data stand
beside it in the page, so that ``moving.js`` needs neither a server nor the network to move it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from sdpdr.lab.plot.edges import spring_width

FOLDER = Path(__file__).parents[1] / "moving"
WIDTH, MARGIN = 640.0, 16.0
# Beyond it a picture does not fit a window.
TALLEST = 420.0

SPRINGS = (
    "Springs are drawn in width and colour by the root of their multiplier, up to the "
    "99th percentile of all; dashed ones carry less than a thousandth of that."
)

Json = dict[str, Any]


def points_svg(data: Json, words: str) -> str:
    """The frame to start with: edges below points, the same scale along both axes."""
    frames = data["frames"]
    xs = [x for frame in frames for x, _ in frame["Y"]]
    ys = [y for frame in frames for _, y in frame["Y"]]
    left, top = min(xs), max(ys)
    across, down = max(xs) - left, top - min(ys)
    # Points on a line, or all at one place, have no extent that way.
    scale = min(
        (WIDTH - 2 * MARGIN) / (across or down or 1.0),
        (TALLEST - 2 * MARGIN) / (down or across or 1.0),
    )
    height = down * scale + 2 * MARGIN
    first = frames[data.get("start", -1)]
    at = [
        (f"{MARGIN + (x - left) * scale:.1f}", f"{MARGIN + (top - y) * scale:.1f}")
        for x, y in first["Y"]
    ]
    edges = first.get("edges") or data["edges"]
    springs = map(_spring, data["loads"]) if "loads" in data else [""] * len(edges)
    lines = "".join(
        '<line x1="{}" y1="{}" x2="{}" y2="{}"{}/>'.format(*at[i], *at[j], spring)
        for (i, j), spring in zip(edges, springs, strict=True)
    )
    hues = "".join(
        f'<circle cx="{x}" cy="{y}" r="3.2" style="--share:{share}"/>'
        for (x, y), share in zip(at, data["colour"], strict=True)
    )
    frame = f"{left},{top},{scale:.6g},{MARGIN:g}"
    body = f'<g class="edges">{lines}</g><g class="points">{hues}</g>'
    return _svg(WIDTH, height, words, body, f' data-frame="{frame}"')


def _spring(load: float) -> str:
    """Colour and width of an edge by its load, which lies between 0 and 1; 0 is drawn as slack."""
    if not load:
        return ' class="slack"'
    return f' class="spring" style="--share:{load**0.5:.3f};stroke-width:{spring_width(load):.2f}"'


def nothing(data: Json, words: str) -> str:
    """What only a script can draw; without one the words and the table say the same."""
    return ""


def _svg(width: float, height: float, words: str, body: str, more: str = "") -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(words)}"{more}>{body}</svg>'
    )


def film_table(data: Json) -> str:
    """What every frame says."""
    head = ("", "value attained", "proved bound", "")
    rows = [
        (f["label"], _number(f["value"]), _number(f["bound"]), f["words"]) for f in data["frames"]
    ]
    return _table(head, rows)


def springs_table(data: Json) -> str:
    """The strongest springs."""
    order = sorted(range(len(data["edges"])), key=lambda e: -data["weights"][e])[:10]
    rows = [
        ("{} – {}".format(*data["edges"][e]), f"{data['weights'][e]:g}", f"{data['lengths'][e]:g}")
        for e in order
    ]
    return _table(("edge", "multiplier", "length"), rows)


def shape_table(data: Json) -> str:
    """The optimum in some directions."""
    rows = [
        (
            f"{k + 1} of {len(data['goals'])}",
            _number(goal["value"]),
            _number(goal["bound"]),
            str(goal["rank"]),
        )
        for k, goal in enumerate(data["goals"])
        if k % 6 == 0
    ]
    return _table(("direction", "value attained", "proved bound", "rank of the optimum"), rows)


KINDS = {
    "film": (points_svg, film_table),
    "springs": (points_svg, springs_table),
    "shape": (nothing, shape_table),
}


class Moving(SphinxDirective):
    """One figure; a third argument picks one of a file that holds several."""

    required_arguments = 2
    optional_arguments = 1
    has_content = True
    option_spec: ClassVar = {"autoplay": directives.flag}

    def run(self) -> list[nodes.Node]:
        kind, *where = self.arguments
        self.env.note_dependency(str(FOLDER / where[0]))
        words = " ".join(" ".join(self.content).split())
        label = f"moving-{self.env.new_serialno('moving') + 1}"
        drawn = figure(kind, chosen(*where), words, label, "autoplay" in self.options)
        return [nodes.raw("", drawn, format="html")]


def legend(data: Json, words: str) -> str:
    """The words of a figure, and how its springs are read if it has any."""
    return f"{words} {SPRINGS}" if "loads" in data else words


# The colours of the pages, where their style sheet is not at hand.
STYLE = (
    "svg{background:#fff}line{stroke:#68707e;stroke-width:.7;opacity:.55}"
    "line.slack{stroke-dasharray:2 3}"
    "circle,line.spring{--hue:color-mix(in oklab,#0a6a80,#b5480f calc(100%*var(--share)))}"
    "circle{fill:var(--hue)}line.spring{stroke:var(--hue);opacity:1}"
    "svg:has(.spring) circle{fill:#68707e;r:2.4px}"
)


def still(kind: str, data: Json, words: str) -> str:
    """The picture of a figure as a file of its own, in SVG; nothing where only scripts draw it."""
    drawn = KINDS[kind][0](data, words)
    head = '<svg xmlns="http://www.w3.org/2000/svg" '
    return drawn.replace("<svg ", head, 1).replace(">", f"><style>{STYLE}</style>", 1)


def chosen(name: str, entry: str | None = None) -> Json:
    """The data of a figure."""
    data = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return data if entry is None else data[int(entry)]


def figure(kind: str, data: Json, words: str, label: str, autoplay: bool = False) -> str:
    """The picture, the words, a table, and the data; its label is no other's on the page."""
    picture, table = KINDS[kind]
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    plays = " data-autoplay" if autoplay else ""
    return (
        f'<figure class="moving" data-kind="{kind}"{plays} aria-labelledby="{label}">'
        f'<p class="moving-title" id="{label}">{escape(data["title"])}</p>'
        f'<div class="moving-picture">{picture(data, words)}</div>'
        f"<figcaption>{escape(legend(data, words))}</figcaption>"
        f"<details><summary>The same in numbers</summary>{table(data)}</details>"
        f'<script type="application/json">{text}</script></figure>'
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    heads = "".join(f'<th scope="col">{escape(h)}</th>' if h else "<td></td>" for h in head)
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        '<div class="moving-table" tabindex="0" role="group" aria-label="numbers">'
        f'<table class="table facts"><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody>'
        "</table></div>"
    )


def _number(value: float | None) -> str:
    """As the figure says it: what all but vanishes is zero."""
    return "none yet" if value is None else f"{0.0 if abs(value) < 1e-6 else value:.8g}"


def setup(app: Any) -> dict[str, bool]:
    """Register the directive and its script."""
    app.add_directive("moving", Moving)
    app.add_js_file("moving.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
