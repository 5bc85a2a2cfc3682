"""Least squares over nonnegative unknowns, linear and nonlinear."""

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
    r"""The minimizer of :math:`\|A y - b\|` over :math:`y \ge 0`, and the least distance.

    SciPy's `nnls` is checked by its optimality condition, :math:`A^T (b - A y) \le 0`: the one of
    SciPy 1.15 can stop too early without an error. Where the check fails, a slower method runs.

    Parameters
    ----------
    matrix : array of shape (m, n)
    target : array of shape (m,)

    Returns
    -------
    y : array of shape (n,)
    distance : float

    Raises
    ------
    ArithmeticError
        If neither method reaches an optimum.

    Examples
    --------
    >>> import numpy as np
    >>> y, distance = nonnegative_least_squares(np.eye(2), np.array([1.0, -2.0]))
    >>> y.tolist(), distance
    ([1.0, 0.0], 2.0)
    """
    try:
        y = nnls(matrix, target)[0]
    except RuntimeError:  # its iteration limit
        y = np.zeros(matrix.shape[1])
    if not _is_optimal(matrix, target, y, _OPTIMAL):
        found = lsq_linear(matrix, target, (0.0, np.inf), method="bvls", tol=1e-14)
        y = np.maximum(found.x, 0.0)
        if not _is_optimal(matrix, target, y, _NEARLY):
            raise ArithmeticError("nonnegative least squares did not reach an optimum")
    return y, float(np.linalg.norm(matrix @ y - target))


def _is_optimal(matrix: Array, target: Array, y: Array, tol: float) -> bool:
    if not y.size:
        return True
    size = float(np.linalg.norm(target))
    inwards = matrix.T @ (target - matrix @ y)
    allowed = tol * size * np.linalg.norm(matrix, axis=0)
    return bool(np.all(inwards <= allowed) and abs(inwards @ y) <= tol * size**2)


# Damping relative to the largest diagonal entry of J'J: first, least, most; and its factors after
# accepted and refused steps.
_FIRST, _LEAST, _MOST = 1e-3, 1e-13, 1e12
_EASE, _TIGHTEN = 0.2, 4.0
# Decrease, relative to the gradient's prediction, below which a step is refused.
_ENOUGH = 1e-4
# Relative decrease of the squares that is lost in their rounding.
_IDLE = 1e-15
# Unknowns below this share of the largest may be treated as being at zero.
_NEAR = 1e-2


class ResidualMap(Protocol):
    """A vector of functions f of the unknowns, with derivative J."""

    def residuals(self, x: Array) -> Array:
        """Values f(x), of any shape."""

    def gradient(self, x: Array, residuals: Array) -> Array:
        """The vector J^T f."""

    def squares(self, x: Array) -> Array:
        """The matrix J^T J."""


def fit_nonnegative(
    problem: ResidualMap,
    x: Array,
    least: float,
    max_iter: int,
    stop: Callable[[], bool] | None = None,
    idle: float = _IDLE,
) -> tuple[Array, int]:
    r"""A local minimizer of :math:`|f(x)|^2` over :math:`x \ge 0`, by Levenberg and Marquardt.

    Unknowns near zero that the gradient keeps there take no part in a step, and those that a step
    makes negative become zero. Where f vanishes nearby, the residuals fall quadratically to
    rounding.

    Parameters
    ----------
    problem : ResidualMap
    x : array of shape (p,)
        Where to begin; nonnegative.
    least : float
        Norm of the residuals that ends the fit.
    max_iter : int
        Linear systems to solve at most.
    stop : callable, optional
        Called before each of them; a true answer ends the fit.
    idle : float, default 1e-15
        Relative decrease of the squares that ends the fit.

    Returns
    -------
    x : array of shape (p,)
    steps : int
        Linear systems solved.

    References
    ----------
    C. Kanzow, N. Yamashita and M. Fukushima, "Levenberg-Marquardt methods with strong local
    convergence properties for solving nonlinear equations with convex constraints", Journal of
    Computational and Applied Mathematics 172, 2004.

    Examples
    --------
    >>> class Square:
    ...     def residuals(self, x):
    ...         return x**2 - 4.0
    ...     def gradient(self, x, residuals):
    ...         return 2.0 * x * residuals
    ...     def squares(self, x):
    ...         return np.diag(4.0 * x**2)
    >>> fit_nonnegative(Square(), np.array([3.0]), 1e-12, 50)[0].round(9)
    array([2.])
    """
    residuals = problem.residuals(x)
    size = float(np.sum(residuals**2))
    damping, steps, fresh = _FIRST, 0, True
    while steps < max_iter and size > least**2 and damping < _MOST:
        if stop is not None and stop():
            break
        if fresh:
            gradient, squares = problem.gradient(x, residuals), problem.squares(x)
            scale = float(np.max(np.diag(squares)))
            slope = float(np.linalg.norm(gradient[(x > 0.0) | (gradient < 0.0)]))
        if not (scale > 0.0 and slope > 0.0):
            break
        steps += 1
        moved = _moved(x, gradient, squares, damping * scale, slope / scale)
        after = problem.residuals(moved)
        smaller = float(np.sum(after**2))
        predicted = float(gradient @ (x - moved))
        fresh = smaller < size and size - smaller >= _ENOUGH * predicted
        if not fresh:
            damping *= _TIGHTEN
            continue
        settled = size - smaller <= idle * size
        x, residuals, size = moved, after, smaller
        damping = max(damping * _EASE, _LEAST)
        if settled:
            break
    return x, steps


def _moved(x: Array, gradient: Array, squares: Array, damping: float, slope: float) -> Array:
    """A damped step of the free unknowns, and a gradient step of the others, projected."""
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
