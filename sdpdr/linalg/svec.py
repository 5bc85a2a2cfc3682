r"""The one convention for symmetric matrices as vectors.

``svec(K)`` stacks the upper triangle of ``K`` column by column and multiplies the entries off
the diagonal by :math:`\sqrt 2`, so that :math:`\langle A, B\rangle = svec(A)^T svec(B)`.
Entry (i, j), i <= j, stands at position ``j (j + 1) / 2 + i``, whatever the order of the matrix.
Every other convention (a solver's triangle, a file's) is converted where it enters or leaves.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index, Matrix, as_real, own_rows

SQRT2 = float(np.sqrt(2.0))


def svec_size(n: int) -> int:
    """Length of ``svec`` of an n x n matrix: n (n + 1) / 2."""
    n = int(n)  # NumPy's integers would overflow
    return n * (n + 1) // 2


def svec_index(i: ArrayLike, j: ArrayLike) -> Index:
    """Positions of the entries (i, j) in ``svec``; the order of i and j does not matter."""
    i, j = np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp)
    low, high = np.minimum(i, j), np.maximum(i, j)
    return high * (high + 1) // 2 + low


def svec_pairs(index: ArrayLike) -> tuple[Index, Index]:
    """Entries (i, j), i <= j, that stand at the positions given: the inverse of `svec_index`."""
    index = np.asarray(index, dtype=np.intp)
    column = ((np.sqrt(8.0 * index + 1.0) - 1.0) // 2).astype(np.intp)
    column -= column * (column + 1) // 2 > index
    column += (column + 1) * (column + 2) // 2 <= index
    return index - column * (column + 1) // 2, column


@lru_cache(maxsize=32)
def upper_triangle(n: int) -> tuple[Index, Index]:
    """Rows and columns of the entries of ``svec``, i <= j; not to be changed.

    Examples
    --------
    >>> i, j = upper_triangle(2)
    >>> i.tolist(), j.tolist()
    ([0, 0, 1], [0, 1, 1])
    """
    j, i = np.tril_indices(n)
    for array in (i, j):
        array.flags.writeable = False
    return i, j


def svec(matrix: Matrix) -> Array:
    """Upper triangle of a symmetric matrix as a vector, off-diagonal entries times sqrt 2.

    An array of matrices, shape (..., n, n), gives an array of vectors.

    Examples
    --------
    >>> from sdpdr.linalg.svec import svec
    >>> import numpy as np
    >>> svec(np.array([[1.0, 2.0], [2.0, 3.0]])).round(3)
    array([1.   , 2.828, 3.   ])
    """
    numbers = as_real(matrix)
    dense = numbers.toarray() if sp.issparse(numbers) else numbers
    n = dense.shape[-1]
    upper, _, scale = _layout(n)
    return np.asarray(dense.reshape((*dense.shape[:-2], n * n)).take(upper, axis=-1) * scale)


def smat(vector: ArrayLike) -> Array:
    """The symmetric matrix of a vector made by `svec`; for vectors of shape (..., p), one for each.

    Examples
    --------
    >>> from sdpdr.linalg import smat
    >>> smat([1.0, 0.0, 3.0])
    array([[1., 0.],
           [0., 3.]])
    """
    vector = np.asarray(vector, dtype=float)
    n = order_of(vector.shape[-1])
    _, whole, scale = _layout(n)
    return np.asarray((vector / scale).take(whole, axis=-1).reshape((*vector.shape[:-1], n, n)))


@lru_cache(maxsize=8)
def _layout(n: int) -> tuple[Index, Index, Array]:
    """Positions in the matrix of the entries of ``svec``, the reverse, and scales of entries."""
    row, column = upper_triangle(n)
    scale = np.where(row == column, 1.0, SQRT2)
    places = np.empty((n, n), dtype=np.intp)
    places[row, column] = places[column, row] = np.arange(row.size)
    upper, whole = row * n + column, places.ravel()
    for array in (upper, whole, scale):
        array.flags.writeable = False
    return upper, whole, scale


def unscaled(scaled: Array) -> Array:
    r"""Doubles whose products with :math:`\sqrt 2` round to the given ones; nan where none does.

    Where there are two, the one that people write with fifteen digits, else the rounded quotient.

    Examples
    --------
    >>> unscaled(np.array([0.1 * SQRT2, 0.0])).tolist()
    [0.1, 0.0]
    """
    near = np.asarray(scaled / SQRT2)
    below, above = np.nextafter(near, -np.inf), np.nextafter(near, np.inf)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log10(np.abs(near))) - 14
        ten, is_large = 10.0 ** np.abs(exponent), exponent > 0
        whole = np.rint(np.where(is_large, near / ten, near * ten))
        written = np.where(is_large, whole * ten, whole / ten)
        is_next = (below <= written) & (written <= above)
        around = np.stack([np.where(is_next, written, near), near, below, above])
        is_exact = around * SQRT2 == scaled
    found = np.take_along_axis(around, is_exact.argmax(axis=0)[None], axis=0)[0]
    return np.where(is_exact.any(axis=0), found, np.nan)


def near_unscaled(scaled: Array) -> Array:
    """Doubles from `unscaled`, and the rounded quotients where there are none."""
    found = unscaled(scaled)
    return np.where(np.isnan(found), scaled / SQRT2, found)


@lru_cache(maxsize=64)
def order_of(size: int) -> int:
    """Order n of the matrix whose ``svec`` has the length given."""
    n = int((np.sqrt(8.0 * size + 1.0) - 1.0) / 2.0 + 0.5)
    if svec_size(n) != size:
        raise ValueError(f"{size} is not n (n + 1) / 2 for any n, so it is no svec length.")
    return n


def selection(places: ArrayLike, size: int, weights: ArrayLike = 1.0) -> sp.csr_array:
    """Sparse (m, size) matrix whose row e selects the number at ``places[e]``, times a weight."""
    place = np.asarray(places, dtype=np.intp)
    picked = np.broadcast_to(np.asarray(weights, dtype=float), place.shape)
    return sp.csr_array((picked, (np.arange(place.size), place)), shape=(place.size, size))


def selected(matrix: Matrix) -> Index | None:
    """The column that each row of a selection matrix selects, or -1; None for other matrices."""
    if not sp.issparse(matrix):
        return None
    rows = own_rows(matrix)
    count = np.diff(rows.indptr)
    if np.any(count > 1) or np.any(rows.data != 1.0):
        return None
    places = np.full(rows.shape[0], -1, dtype=np.intp)
    places[count == 1] = rows.indices
    return places


def slopes(rows: sp.csr_array, factor: Array) -> sp.csr_array:
    """Derivative of rows on R R^T by the entries of R, row by row; shape (m, n r)."""
    n, r = factor.shape
    entries = rows.tocoo()
    i, j = svec_pairs(entries.col)
    weight = (entries.data * np.where(i == j, 1.0, SQRT2))[:, None]
    columns = np.arange(r)
    row = np.repeat(np.tile(entries.row, 2), r)
    column = np.concatenate([i[:, None] * r + columns, j[:, None] * r + columns]).ravel()
    value = np.concatenate([weight * factor[j], weight * factor[i]]).ravel()
    return sp.csr_array((value, (row, column)), shape=(rows.shape[0], n * r))


def full_from_svec(n: int) -> sp.csr_array:
    """Sparse (n^2, n(n+1)/2) matrix D with ``vec(K) = D svec(K)`` (column by column)."""
    i, j = svec_pairs(np.arange(svec_size(n)))
    off = i != j
    rows = np.concatenate([j * n + i, (i * n + j)[off]])
    columns = np.concatenate([np.arange(i.size), np.flatnonzero(off)])
    values = np.where(off, 1.0 / SQRT2, 1.0)
    data = np.concatenate([values, values[off]])
    return sp.csr_array((data, (rows, columns)), shape=(n * n, svec_size(n)))
