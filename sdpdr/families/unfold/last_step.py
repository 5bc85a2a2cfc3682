"""The last step of distance completion: from the points of a program to those of least stress."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.families.unfold.anchored import known_points, missed_lengths, place
from sdpdr.families.unfold.completion import PRICES, along_paths, refine
from sdpdr.graphs import NeighborGraph
from sdpdr.program import Solution
from sdpdr.program.point import as_dense

# Dimensions beside those requested: exact lengths of up to 24 points needed no more.
_BESIDE = 10
# Extents of anchors beside the largest that are none.
_FLAT = 1e-9
# Share of the root mean square length that rounding leaves; share of the misfit that shortest paths
# have to gain.
_EXACT, _BETTER = 1e-6, 1e-3
# Share of the root mean square length from which a misfit may be a local minimum; share of it that
# this step leaves in more dimensions where the lengths are exact (0.06 at most in 13 minima of
# stress; noise of 5 % leaves 0.28 and more).
MISSED, _LIFTED = 1e-5, 0.1
# Change of lengths of a program beside that misfit where they are noisy; and at a penalty of one by
# the penalty alone: of exact lengths 0.003 at most at 1000.
_AS_NOISE, _STRETCH = 0.75, 5.0
# Points at most whose shortest paths are all found, a matrix of them: of 3000 in 2 seconds and
# 274 MB, of 4000 in 4 seconds and 488 MB.
_ALL_PATHS = 3000


@dataclass(frozen=True, eq=False)
class LastStep:
    """Some distances, and coordinates (p, r) of some nodes; positions of all are wanted."""

    graph: NeighborGraph
    nodes: Index
    coordinates: Array
    r: int

    def relaxed(self, solution: Solution) -> Array:
        """Positions of a program.

        Along directions that anchors in special position do not span, all points stand still in
        the coordinates of the program, and are apart in the rest of its matrix: they are moved.
        """
        if not self.nodes.size:
            return solution.embedding(self.r)
        places = place(solution, self.graph, self.nodes, self.coordinates).coordinates
        known = known_points(self.graph, self.nodes, self.coordinates)
        _, sizes, directions = np.linalg.svd(known.centred)
        rank = int(np.sum(sizes > _FLAT * np.max(sizes, initial=0.0)))
        if rank < self.r:
            beside = self._beside(solution, self.r - rank)
            places[known.unknown] += beside @ directions[self.r - beside.shape[1] :]
        return places

    def refined(self, relaxed: Array) -> tuple[Array, str]:
        """Positions of smaller stress, and where the step began: "program" or "paths"."""
        places = refine(self.graph, relaxed, self.nodes)
        misfit = self.misfit(places)
        if self.graph.n <= _ALL_PATHS and misfit > _EXACT:
            start = along_paths(self.graph, self.r, self.nodes, self.coordinates)
            other = refine(self.graph, start, self.nodes)
            if self.misfit(other) < (1.0 - _BETTER) * misfit:
                return other, "paths"
        return places, "program"

    def misfit(self, places: Array) -> float:
        """Root mean square difference of lengths, beside the root mean square of those given."""
        return missed_lengths(self.graph, places).share

    def needs_more_dimensions(self, solution: Solution, places: Array, price: float | None) -> bool:
        """Whether more dimensions have the lengths that positions miss.

        Then these are in a local minimum, or in too few dimensions. Of all distances there is but
        one matrix, so that no other can be of lower rank.
        """
        misfit, n = self.misfit(places), self.graph.n
        if misfit <= MISSED or self.graph.m == n * (n - 1) // 2:
            return False
        if self.nodes.size:
            inside = place(solution, self.graph, self.nodes, self.coordinates).coordinates
            beside = self._beside(solution, _BESIDE)
            start = np.hstack([inside, np.zeros((n, beside.shape[1]))])
            start[np.setdiff1d(np.arange(n), self.nodes), self.r :] = beside
        else:
            start = solution.embedding(min(n, self.r + _BESIDE))
        if self.misfit(start) > max(_AS_NOISE * misfit, _STRETCH / (price or PRICES["square"])):
            return False
        return self.misfit(refine(self.graph, start, self.nodes)) <= _LIFTED * misfit

    def _beside(self, solution: Solution, most: int) -> Array:
        """All points but the anchors in the widest dimensions beside those of the coordinates."""
        bordered, r = as_dense(solution.gram("Z")), self.r
        shadows = bordered[r:, :r]
        values, vectors = np.linalg.eigh(bordered[r:, r:] - shadows @ shadows.T)
        return np.asarray(vectors[:, -most:] * np.sqrt(np.maximum(values[-most:], 0.0)))
