"""Points in the plane and in space."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from sdpdr.errors import ShapeError
from sdpdr.plot.canvas import frame, plane, segments, suitable_size
from sdpdr.plot.coloring import Coloring, coloring
from sdpdr.plot.style import HALF, INK, LINE, MANY, SMALL, Array, dress, new_figure
from sdpdr.plot.thumbnails import draw_thumbnails


def embedding(
    Y: ArrayLike,
    color: ArrayLike | None = None,
    *,
    edges: ArrayLike | None = None,
    images: ArrayLike | None = None,
    title: str = "",
    label: str = "",
) -> Figure:
    """Picture of the first two coordinates of an embedding, both to one scale.

    Parameters
    ----------
    Y : array_like of shape (n, d)
        With d = 1 the points lie on a line.
    color : array_like of shape (n,), optional
        Values or classes: text, truth values, and at most ten different whole numbers are classes.
    edges : array_like of int, shape (m, 2), optional
        Edges of a graph to draw behind the points.
    images : array_like of shape (n, h, w), optional
        Grey values, larger is more ink. Drawn, in the colours of their points, at as many
        well spread points as there is room for.
    title, label : str, default ""
        Title of the figure, and of its colours.

    Returns
    -------
    matplotlib.figure.Figure
        Not known to pyplot; save it with ``figure.savefig(path)``.

    Raises
    ------
    DataError
        Y is empty or not finite.
    ShapeError
        The arguments do not fit together.

    Examples
    --------
    >>> figure = embedding([[0, 0], [1, 0], [0, 1]], ["a", "b", "a"], title="Three points")
    >>> len(figure.axes)
    1
    """
    Y = plane(Y)
    colors = coloring(len(Y), color)
    figure = new_figure(*suitable_size(Y))
    axes = dress(figure.add_subplot(), "coordinate 1", "coordinate 2", title)
    if edges is not None:
        axes.add_collection(segments(Y, edges, colors=LINE, linewidths=0.6, zorder=1))
    _points(axes, Y, colors, faint=images is not None)
    frame(axes, Y)
    if images is not None:
        draw_thumbnails(axes, Y, np.asarray(images, dtype=float), colors.rgba)
    colors.explain(axes, label)
    return figure


def cloud(X: ArrayLike, color: ArrayLike | None = None, *, title: str = "") -> Figure:
    """Picture of points in space, as data look before they are embedded.

    Parameters
    ----------
    X : array_like of shape (n, 3)
    color : array_like of shape (n,), optional
        As for `embedding`.
    title : str, default ""

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from sdpdr import datasets
    >>> figure = cloud(*datasets.swiss_roll(100))
    """
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 3:
        raise ShapeError(f"X has shape {X.shape}: pass points in space, of shape (n, 3).")
    figure = new_figure(HALF, 3.2)
    axes = figure.add_subplot(projection="3d")
    axes.set_facecolor("none")
    rgba = coloring(len(X), color).rgba
    axes.scatter(*X.T, c=rgba, s=9, linewidths=0, depthshade=False, rasterized=len(X) > MANY)
    axes.view_init(12, -72)
    axes.set_box_aspect(np.maximum(np.ptp(X, axis=0), 1e-9), zoom=1.3)
    axes.set_axis_off()
    if title:
        axes.set_title(title, color=INK, fontsize=SMALL + 2, loc="left")
    return figure


def _points(axes: Axes, Y: Array, colors: Coloring, *, faint: bool) -> None:
    size = 5.0 if faint else float(np.clip(9000.0 / len(Y), 9.0, 60.0))
    axes.scatter(
        *Y.T, c=colors.rgba, s=size, alpha=0.45 if faint else 0.95, linewidths=0, zorder=2,
        rasterized=len(Y) > 2 * MANY,
    )  # fmt: skip
