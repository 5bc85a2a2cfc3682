r"""The least error of a nonnegative factorization of a tiny matrix, by branch and bound.

The search branches over the columns of W, scaled to points of the unit simplex. A node says of each
column in which smaller simplex it lies. Whatever points are chosen there, all columns of WH lie in
the cone of all the vertices, so

.. math:: |V - WH|_F^2 \ge \sum_j \operatorname{dist}(v_j, \operatorname{cone}(P_1, \dots, P_k))^2 .

The columns may be exchanged, so a node is a multiset of simplices, and is visited once. It is cut
where the columns of V use points of one simplex that lie furthest apart: if they used the same
point of each, these points would be the columns of a W that attains the bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.nonnegative.projection import project, squared_distances
from sdpdr.families.factor.nonnegative.truncation import eckart_young_bound
from sdpdr.families.limits import NEGLIGIBLE

# A simplex is the cuts that lead to it, each an edge and which end of it moved to its middle; a
# node has a simplex for each component, in order.
Simplex = tuple[Any, ...]
Node = tuple[Simplex, ...]
# Nodes to split, which take a few gigabytes of memory.
_NODES = 10**7


class ConeBound(NamedTuple):
    """A lower bound on the error of all factors, the nodes that were split, and the argument."""

    lower: float
    nodes: int
    argument: str


def cone_bound(
    V: Array,
    k: int,
    upper: float,
    tol: float,
    *,
    time_limit: float | None = None,
    max_nodes: int = _NODES,
) -> ConeBound:
    """Bound the error of nonnegative factors of V with k components from below.

    Best-first branch and bound over the columns of W (or, if those are shorter, the rows of H),
    until the bound is within ``tol`` times the norm of V of ``upper``, the error of known factors,
    or to a limit or an interrupt. The number of nodes grows like a power of 1/tol with the exponent
    k (n - 1) at worst: the bounds meet for sides n up to 4 and k up to 3 at most, and at once if k
    is at most 2 and the best matrix of rank k is nonnegative.
    """
    search = _Search(V if len(V) <= V.shape[1] else V.T, k)
    enough = max(0.0, upper - tol * search.norm)
    lower, ended = search.run(enough, Deadline(time_limit), max_nodes)
    argument = "the singular values beyond the first k"
    if lower > search.least:
        argument = f"distances from the cones of {search.nodes} split nodes"
    return ConeBound(min(lower, upper), search.nodes, f"{argument}; {ended}")


class _Search:
    """Best-first search; bounds are on the squared error."""

    def __init__(self, V: Array, k: int) -> None:
        self.V, self.k, self.norm = V, k, float(np.linalg.norm(V))
        self.least, self.nodes = eckart_young_bound(V, k), 0
        self.edges = np.triu_indices(len(V), min(1, len(V) - 1))
        self.known: dict[Simplex, Array] = {(): np.eye(len(V))}
        self.cuts: dict[Node, tuple[Simplex, Any]] = {}

    def run(self, enough: float, deadline: Deadline, max_nodes: int) -> tuple[float, str]:
        """Split the node of least bound until that is enough; return it, and what ended the search.

        An interrupt ends the search as a limit does and leaves the heap complete: a node is removed
        only after its halves were added, and stands before them, whose bounds are no less.
        """
        root: Node = ((),) * self.k
        heap, seen = [(max(self.least**2, self.bounded(root)), 0, root)], {root}
        ended = "the bounds meet"
        try:
            while heap[0][0] < enough**2:
                if self.nodes >= max_nodes:
                    ended = "the limit of nodes was reached"
                    break
                if deadline.is_over():
                    ended = "the time limit was reached"
                    break
                bound, _, node = heap[0]
                for half in self.children(node):
                    if half not in seen:
                        heapq.heappush(heap, (max(bound, self.bounded(half)), len(seen), half))
                        seen.add(half)
                self.nodes += 1
                heapq.heappop(heap)
        except KeyboardInterrupt:
            ended = "interrupted"
        return float(np.sqrt(heap[0][0])), ended

    def vertices(self, simplex: Simplex) -> Array:
        """The vertices of a simplex, as columns."""
        if simplex not in self.known:
            *cuts, (edge, end) = simplex
            half = self.vertices(tuple(cuts)).copy()
            half[:, edge[end]] = half[:, edge].mean(axis=1)
            self.known[simplex] = half
        return self.known[simplex]

    def children(self, node: Node) -> Iterable[Node]:
        """Both halves of the simplex that is cut in the middle of an edge."""
        simplex, edge = self.cuts[node]
        others = list(node)
        others.remove(simplex)
        for end in (0, 1):
            yield tuple(sorted([*others, (*simplex, (edge, end))]))

    def bounded(self, node: Node) -> float:
        """A lower bound in a node, whose cut is noted."""
        simplices = list(dict.fromkeys(node))
        vertices = [self.vertices(simplex) for simplex in simplices]
        generators = np.hstack(vertices)
        coefficients = project(generators, self.V)
        shares = np.split(coefficients, len(simplices))
        spreads = [self._spread(*each) for each in zip(vertices, shares, strict=True)]
        which = int(np.argmax([spread.max() for spread in spreads]))
        edge = int(np.argmax(spreads[which]))
        self.cuts[node] = simplices[which], tuple(int(ends[edge]) for ends in self.edges)
        return float(squared_distances(generators, self.V, coefficients).sum())

    def _spread(self, vertices: Array, share: Array) -> Array:
        """How far apart the points lie, along each edge, that columns of V use of a simplex.

        The variance of points P c is minus the sum over edges of the covariance of the two
        coordinates times the squared length. If there is none, the longest edge has the most.
        """
        i, j = self.edges
        lengths = np.sum((vertices[:, i] - vertices[:, j]) ** 2, axis=0)
        mass = share.sum(axis=0)
        coordinates = share / np.where(mass > 0.0, mass, 1.0)
        mean = coordinates @ mass**2 / max(float(mass @ mass), np.finfo(float).tiny)
        away = (coordinates - mean[:, None]) * mass
        negligible = NEGLIGIBLE * self.norm**2
        return np.maximum(-np.sum(away[i] * away[j], axis=1), negligible) * lengths
