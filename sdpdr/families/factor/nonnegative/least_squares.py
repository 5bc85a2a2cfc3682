r"""Least squares over non-negative unknowns: linear ones, checked, and others, step by step.

.. math:: \min_{x \ge 0}\ \tfrac12 |f(x)|^2 .

References
----------
C. Kanzow, N. Yamashita and M. Fukushima, "Levenberg-Marquardt methods with strong local convergence
properties for solving nonlinear equations with convex constraints", Journal of Computational and
Applied Mathematics 172, 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.linalg as sl
from scipy.optimize import lsq_linear, nnls

from sdpdr.base.arrays import Array

# How far, relatively, the gradient at an optimum may point inwards: fast method, slow method.
_OPTIMAL, _NEARLY = 1e-9, 1e-7


def nonnegative_least_squares(matrix: Array, target: Array) -> tuple[Array, float]:
    r"""The least :math:`\|A y - b\|` over :math:`y \ge 0`, and where it is taken.

    The fast method of SciPy is checked by its condition of optimality, :math:`A^T (b - A y) \le 0`:
    that of SciPy 1.15 stops too early without a word. Where it fails, a slower one takes its place.

    Parameters
    ----------
    matrix : array of shape (m, n)
    target : array of shape (m,)

    Returns
    -------
    y : array of shape (n,)
    away : float
        The least distance.

    Raises
    ------
    ArithmeticError
        If neither comes to an optimum.

    Examples
    --------
    >>> import numpy as np
    >>> y, away = nonnegative_least_squares(np.eye(2), np.array([1.0, -2.0]))
    >>> y.tolist(), away
    ([1.0, 0.0], 2.0)
    """
    try:
        y = nnls(matrix, target)[0]
    except RuntimeError:  # the limit of its iterations
        y = np.zeros(matrix.shape[1])
    if not _is_optimal(matrix, target, y, _OPTIMAL):
        found = lsq_linear(matrix, target, (0.0, np.inf), method="bvls", tol=1e-14)
        y = np.maximum(found.x, 0.0)
        if not _is_optimal(matrix, target, y, _NEARLY):
            raise ArithmeticError("least squares with signs did not come to an optimum")
    return y, float(np.linalg.norm(matrix @ y - target))


def _is_optimal(matrix: Array, target: Array, y: Array, tol: float) -> bool:
    if not y.size:
        return True
    size = float(np.linalg.norm(target))
    inwards = matrix.T @ (target - matrix @ y)
    allowed = tol * size * np.linalg.norm(matrix, axis=0)
    return bool(np.all(inwards <= allowed) and abs(inwards @ y) <= tol * size**2)


# Damping, relative to the largest slope: first, least, most; and its factors after good and bad
# steps.
_FIRST, _LEAST, _MOST = 1e-3, 1e-13, 1e12
_EASE, _TIGHTEN = 0.2, 4.0
# Decrease, relative to what the gradient promises, below which a step is refused.
_ENOUGH = 1e-4
# Decrease of the squares, relative to them, that is lost in their rounding.
_IDLE = 1e-15
# Entries within this share of the largest may count as being at their limit.
_NEAR = 1e-2


class ResidualMap(Protocol):
    """Functions of the unknowns, with J their derivative."""

    def away(self, x: Array) -> Array:
        """Values f(x), of any shape."""

    def gradient(self, x: Array, away: Array) -> Array:
        """The vector J^T f."""

    def squares(self, x: Array) -> Array:
        """The matrix J^T J."""


def descend(
    problem: ResidualMap,
    x: Array,
    least: float,
    max_iter: int,
    stop: Callable[[], bool] | None = None,
    idle: float = _IDLE,
) -> tuple[Array, int, float]:
    """Go down until the residuals are small or nothing is left to win.

    Parameters
    ----------
    problem : ResidualMap
    x : array of shape (p,)
        Where to begin; not negative.
    least : float
        Norm of the residuals that ends it.
    max_iter : int
        Linear systems.
    stop : callable, optional
        Asked before each of them whether to stop.
    idle : float, default 1e-15
        Decrease of the squares, relative to them, that is not worth another step.

    Returns
    -------
    x : array of shape (p,)
    steps : int
        Linear systems solved.
    slope : float
        Norm of the gradient where it can still be followed.

    Examples
    --------
    >>> class Square:
    ...     def away(self, x):
    ...         return x**2 - 4.0
    ...     def gradient(self, x, away):
    ...         return 2.0 * x * away
    ...     def squares(self, x):
    ...         return np.diag(4.0 * x**2)
    >>> descend(Square(), np.array([3.0]), 1e-12, 50)[0].round(9)
    array([2.])
    """
    away = problem.away(x)
    size = float(np.sum(away**2))
    damping, steps, fresh = _FIRST, 0, True
    slope = np.inf
    while steps < max_iter and size > least**2 and damping < _MOST:
        if stop is not None and stop():
            break
        if fresh:
            gradient, squares = problem.gradient(x, away), problem.squares(x)
            scale = float(np.max(np.diag(squares)))
            slope = float(np.linalg.norm(gradient[(x > 0.0) | (gradient < 0.0)]))
        if not (scale > 0.0 and slope > 0.0):
            break
        steps += 1
        moved = _moved(x, gradient, squares, damping * scale, slope / scale)
        after = problem.away(moved)
        smaller = float(np.sum(after**2))
        promised = float(gradient @ (x - moved))
        fresh = smaller < size and size - smaller >= _ENOUGH * promised
        if not fresh:
            damping *= _TIGHTEN
            continue
        settled = size - smaller <= idle * size
        x, away, size = moved, after, smaller
        damping = max(damping * _EASE, _LEAST)
        if settled:
            break
    return x, steps, slope


def _moved(x: Array, gradient: Array, squares: Array, damping: float, slope: float) -> Array:
    """A damped step of the free entries, and one down the gradient of all others."""
    near = min(_NEAR * float(np.max(x)), slope)
    held = (x <= near) & (gradient > 0.0)
    free = ~held
    step = np.zeros_like(x)
    step[held] = -gradient[held] / (np.diag(squares)[held] + damping)
    matrix = squares[np.ix_(free, free)]
    matrix[np.diag_indices_from(matrix)] += damping
    try:
        factor = sl.cho_factor(matrix, check_finite=False)
    except sl.LinAlgError:
        # Rounding outweighs the damping: no step, so that more damping is tried.
        return x
    step[free] = -sl.cho_solve(factor, gradient[free])
    return np.maximum(x + step, 0.0)
