"""Leading eigenvectors, with a tie told, and what a pair of bases keeps."""

from __future__ import annotations

import numpy as np

from sdpdr.linalg.svec import Array

# Eigenvalues k and k + 1 closer than this, relative to the largest one, count as tied.
TIED = 1e-10


def leading(matrix: Array, k: int) -> Array:
    """Eigenvectors of the k largest eigenvalues, the largest first, each with its sign fixed.

    Parameters
    ----------
    matrix : array of shape (p, p)
        Symmetric.
    k : int

    Returns
    -------
    array of shape (p, k)
        The entry of largest size in each column is positive.

    Examples
    --------
    >>> leading(np.diag([1.0, 3.0, 2.0]), 2)
    array([[0., 0.],
           [1., 0.],
           [0., 1.]])
    """
    vectors = np.linalg.eigh(matrix)[1][:, ::-1][:, :k]
    return signed(vectors)


def signed(basis: Array) -> Array:
    """Columns with the sign that makes their entry of largest size positive."""
    largest = np.take_along_axis(basis, np.argmax(np.abs(basis), axis=0)[None], axis=0)
    return np.asarray(basis * np.where(largest < 0.0, -1.0, 1.0))


def is_tied(matrix: Array, k: int, tol: float = TIED) -> bool:
    """Whether eigenvalue k equals the next one, so that the leading subspace is a choice.

    Examples
    --------
    >>> is_tied(np.diag([3.0, 2.0, 2.0]), 2), is_tied(np.diag([3.0, 2.0, 2.0]), 3)
    (True, False)
    """
    values = np.linalg.eigvalsh(matrix)[::-1]
    if k >= values.size:
        return False
    return bool(values[k - 1] - values[k] <= tol * max(np.abs(values).max(), 1e-300))


def largest_sum(matrix: Array, k: int) -> float:
    """The sum of the k largest eigenvalues, S_k.

    Examples
    --------
    >>> largest_sum(np.diag([3.0, 1.0, 2.0]), 2)
    5.0
    """
    return float(np.linalg.eigvalsh(matrix)[-k:].sum())


def projected(stack: Array, rows: Array, columns: Array) -> Array:
    """The matrices :math:`A^T M_i B`, shape (n, k, l)."""
    return np.asarray(rows.T @ (stack @ columns))


def trace_norm(stack: Array) -> float:
    r"""The sum of all singular values of all matrices, :math:`\sum_i |M_i|_{\mathrm{tr}}`.

    Examples
    --------
    >>> trace_norm(np.array([[[3.0, 0.0], [0.0, -4.0]]]))
    7.0
    """
    return float(np.linalg.svd(stack, compute_uv=False).sum())


def weighted_outer(vectors: Array, weights: Array) -> Array:
    r"""The sum over a stack :math:`\sum_i X_i \operatorname{diag}(w_i) X_i^T`.

    Parameters
    ----------
    vectors : array of shape (n, p, r)
    weights : array of shape (n, r)
    """
    total = np.tensordot(vectors * weights[:, None, :], vectors, axes=((0, 2), (0, 2)))
    return np.asarray(0.5 * (total + total.T))
