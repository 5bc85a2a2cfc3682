"""The maps of a program on one variable below each other, so that a dual slack is one product."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import SQRT2, svec_pairs

# Order from which maps may keep dense rows of low rank apart, and entries for every column and row
# up to which none does.
_LARGE, _NARROW = 200, 8
# Groups of rows from which on it is worth while to read their matrices.
_SEVERAL = 2
# Share of a small matrix from which on it is kept with all entries.
_DENSE = 0.2


def is_narrow(linear_map: LinearMap | VectorMap) -> bool:
    """Whether a map is no more than its sparse matrix.

    Examples
    --------
    >>> from sdpdr.linalg import Products, Trace
    >>> is_narrow(Trace(1000)), is_narrow(Products(1000))
    (True, False)
    """
    if isinstance(linear_map, VectorMap):
        return True
    if linear_map.n < _LARGE:
        return not linear_map.is_wide()
    return linear_map.n_entries <= _NARROW * (linear_map.n + linear_map.m)


class Column:
    """The sum of the adjoints of all maps on a variable.

    Parameters
    ----------
    maps : mapping from the label of rows to the map on the variable
    """

    def __init__(self, maps: Mapping[str, LinearMap | VectorMap]) -> None:
        narrow = {label: a for label, a in maps.items() if is_narrow(a)}
        self._stack = _Stack(narrow) if len(narrow) >= _SEVERAL else None
        self._apart = {k: a for k, a in maps.items() if self._stack is None or k not in narrow}

    def added(self, cost: Matrix, multipliers: Mapping[str, Array]) -> Matrix:
        """A cost and the adjoints of multipliers; rows without any have none."""
        total = cost
        for label, linear_map in self._apart.items():
            if label in multipliers:
                total = total + linear_map.adjoint(multipliers[label])
        return total if self._stack is None else total + self._stack.adjoint(multipliers)


class _Stack:
    """Sparse maps below each other."""

    def __init__(self, maps: Mapping[str, LinearMap | VectorMap]) -> None:
        self.maps = dict(maps)
        rows = sp.vstack([a.matrix() for a in maps.values()], format="csr")
        present, place = np.unique(rows.indices, return_inverse=True)
        first = next(iter(maps.values()))
        self.n = first.n
        shape = (rows.shape[0], present.size)
        self._columns = sp.csr_array(sp.csr_array((rows.data, place, rows.indptr), shape).T)
        self._full: _Full | None = None
        if isinstance(first, LinearMap):
            self._full = _Full(self.n, present)
            off = self._full.off
            self._columns = sp.diags_array(np.where(off, 1.0 / SQRT2, 1.0)) @ self._columns
        self._present = present

    def adjoint(self, multipliers: Mapping[str, Array]) -> Matrix:
        """The sum of the adjoints."""
        parts = [self._of(label, multipliers) for label in self.maps]
        entries = np.asarray(self._columns @ np.concatenate(parts))
        if self._full is not None:
            return self._full.of(entries)
        vector = np.zeros(self.n)
        vector[self._present] = entries
        return vector

    def _of(self, label: str, multipliers: Mapping[str, Array]) -> Array:
        m = self.maps[label].m
        y = multipliers.get(label)
        return np.zeros(m) if y is None else np.reshape(np.asarray(y, dtype=float), (m,))


class _Full:
    """Symmetric matrices of one pattern from their entries in the upper triangle."""

    def __init__(self, n: int, present: Index) -> None:
        i, j = svec_pairs(present)
        self.n, self.off = n, i != j
        self._ends = (i, j)
        self._is_dense = n < _LARGE and 2 * i.size >= _DENSE * n**2
        row = np.concatenate([i, j[self.off]])
        column = np.concatenate([j, i[self.off]])
        source = np.concatenate([np.arange(i.size), np.flatnonzero(self.off)])
        order = np.lexsort((column, row))
        self._source = source[order]
        self._indices = column[order].astype(np.int32)
        starts = np.searchsorted(row[order], np.arange(n + 1))
        self._starts = starts.astype(np.int32)

    def of(self, entries: Array) -> Matrix:
        """The matrix; a sparse one has no entries of zero."""
        if self._is_dense:
            matrix = np.zeros((self.n, self.n))
            i, j = self._ends
            matrix[i, j] = matrix[j, i] = entries
            return matrix
        parts = (entries[self._source], self._indices.copy(), self._starts.copy())
        sparse = sp.csr_array(parts, shape=(self.n, self.n))
        sparse.eliminate_zeros()
        return sparse
