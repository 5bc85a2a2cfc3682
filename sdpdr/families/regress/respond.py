"""Which responses data and labels call for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, DuplicatePointsWarning, ShapeError
from sdpdr.families.regress.pencil import Pencil, graph_embedding
from sdpdr.families.regress.responses import class_responses, semisupervised_responses
from sdpdr.families.regress.weights import (
    contrast_pencil,
    geodesic_pencil,
    knn_within_classes,
    laplacian_pencil,
    reconstruction_pencil,
    semisupervised_pencil,
)
from sdpdr.graphs import NeighborGraph, knn

KINDS = (
    "auto", "given", "classes", "semisupervised", "laplacian", "reconstruction", "geodesic",
    "contrast",
)  # fmt: skip
LABELLED = ("given", "classes", "semisupervised", "contrast")
CONNECT = ("none", "mst")
_UNKNOWN = -1


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
    """

    vectors: Array
    eigenvalues: Array | None = None
    masses: Array | None = None
    classes: np.ndarray | None = None


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
        return "semisupervised" if _has_unknown(y) else "classes"
    if y is None and kind in LABELLED:
        raise DataError(
            f"this estimator requires y to be passed, but the target y is None: {kind!r} "
            "responses are made of it."
        )
    return kind


def pencil_of(
    X: Any,
    y: np.ndarray | None,
    kind: str,
    n_neighbors: int = 5,
    smoothing: float = 0.1,
    connect: str = "none",
) -> Pencil:
    """The pencil of a kind, for the samples X; within the classes where y is given.

    Raises
    ------
    DataError
        As the constructors of pencils do.
    """
    validate.choice("connect", connect, CONNECT)
    if kind in ("laplacian", "reconstruction") and y is not None:
        graph = knn_within_classes(X, y, n_neighbors)
    else:
        graph = _graph(X, n_neighbors, connect)
    if kind == "semisupervised":
        return semisupervised_pencil(graph, _target(y), smoothing)
    if kind == "contrast":
        return contrast_pencil(_with_company(graph, X, _target(y)), _target(y), smoothing)
    if kind == "geodesic":
        return geodesic_pencil(graph)
    return laplacian_pencil(graph) if kind == "laplacian" else reconstruction_pencil(graph)


def respond(
    X: Any,
    y: np.ndarray | None,
    kind: str | Pencil = "auto",
    n_components: int | None = None,
    *,
    n_neighbors: int = 5,
    connect: str = "none",
    smoothing: float = 0.1,
    seed: int = 0,
) -> Responses:
    """Responses of samples; parameters as of `sdpdr.SpectralRegression`.

    Raises
    ------
    DataError, ShapeError, UnknownNameError, DisconnectedGraphError
    """
    if isinstance(kind, Pencil):
        return _of_pencil(kind, X.shape[0], y, n_components or 2, seed)
    kind = kind_of(y, kind)
    if kind == "given":
        places = _target(y).astype(float)
        return Responses(_cut(places if places.ndim == 2 else places[:, None], n_components))
    if kind == "classes":
        found = _cut(class_responses(_target(y)), n_components)
        return Responses(found, np.ones(found.shape[1]), None, np.unique(_target(y)))
    if kind == "semisupervised":
        labels = _target(y)
        validate.choice("connect", connect, CONNECT)
        graph = _graph(X, n_neighbors, connect)
        carried = semisupervised_responses(graph, labels, smoothing)
        vectors = _cut(carried.vectors, n_components)
        known = labels != _UNKNOWN
        values = carried.eigenvalues[: vectors.shape[1]]
        return Responses(vectors, values, known.astype(float), np.unique(labels[known]))
    pencil = pencil_of(X, y, kind, n_neighbors, smoothing, connect)
    default = 2 if y is None else max(np.unique(y).size - 1, 1)
    d = default if n_components is None else n_components
    return _of_pencil(pencil, X.shape[0], y, d, seed)


def _of_pencil(pencil: Pencil, n: int, y: np.ndarray | None, d: int, seed: int) -> Responses:
    if pencil.n != n:
        raise ShapeError(f"the pencil is of {pencil.n} samples, X of {n}.")
    found = graph_embedding(pencil, d, seed)
    classes = None if y is None or y.ndim == 2 else np.unique(y)
    return Responses(found.vectors, found.eigenvalues, pencil.totals, classes)


def _with_company(graph: NeighborGraph, X: Any, y: np.ndarray) -> NeighborGraph:
    """A sample without a neighbour of its class is joined to the nearest of them."""
    i, j = graph.edges.T
    classes = np.unique(y, return_inverse=True)[1]
    member = np.zeros((graph.n, classes.max() + 1), dtype=bool)
    member[graph.index, classes] = True
    own = np.bincount(graph.index * member.shape[1] + classes, minlength=member.size)
    own = own.reshape(member.shape)
    near = np.zeros_like(own)
    np.add.at(near, i, own[j])
    np.add.at(near, j, own[i])
    # Samples of one node are neighbours of each other.
    lonely = np.flatnonzero((near + own)[graph.index, classes] == 1)
    pairs = []
    for sample in lonely:
        fellows = np.flatnonzero((y == y[sample]) & (graph.index != graph.index[sample]))
        if not fellows.size:
            raise DataError(f"sample {sample} is the only one of its class, {y[sample]!r}.")
        away = np.sum((np.asarray(X)[fellows] - np.asarray(X)[sample]) ** 2, axis=1)
        pairs.append((graph.index[sample], graph.index[fellows[np.argmin(away)]]))
    return graph.with_edges(np.array(pairs)) if pairs else graph


def _graph(X: Any, n_neighbors: int, connect: str) -> NeighborGraph:
    with warnings.catch_warnings():
        # Pencils are of samples, whether or not some share a node.
        warnings.simplefilter("ignore", DuplicatePointsWarning)
        return knn(X, n_neighbors, connect=connect)


def _target(y: np.ndarray | None) -> np.ndarray:
    assert y is not None
    return y


def _cut(responses: Array, n_components: int | None) -> Array:
    most = responses.shape[1]
    d = validate.positive_integer("n_components", most if n_components is None else n_components)
    if d > most:
        raise DataError(
            f"n_components={d} is out of range: these responses have {most} column"
            f"{'s' if most > 1 else ''} (classes less one, or those given)."
        )
    return responses[:, :d]


def _has_unknown(y: np.ndarray) -> bool:
    """Labels of which -1 stands for none, unless there are just two and it is one of them."""
    values = np.unique(y)
    return bool(y.dtype.kind in "iuf" and values.size > 2 and np.any(values == _UNKNOWN))
