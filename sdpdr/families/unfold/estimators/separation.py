"""Isometric separation maps with scikit-learn's face: an embedding that classifies."""

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
from sdpdr.base.labels import as_vector, require_classes
from sdpdr.families.regress.transduction import reconstructing
from sdpdr.families.unfold.estimators.gram import LengthEmbedding, squared_lengths
from sdpdr.families.unfold.ism import Furthest, ism, separation_margin
from sdpdr.families.unfold.labelled import (
    Labelled,
    decided,
    labelled,
    labels_of_samples,
    ways_to_classes,
)
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model
from sdpdr.model.blocks.separation import UNLABELLED
from sdpdr.program import Solution, Status
from sdpdr.program.point import Value, leading_factor, spectrum_of

DECISIONS = ("nearest", "hyperplane")
# Share of the largest multiplier from which on a row counts as one that holds the margin down.
_HOLDS = 0.05
_NAMED = 4
# Share of a class that priced rows should put on its side.
_MOST = 0.75
_PERHAPS_IMPOSSIBLE = (
    Status.INFEASIBLE,
    Status.UNVERIFIED,
    Status.INACCURATE,
    Status.FAILED,
)


@dataclass(eq=False, repr=False)
class ISM(ClassifierMixin, LengthEmbedding):  # type: ignore[misc]  # scikit-learn has no types
    r"""Isometric separation map: unfold so that a hyperplane separates the classes.

    Solves `sdpdr.methods.ism`. Unlabelled points (label -1) take part, held by the lengths to
    their neighbours, and get the label of the labelled point that is nearest in the map, or that
    of their side: the method is transductive. Labels of points seen later are interpolated, see
    `predict`.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of ``embedding_``; the classifier uses all dimensions.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
    anchors : array_like of int, optional
        Samples whose points are the normals of the hyperplanes, see `sdpdr.methods.ism`.
    margin : float or "half", optional
        :math:`\gamma`, in units of squared length; ``"half"`` finds the largest possible one
        first and takes half of it.
    furthest : {"auto", "all"} or FurthestPairs, default "all"
        Pairs to pull apart.
    decision : {"nearest", "hyperplane"}, default "nearest"
        What tells the class of a point: the labelled point nearest to it along the edges, in
        lengths of the map, or the side of the hyperplanes on which it lies.
    slack : float, optional
        Price of rows that fall short of the margin; hard rows by default.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
    metric, angles, connect, extension, solver, form, landmarks, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    classes_ : array
    transduction_ : array of shape (n,)
        What was decided of each sample of `fit`.
    scores_ : array of shape (nodes, anchors)
        :math:`K_{iA}`.
    ways_ : array of shape (nodes, classes)
        Lengths, in the map, of the shortest ways along edges to a labelled point of each class.
    anchors_ : array of int
        The samples that are anchors.
    margin_ : float
        :math:`\gamma`.
    separating_dimension_ : int
        Leading eigenvectors of the Gram matrix needed to put every labelled point on its side.
    embedding_, gram_, eigenvalues_, graph_, solution_, n_features_in_, feature_names_in_
        As of `sdpdr.MVU`; the embedding is not centred, its origin lies on the hyperplanes.

    Raises
    ------
    DataError, ShapeError
        From `fit`: one class only, labels of another length, an anchor without a label.
    InfeasibleError
        From `fit`: the margin is larger than the largest possible, which the message gives with
        the points that prevent more.

    Warns
    -----
    WeakSeparationWarning
        The price of slack is so low that a hyperplane lost its normal, or has much of a class on
        the wrong side.

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
    margin: float | str | None = None
    furthest: Furthest = "all"
    slack: float | None = None
    decision: str = "nearest"

    def fit(self, X: Any, y: Any = None) -> ISM:
        """Learn the map of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : array_like of shape (n,)
            Labels, -1 (or None, nan, or a blank) where not known.

        Returns
        -------
        self
        """
        if y is None:
            raise DataError(
                "ISM requires y to be passed, but the target y is None. Pass labels, -1 where "
                "they are not known; sdpdr.MVU needs none."
            )
        validate.choice("decision", self.decision, DECISIONS)
        require_classes(as_vector(y))  # before a graph is searched, and warned of
        super().fit(X, y)
        self._seen = np.asarray(X)
        self.transduction_ = decided(self.classes_, self._decisions)[self.graph_.index]
        left_out = np.flatnonzero(self.graph_.index < 0)
        if left_out.size:
            self.transduction_[left_out] = self.predict(self._seen[left_out])
        return self

    def predict(self, X: Any) -> Any:
        """Labels of points.

        A point seen by `fit` has the label decided there. A new one has the scores of its nearest
        neighbours, weighted so that they reproduce it; it takes no part in the map.

        Parameters
        ----------
        X : array_like of shape (m, D), or distances to the samples of `fit`, (m, n)

        Returns
        -------
        array of shape (m,)
        """
        scores = self.decision_function(X)
        return decided(self.classes_, scores)

    def decision_function(self, X: Any) -> Array:
        """Scores of points: of the second class, shape (m,), or of each, (m, classes).

        Minus the ways to labelled points (of two classes, by how much that to the first is
        longer), or inner products with the anchors.

        Parameters
        ----------
        X : array_like
            As for `predict`.
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
        if isinstance(self.margin, str):
            validate.choice("margin", self.margin, ("half",))
            self.margin_ = self._largest_margin(labels).value / 2.0
        else:
            self.margin_ = labels.default_margin if self.margin is None else float(self.margin)
        return ism(
            graph, given, labels.anchors, self.margin_, self.furthest, self.slack, self.isometry
        )

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        if self.slack is None and solution.status in _PERHAPS_IMPOSSIBLE:
            self._explain()
        super()._keep(graph, solution)
        labels = self._labelled
        self.scores_ = self.gram_[:, labels.anchors]
        self.ways_ = _ways(self.gram_, labels)
        self.anchors_ = graph.first_samples[labels.anchors]
        self.separating_dimension_ = separating_dimension(self.gram_, labels)
        if self.slack is not None:
            self._warn_if_weak()

    def _warn_if_weak(self) -> None:
        """Of slack so cheap that a normal shrinks, or much of a class is on the wrong side."""
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
        """Scores of the nodes: of the second class, or of each."""
        if self.decision == "hyperplane":
            return self._sides()
        ways = self.ways_
        return np.asarray(ways[:, 0] - ways[:, 1] if ways.shape[1] == 2 else -ways)

    def _sides(self) -> Array:
        codes = self._labelled.codes[self._labelled.anchors]
        ordered = self.scores_[:, np.argsort(codes)]
        if len(self.classes_) > 2:
            return ordered
        if codes.size == 2:
            return np.asarray(ordered[:, 1] - ordered[:, 0])
        return np.asarray(ordered[:, 0] if codes[0] == 1 else -ordered[:, 0])

    def _largest_margin(self, labels: Labelled) -> Solution:
        model = separation_margin(labels.graph, labels.codes, labels.anchors, self.isometry)
        return self._solved(model)

    def _explain(self) -> None:
        """Raise if the margin is the reason why there is no solution."""
        if self.isometry == "inequality" and self.margin_ <= self._labelled.sure_margin:
            return
        largest = self._largest_margin(self._labelled)
        limit = largest.value if largest.bound is None else largest.bound
        if not self.margin_ > limit * (1.0 - 1e-9):
            return
        raise InfeasibleError(
            f"margin={self.margin_:g} is more than the largest possible, {largest.value:.6g}, "
            f"with anchor {self._samples(self._labelled.anchors)}. No more is possible because "
            f"of {self._holding(largest)}. Take a smaller margin, other anchors, a price "
            "(slack=...), or lengths that may shrink (isometry='inequality')."
        )

    def _holding(self, largest: Solution) -> str:
        """The labelled points and edges whose multipliers are largest, in words."""
        labels = self._labelled
        known = np.flatnonzero(labels.codes != UNLABELLED)
        rows = np.abs(largest.duals["separation"]).reshape(-1, known.size).max(axis=0)
        points = known[_leading(rows)]
        edges = labels.graph.edges[_leading(np.abs(_sum_of(largest, "isometry")))]
        pairs = ", ".join(str(tuple(self._samples(edge))) for edge in edges)
        return f"points {self._samples(points)} and the lengths of edges {pairs}"

    def _samples(self, nodes: Index) -> list[int]:
        samples: list[int] = self._labelled.graph.first_samples[nodes].tolist()
        return samples


