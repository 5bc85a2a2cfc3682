"""Which entries of a matrix are not zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.colors import ListedColormap, LogNorm, to_rgba_array
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from sdpdr.errors import ShapeError
from sdpdr.plot.style import ACCENT, FAINT, new_figure, tidy

# Pixels along each side; beyond that several entries share one, and its depth tells how many.
RESOLUTION = 300


def sparsity(
    matrix: ArrayLike | sp.sparray | sp.spmatrix,
    *,
    blocks: ArrayLike | None = None,
    title: str = "",
) -> Figure:
    """Draw the pattern of a square matrix.

    Parameters
    ----------
    matrix : array_like or sparse, shape (n, n)
    blocks : array_like of int, optional
        Sizes of the diagonal blocks that rows and columns fall into, which add up to n; thin
        lines part them.
    title : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> figure = sparsity([[1.0, 0.0], [0.0, 2.0]], blocks=[1, 1])
    """
    pattern = sp.coo_array(matrix)
    if pattern.ndim != 2 or pattern.shape[0] != pattern.shape[1]:
        raise ShapeError(f"the matrix has shape {pattern.shape}; it must be square.")
    pattern.eliminate_zeros()
    n = pattern.shape[0]
    figure = new_figure(3.9, 3.7)
    axes = figure.add_subplot()
    axes.imshow(
        _counts(pattern, min(n, RESOLUTION)), extent=(0, n, n, 0), cmap=_fading(ACCENT),
        norm=LogNorm(1, max(2.0, (n / RESOLUTION) ** 2)), interpolation="nearest",
    )  # fmt: skip
    tidy(axes, title=title, x=f"{n} x {n}, {pattern.nnz} entries ({_percent(pattern)})")
    axes.spines[["top", "right"]].set_visible(True)
    axes.spines[["top", "right"]].set_color(FAINT)
    axes.set_xticks([])
    axes.set_yticks([])
    if blocks is not None:
        _draw_blocks(axes, np.asarray(blocks), n)
    return figure


def _counts(pattern: sp.coo_array, side: int) -> np.ma.MaskedArray:
    """Entries in each pixel; pixels without any are masked."""
    row, column = pattern.coords
    n = pattern.shape[0]
    counts = np.zeros((side, side))
    np.add.at(counts, (row * side // n, column * side // n), 1.0)
    return np.ma.masked_equal(counts, 0.0)


def _fading(colour: str) -> ListedColormap:
    """From half transparent to full colour."""
    shades = np.repeat(to_rgba_array(colour), 64, axis=0)
    shades[:, 3] = np.linspace(0.55, 1.0, 64)
    return ListedColormap(shades)


def _percent(pattern: sp.coo_array) -> str:
    return f"{100.0 * pattern.nnz / pattern.shape[0] ** 2:.3g} %"


def _draw_blocks(axes: Any, sizes: np.ndarray, n: int) -> None:
    if sizes.sum() != n:
        raise ShapeError(f"blocks add up to {sizes.sum()} but the matrix has {n} rows.")
    for edge in np.cumsum(sizes)[:-1]:
        axes.axhline(edge, color=FAINT, linewidth=0.7)
        axes.axvline(edge, color=FAINT, linewidth=0.7)
