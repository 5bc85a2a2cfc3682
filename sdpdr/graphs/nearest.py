"""Graphs of the k nearest neighbours or of all within a radius, and pairs of furthest points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import show_phase
from sdpdr.graphs.build import connected, merge_duplicates
from sdpdr.graphs.data import make_space
from sdpdr.graphs.neighbor_graph import NeighborGraph, Provenance
from sdpdr.graphs.pairs import from_pairs, from_table, sorted_pairs, upper_pairs


@checks_keywords
def knn(
    X: ArrayLike,
    n_neighbors: int = 6,
    *,
    metric: str = "euclidean",
    angles: bool = False,
    connect: str = "error",
) -> NeighborGraph:
    r"""Graph that joins each point to its k nearest others.

    Two points share an edge if one is among the k nearest of the other. The search is exact;
    among points equally far away the one with the smaller index comes first, and no point is its
    own neighbour.

    Points are equally far away if their distances agree to rounding: consecutive distances, in
    order, differ by no more than the distance at which two points are the same. That is
    :math:`4 \cdot 2^{-52} \sum_j \max_i |X_{ij}|` over the columns that vary, 1e-12 on the unit
    sphere of ``"cosine"``, and :math:`4 \cdot 2^{-52}` of the longest of precomputed distances. So
    the graph does not change if points are moved or rotated, or stored as a sparse matrix.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, D), or (n, n) for precomputed distances
        Sparse data stay sparse: memory grows with their entries.
    n_neighbors : int, default 6
        k, from 1 to the number of distinct points minus one.
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"cosine"`` rows are compared by their directions, and lengths are those of chords of
        the unit sphere, :math:`d^2 = 2 - 2\cos`; parallel rows coincide, and a row of zeros is
        refused. With ``"precomputed"`` X holds distances: symmetric, non-negative, zero diagonal.
        NaN and inf mark unknown distances. A pair without a distance is no edge, and neighbours
        are the nearest points of known distance (fewer than k if fewer are known). One of
        D[i, j] and D[j, i] is enough.
    angles : bool, default False
        Whether to add every pair inside a neighbourhood: see `NeighborGraph.with_cliques`.
    connect : {"error", "bridges", "mst", "largest", "none"}, default "error"
        What to do with a graph of several components: raise an error; add the ``n_neighbors``
        shortest edges between every two components, with a warning (if there are more than
        thirty, between those that a minimum spanning tree joins); add the edges of that tree
        only, about which components can rotate as about hinges; keep the largest component; or
        return the graph as it is.

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
    >>> from sdpdr.graphs import knn
    >>> from sdpdr import datasets
    >>> X, _ = datasets.swiss_roll(100, seed=0)
    >>> knn(X, n_neighbors=4).m
    249
    """
    space, index = merge_duplicates(make_space(X, metric))
    k = validate.n_neighbors(n_neighbors, space.n)
    options: dict[str, object] = {"n_neighbors": k, "angles": angles, "connect": connect}
    with show_phase(None, f"{k} nearest neighbours of {space.n} points"):
        near = from_table(space.nearest(k))
    provenance = Provenance("knn", options, space.fresh(), near)
    graph = NeighborGraph.of_points(upper_pairs(near), index, provenance)
    return connected(graph.with_cliques() if angles else graph, space, connect)


@checks_keywords
def radius(
    X: ArrayLike,
    radius: float,
    *,
    metric: str = "euclidean",
    connect: str = "error",
) -> NeighborGraph:
    """Graph that joins all points at distance at most ``radius`` (the epsilon-ball graph).

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    radius : float
        Distances that agree with it to rounding, as in `sdpdr.graphs.knn`, count as at most it.
    metric, connect
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
    >>> from sdpdr.graphs import radius
    >>> radius([[0.0], [1.0], [2.5]], 1.5).edges
    array([[0, 1],
           [1, 2]])
    """
    length = validate.positive_number("radius", radius)
    space, index = merge_duplicates(make_space(X, metric))
    near = from_pairs(space.n, space.pairs_within(length))
    options = {"radius": length, "connect": connect}
    provenance = Provenance("radius", options, space.fresh(), near)
    graph = NeighborGraph.of_points(upper_pairs(near), index, provenance)
    return connected(graph, space, connect)


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


@checks_keywords
def furthest_pairs(X: ArrayLike | NeighborGraph, *, metric: str = "euclidean") -> FurthestPairs:
    """Return for each point the one furthest from it, exactly.

    The distance to a fixed point is a convex function, so the furthest point is a vertex of the
    convex hull. In up to five dimensions only these vertices are compared; in more, hulls have too
    many facets, and the cost is one product of the data with its transpose, block by block.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n), or NeighborGraph
        Points or precomputed distances; or a graph made from them, for its nodes.
    metric
        As for `sdpdr.graphs.knn`; ignored for a graph.

    Raises
    ------
    DataError
        X cannot be used, or the graph was made from edges alone.

    References
    ----------
    Vasiloglou thesis, sections 2.1.6 (a tree search for the same) and 3.3.

    Examples
    --------
    >>> from sdpdr.graphs import furthest_pairs
    >>> pairs = furthest_pairs([[0.0], [1.0], [5.0]])
    >>> pairs.edges, pairs.multiplicity
    (array([[0, 2], [1, 2]]), array([2, 1]))
    """
    space = X.provenance.space if isinstance(X, NeighborGraph) else None
    if space is not None:
        space = space.fresh()
    elif isinstance(X, NeighborGraph):
        raise DataError(
            f"the graph made by {X.provenance} does not hold its points, so the furthest ones "
            "cannot be found. Pass the points themselves."
        )
    else:
        space = make_space(X, metric, at_least=2)
    with show_phase(None, f"furthest points of {space.n}"):
        furthest = space.furthest()
    edges, position = sorted_pairs(np.column_stack([np.arange(space.n), furthest]))
    return FurthestPairs(edges, space.sqdist(*edges.T), np.bincount(position), furthest)
