r"""Bases of the blocks of a chordal decomposition in which the expected answer is the identity.

On the sparse face of centring, entries of M are inner products of sums over the branches of a
spanning tree; they differ by the square of the number of points, and so do the eigenvalues of
the cliques' blocks. Over the limits <A_e, X> <= b_e with b_e > 0, of all X whose <A_e, X> / b_e
have a given mean, the one of largest determinant is a multiple of

.. math:: X_0 = \Big(\sum_e A_e / b_e\Big)^{-1} .

A block is written as X_C = B_C X'_C B_C^T with B_C B_C^T = (X_0)_{CC}. Where B_C is the Cholesky
factor in an order that starts with the overlap U of C and its parent D, agreement on U reads

.. math:: (X'_C)_{UU} = G X'_D G^T, \qquad G = (B_C)_{UU}^{-1} (B_D)_{U\cdot}, \qquad G G^T = I .

With one order for all cliques, from the roots to the leaves, G begins with rows of the identity as
far as U and D begin with the same indices.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.cliques import CliqueTree
from sdpdr.linalg.svec import SQRT2, smat, svec_pairs, svec_size
from sdpdr.program.sdp import SDP

Bases: TypeAlias = list[Array]
# Entries of G, which has orthonormal rows, that rounding leaves where zeros belong.
ROUNDING = 1e-12


def block_bases(sdp: SDP, name: str, tree: CliqueTree) -> Bases | None:
    """Bases B_C of the blocks of a variable, rows in the cliques' order; None for the identity.

    The identity, too, where X_0 is singular to rounding on a clique: it is a basis of comfort, and
    any other does.
    """
    expected = _expected(sdp, name)
    if expected is None:
        return None
    with suppress(np.linalg.LinAlgError):
        return [
            _basis(expected[np.ix_(clique, clique)], np.argsort(tree.rank[clique]))
            for clique in tree.cliques
        ]
    return None


def in_basis(matrix: sp.csr_array, basis: Array) -> sp.csr_array:
    """Rows on ``svec(X)`` as rows on ``svec(X')``, X = B X' B^T."""
    used = np.flatnonzero(np.diff(matrix.indptr))
    rows = np.stack([smat(row) for row in matrix[used].toarray()])
    changed = _svecs(basis.T @ rows @ basis)
    select = sp.csr_array(
        (np.ones(used.size), (used, np.arange(used.size))), shape=(matrix.shape[0], used.size)
    )
    return select @ sp.csr_array(changed)


def agreement(tree: CliqueTree, k: int, bases: Bases) -> tuple[sp.csr_array, sp.csr_array]:
    """Rows that pick the overlap with the parent from X' of a clique, and from its parent's."""
    shared, parent = tree.separators[k], int(tree.parent[k])
    shared = shared[np.argsort(tree.rank[shared])]
    s, order = shared.size, tree.cliques[k].size
    a, b = svec_pairs(np.arange(svec_size(s)))
    own = sp.eye_array(svec_size(s), svec_size(order), format="csr")
    corner = bases[k][np.searchsorted(tree.cliques[k], shared), :s]
    above = bases[parent][np.searchsorted(tree.cliques[parent], shared)]
    g = sl.solve_triangular(corner, above, lower=True)
    g[np.abs(g) < ROUNDING] = 0.0
    products = np.einsum("ei,ej->eij", g[a], g[b]) * np.where(a == b, 1.0, SQRT2)[:, None, None]
    return own, sp.csr_array(_svecs((products + products.transpose(0, 2, 1)) / 2.0))


def _expected(sdp: SDP, name: str) -> Array | None:
    """X_0, times what brings the median of its <A_e, X_0> / b_e to one; None without limits."""
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
    """Cholesky factor in an order given; rows in the old one."""
    basis = np.empty_like(block)
    basis[order] = np.linalg.cholesky(block[np.ix_(order, order)])
    return basis


def _svecs(matrices: Array) -> Array:
    """``svec`` of a stack of symmetric matrices."""
    i, j = svec_pairs(np.arange(svec_size(matrices.shape[-1])))
    return matrices[:, i, j] * np.where(i == j, 1.0, SQRT2)
