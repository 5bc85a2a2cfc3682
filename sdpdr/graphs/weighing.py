"""Weights of edges by length or angle, and weights that express a point by its neighbours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.base.rows import listed
from sdpdr.graphs.blocks import BLOCK, blocks
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.pairs import from_pairs
from sdpdr.graphs.points import Points, directions

WEIGHTS = ("binary", "heat", "cosine")


@takes_graph
def edge_weights(
    graph: NeighborGraph, weights: str = "binary", bandwidth: float | None = None
) -> Array:
    r"""Weight of every edge, from zero to one.

    ============  ==========================================================================
    ``"binary"``  :math:`1`
    ``"heat"``    :math:`e^{-d_{ij}^2 / (2 \sigma^2)}`
    ``"cosine"``  :math:`\max(0,\ x_i \cdot x_j / (|x_i| |x_j|))`
    ============  ==========================================================================

    Lengths are those of the graph; one made with ``metric="cosine"`` has
    :math:`d_{ij}^2 = 2 - 2\cos_{ij}`.

    Parameters
    ----------
    graph : NeighborGraph
    weights : {"binary", "heat", "cosine"}, default "binary"
        ``"cosine"`` is for graphs of points.
    bandwidth : float, optional
        :math:`\sigma`, a PLAIN length, for ``"heat"`` alone. By default :math:`\sigma^2` is the
        median of the squared lengths of the edges.

    Returns
    -------
    ndarray of shape (m,)
        In the order of ``graph.edges``, as `NeighborGraph.adjacency` takes it.

    Raises
    ------
    DataError
        A bandwidth without heat; cosines for a graph without points, or for a point at the
        origin.

    References
    ----------
    Belkin and Niyogi, Neural Computation 15, 2003; Tong thesis, section 2.2.3, with
    :math:`\sigma^2` in place of :math:`2 \sigma^2`.

    Examples
    --------
    >>> from sdpdr.graphs import edge_weights
    >>> from sdpdr import graphs
    >>> graph = graphs.knn([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]], 1)
    >>> edge_weights(graph, "heat", bandwidth=1.0).round(3)
    array([0.607, 0.082])
    >>> edge_weights(graph, "cosine").round(3)
    array([0.707, 0.707])
    """
    validate.choice("weights", weights, WEIGHTS)
    if bandwidth is not None and weights != "heat":
        raise DataError(
            f"bandwidth={bandwidth!r} is for weights='heat', not weights={weights!r}. Pass "
            "weights='heat', or leave bandwidth out."
        )
    if weights == "binary" or not graph.m:
        return np.ones(graph.m)
    if weights == "cosine":
        return _cosines(graph)
    if bandwidth is None:
        square = float(np.median(graph.sqdist))
    else:
        square = validate.positive_number("bandwidth", bandwidth) ** 2
    return np.asarray(np.exp(-graph.sqdist / (2.0 * square)))


def _cosines(graph: NeighborGraph) -> Array:
    """Cosines of the ends of each edge, zero instead of negative."""
    space = graph.provenance.space
    if not isinstance(space, Points):
        raise DataError(
            f"the graph made by {graph.provenance} holds lengths only, and no angles follow. "
            "Make it from points, or pass weights='heat'."
        )
    unit = Points(directions(space.X))
    cosines = 1.0 - unit.sqdist(*graph.edges.T) / 2.0
    # A cosine within rounding of zero is a right angle, whose weight is zero.
    return np.where(cosines > unit.rounding, cosines, 0.0)


# Ridge, relative to the trace: directions in which neighbours spread less hardly count.
_RIDGE = 1e-3


def reconstruction_weights(
    graph: NeighborGraph, *, iterations: int = 4, directed: bool = False
) -> csr_array:
    r"""Return weights W, of row sums one, with which neighbours reproduce each point best.

    Row i is :math:`W_i \propto (C_i + r \operatorname{tr}(C_i) I)^{-1} \mathbf 1` with C_i the Gram
    matrix of the neighbours seen from i. Each further iteration regularises the difference from the
    previous weights, which lowers the pull towards the mean along the manifold (King and
    Chillingworth 1979). Locally linear embedding has one iteration, and ``directed`` neighbours.
    """
    if (graph.degree == 0).any():
        alone = listed(np.flatnonzero(graph.degree == 0))
        raise DataError(f"nodes without neighbours cannot be reconstructed: {alone}.")
    pattern = _followed(graph) if directed else graph.adjacency(np.sqrt(graph.sqdist))
    weights = pattern.copy()
    for nodes, entries in _by_degree(pattern):
        local = _local_gram(graph, pattern, nodes, entries)
        weights.data[entries] = best_weights(local, iterations)
    return weights


def _followed(graph: NeighborGraph) -> csr_array:
    """Return lengths from each node to its own neighbours, shape (n, n); not symmetric."""
    lengths = graph.adjacency(np.sqrt(graph.sqdist))
    near = graph.provenance.neighborhoods
    # Without points, lengths between neighbours come from paths along all edges.
    if near is None or graph.provenance.space is None:
        return lengths
    followed = csr_array(lengths.multiply(near + from_pairs(graph.n, graph.edges[graph.joining])))
    followed.sort_indices()
    return followed


def _by_degree(pattern: csr_array) -> Iterator[tuple[Index, Index]]:
    """Yield batches of nodes with k neighbours each, and the positions (p, k) of their entries."""
    starts, degree = pattern.indptr, np.diff(pattern.indptr)
    for k in np.unique(degree):
        nodes = np.flatnonzero(degree == k)
        for batch in blocks(nodes, max(1, BLOCK // (k + 1) ** 2)):
            yield batch, starts[batch][:, None] + np.arange(k)


def _local_gram(graph: NeighborGraph, pattern: csr_array, nodes: Index, entries: Index) -> Array:
    """Inner products of the neighbours of each node, seen from it; shape (p, k, k)."""
    near = pattern.indices[entries]
    space = graph.provenance.space
    to_node = np.square(pattern.data[entries])
    if space is not None:
        between = space.sqdist(near[:, :, None], near[:, None, :])
        return np.asarray(to_node[:, :, None] + to_node[:, None, :] - between) / 2.0
    between = np.square(_local_paths(pattern, entries))
    gram = (to_node[:, :, None] + to_node[:, None, :] - between) / 2.0
    # Path lengths need not be distances of points; a shift makes the matrix PSD.
    low = np.minimum(np.linalg.eigvalsh(gram)[:, 0], 0.0)
    return np.asarray(gram - low[:, None, None] * np.eye(gram.shape[1]))


def best_weights(local: Array, iterations: int = 4) -> Array:
    """Weights (p, k) of sum one from the Gram matrices (p, k, k) of neighbours."""
    count, k = local.shape[:2]
    ridge = _RIDGE * np.trace(local, axis1=1, axis2=2)[:, None, None]
    matrix = local + ridge * np.eye(k)
    even = np.linalg.solve(matrix, np.ones((count, k, 1)))
    weights = np.zeros((count, k, 1))
    for _ in range(iterations):
        held = np.linalg.solve(matrix, ridge * weights)
        weights = held + even * (1.0 - held.sum(axis=1, keepdims=True)) / even.sum(
            axis=1, keepdims=True
        )
    return np.asarray(weights[:, :, 0])


def _local_paths(pattern: csr_array, entries: Index) -> Array:
    """Shortest paths between the neighbours of each node, within its neighbourhood."""
    near, k = pattern.indices[entries], entries.shape[1]
    ends = (
        np.broadcast_to(near[:, :, None], (*near.shape, k)),
        np.broadcast_to(near[:, None, :], (len(near), k, k)),
    )
    known = pattern[ends[0].ravel(), ends[1].ravel()].reshape(ends[0].shape)
    paths = np.asarray(np.where(known > 0.0, known, np.inf))
    paths[:, np.arange(k), np.arange(k)] = 0.0
    through = pattern.data[entries]
    paths = np.minimum(paths, through[:, :, None] + through[:, None, :])
    for via in range(k):
        paths = np.minimum(paths, paths[:, :, via, None] + paths[:, None, via, :])
    return paths
