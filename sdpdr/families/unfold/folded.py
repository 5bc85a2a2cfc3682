"""The last step from the places of a program: least stress, other starts, and rank lowered."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError, SdpdrWarning
from sdpdr.families.unfold.anchored import beside_anchors, known_points, misfit_of, place
from sdpdr.families.unfold.completion import PRICES, along_paths, distance_completion, refine
from sdpdr.graphs import NeighborGraph
from sdpdr.program import Solution
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.records import State

# Dimensions beside those asked for: exact lengths of up to 24 points needed no more.
_BESIDE = 10
# Programs from the least trace, which took one to three where it found the points, and from a
# direction drawn at random.
_PROGRAMS, _RESTARTS = 6, 2
# Extents of anchors beside the largest that are none.
_FLAT = 1e-9
# Of the root mean square length: what rounding leaves. And of the misfit: what another start has to
# gain.
_EXACT, _BETTER = 1e-6, 1e-3
# Of the root mean square length: a misfit that may be a local minimum; and of that, what this step
# leaves in more dimensions where the lengths are exact (0.06 at most in 13 minima of stress; noise
# of 5 % leaves 0.28 and more).
MISSED, _LIFTED = 1e-5, 0.1
# What lengths of a program change by beside that misfit, where noise changes them as much, and at a
# price of one for that price alone: of exact ones 0.003 at most at 1000.
_AS_NOISE, _STRETCH = 0.75, 5.0
# Points at most whose shortest paths are all found, a matrix of them: of 3000 in 2 seconds and
# 274 MB, of 4000 in 4 seconds and 488 MB.
_ALL_PATHS = 3000


@dataclass(frozen=True, eq=False)
class PartlyKnown:
    """Some distances, and places of some points, from which the places of all are sought.

    Parameters
    ----------
    graph : NeighborGraph
        With the distances that are known.
    nodes : array of int, shape (p,)
        Anchors, if there are any.
    coordinates : array of shape (p, r)
        Of the anchors.
    r : int
        Dimensions of the anchors, if there are any, and of the places wanted.
    """

    graph: NeighborGraph
    nodes: Index
    coordinates: Array
    r: int

    def read(self, solution: Solution) -> Array:
        """Places of a program in so many dimensions."""
        if not self.nodes.size:
            return solution.embedding(self.r)
        return place(solution, self.graph, self.nodes, self.coordinates).coordinates

    def relaxed(self, solution: Solution) -> Array:
        """The same, moved in the directions that anchors in special position do not span.

        Along these all points stand still in the coordinates of the program, and are apart in the
        rest of its matrix.
        """
        places = self.read(solution)
        if not self.nodes.size:
            return places
        known = known_points(self.graph, self.nodes, self.coordinates)
        _, sizes, directions = np.linalg.svd(known.centred)
        rank = int(np.sum(sizes > _FLAT * np.max(sizes, initial=0.0)))
        if rank < self.r:
            beside = beside_anchors(solution, self.r, self.r - rank)
            places[known.unknown] += beside @ directions[self.r - beside.shape[1] :]
        return places

    def lifted(self, solution: Solution) -> Array:
        """Places of a program in up to r + 10 dimensions, first those of the anchors."""
        if not self.nodes.size:
            return solution.embedding(min(self.graph.n, self.r + _BESIDE))
        beside = beside_anchors(solution, self.r, _BESIDE)
        rest = np.zeros((self.graph.n, beside.shape[1]))
        rest[np.setdiff1d(np.arange(self.graph.n), self.nodes)] = beside
        return np.hstack([self.read(solution), rest])

    def misfit(self, places: Array) -> float:
        """Root mean square difference of lengths, beside the root mean square of those given."""
        return misfit_of(self.graph, places)

    def settled(self, places: Array) -> Array:
        """Places of smaller stress near by."""
        return refine(self.graph, places, self.nodes)

    def refined(self, relaxed: Array) -> tuple[Array, str]:
        """Places of smaller stress, from those of the program or from shortest paths, and which."""
        places = self.settled(relaxed)
        misfit = self.misfit(places)
        if self.graph.n <= _ALL_PATHS and misfit > _EXACT:
            other = self.settled(along_paths(self.graph, self.r, self.nodes, self.coordinates))
            if self.misfit(other) < (1.0 - _BETTER) * misfit:
                return other, "paths"
        return places, "program"

    def is_folded(self, solution: Solution, places: Array, price: float | None) -> bool:
        """Whether more dimensions have the lengths that places miss: a local minimum, or too few.

        Of all distances there is but one matrix, so that no other can be of lower rank.
        """
        misfit, n = self.misfit(places), self.graph.n
        if misfit <= MISSED or self.graph.m == n * (n - 1) // 2:
            return False
        start = self.lifted(solution)
        if self.misfit(start) > max(_AS_NOISE * misfit, _STRETCH / (price or PRICES["square"])):
            return False
        return self.misfit(self.settled(start)) <= _LIFTED * misfit

    def unfolded(self, places: Array, seed: int, deadline: Deadline) -> Array | None:
        """Better places of a convex iteration towards r dimensions, if it finds any in time.

        Lengths are rows that hold, and the first program has the least trace: where that of the
        largest trace ends in a local minimum of stress, it starts elsewhere.
        """
        best, least = None, (1.0 - _BETTER) * self.misfit(places)

        def has_lengths(state: State) -> bool:
            """Take the last step from the latest program."""
            nonlocal best, least
            if state.last is None:
                return False
            found = self.settled(self.read(state.last))
            misfit = self.misfit(found)
            if misfit < least:
                best, least = found, misfit
            return misfit <= _EXACT

        if deadline.is_over():
            return None
        with warnings.catch_warnings():
            # The first program has said all of it.
            warnings.simplefilter("ignore", SdpdrWarning)
            try:
                model = distance_completion(self.graph, self.nodes, self.coordinates, "equality")
            except InfeasibleError:
                return None
            ConvexIteration(
                model,
                self.r,
                max_iter=_PROGRAMS,
                restarts=_RESTARTS,
                seed=seed,
                time_limit=deadline.left(),
                progress=False,
            ).run(accept=has_lengths)
        return best
