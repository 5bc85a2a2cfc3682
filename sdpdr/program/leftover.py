"""What every row leaves for one of its parts, where the others are as small as they can be."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, lengths_of
from sdpdr.linalg.magnitudes import row_magnitudes, row_terms
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import SQRT2, svec_pairs
from sdpdr.program.rows import Rows

# Limits are loose by this much, relatively, which covers a few thousand roundings.
OUTWARDS = 1e-12
# How many times smaller than its terms an entry is whose terms cancel.
_CANCELS = 8.0


class Group:
    """A group of rows as upper limits: sign * lhs <= sign * rhs."""

    def __init__(self, rows: Rows, sign: float) -> None:
        self.rhs = sign * rows.rhs
        self.vectors: dict[str, sp.csr_array] = {}
        self.surplus: dict[str, sp.csr_array] = {}
        self.edges: dict[str, tuple[Index, Index, Array]] = {}
        self._matrices: dict[str, tuple[Index, Index, Index, Array]] = {}
        self._semidefinite: dict[str, np.ndarray] = {}
        for name, linear_map in rows.lhs.items():
            if not isinstance(linear_map, LinearMap):
                self.vectors[name] = sign * linear_map.matrix()
                self.vectors[name].eliminate_zeros()
                continue
            scaled = lengths_of(linear_map)
            if scaled is not None:
                self._add_edges(name, *scaled, sign)
            else:
                self._add_matrix(name, linear_map, sign)

    def _add_edges(self, name: str, edges: Index, size: Array, sign: float) -> None:
        size = sign * size
        positive = np.flatnonzero(size > 0.0)
        self.edges[name] = (positive, edges[positive], size[positive])
        self._semidefinite[name] = size >= 0.0
        m, (i, j) = size.size, edges.T
        row = np.arange(m)
        self._matrices[name] = (
            np.concatenate([row, row, row]),
            np.concatenate([i, j, i]),
            np.concatenate([i, j, j]),
            np.concatenate([size, size, -2.0 * size]),
        )
        self.surplus[name] = sp.csr_array((m, int(edges.max(initial=0)) + 1))

    def _add_matrix(self, name: str, linear_map: LinearMap, sign: float) -> None:
        matrix = linear_map.matrix()
        # What rounding may hide counts against the form, on the diagonal as off it.
        entries = sp.hstack([sign * matrix, -_hidden(linear_map, matrix)]).tocoo()
        kept = entries.data != 0.0
        row, value = entries.row[kept].astype(np.int64), entries.data[kept]
        i, j = svec_pairs(entries.col[kept] % matrix.shape[1])
        off = i != j
        # Of the form: entries off the diagonal count twice.
        weight = np.where(off, SQRT2 * value, value)
        self._matrices[name] = (row, i, j, weight)
        shape = (linear_map.m, linear_map.n)
        half = np.abs(weight[off]) * (0.5 + OUTWARDS)
        diagonal = sp.csr_array((weight[~off], (row[~off], i[~off])), shape=shape)
        ends = np.concatenate([i[off], j[off]])
        others = sp.csr_array(
            (np.concatenate([half, half]), (np.tile(row[off], 2), ends)), shape=shape
        )
        surplus = sp.csr_array(diagonal - others)
        bad = np.unique(surplus.tocoo().row[surplus.tocoo().data < 0.0])
        semidefinite = np.ones(linear_map.m, dtype=bool)
        semidefinite[bad] = False
        self._semidefinite[name] = semidefinite
        self.surplus[name] = sp.csr_array(sp.diags_array(semidefinite.astype(float)) @ surplus)

    def rest(self, diagonal: dict[str, Array], boxes: dict[str, tuple[Array, Array]]) -> Rest:
        """Least values of the parts of every row."""
        least: dict[str, Array] = {}
        infinite: dict[str, Array] = {}
        sizes: dict[str, Array] = {}
        longest = 0
        for name, coefficients in self.vectors.items():
            entries = coefficients.tocoo()
            lower, upper = boxes[name]
            b = entries.data
            ends = np.where(b > 0.0, lower[entries.col], upper[entries.col])
            terms = b * ends
            least[name], infinite[name] = _sums(entries.row, terms, self.rhs.size)
            sizes[name] = _sums(entries.row, np.abs(terms), self.rhs.size)[0]
            longest += int(np.max(np.bincount(entries.row), initial=0))
        for name, (row, i, j, weight) in self._matrices.items():
            first, second = np.sqrt(diagonal[name][i]), np.sqrt(diagonal[name][j])
            # An entry beside a diagonal entry of zero vanishes, however large the other may be.
            known = (first > 0.0) & (second > 0.0)
            largest = np.multiply(first, second, out=np.zeros(first.size), where=known)
            on = i == j
            terms = np.where(on & (weight > 0.0), 0.0, -np.abs(weight) * largest)
            least[name], infinite[name] = _sums(row, terms, self.rhs.size)
            sizes[name] = np.abs(least[name])
            longest += int(np.max(np.bincount(row), initial=0))
            # A semidefinite form is not negative, whatever its terms are.
            least[name][self._semidefinite[name]] = 0.0
            infinite[name][self._semidefinite[name]] = 0.0
        return Rest(self.rhs, least, infinite, sizes, longest)


class Rest:
    """What a row leaves for one of its parts when the others are as small as they can be."""

    def __init__(
        self,
        rhs: Array,
        least: dict[str, Array],
        infinite: dict[str, Array],
        sizes: dict[str, Array],
        terms: int,
    ) -> None:
        self._least, self._infinite = least, infinite
        self._finite = rhs - sum(least.values())
        self._unknown = np.zeros(rhs.size) + sum(infinite.values())
        self.margin = outwards(terms) * (np.abs(rhs) + sum(sizes.values()))

    def without(self, name: str) -> Array:
        """Upper limit of one variable's part of every row."""
        limit = self._finite + self._least[name]
        unknown = self._unknown - self._infinite[name]
        return np.where(unknown == 0.0, limit + self.margin, np.inf)

    def without_entry(self, name: str, row: Index, own: Array) -> Array:
        """Upper limit of single terms, whose own least values are given."""
        infinite = np.isinf(own)
        limit = self._finite[row] + np.where(infinite, 0.0, own)
        return np.where(self._unknown[row] - infinite == 0.0, limit, np.inf)


def _hidden(linear_map: LinearMap, matrix: sp.csr_array) -> sp.csr_array:
    """Bounds on the errors of entries that are small beside the terms they are sums of.

    The errors of all others are small beside the entries, and covered by the margins.
    """
    sizes = row_magnitudes(linear_map)
    lost = sizes.multiply(sizes > _CANCELS * abs(matrix))
    return sp.csr_array(1.01 * float(gamma(row_terms(linear_map))) * lost)


def outwards(terms: int) -> float:
    """Relative margin above the rounding of a sum."""
    return OUTWARDS + 4.0 * UNIT * terms


def _sums(row: Index, terms: Array, m: int) -> tuple[Array, Array]:
    """Sums of the finite terms of every row, and the numbers of infinite ones."""
    infinite = np.isinf(terms)
    finite = np.bincount(row, np.where(infinite, 0.0, terms), minlength=m)
    count = np.bincount(row, infinite, minlength=m)
    return np.asarray(finite, dtype=float), np.asarray(count, dtype=float)
