"""Where actions lead: the path of an agent through an embedding."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from sdpdr.errors import DataError, ShapeError
from sdpdr.graphs.transitions import step_starts
from sdpdr.plot.points import frame, plane_of, size_of
from sdpdr.plot.style import CLASSES, FAINT, INK, MOST_CLASSES, draw_legend, entitle, new_figure


def trajectory(
    Y: ArrayLike,
    actions: str | Sequence[Hashable],
    lengths: Sequence[int] | None = None,
    *,
    ax: Axes | None = None,
    title: str = "",
) -> Figure:
    """Draw every step of a path as an arrow in the colour of its action.

    Where an embedding respects actions, arrows of one colour are moved copies of each other.

    Parameters
    ----------
    Y : array_like of shape (n, d)
        A place for each state; the first two columns are drawn.
    actions : str or sequence of labels
        One for each step from a state to the next of its sequence; ``None`` is drawn grey.
    lengths : sequence of int, optional
        Number of states of each sequence; by default there is one.
    ax : matplotlib Axes, optional
        Where to draw; by default in a figure of its own.
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    DataError
        There are more than ten actions to tell apart.
    ShapeError
        There is not one action for each step.

    Examples
    --------
    >>> figure = trajectory([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], "RU", title="two steps")
    >>> figure.axes[0].get_title("left")
    'two steps'
    """
    plane = plane_of(Y)
    starts = step_starts(len(plane), lengths)
    labels = list(actions)
    if len(labels) != starts.size:
        raise ShapeError(f"{len(labels)} actions for {starts.size} steps: pass one for each step.")
    names = sorted({a for a in labels if a is not None}, key=str)
    if len(names) > MOST_CLASSES:
        raise DataError(f"{len(names)} actions cannot be told apart by colour; at most ten can.")
    colour = dict(zip(names, CLASSES, strict=False))
    if ax is None:
        ax = new_figure(*size_of(plane, len(names))).add_subplot()
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    move = plane[starts + 1] - plane[starts]
    ax.scatter(plane[:, 0], plane[:, 1], s=6.0, color=INK, linewidths=0, zorder=3)
    ax.quiver(
        *plane[starts].T, *move.T, color=[colour.get(a, FAINT) for a in labels],
        angles="xy", scale_units="xy", scale=1.0, width=0.005, headwidth=4.5, headlength=5.5,
        headaxislength=5.0, alpha=0.9, zorder=2,
    )  # fmt: skip
    frame(ax, plane)
    entitle(ax, title)
    if names:
        keys = [Line2D([], [], color=colour[name], linewidth=2, label=str(name)) for name in names]
        draw_legend(ax, "action", handles=keys, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
