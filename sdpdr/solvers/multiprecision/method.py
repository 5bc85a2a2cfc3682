r"""An infeasible primal-dual interior-point method in hundreds of bits.

The pair

.. math::

    \min\ \langle C, X\rangle + c^T x + d^T f \ \text{ s.t. } A(X) + B x + F f = b,\ X \succeq 0,\
    x \ge 0; \qquad \max\ b^T y \ \text{ s.t. } S = C - A^*(y) \succeq 0,\ s = c - B^T y \ge 0,\
    F^T y = d

is solved along the direction of Helmberg, Rendl, Vanderbei, Wolkowicz, Kojima, Shindoh, Hara and
Monteiro with Mehrotra's corrector. Free scalars keep a place of their own in the linear system.

References
----------
Helmberg, Rendl, Vanderbei, Wolkowicz, "An interior-point method for semidefinite programming",
SIAM Journal on Optimization 6(2), 1996. Toh, Todd, Tütüncü, "SDPT3 — a MATLAB software package for
semidefinite programming", Optimization Methods and Software 11, 1999. Nakata, "A numerical
evaluation of highly accurate multiple-precision arithmetic version of semidefinite programming
solver: SDPA-GMP, -QD and -DD", IEEE CACSD, 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt

from flint import arb, arb_mat

from sdpdr.solvers.multiprecision.arithmetic import (
    Vector,
    column,
    dot,
    identity,
    inner,
    inverse_factor,
    largest,
    least_eigenvalue,
    product,
    symmetric,
    to_float,
)
from sdpdr.solvers.multiprecision.compiled import Compiled, combine, transposed
from sdpdr.solvers.multiprecision.schur import Table, schur_complement

# Steps shorter than this, one after the other, lead nowhere.
_SHORT, _SHORT_STEPS = 1e-6, 5


@dataclass(frozen=True, eq=False)
class Iterate:
    """Primal X, x, f and dual y, S, s."""

    x: tuple[arb_mat, ...]
    s: tuple[arb_mat, ...]
    x_plus: Vector
    s_plus: Vector
    free: Vector
    y: Vector


@dataclass(frozen=True, eq=False)
class Residual:
    """What an iterate lacks: b - A(X) - Bx - Ff, C - A*(y) - S, c - B'y - s, d - F'y."""

    rows: Vector
    cones: tuple[arb_mat, ...]
    positive: Vector
    free: Vector


@dataclass(frozen=True, eq=False)
class Factors:
    """Inverse Cholesky factors of X and S, and the inverse of S."""

    x: tuple[arb_mat, ...]
    s: tuple[arb_mat, ...]
    s_inverse: tuple[arb_mat, ...]


@dataclass(frozen=True)
class Measure:
    """How far an iterate is, in numbers of working precision.

    Attributes
    ----------
    primal, dual : arb
        Objectives.
    mu : arb
        <X, S> over the degree.
    primal_error, dual_error : float
        Largest residuals beside the largest right side and the largest cost.
    """

    primal: arb
    dual: arb
    mu: arb
    primal_error: float
    dual_error: float

    @property
    def gap(self) -> float:
        """|primal - dual| beside the larger of both."""
        return to_float(abs(self.primal - self.dual) / self.scale)

    @property
    def scale(self) -> arb:
        """The size of the value, or one where it is exactly zero."""
        value = max(abs(self.primal), abs(self.dual))
        return value if value > 0 else arb(1)


class Stuck(Exception):
    """No step can be computed in this precision."""


@dataclass(eq=False)
class Search:
    """The state of the method; `prepare` and `advance` in turn make an iteration.

    Parameters
    ----------
    program : Compiled
    pause : callable
        Called often; raises to end the work.
    """

    program: Compiled
    pause: Callable[[], None] = field(default=lambda: None)

    def __post_init__(self) -> None:
        self.iterate = start(self.program)
        self.factors = self._factors(self.iterate)
        self.residual = residual(self.program, self.iterate)
        self.system = arb_mat(0, 0)
        self.steps = (1.0, 1.0)
        self._short = 0

    @property
    def is_stuck(self) -> bool:
        """Whether steps have become so short that nothing moves."""
        return self._short >= _SHORT_STEPS

    def measure(self) -> Measure:
        """Objectives, residuals and complementarity of the iterate."""
        return measure(self.program, self.iterate, self.residual)

    def prepare(self) -> None:
        """Set up the linear system of the iterate."""
        program, now = self.program, self.iterate
        ratio = [(a / b).mid() for a, b in zip(now.x_plus, now.s_plus, strict=True)]
        table = schur_complement(program, now.x, self.factors.s_inverse, ratio, self.pause)
        self.system = augmented(program, table)

    def advance(self) -> None:
        """Predictor, corrector, and as long a step as the cones allow.

        Raises
        ------
        Stuck
            If the linear system is singular in working precision.
        """
        now = self.iterate
        degree = arb(self.program.degree)
        mu = complementarity(now) / degree
        predictor = self._direction(arb(0), None)
        lengths = self._lengths(predictor)
        affine = complementarity(moved(now, predictor, *map(arb, lengths))) / degree
        share = min(1.0, max(0.0, to_float(affine / mu)))
        shortest = min(lengths)
        centring = share ** max(1.0, 3.0 * shortest**2)
        if not self._is_feasible():
            centring = max(centring, 0.01)
        self.pause()
        direction = self._direction((mu * arb(centring)).mid(), predictor)
        limits = self._lengths(direction)
        # Where the predictor already goes nearly all the way, so may the step.
        reach = max(0.9 + 0.09 * shortest, 1.0 - 10.0 * (1.0 - shortest), 0.9)
        self._move(direction, *(min(1.0, min(reach, 0.999) * limit) for limit in limits))

    def _is_feasible(self) -> bool:
        found = self.measure()
        return max(found.primal_error, found.dual_error) < 1e-20

    def _move(self, direction: Iterate, primal: float, dual: float) -> None:
        """Go along the direction, and back where rounding led out of the cones."""
        for _ in range(20):
            self.pause()
            there = moved(self.iterate, direction, arb(primal), arb(dual))
            try:
                self.factors = self._factors(there)
            except Stuck:
                primal, dual = 0.8 * primal, 0.8 * dual
                continue
            self.iterate = there
            self.residual = residual(self.program, there)
            self.steps = (primal, dual)
            self._short = self._short + 1 if max(primal, dual) < _SHORT else 0
            return
        raise Stuck("no step keeps the matrices positive definite")

    def _factors(self, at: Iterate) -> Factors:
        x: list[arb_mat] = []
        s: list[arb_mat] = []
        for found, matrices in ((x, at.x), (s, at.s)):
            for matrix in matrices:
                self.pause()
                factor = inverse_factor(matrix)
                if factor is None:
                    raise Stuck("a matrix is not positive definite")
                found.append(factor)
        if not all(z > 0 for z in (*at.x_plus, *at.s_plus)):
            raise Stuck("a scalar is not positive")
        inverses = tuple(symmetric(product(p.transpose(), p)) for p in s)
        return Factors(tuple(x), tuple(s), inverses)

    def _direction(self, target: arb, predictor: Iterate | None) -> Iterate:
        """The direction to complementarity ``target``, with the predictor's second-order term."""
        program, now, lack = self.program, self.iterate, self.residual
        base = []
        for k, (x, inverse) in enumerate(zip(now.x, self.factors.s_inverse, strict=True)):
            self.pause()
            term = (inverse * target - x).mid()
            pulled = lack.cones[k]
            if predictor is not None:
                second = product(predictor.x[k], predictor.s[k], inverse)
                term = (term - second).mid()
            if largest(pulled.entries()) > 0:
                term = (term - product(x, pulled, inverse)).mid()
            base.append(symmetric(term))
        base_plus: Vector = []
        for k, (entry, slack) in enumerate(zip(now.x_plus, now.s_plus, strict=True)):
            squared = predictor.x_plus[k] * predictor.s_plus[k] if predictor else arb(0)
            base_plus.append(((target - squared - entry * lack.positive[k]) / slack - entry).mid())
        reached = images(program, base, base_plus)
        side = [(r - a).mid() for r, a in zip(lack.rows, reached, strict=True)]
        dy, dfree = solved(self.system, side, lack.free)
        dx, ds = [], []
        for k, cone in enumerate(program.cones):
            self.pause()
            pushed = cone.adjoint(dy)
            ds.append((lack.cones[k] - pushed).mid())
            change = product(now.x[k], pushed, self.factors.s_inverse[k])
            dx.append((base[k] + symmetric(change)).mid())
        pushed_plus = transposed(program.positive, dy)
        ds_plus = [(a - b).mid() for a, b in zip(lack.positive, pushed_plus, strict=True)]
        dx_plus = [
            (a + entry * p / slack).mid()
            for a, entry, p, slack in zip(
                base_plus, now.x_plus, pushed_plus, now.s_plus, strict=True
            )
        ]
        return Iterate(tuple(dx), tuple(ds), dx_plus, ds_plus, dfree, dy)

    def _lengths(self, direction: Iterate) -> tuple[float, float]:
        """How far primal and dual may go until they leave the cones; at most 1e3."""
        now = self.iterate
        limits = []
        for factors, changes, plus, change_plus in (
            (self.factors.x, direction.x, now.x_plus, direction.x_plus),
            (self.factors.s, direction.s, now.s_plus, direction.s_plus),
        ):
            worst = min(
                (to_float(change / size) for change, size in zip(change_plus, plus, strict=True)),
                default=0.0,
            )
            for factor, change in zip(factors, changes, strict=True):
                self.pause()
                relative = product(factor, change, factor.transpose())
                worst = min(worst, least_eigenvalue(relative))
            limits.append(min(1.0, 1.0 / -worst) if worst < 0.0 else 1.0)
        return limits[0], limits[1]


