r"""From a non-negative B with :math:`B B^T` near A to one that fits it to rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl

from sdpdr.linalg.svec import Array

# Damping relative to the largest slope: first, least, most; factors after good and bad steps.
_FIRST, _LEAST, _MOST = 1e-3, 1e-15, 1e10
_EASE, _TIGHTEN = 0.2, 4.0
# Decrease, relative to the error, that is not worth another step.
_IDLE = 1e-14
# Share of the largest entry below which an entry that wants to fall is held.
_NEAR = 1e-2


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
    before = residual = square_residual(A, B)
    damping, steps, fresh = _FIRST, 0, True
    while residual > tol and steps < max_iter and damping < _MOST:
        if fresh:
            gradient, squares = (B @ B.T - A) @ B, _squares(B)
            scale = float(np.max(np.diag(squares)))
        if not scale > 0.0:
            break
        steps += 1
        moved = _moved(B, gradient, squares, damping * scale, scale)
        after = float(np.linalg.norm(A - moved @ moved.T)) / size
        fresh = after < residual
        if not fresh:
            damping *= _TIGHTEN
            continue
        idle = residual - after <= _IDLE * residual
        B, residual, damping = moved, after, max(damping * _EASE, _LEAST)
        if idle:
            break
    return PolishedSquare(B, residual, before, steps)


def _squares(B: Array) -> Array:
    r"""Half the Gauss-Newton matrix: :math:`D \mapsto (D B^T + B D^T) B`, of order n k."""
    n, k = B.shape
    own = np.kron(np.eye(n), B.T @ B)
    # Entry ((i, l), (j, q)) of D -> B D^T B is B_iq B_jl.
    cross = np.einsum("iq,jl->iljq", B, B).reshape(n * k, n * k)
    return np.asarray(own + cross)


def _moved(B: Array, gradient: Array, squares: Array, damping: float, scale: float) -> Array:
    """A damped step of the entries that are free; the others go down the gradient."""
    slope = float(np.max(np.abs(B - np.maximum(B - gradient / scale, 0.0))))
    held = ((min(_NEAR * float(np.max(B)), slope) >= B) & (gradient > 0.0)).ravel()
    free = ~held
    step = np.zeros(B.size)
    downhill = -gradient.ravel()
    step[held] = downhill[held] / (np.diag(squares)[held] + damping)
    matrix = squares[np.ix_(free, free)]
    matrix[np.diag_indices_from(matrix)] += damping
    step[free] = sl.cho_solve(sl.cho_factor(matrix, check_finite=False), downhill[free])
    return np.maximum(B + step.reshape(B.shape), 0.0)
