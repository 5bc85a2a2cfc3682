r"""Closed-form factors of completely positive matrices.

They exist for diagonally dominant matrices, for those with a diagonally dominant scaling
:math:`D A D`, and for rank two. If no three rows are joined by nonzero entries, the second
condition is also necessary, and decides the question.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.copositive import Refutation
from sdpdr.families.factor.nonnegative.symmetric import symmetric_matrix
from sdpdr.linalg.walks import connected_components

# Eigenvalues and excesses of a matrix with unit diagonal that count as zero.
_ROUNDING = 1e-13
# Scales at unit diagonal, relative to the largest, that count as zero.
_NEGLIGIBLE = 1e-10


def comparison_matrix(A: ArrayLike) -> Array:
    r"""The matrix :math:`M(A) = 2 \operatorname{diag}(A) - A`, with signs changed off the diagonal.

    A nonnegative A has :math:`M(A) d \ge 0` for some d > 0 exactly if D A D is diagonally
    dominant.

    Parameters
    ----------
    A : array_like of shape (n, n)

    Examples
    --------
    >>> comparison_matrix([[2.0, 1.0], [1.0, 3.0]])
    array([[ 2., -1.],
           [-1.,  3.]])
    """
    matrix = np.asarray(A, dtype=float)
    return 2.0 * np.diag(np.diag(matrix)) - matrix


def is_dominant(A: Array) -> bool:
    """Whether every entry of the diagonal is at least the sum of its row's others, up to rounding.

    Parameters
    ----------
    A : array of shape (n, n)
        Non-negative.

    Examples
    --------
    >>> is_dominant(np.array([[2.0, 1.0], [1.0, 1.0]])), is_dominant(np.ones((3, 3)))
    (True, False)
    """
    excess = comparison_matrix(A).sum(axis=1)
    return bool(np.min(excess) >= -_ROUNDING * len(A) * float(np.max(A)))


def dominant_factor(A: ArrayLike) -> Array:
    r"""A nonnegative B with :math:`A = B B^T`, for a diagonally dominant A.

    .. math::

        A = \sum_{i < j} a_{ij} (e_i + e_j)(e_i + e_j)^T
        + \sum_i \Bigl(a_{ii} - \sum_{j \ne i} a_{ij}\Bigr) e_i e_i^T .

    Parameters
    ----------
    A : array_like of shape (n, n)
        Symmetric, without negative entries, and :math:`a_{ii} \ge \sum_{j \ne i} a_{ij}`.

    Returns
    -------
    array of shape (n, k)
        k is the number of pairs that are not zero and of rows with an excess.

    Raises
    ------
    DataError
        A negative entry, or a row that is not dominant (the message names it).

    References
    ----------
    Vasiloglou thesis, theorem 4.1.2; M. Kaykobad, "On nonnegative factorization of matrices",
    Linear Algebra and its Applications 96, 1987.

    Examples
    --------
    >>> B = dominant_factor([[2.0, 1.0], [1.0, 1.0]])
    >>> B * B
    array([[1., 1.],
           [1., 0.]])
    """
    matrix = symmetric_matrix(A, "A")
    if np.min(matrix) < 0.0:
        i, j = np.unravel_index(int(np.argmin(matrix)), matrix.shape)
        raise DataError(f"A[{i}, {j}] = {matrix[i, j]:g} is negative; A must be nonnegative.")
    excess = comparison_matrix(matrix).sum(axis=1)
    least = int(np.argmin(excess))
    if not is_dominant(matrix):
        raise DataError(
            f"A is not diagonally dominant: A[{least}, {least}] falls short of the rest of row "
            f"{least} by {-excess[least]:g}. `scaled_dominant_factor` allows other scales."
        )
    return _dominant(matrix, np.maximum(excess, 0.0))


def scaled_dominant_factor(A: ArrayLike) -> Array | None:
    r"""A nonnegative B with :math:`A = B B^T` if some scaling D A D is diagonally dominant.

    For each connected block, the scales are the eigenvector d > 0 of the least eigenvalue
    :math:`\lambda` of the comparison matrix: :math:`M(A) d = \lambda d`, so they exist exactly if
    :math:`\lambda \ge 0`.

    Parameters
    ----------
    A : array_like of shape (n, n)
        Symmetric, without negative entries.

    Returns
    -------
    array of shape (n, k), or None
        None if no such scaling exists. That proves nothing about A if three rows are joined.

    Examples
    --------
    >>> A = np.array([[1.0, 2.0], [2.0, 5.0]])
    >>> B = scaled_dominant_factor(A)
    >>> B.shape, bool(np.allclose(B @ B.T, A))
    ((2, 3), True)
    >>> scaled_dominant_factor(np.ones((3, 3))) is None
    True
    """
    matrix = symmetric_matrix(A, "A")
    if np.min(matrix) < 0.0 or np.min(np.diag(matrix)) < 0.0:
        return None
    columns = []
    for rows in components(matrix):
        part = matrix[np.ix_(rows, rows)]
        value, d = _scales(part)
        # Entries of the size of rounding errors may join blocks; their scales are not reliable.
        if value < -_ROUNDING * len(rows) or np.min(d) <= _NEGLIGIBLE * np.max(d):
            return None
        scaled = d[:, None] * part * d
        excess = np.maximum(comparison_matrix(scaled).sum(axis=1), 0.0)
        own = _dominant(scaled, excess) / d[:, None]
        factor = np.zeros((len(matrix), own.shape[1]))
        factor[rows] = own
        columns.append(factor)
    return np.hstack(columns)


def small_rank_factor(A: Array, rank: int) -> Array:
    r"""A nonnegative B with as many columns as the rank, for a doubly nonnegative A of rank <= 2.

    The rows of any factor with two columns have angles of at most 90 degrees between them, so they
    can be turned into the quadrant.

    Parameters
    ----------
    A : array of shape (n, n)
    rank : int
        One or two.

    Examples
    --------
    >>> B = small_rank_factor(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]]), 2)
    >>> (B + 0.0).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    values, vectors = np.linalg.eigh(A)
    rows = vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))
    if rank == 1:
        return np.abs(rows)
    # The longest row is the reference: no angle to it exceeds 90 degrees.
    first = rows[int(np.argmax(np.sum(rows**2, axis=1)))]
    across = np.array([-first[1], first[0]])
    angles = np.arctan2(rows @ across, rows @ first)
    long = np.sum(rows**2, axis=1) > 0.0
    angles = angles - np.min(angles[long])
    lengths = np.linalg.norm(rows, axis=1)
    turned = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.asarray(np.maximum(turned, 0.0))


