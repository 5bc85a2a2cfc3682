"""How an iteration over programs went, and how a solver got there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.lab.plot.style import ACCENT, FAINT, SECOND, THIRD, draw_legend, tidy, two_panels

# What a log scale shows instead of an exact zero.
TINY = 1e-16


def rounds(
    history: Sequence[Mapping[str, Any]],
    *,
    bound: float | None = None,
    tol: float | None = None,
    title: str = "",
) -> Figure:
    """Draw the objective and the excess of an iteration, program by program.

    Parameters
    ----------
    history : sequence of mappings
        `sdpdr.iterate.State.rows`: each entry has ``iteration``, ``start``, ``objective``,
        ``share`` and ``status``.
    bound : float, optional
        What the objective cannot fall below, drawn as a line.
    tol : float, optional
        Share of the trace at which the rank counts as met, drawn as a line.
    title : str, optional

    Returns
    -------
    Figure
        Above the objective; below, on a logarithmic scale, the excess relative to the trace. Thin
        vertical lines are new starts; hollow marks are programs that were not solved to the
        accuracy asked for.

    Raises
    ------
    DataError
        The history is empty.

    Examples
    --------
    >>> figure = rounds([
    ...     {"iteration": 0, "start": 0, "objective": 3.0, "share": 0.2, "status": "SOLVED"},
    ...     {"iteration": 1, "start": 0, "objective": 2.0, "share": 1e-9, "status": "INACCURATE"},
    ... ], tol=1e-6)
    """
    if not history:
        raise DataError("the history is empty: no program has been solved.")
    steps = np.array([entry["iteration"] for entry in history])
    starts = np.array([entry["start"] for entry in history])
    exact = np.array([entry["status"] == "SOLVED" for entry in history])
    figure, upper, lower = two_panels()
    objective, share = _column(history, "objective"), _column(history, "share")
    _draw(upper, steps, objective, starts, exact, ACCENT)
    _draw(lower, steps, np.maximum(share, TINY), starts, exact, SECOND)
    if bound is not None:
        upper.axhline(bound, color=FAINT, linewidth=0.9, linestyle="--", label="proven bound")
        draw_legend(upper)
    if tol is not None:
        lower.axhline(tol, color=FAINT, linewidth=0.9, linestyle="--", label="rank met")
        draw_legend(lower)
    tidy(upper, title=title, y="objective")
    lower.set_yscale("log")
    tidy(lower, x="program", y="excess / trace")
    return figure


def _draw(
    axes: Axes, steps: Array, values: Array, starts: Array, exact: NDArray[np.bool_], colour: str
) -> None:
    hollow = np.logical_not(exact)
    for start in np.unique(starts):
        chosen = starts == start
        axes.plot(steps[chosen], values[chosen], color=colour, linewidth=1.4)
        if start > starts[0]:
            axes.axvline(steps[chosen][0] - 0.5, color=FAINT, linewidth=0.6)
    axes.plot(steps[exact], values[exact], "o", color=colour, markersize=4)
    axes.plot(steps[hollow], values[hollow], "o", color=colour, markersize=4, mfc="none")


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
    figure, upper, lower = two_panels()
    goal = draw_sides(upper, history)
    tidy(upper, title=title, y="value")
    draw_legend(upper)

    steps, values = _column(history, "iteration"), _column(history, "value")
    distance = np.abs(values - goal) / max(abs(goal), TINY)
    _draw_error(lower, steps, distance, ACCENT, "|value − bound| / |bound|")
    for name, colour in ERRORS.items():
        _draw_error(lower, steps, np.abs(_column(history, name)), colour, name)
    lower.set_yscale("log")
    tidy(lower, x="iteration", y="relative error")
    draw_legend(lower)
    return figure


def draw_sides(axes: Axes, history: Sequence[Mapping[str, Any]]) -> float:
    """Draw values and proven bounds over iterations; what they came to is returned."""
    steps, values, bounds = (_column(history, name) for name in ("iteration", "value", "bound"))
    known = np.isfinite(bounds)
    goal = float(bounds[known][-1] if known.any() else values[-1])
    axes.plot(steps, values, "-o", color=ACCENT, markersize=3, linewidth=1.4, label="value")
    if known.any():
        axes.axhline(goal, color=FAINT, linewidth=0.9, linestyle="--", label="proven bound")
        axes.plot(steps[known], bounds[known], "v", color=FAINT, markersize=5)
    return goal


def _column(history: Sequence[Mapping[str, Any]], name: str) -> Array:
    """One quantity over the iterations, ``nan`` where it is not known."""
    found = (entry.get(name) for entry in history)
    return np.array([np.nan if value is None else float(value) for value in found])


def _draw_error(axes: Axes, steps: Array, error: Array, colour: str, label: str) -> None:
    if np.isfinite(error).any():
        axes.plot(steps, np.maximum(error, TINY), color=colour, linewidth=1.4, label=label)
