r"""Arrows as second-order cones, which cost who knows these far less than matrices do.

.. math::

    \begin{pmatrix} a & v^T \\ v & t I \end{pmatrix} \succeq 0 \quad\Longleftrightarrow\quad
    |(a - t, 2 v)| \le a + t.

A matrix is an arrow where its rows say so. Of the multiplier of one, or of a matrix variable that
nothing but arrows looks at, only the first entry, the trace of the rest, and the entries between
matter: with :math:`\alpha \beta \ge |v|^2` for these, :math:`\begin{pmatrix} \alpha & v^T \\ v &
v v^T / \alpha + \gamma I \end{pmatrix}` is such a matrix, :math:`\gamma` by the trace. So with
:math:`(a, t, \sqrt 2\, v)` in place of ``svec``, products of both are those of the matrices, and
the cone is its own dual. Its quadratic representation stands for products with a root on either
side (Faraut, Koranyi, Analysis on Symmetric Cones, 1994, chapter II):

.. math::  P(w)\, y = 2 w\, w^T y - \det(w)\, J y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import SQRT2, svec_index, svec_size
from sdpdr.program.rows import Lmi
from sdpdr.program.sdp import SDP, remembered

# Matrices of order 2 are as good as cones.
_LEAST = 3


@lru_cache(maxsize=32)
def _places(order: int) -> tuple[Index, Index, Index]:
    """Places in ``svec`` of the rest of the first row, of the rest of the diagonal, of all else."""
    k = np.arange(1, order)
    neck, tail = svec_index(0, k), svec_index(k, k)
    return neck, tail, np.setdiff1d(np.arange(1, svec_size(order)), np.concatenate([neck, tail]))


def are_arrows(order: int, sides: Iterable[sp.csr_array]) -> bool:
    """Whether rows in the order of ``svec`` are arrows whatever they act on.

    Examples
    --------
    >>> identity = sp.csr_array(np.eye(6)[:, [0, 1, 3]])  # entries (0, 0), (0, 1) and (0, 2)
    >>> are_arrows(3, [identity]), are_arrows(3, [sp.csr_array(np.eye(6))])
    (True, False)
    """
    if order < _LEAST:
        return False
    _, tail, rest = _places(order)
    for rows in sides:
        counts = np.diff(rows.indptr)
        if counts[rest].any() or np.any(counts[tail] != counts[tail[0]]):
            return False
        entries = rows.indptr[tail][:, None] + np.arange(counts[tail[0]])
        for parts in (rows.indices[entries], rows.data[entries]):
            if np.any(parts != parts[0]):
                return False
    return True


def is_arrow(lmi: Lmi) -> bool:
    """Whether a matrix inequality is on an arrow."""
    if lmi.order < _LEAST:
        return False
    _, tail, rest = _places(lmi.order)
    if np.any(lmi.constant[rest]) or np.ptp(lmi.constant[tail]):
        return False
    return are_arrows(lmi.order, (a.matrix() for a in lmi.lhs.values()))


@remembered
def arrow_labels(sdp: SDP) -> frozenset[str]:
    """Labels of the matrix inequalities on arrows."""
    return frozenset(lmi.label for lmi in sdp.lmis if is_arrow(lmi))


def is_seen_as_arrow(sdp: SDP, name: str, order: int) -> bool:
    """Whether all that is asked of a matrix variable is what is asked of arrows."""
    if order < _LEAST:
        return False
    sides = [side[name].matrix() for side in sdp.expressions() if name in side]
    is_rest = np.zeros(svec_size(order), dtype=bool)
    is_rest[_places(order)[2]] = True
    if any(is_rest[side.indices].any() for side in sides):
        return False
    return are_arrows(order, (side.T.tocsr() for side in sides))


def folded(order: int, rows: sp.csr_array) -> tuple[Array, Index, Index]:
    """Entries, rows and columns of (a + t, a - t, 2 v) for arrows in the order of ``svec``.

    Examples
    --------
    >>> arrow = sp.csr_array([[5.0], [3.0 * SQRT2], [1.0], [4.0 * SQRT2], [0.0], [1.0]])
    >>> data, row, column = folded(3, arrow)
    >>> sp.coo_array((data, (row, column))).toarray().ravel().round(9).tolist()
    [6.0, 4.0, 6.0, 8.0]
    """
    neck, tail, _ = _places(order)
    target = np.full(rows.shape[0], -1)
    target[0], target[tail[0]], target[neck] = 0, 1, np.arange(2, order + 1)
    row = target[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))]
    ends, between = (row == 0) | (row == 1), row > 1
    column = rows.indices
    data = np.concatenate(
        [
            rows.data[ends],
            np.where(row[ends] == 0, 1.0, -1.0) * rows.data[ends],
            SQRT2 * rows.data[between],
        ]
    )
    count = np.count_nonzero(ends)
    place = np.concatenate([np.zeros(count, int), np.ones(count, int), row[between]])
    return data, place, np.concatenate([column[ends], column[ends], column[between]])


def unfolded(order: int, cone: Array) -> Array:
    """A matrix that is to arrows what numbers are to (a + t, a - t, 2 v); psd where these are.

    Examples
    --------
    >>> unfolded(3, np.array([5.0, 3.0, 2.0, 0.0]))
    array([[8. , 2. , 0. ],
           [2. , 1.25, 0. ],
           [0. , 0. , 0.75]])
    """
    first, trace, v = cone[0] + cone[1], cone[0] - cone[1], cone[2:]
    matrix = np.empty((order, order))
    inner = np.outer(v, v) / first if first > 0.0 else np.zeros((v.size, v.size))
    matrix[0, 0], matrix[0, 1:], matrix[1:, 0] = first, v, v
    matrix[1:, 1:] = inner + (trace - np.trace(inner)) / v.size * np.eye(v.size)
    return matrix


def heads(order: int) -> Index:
    """Places in ``svec`` of (a, t, sqrt 2 v), which an arrow is made of."""
    neck, tail, _ = _places(order)
    return np.concatenate([[0], tail[:1], neck])


def head_of(multiplier: Array) -> Array:
    """What of a multiplier matters to an arrow.

    Examples
    --------
    >>> head_of(np.array([[1.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 6.0]])).round(3)
    array([ 1.   , 11.   ,  2.828,  0.   ])
    """
    trace = np.trace(multiplier[1:, 1:])
    return np.concatenate([[multiplier[0, 0], trace], SQRT2 * multiplier[0, 1:]])


def of_head(order: int, head: Array) -> Array:
    """A multiplier, positive semidefinite where its head is in the cone."""
    half = np.array([head[0] + head[1], head[0] - head[1]]) / 2.0
    return unfolded(order, np.concatenate([half, head[2:] / SQRT2]))


@dataclass(frozen=True, eq=False)
class ArrowGroup:
    """Heads of arrows of one order, one after the other in s.

    Attributes
    ----------
    order, count : int
    part : slice
    """

    order: int
    count: int
    part: slice

    def eigenvalues(self, s: Array) -> Array:
        """The two that matter of every arrow, the least first; shape (count, 2)."""
        return self.spectra(s)[0]

    def spectra(self, s: Array) -> tuple[Array, Array]:
        """The same, and directions."""
        turned = _turned(s[self.part].reshape(self.count, -1, 1))[:, :, 0]
        length = np.linalg.norm(turned[:, 1:], axis=1)
        ends = np.column_stack([turned[:, 0] - length, turned[:, 0] + length]) / SQRT2
        return ends, turned[:, 1:] / np.where(length > 0.0, length, 1.0)[:, None]

    def root(self, values: Array, directions: Array) -> tuple[Array, Array]:
        """What heads are put between."""
        return values, directions

    def entries(self, values: Array, directions: Array) -> Array:
        """Heads of given eigenvalues."""
        turned = SQRT2 * _spin(values, directions)
        return _turned(turned[:, :, None]).ravel()

    def between(self, root: tuple[Array, Array], columns: Array) -> Array:
        """Columns of these heads, each between two roots."""
        spin = _spin(*root)
        given = _turned(columns.reshape(self.count, self.order + 1, -1))
        products = np.einsum("kd,kdq->kq", spin, given)
        given *= np.prod(root[0], axis=1)[:, None, None]
        given[:, 0] *= -1.0
        given += 2.0 * spin[:, :, None] * products[:, None, :]
        return _turned(given).reshape(-1, columns.shape[1])

    def products(self, rows: sp.csr_array) -> Callable[[Array, tuple[Array, Array]], None]:
        """What adds the products of columns, whose rows are given, between roots to a matrix."""
        part = rows[self.part].toarray()

        def add(found: Array, root: tuple[Array, Array]) -> None:
            moved = self.between(root, part)
            found += moved.T @ moved

        return add


def _spin(values: Array, directions: Array) -> Array:
    """Half the sum of both eigenvalues, and half the difference along a direction."""
    half = (values[:, 1] - values[:, 0]) / 2.0
    return np.column_stack([np.sum(values, axis=1) / 2.0, half[:, None] * directions])


def _turned(heads: Array) -> Array:
    """Sum and difference of the first two entries over the root of two, and back; a copy."""
    found = heads.copy()
    found[:, 0], found[:, 1] = heads[:, 0] + heads[:, 1], heads[:, 0] - heads[:, 1]
    found[:, :2] /= SQRT2
    return found
