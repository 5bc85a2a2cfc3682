"""SciPy's routines for sparse graphs, with the index type that every version of SciPy accepts.

Before SciPy 1.15 they refuse 64-bit indices ("Buffer dtype mismatch"), which sparse arrays built
from 64-bit pairs have. Every other module calls them here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csgraph
from scipy.sparse.csgraph import minimum_spanning_tree

# A node with more than this multiple of the median number of neighbours is a hub.
_HUB = 8.0
# Breadth from which the factor of a matrix with this pattern is nearly full. For 8,000 points of
# noise in 60 dimensions qdldl takes 10 s to factor it, and MKL 1 s; its cliques have thousands of
# nodes, and finding them takes 50 s.
BROAD = 3000


def connected_components(graph: Any) -> tuple[int, NDArray[np.int32]]:
    """Number of components of an undirected graph, and the component of each node."""
    count, part = csgraph.connected_components(short_indices(graph), directed=False)
    return int(count), part


def linked_parts(n: int, pairs: ArrayLike) -> NDArray[np.intp]:
    """The number, from 0, of the connected component of each of n things linked by pairs."""
    ends = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    linked = sp.csr_array((np.ones(len(ends)), tuple(ends.T)), shape=(n, n))
    return connected_components(linked)[1].astype(np.intp)


def members(part: ArrayLike) -> list[NDArray[np.intp]]:
    """Indices of the members of each part, ascending."""
    numbers = np.asarray(part)
    ends = np.cumsum(np.bincount(numbers))
    return np.split(np.argsort(numbers, kind="stable"), ends)[:-1]


def dijkstra(lengths: Any, indices: ArrayLike, *, directed: bool = False, **options: Any) -> Any:
    """Lengths of shortest paths from the nodes ``indices``; see `scipy.sparse.csgraph.dijkstra`."""
    return csgraph.dijkstra(short_indices(lengths), directed=directed, indices=indices, **options)


def predecessors(graph: Any, root: int) -> NDArray[np.int32]:
    """The node before each node on a path of fewest edges from a root; negative if none."""
    rows = short_indices(sp.csr_array(graph))
    found: NDArray[np.int32]
    _, found = csgraph.breadth_first_order(rows, root, directed=False, return_predecessors=True)
    return found


def breadth(graph: sp.csr_array) -> int:
    """Largest number of nodes at one distance from the node of most neighbours; predicts fill."""
    edges = sp.csr_array(graph)
    edges = sp.csr_array((np.ones(edges.nnz), edges.indices, edges.indptr), shape=edges.shape)
    count = np.diff(edges.indptr)
    kept = np.flatnonzero(count <= _HUB * max(1.0, float(np.median(count))))
    edges = edges[kept][:, kept]
    root = int(np.argmax(np.diff(edges.indptr)))
    steps = dijkstra(edges, root, unweighted=True)
    return int(np.max(np.bincount(steps[np.isfinite(steps)].astype(np.intp))))


def envelope(graph: sp.csr_array) -> NDArray[np.intp]:
    """Number of entries before the diagonal of each row that may fill in, in a narrow order."""
    edges = short_indices(sp.csr_array(graph))
    place = np.empty(edges.shape[0], dtype=np.intp)
    if place.size:  # SciPy's routine fails without nodes
        place[csgraph.reverse_cuthill_mckee(edges, symmetric_mode=True)] = np.arange(place.size)
    entries = edges.tocoo()
    first = np.arange(place.size)
    np.minimum.at(first, place[entries.row], place[entries.col])
    return np.arange(place.size) - first


def short_indices(graph: Any) -> Any:
    """The graph with 32-bit indices, which suffice for two billion edges."""
    if not sp.issparse(graph):
        return graph
    rows = sp.csr_array(graph)
    indices, indptr = (a.astype(np.int32, copy=False) for a in (rows.indices, rows.indptr))
    return sp.csr_array((rows.data, indices, indptr), shape=rows.shape)


def spanning_forest(weights: Any) -> sp.csr_array:
    """Shortest spanning tree of every component of a graph, as a sparse matrix of its edges."""
    return sp.csr_array(minimum_spanning_tree(short_indices(sp.csr_array(weights))))
