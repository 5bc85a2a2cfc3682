"""The base of estimators of a Mahalanobis metric; the method names are those of metric-learn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.errors import NonUniqueWarning, warn
from sdpdr.base.estimators import Transformer, as_precise, checked, note_columns
from sdpdr.base.labels import as_vector, require_target, warn_of_signs
from sdpdr.base.rows import counted
from sdpdr.families.metric.pairs import (
    MetricAnswer,
    Pairs,
    pairs_from_labels,
    pairs_of_points,
    require_pairs,
)

# Ratios of distances below which they are rounding: the root of that of squared distances.
_ROUNDING = 2.0**-26


@dataclass(eq=False, repr=False)
class MetricLearner(Transformer):
    """Base of estimators of a Mahalanobis metric; ``_learn`` solves the program of a subclass."""

    _: KW_ONLY
    n_pairs: int | None = None
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
            Points, or pairs of points.
        y : array_like of shape (n,), or (n_pairs,)
            Labels: pairs of one class are similar, all others dissimilar; points whose label is
            unknown (None, nan, a blank, or -1 beside two classes) are in no pair. For
            pairs: 1 for similar, -1 for dissimilar.

        Returns
        -------
        self
        """
        require_target(
            self, y, "Pass labels of the points, or 1 and -1 for similar and dissimilar pairs."
        )
        if validate.n_dimensions(X) == 3:
            pairs = pairs_of_points(X, y)
            self.n_features_in_ = pairs.n_features
        else:
            points = validate.points(X, at_least=2)
            note_columns(self, X)
            if self._depends_on_units:
                warn_of_unlike_columns(X)
            y = as_vector(y)
            warn_of_signs(y)
            seed = validate.seed_or_none(self.random_state) or 0
            pairs = pairs_from_labels(points, y, self.n_pairs, seed)
        answer = self._learn(pairs)
        self.components_, self.pairs_ = answer.components, pairs
        self.value_, self.bound_, self.gap_ = answer.value, answer.bound, answer.gap
        self.argument_, self.n_iter_ = answer.argument, answer.iterations
        if not answer.unique:
            warn(
                "eigenvalues of the contrast are tied, so other metrics are as good; one of them "
                "is returned. Another n_components, or a ridge, makes the answer unique.",
                NonUniqueWarning,
            )
        return self

    def report(self, *, details: bool = False) -> str:
        """Say whether the metric tells pairs apart, and whether it is proved optimal.

        Parameters
        ----------
        details : bool, default False
            Also say what proves the bound, and how many steps were taken.

        Returns
        -------
        str

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import sdpdr
        >>> print(sdpdr.XingMetric().fit(*load_iris(return_X_y=True)).report())
        Similar pairs are 0.14 times as far apart as dissimilar ones (0.31 in the data): improved.
        Optimisation: proved optimal to a relative gap of ... (1e-06 requested).
        """
        check_is_fitted(self, "components_")
        goal = f"a relative gap of {abs(self.gap_):.1e} ({self.tol_:.0e} requested)"
        proved = f"proved optimal to {goal}." if self.gap_ <= self.tol_ else f"not proved, {goal}."
        lines = [self._verdict(), f"Optimisation: {proved}"]
        if details:
            lines += [
                f"value: {self.value_:.10g}",
                f"bound: {self.bound_:.10g} ({self.argument_})",
                f"solver: {self.solver}, {counted(self.n_iter_, 'step')}",
            ]
        return "\n".join(lines)

    def _verdict(self) -> str:
        """How far similar pairs are apart beside dissimilar ones, in the metric and in the data."""
        missing = [kind for kind in ("similar", "dissimilar") if not self.pairs_.count(kind)]
        if missing:
            return f"There are no {missing[0]} pairs to compare the others with."
        now, before = (self._spread(C) for C in (self.components_, np.eye(self.n_features_in_)))
        comparison = (
            f"Similar pairs are {now:.2g} times as far apart as dissimilar ones ({before:.2g} in "
            "the data): "
        )
        if max(now, before) < _ROUNDING:
            return "Similar pairs coincide in the data already, so there is nothing to improve."
        if now < before:
            return f"{comparison}improved."
        return f"{comparison}not improved. Scale the columns, or pass more pairs."

    def _spread(self, components: Array) -> float:
        """The root mean square distance of similar pairs, relative to that of dissimilar ones."""
        similar, dissimilar = (
            np.sum((components @ self.pairs_.scatter(kind)) * components) / self.pairs_.count(kind)
            for kind in ("similar", "dissimilar")
        )
        return float(np.sqrt(similar / dissimilar)) if dissimilar else np.inf

    def _mapped(self, X: Any) -> Array:
        """`transform`, always as an array of doubles."""
        check_is_fitted(self, "components_")
        return np.asarray(checked(self, X, reset=False) @ self.components_.T)

    def transform(self, X: Any) -> Array:
        r"""Map points so that Euclidean distance is the learned metric.

        Parameters
        ----------
        X : array_like of shape (m, D)

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
        components = self.components_.copy()

        def metric(u: Any, v: Any, squared: bool = False) -> float:
            both = np.array([u, v], dtype=float) @ components.T
            square = float(np.sum(np.square(both[0] - both[1])))
            return square if squared else float(np.sqrt(square))

        return metric

    def get_mahalanobis_matrix(self) -> Array:
        """The matrix of the metric."""
        check_is_fitted(self, "components_")
        return np.asarray(self.components_.T @ self.components_)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.three_d_array = True
        return tags
