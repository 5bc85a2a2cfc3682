r"""Programs whose cost is the distance of one matrix from a given one.

The standard form has squares as free scalars s with a curvature, each of which a row of its own
defines, :math:`\sigma s + B(X) = r`. Then the cost is

.. math::

    \tfrac12 \sum_k \frac{\kappa_k}{\sigma_k^2} (r_k - B_k(X))^2 + \langle C, X\rangle
    = \tfrac{\rho}{2} \|X - G\|_F^2 + \text{const}

wherever the squares weigh all entries of X alike. Entries that an equation of their own fixes may
be left out: to add their squares changes nothing but the multiplier of this equation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.svec import order_of, smat, svec
from sdpdr.program.point import Point, PsdVariable, VectorVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# How far weights of entries may differ, relatively, to be the same.
_SAME = 1e-12
# Entries of a row up to which squares of sums are looked at.
_LONGEST_ROW = 4
# Over the order and the size of a matrix, what lifts eigenvalues above its rounding.
_LIFT = 32.0 * UNIT
_ONE = "there are other variables than one matrix and squares"
_LINEAR = "a square has a cost of its own"
_FREE = "a square is not defined by one equation of its own"
_WEIGHTS = "the squares do not weigh all entries of the matrix alike"


@dataclass(frozen=True, eq=False)
class Squares:
    """Scalars that are squared, and the rows that define them by the matrix.

    Attributes
    ----------
    name, label : str
        Names of the scalars and of the group of rows.
    entry, curvature, rhs : array
        The coefficient of each scalar in its row, the cost of half its square, and the row's
        right-hand side.
    of_matrix : sparse array
        What the rows say of the matrix, in the order of ``svec``.
    """

    name: str
    label: str
    entry: Array
    curvature: Array
    rhs: Array
    of_matrix: sp.csr_array

    def values(self, x: Array) -> Array:
        """The scalars at a matrix."""
        return np.asarray((self.rhs - self.of_matrix @ x) / self.entry)

    @property
    def weights(self) -> Array:
        """What half the square of a row costs."""
        return self.curvature / self.entry**2


@dataclass(frozen=True, eq=False)
class NearestProgram:
    """A program whose cost is the distance of a matrix from a given one.

    Attributes
    ----------
    name : str
        Name of the matrix.
    given : array of shape (n (n + 1) / 2,)
        G, in the order of ``svec``.
    scale : float
        rho.
    rows : sparse array
        Those that define no squares.
    rhs : array
    is_limit : array of bool
        Which of them are inequalities.
    ends : mapping from label to slice
        The places of their groups.
    squares : sequence of Squares
    cost : array
        C, the linear part.
    fixed : (array of int, array of int)
        Entries that no square has, and the rows that fix them.
    """

    name: str
    given: Array
    scale: float
    rows: sp.csr_array
    rhs: Array
    is_limit: NDArray[np.bool_]
    ends: Mapping[str, slice]
    squares: Sequence[Squares]
    cost: Array
    fixed: tuple[Index, Index]

    @cached_property
    def adjoint(self) -> sp.csr_array:
        """The transpose of the rows."""
        return sp.csr_array(self.rows.T)

    @property
    def coefficients(self) -> Array:
        """What the rows that fix entries multiply them by."""
        return self.rows.data[self.rows.indptr[self.fixed[1]]]

    @cached_property
    def sizes(self) -> sp.csr_array:
        """The sizes of the entries of the rows."""
        return sp.csr_array(abs(self.rows))

    @cached_property
    def compliance(self) -> Array:
        """How far a multiplier moves its own row where nothing is cut off."""
        return np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel() / self.scale

    @cached_property
    def matrices(self) -> Array:
        """The rows as symmetric matrices, for few of them."""
        return smat(self.rows.toarray())

    def value(self, x: Array) -> float:
        """The cost at a matrix, without the constant."""
        parts = [0.5 * float(one.curvature @ one.values(x) ** 2) for one in self.squares]
        return float(self.cost @ x) + sum(parts)

    def point(self, x: Array, y: Array, size: float) -> Point:
        """Values and multipliers of the whole program.

        What is left of the matrix by these has no negative eigenvalue, and some that are zero. They
        are lifted by what rounding makes of one of a size, for a factorization to confirm it.
        """
        n = order_of(x.size)
        lifted = x + _LIFT * n * size * svec(np.eye(n))
        entry, row = self.fixed
        y = y.copy()
        away = self.scale * (lifted - self.given) - self.cost
        y[row] += away[entry] / self.coefficients
        duals = {label: y[place] for label, place in self.ends.items()}
        duals |= {s.label: -s.curvature * s.values(lifted) / s.entry for s in self.squares}
        values = {s.name: s.values(x) for s in self.squares}
        return Point({self.name: smat(x), **values}, duals)


def nearest_program(sdp: SDP) -> NearestProgram | str:
    """The program as a distance, or why it is none.

    Examples
    --------
    >>> import sdpdr
    >>> K = sdpdr.psd("K", 2)
    >>> distance = sdpdr.minimize(sdpdr.sum_squares(K - 3.0 * np.eye(2)))
    >>> found = nearest_program((distance + (K.sum() == 0)).to_sdp())
    >>> round(found.scale, 9), found.given.round(9)
    (2.0, array([3., 0., 3.]))
    >>> nearest_program((sdpdr.minimize(sdpdr.square(K[0, 1] - 1)) + (K.sum() == 0)).to_sdp())
    'the squares do not weigh all entries of the matrix alike'
    """
    if len(sdp.psd_variables) != 1 or sdp.lmis or not sdp.vector_variables:
        return _ONE
    matrix, vectors = sdp.psd_variables[0], sdp.vector_variables
    if any(v.curvature is None for v in vectors):
        return _ONE
    # All entries are in squares, or have an equation; of large programs hardly ever.
    if sum(v.size for v in vectors) + sdp.n_rows < matrix.size:
        return _WEIGHTS
    costs = {name: a.matrix() for name, a in sdp.objective.items()}
    if any(costs[v.name].count_nonzero() for v in vectors if v.name in costs):
        return _LINEAR
    squares = [one for one in (_squares(sdp, matrix, v) for v in vectors) if one is not None]
    if len(squares) < len(vectors):
        return _FREE
    weights = _weights_of_entries(squares)
    if weights is None:
        return _WEIGHTS
    kept = [r for r in sdp.rows if all(r.label != one.label for one in squares)]
    rows, rhs = _rows_on(matrix, kept), np.concatenate([np.zeros(0), *(r.rhs for r in kept)])
    is_limit = np.repeat([r.relation == "<=" for r in kept], [r.m for r in kept]).astype(bool)
    fixed = _fixed(np.flatnonzero(weights == 0.0), rows, is_limit)
    scale = float(np.max(weights))
    if fixed is None or not np.all((weights == 0.0) | (weights >= (1.0 - _SAME) * scale)):
        return _WEIGHTS
    cost = costs[matrix.name].toarray()[0] if matrix.name in costs else np.zeros(matrix.size)
    given = (sum(one.of_matrix.T @ (one.weights * one.rhs) for one in squares) - cost) / scale
    starts = np.cumsum([0, *(r.m for r in kept)]).tolist()
    ends = {r.label: slice(a, b) for r, a, b in zip(kept, starts, starts[1:], strict=False)}
    found = NearestProgram(
        matrix.name, given, scale, rows, rhs, is_limit, ends, squares, cost, fixed
    )
    entry, row = fixed
    given[entry] = rhs[row] / found.coefficients - cost[entry] / scale
    return found


def _rows_on(matrix: PsdVariable, rows: Sequence[Rows]) -> sp.csr_array:
    """What rows say of the matrix, without entries that are zero."""
    if not rows:
        return sp.csr_array((0, matrix.size))
    stacked = sp.csr_array(sp.vstack([_part(r, matrix) for r in rows], format="csr"))
    stacked.eliminate_zeros()
    return stacked


def _fixed(
    entries: Index, rows: sp.csr_array, is_limit: NDArray[np.bool_]
) -> tuple[Index, Index] | None:
    """Entries and equations that fix them; None where one has none."""
    alone = np.flatnonzero((np.diff(rows.indptr) == 1) & ~is_limit)
    place = rows.indices[rows.indptr[alone]]
    row = np.full(rows.shape[1], -1)
    row[place] = alone
    return None if np.any(row[entries] < 0) else (entries, row[entries])


def _part(rows: Rows, matrix: PsdVariable) -> sp.csr_array:
    """What rows say of the matrix."""
    if matrix.name in rows.lhs:
        return rows.lhs[matrix.name].matrix()
    return sp.csr_array((rows.m, matrix.size))


def _squares(sdp: SDP, matrix: PsdVariable, v: VectorVariable) -> Squares | None:
    """The group of rows that defines scalars by the matrix, one each; None if none does."""
    groups = [r for r in sdp.rows if v.name in r.lhs]
    if len(groups) != 1 or groups[0].relation != "==" or groups[0].m != v.size:
        return None
    rows = groups[0]
    others = set(rows.lhs) - {v.name, matrix.name}
    if any(rows.lhs[name].matrix().count_nonzero() for name in others):
        return None
    given = rows.lhs[v.name].matrix()
    if given.nnz != v.size or not np.array_equal(given.indices, np.arange(v.size)):
        return None
    if np.any(np.diff(given.indptr) != 1) or not given.data.all():
        return None
    assert v.curvature is not None
    return Squares(v.name, rows.label, given.data, v.curvature, rows.rhs, _part(rows, matrix))


def _weights_of_entries(squares: Sequence[Squares]) -> Array | None:
    """What half the square of each entry costs; None where products of two have a cost."""
    total = np.zeros(squares[0].of_matrix.shape[1])
    for one in squares:
        B = one.of_matrix
        counts = np.diff(B.indptr)
        if np.all(counts <= 1):
            weights = one.weights[counts == 1] * B.data**2
            total += np.bincount(B.indices, weights, minlength=total.size)
            continue
        if B.nnz > _LONGEST_ROW * B.shape[0]:
            return None
        form = sp.csr_array(B.T @ sp.csr_array(B * one.weights[:, None]))
        diagonal = form.diagonal()
        off = abs(form - sp.diags_array(diagonal)).max()
        if off > _SAME * float(np.max(diagonal)):
            return None
        total += diagonal
    return total
