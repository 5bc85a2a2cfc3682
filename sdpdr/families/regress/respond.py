"""What an embedding should be, sample by sample, and which that is for data and labels."""

from __future__ import annotations

import sys
import warnings
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import (
    AddedEdgesWarning,
    DataError,
    DuplicatePointsWarning,
    FewPointsWarning,
    ShapeError,
    UnlikeColumnsWarning,
    warn,
)
from sdpdr.base.estimators import Transformer
from sdpdr.base.labels import UNKNOWN, require_known, unknown
from sdpdr.base.rows import listed, numbered
from sdpdr.families.regress.classes import by_separation, class_responses, semisupervised_responses
from sdpdr.families.regress.pencil import Pencil, graph_embedding
from sdpdr.families.regress.weights import (
    METRICS,
    class_pencil,
    contrast_pencil,
    geodesic_pencil,
    knn_within_classes,
    laplacian_pencil,
    reconstruction_pencil,
    semisupervised_pencil,
)
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.graphs.weighing import WEIGHTS, edge_weights, space_of_weights

KINDS = (
    "auto", "given", "classes", "semisupervised", "laplacian", "reconstruction", "geodesic",
    "contrast",
)  # fmt: skip
LABELLED = ("given", "classes", "semisupervised", "contrast")
# Made of classes alone, where there are any: labels that are not known mean nothing to them.
OF_CLASSES = ("classes", "contrast", "laplacian", "reconstruction")
CONNECT = ("none", "mst", "bridges")
# Neighbours where none are asked for.
_TEN = 10
# Made of weights of edges.
WEIGHED = ("laplacian", "semisupervised", "contrast")


@dataclass(frozen=True, eq=False)
class Responses:
    """What to regress on.

    Attributes
    ----------
    vectors : array of shape (n, d)
    eigenvalues : array of shape (d,), or None
        Of the pencil; None for an embedding that was given.
    masses : array of shape (n,), or None
        Weights of the mean that data are taken from; None for the plain one.
    classes : array, or None
    labels : array of shape (n,), or None
        Of responses of classes, any turn of which serves as well.
    sample_weight : array of shape (n,), or None
        How much each sample counts in what is fitted to them.
    """

    vectors: Array
    eigenvalues: Array | None = None
    masses: Array | None = None
    classes: np.ndarray | None = None
    labels: np.ndarray | None = None
    sample_weight: Array | None = None


def default_dimension(y: np.ndarray | None) -> int:
    """Directions of a pencil that has more of them than there are classes, where none is asked.

    Two, since a line through two classes loses what only a second direction tells; or one less
    than there are classes.

    Examples
    --------
    >>> default_dimension(np.array([0, 1, 1])), default_dimension(np.arange(10))
    (2, 9)
    """
    return 2 if y is None else max(np.unique(y).size - 1, 2)


def checked_target(
    y: Any, n: int, *, columns: bool = False, instead: str = "mark unknown labels by -1"
) -> np.ndarray | None:
    """The target of n samples, if there is one; a single column as a vector, unless of columns.

    ``instead`` says what to do about labels that are not known.
    """
    if y is None:
        return None
    y = np.asarray(y)
    if y.shape[:1] != (n,):
        raise ShapeError(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, y "
            f"has shape {y.shape}."
        )
    require_known(y, instead)
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 and not columns else y


def kind_of(y: np.ndarray | None, kind: str) -> str:
    """The kind that ``"auto"`` stands for; another is passed on.

    Raises
    ------
    DataError
        There is no y, and the kind is made of one.
    UnknownNameError
    """
    validate.choice("responses", kind, KINDS)
    if kind == "auto":
        if y is None:
            return "laplacian"
        if y.ndim == 2 or type_of_target(y).startswith("continuous"):
            return "given"
        return "semisupervised" if unknown(y).any() else "classes"
    if y is None and kind in LABELLED:
        raise DataError(
            f"{kind!r} responses requires y to be passed, but the target y is None. Pass a label "
            "for each sample, or choose responses that need none."
        )
    return kind


