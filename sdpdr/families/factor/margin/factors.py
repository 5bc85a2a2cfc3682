r"""Completion on factors, for tens of thousands of entries, with the bound of the convex program.

.. math::

    \min_{M, b, d, \theta}\ |M| + c\,\Bigl(\sum_S \ell(M_{ia} + b_i + d_a, \theta)
    + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr)

On factors :math:`M = U V^T` the trace norm is the least of :math:`\tfrac12 (|U|^2 + |V|^2)`, and
the max-norm the longest row. There the program is smooth, but for the hinge, of which the kink is
rounded off ever more closely; L-BFGS minimises it. Multipliers P come from the gradient of the
loss: for any P whose dual norm is at most one,

.. math::

    \ell\text{'s linear terms at } P \;-\; \frac{|P 1|^2 + |P^T 1|^2}{2 c \kappa}

is a bound on the optimum, and directions in which the dual norm exceeds one are those in which
new columns of U and V pay. So columns are added until the bound meets the value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.margin.entries import Observed
from sdpdr.families.factor.margin.losses import Hinge, Loss, LossMultipliers
from sdpdr.families.factor.margin.norms import (
    Factors,
    MaxFactors,
    TraceFactors,
    aligned,
    dual_norm,
)
from sdpdr.families.factor.margin.offsets import Offsets

# Columns that are added at once: at least so many, or as many as there are.
MORE = 20
# The whole product is faster than so many times fewer of its entries, one by one.
_DENSE = 30
# Products with so many entries or fewer are faster than sparse ones.
_SMALL = 20_000


@dataclass(frozen=True, eq=False)
class Completion:
    """A matrix with offsets and thresholds, its value, and a bound on the best.

    Attributes
    ----------
    U, V : arrays of shape (p, k) and (q, k)
        Factors, the longest columns first, which are orthogonal; for the max-norm, those of U
        above V are.
    rows, columns : arrays of shape (p,) and (q,)
        Offsets b and d.
    shared : array
        Thresholds, if there are any.
    value, bound : float
    weights : array of shape (m,)
        P, which proves the bound.
    scales : pair of arrays
        Of rows and columns, with which it does for the max-norm.
    size : float
        The norm of these factors.
    history : tuple of mappings
        Value, bound, columns and seconds after each round.
    """

    U: Array
    V: Array
    rows: Array
    columns: Array
    shared: Array
    value: float = np.inf
    bound: float = 0.0
    weights: Array = field(default_factory=lambda: np.zeros(0))
    scales: tuple[Array, Array] | None = None
    size: float = 0.0
    history: tuple[dict[str, Any], ...] = ()

    @property
    def gap(self) -> float:
        """The value's excess over the bound, relative to the value."""
        if not np.isfinite(self.value):
            return float("inf")
        return (self.value - self.bound) / self.value if self.value > 0.0 else 0.0

    @property
    def offsets(self) -> Array:
        """Those of rows before those of columns, shape (p + q,)."""
        return np.concatenate([self.rows, self.columns])

    @property
    def matrix(self) -> Array:
        """M with its offsets, shape (p, q)."""
        return np.asarray(self.U @ self.V.T + self.rows[:, None] + self.columns)

    def record(self, deadline: Deadline, **more: float) -> dict[str, Any]:
        """A line of the history."""
        own = {"value": self.value, "bound": self.bound, "gap": self.gap}
        return {**own, "columns": self.U.shape[1], "seconds": deadline.spent, **more}

    def better(self, other: Completion, proof: Proof) -> Completion:
        """The better value and the better bound."""
        best = self
        if other.value < best.value:
            best = replace(other, bound=best.bound, weights=best.weights, scales=best.scales)
        return best.proved(proof) if proof.bound > best.bound else best

    def proved(self, proof: Proof) -> Completion:
        """With another bound."""
        return replace(self, bound=proof.bound, weights=proof.weights, scales=proof.scales)

    def scores(self, i: Any, a: Any) -> Array:
        """M with its offsets at places."""
        if len(self.U) * len(self.V) <= _DENSE * len(i):
            products = (self.U @ self.V.T)[i, a]
        else:
            products = np.einsum("ek,ek->e", self.U[i], self.V[a])
        return np.asarray(products + self.rows[i] + self.columns[a])


@dataclass(frozen=True, eq=False)
class Proof:
    """A bound, the multipliers that prove it, and what they were before they were scaled.

    Attributes
    ----------
    bound : float
    weights : array of shape (m,)
    P : sparse array of shape (p, q)
        Multipliers as they come from the slopes of the loss.
    scales : pair of arrays or None
        Of rows and columns, for the max-norm.
    """

    bound: float
    weights: Array
    P: sp.csr_array
    scales: tuple[Array, Array] | None


