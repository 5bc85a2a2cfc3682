"""The point furthest from each point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import cdist

from sdpdr.errors import DataError
from sdpdr.graphs.arrays import Array, Index
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.pairs import sorted_pairs
from sdpdr.graphs.space import BLOCK, Euclidean, Space, make_space

# Convex hulls in more dimensions have too many facets to pay off.
HULL_FEATURES = 6


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
    X: ArrayLike | NeighborGraph, *, metric: str = "euclidean", squared: bool = False
) -> FurthestPairs:
    """For each point the one furthest from it, exactly.

    The distance to a fixed point is a convex function, so the furthest point is a vertex of the
    convex hull. In up to six dimensions the hull is computed once and only its vertices are
    looked at; otherwise all points are, block by block.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n), or NeighborGraph
        Points or precomputed distances; or a graph made from them, whose nodes are then meant.
    metric, squared
        As for `sdpdr.graphs.knn`; without meaning for a graph.

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
    furthest = _search(space)
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
    return X.provenance.space


def _search(space: Space) -> Index:
    if not isinstance(space, Euclidean):
        everyone = np.arange(space.n)
        return np.array([space.sqdist(np.array(i), everyone).argmax() for i in everyone])
    candidates = _extreme_points(space.X)
    step = max(1, BLOCK // len(candidates))
    blocks = [
        cdist(space.X[at : at + step], space.X[candidates], "sqeuclidean").argmax(axis=1)
        for at in range(0, space.n, step)
    ]
    furthest: Index = candidates[np.concatenate(blocks)]
    return furthest


def _extreme_points(X: Array) -> Index:
    """Sorted indices of points among which all vertices of the convex hull are found."""
    n, features = X.shape
    if features == 1:
        return np.unique([X.argmin(), X.argmax()])
    if features > HULL_FEATURES:
        return np.arange(n)
    try:
        return np.sort(ConvexHull(X).vertices).astype(np.int64)
    except QhullError:
        # Qhull refuses data that lie in a subspace: use coordinates within it, if there is one.
        flat = _within_span(X)
        return _extreme_points(flat) if flat.shape[1] < features else np.arange(n)


def _within_span(X: Array) -> Array:
    centered = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(centered, full_matrices=False)
    rank = np.count_nonzero(s > s[0] * max(X.shape) * np.finfo(float).eps)
    return np.asarray(U[:, :rank] * s[:rank])
