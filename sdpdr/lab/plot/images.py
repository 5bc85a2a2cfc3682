"""Pictures of the points themselves, laid where the points are."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError

# Heights of a picture as parts of the larger extent of the points, the largest first.
HEIGHTS = tuple(np.geomspace(0.13, 0.026, 12))
# So many pictures should be seen; the largest height that leaves room for them is taken.
ENOUGH = 55


def draw_images(
    axes: Axes, plane: Array, images: Array, colours: Array, photos: bool = False
) -> None:
    """Draw as many of the pictures as find room without overlap, and widen the axes for them."""
    channels = (3,) if photos else ()
    grey = images.ndim == 3
    if len(images) != len(plane) or not (grey or images.shape[3:] == channels):
        wanted = "(n, height, width) or (n, height, width, 3)" if photos else "(n, height, width)"
        raise ShapeError(
            f"images have shape {images.shape} but there are {len(plane)} points: pass an array "
            f"of shape {wanted}."
        )
    extent = float(np.max(np.ptp(plane, axis=0))) or 1.0
    ratio = images.shape[2] / images.shape[1]
    kept, height = _fitting(plane, extent, ratio)
    half = 0.5 * height * np.array([ratio, 1.0])
    low, high = plane[kept] - half, plane[kept] + half
    limits = axes.get_xlim(), axes.get_ylim()
    top = float(np.abs(images).max()) or 1.0
    for i, (left, bottom), (right, upper) in zip(kept, low, high, strict=True):
        if photos:
            picture = images[i] / top
            axes.add_patch(_rim(left, bottom, right - left, upper - bottom, colours[i]))
        else:
            picture = _inked(images[i] / top, colours[i])
        axes.imshow(
            picture, extent=(left, right, bottom, upper), cmap="gray", vmin=0.0, vmax=1.0,
            interpolation="bilinear", zorder=3,
        )  # fmt: skip
    pad = 0.02 * extent
    axes.set_xlim(min(limits[0][0], low[:, 0].min() - pad), max(limits[0][1], high[:, 0].max()))
    axes.set_ylim(min(limits[1][0], low[:, 1].min() - pad), max(limits[1][1], high[:, 1].max()))


def apart(plane: Array, width: float, height: float) -> list[int]:
    """Points, first come first served, around which boxes of that size do not overlap."""
    kept: list[int] = []
    for i, point in enumerate(plane):
        steps = np.abs(plane[kept] - point) / [width, height]
        if not kept or steps.max(axis=1).min() >= 1.0:
            kept.append(i)
    return kept


def _fitting(plane: Array, extent: float, ratio: float) -> tuple[list[int], float]:
    """Points to show and the height of a picture: large, but with room for enough of them."""
    for part in HEIGHTS:
        height = extent * part / max(ratio, 1.0)
        kept = apart(plane, ratio * height, height)
        if len(kept) >= min(ENOUGH, 0.4 * len(plane)):
            break
    return kept, height


def _inked(ink: Array, colour: Array) -> Array:
    tinted = np.empty((*ink.shape, 4))
    tinted[..., :3], tinted[..., 3] = colour[:3], np.clip(ink, 0.0, 1.0)
    return tinted


def _rim(left: float, bottom: float, width: float, height: float, colour: Array) -> Rectangle:
    return Rectangle(
        (left, bottom), width, height, fill=False, edgecolor=tuple(colour), linewidth=1.2, zorder=4
    )
