r"""The convex program of a completion: its value, and bounds from any multipliers.

.. math::

    \min_{M, b, d}\ |M|_{\mathrm{tr}} + c\,\Bigl(\sum_S \ell(M_{ia} + b_i + d_a)
    + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr)

The trace norm of M is the least :math:`\tfrac12 (|U|^2 + |V|^2)` over :math:`M = U V^T`. For any
multipliers P of the loss whose spectral norm is at most one,

.. math::

    \ell\text{'s linear terms at } P \;-\; \frac{|P 1|^2 + |P^T 1|^2}{2 c \kappa}

is a bound on the optimum. Any P is scaled to the best multiple that fits, so every answer comes
with a proved gap, however it was found (``docs/methods/mmmf.rst``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.mmmf.entries import Observed
from sdpdr.families.limits import ROUNDING, least_margin
from sdpdr.linalg.verified import is_verified_positive

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class MarginFactorization:
    r"""A matrix :math:`M = U V^T` with offsets, and its distance from the best.

    Attributes
    ----------
    U, V : arrays of shape (p, k) and (q, k)
    rows, columns : arrays of shape (p,) and (q,)
        Offsets b and d; zero if there are none.
    value : float
        :math:`|M| + c\,(\sum \ell + \tfrac{\kappa}{2} (|b|^2 + |d|^2))`; ``inf`` if a hard margin
        is not met.
    bound : float
        Proved: no matrix has a smaller value.
    multipliers : array
        One multiplier for each sign, which prove the bound (`margin_bound`); under the squared
        loss, penalized residuals.
    history : tuple of mappings
        Iteration, value, bound, gap and seconds along the way.
    iterations : int
    """

    U: Array
    V: Array
    rows: Array
    columns: Array
    value: float = np.inf
    bound: float = 0.0
    multipliers: Array = field(default_factory=lambda: np.zeros(0))
    history: tuple[Mapping[str, Any], ...] = ()
    iterations: int = 0

    @property
    def gap(self) -> float:
        """Excess of the value over the bound, relative to the value."""
        if not np.isfinite(self.value):
            return float("inf")
        return (self.value - self.bound) / self.value if self.value > 0.0 else 0.0

    @property
    def norm(self) -> float:
        """At least the trace norm of M, and equal to it for factors along singular vectors."""
        return float(np.linalg.norm(self.U) * np.linalg.norm(self.V))

    @property
    def matrix(self) -> Array:
        """M, shape (p, q)."""
        return np.asarray(self.U @ self.V.T)

    @property
    def scores(self) -> Array:
        """M with its offsets, shape (p, q)."""
        return np.asarray(self.matrix + self.rows[:, None] + self.columns)

    @property
    def is_zero(self) -> bool:
        """Whether M is zero, as it is if the loss is too cheap."""
        return not np.any(self.U) or not np.any(self.V)

    def products(self, i: Any, a: Any) -> Array:
        """Entries of M at positions."""
        return np.einsum("ek,ek->e", self.U[i], self.V[a])

    def scores_at(self, i: Any, a: Any) -> Array:
        """Entries of M with its offsets at positions."""
        return np.asarray(self.products(i, a) + self.rows[i] + self.columns[a])

    def better(
        self, other: MarginFactorization, bound: float, multipliers: Array
    ) -> MarginFactorization:
        """The better value joined with the better bound."""
        best = self
        if other.value < best.value:
            best = replace(other, bound=best.bound, multipliers=best.multipliers)
        if bound > best.bound:
            best = replace(best, bound=bound, multipliers=multipliers)
        return best

    def record(self, iteration: int, deadline: Deadline) -> dict[str, Any]:
        """An entry of the history."""
        own = {"value": self.value, "bound": self.bound, "gap": self.gap}
        return {"iteration": iteration, **own, "seconds": deadline.spent}


@dataclass(frozen=True, eq=False)
class Program(ABC):
    """A completion program: c is the penalty of the loss, ridge that of offsets, inf for none."""

    entries: Observed
    c: float
    ridge: float = np.inf

    @property
    def has_offsets(self) -> bool:
        """Whether rows and columns have offsets."""
        return bool(np.isfinite(self.ridge))

    @property
    @abstractmethod
    def targets(self) -> Array:
        """The scores that are wanted."""

    @abstractmethod
    def loss(self, scores: Array) -> float:
        """The loss of scores, before its penalty."""

    @abstractmethod
    def proximal(self, scores: Array, rho: float) -> Array:
        r"""Multipliers of the loss in its proximal step from some scores.

        The scores that minimize the penalized loss and :math:`\tfrac{\rho}{2}` times the squared
        distance from these are larger by :math:`P / \rho`.
        """

    @property
    @abstractmethod
    def signs(self) -> Array | float:
        """The entries of P for multipliers of one."""

    @property
    @abstractmethod
    def limits(self) -> tuple[float, float]:
        """The least and the largest multiplier."""

    @property
    @abstractmethod
    def curvature(self) -> float:
        """The second derivative of the penalized loss's conjugate, in P."""

    def start(self) -> MarginFactorization:
        """The zero matrix without offsets."""
        p, q = self.entries.shape
        U, V, rows, columns = (np.zeros(shape) for shape in ((p, 0), (q, 0), p, q))
        return self.valued(MarginFactorization(U, V, rows, columns))

    def sums(self, weights: Array) -> tuple[Array, Array]:
        """Sums of weights of entries over rows, and over columns."""
        (p, q), (i, a) = self.entries.shape, (self.entries.rows, self.entries.columns)
        return np.bincount(i, weights, p).astype(float), np.bincount(a, weights, q).astype(float)

    def valued(self, at: MarginFactorization) -> MarginFactorization:
        """The same matrix, and its value."""
        loss = self.loss(at.scores_at(self.entries.rows, self.entries.columns))
        if self.has_offsets:
            loss += 0.5 * self.ridge * float(at.rows @ at.rows + at.columns @ at.columns)
        return replace(at, value=at.norm + self.c * loss)

    def bound(self, multipliers: Array, *, rigorous: bool = False) -> float:
        """The bound that the best multiple of multipliers proves, which are clipped first."""
        Q = np.clip(np.nan_to_num(multipliers), *self.limits)
        if not np.any(Q):
            return 0.0
        # Squares of tiny multipliers are zero. Any multiple of them has the same bound.
        P = self.signs * (Q / np.max(np.abs(Q)))
        rounding = (8.0 + P.size) * _EPS
        linear = float(P @ self.targets - rounding * (np.abs(P) @ np.abs(self.targets)))
        quadratic = 0.5 * self.curvature * float(P @ P)
        if self.has_offsets:
            squares = sum(float(side @ side) for side in self.sums(P))
            quadratic += squares / (2.0 * self.c * self.ridge)
        size = spectral_norm(self.entries.spread(P), rigorous=rigorous)
        best = linear / (2.0 * quadratic) if quadratic > 0.0 else np.inf
        t = max(0.0, min(self.limits[1], 1.0 / size, best))
        return max(t * linear - t * t * quadratic * (1.0 + 4.0 * rounding), 0.0)


