"""Several solvers beside one another: how close they came, and how long they took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.lab.plot.style import ACCENT, FAINT, SECOND, draw_legend, new_figure, note, tidy


def runs(
    names: Sequence[str], gaps: ArrayLike, seconds: ArrayLike, tol: float, *, title: str = ""
) -> Figure:
    """Draw the gap and the time of each run, on logarithmic scales.

    Parameters
    ----------
    names : sequence of str
        One for each run, drawn from top to bottom.
    gaps : array_like of shape (k,)
        Relative gaps; their absolute values are drawn. What is not finite has no answer.
    seconds : array_like of shape (k,)
    tol : float
        The gap asked for, drawn as a line.
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> figure = runs(["fast", "slow"], [1e-9, float("nan")], [0.1, 8.0], 1e-6)
    """
    gap, spent = np.abs(np.asarray(gaps, dtype=float)), np.asarray(seconds, dtype=float)
    if not gap.shape == spent.shape == (len(names),) or not names:
        raise ShapeError(
            f"there are {len(names)} names, but gaps of shape {gap.shape} and seconds of shape "
            f"{spent.shape}: pass one of each for each run, and at least one."
        )
    place = np.arange(len(names))
    figure = new_figure(8.4, 1.1 + 0.27 * len(names))
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_gaps(left, place, gap, tol)
    tidy(left, title=title, x="relative gap, verified")
    left.set_yticks(place, names)
    left.set_ylim(len(names) - 0.4, -0.6)
    met = gap <= tol
    right.barh(place, np.maximum(spent, 1e-3), 0.55, color=np.where(met, ACCENT, FAINT))
    right.set_xscale("log")
    tidy(right, x="seconds")
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
    return figure


def _draw_gaps(axes: Axes, place: np.ndarray, gap: Array, tol: float) -> None:
    known = np.isfinite(gap)
    met = known & (gap <= tol)
    shown = np.maximum(gap, 1e-16)
    start = min(float(shown[known].min(initial=tol)), tol) / 5.0
    axes.hlines(place[known], start, shown[known], color=FAINT, linewidth=0.8, alpha=0.6)
    for chosen, colour, label in (
        (met, ACCENT, "meets the tolerance"),
        (known & ~met, SECOND, "misses it"),
    ):
        if chosen.any():
            axes.plot(shown[chosen], place[chosen], "o", color=colour, markersize=6, label=label)
    for y in place[~known]:
        note(axes, "no answer", (start, y), (4, 0), va="center", style="italic")
    axes.axvline(tol, color=FAINT, linewidth=0.9, linestyle="--")
    axes.set_xscale("log")
    axes.set_xlim(start, max(float(shown[known].max(initial=tol)), tol) * 5.0)
    if known.any():
        draw_legend(axes, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2)
