"""Isometric nonnegative factorization as semidefinite programs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError, VacuousWarning, warn
from sdpdr.families.factor.nmf.recipes import own_blocks
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix, number_of_components
from sdpdr.graphs import NeighborGraph, furthest_pairs
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.pairs import sorted_pairs
from sdpdr.model import Block, Model
from sdpdr.model.blocks import FactorLift, Gram, Isometry, Known, NonNegative, Relation, Spread
from sdpdr.model.blocks.entries import TraceAtMost


@takes_graph
def isometric_nmf(
    graph: NeighborGraph,
    X: ArrayLike,
    isometry: Relation = "equality",
    *,
    trace_limit: float | None = None,
    n_components: int | None = None,
) -> Model:
    r"""Convex relaxation of isometric nonnegative factorization.

    .. math::

        \max\ \sum_i |w_i - w_{f(i)}|^2 \quad\text{s.t.}\quad
        Z = \begin{pmatrix} \mathcal W & V \\ V^T & \mathcal H \end{pmatrix} \succeq 0,\quad
        Z \ge 0,\quad |w_i - w_j|^2 \;(=, \le)\; d_{ij},

    where :math:`|w_i - w_j|^2` stands for
    :math:`\mathcal W_{ii} + \mathcal W_{jj} - 2 \mathcal W_{ij}` and f(i) is the point furthest
    from i in V. For factors :math:`V = W H` with the lengths of the graph,
    :math:`\mathcal W = W W^T` and :math:`\mathcal H = H^T H` are feasible. Completely positive
    matrices, for which the converse holds, are replaced by positive semidefinite ones with
    nonnegative entries.

    Unless :math:`\mathcal W` and :math:`\mathcal H` are bounded, V has no effect: the supremum is
    that of `mfnu`, whatever V is.

    Parameters
    ----------
    graph : NeighborGraph
        With n nodes and the squared lengths d.
    X : array_like of shape (n, m)
        V, nonnegative: a row for each node.
    isometry : {"equality", "inequality", "band:0.05", ...}, Band or Slack, default "equality"
    trace_limit : float, optional
        :math:`\operatorname{tr} Z \le \tau`.
    n_components : int, optional
        k, of factors with unit rows of H: then :math:`\operatorname{tr} \mathcal H \le k`, and
        :math:`\operatorname{tr} \mathcal W \le |V|_F^2`, since nonnegative terms do not cancel.

    Returns
    -------
    Model
        Unsolved; pass it to `sdpdr.solve`.

    Raises
    ------
    DataError
        V has negative entries; no matrix with this V is within the limit on the trace.
    ShapeError
        The number of rows of V is not the number of nodes of the graph.
    DisconnectedGraphError
        Components of the graph may drift apart without limit.

    Warns
    -----
    VacuousWarning
        Nothing is bounded.

    References
    ----------
    Vasiloglou thesis, section 4.4.1, (4.85), where nothing is bounded and the objective acts on Z.

    Examples
    --------
    >>> from sdpdr.methods import isometric_nmf
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> model = isometric_nmf(graphs.path([1.0, 1.0]), [[1.0], [2.0], [3.0]], n_components=1)
    >>> round(sdpdr.solve(model).value, 4)
    9.0
    """
    V = rows_of_nodes(graph, X)
    graph.require_connected()
    if trace_limit is None and n_components is None:
        warn(
            "nothing limits the products of H, so X has no effect on the optimum, which is that of "
            "methods.mfnu. Pass n_components (unit rows of H) or trace_limit.",
            VacuousWarning,
        )
    order = sum(V.shape)
    corner = np.argwhere(np.ones(V.shape)) + np.array([0, len(V)])
    furthest = furthest_pairs(V).furthest
    pairs, place = sorted_pairs(np.column_stack([np.arange(graph.n), furthest]))
    blocks: list[Block] = [
        Gram(order, "Z"),
        Known(order, corner, V.ravel()),
        NonNegative(order, own_blocks(*V.shape), "Z"),
        Isometry(_placed(graph, order), isometry, "Z"),
        Spread(order, pairs, np.bincount(place, graph.counts).astype(float), "Z"),
    ]
    if trace_limit is not None:
        least = 2.0 * float(np.linalg.norm(V, "nuc"))
        if validate.positive_number("trace_limit", trace_limit) < least:
            raise DataError(
                f"no Z has a trace of {trace_limit:g}: twice the sum of the singular values of X, "
                f"{least:.6g}, is the least with X in its corner. Raise trace_limit."
            )
        blocks.append(TraceAtMost(order, trace_limit, gram="Z"))
    if n_components is not None:
        k = number_of_components(n_components, V.shape)
        left = (np.arange(order) < V.shape[0]).astype(float)
        blocks.append(TraceAtMost(order, float(np.sum(V**2)), left, "Z"))
        blocks.append(TraceAtMost(order, float(k), 1.0 - left, "Z"))
    return Model(tuple(blocks), name="isometric_nmf")


@takes_graph
def isometric_nmf_lift(
    graph: NeighborGraph, X: ArrayLike, n_components: int, isometry: Relation = "equality"
) -> Model:
    r"""Isometric nonnegative factorization as a matter of rank.

    .. math::

        Z = \begin{pmatrix} I_k & W^T & H \\ W & \mathcal W & V \\ H^T & V^T & \mathcal H
        \end{pmatrix} \succeq 0, \qquad W, H \ge 0, \qquad
        \mathcal W_{ii} + \mathcal W_{jj} - 2 \mathcal W_{ij} \;(=, \le)\; d_{ij} .

    Z of rank k is the same as factors :math:`V = W H` with the lengths of the graph. The model
    states the constraints without the rank; `sdpdr.iterate.ConvexIteration` with the direction
    `sdpdr.iterate.Schur` searches for the rank.

    Parameters
    ----------
    graph, X, isometry
        As of `isometric_nmf`.
    n_components : int
        k.

    Returns
    -------
    Model
        Without an objective.

    Raises
    ------
    DataError, ShapeError

    References
    ----------
    Vasiloglou thesis, sections 4.2.6 and 4.4.1, (2.71) and (4.85).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.methods import isometric_nmf_lift
    >>> import sdpdr
    >>> from sdpdr import graphs, iterate
    >>> W = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> model = isometric_nmf_lift(graphs.knn(W, 1), W @ [[1.0, 0.5], [0.0, 1.0]], 2)
    >>> way = iterate.Schur(2, scale=2.0, parts=(3, 2))
    >>> iterate.ConvexIteration(model, 2, direction=way, restarts=3).run().status
    IterationStatus.RANK_REACHED
    """
    V = rows_of_nodes(graph, X)
    k = number_of_components(n_components, V.shape)
    lift = FactorLift(k, *V.shape)
    blocks = (
        lift,
        Known(lift.order, lift.product(), V.ravel()),
        NonNegative(lift.order, np.vstack([lift.left(), lift.right()]), "Z"),
        Isometry(_placed(graph, lift.order, k), isometry, "Z"),
    )
    return Model(blocks, name="isometric_nmf_lift")


def _placed(graph: NeighborGraph, order: int, first: int = 0) -> NeighborGraph:
    """A graph whose nodes are rows of a larger matrix, from row ``first`` on."""
    return NeighborGraph(order, graph.edges + first, graph.sqdist)


def rows_of_nodes(graph: NeighborGraph, X: ArrayLike) -> Array:
    """A nonnegative matrix with a row for each node."""
    V = nonnegative_matrix(X)
    if V.shape[0] != graph.n:
        raise ShapeError(
            f"X has {V.shape[0]} rows but the graph {graph.n} nodes: pass a row for each node. "
            "Where points were merged or dropped, graph.index says which row became which node."
        )
    return V
