r"""Hinge losses by splitting: the norm and the margins in turn, joined by linear equations.

The norm is that of a matrix X and the loss that of scores s. A second matrix Z and offsets satisfy
:math:`X = Z` and :math:`s_{ia} = Z_{ia} + b_i + d_a`. The alternating direction method of
multipliers takes turns with two steps, each in closed form:

- singular values of X shrink by :math:`1/\rho`, and scores are :math:`s + Y q / \rho` with
  :math:`q = \min(c, \max(0, \rho (1 - Y s)))`: q is a multiplier within its limits;
- least squares for Z and offsets: entries of Z are eliminated, and offsets solve one system that is
  factored again only when :math:`\rho` changes.

So each step has factors, which give a value, and weights, which prove a bound (``program``).
(Boyd, Parikh, Chu, Peleato, Eckstein, "Distributed optimization and statistical learning via the
alternating direction method of multipliers", Foundations and Trends in Machine Learning 3(1),
2011.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.mmmf.program import (
    LinearTerms,
    MarginFactorization,
    Program,
    Proof,
)

# Value and bound are computed every so many steps.
_ROUND = 10
# Over-relaxation; Boyd et al. recommend 1.5 to 1.8.
_RELAXATION = 1.6
# If the primal and the dual residual differ by more than this ratio, rho changes by the factor; the
# wait until the next change grows, so that rho settles and the iteration converges.
_IMBALANCE, _RHO_FACTOR, _WAIT_GROWTH = 1.5, 2.0, 1.1


class HingeProgram(Program):
    r"""The program of the loss :math:`\sum_{ia} \max(0, 1 - Y_{ia} f_{ia})` of signs Y."""

    @property
    def signs(self) -> Array:
        """Y."""
        return self.entries.values

    def loss(self, scores: Array, width: float = 0.0) -> tuple[float, Array]:
        """The hinge, and its slope."""
        missed = 1.0 - self.signs * scores
        weights = np.clip(missed / width, 0.0, 1.0) if width else (missed > 0.0).astype(float)
        return float(np.sum(weights * (missed - 0.5 * width * weights))), -self.signs * weights

    def linear_terms(self, multipliers: Array) -> LinearTerms:
        """Linear terms of multipliers Q from 0 to c."""
        # Squares of tiny weights are zero. Any multiple of them has the same bound.
        Q = multipliers / (float(np.max(multipliers)) or 1.0)
        return LinearTerms(self.signs * Q, float(np.sum(Q)), 0.0, self.c if np.any(Q) else 1.0)

    def proof(self, multipliers: Array, *, rigorous: bool = False) -> Proof:
        """The bound of multipliers, which are clipped from 0 to c; at c a margin is not met."""
        clipped = np.clip(np.nan_to_num(multipliers), 0.0, self.c)
        return super().proof(clipped, rigorous=rigorous)

    def valued(self, at: MarginFactorization) -> MarginFactorization:
        """The same matrix, and its value; for hard margins the least multiple that meets them."""
        if np.isfinite(self.c):
            return super().valued(at)
        least = float(np.min(self.signs * at.products(self.i, self.a)))
        # A little more, or rounding undoes the margin.
        root = np.sqrt((1.0 + 4.0 * np.finfo(float).eps) / least) if least > 0.0 else 1.0
        at = replace(at, U=root * at.U, V=root * at.V)
        is_met = self.loss(at.scores_at(self.i, self.a))[0] == 0.0
        return replace(at, value=at.norm if is_met else np.inf)

    def solve(self, tol: float, max_iter: int, deadline: Deadline) -> MarginFactorization:
        """Split until value and bound agree."""
        Y, seen = self.signs, (self.i, self.a)
        at, history = self.start(), []
        best = self.valued(at)
        Z, W = (np.zeros(self.entries.shape) for _ in range(2))
        F, G = np.zeros(Y.shape), np.zeros(Y.shape)
        # Multipliers have singular values up to one, and the observed entries are near one.
        rho, offsets = float(np.sqrt(min(Z.shape) / Y.size)), None
        wait = change_at = _ROUND
        for count in range(1, max_iter + 1):
            offsets = offsets or self._offset_fit(2.0 * self.c * self.ridge / rho)
            # First step: singular values shrink, and scores meet their margins.
            X, U, V = shrunk(Z - W, 1.0 / rho)
            target = F - G
            Q = np.clip(rho * (1.0 - Y * target), 0.0, self.c)
            S = target + Y * Q / rho
            # Second step: least squares for X = Z and for scores, with over-relaxation.
            Z_last, F_last = Z, F
            Z = _RELAXATION * X + (1.0 - _RELAXATION) * Z + W
            margins = _RELAXATION * S + (1.0 - _RELAXATION) * F + G
            W = Z.copy()
            rows, columns = offsets(margins - Z[seen])
            added = rows[self.i] + columns[self.a]
            # An observed entry has a copy in X and one in the scores: take the mean.
            Z[seen] += 0.5 * (margins - added - Z[seen])
            F = Z[seen] + added
            W, G = W - Z, margins - F
            if count % _ROUND == 0 or count == max_iter or deadline.is_over():
                at = MarginFactorization(U, V, rows, columns)
                best = best.better(self.valued(at), self.proof(Q))
                history.append(best.record(count, deadline))
                if best.gap <= tol or deadline.is_over():
                    break
            if count >= change_at:
                primal = _length(X - Z, S - F) / max(_length(Z, F), 1e-300)
                dual = _length(Z - Z_last, F - F_last) / max(_length(W, G), 1e-300)
                ratio = primal / max(dual, 1e-300) if primal > 0.0 else 1.0
                if not 1.0 / _IMBALANCE <= ratio <= _IMBALANCE:
                    factor = _RHO_FACTOR if ratio > 1.0 else 1.0 / _RHO_FACTOR
                    rho, W, G, offsets = rho * factor, W / factor, G / factor, None
                wait = int(_WAIT_GROWTH * wait)
                change_at = count + wait
        return replace(best, history=tuple(history), iterations=count)

    def _offset_fit(self, penalty: float) -> Callable[[Array], tuple[Array, Array]]:
        r"""The function of values at entries that returns the offsets which fit them best.

        They minimise :math:`\sum (y_{ia} - b_i - d_a)^2 + \lambda (|b|^2 + |d|^2)`.
        """
        p, q = self.entries.shape
        if not self.has_offsets:
            return lambda values: (np.zeros(p), np.zeros(q))
        both = self.entries.spread(np.ones(self.i.size)).toarray()
        inner = np.block([[np.diag(both.sum(axis=1)), both], [both.T, np.diag(both.sum(axis=0))]])
        # A penalty below rounding leaves offsets undetermined.
        inner[np.diag_indices_from(inner)] += penalty
        inner[np.diag_indices_from(inner)] *= 1.0 + len(inner) * np.finfo(float).eps
        factor = sl.cho_factor(inner)

        def fit(values: Array) -> tuple[Array, Array]:
            found = sl.cho_solve(factor, np.concatenate(self.sums(values)))
            return found[:p], found[p:]

        return fit


def shrunk(target: Array, less: float) -> tuple[Array, Array, Array]:
    """The matrix whose singular values are smaller by a number, at least zero, and its factors."""
    if target.shape[0] < target.shape[1]:
        X, V, U = shrunk(target.T, less)
        return X.T, U, V
    squares, right = sl.eigh(target.T @ target, subset_by_value=(less**2, np.inf))
    values = np.sqrt(squares)
    roots = np.sqrt(values - less)
    U, V = target @ (right * (roots / values)), right * roots
    return U @ V.T, U, V


def _length(matrix: Array, margins: Array) -> float:
    return float(np.hypot(np.linalg.norm(matrix), np.linalg.norm(margins)))
