"""Curves: eigenvalues, choices of the number of neighbours, and how a solver came to its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike, NDArray

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.graphs import ChoiceOfK
from sdpdr.lab.plot.style import (
    ACCENT,
    FAINT,
    INK,
    SECOND,
    THIRD,
    draw_legend,
    new_figure,
    note,
    tick_whole_numbers,
    tidy,
    two_panels,
)

# Shares below this are rounding errors; they are drawn as rings on the floor.
FLOOR = 1e-12


def spectrum(eigenvalues: ArrayLike, *, title: str = "") -> Figure:
    """Draw the share of each eigenvalue in the variance, and how the shares add up.

    Parameters
    ----------
    eigenvalues : array_like of shape (r,)
        In any order, as `Solution.spectrum` returns them.
    title : str, optional

    Returns
    -------
    Figure
        Above the shares of the 20 largest on a logarithmic scale, below their running sum.

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
    share = draw_shares(upper, eigenvalues, 20)
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
    errors = {"|value − bound| / |bound|": (distance, ACCENT)}
    errors |= {name: (np.abs(_column(history, name)), colour) for name, colour in ERRORS.items()}
    for name, (error, colour) in errors.items():
        if np.isfinite(error).any():
            lower.plot(steps, np.maximum(error, TINY), color=colour, linewidth=1.4, label=name)
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
