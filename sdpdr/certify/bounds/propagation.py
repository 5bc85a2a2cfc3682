r"""What every row leaves for one of its parts, where the others are as small as they can be.

In a row :math:`\sum_k \langle A_k, X_k\rangle + b^T z \le r` every part has a least value: zero for
a positive semidefinite A_k, that at the ends of known limits for the rest, with
:math:`|X_{ij}| \le \sqrt{X_{ii} X_{jj}}`. So the part that is left over has an upper limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, VectorMap, lengths_of
from sdpdr.linalg.magnitudes import row_magnitudes, row_terms
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import SQRT2, svec_pairs
from sdpdr.program.rows import Rows

# Limits are loose by this much, relatively, which covers a few thousand roundings.
OUTWARDS = 1e-12
# How many times smaller than its terms an entry is whose terms cancel.
_CANCELS = 8.0

Boxes = Mapping[str, tuple[Array, Array]]


class _Form(NamedTuple):
    """The quadratic forms of a group of rows: their entries, those off the diagonal doubled."""

    row: Index
    i: Index
    j: Index
    weight: Array


class _Least(NamedTuple):
    """The least values of a part: finite sums, numbers of infinite terms, sizes of all terms."""

    sums: Array
    infinite: Array
    sizes: Array


class UpperRows:
    """A group of rows as upper limits, ``sign * lhs <= sign * rhs``.

    Parameters
    ----------
    rows : Rows
    sign : float

    Attributes
    ----------
    vectors : dict from name to sparse array
        Coefficients of scalars.
    surplus : dict from name to sparse array of shape (m, n)
        By how much diagonal entries outweigh their rows, in forms that are diagonally dominant.
    edges : dict from name to (rows, edges, factors)
        Forms that are positive multiples of the squared length of an edge.
    """

    def __init__(self, rows: Rows, sign: float) -> None:
        self.rhs = sign * rows.rhs
        self.vectors: dict[str, sp.csr_array] = {}
        self.surplus: dict[str, sp.csr_array] = {}
        self.edges: dict[str, tuple[Index, Index, Array]] = {}
        self._forms: dict[str, _Form] = {}
        self._semidefinite: dict[str, Array] = {}
        for name, linear_map in rows.lhs.items():
            if isinstance(linear_map, VectorMap):
                self.vectors[name] = sign * linear_map.matrix()
                self.vectors[name].eliminate_zeros()
            elif (scaled := lengths_of(linear_map)) is not None:
                self._add_edges(name, scaled[0], sign * scaled[1])
            else:
                self._add_forms(name, linear_map, sign)

    def _add_edges(self, name: str, edges: Index, factor: Array) -> None:
        positive = np.flatnonzero(factor > 0.0)
        self.edges[name] = (positive, edges[positive], factor[positive])
        self._semidefinite[name] = factor >= 0.0
        row, (i, j) = np.arange(factor.size), edges.T
        weight = np.concatenate([factor, factor, -2.0 * factor])
        first, second = np.concatenate([i, j, i]), np.concatenate([i, j, j])
        self._forms[name] = _Form(np.tile(row, 3), first, second, weight)

    def _add_forms(self, name: str, linear_map: LinearMap, sign: float) -> None:
        matrix = linear_map.matrix()
        # What rounding may hide counts against the form, on the diagonal as off it.
        entries = sp.hstack([sign * matrix, -_hidden(linear_map, matrix)]).tocoo()
        kept = entries.data != 0.0
        row, value = entries.row[kept].astype(np.int64), entries.data[kept]
        i, j = svec_pairs(entries.col[kept] % matrix.shape[1])
        off = i != j
        weight = np.where(off, SQRT2 * value, value)
        self._forms[name] = _Form(row, i, j, weight)
        half = np.abs(weight[off]) * (0.5 + OUTWARDS)
        data = np.concatenate([weight[~off], -half, -half])
        place = (
            np.concatenate([row[~off], row[off], row[off]]),
            np.concatenate([i[~off], i[off], j[off]]),
        )
        surplus = sp.csr_array((data, place), shape=(linear_map.m, linear_map.n))
        least = np.asarray(surplus.min(axis=1).toarray()).ravel() if matrix.shape[1] else 0.0
        dominant = np.zeros(linear_map.m) + least >= 0.0
        self._semidefinite[name] = dominant
        self.surplus[name] = sp.csr_array(sp.diags_array(dominant.astype(float)) @ surplus)

    def rest(self, diagonals: Mapping[str, Array], boxes: Boxes) -> Rest:
        """What the rows leave, from upper limits on diagonals and limits on scalars."""
        least, longest = dict[str, _Least](), 0
        for name, coefficients in self.vectors.items():
            entries, (lower, upper) = coefficients.tocoo(), boxes[name]
            ends = np.where(entries.data > 0.0, lower[entries.col], upper[entries.col])
            least[name] = _summed(entries.row, entries.data * ends, self.rhs.size)
            longest += _longest(entries.row)
        for name, (row, i, j, weight) in self._forms.items():
            first, second = np.sqrt(diagonals[name][i]), np.sqrt(diagonals[name][j])
            # An entry beside a diagonal entry of zero vanishes, however large the other may be.
            known = (first > 0.0) & (second > 0.0)
            reach = np.multiply(first, second, out=np.zeros(first.size), where=known)
            terms = np.where((i == j) & (weight > 0.0), 0.0, -np.abs(weight) * reach)
            sums, infinite, sizes = _summed(row, terms, self.rhs.size)
            # A semidefinite form is not negative, whatever its terms are.
            bent = ~self._semidefinite[name]
            least[name] = _Least(sums * bent, infinite * bent, sizes * bent)
            longest += _longest(row)
        return Rest(self.rhs, least, longest)


class Rest:
    """What rows leave for one of their parts when the others are as small as they can be."""

    def __init__(self, rhs: Array, least: Mapping[str, _Least], terms: int) -> None:
        self._least = least
        nothing = np.zeros(rhs.size)
        self._finite = rhs - sum((part.sums for part in least.values()), nothing)
        self._unknown = sum((part.infinite for part in least.values()), nothing)
        sizes = np.abs(rhs) + sum((part.sizes for part in least.values()), nothing)
        self.margin = outwards(terms) * sizes

    def without(self, name: str) -> Array:
        """Upper limit of one variable's part of every row."""
        part = self._least[name]
        unknown = self._unknown - part.infinite
        return np.where(unknown == 0.0, self._finite + part.sums + self.margin, np.inf)

    def without_entry(self, row: Index, own: Array) -> Array:
        """Upper limit of single terms, whose own least values are given."""
        infinite = np.isinf(own)
        limit = self._finite[row] + np.where(infinite, 0.0, own) + self.margin[row]
        return np.where(self._unknown[row] - infinite == 0.0, limit, np.inf)


def outwards(terms: int) -> float:
    """Relative margin above the rounding of a sum."""
    return OUTWARDS + 4.0 * UNIT * terms


def _hidden(linear_map: LinearMap, matrix: sp.csr_array) -> sp.csr_array:
    """Bounds on the errors of entries that are small beside the terms they are sums of.

    The errors of all others are small beside the entries, and covered by the margins.
    """
    sizes = row_magnitudes(linear_map)
    lost = sizes.multiply(sizes > _CANCELS * abs(matrix))
    return sp.csr_array(1.01 * float(gamma(row_terms(linear_map))) * lost)


def _summed(row: Index, terms: Array, m: int) -> _Least:
    infinite = np.isinf(terms)
    finite = np.where(infinite, 0.0, terms)
    sums = np.bincount(row, finite, minlength=m).astype(float)
    sizes = np.bincount(row, np.abs(finite), minlength=m).astype(float)
    return _Least(sums, np.bincount(row, infinite, minlength=m).astype(float), sizes)


def _longest(row: Index) -> int:
    return int(np.max(np.bincount(row), initial=0))
