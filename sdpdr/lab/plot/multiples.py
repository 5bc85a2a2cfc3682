"""Several embeddings of the same points, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.lab.plot.points import draw_points, look_at, plane_of
from sdpdr.lab.plot.style import (
    INK,
    MANY,
    colour_points,
    explain,
    new_figure,
    note,
    printable,
)

# Inches of a panel, and of the words above it.
PANEL, WORDS = 2.2, 0.55
# Inches of an entry of the legend without its name, and of a letter of that.
ENTRY, LETTER = 0.5, 0.09


def embeddings(
    embeddings: Mapping[str, ArrayLike],
    colour: ArrayLike | None = None,
    *,
    notes: Mapping[str, str] | None = None,
    edges: ArrayLike | None = None,
    columns: int = 3,
    label: str = "",
) -> Figure:
    """Draw several embeddings of the same points, each as large as its panel.

    Parameters
    ----------
    embeddings : mapping from name to array_like of shape (n, d)
        The first two columns are drawn. To see differences, first lay them over one another with
        ``align``.
    colour : array_like of shape (n,), optional
        As for `sdpdr.plot.embedding`; one scale for all.
    notes : mapping from name to str, optional
        A short line below a name.
    edges : array_like of int, shape (m, 2), optional
        Edges of a graph, drawn below the points.
    columns : int, default 3
        Panels in a row.
    label : str, optional
        What the colour means.

    Returns
    -------
    Figure

    Raises
    ------
    DataError, ShapeError
        There is no embedding, or the arrays do not fit together.

    Examples
    --------
    >>> corner = [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]
    >>> figure = embeddings({"corner": corner, "line": [[0.0], [1.0], [2.0]]}, ["a", "b", "a"])
    >>> [axes.get_title("left") for axes in figure.axes]
    ['corner', 'line']
    """
    if not embeddings or columns < 1:
        raise DataError("pass at least one embedding, and at least one column.")
    planes = {name: plane_of(Y) for name, Y in embeddings.items()}
    n = len(next(iter(planes.values())))
    for name, plane in planes.items():
        if len(plane) != n:
            raise ShapeError(f"{name} has {len(plane)} points but the first embedding has {n}.")
    colouring = colour_points(colour, n)
    columns = min(columns, len(planes))
    rows = -(-len(planes) // columns)
    width = PANEL * columns + 0.2
    lines, entries = _lines(colouring.names, width)
    legend = 0.35 + 0.2 * lines if colouring.names or colouring.scale is not None else 0.0
    ratio = _tallest(planes.values())
    figure = new_figure(width, (PANEL * ratio + WORDS) * rows + legend)
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(w_pad=0.09, h_pad=0.05, wspace=0.03, hspace=0.03)
    panels = figure.subplots(rows, columns, squeeze=False)
    for axes in panels.flat[len(planes) :]:
        axes.set_axis_off()
    size = float(np.clip(2500.0 / n, 2.5, 18.0))
    for axes, (name, plane) in zip(panels.flat, planes.items(), strict=False):
        draw_points(axes, plane, colouring, size, edges, 0.35, rasterized=n * len(planes) > MANY)
        _frame(axes, plane, ratio)
        _name(axes, name, (notes or {}).get(name, ""))
    explain(
        colouring, label, list(panels.flat), figure, below=True, loc="outside lower center",
        ncols=entries,
    )  # fmt: skip
    return figure


def _lines(names: Sequence[str], width: float) -> tuple[int, int]:
    """Lines of a legend that is no wider than the figure, and entries on each."""
    if not names:
        return 1, 0
    fitting = max(int(width / (ENTRY + LETTER * max(map(len, names)))), 1)
    lines = -(-len(names) // fitting)
    return lines, -(-len(names) // lines)


def _tallest(planes: Iterable[Array]) -> float:
    """Height of the panels over their width: that of the tallest embedding, within reason."""
    ratios = []
    for plane in planes:
        width, height = np.ptp(plane, axis=0)
        ratios.append(height / width if width > 0.0 else 1.0)
    return float(np.clip(max(ratios), 0.3, 1.0))


def _frame(axes: Axes, plane: Array, ratio: float) -> None:
    """One unit the same length along both axes, in a panel of the shape all panels have."""
    middle = (plane.min(axis=0) + plane.max(axis=0)) / 2.0
    width, height = np.ptp(plane, axis=0)
    half = 0.53 * max(width, height / ratio, 1e-9)
    reach = half * np.array([1.0, ratio])
    look_at(axes, middle - reach, middle + reach)


def _name(axes: Axes, name: str, words: str) -> None:
    axes.set_title(printable(name), loc="left", color=INK, fontsize=10, pad=16 if words else 5)
    if words:
        note(axes, words, (0.0, 1.0), (0, 5), xycoords="axes fraction", alpha=0.75)
