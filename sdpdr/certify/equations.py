"""Exact solutions of equations near a point.

Independent rows are solved by an inverse with a proof (`sdpdr.certify.inverses`). Rows with a
column of their own need none, because that entry alone satisfies them. Dependent rows are left out
if they follow from the others exactly, in rational arithmetic.
"""

from __future__ import annotations

from copy import copy

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, chosen_rows, own_rows, row_of_each, scaled
from sdpdr.certify.dependent import independent_rows
from sdpdr.certify.inverses import Explicit, Gram, Inverse, Orthogonal
from sdpdr.certify.rounding import TINY, residual


class UnprovedError(Exception):
    """A proof failed; the message is the reason."""


# Errors of attempts at a proof; NumPy raises the second for unusual numbers.
MISSED = (UnprovedError, np.linalg.LinAlgError)


class Equations:
    """E y = f, with exact solutions near given points.

    Parameters
    ----------
    E : sparse array of shape (m, n)
    f : array of shape (m,)
    D : array of shape (n,)
        Squared sizes by which entries may move; positive.
    data : sparse array of shape (m, n + 1), optional
        Radii of the numbers of E and, last, of f: a solution exists for all numbers within.

    Raises
    ------
    UnprovedError
        If rows depend on others, and are not proved to follow from them.

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
        # A copy, because the next lines change the arrays of the program in place.
        E = own_rows(E)
        E.eliminate_zeros()
        vague = np.zeros(f.size) if data is None else np.asarray(data.sum(axis=1)).ravel()
        E = self._without_zeros(E, f, vague)
        empty = np.diff(E.indptr) == 0
        if np.any(f[empty]) or np.any(vague[empty]):
            raise UnprovedError("an equation reads 0 = 1")
        self._E, self._f, self._D, self._data, self._vague = E, f, D, data, vague > 0.0
        kept = self._set_aside(D, np.flatnonzero(~empty))
        self._solver = self._inverse(kept, D)
        if kept.size and self._solver is None:
            kept = self._independent(kept, D)
            self._solver = self._inverse(kept, D)
            if self._solver is None:
                raise UnprovedError("equations are dependent to about rounding")
        self._right, self._kept = f[kept], kept
        self._alone = chosen_rows(E, self._own), f[self._own], self._radii(self._own)

    def _inverse(self, rows: Index, D: Array) -> Inverse | None:
        """A proved inverse of some rows; None without rows, or if they may be dependent."""
        for kind in (Gram, Orthogonal) if rows.size else ():
            inverse = kind(chosen_rows(self._E, rows), D, self._radii(rows))
            if inverse.shows:
                return inverse
        return None

    def _without_zeros(self, E: sp.csr_array, f: Array, vague: Array) -> sp.csr_array:
        """The equations without unknowns that an equation with one entry sets to zero."""
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
            E = scaled(E, columns=kept)

    def _radii(self, rows: Index) -> sp.csr_array | None:
        return None if self._data is None else self._data[rows]

    def _set_aside(self, D: Array, rows: Index) -> Index:
        """The rows without a column that no other row sees; the others need no factorization."""
        E = self._E
        is_alone = np.bincount(E.indices, minlength=D.size) == 1
        if self._data is not None:
            # Radii may give other rows an entry in the column, or change its own entry.
            is_alone &= np.asarray(self._data[:, :-1].sum(axis=0)).ravel() == 0.0
        some = np.flatnonzero(is_alone[E.indices])
        place, alone, entry = row_of_each(E)[some], E.indices[some], E.data[some]
        order = np.argsort(np.abs(entry) * np.sqrt(D[alone]))
        column, value = np.full(E.shape[0], -1), np.ones(E.shape[0])
        # If a row has several such columns, the largest entry, assigned last, is kept.
        column[place[order]], value[place[order]] = alone[order], entry[order]
        self._own = np.flatnonzero(column >= 0)
        self._column, self._entry = column[self._own], value[self._own]
        return np.setdiff1d(rows, self._own)

    def _independent(self, kept: Index, D: Array) -> Index:
        """A subset of rows that all others follow from."""
        found = independent_rows(self._E[kept], self._f[kept], D, ~self._vague[kept])
        if found is None:
            raise UnprovedError(
                "an equation depends on others, and it is not shown that it follows from them"
            )
        return kept[found]

    @property
    def rows(self) -> Index:
        """All rows that are used; the others follow from them."""
        return np.sort(np.concatenate([self._kept, self._own, self._says_zero]))

    def sharper(self) -> Equations | None:
        """The same equations with a slower inverse and smaller radii; None if there is none."""
        gram = self._solver
        if not isinstance(gram, Gram):
            return None
        rows, radii = chosen_rows(self._E, self._kept), self._radii(self._kept)
        solver = Explicit(rows, self._D, radii, gram.right_inverse)
        if not solver.shows:
            solver = Orthogonal(rows, self._D, radii)
        if not solver.shows:
            return None
        found = copy(self)
        found._solver = solver
        return found

    def near(self, y: Array) -> tuple[Array, Array]:
        """A point, and the radii of a box around it that contains an exact solution.

        Raises
        ------
        UnprovedError
            If the point or the radii are not finite.
        """
        y = np.array(y, dtype=float)
        y[self._zero] = 0.0
        radius = np.zeros_like(y)
        if self._solver is not None:
            y, radius = self._solver.solution(y, self._right)
        radius[self._zero] = 0.0
        if not np.all(np.isfinite(radius)) or not np.all(np.isfinite(y)):
            raise UnprovedError("equations are not solved near the point")
        own, f, data = self._alone
        if not f.size:
            return y, radius
        radius[self._column] = 0.0
        for _ in range(2):
            missed, _ = residual(f, own, y, radius)
            y[self._column] += missed / self._entry
        missed, around = residual(f, own, y, radius, data)
        left = np.abs(missed) + around
        # The quotient may underflow; an exact residual of zero needs no radius.
        radius[self._column] = 1.01 * left / np.abs(self._entry) + TINY * (left > 0.0)
        return y, radius