@dataclass(eq=False, repr=False)
class Responding(Transformer):
    """Base of estimators that regress on responses: what those are made of.

    Fields are hyperparameters, as of `sdpdr.SpectralRegression`; a subclass adds its own.
    """

    n_components: int | None = None
    _: KW_ONLY
    n_neighbors: int | None = 5
    metric: str = "euclidean"
    weights: str = "binary"
    bandwidth: float | None = None
    connect: str = "none"
    smoothing: float = 0.1
    random_state: int = 0

    def _responses(
        self,
        X: Any,
        y: np.ndarray | None,
        kind: str | Pencil,
        sample_weight: Array | None = None,
    ) -> Responses:
        """Responses of the samples X, of a kind that `kind_of` knows or by a pencil."""
        if isinstance(kind, Pencil):
            return self._of_pencil(kind, X, y, 2)
        self._check_weights(kind)
        if kind == "given":
            places = _target(y).astype(float)
            places = self._cut(places if places.ndim == 2 else places[:, None])
            return Responses(places, sample_weight=sample_weight)
        if kind == "classes":
            labels = _target(y)
            found, names = class_responses(labels, sample_weight), np.unique(labels)
            return Responses(found, np.ones(names.size - 1), None, names, labels, sample_weight)
        if kind == "semisupervised":
            return self._carried(X, _target(y), sample_weight)
        return self._of_pencil(self._pencil(X, y, kind), X, y, default_dimension(y))

    def _carried(self, X: Any, y: np.ndarray, sample_weight: Array | None) -> Responses:
        """Responses of labels, carried along the graph to samples without any."""
        found = semisupervised_responses(
            self._graph(X), y, self.smoothing, **self._weighing, sample_weight=sample_weight
        )
        known = np.where(y != UNKNOWN, 1.0 if sample_weight is None else sample_weight, 0.0)
        classes = np.unique(y[y != UNKNOWN])
        return Responses(found.vectors, found.eigenvalues, known, classes, y, sample_weight)

    def _pencil(
        self, X: Any, y: np.ndarray | None, kind: str, sample_weight: Array | None = None
    ) -> Pencil:
        """The pencil of a kind, for the samples X; within the classes where y is given."""
        self._check_weights(kind)
        if kind == "classes":
            return class_pencil(_target(y), sample_weight)
        if kind in ("laplacian", "reconstruction"):
            graph = self._graph(X, y)
            if kind == "laplacian":
                return laplacian_pencil(graph, **self._weighing)
            return reconstruction_pencil(graph)
        graph = self._graph(X)
        if kind == "semisupervised":
            options = {**self._weighing, "sample_weight": sample_weight}
            return semisupervised_pencil(graph, _target(y), self.smoothing, **options)
        if kind == "contrast":
            company = _with_company(graph, _target(y), self.weights, self.bandwidth)
            share = validate.real("smoothing", self.smoothing)
            return contrast_pencil(company, _target(y), share, **self._weighing)
        return geodesic_pencil(graph)

    @property
    def _weighing(self) -> dict[str, Any]:
        return {"weights": self.weights, "bandwidth": self.bandwidth}

    def _check_weights(self, kind: str | Pencil) -> None:
        validate.choice("weights", self.weights, WEIGHTS)
        if kind in WEIGHED or (self.weights == "binary" and self.bandwidth is None):
            return
        name = kind.name if isinstance(kind, Pencil) else kind
        raise DataError(
            f"weights={self.weights!r}, bandwidth={self.bandwidth!r}: the responses, {name!r}, "
            "are not made of weights of edges. Leave both out."
        )

    def _check_graph(self) -> None:
        validate.choice("connect", self.connect, CONNECT)
        validate.choice("metric", self.metric, METRICS)

    def _graph(self, X: Any, classes: np.ndarray | None = None) -> NeighborGraph:
        with warnings.catch_warnings():
            # Told of all samples as they were passed.
            warnings.simplefilter("ignore", UnlikeColumnsWarning)
            if classes is not None:
                return knn_within_classes(X, classes, self._near(X), metric=self.metric)
            # Pencils are of samples, whether or not some share a node.
            warnings.simplefilter("ignore", DuplicatePointsWarning)
            found = partial(knn, X, metric=self.metric, connect=self.connect)
            return validate.all_if_few(self._near(X), found)[0]

    def _near(self, X: Any) -> int:
        """How many neighbours: as said, or ten, of fewer others all."""
        return min(_TEN, X.shape[0] - 1) if self.n_neighbors is None else self.n_neighbors

    def _of_pencil(self, pencil: Pencil, X: Any, y: np.ndarray | None, default: int) -> Responses:
        if pencil.n != X.shape[0]:
            raise ShapeError(f"the pencil is of {pencil.n} samples, X of {X.shape[0]}.")
        d = min(default, self._widest)
        if self.n_components is not None:
            d = self._at_most(self._widest, "since a linear map has no more than X has columns")
        found = graph_embedding(pencil, d, validate.seed(self.random_state))
        classes = None if y is None or y.ndim == 2 else np.unique(y)
        return Responses(found.vectors, found.eigenvalues, pencil.totals, classes)

    def _ordered(self, found: Responses, fitted: Array) -> tuple[Array, Array]:
        """The turn of responses of classes to columns that separate best, and how well they do."""
        unlabelled = None if found.masses is None else UNKNOWN
        labels = _target(found.labels)
        shares, turn = by_separation(found.vectors, fitted, labels, unlabelled, found.sample_weight)
        turn = self._cut(turn[:, : self._widest])
        return shares[: turn.shape[1]], turn

    def _cut(self, responses: Array) -> Array:
        most = responses.shape[1]
        of = "those given, or classes less one, and no more than a linear map has of X"
        return responses[:, : self._at_most(most, f"since responses have {most} columns ({of})")]

    def _at_most(self, most: int, why: str) -> int:
        """How many components there are to be, checked."""
        d = most if self.n_components is None else self.n_components
        return validate.positive_integer("n_components", d, at_most=most, why=why)

    @property
    def _widest(self) -> int:
        """Columns of a map that do not follow from the others: of linear ones as many as of X."""
        is_linear = getattr(self, "kernel", None) is None
        return self.n_features_in_ if is_linear else sys.maxsize


