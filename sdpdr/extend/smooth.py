"""Penalties on functions: of pixels on a grid, and of features on a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from sdpdr.errors import DataError
from sdpdr.graphs import validate


def grid_laplacian(shape: Sequence[int], spacing: float | Sequence[float] = 1.0) -> sp.csr_array:
    r"""Second differences of an image, as a penalty on basis images.

    :math:`\Delta = D_1 \otimes I + I \otimes D_2` with :math:`D = h^{-2}` times the tridiagonal
    matrix (1, -2, 1) whose corner entries are -1, so that
    :math:`\operatorname{vec}(D_1 A + A D_2^T) = \Delta \operatorname{vec}(A)` for images stored row
    by row, as ``A.reshape(-1)`` does. Constant images alone cost nothing.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the images.
    spacing : float or (float, float), default 1.0
        h between rows and between columns. With ``1 / m`` for m rows (the unit square) the penalty
        is larger by the fourth power of m.

    Returns
    -------
    csr_array of shape (pixels, pixels)

    References
    ----------
    Cai thesis, (6.1)-(6.6); there images are stored column by column, which swaps the factors.

    Examples
    --------
    >>> image = np.arange(6.0).reshape(2, 3) ** 2
    >>> bool(np.allclose(grid_laplacian((2, 3)) @ np.ones(6), 0.0))
    True
    """
    if len(tuple(shape)) != 2:
        raise DataError(f"shape must be (rows, columns) of the images; it is {tuple(shape)}.")
    rows, columns = (validate.positive_integer("shape", k) for k in shape)
    steps = np.broadcast_to(np.asarray(spacing, dtype=float), (2,))
    for h in steps:
        validate.positive_number("spacing", float(h))
    first = _second_differences(rows) / steps[0] ** 2
    second = _second_differences(columns) / steps[1] ** 2
    whole = sp.kron(first, sp.eye_array(columns)) + sp.kron(sp.eye_array(rows), second)
    return sp.csr_array(whole)


def _second_differences(m: int) -> sp.csr_array:
    if m == 1:
        return sp.csr_array((1, 1))
    middle = np.full(m, -2.0)
    middle[[0, -1]] = -1.0
    ones = np.ones(m - 1)
    return sp.csr_array(sp.diags_array([ones, middle, ones], offsets=[-1, 0, 1]))
