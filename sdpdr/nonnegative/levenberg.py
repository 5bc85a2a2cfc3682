r"""Least squares over non-negative unknowns: the projected method of Levenberg and Marquardt.

.. math:: \min_{x \ge 0}\ \tfrac12 |f(x)|^2 .

References
----------
C. Kanzow, N. Yamashita and M. Fukushima, "Levenberg-Marquardt methods with strong local convergence
properties for solving nonlinear equations with convex constraints", Journal of Computational and
Applied Mathematics 172, 2004.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.linalg as sl

from sdpdr.linalg.svec import Array

# Damping, relative to the largest slope: first, least, most; and its factors after good and bad
# steps.
_FIRST, _LEAST, _MOST = 1e-3, 1e-13, 1e12
_EASE, _TIGHTEN = 0.2, 4.0
# Decrease, relative to what the gradient promises, below which a step is refused.
_ENOUGH = 1e-4
# Decrease, relative to the error, that is not worth another step.
_IDLE = 1e-15
# Entries within this share of the largest may count as being at their limit.
_NEAR = 1e-2


class Residuals(Protocol):
    """Functions of the unknowns, with J their derivative."""

    def away(self, x: Array) -> Array:
        """Values f(x), of any shape."""

    def gradient(self, x: Array, away: Array) -> Array:
        """The vector J^T f."""

    def squares(self, x: Array) -> Array:
        """The matrix J^T J."""


def descend(problem: Residuals, x: Array, least: float, max_iter: int) -> tuple[Array, int, float]:
    """Go down until the residuals are small or nothing is left to win.

    Parameters
    ----------
    problem : Residuals
    x : array of shape (p,)
        Where to begin; not negative.
    least : float
        Norm of the residuals that ends it.
    max_iter : int
        Linear systems.

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
        idle = size - smaller <= _IDLE * size
        x, away, size = moved, after, smaller
        damping = max(damping * _EASE, _LEAST)
        if idle:
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
