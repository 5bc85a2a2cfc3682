r"""The relaxation of second-order PCA as two small matrices, by Newton's method on a barrier.

Over the Fantopes :math:`0 \preceq T \preceq I`, :math:`\operatorname{tr} T = k`, the program (4.8)
of the Tong thesis with its :math:`Z_i` chosen best is

.. math:: \max\ F(T_P, T_Q) = \sum_i |T_P^{1/2} M_i T_Q^{1/2}|_{\mathrm{tr}} .

With :math:`T_P^{1/2} M_i T_Q^{1/2} = U_i S_i V_i^T`, :math:`P_i = T_P^{-1/2} U_i S_i U_i^T
T_P^{-1/2}` and :math:`Q_i = T_Q^{-1/2} V_i S_i V_i^T T_Q^{-1/2}` are feasible for (4.5), so that
:math:`F \le \sqrt{S_k(\sum P_i)\, S_k(\sum Q_i)}` everywhere, and half their sums are the
gradients of F. In directions :math:`dT = T^{1/2} D\, T^{1/2}` the second derivative is

.. math:: F''[D, D] = -\tfrac12 \sum_i \sum_{ab} \frac{s_a s_b}{s_a + s_b}
          \big(U_i^T D_P U_i - V_i^T D_Q V_i\big)_{ab}^2 ,

four products of stacks for each step of conjugate gradients. In the eigenvectors of T the barrier
:math:`\mu \sum_T \log\det T + \log\det(I - T)` is diagonal, and with the diagonal of
:math:`F''` it is the preconditioner. On the central path the gap is at most :math:`2 (p + q) \mu`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.sopca.bases import (
    Bases,
    Pair,
    RunStatus,
    Step,
    follow,
    projected,
    span,
    trace_norm,
    weighted_outer,
)
from sdpdr.families.sopca.recipe import matrices_and_numbers
from sdpdr.linalg.spectral import fix_signs

Sizes = tuple[int, int]
Sides = tuple["Spectrum", "Spectrum"]
# At a nearly optimal point, eigenvalues closer than this may be tied at the optimum.
_NEARLY_TIED = 1e-7
# The barrier parameter falls by the first factor once the first-order gain of a step is below the
# second, times p + q and the parameter (half the bound on the gap). With 0.1 for the second,
# eigenvalues got stuck at the boundary far from the optimum.
_SHRINK, _CENTRED = 0.1, 0.05
# Largest share of the way to the boundary in one step.
_WITHIN = 0.95
# The line search wants this share of the first-order gain, up to rounding of the merit function
# relative to its value, and gives up below the shortest step.
_ARMIJO, _ROUNDING, _SHORTEST = 1e-4, 1e-13, 1e-10
# Conjugate gradients end at this relative residual, or after so many steps.
_RESIDUAL, _MOST_STEPS = 0.03, 200


@dataclass(frozen=True, eq=False)
class Relaxation:
    r"""A point of :math:`\max F(T_P, T_Q)` over two Fantopes, and a bound on all of them.

    Attributes
    ----------
    left, right : array of shape (p, p) and (q, q)
        :math:`T_P` and :math:`T_Q`.
    n_components : tuple of two int
        Their traces.
    value : float
        F, at most :math:`f_1 / 2`.
    bound : float
        At least :math:`f_1 / 2`, and so at least :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}` for all
        bases of so many orthonormal columns.
    status : RunStatus
    history : tuple of float
        The value at each point visited.
    unique : bool
        False if other bases may be as good, because eigenvalues k and k + 1 are tied.
    """

    left: Array = field(repr=False)
    right: Array = field(repr=False)
    n_components: Sizes
    value: float
    bound: float
    status: RunStatus
    history: tuple[float, ...] = field(repr=False)
    unique: bool = True

    @property
    def gap(self) -> float:
        """``(bound - value) / value``."""
        return (self.bound - self.value) / self.value

    def spectra(self) -> Pair:
        """Eigenvalues of both matrices, the largest first; near 0 or 1 if they round well."""
        left, right = (np.asarray(np.linalg.eigvalsh(T)[::-1]) for T in (self.left, self.right))
        return left, right

    def round(self, stack: Array) -> Bases:
        """Leading eigenvectors of both matrices, and the projected stack, (n, p, q)."""
        sides = Spectrum.of(self.left), Spectrum.of(self.right)
        rows, columns = (
            fix_signs(side.vectors[:, ::-1][:, :k])
            for side, k in zip(sides, self.n_components, strict=True)
        )
        unique = self.unique and not _is_tied(sides, self.n_components)
        value = trace_norm(projected(stack, rows, columns))
        return Bases(rows, columns, value, self.status, self.history, unique)


@checks_keywords
def interior_point(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
) -> Relaxation:
    r"""Solve the relaxation of second-order PCA, with a bound at every step.

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
        X is not a stack of matrices, or ``n_components`` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.bilinear import interior_point
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> found = interior_point(X)
    >>> round(2 * found.value, 4), round(2 * found.bound, 4), found.gap <= 1e-6
    (31.57, 31.57, True)
    """
    stack, ks = matrices_and_numbers(X, n_components)
    # Within the span of the data F is the same, and multipliers lift: see the method's page.
    inside = span(stack.transpose(0, 2, 1), ks[0]), span(stack, ks[1])
    path = _path(projected(stack, *inside), ks)
    point, value, bound, status, history = follow(path, tol, max_iter, time_limit)
    *sides, unique = point
    left, right = (U @ side.matrix @ U.T for U, side in zip(inside, sides, strict=True))
    return Relaxation(left, right, ks, value, bound, status, history, unique)


class Spectrum(NamedTuple):
    """One of the two matrices by its eigenvalues, ascending, and its eigenvectors."""

    values: Array
    vectors: Array

    @classmethod
    def of(cls, matrix: Array) -> Spectrum:
        """From the symmetric matrix."""
        return cls(*np.linalg.eigh(matrix))

    @property
    def matrix(self) -> Array:
        """T."""
        return np.asarray((self.vectors * self.values) @ self.vectors.T)

    @property
    def roots(self) -> Array:
        """Square roots of the eigenvalues, some of which may be negative by rounding."""
        return np.sqrt(np.maximum(self.values, np.finfo(float).eps * self.values.max()))


def _is_tied(sides: Sides, ks: Sizes) -> bool:
    """Whether the last eigenvalue that bases are read from may equal the next at the optimum."""
    ends = [side.values[::-1][k - 1 : k + 1] for side, k in zip(sides, ks, strict=True)]
    return any(end.size == 2 and end[0] - end[1] <= _NEARLY_TIED for end in ends)


class Point:
    """F at two matrices: ``vectors`` U_i and V_i in their eigenvectors, ``singular`` the S_i."""

    def __init__(self, stack: Array, sides: Sides, ks: Sizes) -> None:
        self.stack, self.sides, self.ks = stack, sides, ks
        left, right = sides
        rotated = left.vectors.T @ (stack @ (right.vectors * right.roots))
        u, self.singular, vt = np.linalg.svd(left.roots[:, None] * rotated, full_matrices=False)
        self.f = float(self.singular.sum())
        self.vectors: Pair = u, vt.transpose(0, 2, 1)

    @cached_property
    def inner(self) -> list[Array]:
        """The sums of U_i S_i U_i^T and of V_i S_i V_i^T."""
        return [weighted_outer(x, self.singular) for x in self.vectors]

    @property
    def factors(self) -> list[Array]:
        r""":math:`\sum P_i` and :math:`\sum Q_i`, twice the gradients of F."""
        bases = (side.vectors / side.roots for side in self.sides)
        return [b @ inner @ b.T for b, inner in zip(bases, self.inner, strict=True)]

    @property
    def value(self) -> float:
        """F at this point scaled into the Fantopes; F has degree one half in either matrix."""
        value = self.f
        for (t, _), k in zip(self.sides, self.ks, strict=True):
            value /= np.sqrt(max(float(t.sum()) / k, float(t[-1]), 1.0))
        return float(value)

    @property
    def bound(self) -> float:
        """No two bases of so many columns, and no point of the program, have a larger value."""
        pairs = zip(self.factors, self.ks, strict=True)
        return float(np.sqrt(np.prod([np.linalg.eigvalsh(f)[-k:].sum() for f, k in pairs])))

    def step(self, scale: float) -> Step:
        """The point, or the projections rounded from it if their value is larger."""
        sides, value, ks = self.sides, self.value, self.ks
        unique = not _is_tied(sides, ks)
        first, second = (side.vectors[:, -k:] for side, k in zip(sides, ks, strict=True))
        kept = trace_norm(projected(self.stack, first, second))
        if kept > value * (1.0 + 1e-10):  # by more than rounding
            value = kept
            sides = Spectrum(np.ones(ks[0]), first), Spectrum(np.ones(ks[1]), second)
        return (*sides, unique), scale * value, scale * self.bound, None


def _path(stack: Array, ks: Sizes) -> Iterator[Step]:
    """Points along the central path, from the centres of both Fantopes."""
    scale, n = float(np.abs(stack).max()), sum(stack.shape[1:])
    centres = zip(stack.shape[1:], ks, strict=True)
    left, right = (Spectrum(np.full(m, k / m), np.eye(m)) for m, k in centres)
    point = Point(stack / scale, (left, right), ks)
    mu = max(point.bound - point.f, 1e-12 * point.f) / (2.0 * n)
    yield point.step(scale)
    while True:
        newton = _Newton(point, mu)
        direction, gain = newton.direction()
        following = newton.line_search(direction, gain)
        if following is None:
            yield *point.step(scale)[:3], RunStatus.STALLED
            return
        point = following
        yield point.step(scale)
        if gain <= _CENTRED * n * mu:
            mu *= _SHRINK


class _Newton:
    """The Newton system at a point for one barrier parameter, in directions D of both sides."""

    def __init__(self, point: Point, mu: float) -> None:
        self.point, self.mu = point, mu
        s = point.singular
        total = s[:, :, None] + s[:, None, :]
        self.weights = s[:, :, None] * s[:, None, :] / np.where(total > 0.0, total, 1.0)
        self.halves = [_Half(self, side) for side in (0, 1)]

    def merit(self, point: Point) -> float:
        """F plus the weighted barrier."""
        pairs = zip(self.halves, point.sides, strict=True)
        return point.f + self.mu * sum(half.logarithms(side.values) for half, side in pairs)

    def direction(self) -> tuple[Pair, float]:
        """The Newton direction, approximately, and its first-order gain."""
        left, right = self.halves
        gradient = residual = left.gradient, right.gradient
        step = np.zeros_like(residual[0]), np.zeros_like(residual[1])
        search = left.preconditioned(residual[0]), right.preconditioned(residual[1])
        size = first = _dot(residual, search)
        for _ in range(_MOST_STEPS):
            if size <= _RESIDUAL**2 * first:
                break
            image = self.curvature(search)
            length = size / _dot(search, image)
            step, residual = _plus(step, length, search), _plus(residual, -length, image)
            divided = left.preconditioned(residual[0]), right.preconditioned(residual[1])
            size, before = _dot(residual, divided), size
            search = _plus(divided, size / before, search)
        return step, _dot(gradient, step)

    def curvature(self, direction: Pair) -> Pair:
        """Minus the second derivative along a direction."""
        (u, v), (left, right) = self.point.vectors, direction
        core = u.transpose(0, 2, 1) @ (left @ u) - v.transpose(0, 2, 1) @ (right @ v)
        core *= self.weights
        return (
            0.5 * _sandwich(u, core) + self.halves[0].barrier * left,
            -0.5 * _sandwich(v, core) + self.halves[1].barrier * right,
        )

    def line_search(self, direction: Pair, gain: float) -> Point | None:
        """Halve the step until F and barrier rise by a share of the first-order gain (Armijo)."""
        moves = list(zip(self.halves, direction, strict=True))
        rate = max(half.rate(D) for half, D in moves)
        before, step = self.merit(self.point), min(1.0, _WITHIN / max(rate, _WITHIN))
        while step > _SHORTEST:
            left, right = (half.moved(D, step) for half, D in moves)
            point = Point(self.point.stack, (left, right), self.point.ks)
            if self.merit(point) >= before + _ARMIJO * step * gain - _ROUNDING * abs(before):
                return point
            step *= 0.5
        return None


class _Half:
    """One side of the Newton system: the barrier, and the diagonal preconditioner."""

    def __init__(self, newton: _Newton, which: int) -> None:
        point, mu = newton.point, newton.mu
        self.side, self.trace = point.sides[which], point.ks[which]
        t = self.side.values
        self.is_free = t.size > self.trace  # otherwise T is the identity
        # t / (1 - t) is the ratio of the barrier's terms at the two ends.
        self.odds = t / (1.0 - t) if self.is_free else np.zeros(t.size)
        self.barrier = mu * (1.0 + np.outer(self.odds, self.odds))
        squares = np.square(point.vectors[which])
        of_f = 0.5 * np.tensordot(squares @ newton.weights, squares, axes=((0, 2), (0, 2)))
        self.diagonal = self.barrier + of_f  # without the cross terms
        self.gradient = 0.5 * point.inner[which] + mu * np.diag(1.0 - self.odds)

    def logarithms(self, t: Array) -> float:
        """The barrier at other eigenvalues."""
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

    def rate(self, direction: Array) -> float:
        """How fast eigenvalues approach 0 or 1 along a direction, relative to their distance."""
        roots = np.sqrt(self.odds)
        down = -np.linalg.eigvalsh(direction)[0]
        up = np.linalg.eigvalsh(roots[:, None] * direction * roots)[-1]
        return float(max(down, up))

    def moved(self, direction: Array, step: float) -> Spectrum:
        """The side after a step."""
        if not self.is_free:
            return self.side
        values, vectors = self.side
        roots = self.side.roots
        changed = np.diag(values) + step * roots[:, None] * direction * roots
        values, rotation = np.linalg.eigh(0.5 * (changed + changed.T))
        # Without this, rounding would let the trace drift over many steps.
        room = values * (1.0 - values)
        values = values - room * (values.sum() - self.trace) / room.sum()
        return Spectrum(values, vectors @ rotation)


def _sandwich(vectors: Array, core: Array) -> Array:
    """The sum over a stack of X_i C_i X_i^T."""
    total = np.tensordot(vectors @ core, vectors, axes=((0, 2), (0, 2)))
    return np.asarray(0.5 * (total + total.T))


def _dot(a: Pair, b: Pair) -> float:
    return float(np.sum(a[0] * b[0]) + np.sum(a[1] * b[1]))


def _plus(a: Pair, scale: float, b: Pair) -> Pair:
    return a[0] + scale * b[0], a[1] + scale * b[1]
