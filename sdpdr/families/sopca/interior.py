r"""The convex program of two bases by Newton's method on a barrier.

For a price :math:`\mu` falling to zero,

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
from sdpdr.base.progress import Progress
from sdpdr.families.sopca.bases import projected, trace_norm
from sdpdr.families.sopca.convex import Evaluation, Side, Sizes, evaluate
from sdpdr.families.sopca.frank_wolfe import Relaxation
from sdpdr.families.sopca.inputs import matrices, numbers_of_components
from sdpdr.families.sopca.runs import RunStatus, Step, follow

Pair = tuple[Array, Array]
# Both matrices, and whether the bases rounded from them are no matter of choice.
_Point = tuple[Side, Side, bool]
# The price falls by this much where a step has come close enough to the central path.
_SHRINK = 0.1
# A step goes at most this far towards the boundary.
_WITHIN = 0.95
# Relative residual that ends conjugate gradients, and the most steps of it.
_RESIDUAL, _MOST_STEPS = 0.03, 200
# How much more projections must be worth, relatively; less is rounding.
_WORTH = 1e-10


def interior_point(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
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
    progress : bool or callable, optional
        As for `sdpdr.solve`.

    Returns
    -------
    Relaxation
        Whether or not the tolerance was reached; see its ``gap`` and ``status``. Its matrices are
        projections where rounding made the best point found; a small gap then proves that their
        bases are the best.

    Raises
    ------
    DataError, ShapeError
        As `matrices` and `numbers_of_components`.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> found = interior_point(X)
    >>> round(2 * found.value, 4), round(2 * found.bound, 4), found.gap <= 1e-6
    (31.57, 31.57, True)
    """
    stack = matrices(X)
    ks = numbers_of_components(n_components, stack.shape)
    run = follow(
        _path(stack, ks),
        what="two bases, interior point",
        tol=tol,
        max_iter=max_iter,
        time_limit=time_limit,
        progress=progress,
    )
    left, right, unique = run.point
    return Relaxation(
        left.matrix, right.matrix, ks, run.value, run.bound, run.status, run.history, unique
    )


def _path(stack: Array, ks: Sizes) -> Iterator[Step[_Point]]:
    """From the centres of both Fantopes along the central path."""
    _, p, q = stack.shape
    scale = float(np.abs(stack).max())
    stack = stack / scale
    left, right = (Side(np.full(n, k / n), np.eye(n)) for n, k in zip((p, q), ks, strict=True))
    found = evaluate(stack, left, right)
    first = _step(stack, found, ks, scale)
    yield first
    price = max(first.bound / scale - found.value, 1e-12 * found.value) / (2.0 * (p + q))
    while True:
        newton = _Newton(found, price)
        direction, gain = newton.direction()
        step, following = _searched(stack, newton, direction, gain)
        if following is None:
            yield replace(_step(stack, found, ks, scale), status=RunStatus.STALLED)
            return
        found = following
        yield _step(stack, found, ks, scale)
        if step == 1.0 or gain <= 0.25 * (p + q) * price:
            price *= _SHRINK


def _step(stack: Array, found: Evaluation, ks: Sizes, scale: float) -> Step[_Point]:
    """The point, or the projections rounded from it where they are worth more."""
    sides, value = found.sides, found.lower(ks)
    unique = not any(side.is_tied(k) for side, k in zip(sides, ks, strict=True))
    left, right = (_projection(side, k) for side, k in zip(sides, ks, strict=True))
    first, second = (side.vectors[:, side.values > 0.0] for side in (left, right))
    kept = trace_norm(projected(stack, first, second))
    if kept > value * (1.0 + _WORTH):
        sides, value = (left, right), kept
    return Step((*sides, unique), scale * value, scale * found.bound(ks))


def _projection(side: Side, k: int) -> Side:
    """Onto the eigenvectors of the k largest eigenvalues."""
    n = side.values.size
    return Side((np.arange(n) >= n - k).astype(float), side.vectors)


