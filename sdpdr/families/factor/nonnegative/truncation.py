"""Nonnegative factors from singular values: clipped, or the best of rank one and two."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Matrix
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix, number_of_components
from sdpdr.families.limits import DENSE, NEGLIGIBLE


def eckart_young_bound(V: Matrix, k: int) -> float:
    r"""A lower bound on the distance from all matrices of rank k.

    It is :math:`(\sum_{l>k} \sigma_l^2)^{1/2}` less its rounding errors. Singular values of a
    sparse matrix come from its dense matrix of inner products; if that has an order above 4000,
    the answer is zero.
    """
    # Each value is off by a small multiple of the rounding error of the largest one.
    error = 4.0 * max(V.shape) * np.finfo(float).eps
    if sp.issparse(V):
        X = V if V.shape[0] <= V.shape[1] else V.T
        if X.shape[0] > DENSE:
            return 0.0
        squares = np.linalg.eigvalsh((X @ X.T).toarray())[::-1]
        return float(np.sqrt(np.sum(np.maximum(squares[k:] - error * squares[0], 0.0))))
    values = np.linalg.svd(V, compute_uv=False)
    return float(np.linalg.norm(np.maximum(values[k:] - error * values[0], 0.0)))


def clipped_svd(X: ArrayLike, k: int) -> tuple[Array, Array]:
    r"""Nonnegative factors by clipping the leading singular vectors.

    The pair :math:`(\sqrt{\sigma_l} u_l, \sqrt{\sigma_l} v_l)` is known up to a common sign. Both
    are clipped under that sign for which the clipped pair has the larger :math:`|u_+| |v_+|`. The
    product is no best approximation of anything; it bounds the error of the best from above.

    Parameters
    ----------
    X : array_like of shape (N, m)
        Nonnegative.
    k : int
        1 to min(N, m).

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
    >>> from sdpdr.nonnegative import clipped_svd
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
    return _clip(sign * left), _clip(sign * right).T


def closed_form(V: Array, k: int) -> tuple[Array, Array] | None:
    """The best factors if k is one, or if k is two and the truncation is nonnegative; else None.

    The rows of a matrix of rank two lie in a plane. If none has a negative entry, they lie in a
    cone between two of them; with these as H, all coefficients W are nonnegative (Thomas, "Rank
    factorization of nonnegative matrices", SIAM Review 16, 1974).
    """
    if k > 2:
        return None
    U, values, Vt = np.linalg.svd(V, full_matrices=False)
    if k == 1 or values[1] <= NEGLIGIBLE * values[0]:
        # Absolute values, since |u|^T V |v| >= u^T V v; also right if the largest value is double.
        W, H = np.abs(U[:, :1]) * values[0], np.abs(Vt[:1])
        return np.pad(W, ((0, 0), (0, k - 1))), np.pad(H, ((0, k - 1), (0, 0)))
    points = U[:, :2] * values[:2]
    T = points @ Vt[:2]
    if np.min(T) < -NEGLIGIBLE * np.max(T):
        return None
    # The two extreme rows of the cone, by their angles from its middle.
    middle, sizes = points.sum(axis=0), np.linalg.norm(points, axis=1)
    angles = np.arctan2(points @ np.array([-middle[1], middle[0]]), points @ middle)
    angles[sizes <= NEGLIGIBLE * sizes.max()] = 0.0
    rows = [int(np.argmin(angles)), int(np.argmax(angles))]
    return _clip(points @ np.linalg.inv(points[rows])), _clip(points[rows] @ Vt[:2])


def _clip(array: Array) -> Array:
    return np.maximum(array, 0.0)
