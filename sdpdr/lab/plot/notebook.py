"""The picture of a solution in a notebook."""

from __future__ import annotations

from itertools import count

import numpy as np

from sdpdr.lab.plot.answer import weights_of
from sdpdr.lab.plot.edges import draw_springs
from sdpdr.lab.plot.points import draw_points, frame, plane_of
from sdpdr.lab.plot.style import colour_points, new_figure, to_svg
from sdpdr.program import Solution

# Identifiers must be unique in a notebook.
_numbers = count(1)


def picture(solution: Solution) -> str:
    """Draw the embedding with the multipliers of its edges; nothing without a matrix.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    str
        A fragment of HTML: one SVG, whose ink follows the page.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> text = picture(sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))))
    >>> text.startswith('<svg'), text.rstrip().endswith('</svg>')
    (True, True)
    """
    matrices = [value for value in solution.values.values() if value.ndim == 2 and len(value)]
    if not matrices:
        return ""
    plane = plane_of(solution.embedding(min(2, len(solution.gram()))))
    weights = weights_of(solution)
    figure = new_figure(4.4, 3.4)
    axes = figure.add_subplot()
    edges = None
    if weights is not None and np.isfinite(weights[1]).all():
        draw_springs(axes, plane, *weights)
    elif weights is not None:  # No multipliers, so the edges are drawn alike.
        edges = weights[0]
    draw_points(axes, plane, colour_points(None, len(plane)), 12.0, edges)
    frame(axes, plane)
    name = f"sdpdr-picture-{next(_numbers)}"
    return to_svg(figure, name, f"Embedding of {len(plane)} points in the plane")
