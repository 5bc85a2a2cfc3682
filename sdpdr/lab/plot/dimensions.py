"""How many dimensions an embedding has, and why so many neighbours."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.graphs import ChoiceOfK
from sdpdr.lab.plot.style import (
    ACCENT,
    FAINT,
    INK,
    SECOND,
    draw_legend,
    new_figure,
    note,
    tick_whole_numbers,
    tidy,
    two_panels,
)

# Shares below this are rounding errors; they are drawn as rings on the floor.
FLOOR = 1e-12


def spectrum(eigenvalues: ArrayLike, *, n_max: int = 20, title: str = "") -> Figure:
    """Draw the share of each eigenvalue in the variance, and how the shares add up.

    Parameters
    ----------
    eigenvalues : array_like of shape (r,)
        In any order, as `Solution.spectrum` returns them.
    n_max : int, default 20
        Only so many of the largest are drawn; the shares are of all.
    title : str, optional

    Returns
    -------
    Figure
        Above the shares on a logarithmic scale, below their running sum.

    Raises
    ------
    DataError
        There is no positive eigenvalue.

    Examples
    --------
    >>> figure = spectrum([5.0, 1.0, 1e-9])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['share of variance', 'cumulative share']
    """
    figure, upper, lower = two_panels()
    share = draw_shares(upper, eigenvalues, n_max)
    tidy(upper, title=title, y="share of variance")

    order = np.arange(1, share.size + 1)
    total = np.cumsum(share)
    lower.plot(order, total, "-o", color=SECOND, markersize=5, linewidth=1.6)
    lower.axhline(1.0, color=FAINT, linewidth=0.8, linestyle=":")
    lower.set_ylim(0.0, 1.06)
    lower.yaxis.set_major_formatter(PercentFormatter(1.0))
    lower.set_xlim(0.4, share.size + 0.6)
    tidy(lower, x="eigenvalue", y="cumulative share")
    for k in range(min(2, share.size)):
        note(lower, f"{100 * total[k]:.1f} %", (order[k], total[k]), (7, -11), fontsize=9)
    return figure


def draw_shares(axes: Axes, eigenvalues: ArrayLike, n_max: int) -> Array:
    """Draw the shares of the largest eigenvalues on a logarithmic scale, and return them."""
    values = np.sort(np.asarray(eigenvalues, dtype=float).ravel())[::-1]
    if not values.size or not np.isfinite(values).all() or values[0] <= 0.0:
        raise DataError("a spectrum needs finite eigenvalues, at least one of them positive.")
    positive = np.maximum(values, 0.0)
    share: Array = (positive / positive.sum())[:n_max]
    order = np.arange(1, share.size + 1)
    seen = share > FLOOR
    floor = 10.0 ** (np.floor(np.log10(share[seen].min())) - 0.5)
    axes.vlines(order[seen], floor, share[seen], color=ACCENT, linewidth=2.5)
    axes.plot(order[seen], share[seen], "o", color=ACCENT, markersize=6)
    if not seen.all():
        rings = np.full(np.count_nonzero(~seen), floor)
        axes.plot(order[~seen], rings, "o", markersize=5, mfc="none", color=FAINT, clip_on=False)
    axes.set_yscale("log")
    axes.set_ylim(floor, 2.0)
    return share


def choice_of_k(choice: ChoiceOfK, *, title: str = "") -> Figure:
    """Draw what a rule measured for every number of neighbours, and what was chosen.

    Parameters
    ----------
    choice : ChoiceOfK
        From `sdpdr.graphs.choose_k`.
    title : str, optional

    Returns
    -------
    Figure
        Numbers whose graph is disconnected lie on a shaded ground. Rules that measure nothing
        themselves show the number of parts.

    Examples
    --------
    >>> from sdpdr import datasets, graphs
    >>> figure = choice_of_k(graphs.choose_k(datasets.swiss_roll(60)[0]))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['error of means']
    """
    measured = [name for name in choice.scores if name != "parts"] or ["parts"]
    figure = new_figure(4.8, 3.2)
    axes = figure.add_subplot()
    for name, colour in zip(measured, (ACCENT, SECOND), strict=False):
        axes.plot(choice.k, choice.scores[name], "-o", color=colour, markersize=4, label=name)
    last = float(choice.k[-1]) + 0.5
    if choice.connecting > 1:
        axes.axvspan(0.5, min(choice.connecting - 0.5, last), color=FAINT, alpha=0.15, linewidth=0)
        ground = ("data", "axes fraction")
        note(axes, "disconnected", (0.5, 0.0), (4, 5), xycoords=ground, alpha=0.75)
    chosen = choice.n_neighbors
    if chosen <= choice.k[-1]:
        value = choice.scores[measured[0]][chosen - 1]
        axes.plot([chosen], [value], "o", markersize=11, markerfacecolor="none", color=INK)
        # Beside the curve: below where little is good, above where much is.
        place = (7, -15) if measured[0] in ("parts", "error of means") else (8, 8)
        note(axes, f"k = {chosen}", (chosen, value), place, fontsize=9)
    axes.set_xlim(0.5, last)
    axes.margins(y=0.2)
    tick_whole_numbers(axes)
    if measured == ["parts"] and np.max(choice.scores["parts"]) > 10:
        axes.set_yscale("log")
    tidy(axes, title=title, x="neighbours", y=measured[0] if len(measured) == 1 else "share")
    if len(measured) > 1:
        draw_legend(axes)
    return figure