class HingeProgram(Program):
    r"""The program of the loss :math:`\sum_{ia} \max(0, 1 - Y_{ia} f_{ia})` of signs Y.

    Multipliers Q lie between 0 and c, and :math:`P = Q \circ Y`.
    """

    @property
    def targets(self) -> Array:
        """Y."""
        return self.entries.values

    def loss(self, scores: Array) -> float:
        """The hinge."""
        return float(np.sum(np.maximum(1.0 - self.targets * scores, 0.0)))

    def proximal(self, scores: Array, rho: float) -> Array:
        """At c a margin is not met, and below it is met exactly."""
        return np.clip(rho * (1.0 - self.targets * scores), *self.limits)

    @property
    def signs(self) -> Array:
        """Y."""
        return self.entries.values

    @property
    def limits(self) -> tuple[float, float]:
        """From 0 to c."""
        return 0.0, self.c

    @property
    def curvature(self) -> float:
        """None: the conjugate is linear between the limits."""
        return 0.0

    def valued(self, at: MarginFactorization) -> MarginFactorization:
        """The same matrix, and its value; for hard margins the least multiple that meets them."""
        if np.isfinite(self.c):
            return super().valued(at)
        seen = self.entries.rows, self.entries.columns
        least = float(np.min(self.targets * at.products(*seen)))
        # A little more, or rounding undoes the margin.
        root = np.sqrt((1.0 + 4.0 * _EPS) / least) if least > 0.0 else 1.0
        at = replace(at, U=root * at.U, V=root * at.V)
        is_met = self.loss(at.scores_at(*seen)) == 0.0
        return replace(at, value=at.norm if is_met else np.inf)


class SquaredProgram(Program):
    r"""The program of the loss :math:`\tfrac12 \sum (r_{ia} - f_{ia})^2`.

    Targets r are ratings less their mean. Multipliers are penalized residuals, and P itself.
    """

    @cached_property
    def targets(self) -> Array:
        """Ratings less their mean."""
        return self.entries.values - np.mean(self.entries.values)

    def loss(self, scores: Array) -> float:
        """Half the squared errors."""
        missed = scores - self.targets
        return 0.5 * float(missed @ missed)

    def proximal(self, scores: Array, rho: float) -> Array:
        """The step ends at a mean of target and scores, weighted by c and rho."""
        return np.asarray((self.targets - scores) / (1.0 / self.c + 1.0 / rho))

    @property
    def signs(self) -> float:
        """One: multipliers are P."""
        return 1.0

    @property
    def limits(self) -> tuple[float, float]:
        """None."""
        return -np.inf, np.inf

    @property
    def curvature(self) -> float:
        """1 / c."""
        return 1.0 / self.c


def spectral_norm(P: sp.csr_array, *, rigorous: bool = False) -> float:
    """An upper bound on the largest singular value: by a margin of rounding, or verified."""
    dense = P.toarray()
    gram = dense @ dense.T if P.shape[0] < P.shape[1] else dense.T @ dense
    last = len(gram) - 1
    square = float(sl.eigvalsh(gram, subset_by_index=(last, last))[0])
    size = float(np.sqrt(max(0.0, square))) * (1.0 + 8.0 * sum(P.shape) * _EPS)
    if not rigorous:
        return size
    offset = sp.block_array([[None, P], [P.T, None]], format="csr")
    unit = sp.eye_array(sum(P.shape), format="csr")

    def is_above(margin: float) -> bool:
        t = size * (1.0 + margin)
        return is_verified_positive(sp.csr_array(t * unit + offset), sp.csr_array(_EPS * t * unit))

    margin = least_margin(is_above, 10.0 * ROUNDING)
    return float("inf") if margin is None else size * (1.0 + margin)


def principal(U: Array, V: Array) -> tuple[Array, Array]:
    """Balanced factors of the same product with orthogonal columns, the longest first."""
    if not U.shape[1]:
        return U, V
    (left, R), (right, S) = np.linalg.qr(U), np.linalg.qr(V)
    inner, sizes, outer = np.linalg.svd(R @ S.T, full_matrices=False)
    kept = sizes > ROUNDING * max(sizes[0], 1e-300)
    roots = np.sqrt(sizes[kept])
    return left @ inner[:, kept] * roots, right @ outer[kept].T * roots
