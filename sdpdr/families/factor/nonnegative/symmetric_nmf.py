r"""Symmetric nonnegative factorization, :math:`A \approx B B^T` with few columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.polish import polish_square
from sdpdr.families.factor.nonnegative.symmetric import symmetric_matrix

# Entries of B up to which it is polished, by dense systems of that order.
_DENSE = 600
# Iterations and gradient of L-BFGS-B.
_STEPS, _SLOPE = 2000, 1e-9
# Rounding errors of eigenvalues, for every row of a matrix, relative to its norm.
_ROUNDINGS = 4.0


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


@dataclass(frozen=True, eq=False)
class SymmetricNMF:
    """A nonnegative factor, and how much better another might fit.

    Attributes
    ----------
    factor : array of shape (n, k)
        B, columns by decreasing length.
    residual : float
        :math:`|A - B B^T|_F / |A|_F`.
    bound : float
        No matrix with k columns, of whatever signs, has a smaller residual.
    start : int
        The start that found it.
    """

    factor: Array
    residual: float
    bound: float
    start: int

    def __repr__(self) -> str:
        k = self.factor.shape[1]
        return f"SymmetricNMF(k={k}: residual {self.residual:.4g}, at least {self.bound:.4g})"


def symmetric_nmf(
    X: ArrayLike, n_components: int, *, starts: int = 5, seed: int = 0
) -> SymmetricNMF:
    r"""Fit :math:`B B^T` to a symmetric matrix, :math:`B \ge 0` with k columns.

    .. math:: \min_{B \ge 0} |A - B B^T|_F

    from random starts, by a quasi-Newton method with bounds; small factors are then polished to
    rounding. The minimum found is local. It is proved that no B with k columns has a smaller error
    than the root of the sum of squares of the eigenvalues other than the k largest positive ones.
    Unlike `sdpdr.factorize.completely_positive` this takes any k and any symmetric A. If A is an
    affinity, rows of B are soft memberships in k clusters.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A.
    n_components : int
        k, from 1 to n.
    starts : int, default 5
    seed : int, default 0

    Raises
    ------
    DataError
        A is not square, not symmetric or not finite, or k is out of range.

    References
    ----------
    D. Kuang, S. Yun and H. Park, "SymNMF: nonnegative low-rank approximation of a similarity matrix
    for graph clustering", Journal of Global Optimization 62, 2015.

    Examples
    --------
    >>> A = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.0], [0.1, 0.0, 1.0]])
    >>> symmetric_nmf(A, 2)
    SymmetricNMF(k=2: residual 0.04398, at least 0.04385)
    """
    A = symmetric_matrix(X)
    n, k = len(A), validate.positive_integer("n_components", n_components)
    if k > n:
        raise DataError(f"n_components={k} is out of range: X has order {n}. Pass 1 to {n}.")
    rng, mean = np.random.default_rng(seed), float(np.mean(np.maximum(A, 0.0)))
    ends = [
        _descend(A, 2.0 * np.sqrt(mean / k) * rng.random((n, k)))
        for _ in range(validate.positive_integer("starts", starts))
    ]
    residuals = [square_residual(A, B) for B in ends]
    start = int(np.argmin(residuals))
    B = ends[start]
    order = np.argsort(-np.linalg.norm(B, axis=0), kind="stable")
    return SymmetricNMF(B[:, order], residuals[start], eigenvalue_bound(A, k), start)


def eigenvalue_bound(A: Array, k: int) -> float:
    r"""A lower bound on the residual of every :math:`B B^T` with k columns, by Eckart and Young.

    It is reduced by the rounding errors of the eigenvalues.

    Examples
    --------
    >>> round(eigenvalue_bound(np.diag([3.0, 4.0, -12.0]), 1), 6)
    0.951486
    """
    values = np.linalg.eigvalsh(A)
    values[-k:] = np.minimum(values[-k:], 0.0)
    rounding = _ROUNDINGS * len(A) * np.finfo(float).eps
    return float(max(np.linalg.norm(values) / np.linalg.norm(A) - rounding, 0.0))


def _descend(A: Array, B: Array) -> Array:
    scale = float(np.linalg.norm(A))

    def fall(x: Array) -> tuple[float, Array]:
        factor = x.reshape(B.shape)
        away = factor @ factor.T - A
        return float(np.sum(away**2)) / (4.0 * scale**2), (away @ factor).ravel() / scale**2

    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "gtol": _SLOPE, "ftol": 1e-15}
    found = minimize(
        fall, B.ravel(), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * B.size, options=options
    )
    factor = found.x.reshape(B.shape)
    return polish_square(A, factor) if B.size <= _DENSE else factor
