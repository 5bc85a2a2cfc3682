r"""Directions that prove that there is no solution, looked for at an iterate.

*Infeasible*: a y with :math:`b^T y > 0`, :math:`-A^*(y) \succeq 0`, :math:`-B^T y \ge 0` and
:math:`F^T y = 0`; a feasible point would have :math:`b^T y = \langle A^*(y), X\rangle + x^T B^T y
\le 0`. *Unbounded*: :math:`X \succeq 0`, x >= 0 and f with A(X) + Bx + Ff = 0 at negative cost.
Where iterates diverge, their directions tend to such a ray. They are projected onto the equations,
and accepted if their matrices are positive semidefinite up to a share of :math:`2^{-p/2}` of their
terms, by Cholesky factors in p bits, and if the gain is no less than :math:`2^{-p/8}` of them. That
is a ray in all but name; whoever wants a proof has to verify it. Programs that are infeasible or
unbounded only in the limit have no ray, and directions that come near to one have no such gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flint import arb, arb_mat, ctx

from sdpdr.solvers.multiprecision.arithmetic import (
    Vector,
    dot,
    identity,
    inverse_factor,
    largest,
    product,
    symmetric,
)
from sdpdr.solvers.multiprecision.compiled import Compiled, combine, transposed
from sdpdr.solvers.multiprecision.iterate import PreciseIterate, images
from sdpdr.solvers.multiprecision.method import PreciseSearch, solved


def infeasibility_ray(search: PreciseSearch) -> Vector | None:
    """A y that proves that there is no feasible point, scaled to b'y = 1; None if not found."""
    program, y = search.program, search.iterate.y
    if program.free:
        # Onto F'y = 0, in the metric of the iterate.
        wanted = transposed(program.free, y)
        zeros = [arb(0)] * len(program.rhs)
        correction, _ = solved(search.system, zeros, wanted)
        y = [(a - b).mid() for a, b in zip(y, correction, strict=True)]
    gain = dot(program.rhs, y)
    if not gain > _share(8) * largest(y) * _least(program.rhs):
        return None
    minus = [-a for a in y]
    for k, column in enumerate((*program.positive, *program.free)):
        terms = [value * minus[row] for row, value in column.items()]
        total, nothing = sum(terms, arb(0)), _share(2) * largest(terms)
        if not total >= -nothing or (k >= len(program.positive) and not total <= nothing):
            return None
    for cone in program.cones:
        size = largest(y[row] * x for row, each in cone.rows.items() for x in each.values)
        if not _is_psd(cone.adjoint(minus), size):
            return None
    return [(a / gain).mid() for a in y]


def unbounded_ray(search: PreciseSearch) -> PreciseIterate | None:
    """A direction of negative cost that changes no row, scaled to cost -1; None if not found."""
    program, now = search.program, search.iterate
    if not _cost(program, now.x, now.x_plus, now.free) < 0:
        return None
    side = _moved(program, now.x, now.x_plus, now.free)
    # Onto the equations, along the directions of a step.
    w, dfree = solved(search.system, side, [arb(0)] * len(program.free))
    xs = tuple(
        (x - symmetric(product(x, cone.adjoint(w), inverse))).mid()
        for cone, x, inverse in zip(program.cones, now.x, search.factors.s_inverse, strict=True)
    )
    pulled = transposed(program.positive, w)
    plus = [(x - x * p / s).mid() for x, p, s in zip(now.x_plus, pulled, now.s_plus, strict=True)]
    free = [(f - d).mid() for f, d in zip(now.free, dfree, strict=True)]
    gain = -_cost(program, xs, plus, free)
    sizes = [largest(x.entries()) for x in xs]
    most = max([*sizes, largest(plus), largest(free)])
    costs = [c for cone in program.cones for c in cone.cost.values]
    if not gain > _share(8) * most * _least([*costs, *program.positive_cost, *program.free_cost]):
        return None
    if not largest(_moved(program, xs, plus, free)) <= _share(4) * gain:
        return None
    if not all(x >= -_share(2) * most for x in plus):
        return None
    if not all(_is_psd(x, size) for x, size in zip(xs, sizes, strict=True)):
        return None
    return replace(
        now,
        x=tuple((x * (1 / gain)).mid() for x in xs),
        x_plus=[(x / gain).mid() for x in plus],
        free=[(f / gain).mid() for f in free],
    )


def is_inside(search: PreciseSearch) -> bool:
    """Whether the multipliers leave slacks in the interior of the cones, by half of the bits."""
    program, minus = search.program, [-a for a in search.iterate.y]
    pulled = transposed(program.positive, minus)
    for c, p in zip(program.positive_cost, pulled, strict=True):
        if not c + p > _share(2) * max(abs(c), abs(p)):
            return False
    for cone in program.cones:
        slack = cone.adjoint(minus, cost=1)
        least = identity(cone.order, _share(2) * largest(slack.entries()))
        if inverse_factor((slack - least).mid()) is None:
            return False
    return True


def _share(part: int) -> arb:
    """Two to the power of minus a part of the bits."""
    return arb(2) ** -(ctx.prec // part)


def _least(numbers: Sequence[arb]) -> arb:
    """The least size of those that are not zero; one if all are."""
    return min((abs(x) for x in numbers if x != 0), default=arb(1))


def _is_psd(matrix: arb_mat, size: arb) -> bool:
    """Whether a matrix made of terms of a size is positive semidefinite, up to half of the bits."""
    if not size > 0:
        return True
    moved = (matrix + identity(matrix.nrows(), _share(2) * size)).mid()
    return inverse_factor(moved) is not None


def _moved(program: Compiled, x: Sequence[arb_mat], plus: Vector, free: Vector) -> Vector:
    """A(X) + B x + F f, by which a direction changes the rows."""
    by_free = combine(program.free, free, len(program.rhs))
    return [(a + f).mid() for a, f in zip(images(program, x, plus), by_free, strict=True)]


def _cost(program: Compiled, x: Sequence[arb_mat], plus: Vector, free: Vector) -> arb:
    total = dot(program.positive_cost, plus) + dot(program.free_cost, free)
    for cone, matrix in zip(program.cones, x, strict=True):
        total += cone.cost.inner(matrix.entries())
    return total.mid()
