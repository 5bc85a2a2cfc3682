"""Least squares over nonnegative unknowns: linear, and for the equations X = W H and A = B B'."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
from scipy.optimize import lsq_linear, nnls

from sdpdr.base.arrays import Array

# How far, relatively, the gradient at an optimum may point inwards: fast method, slow method.
_OPTIMAL, _NEARLY = 1e-9, 1e-7


def nonnegative_least_squares(matrix: Array, target: Array) -> tuple[Array, float]:
    r"""The minimizer of :math:`|A y - b|` over :math:`y \ge 0`, and the least distance.

    SciPy's `nnls` is checked by the optimality condition :math:`A^T (b - A y) \le 0`: the one of
    SciPy 1.15 can stop too early without an error. Where the check fails, a slower method runs.
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


def polish_factors(
    X: Array, W: Array, H: Array, *, max_iter: int = 200, idle: float = 1e-15
) -> tuple[Array, Array]:
    r"""Nonnegative factors nearby that minimize :math:`|WH - X|_F` over the known entries.

    Where an exact factorization is near, the error falls quadratically to rounding; elsewhere to a
    stationary point. ``idle`` is the relative decrease of the squared error that ends the fit.
    """
    (n, m), k = X.shape, W.shape[1]
    mask = (~np.isnan(X)).astype(float)
    values = np.where(mask > 0.0, X, 0.0)

    def split(x: Array) -> tuple[Array, Array]:
        return x[: n * k].reshape(n, k), x[n * k :].reshape(m, k).T

    def residuals(x: Array) -> Array:
        W, H = split(x)
        return mask * (W @ H - values)

    def slopes(x: Array, rest: Array) -> tuple[Array, Array]:
        W, H = split(x)
        top = np.einsum("ij,lj,qj->ilq", mask, H, H, optimize=True)
        low = np.einsum("ij,il,iq->jlq", mask, W, W, optimize=True)
        squares = sl.block_diag(*top, *low)
        cross = np.einsum("ij,lj,iq->iljq", mask, H, W).reshape(n * k, m * k)
        squares[: n * k, n * k :], squares[n * k :, : n * k] = cross, cross.T
        return np.concatenate([(rest @ H.T).ravel(), (rest.T @ W).ravel()]), squares

    W, H = balanced(np.maximum(W, 0.0), np.maximum(H, 0.0))
    start = np.concatenate([W.ravel(), H.T.ravel()])
    least = _EXACT * float(np.linalg.norm(values))
    return balanced(*split(_fit(residuals, slopes, start, least, max_iter, idle=idle)))


def polish_square(
    A: Array, B: Array, *, max_iter: int = 100, stop: Callable[[], bool] | None = None
) -> Array:
    r"""A nonnegative B nearby that minimizes :math:`|B B^T - A|_F`.

    B is determined up to orthogonal matrices that keep it nonnegative, so the derivative never has
    full rank; the damping takes care of that.
    """
    n, k = B.shape

    def residuals(x: Array) -> Array:
        B = x.reshape(n, k)
        return B @ B.T - A

    def slopes(x: Array, rest: Array) -> tuple[Array, Array]:
        B = x.reshape(n, k)
        # The matrix of D -> 2 (D B' + B D') B: entry ((i, l), (j, q)) of D -> B D' B is B_iq B_jl.
        own, cross = np.kron(np.eye(n), B.T @ B), np.einsum("iq,jl->iljq", B, B)
        return 2.0 * (rest @ B).ravel(), 2.0 * (own + cross.reshape(x.size, x.size))

    least = _EXACT * float(np.linalg.norm(A))
    return _fit(residuals, slopes, np.maximum(B, 0.0).ravel(), least, max_iter, stop).reshape(n, k)


def balanced(W: Array, H: Array) -> tuple[Array, Array]:
    """The same product with columns of W as long as the rows of H; empty pairs become zero."""
    w, h = np.linalg.norm(W, axis=0), np.linalg.norm(H, axis=1)
    used = (w > 0.0) & (h > 0.0)
    root = np.sqrt(np.divide(h, w, out=np.zeros_like(w), where=used))
    back = np.sqrt(np.divide(w, h, out=np.zeros_like(w), where=used))
    return W * root, H * back[:, None]


# Error relative to the norm of the matrix that ends a fit.
_EXACT = 1e-14
# Damping relative to the largest diagonal entry of J'J: first, least, most; and its factors after
# accepted and refused steps.
_FIRST, _LEAST, _MOST = 1e-3, 1e-13, 1e12
_EASE, _TIGHTEN = 0.2, 4.0
# Decrease, relative to the gradient's prediction, below which a step is refused.
_ENOUGH = 1e-4
# Unknowns below this share of the largest may be treated as being at zero.
_NEAR = 1e-2

Residuals: TypeAlias = Callable[[Array], Array]
Slopes: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]


def _fit(
    residuals: Residuals,
    slopes: Slopes,
    x: Array,
    least: float,
    max_iter: int,
    stop: Callable[[], bool] | None = None,
    idle: float = 1e-15,
) -> Array:
    r"""A local minimizer of :math:`|f(x)|^2` over :math:`x \ge 0`, by Levenberg and Marquardt.

    ``slopes`` returns :math:`J^T f` and :math:`J^T J`. Unknowns near zero that the gradient keeps
    there take no part in a step, and those that a step makes negative become zero (C. Kanzow,
    N. Yamashita and M. Fukushima, Journal of Computational and Applied Mathematics 172, 2004).
    """
    rest = residuals(x)
    size = float(np.sum(rest**2))
    damping, fresh = _FIRST, True
    for _ in range(max_iter):
        if size <= least**2 or damping >= _MOST or (stop is not None and stop()):
            break
        if fresh:
            gradient, squares = slopes(x, rest)
            scale = float(np.max(np.diag(squares)))
            slope = float(np.linalg.norm(gradient[(x > 0.0) | (gradient < 0.0)]))
        if not (scale > 0.0 and slope > 0.0):
            break
        moved = _moved(x, gradient, squares, damping * scale, slope / scale)
        after = residuals(moved)
        smaller = float(np.sum(after**2))
        fresh = smaller < size and size - smaller >= _ENOUGH * float(gradient @ (x - moved))
        if not fresh:
            damping *= _TIGHTEN
            continue
        settled = size - smaller <= idle * size
        x, rest, size = moved, after, smaller
        damping = max(damping * _EASE, _LEAST)
        if settled:
            break
    return x


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
