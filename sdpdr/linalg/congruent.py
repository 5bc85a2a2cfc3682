r"""Products C^T (P kron P) C, where P = R^T R and every column of C is a symmetric matrix.

If few rows of C are nonzero, or C has few entries, the entries of :math:`P \otimes P` that matter
are computed one by one; otherwise every column of C is multiplied by R on both sides. Where a few
columns have many entries, these alone are multiplied, and products with them are those with sparse
columns (Fujisawa, Kojima, Nakata, "Exploiting sparsity in primal-dual interior-point methods for
semidefinite programming", Math. Program. 79, 1997). If columns
have low rank, as those of lengths and their differences have, sums of squares are faster:

.. math::  C_e = \sum_k \lambda_k b_k b_k^T \quad\Rightarrow\quad
           \langle C_e, P C_f P\rangle = \sum_{k,l} \lambda_k \lambda_l (b_k^T P b_l)^2 .
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import SQRT2, smat, svec, svec_pairs, svec_size

# Time of one entry, in multiplications: of P kron P, and of C in a sparse product.
_ENTRY, _SPARSE = 12.0, 4.0
# Time of squaring and adding one product of vectors; and work from which it pays to look for low
# ranks; both in multiplications.
_SQUARE, _WORTH = 40.0, 1e8
# Share of a column's largest eigenvalue below which others are zero; columns multiplied at once.
_NOTHING, _TOGETHER = 1e-14, 256
# Rows of entries that are found at once.
_CACHED = 64


class PartedColumns(NamedTuple):
    """Columns of few entries, and others.

    Attributes
    ----------
    few, many : arrays of int
        Places of both among all columns.
    sparse : BlockColumns
        Those of few entries.
    matrices : array of shape (count, n, n)
        The others.
    """

    few: Index
    many: Index
    sparse: BlockColumns
    matrices: Array


@dataclass(frozen=True, eq=False)
class BlockColumns:
    """The columns of C, restricted to the rows of one matrix variable.

    Attributes
    ----------
    order : int
        Order of the variable.
    at : array of int, shape (p,)
        The columns of C that are not zero here.
    seen : array of int, shape (r,)
        The rows that are not zero, as positions in ``svec``.
    rows : sparse array of shape (p, r)
        The entries, transposed.
    """

    order: int
    at: Index
    seen: Index
    rows: sp.csr_array

    @classmethod
    def of(cls, order: int, part: sp.csr_array) -> BlockColumns:
        """Make the columns from the rows of a matrix."""
        seen = np.flatnonzero(np.diff(part.indptr))
        used = np.zeros(part.shape[1], dtype=bool)
        used[part.indices] = True
        at = np.flatnonzero(used)
        column = (np.cumsum(used) - 1)[part.indices]
        kept = np.append(part.indptr[seen], part.indptr[-1])
        rows = sp.csr_array((part.data, column, kept), shape=(seen.size, at.size))
        return cls(order, at, seen, sp.csr_array(rows.T))

    @property
    def _by_entries(self) -> float:
        """Number of multiplications if entries are computed one by one."""
        p, r = self.at.size, self.seen.size
        return _ENTRY * r * r + _SPARSE * self.rows.nnz * (r + p)

    @property
    def _by_scaling(self) -> float:
        """Number of multiplications if every column is multiplied as a matrix."""
        p, n = self.at.size, float(self.order)
        return p * (4.0 * n**3 + p * n * n / 2.0)

    @cached_property
    def whole(self) -> Array | None:
        """The columns as matrices; None if computing entries is less work."""
        if self._by_entries <= self._by_scaling:
            return None
        return self._matrices(self.rows)

    def _matrices(self, rows: sp.csr_array) -> Array:
        columns = np.zeros((rows.shape[0], svec_size(self.order)))
        columns[:, self.seen] = rows.toarray()
        return smat(columns)

    @cached_property
    def parted(self) -> PartedColumns | None:
        """Columns of many entries apart from others; None where that saves less than half."""
        counts, n, p = np.diff(self.rows.indptr), float(self.order), self.at.size
        # The fewest entries of a column that a row is seen by.
        fewest = np.full(self.seen.size, counts.max(initial=0))
        np.minimum.at(fewest, self.rows.indices, np.repeat(counts, counts))
        best, most = 0.5 * min(self._by_entries, self._by_scaling), None
        for limit in np.unique(counts)[:-1]:
            sparse, r = counts <= limit, np.count_nonzero(fewest <= limit)
            q = np.count_nonzero(sparse)
            work = _ENTRY * r * r + _SPARSE * counts[sparse].sum() * (r + q)
            work += (p - q) * (4.0 * n**3 + _SPARSE * self.rows.nnz)
            if work < best:
                best, most = work, limit
        if most is None:
            return None
        few, many = np.flatnonzero(counts <= most), np.flatnonzero(counts > most)
        stored = self.rows[few].tocoo()
        places = (self.seen[stored.coords[1]], stored.coords[0])
        part = sp.csr_array((stored.data, places), shape=(svec_size(self.order), few.size))
        return PartedColumns(
            few, many, BlockColumns.of(self.order, part), self._matrices(self.rows[many])
        )

    @cached_property
    def low(self) -> tuple[Array, Array] | None:
        r"""The scaled vectors b, and the signs of their :math:`\lambda`; None if slower."""
        p, n = self.at.size, self.order
        least = min(self._by_entries, self._by_scaling)
        # Every column takes one vector at least.
        if least < max(_WORTH, float(p) ** 2 * (n + _SQUARE)):
            return None
        i, j = svec_pairs(self.seen)
        found, most = list[tuple[Array, Array]](), {-1.0: 0, 1.0: 0}
        for e in range(p):
            part = slice(self.rows.indptr[e], self.rows.indptr[e + 1])
            rows = self.rows.indices[part]
            found.append(_factored(i[rows], j[rows], self.rows.data[part], n))
            for sign in most:
                most[sign] = max(most[sign], int(np.sum(sign * found[-1][0] > 0.0)))
            if (float(p) * sum(most.values())) ** 2 * (n + _SQUARE) > least:
                return None
        signs = np.repeat(list(most), list(most.values()))
        vectors = np.zeros((signs.size, p, n))
        for e, (values, rows) in enumerate(found):
            for sign in most:
                own = np.flatnonzero(sign * values > 0.0)
                places = np.flatnonzero(signs == sign)[: own.size]
                vectors[places, e] = rows[own] * np.sqrt(np.abs(values[own]))[:, None]
        return vectors, signs

    def _product_low(self, vectors: Array, signs: Array, root: Array) -> Array:
        """The product as sums of squares: some columns at a time, with all columns after them."""
        p = self.at.size
        found = np.empty((p, p))
        moved = vectors @ root.T
        for begin in range(0, p, _TOGETHER):
            end = min(begin + _TOGETHER, p)
            total = np.zeros((end - begin, p - begin))
            for one, sign in zip(moved, signs, strict=True):
                for other, its in zip(moved, signs, strict=True):
                    squares = one[begin:end] @ other[begin:].T
                    np.square(squares, out=squares)
                    (np.add if sign == its else np.subtract)(total, squares, out=total)
            found[begin:end, begin:] = total
            found[end:, begin:end] = total[:, end - begin :].T
        return found

    def _product_parted(self, parted: PartedColumns, root: Array) -> Array:
        """The product of sparse columns, and those of the others with all columns."""
        few, many, sparse, matrices = parted
        P = root.T @ root
        moved = svec(P @ matrices @ P)[:, self.seen]
        others = np.asarray(self.rows @ moved.T)
        others[many] = 0.5 * (others[many] + others[many].T)
        found = np.empty((self.at.size, self.at.size))
        found[np.ix_(few, few)] = 0.0
        found[np.ix_(few[sparse.at], few[sparse.at])] = sparse.product(root)
        found[:, many], found[many] = others, others.T
        return found

    @cached_property
    def picks(self) -> tuple[Index, Array] | None:
        """The single row of each column, and its entry; None if a column has more or none."""
        if np.any(np.diff(self.rows.indptr) != 1):
            return None
        return self.rows.indices, self.rows.data

    @cached_property
    def _pairs(self) -> tuple[Index, Index, Array]:
        """Rows and columns of the entries seen, and what they count beside the diagonal."""
        i, j = svec_pairs(self.seen)
        return i, j, np.where(i == j, 1.0 / SQRT2, 1.0)

    def _entries(self, root: Array) -> Array:
        """The entries of P kron P, some rows at a time: they stay in the cache."""
        i, j, unit = self._pairs
        P = root.T @ root
        first, second = P.take(i, axis=0), P.take(j, axis=0)
        first *= unit[:, None]
        found = np.empty((i.size, i.size))
        for begin in range(0, i.size, _CACHED):
            part = slice(begin, begin + _CACHED)
            one, other, rows = first[part], second[part], found[part]
            np.multiply(one.take(i, axis=1), other.take(j, axis=1), out=rows)
            rows += one.take(j, axis=1) * other.take(i, axis=1)
            rows *= unit
        return found

    def product(self, root: Array) -> Array:
        """The product C^T (P kron P) C for the root R of P."""
        if self.low is not None:
            return self._product_low(*self.low, root)
        if self.parted is not None:
            return self._product_parted(self.parted, root)
        if self.whole is not None:
            moved = svec(root @ self.whole @ root.T)
            return np.asarray(moved @ moved.T)
        found = self._entries(root)
        if self.picks is not None:
            row, number = self.picks
            if row.size != self.seen.size or np.any(row[1:] < row[:-1]):
                found = found.take(row, axis=0).take(row, axis=1)
            return found if np.all(number == 1.0) else number[:, None] * found * number
        return np.asarray(self.rows @ (self.rows @ found).T)


def _factored(i: Index, j: Index, entries: Array, n: int) -> tuple[Array, Array]:
    """Nonzero eigenvalues of a matrix with entries (i, j) in ``svec``, and eigenvectors as rows."""
    support, place = np.unique(np.concatenate([i, j]), return_inverse=True)
    row, column = place[: i.size], place[i.size :]
    small = np.zeros((support.size, support.size))
    small[row, column] = small[column, row] = np.where(i == j, entries, entries / SQRT2)
    values, vectors = np.linalg.eigh(small)
    known = np.abs(values) > _NOTHING * np.max(np.abs(values), initial=0.0)
    rows = np.zeros((int(known.sum()), n))
    rows[:, support] = vectors[:, known].T
    return values[known], rows
