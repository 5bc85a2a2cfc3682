r"""Inertia of sparse symmetric matrices by an L D L^T factorization (Sylvester's law)."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg import mkl
from sdpdr.linalg.factorization import symmetric_factor
from sdpdr.linalg.ldl import sparse_ldl
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.walks import breadth

# Operations on an entry of L beyond its inner product: a pivot's reciprocal and two products.
_OPERATIONS = 4
# Rounding error of the factors, relative to the matrix, above which signs of pivots are unreliable.
_GROWN = 1e-8
# Order from which speed matters more than a check of every pivot.
_UNCHECKED_FROM = 20_000
# Breadth of the graph beyond which a factorization should collect columns into dense blocks, and
# order up to which the whole matrix is made dense if no library does that.
_WIDE, _DENSE = 400, 8000


class LdlFactor:
    """A sparse factorization P^T A P = L D L^T of a symmetric nonsingular matrix."""

    def __init__(self, matrix: Matrix) -> None:
        upper = sp.csc_matrix(sp.triu(sp.csc_array(matrix)))
        self._size = float(abs(upper).max())
        rounding = np.finfo(float).eps * self._size
        try:
            self.factors = sparse_ldl(upper)
        except ArithmeticError as error:
            raise ArithmeticError(f"the matrix is singular to working precision: {error}") from None
        self.pivots = self.factors.pivots
        # Negated, so that pivots that are nan fail as well.
        if not np.all(np.abs(self.pivots) > rounding):
            raise ArithmeticError("the matrix is singular to working precision: a pivot vanishes")

    @property
    def n_negative(self) -> int:
        """Number of negative eigenvalues of the matrix."""
        return int(np.sum(self.pivots < 0.0))

    def solve(self, right: Array) -> Array:
        """Solution of A x = right; shape (n,)."""
        return self.factors.solve(right)

    @property
    def has_grown(self) -> bool:
        """Whether rounding of the factors reaches half the digits of the matrix."""
        return bool(np.max(self.error_bound(), initial=0.0) > _GROWN * self._size)

    def error_bound(self) -> Array:
        r"""Row sums of a bound on :math:`|A - P \hat L \hat D \hat L^T P^T|`; shape (n,)."""
        lower = abs(sp.csr_array(self.factors.lower))
        n = lower.shape[0]
        ones = np.ones(n)
        weighted = np.abs(self.pivots) * (ones + lower.T @ ones)
        terms = np.diff(lower.indptr) + _OPERATIONS
        bound = np.empty(n)
        # The product is a sum of nonnegative terms, so its own rounding is below one per cent.
        bound[self.factors.order] = 1.01 * gamma(terms) * (weighted + lower @ weighted)
        return bound + self.factors.asymmetry()


def is_positive_on(matrix: Matrix, null: Matrix | None = None) -> bool:
    r"""Whether x^T A x > 0 for every x != 0 orthogonal to the columns of ``null``."""
    columns: Array = sp.csr_array((matrix.shape[0], 0) if null is None else null).toarray()
    raised = np.zeros((matrix.shape[0], 0))
    if isinstance(matrix, Outer) and not matrix.stays_apart:
        matrix = sp.csr_array(matrix.toarray())
    if isinstance(matrix, Outer):
        lowered, raised = matrix.lowered()
        columns, raised = lowered.padded(columns), lowered.padded(raised)
        matrix = lowered.bordered()
    matrix = sp.csr_array(matrix)
    for ground in (_grounded, _grounded_at_hub):
        with suppress(ArithmeticError):
            return RestrictedFactor(*ground(matrix, columns, raised)).is_positive
    return False


class RestrictedFactor:
    """A factorization of A, and whether A is positive on the vectors orthogonal to some columns."""

    def __init__(self, matrix: Matrix, columns: Array, raised: Array | None = None) -> None:
        corner = np.zeros(columns.shape[1])
        if raised is not None and raised.shape[1]:
            size = np.maximum(np.linalg.norm(raised, axis=0), np.finfo(float).tiny)
            columns = np.hstack([columns, raised / size])
            corner = np.append(corner, 1.0 / np.square(size))
        n, p = columns.shape
        self._factor = _best_factor(sp.csr_array(matrix), p)
        self._columns = columns
        negative = self._factor.n_negative
        if isinstance(self._factor, LdlFactor) and negative and self._factor.has_grown:
            raise ArithmeticError("pivots have grown so much that rounding may decide their signs")
        self.is_positive = negative == 0
        if p == 0 or negative > p:
            return
        self._solved = np.column_stack([self._factor.solve(u) for u in columns.T])
        grown = float(abs(matrix).max()) * np.abs(self._solved).max(axis=0)
        # Negated again, for nan.
        if not np.all(np.finfo(float).eps * grown <= np.abs(columns).max(axis=0)):
            raise ArithmeticError("the matrix is singular to working precision: solutions are huge")
        schur = -columns.T @ self._solved - np.diag(corner)
        self._schur = (schur + schur.T) / 2.0
        missed = np.abs(self._solved).T @ np.abs(matrix @ self._solved - columns)
        size = np.abs(columns).T @ np.abs(self._solved)
        rounding = np.max(missed + n * np.finfo(float).eps * (size + corner))
        spectrum = np.linalg.eigvalsh(self._schur)
        negative += int(np.sum(spectrum < -rounding))
        self.is_positive = negative == p and bool(np.all(np.abs(spectrum) > rounding))

    def solve(self, right: Array) -> Array:
        """The x orthogonal to the columns with A x = right up to a combination of them."""
        x = self._factor.solve(np.ravel(right))
        if self._columns.shape[1] == 0:
            return x
        return x + self._solved @ np.linalg.solve(self._schur, self._columns.T @ x)


def _best_factor(matrix: sp.csr_array, p: int) -> LdlFactor | _LargeFactor | _DenseFactor:
    """The fastest factorization; with p = 0 it only needs to detect negative eigenvalues."""
    n = matrix.shape[0]
    if n >= _UNCHECKED_FROM:
        return _LargeFactor(matrix)
    if n <= _WIDE or breadth(matrix) <= _WIDE:
        return LdlFactor(matrix)
    if mkl.available():
        # The shift replaces the check of pivots: what rounding could decide is not positive.
        rounding = n * np.finfo(float).eps * float(abs(matrix).max())
        return _LargeFactor(matrix - rounding * sp.eye_array(n, format="csr"))
    return _DenseFactor(matrix) if p == 0 and n <= _DENSE else LdlFactor(matrix)


class _DenseFactor:
    """A Cholesky factorization of the whole matrix, if it exists."""

    def __init__(self, matrix: Matrix) -> None:
        dense = matrix.toarray()
        rounding = len(dense) * np.finfo(float).eps * np.max(np.abs(dense.diagonal()))
        self.n_negative = 0
        try:
            self._root = sl.cholesky(dense, lower=True, overwrite_a=True)
        except (np.linalg.LinAlgError, ValueError):
            self.n_negative = 1
            return
        if not np.all(np.square(self._root.diagonal()) > rounding):
            raise ArithmeticError("the matrix is singular to working precision: a pivot vanishes")

    def solve(self, right: Array) -> Array:
        """Solution of A x = right, shape (n,), if no eigenvalue is negative."""
        return np.asarray(sl.cho_solve((self._root, True), right))


class _LargeFactor:
    """The fastest available factorization, which does not return its pivots."""

    def __init__(self, matrix: Matrix) -> None:
        upper = sp.csc_array(sp.triu(sp.csc_array(matrix), format="csc"))
        upper.sort_indices()
        if np.any(matrix.diagonal() == 0.0) or not np.isfinite(upper.data).all():
            raise ArithmeticError("the matrix has an empty diagonal entry or is not finite")
        self._factor = symmetric_factor(upper)
        self.n_negative = self._factor.factorize(upper.data)
        if self.n_negative < 0:
            raise ArithmeticError("the matrix is singular to working precision")

    def solve(self, right: Array) -> Array:
        """Solution of A x = right; shape (n,)."""
        return self._factor.solve(right)


def _grounded(
    matrix: sp.csr_array, columns: Array, raised: Array
) -> tuple[sp.csr_array, Array, Array]:
    """The matrix without a row and column for each column in its kernel, and the other columns."""
    size = abs(matrix) @ np.abs(columns)
    killed = np.all(np.abs(matrix @ columns) <= 1e-13 * size, axis=0)
    if not killed.any():
        return _grounded_by_ones(matrix, columns, raised)
    order = sl.qr(columns[:, killed].T, mode="r", pivoting=True)[1]
    kept = np.sort(order[np.sum(killed) :])
    q = np.linalg.qr(columns[:, killed])[0]
    others = columns[:, ~killed]
    others, raised = others - q @ (q.T @ others), raised - q @ (q.T @ raised)
    return matrix[kept][:, kept], others[kept], raised[kept]


def _grounded_by_ones(
    matrix: sp.csr_array, columns: Array, raised: Array
) -> tuple[sp.csr_array, Array, Array]:
    """Remove the first row and column of a Laplacian, if points are centred by other weights."""
    n, p = columns.shape
    ones = np.ones(n)
    sums = columns.T @ ones
    kills = np.all(np.abs(matrix @ ones) <= 1e-13 * (abs(matrix) @ ones))
    if p == 0 or not kills or np.all(np.abs(sums) <= 1e-8 * (np.abs(columns).T @ ones)):
        return matrix, columns, raised
    u = columns @ sums / (sums @ sums)
    others = columns @ np.linalg.qr(sums[:, None], mode="complete")[0][:, 1:]
    return matrix[1:][:, 1:], others[1:], (raised - np.outer(u, ones @ raised))[1:]


def _grounded_at_hub(
    matrix: sp.csr_array, columns: Array, raised: Array
) -> tuple[sp.csr_array, Array, Array]:
    """Remove the row of the largest diagonal of a Laplacian minus a multiple of u u^T."""
    if not np.isfinite(matrix.data).all():
        raise ArithmeticError("the matrix is not finite")
    n, p = columns.shape
    ones, total = np.ones(n), float(np.sum(columns))
    u = columns[:, 0] if p == 1 and total != 0.0 else np.zeros(n)
    image = matrix @ ones
    share = float(u @ image) / float(u @ u or 1.0)
    apart = np.abs(image - share * u) > 1e-13 * (abs(matrix) @ ones)
    if n < 2 or share * total >= 0.0 or np.any(apart):
        raise ArithmeticError("the matrix is no Laplacian of points that the column centres")
    kept = np.delete(np.arange(n), np.argmax(matrix.diagonal()))
    moved = raised - np.outer(u, ones @ raised) / total
    moved = np.column_stack([np.sqrt(-share / total) * u, moved])
    return matrix[kept][:, kept], np.zeros((n - 1, 0)), moved[kept]
