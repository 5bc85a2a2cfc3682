r"""Structured maps in place of general ones, for rows that cvxpy has multiplied out.

cvxpy passes squared distances, entries and centring to solvers as rows of numbers. The proofs and
the low-rank solvers of this package are faster on rows whose structure they know. Rows are
recognised by their coefficients alone, so it does not matter how they were written. The structured
map has exactly the same coefficients: no number changes, not even by rounding.

Three patterns of a row's symmetric matrix are recognised:

- a multiple of :math:`s s^T`, where all entries of s are 1, -1 or 0: a squared distance, an entry
  of the diagonal, the sum of all entries;
- a single entry off the diagonal;
- one row of the product K u, if the rows are those of the whole product.

A single row of any other pattern becomes an inner product.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import (
    Diagonal,
    Entries,
    InnerProduct,
    LinearMap,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    SvecMap,
    Trace,
)
from sdpdr.linalg.svec import selection, svec_pairs


class Pattern(IntEnum):
    """What a row says of a matrix."""

    OTHER = 0
    EMPTY = 1
    ENTRY = 2
    DIAGONAL = 3
    DISTANCE = 4
    SQUARE = 5
    PRODUCT = 6


@dataclass(frozen=True, eq=False)
class MatrixRows:
    """Rows on symmetric matrices, and the pattern of each.

    Attributes
    ----------
    n : int
        Order of the matrices.
    rows : sparse array of shape (m, n(n+1)/2)
        Entries of the rows' symmetric matrices, in the order of ``svec`` but not scaled; sorted
        and without zeros.

    Examples
    --------
    >>> import numpy as np
    >>> rows = MatrixRows(2, sp.csr_array([[2.0, -2.0, 2.0], [0.0, 0.5, 0.0], [1.0, 0.5, 0.0]]))
    >>> [Pattern(k).name for k in rows.patterns]
    ['DISTANCE', 'ENTRY', 'PRODUCT']
    """

    n: int
    rows: sp.csr_array

    def map(self) -> LinearMap:
        """The rows as a map, structured if all of them have one pattern.

        Examples
        --------
        >>> rows = sp.csr_array([[2.0, -2.0, 2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, -1.0, 0.0, 1.0]])
        >>> found = MatrixRows(3, rows).map()
        >>> found.inner.edges.tolist(), found.weights.data.tolist()
        ([[0, 1], [0, 2]], [2.0, 1.0])
        """
        found = set(self.patterns.tolist())
        made = None
        if found == {Pattern.DISTANCE}:
            made = self._scaled(SquaredEdgeLengths(self.n, self._support.reshape(-1, 2)))
        elif found == {Pattern.DIAGONAL}:
            made = self._scaled(Diagonal(self.n, self._i))
        elif found and found <= {Pattern.DIAGONAL, Pattern.ENTRY}:
            made = self._scaled(Entries(self.n, np.column_stack([self._i, self._j])))
        elif found and found <= {Pattern.SQUARE, Pattern.DIAGONAL, Pattern.DISTANCE}:
            made = self._scaled(QuadraticForms(self._signs))
        elif found == {Pattern.PRODUCT}:
            made = self._products()
        return made or self._inner_product() or SvecMap.from_natural(self.n, self.rows)

    @cached_property
    def patterns(self) -> NDArray[np.int8]:
        """The pattern of each row."""
        found = np.full(self._counts.size, Pattern.OTHER, dtype=np.int8)
        square = self._are_squares
        found[square] = Pattern.SQUARE
        found[square & (self._counts == 1)] = Pattern.DIAGONAL
        # The second of three entries is that of both points.
        opposite = self.rows.data[self._first] != self.rows.data[self._last - 1]
        found[square & (self._counts == 3) & opposite] = Pattern.DISTANCE
        found[(self._counts == 1) & ~square] = Pattern.ENTRY
        found[self._counts == 0] = Pattern.EMPTY
        found[self._are_of_products & (found == Pattern.OTHER)] = Pattern.PRODUCT
        return found

    def keys(self) -> list[Hashable]:
        """The pattern of each row, with the vector u of a row of K u if all rows of K u are there.

        Rows with one key can be in one map without losing structure.
        """
        keys: list[Hashable] = self.patterns.tolist()
        others, factors, ends = self._others, self._factors, self.rows.indptr.tolist()
        products: dict[Hashable, list[int]] = {}
        for e in np.flatnonzero(self.patterns == Pattern.PRODUCT).tolist():
            part = slice(ends[e], ends[e + 1])
            key = others[part].tobytes(), factors[part].tobytes()
            products.setdefault(key, []).append(e)
        for product, rows in products.items():
            for e in rows:
                keys[e] = product if len(rows) == self.n else int(Pattern.OTHER)
        return keys

    @cached_property
    def _counts(self) -> Index:
        return np.diff(self.rows.indptr)

    @cached_property
    def _row(self) -> Index:
        """The row of each entry."""
        return np.repeat(np.arange(self._counts.size), self._counts)

    @cached_property
    def _pairs(self) -> tuple[Index, Index]:
        return svec_pairs(self.rows.indices)

    @property
    def _i(self) -> Index:
        return self._pairs[0]

    @property
    def _j(self) -> Index:
        return self._pairs[1]

    @property
    def _first(self) -> Index:
        """The position of each row's first entry, and of some entry for empty rows."""
        return np.minimum(self.rows.indptr[:-1], max(self.rows.nnz - 1, 0))

    @property
    def _last(self) -> Index:
        return np.maximum(self.rows.indptr[1:] - 1, 0)

    def _all(self, hold: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether something holds for all entries of each row, and there are any."""
        wrong = np.bincount(self._row[~hold], minlength=self._counts.size)
        return np.asarray((wrong == 0) & (self._counts > 0))

    @cached_property
    def _heads(self) -> Index:
        """Entries in the first row of the matrix that has any: (p, q) for the support q."""
        return np.flatnonzero(self._i == self._i[self._first][self._row])

    @cached_property
    def _are_squares(self) -> NDArray[np.bool_]:
        """Whether the matrix of each row is a multiple of s s^T with entries of s of size one."""
        if not self.rows.nnz:
            return np.zeros(self._counts.size, dtype=bool)
        scale = self.rows.data[self._first][self._row]
        heads = self._heads
        # Sorted, because the entries of a row are.
        known = self._row[heads] * self.n + self._j[heads]
        sign, hold = np.ones(self.rows.nnz), np.abs(self.rows.data) == np.abs(scale)
        for end in self._pairs:
            wanted = self._row * self.n + end
            at = np.minimum(np.searchsorted(known, wanted), known.size - 1)
            hold &= known[at] == wanted
            sign *= np.sign(self.rows.data[heads[at]] * np.sign(scale))
        hold &= np.sign(self.rows.data) == sign * np.sign(scale)
        size = np.bincount(self._row[heads], minlength=self._counts.size)
        return self._all(hold) & (self._counts == size * (size + 1) // 2)

    @property
    def _support(self) -> Index:
        """The points of each square, row by row."""
        return self._j[self._heads]

    @property
    def _signs(self) -> sp.csr_array:
        """The vector s of each square."""
        heads = self._heads
        signs = np.sign(
            self.rows.data[heads] * np.sign(self.rows.data[self._first][self._row[heads]])
        )
        ends = np.concatenate(
            [[0], np.cumsum(np.bincount(self._row[heads], minlength=self._counts.size))]
        )
        return sp.csr_array((signs, self._j[heads], ends), shape=(self._counts.size, self.n))

    def _scaled(self, linear_map: LinearMap) -> LinearMap:
        """The rows of a map times the coefficients of these rows."""
        scale = self.rows.data[self._first]
        if isinstance(linear_map, Entries):
            # An entry off the diagonal is there twice.
            scale = np.where(self._i == self._j, scale, 2.0 * scale)
        return linear_map if np.all(scale == 1.0) else scale * linear_map

    @cached_property
    def _centres(self) -> Index:
        """The point that the first two entries of each row have in common, if there is one."""
        second = np.minimum(self._first + 1, max(self.rows.nnz - 1, 0))
        i, j = self._i[self._first], self._j[self._first]
        shared = (i == self._i[second]) | (i == self._j[second])
        return np.where(shared, i, j)

    @cached_property
    def _are_of_products(self) -> NDArray[np.bool_]:
        """Whether all entries of each row, two at least, are in one row of the matrix."""
        if not self.rows.nnz:
            return np.zeros(self._counts.size, dtype=bool)
        centre = self._centres[self._row]
        return self._all((self._i == centre) | (self._j == centre)) & (self._counts > 1)

    @property
    def _others(self) -> Index:
        """The entry of u that each entry of a row of K u belongs to."""
        return self._i + self._j - self._centres[self._row]

    @property
    def _factors(self) -> Array:
        """The coefficient of u at that entry."""
        return np.where(self._i == self._j, self.rows.data, 2.0 * self.rows.data)

    def _products(self) -> LinearMap | None:
        """All rows of K u, in any order; None if they are not of one u, or some are missing."""
        n, centres = self.n, self._centres
        if not np.array_equal(np.sort(centres), np.arange(n)) or len(set(self.keys())) != 1:
            return None
        u = np.zeros(n)
        u[self._others[: self._counts[0]]] = self._factors[: self._counts[0]]
        made = Products(n, None if np.all(u == 1.0) else u)
        return made if np.array_equal(centres, np.arange(n)) else selection(centres, n) @ made

    def _inner_product(self) -> LinearMap | None:
        """A single row as an inner product; None for several rows."""
        if self._counts.size != 1 or not self.rows.nnz:
            return None
        off = self._i != self._j
        if not off.any():
            weights = np.zeros(self.n)
            weights[self._i] = self.rows.data
            return Trace(self.n, None if np.all(weights == 1.0) else weights)
        row = np.concatenate([self._i, self._j[off]])
        column = np.concatenate([self._j, self._i[off]])
        values = np.concatenate([self.rows.data, self.rows.data[off]])
        return InnerProduct(sp.csr_array((values, (row, column)), shape=(self.n, self.n)))
