r"""The convex program of a completion: its value, its slopes, and bounds from any multipliers.

.. math::

    \min_{M, b, d, \theta}\ |M| + c\,\Bigl(\sum_S \ell(M_{ia} + b_i + d_a, \theta)
    + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr)

For any multipliers P of the loss whose dual norm is at most one,

.. math::

    \ell\text{'s linear terms at } P \;-\; \frac{|P 1|^2 + |P^T 1|^2}{2 c \kappa}

is a bound on the optimum. Any P is scaled to the best multiple that fits, so every answer comes
with a proved gap, however it was found (``docs/methods/mmmf.rst``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.mmmf.entries import Observed
from sdpdr.families.factor.mmmf.losses import Hinge, Loss, LossMultipliers
from sdpdr.families.factor.mmmf.norms import (
    Factors,
    MaxFactors,
    TraceFactors,
    aligned,
    dual_norm,
    factor_norm,
)
from sdpdr.families.factor.mmmf.offsets import Offsets

# Columns that are added at once: at least so many, or as many as there are.
MORE = 20
# The whole product is faster than so many times fewer of its entries, one by one.
_DENSE = 30
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class FactorModel:
    """A matrix given by factors, with offsets and thresholds, its value and a bound on the best.

    Attributes
    ----------
    U, V : arrays of shape (p, k) and (q, k)
    rows, columns : arrays of shape (p,) and (q,)
        Offsets b and d.
    thresholds : array
    value, bound : float
    weights : array
        Multipliers that prove the bound, in the form that the method has them.
    scales : pair of arrays or None
        Scales of rows and columns that the bound of a max-norm needs.
    size : float
        The norm that these factors prove.
    history : tuple of mappings
        Value, bound, gap and seconds along the way.
    """

    U: Array
    V: Array
    rows: Array
    columns: Array
    thresholds: Array
    value: float = np.inf
    bound: float = 0.0
    weights: Array = field(default_factory=lambda: np.zeros(0))
    scales: tuple[Array, Array] | None = None
    size: float = 0.0
    history: tuple[dict[str, Any], ...] = ()

    @property
    def gap(self) -> float:
        """Excess of the value over the bound, relative to the value."""
        if not np.isfinite(self.value):
            return float("inf")
        return (self.value - self.bound) / self.value if self.value > 0.0 else 0.0

    @property
    def offsets(self) -> Array:
        """Offsets of rows before those of columns, shape (p + q,)."""
        return np.concatenate([self.rows, self.columns])

    @property
    def matrix(self) -> Array:
        """M with its offsets, shape (p, q)."""
        return np.asarray(self.U @ self.V.T + self.rows[:, None] + self.columns)

    def record(self, deadline: Deadline, **more: float) -> dict[str, Any]:
        """An entry of the history."""
        own = {"value": self.value, "bound": self.bound, "gap": self.gap}
        return {**own, "columns": self.U.shape[1], "seconds": deadline.spent, **more}

    def better(self, other: FactorModel, proof: Proof) -> FactorModel:
        """The better value joined with the better bound."""
        best = self
        if other.value < best.value:
            best = replace(other, bound=best.bound, weights=best.weights, scales=best.scales)
        return best.proved(proof) if proof.bound > best.bound else best

    def proved(self, proof: Proof) -> FactorModel:
        """The same matrix with another bound."""
        return replace(self, bound=proof.bound, weights=proof.weights, scales=proof.scales)

    def products(self, i: Any, a: Any) -> Array:
        """Entries of M at positions."""
        if len(self.U) * len(self.V) <= _DENSE * len(i):
            return np.asarray((self.U @ self.V.T)[i, a])
        return np.einsum("ek,ek->e", self.U[i], self.V[a])

    def scores(self, i: Any, a: Any) -> Array:
        """Entries of M with its offsets at positions."""
        return np.asarray(self.products(i, a) + self.rows[i] + self.columns[a])


@dataclass(frozen=True, eq=False)
class Proof:
    """A bound, the multipliers that prove it, and their matrix before it was scaled."""

    bound: float
    weights: Array
    P: sp.csr_array
    scales: tuple[Array, Array] | None


class Program:
    """A completion program.

    Parameters
    ----------
    entries : Observed
    loss : Loss
    norm : {"trace", "max"}
    c : float
        Penalty of the loss.
    ridge : float
        Penalty of squared offsets; infinite for none.
    random_state : int or RandomState, optional
        For the search for directions, which only approximates singular vectors.
    """

    def __init__(
        self,
        entries: Observed,
        loss: Loss,
        norm: str,
        c: float,
        ridge: float,
        random_state: Any = None,
    ) -> None:
        self._seed = validate.seed(random_state)
        self.random = np.random.RandomState(self._seed)
        self.entries, self.loss, self.norm, self.c, self.ridge = entries, loss, norm, c, ridge
        self.factors: Factors = TraceFactors() if norm == "trace" else MaxFactors()
        self.i, self.a = entries.places.T
        self.offsets = Offsets(entries, ridge)

    def at_penalty(self, c: float) -> Program:
        """The same program at another penalty of the loss."""
        return Program(self.entries, self.loss, self.norm, c, self.ridge, self._seed)

    def start(self) -> FactorModel:
        """The zero matrix without offsets, with the best thresholds for it."""
        (p, q), none = self.entries.shape, np.zeros
        thresholds = self.loss.best_thresholds(none(self.i.size))
        weights = none(self.i.size)
        return FactorModel(
            none((p, 0)), none((q, 0)), none(p), none(q), thresholds, weights=weights
        )

    def slopes(self, at: FactorModel, width: float) -> tuple[float, Array, Array, Array]:
        """Smoothed penalty, and its slopes in factors, offsets and thresholds."""
        total, slope, thresholds = self.loss.smooth(at.scores(self.i, self.a), at.thresholds, width)
        weights = self.c * slope
        G = self.entries.spread(weights)
        sums = self.offsets.sums(weights)
        if self.offsets.exist:
            total += self.offsets.cost(at.offsets)
            sums = sums + self.c * self.ridge * at.offsets
        return self.c * total, np.vstack([G @ at.V, G.T @ at.U]), sums, self.c * thresholds

    def valued(self, at: FactorModel) -> FactorModel:
        """The same matrix with the best thresholds, and its value."""
        scores = at.scores(self.i, self.a)
        thresholds = self.loss.best_thresholds(scores)
        paid = self.penalty(scores, thresholds, at.offsets)
        return replace(at, thresholds=thresholds, value=at.size + paid)

    def penalty(self, scores: Array, thresholds: Array, offsets: Array) -> float:
        """Penalty of loss and offsets; infinite where a hard margin is missed."""
        loss = self.loss.exact(scores, thresholds)
        if not np.isfinite(self.c):
            return float("inf") if loss > 0.0 else 0.0
        return self.c * (loss + self.offsets.cost(offsets))

    def scaled(self, at: FactorModel) -> FactorModel:
        """The best multiple of a matrix under a hinge, its offsets being what they are."""
        assert isinstance(self.loss, Hinge)
        added = self.offsets.added(at.offsets)
        products = at.products(self.i, self.a)
        thresholds = self.loss.best_thresholds(products + added)
        margins = (self.loss.signs * products[:, None]).ravel()
        missed = self.loss.missed(added, thresholds).ravel()
        size = factor_norm(at.U, at.V, self.norm)
        scale = _best_scale(margins, missed, size, self.c)
        root = np.sqrt(scale)
        at = replace(at, U=root * at.U, V=root * at.V, size=float(scale * size))
        return self.valued(at)

    def proof(self, at: FactorModel, width: float) -> Proof:
        """The bound that the slopes of the loss prove."""
        scores = at.scores(self.i, self.a)
        found = self.loss.multipliers(scores, at.thresholds, width, self.c)
        return self.proved(found, self._scales(at, self.entries.spread(found.weights)))

    def proved(
        self,
        found: LossMultipliers,
        scales: tuple[Any, Any] | None,
        *,
        rigorous: bool = False,
    ) -> Proof:
        """The bound of the best multiple of multipliers."""
        P = self.entries.spread(found.weights)
        size = dual_norm(P, self.norm, scales, rigorous=rigorous)
        quadratic = found.quadratic + self.offsets.taken(found.weights, self.c)
        limits = [found.most]
        limits += [1.0 / size] if size > 0.0 else []
        limits += [found.linear / (2.0 * quadratic)] if quadratic > 0.0 else []
        t = min(limits)
        if not 0.0 < t < np.inf:
            return Proof(0.0, 0.0 * found.weights, P, scales)
        rounding = (8.0 + found.weights.size) * _EPS
        linear = t * (found.linear - rounding * abs(found.linear))
        bound = linear - t * t * quadratic * (1.0 + 4.0 * rounding)
        return Proof(max(bound, 0.0), t * found.weights, P, scales)

    def weighed(
        self, weights: Array, scales: tuple[Any, Any] | None, *, rigorous: bool = False
    ) -> Proof:
        """The bound that weights of the margins of a hinge prove, clipped from 0 to c.

        Its multipliers are these weights before they are scaled, since a weight of c marks a margin
        that is not met.
        """
        weights = self._clipped(weights)
        proof = self.proved(self._multipliers(weights), scales, rigorous=rigorous)
        return replace(proof, weights=self._summed(weights))

    def weighed_at(self, at: FactorModel, weights: Array) -> Proof:
        """The same, with the scales that belong to a matrix near the best."""
        found = self._multipliers(self._clipped(weights))
        scales = self._scales(at, self.entries.spread(found.weights))
        return self.weighed(weights, scales)

    def _clipped(self, weights: Array) -> Array:
        assert isinstance(self.loss, Hinge)
        clipped = np.clip(np.nan_to_num(weights), 0.0, self.c)
        return np.asarray(clipped.reshape(self.loss.signs.shape))

    def _multipliers(self, weights: Array) -> LossMultipliers:
        assert isinstance(self.loss, Hinge)
        # Squares of tiny weights are zero. Any multiple of them has the same bound.
        unit = float(np.max(weights)) or 1.0
        return self.loss.weighted(weights / unit, self.c)

    def _summed(self, weights: Array) -> Array:
        assert isinstance(self.loss, Hinge)
        return np.sum(self.loss.signs * weights, axis=1)

    def _scales(self, at: FactorModel, P: sp.csr_array) -> tuple[Array, Array] | None:
        if self.norm == "trace":
            return None
        # Factors may be zero wherever P is not.
        V = at.V if np.any(P @ at.V) else self.random.standard_normal((P.shape[1], MORE))
        U, V = aligned(P, V)
        return np.linalg.norm(P @ V, axis=1), np.linalg.norm(P.T @ U, axis=1)


def _best_scale(margins: Array, missed: Array, size: float, c: float) -> float:
    r"""The t >= 0 of least :math:`t |M| + c \sum \max(0, r_e - t m_e)`, with r what is missed."""
    if not np.isfinite(c):
        least = float(np.min(margins))
        # A little more, or rounding undoes the margin.
        return (1.0 + 4.0 * _EPS) / least if least > 0.0 else 1.0
    # The slope jumps by c |m_e| at t = r_e / m_e.
    falling = (missed > 0.0) | ((missed == 0.0) & (margins < 0.0))
    turning = missed * margins > 0.0
    kinks, jumps = missed[turning] / margins[turning], np.abs(margins[turning])
    order = np.argsort(kinks)
    first_slope = size - c * float(np.sum(margins[falling]))
    slopes = first_slope + c * np.concatenate([[0.0], np.cumsum(jumps[order])])
    first = int(np.argmax(slopes >= 0.0))
    return 0.0 if first == 0 else float(kinks[order[first - 1]])
