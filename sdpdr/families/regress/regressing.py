"""Maps fitted to responses: linear ones by a ridge or by few entries, and those of a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sdpdr.base.arrays import Array
from sdpdr.base.errors import NotAcceptedError
from sdpdr.base.estimators import as_precise, checked
from sdpdr.families.regress.kernel import (
    WIDTHS,
    KernelMapping,
    choose_kernel,
    fit_kernel,
    kernel_values,
)
from sdpdr.families.regress.penalties import (
    ALPHA,
    DECOMPOSED,
    choose_ridge,
    is_quickly_left_out,
    sparse_path,
)
from sdpdr.families.regress.respond import Responding, Responses
from sdpdr.families.regress.ridge import LinearMapping, ridge


def _variances(X: Array, weights: Array | None) -> Array:
    """Of every column."""
    return np.average(
        np.square(X - np.average(X, axis=0, weights=weights)), axis=0, weights=weights
    )


@dataclass(eq=False, repr=False)
class Regressing(Responding):
    """Base of estimators that fit a map, of columns or of a kernel, to responses that they find.

    Fields are hyperparameters, as of `sdpdr.SpectralRegression`.
    """

    _: KW_ONLY
    alpha: float | str = "auto"
    penalty: Any = None
    cardinality: int | None = None
    kernel: Any = None
    gamma: float | None = None
    solver: str = "auto"

    mapping_: LinearMapping | KernelMapping = field(init=False)
    responses_: Array = field(init=False)
    _weights: Array | None = field(init=False)

    def _regress(self, X: Any, found: Responses) -> None:
        self._leaves_out = self._is_left_out(X)
        self.alpha_ = ALPHA if isinstance(self.alpha, str) else float(self.alpha)
        inputs, weights = X, found.sample_weight
        if self.kernel is not None:
            self._choose_width(X)
            inputs = self._kernel(X, X)
        elif self._leaves_out:
            self.alpha_ = choose_ridge(X, self.responses_, sample_weight=weights).alpha
        if self.cardinality is None:
            mapping = self._dense(inputs, found)
            fitted = mapping.fitted if isinstance(mapping, KernelMapping) else mapping(inputs)
            self.mapping_ = mapping.turned(self._order(found, fitted))
        else:
            if found.labels is not None:
                plain = ridge(inputs, self.responses_, self.alpha_, sample_weight=weights)
                self._order(found, plain(inputs))
            self.mapping_ = self._sparse(inputs)
        self._keep(X)

    def _dense(self, inputs: Any, found: Responses) -> LinearMapping | KernelMapping:
        """By a ridge, of all responses."""
        if self.kernel is not None:
            return fit_kernel(
                inputs, self.responses_, self.alpha_, sample_weight=found.sample_weight
            )
        return ridge(
            inputs,
            self.responses_,
            self.alpha_,
            penalty=self.penalty,
            weights=found.masses,
            sample_weight=found.sample_weight,
            solver=self.solver,
        )

    def _order(self, found: Responses, fitted: Array) -> Array:
        """Turn responses of classes to the order of separation, and cut them; others stay."""
        if found.labels is None:
            return np.eye(self.responses_.shape[1])
        self.eigenvalues_, turn = self._ordered(found, fitted)
        self.responses_ = self.responses_ @ turn
        return turn

    def _is_left_out(self, X: Any) -> bool:
        """Whether the ridge is chosen by leaving out."""
        if self.alpha != "auto":
            return self.alpha == "loo"
        if self.cardinality is not None or self.penalty is not None:
            return False
        if self.kernel is not None:
            return bool(X.shape[0] <= DECOMPOSED)
        return is_quickly_left_out(X)

    def _sparse(self, X: Any) -> LinearMapping:
        """Each response on at most ``cardinality`` columns."""
        assert self.cardinality is not None
        k = self.cardinality
        options: dict[str, Any] = {"intercept": True, "sample_weight": self._weights}
        paths = [sparse_path(X, y, self.alpha_, k, **options) for y in self.responses_.T]
        coef = np.column_stack([path.of_cardinality(k) for path in paths])
        return LinearMapping.through_means(X, self.responses_, coef, "lars", self._weights)

    def _choose_width(self, X: Array) -> None:
        spread = 2.0 * float(np.mean(_variances(X, self._weights))) * X.shape[1]
        typical = max(spread, np.finfo(float).tiny)
        self.gamma_ = 1.0 / (2.0 * typical) if self.gamma is None else float(self.gamma)
        if not self._leaves_out:
            return
        gammas = [self.gamma_]
        if self.gamma is None and self.kernel == "rbf":
            gammas = [w / typical for w in WIDTHS]
        choice = choose_kernel(
            lambda g: self._kernel(X, X, g), self.responses_, gammas, None, self._weights
        )
        self.alpha_, self.gamma_ = choice.delta, choice.gamma

    def _kernel(self, X: Array, Z: Array, gamma: float | None = None) -> Array:
        return kernel_values(self.kernel, X, Z, self.gamma_ if gamma is None else gamma)

    def _keep(self, X: Any) -> None:
        self.intercept_ = self.mapping_.intercept
        self.solver_ = getattr(self.mapping_, "solver", "cholesky")
        if self.kernel is None:
            self.components_ = self.mapping_.coef.T
        else:
            self._X, self.dual_coef_ = X, self.mapping_.coef

    def transform(self, X: Any) -> Array:
        """Places of points, shape (q, n_components).

        Parameters
        ----------
        X : array_like or sparse array of shape (q, m), or kernel values to the samples, (q, n)
        """
        check_is_fitted(self, "mapping_")
        points = checked(self, X, accept_sparse=self._sparse_allowed, reset=False)
        inputs = points if self.kernel is None else self._kernel(points, self._X)
        return as_precise(self.mapping_(inputs), X)

    def leave_one_out(self) -> Array:
        """Residuals of a kernel map at every sample when it is left out, (n, n_components).

        All of it, where it counts for several.
        """
        check_is_fitted(self, "mapping_")
        if not isinstance(self.mapping_, KernelMapping):
            raise NotAcceptedError("this is for kernel maps; see sdpdr.extend.choose_ridge.")
        return self.mapping_.leave_one_out()

    @property
    def _sparse_allowed(self) -> str | bool:
        return "csr" if self.kernel is None else False

    @property
    def _n_features_out(self) -> int:
        return int(self.responses_.shape[1])

    @property
    def _is_precomputed(self) -> bool:
        """Whether X holds values of a kernel."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"
