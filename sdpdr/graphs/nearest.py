"""Graphs of nearest neighbours: k of them, or all within a radius; and the points furthest away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Progress, show_count
from sdpdr.graphs.build import finish, merge_duplicates
from sdpdr.graphs.neighbor_graph import NeighborGraph, Provenance
from sdpdr.graphs.pairs import from_pairs, from_table, shortest_links, sorted_pairs
from sdpdr.graphs.search import ALGORITHMS, BLOCK, blocks
from sdpdr.graphs.space import Space, make_space
from sdpdr.linalg.walks import connected_components, spanning_forest

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
    algorithm: str = "auto",
    progress: Progress | bool | None = None,
) -> NeighborGraph:
    r"""Graph that joins each point to its k nearest others.

    Let A_ij = 1 when j is one of the k nearest points of i. The edges are the pairs with A_ij or
    A_ji (``"union"``) or with both (``"mutual"``). The search is exact; of points equally far the
    one with the smaller index is taken, and no point is its own neighbour.

    Equally far are points whose distances agree to rounding: ordered by length, neighbours in the
    order differ by no more than the distance at which two points are the same. That is
    :math:`4 \cdot 2^{-52} \sum_j \max_i |X_{ij}|` over the columns that vary, 1e-12 on the unit
    sphere of ``"cosine"``, and :math:`4 \cdot 2^{-52}` of the longest of precomputed distances. So
    points that are moved, turned, or kept sparse or dense have the same graph. Numbers in single
    precision are read as what they are: 0.1 there is not 0.1 in double precision, and what was
    equally far before it was rounded to seven digits may be so no longer.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, D), or (n, n) for precomputed distances
        Sparse data stay so: memory grows with their entries.
    n_neighbors : int, default 6
        k, from 1 to the number of distinct points less one.
    symmetrize : {"union", "mutual"}, default "union"
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"cosine"`` rows are compared by their directions, and lengths are those of chords of
        the unit sphere, :math:`d^2 = 2 - 2\cos`; parallel rows coincide, and a row of zeros is
        refused. With ``"precomputed"`` X holds distances: symmetric, non-negative, zero diagonal.
        NaN and inf are distances that are not known: such a pair is no edge, neighbours are the
        nearest of those known (fewer than k where fewer are), and D[i, j] or D[j, i] is enough.
    squared : bool, default False
        Whether precomputed distances are squared.
    angles : bool, default False
        Whether to add every pair inside a neighbourhood: see `NeighborGraph.with_cliques`. With
        ``"mutual"`` the neighbourhoods are the mutual ones.
    duplicates : {"merge", "error"}, default "merge"
        What to do with points that coincide.
    connect : {"error", "bridges", "mst", "largest", "none"}, default "error"
        What to do with a graph of several components: raise; add the ``n_neighbors`` shortest
        edges between every two of them, with a warning (of more than thirty components, between
        those that a minimum spanning tree joins); add that tree's edges only, on which parts turn
        as on hinges; keep the largest; or return it as it is. Of edges equally long those with the
        smaller indices are added.
    algorithm : {"auto", "kd_tree", "brute"}, default "auto"
        Of `sklearn.neighbors.NearestNeighbors`; all give the same graph. ``"auto"`` takes a k-d
        tree for up to 8 columns and brute force for more, where a tree is faster only if points lie
        near a surface of few dimensions; sparse data always take brute force, and a precomputed
        matrix is read in full.
    progress : bool or callable, optional
        A callable is told how many points are done; True and False force a line of progress; by
        default it shows on a terminal only.

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
    AddedEdgesWarning
        ``connect="bridges"`` joined components.

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
    validate.choice("algorithm", algorithm, ALGORITHMS)
    space, index = merge_duplicates(make_space(X, metric, squared=squared), duplicates)
    k = validate.n_neighbors(n_neighbors, space.n)
    options: dict[str, object] = {
        "n_neighbors": k, "symmetrize": symmetrize, "angles": angles, "connect": connect
    }  # fmt: skip
    with show_count(progress, f"{k} nearest neighbours of {space.n} points", space.n) as count:
        table = space.nearest(k, algorithm, count)
    near = from_table(table)
    if symmetrize == "mutual":
        near = csr_array(near.multiply(near.T))
    provenance = Provenance("knn", options, space.fresh(), near)

    def way_out() -> str:
        return f"take n_neighbors={smallest_k(space, symmetrize)}, the smallest that connects"

    return finish(space, index, provenance, angles, connect, way_out)


