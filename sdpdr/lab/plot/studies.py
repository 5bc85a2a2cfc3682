"""Figures of studies: performance profiles, growth with size, outcomes, several solvers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.lab.plot.style import (
    ACCENT,
    CLASSES,
    FAINT,
    INK,
    SECOND,
    draw_legend,
    new_figure,
    note,
    tidy,
)

_DASHES = ("-", "--", ":", "-.", (0, (7, 2)))
# Longer names are cut, since they would leave no room for the figure.
_MOST_LETTERS = 34
# Columns of names below a figure, which suit a narrow page.
_NAMES_IN_A_LINE = 2
_MARKERS = ("o", "s", "D", "P", "^", "X", "*", "h")


def look_of(place: int) -> dict[str, Any]:
    """Return colour and dashes of a contestant, which are different for the first fifty."""
    turn, place = divmod(place, len(CLASSES))
    return {"color": CLASSES[place], "linestyle": _DASHES[turn % len(_DASHES)]}


def sizes_apart(sizes: Iterable[float]) -> list[float]:
    """Return the sizes that have room for a label on a logarithmic scale, the largest first."""
    every = sorted(set(map(float, sizes)), reverse=True)
    least = (every[0] / every[-1]) ** (1.0 / 9.0) if every else 1.0
    kept: list[float] = []
    for size in every:
        if not kept or kept[-1] / size >= least:
            kept.append(size)
    return kept


def performance_profile(curves: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """Draw performance profiles: the share of instances solved within a factor of the fastest.

    Parameters
    ----------
    curves : mapping from contestant to (factors, shares)
        Each is a step function that rises at the factors. The order chooses the colours.

    Returns
    -------
    Figure

    Raises
    ------
    ShapeError
        A contestant has not one share for each factor.

    References
    ----------
    E. D. Dolan, J. J. Moré, "Benchmarking optimization software with performance profiles",
    Mathematical Programming 91, 2002.

    Examples
    --------
    >>> from sdpdr.plot import performance_profile
    >>> figure = performance_profile({"a": ([1, 2], [0.5, 1.0]), "b": ([1, 4], [0.5, 0.8])})
    """
    figure, axes = _new(len(curves))
    for place, (name, pair) in enumerate(curves.items()):
        factor, share = (np.asarray(x, dtype=float) for x in pair)
        if factor.ndim != 1 or factor.shape != share.shape:
            raise ShapeError(
                f"{name!r} has {factor.shape} factors and {share.shape} shares: pass two lists of "
                "one length."
            )
        axes.step(factor, share, where="post", linewidth=1.8, label=short(name), **look_of(place))
    axes.margins(x=0.0)
    _label_scale(axes.xaxis)
    axes.set_ylim(-0.02, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    tidy(axes, x="times the fastest verified answer", y="share of instances")
    _name_lines(axes, len(curves))
    return figure


def growth(
    points: Mapping[str, tuple[ArrayLike, ArrayLike]],
    fitted: Mapping[str, tuple[ArrayLike, ArrayLike]],
) -> Figure:
    """Draw seconds over size on logarithmic scales, and the powers fitted to them."""
    figure, axes = _new(len(points))
    for place, (name, pair) in enumerate(points.items()):
        look, marker = look_of(place), _MARKERS[place % len(_MARKERS)]
        marks = look | {"linestyle": "none", "marker": marker, "markersize": 5.5}
        axes.plot(*pair, label=short(name), **marks)
        if name in fitted:
            axes.plot(*fitted[name], linewidth=1.2, **look)
    axes.set_yscale("log")
    _label_scale(axes.yaxis)
    ticks = sizes_apart(size for sizes, _ in points.values() for size in np.asarray(sizes, float))
    axes.set_xticks(ticks, [f"{size:g}" for size in ticks])
    axes.xaxis.minorticks_off()
    tidy(axes, x="size", y="seconds")
    _name_lines(axes, len(points))
    return figure


def outcome_map(
    rows: Sequence[str],
    columns: Sequence[str],
    kinds: ArrayLike,
    legend: Sequence[tuple[str, str, str]],
) -> Figure:
    """Draw a map of outcomes; `kinds` are indices into the legend of (name, sign, colour)."""
    kind = np.asarray(kinds, dtype=int)
    used = np.unique(kind)
    beside, above = (0.075 * max(len(short(name)) for name in names) for names in (rows, columns))
    figure = new_figure(
        max(1.0 + beside + 0.42 * len(columns) + above, 5.0),
        0.6 + above + 0.2 * len(rows) + 0.2 * len(used),
    )
    axes = figure.subplots()
    # As vectors, the cells of a study would make a file of a megabyte.
    axes.pcolormesh(
        kind, cmap=ListedColormap([colour for _, _, colour in legend]), vmin=-0.5,
        vmax=len(legend) - 0.5, edgecolors="white", linewidth=1.2, rasterized=True,
    )  # fmt: skip
    for (row, column), value in np.ndenumerate(kind):
        axes.text(
            column + 0.5, row + 0.5, legend[value][1], ha="center", va="center_baseline",
            color="white", fontsize=8,
        )  # fmt: skip
    tidy(axes)
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(columns)) + 0.5, map(short, columns), rotation=50, ha="left")
    axes.set_yticks(np.arange(len(rows)) + 0.5, map(short, rows))
    axes.tick_params(length=0, labelsize=8)
    axes.spines[:].set_visible(False)
    axes.legend(
        handles=[Patch(color=legend[k][2], label=f"{legend[k][1]}  {legend[k][0]}") for k in used],
        frameon=False, labelcolor=INK, fontsize=8, loc="upper left", bbox_to_anchor=(0.0, -0.02),
    )  # fmt: skip
    return figure


def short(name: str) -> str:
    """Return a name, cut if it would leave no room for the figure."""
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"


def _new(entries: int) -> tuple[Figure, Axes]:
    """A figure with a logarithmic scale, and room for so many names below."""
    figure = new_figure(6.6, 4.0 + 0.21 * -(-entries // _NAMES_IN_A_LINE))
    axes = figure.subplots()
    axes.set_xscale("log")
    return figure, axes


def _label_scale(axis: Axis) -> None:
    """Numbers of one digit along a logarithmic scale, which may be shorter than a decade."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def _name_lines(axes: Axes, entries: int) -> None:
    axes.grid(color=FAINT, alpha=0.25, linewidth=0.6)
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    if entries:
        draw_legend(figure, loc="outside lower left", ncols=_NAMES_IN_A_LINE)


@checks_keywords
def runs(
    names: Sequence[str], gaps: ArrayLike, seconds: ArrayLike, tol: float, *, title: str = ""
) -> Figure:
    """Draw the gap and the seconds of each run, on logarithmic scales.

    Parameters
    ----------
    names : sequence of str
        One for each run, drawn from top to bottom.
    gaps : array_like of shape (k,)
        Relative gaps; their absolute values are drawn. A gap that is not finite means no answer.
    seconds : array_like of shape (k,)
    tol : float
        The requested gap, drawn as a line.
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    ShapeError
        There is no run, or not one gap and one time for each.

    Examples
    --------
    >>> from sdpdr.plot import runs
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
