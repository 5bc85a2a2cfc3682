"""The last step of distance completion: points of less stress, and points left undetermined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.families.unfold.anchored import known_points, missed_lengths, place
from sdpdr.families.unfold.completion import PRICES, along_paths, refine
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.walks import linked_parts, members
from sdpdr.program import Solution
from sdpdr.program.point import as_dense

# Dimensions beside those requested: exact lengths of up to 24 points needed no more.
_BESIDE = 10
# Share of the extent of anchors that lies in a flat.
_FLAT = 1e-9
# Share of the root mean square length: a point that a reflection moves by less is on the mirror.
_ON_MIRROR = 1e-3
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


def mirrored(graph: NeighborGraph, anchors: Index, places: Array) -> Index:
    """Points that a reflection moves without changing any length, though anchors stay.

    Take points, none of them an anchor, all of whose edges to others end in a set T that lies in
    one hyperplane: reflecting them in it changes no length, so the lengths allow two positions of
    each of them off the hyperplane. That is so if T has no more points than there are dimensions,
    or consists of anchors that span too little. Points alone are tested, and connected parts of the
    points that no chain of points with r + 1 neighbours in general position (anchors or earlier
    ones) reaches. All points found are mirrored, and others may be; but no point that such a chain
    reaches is, if lengths are exact. So and Ye, "Theory of semidefinite programming for sensor
    network localization", Mathematical Programming 109 (2007).
    """
    Y, n = places, graph.n
    fixed = np.zeros(n, dtype=bool)
    fixed[anchors] = True
    joined = sp.csr_array((np.ones(graph.m), graph.edges.T), shape=(n, n))
    near = [row.indices for row in sp.csr_array(joined + joined.T)]
    width = _ON_MIRROR * float(np.sqrt(np.mean(graph.sqdist)))
    found = np.zeros(n, dtype=bool)
    for part in _parts(near, fixed, Y):
        ends = np.setdiff1d(np.concatenate([near[v] for v in part]), part)
        few = ends.size <= Y.shape[1]
        if ends.size and (few or (fixed[ends].all() and not _spans(Y[ends]))):
            found[part] |= _away(Y[part], Y[ends]) > width
    return np.flatnonzero(found)


def _parts(near: list[Index], fixed: np.ndarray, Y: Array) -> Iterator[Index]:
    """Points that are no anchors alone, and connected parts of those that no chain reaches."""
    free = np.flatnonzero(~fixed)
    yield from free[:, None]
    reached = fixed.copy()
    waiting = set(free.tolist())
    while waiting:
        v = waiting.pop()
        ends = near[v][reached[near[v]]]
        if ends.size > Y.shape[1] and _spans(Y[ends]):
            reached[v] = True
            waiting.update(near[v][~reached[near[v]]].tolist())
    left = np.flatnonzero(~reached)
    pairs = [(v, w) for v in left for w in near[v] if not reached[w]]
    i, j = np.searchsorted(left, np.array(pairs, dtype=np.int64).reshape(-1, 2)).T
    for part in members(linked_parts(left.size, np.column_stack([i, j]))):
        yield left[part]


def _spans(places: Array) -> bool:
    """Whether places lie in no hyperplane."""
    steps = places - places.mean(axis=0)
    return int(np.linalg.matrix_rank(steps, tol=_FLAT * np.abs(steps).max())) == places.shape[1]


def _away(places: Array, ends: Array) -> Array:
    """Distances from the smallest flat that holds all ends."""
    steps = ends - ends.mean(axis=0)
    _, sizes, axes = np.linalg.svd(steps, full_matrices=False)
    axes = axes[sizes > _FLAT * max(float(np.abs(steps).max()), 1e-300)]
    apart = places - ends.mean(axis=0)
    return np.asarray(np.linalg.norm(apart - apart @ axes.T @ axes, axis=1))
