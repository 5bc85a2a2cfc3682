"""The maps of a program on one variable below each other, so that a dual slack is one product."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import SQRT2, svec_pairs

# Share of a matrix from which on it is kept with all entries.
_DENSE = 0.2


class Column:
    """The sum of the adjoints of all maps on a variable.

    Maps that are no more than sparse matrices are one, with a row for each entry of the sum: small
    programs with several take a tenth of the time.

    Parameters
    ----------
    maps : mapping from the label of rows to the map on the variable
    """

    def __init__(self, maps: Mapping[str, LinearMap | VectorMap]) -> None:
        wide = {k for k, a in maps.items() if isinstance(a, LinearMap) and a.is_wide()}
        # One map alone knows its adjoint best.
        is_several = len(maps) - len(wide) > 1
        stacked = {k: a for k, a in maps.items() if is_several and k not in wide}
        self._apart = {k: a for k, a in maps.items() if k not in stacked}
        self._sizes = {k: a.m for k, a in stacked.items()}
        if not stacked:
            return
        matrix = sp.coo_array(sp.vstack([a.matrix() for a in stacked.values()]))
        first = next(iter(stacked.values()))
        row, place, data = matrix.row, matrix.col.astype(np.int64), matrix.data
        n = first.n
        self._shape: tuple[int, ...] = (n,)
        if isinstance(first, LinearMap):
            i, j = svec_pairs(place)
            off, self._shape = i != j, (n, n)
            data = np.where(off, data / SQRT2, data)
            place = np.concatenate([i * n + j, (j * n + i)[off]])
            row, data = (np.concatenate([x, x[off]]) for x in (row, data))
        self._places, entry = np.unique(place, return_inverse=True)
        shape = (self._places.size, matrix.shape[0])
        self._entries = sp.csr_array((data, (entry, row)), shape=shape)
        starts = np.searchsorted(self._places, n * np.arange(n + 1))
        self._pattern = ((self._places % n).astype(np.int32), starts.astype(np.int32))

    def added(self, cost: Matrix, multipliers: Mapping[str, Array]) -> Matrix:
        """A cost and the adjoints of multipliers; rows without any have none."""
        total = cost
        for label, linear_map in self._apart.items():
            if label in multipliers:
                total = total + linear_map.adjoint(multipliers[label])
        if not self._sizes:
            return total
        y = [
            np.ravel(multipliers[k]) if k in multipliers else np.zeros(m)
            for k, m in self._sizes.items()
        ]
        return total + self._filled(self._entries @ np.concatenate(y))

    def _filled(self, entries: Array) -> Matrix:
        """The vector or the matrix with some entries; a sparse one has none that is zero."""
        if len(self._shape) == 1 or entries.size >= _DENSE * prod(self._shape):
            full = np.zeros(prod(self._shape))
            full[self._places] = entries
            return full.reshape(self._shape)
        indices, starts = self._pattern
        sparse = sp.csr_array((entries, indices.copy(), starts.copy()), shape=self._shape)
        sparse.eliminate_zeros()
        return sparse
