"""How many dimensions an embedding has: its spectrum."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import ArrayLike

from sdpdr.errors import DataError
from sdpdr.plot.style import ACCENT, FAINT, INK, SECOND, new_figure, tidy

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
    values = np.sort(np.asarray(eigenvalues, dtype=float).ravel())[::-1]
    if not values.size or not np.isfinite(values).all() or values[0] <= 0.0:
        raise DataError("a spectrum needs finite eigenvalues, at least one of them positive.")
    positive = np.maximum(values, 0.0)
    share = (positive / positive.sum())[:n_max]
    order = np.arange(1, share.size + 1)
    figure = new_figure(4.8, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True)

    seen = share > FLOOR
    floor = 10.0 ** (np.floor(np.log10(share[seen].min())) - 0.5)
    upper.vlines(order[seen], floor, share[seen], color=ACCENT, linewidth=2.5)
    upper.plot(order[seen], share[seen], "o", color=ACCENT, markersize=6)
    for k in order[~seen]:
        ring = {"markersize": 5, "markerfacecolor": "none", "color": FAINT, "clip_on": False}
        upper.plot(k, floor, "o", **ring)
    upper.set_yscale("log")
    upper.set_ylim(floor, 2.0)
    tidy(upper, title=title, y="share of variance")

    total = np.cumsum(share)
    lower.plot(order, total, "-o", color=SECOND, markersize=5, linewidth=1.6)
    lower.axhline(1.0, color=FAINT, linewidth=0.8, linestyle=":")
    lower.set_ylim(0.0, 1.06)
    lower.yaxis.set_major_formatter(PercentFormatter(1.0))
    lower.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    lower.set_xlim(0.4, share.size + 0.6)
    tidy(lower, x="eigenvalue", y="cumulative share")
    for k in range(min(2, share.size)):
        lower.annotate(
            f"{100 * total[k]:.1f} %", (order[k], total[k]), (7, -11),
            textcoords="offset points", color=INK, fontsize=9,
        )  # fmt: skip
    return figure
