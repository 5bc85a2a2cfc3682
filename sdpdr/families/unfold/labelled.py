"""Classes, anchors, and bounds on margins from shortest paths, without solving a program.

The lengths g of shortest paths along the graph bound all distances in an embedding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, InfeasibleError, ShapeError
from sdpdr.base.labels import encoded as encoded
from sdpdr.base.labels import labels_of_samples as labels_of_samples
from sdpdr.base.rows import numbered
from sdpdr.graphs import NeighborGraph, geodesics
from sdpdr.linalg.walks import dijkstra
from sdpdr.model.blocks.separation import UNLABELLED


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels of the nodes of a graph, and the anchors of the classes.

    Attributes
    ----------
    graph : NeighborGraph
    classes : array
        The distinct labels, sorted.
    codes : array of int, shape (n,)
        Position of each node's label among the classes, -1 without a label.
    anchors : array of int
        One node for each hyperplane: for two classes a node of the second by default; for more
        classes one node of each.
    nearest : array of shape (n,)
        Length of the shortest path from a node with a label to one with another label.
    paths : array of shape (anchors, n)
        Lengths of the shortest paths from the anchors.
    """

    graph: NeighborGraph
    classes: Any
    codes: Index
    anchors: Index
    nearest: Array
    paths: Array

    @property
    def sure_margin(self) -> float:
        """A margin that is possible if lengths may shrink, whatever the labels.

        Map the classes to the ends of a star with one leg each. A map to a tree that stretches
        no distance extends from the labelled points to all others.
        """
        return float(np.min(self.nearest)) ** 2 / (4.0 * (len(self.classes) - 1))

    @property
    def default_margin(self) -> float:
        """A tenth of the median squared length, but at most half of the sure margin."""
        return min(0.1 * float(np.median(self.graph.sqdist)), 0.5 * self.sure_margin)

    def largest_conceivable_margin(self, stretch: float = 1.0) -> tuple[float, Index]:
        """An upper bound of possible margins, and the anchor and point that give it.

        It follows from |y_A - y_j|^2 >= 4 margin for j of another class than A, and from
        y_A (y_i - y_j) >= 2 margin, as |y_A| is at most the path from A to the nearest such j.
        """
        opposite = self._to_others()
        across = [np.min(self.nearest[self.codes == self.codes[a]]) for a in self.anchors]
        reached = np.min(opposite, axis=1)
        limits = stretch**2 * np.minimum(reached**2 / 4.0, reached * across / 2.0)
        k = int(np.argmin(limits))
        return float(limits[k]), np.array([self.anchors[k], np.argmin(opposite[k])])

    def reach(self, margin: float = 0.0, stretch: float = 1.0) -> Array:
        r"""Upper bounds of the norms |y_i|, shape (n,).

        For j of another class than A, :math:`K_{Aj} \le -\gamma` implies
        :math:`|y_A|^2 - g_{Aj} |y_A| + \gamma \le 0`.
        """
        g = stretch * np.min(self._to_others(), axis=1)
        own = (g + np.sqrt(np.maximum(g**2 - 4.0 * margin, 0.0))) / 2.0
        return np.asarray(np.min(own[:, None] + stretch * self.paths, axis=0))

    def _to_others(self) -> Array:
        """Lengths of paths from anchors to points of other classes; infinite for other points."""
        other = self.codes != self.codes[self.anchors][:, None]
        return np.where(other & (self.codes != UNLABELLED), self.paths, np.inf)


