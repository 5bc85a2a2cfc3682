r"""Sparse matrices to factor: errors, coordinates and bounds from products, nothing dense.

With :math:`H^T = Q R` a row x has the coordinates of :math:`\min_{w \ge 0} |R w - Q^T x|`,
R of the order of the components, and the same for all rows: one product X Q serves them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import norm

from sdpdr.base.arrays import Array
from sdpdr.families.factor.nonnegative.inputs import require_nonnegative
from sdpdr.families.factor.nonnegative.least_squares import nonnegative_least_squares

# Order up to which singular values come from a dense matrix of inner products.
_ORDER = 4000


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A non-negative sparse matrix, all of it known; see `PartialMatrix`.

    Parameters
    ----------
    values : csr_array of shape (n, m)

    Raises
    ------
    DataError
        An entry is negative, or none is left.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> known = SparseMatrix(sp.csr_array(np.diag([3.0, 4.0])))
    >>> known.norm, known.error(np.array([[1.0], [0.0]]), np.array([[3.0, 0.0]]))
    (5.0, 0.8)
    """

    values: Any
    is_complete = True

    def __post_init__(self) -> None:
        require_nonnegative(self.values)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix."""
        n, m = self.values.shape
        return n, m

    @cached_property
    def norm(self) -> float:
        """Frobenius norm."""
        return float(norm(self.values))

    def with_gaps(self) -> Any:
        """The matrix itself: what it does not store is known."""
        return self.values

    def error(self, W: Array, H: Array) -> float:
        """How far the product is, relative to the norm; 1e-8 cannot be told from none."""
        square = self.norm**2 - 2.0 * float(np.sum(W * (self.values @ H.T)))
        square += float(np.sum((W.T @ W) * (H @ H.T)))
        return float(np.sqrt(max(square, 0.0))) / self.norm

    def singular_tail(self, k: int) -> float:
        """See `sdpdr.families.factor.nonnegative.truncation.singular_tail`; 0 where too large."""
        X = self.values if self.shape[0] <= self.shape[1] else self.values.T
        if X.shape[0] > _ORDER:
            return 0.0
        squares = np.linalg.eigvalsh((X @ X.T).toarray())[::-1]
        # Each eigenvalue is off by a small multiple of the largest one's rounding.
        error = 4.0 * max(self.shape) * np.finfo(float).eps * float(squares[0])
        return float(np.sqrt(np.sum(np.maximum(squares[k:] - error, 0.0))))


def coordinates(X: Any, components: Array) -> Array:
    """Rows by non-negative least squares over what is known of them, shape (n, k).

    Parameters
    ----------
    X : array of shape (n, m), or sparse
        ``nan`` where an entry is not known.
    components : array of shape (k, m)

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = sp.csr_array([[2.0, 2.0], [0.0, 3.0]])
    >>> coordinates(X, np.array([[1.0, 1.0]])).round(6)
    array([[2. ],
           [1.5]])
    """
    if not sp.issparse(X):
        known, solved = ~np.isnan(X), nonnegative_least_squares
        parts = zip(X, known, strict=True)
        return np.asarray([solved(components[:, here].T, row[here])[0] for row, here in parts])
    Q, R = np.linalg.qr(components.T)
    inside = X @ Q
    # What is outside the span cannot be fitted, but it says which errors are small.
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - np.sum(inside**2, axis=1)
    targets = np.column_stack([inside, np.sqrt(np.maximum(squares, 0.0))])
    matrix = np.vstack([R, np.zeros(R.shape[1])])
    return np.asarray([nonnegative_least_squares(matrix, row)[0] for row in targets])