def has_triangle(A: Array) -> bool:
    """Whether three rows are joined by nonzero entries.

    Examples
    --------
    >>> has_triangle(np.ones((3, 3))), has_triangle(np.eye(3))
    (True, False)
    """
    joined = _joined(A).astype(float)
    return bool(np.any((joined @ joined) * joined))


def triangle_free_certificate(A: Array) -> Refutation | None:
    r"""A certificate that a matrix without triangles is not completely positive; None if it is.

    With d > 0 the eigenvector of the least eigenvalue :math:`\lambda < 0` of the comparison matrix
    and S = -1 where :math:`a_{ij} \ne 0`, +1 elsewhere and on the diagonal,
    :math:`M_{ij} = d_i S_{ij} d_j` has :math:`\langle M, A\rangle = d^T M(A) d = \lambda`. S is
    copositive by the theorem of Motzkin and Straus, that
    :math:`2 \sum_{i \sim j} x_i x_j \le (1 - 1/\omega) (\sum x_i)^2` in a graph without cliques of
    more than :math:`\omega = 2` vertices.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric, nonnegative, without `has_triangle`.

    References
    ----------
    J. Drew, C. Johnson and R. Loewy, "Completely positive matrices associated with M-matrices",
    Linear and Multilinear Algebra 37, 1994; T. Motzkin and E. Straus, "Maxima for graphs and a new
    proof of a theorem of Turan", Canadian Journal of Mathematics 17, 1965.

    Examples
    --------
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> triangle_free_certificate(1.8 * np.eye(5) + cycle + cycle.T)
    Refutation(<M, A> = -0.2: no three rows are joined, and the comparison matrix is indefinite)
    """
    for rows in components(A):
        part = A[np.ix_(rows, rows)]
        if _scales(part)[0] >= -_ROUNDING * len(rows):
            continue
        d = np.abs(np.linalg.eigh(comparison_matrix(part))[1][:, 0])
        signs = np.where(_joined(part), -1.0, 1.0)
        found = Refutation.of("no triangle", d[:, None] * signs * d, part)
        return found.within(rows, len(A))
    return None


def components(A: Array) -> list[Index]:
    """Sets of rows that nonzero entries connect; zero rows are left out.

    Examples
    --------
    >>> [part.tolist() for part in components(np.diag([1.0, 0.0, 2.0]))]
    [[0], [2]]
    """
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
    unit = part / np.outer(root, root)
    values, vectors = np.linalg.eigh(comparison_matrix(unit))
    return float(values[0]), np.abs(vectors[:, 0]) / root


def _dominant(matrix: Array, excess: Array) -> Array:
    i, j = np.nonzero(np.triu(matrix, 1))
    alone = np.flatnonzero(excess > _ROUNDING * float(np.max(matrix)))
    factor = np.zeros((len(matrix), i.size + alone.size))
    pair = np.arange(i.size)
    factor[i, pair] = factor[j, pair] = np.sqrt(matrix[i, j])
    factor[alone, i.size + np.arange(alone.size)] = np.sqrt(excess[alone])
    return factor
