"""Responses of samples, by kind: the solutions of a pencil, or of labels in closed form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
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
from sdpdr.base.labels import UNKNOWN, require_known, unknown
from sdpdr.base.rows import listed, numbered
from sdpdr.families.regress.classes import (
    by_separation,
    class_responses,
    semisupervised_responses,
)
from sdpdr.families.regress.pencil import Pencil, graph_embedding
from sdpdr.families.regress.pencils import (
    METRICS,
    class_pencil,
    contrast_pencil,
    geodesic_pencil,
    knn_within_classes,
    laplacian_pencil,
    reconstruction_pencil,
    semisupervised_pencil,
)
from sdpdr.families.regress.ridge import ALPHA, LinearMapping, choose_ridge, is_quick, ridge
from sdpdr.graphs import NeighborGraph, edge_weights, knn
from sdpdr.graphs.weighing import WEIGHTS, space_of_weights

KINDS = (
    "auto", "given", "classes", "semisupervised", "laplacian", "reconstruction", "geodesic",
    "contrast",
)  # fmt: skip
LABELLED = ("given", "classes", "semisupervised", "contrast")
# Kinds that use classes, if there are any, and for which unknown labels have no meaning.
OF_CLASSES = ("classes", "contrast", "laplacian", "reconstruction")
_WEIGHED = ("laplacian", "semisupervised", "contrast")
_CONNECT = ("none", "mst", "bridges")


@dataclass(frozen=True)
class GraphOptions:
    """How estimators build their graphs; fields are hyperparameters of `sdpdr.SpectralRegression`.

    Estimators have those fields that concern them.
    """

    n_neighbors: int | None = 5
    metric: str = "euclidean"
    connect: str = "none"
    weights: str = "binary"
    bandwidth: float | None = None
    smoothing: float = 0.1

    @classmethod
    def of(cls, estimator: Any) -> GraphOptions:
        """The options of an estimator, checked."""
        names = [field.name for field in fields(cls) if hasattr(estimator, field.name)]
        options = cls(**{name: getattr(estimator, name) for name in names})
        validate.choice("connect", options.connect, _CONNECT)
        validate.choice("metric", options.metric, METRICS)
        validate.choice("weights", options.weights, WEIGHTS)
        return options

    @property
    def weighting(self) -> dict[str, Any]:
        """Weights of edges."""
        return {"weights": self.weights, "bandwidth": self.bandwidth}

    def require_edges(self, kind: str) -> None:
        """Refuse weights of edges where edges have no weights."""
        if kind not in _WEIGHED and (self.weights != "binary" or self.bandwidth is not None):
            raise DataError(
                f"weights={self.weights!r}, bandwidth={self.bandwidth!r}: the responses {kind!r} "
                "are not made of weights of edges. Leave both out."
            )

    def pencil(self, kind: str, X: Any, y: Any, sample_weight: Array | None = None) -> Pencil:
        """The pencil of a kind; neighbours are searched within classes if y is given."""
        self.require_edges(kind)
        if kind == "classes":
            return class_pencil(y, sample_weight)
        if kind == "laplacian":
            return laplacian_pencil(self.graph(X, y), **self.weighting)
        if kind == "reconstruction":
            return reconstruction_pencil(self.graph(X, y))
        graph = self.graph(X)
        if kind == "geodesic":
            return geodesic_pencil(graph)
        if kind == "contrast":
            joined = _with_fellows(graph, y, **self.weighting)
            share = validate.real("smoothing", self.smoothing)
            return contrast_pencil(joined, y, share, **self.weighting)
        options = {**self.weighting, "sample_weight": sample_weight}
        return semisupervised_pencil(graph, y, self.smoothing, **options)

    def graph(self, X: Any, classes: np.ndarray | None = None) -> NeighborGraph:
        """The neighbour graph of samples, or of each class."""
        # None: ten, or all others if there are fewer.
        near = min(10, X.shape[0] - 1) if self.n_neighbors is None else self.n_neighbors
        with warnings.catch_warnings():
            # The estimator has warned about the columns of the data as they were passed.
            warnings.simplefilter("ignore", UnlikeColumnsWarning)
            if classes is not None:
                return knn_within_classes(X, classes, near, metric=self.metric)
            # Pencils have a row for each sample, whether or not samples share a node.
            warnings.simplefilter("ignore", DuplicatePointsWarning)
            search = partial(knn, X, metric=self.metric, connect=self.connect)
            return validate.all_if_few(near, search)[0]


@dataclass(frozen=True, eq=False)
class Responses:
    """What to regress on: vectors (n, d), with eigenvalues unless they are given.

    ``masses`` are weights of the mean that is subtracted, if they are not those of the samples.
    ``labels`` are set if any rotation of the responses is as good, so that separation orders them.
    """

    vectors: Array
    eigenvalues: Array | None = None
    masses: Array | None = None
    labels: np.ndarray | None = None
    sample_weight: Array | None = None

    def ordered(self, fitted: Array) -> tuple[Array | None, Array]:
        """Eigenvalues, and the rotation to responses in the order of separation."""
        if self.labels is None:
            return self.eigenvalues, np.eye(self.vectors.shape[1])
        partly = self.masses is not None
        return by_separation(self.vectors, fitted, self.labels, self.sample_weight, partly=partly)


def respond(
    kind: str | Pencil,
    X: Any,
    y: Any,
    options: GraphOptions,
    n_components: int,
    sample_weight: Array | None = None,
) -> Responses:
    """Responses of a kind; ``n_components`` of a pencil, all of labels or given ones."""
    if isinstance(kind, str) and kind in ("given", "classes", "semisupervised"):
        options.require_edges(kind)
    if kind == "given":
        places = np.asarray(y, dtype=float)
        return Responses(places.reshape(len(places), -1), sample_weight=sample_weight)
    if kind == "classes":
        found = class_responses(y, sample_weight)
        return Responses(found, np.ones(found.shape[1]), None, y, sample_weight)
    if kind == "semisupervised":
        carried = semisupervised_responses(
            options.graph(X), y, options.smoothing, **options.weighting, sample_weight=sample_weight
        )
        known = np.where(y != UNKNOWN, 1.0 if sample_weight is None else sample_weight, 0.0)
        return Responses(carried.vectors, carried.eigenvalues, known, y, sample_weight)
    pencil = options.pencil(kind, X, y, sample_weight) if isinstance(kind, str) else kind
    if pencil.n != X.shape[0]:
        raise ShapeError(f"the pencil has {pencil.n} samples, X has {X.shape[0]}.")
    solved = graph_embedding(pencil, n_components)
    return Responses(solved.vectors, solved.eigenvalues, pencil.totals)


def fit_linear(
    X: Any, found: Responses, alpha: float | str, penalty: Any = None
) -> tuple[LinearMapping, float]:
    """The linear map fitted to responses, and its ridge, chosen by leave-one-out if requested."""
    weights = found.sample_weight
    if alpha == "loo" or (alpha == "auto" and penalty is None and is_quick(X)):
        choice = choose_ridge(X, found.vectors, sample_weight=weights)
        if found.masses is None:
            return choice.mapping, choice.alpha
        alpha = choice.alpha
    alpha = ALPHA if isinstance(alpha, str) else float(alpha)
    options: dict[str, Any] = {"weights": found.masses, "sample_weight": weights}
    return ridge(X, found.vectors, alpha, penalty=penalty, **options), alpha


def default_dimension(y: np.ndarray | None) -> int:
    """Default number of solutions of a pencil: one less than there are classes, at least two."""
    return 2 if y is None else max(np.unique(y).size - 1, 2)


def kind_of(y: np.ndarray | None, kind: str) -> str:
    """The kind of responses that ``"auto"`` stands for; another kind is returned as it is.

    A kind that needs labels is refused without y.
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


