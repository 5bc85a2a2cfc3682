r"""Inertia of sparse symmetric matrices by an L D L^T factorization (Sylvester's law)."""

from __future__ import annotations

import numpy as np
import qdldl
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.linalg.svec import Array, Matrix


class Factorization:
    """A sparse factorization P^T A P = L D L^T of a symmetric nonsingular matrix.

    Parameters
    ----------
    matrix : sparse array of shape (n, n)

    Raises
    ------
    ArithmeticError
        If a pivot is no larger than rounding, that is, when the matrix is singular to working
        precision, or if it holds numbers that are not finite.
    """

    def __init__(self, matrix: Matrix) -> None:
        upper = sp.csc_matrix(sp.triu(sp.csc_array(matrix)))
        rounding = np.finfo(float).eps * abs(upper).max()
        try:
            self._solver = qdldl.Solver(upper, upper=True)
            _, self.pivots, _ = self._solver.factors()
        except (RuntimeError, ValueError) as error:
            raise ArithmeticError(f"the matrix is singular to working precision: {error}") from None
        # Turned around, so that it catches pivots that are not numbers as well.
        if not np.all(np.abs(self.pivots) > rounding):
            raise ArithmeticError("the matrix is singular to working precision: a pivot vanishes")

    @property
    def n_negative(self) -> int:
        """Number of negative eigenvalues of the matrix."""
        return int(np.sum(self.pivots < 0.0))

    def solve(self, right: Array) -> Array:
        """Solution of A x = right; shape (n,)."""
        return np.asarray(self._solver.solve(right))


def is_positive_on(matrix: Matrix, null: Matrix | None = None) -> bool:
    r"""Whether x^T A x > 0 for every x != 0 orthogonal to the columns of ``null``.

    With M = A and U the p columns, the bordered matrix [[M, U], [U^T, 0]] has exactly p negative
    eigenvalues if and only if M is positive on the complement of U. They are counted as those of
    M plus those of the Schur complement -U^T M^{-1} U, so that M stays sparse. Columns that M
    kills, as a Laplacian kills the vector of ones, are grounded: rows and columns of M go in
    their place. What rounding could decide counts as not positive.

    Parameters
    ----------
    matrix : sparse array of shape (n, n)
    null : array or sparse array of shape (n, p), optional
        With linearly independent columns.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> is_positive_on(path - 1.9 * sp.eye_array(2), np.ones((2, 1)))
    True
    >>> is_positive_on(path - 2.1 * sp.eye_array(2), np.ones((2, 1)))
    False
    """
    matrix = sp.csr_array(matrix)
    columns: Array = sp.csr_array((matrix.shape[0], 0) if null is None else null).toarray()
    matrix, columns = _grounded(matrix, columns)
    try:
        factorization = Factorization(matrix)
    except ArithmeticError:
        return False
    n, p = columns.shape
    if p == 0 or factorization.n_negative > p:
        return factorization.n_negative == 0
    solved = np.column_stack([factorization.solve(u) for u in columns.T])
    schur = -columns.T @ solved
    missed = np.abs(solved).T @ np.abs(matrix @ solved - columns)
    rounding = np.max(missed + n * np.finfo(float).eps * (np.abs(columns).T @ np.abs(solved)))
    negative = int(np.sum(np.linalg.eigvalsh((schur + schur.T) / 2.0) < -rounding))
    return factorization.n_negative + negative == p


def _grounded(matrix: sp.csr_array, columns: Array) -> tuple[sp.csr_array, Array]:
    """Matrix without a row and a column for each of the columns that it kills, and the others.

    The form does not change along the columns killed, so points may be moved along them until
    some coordinates vanish; the others are made orthogonal to them, so as not to notice.
    """
    size = abs(matrix) @ np.abs(columns)
    killed = np.all(np.abs(matrix @ columns) <= 1e-13 * size, axis=0)
    if not killed.any():
        return matrix, columns
    order = sl.qr(columns[:, killed].T, mode="r", pivoting=True)[1]
    kept = np.sort(order[np.sum(killed) :])
    q = np.linalg.qr(columns[:, killed])[0]
    others = columns[:, ~killed]
    others = others - q @ (q.T @ others)
    return matrix[kept][:, kept], others[kept]
