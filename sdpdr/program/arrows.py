r"""Arrows as second-order cones, which solvers that support them handle far faster than matrices.

.. math::

    \begin{pmatrix} a & v^T \\ v & t I \end{pmatrix} \succeq 0 \quad\Longleftrightarrow\quad
    |(a - t, 2 v)| \le a + t.

A matrix is an arrow where its rows say so. In the multiplier of an arrow, and in a matrix variable
that only such rows read, nothing matters but the first entry :math:`\alpha`, the trace
:math:`\beta` of the rest, and the entries v between them: with :math:`\alpha \beta \ge |v|^2`,
:math:`\begin{pmatrix} \alpha & v^T \\ v & v v^T / \alpha + \gamma I \end{pmatrix}` is such a
matrix, :math:`\gamma` by the trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap
from sdpdr.linalg.svec import SQRT2, svec_index, svec_size
from sdpdr.program.rows import Lmi
from sdpdr.program.sdp import SDP, remembered

# A matrix of order 2 is a second-order cone already.
_LEAST_ORDER = 3


@lru_cache(maxsize=32)
def _places(order: int) -> tuple[Index, Index, Index]:
    """Places in ``svec``: first row and diagonal, both without entry (0, 0), and all others."""
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
    if order < _LEAST_ORDER:
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
    if lmi.order < _LEAST_ORDER:
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
    """Whether rows read nothing of a matrix variable but what matters of an arrow."""
    if order < _LEAST_ORDER:
        return False
    maps = [side[name] for side in sdp.expressions() if name in side]
    # Wide maps read many entries of the matrix, so they are not written out for large programs.
    if any(isinstance(one, LinearMap) and one.is_wide() for one in maps):
        return False
    sides = [linear_map.matrix() for linear_map in maps]
    is_rest = np.zeros(svec_size(order), dtype=bool)
    is_rest[_places(order)[2]] = True
    if any(is_rest[side.indices].any() for side in sides):
        return False
    return are_arrows(order, (side.T.tocsr() for side in sides))


@lru_cache(maxsize=32)
def head_and_neck(order: int, *, scaled: bool = False) -> sp.csr_array:
    """The map from the upper triangle of an arrow to (a + t, a - t, 2 v).

    Parameters
    ----------
    order : int
    scaled : bool, default False
        Whether entries beside the diagonal are those of ``svec``, with a factor of sqrt 2.

    Examples
    --------
    >>> head_and_neck(3).toarray() @ np.array([5.0, 3.0, 1.0, 4.0, 0.0, 1.0])
    array([6., 4., 6., 8.])
    """
    neck, tail, _ = _places(order)
    row = np.concatenate([[0, 0, 1, 1], np.arange(2, order + 1)])
    column = np.concatenate([[0, tail[0], 0, tail[0]], neck])
    beside = np.full(neck.size, SQRT2 if scaled else 2.0)
    data = np.concatenate([[1.0, 1.0, 1.0, -1.0], beside])
    return sp.csr_array((data, (row, column)), shape=(order + 1, svec_size(order)))


def of_arrow(multiplier: Array) -> Array:
    """The vector whose product with (a + t, a - t, 2 v) is that of a multiplier with an arrow.

    Examples
    --------
    >>> of_arrow(unfolded(3, np.array([5.0, 3.0, 2.0, 0.0]))).tolist()
    [5.0, 3.0, 2.0, 0.0]
    """
    first = float(multiplier[0, 0])
    rest = float(np.trace(multiplier)) - first
    return np.concatenate([[(first + rest) / 2.0, (first - rest) / 2.0], multiplier[0, 1:]])


def unfolded(order: int, cone: Array) -> Array:
    """A matrix whose product with an arrow is that of a vector with (a + t, a - t, 2 v).

    It is positive semidefinite if the vector is in the second-order cone.

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
