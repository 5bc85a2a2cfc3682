r"""From factors that nearly multiply to a matrix to factors that do, to rounding.

The factors of a semidefinite program carry the accuracy of its solver. A few steps of least squares
on the equations :math:`WH = X`, or :math:`BB^T = A`, with all entries kept nonnegative, leave only
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.inputs import PartialMatrix, factor_pair, partial_matrix
from sdpdr.families.factor.nonnegative.least_squares import fit_nonnegative

# Residual, relative to the norm of the matrix, that rounding leaves of an exact product.
_EXACT = 1e-14


@dataclass(frozen=True, eq=False)
class Polished:
    """Nonnegative factors and how well their product fits.

    Attributes
    ----------
    W : array of shape (n, k)
    H : array of shape (k, m)
    error : float
        :math:`|X - WH|_F / |X|_F` over the known entries.
    before : float
        The same of the factors given, negative entries replaced by zero.
    """

    W: Array
    H: Array
    error: float
    before: float

    def __repr__(self) -> str:
        k = self.H.shape[0]
        return f"Polished(rank {k}: error {self.error:.2e}, {self.before:.2e} before)"


def polish_factors(
    X: ArrayLike | PartialMatrix,
    W: ArrayLike,
    H: ArrayLike,
    *,
    max_iter: int = 200,
    idle: float = 1e-15,
) -> Polished:
    r"""Nonnegative factors nearby that fit a matrix best.

    .. math::

        \min_{W, H \ge 0}\ \tfrac12 \sum_{ij\ \text{known}} \bigl((WH)_{ij} - x_{ij}\bigr)^2

    Where an exact factorization is near, the error falls quadratically to rounding; elsewhere to a
    stationary point.

    Parameters
    ----------
    X : array_like of shape (n, m) or PartialMatrix
        Nonnegative; ``nan`` where an entry is not known.
    W : array_like of shape (n, k)
    H : array_like of shape (k, m)
        Where to begin; negative entries count as zero.
    max_iter : int, default 200
        Linear least-squares problems with (n + m) k unknowns to solve at most.
    idle : float, default 1e-15
        Relative decrease of the squared error that ends the fit. 1e-4 seeks exact factorizations
        only, and gives up soon where there is none.

    Returns
    -------
    Polished

    Raises
    ------
    DataError, ShapeError

    Examples
    --------
    >>> import numpy as np
    >>> W, H = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]), np.array([[1.0, 2.0], [0.5, 0.0]])
    >>> polish_factors(W @ H, W + 0.01, H + 0.01).error < 1e-13
    True
    """
    known = X if isinstance(X, PartialMatrix) else partial_matrix(X)
    validate.positive_integer("max_iter", max_iter)
    left, right = factor_pair("W and H", W, H, known.shape)
    if not (np.all(np.isfinite(left)) and np.all(np.isfinite(right))):
        raise DataError("the entries of W and H must be finite numbers.")
    left, right = balanced(np.maximum(left, 0.0), np.maximum(right, 0.0))
    before = known.error(left, right)
    (n, k), m = left.shape, right.shape[1]
    i, j = known.positions().T
    row, target = np.arange(i.size), known.values[i, j]

    def split(x: Array) -> tuple[Array, Array]:
        return x[: n * k].reshape(n, k), x[n * k :].reshape(m, k)

    def residuals(x: Array) -> Array:
        W, H = split(x)
        return np.asarray((W @ H.T)[i, j] - target)

    def slopes(x: Array) -> Array:
        W, H = split(x)
        by_left, by_right = np.zeros((i.size, n, k)), np.zeros((i.size, m, k))
        by_left[row, i], by_right[row, j] = H[j], W[i]
        return np.hstack([by_left.reshape(i.size, -1), by_right.reshape(i.size, -1)])

    start = np.concatenate([left.ravel(), right.T.ravel()])
    x = fit_nonnegative(
        residuals, slopes, start, small=_EXACT * known.norm, max_iter=max_iter, idle=idle
    )
    W, H = split(x)
    left, right = balanced(W, H.T)
    return Polished(left, right, known.error(left, right), before)


def polish_square(
    A: Array, B: Array, *, max_iter: int = 300, stop: Callable[[], bool] | None = None
) -> Array:
    r"""A nonnegative factor nearby whose square fits a symmetric matrix best.

    .. math:: \min_{B \ge 0}\ \tfrac12 |B B^T - A|_F^2

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric.
    B : array of shape (n, k)
        Where to begin; negative entries count as zero.
    max_iter : int, default 300
        Linear least-squares problems with n k unknowns to solve at most.
    stop : callable, optional
        Called before each of them; a true answer ends the fit.

    Examples
    --------
    >>> B = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    >>> C = polish_square(B @ B.T, B + 0.05)
    >>> bool(np.allclose(C @ C.T, B @ B.T, atol=1e-12))
    True
    """
    n, k = B.shape
    i, j = np.triu_indices(n)
    # Each entry above the diagonal stands for two.
    weight, row = np.where(i == j, 1.0, np.sqrt(2.0)), np.arange(i.size)

    def residuals(x: Array) -> Array:
        B = x.reshape(n, k)
        return np.asarray(weight * (B @ B.T - A)[i, j])

    def slopes(x: Array) -> Array:
        B = x.reshape(n, k)
        found = np.zeros((i.size, n, k))
        found[row, i] = weight[:, None] * B[j]
        found[row, j] += weight[:, None] * B[i]
        return found.reshape(i.size, -1)

    small = _EXACT * float(np.linalg.norm(A))
    x = fit_nonnegative(residuals, slopes, B.ravel(), small=small, max_iter=max_iter, stop=stop)
    return x.reshape(n, k)


def balanced(W: Array, H: Array) -> tuple[Array, Array]:
    """The same product with columns of W as long as the rows of H; empty pairs become zero.

    Examples
    --------
    >>> W, H = balanced(np.array([[4.0]]), np.array([[1.0]]))
    >>> float(W[0, 0]), float(H[0, 0])
    (2.0, 2.0)
    """
    w, h = np.linalg.norm(W, axis=0), np.linalg.norm(H, axis=1)
    used = (w > 0.0) & (h > 0.0)
    root = np.sqrt(np.divide(h, w, out=np.zeros_like(w), where=used))
    back = np.sqrt(np.divide(w, h, out=np.zeros_like(w), where=used))
    return W * root, H * back[:, None]


def random_factors(
    X: ArrayLike | PartialMatrix, k: int, seed: int | Sequence[int] = 0
) -> tuple[Array, Array]:
    """Uniform random factors of the size of a matrix: each of Frobenius norm :math:`|X|_2^{1/2}`.

    Parameters
    ----------
    X : array_like of shape (n, m) or PartialMatrix
    k : int
    seed : int or sequence of int, default 0

    Returns
    -------
    W : array of shape (n, k)
    H : array of shape (k, m)

    Examples
    --------
    >>> import numpy as np
    >>> W, H = random_factors(16.0 * np.eye(3), 2)
    >>> W.shape, round(float(np.linalg.norm(H)), 6)
    ((3, 2), 4.0)
    """
    known = X if isinstance(X, PartialMatrix) else partial_matrix(X)
    rng = np.random.default_rng(seed)
    n, m = known.shape
    W, H = rng.random((n, k)), rng.random((k, m))
    size = np.sqrt(np.linalg.norm(known.values, 2))
    return W * size / np.linalg.norm(W), H * size / np.linalg.norm(H)