def checked_target(
    y: Any, n: int, *, columns: bool = False, instead: str = "mark unknown labels by -1"
) -> np.ndarray | None:
    """The target of n samples, if any; a single column as a vector unless ``columns``.

    ``instead`` is the advice for unknown labels.
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


def _with_fellows(
    graph: NeighborGraph, y: np.ndarray, weights: str, bandwidth: float | None
) -> NeighborGraph:
    """Join each sample without a neighbour of its class to the nearest of its class, and warn.

    Nearest in the space in which edges are weighted. With cosines, a sample at right angles to all
    others of its class stays alone.
    """
    labels, classes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if np.any(counts == 1):
        names = listed([repr(label) for label in labels[counts == 1].tolist()])
        warn(
            f"classes of one sample: {names} (samples "
            f"{listed(np.flatnonzero(counts[classes] == 1))}). Such a sample is only kept apart "
            "from its neighbours of other classes.",
            FewPointsWarning,
        )
    own = np.zeros((graph.n, labels.size))
    np.add.at(own, (graph.index, classes), 1.0)
    near = graph.adjacency(edge_weights(graph, weights, bandwidth)) @ own
    # Samples that share a node are neighbours of each other.
    lonely = (own[graph.index, classes] == 1) & ~(near[graph.index, classes] > 0.0)
    space = space_of_weights(graph, weights)
    pairs, joined = [], []
    for sample in np.flatnonzero(lonely & (counts[classes] > 1)):
        node = graph.index[sample]
        fellows = graph.index[(classes == classes[sample]) & (graph.index != node)]
        pairs.append((node, fellows[np.argmin(space.sqdist(node, fellows))]))
        joined.append(sample)
    if not pairs:
        return graph
    nobody = "has no neighbour of its" if len(joined) == 1 else "have no neighbour of their"
    at_angles = ", or at right angles only" if weights == "cosine" else ""
    warn(
        f"{len(joined)} of {y.size} samples {nobody} class{at_angles}: {numbered(joined)}. "
        "Each was joined to the nearest sample of its class. Use more neighbours to find these.",
        AddedEdgesWarning,
    )
    return graph.with_edges(np.array(pairs))
