"""Pictures of points: one embedding or several in the plane, and the path of an agent."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.lab.plot.style import (
    CLASSES,
    FAINT,
    INK,
    MANY,
    MOST_CLASSES,
    Colouring,
    colour_points,
    draw_legend,
    entitle,
    explain,
    literal,
    new_figure,
    note,
    printable,
)

# Inches of the width of a flat figure.
_WIDE = 8.4
_BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}


@checks_keywords
def trajectory(
    Y: ArrayLike,
    actions: str | Sequence[Hashable],
    *,
    ax: Axes | None = None,
    title: str = "",
) -> Figure:
    """Draw every step of a path as an arrow in the colour of its action.

    Where an embedding respects actions, arrows of one colour are moved copies of each other.

    Parameters
    ----------
    Y : array_like of shape (n, d)
        A place for each state; the first two columns are drawn.
    actions : str or sequence of labels
        One for each step from a state to the next; ``None`` is drawn grey.
    ax : matplotlib Axes, optional
        Where to draw; by default in a figure of its own.
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    DataError
        There are more than ten different actions.
    ShapeError
        There is not one action for each step.

    Examples
    --------
    >>> from sdpdr.plot import trajectory
    >>> figure = trajectory([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], "RU", title="two steps")
    >>> figure.axes[0].get_title("left")
    'two steps'
    """
    plane = plane_of(Y)
    labels, steps = list(actions), len(plane) - 1
    if len(labels) != steps:
        raise ShapeError(f"{len(labels)} actions for {steps} steps: pass one for each step.")
    names = sorted({a for a in labels if a is not None}, key=str)
    if len(names) > MOST_CLASSES:
        raise DataError(f"{len(names)} actions cannot be distinguished by colour; at most ten can.")
    colour = dict(zip(names, CLASSES, strict=False))
    if ax is None:
        ax = new_figure(*size_of(plane, len(names))).add_subplot()
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    move = np.diff(plane, axis=0)
    ax.scatter(plane[:, 0], plane[:, 1], s=6.0, color=INK, linewidths=0, zorder=3)
    ax.quiver(
        *plane[:-1].T, *move.T, color=[colour.get(a, FAINT) for a in labels],
        angles="xy", scale_units="xy", scale=1.0, width=0.005, headwidth=4.5, headlength=5.5,
        headaxislength=5.0, alpha=0.9, zorder=2,
    )  # fmt: skip
    frame(ax, plane)
    entitle(ax, title)
    if names:
        keys = [Line2D([], [], color=colour[name], linewidth=2, label=str(name)) for name in names]
        draw_legend(ax, "action", handles=keys, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


@checks_keywords
def embedding(
    Y: ArrayLike,
    colour: ArrayLike | None = None,
    *,
    edges: ArrayLike | None = None,
    images: ArrayLike | None = None,
    names: ArrayLike | None = None,
    label: str = "",
    title: str = "",
) -> Figure:
    """Draw an embedding, with one unit the same length along both axes.

    Parameters
    ----------
    Y : array_like of shape (n, d), or fitted estimator
        The first two columns are drawn; a single one is drawn along a line. An estimator,
        such as `sdpdr.MVU`, stands for its ``embedding_``.
    colour : array_like of shape (n,), optional
        Text, truth values and whole numbers of at most ten kinds are classes, with a legend;
        other numbers are quantities, with a colour bar.
    edges : array_like of int, shape (m, 2), optional
        Edges of a graph, drawn below the points.
    images : array_like of shape (n, height, width), optional
        Picture of each point, 0 for paper and the largest value for ink. As many as find room
        without overlap are drawn in the colour of their point; the rest stay dots.
    names : array_like of str, shape (n,), optional
        Name of each point. As many as find room without overlap are written beside their points.
    label : str, optional
        What the colour means.
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    DataError, ShapeError
        The arrays do not fit together.

    Examples
    --------
    >>> from sdpdr.plot import embedding
    >>> figure = embedding([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]], ["a", "b", "a"])
    >>> len(figure.axes)
    1
    """
    plane = plane_of(Y)
    colouring = colour_points(colour, len(plane))
    lines, entries = _legend_lines(colouring.names, _WIDE)
    below = 0.25 + 0.2 * lines if colouring.names else 0.6 if colouring.scale is not None else 0.0
    figure = new_figure(*size_of(plane, len(colouring.names), title, below))
    axes = figure.add_subplot()
    if images is None:
        draw_points(axes, plane, colouring, _dot(len(plane)), edges, alpha=0.9)
    else:
        draw_points(axes, plane, colouring, 3.0, edges, alpha=0.45)
    frame(axes, plane)
    if images is not None:
        draw_images(axes, plane, np.asarray(images, dtype=float), colouring.colours)
    entitle(axes, title)
    if is_flat(plane):
        explain(
            colouring, label, [axes], figure, below=True, loc="outside lower left", ncols=entries
        )
    else:
        explain(colouring, label, [axes], axes, **_BESIDE)
    if names is not None:
        _draw_names(axes, plane, names)
    return figure


def _draw_names(axes: Axes, plane: Array, given: ArrayLike) -> None:
    """Write names beside their points, each only where it covers no point and no other name."""
    names = np.asarray(given, dtype=str)
    if names.shape != (len(plane),):
        raise ShapeError(
            f"names have shape {names.shape} but there are {len(plane)} points: pass one each."
        )
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()  # places the axes, and with them the points
    points, taken = axes.transData.transform(plane), np.zeros((0, 4))
    for name, point in zip(names.tolist(), plane, strict=True):
        text = axes.annotate(
            literal(name), point, (4, 3), textcoords="offset points", color=INK, fontsize=7
        )
        box = text.get_window_extent()
        over_point = np.all((points > box.min) & (points < box.max), axis=1)
        over_name = np.all((taken[:, :2] < box.max) & (taken[:, 2:] > box.min), axis=1)
        if over_point.any() or over_name.any():
            text.remove()
        else:
            taken = np.vstack([taken, box.extents])


def plane_of(Y: Any) -> Array:
    """Return the first two coordinates of points or of a fitted estimator; one becomes a line."""
    if hasattr(Y, "get_params"):
        if not hasattr(Y, "embedding_"):
            raise DataError(
                f"{type(Y).__name__} has no embedding_ to draw: fit it first; of an estimator that "
                "maps points, pass what its transform returns."
            )
        Y = Y.embedding_
    points = np.asarray(Y, dtype=float)
    if points.ndim != 2 or not points.size:
        raise ShapeError(f"points have shape {points.shape}; pass one row each, with coordinates.")
    if not np.isfinite(points).all():
        raise DataError("points hold NaN or infinity, which have no place in a picture.")
    return np.column_stack([points, np.zeros(len(points))])[:, :2]


def draw_points(
    axes: Axes,
    plane: Array,
    colouring: Colouring,
    size: float,
    edges: ArrayLike | None = None,
    width: float = 0.5,
    **options: Any,
) -> None:
    """Draw points as dots of an area, above the edges of a graph."""
    if edges is not None:
        draw_edges(axes, plane, edges, colors=FAINT, linewidths=width, alpha=0.45)
    look: dict[str, Any] = {"rasterized": len(plane) > MANY, "zorder": 2, "linewidths": 0}
    x, y = plane.T
    axes.scatter(x, y, s=size, c=colouring.colours, **(look | options))


def draw_edges(axes: Axes, plane: Array, edges: ArrayLike, **options: object) -> LineCollection:
    """Draw the edges of a graph as straight lines."""
    pairs = np.asarray(edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.min(initial=0) < 0:
        raise ShapeError(f"edges have shape {pairs.shape}; pass pairs of nodes, shape (m, 2).")
    if pairs.max(initial=0) >= len(plane):
        raise ShapeError(
            f"an edge ends at node {pairs.max()} but there are {len(plane)} points: the embedding "
            "and the graph must be of the same nodes."
        )
    lines = LineCollection(
        list(plane[pairs]), rasterized=len(pairs) > MANY, capstyle="round", zorder=1, **options
    )
    axes.add_collection(lines)
    return lines


def frame(axes: Axes, plane: Array) -> None:
    """Draw a scale bar instead of axes: position and rotation of an embedding mean nothing."""
    low, high = plane.min(axis=0), plane.max(axis=0)
    margin = 0.04 * float(np.max(high - low)) or 1.0
    look_at(axes, low - margin * np.array([1.0, 2.2]), high + margin)
    if high[0] > low[0]:
        wanted = 0.2 * float(high[0] - low[0])
        power = 10.0 ** np.floor(np.log10(wanted))
        length = max(step * power for step in (1, 2, 5) if step * power <= wanted * (1 + 1e-9))
        x, y = low[0], low[1] - 1.4 * margin
        axes.plot([x, x + length], [y, y], color=FAINT, linewidth=1.4, solid_capstyle="butt")
        note(axes, f"{length:g}", (x + length, y), (5, 0), va="center")


def look_at(axes: Axes, low: Array, high: Array) -> None:
    """Show the rectangle between two corners, with equal scales and without axes."""
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal", adjustable="box")
    axes.set_facecolor("none")
    axes.set_axis_off()


def size_of(
    plane: Array, n_classes: int = 0, title: str = "", below: float = 0.8
) -> tuple[float, float]:
    """Return the inches that suit the shape of the points; ``below`` are those of a legend."""
    width, height = np.ptp(plane, axis=0)
    ratio = min(float(height / width) if width > 0.0 else 1.0, 1.3)
    above = 0.35 if title else 0.0
    if is_flat(plane):
        return _WIDE, 7.8 * (ratio + 0.13) + below + above
    inches = 6.4 if ratio <= 1.0 else 6.4 / ratio
    return inches + (1.2 if n_classes else 0.9), inches * ratio + 0.4 + above


def is_flat(plane: Array) -> bool:
    """Whether points are so much wider than high that the legend goes below."""
    width, height = np.ptp(plane, axis=0)
    return bool(height < 0.45 * width)


def _dot(n: int) -> float:
    """Return the area of a dot at which n dots can be distinguished."""
    return float(np.clip(9000.0 / n, 5.0, 40.0))


# -- several embeddings --------------------------------------------------------------------------

# Inches of a panel, of the text above it, of an entry of the legend without its name, and of one
# letter of the name.
_PANEL, _TEXT, _ENTRY, _LETTER = 2.2, 0.55, 0.5, 0.09


@checks_keywords
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
    >>> from sdpdr.plot import embeddings
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
    width = _PANEL * columns + 0.2
    lines, entries = _legend_lines(colouring.names, width)
    legend = 0.35 + 0.2 * lines if colouring.names or colouring.scale is not None else 0.0
    extents = [np.ptp(plane, axis=0) for plane in planes.values()]
    # Height of the panels over their width: that of the tallest embedding, within reason.
    ratio = float(np.clip(max(h / w if w > 0.0 else 1.0 for w, h in extents), 0.3, 1.0))
    figure = new_figure(width, (_PANEL * ratio + _TEXT) * rows + legend)
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(w_pad=0.09, h_pad=0.05, wspace=0.03, hspace=0.03)
    panels = figure.subplots(rows, columns, squeeze=False)
    for axes in panels.flat[len(planes) :]:
        axes.set_axis_off()
    size = float(np.clip(2500.0 / n, 2.5, 18.0))
    for axes, (name, plane) in zip(panels.flat, planes.items(), strict=False):
        draw_points(axes, plane, colouring, size, edges, 0.35, rasterized=n * len(planes) > MANY)
        _frame_alike(axes, plane, ratio)
        below = (notes or {}).get(name, "")
        axes.set_title(printable(name), loc="left", color=INK, fontsize=10, pad=16 if below else 5)
        if below:
            note(axes, below, (0.0, 1.0), (0, 5), xycoords="axes fraction", alpha=0.75)
    explain(
        colouring, label, list(panels.flat), figure, below=True, loc="outside lower center",
        ncols=entries,
    )  # fmt: skip
    return figure


def _legend_lines(names: Sequence[str], width: float) -> tuple[int, int]:
    """Lines of a legend that is no wider than the figure, and entries on each."""
    if not names:
        return 1, 0
    fitting = max(int(width / (_ENTRY + _LETTER * max(map(len, names)))), 1)
    lines = -(-len(names) // fitting)
    return lines, -(-len(names) // lines)


def _frame_alike(axes: Axes, plane: Array, ratio: float) -> None:
    """Frame a panel of the common shape, with equal scales along both axes."""
    middle = (plane.min(axis=0) + plane.max(axis=0)) / 2.0
    width, height = np.ptp(plane, axis=0)
    half = 0.53 * max(width, height / ratio, 1e-9)
    reach = half * np.array([1.0, ratio])
    look_at(axes, middle - reach, middle + reach)


# -- pictures of the points ----------------------------------------------------------------------

# Least and largest height of an image, relative to the larger extent of the points.
_HEIGHTS = (0.026, 0.13)


def draw_images(axes: Axes, plane: Array, images: Array, colours: Array) -> None:
    """Draw as many images as fit without overlap, and widen the axes for them."""
    if len(images) != len(plane) or images.ndim != 3:
        raise ShapeError(
            f"images have shape {images.shape} but there are {len(plane)} points: pass an array "
            "of shape (n, height, width)."
        )
    extent = float(np.max(np.ptp(plane, axis=0))) or 1.0
    ratio = images.shape[2] / images.shape[1]
    # Smaller pictures for more points, so that many of them find room.
    height = extent * float(np.clip(len(plane) ** -0.5, *_HEIGHTS)) / max(ratio, 1.0)
    kept = _apart(plane, ratio * height, height)
    half = 0.5 * height * np.array([ratio, 1.0])
    low, high = plane[kept] - half, plane[kept] + half
    limits = axes.get_xlim(), axes.get_ylim()
    top = float(np.abs(images).max()) or 1.0
    for i, (left, bottom), (right, upper) in zip(kept, low, high, strict=True):
        inked = np.empty((*images[i].shape, 4))
        inked[..., :3], inked[..., 3] = colours[i][:3], np.clip(images[i] / top, 0.0, 1.0)
        axes.imshow(inked, extent=(left, right, bottom, upper), interpolation="bilinear", zorder=3)
    pad = 0.02 * extent
    axes.set_xlim(min(limits[0][0], low[:, 0].min() - pad), max(limits[0][1], high[:, 0].max()))
    axes.set_ylim(min(limits[1][0], low[:, 1].min() - pad), max(limits[1][1], high[:, 1].max()))


def _apart(plane: Array, width: float, height: float) -> list[int]:
    """Select points greedily so that boxes of a size around them do not overlap."""
    kept: list[int] = []
    for i, point in enumerate(plane):
        steps = np.abs(plane[kept] - point) / [width, height]
        if not kept or steps.max(axis=1).min() >= 1.0:
            kept.append(i)
    return kept
