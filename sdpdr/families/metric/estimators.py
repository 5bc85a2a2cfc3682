"""Learning a metric, with scikit-learn's face and metric-learn's names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.errors import (
    AddedRidgeWarning,
    DataError,
    NonUniqueWarning,
    UncertifiedWarning,
    warn,
)
from sdpdr.base.estimators import Transformer, as_precise, checked, note_columns
from sdpdr.base.labels import as_vector, warn_of_signs
from sdpdr.base.parameters import options_of, require_kernel
from sdpdr.families.metric.choose import pairs_from_labels
from sdpdr.families.metric.fantope import MetricAnswer, factor_of
from sdpdr.families.metric.pairs import Pairs, pairs_from_points, require_pairs
from sdpdr.families.metric.plain import choose_share, mixed, require_share
from sdpdr.families.metric.recipes import xing
from sdpdr.families.metric.roots import ARGUMENT, answer_of, root_bound, solve_xing
from sdpdr.families.metric.whiten import kernel_coordinates, unattained, whiten
from sdpdr.model import Model
from sdpdr.program import Solution, as_dense
from sdpdr.solvers.base import configured, tolerance
from sdpdr.solving.solve import solve

# Relative ridge where there must be one.
_RIDGE = 1e-3
# Gap of metrics by which the share of plain distances is chosen. On 33 sets the share is that of
# gaps of 1e-6, which take twice the time; with 1e-3 it is another one on four.
_ROUGHLY = 1e-4


@dataclass(eq=False, repr=False)
class MetricLearner(Transformer):
    """Base of estimators of a Mahalanobis metric; ``_learn`` solves its program.

    Fields are hyperparameters; a subclass adds its own.
    """

    _: KW_ONLY
    plain: float | str = "auto"
    n_pairs: int | None = None
    kernel: Any = None
    kernel_params: Mapping[str, Any] | None = None
    kernel_components: int | None = None
    solver: Any = "auto"
    tol: float | None = None
    random_state: int | None = None

    @abstractmethod
    def _learn(self, pairs: Pairs) -> MetricAnswer:
        """The metric; sets ``solution_``."""

    @abstractmethod
    def _learn_some(self, pairs: Pairs) -> MetricAnswer:
        """The metric of a part of the points, to choose by."""

    def fit(self, X: Any, y: Any = None) -> MetricLearner:
        """Learn from labelled points, or from pairs.

        Parameters
        ----------
        X : array_like of shape (n, D), or (n_pairs, 2, D)
            Points, or pairs of points. With ``kernel="precomputed"``, the kernel matrix (n, n).
        y : array_like of shape (n,), or (n_pairs,)
            Labels: pairs of one class are similar, all others dissimilar; points whose label is
            not known (None, nan, a blank, or -1 beside two classes) are in no pair. Of pairs: 1
            for similar, -1 for dissimilar.

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
            return self.fit_pairs(X, y)
        points = validate.points(X, at_least=2)
        note_columns(self, X)
        if self.kernel is None and self._chooses():  # plain distances go by units
            warn_of_unlike_columns(X)
        y = as_vector(y)
        seed = validate.seed_or_none(self.random_state) or 0
        warn_of_signs(y)
        return self._fit(pairs_from_labels(points, y, self.n_pairs, seed), y)

    def fit_pairs(self, pairs: Any, y: Any) -> MetricLearner:
        """Learn from pairs of points, as metric-learn's weakly supervised estimators do.

        Parameters
        ----------
        pairs : array_like of shape (n_pairs, 2, D)
            Points with equal coordinates are one point.
        y : array_like of shape (n_pairs,)
            1 for similar, -1 for dissimilar.

        Returns
        -------
        self
        """
        if self._is_precomputed:
            raise DataError(
                "pairs of points have no precomputed kernel matrix; pass the matrix with labels, "
                "or name the kernel."
            )
        found = pairs_from_points(pairs, y)
        self.n_features_in_ = found.n_features
        return self._fit(found)

    def _fit(self, pairs: Pairs, labels: np.ndarray | None = None) -> MetricLearner:
        require_share(self.plain)
        self.solution_: Solution | None = None
        self.tol_ = validate.positive_number("tol", tolerance(self.solver, self.tol))
        n_coordinates = self._n_coordinates()
        if self.kernel is None:
            answer = self._learn(pairs)
            self.components_ = self._components(answer, pairs.points, labels)
        else:
            self._points = pairs.points
            kernel = kernel_coordinates(self._inputs(pairs.points), n_coordinates)
            answer = self._learn(pairs.moved(kernel.coordinates))
            found = self._components(answer, kernel.coordinates, labels)
            self.components_ = found @ kernel.placing.T
        self.pairs_ = pairs
        self.value_, self.bound_, self.gap_ = answer.value, answer.bound, answer.gap
        self.argument_, self.n_iter_ = answer.argument, answer.iterations
        if not answer.gap <= self.tol_:
            warn(
                f"the metric is certified to a relative gap of {answer.gap:.1e} only, not "
                f"{self.tol_:g}. Raise max_iter, or try another solver.",
                UncertifiedWarning,
            )
        if not answer.unique:
            warn(
                "eigenvalues of the contrast are tied, so other metrics are as good; one of them "
                "is returned. Another n_components, or a ridge, makes the answer unique.",
                NonUniqueWarning,
            )
        return self

    def _components(self, answer: MetricAnswer, points: Array, labels: np.ndarray | None) -> Array:
        """The answer with plain distances mixed in, by points with labels, if there are any."""
        self.plain_ = 0.0 if isinstance(self.plain, str) else float(self.plain)
        self.tried_: tuple[tuple[float, float], ...] = ()
        if labels is not None and self._chooses():
            seed = validate.seed_or_none(self.random_state) or 0
            found = choose_share(self._learn_some, points, labels, self.n_pairs, seed)
            self.plain_, self.tried_ = found.share, found.tried
        return mixed(answer.components, points, self.plain_)

    def _chooses(self) -> bool:
        """Whether labels are to say how much is plain."""
        return isinstance(self.plain, str)

    @property
    def _is_precomputed(self) -> bool:
        """Whether X holds values of a kernel."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _n_coordinates(self) -> int | None:
        """``kernel_components``, and the name of the kernel, checked."""
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
        if self.kernel_components is None:
            return None
        return validate.positive_integer("kernel_components", self.kernel_components)

    def _solved(self, model: Model, share: float = 1.0) -> Solution:
        """The model's solution, to a share of the tolerance; an error if there is no point."""
        tol = None if self.tol is None and configured(self.solver) else share * self.tol_
        seed = validate.seed_or_none(self.random_state)
        self.solution_ = solve(model, self.solver, tol=tol, seed=seed)
        return self.solution_ if self.solution_.values else self.solution_.raise_for_status()

    def _inputs(self, X: Array) -> Array:
        """What ``components_`` multiplies: the features, or kernel values to the fitted points."""
        if self.kernel is None or self._is_precomputed:
            return X
        values = pairwise_kernels(X, self._points, metric=self.kernel, **(self.kernel_params or {}))
        return np.asarray(values)

    def transform(self, X: Any) -> Array:
        r"""Map points so that Euclidean distance is the metric learned.

        Parameters
        ----------
        X : array_like of shape (m, D)
            With ``kernel="precomputed"``, kernel values to the points of `fit`, shape (m, n).

        Returns
        -------
        array of shape (m, k)
        """
        check_is_fitted(self, "components_")
        return as_precise(self._inputs(checked(self, X, reset=False)) @ self.components_.T, X)

    def pair_distance(self, pairs: Any) -> Array:
        """Distances under the metric, of pairs of shape (n_pairs, 2, D)."""
        check_is_fitted(self, "components_")
        array = require_pairs(np.asarray(pairs, dtype=float))
        steps = self.transform(array[:, 0]) - self.transform(array[:, 1])
        return np.asarray(np.linalg.norm(steps, axis=1))

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
