r"""Chordal extensions of sparsity patterns: maximal cliques and the trees that join them.

A pattern of a symmetric matrix is a graph on its indices. Eliminating the indices in any order
fills the graph in until it is chordal; a good order (approximate minimum degree) fills in little.
The maximal cliques of a chordal graph form a tree in which the cliques that hold an index are
connected (the running intersection property). A symmetric matrix that is given on a chordal
pattern has a positive semidefinite completion if and only if its blocks on the maximal cliques
are positive semidefinite.

Clique trees of a minimum degree order have many small cliques that overlap a great deal, and every
entry of an overlap costs a row. Merging the clique C with its neighbour D saves their own costs and
that of the overlap, and pays for the union; the pair that saves most is merged until none saves
anything.

The completion of least rank walks the clique tree from its roots to its leaves and extends a
factor Y, X = Y Y^T, by one clique at a time. Let U be the indices that a clique shares with its
parent, and R its other indices. The clique's own factor [F_U; F_R] is multiplied by the orthogonal
matrix Q that brings F_U nearest to Y_U (Schönemann 1966), and Y_R = F_R Q.

References
----------
Grone, Johnson, Sá, Wolkowicz, Positive definite completions of partial Hermitian matrices, Linear
Algebra Appl. 58 (1984). Vandenberghe, Andersen, Chordal Graphs and Semidefinite Optimization,
Found. Trends Optim. 1(4), 2015.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ShapeError
from sdpdr.linalg.ldl import sparse_ldl
from sdpdr.linalg.svec import svec_index, svec_pairs, svec_size


@dataclass(frozen=True, eq=False)
class CliqueTree:
    """Maximal cliques of a chordal graph, joined in trees; parents come before children."""

    n: int
    cliques: tuple[Index, ...]
    parent: Index

    @cached_property
    def separators(self) -> tuple[Index, ...]:
        """Overlap of each clique with its parent; empty for roots."""
        return tuple(
            np.intersect1d(c, self.cliques[p], assume_unique=True) if p >= 0 else c[:0]
            for c, p in zip(self.cliques, self.parent.tolist(), strict=True)
        )

    @property
    def sizes(self) -> Index:
        """Number of vertices of each clique."""
        return np.array([c.size for c in self.cliques], dtype=np.intp)

    @property
    def n_overlaps(self) -> int:
        """Number of matrix entries that children share with their parents, each counted once."""
        return int(sum(svec_size(s.size) for s in self.separators))

    @cached_property
    def home(self) -> Index:
        """The clique nearest to the root that holds each vertex."""
        home = np.zeros(self.n, dtype=np.intp)
        for k in range(len(self.cliques) - 1, -1, -1):
            home[self.cliques[k]] = k
        return home

    @cached_property
    def rank(self) -> Index:
        """Place of each vertex in an order from the roots to the leaves."""
        count = np.bincount(np.concatenate(self.cliques), minlength=self.n)
        rank = np.empty(self.n, dtype=np.intp)
        rank[np.lexsort((-count, self.home))] = np.arange(self.n)
        return rank

    @cached_property
    def _places(self) -> tuple[Index, Index]:
        """Keys ``clique * n + vertex`` in order, and the first position of every clique."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        owner = np.repeat(np.arange(len(self.cliques)), self.sizes)
        return owner * self.n + np.concatenate(self.cliques), starts

    def position(self, clique: Index, vertex: Index) -> Index:
        """Position of vertices in cliques, -1 where a clique does not hold the vertex."""
        keys, starts = self._places
        wanted = clique * self.n + vertex
        found = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[found] == wanted, found - starts[clique], -1)

    def pattern(self) -> Index:
        """Positions in ``svec`` of all entries within cliques, sorted."""
        parts = [svec_index(*_pairs_within(c)) for c in self.cliques]
        return np.unique(np.concatenate(parts))


def clique_tree(n: int, pairs: Sequence[tuple[int, int]] | Index) -> CliqueTree:
    """Chordal extension of a pattern by approximate minimum degree, as a clique tree."""
    order, filled = _eliminate(n, np.asarray(pairs, dtype=np.intp).reshape(-1, 2))
    starts, below = filled.indptr, filled.indices
    counts = np.diff(starts)
    etree = np.full(n, -1, dtype=np.intp)
    etree[counts > 0] = below[starts[:-1][counts > 0]]
    group, last = _supernodes(etree, counts)
    members = [np.zeros(0, dtype=np.intp)] * len(last)
    for k, j in enumerate(last):
        members[k] = below[starts[j] : starts[j + 1]].astype(np.intp)
    for k, columns in enumerate(_grouped(group, len(last))):
        members[k] = np.concatenate([columns, members[k]])
    above = etree[np.array(last, dtype=np.intp)]
    parent = np.where(above >= 0, group[above], -1)
    # Parents end later in the elimination, so the opposite order lists them first.
    turned = np.argsort(-np.array(last, dtype=np.intp), kind="stable")
    rank = np.empty(turned.size, dtype=np.intp)
    rank[turned] = np.arange(turned.size)
    cliques = tuple(np.sort(order[members[k]]) for k in turned)
    parent = np.where(parent >= 0, rank[parent], -1)[turned]
    return CliqueTree(n, cliques, parent)


def _eliminate(n: int, pairs: Index) -> tuple[Index, sp.csc_array]:
    """An elimination order, and the filled pattern below the diagonal in that order."""
    i, j = pairs.min(axis=1, initial=n), pairs.max(axis=1, initial=-1)
    off = i != j
    i, j = i[off], j[off]
    degree = np.bincount(np.concatenate([i, j]), minlength=n)
    rows = np.concatenate([i, np.arange(n)])
    columns = np.concatenate([j, np.arange(n)])
    # The matrix is diagonally dominant, so the factorization meets no small pivot.
    values = np.concatenate([-np.ones(i.size), 2.0 + degree])
    upper = sp.csc_matrix(sp.coo_array((values, (rows, columns)), shape=(n, n)))
    upper.data[upper.data < 0.0] = -1.0
    factors = sparse_ldl(upper)
    below = factors.lower
    below.sort_indices()
    return np.asarray(factors.order, dtype=np.intp), below


