"""Colours, axes, legends, and the map from values to colours, for all figures."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, Normalize, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError

INK = "#1f2430"
FAINT = "#8a93a3"
# Ten colours that remain apart under all common colour vision deficiencies:
# M. A. Petroff, "Accessible color sequences for data visualization", arXiv:2107.02270.
CLASSES = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6",
    "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
# Points whose class is not known, and what a legend calls them.
PALE, NOT_KNOWN = "#c9cdd4", "not known"
ACCENT, SECOND, THIRD = CLASSES[0], CLASSES[6], CLASSES[4]
# Without the ends of viridis, which are hard to see on a dark or a light background.
SEQUENCE = ListedColormap(colormaps["viridis"](np.linspace(0.18, 0.94, 256)), "sdpdr")
# From shrunk over unchanged to stretched.
DIVERGING = LinearSegmentedColormap.from_list("sdpdr_diverging", ["#2a6fb5", "#c9cdd4", "#bd1f01"])
# More marks are rasterized, since a vector graphic of them is slow to draw.
MANY = 1500
# More different whole numbers than this are quantities, not classes.
MOST_CLASSES = len(CLASSES)


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, with constrained layout."""
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def tick_whole_numbers(axes: Axes) -> None:
    """Label the x-axis with whole numbers only."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def to_svg(figure: Figure, name: str, title: str = "") -> str:
    """Return a figure as an SVG element of an HTML page, the same each time."""
    buffer = io.StringIO()
    unnamed: dict[str, Any] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=unnamed, dpi=170)
    svg = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", svg).replace(INK, "currentColor")
    if title:
        start = svg.index(">") + 1
        svg = f"{svg[:start]}<title>{escape(title)}</title>{svg[start:]}"
    return svg


def tidy(axes: Axes, *, title: str = "", x: str = "", y: str = "") -> None:
    """Style axes: two thin spines, small faint ticks, a title set flush left."""
    axes.set_facecolor("none")
    axes.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
        axes.spines[side].set_linewidth(0.8)
    axes.tick_params(which="both", color=FAINT, labelcolor=INK, labelsize=9, width=0.8)
    axes.yaxis.get_offset_text().set(color=INK, fontsize=9)
    axes.set_xlabel(x, color=INK, fontsize=10)
    axes.set_ylabel(y, color=INK, fontsize=10)
    entitle(axes, title)


def entitle(axes: Axes, title: str) -> None:
    """Set a title flush left, if there is one."""
    if title:
        axes.set_title(printable(title), loc="left", color=INK, fontsize=11, pad=10)


def printable(text: str) -> str:
    r"""Replace surrogates in a text, which stand for undecodable bytes in names of files."""
    return text.encode("utf-8", "replace").decode("utf-8")


def literal(text: str) -> str:
    r"""Return a text from data for matplotlib, in which a dollar sign begins no formula."""
    return printable(text).replace("$", r"\$")


def note(
    axes: Axes, words: str, place: tuple[float, float], away: tuple[float, float], **options: Any
) -> None:
    """Write a small text at a position, moved by an offset in points."""
    look: dict[str, Any] = {"textcoords": "offset points", "color": INK, "fontsize": 8}
    axes.annotate(words, place, away, **(look | options))


def draw_legend(place: Axes | Figure, title: str = "", **options: Any) -> None:
    """Draw the legend of axes or of a figure, without a frame."""
    legend = place.legend(
        frameon=False, labelcolor=INK, fontsize=9, title=title or None, title_fontsize=10, **options
    )
    legend.get_title().set_color(INK)


def draw_colour_bar(
    panels: Sequence[Axes], mappable: ScalarMappable, label: str, below: bool = False
) -> None:
    """Draw a slim colour bar, at the right or below."""
    figure = panels[0].get_figure()
    assert isinstance(figure, Figure)
    place = {"location": "bottom", "shrink": 0.5} if below else {"location": "right"}
    bar = figure.colorbar(mappable, ax=panels, fraction=0.04, pad=0.02, aspect=32, **place)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=FAINT, labelcolor=INK, labelsize=9, width=0.8)
    bar.set_label(label, color=INK, fontsize=10)


@dataclass(frozen=True, eq=False)
class Colouring:
    """Colour of each point, and what the colours mean."""

    colours: Array
    names: tuple[str, ...] = ()
    scale: ScalarMappable | None = None

    @property
    def key(self) -> list[tuple[str, str]]:
        """The classes, each with its colour."""
        classes = [name for name in self.names if name is not NOT_KNOWN]
        pairs = list(zip(classes, CLASSES, strict=False))
        return [*pairs, (NOT_KNOWN, PALE)] if len(classes) < len(self.names) else pairs


def colour_points(colour: ArrayLike | None, n: int) -> Colouring:
    """Colour n points by class (text, truth values, few whole numbers) or by quantity."""
    if colour is None:
        return Colouring(_repeated(ACCENT, n))
    given = np.asarray(colour)
    if given.shape != (n,):
        raise ShapeError(
            f"colour has shape {given.shape} but there are {n} points: pass one value each."
        )
    kind = given.dtype.kind
    if kind in "OSUb" or (kind in "iu" and len(set(given)) <= MOST_CLASSES):
        known = ~(pd.isna(given) | (given.astype(object) == ""))
        names, place = np.unique(given[known].astype(str), return_inverse=True)
        if 0 < len(names) <= MOST_CLASSES:
            colours = _repeated(PALE, n)
            colours[known] = to_rgba_array(CLASSES)[place]
            return Colouring(colours, (*names, *([] if known.all() else [NOT_KNOWN])))
        given = np.full(n, np.nan)
        given[known] = place
    return _by_quantity(given.astype(float))


def explain(
    colouring: Colouring,
    label: str,
    panels: Sequence[Axes],
    place: Axes | Figure,
    *,
    below: bool = False,
    **options: Any,
) -> None:
    """Draw the legend of classes at a place, or the colour bar of a quantity beside the panels."""
    if colouring.names:
        look: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 6}
        dots = [Line2D([], [], color=c, label=literal(name), **look) for name, c in colouring.key]
        draw_legend(place, label, handles=dots, handletextpad=0.2, **options)
    elif colouring.scale is not None:
        draw_colour_bar(panels, colouring.scale, label, below)


def _by_quantity(values: Array) -> Colouring:
    known = values[np.isfinite(values)]
    if not known.size or np.ptp(known) == 0.0:
        return Colouring(_repeated(ACCENT, len(values)))
    scale = ScalarMappable(Normalize(known.min(), known.max()), SEQUENCE)
    colours = scale.to_rgba(values)
    colours[~np.isfinite(values)] = to_rgba_array(FAINT)
    return Colouring(colours, scale=scale)


def _repeated(colour: str, n: int) -> Array:
    return np.repeat(to_rgba_array(colour), n, axis=0)
