"""Curves of eigenvalues, neighbour numbers and solvers' progress; products of two bases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.graphs import ChoiceOfK
from sdpdr.lab.plot.style import (
    ACCENT,
    DIVERGING,
    FAINT,
    INK,
    SECOND,
    THIRD,
    draw_legend,
    new_figure,
    note,
    tick_whole_numbers,
    tidy,
)

# Shares below this are rounding errors, drawn as rings at the bottom.
_FLOOR = 1e-12
# Drawn on a logarithmic scale in place of an exact zero.
_DRAWN_ZERO = 1e-16
# Inches on the longer side of one product of bases.
_SIDE = 0.85


def spectrum(eigenvalues: ArrayLike) -> Figure:
    """Draw the share of each eigenvalue in the variance, and how the shares add up.

    Parameters
    ----------
    eigenvalues : array_like of shape (r,)
        In any order, as `Solution.spectrum` returns them.

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
    >>> from sdpdr.plot import spectrum
    >>> figure = spectrum([5.0, 1.0, 1e-9])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['share of variance', 'cumulative share']
    """
    figure, upper, lower = _two_panels()
    share = draw_shares(upper, eigenvalues, 20)
    tidy(upper, y="share of variance")

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


def _two_panels() -> tuple[Figure, Axes, Axes]:
    """A figure of two panels, one above the other, over the same whole numbers."""
    figure = new_figure(4.8, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True)
    tick_whole_numbers(lower)
    return figure, upper, lower


def draw_shares(axes: Axes, eigenvalues: ArrayLike, n_max: int) -> Array:
    """Draw the shares of the largest eigenvalues on a logarithmic scale, and return them."""
    values = np.sort(np.asarray(eigenvalues, dtype=float).ravel())[::-1]
    if not values.size or not np.isfinite(values).all() or values[0] <= 0.0:
        raise DataError("a spectrum needs finite eigenvalues, at least one of them positive.")
    positive = np.maximum(values, 0.0)
    share: Array = (positive / positive.sum())[:n_max]
    order = np.arange(1, share.size + 1)
    seen = share > _FLOOR
    floor = 10.0 ** (np.floor(np.log10(share[seen].min())) - 0.5)
    axes.vlines(order[seen], floor, share[seen], color=ACCENT, linewidth=2.5)
    axes.plot(order[seen], share[seen], "o", color=ACCENT, markersize=6)
    if not seen.all():
        rings = np.full(np.count_nonzero(~seen), floor)
        axes.plot(order[~seen], rings, "o", markersize=5, mfc="none", color=FAINT, clip_on=False)
    axes.set_yscale("log")
    axes.set_ylim(floor, 2.0)
    return share


def choice_of_k(choice: ChoiceOfK) -> Figure:
    """Draw the error of means for every number of neighbours, and the chosen number.

    Parameters
    ----------
    choice : ChoiceOfK
        From `sdpdr.graphs.choose_k`.

    Returns
    -------
    Figure
        Numbers whose graph is disconnected lie on a shaded ground.

    Examples
    --------
    >>> from sdpdr.plot import choice_of_k
    >>> from sdpdr import datasets, graphs
    >>> figure = choice_of_k(graphs.choose_k(datasets.swiss_roll(60)[0]))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['error of means']
    """
    figure = new_figure(4.8, 3.2)
    axes = figure.add_subplot()
    axes.plot(choice.k, choice.errors, "-o", color=ACCENT, markersize=4)
    last = float(choice.k[-1]) + 0.5
    if choice.connecting > 1:
        axes.axvspan(0.5, min(choice.connecting - 0.5, last), color=FAINT, alpha=0.15, linewidth=0)
        ground = ("data", "axes fraction")
        note(axes, "disconnected", (0.5, 0.0), (4, 5), xycoords=ground, alpha=0.75)
    chosen = choice.n_neighbors
    if chosen <= choice.k[-1]:
        value = choice.errors[chosen - 1]
        axes.plot([chosen], [value], "o", markersize=11, markerfacecolor="none", color=INK)
        note(axes, f"k = {chosen}", (chosen, value), (7, -15), fontsize=9)
    axes.set_xlim(0.5, last)
    axes.margins(y=0.2)
    tick_whole_numbers(axes)
    tidy(axes, x="neighbours", y=choice.column)
    return figure


@checks_keywords
def rounds(
    history: Sequence[Mapping[str, Any]], *, bound: float | None = None, tol: float | None = None
) -> Figure:
    """Draw the objective and the excess of an iteration, program by program.

    Parameters
    ----------
    history : sequence of mappings
        `sdpdr.iterate.State.rows`: each entry has ``iteration``, ``start``, ``objective``,
        ``share`` and ``status``.
    bound : float, optional
        A lower bound on the objective, drawn as a line.
    tol : float, optional
        Excess, as a share of the trace, at which the rank counts as reached, drawn as a line.

    Returns
    -------
    Figure
        Above the objective; below, on a logarithmic scale, the excess relative to the trace. Thin
        vertical lines are new starts; hollow marks are programs that were not solved to the
        requested accuracy.

    Raises
    ------
    DataError
        The history is empty.

    Examples
    --------
    >>> from sdpdr.plot import rounds
    >>> figure = rounds([
    ...     {"iteration": 0, "start": 0, "objective": 3.0, "share": 0.2, "status": "SOLVED"},
    ...     {"iteration": 1, "start": 0, "objective": 2.0, "share": 1e-9, "status": "INACCURATE"},
    ... ], tol=1e-6)
    """
    if not history:
        raise DataError("the history is empty: no program has been solved.")
    steps, starts = _column(history, "iteration"), _column(history, "start")
    exact = np.array([entry["status"] == "SOLVED" for entry in history])
    figure, upper, lower = _two_panels()
    share = np.maximum(_column(history, "share"), _DRAWN_ZERO)
    for axes, values, colour in (
        (upper, _column(history, "objective"), ACCENT),
        (lower, share, SECOND),
    ):
        for start in np.unique(starts):
            chosen = starts == start
            axes.plot(steps[chosen], values[chosen], color=colour, linewidth=1.4)
            if start > starts[0]:
                axes.axvline(steps[chosen][0] - 0.5, color=FAINT, linewidth=0.6)
        for chosen, filled in ((exact, colour), (~exact, "none")):
            axes.plot(steps[chosen], values[chosen], "o", color=colour, markersize=4, mfc=filled)
    for axes, line, label in ((upper, bound, "proven bound"), (lower, tol, "rank met")):
        if line is not None:
            axes.axhline(line, color=FAINT, linewidth=0.9, linestyle="--", label=label)
            draw_legend(axes)
    tidy(upper, y="objective")
    lower.set_yscale("log")
    tidy(lower, x="program", y="excess / trace")
    return figure


def convergence(history: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw value and bound over the iterations.

    Parameters
    ----------
    history : sequence of mappings
        `Solution.history`: each entry has ``iteration`` and ``value``, and may have ``bound``,
        ``infeasibility`` and ``stationarity``.

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
    >>> from sdpdr.plot import convergence
    >>> figure = convergence([
    ...     {"iteration": 0, "value": 3.0, "infeasibility": 1.0},
    ...     {"iteration": 1, "value": 4.9, "infeasibility": 0.1, "bound": 5.0},
    ... ])
    """
    if not history:
        raise DataError("the history is empty: this solver does not report its iterations.")
    figure, upper, lower = _two_panels()
    goal = draw_sides(upper, history)
    tidy(upper, y="value")
    draw_legend(upper)

    steps, values = _column(history, "iteration"), _column(history, "value")
    distance = np.abs(values - goal) / max(abs(goal), _DRAWN_ZERO)
    errors = {"|value − bound| / |bound|": (distance, ACCENT)}
    for name, colour in (("infeasibility", SECOND), ("stationarity", THIRD)):
        errors[name] = (np.abs(_column(history, name)), colour)
    for name, (error, colour) in errors.items():
        if np.isfinite(error).any():
            shown = np.maximum(error, _DRAWN_ZERO)
            lower.plot(steps, shown, color=colour, linewidth=1.4, label=name)
    lower.set_yscale("log")
    tidy(lower, x="iteration", y="relative error")
    draw_legend(lower)
    return figure


