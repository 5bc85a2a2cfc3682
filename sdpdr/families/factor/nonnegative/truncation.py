"""Nonnegative factors from the singular value decomposition: clipped, or exact up to rank two."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix, number_of_components
from sdpdr.families.factor.nonnegative.projection import project

# Entries below this share of the largest one are rounding.
_ROUNDING = 1e-12
# Order up to which singular values of a sparse matrix come from its matrix of inner products.
_ORDER = 4000


def singular_tail(V: Matrix, k: int) -> float:
    r"""The distance of a matrix from those of rank k, :math:`(\sum_{l>k} \sigma_l^2)^{1/2}`.

    It is reduced by the rounding errors of the singular values. Those of a sparse matrix come from
    its dense matrix of inner products; if that has an order above 4000, the answer is zero.

    Examples
    --------
    >>> round(singular_tail(np.diag([3.0, 2.0, 1.0]), 1) ** 2, 12)
    5.0
    >>> round(singular_tail(sp.csr_array(np.diag([3.0, 2.0, 1.0])), 1) ** 2, 9)
    5.0
    """
    # Each value is off by a small multiple of the rounding error of the largest one.
    error = 4.0 * max(V.shape) * np.finfo(float).eps
    if sp.issparse(V):
        X = V if V.shape[0] <= V.shape[1] else V.T
        if X.shape[0] > _ORDER:
            return 0.0
        squares = np.linalg.eigvalsh((X @ X.T).toarray())[::-1]
        return float(np.sqrt(np.sum(np.maximum(squares[k:] - error * squares[0], 0.0))))
    values = np.linalg.svd(V, compute_uv=False)
    return float(np.linalg.norm(np.maximum(values[k:] - error * values[0], 0.0)))


def clipped_svd(X: ArrayLike, k: int, *, refit: bool = False) -> tuple[Array, Array]:
    r"""Nonnegative factors by clipping the leading singular vectors.

    The pair :math:`(\sqrt{\sigma_l} u_l, \sqrt{\sigma_l} v_l)` is known up to a common sign. Both
    are clipped under that sign for which the clipped pair has the larger :math:`|u_+| |v_+|`. The
    product is no best approximation of anything; it bounds the error of the best from above.

    Parameters
    ----------
    X : array_like of shape (N, m)
        Not negative.
    k : int
        1 to min(N, m).
    refit : bool, default False
        Replace H by the best one for this W, by nonnegative least squares.

    Returns
    -------
    W : ndarray of shape (N, k)
    H : ndarray of shape (k, m)

    Raises
    ------
    DataError
        An entry is negative or not finite, all are zero, or k is out of range.

    References
    ----------
    Vasiloglou thesis, section 4.1, where the sign is left open; Boutsidis and Gallopoulos, "SVD
    based initialization: A head start for nonnegative matrix factorization", Pattern Recognition
    41, 2008.

    Examples
    --------
    >>> W, H = clipped_svd([[1.0, 2.0], [2.0, 4.0]], 1)
    >>> (W @ H).round(12).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    U, values, Vt = np.linalg.svd(V, full_matrices=False)
    left, right = U[:, :k] * np.sqrt(values[:k]), Vt[:k].T * np.sqrt(values[:k])
    sizes = [np.linalg.norm(_clip(s * left), axis=0) * np.linalg.norm(_clip(s * right), axis=0)
             for s in (1.0, -1.0)]  # fmt: skip
    sign = np.where(sizes[0] >= sizes[1], 1.0, -1.0)
    W, H = _clip(sign * left), _clip(sign * right).T
    return (W, project(W, V)) if refit else (W, H)


def rank_two(X: ArrayLike, k: int = 2) -> tuple[Array, Array]:
    r"""The globally best factorization, if the truncated decomposition is nonnegative.

    The rows of a matrix of rank two lie in a plane. If none has a negative entry, they lie in a
    cone between two of them; with these as H, all coefficients W are not negative. So the best
    approximation T of rank two is itself a nonnegative factorization, and the bound of Eckart and
    Young is attained. Of rank one, T is never negative.

    Parameters
    ----------
    X : array_like of shape (N, m)
        Not negative.
    k : {1, 2}, default 2

    Returns
    -------
    W : ndarray of shape (N, k)
    H : ndarray of shape (k, m)

    Raises
    ------
    DataError
        The truncated decomposition has a negative entry (the message names it), or k is more than
        two.

    References
    ----------
    Thomas, "Rank factorization of nonnegative matrices", SIAM Review 16, 1974.

    Examples
    --------
    >>> V = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.30]])
    >>> W, H = rank_two(V)
    >>> round(float(np.linalg.norm(V - W @ H) / np.linalg.norm(V)), 6)
    0.030549
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    if k > 2:
        raise DataError(
            f"k={k}: the closed form is for one and two components. With more, a nonnegative "
            "matrix of rank k need not have k nonnegative components."
        )
    U, values, Vt = np.linalg.svd(V, full_matrices=False)
    if k == 1 or values[1] <= _ROUNDING * values[0]:
        # Absolute values, since |u|^T V |v| >= u^T V v; also right if the largest value is double.
        W, H = np.abs(U[:, :1]) * values[0], np.abs(Vt[:1])
        return np.pad(W, ((0, 0), (0, k - 1))), np.pad(H, ((0, k - 1), (0, 0)))
    points, T = U[:, :2] * values[:2], (U[:, :2] * values[:2]) @ Vt[:2]
    if np.min(T) < -_ROUNDING * np.max(T):
        i, j = np.unravel_index(int(np.argmin(T)), T.shape)
        raise DataError(
            f"the best approximation of rank two has the entry {T[i, j]:.3g} at [{i}, {j}], and no "
            "nonnegative factorization attains its error. Use cone_search, or any local method."
        )
    rows = _extreme_rows(points)
    W = points @ np.linalg.inv(points[rows])
    return _clip(W), _clip(points[rows] @ Vt[:2])


def closed_form(V: Array, k: int) -> tuple[Array, Array] | None:
    """What `rank_two` finds, or None where it does not apply."""
    try:
        return rank_two(V, k)
    except DataError:
        return None


def _extreme_rows(points: Array) -> list[int]:
    """The two vectors of a cone in the plane between which all others lie."""
    middle = points.sum(axis=0)
    across = points @ np.array([-middle[1], middle[0]])
    angles = np.arctan2(across, points @ middle)
    sizes = np.linalg.norm(points, axis=1)
    angles[sizes <= _ROUNDING * sizes.max()] = 0.0
    return [int(np.argmin(angles)), int(np.argmax(angles))]


def _clip(array: Array) -> Array:
    return np.maximum(array, 0.0)
