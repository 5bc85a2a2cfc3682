"""Where a symmetric matrix has entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from sdpdr.errors import ShapeError
from sdpdr.plot.style import FIRST, HALF, MUTED, SECOND, SMALL, dress, new_figure

# More cells than this on a side are finer than the picture.
CELLS = 240


def sparsity(
    matrix: ArrayLike | sp.sparray | sp.spmatrix,
    *,
    blocks: Sequence[int] | None = None,
    title: str = "",
) -> Figure:
    """Pattern of the entries of a square matrix.

    Parameters
    ----------
    matrix : array_like or sparse, shape (n, n)
        A large one is shown in cells, darker where more of their entries are set.
    blocks : sequence of int, optional
        Sizes of the diagonal blocks to outline, n in all.
    title : str, default ""

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ShapeError
        The matrix is not square, or the blocks do not fill it.

    Examples
    --------
    >>> figure = sparsity(np.eye(4), blocks=[2, 2])
    """
    entries = sp.coo_array(matrix)
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        raise ShapeError(f"the matrix has shape {entries.shape}: pass a square one.")
    n = entries.shape[0]
    set_ = entries.data != 0
    cells = min(n, CELLS)
    row, column = (np.asarray(i)[set_] * cells // n for i in entries.coords)
    count = np.bincount(row * cells + column, minlength=cells**2).reshape(cells, cells)
    figure = new_figure(HALF, HALF)
    note = f"{np.count_nonzero(set_):,} of {n * n:,} entries"
    axes = dress(figure.add_subplot(), note, "", title)
    # Roots keep single entries visible beside full cells.
    shade = np.sqrt(count / max(count.max(), 1))
    colors = ListedColormap([(*to_rgba(FIRST)[:3], a) for a in np.linspace(0.0, 1.0, 64)])
    axes.imshow(shade, cmap=colors, vmin=0.0, vmax=1.0, extent=(0, n, n, 0), interpolation="none")
    if blocks is not None:
        _outline(axes, blocks, n)
    axes.xaxis.set_ticks([0, n])
    axes.yaxis.set_ticks([0, n])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(MUTED)
    axes.xaxis.label.set_fontsize(SMALL)
    return figure


def _outline(axes: Axes, blocks: Sequence[int], n: int) -> None:
    if sum(blocks) != n:
        raise ShapeError(f"the blocks have {sum(blocks)} rows in all but the matrix has {n}.")
    start = 0
    for size in blocks:
        axes.plot(
            [start, start + size, start + size, start, start],
            [start, start, start + size, start + size, start],
            color=SECOND, linewidth=1.2,
        )  # fmt: skip
        start += size
