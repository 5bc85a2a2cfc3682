r"""Sums of the absolute values of an adjoint's terms, for bounds on its rounding error.

The error of the computed A*(y) is, entry by entry, at most :math:`\gamma_k \sum_e |y_e| |A_e|`,
with k the number of terms of an entry and a few operations more (see `sdpdr.linalg.rounding`).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, largest
from sdpdr.linalg.maps import (
    BilinearForms,
    Combined,
    InnerProduct,
    LinearMap,
    Products,
    Stacked,
    Summed,
    SvecMap,
    VectorMap,
)
from sdpdr.linalg.maps.combine import by_rows

# Operations on one term: two products, a half, the sqrt 2 of `svec` in and out, and both halves.
OPERATIONS = 8


def adjoint_magnitude(linear_map: LinearMap | VectorMap, multipliers: Array) -> Matrix:
    """The sum of ``|y_e| |A_e|``, entry by entry; a vector for a map on vectors."""
    y = np.abs(multipliers)
    if isinstance(linear_map, VectorMap):
        return abs(linear_map.matrix()).T @ y
    return of_sizes(linear_map).adjoint(y)


def diagonal_magnitude(linear_map: LinearMap | VectorMap, multipliers: Array) -> Array:
    """The diagonal of `adjoint_magnitude`; dense forms would fill the other entries."""
    if isinstance(linear_map, VectorMap):
        return np.asarray(adjoint_magnitude(linear_map, multipliers))
    return _adjoint_diagonal(of_sizes(linear_map), np.abs(multipliers))


def _adjoint_diagonal(linear_map: LinearMap, y: Array) -> Array:
    """The diagonal of a map's adjoint at y."""
    if isinstance(linear_map, Combined):
        return _adjoint_diagonal(linear_map.inner, np.asarray(linear_map.weights.T @ y))
    if isinstance(linear_map, Stacked):
        ends = np.cumsum([a.m for a in linear_map.maps])[:-1]
        parts = zip(linear_map.maps, np.split(y, ends), strict=True)
        return np.sum([_adjoint_diagonal(a, part) for a, part in parts], axis=0)
    if isinstance(linear_map, Summed):
        return np.sum([_adjoint_diagonal(a, y) for a in linear_map.maps], axis=0)
    if isinstance(linear_map, BilinearForms):
        return np.asarray(linear_map.left.multiply(linear_map.right).T @ y)
    return np.asarray(linear_map.adjoint(y).diagonal())


def of_sizes(linear_map: LinearMap) -> LinearMap:
    """The same map with absolute values of all coefficients."""
    if isinstance(linear_map, Combined):
        return Combined(abs(linear_map.weights), of_sizes(linear_map.inner))
    if isinstance(linear_map, Stacked):
        return Stacked([of_sizes(a) for a in linear_map.maps])
    if isinstance(linear_map, Summed):
        return Summed([of_sizes(a) for a in linear_map.maps])
    if isinstance(linear_map, InnerProduct):
        return InnerProduct(abs(linear_map.coefficients))
    if isinstance(linear_map, Products):
        return Products(linear_map.n, np.abs(linear_map.vector))
    if isinstance(linear_map, BilinearForms):
        return BilinearForms(abs(linear_map.left), abs(linear_map.right))
    return SvecMap(linear_map.n, abs(linear_map.matrix()))


def adjoint_terms(linear_map: LinearMap | VectorMap) -> int:
    """Largest number of rounded operations behind one entry of the adjoint."""
    if isinstance(linear_map, Combined):
        return _longest_column(linear_map.weights) + adjoint_terms(linear_map.inner)
    if isinstance(linear_map, (Stacked, Summed)):
        return len(linear_map.maps) + sum(adjoint_terms(a) for a in linear_map.maps)
    if isinstance(linear_map, (InnerProduct, Products)):
        return OPERATIONS
    if isinstance(linear_map, BilinearForms):
        return OPERATIONS + 2 * _longest_column(linear_map.left)
    return OPERATIONS + _longest_column(linear_map.matrix())


def _longest_column(matrix: sp.csr_array) -> int:
    """Largest number of entries in a column, counted without a vector of all columns."""
    if matrix.nnz == 0:
        return 0
    return int(np.max(np.unique(matrix.indices, return_counts=True)[1]))


def row_extents(linear_map: LinearMap | VectorMap) -> Array:
    """An upper estimate of the largest absolute value of an entry of each row."""
    if isinstance(linear_map, VectorMap):
        return largest_of_rows(linear_map.matrix())
    return by_rows(linear_map, _extents)


def _extents(linear_map: LinearMap) -> Array:
    """`row_extents` of a map that is not composed of others."""
    if isinstance(linear_map, InnerProduct):
        return np.array([largest(linear_map.coefficients)])
    if isinstance(linear_map, Products):
        return np.full(linear_map.m, largest(linear_map.vector))
    if isinstance(linear_map, BilinearForms):
        return np.asarray(largest_of_rows(linear_map.left) * largest_of_rows(linear_map.right))
    return largest_of_rows(linear_map.matrix())


def largest_of_rows(matrix: Matrix) -> Array:
    """The largest absolute value in every row; SciPy's function is slow for small matrices."""
    if not sp.issparse(matrix):
        return np.asarray(np.max(np.abs(matrix), axis=1, initial=0.0))
    rows = sp.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    found = np.zeros(rows.shape[0])
    filled = np.flatnonzero(np.diff(rows.indptr))
    if filled.size:
        found[filled] = np.maximum.reduceat(np.abs(rows.data), rows.indptr[filled])
    return found
