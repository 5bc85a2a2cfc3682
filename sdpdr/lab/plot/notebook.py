"""A solution as notebooks show it: its certificate, and a picture that tells under the pointer."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import count

import numpy as np
from matplotlib.colors import to_hex

from sdpdr.base.arrays import Array, Index
from sdpdr.lab.plot.answer import weights_of
from sdpdr.lab.plot.edges import SLACK, SPRINGS
from sdpdr.lab.plot.points import plane_of
from sdpdr.lab.plot.style import ACCENT, FAINT
from sdpdr.program import Solution
from sdpdr.program.report import facts

# A notebook stays quick with so many points and edges; of more, the points of a sample are shown.
_MOST = 3000
_WIDTH, _TALLEST, _MARGIN = 420.0, 320.0, 10.0
_TOLD = ("status", "value", "attained", "bound", "gap", "solver")
_numbers = count(1)


def card(solution: Solution) -> str:
    """The certificate as a table, and beside it the embedding with its springs.

    Every point says its number, and every edge its ends and its multiplier, under the pointer. No
    script runs, so that notebooks which are not trusted show all of it.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    str
        A fragment of HTML; the picture is left out where there is no matrix.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> text = card(sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))))
    >>> text.count("<circle"), "<title>edge 0 – 1: multiplier 1.333</title>" in text
    (3, True)
    """
    told = facts(solution)
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left;vertical-align:top">{name}</th>'
        f'<td style="text-align:left">{escape(told[name])}</td></tr>'
        for name in _TOLD
        if name in told
    )
    grade = "certified" if solution.certified() else "not certified"
    table = f"<table><caption>Solution, {grade}</caption><tbody>{rows}</tbody></table>"
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start">'
        f'<div style="flex:1 1 24em;max-width:44em">{table}</div>{_picture(solution)}</div>'
    )


def _picture(solution: Solution) -> str:
    """The points in the plane and the edges that hold them; nothing without a matrix."""
    matrices = [value for value in solution.values.values() if value.ndim == 2 and len(value)]
    if not matrices:
        return ""
    plane = plane_of(solution.embedding(min(2, len(solution.gram()))))
    at, height = _layout(plane)
    kept = np.linspace(0, len(at) - 1, min(len(at), _MOST)).astype(int)
    weights = weights_of(solution)
    edges = "" if weights is None or len(weights[0]) > _MOST else "".join(_springs(at, *weights))
    points = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ACCENT}"><title>point {i}</title></circle>'
        for i, (x, y) in zip(kept.tolist(), at[kept].tolist(), strict=True)
    )
    words = f"sdpdr-picture-{next(_numbers)}"
    return (
        f'<svg role="img" aria-labelledby="{words}" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" '
        f'style="flex:1 1 20em;max-width:{_WIDTH:.0f}px">'
        f'<title id="{words}">Embedding of {len(at)} points in the plane</title>'
        f"{edges}{points}</svg>"
    )


def _springs(at: Array, edges: Index, weights: Array) -> Iterator[str]:
    """Edges in the colours of their multipliers, relative to the largest."""
    load = np.abs(weights) / (np.max(np.abs(weights), initial=0.0) or 1.0)
    colours = SPRINGS.to_rgba(np.maximum(load, SLACK))
    told = zip(edges.tolist(), weights.tolist(), load.tolist(), colours, strict=True)
    for (i, j), weight, share, of in told:
        (x1, y1), (x2, y2) = at[i], at[j]
        colour = to_hex(of) if share > SLACK else FAINT
        yield (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{0.7 + 3.0 * share**0.5:.2f}"><title>edge {i} – {j}: multiplier '
            f"{weight:.4g}</title></line>"
        )


def _layout(plane: Array) -> tuple[Array, float]:
    """Places in pixels, y downwards, and the height of the picture."""
    low, extent = plane.min(axis=0), np.ptp(plane, axis=0)
    across, down = _WIDTH - 2 * _MARGIN, _TALLEST - 2 * _MARGIN
    unit = max(float(extent[0]) / across, float(extent[1]) / down) or 1.0
    at = (plane - low) / unit
    at[:, 1] = extent[1] / unit - at[:, 1]
    return at + _MARGIN, float(extent[1]) / unit + 2 * _MARGIN
