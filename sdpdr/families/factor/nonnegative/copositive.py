r"""Copositive matrices, :math:`x^T M x \ge 0` for all :math:`x \ge 0`, and refutations by them.

If :math:`A = B B^T` with B nonnegative, then
:math:`\langle M, A\rangle = \sum_l b_l^T M b_l \ge 0` for every copositive M. A copositive M with
:math:`\langle M, A\rangle < 0` therefore proves that A is not completely positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index, as_real
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.least_squares import nonnegative_least_squares
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING

# Order up to which all principal submatrices are tested: there are 32,767 of them.
LARGEST = 15

# Proofs that the matrix of a certificate is copositive, by name.
PROOFS: Mapping[str, str] = MappingProxyType(
    {
        "entry": "an entry is negative",
        "eigenvalue": "an eigenvalue is negative",
        "no triangle": "no three rows are joined, and the comparison matrix is indefinite",
        "multipliers": "M is copositive by the multipliers of level one",
    }
)


@dataclass(frozen=True, eq=False)
class Copositivity:
    r"""The answer of a copositivity test, which is also its truth value.

    Attributes
    ----------
    holds : bool
        Whether M + shift I is copositive.
    shift : float
        1e-12 times the largest entry.
    witness : array of shape (n,) or None
        If not, x >= 0 of sum one with :math:`x^T M x < -s |x|^2` for the shift s.
    """

    holds: bool
    shift: float
    witness: Array | None = None

    def __bool__(self) -> bool:
        return self.holds


def copositivity(M: ArrayLike) -> Copositivity:
    r"""Decide whether a matrix of order 15 or less is copositive, by Kaplan's criterion.

    M is copositive exactly if no principal submatrix has an eigenvector v > 0 with a negative
    eigenvalue. A solver returns any basis of a multiple eigenvalue, so the span of all eigenvectors
    of negative eigenvalues is searched for a positive vector, by nonnegative least squares. The
    test is about M + shift I, so rounding below the shift does not matter.

    Parameters
    ----------
    M : array_like of shape (n, n)
        Symmetric.

    Returns
    -------
    Copositivity
        True if M + shift I is copositive; else with a witness.

    Raises
    ------
    DataError
        M is not square, or of order 16 or more.

    References
    ----------
    W. Kaplan, "A test for copositive matrices", Linear Algebra and its Applications 313, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.nonnegative import copositivity, horn_matrix
    >>> bool(copositivity(horn_matrix())), bool(copositivity(-np.eye(2)))
    (True, False)
    >>> copositivity([[1.0, -2.0], [-2.0, 1.0]]).witness
    array([0.5, 0.5])
    """
    matrix = np.asarray(M, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"M must be a square symmetric matrix; it has shape {matrix.shape}.")
    n = len(matrix)
    if n > LARGEST:
        raise DataError(
            f"the test takes all principal submatrices, 2^n of them, for n up to {LARGEST}; M "
            f"has order {n}."
        )
    shift = NEGLIGIBLE * float(np.max(np.abs(matrix)))
    for order in range(1, n + 1):
        rows = np.array(list(combinations(range(n), order)))
        parts = matrix[rows[:, :, None], rows[:, None, :]]
        values, vectors = np.linalg.eigh(parts)
        for which in np.flatnonzero(values[:, 0] < -shift):
            span = vectors[which][:, values[which] < -shift]
            x = _positive_in(span)
            if x is not None and x @ parts[which] @ x < -shift * (x @ x):
                witness = np.zeros(n)
                witness[rows[which]] = x
                return Copositivity(False, shift, witness)
    return Copositivity(True, shift)


def _positive_in(span: Array) -> Array | None:
    """A nonnegative vector of sum one in the span of orthonormal columns, or None.

    By Stiemke's lemma there is a positive one unless some y >= 0, y != 0, is orthogonal to all
    columns. Least squares for such a y either succeed, or their residual makes the vector.
    """
    n, p = span.shape
    target = np.r_[np.zeros(p), 1.0]
    system = np.vstack([span.T, np.ones(n)])
    y, away = nonnegative_least_squares(system, target)
    if away <= np.sqrt(np.finfo(float).eps) / n:
        return None
    x = np.maximum(-span @ (target - system @ y)[:p], 0.0)
    total = float(np.sum(x))
    return x / total if total > 0.0 else None


def horn_matrix() -> Array:
    """Horn's matrix: copositive, but no sum of a semidefinite and a nonnegative matrix.

    Examples
    --------
    >>> from sdpdr.nonnegative import horn_matrix
    >>> horn_matrix()[0]
    array([ 1., -1.,  1.,  1., -1.])
    """
    row = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    return np.array([np.roll(row, i) for i in range(5)])


@dataclass(frozen=True, eq=False)
class Refutation:
    r"""A copositive matrix M with :math:`\langle M, A\rangle < 0`: A is not completely positive.

    Attributes
    ----------
    matrix : array of shape (n, n)
        M.
    value : float
        :math:`\langle M, A\rangle`.
    distance : float
        No completely positive matrix is closer to A than this, in the Frobenius norm:
        :math:`-\langle M, A\rangle / |M|_F`.
    proof : str
        Why M is copositive: "entry", "eigenvalue", "no triangle" or "multipliers".
    """

    matrix: Array
    value: float
    distance: float
    proof: str

    @classmethod
    def of(cls, proof: str, M: Array, A: Array) -> Refutation:
        """The certificate of M against A."""
        M, A = as_real(M, copy=True), as_real(A)
        value = float(np.sum(M * A))
        norm = float(np.linalg.norm(M))
        # M = 0 is copositive, and proves nothing.
        return cls(M, value, -value / norm if norm else 0.0, proof)

    @property
    def least_gap(self) -> float:
        r"""A lower bound on :math:`\operatorname{tr} A - |B|_F^2`.

        For :math:`B \ge 0` and :math:`B B^T \preceq A`: with D the difference,
        :math:`\lambda_{\min}(M) \operatorname{tr} D \le \langle M, D\rangle
        \le \langle M, A\rangle`. It is infinite if there is no such B.
        """
        least = float(np.linalg.eigvalsh(self.matrix)[0])
        return self.value / least if least < 0.0 else np.inf

    def is_beyond(self, tol: float, A: Array) -> bool:
        """Whether no completely positive matrix is within this share of the norm of A."""
        return self.distance > tol * float(np.linalg.norm(A))

    def within(self, rows: Index, n: int) -> Refutation:
        """The same for a matrix of order n that has A in some of its rows and columns."""
        M = np.zeros((n, n))
        M[np.ix_(rows, rows)] = self.matrix
        return replace(self, matrix=M)

    def holds_against(self, A: ArrayLike, tol: float = 0.0) -> bool:
        """Compute everything again: M copositive by Kaplan's test, distance above ``tol`` times A.

        The test is about M plus a shift, so the distance is measured with it. It takes D M D, which
        is copositive if and only if M is, with D such that no row of A is too short to count, and
        only the rows where M is not zero.

        Raises
        ------
        DataError
            There are too many such rows for the test.
        """
        matrix = np.asarray(A, dtype=float)
        rows = np.flatnonzero(self.matrix.any(axis=0))
        if not rows.size:
            return False
        where = np.ix_(rows, rows)
        M, part = self.matrix[where], matrix[where]
        own, largest = np.diag(part), np.max(np.abs(M), axis=0)
        units = np.sqrt(np.where(own > 0.0, own, 1.0 / np.where(largest > 0.0, largest, 1.0)))
        test = copositivity(M * np.outer(units, units))
        found = Refutation.of(self.proof, M + test.shift * np.diag(units**-2), part)
        return test.holds and found.is_beyond(tol, matrix)

    def __repr__(self) -> str:
        return f"Refutation(<M, A> = {self.value:.6g}: {PROOFS[self.proof]})"


# -- at unit diagonal ------------------------------------------------------------------------------


def unit_scaled(A: Array) -> tuple[Array, Array]:
    """A matrix at unit diagonal, and the square roots of its own.

    Rows without a positive diagonal entry become zero, with the root one.
    """
    used = np.diag(A) > 0.0
    root = np.sqrt(np.where(used, np.diag(A), 1.0))
    return np.where(used[:, None] & used, A / np.outer(root, root), 0.0), root


def certified(proof: str, M: Array, A: Array, tol: float) -> Refutation | None:
    """The certificate against A of an M that is copositive, both at unit diagonal.

    None if it proves less than the distance ``tol`` times the norm at unit diagonal.
    """
    unit, root = unit_scaled(A)
    if not Refutation.of(proof, M, unit).is_beyond(tol, unit):
        return None
    return Refutation.of(proof, M / np.outer(root, root), A)


def obvious_certificate(A: Array, tol: float = 1e-9) -> Refutation | None:
    r"""A certificate that a symmetric matrix is not doubly nonnegative; None if it is.

    A negative entry is found by :math:`M = E_{ij} + E_{ji}`, a negative eigenvalue by
    :math:`M = v v^T` of its eigenvector; both count below -``tol`` times the norm. The matrix
    itself is tested, then the one at unit diagonal, so that no row is too short to count.
    """
    found = _negative(A, tol)
    if found is not None:
        return Refutation.of(*found, A)
    used = np.diag(A) > 0.0
    kept, empty = np.flatnonzero(used), np.flatnonzero(~used)
    beside = np.abs(A[np.ix_(empty, kept)])
    if np.max(beside, initial=0.0) > ROUNDING * float(np.max(A)):
        row, column = np.unravel_index(int(np.argmax(beside)), beside.shape)
        v = np.zeros(len(A))
        # Beside a zero a_ii, 2 v_i a_ij + a_jj = -a_jj for v_j = 1 and v_i = -a_jj / a_ij.
        v[empty[row]] = -A[kept[column], kept[column]] / A[empty[row], kept[column]]
        v[kept[column]] = 1.0
        return Refutation.of("eigenvalue", np.outer(v, v), A)
    unit, root = unit_scaled(A)
    found = _negative(unit, tol)
    return None if found is None else Refutation.of(found[0], found[1] / np.outer(root, root), A)


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


# -- multipliers of a program ----------------------------------------------------------------------


def multiplier_matrix(M: Array, parts: Array) -> Array:
    r"""A copositive matrix from one of level one with its parts :math:`P_i`, all up to errors.

    With :math:`N^i = M - P_i`,
    :math:`(\sum_i x_i)\, x^T M x = \sum_i x_i\, x^T P_i x + \sum_{ijk} N^i_{jk} x_i x_j x_k`. With
    :math:`\delta`, the most negative eigenvalue of the parts, and :math:`\epsilon`, the most
    negative coefficient of the cubic relative to that of :math:`(\sum x_i)^3`, this proves
    :math:`M + \delta I + \epsilon \mathbf 1 \mathbf 1^T` copositive.
    """
    n = len(M)
    rest = M - parts
    delta = max(0.0, -float(np.min(np.linalg.eigvalsh(parts))))
    # Each coefficient of (sum x)^3 is the number of orders of its indices, and so is the number of
    # entries of N that meet in it; their mean is what is compared.
    mean = (rest + np.transpose(rest, (1, 0, 2)) + np.transpose(rest, (1, 2, 0))) / 3.0
    epsilon = max(0.0, -float(np.min(mean)))
    # Rounding of the eigenvalues and of the sums.
    slack = 16.0 * n * np.finfo(float).eps * float(np.max(np.abs(parts)) + np.max(np.abs(M)))
    return lowered(M + (delta + slack) * np.eye(n) + (epsilon + slack))


def lowered(M: Array) -> Array:
    r"""A copositive matrix with entries above :math:`(M_{ii} M_{jj})^{1/2}` lowered to that.

    It stays copositive: along :math:`u = e_i / M_{ii}^{1/2} - e_j / M_{jj}^{1/2}` the form is then
    linear, and least at an end, where :math:`x_i x_j = 0` and the entry does not count.
    """
    root = np.sqrt(np.maximum(np.diag(M), 0.0))
    return np.asarray(np.minimum(M, np.outer(root, root)))
