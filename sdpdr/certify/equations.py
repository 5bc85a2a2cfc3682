r"""Exact solutions of equations near a point.

In a metric D, the correction of y onto E y = f is :math:`D E^T (E D E^T)^{-1} (f - E y)`. Whatever
rounding makes of y, an exact solution lies within

.. math::  |\Delta_j| \le D_j\, |E_{\cdot j}|_2\, \frac{|f - E y|_2}{\lambda_{\min}(E D E^T)}

of it, entry by entry. The residual is enclosed, and the smallest eigenvalue has a proved lower
bound: no factorization is trusted. Rows with a column of their own need none: that entry alone
makes them hold. Rows that depend on others are left out where they follow from them exactly, in
rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Index, scaled
from sdpdr.certify.dependent import independent_rows
from sdpdr.certify.right_inverse import RightInverse
from sdpdr.certify.rounding import longest_row, residual
from sdpdr.linalg.rounding import gamma, near_powers
from sdpdr.linalg.verified import is_verified_positive

# Share of an estimate of the smallest eigenvalue that is proved: what is twice as large as that is
# gone after so many steps of the inverse iteration.
_SHARE = 0.5
# Corrections, and steps of the inverse iteration that finds the estimate.
_CORRECTIONS, _POWER_STEPS = 4, 12
# A number whose square is no double.
_VANISHES = 1e-153
# Added to a unit diagonal before it is factorized.
_JITTER = 1e-14
# Share of filled entries from which a dense factorization takes less time.
_FILLED, _SMALL = 0.1, 300


class UnprovedError(Exception):
    """Why a proof does not succeed."""


class Gram:
    """E D E^T in units that suit its rows: solves, and proves how near an exact solution lies."""

    def __init__(self, E: sp.csr_array, D: Array, data: sp.csr_array | None = None) -> None:
        sizes = np.asarray(E.multiply(E) @ D).ravel()
        self.units = 1.0 / near_powers(np.sqrt(np.maximum(sizes, 1e-280)))
        self._E = scaled(E, self.units)
        self._D, self._m = D, E.shape[0]
        self._data = None if data is None else scaled(data, self.units)
        half = scaled(self._E, columns=np.sqrt(D))
        if not self._m:
            self.least = np.inf
            return
        M = sp.csc_array(half @ half.T)
        size = abs(half)
        # Rounding of products and of both roots.
        self._error = sp.csr_array(
            sp.csr_array(size @ size.T) * float(gamma(longest_row(half) + 4))
        )
        if self._data is not None:
            far = scaled(self._data[:, :-1], columns=np.sqrt(D))
            moved = sp.csr_array(far @ size.T)
            self._error = sp.csr_array(self._error + 1.01 * (moved + moved.T + far @ far.T))
        self._is_dense = self._m <= _SMALL or M.nnz > _FILLED * self._m**2
        self._M = M.toarray() if self._is_dense else M
        self.solve = self._factorized()
        self.least = self._smallest()

    def _factorized(self) -> Callable[[Array], Array]:
        """What solves with the matrix, nearly; nothing depends on how nearly."""
        try:
            if self._is_dense:
                factor = sl.cho_factor(self._M + _JITTER * np.eye(self._m), check_finite=False)
                return lambda v: sl.cho_solve(factor, v, check_finite=False)
            return spl.splu(sp.csc_array(self._M + _JITTER * sp.eye_array(self._m))).solve
        except (np.linalg.LinAlgError, RuntimeError):
            return lambda v: np.full(self._m, np.nan)

    def _smallest(self) -> float:
        """A proved lower bound on the smallest eigenvalue, or zero."""
        v = np.random.default_rng(0).normal(size=self._m)
        for _ in range(_POWER_STEPS):
            v = self.solve(v)
            v = v / np.linalg.norm(v)
        guess = float(v @ (self._M @ v))
        if not np.isfinite(guess):
            return 0.0
        radius = self._error.toarray() if self._is_dense else self._error
        least = _SHARE * guess
        eye = np.eye(self._m) if self._is_dense else sp.eye_array(self._m, format="csc")
        # The difference is rounded once more, on the diagonal.
        around = radius + 2.0**-52 * (float(abs(self._M).max()) + least) * eye
        is_proved = least > 0.0 and is_verified_positive(self._M - least * eye, around)
        return least if is_proved else 0.0

    def nearest(self, y: Array, f: Array) -> Array:
        """The solution next to y, up to rounding."""
        for _ in range(_CORRECTIONS if self._m else 0):
            missed = residual(self.units * f, self._E, y)[0]
            y = y + self._D * (self._E.T @ self.solve(missed))
        return y

    def radius(self, y: Array, f: Array) -> Array:
        """Within this of y, entry by entry, lies an exact solution."""
        if not self._m:
            return np.zeros_like(y)
        missed, around = residual(self.units * f, self._E, y, data=self._data)
        apart = np.abs(missed) + around
        # Squares of what is smaller vanish.
        hidden = _VANISHES * np.sqrt(self._m) if np.any(apart) else 0.0
        step = (np.linalg.norm(apart) + hidden) / self.least
        return np.asarray(1.01 * self._D * self._columns * step)

    @cached_property
    def _columns(self) -> Array:
        """Lengths of the columns of E, of all matrices within the radii."""
        size = abs(self._E)
        if self._data is not None:
            size = sp.csr_array(size + self._data[:, :-1])
        return np.sqrt(np.asarray(size.multiply(size).sum(axis=0)).ravel())


class Equations:
    """E y = f, solved exactly near whatever points are given.

    Parameters
    ----------
    E : sparse array of shape (m, n)
    f : array of shape (m,)
    D : array of shape (n,)
        Squared sizes by which entries may move; positive.
    data : sparse array of shape (m, n + 1), optional
        Radii of the numbers of E and, last, of f: what is said holds of all equations within.

    Raises
    ------
    UnprovedError
        If rows depend on others, and it is not shown that they follow from them.

    Examples
    --------
    >>> E = sp.csr_array([[1.0, 1.0], [2.0, 2.0]])
    >>> y, radius = Equations(E, np.array([1.0, 2.0]), np.ones(2)).near(np.array([0.4, 0.4]))
    >>> y.tolist(), bool(np.all(radius < 1e-15))
    ([0.5, 0.5], True)
    """

    def __init__(
        self, E: sp.csr_array, f: Array, D: Array, data: sp.csr_array | None = None
    ) -> None:
        # A copy, since the next lines change arrays in place, which are those of the program.
        E = sp.csr_array(E, copy=True)
        E.sum_duplicates()
        E.eliminate_zeros()
        vague = np.zeros(f.size) if data is None else np.asarray(data.sum(axis=1)).ravel()
        E = self._without_zeros(E, f, vague)
        empty = np.diff(E.indptr) == 0
        if np.any(f[empty]) or np.any(vague[empty]):
            raise UnprovedError("an equation reads 0 = 1")
        self._E, self._f, self._data, self._vague = E, f, data, vague > 0.0
        kept = self._set_aside(D, np.flatnonzero(~empty))
        near = self._solver(kept, D)
        if near is None:
            kept = self._independent(kept, D)
            near = self._solver(kept, D)
            if near is None:
                raise UnprovedError("equations are dependent to about rounding")
        self._near = near
        self._right, self._kept = f[kept], kept
        self._alone = E[self._own], f[self._own], self._radii(self._own)

    def _solver(self, rows: Index, D: Array) -> Gram | RightInverse | None:
        """What solves the equations of some rows; None where they are not shown to be independent.

        The condition of the Gram matrix is the square of that of the equations.
        """
        gram = Gram(self._E[rows], D, self._radii(rows))
        if gram.least > 0.0:
            return gram
        inverse = RightInverse(self._E[rows], D, self._radii(rows))
        return inverse if inverse.shows else None

    def _without_zeros(self, E: sp.csr_array, f: Array, vague: Array) -> sp.csr_array:
        """The equations without entries that some say are zero, alone."""
        self._zero, self._says_zero = (np.zeros(0, dtype=np.intp) for _ in range(2))
        while True:
            alone = np.flatnonzero((np.diff(E.indptr) == 1) & (f == 0.0) & (vague == 0.0))
            zero, first = np.unique(E.indices[E.indptr[alone]], return_index=True)
            if not zero.size:
                return E
            self._zero = np.append(self._zero, zero.astype(np.intp))
            self._says_zero = np.append(self._says_zero, alone[first])
            kept = np.ones(E.shape[1])
            kept[zero] = 0.0
            E = sp.csr_array(E @ sp.diags_array(kept))
            E.eliminate_zeros()

    def _radii(self, rows: Index) -> sp.csr_array | None:
        return None if self._data is None else self._data[rows]

    def _set_aside(self, D: Array, rows: Index) -> Index:
        """The rows without a column that no other row sees; the others need no factorization."""
        C = sp.csc_array(self._E)
        alone = np.flatnonzero(np.diff(C.indptr) == 1)
        if self._data is not None:
            # A column that others may see within their radii, or whose own entry is rounded, is
            # seen by none alone.
            seen = np.asarray(self._data[:, :-1].sum(axis=0)).ravel()
            alone = alone[seen[alone] == 0.0]
        place, entry = C.indices[C.indptr[alone]], C.data[C.indptr[alone]]
        order = np.argsort(np.abs(entry) * np.sqrt(D[alone]))
        column, value = np.full(self._E.shape[0], -1), np.ones(self._E.shape[0])
        # The last of several, the largest, stays.
        column[place[order]], value[place[order]] = alone[order], entry[order]
        self._own = np.flatnonzero(column >= 0)
        self._column, self._entry = column[self._own], value[self._own]
        return np.setdiff1d(rows, self._own)

    def _independent(self, kept: Index, D: Array) -> Index:
        """Rows that the others follow from."""
        found = independent_rows(self._E[kept], self._f[kept], D, ~self._vague[kept])
        if found is None:
            raise UnprovedError(
                "an equation depends on others, and it is not shown that it follows from them"
            )
        return kept[found]

    @property
    def rows(self) -> Index:
        """Rows that the others follow from."""
        return np.sort(np.concatenate([self._kept, self._own, self._says_zero]))

    def near(self, y: Array) -> tuple[Array, Array]:
        """A point, and the radius of a box around it, with an exact solution in that box.

        Raises
        ------
        UnprovedError
            If the point is not finite, or nothing is solved near it.
        """
        y = np.array(y, dtype=float)
        y[self._zero] = 0.0
        y = self._near.nearest(y, self._right)
        radius = self._near.radius(y, self._right)
        radius[self._zero] = 0.0
        if not np.all(np.isfinite(radius)) or not np.all(np.isfinite(y)):
            raise UnprovedError("equations are not solved near the point")
        own, f, data = self._alone
        radius[self._column] = 0.0
        for _ in range(2):
            missed, _ = residual(f, own, y, radius)
            y[self._column] += missed / self._entry
        missed, around = residual(f, own, y, radius, data)
        radius[self._column] = 1.01 * (np.abs(missed) + around) / np.abs(self._entry)
        return y, radius