def _ways(gram: Value, labels: Labelled) -> Array:
    """Shortest ways along edges, in lengths of a map, to a labelled node of each class."""
    graph = labels.graph
    # An edge that vanished, or fell below zero by rounding, is still a way.
    least = np.finfo(float).eps * float(np.max(graph.sqdist))
    lengths = np.sqrt(np.maximum(squared_lengths(graph, gram), least))
    return ways_to_classes(graph, lengths, labels.codes, len(labels.classes))


def separating_dimension(gram: Any, labels: Labelled) -> int:
    """Leading eigenvectors needed to have every labelled point on the side of its class.

    Parameters
    ----------
    gram : array or Factor
        Of the nodes, not centred.
    labels : Labelled

    Returns
    -------
    int
        0 if not even all of them separate.
    """
    values, vectors = spectrum_of(gram)
    columns = leading_factor(values, vectors, values.size)
    known = np.flatnonzero(labels.codes != UNLABELLED)
    same = labels.codes[known][:, None] == labels.codes[labels.anchors][None, :]
    side = np.where(same, 1.0, -1.0)
    scores = np.zeros(side.shape)
    for r in range(columns.shape[1]):
        scores += np.outer(columns[known, r], columns[labels.anchors, r])
        if np.all(side * scores > 0.0):
            return r + 1
    return 0


def _nodes(graph: NeighborGraph, samples: Any) -> Index:
    """Nodes of samples named as anchors."""
    given = validate.numbers("anchors", samples, graph.index.size, "numbers of samples")
    nodes = graph.index[given]
    if np.any(nodes < 0):
        raise DataError(
            f"anchor {given[np.argmin(nodes)]} was left out with its part of the graph; choose "
            "one in the largest part."
        )
    return np.asarray(nodes)


def _leading(weights: Array) -> Index:
    """Positions of the few largest weights that matter."""
    order = np.argsort(-weights)[:_NAMED]
    return order[weights[order] > _HOLDS * weights[order[0]]]


def _sum_of(solution: Solution, label: str) -> Array:
    """Multipliers of a block, of all its groups of rows together."""
    parts = [y for name, y in solution.duals.items() if name.split(".")[0] == label]
    return np.sum(np.abs(parts), axis=0)
