r"""Offsets of rows and columns, their cost, and the amount that they take off a bound.

A score is :math:`f_{ia} = M_{ia} + b_i + d_a`, and offsets cost
:math:`c \kappa / 2 (|b|^2 + |d|^2)`: as much as constant columns of the factors, see
``docs/methods/mmmf.rst``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.families.factor.mmmf.entries import Observed


class Offsets:
    r"""Offsets at the positions of entries, those of rows before those of columns.

    Parameters
    ----------
    entries : Observed
    ridge : float
        :math:`\kappa`; infinite for no offsets.

    Attributes
    ----------
    counts : array of shape (p + q,)
        Entries of each row and column.
    """

    def __init__(self, entries: Observed, ridge: float) -> None:
        self.entries, self.ridge = entries, ridge
        self._i, self._a = entries.places.T
        self.counts = self.sums(np.ones(self._i.size))

    @property
    def exist(self) -> bool:
        """Whether scores have offsets."""
        return bool(np.isfinite(self.ridge))

    def added(self, offsets: Array) -> Array:
        """Sum of the two offsets of each entry."""
        rows, columns = self.sides(offsets)
        return np.asarray(rows[self._i] + columns[self._a])

    def sides(self, offsets: Array) -> tuple[Array, Array]:
        """Offsets of rows, and of columns."""
        p = self.entries.shape[0]
        return offsets[:p], offsets[p:]

    def sums(self, weights: Array) -> Array:
        """Sums of weights over rows and over columns."""
        p, q = self.entries.shape
        sides = (np.bincount(self._i, weights, p), np.bincount(self._a, weights, q))
        return np.concatenate(sides)

    def cost(self, offsets: Array) -> float:
        """Half their squares times the ridge."""
        return 0.5 * self.ridge * float(offsets @ offsets) if np.any(offsets) else 0.0

    def taken(self, weights: Array, c: float) -> float:
        """Amount that offsets take off the bound of these weights."""
        if not self.exist:
            return 0.0
        return float(np.sum(np.square(self.sums(weights)))) / (2.0 * c * self.ridge)


class RidgeFit:
    r"""Least squares of values at entries by offsets, and by a constant that costs nothing.

    Minimises :math:`\sum (y_{ia} - \mu - b_i - d_a)^2 + \lambda (|b|^2 + |d|^2)`. The larger side
    is eliminated, so that one factorization of the order of the smaller serves many values.

    Parameters
    ----------
    offsets : Offsets
    penalty : float
        :math:`\lambda`; infinite for the constant alone.
    has_constant : bool
    """

    def __init__(self, offsets: Offsets, penalty: float, has_constant: bool) -> None:
        self._offsets, self._has_constant = offsets, has_constant
        self._has_offsets = bool(np.isfinite(penalty))
        if not self._has_offsets:
            return
        p, q = offsets.entries.shape
        self._is_tall = p >= q
        counts = offsets.entries.spread(np.ones(len(offsets.entries.places)))
        couplings = counts if self._is_tall else sp.csr_array(counts.T)
        tall, wide = self._ordered(offsets.counts)
        self._diagonal = tall + penalty
        if has_constant:
            couplings = sp.csr_array(sp.hstack([couplings, sp.csr_array(tall[:, None])]))
            wide = np.append(wide, np.sum(tall) - penalty)
        self._couplings = couplings
        scaled = sp.diags_array(1.0 / self._diagonal) @ couplings
        inner = np.diag(wide + penalty) - (couplings.T @ scaled).toarray()
        if has_constant:
            inner[:-1, -1] += wide[:-1]
            inner[-1, :-1] += wide[:-1]
        # A ridge below rounding leaves offsets and constant undetermined.
        inner[np.diag_indices_from(inner)] *= 1.0 + inner.shape[0] * np.finfo(float).eps
        self._factor: Any = sl.cho_factor(inner)

    def _ordered(self, values: Array) -> tuple[Array, Array]:
        rows, columns = self._offsets.sides(values)
        return (rows, columns) if self._is_tall else (columns, rows)

    def fit(self, values: Array) -> tuple[Array, float]:
        """Offsets of rows before those of columns, and the constant."""
        none = np.zeros(sum(self._offsets.entries.shape))
        if not self._has_offsets:
            return none, float(np.mean(values)) if self._has_constant else 0.0
        first, second = self._ordered(self._offsets.sums(values))
        if self._has_constant:
            second = np.append(second, np.sum(values))
        right = second - self._couplings.T @ (first / self._diagonal)
        solved = sl.cho_solve(self._factor, right)
        tall = (first - self._couplings @ solved) / self._diagonal
        constant = float(solved[-1]) if self._has_constant else 0.0
        wide = solved[:-1] if self._has_constant else solved
        return np.concatenate((tall, wide) if self._is_tall else (wide, tall)), constant
