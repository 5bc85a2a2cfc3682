"""Mixed label propagation as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import paired_euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import (
    DataError,
    ShapeError,
    UnlikeColumnsWarning,
    UnobservedWarning,
    warn,
)
from sdpdr.base.estimators import checked
from sdpdr.base.keywords import ChecksKeywords
from sdpdr.base.labels import (
    UNKNOWN,
    decided,
    encoded,
    labels_of_samples,
    marked,
    require_target,
)
from sdpdr.base.rows import listed
from sdpdr.families.propagate.graph import LabelledGraph, labelled_graph, near_and_far
from sdpdr.families.propagate.labellings import Propagation, fixed_lam, harmonic, mixed_graph
from sdpdr.families.propagate.least_ratio import alternating, eigen
from sdpdr.graphs.data import PARALLEL
from sdpdr.graphs.points import directions

# Modes, and the parameters that each takes.
MODES: dict[str, tuple[Callable[..., Propagation], tuple[str, ...]]] = {
    "eigen": (eigen, ()),
    "alternating": (alternating, ()),
    "fixed_lam": (fixed_lam, ("share",)),
    "harmonic": (harmonic, ()),
    "mixed_graph": (mixed_graph, ("ridge", "smoothness")),
}


@dataclass(eq=False, repr=False)
class MixedLabelPropagation(
    ChecksKeywords,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # nor has this
):
    r"""Labels spread over similar pairs and held apart by dissimilar ones.

    .. math::

        \min_y\ \frac{\sum_{ij} (S_+)_{ij} (y_i - y_j)^2}{\sum_{ij} (S_-)_{ij} (y_i - y_j)^2}
        \quad\text{s.t.}\quad y_i \text{ given where known},

    with labels 1 and -1, one class against the rest if there are more than two. The default leaves
    the denominator out, because furthest points, the only dissimilar pairs unless others are given,
    are no evidence against a common label. Points without a label (-1, as in
    `sklearn.semi_supervised`) take part in `fit`, which finds their labels.

    Parameters
    ----------
    mode : {"harmonic", "fixed_lam", "eigen", "alternating", "mixed_graph"}, default "harmonic"
        ``"harmonic"`` uses similar pairs only; ``"fixed_lam"`` minimizes
        :math:`E_+ - \lambda E_-`; ``"eigen"`` finds the least ratio exactly, for dissimilar pairs
        that are real evidence; ``"alternating"`` is the alternation of the thesis;
        ``"mixed_graph"`` is regularized least squares. See `sdpdr.propagation`.
    affinity : {"knn", "precomputed"}, default "knn"
        Where similarities come from. ``"knn"``: `near_and_far <sdpdr.propagation.near_and_far>`,
        that is 1 for nearest neighbours, -1 for each point and the one furthest from it.
        ``"precomputed"``: X is S, such as `pearson <sdpdr.propagation.pearson>` makes of ratings.
    n_neighbors : int, default 7
        For ``"knn"``; if there are fewer other points, all, with a ``FewPointsWarning``.
    metric : {"euclidean", "cosine"}, default "euclidean"
        For ``"knn"``, as for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        For ``"knn"``: weights of nearest neighbours, as for `sdpdr.graphs.edge_weights`.
    share : float, default 0.5
        For ``mode="fixed_lam"``: :math:`\lambda` as a share of the least ratio, from 0, which is
        ``"harmonic"``, to 1, which is ``"eigen"``.
    ridge : float, default 1e-3
    smoothness : float, default 1.0
        For ``mode="mixed_graph"``.

    Attributes
    ----------
    classes_ : array
    transduction_ : array of shape (n,)
        Label of every point of `fit`; given labels stay, except with ``mode="mixed_graph"``.
    label_distributions_ : array of shape (n, classes)
        :math:`(1 + \text{score})/2`, divided by its sum: in mode ``"harmonic"`` with two classes
        the probability that a random walk ends at the class, a convention otherwise.
    scores_ : array of shape (n,), or (n, classes)
        The values y, of the second class or of each, divided by the largest absolute value. That
        is 1 in mode ``"harmonic"``; values of least ratio may exceed the labels by a factor that
        differs from class to class.
    propagations_ : list of Propagation
        One for each column of the scores, over the nodes that labels reach; empty if every label
        is given.
    n_neighbors_ : int
        As used, for ``"knn"``.
    n_features_in_, feature_names_in_

    Raises
    ------
    DataError, ShapeError, UnknownNameError
        From `fit`.

    Warns
    -----
    IgnoredLabelsWarning
        The least ratio hardly depends on the labels.
    UnobservedWarning
        Similar pairs connect points to no label; they get the mean of the labels.

    References
    ----------
    Tong thesis, chapter 3. Zhu, Ghahramani, Lafferty, "Semi-supervised learning using Gaussian
    fields and harmonic functions", ICML, 2003.

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
    affinity: str = "knn"
    n_neighbors: int = 7
    metric: str = "euclidean"
    weights: str = "binary"
    share: float = 0.5
    ridge: float = 1e-3
    smoothness: float = 1.0

    def fit(self, X: Any, y: Any = None) -> MixedLabelPropagation:
        """Find the labels of all points.

        Parameters
        ----------
        X : array_like of shape (n, D), or similarities (n, n) with ``affinity="precomputed"``
            Both may be sparse; sparse data are searched for neighbours as they are.
        y : array_like of shape (n,)
            Labels, -1 (or None, nan, or a blank) where not known.

        Returns
        -------
        self
        """
        require_target(self, y, "Pass labels, -1 where they are not known.")
        validate.choice("mode", self.mode, tuple(MODES))
        validate.choice("affinity", self.affinity, ("knn", "precomputed"))
        self._X = self._points(X, reset=True)
        codes = self._codes(y, self._X.shape[0])
        bare = codes == UNKNOWN
        self.scores_ = self._scores(self._similarity(self._X), codes)
        self.transduction_ = decided(self.classes_, self.scores_)
        if self.mode != "mixed_graph":
            self.transduction_[~bare] = self.classes_[codes[~bare]]
        self.label_distributions_ = _distributions(self.scores_)
        return self

    def predict(self, X: Any) -> Any:
        """Labels of points: the class of the larger score.

        Parameters
        ----------
        X : array_like of shape (m, D), or similarities to the points of `fit`, (m, n)

        Returns
        -------
        array of shape (m,)
        """
        return decided(self.classes_, self.decision_function(X))

    def predict_proba(self, X: Any) -> Array:
        """Distributions over the classes, as ``label_distributions_``; shape (m, classes)."""
        return _distributions(self.decision_function(X))

    def decision_function(self, X: Any) -> Array:
        """Scores of points that took no part in `fit`, by harmonic extension.

        A score is the mean over the points of `fit`, weighted by positive similarity; with
        ``affinity="knn"`` over the nearest ones, or that of the point itself if it was there.
        A point similar to none gets the mean of all.

        Parameters
        ----------
        X : array_like
            As for `predict`.

        Returns
        -------
        array of shape (m,) for two classes, or (m, classes)
        """
        check_is_fitted(self)
        X = self._points(X, reset=False)
        weights = self._nearest(X) if self.affinity == "knn" else sp.csr_array(X).maximum(0.0)
        total = np.asarray(weights.sum(axis=1)).ravel()
        mean = np.atleast_2d((weights @ self.scores_).T) / np.where(total > 0.0, total, 1.0)
        values = np.where(total > 0.0, mean, np.atleast_2d(self.scores_.mean(axis=0)).T)
        return np.asarray(values[0] if self.scores_.ndim == 1 else values.T)

    def _points(self, X: Any, *, reset: bool) -> Any:
        points = checked(
            self,
            X,
            by_distance=self.affinity == "knn" and self.metric == "euclidean",
            reset=reset,
            accept_sparse="csr",
            ensure_min_samples=2 if reset else 1,
        )
        if reset and self.affinity == "precomputed" and points.shape[0] != points.shape[1]:
            raise ShapeError(
                f"affinity='precomputed' needs a square matrix of similarities; X has shape "
                f"{points.shape}."
            )
        return points

    def _codes(self, y: Any, n: int) -> Index:
        """Set ``classes_``; return the position of each label among them, -1 where unknown."""
        self.classes_, codes = encoded(labels_of_samples(y, n))
        if len(self.classes_) < 2:
            found = f"one class, {self.classes_[0]}" if len(self.classes_) else "no label"
            raise DataError(
                f"labels must take two values (classes); there is {found}.{_if_minus_one(y)}"
            )
        return codes

    def _similarity(self, X: Any) -> Matrix:
        if self.affinity == "precomputed":
            return X
        with catch_warnings():
            simplefilter("ignore", UnlikeColumnsWarning)  # `_points` has warned already
            search = partial(near_and_far, X, metric=self.metric, weights=self.weights)
            similarity, self.n_neighbors_ = validate.all_if_few(self.n_neighbors, search)
        return similarity

    def _nearest(self, X: Any) -> sp.csr_array:
        """One for the nearest points of `fit`, or for those only that are the point itself."""
        cosine = self.metric == "cosine"
        known, X = (directions(A) if cosine else A for A in (self._X, X))
        search = NearestNeighbors(n_neighbors=self.n_neighbors_).fit(known)
        index = search.kneighbors(X, return_distance=False)
        # The distances of the search may be rounded; those of equal rows here are zero.
        rows = np.repeat(np.arange(len(index)), self.n_neighbors_)
        away = paired_euclidean_distances(X[rows], known[index.ravel()]).reshape(index.shape)
        same = away <= (PARALLEL if cosine else 0.0)
        weights = np.where(same.any(axis=1, keepdims=True), same, True).astype(float)
        shape = (len(index), known.shape[0])
        return sp.csr_array((weights.ravel(), (rows, index.ravel())), shape=shape)

    def _scores(self, similarity: Matrix, codes: Index) -> Array:
        """Scores of every class against the rest, of the second alone if there are two."""
        classes = range(len(self.classes_)) if len(self.classes_) > 2 else (1,)
        bare = codes == UNKNOWN
        columns = [np.where(bare, np.nan, np.where(codes == c, 1.0, -1.0)) for c in classes]
        self.propagations_: list[Propagation] = []
        if bare.any():
            graph = labelled_graph(similarity, columns[0])
            kept = self._reached(graph)
            graph = graph.restricted(kept)
            solve, names = MODES[self.mode]
            options = {name: getattr(self, name) for name in names}
            with catch_warnings(record=True) as caught:
                simplefilter("always")
                for values in columns:
                    found = solve(replace(graph, labels=values[kept]), **options)
                    self.propagations_.append(found)
                    values[np.isnan(values)] = np.nanmean(values)
                    values[kept] = found.y
            # Each class may raise the same warning; show the first one only.
            for each in {one.category: one for one in reversed(caught)}.values():
                warn(str(each.message), each.category)
        scores = np.column_stack(columns)
        scores /= np.abs(scores).max(axis=0)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _reached(self, graph: LabelledGraph) -> Index:
        """The nodes that take part: all, or those that similar pairs connect to a label."""
        everyone = np.arange(graph.n)
        if self.mode == "mixed_graph" or not graph.unreached.size:
            return everyone
        more = ", or add similar pairs"
        if self.affinity == "knn":
            more = f", or take more neighbours than n_neighbors={self.n_neighbors_}"
        warn(
            f"similar pairs connect {graph.unreached.size} of {graph.n} nodes to no label: "
            f"{listed(graph.unreached)}. They get the mean of the labels, which says nothing "
            f"about them. Label one node in each component{more}.",
            UnobservedWarning,
        )
        kept = np.setdiff1d(everyone, graph.unreached)
        if not np.isnan(graph.labels[kept]).any():
            raise DataError("similar pairs connect no node without a label to one with a label.")
        return kept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = True
        return tags


def _if_minus_one(y: Any) -> str:
    """Advice for labels among which -1 may be meant as a class; empty for others."""
    labels = np.asarray(y)
    minus = labels[marked(labels)]
    if not minus.size:
        return ""
    mark, name = minus.tolist()[0], "'minus'" if labels.dtype.kind in "OUS" else 0
    return (
        f" Here -1 stands for a label that is not known. If it is a class, pass "
        f"numpy.where(numpy.asarray(y) == {mark!r}, {name}, y)."
    )


def _distributions(scores: Array) -> Array:
    """Distributions over the classes from their scores, of two classes from those of the second."""
    columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    # If no class has a positive share, all shares become equal.
    shares = np.maximum((1.0 + columns) / 2.0, np.finfo(float).tiny)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
