"""What a program knows of the points: the graph behind its rows, and which row is where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.errors import DataError, ModelError, NotAcceptedError
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.arrays import Index
from sdpdr.linalg.walks import dijkstra
from sdpdr.model import Block, Model
from sdpdr.program.sdp import SDP
from sdpdr.solvers.edges import EdgeForm, edge_form


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

    def cells(self, sdp: SDP, centres: Index) -> dict[str, Index]:
        """For every group of rows on edges, the centre nearest to each row's first node."""
        if self.form is None:
            return {}
        lengths = self.graph.adjacency(np.sqrt(self.graph.sqdist))
        nearest = dijkstra(lengths, indices=centres, min_only=True, return_predecessors=True)[2]
        first = self.form.program.edges[:, 0]
        return {label: nearest[first[edge]] for label, edge in self.form.edge_of.items()}


def geometry(model: Model | SDP, sdp: SDP) -> Geometry:
    """Find the graph that a model was made from, or read one off the rows of its program.

    A graph in a block of the model may know the points; one read off rows knows lengths only.

    Raises
    ------
    NotAcceptedError
        There is no matrix variable, or neither block nor rows tell of a graph.
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
