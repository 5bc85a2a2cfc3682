"""Whether edges keep their length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import DataError, ShapeError
from sdpdr.graphs.arrays import Array
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.quality.neighbourhoods import points_of


@dataclass(frozen=True)
class EdgeErrors:
    """Relative change of the lengths of edges.

    Attributes
    ----------
    rms : float
        Root of the mean square of (new length - length) / length.
    max : float
        The largest in size.
    scale : float
        Factor on the embedding that makes the rms least; 0 if all points coincide.
    rms_scaled : float
        The rms after that factor: how uneven the changes are, whatever the unit.
    """

    rms: float
    max: float
    scale: float
    rms_scaled: float


def edge_changes(graph: NeighborGraph, Y: ArrayLike) -> Array:
    """Relative change of the PLAIN length of each edge, shape (m,); negative where it shrank.

    Parameters
    ----------
    graph : NeighborGraph
    Y : array_like of shape (n, d)
        A row for each node.

    Raises
    ------
    ShapeError, DataError
        Y does not fit the graph.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> edge_changes(graphs.path([1.0, 2.0]), [[0.0], [1.0], [2.0]])
    array([ 0. , -0.5])
    """
    points = points_of("the embedding", Y)
    if len(points) != graph.n:
        raise ShapeError(
            f"the embedding has {len(points)} rows but the graph has {graph.n} nodes: pass one "
            "each."
        )
    i, j = graph.edges.T
    lengths = np.linalg.norm(points[i] - points[j], axis=1)
    return np.asarray(lengths / np.sqrt(graph.sqdist) - 1.0)


def edge_errors(graph: NeighborGraph, Y: ArrayLike) -> EdgeErrors:
    r"""How far an embedding is from a local isometry.

    With :math:`\rho_e` the ratio of new to old PLAIN length, the best factor is
    :math:`\sum \rho_e / \sum \rho_e^2`.

    Parameters
    ----------
    graph : NeighborGraph
        With at least one edge.
    Y : array_like of shape (n, d)

    Returns
    -------
    EdgeErrors

    Raises
    ------
    ShapeError, DataError
        Y does not fit the graph, or the graph has no edge.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> edge_errors(graphs.path([1.0, 1.0]), [[0.0], [2.0], [4.0]])
    EdgeErrors(rms=1.0, max=1.0, scale=0.5, rms_scaled=0.0)
    """
    change = edge_changes(graph, Y)
    if not change.size:
        raise DataError("the graph has no edges, so there are no lengths to keep.")
    ratio = 1.0 + change
    squares = float(ratio @ ratio)
    scale = float(ratio.sum()) / squares if squares > 0.0 else 0.0
    return EdgeErrors(
        rms=_rms(change),
        max=float(np.abs(change).max()),
        scale=scale,
        rms_scaled=_rms(scale * ratio - 1.0),
    )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
