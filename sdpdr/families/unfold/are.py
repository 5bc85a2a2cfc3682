"""Action Respecting Embedding."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Index
from sdpdr.base.errors import InfeasibleError
from sdpdr.families.limits import ROUNDING
from sdpdr.families.unfold.mvu import placements
from sdpdr.graphs import NeighborGraph, Transitions, transitions
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.neighbor_graph import Provenance
from sdpdr.graphs.transitions import Labels
from sdpdr.model import Model
from sdpdr.model.blocks import Actions, Band, Coinciding, Relation, Variance
from sdpdr.model.blocks.isometry import as_relation


@takes_graph
def are(
    graph: NeighborGraph,
    actions: Labels | Transitions,
    lengths: Sequence[int] | None = None,
    isometry: Relation = "inequality",
    inverse: Mapping[Hashable, Hashable] | None = None,
    hops: int | None = None,
) -> Model:
    r"""Action Respecting Embedding: an unfolding in which every action is a rigid motion.

    .. math::

        \max_{K \succeq 0}\ \operatorname{tr} K \quad\text{s.t.}\quad K \mathbf 1 = 0,\quad
        q_{ij}(K) \;(\le, =)\; d_{ij} \text{ for every edge},\quad
        q_{ij}(K) = q_{i+1,\,j+1}(K) \text{ if } a_i = a_j,

    with :math:`q_{ij}(K) = K_{ii} + K_{jj} - 2K_{ij}`. The dual has weights w of edges and z
    of action constraints with :math:`\lambda_2(L(w) + \sum z_c (b_c b_c^T - b_c' b_c'^T)) \ge 1`;
    the objective does not contain z, so that the bound is again :math:`d^T w / \lambda_2`.
    Redundant constraints are left out, and of each chain of equal lengths only the shortest edge
    is kept. Without repeated actions this is `mvu`.

    Parameters
    ----------
    graph : NeighborGraph
        Connected, see `sdpdr.graphs.transitions`.
    actions : str, sequence of labels, or Transitions
        One label for each step from a state to the next, see `sdpdr.graphs.transitions`.
    lengths : sequence of int, optional
        Number of states of each sequence.
    isometry : {"inequality", "equality", "band:0.05", ...}, Band or Slack, default "inequality"
    inverse : mapping of labels, optional
        ``{"L": "R"}``: L undoes R. States that must then coincide are merged.
    hops : int, optional
        A relaxation for many points: it keeps the action constraints of pairs at most this many
        edges apart, and the bounds on lengths that all constraints imply for chains. Its bound
        holds for the whole program, and so does its value if `sdpdr.graphs.action_error` of the
        answer is zero. With 0 only lengths of edges are constrained, as in `mvu`.

    Returns
    -------
    Model

    Raises
    ------
    DisconnectedGraphError, ShapeError, DataError
    InfeasibleError
        Prescribed lengths of one chain differ.

    References
    ----------
    Bowling, Ghodsi and Wilkinson, "Action respecting embedding", ICML 2005; course notes, section
    on Action Respecting Embedding.

    Examples
    --------
    >>> from sdpdr.methods import are
    >>> from sdpdr import graphs
    >>> are(graphs.path([1.0, 2.0, 1.5]), "RRR")
    Gram + Centered + Lengths + Actions + Variance
    """
    graph.require_connected()
    isometry = as_relation(isometry)
    steps = actions
    if not isinstance(steps, Transitions):
        steps = transitions(graph, steps, lengths, inverse)
    near = None
    if hops is not None:
        near = _near(graph, validate.positive_integer("hops", hops, at_least=0))
    before, after = steps.pairs(near)
    blocks = placements(_presolved(graph, steps, isometry, hops is not None), isometry)
    if len(before):
        blocks = (*blocks, Actions(graph.n, before, after))
    if len(steps.coinciding):
        blocks = (*blocks, Coinciding(graph.n, steps.coinciding))
    return Model((*blocks, Variance(graph.n, graph.masses)), name="are")


def _near(graph: NeighborGraph, hops: int) -> Index:
    """Pairs of nodes joined by a path of at most ``hops`` edges."""
    step = graph.adjacency()
    reach = step if hops else step * 0.0
    for _ in range(min(hops, graph.n) - 1):
        reach = reach + reach @ step
    i, j = reach.nonzero()
    return np.column_stack([i, j])[i < j]


def _presolved(
    graph: NeighborGraph, steps: Transitions, isometry: Relation, implied: bool
) -> NeighborGraph:
    """The graph with the shortest length of each chain of pairs of equal length.

    With ``implied``, all pairs of a chain become edges; otherwise only its shortest edge stays.
    """
    pairs, chain = steps.chains(graph.edges)
    own = chain[: graph.m]
    limit = np.full(int(chain.max()) + 2, np.inf)
    np.minimum.at(limit, own, graph.sqdist)
    if isometry == "equality" or isinstance(isometry, Band):
        _require_agreement(graph, own, limit, getattr(isometry, "width", 0.0))
    if isometry not in ("inequality", "equality"):
        return graph
    if implied and isometry == "inequality":
        kept = np.flatnonzero(chain >= 0)
        edges, first = np.unique(np.sort(pairs[kept], axis=1), axis=0, return_index=True)
        kept = kept[first]
    else:
        order = np.lexsort((graph.sqdist, own))
        order = order[own[order] >= 0]
        kept = np.sort(order[np.diff(own[order], prepend=-1) > 0])
        edges = graph.edges[kept]
    return NeighborGraph(
        graph.n, edges, limit[chain[kept]], graph.counts, graph.index, Provenance("are")
    )


def _require_agreement(
    graph: NeighborGraph, chain: Index, shortest: np.ndarray, width: float
) -> None:
    """Raise an error if the prescribed lengths of one chain contradict each other."""
    zero = np.flatnonzero(chain < 0)
    if zero.size:
        i, j = graph.edges[zero[0]]
        raise InfeasibleError(
            f"the actions force nodes {i} and {j} to coincide, but the edge between them has a "
            "prescribed length. Use isometry='inequality', or do not name inverse actions."
        )
    allowed = shortest[chain] * (1.0 + width) * (1.0 + ROUNDING)
    wrong = np.flatnonzero(graph.sqdist * (1.0 - width) > allowed)
    if wrong.size:
        e = wrong[0]
        other = int(np.flatnonzero((chain == chain[e]) & (graph.sqdist == shortest[chain[e]]))[0])
        raise InfeasibleError(
            f"equal actions make edges {tuple(map(int, graph.edges[other]))} and "
            f"{tuple(map(int, graph.edges[e]))} equally long, but their squared lengths are "
            f"prescribed as {graph.sqdist[other]:.6g} and {graph.sqdist[e]:.6g}. Use "
            "isometry='inequality' or 'slack:1.0', or a wider band."
        )
