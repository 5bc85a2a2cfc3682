"""Graphs of k nearest neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from sdpdr.graphs import validate
from sdpdr.graphs.arrays import Index
from sdpdr.graphs.build import finish, merge_duplicates
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.pairs import from_table
from sdpdr.graphs.space import Space, make_space

SYMMETRIZE = ("union", "mutual")


def knn(
    X: ArrayLike,
    n_neighbors: int = 6,
    *,
    symmetrize: str = "union",
    metric: str = "euclidean",
    squared: bool = False,
    angles: bool = False,
    duplicates: str = "merge",
    connect: str = "error",
) -> NeighborGraph:
    r"""Graph that joins each point to its k nearest others.

    Let A_ij = 1 when j is one of the k nearest points of i. The edges are the pairs with A_ij or
    A_ji (``"union"``) or with both (``"mutual"``). The search is exact; of points equally far
    the one with the smaller index is taken, and no point is its own neighbour.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    n_neighbors : int, default 6
        k, from 1 to the number of distinct points less one.
    symmetrize : {"union", "mutual"}, default "union"
    metric : {"euclidean", "precomputed"}, default "euclidean"
        With ``"precomputed"`` X holds distances: symmetric, non-negative, zero diagonal.
    squared : bool, default False
        Whether precomputed distances are squared.
    angles : bool, default False
        Whether to add every pair inside a neighbourhood: see `NeighborGraph.with_cliques`. With
        ``"mutual"`` the neighbourhoods are the mutual ones.
    duplicates : {"merge", "error"}, default "merge"
        What to do with points that coincide.
    connect : {"error", "mst", "largest", "none"}, default "error"
        What to do with a graph of several components: raise, add the shortest edges between
        them, keep the largest, or return it as it is.

    Returns
    -------
    NeighborGraph
        Its ``sqdist`` are SQUARED lengths, whatever X held.

    Raises
    ------
    DataError
        X cannot be used, or ``n_neighbors`` is out of range.
    DisconnectedGraphError
        The graph has several components and ``connect="error"``. The message gives the
        smallest ``n_neighbors`` that connects where that is cheap to find.
    UnknownNameError
        An option has a value that is not in its list.

    Warns
    -----
    DuplicatePointsWarning
        Points coincide and were merged.
    DroppedPointsWarning
        ``connect="largest"`` dropped points.

    References
    ----------
    Vasiloglou thesis, sections 2.1.4 and 3.1; Tong thesis 2.2.4; Weinberger and Saul,
    "Unsupervised learning of image manifolds by semidefinite programming", IJCV 70 (2006).

    Examples
    --------
    >>> from sdpdr import datasets
    >>> X, _ = datasets.swiss_roll(100, seed=0)
    >>> knn(X, n_neighbors=4).m
    249
    """
    validate.choice("symmetrize", symmetrize, SYMMETRIZE)
    space, index = merge_duplicates(make_space(X, metric, squared=squared), duplicates)
    k = validate.n_neighbors(n_neighbors, space.n)
    return finish(
        space,
        index,
        _neighborhoods(space.nearest(k), symmetrize),
        method="knn",
        options={"n_neighbors": k, "symmetrize": symmetrize, "angles": angles, "connect": connect},
        angles=angles,
        connect=connect,
        way_out=lambda: (
            f"take n_neighbors={_smallest_k(space, symmetrize)}, the smallest that connects"
        ),
    )


def smallest_connecting_k(
    X: ArrayLike, *, symmetrize: str = "union", metric: str = "euclidean", squared: bool = False
) -> int:
    """Smallest number of neighbours that makes the graph of `knn` connected.

    Duplicate points count once. More neighbours never disconnect a graph, so doubling and
    bisection find the number.

    Parameters
    ----------
    X, symmetrize, metric, squared
        As for `knn`.

    Examples
    --------
    >>> smallest_connecting_k([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    3
    """
    validate.choice("symmetrize", symmetrize, SYMMETRIZE)
    space = make_space(X, metric, squared=squared)
    return _smallest_k(space.take(np.unique(space.representatives())), symmetrize)


def _smallest_k(space: Space, symmetrize: str) -> int:
    high = 1
    while not _connects(table := space.nearest(high), symmetrize):
        high = min(2 * high, space.n - 1)
    low = high // 2
    # Column by column the table holds the neighbours of every smaller k.
    while high - low > 1:
        middle = (low + high) // 2
        if _connects(table[:, :middle], symmetrize):
            high = middle
        else:
            low = middle
    return high


def _connects(table: Index, symmetrize: str) -> bool:
    parts, _ = connected_components(_neighborhoods(table, symmetrize), directed=False)
    return bool(parts == 1)


def _neighborhoods(table: Index, symmetrize: str) -> csr_array:
    near = from_table(table)
    return near if symmetrize == "union" else csr_array(near.multiply(near.T))
