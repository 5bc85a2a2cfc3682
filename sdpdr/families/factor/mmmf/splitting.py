r"""Completion by splitting: the norm and the loss in turn, joined by linear equations.

The norm is that of a matrix X and the loss that of scores s. A second matrix Z and offsets satisfy
:math:`X = Z` and :math:`s_{ia} = Z_{ia} + b_i + d_a`. The alternating direction method of
multipliers takes turns with two steps, each in closed form:

- singular values of X shrink by :math:`1/\rho`, and scores take the proximal step of the loss,
  whose multipliers are within their limits;
- least squares for Z and offsets: entries of Z are eliminated, and offsets solve one system that is
  factored again only when :math:`\rho` changes.

So each step has factors, which give a value, and multipliers, which prove a bound (``program``).
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
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.families.factor.mmmf.program import MarginFactorization, Program, spectral_norm

# Value and bound are computed every so many steps.
_ROUND = 10
# Over-relaxation; Boyd et al. recommend 1.5 to 1.8.
_RELAXATION = 1.6
# If the primal and the dual residual differ by more than this ratio, rho changes by the factor; the
# wait until the next change grows, so that rho settles and the iteration converges.
_IMBALANCE, _RHO_FACTOR, _WAIT_GROWTH = 1.5, 2.0, 1.1
# Relative gap of the offsets that the least penalty is measured with, and their most steps.
_OFFSETS, _STEPS = 1e-4, 1000


def split(
    program: Program, tol: float, max_iter: int, deadline: Deadline = ENDLESS
) -> MarginFactorization:
    """The best matrix found, and the best bound, until they agree."""
    seen, m = (program.entries.rows, program.entries.columns), program.targets.size
    best, history = program.start(), []
    Z, W = (np.zeros(program.entries.shape) for _ in range(2))
    F, G = np.zeros(m), np.zeros(m)
    # Multipliers have singular values up to one and are rarely above c; entries are near one.
    rho, offsets = min(float(np.sqrt(min(Z.shape) / m)), program.c), None
    wait = change_at = _ROUND
    for count in range(1, max_iter + 1):
        offsets = offsets or _offset_fit(program, 2.0 * program.c * program.ridge / rho)
        # First step: singular values shrink, and scores take the proximal step of the loss.
        X, U, V = shrunk(Z - W, 1.0 / rho)
        target = F - G
        multipliers = program.proximal(target, rho)
        S = target + program.signs * multipliers / rho
        # Second step: least squares for X = Z and for scores, with over-relaxation.
        Z_last, F_last = Z, F
        Z = _RELAXATION * X + (1.0 - _RELAXATION) * Z + W
        scores = _RELAXATION * S + (1.0 - _RELAXATION) * F + G
        W = Z.copy()
        rows, columns = offsets(scores - Z[seen])
        added = rows[seen[0]] + columns[seen[1]]
        # An observed entry has a copy in X and one in the scores: take the mean.
        Z[seen] += 0.5 * (scores - added - Z[seen])
        F = Z[seen] + added
        W, G = W - Z, scores - F
        if count % _ROUND == 0 or count == max_iter or deadline.is_over():
            at = program.valued(MarginFactorization(U, V, rows, columns))
            best = best.better(at, program.bound(multipliers), multipliers)
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


def least_penalty(program: Program) -> float:
    """The penalty up to which the best matrix is zero; for a loss with a kink, about that.

    It is infinite where offsets alone leave no loss.
    """
    # The matrix is zero while the multipliers, which the wanted scores bound, are this small.
    low = replace(program, c=0.5 / float(np.linalg.norm(program.targets)))
    found = split(low, _OFFSETS, _STEPS)
    size = spectral_norm(program.entries.spread(program.signs * found.multipliers))
    return low.c / size if size > 0.0 else np.inf


def _offset_fit(program: Program, penalty: float) -> Callable[[Array], tuple[Array, Array]]:
    r"""The function of values at entries that returns the offsets which fit them best.

    They minimise :math:`\sum (y_{ia} - b_i - d_a)^2 + \lambda (|b|^2 + |d|^2)`.
    """
    p, q = program.entries.shape
    if not program.has_offsets:
        return lambda values: (np.zeros(p), np.zeros(q))
    both = program.entries.spread(np.ones(program.targets.size)).toarray()
    inner = np.block([[np.diag(both.sum(axis=1)), both], [both.T, np.diag(both.sum(axis=0))]])
    # A penalty below rounding leaves offsets undetermined.
    inner[np.diag_indices_from(inner)] += penalty
    inner[np.diag_indices_from(inner)] *= 1.0 + len(inner) * np.finfo(float).eps
    factor = sl.cho_factor(inner)

    def fit(values: Array) -> tuple[Array, Array]:
        found = sl.cho_solve(factor, np.concatenate(program.sums(values)))
        return found[:p], found[p:]

    return fit


def shrunk(target: Array, less: float) -> tuple[Array, Array, Array]:
    """The matrix whose singular values are smaller by a number, at least zero, and its factors."""
    if target.shape[0] < target.shape[1]:
        X, V, U = shrunk(target.T, less)
        return X.T, U, V
    if np.linalg.norm(target) <= less:  # a bound on the singular values, which saves finding them
        p, q = target.shape
        return np.zeros((p, q)), np.zeros((p, 0)), np.zeros((q, 0))
    squares, right = sl.eigh(target.T @ target, subset_by_value=(less**2, np.inf))
    values = np.sqrt(squares)
    roots = np.sqrt(values - less)
    U, V = target @ (right * (roots / values)), right * roots
    return U @ V.T, U, V


def _length(matrix: Array, scores: Array) -> float:
    return float(np.hypot(np.linalg.norm(matrix), np.linalg.norm(scores)))
