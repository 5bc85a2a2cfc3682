r"""Products of columns, each a symmetric matrix between two roots: C^T (P kron P) C, P = R^T R.

Of :math:`P \otimes P` only entries of rows of C that are not zero matter: where these are few, or C
has few entries, they are found one by one, and else all columns of C are scaled as matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import SQRT2, smat, svec, svec_pairs, svec_size

# Multiplications that a call for all entries of a product takes the time of, an entry.
_ENTRY, _SPARSE = 12.0, 4.0


@dataclass(frozen=True, eq=False)
class Block:
    """Columns in the rows of one matrix, in the order of ``svec``.

    Attributes
    ----------
    order : int
    at : array of int
        Those that are not zero.
    seen : array of int
        Its rows, of which none is zero.
    rows : sparse array of shape (len(at), len(seen))
    """

    order: int
    at: Index
    seen: Index
    rows: sp.csr_array

    @classmethod
    def of(cls, order: int, part: sp.csr_array) -> Block:
        """Of the rows of a matrix."""
        seen = np.flatnonzero(np.diff(part.indptr))
        used = np.zeros(part.shape[1], dtype=bool)
        used[part.indices] = True
        at = np.flatnonzero(used)
        column = (np.cumsum(used) - 1)[part.indices]
        kept = np.append(part.indptr[seen], part.indptr[-1])
        rows = sp.csr_array((part.data, column, kept), shape=(seen.size, at.size))
        return cls(order, at, seen, sp.csr_array(rows.T))

    @cached_property
    def whole(self) -> Array | None:
        """The columns as matrices, where to scale these is less work than to find entries."""
        p, r, n = self.at.size, self.seen.size, float(self.order)
        entries = _ENTRY * r * r + _SPARSE * self.rows.nnz * (r + p)
        if entries <= p * (4.0 * n**3 + p * n * n / 2.0):
            return None
        columns = np.zeros((p, svec_size(self.order)))
        columns[:, self.seen] = self.rows.toarray()
        return smat(columns)

    @cached_property
    def picks(self) -> tuple[Index, Array] | None:
        """The row that each column picks, and by which number, where each picks one."""
        if np.any(np.diff(self.rows.indptr) != 1):
            return None
        return self.rows.indices, self.rows.data

    @cached_property
    def _pairs(self) -> tuple[tuple[Index, ...], Array]:
        """Where four factors of all entries of W stand in a matrix, and the units of rows."""
        i, j = svec_pairs(self.seen)
        places = tuple(a[:, None] * self.order + b for a in (i, j) for b in (i, j))
        return places, np.where(i == j, 1.0 / SQRT2, 1.0)

    def product(self, root: Array) -> Array:
        """The product of the columns with each other in the scaling of inverse R."""
        if self.whole is not None:
            moved = svec(root @ self.whole @ root.T)
            return np.asarray(moved @ moved.T)
        (both, cross, back, other), unit = self._pairs
        inverse = (root.T @ root).ravel()
        found = inverse.take(both)
        found *= inverse.take(other)
        swapped = inverse.take(cross)
        swapped *= inverse.take(back)
        found += swapped
        found *= unit
        found *= unit[:, None]
        if self.picks is not None:
            row, number = self.picks
            if row.size != self.seen.size or np.any(row[1:] < row[:-1]):
                found = found.take(row, axis=0).take(row, axis=1)
            return found if np.all(number == 1.0) else number[:, None] * found * number
        return np.asarray(self.rows @ (self.rows @ found).T)
