"""Gaussian process latent variable model: places from which smooth functions make the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import ShapeError, UncertifiedWarning, warn
from sdpdr.base.estimators import Embedding, as_precise, checked
from sdpdr.linalg.spectral import on_principal_axes

# The least noise, relative to the mean square of the data: below it K cannot be factored well.
_LEAST = 1e-6
_FIRST_NOISE = 0.1
# And the largest signal, for the same reason.
_MOST = 1e6


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


def gplvm_objective(
    latent: Array, signal: float, noise: float, data: Array, kernel: str = "rbf"
) -> tuple[float, Array, Array]:
    r"""Negative log-likelihood of centred data at given places, and its gradients.

    .. math::

        \frac{nD}{2} \ln 2\pi + \frac D2 \ln|K| + \frac12 \operatorname{tr}(K^{-1} Y Y^T),
        \qquad K = v\, k(X, X) + \sigma^2 I .

    Parameters
    ----------
    latent : ndarray of shape (n, q)
        X, the places.
    signal, noise : float
        v and :math:`\sigma^2`, positive.
    data : ndarray of shape (n, D)
        Y, centred.
    kernel : {"rbf", "linear"}, default "rbf"

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
    n, D = data.shape
    shape, back = KERNELS[kernel]
    bare = shape(latent, latent)
    factor = sl.cholesky(signal * bare + noise * np.eye(n), lower=True)
    inverse, _ = dpotri(factor, lower=1)
    inverse += np.tril(inverse, -1).T
    weights = inverse @ data
    value = 0.5 * n * D * np.log(2.0 * np.pi) + D * np.log(np.diag(factor)).sum()
    value += 0.5 * float(np.sum(weights * data))
    slope = 0.5 * (D * inverse - weights @ weights.T)
    by_parameter = [signal * np.sum(slope * bare), noise * np.trace(slope)]
    return float(value), signal * back(latent, bare, slope), np.array(by_parameter)


def gplvm(
    X: ArrayLike,
    n_components: int = 2,
    *,
    kernel: str = "rbf",
    max_iter: int = 500,
    time_limit: float | None = 30.0,
) -> Array:
    """Places of a Gaussian process latent variable model; see `GPLVM`.

    Parameters
    ----------
    X : array_like of shape (n, D)
    n_components : int, default 2
    kernel : {"rbf", "linear"}, default "rbf"
    max_iter : int, default 500
    time_limit : float or None, default 30

    Returns
    -------
    ndarray of shape (n, n_components)

    Raises
    ------
    DataError, UnknownNameError

    Examples
    --------
    >>> gplvm(np.random.default_rng(0).random((8, 3)), 1).shape
    (8, 1)
    """
    model = GPLVM(n_components, kernel=kernel, max_iter=max_iter, time_limit=time_limit)
    return model.fit_transform(X)


