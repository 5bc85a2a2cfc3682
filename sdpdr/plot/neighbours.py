"""Why so many neighbours: the scores of every k."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sdpdr.graphs import ChoiceOfK
from sdpdr.plot.style import ACCENT, FAINT, INK, SECOND, draw_legend, new_figure, tidy


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
        axes.annotate(
            "disconnected", (0.5, 0.0), (4, 5), xycoords=("data", "axes fraction"),
            textcoords="offset points", color=INK, alpha=0.75, fontsize=8,
        )  # fmt: skip
    chosen = choice.n_neighbors
    if chosen <= choice.k[-1]:
        value = choice.scores[measured[0]][chosen - 1]
        axes.plot([chosen], [value], "o", markersize=11, markerfacecolor="none", color=INK)
        # Beside the curve: below where little is good, above where much is.
        place = (7, -15) if measured[0] in ("parts", "error of means") else (8, 8)
        axes.annotate(
            f"k = {chosen}", (chosen, value), place, textcoords="offset points", color=INK,
            fontsize=9,
        )  # fmt: skip
    axes.set_xlim(0.5, last)
    axes.margins(y=0.2)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if measured == ["parts"] and np.max(choice.scores["parts"]) > 10:
        axes.set_yscale("log")
    tidy(axes, title=title, x="neighbours", y=measured[0] if len(measured) == 1 else "share")
    if len(measured) > 1:
        draw_legend(axes)
    return figure
