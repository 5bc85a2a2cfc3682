"""The ridge of a linear map, by exact leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdpdr.errors import DataError, ShapeError
from sdpdr.linalg.svec import Array

# Relative to the largest squared singular value of the centred data.
RIDGES = tuple(10.0**p for p in range(-8, 1))
# Of a sample that alone decides its own fit nothing is learned by leaving it out.
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class RidgeChoice:
    """The ridge of the least leave-one-out error.

    Attributes
    ----------
    alpha : float
    error : float
        Root of the mean squared leave-one-out residual.
    residuals : array of shape (n, d)
        At every sample, of the map fitted to all others.
    tried : tuple of (alpha, error)
    """

    alpha: float
    error: float
    residuals: Array
    tried: tuple[tuple[float, float], ...]


def choose_ridge(X: Array, Y: Array, alphas: Sequence[float] | None = None) -> RidgeChoice:
    r"""Ridge of a linear map with an intercept, by exact leave-one-out.

    The residual of a sample left out is its residual over one less its own entry of the hat
    matrix, so one singular value decomposition serves all samples and all ridges.

    Parameters
    ----------
    X : array of shape (n, m)
    Y : array of shape (n, d)
    alphas : sequence of float, optional
        Positive. By default nine powers of ten up to the largest squared singular value.

    Raises
    ------
    DataError
        An alpha is not positive.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> choose_ridge(X, X @ np.ones((3, 1)), [1e-6, 1.0, 100.0]).alpha
    1e-06
    """
    Y = np.asarray(Y, dtype=float)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if len(Y) != len(X):
        raise ShapeError(f"X has {len(X)} samples, Y {len(Y)}.")
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    grid = s[0] ** 2 * np.array(RIDGES) if alphas is None else np.asarray(alphas, dtype=float)
    if not grid.size or not np.all(np.isfinite(grid) & (grid > 0.0)):
        raise DataError(f"alphas must be positive numbers, at least one; they are {alphas}.")
    centred, own = Y - Y.mean(axis=0), U**2
    fits = []
    for alpha in grid:
        shrink = s**2 / (s**2 + alpha)
        away = centred - U @ (shrink[:, None] * (U.T @ centred))
        left = np.maximum(1.0 - 1.0 / len(X) - own @ shrink, _LEAST)
        residuals = away / left[:, None]
        fits.append((float(np.sqrt(np.mean(residuals**2))), float(alpha), residuals))
    error, alpha, residuals = min(fits, key=lambda fit: fit[0])
    return RidgeChoice(alpha, error, residuals, tuple((a, e) for e, a, _ in fits))
