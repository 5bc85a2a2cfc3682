"""How a solver got there: value and bound over its iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sdpdr.errors import DataError
from sdpdr.plot.style import (
    ACCENT,
    FAINT,
    SECOND,
    THIRD,
    Array,
    draw_legend,
    new_figure,
    tidy,
)

# What a log scale shows instead of an exact zero.
TINY = 1e-16
ERRORS = {"infeasibility": SECOND, "stationarity": THIRD}


def convergence(history: Sequence[Mapping[str, Any]], *, title: str = "") -> Figure:
    """Draw how value and bound closed in on each other.

    Parameters
    ----------
    history : sequence of mappings
        `Solution.history`: each entry has ``iteration`` and ``value``, and may have ``bound``,
        ``infeasibility`` and ``stationarity``.
    title : str, optional

    Returns
    -------
    Figure
        Above the value and the best bound known; below, on a logarithmic scale, the relative
        distance between them and the errors of the point.

    Raises
    ------
    DataError
        The history is empty: most solvers report none.

    Examples
    --------
    >>> figure = convergence([
    ...     {"iteration": 0, "value": 3.0, "infeasibility": 1.0},
    ...     {"iteration": 1, "value": 4.9, "infeasibility": 0.1, "bound": 5.0},
    ... ])
    """
    if not history:
        raise DataError("the history is empty: this solver does not report its iterations.")
    steps, values, bounds = (_column(history, name) for name in ("iteration", "value", "bound"))
    known = np.isfinite(bounds)
    goal = bounds[known][-1] if known.any() else values[-1]
    figure = new_figure(4.8, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True)

    upper.plot(steps, values, "-o", color=ACCENT, markersize=3, linewidth=1.4, label="value")
    if known.any():
        upper.axhline(goal, color=FAINT, linewidth=0.9, linestyle="--", label="proven bound")
        upper.plot(steps[known], bounds[known], "v", color=FAINT, markersize=5)
    tidy(upper, title=title, y="value")
    draw_legend(upper)

    distance = np.abs(values - goal) / max(abs(float(goal)), TINY)
    _draw_error(lower, steps, distance, ACCENT, "|value − bound| / |bound|")
    for name, colour in ERRORS.items():
        _draw_error(lower, steps, np.abs(_column(history, name)), colour, name)
    lower.set_yscale("log")
    tidy(lower, x="iteration", y="relative error")
    draw_legend(lower)
    lower.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return figure


def _column(history: Sequence[Mapping[str, Any]], name: str) -> Array:
    """One quantity over the iterations, ``nan`` where it is not known."""
    found = (entry.get(name) for entry in history)
    return np.array([np.nan if value is None else float(value) for value in found])


def _draw_error(axes: Axes, steps: Array, error: Array, colour: str, label: str) -> None:
    if np.isfinite(error).any():
        axes.plot(steps, np.maximum(error, TINY), color=colour, linewidth=1.4, label=label)
