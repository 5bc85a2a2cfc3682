"""The point furthest from each point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Progress, show_count
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.pairs import sorted_pairs
from sdpdr.graphs.space import Space, make_space


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
