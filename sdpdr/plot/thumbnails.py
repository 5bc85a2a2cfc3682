"""Images instead of points, where there is room."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from sdpdr.errors import ShapeError
from sdpdr.plot.style import Array

# Side of a thumbnail over the larger side of the picture.
SIDE = 0.034


def draw_thumbnails(axes: Axes, Y: Array, images: Array, rgba: Array) -> None:
    """Draw images of a well spread part of the points.

    Parameters
    ----------
    axes : Axes
        Its limits are kept.
    Y : ndarray of shape (n, 2)
    images : ndarray of shape (n, h, w)
        Larger is more ink.
    rgba : ndarray of shape (n, 4)
        Colour of the ink.

    Raises
    ------
    ShapeError
    """
    if images.ndim != 3 or len(images) != len(Y):
        raise ShapeError(
            f"images have shape {images.shape}; {len(Y)} points need shape ({len(Y)}, h, w)."
        )
    limits = (*axes.get_xlim(), *axes.get_ylim())
    side = SIDE * max(limits[1] - limits[0], limits[3] - limits[2])
    ink = images / max(float(images.max()), 1e-12)
    for k in spread_out(Y, side):
        picture = np.broadcast_to(rgba[k], (*images.shape[1:], 4)).copy()
        picture[..., 3] = np.clip(ink[k], 0.0, 1.0)
        x, y = Y[k]
        box = (x - side / 2, x + side / 2, y - side / 2, y + side / 2)
        axes.imshow(picture, extent=box, zorder=3, interpolation="nearest", aspect="equal")
    axes.axis(limits)


def spread_out(Y: Array, side: float) -> list[int]:
    """Points at which squares of a side do not overlap, each the furthest from all before it.

    Parameters
    ----------
    Y : ndarray of shape (n, 2)
    side : float

    Examples
    --------
    >>> spread_out(np.array([[0.0, 0.0], [0.1, 0.0], [3.0, 0.0]]), side=1.0)
    [2, 0]
    """
    chosen = [int(np.abs(Y - Y.mean(axis=0)).max(axis=1).argmax())]
    distance = np.abs(Y - Y[chosen[0]]).max(axis=1)
    while distance.max() > side:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, np.abs(Y - Y[chosen[-1]]).max(axis=1))
    return chosen
