"""Xing's and Ghodsi's metrics as scikit-learn transformers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import AddedRidgeWarning, UncertifiedWarning, warn
from sdpdr.families.limits import ROUNDING
from sdpdr.families.metric.ghodsi import closed_form, contrast
from sdpdr.families.metric.learner import MetricLearner
from sdpdr.families.metric.pairs import MetricAnswer, Pairs
from sdpdr.families.metric.xing import solve_xing, whitened

# Relative ridge of ``ridge="auto"``. Metrics with 1e-4, 1e-3 and 1e-2 classify points left out
# equally well, to some percent.
_RIDGE = 1e-3
# The default ridge keeps directions whose contrast is up to so many standard deviations worse.
_DEVIATIONS = 3.0


@dataclass(eq=False, repr=False)
class XingMetric(MetricLearner):
    r"""Xing's metric (MMC): similar pairs as near as possible, dissimilar ones apart.

    .. math::  \min_{A \succeq 0} \sum_{S} d_A^2(x_i, x_j) \quad\text{s.t.}\quad
               \sum_{D} d_A(x_i, x_j) \ge 1,

    solved by a monotone iteration with a bound on the optimum; see `sdpdr.methods.xing`. The
    optimum usually keeps one or two directions.

    Parameters
    ----------
    diagonal : bool, default False
        Learn weights of the features only.
    ridge : float or "auto", default "auto"
        Relative ridge on the scatter of similar pairs, see `sdpdr.metric.whiten`; needed where
        they span fewer directions than dissimilar ones (more features than points, columns of
        zeros and ones). ``"auto"``: 1e-3 there, with a warning, and 0 elsewhere.
    tol : float, default 1e-6
        Relative gap to stop at.
    max_iter : int, default 10000
    n_pairs : int, optional
        With labels: that many random pairs of each kind instead of all. All dissimilar pairs
        of some thousand points fill gigabytes.
    random_state : int, RandomState or Generator, optional
        Seed of the random pairs.

    Attributes
    ----------
    components_ : array of shape (k, D)
        L, with :math:`A = L^T L`; the longest rows first.
    value_, bound_, gap_, argument_
        The sum of squared distances of similar pairs with the ridge, a lower bound on it over all
        metrics, their relative difference, and why the bound holds.
    ridge_, tol_, pairs_, n_iter_
        As used: the ridge, the relative gap aimed at, the pairs, and the number of steps.
    n_features_in_, feature_names_in_

    Raises
    ------
    DataError, InfeasibleError
        From `fit`, see `sdpdr.metric.pairs_from_labels` and `sdpdr.metric.whiten`.

    Warns
    -----
    AddedRidgeWarning
        ``ridge="auto"``, and no metric attains the least cost without one.
    UncertifiedWarning
        The gap is larger than ``tol``.

    References
    ----------
    Xing, Ng, Jordan, Russell, "Distance metric learning, with application to clustering with
    side-information", NIPS 15, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import sdpdr
    >>> X, y = load_iris(return_X_y=True)
    >>> learned = sdpdr.XingMetric().fit(X, y)
    >>> learned.gap_ <= 1e-6
    True
    >>> learned.transform(X[:2]).shape[0], learned.get_mahalanobis_matrix().shape
    (2, (4, 4))
    """

    _: KW_ONLY
    diagonal: bool = False
    ridge: float | str = "auto"
    tol: float = 1e-6
    max_iter: int = 10_000

    solver: ClassVar[str] = "ascent"

    def _learn(self, pairs: Pairs) -> MetricAnswer:
        self.tol_ = tol = validate.positive_number("tol", self.tol)
        self.ridge_ = self._least_ridge(pairs)
        answer = solve_xing(
            pairs, diagonal=self.diagonal, ridge=self.ridge_, tol=tol, max_iter=self.max_iter
        )
        if not answer.gap <= tol:
            warn(
                f"the metric is certified to a relative gap of {answer.gap:.1e} only, not "
                f"{tol:g}. Raise max_iter, or pass a larger tol.",
                UncertifiedWarning,
            )
        return answer

    def _least_ridge(self, pairs: Pairs) -> float:
        if not isinstance(self.ridge, str):
            return validate.non_negative("ridge", self.ridge)
        validate.choice("ridge", self.ridge, ("auto",))
        _, reason = whitened(pairs, self.diagonal, 0.0)
        if not reason:
            return 0.0
        warn(
            f"{reason.partition('. ')[0]}, so that no metric attains the least cost; a ridge of "
            f"{_RIDGE:g} was added. Pass ridge={_RIDGE:g}, or fewer coordinates (PCA), to avoid "
            "this warning.",
            AddedRidgeWarning,
        )
        return _RIDGE


@dataclass(eq=False, repr=False)
class GhodsiMetric(MetricLearner):
    r"""Ghodsi's metric: the directions in which dissimilar pairs differ most, similar ones least.

    .. math::  \min_{A \succeq 0} \langle C, A\rangle + \tfrac\mu2|A|_F^2
               \quad\text{s.t.}\quad \operatorname{tr} A = 1,\ A \preceq \tfrac1k I,

    with :math:`C = M_S/|S| - M_D/|D|`, in closed form; see `sdpdr.methods.ghodsi`. If all pairs
    are of one kind, C is the term of that kind.

    Parameters
    ----------
    n_components : int, optional
        k, the dimension of the metric. By default there is no cap on A, and a ridge keeps all
        directions.
    normalize : bool, default True
        Means over pairs; False for the sums as printed.
    ridge : float, optional
        :math:`\mu`. By default 0 with ``n_components``, else :math:`3 n \sigma`,
        with :math:`\sigma` the standard deviation of the n eigenvalues of C: a direction whose
        contrast is better than the mean by one :math:`\sigma` weighs a third more, and those whose
        contrast is worse by less than three do not vanish.
    n_pairs, random_state
        As for `XingMetric`.

    Attributes
    ----------
    components_, value_, bound_, gap_, argument_, ridge_, tol_, pairs_, n_iter_
        As for `XingMetric`; ``value_`` is the objective.
    n_features_in_, feature_names_in_

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

    solver: ClassVar[str] = "closed"
    _depends_on_units: ClassVar[bool] = True

    def _learn(self, pairs: Pairs) -> MetricAnswer:
        self.tol_ = ROUNDING
        scatter = contrast(pairs, self.normalize)
        self.ridge_ = self._ridge(scatter)
        return closed_form(scatter, cap=self._cap(pairs.n_features), ridge=self.ridge_)

    def _ridge(self, scatter: Array) -> float:
        if self.ridge is not None:
            return validate.non_negative("ridge", self.ridge)
        if self.n_components is not None:
            return 0.0
        values = np.linalg.eigvalsh(scatter)
        return _DEVIATIONS * values.size * float(np.std(values))

    def _cap(self, n_features: int) -> float:
        if self.n_components is None:
            return 1.0
        return 1.0 / validate.positive_integer(
            "n_components",
            self.n_components,
            at_most=n_features,
            why=f"the number of features, {n_features}",
        )