class Program:
    """A completion program: its value, slopes and bounds.

    Parameters
    ----------
    entries : Observed
    loss : Loss
    norm : {"trace", "max"}
    c : float
        Price of the loss.
    ridge : float
        Price of squared offsets; infinite for none.
    random_state : int or RandomState, optional
        Of the search for directions, which only approximates singular vectors.

    Attributes
    ----------
    unit : array of shape (p + q,)
        Of offsets, in which their curvature is about one; zero where there are none.
    shared_unit : float
        Of thresholds.
    random : RandomState
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
        self.entries, self.loss, self.c, self.ridge = entries, loss, c, ridge
        self.factors: Factors = TraceFactors() if norm == "trace" else MaxFactors()
        self.i, self.a = entries.places.T
        self.offsets = Offsets(entries, ridge)
        self.unit = 1.0 / np.sqrt(c * (self.offsets.counts + ridge))
        self.shared_unit = 1.0 / np.sqrt(c * self.i.size)

    def priced(self, c: float) -> Program:
        """The same program at another price of the loss."""
        return Program(self.entries, self.loss, self.factors.name, c, self.ridge, self._seed)

    def start(self) -> Completion:
        """Zero factors; offsets are left to the first steps."""
        (p, q), none = self.entries.shape, np.zeros
        shared, weights = self.loss.first_shared(), none(self.i.size)
        return Completion(none((p, 0)), none((q, 0)), none(p), none(q), shared, weights=weights)

    def slopes(self, at: Completion, width: float) -> tuple[float, Array, Array, Array]:
        """The price of smoothed loss and offsets; slopes in factors, offsets, thresholds."""
        total, slope, shared = self.loss.smooth(at.scores(self.i, self.a), at.shared, width)
        weights = self.c * slope
        G = self._spread(weights)
        pulled = self.offsets.pulled(weights)
        if self.offsets.exist:
            offsets = at.offsets
            total += self.offsets.price(offsets)
            pulled = pulled + self.c * self.ridge * offsets
        return self.c * total, np.vstack([G @ at.V, G.T @ at.U]), pulled, self.c * shared

    def _spread(self, weights: Array) -> Any:
        """Weights at the places observed; of few places a matrix that is not sparse."""
        if np.prod(self.entries.shape) > _SMALL:
            return self.entries.spread(weights)
        G = np.zeros(self.entries.shape)
        G[self.i, self.a] = weights
        return G

    def valued(self, at: Completion) -> Completion:
        """The same matrix with the best thresholds, and its value."""
        scores = at.scores(self.i, self.a)
        shared = self.loss.best_shared(scores)
        return replace(at, shared=shared, value=at.size + self.paid(scores, shared, at.offsets))

    def paid(self, scores: Array, shared: Array, offsets: Array) -> float:
        """The price of the loss and of offsets; infinite where a hard margin is missed."""
        loss = self.loss.exact(scores, shared)
        if not np.isfinite(self.c):
            return float("inf") if loss > 0.0 else 0.0
        return self.c * (loss + self.offsets.price(offsets))

    def proof(self, at: Completion, width: float) -> Proof:
        """The bound that the slopes of the loss prove."""
        scores = at.scores(self.i, self.a)
        found = self.loss.multipliers(scores, at.shared, width, self.c)
        return self.proved(found, self._scales(at, self.entries.spread(found.weights)))

    def proved(
        self,
        found: LossMultipliers,
        scales: tuple[Any, Any] | None,
        *,
        rigorous: bool = False,
    ) -> Proof:
        """The bound that multipliers prove, scaled to the best of what fits."""
        P = self.entries.spread(found.weights)
        size = dual_norm(P, self.factors.name, scales, rigorous=rigorous)
        quadratic = found.quadratic + self.offsets.taken(found.weights, self.c)
        limits = [found.most]
        limits += [1.0 / size] if size > 0.0 else []
        limits += [found.linear / (2.0 * quadratic)] if quadratic > 0.0 else []
        t = min(limits)
        if not 0.0 < t < np.inf:
            return Proof(0.0, 0.0 * found.weights, P, scales)
        rounding = (8.0 + found.weights.size) * float(np.finfo(float).eps)
        linear = t * (found.linear - rounding * abs(found.linear))
        bound = linear - t * t * quadratic * (1.0 + 4.0 * rounding)
        return Proof(max(bound, 0.0), t * found.weights, P, scales)

    def weighed(
        self, weights: Array, scales: tuple[Any, Any] | None, *, rigorous: bool = False
    ) -> Proof:
        """The bound that weights of all margins of a hinge prove, put between 0 and the price."""
        assert isinstance(self.loss, Hinge)
        weights = np.clip(np.nan_to_num(weights), 0.0, self.c).reshape(self.loss.signs.shape)
        # Squares of tiny weights are zero. Any multiple of them has the same bound.
        unit = float(np.max(weights)) or 1.0
        return self.proved(self.loss.weighted(weights / unit, self.c), scales, rigorous=rigorous)

    def _scales(self, at: Completion, P: sp.csr_array) -> tuple[Array, Array] | None:
        if self.factors.name == "trace":
            return None
        # Factors may be zero wherever P is not.
        V = at.V if np.any(P @ at.V) else self.random.standard_normal((P.shape[1], MORE))
        U, V = aligned(P, V)
        return np.linalg.norm(P @ V, axis=1), np.linalg.norm(P.T @ U, axis=1)