def _supernodes(etree: Index, counts: Index) -> tuple[Index, list[int]]:
    """Number of the clique that each column belongs to, and the last column of each."""
    group = np.full(etree.size, -1, dtype=np.intp)
    last: list[int] = []
    for j, (up, count) in enumerate(zip(etree.tolist(), counts.tolist(), strict=True)):
        if group[j] < 0:
            group[j] = len(last)
            last.append(j)
        last[group[j]] = j
        if up >= 0 and group[up] < 0 and counts[up] == count - 1:
            group[up] = group[j]
    return group, last


def _grouped(group: Index, count: int) -> list[Index]:
    """Columns of each group, ascending."""
    ordered = np.argsort(group, kind="stable")
    return np.split(ordered, np.searchsorted(group[ordered], np.arange(1, count)))


def _pairs_within(clique: Index) -> tuple[Index, Index]:
    """Rows and columns of the upper triangle on the vertices of a clique."""
    i, j = svec_pairs(np.arange(svec_size(clique.size)))
    return clique[i], clique[j]


# How many siblings on either side a clique may merge with.
REACH = 4


@dataclass(frozen=True)
class CliqueCost:
    """Cost of a clique of order k and an overlap of order s in an iteration of a solver.

    A clique costs (k + overhead)^3, an overlap ``overlap * (s (s + 1) / 2)^power``.
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
    """Merge neighbours in a clique tree while that saves cost, the best pair first."""
    merging = _Merging(tree, cost or CliqueCost())
    merging.run()
    return merging.result()


class _Merging:
    """The tree while cliques are merged; entries of the heap may be outdated, which ages show."""

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
        """Merge the pair that saves most cost until no pair saves any."""
        while self._heap:
            _, a, b, age_a, age_b = heapq.heappop(self._heap)
            fresh = self._alive[a] and self._alive[b]
            if fresh and (age_a, age_b) == (self._age[a], self._age[b]):
                self._absorb(a, b)

    def result(self) -> CliqueTree:
        """The tree of the remaining cliques."""
        order = [k for k, p in enumerate(self._parent) if self._alive[k] and p < 0]
        for k in order:  # grows while it is walked: parents first
            order.extend(self._children[k])
        rank = {k: r for r, k in enumerate(order)}
        cliques = tuple(np.array(sorted(self._members[k]), dtype=np.intp) for k in order)
        parent = np.array([rank.get(self._parent[k], -1) for k in order], dtype=np.intp)
        return CliqueTree(self._n, cliques, parent)

    def _absorb(self, a: int, b: int) -> None:
        """Merge ``a`` into ``b``: its parent, or a sibling whose overlap contains that of ``a``."""
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
        """Siblings whose numbers are next to ``k``; a hub has too many pairs to try them all."""
        if self._parent[k] < 0:
            return []
        siblings = self._children[self._parent[k]]
        place = bisect_left(siblings, k)
        return [s for s in siblings[max(0, place - REACH) : place + REACH + 1] if s != k]

    def _propose(self, a: int, b: int) -> None:
        """Put the merge of ``a`` into ``b`` on the heap if it saves cost."""
        if b < 0:
            return
        size_a, size_b, shared = len(self._members[a]), len(self._members[b]), len(self._shared[a])
        cost = self._cost
        saved = cost.clique(size_a) + cost.clique(size_b) + cost.shared(shared)
        saved -= cost.clique(size_a + size_b - shared)
        if saved > 0.0:
            heapq.heappush(self._heap, (-saved, a, b, self._age[a], self._age[b]))

    def _propose_siblings(self, k: int) -> None:
        """Propose to merge ``k`` with near siblings of nested overlaps."""
        for other in self._near(k):
            if self._shared[k] <= self._shared[other]:
                self._propose(k, other)
            elif self._shared[other] <= self._shared[k]:
                self._propose(other, k)


# Eigenvalues below this fraction of the largest one in any clique are rounding errors.
NOISE = 1e-14


def complete_min_rank(tree: CliqueTree, blocks: Sequence[Array]) -> Array:
    """A factor of a positive semidefinite completion of least rank."""
    _check(tree, blocks)
    spectra = [np.linalg.eigh(block) for block in blocks]
    largest = max((w[-1] for w, _ in spectra), default=0.0)
    rank = max((int(np.sum(w > NOISE * largest)) for w, _ in spectra), default=0)
    factor = np.zeros((tree.n, rank))
    for clique, shared, (w, v) in zip(tree.cliques, tree.separators, spectra, strict=True):
        own = np.isin(clique, shared, invert=True)
        first = max(0, clique.size - rank)
        alone = np.zeros((clique.size, rank))
        alone[:, : clique.size - first] = v[:, first:] * np.sqrt(np.maximum(w[first:], 0.0))
        if shared.size:
            left, _, right = np.linalg.svd(alone[~own].T @ factor[shared])
            alone = alone @ (left @ right)
        factor[clique[own]] = alone[own]
    return factor


def _check(tree: CliqueTree, blocks: Sequence[Array]) -> None:
    """Raise an error unless every clique has a block of its order."""
    orders = [block.shape for block in blocks]
    expected = [(c.size, c.size) for c in tree.cliques]
    if orders != expected:
        raise ShapeError(
            f"a completion needs one block for every clique, of orders "
            f"{[k for k, _ in expected]}; it was given shapes {orders}."
        )