class _Newton:
    """The Newton system at a point for one price, in directions D of both sides."""

    def __init__(self, found: Evaluation, price: float) -> None:
        self.found, self.price = found, price
        s = found.singular
        total = s[:, :, None] + s[:, None, :]
        self._weights = s[:, :, None] * s[:, None, :] / np.where(total > 0.0, total, 1.0)
        self._free = [side.values.size > round(float(side.values.sum())) for side in found.sides]
        # t / (1 - t): how the barrier's part at the upper end compares to the one at the lower.
        self._odds = [
            side.values / (1.0 - side.values) if free else np.zeros(side.values.size)
            for side, free in zip(found.sides, self._free, strict=True)
        ]
        self._barrier = [price * (1.0 + np.outer(r, r)) for r in self._odds]
        self._diagonal = [
            barrier + _diagonal(vectors, self._weights)
            for barrier, vectors in zip(self._barrier, found.vectors, strict=True)
        ]

    def value(self, found: Evaluation) -> float:
        """F plus the priced barrier."""
        total = found.value
        for side, free in zip(found.sides, self._free, strict=True):
            t = side.values
            if free:
                inside = t[0] > 0.0 and t[-1] < 1.0
                total += self.price * float(np.log(t * (1.0 - t)).sum()) if inside else -np.inf
        return total

    def direction(self) -> tuple[Pair, float]:
        """Nearly the Newton direction, and its first-order gain."""
        left, right = (
            0.5 * inner + self.price * np.diag(1.0 - odds)
            for inner, odds in zip(self.found.inner, self._odds, strict=True)
        )
        gradient = residual = left, right
        step = np.zeros_like(left), np.zeros_like(right)
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
        steps = [1.0]
        for d, odds, free in zip(direction, self._odds, self._free, strict=True):
            if free:
                roots = np.sqrt(odds)
                down = -np.linalg.eigvalsh(d)[0]
                up = np.linalg.eigvalsh(roots[:, None] * d * roots)[-1]
                steps += [_WITHIN / rate for rate in (down, up) if rate > 0.0]
        return float(min(steps))

    def moved(self, direction: Pair, step: float) -> tuple[Side, Side]:
        """Both sides after a step."""
        left, right = (
            _moved(side, d, step) if free else side
            for side, d, free in zip(self.found.sides, direction, self._free, strict=True)
        )
        return left, right

    def _curvature(self, direction: Pair) -> Pair:
        """Minus the second derivative along a direction."""
        (u, v), (left, right) = self.found.vectors, direction
        core = u.transpose(0, 2, 1) @ (left @ u) - v.transpose(0, 2, 1) @ (right @ v)
        core *= self._weights
        return (
            0.5 * _sandwich(u, core) + self._barrier[0] * left,
            -0.5 * _sandwich(v, core) + self._barrier[1] * right,
        )

    def _preconditioned(self, residual: Pair) -> Pair:
        """Divided by the diagonal, and with no change of the traces."""
        left, right = (
            self._divided(r, side.values, diagonal) if free else np.zeros_like(r)
            for r, side, diagonal, free in zip(
                residual, self.found.sides, self._diagonal, self._free, strict=True
            )
        )
        return left, right

    @staticmethod
    def _divided(residual: Array, values: Array, diagonal: Array) -> Array:
        divided = residual / diagonal
        trace = values / np.diag(diagonal)
        multiplier = np.diag(divided) @ values / (trace @ values)
        return np.asarray(divided - multiplier * np.diag(trace))


def _searched(
    stack: Array, newton: _Newton, direction: Pair, gain: float
) -> tuple[float, Evaluation | None]:
    """Halve the step until F and barrier rise by a share of what first order promises."""
    before, step = newton.value(newton.found), newton.longest(direction)
    while step > 1e-10:
        found = evaluate(stack, *newton.moved(direction, step))
        rounding = 1e-13 * abs(before)
        if newton.value(found) >= before + 1e-4 * step * gain - rounding:
            return step, found
        step *= 0.5
    return step, None


def _moved(side: Side, direction: Array, step: float) -> Side:
    changed = np.diag(side.values) + step * side.roots[:, None] * direction * side.roots
    values, turn = np.linalg.eigh(0.5 * (changed + changed.T))
    # Rounding would let the trace drift over many steps.
    room = values * (1.0 - values)
    values = values - room * (values.sum() - round(float(side.values.sum()))) / room.sum()
    return Side(values, side.vectors @ turn)


def _diagonal(vectors: Array, weights: Array) -> Array:
    """Diagonal of the curvature of F on one side, cross terms left out."""
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
