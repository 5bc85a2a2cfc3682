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

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from flint import arb, arb_mat

from sdpdr.solvers.multiprecision.arithmetic import (
    Vector,
    column,
    inverse_factor,
    largest,
    least_eigenvalue,
    product,
    symmetric,
    to_float,
)
from sdpdr.solvers.multiprecision.compiled import Compiled, transposed
from sdpdr.solvers.multiprecision.iterate import (
    Measure,
    PreciseIterate,
    complementarity,
    images,
    measure,
    moved,
    residual,
    start,
)
from sdpdr.solvers.multiprecision.schur import Table, schur_complement

# The method has stalled after so many steps in a row that are shorter than this.
_SHORT, _SHORT_STEPS = 1e-6, 5


@dataclass(frozen=True, eq=False)
class Factors:
    """Inverse Cholesky factors of X and S, and the inverse of S."""

    x: tuple[arb_mat, ...]
    s: tuple[arb_mat, ...]
    s_inverse: tuple[arb_mat, ...]


class Stuck(Exception):
    """No step can be computed in this precision."""


@dataclass(eq=False)
class PreciseSearch:
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

    @cached_property
    def costs(self) -> list[arb]:
        """All numbers of the cost."""
        costs = [c for cone in self.program.cones for c in cone.cost.values]
        return [*costs, *self.program.positive_cost, *self.program.free_cost]

    @property
    def is_stuck(self) -> bool:
        """Whether the last steps were too short to make progress."""
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

    def _move(self, direction: PreciseIterate, primal: float, dual: float) -> None:
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

    def _factors(self, at: PreciseIterate) -> Factors:
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

    def _direction(self, target: arb, predictor: PreciseIterate | None) -> PreciseIterate:
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
        return PreciseIterate(tuple(dx), tuple(ds), dx_plus, ds_plus, dfree, dy)

    def _lengths(self, direction: PreciseIterate) -> tuple[float, float]:
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
