"""Functions of a kernel fitted to responses, and their exact leave-one-out errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sl
from sklearn.metrics.pairwise import pairwise_kernels

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.limits import NEGLIGIBLE
from sdpdr.families.regress.ridge import as_columns

# Widths of Gaussians to choose from, relative to one over a typical squared distance.
WIDTHS = tuple(2.0**p for p in range(-8, 5, 2))
# The smallest ridge is at least NEGLIGIBLE relative to the largest eigenvalue of the kernel, below
# which the function fits rounding, and at most this, which suits kernels of small numbers.
_HIGHEST = 1e-8
# A pivot below this share of the largest marks a sample that others reproduce.
_SINGULAR = 3e-7


def kernel_values(kernel: Any, X: Array, Z: Array, gamma: float | None) -> Array:
    """Values of a kernel, a name or a function, between points; X itself if precomputed."""
    if isinstance(kernel, str) and kernel == "precomputed":
        return X
    options = {} if callable(kernel) else {"gamma": gamma, "filter_params": True}
    return np.asarray(pairwise_kernels(X, Z, metric=kernel, **options))


@dataclass(frozen=True, eq=False)
class KernelMapping:
    r"""Coefficients of :math:`f(x) = \sum_i k(x, x_i)\, a_i + b`, with the system they solve.

    ``factor`` is the upper triangular R with :math:`R^T R = K + \delta I`, ``responses`` is Y - b
    and ``delta`` is :math:`\delta`.
    """

    coef: Array
    intercept: Array
    factor: Array
    responses: Array
    delta: float

    def __call__(self, kernel: Array) -> Array:
        """Values at points with kernel values (q, n) to the samples; shape (q, d)."""
        return np.asarray(kernel @ self.coef + self.intercept)

    @property
    def fitted(self) -> Array:
        """Values at the samples, shape (n, d)."""
        return self.responses + self.intercept - self.delta * self.coef

    def rotated(self, rotation: Array) -> KernelMapping:
        """The map fitted to the responses times a matrix."""
        names = ("coef", "intercept", "responses")
        return replace(self, **{name: getattr(self, name) @ rotation for name in names})

    def leave_one_out(self) -> Array:
        """Residuals at every sample of the function fitted to all others, with b kept; (n, d)."""
        inverse = sl.solve_triangular(self.factor, np.eye(len(self.factor)), check_finite=False)
        return np.asarray(self.coef / np.sum(inverse**2, axis=1)[:, None])


@checks_keywords
def fit_kernel(kernel: Array, Y: Array, delta: float = 1e-2) -> KernelMapping:
    r"""Kernel ridge regression by one Cholesky factorization, which `extended` can enlarge.

    .. math:: \min_f \sum_i |f(x_i) + b - y_i|^2 + \delta |f|_K^2
              \quad\Longrightarrow\quad (K + \delta I)\, a = Y - b

    with the mean b of the responses (Cai thesis, (4.11) and (4.12)).

    Parameters
    ----------
    kernel : array_like of shape (n, n)
        K, positive semidefinite.
    Y : array_like of shape (n, d)
    delta : float, default 1e-2
        Nonnegative; with 0, the function interpolates the responses.

    Returns
    -------
    KernelMapping
        With ``coef`` (n, d), ``intercept`` (d,) and ``factor`` (n, n), the upper triangular R with
        :math:`R^T R = K + \delta I`; called with kernel values (q, n), it returns (q, d).

    Raises
    ------
    DataError
        :math:`K + \delta I` is not positive definite: samples coincide, or K is no kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import fit_kernel
    >>> fitted = fit_kernel(np.eye(2), np.array([[1.0], [-1.0]]), delta=0.0)
    >>> fitted(np.eye(2))
    array([[ 1.],
           [-1.]])
    """
    kernel = validate.symmetric("kernel", kernel)
    Y = as_columns(Y, len(kernel))
    return _mapping(_factor(kernel, delta), Y, delta)


def extended(
    fitted: KernelMapping, between: Array, kernel: Array, responses: Array
) -> KernelMapping:
    r"""The fit with more samples, which adds rows to the Cholesky factor.

    With K split after the first n samples, :math:`R_{12} = R_{11}^{-T} K_{12}` and
    :math:`R_{22}^T R_{22} = K_{22} + \delta I - R_{12}^T R_{12}` (Cai thesis, section 4.5, where
    the new diagonal lacks :math:`\delta`).

    Parameters
    ----------
    fitted : KernelMapping
    between : array of shape (n, p)
        Kernel values of the old samples to the new ones.
    kernel : array of shape (p, p)
        Kernel values among the new ones.
    responses : array of shape (n + p, d)
        Responses of all samples; there may be more columns than before, for a new class for
        instance.
    """
    n, p = between.shape
    corner = sl.solve_triangular(fitted.factor, between, trans="T", check_finite=False)
    below = _factor(kernel - corner.T @ corner, fitted.delta)
    factor = np.block([[fitted.factor, corner], [np.zeros((p, n)), below]])
    return _mapping(factor, as_columns(responses, n + p), fitted.delta)


def _mapping(factor: Array, Y: Array, delta: float) -> KernelMapping:
    b = Y.mean(axis=0)
    coef = sl.cho_solve((factor, False), Y - b, check_finite=False)
    return KernelMapping(np.asarray(coef), b, factor, Y - b, delta)


def _factor(kernel: Array, delta: float) -> Array:
    """Upper triangular R with R^T R = K + delta I, whose pivots are not too small."""
    delta = validate.non_negative("delta", delta)
    try:
        factor = np.asarray(sl.cholesky(kernel + delta * np.eye(len(kernel)), check_finite=False))
        pivots = np.diag(factor)
        if pivots.min() > _SINGULAR * pivots.max():
            return factor
    except np.linalg.LinAlgError:
        pass
    raise DataError(
        f"the kernel matrix plus delta={delta:g} is not positive definite: samples coincide, or it "
        "is no kernel matrix. Raise delta, or drop duplicates."
    )


class KernelChoice(NamedTuple):
    """The width and ridge with the least leave-one-out error, and all (gamma, delta, error)."""

    gamma: float
    delta: float
    error: float
    tried: tuple[tuple[float, float, float], ...] = ()


def choose_kernel(
    make: Callable[[float], Array], Y: Array, gammas: Sequence[float]
) -> KernelChoice:
    """Kernel width and ridge by exact leave-one-out; one eigendecomposition serves all ridges."""
    Y = as_columns(np.asarray(Y, dtype=float), len(Y))
    tried = []
    for gamma in gammas:
        spectrum, vectors = np.linalg.eigh(make(gamma))
        spectrum = np.maximum(spectrum, 0.0)
        projected, squares = vectors.T @ (Y - Y.mean(axis=0)), vectors**2
        for delta in _grid(spectrum[-1]):
            inverse = 1.0 / (spectrum + delta)
            missed = vectors @ (inverse[:, None] * projected) / (squares @ inverse)[:, None]
            error = float(np.sqrt(np.mean(np.square(missed))))
            tried.append((float(gamma), float(delta), error))
    return KernelChoice(*min(tried, key=lambda row: row[2]), tuple(tried))


def _grid(largest: float) -> tuple[float, ...]:
    """Nine powers of ten from 1e-8 on, moved if the largest eigenvalue is above 1e4 or below 1."""
    lowest = -8
    if largest > 0.0:
        least = np.ceil(np.log10(NEGLIGIBLE * largest))
        most = np.floor(np.log10(_HIGHEST * largest))
        lowest = int(np.clip(lowest, least, most))
    return tuple(10.0**p for p in range(lowest, lowest + 9))
