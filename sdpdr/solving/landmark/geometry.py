"""The graph of a program, and multipliers of the whole program from shortest paths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ModelError, NotAcceptedError
from sdpdr.certify import certify
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.shortest_paths import routing_weights
from sdpdr.linalg import lengths_of
from sdpdr.linalg.walks import dijkstra
from sdpdr.model import Block, Model
from sdpdr.program.face import exposing_rows
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.edge.form import EdgeForm, edge_form, to_point


@dataclass(frozen=True, eq=False)
class Geometry:
    """The graph of a program.

    Attributes
    ----------
    graph : NeighborGraph
    form : EdgeForm or None
        The program as one on edges, where it is one.
    refusal : str
        Why it is none.
    """

    graph: NeighborGraph
    form: EdgeForm | None
    refusal: str = ""

    def cells(self, centres: Index) -> dict[str, Index]:
        """For every group of rows on edges, the centre nearest to each row's first node."""
        if self.form is None:
            return {}
        lengths = self.graph.adjacency(np.sqrt(self.graph.sqdist))
        nearest = dijkstra(lengths, indices=centres, min_only=True, return_predecessors=True)[2]
        first = self.form.program.edges[:, 0]
        return {label: nearest[first[edge]] for label, edge in self.form.edge_of.items()}


def geometry(model: Model | SDP, sdp: SDP) -> Geometry:
    """Find the graph that a model was made from, or read one off the rows of its program.

    A graph in a block of the model may hold the points; one read off rows has lengths only.

    Raises
    ------
    NotAcceptedError
        There is no matrix variable, or neither a block nor the rows hold a graph.
    """
    if len(sdp.psd_variables) != 1:
        raise NotAcceptedError(
            "the landmark form takes programs over one Gram matrix; this one has "
            f"{len(sdp.psd_variables)} matrix variables. Another form takes it."
        )
    n = sdp.psd_variables[0].n
    form, refusal = None, ""
    try:
        form = edge_form(sdp)
    except (NotAcceptedError, ModelError, DataError) as error:
        refusal = str(error)
    graph = _graph_of_blocks(model, n) if isinstance(model, Model) else None
    if graph is None and form is not None:
        graph = NeighborGraph(n, form.program.edges, form.program.sqdist)
    if graph is None:
        raise NotAcceptedError(
            "the landmark form needs a graph to choose landmarks on: no block of the model holds "
            f"one with {n} nodes, and the rows are not limits on edges ({refusal})."
        )
    return Geometry(graph.require_connected(), form, refusal)


def _graph_of_blocks(model: Model, n: int) -> NeighborGraph | None:
    waiting: list[object] = list(model.blocks)
    while waiting:
        for value in vars(waiting.pop(0)).values():
            if isinstance(value, NeighborGraph) and value.n == n:
                return value
            if isinstance(value, Block):
                waiting.append(value)
    return None


# Enough for rounding to leave scaled multipliers feasible.
_ABOVE = 1.0 + 1e-9


def routed_multipliers(sdp: SDP, geometry: Geometry, sources: Index) -> dict[str, Array]:
    """Multipliers made of the shortest paths from some nodes to all others.

    Rows that are not on edges get zeros, as if they were not there. Empty where the rest is not
    a program on edges, or where edges with an upper limit do not connect all points.
    """
    form, on_edges = geometry.form, sdp
    if form is None:
        on_edges = _without_other_rows(sdp)
        try:
            form = edge_form(on_edges)
        except (NotAcceptedError, ModelError, DataError):
            return {}
    program = form.program
    limited = np.isfinite(program.upper) & (program.upper > 0.0)
    graph = NeighborGraph(program.n, program.edges[limited], program.upper[limited])
    if not graph.is_connected:
        return {}
    weights = np.zeros(program.m)
    weights[limited] = 0.5 * routing_weights(graph, sources, program.mass)
    duals = dict(to_point(on_edges, form, np.zeros((program.n, 1)), weights).duals)
    if on_edges is sdp:
        return duals
    # Only a program on edges has its multipliers scaled for it when a bound is proved.
    bound, value = certify(on_edges, duals).bound, on_edges.report(on_edges.dual_value(duals))
    scale = 1.0 if bound is None or not value else _ABOVE * bound / value
    duals = dict(to_point(on_edges, form, np.zeros((program.n, 1)), scale * weights).duals)
    return {r.label: duals[r.label] if r.label in duals else np.zeros(r.m) for r in sdp.rows}


def _without_other_rows(sdp: SDP) -> SDP:
    """The program without rows that are not on edges, and without their scalars."""
    name = sdp.psd_variables[0].name
    hidden = exposing_rows(sdp, name)
    rows = tuple(r for r in sdp.rows if r in hidden or _is_on_edges(r, name))
    used = {name}.union(*(r.lhs for r in rows))
    return replace(
        sdp,
        variables=tuple(v for v in sdp.variables if v.name in used),
        objective={k: cost for k, cost in sdp.objective.items() if k in used},
        rows=rows,
    )


def _is_on_edges(rows: Rows, name: str) -> bool:
    return lengths_of(rows.lhs.get(name)) is not None
