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

from dataclasses import replace

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.mmmf.losses import Hinge
from sdpdr.families.factor.mmmf.program import MarginFactorization, Program

# Value and bound are computed every so many steps.
_ROUND = 10
# Over-relaxation; Boyd et al. recommend 1.5 to 1.8.
_RELAXATION = 1.6
# If the primal and the dual residual differ by more than this ratio, rho changes by the factor; the
# wait until the next change grows, so that rho settles and the iteration converges.
_IMBALANCE, _RHO_FACTOR, _WAIT_GROWTH = 1.5, 2.0, 1.1


class OffsetFit:
    r"""Least squares of values at entries by offsets.

    Minimises :math:`\sum (y_{ia} - b_i - d_a)^2 + \lambda (|b|^2 + |d|^2)`.
    """

    def __init__(self, program: Program, penalty: float) -> None:
        self._program, self._has_offsets = program, bool(np.isfinite(penalty))
        if not self._has_offsets:
            return
        m, (p, q) = program.i.size, program.entries.shape
        columns = np.concatenate([program.i, p + program.a])
        A = sp.csr_array((np.ones(2 * m), (np.tile(np.arange(m), 2), columns)), shape=(m, p + q))
        inner = (A.T @ A).toarray() + penalty * np.eye(p + q)
        # A penalty below rounding leaves offsets undetermined.
        inner[np.diag_indices_from(inner)] *= 1.0 + len(inner) * np.finfo(float).eps
        self._factor = sl.cho_factor(inner)

    def fit(self, values: Array) -> tuple[Array, Array]:
        """Offsets of rows, and those of columns."""
        p, q = self._program.entries.shape
        if not self._has_offsets:
            return np.zeros(p), np.zeros(q)
        found = sl.cho_solve(self._factor, np.concatenate(self._program.sums(values)))
        return found[:p], found[p:]


def split(
    program: Program, *, tol: float, max_iter: int, deadline: Deadline
) -> MarginFactorization:
    """Iterate until value and bound agree; return the best value with the best bound."""
    assert isinstance(program.loss, Hinge)
    Y, seen = program.loss.signs, (program.i, program.a)
    at, history = program.start(), []
    best = program.valued(at)
    Z, W = (np.zeros(program.entries.shape) for _ in range(2))
    F, G = np.zeros(Y.shape), np.zeros(Y.shape)
    # Multipliers have singular values up to one, and the observed entries are near one.
    rho, fit = float(np.sqrt(min(Z.shape) / program.i.size)), None
    wait = change_at = _ROUND
    for count in range(1, max_iter + 1):
        if fit is None:
            fit = OffsetFit(program, program.c * program.ridge / (0.5 * rho))
        # First step: singular values shrink, and scores meet their margins.
        X, U, V = shrunk(Z - W, 1.0 / rho)
        target = F - G
        Q = np.clip(rho * (1.0 - Y * target), 0.0, program.c)
        S = target + Y * Q / rho
        # Second step: least squares for X = Z and for scores, with over-relaxation.
        Z_last, F_last = Z, F
        Z = _RELAXATION * X + (1.0 - _RELAXATION) * Z + W
        margins = _RELAXATION * S + (1.0 - _RELAXATION) * F + G
        W = Z.copy()
        rows, columns = fit.fit(margins - Z[seen])
        added = rows[program.i] + columns[program.a]
        # An observed entry has a copy in X and one in the scores: take the mean.
        Z[seen] += 0.5 * (margins - added - Z[seen])
        F = Z[seen] + added
        W, G = W - Z, margins - F
        at = MarginFactorization(U, V, rows, columns)
        if count % _ROUND == 0 or count == max_iter or deadline.is_over():
            best = best.better(program.valued(at), program.proof(Q))
            history.append(best.record(count, deadline))
            if best.gap <= tol or deadline.is_over():
                break
        if count >= change_at:
            primal = _length(X - Z, S - F) / max(_length(Z, F), 1e-300)
            dual = _length(Z - Z_last, F - F_last) / max(_length(W, G), 1e-300)
            ratio = primal / max(dual, 1e-300) if primal > 0.0 else 1.0
            if ratio > _IMBALANCE or ratio < 1.0 / _IMBALANCE:
                factor = _RHO_FACTOR if ratio > 1.0 else 1.0 / _RHO_FACTOR
                rho, W, G, fit = rho * factor, W / factor, G / factor, None
            wait = int(_WAIT_GROWTH * wait)
            change_at = count + wait
    return replace(best, history=tuple(history), iterations=count)


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
