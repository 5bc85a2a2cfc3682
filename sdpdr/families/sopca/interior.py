r"""The convex program of two bases by Newton's method on a barrier.

For a barrier parameter :math:`\mu` falling to zero,

.. math:: \max\ F(T_P, T_Q) + \mu \sum_{T \in \{T_P, T_Q\}} \log\det T + \log\det(I - T)
          \quad\text{s.t.}\quad \operatorname{tr} T = k .

In directions :math:`dT = T^{1/2} D\, T^{1/2}` and with the :math:`U_i, S_i, V_i` of
`sdpdr.families.sopca.convex`, the second derivative of F is a sum of squares,

.. math:: F''[D, D] = -\tfrac12 \sum_i \sum_{ab} \frac{s_a s_b}{s_a + s_b}
          \big(U_i^T D_P U_i - V_i^T D_Q V_i\big)_{ab}^2 ,

so that the Newton system costs four products of stacks for each step of conjugate gradients. (Put
:math:`F_i = \min_Y \tfrac12(\langle I + K, Y\rangle + \langle S(I + L)S, Y^{-1}\rangle)` with
:math:`K = U^T D_P U` and :math:`L = V^T D_Q V`; at the minimum :math:`Y (I + K) Y = S(I + L)S`, and
differentiating that gives :math:`dY_{ab} = s_a s_b (L - K)_{ab} / (s_a + s_b)`.) In the
eigenvectors of T the barrier is diagonal, and with the diagonal of :math:`F''` it is the
preconditioner. On the central path the gap is at most :math:`2 (p + q) \mu`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.families.sopca.bases import Pair, projected, spans, trace_norm
from sdpdr.families.sopca.convex import Evaluation, Sizes, Spectrum, evaluate
from sdpdr.families.sopca.inputs import matrices, numbers_of_components
from sdpdr.families.sopca.relaxation import Relaxation
from sdpdr.families.sopca.runs import RunStatus, RunStep, follow

# Both matrices, and whether the bases rounded from them are unique.
SpectralPoint = tuple[Spectrum, Spectrum, bool]

# The barrier parameter falls by this factor once a step ends near the central path: when its
# first-order gain is below this share of the gap on the path. With a share of 0.1, eigenvalues were
# crushed against the boundary and never reached the optimum.
_SHRINK, _CENTRED = 0.1, 0.05
# Largest share of the way to the boundary in one step.
_WITHIN = 0.95
# Conjugate gradients end at this relative residual, or after so many steps.
_RESIDUAL, _MOST_STEPS = 0.03, 200
# Projections replace a point if they are better by more than rounding.
_WORTH = 1e-10


def interior_point(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
) -> Relaxation:
    r"""Solve the convex program of two bases, with a bound at every step.

    .. math:: \tfrac12 f_1 = \max \sum_i |T_P^{1/2} M_i T_Q^{1/2}|_{\mathrm{tr}} \quad\text{s.t.}
              \quad 0 \preceq T_P, T_Q \preceq I,\ \operatorname{tr} T_P = \operatorname{tr} T_Q = k

    Parameters
    ----------
    X : array_like of shape (n, p, q)
    n_components : int or pair of int, default 2
        k, of both sides or of each.
    tol : float, default 1e-6
        Relative gap between the value and the bound.
    max_iter : int, default 100
        Newton steps.
    time_limit : float, optional
        Seconds.

    Returns
    -------
    Relaxation
        Even if the tolerance was not reached; see its ``gap`` and ``status``. Its matrices are
        projections if rounding gave the best point found; a small gap then proves that their bases
        are optimal.

    Raises
    ------
    DataError, ShapeError
        X is no stack of matrices, or ``n_components`` is out of range.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> found = interior_point(X)
    >>> round(2 * found.value, 4), round(2 * found.bound, 4), found.gap <= 1e-6
    (31.57, 31.57, True)
    """
    stack = matrices(X)
    ks = numbers_of_components(n_components, stack.shape)
    inside = spans(stack, ks)
    run = follow(_path(projected(stack, *inside), ks), tol, max_iter, time_limit)
    *sides, unique = run.point
    left, right = (U @ side.matrix @ U.T for U, side in zip(inside, sides, strict=True))
    return Relaxation(left, right, ks, run.value, run.bound, run.status, run.history, unique)


def _path(stack: Array, ks: Sizes) -> Iterator[RunStep[SpectralPoint]]:
    """Points along the central path, from the centres of both Fantopes."""
    _, p, q = stack.shape
    scale = float(np.abs(stack).max())
    stack = stack / scale
    left, right = (Spectrum(np.full(n, k / n), np.eye(n)) for n, k in zip((p, q), ks, strict=True))
    found = evaluate(stack, left, right)
    first = _step(stack, found, ks, scale)
    yield first
    mu = max(first.bound / scale - found.value, 1e-12 * found.value) / (2.0 * (p + q))
    while True:
        newton = _Newton(found, mu)
        direction, gain = newton.direction()
        following = _searched(stack, newton, direction, gain)
        if following is None:
            yield replace(_step(stack, found, ks, scale), status=RunStatus.STALLED)
            return
        found = following
        yield _step(stack, found, ks, scale)
        if gain <= _CENTRED * (p + q) * mu:
            mu *= _SHRINK


def _step(stack: Array, found: Evaluation, ks: Sizes, scale: float) -> RunStep[SpectralPoint]:
    """The point, or the projections rounded from it if their value is larger."""
    sides, value = found.sides, found.lower(ks)
    unique = not any(side.is_tied(k) for side, k in zip(sides, ks, strict=True))
    left, right = (_projection(side, k) for side, k in zip(sides, ks, strict=True))
    first, second = (side.vectors[:, side.values > 0.0] for side in (left, right))
    kept = trace_norm(projected(stack, first, second))
    if kept > value * (1.0 + _WORTH):
        sides, value = (left, right), kept
    return RunStep((*sides, unique), scale * value, scale * found.bound(ks))


def _projection(side: Spectrum, k: int) -> Spectrum:
    """Onto the eigenvectors of the k largest eigenvalues."""
    n = side.values.size
    return Spectrum((np.arange(n) >= n - k).astype(float), side.vectors)


class _Half:
    """One side of the Newton system: the barrier, and the diagonal preconditioner."""

    def __init__(
        self, side: Spectrum, vectors: Array, inner: Array, weights: Array, mu: float
    ) -> None:
        self.side = side
        self.is_free = side.values.size > round(float(side.values.sum()))
        # t / (1 - t) is the ratio of the barrier's terms at the two ends.
        t = side.values
        self.odds = t / (1.0 - t) if self.is_free else np.zeros(t.size)
        self.barrier = mu * (1.0 + np.outer(self.odds, self.odds))
        self.diagonal = self.barrier + _diagonal(vectors, weights)
        self.gradient = 0.5 * inner + mu * np.diag(1.0 - self.odds)

    def logarithms(self, side: Spectrum) -> float:
        """The barrier at another point."""
        t = side.values
        if not self.is_free:
            return 0.0
        return float(np.log(t * (1.0 - t)).sum()) if t[0] > 0.0 and t[-1] < 1.0 else -np.inf

    def preconditioned(self, residual: Array) -> Array:
        """The residual divided by the diagonal, projected to keep the trace."""
        if not self.is_free:
            return np.zeros_like(residual)
        values, divided = self.side.values, residual / self.diagonal
        trace = values / np.diag(self.diagonal)
        multiplier = np.diag(divided) @ values / (trace @ values)
        return np.asarray(divided - multiplier * np.diag(trace))

    def rates(self, direction: Array) -> list[float]:
        """Rates at which a direction approaches either end."""
        if not self.is_free:
            return []
        roots = np.sqrt(self.odds)
        down = -np.linalg.eigvalsh(direction)[0]
        up = np.linalg.eigvalsh(roots[:, None] * direction * roots)[-1]
        return [float(down), float(up)]

    def moved(self, direction: Array, step: float) -> Spectrum:
        """The side after a step."""
        side = self.side
        if not self.is_free:
            return side
        changed = np.diag(side.values) + step * side.roots[:, None] * direction * side.roots
        values, turn = np.linalg.eigh(0.5 * (changed + changed.T))
        # Without this, rounding would let the trace drift over many steps.
        room = values * (1.0 - values)
        values = values - room * (values.sum() - round(float(side.values.sum()))) / room.sum()
        return Spectrum(values, side.vectors @ turn)


class _Newton:
    """The Newton system at a point for one barrier parameter, in directions D of both sides."""

    def __init__(self, found: Evaluation, mu: float) -> None:
        self.found, self.mu = found, mu
        s = found.singular
        total = s[:, :, None] + s[:, None, :]
        self._weights = s[:, :, None] * s[:, None, :] / np.where(total > 0.0, total, 1.0)
        left, right = zip(found.sides, found.vectors, found.inner, strict=True)
        self._left, self._right = (_Half(*of, self._weights, mu) for of in (left, right))

    def value(self, found: Evaluation) -> float:
        """F plus the weighted barrier."""
        left, right = found.sides
        total = found.value + self.mu * self._left.logarithms(left)
        return total + self.mu * self._right.logarithms(right)

    def direction(self) -> tuple[Pair, float]:
        """The Newton direction, approximately, and its first-order gain."""
        gradient = residual = self._left.gradient, self._right.gradient
        step = np.zeros_like(residual[0]), np.zeros_like(residual[1])
        search = preconditioned = self._preconditioned(residual)
        size = first = _dot(residual, preconditioned)
        for _ in range(_MOST_STEPS):
            if size <= _RESIDUAL**2 * first:
                break
            image = self._curvature(search)
            length = size / _dot(search, image)
            step = _plus(step, length, search)
            residual = _plus(residual, -length, image)
            preconditioned = self._preconditioned(residual)
            size, before = _dot(residual, preconditioned), size
            search = _plus(preconditioned, size / before, search)
        return step, _dot(gradient, step)

    def longest(self, direction: Pair) -> float:
        """The step to which both sides stay well inside their Fantopes, at most 1."""
        rates = self._left.rates(direction[0]) + self._right.rates(direction[1])
        return min([1.0, *(_WITHIN / rate for rate in rates if rate > 0.0)])

    def moved(self, direction: Pair, step: float) -> tuple[Spectrum, Spectrum]:
        """Both sides after a step."""
        return self._left.moved(direction[0], step), self._right.moved(direction[1], step)

    def _curvature(self, direction: Pair) -> Pair:
        """Minus the second derivative along a direction."""
        (u, v), (left, right) = self.found.vectors, direction
        core = u.transpose(0, 2, 1) @ (left @ u) - v.transpose(0, 2, 1) @ (right @ v)
        core *= self._weights
        return (
            0.5 * _sandwich(u, core) + self._left.barrier * left,
            -0.5 * _sandwich(v, core) + self._right.barrier * right,
        )

    def _preconditioned(self, residual: Pair) -> Pair:
        return self._left.preconditioned(residual[0]), self._right.preconditioned(residual[1])


def _searched(stack: Array, newton: _Newton, direction: Pair, gain: float) -> Evaluation | None:
    """Halve the step until F and barrier rise by a share of the first-order gain (Armijo)."""
    before, step = newton.value(newton.found), newton.longest(direction)
    while step > 1e-10:
        found = evaluate(stack, *newton.moved(direction, step))
        rounding = 1e-13 * abs(before)
        if newton.value(found) >= before + 1e-4 * step * gain - rounding:
            return found
        step *= 0.5
    return None


def _diagonal(vectors: Array, weights: Array) -> Array:
    """Diagonal of the curvature of F on one side, without the cross terms."""
    squares = np.square(vectors)
    return np.asarray(0.5 * np.tensordot(squares @ weights, squares, axes=((0, 2), (0, 2))))


def _sandwich(vectors: Array, core: Array) -> Array:
    """The sum over a stack of X_i C_i X_i^T."""
    total = np.tensordot(vectors @ core, vectors, axes=((0, 2), (0, 2)))
    return np.asarray(0.5 * (total + total.T))


def _dot(a: Pair, b: Pair) -> float:
    return float(np.sum(a[0] * b[0]) + np.sum(a[1] * b[1]))


def _plus(a: Pair, scale: float, b: Pair) -> Pair:
    return a[0] + scale * b[0], a[1] + scale * b[1]
