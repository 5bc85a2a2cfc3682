"""Gaussian process latent variable model: the data are smooth functions of the coordinates."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.optimize import OptimizeResult, minimize
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, require_squares
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import ShapeError, UncertifiedWarning, warn
from sdpdr.base.estimators import Embedding, as_precise, checked
from sdpdr.base.parameters import seconds_for
from sdpdr.linalg.spectral import fix_signs, on_principal_axes

KERNELS = ("rbf", "linear")
# Lower bounds of the noise in each stage, relative to the mean square of the data: decreasing noise
# helps to unroll curled data. Below the last one, and above this signal, K cannot be factored.
_NOISE, _LARGEST_SIGNAL = (0.1, 0.01, 1e-3, 1e-4, 1e-6), 1e6
# The search stops at a step that raises the log-likelihood by less; without noise it never would.
_LEAST_GAIN = 1e-5


def objective(
    latent: Array, signal: float, noise: float, data: Array, kernel: str = "rbf"
) -> tuple[float, Array, Array]:
    """Negative log-likelihood (review, (2.18)), its gradients by coordinates and ln parameters."""
    n, D = data.shape
    bare = _kernel(latent, latent, kernel)
    factor = sl.cho_factor(signal * bare + noise * np.eye(n), lower=True)
    weights, inverse = sl.cho_solve(factor, data), sl.cho_solve(factor, np.eye(n))
    value = 0.5 * n * D * np.log(2.0 * np.pi) + D * np.log(np.diag(factor[0])).sum()
    value += 0.5 * float(np.sum(weights * data))
    by_matrix = 0.5 * (D * inverse - weights @ weights.T)
    if kernel == "linear":
        slope = 2.0 * signal * by_matrix @ latent
    else:
        pull = signal * by_matrix * bare
        slope = 2.0 * (pull @ latent - pull.sum(axis=1)[:, None] * latent)
    by_parameter = [signal * np.sum(by_matrix * bare), noise * np.trace(by_matrix)]
    return float(value), slope, np.array(by_parameter)


def _kernel(latent: Array, others: Array, kernel: str) -> Array:
    """The kernel matrix without signal."""
    if kernel == "linear":
        return np.asarray(latent @ others.T)
    return np.exp(-0.5 * cdist(latent, others, "sqeuclidean"))


@dataclass(eq=False, repr=False)
class GPLVM(Embedding):
    r"""Gaussian process latent variable model. A baseline.

    Every column of the centred data is a smooth random function of coordinates x. These, the
    variance v of the functions and that of the noise, :math:`\sigma^2`, are found by

    .. math::

        \min_{X, v, \sigma}\ \frac{nD}{2} \ln 2\pi + \frac D2 \ln|K|
        + \frac12 \operatorname{tr}(K^{-1} Y Y^T), \qquad
        K_{ij} = v\, e^{-|x_i - x_j|^2/2} + \sigma^2 \delta_{ij} .

    L-BFGS starts at principal components, with noise that decreases in stages, and ends at a
    stationary point; a step costs n^3. The width of the kernel is the unit of the coordinates. With
    the linear kernel :math:`x_i^T x_j` (and v = 1) the optimum has a closed form, dual
    probabilistic principal component analysis.

    Parameters
    ----------
    n_components : int, default 2
    kernel : {"rbf", "linear"}, default "rbf"
    max_iter : int, default 1000
        Largest number of steps, after which the coordinates are returned with a warning.
    tol : float, default 1e-5
        Largest entry of the gradient at which to stop, for the objective divided by n D.
    time_limit : float or None, default 30
        Seconds, after which the coordinates are returned with a warning. "auto" is the default.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Centred, on its principal axes.
    signal_, noise_ : float
        v and :math:`\sigma^2`, which is at least 1e-6 of the mean square of the data.
    log_likelihood_ : float
    mean_ : array of shape (D,)
    n_iter_ : int
    converged_ : bool
        Whether the search ended at a small gradient or because steps gained nothing.
    n_features_in_ : int

    References
    ----------
    Review of dimensionality reduction, (2.18) and (2.19); N. Lawrence, JMLR 6 (2005).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.baselines import GPLVM
    >>> t = np.linspace(0.0, 3.0, 25)
    >>> X = np.column_stack([np.cos(t), np.sin(t), t**2])
    >>> model = GPLVM(1).fit(X)
    >>> bool(abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.99)
    True
    >>> bool(np.abs(model.inverse_transform(model.embedding_) - X).max() < 0.05)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "rbf"
    max_iter: int = 1000
    tol: float = 1e-5
    time_limit: float | str | None = 30.0

    def fit(self, X: Any, y: Any = None) -> GPLVM:
        """Find the coordinates of the rows of X; y is not used."""
        validate.choice("kernel", self.kernel, KERNELS)
        validate.positive_integer("max_iter", self.max_iter)
        validate.positive_number("tol", self.tol)
        deadline = Deadline(seconds_for(self))
        # Signs of axes would depend on the order in memory.
        data = np.ascontiguousarray(checked(self, X, by_distance=True, ensure_min_samples=2))
        require_squares(data)
        why = f"the lesser of n_samples = {data.shape[0]} and n_features = {data.shape[1]}"
        q = validate.positive_integer(
            "n_components", self.n_components, at_most=min(data.shape), why=why
        )
        self.mean_ = data.mean(axis=0)
        self._unit, self._data = _in_a_unit(data - self.mean_)
        self.n_iter_, self.converged_ = 0, True
        find = self._closed_form if self.kernel == "linear" else self._searched
        self._latent, self._signal, self._noise = find(q, deadline)
        value = objective(self._latent, self._signal, self._noise, self._data, self.kernel)[0]
        # For linear functions the unit of the coordinates is that of the data, else the kernel's.
        self._unit_of_places = self._unit if self.kernel == "linear" else 1.0
        self.signal_ = self._signal * (1.0 if self.kernel == "linear" else self._unit**2)
        self.noise_ = self._unit**2 * self._noise
        self.log_likelihood_ = -value - data.size * np.log(self._unit)
        self.embedding_ = as_precise(self._unit_of_places * self._latent, X)
        if not self.converged_:
            reason = f"max_iter={self.max_iter}"
            if deadline.is_over():
                reason = f"time_limit={self.time_limit}"
            warn(
                f"the search ended after {self.n_iter_} steps ({reason}) before the gradient was "
                f"small; its coordinates are kept. Raise {reason.partition('=')[0]}, or pass fewer "
                "samples: a step costs n^3.",
                UncertifiedWarning,
            )
        return self

    def inverse_transform(self, X: Any) -> Array:
        r"""Data expected at coordinates (m, n_components), :math:`\bar y + k(x, X) K^{-1} Y`."""
        between, _, factor = self._covariances(X)
        return np.asarray(self.mean_ + self._unit * between @ sl.cho_solve(factor, self._data))

    def variance(self, X: Any) -> Array:
        r"""Predictive variance of each entry of the data at coordinates, shape (m,).

        .. math:: k(x, x) + \sigma^2 - k(x, X) K^{-1} k(X, x)
        """
        between, own, factor = self._covariances(X)
        explained = np.sum(between.T * sl.cho_solve(factor, between.T), axis=0)
        return np.asarray(self._unit**2 * (own - explained + self._noise))

    def _covariances(self, X: Any) -> tuple[Array, Array, Any]:
        """Covariances with the samples, own variances, and the factorized K."""
        check_is_fitted(self, "embedding_")
        latent, q = np.asarray(X, dtype=float), self._latent.shape[1]
        if latent.ndim != 2 or latent.shape[1] != q:
            raise ShapeError(f"coordinates must have shape (m, {q}); they have {latent.shape}.")
        latent = latent / self._unit_of_places
        K = self._signal * _kernel(self._latent, self._latent, self.kernel)
        factor = sl.cho_factor(K + self._noise * np.eye(len(K)), lower=True)
        own = np.sum(latent**2, axis=1) if self.kernel == "linear" else np.ones(len(latent))
        between = _kernel(latent, self._latent, self.kernel)
        return self._signal * between, self._signal * own, factor

    def _closed_form(self, q: int, deadline: Deadline) -> tuple[Array, float, float]:
        """The optimum for linear functions, from the eigenvalues and eigenvectors of Y Y'."""
        n, D = self._data.shape
        left, sizes, _ = np.linalg.svd(self._data, full_matrices=False)
        values = sizes**2 / D
        noise = max(float(values[q:].sum()) / max(n - q, 1), _NOISE[-1])
        latent = left[:, :q] * np.sqrt(np.maximum(values[:q] - noise, 0.0))
        return fix_signs(latent), 1.0, noise

    def _searched(self, q: int, deadline: Deadline) -> tuple[Array, float, float]:
        """Coordinates, signal and noise by L-BFGS."""
        n, size = len(self._data), self._data.size

        def scaled(point: Array) -> tuple[float, Array]:
            latent, (signal, noise) = point[2:].reshape(n, q), np.exp(point[:2])
            value, slope, pair = objective(latent, signal, noise, self._data)
            return value / size, np.concatenate([pair, slope.ravel()]) / size

        def stop(intermediate_result: OptimizeResult) -> None:
            if deadline.is_over():
                raise StopIteration

        # With columns of variance one, the points span a few widths of the kernel.
        start = np.sqrt(n) * np.linalg.svd(self._data, full_matrices=False)[0][:, :q]
        point = np.concatenate([[0.0, np.log(_NOISE[0])], start.ravel()])
        bounds = [(None, np.log(_LARGEST_SIGNAL)), (None, None), *[(None, None)] * (n * q)]
        options = {"maxfun": 20 * self.max_iter, "gtol": self.tol, "ftol": _LEAST_GAIN / size}
        for floor in _NOISE:
            bounds[1] = (np.log(floor), None)
            share = 1 if floor == _NOISE[-1] else 10
            options["maxiter"] = max(1, (self.max_iter - self.n_iter_) // share)
            found = minimize(
                scaled, point, jac=True, method="L-BFGS-B", callback=stop, bounds=bounds,
                options=options,
            )  # fmt: skip
            point, self.n_iter_ = found.x, self.n_iter_ + int(found.nit)
        # Status 1 is the limit of steps, 99 the callback; 2 is a line search ended by rounding.
        self.converged_ = found.status in (0, 2)
        signal, noise = np.exp(point[:2]).tolist()
        return on_principal_axes(point[2:].reshape(n, q)), signal, noise


def _in_a_unit(centred: Array) -> tuple[float, Array]:
    """The root mean square of the data, and the data divided by it."""
    largest = float(np.abs(centred).max())
    # Scaled by the largest entry first, because squares of small numbers underflow.
    unit = largest * float(np.sqrt(np.mean(np.square(centred / (largest or 1.0))))) or 1.0
    return unit, centred / unit
