"""What estimators of a Mahalanobis metric share; the method names are those of metric-learn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.errors import DataError, NonUniqueWarning, warn
from sdpdr.base.estimators import Transformer, as_precise, checked, note_columns
from sdpdr.base.labels import as_vector, warn_of_signs
from sdpdr.base.parameters import options_of, require_kernel
from sdpdr.families.metric.pairs import (
    MetricAnswer,
    Pairs,
    pairs_from_labels,
    pairs_of_points,
    require_pairs,
)

# Eigenvalues of a kernel matrix relative to the largest one: smaller ones are rounding, and more
# negative ones a fault.
_RANK, _INDEFINITE = 1e-10, 1e-8


@dataclass(eq=False, repr=False)
class MetricLearner(Transformer):
    """Base of estimators of a Mahalanobis metric; ``_learn`` solves the program of a subclass."""

    _: KW_ONLY
    n_pairs: int | None = None
    kernel: Any = None
    kernel_params: Mapping[str, Any] | None = None
    random_state: int | None = None

    solver: ClassVar[str]
    """Name of the method that solves the program, for reports."""
    _depends_on_units: ClassVar[bool] = False

    @abstractmethod
    def _learn(self, pairs: Pairs) -> MetricAnswer:
        """The metric of the pairs; sets ``ridge_`` and ``tol_``."""

    def fit(self, X: Any, y: Any = None) -> MetricLearner:
        """Learn from labelled points, or from pairs.

        Parameters
        ----------
        X : array_like of shape (n, D), or (n_pairs, 2, D)
            Points, or pairs of points. With ``kernel="precomputed"``, the kernel matrix (n, n).
        y : array_like of shape (n,), or (n_pairs,)
            Labels: pairs of one class are similar, all others dissimilar; points whose label is
            unknown (None, nan, a blank, or -1 beside two classes) are in no pair. For
            pairs: 1 for similar, -1 for dissimilar.

        Returns
        -------
        self
        """
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass "
                "labels of the points, or 1 and -1 for similar and dissimilar pairs."
            )
        if validate.n_dimensions(X) == 3:
            if self._is_precomputed:
                raise DataError(
                    "pairs of points have no precomputed kernel matrix; pass the matrix with "
                    "labels, or name the kernel."
                )
            pairs = pairs_of_points(X, y)
            self.n_features_in_ = pairs.n_features
        else:
            points = validate.points(X, at_least=2)
            note_columns(self, X)
            if self._depends_on_units and self.kernel is None:
                warn_of_unlike_columns(X)
            y = as_vector(y)
            warn_of_signs(y)
            seed = validate.seed_or_none(self.random_state) or 0
            pairs = pairs_from_labels(points, y, self.n_pairs, seed)
        self._check_kernel()
        if self.kernel is None:
            answer = self._learn(pairs)
            self.components_ = answer.components
        else:
            self._points = pairs.points
            coordinates, placing = kernel_coordinates(self._inputs(pairs.points))
            answer = self._learn(pairs.moved(coordinates))
            self.components_ = answer.components @ placing.T
        self.pairs_ = pairs
        self.value_, self.bound_, self.gap_ = answer.value, answer.bound, answer.gap
        self.argument_, self.n_iter_ = answer.argument, answer.iterations
        if not answer.unique:
            warn(
                "eigenvalues of the contrast are tied, so other metrics are as good; one of them "
                "is returned. Another n_components, or a ridge, makes the answer unique.",
                NonUniqueWarning,
            )
        return self

    @property
    def _is_precomputed(self) -> bool:
        """Whether X holds values of a kernel."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_kernel(self) -> None:
        given = options_of("kernel_params", self.kernel_params)
        if self.kernel is None and given:
            raise DataError(
                f"kernel_params {given} are of a kernel, and there is none: "
                "name one, or leave them out."
            )
        if self.kernel is not None:
            require_kernel(self.kernel, ("precomputed", *PAIRWISE_KERNEL_FUNCTIONS))
        if isinstance(self.kernel, str):
            parameters = KERNEL_PARAMS.get(self.kernel, ())
            for name in given:
                validate.choice(f"parameter of kernel {self.kernel!r}", name, parameters)

    def _inputs(self, X: Array) -> Array:
        """What ``components_`` multiplies: the features, or kernel values to the fitted points."""
        if self.kernel is None or self._is_precomputed:
            return X
        values = pairwise_kernels(X, self._points, metric=self.kernel, **(self.kernel_params or {}))
        return np.asarray(values)

    def _mapped(self, X: Any) -> Array:
        """`transform`, always as an array of doubles."""
        check_is_fitted(self, "components_")
        return np.asarray(self._inputs(checked(self, X, reset=False)) @ self.components_.T)

    def transform(self, X: Any) -> Array:
        r"""Map points so that Euclidean distance is the learned metric.

        Parameters
        ----------
        X : array_like of shape (m, D)
            With ``kernel="precomputed"``, kernel values to the points of `fit`, shape (m, n).

        Returns
        -------
        array of shape (m, k)
        """
        return as_precise(self._mapped(X), X)

    def pair_distance(self, pairs: Any) -> Array:
        """Distances under the metric, of pairs of shape (n_pairs, 2, D)."""
        check_is_fitted(self, "components_")
        array = require_pairs(np.asarray(pairs, dtype=float))
        return np.linalg.norm(self._mapped(array[:, 0]) - self._mapped(array[:, 1]), axis=1)

    def pair_score(self, pairs: Any) -> Array:
        """Similarity of pairs: minus their distance."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> Callable[..., float]:
        """The metric as a function of two points, for scikit-learn's ``metric=``.

        Later fits do not change it. ``squared=True`` gives the squared distance.
        """
        check_is_fitted(self, "components_")
        components, inputs = self.components_.copy(), copy(self)._inputs

        def metric(u: Any, v: Any, squared: bool = False) -> float:
            both = inputs(np.array([u, v], dtype=float)) @ components.T
            square = float(np.sum(np.square(both[0] - both[1])))
            return square if squared else float(np.sqrt(square))

        return metric

    def get_mahalanobis_matrix(self) -> Array:
        """The matrix of the metric, of the features or, with a kernel, of kernel values."""
        check_is_fitted(self, "components_")
        return np.asarray(self.components_.T @ self.components_)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.three_d_array = True
        tags.input_tags.pairwise = self._is_precomputed
        return tags


def kernel_coordinates(kernel: Array) -> tuple[Array, Array]:
    r"""Coordinates Z with :math:`Z Z^T = K`, and a matrix P that places new points at k_x P.

    With :math:`K = U \Lambda U^T`, :math:`Z = U_+ \Lambda_+^{1/2}` and :math:`P = U_+
    \Lambda_+^{-1/2}`.
    """
    values, vectors = np.linalg.eigh(validate.symmetric("kernel", kernel))
    if values[-1] <= 0.0 or values[0] < -_INDEFINITE * values[-1]:
        raise DataError(
            f"the kernel matrix is not positive semidefinite: its eigenvalues range over "
            f"{values[0]:.3g}..{values[-1]:.3g}. Pass similarities, not distances; for squared "
            "distances D, exp(-gamma * D) will do."
        )
    kept = np.flatnonzero(values > _RANK * values[-1])[::-1]
    root = np.sqrt(values[kept])
    return vectors[:, kept] * root, vectors[:, kept] / root
