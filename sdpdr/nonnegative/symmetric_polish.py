r"""From a non-negative B with :math:`B B^T` near A to one that fits it to rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.linalg.svec import Array
from sdpdr.nonnegative.levenberg import descend


@dataclass(frozen=True, eq=False)
class PolishedSquare:
    """A non-negative factor and how well its square fits.

    Attributes
    ----------
    factor : array of shape (n, k)
    residual : float
        :math:`|A - B B^T|_F / |A|_F`.
    before : float
        The same of the factor given.
    steps : int
        Linear systems solved.
    """

    factor: Array
    residual: float
    before: float
    steps: int


def square_residual(A: Array, B: Array) -> float:
    r"""The distance :math:`|A - B B^T|_F / |A|_F`.

    Examples
    --------
    >>> square_residual(np.eye(2), np.eye(2))
    0.0
    """
    return float(np.linalg.norm(A - B @ B.T) / np.linalg.norm(A))


def unit_residual(A: Array, B: Array) -> float:
    r"""The same of both at unit diagonal, so that short rows count as much as long ones.

    With :math:`D = \operatorname{diag}(A)^{-1/2}` it is :math:`|D (A - B B^T) D|_F / |D A D|_F`;
    rows without a positive diagonal keep their scale.

    Examples
    --------
    >>> A = np.diag([1.0, 1e-8])
    >>> B = np.array([[1.0], [0.0]])
    >>> round(square_residual(A, B), 9), round(unit_residual(A, B), 9)
    (1e-08, 0.707106781)
    """
    diagonal = np.diag(A)
    root = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    return square_residual(A / np.outer(root, root), B / root[:, None])


def polish_square(A: Array, B: Array, *, tol: float = 1e-14, max_iter: int = 100) -> PolishedSquare:
    r"""A non-negative factor nearby whose square fits a symmetric matrix best.

    .. math:: \min_{B \ge 0}\ \tfrac14 |B B^T - A|_F^2

    by the method of Levenberg and Marquardt, projected as in `polish_factors`. The factor is
    determined up to orthogonal matrices that keep it non-negative, so the slopes are never of full
    rank; the damping takes care of that.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric.
    B : array of shape (n, k)
        Where to begin; negative entries count as zero.
    tol : float, default 1e-14
        Residual at which to stop.
    max_iter : int, default 100
        Linear systems of order n k at most.

    Returns
    -------
    PolishedSquare

    Examples
    --------
    >>> B = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    >>> polish_square(B @ B.T, B + 0.05).residual < 1e-13
    True
    """
    size = float(np.linalg.norm(A))
    B = np.maximum(B, 0.0)
    before = square_residual(A, B)
    x, steps, _ = descend(_Square(A, B.shape[1]), B.ravel(), tol * size, max_iter)
    factor = x.reshape(B.shape)
    return PolishedSquare(factor, square_residual(A, factor), before, steps)


@dataclass(frozen=True, eq=False)
class _Square:
    """What a square misses, and its slopes, by the entries of B row by row."""

    A: Array
    k: int

    def away(self, x: Array) -> Array:
        B = x.reshape(-1, self.k)
        return B @ B.T - self.A

    def gradient(self, x: Array, away: Array) -> Array:
        return 2.0 * (away @ x.reshape(-1, self.k)).ravel()

    def squares(self, x: Array) -> Array:
        """Of D -> 2 (D B^T + B D^T) B, of order n k."""
        B = x.reshape(-1, self.k)
        n = len(B)
        own = np.kron(np.eye(n), B.T @ B)
        # Entry ((i, l), (j, q)) of D -> B D^T B is B_iq B_jl.
        cross = np.einsum("iq,jl->iljq", B, B).reshape(x.size, x.size)
        return np.asarray(2.0 * (own + cross))
