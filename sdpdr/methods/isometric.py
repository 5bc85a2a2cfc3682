"""The isometric placements themselves, without an objective: what rank iterations search."""

from __future__ import annotations

from sdpdr.blocks.floor import VarianceFloor
from sdpdr.blocks.gram import Centered, Gram
from sdpdr.blocks.isometry import Isometry, Relation
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model


def isometric(
    graph: NeighborGraph, isometry: Relation = "equality", variance: float | None = None
) -> Model:
    r"""All centred placements that keep the lengths of a graph, with a variance of at least v.

    .. math::

        \text{find } K \succeq 0 \quad\text{s.t.}\quad K \mathbf 1 = 0,\quad
        K_{ii} + K_{jj} - 2K_{ij} \;(=, \le)\; d_{ij} \text{ for every edge } ij,\quad
        \operatorname{tr} K \ge v.

    There is no objective: `sdpdr.iterate.ConvexIteration` looks among these matrices for one of low
    rank. Without a floor under the variance it folds the points up; where lengths may shrink,
    onto each other.

    Parameters
    ----------
    graph : NeighborGraph
    isometry : {"equality", "inequality"}, Band or Slack, default "equality"
    variance : float, optional
        v; no floor by default. It must not exceed the optimum of `mvu`, or nothing is feasible.

    Returns
    -------
    Model

    Raises
    ------
    ModelError
        If the variance is not positive.

    References
    ----------
    Vasiloglou thesis, section 6.2, (2.101)-(2.103).

    Examples
    --------
    >>> from sdpdr import graphs
    >>> isometric(graphs.path([1.0, 2.0]), variance=4.0)
    Gram + Centered + Lengths + VarianceFloor
    """
    counts = graph.masses
    model = Gram(graph.n) + Centered(graph.n, counts) + Isometry(graph, isometry)
    if variance is not None:
        model = model + VarianceFloor(graph.n, variance, counts)
    return Model(model.blocks, name="isometric", maximize=False)
