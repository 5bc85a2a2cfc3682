"""How much an edge of a neighbour graph weighs: one, by its length, or by the angle it spans."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.space import Points, directions

WEIGHTS = ("binary", "heat", "cosine")


def edge_weights(
    graph: NeighborGraph, weights: str = "binary", bandwidth: float | None = None
) -> Array:
    r"""Weight of every edge, from zero to one.

    ============  ==========================================================================
    ``"binary"``  :math:`1`
    ``"heat"``    :math:`e^{-d_{ij}^2 / (2 \sigma^2)}`
    ``"cosine"``  :math:`\max(0,\ x_i \cdot x_j / (|x_i| |x_j|))`
    ============  ==========================================================================

    Every estimator that weighs edges asks here. The bandwidth :math:`\sigma` is a PLAIN length. The
    rule where none is given: :math:`\sigma^2` is the median of the squared lengths of the edges, so
    that the weight of the median edge is :math:`e^{-1/2}` in any unit. Lengths are those of the
    graph; one made with ``metric="cosine"`` has :math:`d_{ij}^2 = 2 - 2\cos_{ij}`.

    Parameters
    ----------
    graph : NeighborGraph
    weights : {"binary", "heat", "cosine"}, default "binary"
        ``"cosine"`` is for graphs of points.
    bandwidth : float, optional
        :math:`\sigma`, for ``"heat"`` alone.

    Returns
    -------
    ndarray of shape (m,)
        In the order of ``graph.edges``, as `NeighborGraph.adjacency` takes it.

    Raises
    ------
    DataError
        A bandwidth without heat; cosines of a graph that knows lengths alone, or of a point at the
        origin.
    UnknownNameError

    References
    ----------
    Belkin and Niyogi, Neural Computation 15, 2003; Tong thesis, section 2.2.3, with
    :math:`\sigma^2` in place of :math:`2 \sigma^2`.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> graph = graphs.knn([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]], 1)
    >>> graph.sqdist
    array([1., 5.])
    >>> edge_weights(graph, "heat", bandwidth=1.0).round(3)
    array([0.607, 0.082])
    >>> edge_weights(graph, "cosine").round(3)
    array([0.707, 0.707])
    """
    validate.choice("weights", weights, WEIGHTS)
    if bandwidth is not None and weights != "heat":
        raise DataError(
            f"bandwidth={bandwidth!r} is that of heat, and weights={weights!r}. Pass "
            "weights='heat', or leave bandwidth out."
        )
    if weights == "binary" or not graph.m:
        return np.ones(graph.m)
    if weights == "cosine":
        return _cosines(graph)
    if bandwidth is None:
        square = float(np.median(graph.sqdist))
    else:
        square = validate.positive_number("bandwidth", bandwidth) ** 2
    return np.asarray(np.exp(-graph.sqdist / (2.0 * square)))


def _cosines(graph: NeighborGraph) -> Array:
    unit = space_of_weights(graph, "cosine")
    cosines = 1.0 - unit.sqdist(*graph.edges.T) / 2.0
    # What rounding leaves of a right angle joins nothing.
    return np.where(cosines > unit.rounding, cosines, 0.0)


def space_of_weights(graph: NeighborGraph, weights: str) -> Any:
    """Where points are the nearer the more an edge between them weighs: on a sphere, of cosines.

    Raises
    ------
    DataError
        Cosines of a graph that knows lengths alone, or of a point at the origin.
    """
    space = graph.provenance.space
    if weights != "cosine":
        return space
    if not isinstance(space, Points):
        raise DataError(
            f"the graph made by {graph.provenance} knows lengths alone, which leave angles open. "
            "Make it from points, or pass weights='heat'."
        )
    return type(space)(directions(space.X))
