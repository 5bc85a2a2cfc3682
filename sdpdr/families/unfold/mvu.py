"""Unfolding by maximum variance and by furthest pairs, and the constraints that they share."""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError, ModelError, RigidGraphWarning, warn
from sdpdr.families.limits import ROUNDING
from sdpdr.graphs import FurthestPairs, NeighborGraph, furthest_pairs, geodesics
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.pairs import sorted_pairs
from sdpdr.linalg import Trace
from sdpdr.model import Block, Model
from sdpdr.model.blocks import (
    Apart,
    Band,
    Centered,
    Gram,
    Isometry,
    Relation,
    Slack,
    Spread,
    Variance,
)
from sdpdr.model.blocks.isometry import as_relation
from sdpdr.model.language import psd


@takes_graph
def mvu(graph: NeighborGraph, isometry: Relation = "inequality") -> Model:
    r"""Maximum Variance Unfolding: pull points apart while neighbours keep their distance.

    .. math::

        \max_{K \succeq 0}\ \operatorname{tr} K \quad\text{s.t.}\quad K \mathbf 1 = 0,\quad
        K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij} \text{ for every edge } ij.

    The dual seeks edge weights w that make a connected spring network stiff:
    :math:`\min d^T w` s.t. :math:`\lambda_2(L(w)) \ge 1` (and :math:`w \ge 0` for the
    inequality). So any w, from any solver, gives the bound :math:`d^T w / \lambda_2(L(w))`. Nodes
    that stand for several merged points count that many times in the centre and the variance.

    Parameters
    ----------
    graph : NeighborGraph
        Connected; edges with squared lengths d.
    isometry : {"inequality", "equality", "band:0.05", ...}, Band or Slack, default "inequality"
        The default lets lengths shrink; it always has interior points and a certificate. Exact
        equality may have no interior (collinear or crowded neighbourhoods), and a narrow ``Band``
        restores it.

    Returns
    -------
    Model

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
    >>> from sdpdr.methods import mvu
    >>> from sdpdr import graphs
    >>> mvu(graphs.path([1.0, 2.0]))
    Gram + Centered + Lengths + Variance
    """
    graph.require_connected()
    variance = Variance(graph.n, graph.masses)
    return Model((*placements(graph, isometry), variance), name="mvu")


def placements(graph: NeighborGraph, isometry: Relation) -> tuple[Block, ...]:
    """The blocks of centred embeddings that preserve the lengths of a graph."""
    return Gram(graph.n), Centered(graph.n, graph.masses), Isometry(graph, isometry)


def stretch_of(isometry: Relation) -> float:
    """Factor by which a length can grow."""
    isometry = as_relation(isometry)
    if isinstance(isometry, Slack):
        return float("inf")
    return float(np.sqrt(1.0 + isometry.width)) if isinstance(isometry, Band) else 1.0


@takes_graph
def isometric(
    graph: NeighborGraph, isometry: Relation = "equality", variance: float | None = None
) -> Model:
    r"""All centred embeddings that preserve the lengths of a graph, of variance at least v.

    .. math::

        \text{find } K \succeq 0 \quad\text{s.t.}\quad K \mathbf 1 = 0,\quad
        K_{ii} + K_{jj} - 2K_{ij} \;(=, \le)\; d_{ij} \text{ for every edge } ij,\quad
        \operatorname{tr} K \ge v.

    There is no objective: `sdpdr.iterate.ConvexIteration` searches these matrices for one of low
    rank. Without a lower bound of the variance it folds the points up, and if lengths may shrink,
    onto each other.

    Parameters
    ----------
    graph : NeighborGraph
    isometry : {"equality", "inequality", "band:0.05", ...}, Band or Slack, default "equality"
    variance : float, optional
        v; no lower bound by default. There is no feasible matrix if v exceeds the optimum of `mvu`.

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
    >>> from sdpdr.methods import isometric
    >>> from sdpdr import graphs
    >>> isometric(graphs.path([1.0, 2.0]), variance=4.0)
    Gram + Centered + Lengths + VarianceFloor
    """
    blocks = placements(graph, isometry)
    if variance is not None:
        if not 0.0 < variance < np.inf:
            raise ModelError(f"the least variance must be positive; it is {variance}.")
        floor = Trace(graph.n, graph.masses) @ psd("K", graph.n) >= variance
        blocks = (*blocks, floor.named("variance_floor"))
    return Model(blocks, name="isometric", maximize=False)


@takes_graph
def mfnu(
    graph: NeighborGraph,
    isometry: Relation = "inequality",
    pairs: FurthestPairs | None = None,
) -> Model:
    r"""Pull every point away from the point that is furthest from it in the data.

    .. math::

        \max_{K \succeq 0}\ \sum_i |y_i - y_{f(i)}|^2 = \langle L_F, K \rangle
        \quad\text{s.t.}\quad K \mathbf 1 = 0,\quad
        K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij} \text{ for every edge } ij,

    with f(i) the point furthest from i in the data and :math:`L_F` the Laplacian of these pairs.
    The dual seeks weights w with :math:`L(w) \succeq L_F`; any w gives the bound
    :math:`d^T w\, \rho`, with :math:`\rho` the largest eigenvalue of the pencil
    :math:`(L_F, L(w))`. Nodes that stand for several merged points pull that many times.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    isometry : {"inequality", "equality", "band:0.05", ...}, Band or Slack, default "inequality"
    pairs : FurthestPairs, optional
        By default `sdpdr.graphs.furthest_pairs` of the graph.

    Returns
    -------
    Model

    Raises
    ------
    DisconnectedGraphError
        The graph is disconnected, so the objective is unbounded.
    DataError
        The graph holds no points and no pairs are given, or the pairs are of other points.

    Warns
    -----
    RigidGraphWarning
        With exact lengths, the objective is constant for a furthest pair that is an edge.

    References
    ----------
    Vasiloglou thesis, section 3.3, equation (3.25), which lacks the maximum over K.

    Examples
    --------
    >>> from sdpdr.methods import mfnu
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> X, _ = sdpdr.datasets.swiss_roll(30, seed=0)
    >>> round(sdpdr.solve(mfnu(graphs.knn(X, n_neighbors=4))).value, 2)
    22740.39
    """
    graph.require_connected()
    found = _pairs(graph, pairs)
    if isometry == "equality":
        _warn_of_edges(graph, found)
    spread = Spread(graph.n, found.edges, _weights(graph, found))
    return Model((*placements(graph, isometry), spread), name="mfnu")


