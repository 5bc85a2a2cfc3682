r"""Iterates that have diverged far enough to show that there is no solution.

*Infeasible*: a y with :math:`b^T y > 0`, relative to which costs are negligible, so that
:math:`-A^*(y) \succeq 0`, :math:`-B^T y \ge 0` and :math:`F^T y = 0` up to a share of
:math:`2^{-p/2}`, with p bits; a feasible point would have :math:`b^T y \le 0`. *Unbounded*: a point
of negative cost, relative to which right sides are negligible, so that it is a direction that
changes no row. The gain has to be at least :math:`2^{-p/8}` of the terms that it is the sum of:
programs that are infeasible or unbounded only in the limit have no ray. The result is a claim, not
a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flint import arb, ctx

from sdpdr.solvers.multiprecision.arithmetic import Vector, largest
from sdpdr.solvers.multiprecision.iterate import Measure, PreciseIterate
from sdpdr.solvers.multiprecision.method import PreciseSearch


def infeasibility_ray(search: PreciseSearch, now: Measure) -> Vector | None:
    """A y that shows that there is no feasible point, scaled to b'y = 1; None if there is none."""
    program, at, lack = search.program, search.iterate, search.residual
    small = [*search.costs, *(x for each in lack.cones for x in each.entries())]
    terms = [*at.s_plus, *(x for each in at.s for x in each.entries())]
    if not _is_nothing([*small, *lack.positive, *lack.free], terms):
        return None
    gain = now.dual
    if not gain > _share(8) * largest(at.y) * _least(program.rhs):
        return None
    return [(a / gain).mid() for a in at.y]


def unbounded_ray(search: PreciseSearch, now: Measure) -> PreciseIterate | None:
    """A direction that changes no row, scaled to cost -1; None if there is none."""
    program, at = search.program, search.iterate
    terms = [*at.x_plus, *at.free, *(x for each in at.x for x in each.entries())]
    if not _is_nothing([*program.rhs, *search.residual.rows], terms):
        return None
    gain = -now.primal
    if not gain > _share(8) * largest(terms) * _least(search.costs):
        return None
    return replace(
        at,
        x=tuple((x * (1 / gain)).mid() for x in at.x),
        x_plus=[(x / gain).mid() for x in at.x_plus],
        free=[(f / gain).mid() for f in at.free],
    )


def _share(part: int) -> arb:
    """Two to the power of minus a part of the bits."""
    return arb(2) ** -(ctx.prec // part)


def _is_nothing(small: Sequence[arb], large: Sequence[arb]) -> bool:
    return bool(largest(small) <= _share(2) * largest(large))


def _least(numbers: Sequence[arb]) -> arb:
    """The least size of those that are not zero; one if all are."""
    return min((abs(x) for x in numbers if x != 0), default=arb(1))
