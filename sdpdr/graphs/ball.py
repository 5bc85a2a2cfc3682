"""Graphs of all pairs within a radius."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.graphs import validate
from sdpdr.graphs.build import finish, merge_duplicates
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.pairs import from_pairs
from sdpdr.graphs.space import Space, make_space
from sdpdr.graphs.spanning import shortest_links


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
    return finish(
        space,
        index,
        from_pairs(space.n, space.pairs_within(length)),
        method="radius",
        options={"radius": length, "angles": angles, "connect": connect},
        angles=angles,
        connect=connect,
        way_out=lambda: f"take radius={_longest_link(space)!r}, the smallest that connects",
    )


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
    tree = shortest_links(space, np.arange(space.n))
    return float(np.sqrt(space.sqdist(*tree.T).max()))
