"""Sums of a sparse matrix and a product of few dense columns, which is never multiplied out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix

# Rows that are formed at once if every entry is needed.
_BLOCK = 1000
# Order up to which dense factorizations are quick.
_DENSE = 1000


class Outer:
    r"""The symmetric matrix :math:`S + F \operatorname{diag}(c) F^T`, never multiplied out."""

    # NumPy and SciPy must leave sums and products to the methods below.
    __array_ufunc__ = None
    ndim = 2

    def __init__(self, sparse: Matrix, columns: Array, weights: Array) -> None:
        self.sparse = sp.csr_array(sparse)
        self.columns, self.weights = np.asarray(columns), np.asarray(weights, dtype=float)
        self.shape = self.sparse.shape

    @property
    def stays_apart(self) -> bool:
        """Whether a bordered matrix gives its inertia: if it is large, or no weight is positive."""
        return self.shape[0] > _DENSE or bool(np.all(self.weights < 0.0))

    def lowered(self) -> tuple[Outer, Array]:
        """The matrix without its positive outer products, and the columns of these products."""
        raised = self.weights > 0.0
        columns = self.columns[:, raised] * np.sqrt(self.weights[raised])
        return Outer(self.sparse, self.columns[:, ~raised], self.weights[~raised]), columns

    def bordered(self) -> sp.csr_array:
        r"""A sparse matrix of order n + q, with a negative eigenvalue more for each positive c."""
        if not self.weights.size:
            return self.sparse
        size = float(np.abs(self.sparse.diagonal()).max()) or 1.0
        columns = self.columns * np.sqrt(np.abs(self.weights) * size)
        border = sp.diags_array(-size * np.sign(self.weights))
        return sp.csr_array(
            sp.block_array([[self.sparse, columns], [columns.T, border]], format="csr")
        )

    def padded(self, vectors: Any) -> Array:
        """A vector, or the columns of a matrix, extended by zeros for the border."""
        dense = vectors.toarray() if sp.issparse(vectors) else np.asarray(vectors)
        return np.concatenate([dense, np.zeros((self.weights.size, *dense.shape[1:]))])

    def diagonal(self) -> Array:
        """The diagonal, shape (n,)."""
        return np.asarray(self.sparse.diagonal() + np.square(self.columns) @ self.weights)

    def largest(self) -> float:
        """The largest absolute value of an entry."""
        n = self.shape[0]
        blocks = (slice(first, first + _BLOCK) for first in range(0, n, _BLOCK))
        return max(float(np.abs(self._rows(block)).max()) for block in blocks)

    def toarray(self) -> Array:
        """All entries."""
        return self._rows(slice(None))

    def _rows(self, rows: slice) -> Array:
        """Some rows as a dense array."""
        products = (self.columns[rows] * self.weights) @ self.columns.T
        return np.asarray(self.sparse[rows].toarray() + products)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return self.toarray()

    def __matmul__(self, other: Any) -> Array:
        image = self.columns.T @ other
        weights = self.weights if image.ndim == 1 else self.weights[:, None]
        return np.asarray(self.sparse @ other + self.columns @ (weights * image))

    def __rmatmul__(self, other: Any) -> Array:
        return np.asarray((self @ other.T).T)

    def __mul__(self, other: Any) -> Any:
        if np.ndim(other):
            return self.toarray() * other
        return Outer(self.sparse * other, self.columns, self.weights * other)

    __rmul__ = __mul__

    def __neg__(self) -> Outer:
        return -1.0 * self

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Outer):
            columns = np.hstack([self.columns, other.columns])
            weights = np.concatenate([self.weights, other.weights])
            return Outer(self.sparse + other.sparse, columns, weights)
        if sp.issparse(other):
            return Outer(self.sparse + other, self.columns, self.weights)
        return self.toarray() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -1.0 * other

    def __rsub__(self, other: Any) -> Any:
        return -1.0 * self + other

    def __abs__(self) -> Array:
        return np.abs(self.toarray())
