r"""From factors that nearly multiply to a matrix to factors that do, to rounding.

The products of a semidefinite iteration carry the accuracy of its solver. A few steps on the
equations :math:`(WH)_{ij} = x_{ij}` themselves, with W and H kept non-negative, leave rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.inputs import PartialMatrix, factor_pair, partial_matrix
from sdpdr.families.factor.nonnegative.least_squares import descend


@dataclass(frozen=True, eq=False)
class Polished:
    """Non-negative factors and how well their product fits.

    Attributes
    ----------
    W : array of shape (n, k)
    H : array of shape (k, m)
    error : float
        :math:`|X - WH|_F / |X|_F` over the known entries.
    before : float
        The same of the factors given, negative entries replaced by zero.
    steps : int
        Linear systems solved.
    slope : float
        What is left of the gradient where it could still be followed, relative to
        :math:`|X|_F^{3/2}`; zero at a stationary point.
    """

    W: Array
    H: Array
    error: float
    before: float
    steps: int
    slope: float

    def __repr__(self) -> str:
        return (
            f"Polished(rank {self.H.shape[0]}: error {self.error:.2e}, {self.before:.2e} before, "
            f"{self.steps} steps)"
        )


def polish_factors(
    X: ArrayLike | PartialMatrix,
    W: ArrayLike,
    H: ArrayLike,
    *,
    tol: float = 1e-14,
    max_iter: int = 200,
    idle: float = 1e-15,
) -> Polished:
    r"""Non-negative factors nearby that fit a matrix best.

    .. math::

        \min_{W, H \ge 0}\ \tfrac12 \sum_{ij\ \text{known}} \bigl((WH)_{ij} - x_{ij}\bigr)^2

    by the method of Levenberg and Marquardt, projected: entries at zero that the gradient keeps
    there take no part in a step, and those that a step makes negative become zero. Where an exact
    factorization is near, the error falls quadratically to rounding; elsewhere to a stationary
    point.

    Parameters
    ----------
    X : array_like of shape (n, m) or PartialMatrix
        Non-negative; ``nan`` where an entry is not known.
    W : array_like of shape (n, k)
    H : array_like of shape (k, m)
        Where to begin; negative entries count as zero, and the columns of W and rows of H are
        first given equal norms.
    tol : float, default 1e-14
        Relative error at which to stop.
    max_iter : int, default 200
        Linear systems of order (n + m) k to solve at most.
    idle : float, default 1e-15
        Decrease of the squared error, relative to it, that is not worth another step: 1e-4 asks
        for factorizations that are exact, and gives up soon where there is none.

    Returns
    -------
    Polished

    Raises
    ------
    DataError, ShapeError

    References
    ----------
    C. Kanzow, N. Yamashita and M. Fukushima, "Levenberg-Marquardt methods with strong local
    convergence properties for solving nonlinear equations with convex constraints", Journal of
    Computational and Applied Mathematics 172, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> W, H = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]), np.array([[1.0, 2.0], [0.5, 0.0]])
    >>> polish_factors(W @ H, W + 0.01, H + 0.01).error < 1e-13
    True
    """
    known = X if isinstance(X, PartialMatrix) else partial_matrix(X)
    validate.positive_integer("max_iter", max_iter)
    left, right = balanced(*_factors(known, W, H))
    problem = _Products(known, left.shape[1])
    x = problem.join(left, right)
    before = problem.error(x)
    x, steps, slope = descend(problem, x, tol * known.norm, max_iter, idle=idle)
    left, right = balanced(*problem.split(x))
    error = known.error(left, right)
    return Polished(left, right, error, before, steps, slope / known.norm**1.5)


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
    """Uniform factors of the size of a matrix: each of Frobenius norm :math:`|X|_2^{1/2}`.

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


def _factors(known: PartialMatrix, W: ArrayLike, H: ArrayLike) -> tuple[Array, Array]:
    left, right = factor_pair("W and H", W, H, known.shape)
    if not (np.all(np.isfinite(left)) and np.all(np.isfinite(right))):
        raise DataError("the entries of W and H must be finite numbers.")
    return np.maximum(left, 0.0), np.maximum(right, 0.0)


@dataclass(frozen=True, eq=False)
class _Products:
    """Residuals of the products at the known places, and their slopes."""

    known: PartialMatrix
    k: int

    def join(self, W: Array, H: Array) -> Array:
        return np.concatenate([W.ravel(), H.T.ravel()])

    def split(self, x: Array) -> tuple[Array, Array]:
        n, m = self.known.shape
        return x[: n * self.k].reshape(n, self.k), x[n * self.k :].reshape(m, self.k).T

    def away(self, x: Array) -> Array:
        W, H = self.split(x)
        return self.known.mask * (W @ H - self.known.values)

    def error(self, x: Array) -> float:
        return float(np.linalg.norm(self.away(x))) / self.known.norm

    def gradient(self, x: Array, away: Array) -> Array:
        W, H = self.split(x)
        return np.concatenate([(away @ H.T).ravel(), (away.T @ W).ravel()])

    def squares(self, x: Array) -> Array:
        """The slopes times themselves, of order (n + m) k."""
        W, H = self.split(x)
        n, m, k, mask = *self.known.shape, self.k, self.known.mask
        top = np.einsum("ij,lj,qj->ilq", mask, H, H, optimize=True)
        low = np.einsum("ij,il,iq->jlq", mask, W, W, optimize=True)
        cross = np.einsum("ij,lj,iq->iljq", mask, H, W)
        found = sl.block_diag(*top, *low)
        found[: n * k, n * k :] = cross.reshape(n * k, m * k)
        found[n * k :, : n * k] = found[: n * k, n * k :].T
        return found