@takes_graph
def mvu_apart(
    graph: NeighborGraph,
    isometry: Relation = "inequality",
    pairs: FurthestPairs | None = None,
) -> Model:
    r"""Maximum Variance Unfolding in which furthest pairs may not come closer.

    .. math::

        \max_{K \succeq 0,\ K \mathbf 1 = 0}\ \operatorname{tr} K \quad\text{s.t.}\quad
        q_{ij}(K) \;(\le, =)\; d_{ij} \text{ for edges},\quad
        q_{i f(i)}(K) \ge D_i \text{ for furthest pairs},

    with :math:`q_{ij}(K) = K_{ii} + K_{jj} - 2 K_{ij}`. Plain unfolding shrinks some of these pairs
    to half their squared length and less. The data are feasible, so the program is, too.

    Parameters
    ----------
    graph, isometry, pairs
        As for `mfnu`. Given pairs may have other lengths than in the data.

    Returns
    -------
    Model

    Raises
    ------
    DisconnectedGraphError, DataError
        As for `mfnu`.
    InfeasibleError
        A required distance exceeds the shortest path between the points.

    References
    ----------
    Vasiloglou thesis, end of section 3.3.

    Examples
    --------
    >>> from sdpdr.methods import mvu, mvu_apart
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> graph = graphs.knn(sdpdr.datasets.swiss_roll(20, seed=0)[0], n_neighbors=3)
    >>> apart, plain = sdpdr.solve(mvu_apart(graph)), sdpdr.solve(mvu(graph))
    >>> round(apart.value, 2), round(plain.value, 2)
    (3479.66, 3701.27)
    """
    graph.require_connected()
    found = _pairs(graph, pairs)
    _refuse_unreachable(graph, found)
    apart = Apart(graph.n, found.edges, found.sqdist)
    variance = Variance(graph.n, graph.masses)
    return Model((*placements(graph, isometry), apart, variance), name="mvu_apart")


def _pairs(graph: NeighborGraph, pairs: FurthestPairs | None) -> FurthestPairs:
    """The given furthest pairs, or those of the graph."""
    found = furthest_pairs(graph) if pairs is None else pairs
    if not isinstance(found, FurthestPairs):
        raise DataError(
            f"pairs must come from graphs.furthest_pairs(graph), got {type(pairs).__name__}. An "
            "objective of other pairs is the block sdpdr.blocks.Spread."
        )
    if found.furthest.size != graph.n:
        raise DataError(
            f"the furthest pairs are of {found.furthest.size} points, the graph has {graph.n} "
            "nodes. Find them with graphs.furthest_pairs(graph), which uses the same nodes."
        )
    return found


def _weights(graph: NeighborGraph, pairs: FurthestPairs) -> Array:
    """The weight of each pair: the number of samples that are furthest from each other."""
    _, place = sorted_pairs(np.column_stack([np.arange(graph.n), pairs.furthest]))
    return np.bincount(place, graph.counts).astype(float)


def _warn_of_edges(graph: NeighborGraph, pairs: FurthestPairs) -> None:
    """Warn if furthest pairs are edges, whose lengths are fixed."""
    edges = {tuple(edge) for edge in graph.edges.tolist()}
    both = [pair for pair in pairs.edges.tolist() if tuple(pair) in edges]
    if both:
        warn(
            f"{len(both)} furthest pairs are edges of the graph, the first {tuple(both[0])}: with "
            "exact lengths their part of the objective is constant. Use fewer neighbours, or "
            "isometry='inequality'.",
            RigidGraphWarning,
        )


def _refuse_unreachable(graph: NeighborGraph, pairs: FurthestPairs) -> None:
    """Raise an error if a pair must be further apart than its shortest path."""
    sources, row = np.unique(pairs.edges[:, 0], return_inverse=True)
    reach = np.square(geodesics(graph, sources)[row, pairs.edges[:, 1]])
    short = reach * (1.0 + ROUNDING) < pairs.sqdist
    if short.any():
        f = int(np.flatnonzero(short)[0])
        i, j = pairs.edges[f]
        raise InfeasibleError(
            f"points {i} and {j} must be {np.sqrt(pairs.sqdist[f]):.6g} apart, "
            f"{np.sqrt(pairs.sqdist[f]) - np.sqrt(reach[f]):.2g} more than the shortest path "
            f"between them, {np.sqrt(reach[f]):.6g}, which may not be stretched. Lower the "
            "distance, or relax the isometry."
        )
