r"""The convex program of a completion: its value, its slopes, and bounds from any multipliers.

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
from typing import Any, NamedTuple

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

    def better(self, other: MarginFactorization, proof: Proof) -> MarginFactorization:
        """The better value joined with the better bound."""
        best = self
        if other.value < best.value:
            best = replace(other, bound=best.bound, multipliers=best.multipliers)
        if proof.bound > best.bound:
            best = replace(best, bound=proof.bound, multipliers=proof.multipliers)
        return best

    def record(self, iteration: int, deadline: Deadline) -> dict[str, Any]:
        """An entry of the history."""
        own = {"value": self.value, "bound": self.bound, "gap": self.gap}
        return {"iteration": iteration, **own, "seconds": deadline.spent}


class Proof(NamedTuple):
    """A bound, the multipliers that prove it, and their matrix before it is scaled."""

    bound: float
    multipliers: Array
    P: sp.csr_array


class LinearTerms(NamedTuple):
    r"""Linear terms below the penalized loss.

    For any t from 0 to ``most`` the loss times its penalty is at least
    :math:`t\,\text{linear} - t^2\,\text{quadratic} - t \langle P, f \rangle`.
    """

    P: Array
    linear: float
    quadratic: float
    most: float


class Program(ABC):
    """A completion program: c is the penalty of the loss, ridge that of offsets, inf for none."""

    def __init__(self, entries: Observed, c: float, ridge: float = np.inf) -> None:
        self.entries, self.c, self.ridge = entries, c, ridge
        self.i, self.a, self.has_offsets = entries.rows, entries.columns, bool(np.isfinite(ridge))

    @abstractmethod
    def loss(self, scores: Array, width: float = 0.0) -> tuple[float, Array]:
        """The loss of scores, with a parabola of this width in place of a kink, and its slope."""

    @abstractmethod
    def linear_terms(self, multipliers: Array) -> LinearTerms:
        """Linear terms of multipliers."""

    @abstractmethod
    def solve(self, tol: float, max_iter: int, deadline: Deadline) -> MarginFactorization:
        """The best matrix found, and the best bound, until they agree."""

    def start(self) -> MarginFactorization:
        """The zero matrix without offsets."""
        p, q = self.entries.shape
        U, V, rows, columns = (np.zeros(shape) for shape in ((p, 0), (q, 0), p, q))
        return MarginFactorization(U, V, rows, columns)

    def sums(self, weights: Array) -> tuple[Array, Array]:
        """Sums of weights of entries over rows, and over columns."""
        p, q = self.entries.shape
        rows, columns = np.bincount(self.i, weights, p), np.bincount(self.a, weights, q)
        return rows.astype(float), columns.astype(float)

    def slopes(self, at: MarginFactorization, width: float) -> tuple[float, dict[str, Array]]:
        """Objective with a smoothed loss, and its gradients in all parts of a matrix."""
        total, slope = self.loss(at.scores_at(self.i, self.a), width)
        G, (rows, columns) = self.entries.spread(self.c * slope), self.sums(self.c * slope)
        if self.has_offsets:
            rows += self.c * self.ridge * at.rows
            columns += self.c * self.ridge * at.columns
        size = 0.5 * float(np.sum(at.U**2) + np.sum(at.V**2))
        return size + self.c * (total + self._offset_penalty(at)), {
            "U": at.U + G @ at.V, "V": at.V + G.T @ at.U, "rows": rows, "columns": columns,
        }  # fmt: skip

    def valued(self, at: MarginFactorization) -> MarginFactorization:
        """The same matrix, and its value."""
        loss, _ = self.loss(at.scores_at(self.i, self.a))
        return replace(at, value=at.norm + self.c * (loss + self._offset_penalty(at)))

    def _offset_penalty(self, at: MarginFactorization) -> float:
        squares = float(at.rows @ at.rows + at.columns @ at.columns)
        return 0.5 * self.ridge * squares if self.has_offsets else 0.0

    def proof(self, multipliers: Array, *, rigorous: bool = False) -> Proof:
        """The bound of the best multiple of multipliers, which are returned as they are."""
        P, linear, quadratic, most = self.linear_terms(multipliers)
        matrix, rounding = self.entries.spread(P), (8.0 + P.size) * _EPS
        size = spectral_norm(matrix, rigorous=rigorous)
        if self.has_offsets:
            squares = sum(float(side @ side) for side in self.sums(P))
            quadratic += squares / (2.0 * self.c * self.ridge)
        limits = [most]
        limits += [1.0 / size] if size > 0.0 else []
        limits += [linear / (2.0 * quadratic)] if quadratic > 0.0 else []
        t = min(limits)
        if not 0.0 < t < np.inf:
            return Proof(0.0, multipliers, matrix)
        bound = t * (linear - rounding * abs(linear)) - t * t * quadratic * (1.0 + 4.0 * rounding)
        return Proof(max(bound, 0.0), multipliers, matrix)


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
