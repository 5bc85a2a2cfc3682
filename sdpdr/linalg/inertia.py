r"""Inertia of sparse symmetric matrices by an L D L^T factorization (Sylvester's law)."""

from __future__ import annotations

import numpy as np
import qdldl
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
        If a pivot vanishes, that is, when the matrix is singular to working precision, or if
        one is not a finite number.
    """

    def __init__(self, matrix: Matrix) -> None:
        upper = sp.csc_matrix(sp.triu(sp.csc_array(matrix)))
        try:
            self._solver = qdldl.Solver(upper, upper=True)
        except RuntimeError as error:
            raise ArithmeticError(f"the matrix is singular to working precision: {error}") from None
        _, self.pivots, _ = self._solver.factors()
        if not np.isfinite(self.pivots).all():
            raise ArithmeticError("the pivots are not finite numbers")

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
    M plus those of the Schur complement -U^T M^{-1} U, so that M stays sparse.

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
    n = matrix.shape[0]
    null = np.zeros((n, 0)) if null is None else null
    columns = null.toarray() if sp.issparse(null) else np.asarray(null, dtype=float)
    try:
        factorization = Factorization(_lifted(sp.csr_array(matrix), columns))
    except ArithmeticError:
        return False
    if factorization.n_negative == 0:
        return True
    if factorization.n_negative > columns.shape[1]:
        return False
    solved = np.column_stack([factorization.solve(u) for u in columns.T])
    schur = -columns.T @ solved
    negative = int(np.sum(np.linalg.eigvalsh((schur + schur.T) / 2.0) < 0.0))
    return factorization.n_negative + negative == columns.shape[1]


def _lifted(matrix: sp.csr_array, columns: Array) -> sp.csr_array:
    """Add multiples of u e_k^T + e_k u^T, which vanish on the complement, for each u killed.

    A Laplacian, for instance, kills the vector of ones, and the sign of its last pivot would be
    decided by rounding.
    """
    scale = float(abs(matrix).max())
    free = np.ones(matrix.shape[0], dtype=bool)
    for u in columns.T:
        if np.linalg.norm(matrix @ u) > 1e-8 * scale * np.linalg.norm(u):
            continue
        k = int(np.argmax(np.abs(u) * free))
        free[k] = False
        place = (np.arange(u.size), np.full(u.size, k))
        arrow = sp.csr_array((scale / u[k] * u, place), shape=matrix.shape)
        matrix = matrix + arrow + arrow.T
    return matrix
