"""Few nodes that stand for all."""

from __future__ import annotations

import numpy as np

from sdpdr.errors import DataError
from sdpdr.graphs import validate
from sdpdr.graphs.arrays import Index
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.linalg.walks import dijkstra, short_indices


def landmarks(graph: NeighborGraph | int, count: int, seed: int = 0) -> Index:
    """Nodes that represent all others; fewer of them are the first ones of more.

    On a graph the first is drawn at random and each further one lies as far along the graph as
    possible from all before it, so that ``count`` of them cover the graph within twice the
    smallest radius possible. For a mere number of points they are drawn at random.

    Parameters
    ----------
    graph : NeighborGraph or int
        A graph, or the number n of points.
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
    >>> from sdpdr import graphs
    >>> landmarks(graphs.path([1, 1, 1, 1]), 3)
    array([4, 0, 2])
    """
    rng = np.random.default_rng(seed)
    n = graph.n if isinstance(graph, NeighborGraph) else validate.positive_integer("n", graph)
    count = validate.positive_integer("count", count)
    if count > n:
        raise DataError(f"count={count} landmarks of {n} points: choose at most {n}.")
    if not isinstance(graph, NeighborGraph):
        return rng.permutation(n)[:count]
    chosen = [int(rng.integers(n))]
    lengths = short_indices(graph.adjacency(np.sqrt(graph.sqdist)))
    nearest = np.full(n, np.inf)
    while len(chosen) < count:
        # What lies further away than any node does from the landmarks before gains nothing.
        reach = float(nearest.max())
        found = dijkstra(lengths, directed=True, indices=chosen[-1], limit=reach)
        nearest = np.minimum(nearest, found)
        chosen.append(int(nearest.argmax()))
    return np.array(chosen, dtype=np.int64)
