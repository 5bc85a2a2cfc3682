r"""A matrix variable as blocks on cliques, each in a basis of its own.

In these bases the expected answer is the identity. On the sparse face of centring, entries of M are
inner products of sums over the branches of a spanning tree. They range over a factor of n^2 for n
points, and so do the eigenvalues of the blocks. Among all X whose <A_e, X> / b_e, for the
constraints <A_e, X> <= b_e with b_e > 0, have a given mean, the one of largest determinant is a
multiple of

.. math:: X_0 = \Big(\sum_e A_e / b_e\Big)^{-1} .

A block is written as X_C = B_C X'_C B_C^T with B_C B_C^T = (X_0)_{CC}. Where B_C is the Cholesky
factor in an order that starts with the overlap U of C and its parent D, agreement on U reads

.. math:: (X'_C)_{UU} = G X'_D G^T, \qquad G = (B_C)_{UU}^{-1} (B_D)_{U\cdot}, \qquad G G^T = I .

With one order for all cliques, from the roots to the leaves, G begins with rows of the identity as
far as U and D begin with the same indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import SvecMap
from sdpdr.linalg.cliques import CliqueTree
from sdpdr.linalg.svec import (
    SQRT2,
    selection,
    smat,
    svec,
    svec_index,
    svec_pairs,
    svec_size,
)
from sdpdr.program.point import Factor, Value
from sdpdr.program.sdp import SDP

Bases: TypeAlias = list[Array]
# Entries of G, which has orthonormal rows, that are rounding of zero.
_ZERO = 1e-12
# Entries of rows that are in memory at a time, 80 MB.
_ENTRIES = 10_000_000


def block_bases(sdp: SDP, name: str, tree: CliqueTree) -> Bases:
    """Bases B_C of the blocks of a variable, rows in the cliques' order.

    If the variable has no such constraint, or X_0 is numerically singular on a clique, X_0 is the
    identity: every basis is valid, and the choice only affects the accuracy of solvers.
    """
    orders = [np.argsort(tree.rank[clique]) for clique in tree.cliques]
    expected = _expected(sdp, name)
    if expected is not None:
        parts = [expected[np.ix_(clique, clique)] for clique in tree.cliques]
        with suppress(np.linalg.LinAlgError):
            return list(map(_basis, parts, orders))
    return [_basis(np.eye(order.size), order) for order in orders]


def in_basis(matrix: sp.csr_array, basis: Array) -> sp.csr_array:
    """Rows on ``svec(X)`` as rows on ``svec(X')``, X = B X' B^T."""
    used = np.flatnonzero(np.diff(matrix.indptr))
    changed = [
        sp.csr_array(svec(basis.T @ smat(matrix[rows].toarray()) @ basis))
        for rows in np.array_split(used, 1 + used.size * matrix.shape[1] // _ENTRIES)
    ]
    return sp.csr_array(selection(used, matrix.shape[0]).T @ sp.vstack(changed))


def _expected(sdp: SDP, name: str) -> Array | None:
    """X_0, scaled so that the median of <A_e, X_0> / b_e is one; None if there is no b_e > 0."""
    limits = [
        (r.lhs[name], np.divide(1.0, r.rhs, out=np.zeros(r.m), where=r.rhs > 0.0))
        for r in sdp.rows
        if name in r.lhs and np.any(r.rhs > 0.0)
    ]
    if not limits:
        return None
    total = sum(sp.csr_array(a.adjoint(weights)) for a, weights in limits)
    try:
        inverse = sl.cho_solve(sl.cho_factor(total.toarray()), np.eye(total.shape[0]))
    except np.linalg.LinAlgError:
        return None
    reached = np.concatenate([weights * a.apply(inverse) for a, weights in limits])
    return np.asarray(inverse / np.median(reached[reached != 0.0]))


def _basis(block: Array, order: Index) -> Array:
    """Cholesky factor of a block in a given order, with rows in the original order."""
    basis = np.empty_like(block)
    basis[order] = np.linalg.cholesky(block[np.ix_(order, order)])
    return basis


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks X_C = B_C X'_C B_C^T of a matrix variable.

    Parameters
    ----------
    tree : CliqueTree
    bases : list of arrays
        The B_C.
    """

    tree: CliqueTree
    bases: Bases

    def split(self, matrix: sp.csr_array) -> Iterator[tuple[int, SvecMap]]:
        """Rows on the variable as rows on the blocks X'_C that they read."""
        for k, part in split_columns(self.tree, matrix):
            yield k, SvecMap(self.tree.cliques[k].size, in_basis(part, self.bases[k]))

    def agreement(self, k: int) -> tuple[SvecMap, SvecMap]:
        """The overlap U with the parent, picked from X' of a clique and from that of its parent."""
        tree, parent = self.tree, int(self.tree.parent[k])
        shared = tree.separators[k][np.argsort(tree.rank[tree.separators[k]])]
        a, b = svec_pairs(np.arange(svec_size(shared.size)))
        order = tree.cliques[k].size
        own = sp.eye_array(a.size, svec_size(order), format="csr")
        corner = self.bases[k][np.searchsorted(tree.cliques[k], shared), : shared.size]
        above = self.bases[parent][np.searchsorted(tree.cliques[parent], shared)]
        g = sl.solve_triangular(corner, above, lower=True)
        g[np.abs(g) < _ZERO] = 0.0
        weights = np.where(a == b, 1.0, SQRT2)[:, None, None]
        products = np.einsum("ei,ej->eij", g[a], g[b]) * weights
        rows = sp.csr_array(svec((products + products.transpose(0, 2, 1)) / 2.0))
        return SvecMap(order, own), SvecMap(tree.cliques[parent].size, rows)

    def expand(self, blocks: Sequence[Array]) -> list[Array]:
        """The blocks X_C of the variable from the X'_C."""
        return [b @ x @ b.T for b, x in zip(self.bases, blocks, strict=True)]

    def shrink(self, value: Value) -> list[Array]:
        """The X'_C from the variable."""
        if isinstance(value, Factor):
            parts = [value.factor[clique] for clique in self.tree.cliques]
            blocks = [part @ part.T for part in parts]
        else:
            blocks = [np.asarray(value)[np.ix_(c, c)] for c in self.tree.cliques]
        bases = zip(self.bases, blocks, strict=True)
        return [np.linalg.solve(b, np.linalg.solve(b, x).T) for b, x in bases]


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


def _owners(tree: CliqueTree, row: Index, i: Index, j: Index, m: int) -> Index:
    """The clique that each entry goes to.

    Cliques that hold a vertex form a subtree, and two subtrees that meet do so first where the
    lower one of their roots is, which has the larger number.
    """
    alone = np.maximum(tree.home[i], tree.home[j])
    together = np.zeros(m, dtype=np.intp)
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
