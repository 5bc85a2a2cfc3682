"""An answer on one page: where its points lie, what holds them, and how the solver got there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

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
)
from sdpdr.program import Solution

# Eigenvalues that are drawn, and inches of a panel.
_LEADING, _WIDTH, _HEIGHT = 10, 4.8, 3.4

_Draw = Callable[[Axes], None]


def answer(solution: Solution, colour: ArrayLike | None = None, *, title: str = "") -> Figure:
    """Draw what an answer has: its embedding, spectrum, springs, and the solver's history.

    Parameters
    ----------
    solution : Solution
    colour : array_like of shape (n,), optional
        As for `embedding`.
    title : str, optional
        By default the status and the proven gap.

    Returns
    -------
    Figure
        A panel for each; the springs are drawn where rows are lengths of edges and have
        multipliers (some are nan where rows expose a face, and none is drawn then), the history
        where the solver reports one.

    Raises
    ------
    SolveFailedError
        There is no point.
    DataError
        There is nothing to draw: no matrix and no history.
    ShapeError
        There is not one colour for each point.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> solution = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), "clarabel")
    >>> [axes.get_title("left") for axes in answer(solution).axes][:3]
    ['embedding', 'spectrum', 'springs']
    """
    panels = panels_of(solution, colour)
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


def panels_of(solution: Solution, colour: ArrayLike | None) -> dict[str, _Draw]:
    """The panels that a solution has something for, by their names."""
    if not solution.values:
        raise SolveFailedError(
            f"There is no point ({solution.status.name}), so there is nothing to draw; "
            "solution.report() says what is known."
        )
    panels: dict[str, _Draw] = {}
    if any(value.ndim == 2 and len(value) for value in solution.values.values()):
        spectrum = solution.spectrum()
        plane = plane_of(solution.embedding(min(2, len(solution.gram()))))
        weights = weights_of(solution)
        edges = None if weights is None else weights[0]
        panels["embedding"] = partial(_draw_points, plane=plane, colour=colour, edges=edges)
        if spectrum[0] > 0.0:
            panels["spectrum"] = partial(_draw_spectrum, spectrum=spectrum)
        if weights is not None and np.isfinite(weights[1]).all():
            panels["springs"] = partial(_draw_springs, plane=plane, weights=weights)
    if solution.history:
        panels["history"] = partial(_draw_history, solution=solution)
    if not panels:
        raise DataError("the program has no matrix and its solver no history: nothing to draw.")
    return panels


def weights_of(solution: Solution) -> tuple[Index, Array] | None:
    """Edges and the multipliers of their lengths, of the first rows that have both."""
    for label, edges in solution.edges.items():
        weights = solution.duals.get(label)
        if weights is not None and len(edges):
            return edges, weights
    return None


def _draw_points(axes: Axes, plane: Array, colour: ArrayLike | None, edges: Index | None) -> None:
    colouring = colour_points(colour, len(plane))
    draw_points(axes, plane, colouring, 12.0, edges)
    frame(axes, plane)
    explain(colouring, "", [axes], axes, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_spectrum(axes: Axes, spectrum: Array) -> None:
    draw_shares(axes, spectrum, _LEADING)
    tick_whole_numbers(axes)
    tidy(axes, x="eigenvalue", y="share of variance")


def _draw_springs(axes: Axes, plane: Array, weights: tuple[Index, Array]) -> None:
    draw_springs(axes, plane, *weights)
    frame(axes, plane)
    draw_colour_bar([axes], SPRINGS, SPRINGS_LABEL)


def _draw_history(axes: Axes, solution: Solution) -> None:
    draw_sides(axes, solution.history)
    tick_whole_numbers(axes)
    tidy(axes, x="iteration", y="value")
    draw_legend(axes)