@dataclass(eq=False, repr=False)
class GPLVM(Embedding):
    r"""Gaussian process latent variable model. A baseline.

    Every column of the centred data is a smooth random function of places x, which are found with
    the variance v of the functions and that of the noise, :math:`\sigma^2`:

    .. math::

        \min_{X, v, \sigma}\ \frac{nD}{2} \ln 2\pi + \frac D2 \ln|K|
        + \frac12 \operatorname{tr}(K^{-1} Y Y^T), \qquad
        K_{ij} = v\, e^{-|x_i - x_j|^2/2} + \sigma^2 \delta_{ij},

    by L-BFGS with exact gradients, from principal components. The width of the kernel is the unit
    of the places. With the linear kernel :math:`x_i^T x_j` (and v = 1) the optimum is dual
    probabilistic principal component analysis, in which samples and columns change places; with the
    other one the problem is not convex, and the end is a stationary point. Far points of the data
    are kept apart; near ones need not stay near. With hardly fewer components than columns, places
    can make the data without noise, which falls to its limit then. A step costs n^3.

    Parameters
    ----------
    n_components : int, default 2
    kernel : {"rbf", "linear"}, default "rbf"
    max_iter : int, default 500
    tol : float, default 1e-5
        Largest entry of the gradient at which to stop, of the objective over n D.
    time_limit : float or None, default 30
        Seconds, after which the places are kept as they are, with a warning. 1000 points need more
        than a minute to the end.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Centred, on its principal axes.
    signal_, noise_ : float
        v and :math:`\sigma^2`, the latter not below 1e-6 of the mean square of the data.
    log_likelihood_ : float
    mean_ : array of shape (D,)
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int

    Raises
    ------
    DataError, UnknownNameError
        From `fit`: data that cannot be used, too many components, another kernel.

    Warns
    -----
    UncertifiedWarning
        The time was over before the gradient was small.

    References
    ----------
    Review of dimensionality reduction, (2.18) and (2.19); N. Lawrence, "Probabilistic non-linear
    principal component analysis with Gaussian process latent variable models", JMLR 6 (2005).

    Examples
    --------
    >>> t = np.linspace(0.0, 3.0, 40)
    >>> X = np.column_stack([np.cos(t), np.sin(t), t**2])
    >>> model = GPLVM(1).fit(X)
    >>> along = model.embedding_[:, 0]
    >>> bool(abs(np.corrcoef(along, t)[0, 1]) > 0.99)
    True
    >>> bool(np.abs(model.inverse_transform(model.embedding_) - X).max() < 0.05)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "rbf"
    max_iter: int = 500
    tol: float = 1e-5
    time_limit: float | None = 30.0

    def fit(self, X: Any, y: Any = None) -> GPLVM:
        """Find the places of the rows of X; y is not used."""
        deadline = Deadline(self.time_limit)
        validate.choice("kernel", self.kernel, KERNELS)
        given, X = X, np.asarray(checked(self, X, by_distance=True, ensure_min_samples=2))
        q = validate.positive_integer(
            "n_components",
            self.n_components,
            at_most=min(X.shape),
            why=f"the lesser of n_samples = {X.shape[0]} and n_features = {X.shape[1]}",
        )
        self.mean_ = X.mean(axis=0)
        centred = X - self.mean_
        self._unit = float(np.sqrt(np.mean(centred**2))) or 1.0
        self._places = self._search(centred / self._unit, q, deadline)
        self.embedding_ = as_precise(self._places, given)
        covariance = self._kernel(self._places, self._places)
        covariance[np.diag_indices(len(X))] += self.noise_
        self._factor = sl.cho_factor(covariance, lower=True)
        self._weights = sl.cho_solve(self._factor, centred)
        return self

    def _search(self, data: Array, q: int, deadline: Deadline) -> Array:
        """Minimise over places, and over logarithms of variances, of data of unit size."""
        n, D = data.shape
        size = n * D
        fixed = self.kernel == "linear"

        def objective(point: Array) -> tuple[float, Array]:
            signal, noise = np.exp(point[:2])
            value, slope, pair = gplvm_objective(
                point[2:].reshape(n, q), signal, noise, data, self.kernel
            )
            return value / size, np.concatenate([pair, slope.ravel()]) / size

        def stop(_: Array) -> None:
            if deadline.is_over():
                raise StopIteration

        left, singular, _ = np.linalg.svd(data, full_matrices=False)
        # Columns of variance one are some widths of the kernel across.
        scores = left[:, :q] * (singular[:q] / np.sqrt(D) if fixed else np.sqrt(n))
        start = np.concatenate([[0.0, np.log(_FIRST_NOISE)], scores.ravel()])
        limits = [(0.0, 0.0) if fixed else (None, np.log(_MOST)), (np.log(_LEAST), None)]
        options = {
            "maxiter": validate.positive_integer("max_iter", self.max_iter),
            "maxfun": 20 * self.max_iter,
            "gtol": validate.positive_number("tol", self.tol),
            "ftol": 0.0,
        }
        found = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=stop,
            bounds=limits + [(None, None)] * (n * q),
            options=options,
        )
        signal, noise = np.exp(found.x[:2])
        stopped = not found.success and deadline.is_over()
        self.n_iter_, self.converged_ = int(found.nit), found.status != 1 and not stopped
        if stopped:
            warn(
                f"{deadline.spent:.0f} seconds were over after {found.nit} steps, and the places "
                "are kept as they are. Raise time_limit, or pass fewer samples: a step costs n^3.",
                UncertifiedWarning,
            )
        self.signal_ = 1.0 if fixed else float(self._unit**2 * signal)
        self.noise_ = float(self._unit**2 * noise)
        self.log_likelihood_ = -size * (float(found.fun) + np.log(self._unit))
        # The unit of the data is that of linear functions, and of v otherwise.
        return on_principal_axes(found.x[2:].reshape(n, q)) * (self._unit if fixed else 1.0)

    def inverse_transform(self, X: Any) -> Array:
        r"""Data expected at places, :math:`\bar y + k(x, X) K^{-1} Y`; shape (m, D).

        Parameters
        ----------
        X : array_like of shape (m, n_components)
        """
        return np.asarray(self.mean_ + self._between(X).T @ self._weights)

    def variance(self, X: Any) -> Array:
        r"""Variance of each entry of the data at places, shape (m,): how far to trust them.

        .. math:: k(x, x) + \sigma^2 - k(x, X) K^{-1} k(X, x)

        Parameters
        ----------
        X : array_like of shape (m, n_components)
        """
        between = self._between(X)
        explained = np.sum(between * sl.cho_solve(self._factor, between), axis=0)
        own = np.full(between.shape[1], self.signal_)
        if self.kernel == "linear":
            own = np.sum(np.square(np.asarray(X, dtype=float)), axis=1)
        return np.asarray(own + self.noise_ - explained)

    def _kernel(self, latent: Array, others: Array) -> Array:
        return self.signal_ * KERNELS[self.kernel][0](latent, others)

    def _between(self, X: Any) -> Array:
        """Covariances of the samples with what is at places, shape (n, m)."""
        check_is_fitted(self, "embedding_")
        places = np.asarray(X, dtype=float)
        q = self.embedding_.shape[1]
        if places.ndim != 2 or places.shape[1] != q:
            raise ShapeError(f"places must have shape (m, {q}); they have {places.shape}.")
        return self._kernel(self._places, places)
