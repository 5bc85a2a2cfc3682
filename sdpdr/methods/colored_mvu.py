"""Colored Maximum Variance Unfolding."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpdr.blocks import Centered, Dependence, Gram, Isometry, Relation
from sdpdr.errors import DataError, DisconnectedGraphError
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.svec import Array
from sdpdr.methods.side import side_information
from sdpdr.model import Model

_ROUNDING = 1e-9


def colored_mvu(graph: NeighborGraph, y: Any, isometry: Relation = "inequality") -> Model:
    r"""Unfold so that the embedding depends on side information as much as it can.

    .. math::

        \max_{K \succeq 0}\ \langle H T H, K \rangle \quad\text{s.t.}\quad
        K \mathbf 1 = 0,\quad K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij}
        \text{ for every edge } ij,

    with :math:`T = F F^T` a kernel of the side information and H the centring matrix. The
    objective is :math:`(n-1)^2` times the Hilbert-Schmidt independence criterion. Any weights w
    give the bound :math:`d^T w\, \lambda_{\max}(F^T H L(w)^+ H F)`. With lengths that may
    shrink, an optimum of rank q exists, q the number of columns of F. With
    :math:`T = I` this is Maximum Variance Unfolding.

    Parameters
    ----------
    graph : NeighborGraph
        Connected; or in parts over each of which F has its overall mean.
    y : array_like, NeighborGraph or Side
        Side information of every node, see `sdpdr.methods.side_information`: labels, numbers of
        shape (n,) or (n, q), or a graph on the same nodes. A kernel matrix goes through
        ``side_information(kernel=T)``.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"

    Returns
    -------
    Model
        Unsolved; give it to `sdpdr.solve`.

    Raises
    ------
    DataError
        The side information is constant, not finite, or of other than n nodes.
    DisconnectedGraphError
        A part of the graph has another mean of F than the rest, and would drift away.

    References
    ----------
    Song, Smola, Borgwardt, Gretton, "Colored maximum variance unfolding", NIPS 20, 2007.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> X, t = sdpdr.datasets.swiss_roll(60, seed=0)
    >>> model = colored_mvu(graphs.knn(X, n_neighbors=5), t > t.mean())
    >>> solution = sdpdr.solve(model)
    >>> solution.certified()
    True
    """
    side = side_information(y)
    if side.factor.shape[0] != graph.n:
        raise DataError(
            f"the side information has {side.factor.shape[0]} rows, but the graph has {graph.n} "
            "nodes; give one row per node (graph.index tells the node of each sample)."
        )
    counts = np.asarray(graph.counts, dtype=float)
    factor = counts[:, None] * (side.factor - counts @ side.factor / counts.sum())
    if not np.abs(factor).max() > _ROUNDING * np.abs(side.factor).max():
        raise DataError(
            "the side information is the same for all points, so nothing can depend on it. Give "
            "at least two different labels or numbers."
        )
    _require_balance(graph, factor)
    blocks = (
        Gram(graph.n),
        *_centred(graph, counts),
        Isometry(graph, isometry),
        Dependence(factor, side.signs),
    )
    return Model(blocks, name="colored_mvu", maximize=True)


def _centred(graph: NeighborGraph, counts: Array) -> list[Centered]:
    """Every part of the graph at the origin, since nothing says where it is to be."""
    if graph.is_connected:
        return [Centered(graph.n, graph.masses)]
    parts = range(graph.n_components)
    return [Centered(graph.n, np.where(graph.components == part, counts, 0.0)) for part in parts]


def _require_balance(graph: NeighborGraph, factor: Array) -> None:
    if graph.is_connected:
        return
    parts = graph.components
    for number in range(graph.n_components):
        inside = parts == number
        pull = np.abs(factor[inside].sum(axis=0))
        if np.any(pull > _ROUNDING * np.abs(factor).sum(axis=0)):
            raise DisconnectedGraphError(
                f"part {number} of the graph ({np.count_nonzero(inside)} nodes) has other side "
                "information on average than the rest, so it would drift away for ever. Use more "
                "neighbours, or connect='mst'.",
                [np.flatnonzero(parts == k) for k in range(graph.n_components)],
            )
