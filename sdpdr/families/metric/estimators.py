"""Metrics with scikit-learn's face: Xing's and Ghodsi's."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import AddedRidgeWarning, DataError, warn
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
from sdpdr.families.metric.recipes import SCALES, contrast, ghodsi, xing
from sdpdr.families.metric.roots import ARGUMENT, answer_of, root_bound, solve_xing
from sdpdr.families.metric.whiten import unattained, whiten
from sdpdr.program import as_dense

# Relative ridge where there must be one.
_RIDGE = 1e-3
# Gap of metrics by which the share of plain distances is chosen. On 33 sets the share is that of
# gaps of 1e-6, which take twice the time; with 1e-3 it is another one on four.
_ROUGHLY = 1e-4
# Standard deviations of the contrast that the default ridge weighs as much as the mean direction.
_DEVIATIONS = 3.0


@dataclass(eq=False, repr=False)
class XingMetric(MetricLearner):
    r"""Xing's metric (MMC): similar pairs as near as possible, dissimilar ones apart.

    .. math::  \min_{A \succeq 0} \sum_{S} d_A^2(x_i, x_j) \quad\text{s.t.}\quad
               \sum_{D} d_A(x_i, x_j) \ge 1,

    solved exactly, with a bound that says how exactly; see `sdpdr.methods.xing`.

    Parameters
    ----------
    diagonal : bool, default False
        Learn weights of the features only.
    ridge : float or "auto", default "auto"
        Relative ridge on the scatter of similar pairs, see `sdpdr.metric.whiten`; needed where
        they span fewer directions than dissimilar ones (more features than points, columns of
        zeros and ones, a kernel). ``"auto"``: 1e-3 there, with a warning, and 0 elsewhere. Metrics
        with 1e-4, 1e-3 and 1e-2 tell points left out equally well, to some percent.
    plain : float or "auto", default "auto"
        Share of the variance of points that is plain Euclidean, from 0, the program's optimum, to
        1; see `sdpdr.metric.mixed`. The optimum keeps one or two directions, which say too little
        where classes differ in others. Of labelled points, ``"auto"`` takes the share with which
        the nearest neighbour tells most classes of points left out, which depends on the order of
        rows where shares are nearly as good; of pairs, none.
    n_pairs : int, optional
        Of labelled points: so many random pairs of each kind instead of all. All dissimilar pairs
        of some thousand points fill gigabytes.
    kernel : str or callable, optional
        A name of `sklearn.metrics.pairwise.pairwise_kernels`, ``"precomputed"``, or a function.
    kernel_params : dict, optional
    kernel_components : int, optional
        Use so many leading kernel principal coordinates only.
    solver : str or Solver, default "ascent"
        ``"ascent"`` is the iteration of `sdpdr.metric.ascend`; any other is one of `sdpdr.solve`,
        for some hundred dissimilar pairs.
    tol : float, optional
        Relative gap aimed at; by default that of a configured solver, or 1e-6.
    max_iter : int, default 10000
        Of the ascent.
    random_state : int, RandomState or Generator, optional
        Seed; by default that of a configured solver, or 0.

    Attributes
    ----------
    components_ : array of shape (k, D), or (k, n) with a kernel
        L, with :math:`A = L^T L`; rows by falling length.
    plain_ : float
        The share of plain distances.
    tried_ : tuple of (share, share told)
        Where it was chosen: with each share of plain distances, the share of points left out whose
        class the nearest neighbour told. Where it was not, empty.
    ridge_ : float
        As used.
    value_, bound_, gap_, argument_
        Of the program, before plain distances are mixed in: the sum of squared distances of
        similar pairs with the ridge, what it cannot fall below, their relative difference, and why.
    solution_ : Solution or None
        Of the semidefinite program in whitened coordinates, where `sdpdr.solve` was used.
    pairs_ : Pairs
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of str

    Raises
    ------
    DataError, InfeasibleError
        From `fit`, see `sdpdr.metric.choose_pairs` and `sdpdr.metric.whiten`.

    Warns
    -----
    AddedRidgeWarning
        ``ridge="auto"``, and no metric attains the least cost without one.
    UncertifiedWarning

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
    solver: Any = "ascent"
    max_iter: int = 10_000

    def _learn_some(self, pairs: Pairs) -> MetricAnswer:
        return self._ascended(pairs, max(self.tol_, _ROUGHLY))

    def _ascended(self, pairs: Pairs, tol: float) -> MetricAnswer:
        options: dict[str, Any] = {"tol": tol, "max_iter": self.max_iter}
        return solve_xing(pairs, diagonal=self.diagonal, ridge=self.ridge_, **options)

    def _least_ridge(self, pairs: Pairs) -> float:
        if not isinstance(self.ridge, str):
            return validate.non_negative("ridge", self.ridge)
        validate.choice("ridge", self.ridge, ("auto",))
        said = unattained(pairs, diagonal=self.diagonal)
        if not said:
            return 0.0
        warn(
            f"{said.partition('. ')[0]}, so that no metric attains the least cost; a ridge of "
            f"{_RIDGE:g} was added. Pass ridge={_RIDGE:g}, or fewer coordinates (PCA), to have it "
            "without these words.",
            AddedRidgeWarning,
        )
        return _RIDGE

    def _learn(self, pairs: Pairs) -> MetricAnswer:
        self.ridge_ = self._least_ridge(pairs)
        options: dict[str, Any] = {"diagonal": self.diagonal, "ridge": self.ridge_}
        if isinstance(self.solver, str) and self.solver == "ascent":
            return self._ascended(pairs, self.tol_)
        model = xing(pairs.points, similar=pairs.similar, dissimilar=pairs.dissimilar, **options)
        # The gap of 1 / g^2 is twice that of g.
        solution = self._solved(model, 0.25)
        white = whiten(pairs, **options)
        r = white.basis.shape[1]
        factor = factor_of(as_dense(solution.values["Z"])[:r, :r])
        lengths = np.linalg.norm(white.differences @ factor, axis=1)
        # Any positive weights give a bound, but a rough solution may have distances of zero.
        weights = np.maximum(lengths, 1e-9 * lengths.max())
        bound, argument = root_bound(white.differences, weights, diagonal=self.diagonal), ARGUMENT
        if solution.bound is not None and solution.bound < bound:
            bound, argument = solution.bound, solution.argument
        return answer_of(white, factor, bound, argument)


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
