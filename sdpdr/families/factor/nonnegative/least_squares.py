"""Least squares over nonnegative unknowns, linear and nonlinear."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy.optimize import least_squares, lsq_linear, nnls

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


# Relative change of the squared error, of the unknowns and of the gradient that ends a fit: the
# rounding of a square.
_SETTLED = 1e-15
# Unknowns below this share of the largest may be zero in an exact fit.
_SMALL = 1e-4
# Residuals of an exact fit, as a multiple of its rounding, that are near enough to tell its zeros.
_NEARBY = 1e6


class _EndedError(Exception):
    """The residuals are small enough, or the time is over."""


def fit_nonnegative(
    residuals: Callable[[Array], Array],
    slopes: Callable[[Array], Array],
    x: Array,
    *,
    small: float,
    max_iter: int = 200,
    idle: float = _SETTLED,
    stop: Callable[[], bool] | None = None,
) -> Array:
    r"""Nonnegative unknowns with a locally least sum of squares :math:`|f(x)|^2`.

    SciPy's trust-region method goes through the interior, and so approaches zeros slowly. Therefore
    small unknowns are fixed at zero and the others fitted, which converges quadratically where the
    zeros are those of an exact fit; in between all of them are fitted.

    Parameters
    ----------
    residuals : callable
        f, of shape (p,).
    slopes : callable
        Its derivative, of shape (p, n).
    x : array of shape (n,)
        Where to begin; negative entries count as zero.
    small : float
        Norm of the residuals that ends the fit.
    max_iter : int, default 200
        Evaluations of f in each of four rounds at most.
    idle : float, default 1e-15
        Relative decrease of the sum of squares that ends a round.
    stop : callable, optional
        Called before each evaluation; a true answer ends the fit.

    Returns
    -------
    array of shape (n,)
        The best point seen.

    References
    ----------
    M. A. Branch, T. F. Coleman and Y. Li, "A subspace, interior, and conjugate gradient method for
    large-scale bound-constrained minimization problems", SIAM Journal on Scientific Computing 21,
    1999.

    Examples
    --------
    >>> fit_nonnegative(
    ...     lambda x: x**2 - [4.0, -1.0], lambda x: np.diag(2.0 * x), np.ones(2), small=0.0
    ... ).round(6)
    array([2., 0.])
    """
    best = np.maximum(x, 0.0)
    least = float(np.linalg.norm(residuals(best)))
    for share, enough in ((_SMALL, small), (0.0, _NEARBY * small), (_SMALL, small), (0.0, small)):
        free = best > share * np.max(best, initial=0.0) if share else np.ones(best.size, dtype=bool)

        def watched(y: Array, free: Array = free, enough: float = enough) -> Array:
            nonlocal best, least
            found = residuals(_spread(y, free))
            size = float(np.linalg.norm(found))
            if size < least:
                best, least = _spread(y, free), size
            if least <= enough or (stop is not None and stop()):
                raise _EndedError
            return found

        def restricted(y: Array, free: Array = free) -> Array:
            return slopes(_spread(y, free))[:, free]

        with suppress(_EndedError):
            if free.any():
                least_squares(
                    watched, best[free], restricted, (0.0, np.inf),
                    xtol=_SETTLED, ftol=idle, gtol=_SETTLED, max_nfev=max_iter,
                )  # fmt: skip
        if least <= small or (stop is not None and stop()):
            break
    return best


def _spread(y: Array, free: Array) -> Array:
    """All unknowns, those not free at zero."""
    x = np.zeros(free.size)
    x[free] = y
    return x
