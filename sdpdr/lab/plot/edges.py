"""Edges of an embedding: their changes of length, and their multipliers."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.lab.plot.points import draw_edges, frame, is_flat, plane_of, size_of
from sdpdr.lab.plot.style import DIVERGING, FAINT, SEQUENCE, draw_colour_bar, entitle, new_figure

# A few edges may change, or carry, far more than all others: scales end at a high quantile.
_TOP, _MOST = 0.98, 0.99
# Smaller changes count as none.
_LEAST_CHANGE = 1e-3
# Edges whose weight is below this share of the quantile are drawn as slack.
SLACK = 1e-3
SPRINGS = ScalarMappable(LogNorm(SLACK, 1.0), SEQUENCE)
SPRINGS_LABEL = "dual weight / its 99th percentile"


@checks_keywords
def edge_changes(Y: ArrayLike, edges: ArrayLike, changes: ArrayLike, *, title: str = "") -> Figure:
    """Draw the edges of an embedding by how their length has changed.

    Parameters
    ----------
    Y : array_like of shape (n, d)
    edges : array_like of int, shape (m, 2)
    changes : array_like of shape (m,)
        Relative changes, ``edge_changes``: negative where an edge shrank (blue),
        positive where it was stretched (red). The scale ends at the 98th percentile of their size.
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    DataError
        Changes or points are not finite.
    ShapeError
        The arrays do not fit together.

    Examples
    --------
    >>> from sdpdr.plot import edge_changes
    >>> figure = edge_changes([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0, 1], [1, 2]], [-0.2, 0.1])
    """
    plane = plane_of(Y)
    pairs, change = _one_each("changes", edges, changes)
    if not np.isfinite(change).all():
        raise DataError("changes hold NaN or infinity, which have no colour.")
    size = np.abs(change)
    top = max(float(np.quantile(size, _TOP)) if size.size else 0.0, _LEAST_CHANGE)
    scale = ScalarMappable(Normalize(-top, top), DIVERGING)
    order = np.argsort(size)
    figure, axes = _new(plane, scale, "change of length", title)
    draw_edges(
        axes, plane, pairs[order], colors=scale.to_rgba(change[order]),
        linewidths=0.6 + 2.4 * np.minimum(size[order] / top, 1.0),
    )  # fmt: skip
    axes.scatter(plane[:, 0], plane[:, 1], s=3.0, color=FAINT, linewidths=0, zorder=2)
    bar = figure.axes[-1]
    axis = bar.xaxis if is_flat(plane) else bar.yaxis
    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(PercentFormatter(1.0, decimals=None if top > 0.02 else 1))
    return figure


@checks_keywords
def dual_weights(Y: ArrayLike, edges: ArrayLike, weights: ArrayLike, *, title: str = "") -> Figure:
    r"""Draw the edges of an embedding by their dual weight.

    The multipliers of Maximum Variance Unfolding are the tensions of a spring network in
    equilibrium: :math:`L(w) Y = \lambda_2 Y`. The scale ends at their 99th percentile; edges
    that carry less than a thousandth of that are drawn thin and grey.

    Parameters
    ----------
    Y : array_like of shape (n, d)
    edges : array_like of int, shape (m, 2)
    weights : array_like of shape (m,)
        ``solution.duals["isometry"]``. Their absolute values are drawn.
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    DataError
        Weights or points are not finite.
    ShapeError
        The arrays do not fit together.

    References
    ----------
    Vasiloglou thesis, section 3.1; Sun, Boyd, Xiao and Diaconis, "The fastest mixing Markov
    process on a graph and a connection to a maximum variance unfolding problem", SIAM Review 48
    (2006).

    Examples
    --------
    >>> from sdpdr.plot import dual_weights
    >>> figure = dual_weights([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0, 1], [1, 2]], [1.0, 0.0])
    """
    plane = plane_of(Y)
    pairs, weight = _one_each("weights", edges, weights)
    figure, axes = _new(plane, SPRINGS, SPRINGS_LABEL, title)
    draw_springs(axes, plane, pairs, weight)
    return figure


def draw_springs(axes: Axes, plane: Array, pairs: np.ndarray, weight: Array) -> None:
    """Draw edges in the colour and width of their dual weight, the heaviest on top."""
    load = loads(weight)
    carries = load > SLACK
    order = np.flatnonzero(carries)[np.argsort(load[carries])]
    draw_edges(axes, plane, pairs[~carries], colors=FAINT, linewidths=0.4, alpha=0.5)
    draw_edges(
        axes, plane, pairs[order], colors=SPRINGS.to_rgba(load[order]),
        linewidths=spring_width(load[order]),
    )  # fmt: skip


def loads(weights: Array) -> Array:
    """Return dual weights relative to their 99th percentile, at most one.

    If that is zero, they are relative to the largest weight.
    """
    if not np.isfinite(weights).all():
        raise DataError(
            "weights hold NaN or infinity, and springs have no load then: pass multipliers of a "
            "solution that has them (its report says why it has none)."
        )
    size = np.abs(weights)
    top = float(np.quantile(size, _MOST)) if size.size else 0.0
    return np.minimum(size / (top or float(np.max(size, initial=0.0)) or 1.0), 1.0)


def spring_width(load: Array) -> Array:
    """Return the width of springs by their loads: it grows as their square root."""
    return 0.5 + 3.0 * np.sqrt(load)


def _one_each(name: str, edges: ArrayLike, values: ArrayLike) -> tuple[np.ndarray, Array]:
    """Return edges and one number for each as arrays."""
    pairs, given = np.asarray(edges), np.asarray(values, dtype=float)
    if given.shape != (len(pairs),):
        raise ShapeError(
            f"{name} have shape {given.shape} but there are {len(pairs)} edges: pass one each."
        )
    return pairs, given


def _new(plane: Array, scale: ScalarMappable, label: str, title: str) -> tuple[Figure, Axes]:
    """A figure with room for the edges, and the scale of their colours."""
    figure = new_figure(*size_of(plane, title=title))
    axes = figure.add_subplot()
    frame(axes, plane)
    entitle(axes, title)
    draw_colour_bar([axes], scale, label, below=is_flat(plane))
    return figure, axes
