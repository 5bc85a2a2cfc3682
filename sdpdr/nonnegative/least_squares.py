"""Least squares with coefficients that are not negative, checked."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear, nnls

from sdpdr.linalg.svec import Array

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
