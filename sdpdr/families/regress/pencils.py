"""Pencils of the graph-embedding family: from neighbours, distances, labels or a Gram matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, FewPointsWarning, ShapeError, warn
from sdpdr.base.labels import UNKNOWN, distinct, require_classes
from sdpdr.base.rows import listed
from sdpdr.families.regress.pencil import Pencil
from sdpdr.graphs import NeighborGraph, Provenance, edge_weights, geodesics
from sdpdr.graphs.pairs import upper_pairs
from sdpdr.graphs.space import make_space
from sdpdr.graphs.weighing import reconstruction_weights

METRICS = ("euclidean", "cosine")


def laplacian_pencil(
    graph: NeighborGraph, weights: str = "binary", bandwidth: float | None = None
) -> Pencil:
    r"""Neighbours attract: Laplacian eigenmaps, and locality preserving projections.

    :math:`W_{ij}` is the weight of an edge and :math:`D_{ii} = \sum_j W_{ij}`. Samples that
    coincide are joined with weight one, and so is a sample to itself if it is the only one of its
    class.

    Parameters
    ----------
    graph : NeighborGraph
    weights : {"binary", "heat", "cosine"}, default "binary"
    bandwidth : float, optional
        As for `sdpdr.graphs.edge_weights`.

    References
    ----------
    Cai thesis, (2.5) and (2.7); Belkin and Niyogi, Neural Computation 15, 2003.
    """
    W = _sample_weights(graph, weights, bandwidth)
    alone = _alone(graph)[_index(graph)] & (W.sum(axis=1) == 0.0)
    W = sp.csr_array(W + sp.diags_array(alone.astype(float)))
    return Pencil(W, _degrees(W), "laplacian")


def reconstruction_pencil(graph: NeighborGraph) -> Pencil:
    r"""Samples follow their neighbours: locally linear embedding, neighbourhood preserving maps.

    :math:`W = M + M^T - M^T M` with the weights M of sum one that reconstruct every sample from
    its own k nearest ones, and D = I, so that :math:`I - W = (I - M)^T (I - M)`.

    Parameters
    ----------
    graph : NeighborGraph
        Every node has a neighbour, or is the only one of its class and reconstructs itself. In a
        graph that only knows edges, all samples at the other ends are neighbours.

    References
    ----------
    Cai thesis, (2.1) and (2.2); Roweis and Saul, Science 290, 2000.
    """
    alone = _alone(graph)
    M = sp.eye_array(graph.n, format="csr")
    if not alone.all():
        others = np.flatnonzero(~alone)
        rest = graph.subgraph(others) if alone.any() else graph
        place = M[others]
        own = sp.diags_array(alone.astype(float))
        M = place.T @ reconstruction_weights(rest, iterations=1, directed=True) @ place + own
    # A sample that coincides with another follows the mean of those at the neighbouring nodes.
    spread = samples_of(graph)
    M = sp.csr_array(spread @ M @ sp.diags_array(1.0 / spread.sum(axis=0)) @ spread.T)
    return Pencil(sp.csr_array(M + M.T - M.T @ M), None, "reconstruction")


def geodesic_pencil(graph: NeighborGraph) -> Pencil:
    r"""Distances along the graph: Isomap, and isometric projection.

    :math:`W = -\tfrac12 H S H` with squared lengths S of shortest paths and
    :math:`H = I - \mathbf 1\mathbf 1^T/n`; D = I.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.

    References
    ----------
    Cai thesis, (2.4); Tenenbaum, de Silva and Langford, Science 290, 2000.
    """
    graph.require_connected()
    index = _index(graph)
    squares = geodesics(graph)[np.ix_(index, index)] ** 2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1)[:, None]
    return Pencil(-0.25 * (squares + squares.T), None, "geodesic")


def class_pencil(y: ArrayLike, sample_weight: Array | None = None) -> Pencil:
    r"""Samples of a class attract: linear discriminant analysis.

    :math:`W_{ij} = 1/n_k` for two samples of class k, and D = I. With weights :math:`w_i` it is
    :math:`w_i w_j / n_k`, with :math:`n_k` their sum in the class, and :math:`D_{ii} = w_i`.

    Parameters
    ----------
    y : array_like of shape (n,)
        At least two classes.
    sample_weight : array of shape (n,), optional
        Positive.

    References
    ----------
    Cai thesis, (2.16).
    """
    _, member, counts = classes_of(y, sample_weight)
    F = indicators(member, counts, sample_weight)
    return Pencil(sp.csr_array(F @ F.T), sample_weight, "classes")


def semisupervised_pencil(
    graph: NeighborGraph,
    y: ArrayLike,
    alpha: float = 0.1,
    *,
    weights: str = "binary",
    bandwidth: float | None = None,
    sample_weight: Array | None = None,
) -> Pencil:
    r"""Labelled samples of a class attract, and all samples follow their neighbours.

    W is that of `class_pencil` on the labelled samples and zero elsewhere;
    :math:`D = \tilde I + \alpha L` with :math:`\tilde I` marking the labelled samples and L the
    Laplacian of the graph. `semisupervised_responses` solves it by one sparse factorization.

    Parameters
    ----------
    graph : NeighborGraph
    y : array_like of shape (n,)
        -1 if not known.
    alpha : float, default 0.1
        Positive.
    weights, bandwidth : optional
        Of the Laplacian, as for `sdpdr.graphs.edge_weights`.
    sample_weight : array of shape (n,), optional
        Positive. A weight of two counts a sample twice; all copies are joined to all copies.

    References
    ----------
    Cai thesis, (2.20)-(2.25).
    """
    _, member, counts = classes_of(y, sample_weight, partly=True)
    alpha = validate.positive_number("alpha", alpha)
    F = indicators(member, counts, sample_weight)
    each = np.ones(member.size) if sample_weight is None else sample_weight
    W = _sample_weights(graph, weights, bandwidth)
    joined = sp.csr_array(sp.diags_array(each) @ W @ sp.diags_array(each))
    marked = sp.diags_array(np.where(member >= 0, each, 0.0))
    D = sp.csr_array(marked + alpha * _laplacian(joined))
    return Pencil(sp.csr_array(F @ F.T), D, "semisupervised")


def contrast_pencil(
    graph: NeighborGraph,
    y: ArrayLike,
    share: float = 0.1,
    *,
    weights: str = "binary",
    bandwidth: float | None = None,
) -> Pencil:
    r"""Neighbours of one class attract, those of others repel: locality sensitive analysis.

    With the edges within classes :math:`W_w` and between them :math:`W_b`, and
    :math:`L_b` the Laplacian of the latter,
    :math:`W = \alpha L_b + (1 - \alpha) W_w` and D the degrees of :math:`W_w`. The constant vector
    has the eigenvalue :math:`1 - \alpha`, in the middle of the spectrum.

    Parameters
    ----------
    graph : NeighborGraph
        Every sample has a neighbour of its class, unless it is the only one, which is joined to
        itself with weight one.
    y : array_like of shape (n,)
    share : float, default 0.1
        :math:`\alpha` in [0, 1].
    weights, bandwidth : optional
        Of the edges, as for `sdpdr.graphs.edge_weights`.

    References
    ----------
    Cai thesis, (2.26)-(2.33).
    """
    _, member, counts = classes_of(y)
    share = validate.share("share", share)
    joined = sp.coo_array(_sample_weights(graph, weights, bandwidth))
    if joined.shape[0] != member.size:
        raise ShapeError(f"y has {member.size} labels; the graph has {joined.shape[0]} samples.")
    same = member[joined.row] == member[joined.col]
    within, between = (
        sp.csr_array((joined.data[part], (joined.row[part], joined.col[part])), joined.shape)
        for part in (same, ~same)
    )
    within = within + sp.diags_array((counts[member] == 1).astype(float))
    W = sp.csr_array(share * _laplacian(between) + (1.0 - share) * within)
    return Pencil(W, _degrees(within), "contrast")


def knn_within_classes(
    X: ArrayLike, y: ArrayLike, n_neighbors: int = 5, *, metric: str = "euclidean"
) -> NeighborGraph:
    """The graph of neighbours searched inside every class (Cai thesis, section 3.3).

    A sample that is the only one of its class, or coincides with all of them, is its own neighbour.
    In a class of fewer samples than neighbours all are joined, with a `FewPointsWarning`.
    """
    validate.choice("metric", metric, METRICS)
    n_neighbors = validate.positive_integer("n_neighbors", n_neighbors)
    space = make_space(X, metric)
    labels, member, _ = classes_of(y)
    if member.size != space.n:
        raise ShapeError(f"X has {space.n} samples, y has {member.size} labels.")
    # Nodes by class and then by the first sample of each position.
    positions = np.column_stack([member, space.representatives()])
    nodes, index = np.unique(positions, axis=0, return_inverse=True)
    points, few, pairs = space.take(nodes[:, 1]), [], []
    for k, label in enumerate(labels.tolist()):
        own = np.flatnonzero(nodes[:, 0] == k)
        most = min(n_neighbors, own.size - 1)
        ends = own[points.take(own).nearest(most)] if most else own[:, None]
        pairs.append(np.column_stack([np.repeat(own, ends.shape[1]), ends.ravel()]))
        if most < n_neighbors:
            few.append(f"{label!r} ({own.size})")
    if few:
        warn(
            f"n_neighbors={n_neighbors}, but classes have fewer distinct samples: {listed(few)}. "
            "Each of those was joined to all others of its class.",
            FewPointsWarning,
        )
    i, j = np.concatenate(pairs).T
    near = sp.csr_array((np.ones(i.size, dtype=bool), (i, j)), shape=(points.n, points.n))
    made = Provenance("knn_within_classes", {"n_neighbors": n_neighbors}, points, near)
    return NeighborGraph.of_points(upper_pairs(near), np.ravel(index), made)


# -- parts of pencils ------------------------------------------------------------------------------


def classes_of(
    y: ArrayLike, sample_weight: Array | None = None, *, partly: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, the class of every sample, and sizes or weights of the classes.

    If y is known ``partly``, the label -1 is unknown, and so is the class: -1.
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ShapeError(f"y has shape {y.shape}; expected (n,).")
    require_classes(y)
    known = y != UNKNOWN if partly else np.ones(y.size, dtype=bool)
    labels, inverse = distinct(y[known])
    if labels.size < 2:
        besides = ", besides missing labels and -1, which are unknown" if partly else ""
        raise DataError(f"y has {labels.size} known classes; expected at least two{besides}.")
    member = np.full(y.size, UNKNOWN, dtype=np.intp)
    member[known] = inverse
    each = None if sample_weight is None else sample_weight[known]
    return labels, member, np.bincount(inverse, each)


def indicators(
    member: np.ndarray, counts: np.ndarray, sample_weight: Array | None = None
) -> sp.csr_array:
    """F such that F F^T projects onto the indicators of classes; rows are times weights.

    Rows of samples without a class (-1) are zero.
    """
    known = np.flatnonzero(member >= 0)
    values = 1.0 / np.sqrt(counts[member[known]])
    if sample_weight is not None:
        values = values * sample_weight[known]
    return sp.csr_array((values, (known, member[known])), shape=(member.size, counts.size))


def samples_of(graph: NeighborGraph) -> sp.csr_array:
    """One row for each sample, with a one at its node."""
    index = _index(graph)
    return sp.csr_array((np.ones(index.size), (np.arange(index.size), index)))


def _alone(graph: NeighborGraph) -> np.ndarray:
    """Which nodes have no neighbour but themselves."""
    near = graph.provenance.neighborhoods
    if near is None:
        return np.zeros(graph.n, dtype=bool)
    return np.asarray((graph.degree == 0) & near.diagonal().astype(bool))


def _index(graph: NeighborGraph) -> Index:
    """The node of every sample."""
    if np.any(graph.index < 0):
        gone = listed(np.flatnonzero(graph.index < 0))
        raise DataError(f"the graph dropped samples {gone}; build it with connect='mst' or 'none'.")
    return graph.index


def _sample_weights(graph: NeighborGraph, weights: str, bandwidth: float | None) -> sp.csr_array:
    """Weights of pairs of samples; those that share a node have weight one."""
    spread = samples_of(graph)
    W = spread @ graph.adjacency(edge_weights(graph, weights, bandwidth)) @ spread.T
    if np.any(graph.counts > 1):
        W = W + spread @ spread.T - sp.eye_array(spread.shape[0])
    return sp.csr_array(W)


def _degrees(W: sp.csr_array) -> Array:
    return np.asarray(W.sum(axis=1)).ravel()


def _laplacian(W: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(_degrees(W)) - W)
