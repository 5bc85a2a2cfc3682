"""Least squares over nonnegative unknowns: linear, and for the equations X = W H and A = B B'."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import lsq_linear, nnls

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.families.factor.quasi_newton import NONNEGATIVE, minimized

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


# An error of this share of the matrix ends a fit: rounding, but for a digit or two.
_EXACT = 1e-14
# Relative decrease of the squared error that ends a fit, and its most steps.
_IDLE, _STEPS = 1e-7, 2000


def fit_factors(X: Array, W: Array, H: Array) -> tuple[Array, Array]:
    r"""Nonnegative factors nearby that minimize :math:`|WH - X|_F` over the known entries."""
    (n, m), k = X.shape, W.shape[1]
    known = ~np.isnan(X)
    norm = float(np.linalg.norm(X[known]))
    values, root = np.where(known, X, 0.0) / norm, np.sqrt(norm)

    def split(x: Array) -> tuple[Array, Array]:
        return x[: n * k].reshape(n, k), x[n * k :].reshape(k, m)

    def square(x: Array) -> tuple[float, Array]:
        W, H = split(x)
        rest = known * (W @ H) - values
        slope = np.concatenate([(rest @ H.T).ravel(), (W.T @ rest).ravel()])
        return float(np.sum(rest**2)), 2.0 * slope

    W, H = balanced(np.maximum(W, 0.0), np.maximum(H, 0.0))
    W, H = split(_least(square, np.concatenate([W.ravel(), H.ravel()]) / root))
    return balanced(root * W, root * H)


def fit_square(A: Array, B: Array, *, deadline: Deadline = ENDLESS) -> Array:
    r"""A nonnegative B nearby that minimizes :math:`|B B^T - A|_F`."""
    norm = float(np.linalg.norm(A))
    values, root = A / norm, np.sqrt(norm)

    def square(x: Array) -> tuple[float, Array]:
        B = x.reshape(shape)
        rest = B @ B.T - values
        return float(np.sum(rest**2)), 4.0 * (rest @ B).ravel()

    shape = B.shape
    return root * _least(square, B.ravel() / root, deadline).reshape(shape)


def balanced(W: Array, H: Array) -> tuple[Array, Array]:
    """The same product with columns of W as long as the rows of H; empty pairs become zero."""
    w, h = np.linalg.norm(W, axis=0), np.linalg.norm(H, axis=1)
    used = (w > 0.0) & (h > 0.0)
    root = np.sqrt(np.divide(h, w, out=np.zeros_like(w), where=used))
    back = np.sqrt(np.divide(w, h, out=np.zeros_like(w), where=used))
    return W * root, H * back[:, None]


def _least(
    square: Callable[[Array], tuple[float, Array]], x: Array, deadline: Deadline = ENDLESS
) -> Array:
    """A local minimizer over x >= 0 of a squared error, given with its gradient."""

    def objective(x: Array) -> tuple[float, Array]:
        # In units of rounding, because the library compares decreases with one where all is less.
        value, slope = square(x)
        return value / _EXACT**2, slope / _EXACT**2

    return minimized(
        objective, x, NONNEGATIVE, deadline=deadline, enough=1.0, maxiter=_STEPS,
        maxfun=2 * _STEPS, ftol=_IDLE, gtol=0.0,
    )  # fmt: skip
