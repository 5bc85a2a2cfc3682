r"""All rows of a program on one matrix K = R R^T, evaluated on the factor.

.. math:: \langle A_e, K\rangle = \sum_p M_{ep} K_{i_p j_p} + \sum_q T_{eq}\, f_q^T K g_q

Row 0 is the objective, so that the dual slack :math:`S(y) = C + A^*(y)` is the adjoint at (1, y).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.svec import SQRT2, svec_pairs
from sdpdr.solvers.lowrank.general.parts import Part

# From this share of all entries on, K itself is cheaper to form than its entries one by one.
_MANY = 0.12
_LARGEST_DENSE = 3000


class Forms:
    """The rows of one matrix variable, the objective first.

    Parameters
    ----------
    part : Part
        With m + 1 rows.

    Examples
    --------
    >>> from sdpdr.linalg import Diagonal, Stacked, Trace
    >>> from sdpdr.solvers.lowrank.general.parts import part_of
    >>> forms = Forms(part_of(Stacked([Trace(2), Diagonal(2)])))
    >>> forms.values(np.array([[1.0], [2.0]]))
    array([5., 1., 4.])
    >>> forms.slack(np.array([1.0, 0.0, 2.0])) @ np.eye(2)
    array([[1., 0.],
           [0., 3.]])
    """

    def __init__(self, part: Part) -> None:
        self.n = int(part.left.shape[1])
        self.m = int(part.entries.shape[0])
        self.i, self.j = svec_pairs(part.places)
        off = self.i != self.j
        matrix = part.entries @ sp.diags_array(np.where(off, SQRT2, 1.0), format="csr")
        self.matrix, self.weights = matrix, part.weights
        self.left, self.right = _compact(part.left), _compact(part.right)
        self.symmetric = _same(part.left, part.right)
        self.dense = self.n <= _LARGEST_DENSE and part.places.size > _MANY * self.n**2
        self._entries = sp.csr_array(matrix.T)
        self._forms = sp.csr_array(part.weights.T)
        self._off = off
        self._order, self._pattern = _scatter(self.n, self.i, self.j)

    def values(self, factor: Array) -> Array:
        """<A_e, R R^T> for all rows; shape (m + 1,)."""
        total = self.matrix @ self._products(factor, factor)
        if self.weights.shape[1]:
            image = self.left @ factor
            other = image if self.symmetric else self.right @ factor
            total = total + self.weights @ np.einsum("qk,qk->q", image, other)
        return np.asarray(total)

    def sizes(self, lengths: Array) -> Array:
        """Bounds on the terms of `values` together, for a factor with rows of these lengths."""
        total = abs(self.matrix) @ (lengths[self.i] * lengths[self.j])
        if self.weights.shape[1]:
            ends = (abs(self.left) @ lengths) * (abs(self.right) @ lengths)
            total = total + abs(self.weights) @ ends
        return np.asarray(total)

    def cross(self, factor: Array, change: Array) -> Array:
        """<A_e, R D^T + D R^T> for all rows, the derivative of `values` along D."""
        total = self.matrix @ self._products(factor, change, both=True)
        if self.weights.shape[1]:
            total = total + self.form_slopes(factor, change)
        return np.asarray(total)

    def form_slopes(self, factor: Array, change: Array) -> Array:
        """What the forms alone contribute to `cross`."""
        first = np.einsum("qk,qk->q", self.left @ factor, self.right @ change)
        second = np.einsum("qk,qk->q", self.left @ change, self.right @ factor)
        return np.asarray(self.weights @ (first + second))

    def form_product(self, multipliers: Array, factor: Array) -> Array:
        """What the forms alone contribute to the product of `slack` with a factor."""
        return _form_product(self._forms @ multipliers, self.left, self.right, factor)

    def slack(self, multipliers: Array) -> DualSlack:
        """The matrix sum_e y_e A_e, with y_0 the multiplier of the objective."""
        halves = self.entries_of(multipliers)
        if self.dense:
            sparse: Matrix = np.zeros((self.n, self.n))
            sparse[self.i, self.j] = halves
            sparse[self.j, self.i] = halves
        else:
            data = np.concatenate([halves, halves[self._off]])[self._order]
            parts = (data, self._pattern.indices, self._pattern.indptr)
            sparse = sp.csr_array(parts, shape=(self.n, self.n))
        return DualSlack(sparse, self._forms @ multipliers, self.left, self.right)

    def entries_of(self, multipliers: Array) -> Array:
        """Entries (i, j) of `slack`, without the forms; shape of ``i``."""
        return np.asarray(np.where(self._off, 0.5, 1.0) * (self._entries @ multipliers))

    def _products(self, first: Array, second: Array, both: bool = False) -> Array:
        """(R D^T)_ij at the entries read, plus (D R^T)_ij if ``both``."""
        if self.dense:
            gram = first @ second.T
            taken = gram[self.i, self.j]
            return taken + gram[self.j, self.i] if both else taken
        taken = np.einsum("pk,pk->p", first[self.i], second[self.j])
        if both:
            taken = taken + np.einsum("pk,pk->p", second[self.i], first[self.j])
        return np.asarray(taken)


class DualSlack:
    """A symmetric matrix: a sparse (or dense) part and forms of low rank; acts by ``@``.

    Parameters
    ----------
    sparse : array or sparse array of shape (n, n)
    weights : array of shape (p,)
    left, right : arrays or sparse arrays of shape (p, n)
    """

    def __init__(self, sparse: Matrix, weights: Array, left: Matrix, right: Matrix) -> None:
        self.sparse, self.weights, self.left, self.right = sparse, weights, left, right
        self.n = int(sparse.shape[0])

    @property
    def count(self) -> int:
        """Numbers that it is made of."""
        vectors = sum(v.nnz if sp.issparse(v) else v.size for v in (self.left, self.right))
        return int(self.sparse.nnz if sp.issparse(self.sparse) else self.sparse.size) + vectors

    def __matmul__(self, factor: Array) -> Array:
        """The product with a matrix of shape (n, r)."""
        total = self.sparse @ factor
        if self.weights.size:
            total = total + _form_product(self.weights, self.left, self.right, factor)
        return np.asarray(total)

    def toarray(self) -> Array:
        """The matrix, dense."""
        return self @ np.eye(self.n)

    def apart(self, most: int) -> sp.csr_array | Outer | None:
        """As a sparse matrix with few columns beside it; None where it is dense or they are many.

        Parameters
        ----------
        most : int
            Columns that may stand beside.
        """
        if not sp.issparse(self.sparse):
            return None
        used = np.flatnonzero(self.weights)
        if not used.size:
            return self.sparse
        if used.size > most:
            return None
        left, right = (
            np.asarray(v[used].toarray() if sp.issparse(v) else v[used]).T
            for v in (self.left, self.right)
        )
        weights = self.weights[used]
        if np.array_equal(left, right):
            columns = left
        else:
            # f g^T + g f^T, halved, is the difference of two squares.
            columns = np.hstack([0.5 * (left + right), 0.5 * (left - right)])
            weights = np.append(weights, -weights)
        return Outer(self.sparse, columns, weights) if weights.size <= most else None

    def diagonal(self) -> Array:
        """Its diagonal."""
        total = self.sparse.diagonal()
        if self.weights.size:
            product = self.left * self.right
            total = total + np.asarray(product.T @ self.weights)
        return np.asarray(total)


def _form_product(weights: Array, left: Matrix, right: Matrix, factor: Array) -> Array:
    """The matrix sum_q w_q (f_q g_q^T + g_q f_q^T) / 2 times a factor."""
    scale = 0.5 * weights[:, None]
    first = left.T @ (scale * (right @ factor))
    return np.asarray(first + right.T @ (scale * (left @ factor)))


def _compact(vectors: sp.csr_array) -> Matrix:
    """Vectors that are mostly full are faster dense."""
    full = vectors.shape[0] * vectors.shape[1]
    return vectors.toarray() if vectors.nnz > 0.2 * full else vectors


def _same(left: sp.csr_array, right: sp.csr_array) -> bool:
    return left is right or (left.shape == right.shape and (left != right).nnz == 0)


def _scatter(n: int, i: Index, j: Index) -> tuple[Index, sp.csr_array]:
    """Pattern of the symmetric matrix on the pairs, and the order of its entries."""
    off = i != j
    rows, columns = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    order = np.lexsort((columns, rows))
    starts = np.searchsorted(rows[order], np.arange(n + 1))
    pattern = sp.csr_array((np.ones(order.size), columns[order], starts), shape=(n, n))
    return order, pattern
