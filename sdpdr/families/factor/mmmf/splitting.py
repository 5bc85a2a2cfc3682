r"""Hinge losses by splitting: the norm, the margins, and what joins them.

Beside the matrix X in the norm and the margins' scores s in the loss stand a second matrix Z,
offsets and thresholds, with :math:`X = Z` and :math:`s_{iat} = Z_{ia} + b_i + d_a - \theta_t`. The
alternating direction method of multipliers takes turns with two steps, each in closed form:

- singular values of X less :math:`1/\rho`, and :math:`s + T q / \rho` with
  :math:`q = \min(c, \max(0, \rho (1 - T s)))`: q is a multiplier within its limits;
- least squares for Z, offsets and thresholds: entries of Z are eliminated, thresholds are means of
  columns, offsets solve one system that is factored again only when :math:`\rho` changes.

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

# Steps after which value and bound are computed.
_ROUND = 10
_RELAXED = 1.6
# How much more the copies of margins weigh than the copy of the matrix: of 1/2 to 8 times, 2 took
# the fewest steps on six of seven programs of signs and ratings, by up to a quarter.
_MARGINS = 2.0
# Residuals this far apart change the step length, by this factor, and ever more rarely.
_APART, _CHANGE, _PATIENCE = 1.5, 2.0, 1.1


class OffsetFit:
    r"""Least squares of values at entries by offsets, and by a constant that costs nothing.

    Minimises :math:`\sum (y_{ia} - \mu - b_i - d_a)^2 + \lambda (|b|^2 + |d|^2)`.
    """

    def __init__(self, program: Program, penalty: float, has_constant: bool) -> None:
        self._program, self._has_constant = program, has_constant
        self._has_offsets = bool(np.isfinite(penalty))
        if not self._has_offsets:
            return
        m, (p, q) = program.i.size, program.entries.shape
        columns = np.concatenate([program.i, p + program.a, np.full(m, p + q)])
        A = sp.csr_array((np.ones(3 * m), (np.tile(np.arange(m), 3), columns)))
        inner = (A.T @ A).toarray() + np.diag(np.append(np.full(p + q, penalty), 0.0))
        # A penalty below rounding leaves offsets and constant undetermined.
        inner[np.diag_indices_from(inner)] *= 1.0 + len(inner) * np.finfo(float).eps
        n = p + q + has_constant
        self._factor = sl.cho_factor(inner[:n, :n])

    def fit(self, values: Array) -> tuple[Array, Array, float]:
        """Offsets of rows, those of columns, and the constant."""
        p, q = self._program.entries.shape
        if not self._has_offsets:
            return np.zeros(p), np.zeros(q), float(np.mean(values)) if self._has_constant else 0.0
        right = np.concatenate([*self._program.sums(values), [np.sum(values)]])
        found = sl.cho_solve(self._factor, right[: p + q + self._has_constant])
        return found[:p], found[p : p + q], float(found[-1]) if self._has_constant else 0.0


class Splitting:
    """The iteration; ``at`` is the matrix of the last step, ``weights`` its multipliers."""

    def __init__(self, program: Program) -> None:
        assert isinstance(program.loss, Hinge)
        self.program, self.signs = program, program.loss.signs
        # Multipliers have singular values up to one, and the observed entries are near one.
        self.rho = float(np.sqrt(min(program.entries.shape) / program.i.size))
        self.at, self.weights = program.start(), np.zeros(self.signs.shape)
        self._has_thresholds = program.loss.n_thresholds > 0
        self._Z, self._W = (np.zeros(program.entries.shape) for _ in range(2))
        self._V = np.zeros(self.signs.shape)
        self._F = self._V - self.at.thresholds if self._has_thresholds else self._V
        # In least squares of both copies of an entry, the share of the margins.
        weight = _MARGINS * self.signs.shape[1]
        self._share = weight / (1.0 + weight)
        self._factored()

    def _factored(self) -> None:
        penalty = self.program.c * self.program.ridge / (self.rho * self._share)
        self._offsets = OffsetFit(self.program, penalty, self._has_thresholds)

    def step(self) -> tuple[float, float]:
        """Take one step, and return its primal and dual residuals, relative to their sizes."""
        X, U, V = shrunk(self._Z - self._W, 1.0 / self.rho)
        target, rho = self._F - self._V, _MARGINS * self.rho
        self.weights = np.clip(rho * (1.0 - self.signs * target), 0.0, self.program.c)
        S = target + self.signs * self.weights / rho
        Z = _RELAXED * X + (1.0 - _RELAXED) * self._Z + self._W
        W, margins = Z.copy(), _RELAXED * S + (1.0 - _RELAXED) * self._F + self._V
        seen = self.program.i, self.program.a
        self.at = replace(self.at, U=U, V=V)
        Z[seen], F = self._joined(Z[seen], margins)
        moved, missed = _length(Z - self._Z, F - self._F), _length(X - Z, S - F)
        self._Z, self._F, self._W, self._V = Z, F, W - Z, margins - F
        primal = missed / max(_length(Z, F), 1e-300)
        return primal, moved / max(_length(self._W, self._V), 1e-300)

    def _joined(self, entries: Array, margins: Array) -> tuple[Array, Array]:
        """Entries of Z, and scores less thresholds, that fit both copies by least squares."""
        means = np.mean(margins, axis=1)
        rows, columns, constant = self._offsets.fit(means - entries)
        added = rows[self.program.i] + columns[self.program.a]
        entries = entries + self._share * (means - constant - added - entries)
        self.at = replace(self.at, rows=rows, columns=columns)
        if not self._has_thresholds:
            return entries, (entries + added)[:, None]
        thresholds = np.mean(means[:, None] - margins, axis=0) - constant
        self.at = replace(self.at, thresholds=thresholds)
        return entries, (entries + added)[:, None] - thresholds

    def change_rho(self, factor: float) -> None:
        """Change the step length."""
        self.rho *= factor
        self._W, self._V = self._W / factor, self._V / factor
        self._factored()


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
    squares = np.linalg.norm(matrix) ** 2 + _MARGINS * np.linalg.norm(margins) ** 2
    return float(np.sqrt(squares))


def split(
    program: Program, *, tol: float, max_iter: int, deadline: Deadline
) -> MarginFactorization:
    """Take steps until value and bound agree, and return the best of both."""
    run, best, history = Splitting(program), program.valued(program.start()), []
    wait = change_at = _ROUND
    for count in range(1, max_iter + 1):
        primal, dual = run.step()
        if count % _ROUND == 0 or count == max_iter or deadline.is_over():
            best = best.better(program.scaled(run.at), program.proof(run.weights))
            history.append(best.record(count, deadline))
            if best.gap <= tol or deadline.is_over():
                break
        if count >= change_at:
            ratio = primal / max(dual, 1e-300) if primal > 0.0 else 1.0
            if ratio > _APART or ratio < 1.0 / _APART:
                run.change_rho(_CHANGE if ratio > 1.0 else 1.0 / _CHANGE)
            wait = int(_PATIENCE * wait)
            change_at = count + wait
    return replace(best, history=tuple(history), iterations=count)