def _with_company(
    graph: NeighborGraph, y: np.ndarray, weights: str, bandwidth: float | None
) -> NeighborGraph:
    """A sample that weighs nothing with its class is joined to the nearest, with a warning.

    Nearest as edges are weighed: by angles where these are cosines, and one at a right angle to
    all others of its class stays alone.
    """
    classes = np.unique(y, return_inverse=True)[1]
    own = np.zeros((graph.n, classes.max() + 1))
    np.add.at(own, (graph.index, classes), 1.0)
    near = graph.adjacency(edge_weights(graph, weights, bandwidth)) @ own
    # Samples of one node are neighbours of each other.
    alone = own[graph.index, classes] == 1
    lonely = np.flatnonzero(alone & ~(near[graph.index, classes] > 0.0))
    _warn_of_single(y)
    pairs, joined = [], []
    space = space_of_weights(graph, weights)
    assert space is not None
    for sample in lonely:
        fellows = np.flatnonzero((y == y[sample]) & (graph.index != graph.index[sample]))
        if not fellows.size:
            continue  # The only one of its class is its own company.
        node = graph.index[sample]
        away = space.sqdist(node, graph.index[fellows])
        pairs.append((node, graph.index[fellows[np.argmin(away)]]))
        joined.append(sample)
    if not pairs:
        return graph
    no_company = "has no neighbour of its" if len(joined) == 1 else "have no neighbour of their"
    at_angles = ", or at right angles only" if weights == "cosine" else ""
    warn(
        f"{len(joined)} of {y.size} samples {no_company} class{at_angles}: {numbered(joined)}. "
        "Each was joined to the nearest sample of its class, or the pencil would weigh nothing "
        "there; take more neighbours if these should be found.",
        AddedEdgesWarning,
    )
    return graph.with_edges(np.array(pairs))


def _warn_of_single(y: np.ndarray) -> None:
    """Of samples that are the only one of their class."""
    labels, first, counts = np.unique(y, return_index=True, return_counts=True)
    single = counts == 1
    if single.any():
        warn(
            f"classes of one sample: {listed([repr(k) for k in labels[single].tolist()])} (samples "
            f"{listed(first[single])}). Nothing holds such a sample together with its class; it is "
            "only kept apart from its neighbours of others.",
            FewPointsWarning,
        )


def _target(y: np.ndarray | None) -> np.ndarray:
    assert y is not None
    return y
