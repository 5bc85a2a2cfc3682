"""Maximum Variance Unfolding."""

from __future__ import annotations

import numpy as np

from sdpdr.blocks import Centered, Gram, Isometry, Relation, Variance
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model


def mvu(graph: NeighborGraph, isometry: Relation = "inequality") -> Model:
    r"""Maximum Variance Unfolding: pull points apart while neighbours keep their distance.

    .. math::

        \max_{K \succeq 0}\ \operatorname{tr} K \quad\text{s.t.}\quad K \mathbf 1 = 0,\quad
        K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij} \text{ for every edge } ij.

    The dual asks for edge weights w that make a connected spring network stiff:
    :math:`\min d^T w` s.t. :math:`\lambda_2(L(w)) \ge 1` (and :math:`w \ge 0` for the
    inequality). Any w therefore gives the bound :math:`d^T w / \lambda_2(L(w))`, whichever solver
    found it. Nodes that stand for several merged points weigh that many times in both the centre
    and the variance.

    Parameters
    ----------
    graph : NeighborGraph
        Connected; edges with squared lengths d.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
        The default lets lengths shrink; it always has interior points and a certificate. Exact
        equality may have no interior (collinear or crowded neighbourhoods), and a narrow
        ``Band`` restores it.

    Returns
    -------
    Model
        Unsolved; give it to `sdpdr.solve`.

    Raises
    ------
    DisconnectedGraphError
        The variance of a disconnected graph is unbounded.

    References
    ----------
    Weinberger and Saul, "Unsupervised learning of image manifolds by semidefinite programming",
    CVPR 2004. Vasiloglou thesis, section 3.1; Tong thesis, section 2.2.4.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> model = mvu(graphs.path([1.0, 2.0]))
    >>> model
    Gram + Centered + Lengths + Variance
    """
    graph.require_connected()
    counts = None if np.all(graph.counts == 1) else np.asarray(graph.counts, dtype=float)
    blocks = (
        Gram(graph.n),
        Centered(graph.n, counts),
        Isometry(graph, isometry),
        Variance(graph.n, counts),
    )
    return Model(blocks, name="mvu")
