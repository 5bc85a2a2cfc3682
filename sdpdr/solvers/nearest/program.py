r"""Programs whose cost is the distance of one matrix from a given one.

The standard form has squares as free scalars s with a curvature, each of which a row of its own
defines, :math:`\sigma s + B(X) = r`. Then the cost is

.. math::

    \tfrac12 \sum_k \frac{\kappa_k}{\sigma_k^2} (r_k - B_k(X))^2 + \langle C, X\rangle
    = \tfrac{\rho}{2} \|X - G\|_F^2 + \text{const}

wherever the squares weigh all entries of X alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.svec import order_of, smat, svec, svec_size
from sdpdr.program.point import Point, VectorVariable
from sdpdr.program.rows import Expression
from sdpdr.program.sdp import SDP

# How far weights of entries may differ, relatively, to be the same.
_SAME = 1e-12
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
    vectors : sequence of VectorVariable
    row : array of int
        The row of each.
    entry, curvature, rhs : array
        Its coefficient in this row, what half its square costs, and the row's right side.
    of_matrix : sparse array
        What the rows say of the matrix, in the order of ``svec``.
    """

    vectors: Sequence[VectorVariable]
    row: Index
    entry: Array
    curvature: Array
    rhs: Array
    of_matrix: sp.csr_array

    def values(self, x: Array) -> Array:
        """All scalars at a matrix."""
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
        Of the matrix.
    given : array of shape (n (n + 1) / 2,)
        G, in the order of ``svec``.
    scale : float
        rho.
    rows : sparse array
        Those that define no squares.
    rhs : array
    is_limit : array of bool
        Which of them are inequalities.
    kept : array of int
        Their places among all rows.
    squares : Squares
    cost : array
        C, the linear part.
    """

    name: str
    given: Array
    scale: float
    rows: sp.csr_array
    rhs: Array
    is_limit: NDArray[np.bool_]
    kept: Index
    squares: Squares
    cost: Array

    @cached_property
    def adjoint(self) -> sp.csr_array:
        """The transpose of the rows."""
        return sp.csr_array(self.rows.T)

    def value(self, x: Array) -> float:
        """The cost at a matrix, without the constant."""
        s = self.squares.values(x)
        return float(self.cost @ x) + 0.5 * float(self.squares.curvature @ (s * s))

    def point(self, sdp: SDP, x: Array, y: Array, size: float) -> Point:
        """Values and multipliers of the whole program.

        What is left of the matrix by these has no negative eigenvalue, and some that are zero. They
        are lifted by what rounding makes of one of a size, for a factorization to confirm it.
        """
        squares = self.squares
        s = squares.values(x)
        identity = svec(np.eye(order_of(x.size)))
        lifted = squares.values(x + _LIFT * order_of(x.size) * size * identity)
        multipliers = np.zeros(sdp.n_rows)
        multipliers[squares.row] = -squares.curvature * lifted / squares.entry
        multipliers[self.kept] = y
        parts = np.split(multipliers, np.cumsum([r.m for r in sdp.rows])[:-1])
        duals = {r.label: part for r, part in zip(sdp.rows, parts, strict=True)}
        ends = np.cumsum([v.size for v in squares.vectors])[:-1]
        vectors = zip(squares.vectors, np.split(s, ends), strict=True)
        return Point({self.name: smat(x), **{v.name: part for v, part in vectors}}, duals)


def nearest_program(sdp: SDP) -> NearestProgram | str:
    """The program as a distance, or why it is none.

    Examples
    --------
    >>> import sdpdr
    >>> K = sdpdr.psd("K", 2)
    >>> distance = sdpdr.minimize(sdpdr.sum_squares(K - 3.0 * np.eye(2)))
    >>> found = nearest_program((distance + (K.sum() == 0)).to_sdp())
    >>> found.scale, found.given
    (2.0, array([3., 0., 3.]))
    >>> nearest_program((sdpdr.minimize(sdpdr.square(K[0, 1] - 1)) + (K.sum() == 0)).to_sdp())
    'the squares do not weigh all entries of the matrix alike'
    """
    if len(sdp.psd_variables) != 1 or sdp.lmis or not sdp.vector_variables:
        return _ONE
    matrix, vectors = sdp.psd_variables[0], sdp.vector_variables
    if any(v.curvature is None or v.nonnegative for v in vectors):
        return _ONE
    if any(sdp.objective[v.name].matrix().count_nonzero() for v in vectors if v.name in sdp.objective):
        return _LINEAR
    squares = _squares(sdp, matrix.name, vectors)
    if isinstance(squares, str):
        return squares
    scale = _weight_of_entries(squares)
    if scale is None:
        return _WEIGHTS
    size = svec_size(matrix.n)
    cost = np.zeros(size)
    if matrix.name in sdp.objective:
        cost = sdp.objective[matrix.name].matrix().toarray()[0]
    given = (squares.of_matrix.T @ (squares.weights * squares.rhs) - cost) / scale
    kept = np.setdiff1d(np.arange(sdp.n_rows), squares.row)
    rows = _on(sdp, matrix.name, size)[kept]
    is_limit = np.repeat([r.relation == "<=" for r in sdp.rows], [r.m for r in sdp.rows])
    rhs = np.concatenate([r.rhs for r in sdp.rows])
    return NearestProgram(
        matrix.name, given, scale, rows, rhs[kept], is_limit[kept], kept, squares, cost
    )


def _on(sdp: SDP, name: str, size: int) -> sp.csr_array:
    """What all rows say of one variable."""
    parts = [_part(r.lhs, name, r.m, size) for r in sdp.rows]
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _part(side: Expression, name: str, m: int, size: int) -> sp.csr_array:
    return side[name].matrix() if name in side else sp.csr_array((m, size))


def _squares(sdp: SDP, name: str, vectors: Sequence[VectorVariable]) -> Squares | str:
    """Squares and the rows that define them, or why they do not."""
    given = sp.csc_array(sp.hstack([_on(sdp, v.name, v.size) for v in vectors], format="csc"))
    given.eliminate_zeros()
    if np.any(np.diff(given.indptr) != 1):
        return _FREE
    row = given.indices
    relations = np.repeat([r.relation == "==" for r in sdp.rows], [r.m for r in sdp.rows])
    if np.unique(row).size != row.size or not relations[row].all():
        return _FREE
    curvature = np.concatenate([v.curvature for v in vectors if v.curvature is not None])
    if not np.all(curvature > 0.0):
        return _FREE
    of_matrix = _on(sdp, name, svec_size(sdp.psd_variables[0].n))[row]
    rhs = np.concatenate([r.rhs for r in sdp.rows])[row]
    return Squares(vectors, row, given.data, curvature, rhs, of_matrix)


def _weight_of_entries(squares: Squares) -> float | None:
    """What half the square of the distance costs, where all entries weigh alike."""
    B = squares.of_matrix
    size = B.shape[1]
    # Fewer rows than entries leave some of them out.
    if B.shape[0] < size or B.nnz > 4 * B.shape[0]:
        return None
    form = sp.csr_array(B.T @ sp.csr_array(B * squares.weights[:, None]))
    scale = float(form.diagonal().mean())
    away = abs(form - scale * sp.eye_array(size, format="csr"))
    return scale if scale > 0.0 and away.max() <= _SAME * scale else None
