r"""Chordal extensions of sparsity patterns: maximal cliques and the trees that join them.

A pattern of a symmetric matrix is a graph on its indices. Eliminating the indices in any order
fills the graph in until it is chordal; a good order (approximate minimum degree) fills in little.
The maximal cliques of a chordal graph form a tree in which the cliques that hold an index are
connected (the running intersection property). A symmetric matrix that is given on a chordal
pattern has a positive semidefinite completion if and only if its blocks on the maximal cliques
are positive semidefinite, and a matrix that is positive semidefinite and zero off the pattern is
a sum of positive semidefinite matrices, one on each clique.

References
----------
Grone, Johnson, Sá, Wolkowicz, Positive definite completions of partial Hermitian matrices, Linear
Algebra Appl. 58 (1984). Agler, Helton, McCullough, Rodman, Positive semidefinite matrices with a
given sparsity pattern, Linear Algebra Appl. 107 (1988). Vandenberghe, Andersen, Chordal Graphs and
Semidefinite Optimization, Found. Trends Optim. 1(4), 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import qdldl
import scipy.sparse as sp

from sdpdr.base.arrays import Index
from sdpdr.linalg.svec import svec_index, svec_pairs, svec_size


@dataclass(frozen=True, eq=False)
class CliqueTree:
    """Maximal cliques of a chordal graph, joined in trees; parents come before children.

    Parameters
    ----------
    n : int
        Number of vertices.
    cliques : tuple of arrays of int
        Sorted vertices of each clique.
    parent : array of int
        Number of each clique's parent, -1 for the root of a tree.

    Examples
    --------
    >>> tree = clique_tree(4, [(0, 1), (1, 2), (2, 3)])
    >>> sorted(c.tolist() for c in tree.cliques)
    [[0, 1], [1, 2], [2, 3]]
    >>> tree.n_overlaps
    2
    """

    n: int
    cliques: tuple[Index, ...]
    parent: Index

    @cached_property
    def separators(self) -> tuple[Index, ...]:
        """What each clique shares with its parent; empty for roots."""
        return tuple(
            np.intersect1d(c, self.cliques[p], assume_unique=True) if p >= 0 else c[:0]
            for c, p in zip(self.cliques, self.parent.tolist(), strict=True)
        )

    @property
    def sizes(self) -> Index:
        """Number of vertices of each clique."""
        return np.array([c.size for c in self.cliques], dtype=np.int64)

    @property
    def n_overlaps(self) -> int:
        """Number of matrix entries that children share with their parents, each counted once."""
        return int(sum(svec_size(s.size) for s in self.separators))

    @cached_property
    def home(self) -> Index:
        """The clique nearest to the root that holds each vertex."""
        home = np.zeros(self.n, dtype=np.int64)
        for k in range(len(self.cliques) - 1, -1, -1):
            home[self.cliques[k]] = k
        return home

    @cached_property
    def rank(self) -> Index:
        """Place of each vertex in an order from the roots to the leaves.

        A clique's overlap with its parent comes before the rest of it; of vertices with one home,
        those in most cliques come first.
        """
        count = np.bincount(np.concatenate(self.cliques), minlength=self.n)
        rank = np.empty(self.n, dtype=np.int64)
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
    """Chordal extension of a pattern by approximate minimum degree, as a clique tree.

    Parameters
    ----------
    n : int
        Order of the matrix.
    pairs : array_like of int, shape (p, 2)
        Entries that are not zero, each in one triangle at least; the diagonal is implied.

    Returns
    -------
    CliqueTree

    Notes
    -----
    The order and the filled pattern are those of the sparse factorization (Amestoy, Davis, Duff,
    SIAM J. Matrix Anal. Appl. 17(4), 1996) that certificates use. Column j of the factor, with its
    later neighbours, is a maximal clique unless it is all that a child in the elimination tree
    has beside itself.

    Examples
    --------
    A cycle of five needs two chords:

    >>> tree = clique_tree(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
    >>> tree.sizes.tolist()
    [3, 3, 3]
    >>> tree.pattern().size - 5 - 5
    2
    """
    order, filled = _eliminate(n, np.asarray(pairs, dtype=np.int64).reshape(-1, 2))
    starts, below = filled.indptr, filled.indices
    counts = np.diff(starts)
    etree = np.full(n, -1, dtype=np.int64)
    etree[counts > 0] = below[starts[:-1][counts > 0]]
    group, last = _supernodes(etree, counts)
    members = [np.zeros(0, dtype=np.int64)] * len(last)
    for k, j in enumerate(last):
        members[k] = below[starts[j] : starts[j + 1]].astype(np.int64)
    for k, columns in enumerate(_grouped(group, len(last))):
        members[k] = np.concatenate([columns, members[k]])
    above = etree[np.array(last, dtype=np.int64)]
    parent = np.where(above >= 0, group[above], -1)
    # Parents end later in the elimination, so the opposite order lists them first.
    turned = np.argsort(-np.array(last, dtype=np.int64), kind="stable")
    rank = np.empty(turned.size, dtype=np.int64)
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
    # Dominant on its diagonal, so that the factorization meets no small pivot.
    values = np.concatenate([-np.ones(i.size), 2.0 + degree])
    upper = sp.csc_matrix(sp.coo_array((values, (rows, columns)), shape=(n, n)))
    upper.data[upper.data < 0.0] = -1.0
    factor, _, order = qdldl.Solver(upper, upper=True).factors()
    factor = sp.csc_array(factor)
    factor.sort_indices()
    return np.asarray(order, dtype=np.int64), factor


def _supernodes(etree: Index, counts: Index) -> tuple[Index, list[int]]:
    """Number of the clique that each column belongs to, and the last column of each."""
    group = np.full(etree.size, -1, dtype=np.int64)
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
    ordered = np.argsort(group, kind="stable")
    return np.split(ordered, np.searchsorted(group[ordered], np.arange(1, count)))


def _pairs_within(clique: Index) -> tuple[Index, Index]:
    i, j = svec_pairs(np.arange(svec_size(clique.size)))
    return clique[i], clique[j]
