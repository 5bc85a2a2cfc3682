"""From what is known about the points to one colour each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgba
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from sdpdr.errors import ShapeError
from sdpdr.plot.style import CLASSES, FIRST, INK, LINE, MUTED, SMALL, Array, sequential

# What has no value is drawn in this grey, on light and dark pages alike.
UNKNOWN = "#9aa1ac"


@dataclass(frozen=True, eq=False)
class Coloring:
    """Colours of n points and how to explain them.

    Attributes
    ----------
    rgba : ndarray of shape (n, 4)
    classes : dict from label to colour
        Empty if the colours show values, or nothing.
    scale : ScalarMappable or None
        Set if the colours show values.
    """

    rgba: Array
    classes: dict[str, str]
    scale: ScalarMappable | None = None

    def explain(self, axes: Axes, label: str = "") -> None:
        """Add a legend of the classes, or a colour bar, beside the axes."""
        if self.classes:
            marks = [
                Line2D([], [], linestyle="", marker="o", markersize=5, color=c, label=name)
                for name, c in self.classes.items()
            ]
            axes.legend(
                handles=marks, title=label or None, loc="upper left", bbox_to_anchor=(1.0, 1.0),
                frameon=False, fontsize=SMALL, title_fontsize=SMALL, labelcolor=INK,
                handletextpad=0.1, borderaxespad=0.2,
            )  # fmt: skip
        elif self.scale is not None:
            color_bar(axes, self.scale, label)


def coloring(n: int, color: ArrayLike | None) -> Coloring:
    """Colours for n points.

    Parameters
    ----------
    n : int
    color : array_like of shape (n,), optional
        Text, truth values, or at most ten different whole numbers are classes; other numbers
        are values. Points without a value (nan) are grey.

    Raises
    ------
    ShapeError
        There is not one entry for each point.

    Examples
    --------
    >>> list(coloring(3, ["cat", "dog", "cat"]).classes)
    ['cat', 'dog']
    """
    if color is None:
        return Coloring(np.tile(to_rgba(FIRST), (n, 1)), {})
    given = np.asarray(color)
    if given.shape != (n,):
        raise ShapeError(f"color has shape {given.shape} but there are {n} points: pass one each.")
    kinds = _classes(given)
    if kinds is not None:
        names, member = kinds
        palette = _palette(len(names))
        rgba = np.array([to_rgba(c) for c in palette])[member]
        return Coloring(rgba, dict(zip(names, palette, strict=True)))
    values = given.astype(float)
    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    colors = sequential().with_extremes(bad=UNKNOWN)
    scale = ScalarMappable(Normalize(low, high if high > low else low + 1.0), colors)
    rgba = np.asarray(scale.to_rgba(np.ma.masked_invalid(values)))
    return Coloring(rgba, {}, scale if high > low else None)


def color_bar(axes: Axes, scale: ScalarMappable, label: str) -> None:
    """Slim colour bar to the right of the axes."""
    bar = axes.figure.colorbar(scale, ax=axes, fraction=0.03, aspect=24, pad=0.02, shrink=0.9)
    bar.outline.set_visible(False)
    bar.ax.tick_params(which="both", color=LINE, labelcolor=MUTED, labelsize=SMALL)
    bar.set_label(label, color=INK, fontsize=SMALL)


def _classes(given: np.ndarray) -> tuple[list[str], np.ndarray] | None:
    """Names of the classes and the class of each point; None if these are values."""
    if given.dtype.kind in "OUSb":
        names, member = np.unique(given.astype(str), return_inverse=True)
        return names.tolist(), member
    kinds, member = np.unique(given, return_inverse=True)
    whole = np.isfinite(kinds).all() and np.all(kinds == np.round(kinds))
    if whole and 1 < kinds.size <= len(CLASSES):
        return [f"{kind:g}" for kind in kinds], member
    return None


def _palette(n: int) -> list[str]:
    if n <= len(CLASSES):
        return list(CLASSES[:n])
    ramp = sequential()(np.linspace(0.0, 1.0, n))
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in np.round(255 * ramp[:, :3]).astype(int)]