def labelled(graph: NeighborGraph, y: ArrayLike, anchors: ArrayLike | None = None) -> Labelled:
    """Check labels and anchors, and choose anchors if none are given.

    ``y`` has a label for each node, or for each sample from which the graph was made; -1, None,
    nan or a blank string if it is unknown. The default anchors are the nodes of each class (of the
    second of two) that are furthest along the graph from all others.
    """
    graph.require_connected()
    classes, codes = _codes(graph, y)
    known = codes != UNLABELLED
    ways = ways_to_classes(graph, np.sqrt(graph.sqdist), codes, len(classes))
    ways[known, codes[known]] = np.inf
    nearest = np.where(known, ways.min(axis=1), np.inf)
    if anchors is None:
        members = [np.flatnonzero(codes == c) for c in range(len(classes))]
        chosen = members if len(classes) > 2 else members[1:]
        nodes = np.array([own[np.argmax(nearest[own])] for own in chosen])
    else:
        nodes = _checked_anchors(graph, classes, codes, anchors)
    return Labelled(graph, classes, codes, nodes, nearest, geodesics(graph, nodes))


def ways_to_classes(graph: NeighborGraph, lengths: Array, codes: Index, count: int) -> Array:
    """Lengths of shortest paths along edges to a labelled node of each class, (n, count)."""
    joined = graph.adjacency(lengths)
    sources = [np.flatnonzero(codes == c) for c in range(count)]
    return np.column_stack([dijkstra(joined, own, min_only=True) for own in sources])


def _codes(graph: NeighborGraph, y: ArrayLike) -> tuple[Any, Index]:
    """The classes, and the class of each node by number, -1 if it is unknown."""
    classes, codes = encoded(y)
    samples = graph.index.size
    if codes.size == samples:
        codes = _by_node(graph, classes, codes)
    elif codes.size != graph.n:
        raise ShapeError(
            f"y has {codes.size} labels, but the graph has {graph.n} nodes made from {samples} "
            "samples: pass a label for each, -1 where it is not known."
        )
    present = np.unique(codes[codes != UNLABELLED])
    if present.size < 2:
        found = "no known label" if not present.size else f"one class, {classes[present[0]]}"
        raise DataError(
            f"y holds {found}; a hyperplane needs two classes to separate. Note that -1 means "
            "that a label is not known: name a class otherwise."
        )
    # One entry more than there are classes, so that index -1 finds -1 at the end.
    place = np.full(len(classes) + 1, UNLABELLED)
    place[present] = np.arange(present.size)
    return classes[present], place[codes]


def _by_node(graph: NeighborGraph, classes: Any, codes: Index) -> Index:
    """Labels of nodes from those of samples, which must agree for samples of one node."""
    known = np.flatnonzero((codes != UNLABELLED) & (graph.index >= 0))
    of_node = np.full(graph.n, UNLABELLED)
    of_node[graph.index[known]] = codes[known]
    wrong = known[of_node[graph.index[known]] != codes[known]]
    if wrong.size:
        node = graph.index[wrong[0]]
        other = known[(graph.index[known] == node) & (codes[known] == of_node[node])][0]
        raise InfeasibleError(
            f"samples {numbered(wrong[0])} and {numbered(other)} are the same "
            f"point, but have the labels {classes[codes[wrong[0]]]} and {classes[codes[other]]}; "
            "no map separates them. Correct or drop one of the labels (-1: not known)."
        )
    return of_node


def _checked_anchors(graph: NeighborGraph, classes: Any, codes: Index, anchors: ArrayLike) -> Index:
    """The anchors as nodes; an error unless they are labelled, one for each class."""
    nodes = validate.numbers("anchors", anchors, graph.n, "node numbers")
    bare = nodes[codes[nodes] == UNLABELLED]
    if bare.size:
        raise DataError(
            f"anchor {bare[0]} has no label; an anchor is the normal of its class's hyperplane, "
            "so choose a point whose class is known."
        )
    absent = np.setdiff1d(np.arange(len(classes)), codes[nodes])
    twice = np.unique(codes[nodes]).size < nodes.size
    if twice or (absent.size and len(classes) > 2):
        raise DataError(
            f"{len(classes)} classes need one anchor each (for two, one is enough); the anchors "
            f"have the labels {classes[codes[nodes]].tolist()}."
        )
    return nodes
