"""The optimum of unfolding where every pair of points is an edge: the points themselves."""

from __future__ import annotations

import numpy as np

from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.distances import about_centre
from sdpdr.program import Factor
from sdpdr.program.point import Point

# Eigenvalues relative to the largest that rounding explains.
_EUCLIDEAN = 1e-9


def classical_optimum(graph: NeighborGraph) -> Point | None:
    r"""Point and multipliers that are optimal for `sdpdr.methods.mvu` of a complete graph.

    The variance of points of weights c is :math:`\sum_{i<j} c_i c_j |y_i - y_j|^2 / N`, so lengths
    that may not grow bound it by the weights :math:`w_{ij} = c_i c_j / N`, and points at these
    lengths attain it: classical scaling. None if an edge is missing, or if the lengths are not
    those of points.

    Parameters
    ----------
    graph : NeighborGraph

    Examples
    --------
    >>> from sdpdr import graphs
    >>> point = classical_optimum(graphs.complete([[0.0], [1.0], [5.0]]))
    >>> np.abs(point.values["K"].factor).ravel().round(6), point.duals["isometry"].round(6)
    (array([2., 1., 3.]), array([0.333333, 0.333333, 0.333333]))
    """
    if graph.m < graph.n * (graph.n - 1) // 2:
        return None
    i, j = graph.edges.T
    counts = np.asarray(graph.counts, dtype=float)
    lengths = np.zeros((graph.n, graph.n))
    lengths[i, j] = lengths[j, i] = graph.sqdist
    values, vectors = np.linalg.eigh(about_centre(lengths, counts))
    rounding = _EUCLIDEAN * values[-1]
    if values[0] < -rounding:
        return None
    kept = values > rounding
    factor = Factor(vectors[:, kept] * np.sqrt(values[kept]))
    weights = counts[i] * counts[j] / counts.sum()
    return Point({"K": factor}, {"centered": np.zeros(graph.n), "isometry": weights})
