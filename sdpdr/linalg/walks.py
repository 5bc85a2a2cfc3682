"""Walks along sparse graphs: SciPy's routines with the one type of index that every version takes.

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

# Times the median number of neighbours from which on a node is a hub.
_HUB = 8.0
# Breadth from which on a matrix of this pattern fills up. Of 8,000 points of noise in 60 dimensions
# qdldl takes 10 s to factor it, and MKL 1 s; its cliques have thousands of nodes, and to find them
# takes 50 s.
BROAD = 3000


def connected_components(graph: Any) -> tuple[int, NDArray[np.int32]]:
    """Number of components of an undirected graph, and the component of each node.

    Parameters
    ----------
    graph : sparse array or ndarray of shape (n, n)
        An edge wherever an entry is not zero, in one triangle at least.

    Examples
    --------
    >>> count, part = connected_components(np.diag([1.0, 0.0], 1))
    >>> count, part.tolist()
    (2, [0, 0, 1])
    """
    count, part = csgraph.connected_components(short_indices(graph), directed=False)
    return int(count), part


def linked_parts(n: int, pairs: ArrayLike) -> NDArray[np.int64]:
    """The part of each of n things that belong together where pairs of them do, from 0 on.

    Parameters
    ----------
    n : int
    pairs : array_like of int, shape (p, 2)

    Examples
    --------
    >>> linked_parts(4, [[0, 2], [3, 2]]).tolist()
    [0, 1, 0, 0]
    """
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    linked = sp.csr_array((np.ones(len(ends)), tuple(ends.T)), shape=(n, n))
    return connected_components(linked)[1].astype(np.int64)


def members(part: ArrayLike) -> list[NDArray[np.int64]]:
    """What belongs to each part, ascending.

    Parameters
    ----------
    part : array_like of int, shape (n,)
        The part of each thing, from 0 on.

    Examples
    --------
    >>> [own.tolist() for own in members([0, 1, 0, 0])]
    [[0, 2, 3], [1]]
    """
    numbers = np.asarray(part)
    ends = np.cumsum(np.bincount(numbers))
    return np.split(np.argsort(numbers, kind="stable"), ends)[:-1]


def dijkstra(lengths: Any, indices: ArrayLike, *, directed: bool = False, **options: Any) -> Any:
    """Lengths of shortest paths from some nodes; see `scipy.sparse.csgraph.dijkstra`.

    Parameters
    ----------
    lengths : sparse array of shape (n, n)
        Lengths of the edges, not negative.
    indices : int or array_like of int
        Where the paths begin.
    directed : bool
        Whether an edge is walked from its row to its column only.
    **options
        ``limit``, ``min_only``, ``return_predecessors``, as in SciPy.

    Examples
    --------
    >>> dijkstra(sp.csr_array(np.diag([1.0, 2.0], 1)), 0)
    array([0., 1., 3.])
    """
    return csgraph.dijkstra(short_indices(lengths), directed=directed, indices=indices, **options)


def predecessors(graph: Any, root: int) -> NDArray[np.int32]:
    """The node before each on a path of fewest edges from a root; negative where there is none.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        An edge wherever an entry is stored, in one triangle at least.
    root : int

    Examples
    --------
    >>> found = predecessors(sp.csr_array(np.diag([1.0, 1.0], 1)), 1)
    >>> [int(one) for one in found if one >= 0]
    [1, 1]
    """
    rows = short_indices(sp.csr_array(graph))
    found: NDArray[np.int32]
    _, found = csgraph.breadth_first_order(rows, root, directed=False, return_predecessors=True)
    return found


def breadth(graph: sp.csr_array) -> int:
    """Most nodes at one distance from the node of most neighbours: what fill hardly falls below.

    On an expander, such as a random graph, nearly all nodes are equally far from any one, and
    elimination ends with a dense block of about that order; along a strip or on a torus few are.
    Hubs, which elimination leaves for last and which make all distances short, do not count.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Symmetric; an edge wherever an entry is stored.

    Examples
    --------
    >>> breadth(sp.csr_array(np.ones((5, 5)))), breadth(sp.csr_array(np.diag(np.ones(8), 1)))
    (4, 1)
    """
    edges = sp.csr_array(graph)
    edges = sp.csr_array((np.ones(edges.nnz), edges.indices, edges.indptr), shape=edges.shape)
    count = np.diff(edges.indptr)
    kept = np.flatnonzero(count <= _HUB * max(1.0, float(np.median(count))))
    edges = edges[kept][:, kept]
    root = int(np.argmax(np.diff(edges.indptr)))
    steps = dijkstra(edges, root, unweighted=True)
    return int(np.max(np.bincount(steps[np.isfinite(steps)].astype(np.int64))))


def envelope(graph: sp.csr_array) -> NDArray[np.int64]:
    """Entries before the diagonal that elimination may fill, row by row, in a narrow order.

    The order is that of Cuthill and McKee, reversed, which takes next to no time to find. Of
    J J^T of graphs with 120 to 1500 nodes the sum of their squares was 0.5 to 5 times the
    operations of SciPy's sparse factorization where these were more than 1e7.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Symmetric; an edge wherever an entry is stored.

    Examples
    --------
    >>> sorted(envelope(sp.csr_array(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))).tolist())
    [0, 1, 1, 1]
    """
    edges = short_indices(sp.csr_array(graph))
    place = np.empty(edges.shape[0], dtype=np.int64)
    if place.size:  # SciPy's routine fails without nodes
        place[csgraph.reverse_cuthill_mckee(edges, symmetric_mode=True)] = np.arange(place.size)
    entries = edges.tocoo()
    first = np.arange(place.size)
    np.minimum.at(first, place[entries.row], place[entries.col])
    return np.arange(place.size) - first


def short_indices(graph: Any) -> Any:
    """The graph with 32-bit indices, enough for two thousand million edges.

    Examples
    --------
    >>> short_indices(sp.eye_array(2, format="csr")).indices.dtype
    dtype('int32')
    """
    if not sp.issparse(graph):
        return graph
    rows = sp.csr_array(graph)
    indices, indptr = (a.astype(np.int32, copy=False) for a in (rows.indices, rows.indptr))
    return sp.csr_array((rows.data, indices, indptr), shape=rows.shape)


def spanning_forest(weights: Any) -> sp.csr_array:
    """Shortest spanning tree of every component of a graph, as a sparse matrix of its edges.

    Parameters
    ----------
    weights : sparse array of shape (n, n)
        Positive lengths of the edges, each in one triangle at least.

    Examples
    --------
    >>> forest = spanning_forest(sp.csr_array([[0.0, 1.0, 3.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    >>> [(int(i), int(j)) for i, j in zip(*forest.nonzero())]
    [(0, 1), (1, 2)]
    """
    return sp.csr_array(minimum_spanning_tree(short_indices(sp.csr_array(weights))))
