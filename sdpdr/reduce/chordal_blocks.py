"""A matrix variable as blocks on cliques, each in a basis of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import SvecMap
from sdpdr.linalg.cliques import CliqueTree
from sdpdr.linalg.svec import svec_index, svec_pairs, svec_size
from sdpdr.reduce.chordal_basis import Bases, agreement, in_basis


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks X_C = B_C X'_C B_C^T of a matrix variable.

    Parameters
    ----------
    tree : CliqueTree
    bases : list of arrays or None
        The B_C; None for the identity.
    """

    tree: CliqueTree
    bases: Bases | None

    def split(self, matrix: sp.csr_array) -> Iterator[tuple[int, SvecMap]]:
        """Rows on the variable as rows on the blocks X'_C that they read."""
        for k, part in split_columns(self.tree, matrix):
            rows = part if self.bases is None else in_basis(part, self.bases[k])
            yield k, SvecMap(self.tree.cliques[k].size, rows)

    def agreement(self, k: int) -> tuple[SvecMap, SvecMap]:
        """The overlap with the parent, seen from a clique and from its parent."""
        if self.bases is None:
            own, above = overlap(self.tree, k)
        else:
            own, above = agreement(self.tree, k, self.bases)
        orders = self.tree.sizes
        return SvecMap(int(orders[k]), own), SvecMap(int(orders[self.tree.parent[k]]), above)

    def expand(self, blocks: Sequence[Array]) -> list[Array]:
        """The blocks X_C of the variable from the X'_C."""
        if self.bases is None:
            return list(blocks)
        return [b @ x @ b.T for b, x in zip(self.bases, blocks, strict=True)]


Parts: TypeAlias = Iterator[tuple[int, sp.csr_array]]


def split_columns(tree: CliqueTree, matrix: sp.csr_array) -> Parts:
    """Rows on ``svec(X)`` as rows on the cliques' blocks, for the cliques that they read.

    A row goes to a single clique where one holds all that it reads, the one nearest to the root;
    otherwise each entry does so on its own. Rows that couple fewer blocks leave the equations of an
    interior-point method sparser.

    Parameters
    ----------
    tree : CliqueTree
    matrix : sparse array of shape (m, n (n + 1) / 2)

    Yields
    ------
    (int, sparse array of shape (m, k (k + 1) / 2))
        Number of a clique, and the rows on its block of order k.
    """
    entries = sp.coo_array(matrix)
    entries.eliminate_zeros()
    i, j = svec_pairs(entries.col)
    owner = _owners(tree, entries.row, i, j, matrix.shape[0])
    local = svec_index(tree.position(owner, i), tree.position(owner, j))
    for k, chosen in _by_owner(owner):
        shape = (matrix.shape[0], svec_size(tree.cliques[k].size))
        triple = (entries.data[chosen], (entries.row[chosen], local[chosen]))
        yield k, sp.csr_array(triple, shape=shape)


def split_rows(tree: CliqueTree, matrix: sp.csr_array) -> Parts:
    """Columns that yield ``svec(F)`` as columns that yield the cliques' shares of F.

    Parameters
    ----------
    tree : CliqueTree
    matrix : sparse array of shape (n (n + 1) / 2, q)

    Yields
    ------
    (int, sparse array of shape (k (k + 1) / 2, q))
        Number of a clique, and what yields its share, of order k.
    """
    for k, part in split_columns(tree, sp.csr_array(matrix.T)):
        yield k, sp.csr_array(part.T)


def overlap(tree: CliqueTree, clique: int) -> tuple[sp.csr_array, sp.csr_array]:
    """What a clique shares with its parent, picked from the ``svec`` of either block.

    Returns
    -------
    own, above : sparse arrays of shape (s (s + 1) / 2, k (k + 1) / 2)
        For an overlap of order s and the orders k of the clique and of its parent.
    """
    shared = tree.separators[clique]
    a, b = svec_pairs(np.arange(svec_size(shared.size)))
    return (
        _pick(tree, clique, shared, a, b),
        _pick(tree, int(tree.parent[clique]), shared, a, b),
    )


def _pick(tree: CliqueTree, clique: int, shared: Index, a: Index, b: Index) -> sp.csr_array:
    place = np.searchsorted(tree.cliques[clique], shared)
    shape = (a.size, svec_size(tree.cliques[clique].size))
    triple = (np.ones(a.size), (np.arange(a.size), svec_index(place[a], place[b])))
    return sp.csr_array(triple, shape=shape)


def _owners(tree: CliqueTree, row: Index, i: Index, j: Index, m: int) -> Index:
    """The clique that each entry goes to.

    Cliques that hold a vertex form a subtree, and two subtrees that meet do so first where the
    lower one of their roots is, which has the larger number.
    """
    alone = np.maximum(tree.home[i], tree.home[j])
    together = np.zeros(m, dtype=np.int64)
    np.maximum.at(together, row, alone)
    joint = together[row]
    held = (tree.position(joint, i) >= 0) & (tree.position(joint, j) >= 0)
    whole = np.ones(m, dtype=bool)
    whole[row[~held]] = False
    return np.where(whole[row], joint, alone)


def _by_owner(owner: Index) -> Iterator[tuple[int, Index]]:
    order = np.argsort(owner, kind="stable")
    ends = np.flatnonzero(np.diff(owner[order])) + 1
    for start, end in pairwise([0, *ends.tolist(), owner.size]):
        if start < end:
            yield int(owner[order[start]]), order[start:end]
