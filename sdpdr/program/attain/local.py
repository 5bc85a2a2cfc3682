r"""Both sides of a small program proved by dense linear algebra.

*A point.* v is moved onto the equations the shortest way, and solves them up to a residual of
which a bound is known. Some exact solution lies no further away than :math:`\|E^+\|` times that;
if every matrix of :math:`M v + t` has eigenvalues beyond what this and rounding can change, the
exact solution is feasible.

*Multipliers.* Those of inequalities are lifted into the interior of their cones and moved, with y,
onto the equations of free scalars, the shortest way in the local norm
:math:`\|d\|_z = \|Z^{-1/2} D Z^{-1/2}\|_F`; steps shorter than one stay in the cone (Dikin's
ellipsoid). What is left of the equations is made up for by a step of which the length is bounded.
The slack of variables is whatever the multipliers leave, and has to have eigenvalues beyond its
own errors.

Where that fails, either is moved a part of the way to an inside (`sdpdr.program.attain.inward`);
or small eigenvalues of all matrices are lifted by a share of the largest, and the point, or the
multipliers, that comes nearest to them in the local norm is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, Effort, EffortSpentError
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.program.attain.attain import Attained
from sdpdr.program.attain.dense import DenseProgram
from sdpdr.program.attain.inward import (
    LIFTED,
    inner_multipliers,
    inner_point,
    inwards,
    onto_equations,
    towards_equations,
    towards_inside,
)
from sdpdr.program.attain.metric import (
    SHARES,
    Metric,
    depth,
    first_inside,
    is_inside,
    reflected,
    searched,
    solved,
    triangle,
)
from sdpdr.program.attain.newton import unless_lost
from sdpdr.program.attain.written import written_at_length, written_out
from sdpdr.program.certificate import Certificate
from sdpdr.program.point import Factor, Point
from sdpdr.program.sdp import SDP

_ATTAINED = "a point inside all cones, next to which the equations have a solution"
_BOUND = "multipliers inside all cones, next to which the equations have a solution"
# Operations of a factorization that takes less than a second, as other arguments do at that size.
_OPERATIONS = 2e9
# And of one that takes longer than to look for an inside: proofs of textbook programs above it took
# 0.2 to 1.2 of the time, and of those below neither was the better.
_WIDE = 4e7
_STEPS = 2
# A part of a column at right angles to those before, beside its length, whose square is far above
# what rounding makes of products of some thousand entries.
_APART = 1e-3
# A share of the products of columns that may be rounding where a bound follows from them.
_LOST = 0.1
# What points, and both sides together, may leave of the tolerance.
_ENOUGH, _NEAR = 0.3, 0.9
_Proof = TypeVar("_Proof")
Multipliers: TypeAlias = "tuple[Array, Array]"


@dataclass(frozen=True, eq=False)
class Sides:
    """What is proved of both sides of a small program.

    Attributes
    ----------
    certificate : Certificate or None
        A bound, and the multipliers that prove it.
    attained : Attained or None
        A value, and a feasible point.
    meet : bool
        Whether they are there, and as near to each other as is wanted.
    """

    certificate: Certificate | None = None
    attained: Attained | None = None
    meet: bool = False


def both_sides(
    sdp: SDP,
    point: Point,
    tol: float,
    gap_scale: float = 0.0,
    deadline: Deadline = ENDLESS,
    *,
    large: bool = False,
) -> Sides:
    """A bound and a value, where dense linear algebra proves them; they meet within the tolerance.

    Without a value no bound is looked for.

    Parameters
    ----------
    sdp : SDP
    point : Point
        Values and multipliers near an optimum.
    tol : float
    gap_scale : float, default 0
        A size of the objective below which the gap is absolute.
    deadline : Deadline, optional
        Nothing is moved inwards after it.
    large : bool, default False
        Also of a program that is not small.

    Examples
    --------
    >>> from sdpdr.linalg import InnerProduct, Trace
    >>> from sdpdr.program.point import PsdVariable
    >>> from sdpdr.program.rows import Rows
    >>> one = Rows("one", "==", {"X": Trace(2)}, np.ones(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.diag([1.0, 2.0]))}, (one,))
    >>> near = Point({"X": np.diag([1.0 + 1e-8, -1e-9])}, {"one": -np.ones(1)})
    >>> sides = both_sides(sdp, near, 1e-6)
    >>> bool(1.0 - 1e-6 < sides.certificate.bound <= 1.0 <= sides.attained.value < 1.0 + 1e-6)
    True
    >>> sides.meet
    True
    """
    if not sdp.is_point(point.values) or not sdp.is_dual_point(point.duals):
        return Sides()
    # Who works with factors gets one back, and has arguments of its own.
    if any(isinstance(value, Factor) for value in point.values.values()):
        return Sides()
    # What is large is not kept.
    program = written_at_length(sdp) if large else sdp.remembered(written_out)
    if program is None or (large and not (_is_quick(program) or _is_wide(program))):
        return Sides()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _both_sides(_Search(program, tol, Effort(deadline)), point, gap_scale)


@dataclass(frozen=True, eq=False)
class _Search:
    """What points, and multipliers, are moved inwards by, until they prove something."""

    program: DenseProgram
    tol: float
    effort: Effort

    def moved(
        self,
        at: Array,
        goal: Array | None,
        outside: float,
        lift: Callable[[Array, float], Array | None],
        prove: Callable[[Array], _Proof | None],
    ) -> Iterator[_Proof]:
        """What is proved on the way to an inside, if one is known, and with eigenvalues lifted."""

        def between(share: float) -> _Proof | None:
            self.effort.spend()
            assert goal is not None
            return prove(at + min(1.0, share * self.tol / LIFTED) * (goal - at))

        def lifted(share: float) -> _Proof | None:
            self.effort.spend()
            found = map(prove, inwards(lambda at: lift(at, share * self.tol), at))
            return next((one for one in found if one is not None), None)

        if goal is not None:
            yield from first_inside(between, outside / self.tol)
        if _is_quick(self.program):
            yield from searched(lifted, outside / self.tol)


def _both_sides(search: _Search, point: Point, gap_scale: float) -> Sides:
    program, sdp, tol = search.program, search.program.sdp, search.tol
    v, (y, z) = program.vector(point.values), program.multipliers(point.duals)
    if not all(np.isfinite(numbers).all() for numbers in (v, y, z)):
        return Sides()
    claimed = sdp.dual_value(point.duals)
    enough = _ENOUGH * tol * max(abs(claimed), gap_scale)
    above = _first(_points(search, v), claimed + enough)
    if above is None:
        return Sides()
    value, v = above
    attained = Attained(sdp.report(value), _ATTAINED, program.values(v))
    below = _first(_bounds(search, y, z, v), -value + 2.0 * enough)
    if below is None:
        return Sides(attained=attained)
    certificate = Certificate(sdp.report(-below[0]), _BOUND, duals=program.duals(*below[1]))
    near = value + below[0] <= _NEAR * tol * max(abs(value), gap_scale)
    return Sides(certificate, attained, near)


def _first(found: Iterator[tuple[float, _Proof]], enough: float) -> tuple[float, _Proof] | None:
    """The first whose value is low enough, else the lowest found before time or digits run out."""
    best = None
    with suppress(EffortSpentError, np.linalg.LinAlgError):
        for one in found:
            if best is None or one[0] < best[0]:
                best = one
            if best[0] <= enough:
                break
    return best


# -- points ------------------------------------------------------------------------------


def _points(search: _Search, v: Array) -> Iterator[tuple[float, Array]]:
    """Values that feasible points near v are proved to have, and such points, rounded."""
    program = search.program
    v = onto_equations(program, v)

    def proved(moved: Array) -> tuple[float, Array] | None:
        moved = onto_equations(program, moved)
        value = _value_near(program, moved)
        return None if value is None else (value, moved)

    if (found := proved(v)) is not None:
        yield found
    outside = depth(program, program.M @ v + program.t)
    goal = inner_point(program, v) if _is_wide(program) else None
    yield from search.moved(v, goal, outside, partial(towards_inside, program), proved)


def _is_quick(program: DenseProgram) -> bool:
    """Whether a factorization over all cones is, if there is anything to be moved."""
    freedom = program.c.size - program.e.size
    width = len(program.across) if program.is_narrow else freedom
    return freedom > 0 and program.t.size * width**2 <= _OPERATIONS


def _is_wide(program: DenseProgram) -> bool:
    """Whether to measure all directions that are free takes longer than to look for an inside."""
    freedom = program.c.size - program.e.size
    return not program.is_narrow and program.t.size * freedom**2 > _WIDE


def _value_near(program: DenseProgram, v: Array) -> float | None:
    """A value that some feasible point next to v is proved to have; None if none is."""
    E, M, _ = program.summands
    unit, size = float(gamma(v.size + program.behind + 8)), np.abs(v)
    missed = np.abs(program.e - program.E @ v) + unit * (E @ size + np.abs(program.e))
    reach = program.stretch * float(np.linalg.norm(missed)) if missed.size else 0.0
    s = program.M @ v + program.t
    error = gamma(program.terms[0]) * (M @ size + np.abs(program.t)) + 1.01 * reach * program.spread
    if not is_inside(program, s, error):
        return None
    slope = program.c + program.curvature * v
    value = float(program.c @ v + 0.5 * (program.curvature @ (v * v))) + program.sdp.constant
    curved = float(np.max(program.curvature, initial=0.0))
    away = reach * float(np.linalg.norm(slope)) + curved * reach**2
    rounding = program.summands[2] @ size + program.curvature @ (v * v) + abs(program.sdp.constant)
    return value + 1.01 * (away + unit * float(rounding))


# -- multipliers -------------------------------------------------------------------------


def _bounds(search: _Search, y: Array, z: Array, v: Array) -> Iterator[tuple[float, Multipliers]]:
    """Negative bounds that multipliers near those given are proved to have, and these."""
    program, share = search.program, SHARES[0] * search.tol
    # A convex cost lies above its tangent at v.
    cost = program.c + program.curvature * v
    constant = program.sdp.constant - 0.5 * float(program.curvature @ (v * v))
    found = _bound_near(program, y, z, cost, constant, share)
    if found is not None:
        yield found
    slack = _with_slack(program, y, z, cost)
    goal = inner_multipliers(program, slack, cost) if _is_wide(program) else None

    def lift(slack: Array, share: float) -> Array | None:
        return towards_equations(program, slack, cost, share)

    def proved(moved: Array) -> tuple[float, Multipliers] | None:
        prices = program.prices(program.M.T @ moved - cost) if program.e.size else y
        return _bound_near(program, prices, moved, cost, constant, share)

    # Multipliers are lifted by ten times what points are, whose goal is lifted ten times less. With
    # as little, 12 of 24 sums of eigenvalues that SCS had solved were proved, in place of 18; of 16
    # textbook programs, 1.6 times their size, the same ones were proved either way.
    yield from search.moved(slack, goal, depth(program, slack), lift, proved)


def _with_slack(program: DenseProgram, y: Array, z: Array, cost: Array) -> Array:
    """Multipliers of all cones, those of variables what the others leave, who are zero in z."""
    found, held = z.copy(), program.own >= 0
    left = cost + program.E.T @ y - program.M.T @ z
    found[program.own[held]] = left[held]
    return found


@unless_lost
def _bound_near(
    program: DenseProgram, y: Array, z: Array, cost: Array, constant: float, share: float
) -> tuple[float, Multipliers] | None:
    """The negative of a bound that multipliers next to those given prove, and these, rounded."""
    held = program.own >= 0
    own = program.own[held]
    z = z.copy()
    z[own] = 0.0
    metric = Metric(program, z, share)
    metric.lifted[own], metric.largest[own], z = 0.0, 0.0, metric.lifted
    if program.free.size and not _is_worth_it(program, y, z, cost):
        return None
    y, z, distance = _onto_free(program, metric, y, z, cost)
    # The step that is left changes y by no more than its unit, and z by no more than its largest.
    unit = _unit_of(y)
    reach = 1.01 * distance * (unit * program.heights + program.summands[1].T @ metric.largest)
    full = _with_slack(program, y, z, cost)
    error = np.zeros(z.size)
    error[own] = (reach + _rounding(program, y, z, cost))[held]
    # A step of that length takes no more from a matrix than so much of the one it is measured by.
    if not is_inside(program, full - 1.01 * distance * metric.lifted, error):
        return None
    ends = unit * float(np.linalg.norm(program.e))
    ends += float(np.linalg.norm(metric.applied(program.t)))
    size = np.abs(program.e) @ np.abs(y) + np.abs(program.t) @ np.abs(z) + abs(constant)
    value = float(program.e @ y + program.t @ z) - constant
    rounding = float(gamma(y.size + z.size + 8)) * float(size)
    return value + 1.01 * (distance * ends + rounding), (y, z)


def _is_worth_it(program: DenseProgram, y: Array, z: Array, cost: Array) -> bool:
    """Whether slack lies further inside than the equations of free scalars are missed by."""
    slack = cost + program.E.T @ y - program.M.T @ z
    missed = float(np.max(np.abs(slack[program.free]), initial=0.0))
    full, error = z.copy(), np.zeros(z.size)
    held = program.own >= 0
    full[program.own[held]], error[program.own[held]] = slack[held], missed
    return is_inside(program, full, error)


def _onto_free(
    program: DenseProgram, metric: Metric, y: Array, z: Array, cost: Array
) -> tuple[Array, Array, float]:
    """Multipliers moved onto the equations of free scalars, and how far others solve them.

    Distances are in the local norm, and in units of y.
    """
    free, m, unit = program.free, y.size, _unit_of(y)
    if not free.size:
        return y, z, 0.0
    columns = np.vstack([unit * program.E[:, free], -metric.applied(program.M[:, free])])
    upper = triangle(columns, _APART)
    for _ in range(_STEPS):
        left = (cost + program.E.T @ y - program.M.T @ z)[free]
        step = columns @ solved(upper, -left)
        y, z = y + unit * step[:m], z + metric.applied(step[m:])
    left = (cost + program.E.T @ y - program.M.T @ z)[free]
    rounding = _rounding(program, y, z, cost)[free]
    inverse = _inverse(upper)
    # What rounding makes of products of columns must leave most of what is bounded by them.
    lengths = np.linalg.norm(columns, axis=0)
    if columns.size * UNIT * np.sum(np.square(lengths[:, None] * inverse)) > _LOST:
        inverse = _inverse(reflected(columns))
    return y, z, 2.0 * float(np.linalg.norm(inverse.T @ (np.abs(left) + rounding)))


def _inverse(upper: Array) -> Array:
    """Sizes of the entries of the inverse of a triangle."""
    return np.abs(np.triu(sl.lapack.dtrtri(upper)[0]))


def _rounding(program: DenseProgram, y: Array, z: Array, cost: Array) -> Array:
    """Bounds on the rounding errors of the slack of variables."""
    E, M, _ = program.summands
    size = np.abs(cost) + program.summands[2] + E.T @ np.abs(y) + M.T @ np.abs(z)
    return np.asarray(gamma(program.terms[1]) * size)


def _unit_of(y: Array) -> float:
    return float(np.max(np.abs(y), initial=0.0)) or 1.0
