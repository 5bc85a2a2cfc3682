"""Iterates of the method: the first one, residuals, and measures of progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

from flint import arb, arb_mat

from sdpdr.solvers.multiprecision.arithmetic import (
    Vector,
    dot,
    identity,
    inner,
    largest,
    to_float,
)
from sdpdr.solvers.multiprecision.compiled import Compiled, combine, transposed


@dataclass(frozen=True, eq=False)
class PreciseIterate:
    """Primal X, x, f and dual y, S, s."""

    x: tuple[arb_mat, ...]
    s: tuple[arb_mat, ...]
    x_plus: Vector
    s_plus: Vector
    free: Vector
    y: Vector


@dataclass(frozen=True, eq=False)
class Residual:
    """The residuals of an iterate: b - A(X) - Bx - Ff, C - A*(y) - S, c - B'y - s, d - F'y."""

    rows: Vector
    cones: tuple[arb_mat, ...]
    positive: Vector
    free: Vector


@dataclass(frozen=True)
class Measure:
    """Objectives and errors of an iterate, in working precision.

    Attributes
    ----------
    primal, dual : arb
        Objectives.
    mu : arb
        <X, S> over the degree.
    primal_error, dual_error : float
        Largest residuals relative to the largest right side and the largest cost.
    """

    primal: arb
    dual: arb
    mu: arb
    primal_error: float
    dual_error: float

    @property
    def gap(self) -> float:
        """|primal - dual| relative to the larger of both."""
        return to_float(abs(self.primal - self.dual) / self.scale)

    @property
    def scale(self) -> arb:
        """The size of the value, or one where it is exactly zero."""
        value = max(abs(self.primal), abs(self.dual))
        return value if value > 0 else arb(1)


def start(program: Compiled) -> PreciseIterate:
    """Multiples of the identity, by the rule of SDPT3; y and the free scalars are zero."""
    rows = _row_sizes(program)
    reach = max(
        ((1.0 + abs(to_float(b))) / (1.0 + r) for b, r in zip(program.rhs, rows, strict=True)),
        default=1.0,
    )
    xs, ss = [], []
    for cone in program.cones:
        n = cone.order
        norms = [_norm(a.doubled, a.values) for a in (cone.cost, *cone.rows.values())]
        xs.append(identity(n, arb(max(10.0, sqrt(n), n * reach))))
        ss.append(identity(n, arb(max(10.0, sqrt(n), *norms))))
    costs = [abs(to_float(c)) for c in program.positive_cost]
    entries = [abs(to_float(a)) for b in program.positive for a in b.values()]
    count = len(program.positive)
    x_plus = [arb(max(10.0, reach))] * count
    s_plus = [arb(max(10.0, *costs, *entries))] * count if count else []
    zero = arb(0)
    return PreciseIterate(
        tuple(xs), tuple(ss), x_plus, s_plus, [zero] * len(program.free), [zero] * len(program.rhs)
    )


def _norm(doubled: Vector, values: Vector) -> float:
    return sqrt(to_float(dot(doubled, values)))


def _row_sizes(program: Compiled) -> list[float]:
    """Norms of the rows."""
    squares = [0.0] * len(program.rhs)
    for cone in program.cones:
        for row, matrix in cone.rows.items():
            squares[row] += to_float(dot(matrix.doubled, matrix.values))
    for each in (*program.positive, *program.free):
        for row, value in each.items():
            squares[row] += to_float(value * value)
    return [sqrt(s) for s in squares]


def images(program: Compiled, x: Sequence[arb_mat], x_plus: Vector) -> Vector:
    """A(X) + B x."""
    total = combine(program.positive, x_plus, len(program.rhs))
    for cone, matrix in zip(program.cones, x, strict=True):
        entries = matrix.entries()
        for row, a in cone.rows.items():
            total[row] = (total[row] + a.inner(entries)).mid()
    return total


def residual(program: Compiled, at: PreciseIterate) -> Residual:
    """What an iterate lacks of feasibility, on both sides."""
    reached = images(program, at.x, at.x_plus)
    by_free = combine(program.free, at.free, len(program.rhs))
    rows = [(b - a - f).mid() for b, a, f in zip(program.rhs, reached, by_free, strict=True)]
    minus = [-y for y in at.y]
    cones = tuple(
        (cone.adjoint(minus, cost=1) - s).mid() for cone, s in zip(program.cones, at.s, strict=True)
    )
    pulled = transposed(program.positive, at.y)
    positive = [
        (c - p - s).mid() for c, p, s in zip(program.positive_cost, pulled, at.s_plus, strict=True)
    ]
    pulled = transposed(program.free, at.y)
    free = [(d - p).mid() for d, p in zip(program.free_cost, pulled, strict=True)]
    return Residual(rows, cones, positive, free)


def complementarity(at: PreciseIterate) -> arb:
    """<X, S> + x's."""
    parts = [inner(x, s) for x, s in zip(at.x, at.s, strict=True)]
    return sum(parts, dot(at.x_plus, at.s_plus)).mid()


def measure(program: Compiled, at: PreciseIterate, lack: Residual) -> Measure:
    """Objectives, residuals and complementarity."""
    primal = dot(program.positive_cost, at.x_plus) + dot(program.free_cost, at.free)
    for cone, x in zip(program.cones, at.x, strict=True):
        primal += cone.cost.inner(x.entries())
    costs = [c for cone in program.cones for c in cone.cost.values]
    most_cost = largest([*costs, *program.positive_cost, *program.free_cost])
    lacking = [x for matrix in lack.cones for x in matrix.entries()]
    return Measure(
        primal=primal.mid(),
        dual=dot(program.rhs, at.y),
        mu=(complementarity(at) / max(1, program.degree)).mid(),
        primal_error=_beside(largest(lack.rows), largest(program.rhs)),
        dual_error=_beside(largest([*lacking, *lack.positive, *lack.free]), most_cost),
    )


def _beside(error: arb, size: arb) -> float:
    return to_float(error / size if size > 0 else error)


def moved(at: PreciseIterate, direction: PreciseIterate, primal: arb, dual: arb) -> PreciseIterate:
    """An iterate after steps of the lengths given."""

    def vectors(a: Vector, b: Vector, length: arb) -> Vector:
        return [(x + length * dx).mid() for x, dx in zip(a, b, strict=True)]

    def matrices(a: Sequence[arb_mat], b: Sequence[arb_mat], length: arb) -> tuple[arb_mat, ...]:
        return tuple((x + dx * length).mid() for x, dx in zip(a, b, strict=True))

    return replace(
        at,
        x=matrices(at.x, direction.x, primal),
        s=matrices(at.s, direction.s, dual),
        x_plus=vectors(at.x_plus, direction.x_plus, primal),
        s_plus=vectors(at.s_plus, direction.s_plus, dual),
        free=vectors(at.free, direction.free, primal),
        y=vectors(at.y, direction.y, dual),
    )
