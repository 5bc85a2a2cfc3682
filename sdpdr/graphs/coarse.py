"""Very many points by way of few: nodes that stand for all, and a basis on them."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.graphs.nearest import knn
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.reconstruction import best_weights, reconstruction_basis
from sdpdr.graphs.space import Euclidean
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


# Points that take part in the coarse graph, and neighbours in and of it.
_COARSE = 10_000
_NEIGHBORS = 8
_BLOCK = 50_000


def coarse_basis(graph: NeighborGraph, count: int, seed: int = 0, coarse: int = _COARSE) -> Array:
    """Reconstruction basis of a random sample, carried to all points by local weights.

    Between far landmarks the smoothest function that the weights of very many points allow is
    badly determined: errors of a step add up over hundreds of them. On a sample the steps are
    few; every other point is then reconstructed from the points of the sample nearest to it.

    Parameters
    ----------
    graph : NeighborGraph
        Made from points with coordinates.
    count : int
        Number of landmarks, at most ``coarse``.
    seed : int, default 0
    coarse : int, default 10000
        Size of the sample.

    Returns
    -------
    ndarray of shape (n, count)
        With row sums one.

    Raises
    ------
    DataError
        The graph knows no coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs
    >>> graph = graphs.knn(np.random.default_rng(0).random((300, 2)), n_neighbors=6)
    >>> basis = coarse_basis(graph, 5, coarse=100)
    >>> basis.shape, bool(np.allclose(basis.sum(axis=1), 1.0))
    ((300, 5), True)
    """
    if not has_coordinates(graph):
        raise DataError(f"the graph made by {graph.provenance} knows no coordinates of its points.")
    space = graph.provenance.space
    assert isinstance(space, Euclidean)
    points = space.X
    sample = np.sort(np.random.default_rng(seed).permutation(graph.n)[:coarse])
    k = min(_NEIGHBORS, sample.size - 1)
    skeleton = knn(points[sample], n_neighbors=k, connect="mst")
    small = reconstruction_basis(skeleton, landmarks(skeleton, count, seed))
    search = NearestNeighbors(n_neighbors=k).fit(points[sample])
    basis = np.empty((graph.n, count))
    for at in range(0, graph.n, _BLOCK):
        block = points[at : at + _BLOCK]
        near = search.kneighbors(block, return_distance=False)
        weights = best_weights(_gram(points[sample], block, near))
        basis[at : at + _BLOCK] = np.einsum("pk,pkc->pc", weights, small[near])
    basis[sample] = small
    return basis


def has_coordinates(graph: NeighborGraph) -> bool:
    """Whether the graph was made from points whose coordinates it still knows."""
    space = graph.provenance.space
    return isinstance(space, Euclidean) and space.n == graph.n


def _gram(sample: Array, block: Array, near: Index) -> Array:
    """Inner products of the nearest points of the sample, seen from each point."""
    steps = sample[near] - block[:, None, :]
    return np.asarray(steps @ steps.transpose(0, 2, 1))
