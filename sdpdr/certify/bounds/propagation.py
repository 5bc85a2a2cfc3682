r"""What every row leaves for one of its parts, where the others are as small as they can be.

In a row :math:`\sum_k \langle A_k, X_k\rangle + b^T z \le r` every part has a least value: zero for
a positive semidefinite A_k, that at the ends of known limits for the rest, with
:math:`|X_{ij}| \le \sqrt{X_{ii} X_{jj}}`. So the part that is left over has an upper limit. A form
counts as positive semidefinite if it is diagonally dominant: by its surplus
:math:`\delta_i = A_{ii} - \sum_{j \ne i} |A_{ij}|` its row limits :math:`\sum_i \delta_i X_{ii}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

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
    """A matrix in a group of rows: entries, those off the diagonal doubled, and what they say."""

    row: Index
    i: Index
    j: Index
    weight: Array
    dominant: NDArray[np.bool_]
    surplus: sp.csr_array


class UpperRows:
    """A group of rows as upper limits, ``sign * lhs <= sign * rhs``.

    Attributes
    ----------
    vectors : dict from name to sparse array
        Coefficients of scalars.
    surplus : dict from name to sparse array of shape (m, n)
        That of diagonally dominant forms; zero in other rows.
    edges : dict from name to (rows, edges, factors)
        Forms that are positive multiples of the squared length of an edge.
    """

    def __init__(self, rows: Rows, sign: float) -> None:
        self.rhs = sign * rows.rhs
        self.vectors: dict[str, sp.csr_array] = {}
        self.edges: dict[str, tuple[Index, Index, Array]] = {}
        self._forms: dict[str, _Form] = {}
        for name, linear_map in rows.lhs.items():
            if isinstance(linear_map, VectorMap):
                self.vectors[name] = sign * linear_map.matrix()
                self.vectors[name].eliminate_zeros()
            elif (lengths := lengths_of(linear_map)) is not None:
                edges, factor = lengths[0], sign * lengths[1]
                positive = np.flatnonzero(factor > 0.0)
                self.edges[name] = (positive, edges[positive], factor[positive])
                self._forms[name] = _of_edges(linear_map.n, edges, factor)
            else:
                self._forms[name] = _of_entries(linear_map, sign)
        self.surplus = {name: form.surplus for name, form in self._forms.items()}

    def rest(self, diagonals: Mapping[str, Array], boxes: Boxes) -> Rest:
        """What the rows leave, from upper limits on diagonals and limits on scalars."""
        rest = Rest(self.rhs)
        for name, coefficients in self.vectors.items():
            entries, (lower, upper) = coefficients.tocoo(), boxes[name]
            ends = np.where(entries.data > 0.0, lower[entries.col], upper[entries.col])
            rest.take(entries.row, entries.data * ends)
        for name, (row, i, j, weight, dominant, _) in self._forms.items():
            first, second = np.sqrt(diagonals[name][i]), np.sqrt(diagonals[name][j])
            # An entry beside a diagonal entry of zero vanishes, however large the other may be.
            known = (first > 0.0) & (second > 0.0)
            reach = np.multiply(first, second, out=np.zeros(first.size), where=known)
            # A semidefinite form is not negative, whatever its terms are.
            zero = dominant[row] | ((i == j) & (weight > 0.0))
            terms = np.multiply(-np.abs(weight), reach, out=np.zeros(row.size), where=~zero)
            rest.take(row, terms)
        return rest


class Rest:
    """What rows leave when their parts are as small as they can be."""

    def __init__(self, rhs: Array) -> None:
        self._finite, self._endless = rhs.copy(), np.zeros(rhs.size)
        self._sizes, self._terms = np.abs(rhs), 0

    def take(self, row: Index, terms: Array) -> None:
        """Take off the least value of a part, the sum of its terms."""
        endless, m = np.isinf(terms), self._finite.size
        finite = np.where(endless, 0.0, terms)
        self._finite = self._finite - np.bincount(row, finite, m)
        self._endless = self._endless + np.bincount(row, endless, m)
        self._sizes = self._sizes + np.bincount(row, np.abs(finite), m)
        self._terms += 1 + int(np.max(np.bincount(row), initial=0))

    def for_forms(self) -> Array:
        """Upper limits of forms whose own least value is zero."""
        limit = self._finite + outwards(self._terms) * self._sizes
        return np.where(self._endless == 0.0, np.maximum(limit, 0.0), np.inf)

    def for_terms(self, row: Index, own: Array) -> Array:
        """Upper limits of single terms, whose own least values are given."""
        endless = np.isinf(own)
        limit = self._finite[row] + np.where(endless, 0.0, own)
        limit += outwards(self._terms) * self._sizes[row]
        return np.where(self._endless[row] == endless, limit, np.inf)


def outwards(terms: int) -> float:
    """Relative margin above the rounding of a sum."""
    return OUTWARDS + 4.0 * UNIT * terms


def _of_edges(n: int, edges: Index, factor: Array) -> _Form:
    row, (i, j) = np.tile(np.arange(factor.size), 3), edges.T
    weight = np.concatenate([factor, factor, -2.0 * factor])
    first, second = np.concatenate([i, j, i]), np.concatenate([i, j, j])
    nothing = sp.csr_array((factor.size, n))
    return _Form(row, first, second, weight, factor >= 0.0, nothing)


def _of_entries(linear_map: LinearMap, sign: float) -> _Form:
    matrix, shape = linear_map.matrix(), (linear_map.m, linear_map.n)
    # What rounding may hide counts against the form, on the diagonal as off it.
    entries = sp.hstack([sign * matrix, -_hidden(linear_map, matrix)]).tocoo()
    entries.eliminate_zeros()
    row, value = entries.row.astype(np.int64), entries.data
    i, j = svec_pairs(entries.col % max(matrix.shape[1], 1))
    off = i != j
    weight = np.where(off, SQRT2 * value, value)
    half = np.abs(weight[off]) * (0.5 + OUTWARDS)
    data = np.concatenate([weight[~off], -half, -half])
    places = np.concatenate([i[~off], i[off], j[off]])
    owner = np.concatenate([row[~off], row[off], row[off]])
    surplus = sp.csr_array((data, (owner, places)), shape=shape).tocoo()
    dominant = np.bincount(surplus.row, surplus.data < 0.0, shape[0]) == 0.0
    kept = dominant[surplus.row] & (surplus.data > 0.0)
    left = (surplus.data[kept], (surplus.row[kept], surplus.col[kept]))
    return _Form(row, i, j, weight, dominant, sp.csr_array(left, shape=shape))


def _hidden(linear_map: LinearMap, matrix: sp.csr_array) -> sp.csr_array:
    """Bounds on the errors of entries that are small beside the terms they are sums of.

    The errors of all others are small beside the entries, and covered by the margins.
    """
    sizes = row_magnitudes(linear_map)
    lost = sizes.multiply(sizes > _CANCELS * abs(matrix))
    return sp.csr_array(1.01 * float(gamma(row_terms(linear_map))) * lost)
