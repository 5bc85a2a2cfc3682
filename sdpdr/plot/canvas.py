"""The plane that points and edges are drawn in."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import ArrayLike

from sdpdr.errors import DataError, ShapeError
from sdpdr.plot.style import MANY, WIDE, Array


def plane(Y: ArrayLike) -> Array:
    """First two coordinates of every point; zeros stand for a second one that is not there."""
    array = np.asarray(Y, dtype=float)
    if array.ndim != 2 or array.size == 0:
        raise ShapeError(f"Y has shape {array.shape}: pass one row per point, shape (n, d).")
    if not np.isfinite(array).all():
        raise DataError("Y has entries that are not finite: leave out the points without a place.")
    flat = np.zeros((len(array), 2))
    flat[:, : array.shape[1]] = array[:, :2]
    return flat


def segments(Y: Array, edges: ArrayLike, **style: object) -> LineCollection:
    """The edges of a graph as lines between points of the plane."""
    pairs = np.asarray(edges).reshape(-1, 2)
    if pairs.size and not (0 <= pairs.min() and pairs.max() < len(Y)):
        raise ShapeError(
            f"edges name points from {pairs.min()} to {pairs.max()}, but there are {len(Y)}."
        )
    return LineCollection(list(Y[pairs]), rasterized=len(pairs) > MANY, **style)


def frame(axes: Axes, Y: Array) -> None:
    """Limits around the points, a margin included, to one scale."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    margin = 0.04 * max(float((high - low).max()), 1e-12)
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)
    axes.set_aspect("equal", adjustable="box")
    axes.locator_params(nbins=6)
    if high[1] == low[1]:
        axes.set_yticks([])
        axes.set_ylabel("")


def suitable_size(Y: Array) -> tuple[float, float]:
    """Inches that suit the shape of the cloud."""
    spread = np.ptp(Y, axis=0)
    ratio = float(spread[1] / spread[0]) if spread[0] > 0 else 1.0
    return WIDE, float(np.clip(WIDE * ratio * 0.9 + 0.7, 1.6, 6.4))