def start(program: Compiled) -> Iterate:
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
    return Iterate(
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


def residual(program: Compiled, at: Iterate) -> Residual:
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


def complementarity(at: Iterate) -> arb:
    """<X, S> + x's."""
    parts = [inner(x, s) for x, s in zip(at.x, at.s, strict=True)]
    return sum(parts, dot(at.x_plus, at.s_plus)).mid()


def measure(program: Compiled, at: Iterate, lack: Residual) -> Measure:
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


def augmented(program: Compiled, table: Table) -> arb_mat:
    """The matrix [[M, F], [F', 0]]."""
    m, free = len(program.rhs), len(program.free)
    right = [[each.get(i, arb(0)) for each in program.free] for i in range(m)]
    top = [row + beside for row, beside in zip(table, right, strict=True)]
    bottom = [[right[i][k] for i in range(m)] + [arb(0)] * free for k in range(free)]
    return arb_mat(top + bottom) if m + free else arb_mat(0, 0)


def solved(system: arb_mat, side: Vector, free: Vector) -> tuple[Vector, Vector]:
    """The dy and df with M dy + F df = side, F' dy = free.

    Raises
    ------
    Stuck
        If the system is singular in working precision.
    """
    m = len(side)
    if not m + len(free):
        return [], []
    try:
        found = system.solve(column([*side, *free]), algorithm="approx").mid().entries()
    except ZeroDivisionError:
        raise Stuck("the linear system of a step is singular") from None
    return found[:m], found[m:]


def moved(at: Iterate, direction: Iterate, primal: arb, dual: arb) -> Iterate:
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
