"""Ranges and null spaces in coordinates that are as simple as the data allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array
from sdpdr.linalg import (
    BilinearForms,
    Combined,
    InnerProduct,
    LinearMap,
    Stacked,
    Summed,
    VectorMap,
)
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import dot_enclosure
from sdpdr.linalg.svec import SQRT2, svec_pairs

# Null spaces beyond the axes are looked for up to this order.
_LARGEST = 400
# Denominators tried for numbers that should be simple, and how near they must come.
_DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
_NEAR = 1e-6
# Relative size of what counts as a null space, and of what rounding leaves of zero.
_SMALL, _ROUNDING = 1e-12, 1e-13


def unseen_vectors(
    n: int, maps: Sequence[LinearMap | VectorMap], exactly: bool
) -> tuple[Array, bool]:
    """Vectors u, as columns, with A_e u = 0 for all rows of all maps, and whether exactly so.

    Parameters
    ----------
    n : int
        Order of the matrices.
    maps : sequence of LinearMap
    exactly : bool
        Only those for which it holds without rounding.

    Examples
    --------
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> unseen_vectors(4, [SquaredEdgeLengths(4, [[0, 1], [1, 2]])], exactly=True)[0].T
    array([[0., 0., 0., 1.],
           [1., 1., 1., 0.]])
    """
    matrix_maps = [a for a in maps if isinstance(a, LinearMap)]
    parts = [_rows_that_see(a) for a in matrix_maps]
    seen = np.zeros(n, dtype=bool)
    for part, _ in parts:
        seen[part.indices[part.data != 0.0]] = True
    axes = np.eye(n)[:, ~seen]
    inner = np.flatnonzero(seen)
    if not inner.size or inner.size > _LARGEST:
        return axes, True
    stacked = sp.csr_array(sp.vstack([part for part, _ in parts], format="csr")[:, inner])
    is_exact = all(exact for _, exact in parts)
    found = _null_space(stacked, is_exact, exactly)
    if not found.shape[1]:
        return axes, True
    wide = np.zeros((n, found.shape[1]))
    wide[inner] = found
    return np.hstack([axes, wide]), is_exact


def range_basis(z: Array, share: float, along_axes: bool) -> Array:
    """A basis, as columns, of the range of a positive semidefinite matrix.

    Parameters
    ----------
    z : array of shape (n, n)
    share : float
        How small an eigenvalue, or a diagonal entry, counts as zero, relative to the largest.
    along_axes : bool
        Only axes: those along which the matrix does not vanish.
    """
    if along_axes:
        diagonal = np.diagonal(z)
        return np.eye(z.shape[0])[:, diagonal > share * np.max(np.abs(diagonal), initial=0.0)]
    values, vectors = np.linalg.eigh(z)
    return simple_basis(vectors[:, values > share * np.max(np.abs(values), initial=0.0)])


def simple_basis(vectors: Array) -> Array:
    """A basis of the same space with an identity among its rows, and simple numbers if it has any.

    Examples
    --------
    >>> simple_basis(np.array([[0.6], [0.6], [-0.3]])).T
    array([[ 2.,  2., -1.]])
    """
    if not vectors.shape[1]:
        return vectors
    return np.column_stack([_simple(column) for column in with_identity(vectors).T])


def with_identity(vectors: Array) -> Array:
    """The basis of the same space that has an identity among its rows."""
    pivots = sl.qr(vectors.T, mode="r", pivoting=True)[1][: vectors.shape[1]]
    return np.asarray(vectors @ np.linalg.inv(vectors[pivots]))


def _simple(column: Array) -> Array:
    """Whole numbers in the same proportion, if they are small; else the column as it is."""
    for q in _DENOMINATORS:
        whole = np.round(q * column)
        if np.max(np.abs(whole - q * column)) <= _NEAR * q:
            return np.asarray(whole + 0.0)
    return np.asarray(column)


def _null_space(rows: sp.csr_array, is_exact: bool, exactly: bool) -> Array:
    """Simple vectors orthogonal to all rows."""
    n = rows.shape[1]
    none = np.zeros((n, 0))
    if exactly and not is_exact:
        return none
    sizes = spl.norm(rows, axis=1)
    unit = sp.diags_array(1.0 / np.where(sizes > 0.0, sizes, 1.0)) @ rows
    values, vectors = np.linalg.eigh((unit.T @ unit).toarray())
    null = vectors[:, values <= _SMALL * max(float(values[-1]), 1e-300)]
    if not null.shape[1]:
        return none
    basis = simple_basis(null)
    if is_exact:
        kept = [u for u in basis.T if _is_orthogonal(rows, u)]
    else:
        small = np.abs(rows @ basis) <= _ROUNDING * (abs(rows) @ np.abs(basis))
        kept = list(basis.T[small.all(axis=0)])
    return np.column_stack(kept) if kept else none


def _is_orthogonal(rows: sp.csr_array, u: Array) -> bool:
    """Whether all inner products vanish exactly; those that do not in floating point cannot."""
    if np.any(np.abs(rows @ u) > _ROUNDING * (abs(rows) @ np.abs(u))):
        return False
    ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return all(
        dot_enclosure(rows.data[a:b], u[rows.indices[a:b]]) == (0.0, 0.0) for a, b in ends if b > a
    )


def _rows_that_see(linear_map: LinearMap) -> tuple[sp.csr_array, bool]:
    """Vectors such that A_e u = 0 for all e if they are orthogonal to u; whether stored as such."""
    if isinstance(linear_map, BilinearForms):
        return sp.vstack([linear_map.left, linear_map.right], format="csr"), True
    if isinstance(linear_map, InnerProduct) and not isinstance(linear_map.coefficients, Outer):
        return sp.csr_array(linear_map.coefficients), True
    if isinstance(linear_map, (Stacked, Summed)):
        parts = [_rows_that_see(a) for a in linear_map.maps]
        return sp.vstack([p for p, _ in parts], format="csr"), all(exact for _, exact in parts)
    if isinstance(linear_map, Combined) and isinstance(linear_map.inner, BilinearForms):
        used = np.unique(linear_map.weights.indices[linear_map.weights.data != 0.0])
        inner = linear_map.inner
        return sp.vstack([inner.left[used], inner.right[used]], format="csr"), True
    return _rows_of_entries(linear_map), False


def _rows_of_entries(linear_map: LinearMap) -> sp.csr_array:
    """All rows of all matrices A_e, which `svec` has stored with roots of two."""
    entries = linear_map.matrix().tocoo()
    i, j = svec_pairs(entries.col)
    off = i != j
    value = entries.data / np.where(off, SQRT2, 1.0)
    e = entries.row.astype(np.int64) * linear_map.n
    row = np.concatenate([e + i, (e + j)[off]])
    column = np.concatenate([j, i[off]])
    data = np.concatenate([value, value[off]])
    shape = (linear_map.m * linear_map.n, linear_map.n)
    rows = sp.csr_array((data, (row, column)), shape=shape)
    return rows[np.flatnonzero(np.diff(rows.indptr))]
