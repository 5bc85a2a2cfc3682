r"""The distance of an exact solution of independent equations from a point, with proof.

In a metric D, a correction of y onto E y = f is :math:`D^{1/2} R (f - E y)`, with R a right inverse
of :math:`M = E D^{1/2}`. In spite of rounding, an exact solution lies within

.. math::  |\Delta_j| \le D_j^{1/2}\, |R_{j \cdot}|_2\, |f - E y|_2

of y, entry by entry. No factorization is trusted: the residual is enclosed, and the lengths of the
rows of an exact R have a proved bound. There are three kinds of R:

`Gram`: :math:`R = M^T (M M^T)^{-1}`, with :math:`|R_{j \cdot}| \le |M_{\cdot j}| / \lambda`, where
:math:`\lambda` is proved to be no more than the smallest eigenvalue of the Gram matrix. Sparse
equations stay sparse.

`Explicit`: :math:`R (M R)^{-1}` for a dense R, for which :math:`|I - M R| \le \epsilon < 1` is
proved, so that its rows grow by :math:`1 / (1 - \epsilon)` at most. Where the Gram matrix is proved
to be regular, R is :math:`M^T (M M^T)^{-1}` up to rounding.

`Orthogonal`: the same for an R of an orthogonal factorization of M. The Gram matrix squares the
condition of the equations; this does not.

References
----------
Rump, "Verification methods: rigorous results using floating-point arithmetic", Acta Numerica 19,
2010.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Matrix, light, scaled, transposed
from sdpdr.certify.rounding import TINY, longest_row, residual
from sdpdr.linalg.magnitudes import largest_of_rows
from sdpdr.linalg.rounding import UNIT, gamma, near_powers
from sdpdr.linalg.verified import is_verified_positive

# Most corrections of a point, and the share of the residual that one may leave: if more is left, it
# is rounding.
_CORRECTIONS, _LEFT = 4, 0.5
# Covers the rounding of computed bounds.
_UP = 1.01
# Share of the estimate of the smallest eigenvalue that is proved, and steps of inverse iteration,
# after which the parts of eigenvalues twice as large are negligible.
_SHARE, _POWER_STEPS = 0.5, 12
# Added to a unit diagonal before it is factorized.
_JITTER = 1e-14
# Share of filled entries from which a dense factorization takes less time.
_FILLED = 0.1
# Multiplications for which dense matrices are formed: about a second.
_MOST = 1e10


class Inverse(ABC):
    """A right inverse of E, with rows in units of their sizes.

    Parameters
    ----------
    E : sparse array of shape (m, n)
        At least one row.
    D : array of shape (n,)
        Squared sizes by which entries may move.
    data : sparse array of shape (m, n + 1), optional
        Radii of the numbers of E and, last, of f.

    Attributes
    ----------
    units : array of shape (m,)
        Powers of two that the equations are multiplied by.
    shows : bool
        Whether the rows are proved to be independent.
    """

    shows = False

    def __init__(self, E: sp.csr_array, D: Array, data: sp.csr_array | None = None) -> None:
        sizes = np.asarray(E.multiply(E) @ D).ravel()
        self.units = 1.0 / near_powers(np.sqrt(np.maximum(sizes, 1e-280)))
        self._E, self._D, self._root = scaled(E, self.units), D, np.sqrt(D)
        self._data = None if data is None else scaled(data, self.units)

    @abstractmethod
    def _step(self, missed: Array) -> Array:
        """The correction for a residual, up to rounding."""

    @property
    @abstractmethod
    def _reach(self) -> Array:
        """Upper bounds on the changes of entries for a residual of length one."""

    def nearest(self, y: Array, f: Array) -> Array:
        """The solution next to y, up to rounding."""
        return self._corrected(y, f)[0]

    def solution(self, y: Array, f: Array) -> tuple[Array, Array]:
        """The solution next to y, and radii of a box around it that contains an exact one."""
        y, apart = self._corrected(y, f)
        # Products may underflow.
        moves = (self._reach > 0.0) & (apart > 0.0)
        return y, np.asarray(_UP * self._reach * apart + TINY * moves)

    def _corrected(self, y: Array, f: Array) -> tuple[Array, float]:
        """The corrected point with the least residual, and an upper bound on its length."""
        f = self.units * f
        missed, apart = self._missed(y, f)
        for _ in range(_CORRECTIONS):
            other = y + self._step(missed)
            missed, left = self._missed(other, f)
            is_last = not left < _LEFT * apart
            if left < apart:
                y, apart = other, left
            if is_last:
                break
        return y, apart

    def _missed(self, y: Array, f: Array) -> tuple[Array, float]:
        """The residual of a point, and an upper bound on its length."""
        missed, around = residual(f, self._E, y, data=self._data)
        return missed, float(_lengths((np.abs(missed) + around)[None])[0])


class Gram(Inverse):
    """By the Gram matrix M M^T, whose smallest eigenvalue is at least ``least``.

    Examples
    --------
    >>> E = sp.csr_array([[3.0, 4.0]])
    >>> near = Gram(E, np.ones(2))
    >>> near.shows, bool(0.0 < near.least <= 25.0 * near.units[0] ** 2)
    (True, True)
    """

    def __init__(self, E: sp.csr_array, D: Array, data: sp.csr_array | None = None) -> None:
        super().__init__(E, D, data)
        self._m, half = E.shape[0], light(scaled(self._E, columns=self._root))
        M, size = light(half @ half.T), abs(half)
        # Rounding of products and of both roots.
        error = (size @ size.T) * float(gamma(longest_row(self._E) + 4))
        if self._data is not None:
            far = scaled(self._data[:, :-1], columns=self._root)
            moved = far @ size.T
            error = error + _UP * (moved + moved.T + far @ far.T)
        self._is_dense = M.size > _FILLED * self._m**2
        self._M, self._error = (self._as_suits(one) for one in (M, error))
        self._solve = self._factorized()
        self.least = self._smallest()
        self.shows = bool(self.least > 0.0)

    def _as_suits(self, matrix: Matrix) -> Matrix:
        """The matrix, dense if dense linear algebra is faster."""
        return matrix.toarray() if self._is_dense and sp.issparse(matrix) else matrix

    def _factorized(self) -> Callable[[Array], Array]:
        """A function that solves with the matrix approximately; its accuracy is not trusted."""
        try:
            if self._is_dense:
                factor = np.linalg.cholesky(self._M + _JITTER * np.eye(self._m))
                return lambda v: sl.lapack.dpotrs(factor, v, lower=True)[0]
            return spl.splu(sp.csc_array(self._M + _JITTER * sp.eye_array(self._m))).solve
        except (np.linalg.LinAlgError, RuntimeError):
            return lambda v: np.full(self._m, np.nan)

    def _smallest(self) -> float:
        """A proved lower bound on the smallest eigenvalue, or zero."""
        v = np.random.default_rng(0).normal(size=self._m)
        for _ in range(_POWER_STEPS):
            v = self._solve(v)
            v = v / np.linalg.norm(v)
        guess = float(v @ (self._M @ v))
        if not np.isfinite(guess):
            return 0.0
        least = _SHARE * guess
        eye = self._as_suits(sp.eye_array(self._m, format="csc"))
        # The difference is rounded once more, on the diagonal, which is larger than it.
        around = self._error + UNIT * float(abs(self._M).max()) * eye
        is_proved = least > 0.0 and is_verified_positive(self._M - least * eye, around)
        return least if is_proved else 0.0

    def _step(self, missed: Array) -> Array:
        return np.asarray(self._D * (self._E.T @ self._solve(missed)))

    def right_inverse(self) -> Array:
        """:math:`M^T (M M^T)^{-1}`, up to rounding."""
        half = light(scaled(self._E, columns=self._root))
        return np.asarray(half.T @ self._solve(np.eye(self._m)))

    @cached_property
    def _reach(self) -> Array:
        size = self._E
        if self._data is not None:
            size = sp.csr_array(abs(size) + self._data[:, :-1])
        return np.asarray(self._D * _lengths(transposed(size)) / self.least)


class Explicit(Inverse):
    """By a dense right inverse R of M, up to a limit on its size.

    Parameters
    ----------
    E, D, data : as for `Inverse`
    find : callable
        Returns R, up to rounding; it may raise a LinAlgError.
    """

    def __init__(
        self, E: sp.csr_array, D: Array, data: sp.csr_array | None, find: Callable[[], Array]
    ) -> None:
        super().__init__(E, D, data)
        m, n = E.shape
        if m > n or float(m) * m * n > _MOST:
            return
        M = light(scaled(self._E, columns=self._root))
        try:
            self._R = find()
        except np.linalg.LinAlgError:
            return
        # Entries in no equation do not move.
        self._R[np.asarray(abs(M).sum(axis=0)).ravel() == 0.0] = 0.0
        size = abs(M) @ np.abs(self._R)
        # Products, their sum, and the rounding of M itself.
        far = np.abs(np.eye(m) - M @ self._R) + float(gamma(n + 6)) * (size + np.eye(m))
        if self._data is not None:
            far = far + _UP * ((self._data[:, :-1] * self._root) @ np.abs(self._R))
        self._epsilon = _UP * float(np.sqrt(far.sum(axis=0).max() * far.sum(axis=1).max()))
        self.shows = self._epsilon < 1.0

    def _step(self, missed: Array) -> Array:
        return np.asarray(self._root * (self._R @ missed))

    @cached_property
    def _reach(self) -> Array:
        return np.asarray(self._root * _lengths(self._R) / (1.0 - self._epsilon))


class Orthogonal(Explicit):
    """By an orthogonal factorization of M.

    Examples
    --------
    >>> E = sp.csr_array([[1.0, 1.0], [1.0, 1.0 + 1e-9]])
    >>> near = Orthogonal(E, np.ones(2))
    >>> y, radius = near.solution(np.zeros(2), np.array([1.0, 1.0]))
    >>> near.shows, y.round(6).tolist(), bool(radius.max() < 1e-6)
    (True, [1.0, 0.0], True)
    """

    def __init__(self, E: sp.csr_array, D: Array, data: sp.csr_array | None = None) -> None:
        super().__init__(E, D, data, self._factorized)

    def _factorized(self) -> Array:
        M = self._E.toarray() * self._root
        Q, T = sl.qr(M.T, mode="economic", check_finite=False)
        return np.array(sl.solve_triangular(T, Q.T, check_finite=False).T)


def _lengths(rows: Matrix) -> Array:
    """Upper bounds on the lengths of rows, in units in which squares do not underflow."""
    largest = largest_of_rows(rows)
    unit = near_powers(np.where(largest > 0.0, largest, 1.0))
    if sp.issparse(rows):
        squares = scaled(sp.csr_array(rows), 1.0 / unit).power(2).sum(axis=1)
    else:
        squares = np.square(rows / unit[:, None]).sum(axis=1)
    return np.asarray(1.001 * unit * np.sqrt(squares))