def draw_sides(axes: Axes, history: Sequence[Mapping[str, Any]]) -> float:
    """Draw values and proven bounds over iterations; return the last bound, or value."""
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


def bases(rows: ArrayLike, columns: ArrayLike) -> Figure:
    """Draw the matrices a_i b_j^T of two bases, of which every approximation is a sum.

    Row i, column j of the figure shows column i of A times column j of B: how a matrix changes
    where entry (i, j) of its transform A^T M B grows. Blue is negative, red is positive, and all
    pictures share one scale.

    Parameters
    ----------
    rows : array_like of shape (p, k_1)
        A, as ``rows_`` of `sdpdr.SOPCA`.
    columns : array_like of shape (q, k_2)
        B, as ``columns_``.

    Returns
    -------
    Figure

    Raises
    ------
    ShapeError
        A basis is not a matrix, or empty.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.plot import bases
    >>> figure = bases(np.eye(4)[:, :2], np.eye(3)[:, :2])
    >>> len(figure.axes)
    4
    """
    A, B = (np.asarray(basis, dtype=float) for basis in (rows, columns))
    if A.ndim != 2 or B.ndim != 2 or not A.size or not B.size:
        raise ShapeError(
            f"bases are matrices with a column for each component; they have shapes {A.shape} and "
            f"{B.shape}."
        )
    first, second = A.shape[1], B.shape[1]
    unit = _SIDE / max(len(A), len(B))
    figure = new_figure(
        second * max(0.3, unit * len(B)) + 0.4, first * max(0.3, unit * len(A)) + 0.5
    )
    top = float(np.abs(A).max() * np.abs(B).max())
    panels = figure.subplots(first, second, squeeze=False)
    for (i, j), axes in np.ndenumerate(panels):
        picture = np.outer(A[:, i], B[:, j])
        axes.imshow(picture, cmap=DIVERGING, vmin=-top, vmax=top, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_color(FAINT)
            spine.set_linewidth(0.5)
        if i == 0:
            axes.set_title(f"$b_{{{j + 1}}}$", color=INK, fontsize=9)
        if j == 0:
            axes.set_ylabel(f"$a_{{{i + 1}}}$", color=INK, fontsize=9, rotation=0, labelpad=9)
    return figure