def smallest_connecting_k(
    X: ArrayLike, *, symmetrize: str = "union", metric: str = "euclidean", squared: bool = False
) -> int:
    """Smallest number of neighbours that makes the graph of `knn` connected.

    Duplicate points count once. The number of neighbours looked up is doubled until they
    connect all; what is connected already is treated as one, so that memory grows with the pairs of
    neighbours between parts and not with n times the number.

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
    return smallest_k(space.take(np.unique(space.representatives())), symmetrize)


def smallest_k(space: Space, symmetrize: str) -> int:
    """The same for a space of distinct points."""
    space.require_joined()
    n, k = space.n, 1
    forest = csr_array((n, n))
    while True:
        labels = np.asarray(connected_components(forest)[1], dtype=np.int64)
        joining = joining_ranks(_ranks_between(space, k, labels), symmetrize)
        forest = spanning_forest(forest + joining)
        if forest.nnz == n - 1:
            return int(forest.data.max())
        k = min(2 * k, n - 1)


def joining_ranks(ranks: csr_array, symmetrize: str) -> csr_array:
    """For each pair the least k for which it is an edge, in one triangle at least.

    Parameters
    ----------
    ranks : sparse array of shape (n, n)
        At i, j, which neighbour of i is j, from one.
    symmetrize : {"union", "mutual"}
    """
    if symmetrize == "union":
        return ranks
    both = csr_array(ranks.multiply(ranks.T > 0.0))
    return csr_array(both.maximum(both.T))


def _ranks_between(space: Space, k: int, labels: Index) -> csr_array:
    """Ranks of the k nearest of each point that are in another part."""
    found = []
    for rows in blocks(np.arange(space.n), max(1, BLOCK // k)):
        table = space.nearest(k, rows=rows)
        row, rank = np.nonzero(labels[table] != labels[rows, None])
        found.append(np.column_stack([rows[row], table[row, rank], rank + 1]))
    i, j, ranks = np.concatenate(found).T
    return csr_array((ranks.astype(float), (i, j)), shape=(space.n, space.n))


def radius(
    X: ArrayLike,
    radius: float,
    *,
    metric: str = "euclidean",
    squared: bool = False,
    angles: bool = False,
    duplicates: str = "merge",
    connect: str = "error",
) -> NeighborGraph:
    """Graph that joins all points at distance at most ``radius`` (the epsilon-ball graph).

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    radius : float
        A PLAIN length, also when ``squared=True`` says that the precomputed ones are squared.
        Distances that agree with it to rounding, as `sdpdr.graphs.knn` says, are at most as long.
    metric, squared, angles, duplicates, connect
        As for `sdpdr.graphs.knn`.

    Returns
    -------
    NeighborGraph

    Raises
    ------
    DataError, DisconnectedGraphError, UnknownNameError
        As for `sdpdr.graphs.knn`; the message gives the smallest radius that connects.

    References
    ----------
    Tenenbaum, de Silva and Langford, "A global geometric framework for nonlinear dimensionality
    reduction", Science 290 (2000).

    Examples
    --------
    >>> radius([[0.0], [1.0], [2.5]], 1.5).edges
    array([[0, 1],
           [1, 2]])
    """
    length = validate.positive_number("radius", radius)
    space, index = merge_duplicates(make_space(X, metric, squared=squared), duplicates)
    near = from_pairs(space.n, space.pairs_within(length))
    options = {"radius": length, "angles": angles, "connect": connect}
    provenance = Provenance("radius", options, space.fresh(), near)

    def way_out() -> str:
        return f"take radius={_longest_link(space)!r}, the smallest that connects"

    return finish(space, index, provenance, angles, connect, way_out)


def smallest_connecting_radius(
    X: ArrayLike, *, metric: str = "euclidean", squared: bool = False
) -> float:
    """Smallest radius that makes the graph of `radius` connected, a PLAIN length.

    It is the longest edge of a minimum spanning tree of the points.

    Parameters
    ----------
    X, metric, squared
        As for `radius`.

    Examples
    --------
    >>> smallest_connecting_radius([[0.0], [1.0], [2.5]])
    1.5
    """
    space = make_space(X, metric, squared=squared)
    return _longest_link(space.take(np.unique(space.representatives())))


def _longest_link(space: Space) -> float:
    space.require_joined()
    tree = shortest_links(space, np.arange(space.n))
    return float(np.sqrt(space.sqdist(*tree.T).max()))


@dataclass(frozen=True, eq=False)
class FurthestPairs:
    """Pairs of a point and the one furthest from it.

    Attributes
    ----------
    edges : ndarray of shape (p, 2)
        Distinct pairs (i, j), i < j, sorted.
    sqdist : ndarray of shape (p,)
        Their SQUARED distances.
    multiplicity : ndarray of shape (p,)
        2 where each is furthest from the other, otherwise 1; sums to n.
    furthest : ndarray of shape (n,)
        The furthest point of each point, the first of equals.
    """

    edges: Index
    sqdist: Array
    multiplicity: Index
    furthest: Index


def furthest_pairs(
    X: ArrayLike | NeighborGraph,
    *,
    metric: str = "euclidean",
    squared: bool = False,
    progress: Progress | bool | None = None,
) -> FurthestPairs:
    """For each point the one furthest from it, exactly.

    The distance to a fixed point is a convex function, so the furthest point is a vertex of the
    convex hull. In up to five dimensions the hull is computed once and its vertices are thinned
    out on ever smaller boxes, which costs little more than sorting; in more, hulls have too many
    facets, and the cost is one product of the data with its transpose, block by block.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n), or NeighborGraph
        Points or precomputed distances; or a graph made from them, whose nodes are then meant.
    metric, squared
        As for `sdpdr.graphs.knn`; without meaning for a graph.
    progress : bool or callable, optional
        As for `sdpdr.graphs.knn`.

    Raises
    ------
    DataError
        X cannot be used, or the graph was made from edges alone.

    References
    ----------
    Vasiloglou thesis, sections 2.1.6 (a tree search for the same) and 3.3.

    Examples
    --------
    >>> pairs = furthest_pairs([[0.0], [1.0], [5.0]])
    >>> pairs.edges, pairs.multiplicity
    (array([[0, 2], [1, 2]]), array([2, 1]))
    """
    space = _space_of(X, metric, squared)
    with show_count(progress, "furthest points", space.n) as count:
        furthest = space.furthest(count)
    here = np.arange(space.n)
    edges, position = sorted_pairs(np.column_stack([here, furthest]))
    multiplicity = np.bincount(position)
    return FurthestPairs(edges, space.sqdist(*edges.T), multiplicity, furthest)


def _space_of(X: ArrayLike | NeighborGraph, metric: str, squared: bool) -> Space:
    if not isinstance(X, NeighborGraph):
        return make_space(X, metric, squared=squared, at_least=2)
    if X.provenance.space is None:
        raise DataError(
            f"the graph made by {X.provenance} does not know its points, so the furthest ones "
            "cannot be found. Pass the points themselves."
        )
    return X.provenance.space.fresh()
