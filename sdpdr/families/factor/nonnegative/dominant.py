r"""Closed-form factors of completely positive matrices.

They exist for diagonally dominant matrices, for those with a diagonally dominant scaling
:math:`D A D`, and for rank two. If no three rows are joined by nonzero entries, the second
condition is also necessary, and decides the question.
"""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.families.factor.nonnegative.copositive import Refutation
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING
from sdpdr.linalg.walks import connected_components


def comparison_matrix(A: Array) -> Array:
    """The matrix 2 diag(A) - A, with signs changed off the diagonal."""
    return np.asarray(2.0 * np.diag(np.diag(A)) - A)


def is_dominant(A: Array) -> bool:
    """Whether a matrix is diagonally dominant, up to rounding.

    Entries must not be negative.
    """
    excess = comparison_matrix(A).sum(axis=1)
    return bool(np.min(excess) >= -NEGLIGIBLE * len(A) * float(np.max(A)))


def dominant_factor(A: Array) -> Array:
    r"""A nonnegative B with :math:`A = B B^T`, for a diagonally dominant nonnegative A.

    .. math::

        A = \sum_{i < j} a_{ij} (e_i + e_j)(e_i + e_j)^T
        + \sum_i \Bigl(a_{ii} - \sum_{j \ne i} a_{ij}\Bigr) e_i e_i^T .
    """
    excess = np.maximum(comparison_matrix(A).sum(axis=1), 0.0)
    i, j = np.nonzero(np.triu(A, 1))
    alone = np.flatnonzero(excess > NEGLIGIBLE * float(np.max(A)))
    factor = np.zeros((len(A), i.size + alone.size))
    pair = np.arange(i.size)
    factor[i, pair] = factor[j, pair] = np.sqrt(A[i, j])
    factor[alone, i.size + np.arange(alone.size)] = np.sqrt(excess[alone])
    return factor


def scaled_dominant_factor(A: Array) -> Array | None:
    r"""A nonnegative B with :math:`A = B B^T` if some scaling D A D is diagonally dominant.

    For each connected block, the scales are the eigenvector d > 0 of the least eigenvalue
    :math:`\lambda` of the comparison matrix: :math:`M(A) d = \lambda d`, so they exist exactly if
    :math:`\lambda \ge 0`. If there are none and three rows are joined, A may still be completely
    positive.
    """
    columns = []
    for rows in components(A):
        part = A[np.ix_(rows, rows)]
        value, d = _scales(part)
        # Entries of the size of rounding errors may join blocks; their scales are not reliable.
        if value < -NEGLIGIBLE * len(rows) or np.min(d) <= ROUNDING * np.max(d):
            return None
        own = dominant_factor(d[:, None] * part * d) / d[:, None]
        factor = np.zeros((len(A), own.shape[1]))
        factor[rows] = own
        columns.append(factor)
    return np.hstack(columns)


def small_rank_factor(A: Array, rank: int) -> Array:
    """A nonnegative B with as many columns as the rank, for a doubly nonnegative A of rank <= 2.

    The rows of any factor with two columns have angles of at most 90 degrees between them, so they
    can be rotated into the quadrant.
    """
    values, vectors = np.linalg.eigh(A)
    rows = vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))
    if rank == 1:
        return np.abs(rows)
    lengths = np.linalg.norm(rows, axis=1)
    # The longest row is the reference: no angle to it exceeds 90 degrees.
    first = rows[int(np.argmax(lengths))]
    angles = np.arctan2(rows @ np.array([-first[1], first[0]]), rows @ first)
    angles = angles - np.min(angles[lengths > 0.0])
    rotated = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.asarray(np.maximum(rotated, 0.0))


def has_triangle(A: Array) -> bool:
    """Whether three rows are joined by nonzero entries."""
    joined = _joined(A).astype(float)
    return bool(np.any((joined @ joined) * joined))


def triangle_free_certificate(A: Array) -> Refutation | None:
    r"""A certificate that a matrix without triangles is not completely positive; None if it is.

    With d > 0 the eigenvector of the least eigenvalue :math:`\lambda < 0` of the comparison matrix
    and S = -1 where :math:`a_{ij} \ne 0`, +1 elsewhere and on the diagonal,
    :math:`M_{ij} = d_i S_{ij} d_j` has :math:`\langle M, A\rangle = \lambda` (Drew, Johnson and
    Loewy, 1994). S is copositive by the theorem of Motzkin and Straus (1965).
    """
    for rows in components(A):
        part = A[np.ix_(rows, rows)]
        if _scales(part)[0] >= -NEGLIGIBLE * len(rows):
            continue
        d = np.abs(np.linalg.eigh(comparison_matrix(part))[1][:, 0])
        signs = np.where(_joined(part), -1.0, 1.0)
        return Refutation.of("no triangle", d[:, None] * signs * d, part).within(rows, len(A))
    return None


def components(A: Array) -> list[Index]:
    """Sets of rows that nonzero entries connect; zero rows are left out."""
    count, label = connected_components(A != 0.0)
    parts = [np.flatnonzero(label == c) for c in range(count)]
    return [part for part in parts if np.any(A[np.ix_(part, part)])]


def _joined(A: Array) -> np.ndarray:
    joined = A != 0.0
    np.fill_diagonal(joined, False)
    return np.asarray(joined)


def _scales(part: Array) -> tuple[float, Array]:
    """Least eigenvalue of the comparison matrix at unit diagonal, and positive scales for A."""
    root = np.sqrt(np.diag(part))
    values, vectors = np.linalg.eigh(comparison_matrix(part / np.outer(root, root)))
    return float(values[0]), np.abs(vectors[:, 0]) / root
