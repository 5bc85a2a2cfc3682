r"""Hinge losses by splitting: the norm, the margins, and what joins them.

Beside the matrix X in the norm and the margins' scores s in the loss stand a second matrix Z,
offsets and thresholds, with :math:`X = Z` and :math:`s_{iat} = Z_{ia} + b_i + d_a - \theta_t`. The
alternating direction method of multipliers takes turns with two steps, each in closed form:

- singular values of X less :math:`1/\rho` (for the max-norm, on the matrix of all products, the
  positive part of the eigenvalues), and :math:`s + T q / \rho` with
  :math:`q = \min(c, \max(0, \rho (1 - T s)))`: q is a multiplier within its limits;
- least squares for Z, offsets and thresholds: entries of Z are eliminated, thresholds are means of
  columns, offsets solve one system that is factored again only when :math:`\rho` changes. For the
  max-norm the diagonal of Z is cut down to a t that costs as much as it saves.

So each step has factors, which give a value, and weights, which prove a bound (``program``).
(Boyd, Parikh, Chu, Peleato, Eckstein, "Distributed optimization and statistical learning via the
alternating direction method of multipliers", Foundations and Trends in Machine Learning 3(1),
2011.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.mmmf.losses import Hinge
from sdpdr.families.factor.mmmf.offsets import RidgeFit
from sdpdr.families.factor.mmmf.program import FactorModel, Program

# Steps after which value and bound are computed.
ROUND = 10
_RELAXED = 1.6
# How much more the copies of margins weigh than the copy of the matrix: of 1/2 to 8 times, 2 took
# the fewest steps on six of seven programs of signs and ratings, by up to a quarter.
_MARGINS = 2.0
# Residuals this far apart change the step length, by this factor, and ever more rarely.
_APART, _CHANGE, _PATIENCE = 1.5, 2.0, 1.1


class NormStep(ABC):
    """The steps of one norm.

    Attributes
    ----------
    shape : tuple of int
        Shape of the matrix that is split.
    first_rho : float
        Size of multipliers over that of the matrix.
    copies : int
        How often an entry stands in the matrix.
    """

    shape: tuple[int, int]
    first_rho: float
    copies: int

    @abstractmethod
    def nearest(self, target: Array, rho: float) -> tuple[Array, Array, Array]:
        """Matrix of least norm near the target, and its factors."""

    @abstractmethod
    def entries(self, matrix: Array) -> Array:
        """Observed entries of a matrix."""

    @abstractmethod
    def put(self, matrix: Array, entries: Array) -> None:
        """Set the observed entries of a matrix."""

    @abstractmethod
    def cut(self, matrix: Array, rho: float) -> None:
        """Take the proximal step of what the norm costs on the diagonal, in place."""


class TraceStep(NormStep):
    """The trace norm, on M itself."""

    copies = 1

    def __init__(self, program: Program) -> None:
        self._i, self._a = program.i, program.a
        self.shape = program.entries.shape
        # Multipliers have singular values up to one, and the observed entries are near one.
        self.first_rho = float(np.sqrt(min(self.shape) / program.i.size))

    def nearest(self, target: Array, rho: float) -> tuple[Array, Array, Array]:
        """Singular values above 1 / rho, less 1 / rho."""
        if target.shape[0] < target.shape[1]:
            X, V, U = self.nearest(target.T, rho)
            return X.T, U, V
        low, high = (1.0 / rho) ** 2, np.inf
        squares, right = sl.eigh(target.T @ target, subset_by_value=(low, high))
        values = np.sqrt(squares)
        roots = np.sqrt(values - 1.0 / rho)
        U, V = target @ (right * (roots / values)), right * roots
        return U @ V.T, U, V

    def entries(self, matrix: Array) -> Array:
        """Observed entries of a matrix."""
        return np.asarray(matrix[self._i, self._a])

    def put(self, matrix: Array, entries: Array) -> None:
        """Set the observed entries of a matrix."""
        matrix[self._i, self._a] = entries

    def cut(self, matrix: Array, rho: float) -> None:
        """Leave the diagonal, which costs nothing of its own."""


class MaxStep(NormStep):
    """The max-norm, on the matrix of all products."""

    copies = 2

    def __init__(self, program: Program) -> None:
        self._p = program.entries.shape[0]
        self._i, self._a = program.i, self._p + program.a
        n = sum(program.entries.shape)
        self.shape = (n, n)
        # Multipliers of the diagonal add up to one, and no entry is far from one. The factor is the
        # one of the fewest steps on random signs.
        self.first_rho = 3.0 * float(n**-1.5)

    def nearest(self, target: Array, rho: float) -> tuple[Array, Array, Array]:
        """The positive part."""
        values, vectors = sl.eigh(target, subset_by_value=(0.0, np.inf))
        factor = vectors * np.sqrt(values)
        return factor @ factor.T, factor[: self._p], factor[self._p :]

    def entries(self, matrix: Array) -> Array:
        """Observed entries of a matrix."""
        return np.asarray(matrix[self._i, self._a])

    def put(self, matrix: Array, entries: Array) -> None:
        """Set the observed entries of a matrix, on both sides of its diagonal."""
        matrix[self._i, self._a] = matrix[self._a, self._i] = entries

    def cut(self, matrix: Array, rho: float) -> None:
        """Cut the diagonal down to a level that costs as much as it saves."""
        diagonal = np.diagonal(matrix)
        np.fill_diagonal(matrix, np.minimum(diagonal, _water_level(diagonal, 1.0 / rho)))


def _water_level(values: Array, volume: float) -> float:
    """The t above which values exceed it by ``volume`` in all."""
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - volume) / np.arange(1, values.size + 1)
    return float(np.max(levels))


class Splitting:
    """The iteration.

    Parameters
    ----------
    program : Program
        Whose loss is a hinge.

    Attributes
    ----------
    model : FactorModel
        The matrix, offsets and thresholds of the last step.
    weights : array of shape (m, n)
        Multipliers of the margins of the last step.
    """

    model: FactorModel
    weights: Array

    def __init__(self, program: Program) -> None:
        assert isinstance(program.loss, Hinge)
        self.program = program
        self.signs, self.has_thresholds = program.loss.signs, program.loss.n_thresholds > 0
        self.norm: NormStep = TraceStep(program) if program.norm == "trace" else MaxStep(program)
        self.rho = self.norm.first_rho
        self.model = program.start()
        self.weights = np.zeros(self.signs.shape)
        self._Z, self._W = np.zeros(self.norm.shape), np.zeros(self.norm.shape)
        self._F = np.zeros(self.signs.shape) - (self.model.thresholds if self.has_thresholds else 0)
        self._V = np.zeros(self.signs.shape)
        # In least squares of both copies of an entry, the share of the margins.
        weight = _MARGINS * self.signs.shape[1]
        self._share = weight / (self.norm.copies + weight)
        self._factored()

    def _factored(self) -> None:
        pull = self.program.c * self.program.ridge / (self.rho * self.norm.copies * self._share)
        self._ridge = RidgeFit(self.program.offsets, pull, self.has_thresholds)

    def step(self) -> tuple[float, float]:
        """Take one step, and return its primal and dual residuals, relative to their sizes."""
        X, U, V = self.norm.nearest(self._Z - self._W, self.rho)
        target, rho = self._F - self._V, _MARGINS * self.rho
        self.weights = np.clip(rho * (1.0 - self.signs * target), 0.0, self.program.c)
        S = target + self.signs * self.weights / rho
        relaxed = _RELAXED * X + (1.0 - _RELAXED) * self._Z + self._W
        margins = _RELAXED * S + (1.0 - _RELAXED) * self._F + self._V
        entries, F = self._joined(self.norm.entries(relaxed), margins, U, V)
        Z = relaxed.copy()
        self.norm.put(Z, entries)
        self.norm.cut(Z, self.rho)
        moved, missed = _length(Z - self._Z, F - self._F), _length(X - Z, S - F)
        self._Z, self._F, self._W, self._V = Z, F, relaxed - Z, margins - F
        primal = missed / max(_length(Z, F), 1e-300)
        return primal, moved / max(_length(self._W, self._V), 1e-300)

    def _joined(self, entries: Array, margins: Array, U: Array, V: Array) -> tuple[Array, Array]:
        """Entries of Z, and scores less thresholds, that fit both copies by least squares."""
        means = np.mean(margins, axis=1)
        offsets, constant = self._ridge.fit(means - entries)
        added = self.program.offsets.added(offsets)
        spread = np.zeros(self.signs.shape[1])
        if self.has_thresholds:
            spread = np.mean(means[:, None] - margins, axis=0)
        entries = entries + self._share * (means - constant - added - entries)
        rows, columns = self.program.offsets.sides(offsets)
        thresholds = spread - constant
        self.model = replace(
            self.model, U=U, V=V, rows=rows, columns=columns,
            thresholds=thresholds if self.has_thresholds else self.model.thresholds,
        )  # fmt: skip
        return entries, (entries + added)[:, None] - thresholds

    def change_rho(self, factor: float) -> None:
        """Change the step length."""
        self.rho *= factor
        self._W, self._V = self._W / factor, self._V / factor
        self._factored()


def _length(matrix: Array, margins: Array) -> float:
    squares = np.linalg.norm(matrix) ** 2 + _MARGINS * np.linalg.norm(margins) ** 2
    return float(np.sqrt(squares))


def split(
    program: Program,
    *,
    tol: float,
    max_iter: int,
    deadline: Deadline,
    report: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[FactorModel, int]:
    """Take steps until value and bound agree, and return the best of both and the steps taken.

    Parameters
    ----------
    program : Program
        Whose loss is a hinge.
    tol : float
        Relative gap at which to stop.
    max_iter : int
        Steps.
    deadline : Deadline
    report : callable, optional
        Receives each record of the history.
    """
    run, best, history = Splitting(program), program.valued(program.start()), []
    wait = change_at = ROUND
    for count in range(1, max_iter + 1):
        primal, dual = run.step()
        if count % ROUND == 0 or count == max_iter or deadline.is_over():
            best = best.better(
                program.scaled(run.model), program.weighed_at(run.model, run.weights)
            )
            history.append(best.record(deadline, iteration=count))
            if report is not None:
                report(history[-1])
            if best.gap <= tol or deadline.is_over():
                break
        if count >= change_at:
            ratio = primal / max(dual, 1e-300) if primal > 0.0 else 1.0
            if ratio > _APART or ratio < 1.0 / _APART:
                run.change_rho(_CHANGE if ratio > 1.0 else 1.0 / _CHANGE)
            wait = int(_PATIENCE * wait)
            change_at = count + wait
    return replace(best, history=tuple(history)), count
