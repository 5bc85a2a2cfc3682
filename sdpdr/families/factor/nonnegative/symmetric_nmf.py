r"""Symmetric non-negative factorization, :math:`A \approx B B^T` with few columns, to rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.least_squares import descend
from sdpdr.families.factor.nonnegative.symmetric import numerical_rank, symmetric_matrix


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


def polish_square(
    A: Array,
    B: Array,
    *,
    tol: float = 1e-14,
    max_iter: int = 100,
    stop: Callable[[], bool] | None = None,
) -> PolishedSquare:
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
    stop : callable, optional
        Asked before each of them whether to stop.

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
    x, steps, _ = descend(_Square(A, B.shape[1]), B.ravel(), tol * size, max_iter, stop)
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


# Entries of B up to which it is polished: each step solves a dense system of that order.
_DENSE = 600
# Of the quasi-Newton method that comes before.
_STEPS, _SLOPE = 2000, 1e-9
# Roundings of eigenvalues, for every row of a matrix, beside its norm.
_ROUNDINGS = 4.0


@dataclass(frozen=True, eq=False)
class SymmetricNMF:
    """A non-negative factor, and how much better another might fit.

    Attributes
    ----------
    factor : array of shape (n, k)
        B, columns by falling length.
    residual : float
        :math:`|A - B B^T|_F / |A|_F`.
    bound : float
        No matrix with k columns, of whatever signs, has a smaller residual.
    start : int
        Which start it came from.
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

    from random starts, by a quasi-Newton method with bounds, and for small problems polished to
    rounding. The minimum found is a local one; what is proved is that no B with k columns has less
    than the root of the sum of squares of the eigenvalues other than the k largest positive ones.
    Unlike `sdpdr.factorize.completely_positive` this takes any k and any symmetric A. Where A is an
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
    r"""A residual that no :math:`B B^T` with k columns falls below, by Eckart and Young.

    It is lowered by what rounding may have made of eigenvalues.

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
    return polish_square(A, factor).factor if B.size <= _DENSE else factor


@dataclass(frozen=True, eq=False)
class Rotated:
    """What the search found.

    Attributes
    ----------
    factor : array of shape (n, k)
        L Q, its negative entries replaced by zero.
    residual : float
        :math:`|A - B B^T|_F / |A|_F` of it.
    steps : int
        Projections in the last start.
    starts : int
        Starts taken.
    """

    factor: Array
    residual: float
    steps: int
    starts: int


def rotated_factor(
    X: Array,
    n_components: int,
    *,
    starts: int = 1,
    seed: int = 0,
    max_iter: int = 5000,
    tol: float = 1e-10,
) -> Rotated:
    r"""Groetzner and Dur's search: :math:`A = L L^T`, find an orthogonal Q with :math:`L Q \ge 0`.

    Alternating projections onto the orthogonal matrices, and approximately onto the polyhedron
    :math:`\{Q : L Q \ge 0\}` by :math:`Q + L^+ (\max(L Q, 0) - L Q)`. A local method without
    semidefinite programs; `sdpdr.factorize.completely_positive` is held against it.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A.
    n_components : int
        k, at least the rank of A.
    starts : int, default 1
        Orthogonal matrices drawn at random to begin with, at most.
    seed : int, default 0
    max_iter : int, default 5000
        Projections in each start.
    tol : float, default 1e-10
        Entries above minus this, relative to the root of the largest entry of A, end the search.

    Raises
    ------
    DataError
        As `symmetric_matrix`, or k is below the rank.

    References
    ----------
    P. Groetzner and M. Dur, "A factorization method for completely positive matrices", Linear
    Algebra and its Applications 591, 2020, the variant with approximate projections.

    Examples
    --------
    >>> B = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    >>> rotated_factor(B @ B.T, 2, starts=3).residual < 1e-8
    True
    """
    A = symmetric_matrix(X)
    k, rank = validate.positive_integer("n_components", n_components), numerical_rank(A)
    if k < rank:
        raise DataError(f"n_components={k} is below the rank of X, which is {rank}.")
    values, vectors = np.linalg.eigh(A)
    n, r = len(A), min(k, len(A))
    L = np.zeros((n, k))
    L[:, :r] = vectors[:, n - r :] * np.sqrt(np.maximum(values[n - r :], 0.0))
    inverse, least = (
        np.asarray(np.linalg.pinv(L, rcond=1e-8)),
        -tol * float(np.sqrt(np.max(np.abs(A)))),
    )
    rng, best = np.random.default_rng(seed), None
    for start in range(1, validate.positive_integer("starts", starts) + 1):
        turned, steps = _search(L, inverse, least, max_iter, rng)
        factor = np.maximum(turned, 0.0)
        found = Rotated(factor, square_residual(A, factor), steps, start)
        best = found if best is None or found.residual < best.residual else best
        if np.min(turned) >= least:
            break
    assert best is not None
    return best


def _search(
    L: Array, inverse: Array, least: float, max_iter: int, rng: np.random.Generator
) -> tuple[Array, int]:
    k = L.shape[1]
    Q = np.linalg.qr(rng.standard_normal((k, k)))[0]
    for step in range(max_iter):
        turned = L @ Q
        if np.min(turned) >= least:
            return turned, step
        left, _, right = np.linalg.svd(Q + inverse @ (np.maximum(turned, 0.0) - turned))
        Q = left @ right
    return L @ Q, max_iter
