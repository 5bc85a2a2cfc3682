r"""Copositive matrices, :math:`x^T M x \ge 0` for all :math:`x \ge 0`.

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

# Order up to which all principal submatrices are tested: there are 32,767 of them.
LARGEST = 15
# Shifts, relative to the largest entry, for a matrix that is copositive up to the accuracy of a
# solver: rounding, and errors of interior-point methods.
_SHIFTS = (1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)

PROOFS: Mapping[str, str] = MappingProxyType(
    {
        "entry": "an entry is negative",
        "eigenvalue": "an eigenvalue is negative",
        "no triangle": "no three rows are joined, and the comparison matrix is indefinite",
        "five places": "M is Horn's matrix, scaled, in five rows",
        "multipliers": "M is copositive by the multipliers of level one",
    }
)
"""Proofs that the matrix of a certificate is copositive, by name."""


@dataclass(frozen=True, eq=False)
class Copositivity:
    r"""The answer of a copositivity test.

    Attributes
    ----------
    holds : bool
        Whether M + shift I is copositive.
    shift : float
    witness : array of shape (n,) or None
        If not, x >= 0 of sum one with :math:`x^T M x < -s |x|^2` for the shift s.
    """

    holds: bool
    shift: float
    witness: Array | None = None

    def __bool__(self) -> bool:
        return self.holds


def copositivity(M: ArrayLike, shift: float | None = None) -> Copositivity:
    r"""Decide whether a matrix of order 15 or less is copositive, by Kaplan's criterion.

    M is copositive exactly if no principal submatrix has an eigenvector v > 0 with a negative
    eigenvalue. For a multiple eigenvalue, or nearly equal ones, a solver returns an arbitrary basis
    of the eigenspace. So the whole span of the eigenvectors of negative eigenvalues is searched
    for a positive vector, by nonnegative least squares: one that is found is a witness
    :math:`x^T M x < 0` whatever the eigenvalues are, and if there is none there is no such
    eigenvector. The test is about M + shift I, so rounding below the shift does not matter.

    Parameters
    ----------
    M : array_like of shape (n, n)
        Symmetric.
    shift : float, optional
        1e-12 times the largest entry by default.

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
    if shift is None:
        shift = _SHIFTS[0] * float(np.max(np.abs(matrix)))
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


def horn_matrix() -> Array:
    """Horn's matrix: copositive, but no sum of a semidefinite and a nonnegative matrix.

    Examples
    --------
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
        A key of `PROOFS`: the proof that M is copositive.
    kaplan : bool
        Whether `copositivity` has confirmed it, independently of that.
    """

    matrix: Array
    value: float
    distance: float
    proof: str
    kaplan: bool = False

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
        where = np.ix_(rows, rows)
        M, part = self.matrix[where], matrix[where]
        if not rows.size:
            return False
        units = _units(M, part)
        test = copositivity(M * np.outer(units, units))
        found = Refutation.of(self.proof, M + test.shift * np.diag(units**-2), part)
        return test.holds and found.is_beyond(tol, matrix)

    def __repr__(self) -> str:
        words = PROOFS[self.proof]
        return f"Refutation(<M, A> = {self.value:.6g}: {words}{', confirmed' * self.kaplan})"


def confirmed(certificate: Refutation, A: Array) -> Refutation:
    """The certificate confirmed by Kaplan's test if possible, else unchanged.

    A matrix that a solver found is copositive up to its accuracy, so the least multiple of the
    identity is added with which the test succeeds.
    """
    M = certificate.matrix
    if len(M) > LARGEST:
        return certificate
    for share in _SHIFTS:
        shift = share * float(np.max(np.abs(M)))
        moved = M + 2.0 * shift * np.eye(len(M))
        found = Refutation.of(certificate.proof, moved, A)
        if found.value >= 0.0:
            break
        if found.holds_against(A):
            return replace(found, kaplan=True)
    return certificate


def multiplier_certificate(M: Array, parts: Array, A: Array) -> Refutation:
    r"""The certificate of a matrix at level one, made exact.

    With :math:`N^i = M - P_i`,

    .. math::

        \Bigl(\sum_i x_i\Bigr) x^T M x = \sum_i x_i\, x^T P_i x + \sum_{ijk} N^i_{jk} x_i x_j x_k ,

    so M is copositive if all :math:`P_i` are positive semidefinite and the cubic has no negative
    coefficient. A solver leaves small violations: :math:`\delta`, the most negative eigenvalue, and
    :math:`\epsilon`, the most negative coefficient relative to that of :math:`(\sum x_i)^3`. The
    identity then proves :math:`M + \delta I + \epsilon \mathbf 1 \mathbf 1^T` copositive.

    Parameters
    ----------
    M : array of shape (n, n)
    parts : array of shape (n, n, n)
        The matrices :math:`P_i`.
    A : array of shape (n, n)
        The matrix to be refuted.
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
    moved = M + (delta + slack) * np.eye(n) + (epsilon + slack)
    return Refutation.of("multipliers", lowered(moved), A)


def lowered(M: Array) -> Array:
    r"""The matrix with entries above :math:`(M_{ii} M_{jj})^{1/2}` lowered to that.

    The matrix remains copositive. With one such entry lowered, :math:`u = e_i / M_{ii}^{1/2} -
    e_j / M_{jj}^{1/2}` has :math:`u^T M u = 0`, so the form is linear along u; its least value on
    the part of a line that is not negative is at an end, where :math:`x_i x_j = 0` and the entry
    does not count.

    Parameters
    ----------
    M : array of shape (n, n)
        Copositive.

    Examples
    --------
    >>> lowered(np.array([[1.0, 9.0], [9.0, 4.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    root = np.sqrt(np.maximum(np.diag(M), 0.0))
    return np.asarray(np.minimum(M, np.outer(root, root)))


def _units(M: Array, A: Array) -> Array:
    """Scales in which A has a unit diagonal; for zero rows of A, scales in which M is not large."""
    own, largest = np.diag(A), np.max(np.abs(M), axis=0)
    return np.asarray(
        np.sqrt(np.where(own > 0.0, own, 1.0 / np.where(largest > 0.0, largest, 1.0)))
    )


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
