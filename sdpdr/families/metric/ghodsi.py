"""Ghodsi's metric with scikit-learn's face."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.metric.fantope import (
    MetricAnswer,
    closed_form,
    components_of,
    factor_of,
    frobenius_form,
    trimmed,
)
from sdpdr.families.metric.learner import MetricLearner
from sdpdr.families.metric.pairs import Pairs
from sdpdr.families.metric.recipes import SCALES, contrast, ghodsi
from sdpdr.program import as_dense

# Standard deviations of the contrast that the default ridge weighs as much as the mean direction.
_DEVIATIONS = 3.0


@dataclass(eq=False, repr=False)
class GhodsiMetric(MetricLearner):
    r"""Ghodsi's metric: the directions in which dissimilar pairs differ most, similar ones least.

    .. math::  \min_{A \succeq 0} \langle C, A\rangle + \tfrac\mu2|A|_F^2
               \ \text{ or }\ {} + \mu \operatorname{tr} A\log A
               \quad\text{s.t.}\quad \operatorname{tr} A = 1,\ A \preceq \tfrac1k I,

    with :math:`C = M_S/|S| - M_D/|D|`, in closed form; see `sdpdr.methods.ghodsi`. Pairs may be of
    one kind only, whose term is then all there is.

    Parameters
    ----------
    n_components : int, optional
        k, the dimension of the metric. By default there is no cap on A, and a ridge keeps all
        directions.
    normalize : bool, default True
        Means over pairs; False for the sums as printed.
    ridge : float, optional
        :math:`\mu` of the square. By default 0 with ``n_components``, an entropy, or another scale;
        else :math:`3 n \sigma`, with :math:`\sigma` the standard deviation of the n eigenvalues of
        C: a direction whose contrast is by so much better than the mean weighs a third more, and
        none vanishes whose contrast is by less than three of them worse.
    plain : float or "auto", default "auto"
        Share of the variance of points that is plain Euclidean, from 0, the program's optimum, to
        1, as of `XingMetric`. ``"auto"`` chooses it by labelled points left out where nothing else
        is asked for: no ``n_components``, ridge, entropy or other scale. Else it is 0. As there,
        it depends on the order of rows where shares are nearly as good.
    entropy : float, default 0
        :math:`\mu` of the entropy, without ridge.
    scale : {"trace", "frobenius"}, default "trace"
        ``"frobenius"`` asks for :math:`|A|_F \le 1` instead, without cap or price.
    n_pairs, kernel, kernel_params, kernel_components
        As of `XingMetric`.
    solver : str or Solver, default "closed"
        ``"closed"`` is the closed form; any other is one of `sdpdr.solve`.
    tol : float, optional
        Of a solver; by default that of a configured one, or 1e-6.
    random_state : int, RandomState or Generator, optional
        Seed; by default that of a configured solver, or 0.

    Attributes
    ----------
    components_, plain_, tried_, ridge_, value_, bound_, gap_, argument_, solution_, pairs_, n_iter_
        As of `XingMetric`.

    Raises
    ------
    DataError, InfeasibleError
        From `fit`.

    Warns
    -----
    NonUniqueWarning
        Tied eigenvalues leave a choice.

    References
    ----------
    Ghodsi, Wilkinson, Southey, "Improving embeddings by flexible exploitation of side
    information", IJCAI, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import sdpdr
    >>> X, y = load_iris(return_X_y=True)
    >>> sdpdr.GhodsiMetric(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_components: int | None = None
    _: KW_ONLY
    normalize: bool = True
    ridge: float | None = None
    entropy: float = 0.0
    scale: str = "trace"
    solver: Any = "closed"

    def _learn(self, pairs: Pairs) -> MetricAnswer:
        validate.choice("scale", self.scale, SCALES)
        validate.non_negative("entropy", self.entropy)
        if self.ridge is not None:
            validate.non_negative("ridge", self.ridge)
        if self.scale == "frobenius" and (self.ridge or self.entropy):
            raise DataError("ridge and entropy go with scale='trace'; leave them 0.")
        cap = self._cap(pairs.n_features)
        scatter = contrast(pairs, self.normalize)
        self.ridge_ = self._ridge(scatter)
        if not (isinstance(self.solver, str) and self.solver == "closed"):
            return self._by_solver(pairs, cap, self.ridge_)
        return self._closed(scatter, cap, self.ridge_)

    def _learn_some(self, pairs: Pairs) -> MetricAnswer:
        scatter = contrast(pairs, self.normalize)
        return self._closed(scatter, 1.0, self._ridge(scatter))

    def _chooses(self) -> bool:
        return super()._chooses() and not self._is_asked

    @property
    def _is_asked(self) -> bool:
        """Whether something says already how many directions there are to be."""
        return bool(
            self.n_components is not None
            or self.ridge is not None
            or self.entropy
            or self.scale == "frobenius"
        )

    def _closed(self, scatter: Array, cap: float, ridge: float) -> MetricAnswer:
        if self.scale == "trace":
            return closed_form(scatter, cap=cap, ridge=ridge, entropy=self.entropy)
        answer = frobenius_form(scatter)
        if not len(answer.components):
            raise DataError(
                "dissimilar pairs differ less than similar ones in every direction, so the best "
                "metric of Frobenius norm at most one is zero. Use scale='trace'."
            )
        return answer

    def _ridge(self, scatter: Array) -> float:
        if self._is_asked:
            return self.ridge or 0.0
        values = np.linalg.eigvalsh(scatter)
        return _DEVIATIONS * values.size * float(np.std(values))

    def _by_solver(self, pairs: Pairs, cap: float, ridge: float) -> MetricAnswer:
        if self.entropy:
            raise DataError("the entropy has no semidefinite form; use solver='closed'.")
        model = ghodsi(
            pairs.points,
            similar=pairs.similar,
            dissimilar=pairs.dissimilar,
            normalize=self.normalize,
            cap=cap,
            ridge=ridge,
            scale=self.scale,
        )
        solution = self._solved(model)
        factor = trimmed(factor_of(as_dense(solution.values["A"])), self.tol_)
        bound = -np.inf if solution.bound is None else solution.bound
        return MetricAnswer(
            components_of(factor),
            solution.value,
            bound,
            solution.argument,
            scale=solution.gap_scale,
        )

    def _cap(self, n_features: int) -> float:
        if self.scale == "frobenius" or self.n_components is None:
            return 1.0
        return 1.0 / validate.positive_integer(
            "n_components",
            self.n_components,
            at_most=n_features,
            why=f"the number of features, {n_features}",
        )
