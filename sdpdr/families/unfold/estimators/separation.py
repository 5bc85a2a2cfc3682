"""Isometric separation maps as an estimator: an embedding and a classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, InfeasibleError, WeakSeparationWarning, warn
from sdpdr.base.estimators import checked
from sdpdr.base.labels import as_vector, decided, require_classes, require_target
from sdpdr.families.limits import ROUNDING
from sdpdr.families.regress.transduction import reconstructing
from sdpdr.families.unfold.estimators.gram import LengthEmbedding, squared_lengths
from sdpdr.families.unfold.ism import Furthest, ism, separation_margin
from sdpdr.families.unfold.labelled import (
    Labelled,
    labelled,
    labels_of_samples,
    ways_to_classes,
)
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model
from sdpdr.model.blocks.separation import UNLABELLED
from sdpdr.program import Solution, Status
from sdpdr.program.point import leading_factor, spectrum_of

# Share of a class that must be on its side; with less, a warning says that slack is too cheap.
_MOST = 0.75
_PERHAPS_IMPOSSIBLE = (Status.INFEASIBLE, Status.UNVERIFIED, Status.INACCURATE, Status.FAILED)


@dataclass(eq=False, repr=False)
class ISM(ClassifierMixin, LengthEmbedding):  # type: ignore[misc]  # scikit-learn has no types
    r"""Isometric separation map: unfold so that a hyperplane separates the classes.

    Solves `sdpdr.methods.ism`. The method is transductive: unlabelled points (label -1) are in the
    map, with the lengths to their neighbours, and get the label of the labelled point that is
    nearest in the map, or that of their side. Labels of new points are interpolated.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of ``embedding_``; the classifier uses all dimensions.
    anchors : array_like of int, optional
        Samples whose points are the normals of the hyperplanes, see `sdpdr.methods.ism`.
    margin : float, optional
        :math:`\gamma`, in units of squared length, see `sdpdr.methods.ism`.
    furthest : {"auto", "all"} or FurthestPairs, default "all"
        Pairs to pull apart.
    decision : {"nearest", "hyperplane"}, default "nearest"
        The class of a point is that of the nearest labelled point, by shortest paths along the
        edges in the map, or that of its side of the hyperplanes.
    slack : float, optional
        Penalty for violating the margin; by default the constraints are hard.
    n_neighbors, isometry, metric, angles, connect, extension
        As for `sdpdr.MVU`.
    solver, form, landmarks, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    classes_ : array
    transduction_ : array of shape (n,)
        The class decided for each sample of `fit`.
    scores_ : array of shape (nodes, anchors)
        :math:`K_{iA}`.
    ways_ : array of shape (nodes, classes)
        Lengths, in the map, of the shortest paths to a labelled point of each class.
    anchors_, margin_ : array of int, float
        The anchors, as samples, and :math:`\gamma`.
    separating_dimension_ : int
        Number of leading eigenvectors of the Gram matrix with which every labelled point is on its
        side; 0 if there is none.
    embedding_, gram_, eigenvalues_, graph_, solution_, length_kept_
        As of `sdpdr.MVU`; the embedding is not centred, and its origin lies on the hyperplanes.

    Raises
    ------
    DataError, ShapeError
        From `fit`: one class only, labels of another length, an anchor without a label.
    InfeasibleError
        From `fit`: the margin is larger than the largest possible, which the message gives.

    Warns
    -----
    WeakSeparationWarning
        The penalty of slack is so low that the normal of a hyperplane shrank below the margin, or
        that much of a class is on the wrong side.

    References
    ----------
    Vasiloglou thesis, chapter 5.

    Examples
    --------
    >>> import numpy as np, sdpdr
    >>> X, t = sdpdr.datasets.swiss_roll(60, seed=0)
    >>> y = np.where(np.sin(0.7 * t) > 0, 1, 0)
    >>> known = np.where(np.arange(60) % 2, y, -1)
    >>> separated = sdpdr.ISM(n_neighbors=5).fit(X, known)
    >>> bool(np.all(separated.transduction_[1::2] == y[1::2]))
    True
    """

    _: KW_ONLY
    anchors: Any = None
    margin: float | None = None
    furthest: Furthest = "all"
    slack: float | None = None
    decision: str = "nearest"

    def fit(self, X: Any, y: Any = None) -> ISM:
        """Learn the map of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : array_like of shape (n,)
            Labels; -1, None, nan or a blank string for unknown ones.
        """
        require_target(self, y, "Pass labels, -1 where they are not known; sdpdr.MVU needs none.")
        validate.choice("decision", self.decision, ("nearest", "hyperplane"))
        require_classes(as_vector(y))  # before the search for neighbours and its warnings
        super().fit(X, y)
        self._seen = np.asarray(X)
        self.transduction_ = decided(self.classes_, self._decisions)[self.graph_.index]
        left_out = np.flatnonzero(self.graph_.index < 0)
        if left_out.size:
            self.transduction_[left_out] = self.predict(self._seen[left_out])
        return self

    def predict(self, X: Any) -> Any:
        """Labels of points.

        A point of `fit` has the label in ``transduction_``. The scores of a new point are those of
        its nearest neighbours, with the weights that reproduce it best; the map does not change.
        """
        return decided(self.classes_, self.decision_function(X))

    def decision_function(self, X: Any) -> Array:
        """Scores of points: for the second of two classes, shape (m,), or for each, (m, classes).

        They are the negative lengths of paths to labelled points (for two classes, the length to
        the first minus that to the second), or inner products with the anchors.
        """
        check_is_fitted(self)
        placed = np.flatnonzero(self.graph_.index >= 0)
        k = min(self.n_neighbors_, placed.size)
        points, precomputed = checked(self, X, reset=False), self.metric == "precomputed"
        near, weights = reconstructing(points, self._seen, placed, k, precomputed=precomputed)
        values = self._decisions[self.graph_.index[placed[near]]]
        return np.asarray(np.einsum("mk,mk...->m...", weights, values))

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        given = labels_of_samples(y, graph.index.size)
        anchors = None if self.anchors is None else _nodes(graph, self.anchors)
        labels = labelled(graph, given, anchors)
        self._labelled, self.classes_ = labels, labels.classes
        self.margin_ = labels.default_margin if self.margin is None else float(self.margin)
        return ism(
            graph, given, labels.anchors, self.margin_, self.furthest, self.slack, self.isometry
        )

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        labels = self._labelled
        if self.slack is None and solution.status in _PERHAPS_IMPOSSIBLE:
            self._explain()
        super()._keep(graph, solution)
        self.scores_ = self.gram_[:, labels.anchors]
        # An edge whose squared length is zero, or negative by rounding, still joins its ends.
        least = np.finfo(float).eps * float(np.max(graph.sqdist))
        lengths = np.sqrt(np.maximum(squared_lengths(graph, self.gram_), least))
        self.ways_ = ways_to_classes(graph, lengths, labels.codes, len(labels.classes))
        self.anchors_ = graph.first_samples[labels.anchors]
        self.separating_dimension_ = separating_dimension(self.gram_, labels)
        if self.slack is not None:
            self._warn_if_weak()

    def _warn_if_weak(self) -> None:
        """Warn if slack is so cheap that a normal shrinks, or that a class is on the wrong side."""
        labels = self._labelled
        norms = self.scores_[labels.anchors, np.arange(labels.anchors.size)]
        right = decided(self.classes_, self._sides()) == self.classes_[labels.codes]
        shares = [np.mean(right[labels.codes == c]) for c in range(len(self.classes_))]
        if np.all(norms >= 0.999 * self.margin_) and min(shares) >= _MOST:
            return
        worst = int(np.argmin(shares))
        warn(
            f"only {shares[worst]:.0%} of the labelled points of class {self.classes_[worst]} "
            f"are on their side, and the anchors are at the squared distances "
            f"{norms.round(4).tolist()} from the origin (the margin is {self.margin_:.4g}): "
            f"slack costs only {self.slack:g}. Raise slack.",
            WeakSeparationWarning,
        )

    @property
    def _decisions(self) -> Array:
        """Scores of the nodes for the second class, or for each."""
        if self.decision == "hyperplane":
            return self._sides()
        ways = self.ways_
        return np.asarray(ways[:, 0] - ways[:, 1] if ways.shape[1] == 2 else -ways)

    def _sides(self) -> Array:
        """Scores of the nodes by the hyperplanes."""
        codes = self._labelled.codes[self._labelled.anchors]
        ordered = self.scores_[:, np.argsort(codes)]
        if len(self.classes_) > 2:
            return ordered
        if codes.size == 2:
            return np.asarray(ordered[:, 1] - ordered[:, 0])
        return np.asarray(ordered[:, 0] if codes[0] == 1 else -ordered[:, 0])

    def _explain(self) -> None:
        """Raise an error if the margin is the reason why there is no solution."""
        labels = self._labelled
        if self.isometry == "inequality" and self.margin_ <= labels.sure_margin:
            return
        model = separation_margin(labels.graph, labels.codes, labels.anchors, self.isometry)
        largest = self._solved(model)
        limit = largest.value if largest.bound is None else largest.bound
        if not self.margin_ > limit * (1.0 - ROUNDING):
            return
        samples = labels.graph.first_samples[labels.anchors].tolist()
        raise InfeasibleError(
            f"margin={self.margin_:g} is more than the largest possible, {largest.value:.6g}, "
            f"with anchor {samples}. Take a smaller margin, other anchors, a penalty "
            "(slack=...), or lengths that may shrink (isometry='inequality')."
        )


def separating_dimension(gram: Any, labels: Labelled) -> int:
    """Number of leading eigenvectors that put every labelled point on its side; 0 if none does."""
    values, vectors = spectrum_of(gram)
    columns = leading_factor(values, vectors, values.size)
    known = np.flatnonzero(labels.codes != UNLABELLED)
    same = labels.codes[known][:, None] == labels.codes[labels.anchors][None, :]
    scores = np.zeros(same.shape)
    for r in range(columns.shape[1]):
        scores += np.outer(columns[known, r], columns[labels.anchors, r])
        if np.all(np.where(same, scores, -scores) > 0.0):
            return r + 1
    return 0


def _nodes(graph: NeighborGraph, samples: Any) -> Index:
    """The nodes of the samples that are anchors."""
    given = validate.numbers("anchors", samples, graph.index.size, "numbers of samples")
    nodes = graph.index[given]
    if np.any(nodes < 0):
        raise DataError(
            f"anchor {given[np.argmin(nodes)]} was left out with its part of the graph; choose "
            "one in the largest part."
        )
    return np.asarray(nodes)
