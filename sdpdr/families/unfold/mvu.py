"""Maximum Variance Unfolding, and the isometric placements themselves, without an objective."""

from __future__ import annotations

import warnings

from sdpdr.base.errors import RigidGraphWarning
from sdpdr.graphs import NeighborGraph, rigidity
from sdpdr.model import Model
from sdpdr.model.blocks import Centered, Flat, Gram, Isometry, Relation, Variance, VarianceFloor

# Nodes up to which cliques are looked at; the algebra is dense.
_LARGEST = 500


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

    Warns
    -----
    RigidGraphWarning
        Exact lengths leave the data themselves as the only feasible point.

    Notes
    -----
    With exact lengths on a graph that keeps angles, neighbourhoods of more points than their
    dimension needs are rigid, and leave no interior. Their null vectors are then stated as rows
    of their own (`sdpdr.blocks.Flat`), for graphs of up to 500 nodes.

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
    blocks = (
        Gram(graph.n),
        Centered(graph.n, graph.masses),
        Isometry(graph, isometry),
        *(_flat(graph) if isometry == "equality" else ()),
        Variance(graph.n, graph.masses),
    )
    return Model(blocks, name="mvu")


def _flat(graph: NeighborGraph) -> list[Flat]:
    """What exact lengths inside cliques imply, where angles make cliques large."""
    if not graph.provenance.options.get("angles") or graph.n > _LARGEST:
        return []
    found = rigidity(graph)
    if found.free == 0:
        warnings.warn(
            "exact lengths between all neighbours of each point leave one embedding only, that of "
            "the data: the result equals classical scaling of X. Use fewer neighbours, "
            "angles=False, or a relation that gives way, such as isometry=Band(0.01).",
            RigidGraphWarning,
            stacklevel=3,
        )
    return [Flat(found.null)] if found.null.size else []


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
