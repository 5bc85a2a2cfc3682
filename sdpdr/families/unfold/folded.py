"""Places that a program folds badly: whether more dimensions have the lengths, and rank lowered."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError, SdpdrWarning
from sdpdr.families.unfold.anchored import lengths_between, place
from sdpdr.families.unfold.completion import distance_completion, refine
from sdpdr.graphs import NeighborGraph
from sdpdr.program import Solution
from sdpdr.program.point import as_dense
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.records import State

# Dimensions beside those asked for: exact lengths of up to 24 points needed no more.
_BESIDE = 10
# Programs from the least trace, which took one to three where it found the points, and from a
# direction drawn at random.
_PROGRAMS, _RESTARTS = 6, 2


def misfit_of(graph: NeighborGraph, places: Array) -> float:
    """Root mean square difference of lengths, beside the root mean square of those given.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> misfit_of(graphs.path([3.0, 4.0]), np.array([[0.0], [3.0], [12.0]]))
    1.0
    """
    lengths = np.sqrt(graph.sqdist)
    changes = np.square(lengths_between(graph, places) - lengths)
    return float(np.sqrt(np.mean(changes) / np.mean(graph.sqdist)))


def lifted(
    solution: Solution, graph: NeighborGraph, nodes: Index, coordinates: Array, r: int
) -> Array:
    """Places of a program in its largest dimensions, those of the anchors first.

    Parameters
    ----------
    solution : Solution
        Of `sdpdr.methods.distance_completion`.
    graph, nodes, coordinates
        What the program was made of.
    r : int
        Dimensions of the anchors, if there are any, and of the places wanted.

    Returns
    -------
    array of shape (n, p)
        With p up to r + 10.
    """
    if not nodes.size:
        return solution.embedding(min(graph.n, r + _BESIDE))
    placed = place(solution, graph, nodes, coordinates)
    bordered = as_dense(solution.gram("Z"))
    shadows = bordered[r:, :r]
    values, vectors = np.linalg.eigh(bordered[r:, r:] - shadows @ shadows.T)
    wide = min(values.size, _BESIDE)
    beside = np.zeros((graph.n, wide))
    unknown = np.setdiff1d(np.arange(graph.n), nodes)
    beside[unknown] = vectors[:, -wide:] * np.sqrt(np.maximum(values[-wide:], 0.0))
    return np.hstack([placed.coordinates, beside])


@dataclass(eq=False)
class RankSearch:
    """Places of least misfit among those of a convex iteration towards r dimensions.

    Lengths are rows that hold, and the first program has the least trace: where that of the largest
    trace ends in a local minimum of stress, it starts elsewhere.

    Attributes
    ----------
    places : array of shape (n, r), or None
        After the last step; None where no program had a point.
    """

    graph: NeighborGraph
    nodes: Index
    coordinates: Array
    r: int
    enough: float
    places: Array | None = field(default=None, init=False)

    def search(self, seed: int, deadline: Deadline) -> Array | None:
        """Solve programs until places have the lengths, or there is no more time."""
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
            ).run(accept=self._has_lengths)
        return self.places

    def _has_lengths(self, state: State) -> bool:
        """Take the last step from the latest program."""
        latest = state.last
        if latest is None:
            return False
        if self.nodes.size:
            start = place(latest, self.graph, self.nodes, self.coordinates).coordinates
        else:
            start = latest.embedding(self.r)
        places = refine(self.graph, start, self.nodes)
        misfit = misfit_of(self.graph, places)
        if self.places is None or misfit < misfit_of(self.graph, self.places):
            self.places = places
        return misfit <= self.enough
