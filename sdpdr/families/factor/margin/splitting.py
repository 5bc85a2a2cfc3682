r"""Maximum-margin factorization by splitting the norm from the loss.

The problem is :math:`\min f(X) + g(Z)` subject to X = Z, with the norm in f and the hinge loss in
g. The alternating direction method of multipliers takes turns with the two proximal steps, each in
closed form:

- of the trace norm, singular values less :math:`1/\rho`;
- of the max-norm, on the matrix of all products, the positive part of the eigenvalues in f, and in
  g the diagonal cut down to a t that costs as much as it saves;
- of the hinge loss, entry by entry: :math:`z + q/\rho` with
  :math:`q = \min(c, \max(0, \rho (1 - z)))`, and this q is a multiplier within its limits. Offsets
  of rows and columns are found in the same step (``offsets``).

So each step has factors, which give a value, and weights, which prove a bound
(see ``bound``). (Boyd, Parikh, Chu, Peleato, Eckstein, "Distributed optimization and
statistical learning via the alternating direction method of multipliers", Foundations and Trends
in Machine Learning 3(1), 2011.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.families.factor.margin.factors import Completion
from sdpdr.families.factor.margin.offsets import Offsets
from sdpdr.families.factor.margin.recipe import Signs

# Steps between looks at value and bound.
LOOK = 10
_RELAXED = 1.6
# Residuals this far apart change the step length, by this much, and ever more rarely.
_APART, _CHANGE, _PATIENCE = 1.5, 2.0, 1.1


class Splitting(ABC):
    """The two proximal steps for one norm.

    Parameters
    ----------
    signs : Signs
    c : float
        Price of slack.
    ridge : float, optional
        Of offsets; none by default.

    Attributes
    ----------
    offsets : array of shape (p + q,)
        Those of the last step.
    shape : tuple of int
        Of the matrix that is split.
    first_rho : float
        A step length to begin with: the size of multipliers over that of the matrix.
    """

    shape: tuple[int, int]
    first_rho: float

    def __init__(self, signs: Signs, c: float, ridge: float = np.inf) -> None:
        self.signs, self.c = signs, c
        self._offsets = Offsets(signs, ridge)
        self.offsets = np.zeros(sum(signs.shape))

    @property
    def sides(self) -> tuple[Array, Array]:
        """Offsets of the last step, of rows and of columns."""
        return self._offsets.sides(self.offsets)

    @abstractmethod
    def norm_step(self, target: Array, rho: float) -> tuple[Array, Array, Array]:
        """The matrix of least norm near the target, and its factors."""

    @abstractmethod
    def loss_step(
        self, target: Array, rho: float
    ) -> tuple[Array, Array, tuple[Array, Array] | None]:
        """The matrix of least loss near the target, multipliers, and scales."""

    def _hinge(self, entries: Array, rho: float) -> tuple[Array, Array]:
        """Entries moved by the loss, and the multipliers."""
        scores = entries
        if self._offsets.exist:
            self.offsets = self._offsets.fitted(entries, self.offsets, rho, self.c)
            scores = entries + self._offsets.added(self.offsets)
        margins = self.signs.values * scores
        q = np.clip(rho * (1.0 - margins), 0.0, self.c)
        return entries + self.signs.values * q / rho, q


class TraceSplitting(Splitting):
    """The trace norm, on X itself."""

    def __init__(self, signs: Signs, c: float, ridge: float = np.inf) -> None:
        super().__init__(signs, c, ridge)
        self.shape = signs.shape
        # Multipliers have singular values up to one, and the entries observed are near one.
        self.first_rho = float(np.sqrt(min(signs.shape) / signs.values.size))

    def norm_step(self, target: Array, rho: float) -> tuple[Array, Array, Array]:
        """Singular values above 1 / rho, less 1 / rho."""
        if target.shape[0] < target.shape[1]:
            X, V, U = self.norm_step(target.T, rho)
            return X.T, U, V
        low, high = (1.0 / rho) ** 2, np.inf
        squares, right = sl.eigh(target.T @ target, subset_by_value=(low, high))
        values = np.sqrt(squares)
        roots = np.sqrt(values - 1.0 / rho)
        U, V = target @ (right * (roots / values)), right * roots
        return U @ V.T, U, V

    def loss_step(self, target: Array, rho: float) -> tuple[Array, Array, None]:
        """The hinge loss at the places observed."""
        i, a = self.signs.places.T
        Z = target.copy()
        Z[i, a], q = self._hinge(target[i, a], rho)
        return Z, q, None


class MaxSplitting(Splitting):
    """The max-norm, on the matrix of all products."""

    def __init__(self, signs: Signs, c: float, ridge: float = np.inf) -> None:
        super().__init__(signs, c, ridge)
        n = sum(signs.shape)
        self.shape = (n, n)
        # Multipliers of the diagonal add up to one, and no entry is far from one. The factor is
        # the one of the fewest steps on random signs.
        self.first_rho = 3.0 * float(n**-1.5)

    def norm_step(self, target: Array, rho: float) -> tuple[Array, Array, Array]:
        """The positive part."""
        values, vectors = sl.eigh(target, subset_by_value=(0.0, np.inf))
        factor = vectors * np.sqrt(values)
        p = self.signs.shape[0]
        return factor @ factor.T, factor[:p], factor[p:]

    def loss_step(self, target: Array, rho: float) -> tuple[Array, Array, tuple[Array, Array]]:
        """The hinge loss, and a diagonal of least maximum."""
        p = self.signs.shape[0]
        i, a = self.signs.places.T
        Z = target.copy()
        # Each entry stands in the matrix twice.
        entries, q = self._hinge(target[i, p + a], 2.0 * rho)
        Z[i, p + a] = Z[p + a, i] = entries
        diagonal = np.diagonal(target).copy()
        top = _water_level(diagonal, 1.0 / rho)
        np.fill_diagonal(Z, np.minimum(diagonal, top))
        weights = rho * np.maximum(diagonal - top, 0.0)
        return Z, q, (weights[:p], weights[p:])


def _water_level(values: Array, volume: float) -> float:
    """The t above which values exceed it by ``volume`` in all."""
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - volume) / np.arange(1, values.size + 1)
    return float(np.max(levels))


def steps(splitting: Splitting, max_iter: int) -> Iterator[tuple[int, Completion]]:
    """Every tenth step of the iteration, and the last, with their numbers.

    Their weights are the multipliers of the margins.
    """
    Z = np.zeros(splitting.shape)
    W = np.zeros(splitting.shape)
    rho = splitting.first_rho
    wait = LOOK
    change_at = wait
    for k in range(1, max_iter + 1):
        X, U, V = splitting.norm_step(Z - W, rho)
        relaxed = _RELAXED * X + (1.0 - _RELAXED) * Z
        before = Z
        Z, q, scales = splitting.loss_step(relaxed + W, rho)
        W = W + relaxed - Z
        if k % LOOK == 0 or k == max_iter:
            rows, columns = splitting.sides
            yield k, Completion(U, V, rows, columns, np.zeros(0), weights=q, scales=scales)
        if k >= change_at:
            ratio = _imbalance(X, Z, before, W)
            if ratio > _APART or ratio < 1.0 / _APART:
                change = _CHANGE if ratio > 1.0 else 1.0 / _CHANGE
                rho, W = rho * change, W / change
            wait = int(_PATIENCE * wait)
            change_at = k + wait


def _imbalance(X: Array, Z: Array, before: Array, W: Array) -> float:
    """Primal residual over dual residual, each relative to what it is a residual of."""
    primal = float(np.linalg.norm(X - Z)) / max(
        float(np.linalg.norm(X)), float(np.linalg.norm(Z)), 1e-300
    )
    dual = float(np.linalg.norm(Z - before)) / max(float(np.linalg.norm(W)), 1e-300)
    return primal / max(dual, 1e-300) if primal > 0.0 else 1.0
