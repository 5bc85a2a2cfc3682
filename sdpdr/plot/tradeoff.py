"""What solvers reach, and how long they take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sdpdr.plot.style import CLASSES, INK, MUTED, SMALL, WIDE, dress, new_figure
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import FORMS

MARKERS = dict(zip(FORMS, ("D", "s", "o", "*"), strict=True))
# Gaps smaller than this cannot be told from rounding.
FLOOR = 1e-12


def accuracy(solutions: Sequence[Solution], *, title: str = "") -> Figure:
    """Verified gap against seconds, one mark for each answer.

    Filled marks are answers that met their tolerance; answers without a bound are left out.

    Parameters
    ----------
    solutions : sequence of Solution
        Of one problem.
    title : str, default ""

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> model = methods.mvu(graphs.path([1.0, 2.0]))
    >>> figure = accuracy([sdpdr.solve(model)])
    """
    figure = new_figure(WIDE, 3.4)
    axes = dress(figure.add_subplot(), "seconds", "verified relative gap", title)
    axes.set_xscale("log")
    axes.set_yscale("log")
    shown = [s for s in solutions if np.isfinite(s.gap)]
    names = list(dict.fromkeys(s.solver for s in shown))
    colors = {name: CLASSES[k % len(CLASSES)] for k, name in enumerate(names)}
    for s in shown:
        axes.plot(
            sum(s.timings.values()), max(abs(s.gap), FLOOR), MARKERS[s.form],
            color=colors[s.solver], markersize=12 if s.form == "factor" else 8,
            linestyle="", fillstyle="full" if s.certified() else "none", markeredgewidth=1.5,
        )  # fmt: skip
    for tol in sorted({s.tol for s in shown}):
        axes.axhline(tol, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.annotate(
            f"tolerance {tol:.0e}", (1.0, tol), (-2, 3), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", fontsize=SMALL - 1, color=MUTED,
        )  # fmt: skip
    _legends(figure, colors, [f for f in MARKERS if any(s.form == f for s in shown)])
    return figure


def _legends(figure: Figure, colors: dict[str, str], forms: Sequence[str]) -> None:
    """Two legends to the right: colours of the solvers, shapes of the forms."""
    axes = figure.axes[0]
    common = {"linestyle": "", "markersize": 7}
    solvers = [Line2D([], [], marker="s", color=c, label=name, **common) for name, c in colors.items()]
    shapes = [
        Line2D([], [], marker=MARKERS[form], color=MUTED, label=f"{form} form", **common)
        for form in forms
    ]
    hollow = {"marker": "o", "color": MUTED, "fillstyle": "none", **common}
    shapes.append(Line2D([], [], label="misses the tolerance", **hollow))
    axes.legend(
        handles=[*solvers, *shapes], loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False,
        fontsize=SMALL, labelcolor=INK, handletextpad=0.2, borderaxespad=0.0,
    )  # fmt: skip
