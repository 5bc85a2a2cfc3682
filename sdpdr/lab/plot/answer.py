"""Figures of a solution: its embedding, spectrum, dual weights and history."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, SolveFailedError
from sdpdr.lab.plot.curves import draw_shares, draw_sides
from sdpdr.lab.plot.edges import SPRINGS, SPRINGS_LABEL, draw_springs
from sdpdr.lab.plot.points import draw_points, frame, plane_of
from sdpdr.lab.plot.style import (
    DIVERGING,
    INK,
    colour_points,
    draw_colour_bar,
    draw_legend,
    entitle,
    explain,
    new_figure,
    printable,
    tick_whole_numbers,
    tidy,
    to_svg,
)
from sdpdr.program import Solution
from sdpdr.program.point import as_dense

# Eigenvalues that are drawn, inches of a panel, and the area of a dot.
_LEADING, _WIDTH, _HEIGHT, _DOT = 10, 4.8, 3.4, 12.0
# Pixels of a panel: of a larger matrix no entry could be seen.
_PIXELS = 500
# Identifiers must be unique in a notebook.
_numbers = count(1)


def answer(solution: Solution, colour: ArrayLike | None = None, *, title: str = "") -> Figure:
    """Draw all panels that a solution has data for; see `sdpdr.Solution.plot`."""
    panels = _panels(solution, colour)
    rows = (len(panels) + 1) // 2
    figure = new_figure(_WIDTH * min(len(panels), 2), _HEIGHT * rows + 0.4)
    places = np.atleast_1d(figure.subplots(rows, min(len(panels), 2))).ravel()
    for axes in places[len(panels) :]:
        axes.remove()
    for axes, (name, draw) in zip(places, panels.items(), strict=False):
        draw(axes)
        entitle(axes, name)
    words = title or f"{solution.status.name}, proven gap {solution.gap:.1e}"
    figure.suptitle(printable(words), color=INK, fontsize=12, x=0.02, ha="left")
    return figure


def _panels(solution: Solution, colour: ArrayLike | None) -> dict[str, Callable[[Axes], None]]:
    """Return the panels that a solution has data for, by name."""
    if not solution.values:
        raise SolveFailedError(
            f"There is no point ({solution.status.name}), so there is nothing to draw; "
            "solution.report() says what is known."
        )
    panels: dict[str, Callable[[Axes], None]] = {}
    if _has_matrix(solution):
        spectrum = solution.spectrum()
        plane = plane_of(solution.embedding(min(2, len(solution.gram()))))
        edges, weights = _springs(solution)
        if not solution.edges and colour is None and len(plane) <= _PIXELS:
            name = next(name for name, value in solution.values.items() if value.ndim == 2)
            panels[f"matrix {name}"] = partial(_draw_matrix, matrix=as_dense(solution.gram(name)))
        panels["embedding"] = partial(_draw_points, plane=plane, colour=colour, edges=edges)
        if spectrum[0] > 0.0:
            panels["spectrum"] = partial(_draw_spectrum, spectrum=spectrum)
        if edges is not None and weights is not None:
            panels["springs"] = partial(_draw_springs, plane=plane, edges=edges, weights=weights)
    if solution.history:
        panels["history"] = partial(_draw_history, solution=solution)
    if not panels:
        raise DataError(
            f"the solution has numbers only ({', '.join(solution.values)}), and its solver reports "
            "no history: nothing to draw. solution.report() lists values and multipliers."
        )
    return panels


def _has_matrix(solution: Solution) -> bool:
    return any(value.ndim == 2 and len(value) for value in solution.values.values())


def _springs(solution: Solution) -> tuple[Index | None, Array | None]:
    """The first edges whose lengths are constrained, and their multipliers if they are finite."""
    for label, edges in solution.edges.items():
        weights = solution.duals.get(label)
        if weights is not None and len(edges):
            return edges, weights if np.isfinite(weights).all() else None
    return None, None


def _draw_points(axes: Axes, plane: Array, colour: ArrayLike | None, edges: Index | None) -> None:
    colouring = colour_points(colour, len(plane))
    draw_points(axes, plane, colouring, _DOT, edges)
    frame(axes, plane)
    explain(colouring, "", [axes], axes, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_matrix(axes: Axes, matrix: Array) -> None:
    """Draw a matrix that holds no positions of points, entry by entry."""
    top = float(np.max(np.abs(matrix))) or 1.0
    image = axes.imshow(matrix, cmap=DIVERGING, vmin=-top, vmax=top, interpolation="nearest")
    axes.figure.colorbar(image, ax=axes)
    axes.set_xticks([])
    axes.set_yticks([])


def _draw_spectrum(axes: Axes, spectrum: Array) -> None:
    draw_shares(axes, spectrum, _LEADING)
    tick_whole_numbers(axes)
    tidy(axes, x="eigenvalue", y="share of variance")


def _draw_springs(axes: Axes, plane: Array, edges: Index, weights: Array) -> None:
    draw_springs(axes, plane, edges, weights)
    frame(axes, plane)
    draw_colour_bar([axes], SPRINGS, SPRINGS_LABEL)


def _draw_history(axes: Axes, solution: Solution) -> None:
    draw_sides(axes, solution.history)
    tick_whole_numbers(axes)
    tidy(axes, x="iteration", y="value")
    draw_legend(axes)


def picture(solution: Solution) -> str:
    """Return the embedding with its springs as SVG for a notebook; nothing without a matrix."""
    if not _has_matrix(solution):
        return ""
    plane = plane_of(solution.embedding(min(2, len(solution.gram()))))
    edges, weights = _springs(solution)
    figure = new_figure(4.4, 3.4)
    axes = figure.add_subplot()
    if edges is not None and weights is not None:
        draw_springs(axes, plane, edges, weights)
        edges = None
    draw_points(axes, plane, colour_points(None, len(plane)), _DOT, edges)
    frame(axes, plane)
    name = f"sdpdr-picture-{next(_numbers)}"
    return to_svg(figure, name, f"Embedding of {len(plane)} points in the plane")
