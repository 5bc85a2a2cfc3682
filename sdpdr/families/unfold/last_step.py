"""The second step of distance completion: positions of smaller stress."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.families.limits import DENSE, ROUNDING
from sdpdr.families.unfold.anchored import known_points, missed_lengths, place
from sdpdr.families.unfold.completion import along_paths, refine
from sdpdr.graphs import NeighborGraph
from sdpdr.program import Solution
from sdpdr.program.point import as_dense

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
        """Positions in a solution of the program.

        If anchors do not span all directions, the program's coordinates along the others are
        constant, and the rest of its matrix separates the points; they are moved accordingly.
        """
        if not self.nodes.size:
            return solution.embedding(self.r)
        places = place(solution, self.graph, self.nodes, self.coordinates).coordinates
        known = known_points(self.graph, self.nodes, self.coordinates)
        _, sizes, directions = np.linalg.svd(known.centred)
        rank = int(np.sum(sizes > ROUNDING * np.max(sizes, initial=0.0)))
        if rank < self.r:
            beside = self._beside(solution, self.r - rank)
            places[known.unknown] += beside @ directions[self.r - beside.shape[1] :]
        return places

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

    def _beside(self, solution: Solution, most: int) -> Array:
        """Unknown points in the widest dimensions orthogonal to those of the coordinates."""
        bordered, r = as_dense(solution.gram("Z")), self.r
        shadows = bordered[r:, :r]
        values, vectors = np.linalg.eigh(bordered[r:, r:] - shadows @ shadows.T)
        return np.asarray(vectors[:, -most:] * np.sqrt(np.maximum(values[-most:], 0.0)))
