"""Mixed label propagation with scikit-learn's face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError, ShapeError, UnknownNameError, UnlikeColumnsWarning
from sdpdr.base.estimators import as_numbers, checked
from sdpdr.families.propagate.graph import labelled_graph
from sdpdr.families.propagate.pencil import Propagation
from sdpdr.families.propagate.ratings import METHODS, near_and_far, pearson, spread_labels
from sdpdr.families.unfold.labelled import decided, encoded, labels_of_samples
from sdpdr.graphs.search import search_among
from sdpdr.graphs.space import PARALLEL, Points, directions, make_space
from sdpdr.model.blocks.separation import UNLABELLED

_AFFINITIES = ("knn", "precomputed", "correlation")
# Shares as they are typed need not have the sum of one to the last digit.
_ONE = 1e-3


@dataclass(eq=False, repr=False)
class MixedLabelPropagation(
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # nor has this
):
    r"""Labels spread over similar pairs and held apart by dissimilar ones.

    .. math::

        \min_y\ \frac{\sum_{ij} (S_+)_{ij} (y_i - y_j)^2}{\sum_{ij} (S_-)_{ij} (y_i - y_j)^2}
        \quad\text{s.t.}\quad y_i \text{ given where known},

    with labels 1 and -1, one class against the rest if there are more than two. The default leaves
    the denominator out: furthest points, which are all that is known of dissimilarity unless it is
    given, are no evidence against a common label. Points without a label (-1, as in
    `sklearn.semi_supervised`) take part in `fit` and get theirs there.

    Parameters
    ----------
    mode : {"harmonic", "fixed_lam", "eigen", "alternating", "mixed_graph"}, default "harmonic"
        ``"harmonic"`` heeds similar pairs only; ``"fixed_lam"`` is least
        :math:`E_+ - \lambda E_-`; ``"eigen"`` the least ratio, exactly, for dissimilar pairs that
        are known to be; ``"alternating"`` the alternation of the thesis; ``"mixed_graph"``
        regularised least squares. See `sdpdr.propagation`.
    affinity : {"knn", "precomputed", "correlation"} or callable, default "knn"
        Where similarities come from. ``"knn"``: 1 for nearest neighbours, -1 for each point and
        the one furthest from it; sparse, and the size of either number does not matter to the
        least ratio. ``"precomputed"``: X is S. ``"correlation"``: of rows, nan allowed. A callable
        is given two arrays of points, and returns their similarities, dense or sparse.
    n_neighbors : int, default 7
        For ``"knn"``; of fewer other points all are taken, with a ``FewPointsWarning``.
    metric : {"euclidean", "cosine"}, default "euclidean"
        For ``"knn"``, as for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        For ``"knn"``: of nearest neighbours, as for `sdpdr.graphs.edge_weights`.
    bandwidth : float, optional
        Of ``"heat"``; by default the median length of the edges. See
        `sdpdr.propagation.near_and_far`.
    lam : float, optional
        For ``mode="fixed_lam"``.
    share : float, default 0.5
        For ``mode="fixed_lam"`` if no ``lam`` is given: :math:`\lambda` as a share of the least
        ratio, from 0, which is ``"harmonic"``, to 1, which is ``"eigen"``.
    beta_0 : float, optional
        For ``mode="alternating"``: the first scale.
    ridge : float, default 1e-3
    smoothness : float, default 1.0
        For ``mode="mixed_graph"``.
    priors : "labels" or sequence of float, optional
        Shares of the classes among points without a label, in the order of ``classes_``, or as in
        the labels given. Distributions are divided by the sums of each class and multiplied by
        these: class mass normalization, which helps where nearly all points fall to one class.
        By default nothing is known of shares: those of few labels mislead more often than they
        help, and a false share costs much.
    unreached : {"warn", "mean", "error"}, default "warn"
        What becomes of points that similar pairs join to no label: the mean of the labels, with a
        warning that names them or without, or an error.

    Attributes
    ----------
    classes_ : array
    transduction_ : array of shape (n,)
        Label of every point of `fit`; those given stay as they are but for
        ``mode="mixed_graph"``.
    label_distributions_ : array of shape (n, classes)
        :math:`(1 + \text{score})/2`, divided by its sum: in mode ``"harmonic"`` with two classes
        the probability that a random walk ends at the class, a convention otherwise. With
        ``priors`` in their proportion.
    scores_ : array of shape (n,), or (n, classes)
        The values y, of the second class or of each, divided by the largest in size. That is 1
        in mode ``"harmonic"``; values of least ratio may be far larger than the labels, by a
        factor that differs from class to class, and could not be compared.
    propagations_ : list of Propagation
        One for each column of the scores; empty where every label is given.
    n_neighbors_ : int
        As used, for ``"knn"``.
    n_features_in_, feature_names_in_

    Raises
    ------
    DataError, ShapeError, UnknownNameError, DisconnectedGraphError
        From `fit`.

    Warns
    -----
    IgnoredLabelsWarning
        The least ratio hardly depends on the labels.
    UnobservedWarning
        Similar pairs join points to no label.

    References
    ----------
    Tong thesis, chapter 3. Zhu, Ghahramani, Lafferty, "Semi-supervised learning using Gaussian
    fields and harmonic functions", ICML, 2003: class mass normalization.

    Examples
    --------
    >>> import numpy as np, sdpdr
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.08, random_state=0)
    >>> known = np.where(np.arange(300) < 20, y, -1)
    >>> learned = sdpdr.MixedLabelPropagation().fit(X, known)
    >>> bool(np.mean(learned.transduction_ == y) > 0.98)
    True
    """

    mode: str = "harmonic"
    _: KW_ONLY
    affinity: Any = "knn"
    n_neighbors: int = 7
    metric: str = "euclidean"
    weights: str = "binary"
    bandwidth: float | None = None
    lam: float | None = None
    share: float = 0.5
    beta_0: float | None = None
    ridge: float = 1e-3
    smoothness: float = 1.0
    priors: str | Sequence[float] | None = None
    unreached: str = "warn"

    def fit(self, X: Any, y: Any = None) -> MixedLabelPropagation:
        """Find the labels of all points.

        Parameters
        ----------
        X : array_like of shape (n, D), or similarities (n, n) with ``affinity="precomputed"``
            Of either kind, or sparse: neighbours are searched in sparse data as they are.
        y : array_like of shape (n,)
            Labels, -1 (or None, nan, or a blank) where not known.

        Returns
        -------
        self
        """
        if y is None:
            raise DataError(
                "MixedLabelPropagation requires y to be passed, but the target y is None. Pass "
                "labels, -1 where they are not known."
            )
        validate.choice("mode", self.mode, tuple(METHODS))
        if isinstance(self.priors, str):
            validate.choice("priors", self.priors, ("labels",))
        X = self._points(X, reset=True)
        codes = self._codes(y, X.shape[0])
        self._X = X
        similarity = self._similarity(X)
        self.scores_ = self._spread(similarity, codes)
        known = codes != UNLABELLED
        self._factors = self._class_factors(codes)
        scores = self._in_proportion(self.scores_)
        decision = decided(self.classes_, scores)
        if self.mode != "mixed_graph":
            decision[known] = self.classes_[codes[known]]
        self.transduction_ = decision
        self.label_distributions_ = _distributions(scores)
        return self

    def predict(self, X: Any) -> Any:
        """Labels of points: the larger score.

        Parameters
        ----------
        X : array_like of shape (m, D), or similarities to the points of `fit`, (m, n)

        Returns
        -------
        array of shape (m,)
        """
        scores = self.decision_function(X)
        return decided(self.classes_, scores)

    def predict_proba(self, X: Any) -> Array:
        """Distributions over the classes, as of ``label_distributions_``; shape (m, classes)."""
        return _distributions(self.decision_function(X))

    def decision_function(self, X: Any) -> Array:
        """Scores of points that took no part in `fit`, by harmonic extension.

        A score is the mean over the points of `fit`, weighted by positive similarity; with
        ``affinity="knn"`` over the nearest ones, and that of the point itself if it was there.
        A point similar to none gets the mean of all. With ``priors``, twice its share in
        `predict_proba` less one.

        Parameters
        ----------
        X : array_like
            As for `predict`.

        Returns
        -------
        array of shape (m,) for two classes, or (m, classes)
        """
        check_is_fitted(self)
        weights = self._extension(self._points(X, reset=False))
        total = np.asarray(weights.sum(axis=1)).ravel()
        values = weights @ self.scores_
        lonely = total <= 0.0
        divisor = np.where(lonely, 1.0, total)
        values = values / (divisor if values.ndim == 1 else divisor[:, None])
        values[lonely] = self.scores_.mean(axis=0)
        return self._in_proportion(np.asarray(values))

    def _points(self, X: Any, *, reset: bool) -> Any:
        allowed = "allow-nan" if self._is("correlation") else True
        points = checked(
            self,
            X,
            by_distance=self._is("knn") and self.metric == "euclidean",
            reset=reset,
            accept_sparse="csr" if self._takes_sparse else False,
            ensure_all_finite=allowed,
            ensure_min_samples=2 if reset else 1,
        )
        if reset and self._is("precomputed") and points.shape[0] != points.shape[1]:
            raise ShapeError(
                f"affinity='precomputed' needs a square matrix of similarities; X has shape "
                f"{points.shape}."
            )
        return points

    def _codes(self, y: Any, n: int) -> Index:
        classes, codes = encoded(labels_of_samples(y, n))
        if len(classes) < 2:
            found = "no label" if not len(classes) else f"one class, {classes[0]}"
            raise DataError(f"labels must take two values (classes); there is {found}.")
        self.classes_ = classes
        return codes

    def _similarity(self, X: Any) -> Matrix:
        if callable(self.affinity):
            return self.affinity(X, X)
        if not isinstance(self.affinity, str) or self.affinity not in _AFFINITIES:
            raise UnknownNameError("affinity", self.affinity, (*_AFFINITIES, "a callable"))
        if self.affinity == "precomputed":
            return X
        if self.affinity == "correlation":
            return pearson(X)
        found = partial(
            near_and_far,
            X,
            metric=self.metric,
            weights=self.weights,
            bandwidth=self.bandwidth,
        )
        with catch_warnings():
            simplefilter("ignore", UnlikeColumnsWarning)  # told of X as it was passed
            similarity, self.n_neighbors_ = validate.all_if_few(self.n_neighbors, found)
        return similarity

    def _spread(self, similarity: Matrix, codes: Index) -> Array:
        """Values of every class against the rest, of the second alone if there are two."""
        targets = range(len(self.classes_)) if len(self.classes_) > 2 else (1,)
        columns = []
        self.propagations_: list[Propagation] = []
        for c in targets:
            labels = np.where(codes == UNLABELLED, np.nan, np.where(codes == c, 1.0, -1.0))
            if not np.isnan(labels).any():
                columns.append(labels)
                continue
            graph = labelled_graph(similarity, labels)
            values, found = spread_labels(
                graph, self.mode, unreached=self.unreached, **self._options()
            )
            columns.append(values)
            self.propagations_.append(found)
        scores = np.column_stack(columns)
        scores /= np.abs(scores).max(axis=0)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _class_factors(self, codes: Index) -> Array | None:
        """What brings the sums of distributions of points without a label to the priors."""
        if self.priors is None:
            return None
        bare, count = codes == UNLABELLED, len(self.classes_)
        shares = _shares(self.priors, np.bincount(codes[~bare], minlength=count))
        if not bare.any():
            return np.ones(count)
        return np.asarray(shares / _distributions(self.scores_[bare]).sum(axis=0))

    def _in_proportion(self, scores: Array) -> Array:
        """Scores whose distributions have the priors' proportions; scores as they are without."""
        if self._factors is None:
            return scores
        shares = _distributions(scores) * self._factors
        values = 2.0 * shares / shares.sum(axis=1, keepdims=True) - 1.0
        return values[:, 1] if scores.ndim == 1 else values

    def _options(self) -> dict[str, Any]:
        names = {
            "fixed_lam": ("share",) if self.lam is None else ("lam",),
            "alternating": ("beta_0",),
            "mixed_graph": ("ridge", "smoothness"),
        }
        return {name: getattr(self, name) for name in names.get(self.mode, ())}

    def _extension(self, X: Any) -> Matrix:
        """Non-negative weights of the points of `fit` for others, shape (m, n)."""
        if self._is("knn"):
            return self._nearest(X)
        if self._is("precomputed"):
            similarity = X
        elif self._is("correlation"):
            similarity = pearson(X, self._X)
        else:
            similarity = self.affinity(X, self._X)
        sparse = sp.issparse(similarity)
        return similarity.maximum(0.0) if sparse else np.maximum(similarity, 0.0)

    def _nearest(self, X: Any) -> sp.csr_array:
        """One for the nearest points of `fit`, or for those alone that are the point itself."""
        known, n = self._X.shape[0], X.shape[0]
        parts = [directions(A) if self.metric == "cosine" else A for A in (self._X, X)]
        with catch_warnings():
            simplefilter("ignore", UnlikeColumnsWarning)  # told in the fit
            space = make_space(sp.vstack(parts, "csr") if sp.issparse(X) else np.vstack(parts))
        assert isinstance(space, Points)
        rows = np.arange(known, known + n)
        index = search_among(space, np.arange(known)).table(rows, self.n_neighbors_)
        same = space.sqdist(rows[:, None], index) <= PARALLEL**2 * (self.metric == "cosine")
        weights = np.where(same[:, :1], same, True).astype(float)
        ends = np.arange(n + 1) * self.n_neighbors_
        return sp.csr_array((weights.ravel(), index.ravel(), ends), (n, known))

    @property
    def _takes_sparse(self) -> bool:
        return self._is("precomputed") or self._is("knn")

    def _is(self, affinity: str) -> bool:
        return isinstance(self.affinity, str) and self.affinity == affinity

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is("precomputed")
        tags.input_tags.allow_nan = self._is("correlation")
        tags.input_tags.sparse = self._takes_sparse
        return tags


def _shares(priors: str | Sequence[float], counts: Index) -> Array:
    """Shares of classes as they are given, or as labels have them."""
    if isinstance(priors, str):
        return np.asarray(counts / counts.sum())
    shares = as_numbers("priors", priors)
    if shares.shape != counts.shape:
        raise ShapeError(
            f"priors need a share for each of the {counts.size} classes; they have shape "
            f"{shares.shape}."
        )
    if not (np.all(shares > 0.0) and abs(float(shares.sum()) - 1.0) <= _ONE):
        raise DataError(
            f"priors={shares.tolist()} must be positive shares of the classes whose sum is 1; "
            f"their sum is {shares.sum():g}. Divide them by it, or pass 'labels'."
        )
    return shares


def _distributions(scores: Array) -> Array:
    columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    # Where every class says no, all are alike.
    shares = np.maximum((1.0 + columns) / 2.0, np.finfo(float).tiny)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
