"""What an embedding should be, sample by sample, and which that is for data and labels."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import type_of_target

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import (
    AddedEdgesWarning,
    DataError,
    DuplicatePointsWarning,
    ShapeError,
)
from sdpdr.base.estimators import Transformer
from sdpdr.base.labels import require_known
from sdpdr.base.rows import listed
from sdpdr.families.regress.pencil import GraphEmbedding, Pencil, graph_embedding
from sdpdr.families.regress.weights import (
    METRICS,
    class_pencil,
    classes_of,
    contrast_pencil,
    geodesic_pencil,
    knn_within_classes,
    laplacian_pencil,
    reconstruction_pencil,
    samples_of,
    semisupervised_pencil,
    shares_of,
)
from sdpdr.graphs import NeighborGraph, edge_weights, knn
from sdpdr.graphs.weighing import WEIGHTS
from sdpdr.linalg.inertia import Factorization
from sdpdr.linalg.walks import connected_components

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
UNKNOWN = -1


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
        return "semisupervised" if has_unknown(y) else "classes"
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

    def _responses(self, X: Any, y: np.ndarray | None, kind: str | Pencil) -> Responses:
        """Responses of the samples X, of a kind that `kind_of` knows or by a pencil."""
        if isinstance(kind, Pencil):
            return self._of_pencil(kind, X, y, 2)
        self._check_weights(kind)
        if kind == "given":
            places = _target(y).astype(float)
            return Responses(self._cut(places if places.ndim == 2 else places[:, None]))
        if kind == "classes":
            found = self._cut(class_responses(_target(y)))
            return Responses(found, np.ones(found.shape[1]), None, np.unique(_target(y)))
        if kind == "semisupervised":
            labels = _target(y)
            graph = self._graph(X)
            carried = semisupervised_responses(graph, labels, self.smoothing, **self._weighing)
            vectors = self._cut(carried.vectors)
            known = labels != UNKNOWN
            values = carried.eigenvalues[: vectors.shape[1]]
            return Responses(vectors, values, known.astype(float), np.unique(labels[known]))
        return self._of_pencil(self._pencil(X, y, kind), X, y, default_dimension(y))

    def _pencil(self, X: Any, y: np.ndarray | None, kind: str) -> Pencil:
        """The pencil of a kind, for the samples X; within the classes where y is given."""
        self._check_weights(kind)
        if kind == "classes":
            return class_pencil(_target(y))
        if kind in ("laplacian", "reconstruction"):
            graph = self._graph(X, y)
            if kind == "laplacian":
                return laplacian_pencil(graph, **self._weighing)
            return reconstruction_pencil(graph)
        graph = self._graph(X)
        if kind == "semisupervised":
            return semisupervised_pencil(graph, _target(y), self.smoothing, **self._weighing)
        if kind == "contrast":
            company = _with_company(graph, _target(y))
            return contrast_pencil(company, _target(y), self.smoothing, **self._weighing)
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

    def _graph(self, X: Any, classes: np.ndarray | None = None) -> NeighborGraph:
        validate.choice("connect", self.connect, CONNECT)
        validate.choice("metric", self.metric, METRICS)
        if classes is not None:
            return knn_within_classes(X, classes, self._near(X), metric=self.metric)
        with warnings.catch_warnings():
            # Pencils are of samples, whether or not some share a node.
            warnings.simplefilter("ignore", DuplicatePointsWarning)
            return knn(X, self._near(X), metric=self.metric, connect=self.connect)

    def _near(self, X: Any) -> int:
        """How many neighbours: as said, or ten, of fewer others all."""
        return min(_TEN, X.shape[0] - 1) if self.n_neighbors is None else self.n_neighbors

    def _of_pencil(self, pencil: Pencil, X: Any, y: np.ndarray | None, default: int) -> Responses:
        if pencil.n != X.shape[0]:
            raise ShapeError(f"the pencil is of {pencil.n} samples, X of {X.shape[0]}.")
        d = default if self.n_components is None else self.n_components
        found = graph_embedding(pencil, d, self.random_state)
        classes = None if y is None or y.ndim == 2 else np.unique(y)
        return Responses(found.vectors, found.eigenvalues, pencil.totals, classes)

    def _cut(self, responses: Array) -> Array:
        most, d = responses.shape[1], self.n_components
        d = validate.positive_integer(
            "n_components",
            most if d is None else d,
            at_most=most,
            why=f"since responses have {most} columns (classes less one, or those given)",
        )
        return responses[:, :d]


def _with_company(graph: NeighborGraph, y: np.ndarray) -> NeighborGraph:
    """A sample without a neighbour of its class is joined to the nearest, with a warning."""
    classes = np.unique(y, return_inverse=True)[1]
    own = np.zeros((graph.n, classes.max() + 1))
    np.add.at(own, (graph.index, classes), 1.0)
    near = graph.adjacency() @ own
    # Samples of one node are neighbours of each other.
    lonely = np.flatnonzero((near + own)[graph.index, classes] == 1)
    pairs = []
    for sample in lonely:
        fellows = np.flatnonzero((y == y[sample]) & (graph.index != graph.index[sample]))
        if not fellows.size:
            raise DataError(f"sample {sample} is the only one of its class, {y[sample]!r}.")
        space, node = graph.provenance.space, graph.index[sample]
        assert space is not None
        away = space.sqdist(node, graph.index[fellows])
        pairs.append((node, graph.index[fellows[np.argmin(away)]]))
    if not pairs:
        return graph
    warnings.warn(
        f"samples without a neighbour of their class: {listed(lonely)}. Each was joined "
        "to the nearest sample of its class, or its pencil would weigh nothing there; take more "
        "neighbours if these should be found.",
        AddedEdgesWarning,
        stacklevel=2,
    )
    return graph.with_edges(np.array(pairs))


def _target(y: np.ndarray | None) -> np.ndarray:
    assert y is not None
    return y


def has_unknown(y: np.ndarray) -> bool:
    """Labels of which -1 stands for none, unless there are just two and it is one of them."""
    values = np.unique(y)
    return bool(y.dtype.kind in "iuf" and values.size > 2 and np.any(values == UNKNOWN))


def class_responses(y: ArrayLike) -> Array:
    """Orthonormal responses of classes, orthogonal to the constant; shape (n, classes - 1).

    They span what the indicators of the classes span beside the constant vector, so they solve
    `class_pencil` with eigenvalue one. Samples of one class have one response.

    Parameters
    ----------
    y : array_like of shape (n,)
        At least two classes.

    References
    ----------
    Cai thesis, (3.9), by Gram-Schmidt; here from one decomposition of the order of the classes.

    Examples
    --------
    >>> class_responses(["a", "a", "b", "b"]).round(3)
    array([[ 0.5],
           [ 0.5],
           [-0.5],
           [-0.5]])
    """
    _, member, counts = classes_of(y)
    root = np.sqrt(counts)
    basis = _orthogonal_to(root)
    codes = basis / root[:, None]
    # Of the codes of equal size the first is made positive, whatever rounding says.
    leading = np.argmax(np.abs(codes).round(12), axis=0)
    codes *= np.sign(codes[leading, np.arange(codes.shape[1])])
    return np.asarray(codes[member])


def _components(W: sp.csr_array) -> Index:
    W.eliminate_zeros()
    return np.asarray(connected_components(W)[1], dtype=np.int64)


def _orthogonal_to(vector: Array) -> Array:
    """An orthonormal basis of what is orthogonal to a vector, columns."""
    n = vector.size
    return np.linalg.qr(np.column_stack([vector, np.eye(n)]))[0][:, 1:n]


def semisupervised_responses(
    graph: NeighborGraph,
    y: ArrayLike,
    alpha: float = 0.1,
    unlabelled: object = -1,
    *,
    weights: str = "binary",
    bandwidth: float | None = None,
) -> GraphEmbedding:
    r"""Responses of labelled samples, carried to all others along a graph.

    The pencil of semi-supervised discriminant analysis has
    :math:`W = F F^T` on the labelled samples, with F as in `class_pencil`, and
    :math:`D = \tilde I + \alpha L`, where :math:`\tilde I` marks the labelled samples and L is the
    Laplacian of the graph. Its solutions are :math:`y = D^{-1} F q` with the solutions q of the
    small matrix :math:`F^T D^{-1} F`, so one sparse factorization serves all.

    Parameters
    ----------
    graph : NeighborGraph
        Every component has a labelled sample.
    y : array_like of shape (n,)
        ``unlabelled`` where not known.
    alpha : float, default 0.1
        Positive.
    unlabelled : default -1
    weights, bandwidth : optional
        Of L, as for `sdpdr.graphs.edge_weights`.

    Returns
    -------
    GraphEmbedding
        classes - 1 vectors with :math:`y^T D y = 1`, D-orthogonal to the constant.

    Raises
    ------
    DataError
        A component of the graph has no label (D is singular then), or fewer than two classes.

    References
    ----------
    Cai thesis, (2.20)-(2.25).
    """
    alpha = validate.positive_number("alpha", alpha)
    _, member, counts = classes_of(y, unlabelled)
    if member.size != graph.index.size or np.any(graph.index < 0):
        raise ShapeError(
            f"y has {member.size} labels; the graph was made of {graph.index.size} samples"
            f"{', and dropped some' if np.any(graph.index < 0) else ''}."
        )
    known = member >= 0
    weighed = edge_weights(graph, weights, bandwidth)
    # An edge may weigh nothing: two rows at a right angle have the cosine zero.
    parts = graph.components if weighed.all() else _components(graph.adjacency(weighed))
    bare = np.setdiff1d(parts, parts[graph.index[known]])
    if bare.size:
        lost = np.flatnonzero(np.isin(parts[graph.index], bare))
        raise DataError(
            f"{bare.size} of {parts.max() + 1} components of the graph have no labelled "
            f"sample: {listed(lost)}. Label one in each, take more neighbours, or leave "
            "them out."
        )
    nodes = graph.index
    labelled = np.bincount(nodes[known], minlength=graph.n).astype(float)
    D = sp.diags_array(labelled) + alpha * graph.laplacian(weighed)
    gathered = (samples_of(graph).T @ shares_of(member, counts)).toarray()
    solve = Factorization(sp.csr_array(D)).solve
    carried = np.column_stack([solve(f) for f in gathered.T])
    small = gathered.T @ carried
    # The constant is F sqrt(counts) solved, with the eigenvalue one; the rest is orthogonal to it.
    root = np.sqrt(counts) / np.sqrt(counts.sum())
    basis = _orthogonal_to(root)
    values, q = np.linalg.eigh(basis.T @ small @ basis)
    vectors = carried @ (basis @ q[:, ::-1])
    norms = np.sqrt(np.maximum(values[::-1], np.finfo(float).tiny))
    return GraphEmbedding((vectors / norms)[nodes], values[::-1])
