r"""Offsets of rows and columns: what they add, what they cost, what they take off a bound.

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
from sdpdr.families.factor.margin.entries import Observed

# Of Newton, begun where the last step ended: one to three were enough for 95 % of proximal steps on
# blocks, rank two and six signs in a row, while first ones took up to 50. Halves of a step tried.
_STEPS, _HALVES = 50, 30
# Share of entries from which on a matrix that is not sparse has its products sooner: at a tenth of
# 500 x 60, 500 x 250 and 2000 x 200 in 0.3 to 1.2 times the time, of all entries in a thirtieth.
_FULL = 0.1
# Of the sums that offsets balance. The bound allows for what is left.
_BALANCED = 1e-12
# Of the value: less than that is not seen to be gained. Steps that were halved to see it were nine
# of ten evaluations on 60 x 500 signs.
_EPS = float(np.finfo(float).eps)


class Offsets:
    r"""Offsets at the places of entries, those of rows before those of columns.

    Parameters
    ----------
    entries : Observed
    ridge : float
        :math:`\kappa`; infinite for none.

    Attributes
    ----------
    counts : array of shape (p + q,)
        Entries of each row and column.
    """

    def __init__(self, entries: Observed, ridge: float) -> None:
        self.entries, self.ridge = entries, ridge
        self._i, self._a = entries.places.T
        self.counts = self.pulled(np.ones(self._i.size))

    @property
    def exist(self) -> bool:
        """Whether there are any."""
        return bool(np.isfinite(self.ridge))

    def added(self, offsets: Array) -> Array:
        """What offsets add to the score of each entry."""
        rows, columns = self.sides(offsets)
        return np.asarray(rows[self._i] + columns[self._a])

    def sides(self, offsets: Array) -> tuple[Array, Array]:
        """Those of rows and those of columns."""
        p = self.entries.shape[0]
        return offsets[:p], offsets[p:]

    def pulled(self, weights: Array) -> Array:
        """Sums of weights over rows and over columns."""
        p, q = self.entries.shape
        sides = (np.bincount(self._i, weights, p), np.bincount(self._a, weights, q))
        return np.concatenate(sides)

    def price(self, offsets: Array) -> float:
        """What they cost, at a price of one."""
        return 0.5 * self.ridge * float(offsets @ offsets) if np.any(offsets) else 0.0

    def taken(self, weights: Array, c: float) -> float:
        """What is taken off the bound of these weights by the sums of theirs."""
        if not self.exist:
            return 0.0
        return float(np.sum(np.square(self.pulled(weights)))) / (2.0 * c * self.ridge)

    def fitted(self, entries: Array, first: Array, rho: float, c: float) -> Array:
        r"""Offsets of the proximal step of the hinge, by Newton's method.

        They minimise :math:`\sum h(y_{ia} (z_{ia} + b_i + d_a)) + c \kappa / 2 (|b|^2 + |d|^2)`
        with h(m) the largest :math:`q (1 - m) - q^2 / (2 \rho)` of q from 0 to c, which is
        quadratic in parts.

        Parameters
        ----------
        entries : array of shape (m,)
            z.
        first : array of shape (p + q,)
            Offsets to begin with.
        rho, c : float
        """
        signs, at = self.entries.values, first
        pull = c * self.ridge

        def value(offsets: Array) -> tuple[float, Array]:
            missed = 1.0 - signs * (entries + self.added(offsets))
            q = np.clip(rho * missed, 0.0, c)
            return float(q @ missed - 0.5 / rho * (q @ q)) + c * self.price(offsets), q

        now, q = value(at)
        for _ in range(_STEPS):
            slope = pull * at - self.pulled(signs * q)
            if np.max(np.abs(slope)) <= _BALANCED * c * np.max(self.counts):
                break
            step = self._newton(np.where((q > 0.0) & (q < c), rho, 0.0), slope, pull)
            expected, share = float(slope @ step), 1.0
            if expected <= _EPS * now:
                return at - step
            for _ in range(_HALVES):
                then, q_then = value(at - share * step)
                if then <= now - 1e-4 * share * expected:
                    break
                share *= 0.5
            else:
                break
            at, now, q = at - share * step, then, q_then
        return at

    def _newton(self, curvature: Array, slope: Array, pull: float) -> Array:
        """The step to the minimum of the parabola, solved for on the smaller side."""
        G = self.entries.spread(curvature)
        sides, slopes = self.sides(self.pulled(curvature) + pull), self.sides(slope)
        if G.shape[0] >= G.shape[1]:
            return np.concatenate(_eliminated(G, *sides, *slopes))
        return np.concatenate(_eliminated(G.T.tocsr(), *sides[::-1], *slopes[::-1])[::-1])


def _eliminated(
    G: Any, tall: Array, wide: Array, first: Array, second: Array
) -> tuple[Array, Array]:
    """The solution x, y of tall x + G y = first, G^T x + wide y = second."""
    if G.nnz > _FULL * np.prod(G.shape):
        G = G.toarray()
        inner = np.diag(wide) - G.T @ (G / tall[:, None])
    else:
        inner = np.diag(wide) - (G.T @ sp.diags_array(1.0 / tall) @ G).toarray()
    y = sl.solve(inner, second - G.T @ (first / tall), assume_a="pos")
    return (first - G @ y) / tall, y
