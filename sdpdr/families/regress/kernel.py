"""Functions of a kernel fitted to responses, and how they would do without a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg as sl
from sklearn.metrics.pairwise import pairwise_kernels

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.regress.penalties import RIDGES, share_left_out
from sdpdr.families.regress.ridge import as_columns, upper_factor

# Widths of Gaussians to choose from, relative to one over a typical squared distance.
WIDTHS = tuple(2.0**p for p in range(-8, 5, 2))
# A pivot below this share of the largest marks a sample that others reproduce.
_SINGULAR = 1e-13**0.5
# The least ridge to try beside the largest eigenvalue of the weighted kernel: a smaller one may not
# be factored, and rounding is what it would fit. And where the grid begins of kernels that are
# smaller than a ridge of one, such as linear ones of small numbers or weights.
_LOWEST, _HIGHEST = 1e-12, 1e-8


def kernel_values(kernel: Any, X: Array, Z: Array, gamma: float | None) -> Array:
    """Values of a kernel, by name or a function, between points; X where it holds these already."""
    if isinstance(kernel, str) and kernel == "precomputed":
        return X
    options = {} if callable(kernel) else {"gamma": gamma, "filter_params": True}
    return np.asarray(pairwise_kernels(X, Z, metric=kernel, **options))


@dataclass(frozen=True, eq=False)
class KernelMapping:
    r"""Coefficients of :math:`f(x) = \sum_i k(x, x_i)\, a_i + b`.

    Attributes
    ----------
    coef : array of shape (n, d)
        a.
    intercept : array of shape (d,)
        b.
    factor : array of shape (n, n)
        Upper triangular R with :math:`R^T R = K + \delta I`.
    responses : array of shape (n, d)
        Y less b.
    delta : float, or array of shape (n,)
        Over the weights of samples, where they have any.
    centred : bool
        Whether b is the mean of Y.
    """

    coef: Array
    intercept: Array
    factor: Array
    responses: Array
    delta: float | Array
    centred: bool = True

    def __call__(self, kernel: Array) -> Array:
        """Values at points with kernel values (q, n) to the samples; shape (q, d)."""
        return np.asarray(kernel @ self.coef + self.intercept)

    @property
    def fitted(self) -> Array:
        """Values at the samples, shape (n, d)."""
        delta = np.broadcast_to(self.delta, len(self.coef))
        return self.responses + self.intercept - delta[:, None] * self.coef

    def turned(self, turn: Array) -> KernelMapping:
        """Fitted to the responses times a matrix."""
        return replace(
            self,
            coef=self.coef @ turn,
            intercept=self.intercept @ turn,
            responses=self.responses @ turn,
        )

    def leave_one_out(self) -> Array:
        r"""Residuals at every sample of the function fitted to all others, shape (n, d).

        :math:`a_i / [(K + \delta I)^{-1}]_{ii}`, exactly, with the intercept kept.
        """
        inverse = sl.solve_triangular(self.factor, np.eye(len(self.factor)), check_finite=False)
        return np.asarray(self.coef / np.sum(inverse**2, axis=1)[:, None])


def fit_kernel(
    kernel: Array,
    Y: Array,
    delta: float = 1e-2,
    intercept: bool = True,
    sample_weight: Array | None = None,
) -> KernelMapping:
    r"""Kernel ridge regression by one Cholesky factorization.

    .. math:: \min_f \sum_i w_i\, |f(x_i) - y_i|^2 + \delta |f|_K^2
              \quad\Longrightarrow\quad (K + \delta\, \operatorname{diag}(w)^{-1}) a = Y .

    Parameters
    ----------
    kernel : array of shape (n, n)
        K, positive semidefinite.
    Y : array of shape (n, d)
    delta : float, default 1e-2
        0 or more; at 0 the function passes through the responses.
    intercept : bool, default True
        Take the (weighted) mean of Y as b.
    sample_weight : array of shape (n,), optional
        w, positive; ones by default.

    Raises
    ------
    DataError
        :math:`K + \delta I` is not positive definite: samples coincide, or K is no kernel.

    References
    ----------
    Cai thesis, (4.11) and (4.12).

    Examples
    --------
    >>> fitted = fit_kernel(np.eye(2), np.array([[1.0], [-1.0]]), delta=0.0)
    >>> fitted(np.eye(2))
    array([[ 1.],
           [-1.]])
    """
    Y = as_columns(Y, len(kernel))
    if kernel.shape != (len(kernel),) * 2:
        raise ShapeError(f"kernel must be square; it has shape {kernel.shape}.")
    if sample_weight is None:
        return _mapped(factor_of(kernel, delta), Y, delta, intercept)
    # Weights of many sizes leave pivots of many sizes, unless they are taken out.
    roots = np.sqrt(sample_weight)
    factor = factor_of(roots[:, None] * kernel * roots, delta) / roots
    return _mapped(factor, Y, delta / sample_weight, intercept, sample_weight)


def extended(
    fitted: KernelMapping, between: Array, kernel: Array, responses: Array
) -> KernelMapping:
    r"""The fit with more samples, at the price of the new rows of the factor alone.

    With K split after the first n samples, :math:`R_{12} = R_{11}^{-T} K_{12}` and
    :math:`R_{22}^T R_{22} = K_{22} + \delta I - R_{12}^T R_{12}`.

    Parameters
    ----------
    fitted : KernelMapping
    between : array of shape (n, p)
        Kernel values of the old samples to the new ones.
    kernel : array of shape (p, p)
        Among the new ones.
    responses : array of shape (n + p, d)
        Of all samples; there may be more of them than before, as when a class is new.

    References
    ----------
    Cai thesis, section 4.5, where the new diagonal lacks :math:`\delta`.
    """
    n, p = between.shape
    Y = as_columns(responses, n + p)
    corner = sl.solve_triangular(fitted.factor, between, trans="T", check_finite=False)
    below = factor_of(kernel - corner.T @ corner, fitted.delta)
    factor = np.block([[fitted.factor, corner], [np.zeros((p, n)), below]])
    return _mapped(factor, Y, fitted.delta, fitted.centred)


@dataclass(frozen=True)
class KernelChoice:
    """The width and ridge of the least leave-one-out error.

    Attributes
    ----------
    gamma, delta : float
    error : float
        Root of the mean squared leave-one-out residual.
    tried : tuple of (gamma, delta, error)
    """

    gamma: float
    delta: float
    error: float
    tried: tuple[tuple[float, float, float], ...]


def choose_kernel(
    make: Callable[[float], Array],
    Y: Array,
    gammas: Sequence[float],
    deltas: Sequence[float] | None = None,
    sample_weight: Array | None = None,
) -> KernelChoice:
    r"""Kernel width and ridge by exact leave-one-out.

    One eigendecomposition for each width serves all ridges.

    Parameters
    ----------
    make : callable
        The kernel matrix (n, n) of a width.
    Y : array of shape (n, d)
    gammas : sequence of float
        Positive.
    deltas : sequence of float, optional
        Positive. By default nine powers of ten from 1e-8 on, and larger or smaller ones where the
        largest eigenvalue of the kernel, times weights, is above 1e4 or below 1.
    sample_weight : array of shape (n,), optional
        Positive. Of a sample that counts for several, one is left out.

    Raises
    ------
    DataError
        A value is not positive.
    """
    for name, values in (("gammas", gammas), ("deltas", RIDGES if deltas is None else deltas)):
        if not len(values) or not all(np.isfinite(v) and v > 0.0 for v in values):
            raise DataError(f"{name} must be positive numbers, at least one; they are {values}.")
    Y = as_columns(np.asarray(Y, dtype=float), len(Y))
    weights = np.ones(len(Y)) if sample_weight is None else sample_weight
    roots, mean, share = np.sqrt(weights), weights / weights.sum(), share_left_out(weights)
    centred = roots[:, None] * (Y - mean @ Y)
    tried = []
    for gamma in gammas:
        spectrum, vectors = np.linalg.eigh(roots[:, None] * make(gamma) * roots)
        spectrum = np.maximum(spectrum, 0.0)
        turned, squares = vectors.T @ centred, vectors**2
        for delta in _grid(spectrum[-1]) if deltas is None else deltas:
            inverse = 1.0 / (spectrum + delta)
            missed = (vectors @ (inverse[:, None] * turned)) / roots[:, None]
            # One less the own entry of the hat matrix, over delta, where all of it is left out.
            left = share * (squares @ inverse) + (1.0 - share) / delta
            error = np.sqrt(np.mean(mean @ np.square(missed / left[:, None])))
            tried.append((float(gamma), float(delta), float(error)))
    best = min(tried, key=lambda row: row[2])
    return KernelChoice(*best, tuple(tried))


def _grid(largest: float) -> tuple[float, ...]:
    """Ridges to try for a kernel of this largest eigenvalue: those of `RIDGES`, or beyond them."""
    if largest == 0.0:
        return RIDGES
    least, most = np.ceil(np.log10(_LOWEST * largest)), np.floor(np.log10(_HIGHEST * largest))
    lowest = int(np.clip(round(np.log10(RIDGES[0])), least, most))
    return tuple(10.0**p for p in range(lowest, lowest + len(RIDGES)))


def factor_of(kernel: Array, delta: float | Array) -> Array:
    """Upper triangular R with R^T R = K + delta I.

    Raises
    ------
    DataError
        It is not positive definite.
    """
    matrix = np.array(kernel, dtype=float)
    least = validate.non_negative("delta", float(np.min(delta)))
    matrix[np.diag_indices_from(matrix)] += delta
    return upper_factor(
        matrix,
        _SINGULAR,
        f"the kernel matrix plus delta={least:g} is not positive definite: samples coincide or "
        "nearly so, or the kernel is none. Raise delta, or drop duplicates.",
    )


def _mapped(
    factor: Array,
    Y: Array,
    delta: float | Array,
    centred: bool,
    sample_weight: Array | None = None,
) -> KernelMapping:
    b = np.average(Y, axis=0, weights=sample_weight) if centred else np.zeros(Y.shape[1])
    coef = sl.cho_solve((factor, False), Y - b, check_finite=False)
    return KernelMapping(np.asarray(coef), b, factor, Y - b, delta, centred)
