r"""From factors that nearly multiply to a matrix to factors that do, to rounding.

The factors of a semidefinite program carry the accuracy of its solver. A few steps of least squares
on the equations :math:`WH = X`, or :math:`BB^T = A`, with all entries kept nonnegative, leave only
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.inputs import PartialMatrix, factor_pair, partial_matrix
from sdpdr.families.factor.nonnegative.least_squares import fit_nonnegative


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
    steps : int
        Linear systems solved.
    """

    W: Array
    H: Array
    error: float
    before: float
    steps: int

    def __repr__(self) -> str:
        k = self.H.shape[0]
        return (
            f"Polished(rank {k}: error {self.error:.2e}, {self.before:.2e} before, "
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
    tol : float, default 1e-14
        Relative error that ends the fit.
    max_iter : int, default 200
        Linear systems of order (n + m) k to solve at most.
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
    problem = _Product(known, left.shape[1])
    x, steps = fit_nonnegative(
        problem, problem.join(left, right), tol * known.norm, max_iter, idle=idle
    )
    left, right = balanced(*problem.split(x))
    return Polished(left, right, known.error(left, right), before, steps)


def polish_square(
    A: Array,
    B: Array,
    *,
    tol: float = 1e-14,
    max_iter: int = 100,
    stop: Callable[[], bool] | None = None,
) -> Array:
    r"""A nonnegative factor nearby whose square fits a symmetric matrix best.

    .. math:: \min_{B \ge 0}\ \tfrac14 |B B^T - A|_F^2

    The factor is determined up to orthogonal matrices that keep it nonnegative, so the derivative
    never has full rank; the damping takes care of that.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric.
    B : array of shape (n, k)
        Where to begin; negative entries count as zero.
    tol : float, default 1e-14
        Relative residual that ends the fit.
    max_iter : int, default 100
        Linear systems of order n k to solve at most.
    stop : callable, optional
        Called before each of them; a true answer ends the fit.

    Examples
    --------
    >>> B = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    >>> C = polish_square(B @ B.T, B + 0.05)
    >>> bool(np.allclose(C @ C.T, B @ B.T, atol=1e-12))
    True
    """
    small = tol * float(np.linalg.norm(A))
    start = np.maximum(B, 0.0).ravel()
    x, _ = fit_nonnegative(_Square(A, B.shape[1]), start, small, max_iter, stop)
    return x.reshape(B.shape)


@dataclass(frozen=True, eq=False)
class _Product:
    """Residuals of W H at the known entries; unknowns are W, then the transpose of H."""

    known: PartialMatrix
    k: int

    def join(self, W: Array, H: Array) -> Array:
        return np.concatenate([W.ravel(), H.T.ravel()])

    def split(self, x: Array) -> tuple[Array, Array]:
        n, m = self.known.shape
        return x[: n * self.k].reshape(n, self.k), x[n * self.k :].reshape(m, self.k).T

    def residuals(self, x: Array) -> Array:
        W, H = self.split(x)
        return self.known.mask * (W @ H - self.known.values)

    def gradient(self, x: Array, residuals: Array) -> Array:
        W, H = self.split(x)
        return np.concatenate([(residuals @ H.T).ravel(), (residuals.T @ W).ravel()])

    def squares(self, x: Array) -> Array:
        W, H = self.split(x)
        n, m, k, mask = *self.known.shape, self.k, self.known.mask
        top = np.einsum("ij,lj,qj->ilq", mask, H, H, optimize=True)
        low = np.einsum("ij,il,iq->jlq", mask, W, W, optimize=True)
        cross = np.einsum("ij,lj,iq->iljq", mask, H, W)
        found = sl.block_diag(*top, *low)
        found[: n * k, n * k :] = cross.reshape(n * k, m * k)
        found[n * k :, : n * k] = found[: n * k, n * k :].T
        return found


@dataclass(frozen=True, eq=False)
class _Square:
    """Residuals of B B'; unknowns are the entries of B."""

    A: Array
    k: int

    def residuals(self, x: Array) -> Array:
        B = x.reshape(-1, self.k)
        return B @ B.T - self.A

    def gradient(self, x: Array, residuals: Array) -> Array:
        return 2.0 * (residuals @ x.reshape(-1, self.k)).ravel()

    def squares(self, x: Array) -> Array:
        """The matrix of D -> 2 (D B' + B D') B."""
        B = x.reshape(-1, self.k)
        own = np.kron(np.eye(len(B)), B.T @ B)
        # Entry ((i, l), (j, q)) of D -> B D' B is B_iq B_jl.
        cross = np.einsum("iq,jl->iljq", B, B).reshape(x.size, x.size)
        return np.asarray(2.0 * (own + cross))


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
