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
from scipy.optimize import minimize, minimize_scalar
from sklearn.utils.extmath import randomized_svd

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.margin.bound import dual_norm
from sdpdr.families.factor.margin.entries import Entries
from sdpdr.families.factor.margin.losses import Loss, Multipliers
from sdpdr.families.factor.margin.norms import (
    Factors,
    MaxFactors,
    TraceFactors,
    aligned,
    evened,
    principal,
)
from sdpdr.families.factor.margin.offsets import Offsets

# Columns that are added at once: at least so many, or half of what there are.
_MORE = 20
_STEPS = 300
# The parabola that rounds off a kink is this wide at first, and narrowed by this factor.
_WIDTH, _NARROWED = 0.25, 0.5
# Rounds without a better gap after which no more is hoped for.
_PATIENCE = 15
# Part of the norm that new columns bring.
_NEW = 0.05
# The whole product is faster than so many times fewer of its entries, one by one.
_DENSE = 30
# Products with so many entries or fewer are faster than sparse ones.
_SMALL = 20_000
# Widths of the parabola where rows are folded in, each from where the last ended. Scores were off
# by up to 1.7 of the last on planted signs, by 7 of a tenth of it, where descent ends too early.
FOLDED = (1e-2, 1e-3, 1e-4)


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
        return (self.value - self.bound) / self.value if self.value > 0.0 else 0.0

    def record(self, width: float, deadline: Deadline) -> dict[str, Any]:
        """A line of the history."""
        return {
            "value": self.value,
            "bound": self.bound,
            "columns": self.U.shape[1],
            "gap": self.gap,
            "width": width,
            "seconds": deadline.spent,
        }

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
    scales : pair of arrays
        Of rows and columns, for the max-norm.
    """

    bound: float
    weights: Array
    P: sp.csr_array
    scales: tuple[Array, Array]


class Program:
    """A completion program: its value, slopes and bounds.

    Parameters
    ----------
    entries : Entries
    loss : Loss
    norm : {"trace", "max"}
    c : float
        Price of the loss.
    ridge : float
        Price of squared offsets; infinite for none.
    random_state : int or RandomState, optional
        Of the search for directions, which only approximates singular vectors.
    """

    def __init__(
        self,
        entries: Entries,
        loss: Loss,
        norm: str,
        c: float,
        ridge: float,
        random_state: Any = None,
    ) -> None:
        self._seed = validate.seed(random_state)
        self._random = np.random.RandomState(self._seed)
        self.entries, self.loss, self.c, self.ridge = entries, loss, c, ridge
        self.factors: Factors = TraceFactors() if norm == "trace" else MaxFactors()
        self.i, self.a = entries.places.T
        self.offsets = Offsets(entries, ridge)
        # Offsets in units in which their curvature is about one.
        self._unit = 1.0 / np.sqrt(c * (self.offsets.counts + ridge))
        self._shared_unit = 1.0 / np.sqrt(c * self.i.size)

    def priced(self, c: float) -> Program:
        """The same program at another price of the loss."""
        return Program(self.entries, self.loss, self.factors.name, c, self.ridge, self._seed)

    def start(self) -> Completion:
        """Zero factors; offsets are left to the first steps."""
        (p, q), none = self.entries.shape, np.zeros
        return Completion(none((p, 0)), none((q, 0)), none(p), none(q), self.loss.first_shared())

    def slopes(self, at: Completion, width: float) -> tuple[float, Array, Array, Array]:
        """The price of smoothed loss and offsets; slopes in factors, offsets, thresholds."""
        total, slope, shared = self.loss.smooth(at.scores(self.i, self.a), at.shared, width)
        weights = self.c * slope
        G = self._spread(weights)
        pulled = self.offsets.pulled(weights)
        if self.offsets.exist:
            offsets = np.concatenate([at.rows, at.columns])
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

    def improved(self, at: Completion, width: float, tol: float, deadline: Deadline) -> Completion:
        """A minimum over factors with as many columns as there are."""
        p, q = self.entries.shape
        n, has_factors, shared = p + q, at.U.shape[1] > 0, self.loss.n_shared

        def decoded(x: Array) -> tuple[Completion, float, Array]:
            tail = n + shared
            head = x[: x.size - tail]
            F, size = self.factors.decode(head, n) if has_factors else (np.zeros((n, 0)), 0.0)
            offsets = self._unit * x[x.size - tail : x.size - shared]
            thresholds = self._shared_unit * x[x.size - shared :]
            point = replace(at, U=F[:p], V=F[p:], rows=offsets[:p], columns=offsets[p:])
            return replace(point, shared=thresholds), size, head

        def value(x: Array) -> tuple[float, Array]:
            point, size, head = decoded(x)
            total, slope, pulled, thresholds = self.slopes(point, width)
            F = np.vstack([point.U, point.V])
            factors = self.factors.pull(head, F, slope) if has_factors else head
            rest = (self._unit * pulled, self._shared_unit * thresholds)
            return size + total, np.concatenate([factors, *rest])

        def stop(_: Array) -> None:
            if deadline.is_over():
                raise StopIteration

        # Without a ridge there are no offsets: their unit is zero.
        unit = np.where(self._unit > 0.0, self._unit, 1.0)
        head = self.factors.encode(np.vstack([at.U, at.V])) if has_factors else np.zeros(0)
        offsets = np.concatenate([at.rows, at.columns]) / unit
        first = np.concatenate([head, offsets, at.shared / self._shared_unit])
        options = {"maxiter": _STEPS, "ftol": 1e-5 * tol, "gtol": 0.0}
        found = minimize(value, first, jac=True, method="L-BFGS-B", callback=stop, options=options)
        point = decoded(found.x)[0]
        U, V, size = principal(point.U, point.V, self.factors.name)
        return replace(point, U=U, V=V, size=size)

    def folded(self, at: Completion) -> Completion:
        """The best factors and offsets of new rows, those of the columns being what they are."""
        n, k = len(self._unit) - len(at.V), at.V.shape[1]
        fixed = [] if self.factors.name == "trace" else [np.log(max(at.size, 1e-300))]
        unit = self._unit[:n]

        def decoded(x: Array) -> tuple[Completion, float, Array]:
            head = np.append(x[:-n], fixed)
            U, size = self.factors.decode(head, n)
            return replace(at, U=U, rows=unit * x[-n:]), size, head

        def value(x: Array, width: float) -> tuple[float, Array]:
            point, size, head = decoded(x)
            total, slope, pulled, _ = self.slopes(point, width)
            factors = self.factors.pull(head, point.U, slope[:n])[: x.size - n]
            return size + total, np.append(factors, unit * pulled[:n])

        zero = self.factors.encode(np.zeros((n, k)))
        x = np.append(zero[: zero.size - len(fixed)], np.zeros(n))
        options = {"maxiter": 50 * _STEPS, "ftol": 1e-14, "gtol": 1e-9}
        for width in FOLDED:
            x = minimize(value, x, (width,), "L-BFGS-B", jac=True, options=options).x
        return decoded(x)[0]

    def least_price(self) -> float:
        """The price up to which the best matrix is zero; a loss with a kink gives about that.

        It is infinite where offsets and thresholds alone leave nothing to pay for.
        """
        program = self.priced(1.0 / self.i.size)
        proof = program.proof(
            program.improved(self.start(), FOLDED[0], 1e-3, Deadline()), FOLDED[0]
        )
        size = dual_norm(proof.P, self.factors.name, proof.scales)
        return program.c / size if size > 0.0 else np.inf

    def valued(self, at: Completion) -> Completion:
        """The same matrix with the best thresholds, and its value."""
        scores = at.scores(self.i, self.a)
        shared = self.loss.best_shared(scores)
        price = self.offsets.price(np.concatenate([at.rows, at.columns]))
        value = at.size + self.c * (self.loss.exact(scores, shared) + price)
        return replace(at, shared=shared, value=value)

    def proof(self, at: Completion, width: float) -> Proof:
        """The bound that the slopes of the loss prove."""
        scores = at.scores(self.i, self.a)
        found = self.loss.multipliers(scores, at.shared, width, self.c)
        return self.proved(found, self._scales(at, self.entries.spread(found.weights)))

    def proved(self, found: Multipliers, scales: tuple[Array, Array] | None) -> Proof:
        """The bound that multipliers prove, scaled to the best of what fits."""
        P = self.entries.spread(found.weights)
        if scales is None:
            scales = np.ones(P.shape[0]), np.ones(P.shape[1])
        size = dual_norm(P, self.factors.name, scales)
        quadratic = found.quadratic + self.offsets.taken(found.weights, self.c)
        limits = [found.most]
        limits += [1.0 / size] if size > 0.0 else []
        limits += [found.linear / (2.0 * quadratic)] if quadratic > 0.0 else []
        t = min(limits)
        if not 0.0 < t < np.inf:
            return Proof(0.0, 0.0 * found.weights, P, scales)
        rounding = (8.0 + found.weights.size) * float(np.finfo(float).eps)
        linear = t * (found.linear - rounding * abs(found.linear))
        bound = linear - t * t * quadratic * (1.0 + rounding)
        return Proof(max(bound, 0.0), t * found.weights, P, scales)

    def _scales(self, at: Completion, P: sp.csr_array) -> tuple[Array, Array] | None:
        if self.factors.name == "trace":
            return None
        # Factors may be zero wherever P is not.
        V = at.V if np.any(P @ at.V) else self._random.standard_normal((P.shape[1], _MORE))
        U, V = aligned(P, V)
        return np.linalg.norm(P @ V, axis=1), np.linalg.norm(P.T @ U, axis=1)

    def grown(self, at: Completion, proof: Proof, tol: float) -> Completion:
        """New columns in the directions of the largest singular values above one."""
        if not np.any(proof.P.data):
            # Every rounded margin is met: no direction pays.
            return at
        k = at.U.shape[1]
        if not k and self.factors.name == "max":
            V = self._random.standard_normal((proof.P.shape[1], _MORE))
            return self._sized(at, *aligned(proof.P, V))
        even = np.ones_like if self.factors.name == "trace" else evened
        sides = [even(scale) ** -0.5 for scale in proof.scales]
        scaled = sp.csr_array(sp.diags_array(sides[0]) @ proof.P @ sp.diags_array(sides[1]))
        room = min(max(_MORE, k), *scaled.shape)
        left, sizes, right = randomized_svd(scaled, room, n_iter=4, random_state=self._random)
        new = sizes > (1.0 + 0.1 * tol if k else 0.3 * sizes[0])
        if not np.any(new):
            return at
        U, V = sides[0][:, None] * left[:, new], sides[1][:, None] * right[new].T
        if not k:
            return self._sized(at, U, V)
        root = np.sqrt(_NEW * at.size / principal(U, V, self.factors.name)[2])
        return replace(at, U=np.hstack([at.U, root * U]), V=np.hstack([at.V, root * V]))

    def _sized(self, at: Completion, U: Array, V: Array) -> Completion:
        """Factors of the best multiple of a product."""
        norm = principal(U, V, self.factors.name)[2]

        def value(t: float) -> float:
            root = np.sqrt(t / norm)
            return t + self.slopes(replace(at, U=root * U, V=root * V), _WIDTH)[0]

        most = value(0.0)
        root = np.sqrt(minimize_scalar(value, bounds=(0.0, most), method="bounded").x / norm)
        return replace(at, U=root * U, V=root * V)


def complete(
    program: Program,
    *,
    tol: float = 1e-3,
    max_iter: int = 50,
    deadline: Deadline | None = None,
    start: Completion | None = None,
) -> Completion:
    """Rounds of descent, bound and new columns until value and bound agree.

    Parameters
    ----------
    program : Program
    tol : float, default 1e-3
        Of the relative gap.
    max_iter : int, default 50
        Rounds.
    deadline : Deadline, optional
    start : Completion, optional
        Such as the answer for another price.
    """
    deadline = Deadline() if deadline is None else deadline
    point = program.start() if start is None else start
    nothing = np.zeros(program.i.size)
    best, width, history = replace(point, value=np.inf, bound=0.0, weights=nothing), _WIDTH, []
    for _ in range(max_iter):
        point = program.improved(point, width, tol, deadline)
        valued, proof = program.valued(point), program.proof(point, width)
        if valued.value < best.value:
            best = replace(valued, bound=best.bound, weights=best.weights, scales=best.scales)
        if proof.bound > best.bound:
            best = replace(best, bound=proof.bound, weights=proof.weights, scales=proof.scales)
        history.append({**best.record(width, deadline), "columns": point.U.shape[1]})
        stalled = len(history) > _PATIENCE and best.gap > 0.99 * history[-_PATIENCE]["gap"]
        if best.gap <= tol or deadline.is_over() or stalled:
            break
        smoothed = point.size + program.slopes(point, width)[0]
        rounded = valued.value - smoothed
        before = point
        if rounded <= 0.2 * (valued.value - proof.bound) or not point.U.shape[1]:
            point = program.grown(point, proof, tol)
        if point is before and rounded > 0.0:
            width *= _NARROWED
    return replace(best, history=tuple(history))
