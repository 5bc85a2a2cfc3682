"""Gaussian processes at places: how likely data are there, and what is expected of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.linalg.lapack import dpotri
from scipy.spatial.distance import cdist

from sdpdr.base.arrays import Array, Index


def linear_kernel(latent: Array, others: Array) -> Array:
    r""":math:`x^T x'`, with which the model is dual probabilistic principal component analysis."""
    return latent @ others.T


def rbf_kernel(latent: Array, others: Array) -> Array:
    r""":math:`e^{-|x - x'|^2/2}`; its width is the unit of the places."""
    return np.exp(-0.5 * cdist(latent, others, "sqeuclidean"))


def _linear_back(latent: Array, kernel: Array, slope: Array) -> Array:
    return 2.0 * slope @ latent


def _rbf_back(latent: Array, kernel: Array, slope: Array) -> Array:
    pull = slope * kernel
    return 2.0 * (pull @ latent - pull.sum(axis=1)[:, None] * latent)


# Each kernel, and how a symmetric slope in the kernel matrix becomes one in the places.
_Kernel = Callable[[Array, Array], Array]
KERNELS: dict[str, tuple[_Kernel, Callable[[Array, Array, Array], Array]]] = {
    "rbf": (rbf_kernel, _rbf_back),
    "linear": (linear_kernel, _linear_back),
}


@dataclass(frozen=True, eq=False)
class AlikeColumns:
    """Columns that are known of the same samples.

    Attributes
    ----------
    rows, columns : arrays of int
    """

    rows: Index
    columns: Index

    @property
    def block(self) -> tuple[Index, ...]:
        """Where their part of a matrix of samples stands."""
        return np.ix_(self.rows, self.rows)

    def of(self, data: Array) -> Array:
        """Their entries."""
        return np.asarray(data[np.ix_(self.rows, self.columns)])


def groups_of(data: Array) -> list[AlikeColumns]:
    """Columns by what is known of them; all in one where nothing is missing.

    Examples
    --------
    >>> [(g.rows.tolist(), g.columns.tolist()) for g in groups_of(np.array([[1, np.nan], [2, 3]]))]
    [([1], [1]), ([0, 1], [0])]
    """
    kinds, which = np.unique(~np.isnan(data), axis=1, return_inverse=True)
    which = np.ravel(which)
    return [
        AlikeColumns(np.flatnonzero(kind), np.flatnonzero(which == k))
        for k, kind in enumerate(kinds.T)
        if kind.any()
    ]


def gplvm_objective(
    latent: Array,
    signal: float,
    noise: float,
    data: Array,
    kernel: str = "rbf",
    groups: list[AlikeColumns] | None = None,
) -> tuple[float, Array, Array]:
    r"""Negative log-likelihood of centred data at given places, and its gradients.

    .. math::

        \frac{nD}{2} \ln 2\pi + \frac D2 \ln|K| + \frac12 \operatorname{tr}(K^{-1} Y Y^T),
        \qquad K = v\, k(X, X) + \sigma^2 I .

    Entries that are missing are integrated out: a column has the rows and columns of K of the
    samples of which it is known, :math:`\frac12 (n_d \ln 2\pi + \ln|K_{oo}| + y_o^T K_{oo}^{-1}
    y_o)`. Columns known of the same samples share a factorization.

    Parameters
    ----------
    latent : ndarray of shape (n, q)
        X, the places.
    signal, noise : float
        v and :math:`\sigma^2`, positive.
    data : ndarray of shape (n, D)
        Y, centred, with NaN for what is missing.
    kernel : {"rbf", "linear"}, default "rbf"
    groups : list of AlikeColumns, optional
        What `groups_of` finds in the data, for whoever asks many times.

    Returns
    -------
    value : float
    slope : ndarray of shape (n, q)
        In the places.
    parameters : ndarray of shape (2,)
        In :math:`\ln v` and :math:`\ln \sigma^2`.

    References
    ----------
    Review of dimensionality reduction, (2.18).

    Examples
    --------
    >>> value, _, _ = gplvm_objective(np.zeros((1, 1)), 1.0, 1.0, np.zeros((1, 1)))
    >>> bool(np.isclose(value, 0.5 * np.log(2.0 * np.pi * 2.0)))
    True
    """
    n = len(data)
    shape, back = KERNELS[kernel]
    bare = shape(latent, latent)
    covariance = signal * bare + noise * np.eye(n)
    value, slope = 0.0, np.zeros((n, n))
    for group in groups_of(data) if groups is None else groups:
        y, D = group.of(data), group.columns.size
        factor = sl.cholesky(covariance[group.block], lower=True)
        inverse, _ = dpotri(factor, lower=1)
        inverse += np.tril(inverse, -1).T
        weights = inverse @ y
        value += 0.5 * y.size * np.log(2.0 * np.pi) + D * np.log(np.diag(factor)).sum()
        value += 0.5 * float(np.sum(weights * y))
        slope[group.block] += 0.5 * (D * inverse - weights @ weights.T)
    by_parameter = [signal * np.sum(slope * bare), noise * np.trace(slope)]
    return float(value), signal * back(latent, bare, slope), np.array(by_parameter)


class Process:
    """What data known at some places let expect at others.

    Parameters
    ----------
    places : ndarray of shape (n, q)
    data : ndarray of shape (n, D)
        Centred, with NaN for what is missing.
    kernel : {"rbf", "linear"}
    signal, noise : float
    """

    def __init__(
        self, places: Array, data: Array, kernel: str, signal: float, noise: float
    ) -> None:
        self.places, self.kernel, self.signal, self.noise = places, kernel, signal, noise
        covariance = self._covariance(places) + noise * np.eye(len(places))
        self._weights: Array = np.zeros(data.shape)
        self._parts: list[tuple[AlikeColumns, Any]] = []
        for group in groups_of(data):
            factor = sl.cho_factor(covariance[group.block], lower=True)
            weights = sl.cho_solve(factor, group.of(data))
            self._weights[np.ix_(group.rows, group.columns)] = weights
            self._parts.append((group, factor))

    @property
    def is_whole(self) -> bool:
        """Whether all columns are known of all samples."""
        return len(self._parts) == 1 and self._parts[0][0].rows.size == len(self.places)

    def expected(self, places: Array) -> Array:
        """Means of the columns at places, shape (m, D)."""
        return self._covariance(places).T @ self._weights

    def variance(self, places: Array) -> Array:
        """Variances of the columns at places, with noise, shape (m, D)."""
        between, own = self._covariance(places), self._own(places)
        found = np.empty((len(places), self._weights.shape[1]))
        for group, factor in self._parts:
            near = between[group.rows]
            left = own - np.sum(near * sl.cho_solve(factor, near), axis=0)
            found[:, group.columns] = (left + self.noise)[:, None]
        return found

    def surprise(self, place: Array, row: Array, more: float = 0.0) -> tuple[float, Array]:
        r"""Minus the log-likelihood of a new row at a place, and its slope there.

        Over what is known of the row, with :math:`k = k(x, X)`,

        .. math::

            \frac12 \sum_d \Bigl( \ln 2 \pi s_d + \frac{(y_d - k^T K^{-1} y_{\cdot d})^2}{s_d}
            \Bigr), \qquad s_d = k(x, x) + \sigma^2 - k^T K^{-1} k + \tau^2 .

        Parameters
        ----------
        place : ndarray of shape (q,)
        row : ndarray of shape (D,)
            Centred as the data are, with NaN for what is missing.
        more : float, default 0
            :math:`\tau^2`, the variance of noise that the row has more than the data.
        """
        between = self._covariance(place[None])[:, 0]
        turning, own = self._turning(place, between), float(self._own(place[None])[0])
        own_slope = np.zeros(place.size)
        if self.kernel == "linear":
            own_slope = 2.0 * self.signal * place
        value, slope = 0.0, np.zeros(place.size)
        for group, factor in self._parts:
            columns = group.columns[~np.isnan(row[group.columns])]
            near, turned = between[group.rows], turning[group.rows]
            weights = self._weights[np.ix_(group.rows, columns)]
            solved = sl.cho_solve(factor, near)
            # Not below the noise, but for rounding.
            s = max(own + self.noise - float(near @ solved), self.noise) + more
            missed = row[columns] - near @ weights
            squares = float(missed @ missed)
            value += 0.5 * (columns.size * np.log(2.0 * np.pi * s) + squares / s)
            in_s = 0.5 * (columns.size / s - squares / s**2)
            slope += (
                in_s * (own_slope - 2.0 * turned.T @ solved) - turned.T @ (weights @ missed) / s
            )
        return value, slope

    def _covariance(self, places: Array) -> Array:
        """Covariances of what is at the samples with what is at places, shape (n, m)."""
        return self.signal * KERNELS[self.kernel][0](self.places, places)

    def _own(self, places: Array) -> Array:
        """Variances at places, without noise, where nothing is known."""
        if self.kernel == "linear":
            return self.signal * np.sum(np.square(places), axis=1)
        return np.full(len(places), self.signal)

    def _turning(self, place: Array, between: Array) -> Array:
        """Slopes of covariances with what is at a place, in the place; shape (n, q)."""
        if self.kernel == "linear":
            return self.signal * self.places
        return between[:, None] * (self.places - place)
