"""Lengths of shortest paths along a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import DataError
from sdpdr.graphs.arrays import Array
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.linalg.walks import dijkstra


def geodesics(graph: NeighborGraph, sources: ArrayLike | None = None) -> Array:
    """Lengths of the shortest paths from some nodes to all nodes.

    They bound every distance in an embedding that stretches no edge.

    Parameters
    ----------
    graph : NeighborGraph
    sources : array_like of int, shape (s,), optional
        Default: all nodes.

    Returns
    -------
    ndarray of shape (s, n)
        PLAIN lengths: sums of ``sqrt(graph.sqdist)``; infinite between components.

    Raises
    ------
    DataError
        A source is not a node.

    References
    ----------
    Tong thesis 2.2.1; Tenenbaum, de Silva and Langford, "A global geometric framework for
    nonlinear dimensionality reduction", Science 290 (2000).

    Examples
    --------
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
