"""What a pair of bases can express: the outer products of their columns."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from sdpdr.errors import ShapeError
from sdpdr.plot.style import DIVERGING, FAINT, INK, new_figure

# Inches on the longer side of one picture.
_SIDE = 0.85


def bases(rows: ArrayLike, columns: ArrayLike, *, title: str = "") -> Figure:
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
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    ShapeError

    Examples
    --------
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
    top = float(np.max(np.abs(A), axis=0).max() * np.max(np.abs(B), axis=0).max())
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
    if title:
        figure.suptitle(title, color=INK, fontsize=11)
    return figure
