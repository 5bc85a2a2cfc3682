"""Shortest paths along a graph, and landmarks that cover it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.linalg.walks import dijkstra, short_indices


@takes_graph
def geodesics(graph: NeighborGraph, sources: ArrayLike | None = None) -> Array:
    """Return the lengths of the shortest paths from some nodes to all nodes.

    They bound all distances in any embedding that stretches no edge.

    Parameters
    ----------
    graph : NeighborGraph
    sources : array_like of int, shape (s,), optional
        Default: all nodes.

    Returns
    -------
    ndarray of shape (s, n)
        PLAIN lengths: sums of ``sqrt(graph.sqdist)``; infinite between components.

    References
    ----------
    Tong thesis 2.2.1; Tenenbaum, de Silva and Langford, "A global geometric framework for
    nonlinear dimensionality reduction", Science 290 (2000).

    Examples
    --------
    >>> from sdpdr.graphs import geodesics
    >>> from sdpdr import graphs
    >>> geodesics(graphs.path([1, 2, 4]), [0])
    array([[0., 1., 3., 7.]])
    """
    nodes = np.arange(graph.n) if sources is None else np.asarray(sources).ravel()
    if nodes.dtype.kind not in "iu" or (nodes < 0).any() or (nodes >= graph.n).any():
        raise DataError(
            f"sources must be nodes from 0 to {graph.n - 1}, got {nodes.tolist()[:8]}. "
            "graph.index translates rows of X to nodes."
        )
    lengths = graph.adjacency(np.sqrt(graph.sqdist))
    return np.asarray(dijkstra(lengths, indices=nodes))


def routing_weights(
    graph: NeighborGraph, sources: ArrayLike, mass: ArrayLike | None = None
) -> Array:
    r"""Return weights w of the edges with which shortest paths bound distances in any embedding.

    For points whose squared distance :math:`q_e` across each edge is known, the inequality of
    Cauchy and Schwarz along the shortest path p from s to j, of length g, reads
    :math:`|y_s - y_j|^2 \le g \sum_{e \in p} q_e / \sqrt{d_e}`. Summed over all j, weighted by
    their mass, and averaged over the sources s, the right side is :math:`\sum_e w_e q_e`.
    """
    nodes = np.asarray(sources).ravel()
    weight = np.asarray(graph.counts if mass is None else mass, dtype=float)
    plain = np.sqrt(graph.sqdist)
    lengths = short_indices(graph.adjacency(plain))
    # Both entries of an edge hold its number, from one.
    edge_number = graph.adjacency(np.arange(1.0, graph.m + 1.0)).astype(np.intp)
    total = np.zeros(graph.m)
    for source in nodes:
        distance, before = dijkstra(lengths, indices=int(source), return_predecessors=True)
        carried = _carried(before, distance * weight)
        joined = np.flatnonzero(before >= 0)
        edge = np.asarray(edge_number[joined, before[joined]]).ravel() - 1
        total += np.bincount(edge, carried[joined], minlength=graph.m)
    return np.asarray(total / plain / len(nodes))


def _carried(before: Index, amount: Array) -> Array:
    """Sum amounts over the subtree of each node, by jumps of doubled length."""
    total, jump = amount, before
    while (inside := np.flatnonzero(jump >= 0)).size:
        total = total + np.bincount(jump[inside], total[inside], minlength=len(total))
        further = np.full_like(jump, -1)
        further[inside] = jump[jump[inside]]
        jump = further
    return total


@takes_graph
def landmarks(graph: NeighborGraph, count: int, seed: int = 0) -> Index:
    """Return nodes that cover the graph; fewer landmarks are the first ones of more.

    The first is drawn at random, and each further one has the largest distance along the graph
    from all before it, so that ``count`` of them cover the graph within twice the smallest
    possible radius.

    Parameters
    ----------
    graph : NeighborGraph
    count : int
        How many, from 1 to n.
    seed : int, default 0

    Returns
    -------
    ndarray of int, shape (count,)
        In the order chosen.

    Raises
    ------
    DataError
        ``count`` is out of range.

    References
    ----------
    Tong thesis 2.2.4; Gonzalez, "Clustering to minimize the maximum intercluster distance",
    Theoretical Computer Science 38 (1985).

    Examples
    --------
    >>> from sdpdr.graphs import landmarks
    >>> from sdpdr import graphs
    >>> landmarks(graphs.path([1, 1, 1, 1]), 3)
    array([4, 0, 2])
    """
    n = graph.n
    count = validate.positive_integer("count", count)
    if count > n:
        raise DataError(f"count={count} landmarks of {n} points: choose at most {n}.")
    chosen = [int(np.random.default_rng(seed).integers(n))]
    lengths = short_indices(graph.adjacency(np.sqrt(graph.sqdist)))
    nearest = np.full(n, np.inf)
    while len(chosen) < count:
        # Nodes further away than this cannot be nearer to the new landmark.
        reach = float(nearest.max())
        found = dijkstra(lengths, directed=True, indices=chosen[-1], limit=reach)
        nearest = np.minimum(nearest, found)
        chosen.append(int(nearest.argmax()))
    return np.array(chosen, dtype=np.intp)
