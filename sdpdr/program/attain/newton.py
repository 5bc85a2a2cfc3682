r"""The matrices that Newton steps over a cone need, dense."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.linalg.svec import SQRT2, Array, Index, smat, svec, svec_pairs
from sdpdr.program.attain.cone import Block, ConeProgram

# Pairs of coefficients up to which all products are formed at once.
_AT_ONCE = 6_000_000
# Entries of the products of a batch of rows.
_BATCH = 2_000_000
# Order up to which the products of whole matrices, a batch of rows at a time, beat those of the few
# lines that a row uses.
_WHOLE = 150
# What a pair of coefficients costs in multiplications of a matrix product.
_PAIR = 60.0
# How far a step goes towards the boundary of the cone.
SHARE = 0.9


@dataclass(frozen=True, eq=False)
class _Terms:
    """Coefficients of a block's rows in natural coordinates: row, i, j, weight of X_ij."""

    row: Index
    i: Index
    j: Index
    weight: Array


class Schur:
    r"""The matrices :math:`A\,(X \odot Z)\,A^T` with rows :math:`\langle A_e, X A_f Z\rangle`.

    Parameters
    ----------
    program : ConeProgram
    A : sparse array of shape (m, N)
        Its rows in the units of the caller.
    """

    def __init__(self, program: ConeProgram, A: sp.csr_array) -> None:
        self.program, self.A = program, A
        self._parts = [sp.csr_array(A[:, block.part]) for block in program.blocks]
        self._terms = [_natural(part) for part in self._parts]
        self._scalars = A[:, program.nonnegative]
        self.free = A[:, program.free]

    def matrix(self, x: Array, z: Array) -> Array:
        """Shape (m, m), for points x and z of the cone."""
        m = self.A.shape[0]
        total = np.zeros((m, m))
        for block, part, terms in zip(self.program.blocks, self._parts, self._terms, strict=True):
            X, Z = smat(x[block.part]), smat(z[block.part])
            if _PAIR * terms.weight.size**2 <= min(m * block.order**3, _PAIR * _AT_ONCE):
                total += _at_once(terms, X, Z, m)
            elif block.order <= _WHOLE:
                total += _in_batches(terms, part, X, Z)
            else:
                total += _row_by_row(part, block, X, Z)
        weights = x[self.program.nonnegative] * z[self.program.nonnegative]
        scalars = self._scalars
        total += (scalars @ sp.diags_array(weights) @ scalars.T).toarray()
        return (total + total.T) / 2.0

    def apply(self, x: Array, z: Array, u: Array) -> Array:
        r"""The vector of :math:`(X U Z + Z U X) / 2`, shape (N,); zero on free scalars."""
        image = np.zeros(u.size)
        for block in self.program.blocks:
            product = smat(x[block.part]) @ smat(u[block.part]) @ smat(z[block.part])
            image[block.part] = svec((product + product.T) / 2.0)
        k = self.program.nonnegative
        image[k] = x[k] * u[k] * z[k]
        return image


def _natural(part: sp.csr_array) -> _Terms:
    entries = part.tocoo()
    i, j = svec_pairs(entries.col)
    # Each entry off the diagonal stands for two of the symmetric matrix of the row.
    weight = np.where(i == j, entries.data, entries.data / SQRT2)
    return _Terms(entries.row, i, j, weight)


def _at_once(terms: _Terms, X: Array, Z: Array, m: int) -> Array:
    i, j = terms.i, terms.j
    both = X[np.ix_(i, i)] * Z[np.ix_(j, j)] + X[np.ix_(i, j)] * Z[np.ix_(j, i)]
    both += Z[np.ix_(i, i)] * X[np.ix_(j, j)] + Z[np.ix_(i, j)] * X[np.ix_(j, i)]
    scale = np.where(i == j, 0.5, 1.0) * terms.weight
    gather = sp.csr_array((scale, (terms.row, np.arange(i.size))), shape=(m, i.size))
    return np.asarray(gather @ (gather @ both).T)


def _in_batches(terms: _Terms, part: sp.csr_array, X: Array, Z: Array) -> Array:
    m, n = part.shape[0], X.shape[0]
    off = terms.i != terms.j
    # All matrices of the rows, one below another.
    below = n * terms.row.astype(np.int64)
    where = (
        np.concatenate([below + terms.i, below[off] + terms.j[off]]),
        np.concatenate([terms.j, terms.i[off]]),
    )
    weight = np.concatenate([terms.weight, terms.weight[off]])
    stacked = sp.csr_array((weight, where), shape=(m * n, n))
    j, i = np.tril_indices(n)
    scale = np.where(i == j, 0.5, 1.0 / SQRT2)
    total = np.empty((m, m))
    count = max(1, _BATCH // (n * n))
    for first in range(0, m, count):
        last = min(m, first + count)
        products = X @ (stacked[first * n : last * n] @ Z).reshape(last - first, n, n)
        images = scale * (products[:, i, j] + products[:, j, i])
        total[:, first:last] = part @ images.T
    return total


def _row_by_row(part: sp.csr_array, block: Block, X: Array, Z: Array) -> Array:
    m = part.shape[0]
    total = np.zeros((m, m))
    n = block.order
    for e in np.flatnonzero(np.diff(part.indptr)):
        columns = part.indices[part.indptr[e] : part.indptr[e + 1]]
        data = part.data[part.indptr[e] : part.indptr[e + 1]]
        i, j = svec_pairs(columns)
        half = sp.csr_array((np.where(i == j, data / 2.0, data / SQRT2), (i, j)), shape=(n, n))
        symmetric = sp.csr_array(half + half.T)
        used = np.flatnonzero(np.diff(symmetric.indptr))
        product = X[:, used] @ (symmetric[used] @ Z)
        total[:, e] = part @ svec((product + product.T) / 2.0)
    return total


def longest_step(program: ConeProgram, x: Array, step: Array) -> float:
    """The largest t with x + t step in the cone, for x in its interior; at most infinity."""
    least = 0.0
    for block in program.blocks:
        root = sl.cholesky(smat(x[block.part]), lower=True)
        inner = sl.solve_triangular(root, smat(step[block.part]), lower=True)
        inner = sl.solve_triangular(root, inner.T, lower=True)
        lowest = sl.eigh((inner + inner.T) / 2.0, eigvals_only=True, subset_by_index=[0, 0])
        least = min(least, float(lowest[0]))
    k = program.nonnegative
    least = min(least, float(np.min(step[k] / x[k], initial=0.0)))
    return np.inf if least >= 0.0 else -1.0 / least


def inverse(program: ConeProgram, x: Array) -> Array:
    """The inverse of a point of the cone, block by block."""
    found = np.zeros(x.size)
    for block in program.blocks:
        root = sl.cho_factor(smat(x[block.part]), lower=True)
        found[block.part] = svec(sl.cho_solve(root, np.eye(block.order)))
    found[program.nonnegative] = 1.0 / x[program.nonnegative]
    return found
