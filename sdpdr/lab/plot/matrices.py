"""Which entries of a matrix are not zero, and what a pair of bases can express."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from matplotlib.colors import ListedColormap, LogNorm, to_rgba_array
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from sdpdr.base.errors import ShapeError
from sdpdr.lab.plot.style import ACCENT, DIVERGING, FAINT, INK, new_figure, printable, tidy

# Pixels along each side; beyond that several entries share one, and its depth tells how many.
RESOLUTION = 300


def sparsity(
    matrix: ArrayLike | sp.sparray | sp.spmatrix,
    *,
    title: str = "",
) -> Figure:
    """Draw the pattern of a square matrix.

    Parameters
    ----------
    matrix : array_like or sparse, shape (n, n)
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> figure = sparsity([[1.0, 0.0], [0.0, 2.0]])
    """
    pattern = sp.coo_array(matrix)
    if pattern.ndim != 2 or pattern.shape[0] != pattern.shape[1]:
        raise ShapeError(f"the matrix has shape {pattern.shape}; it must be square.")
    pattern.eliminate_zeros()
    n = pattern.shape[0]
    figure = new_figure(3.9, 3.7)
    axes = figure.add_subplot()
    shades = np.repeat(to_rgba_array(ACCENT), 64, axis=0)
    shades[:, 3] = np.linspace(0.55, 1.0, 64)  # From half transparent to full colour.
    axes.imshow(
        _counts(pattern, min(n, RESOLUTION)), extent=(0, n, n, 0), cmap=ListedColormap(shades),
        norm=LogNorm(1, max(2.0, (n / RESOLUTION) ** 2)), interpolation="nearest",
    )  # fmt: skip
    share = 100.0 * pattern.nnz / n**2
    tidy(axes, title=title, x=f"{n} x {n}, {pattern.nnz} entries ({share:.3g} %)")
    axes.spines[["top", "right"]].set_visible(True)
    axes.spines[["top", "right"]].set_color(FAINT)
    axes.set_xticks([])
    axes.set_yticks([])
    return figure


def _counts(pattern: sp.coo_array, side: int) -> np.ma.MaskedArray:
    """Entries in each pixel; pixels without any are masked."""
    row, column = pattern.coords
    n = pattern.shape[0]
    counts = np.zeros((side, side))
    np.add.at(counts, (row * side // n, column * side // n), 1.0)
    return np.ma.masked_equal(counts, 0.0)


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
        figure.suptitle(printable(title), color=INK, fontsize=11)
    return figure
