"""The second step of distance completion: positions of smaller stress."""

from __future__ import annotations

from dataclasses import dataclass

from sdpdr.base.arrays import Array, Index
from sdpdr.families.limits import DENSE
from sdpdr.families.unfold.anchored import missed_lengths, place
from sdpdr.families.unfold.completion import along_paths, refine
from sdpdr.graphs import NeighborGraph
from sdpdr.program import Solution

# Misfit, relative to the root mean square length, below which lengths are exact; share of the
# misfit by which shortest paths must be better.
_EXACT, _BETTER = 1e-6, 1e-3


@dataclass(frozen=True, eq=False)
class LastStep:
    """Known distances, and coordinates (p, r) of anchors; finds positions of all nodes."""

    graph: NeighborGraph
    nodes: Index
    coordinates: Array
    r: int

    def relaxed(self, solution: Solution) -> Array:
        """Positions in a solution of the program."""
        if not self.nodes.size:
            return solution.embedding(self.r)
        return place(solution, self.graph, self.nodes, self.coordinates).coordinates

    def refined(self, relaxed: Array) -> tuple[Array, str]:
        """Positions of smaller stress, and the start that led to them: "program" or "paths"."""
        places = refine(self.graph, relaxed, self.nodes)
        misfit = self.misfit(places)
        if self.graph.n <= DENSE and misfit > _EXACT:
            start = along_paths(self.graph, self.r, self.nodes, self.coordinates)
            other = refine(self.graph, start, self.nodes)
            if self.misfit(other) < (1.0 - _BETTER) * misfit:
                return other, "paths"
        return places, "program"

    def misfit(self, places: Array) -> float:
        """Root mean square difference of lengths, relative to that of the given lengths."""
        return missed_lengths(self.graph, places).share
