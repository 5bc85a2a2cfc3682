r"""Merging of cliques: fewer and larger blocks where that is cheaper.

A minimum degree order yields many small cliques that overlap a great deal, and every entry of an
overlap costs a row. Merging the clique C with its neighbour D saves their own costs and that of
the overlap, and pays for the union; the pair that saves most is merged until none saves anything.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from sdpdr.linalg.cliques import CliqueTree
from sdpdr.linalg.svec import svec_size

# How many siblings on either side a clique may merge with.
REACH = 4


@dataclass(frozen=True)
class CliqueCost:
    r"""What a clique of order k and an overlap of order s cost an iteration of a solver.

    Parameters
    ----------
    overhead : float, default 8
        Added to the order of every clique, for what a block costs whatever its size.
    overlap : float, default 1
        The price of an overlap's rows: ``overlap * (s (s + 1) / 2)^power``.
    power : float, default 1

    Notes
    -----
    A clique costs (k + overhead)^3, the order of an eigenvalue decomposition or a factorization.
    Without overhead and with ``overlap=0`` two neighbours of c and d nodes merge where
    c^3 + d^3 exceeds the cube of the size of their union: the rule of Garstka, Cannon, Goulart,
    A clique graph based merging strategy for decomposable SDPs, arXiv 1911.05615.

    Examples
    --------
    >>> CliqueCost(overhead=0.0, overlap=0.0).clique(2)
    8.0
    """

    overhead: float = 8.0
    overlap: float = 1.0
    power: float = 1.0

    def clique(self, order: int) -> float:
        """Cost of a block."""
        return float(order + self.overhead) ** 3

    def shared(self, order: int) -> float:
        """Cost of an overlap."""
        return self.overlap * float(svec_size(order)) ** self.power

    def tree(self, tree: CliqueTree) -> float:
        """Cost of a whole decomposition."""
        blocks = sum(self.clique(k) for k in tree.sizes.tolist())
        return blocks + sum(self.shared(s.size) for s in tree.separators)


def merge_cliques(tree: CliqueTree, cost: CliqueCost | None = None) -> CliqueTree:
    """Merge neighbours in a clique tree while that saves cost, the best pair first.

    Parameters
    ----------
    tree : CliqueTree
    cost : CliqueCost, optional

    Returns
    -------
    CliqueTree

    Notes
    -----
    Neighbours are a child and its parent, and two children of which one's separator contains the
    other's: the latter may hang below the former just as well. Of many siblings, those next to
    each other in the elimination are tried.

    Examples
    --------
    >>> from sdpdr.linalg.cliques import clique_tree
    >>> path = clique_tree(4, [(0, 1), (1, 2), (2, 3)])
    >>> [c.tolist() for c in merge_cliques(path, CliqueCost(overhead=8.0)).cliques]
    [[0, 1, 2, 3]]
    """
    merging = _Merging(tree, cost or CliqueCost())
    merging.run()
    return merging.result()


class _Merging:
    """The tree while cliques are merged; entries of the heap may be out of date."""

    def __init__(self, tree: CliqueTree, cost: CliqueCost) -> None:
        self._n, self._cost = tree.n, cost
        self._members = [set(c.tolist()) for c in tree.cliques]
        self._shared = [set(s.tolist()) for s in tree.separators]
        self._parent = tree.parent.tolist()
        self._children: list[list[int]] = [[] for _ in tree.cliques]
        self._age = [0] * len(tree.cliques)
        self._alive = [True] * len(tree.cliques)
        for k, p in enumerate(self._parent):
            if p >= 0:
                self._children[p].append(k)
        self._heap: list[tuple[float, int, int, int, int]] = []
        for k in range(len(tree.cliques)):
            self._propose(k, self._parent[k])
            self._propose_siblings(k)

    def run(self) -> None:
        while self._heap:
            _, a, b, age_a, age_b = heapq.heappop(self._heap)
            fresh = self._alive[a] and self._alive[b]
            if fresh and (age_a, age_b) == (self._age[a], self._age[b]):
                self._absorb(a, b)

    def result(self) -> CliqueTree:
        order = [k for k, p in enumerate(self._parent) if self._alive[k] and p < 0]
        for k in order:  # grows while it is walked: parents first
            order.extend(self._children[k])
        rank = {k: r for r, k in enumerate(order)}
        cliques = tuple(np.array(sorted(self._members[k]), dtype=np.int64) for k in order)
        parent = np.array([rank.get(self._parent[k], -1) for k in order], dtype=np.int64)
        return CliqueTree(self._n, cliques, parent)

    def _absorb(self, a: int, b: int) -> None:
        """Let the child ``a`` of ``b``, or its sibling that may hang below it, vanish in ``b``."""
        self._members[b] |= self._members[a]
        for child in self._children[a]:
            self._parent[child] = b
        around = self._near(a)
        self._children[self._parent[a]].remove(a)
        self._children[b] = sorted(self._children[a] + self._children[b])
        self._alive[a] = False
        self._age[b] += 1
        self._propose(b, self._parent[b])
        for child in self._children[b]:
            self._propose(child, b)
        for k in {b, *around, *self._children[a]}:
            self._propose_siblings(k)

    def _near(self, k: int) -> list[int]:
        """Siblings next to ``k`` in number; all pairs would be too many below a hub."""
        if self._parent[k] < 0:
            return []
        siblings = self._children[self._parent[k]]
        place = bisect_left(siblings, k)
        return [s for s in siblings[max(0, place - REACH) : place + REACH + 1] if s != k]

    def _propose(self, a: int, b: int) -> None:
        if b < 0:
            return
        size_a, size_b, shared = len(self._members[a]), len(self._members[b]), len(self._shared[a])
        cost = self._cost
        saved = cost.clique(size_a) + cost.clique(size_b) + cost.shared(shared)
        saved -= cost.clique(size_a + size_b - shared)
        if saved > 0.0:
            heapq.heappush(self._heap, (-saved, a, b, self._age[a], self._age[b]))

    def _propose_siblings(self, k: int) -> None:
        for other in self._near(k):
            if self._shared[k] <= self._shared[other]:
                self._propose(k, other)
            elif self._shared[other] <= self._shared[k]:
                self._propose(other, k)
