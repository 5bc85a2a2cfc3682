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
from fractions import Fraction
from math import lcm

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.rounding import longest_row, residual
from sdpdr.linalg.rounding import gamma, near_powers
from sdpdr.linalg.verified import is_verified_positive

# Relative size of what is new in a row, below which it is to follow from others.
_DEPENDENT = 1e-7
# Shares of an estimate of the smallest eigenvalue that are proved.
_SHARES = (0.7, 0.3)
# Corrections, and steps of the inverse iteration that finds the estimate.
_CORRECTIONS, _POWER_STEPS = 4, 12
# Denominators of weights with which one row may be a sum of others.
_DENOMINATOR = 1000
# What the smallest entry of rows becomes, so that simple ones are integers.
_WHOLE = 2.0**10
# A number whose square is no double.
_VANISHES = 1e-153
# Rows that rational elimination, which is slow, is tried on.
_RATIONAL = 150
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
        self._E = sp.csr_array(sp.diags_array(self.units) @ E)
        self._D, self._m = D, E.shape[0]
        self._data = None if data is None else sp.csr_array(sp.diags_array(self.units) @ data)
        half = sp.csr_array(self._E @ sp.diags_array(np.sqrt(D)))
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
            far = sp.csr_array(self._data[:, :-1] @ sp.diags_array(np.sqrt(D)))
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
                factor = sl.cho_factor(self._M + _JITTER * np.eye(self._m))
                return lambda v: sl.cho_solve(factor, v)
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
        for share in _SHARES:
            least = share * guess
            eye = np.eye(self._m) if self._is_dense else sp.eye_array(self._m, format="csc")
            # The difference is rounded once more, on the diagonal.
            around = radius + 2.0**-52 * (float(abs(self._M).max()) + least) * eye
            if least > 0.0 and is_verified_positive(self._M - least * eye, around):
                return least
        return 0.0

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
        size = abs(self._E)
        if self._data is not None:
            size = sp.csr_array(size + self._data[:, :-1])
        columns = np.sqrt(np.asarray(size.multiply(size).sum(axis=0)).ravel())
        return np.asarray(1.01 * self._D * columns * step)


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
        self._gram = Gram(E[kept], D, self._radii(kept))
        if not self._gram.least > 0.0:
            kept = self._independent(kept, D)
            self._gram = Gram(E[kept], D, self._radii(kept))
            if not self._gram.least > 0.0:
                raise UnprovedError("equations are dependent to about rounding")
        self._right, self._kept = f[kept], kept

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
        E = sp.csr_array(self._E[kept] @ sp.diags_array(np.sqrt(D)))
        sizes = np.sqrt(np.asarray(E.multiply(E).sum(axis=1)).ravel())
        M = (sp.diags_array(1.0 / sizes) @ E).toarray()
        R, order = sl.qr(M.T, mode="r", pivoting=True, check_finite=False)
        rank = int(np.sum(np.abs(np.diag(R)) > _DEPENDENT))
        first, last = order[:rank], order[rank:]
        basis, rest = kept[first], kept[last]
        weights = sl.solve_triangular(R[:rank, :rank], R[:rank, rank:])
        # Rows may be in powers of two of their own.
        near = near_powers(sizes)
        units = near[last][:, None] / near[first]
        weights = (weights * (sizes[last] / near[last]) / (sizes[first] / near[first])[:, None]).T
        for row, guess, unit in zip(rest, weights, units, strict=True):
            if self._vague[row] or not (
                self._is_sum(basis, guess, unit, row) or self._is_eliminated(basis, row)
            ):
                raise UnprovedError(
                    "an equation depends on others, and it is not shown that it follows from them"
                )
        return np.sort(basis)

    def _terms(self, row: int) -> dict[int, Fraction]:
        """Entries of a row, and its right side at place -1."""
        E = self._E
        part = slice(E.indptr[row], E.indptr[row + 1])
        found = {
            int(j): Fraction(float(v)) for j, v in zip(E.indices[part], E.data[part], strict=True)
        }
        return {**found, -1: Fraction(float(self._f[row]))}

    def _is_sum(self, basis: Index, guess: Array, units: Array, row: int) -> bool:
        """Whether a row is a sum of others with weights of small denominators, as guessed."""
        some = np.abs(guess) > 0.5 / _DENOMINATOR
        if np.any(self._vague[basis[some]]):
            return False
        weights = [
            Fraction(float(near)).limit_denominator(_DENOMINATOR) * Fraction(float(unit))
            for near, unit in zip(guess[some], units[some], strict=True)
        ]
        rows = np.append(basis[some], row)
        found = self._missed_by_integers(rows, [*weights, Fraction(-1)])
        if found is not None:
            return not found
        left: dict[int, Fraction] = {}
        for k, weight in zip(rows, [*weights, Fraction(-1)], strict=True):
            for place, value in self._terms(int(k)).items():
                left[place] = left.get(place, Fraction(0)) + weight * value
        return not any(left.values())

    def _missed_by_integers(self, rows: Index, weights: list[Fraction]) -> bool | None:
        """Whether a sum of rows is not zero, where doubles hold it exactly; else None."""
        both = sp.csr_array(sp.hstack([self._E[rows], sp.csr_array(self._f[rows][:, None])]))
        least = float(np.min(np.abs(both.data), where=both.data != 0.0, initial=np.inf))
        both = both * (_WHOLE / float(near_powers(np.array([least]))[0]))
        share = lcm(*(weight.denominator for weight in weights))
        numbers = np.array([float(weight * share) for weight in weights])
        if np.any(both.data != np.rint(both.data)) or np.any(numbers != np.rint(numbers)):
            return None
        if not float(np.max(abs(both).T @ np.abs(numbers))) < 2.0**53:
            return None
        return bool(np.any(both.T @ numbers))

    def _is_eliminated(self, basis: Index, row: int) -> bool:
        """Whether a row follows from others that are exact, by rational elimination."""
        pivots: list[tuple[int, dict[int, Fraction]]] = []
        line: dict[int, Fraction] | None = None
        rows = np.append(basis[~self._vague[basis]], row)
        for k in rows if rows.size <= _RATIONAL else rows[:0]:
            line = self._terms(int(k))
            for at, other in pivots:
                if line.get(at):
                    share = line[at] / other[at]
                    for place, value in other.items():
                        line[place] = line.get(place, Fraction(0)) - share * value
            line = {place: value for place, value in line.items() if value}
            places = [place for place in line if place >= 0]
            if places:
                pivots.append((max(places, key=lambda j: abs(line[j])), line))
        return line is not None and not line

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
        y = self._gram.nearest(y, self._right)
        radius = self._gram.radius(y, self._right)
        radius[self._zero] = 0.0
        if not np.all(np.isfinite(radius)) or not np.all(np.isfinite(y)):
            raise UnprovedError("equations are not solved near the point")
        own, f, data = self._E[self._own], self._f[self._own], self._radii(self._own)
        radius[self._column] = 0.0
        for _ in range(2):
            missed, _ = residual(f, own, y, radius)
            y[self._column] += missed / self._entry
        missed, around = residual(f, own, y, radius, data)
        radius[self._column] = 1.01 * (np.abs(missed) + around) / np.abs(self._entry)
        return y, radius
