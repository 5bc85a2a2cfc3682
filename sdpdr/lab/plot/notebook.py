"""The picture of a solution in a notebook, which tells under the pointer what is what."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
from matplotlib.colors import to_hex

from sdpdr.base.arrays import Array, Index
from sdpdr.lab.plot.answer import weights_of
from sdpdr.lab.plot.edges import SLACK, SPRINGS, loads, spring_width
from sdpdr.lab.plot.points import pixels_of, plane_of
from sdpdr.lab.plot.style import ACCENT, FAINT
from sdpdr.program import Solution

# A notebook stays quick with so many points and edges; of more, the points of a sample are shown.
_MOST = 3000
_BOX, _MARGIN = (400.0, 300.0), 10.0
_numbers = count(1)


def picture(solution: Solution) -> str:
    """The embedding with its springs; nothing without a matrix.

    Every point says its number, and every edge its ends and its multiplier, under the pointer. No
    script runs, so that notebooks which are not trusted show all of it.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    str
        A fragment of HTML.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> text = picture(sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))))
    >>> text.count("<circle"), "<title>edge 0 – 1: multiplier 1.333</title>" in text
    (3, True)
    """
    matrices = [value for value in solution.values.values() if value.ndim == 2 and len(value)]
    if not matrices:
        return ""
    plane = plane_of(solution.embedding(min(2, len(solution.gram()))))
    at, (_, height), _ = pixels_of(plane, _BOX, _MARGIN)
    width = _BOX[0] + 2.0 * _MARGIN
    kept = np.linspace(0, len(at) - 1, min(len(at), _MOST)).astype(int)
    weights = weights_of(solution)
    edges = "" if weights is None or len(weights[0]) > _MOST else "".join(_springs(at, *weights))
    points = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ACCENT}"><title>point {i}</title></circle>'
        for i, (x, y) in zip(kept.tolist(), at[kept].tolist(), strict=True)
    )
    words = f"sdpdr-picture-{next(_numbers)}"
    return (
        f'<svg role="img" aria-labelledby="{words}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="flex:1 1 20em;max-width:{width:.0f}px">'
        f'<title id="{words}">Embedding of {len(at)} points in the plane</title>'
        f"{edges}{points}</svg>"
    )


def _springs(at: Array, edges: Index, weights: Array) -> Iterator[str]:
    """Edges in the colours of their multipliers; grey where some have none, which is told."""
    load = loads(weights) if np.isfinite(weights).all() else np.zeros(len(weights))
    colours = SPRINGS.to_rgba(np.maximum(load, SLACK))
    widths = spring_width(load).tolist()
    told = zip(edges.tolist(), weights.tolist(), load.tolist(), widths, colours, strict=True)
    for (i, j), weight, share, wide, of in told:
        (x1, y1), (x2, y2) = at[i], at[j]
        colour = to_hex(of) if share > SLACK else FAINT
        yield (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{wide:.2f}"><title>edge {i} – {j}: multiplier '
            f"{weight:.4g}</title></line>"
        )
