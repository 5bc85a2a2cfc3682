"""Checks of symmetric matrices, and obvious proofs that they are not completely positive."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.copositive import Refutation, confirmed
from sdpdr.families.factor.nonnegative.inputs import dense_matrix

# Asymmetry relative to the largest entry that counts as rounding.
_SYMMETRIC = 1e-10


def symmetric_matrix(X: ArrayLike, name: str = "X") -> Array:
    """A finite symmetric matrix, not all zero, as floats.

    Negative entries and eigenvalues are no errors: they prove that the matrix is not completely
    positive (`obvious_certificate`).

    Parameters
    ----------
    X : array_like of shape (n, n)
    name : str, default "X"
        What messages call it.

    Raises
    ------
    DataError
        The matrix is not square or not symmetric (the message names an entry), an entry is
        infinite or not a number, or all are zero.
    DataTypeError
        The entries are no real numbers.

    Examples
    --------
    >>> symmetric_matrix([[2, 1], [1, 2]])
    array([[2., 1.],
           [1., 2.]])
    """
    matrix = dense_matrix(X, name)
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"{name} must be a square symmetric matrix; it has shape {matrix.shape}. Pass a kernel "
            f"of its rows, {name} @ {name}.T for instance; `sdpdr.factorize.nmf` takes any shape."
        )
    apart = np.abs(matrix - matrix.T)
    if np.max(apart) > _SYMMETRIC * np.max(np.abs(matrix)):
        i, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
        raise DataError(
            f"{name} must be symmetric; {name}[{i}, {j}] = {matrix[i, j]:g} but {name}[{j}, {i}] = "
            f"{matrix[j, i]:g}. Pass ({name} + {name}.T) / 2 to symmetrize it."
        )
    if not np.any(matrix):
        raise DataError(f"all entries of {name} are zero: there is nothing to factor.")
    return np.asarray((matrix + matrix.T) / 2.0)


@dataclass(frozen=True, eq=False)
class UnitScaled:
    """A symmetric matrix scaled to unit diagonal.

    Attributes
    ----------
    whole : array of shape (n, n)
        The matrix itself.
    matrix : array of shape (r, r)
        Scaled, without rows whose diagonal entry is not positive.
    root : array of shape (r,)
        Square roots of the diagonal.
    kept : array of int, shape (r,)
        The rows that remain.
    """

    whole: Array
    matrix: Array
    root: Array
    kept: Index

    @classmethod
    def of(cls, A: Array) -> UnitScaled:
        """From the matrix itself."""
        kept = np.flatnonzero(np.diag(A) > 0.0)
        root = np.sqrt(np.diag(A)[kept])
        return cls(A, A[np.ix_(kept, kept)] / np.outer(root, root), root, kept)

    def refuted(
        self, proof: str, M: Array, tol: float, rows: Index | None = None
    ) -> Refutation | None:
        """The certificate of a copositive M against the matrix itself; None within ``tol``.

        Parameters
        ----------
        proof, M
            As of `Refutation.of`, at unit diagonal.
        tol : float
            Least distance that counts, relative to the norm at unit diagonal.
        rows : array of int, optional
            The rows of M, among the rows that remain; all of them by default.
        """
        own = np.arange(self.kept.size) if rows is None else rows
        part = self.matrix[np.ix_(own, own)]
        found = Refutation.of(proof, M, part)
        if found.is_beyond(tol, part):
            found = confirmed(found, part)
        return self.of_itself(found, own) if found.is_beyond(tol, part) else None

    def of_itself(self, found: Refutation, rows: Index | slice = slice(None)) -> Refutation:
        """The certificate at unit diagonal, moved to the matrix itself."""
        root, there = self.root[rows], self.kept[rows]
        M, own = found.matrix / np.outer(root, root), self.whole[np.ix_(there, there)]
        moved = replace(Refutation.of(found.proof, M, own), kaplan=found.kaplan)
        return moved.within(there, len(self.whole))


def obvious_certificate(A: Array, tol: float = 1e-9) -> Refutation | None:
    r"""A certificate that a symmetric matrix is not doubly nonnegative; None if it is.

    A negative entry is found by :math:`M = E_{ij} + E_{ji}`, a negative eigenvalue by
    :math:`M = v v^T` of its eigenvector. Both M are copositive. The matrix itself is tested,
    then the one at unit diagonal, so that no row is too short to count.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric.
    tol : float, default 1e-9
        Entries and eigenvalues count as negative below minus this share of the Frobenius norm.

    Examples
    --------
    >>> obvious_certificate(np.array([[1.0, 2.0], [2.0, 1.0]]))
    Refutation(<M, A> = -1: an eigenvalue is negative)
    >>> obvious_certificate(np.eye(2))
    """
    found = _negative(A, tol)
    if found is not None:
        return Refutation.of(*found, A)
    kept = np.flatnonzero(np.diag(A) > 0.0)
    empty = np.setdiff1d(np.arange(len(A)), kept)
    beside = np.abs(A[np.ix_(empty, kept)])
    if np.max(beside, initial=0.0) > _SYMMETRIC * float(np.max(A)):
        row, column = np.unravel_index(int(np.argmax(beside)), beside.shape)
        v = np.zeros(len(A))
        # Beside a zero a_ii, 2 v_i a_ij + a_jj = -a_jj for v_j = 1 and v_i = -a_jj / a_ij.
        v[empty[row]] = -A[kept[column], kept[column]] / A[empty[row], kept[column]]
        v[kept[column]] = 1.0
        return Refutation.of("eigenvalue", np.outer(v, v), A)
    unit = UnitScaled.of(A)
    found = _negative(unit.matrix, tol)
    return None if found is None else unit.of_itself(Refutation.of(*found, unit.matrix))


def _negative(A: Array, tol: float) -> tuple[str, Array] | None:
    """The name of the proof that a matrix has something negative, and its M."""
    least = -tol * float(np.linalg.norm(A))
    i, j = np.unravel_index(int(np.argmin(A)), A.shape)
    if A[i, j] < least:
        M = np.zeros_like(A)
        M[i, j] = M[j, i] = 1.0
        return "entry", M
    values, vectors = np.linalg.eigh(A)
    if values[0] < least:
        return "eigenvalue", np.outer(vectors[:, 0], vectors[:, 0])
    return None


def without_rounding(A: Array) -> Array:
    """A doubly nonnegative matrix without the negative entries that are rounding errors.

    Rows whose diagonal entry is not positive become zero.

    Examples
    --------
    >>> without_rounding(np.array([[1.0, -1e-17], [-1e-17, 0.0]]))
    array([[1., 0.],
           [0., 0.]])
    """
    used = np.diag(A) > 0.0
    return np.where(used[:, None] & used, np.maximum(A, 0.0), 0.0)


def is_doubly_nonnegative(X: ArrayLike, tol: float = 1e-9) -> bool:
    """Whether a symmetric matrix has neither negative entries nor negative eigenvalues.

    Necessary for being completely positive, and sufficient up to order four.

    Parameters
    ----------
    X : array_like of shape (n, n)
    tol : float, default 1e-9
        See `obvious_certificate`.

    References
    ----------
    J. Maxfield and H. Minc, "On the matrix equation X'X = A", Proceedings of the Edinburgh
    Mathematical Society 13, 1962.

    Examples
    --------
    >>> is_doubly_nonnegative([[1.0, 1.0], [1.0, 1.0]])
    True
    """
    return obvious_certificate(symmetric_matrix(X), tol) is None


def cp_rank_bound(n: int, rank: int) -> int:
    r"""An upper bound on the number of columns that a completely positive matrix needs.

    :math:`r(r+1)/2 - 1` for rank r from two on; n up to order four, and :math:`n(n+1)/2 - 4` from
    five on. The conjecture :math:`n^2/4` is false from order seven on.

    Parameters
    ----------
    n : int
        Order.
    rank : int

    References
    ----------
    A. Berman and N. Shaked-Monderer, "Completely Positive Matrices", World Scientific, 2003;
    N. Shaked-Monderer, I. Bomze, F. Jarre and W. Schachinger, "On the cp-rank and minimal cp
    factorizations of a completely positive matrix", SIAM Journal on Matrix Analysis and
    Applications 34, 2013; I. Bomze, W. Schachinger and R. Ullrich, "From seven to eleven:
    completely positive matrices with high cp-rank", Linear Algebra and its Applications 459, 2014.

    Examples
    --------
    >>> cp_rank_bound(4, 4), cp_rank_bound(5, 5), cp_rank_bound(9, 3)
    (4, 11, 5)
    """
    by_rank = rank if rank <= 2 else rank * (rank + 1) // 2 - 1
    return min(by_rank, n if n <= 4 else n * (n + 1) // 2 - 4)


def numerical_rank(A: Array, tol: float = 1e-9) -> int:
    """Eigenvalues of a symmetric matrix above ``tol`` times the largest.

    Examples
    --------
    >>> numerical_rank(np.ones((3, 3)))
    1
    """
    values = np.linalg.eigvalsh(A)
    return int(np.sum(values > tol * values[-1]))
