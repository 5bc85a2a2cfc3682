r"""Multipliers moved into the interior of their feasible set, the shortest way.

Dual slack is no unknown of its own: :math:`S = C - A^*(y)`. From a slack :math:`\hat S` with its
small eigenvalues lifted, the step in y whose slack comes nearest to it in its local norm solves

.. math::  A(\hat S^{-1} A^*(\Delta y) \hat S^{-1})
           = A(\hat S^{-1} (C - A^*(y) - \hat S) \hat S^{-1}),

among the changes that free scalars do not notice. It is the mirror image of `approach.nearest`.

The other half of this file is for programs that are written out (`sdpdr.program.attain.dense`), and
moves points as well as multipliers. Either what comes nearest to small eigenvalues lifted, by as
little as a proof needs, is found from a triangle of all directions that are free. Or small
eigenvalues are lifted to a share of the largest that is no small one: what comes nearest to that is
found by conjugate gradients, which need few steps in a norm whose scales are that alike. A part of
the way there lifts small eigenvalues by that part, and costs in value what that part of the way
does. With P the projection onto the vectors with :math:`E d = 0`, and H the inverse of the norm's
squares at a point, or the squares at multipliers, both sides solve equations with
:math:`P M^T H M P`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, EffortSpentError
from sdpdr.program.attain.approach import (
    centred,
    finest_first,
    least_share,
    lifted,
    near_path,
)
from sdpdr.program.attain.cone import ConeProgram, cone_program, require_dense_factors
from sdpdr.program.attain.dense import ColumnProducts, DenseProgram
from sdpdr.program.attain.metric import Metric, Turned, depth, solved
from sdpdr.program.attain.newton import (
    SHARE,
    SchurSystem,
    inverse,
    longest_step,
    unless_lost,
)
from sdpdr.program.certificate.free import project
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP

_STEPS = 30
_SHORTEST = 1e-4
# How many times the way from the lifted slack to what the multipliers leave stays in the cone.
_NEAR = 10.0
# Rounding of the equations of free scalars, relative to their terms; what is left is projected out.
_ROUNDING = 1e-8
_THINNER = 1e-2
# Shares of the largest eigenvalues that small ones are lifted to, of points and of multipliers, and
# how often points are lifted.
LIFTED, _MORE_LIFTED = 1e-2, 1e-1
_ROUNDS = 2
# Steps at most, and how far they bring what is left: what is moved is put right afterwards. On
# textbook programs points took 2 to 12 where there is an inside of that depth, multipliers 2 to 24.
_OF_POINTS, _OF_MULTIPLIERS, _LEFT = 12, 30, 1e-2
# How far inside a point has to lie beside its largest eigenvalues to be worth moving to.
_DEPTH = 1e-4
# Steps that are refined, and how often a point is moved.
_REFINED, _TRIES = 2, 2
# A part of a column at right angles to those before, beside its length, whose square is above what
# rounding makes of products of some thousand entries, where steps are corrected.
_ROUGHLY = 1e-6


def inward_multipliers(
    sdp: SDP, point: Point, tol: float = 1e-6, deadline: Deadline = ENDLESS
) -> Iterator[dict[str, Array]]:
    """Multipliers near those of a point whose slack is positive definite, the nearest first.

    Parameters
    ----------
    sdp : SDP
    point : Point
        With multipliers of all rows; values, where there are any, choose the units.
    tol : float, default 1e-6
        The gap aimed at, which says how far inwards they may be moved.
    deadline : Deadline, optional
    """
    with suppress(EffortSpentError):
        program = cone_program(sdp, deadline)
        if not all(r.label in point.duals for r in program.rows) or program.b.size == 0:
            return
        x = program.vector(point.values) if point.values else np.zeros(program.c.size)
        units, y = program.rescaled(x).units, program.multipliers(point.duals)
        for share in finest_first(tol):
            found = _inward(program, y, units, share)
            if found is not None:
                yield program.duals(point.duals, found)
                if share >= 1e-3:
                    return


def central_multipliers(
    sdp: SDP, point: Point, tol: float = 1e-6, deadline: Deadline = ENDLESS
) -> Iterator[dict[str, Array]]:
    """Multipliers of the point of the central path whose gap is a third of the one aimed at.

    Where the dual has an interior, but a thin one, that is all there is so near to the optimum.

    Parameters
    ----------
    sdp : SDP
    point : Point
        With all values and multipliers.
    tol : float, default 1e-6
        The gap aimed at, relative to the value.
    deadline : Deadline, optional
    """
    if not sdp.is_point(point.values) or not all(r.label in point.duals for r in sdp.rows):
        return
    with suppress(EffortSpentError):
        require_dense_factors(sdp)
        program = cone_program(sdp, deadline)
        x = program.vector(point.values)
        gap = tol * abs(program.value(x)) / 3.0
        start = near_path(program, x, point.duals, gap)
        found = None if start is None else centred(program, *start, gap)
        if found is not None:
            yield program.duals(point.duals, found[1])


@unless_lost
def _inward(program: ConeProgram, y: Array, units: Array, share: float) -> Array | None:
    """Multipliers with slack in the interior; None if steps get short."""
    A = sp.csr_array(program.A @ sp.diags_array(units))
    cost = units * program.c
    schur = SchurSystem(program, A, still=True)
    free, still = program.free, np.zeros(program.free.size)
    y = project(schur.free, cost[free], y)
    slack = lifted(program, cost - A.T @ y, share, np.ones(cost.size))
    slack[free] = 0.0
    for _ in range(_STEPS):
        left = cost - A.T @ y
        missed = left - slack
        if _is_met(program, cost, A, y, slack, left):
            return y
        z = inverse(program, slack)
        right = schur.A @ schur.apply(z, z, missed)
        solved = schur.solve(z, z, still, np.append(right, still))
        if solved is None:
            return None
        step = solved[0]
        change = missed - A.T @ step
        change[free] = 0.0
        t = min(1.0, SHARE * longest_step(program, slack, change))
        y, slack = y + t * step, slack + t * change
        if t < _SHORTEST or least_share(program, slack) < _THINNER * min(share, _THINNER):
            return None
    return None


def _is_met(
    program: ConeProgram, cost: Array, A: sp.csr_array, y: Array, slack: Array, left: Array
) -> bool:
    """Whether the slack of the multipliers themselves lies well inside the cone."""
    free = program.free
    size = np.abs(cost[free]) + abs(A[:, free]).T @ np.abs(y)
    if np.any(np.abs(left[free]) > _ROUNDING * size):
        return False
    missed = left - slack
    missed[free] = 0.0
    return longest_step(program, slack, missed) > _NEAR


# -- of programs written out -------------------------------------------------------------


@unless_lost
def inner_point(program: DenseProgram, v: Array) -> Array | None:
    """A point on the equations, well inside all cones; None where there is none so near.

    Parameters
    ----------
    program : DenseProgram
    v : array of shape (p,)
        On the equations.
    """
    for _ in range(_ROUNDS):
        s = program.M @ v + program.t
        metric = Metric(program, s, LIFTED, inverse=True, squared=True)
        right = program.sparse.T @ metric.applied(metric.lifted - s)
        v = v + _along(program, metric, right, _OF_POINTS)
        if depth(program, program.M @ v + program.t, signed=True) <= -_DEPTH:
            return v
    return None


@unless_lost
def inner_multipliers(program: DenseProgram, slack: Array, cost: Array) -> Array | None:
    """Multipliers of all cones, well inside of them, that nearly solve the equations; or None.

    Parameters
    ----------
    program : DenseProgram
    slack : array of shape (k,)
        Multipliers near an optimum, with those of variables.
    cost : array of shape (p,)
    """
    metric = Metric(program, slack, _MORE_LIFTED, squared=True)
    step = _along(program, metric, cost - program.sparse.T @ metric.lifted, _OF_MULTIPLIERS)
    z = metric.lifted + metric.applied(program.sparse @ step)
    return z if depth(program, z, signed=True) <= -_DEPTH else None


def _along(program: DenseProgram, metric: Metric, right: Array, most: int) -> Array:
    """The d with E d = 0 that nearly solves the equations, by conjugate gradients."""

    def operator(d: Array) -> Array:
        found = program.sparse.T @ metric.applied(program.sparse @ d)
        return program.without_prices(found)

    right = program.without_prices(right)
    products = spl.LinearOperator((right.size,) * 2, matvec=operator, dtype=float)
    return np.asarray(spl.cg(products, right, rtol=_LEFT, atol=0.0, maxiter=most)[0])


def onto_equations(program: DenseProgram, v: Array) -> Array:
    """The nearest point that solves the equations up to rounding."""
    for _ in range(_REFINED if program.e.size else 0):
        v = v + program.shortest(program.e - program.E @ v)
    return v


def inwards(move: Callable[[Array], Array | None], at: Array) -> Iterator[Array]:
    """Points, or multipliers, nearer and nearer to such with small eigenvalues lifted."""
    for _ in range(_TRIES):
        moved = move(at)
        if moved is None:
            return
        yield moved
        at = moved


@unless_lost
def towards_inside(program: DenseProgram, v: Array, share: float) -> Array | None:
    """The point whose s comes nearest to one with its small eigenvalues lifted."""
    s = program.M @ v + program.t
    if program.is_narrow:
        metric = Metric(program, s, share)
        right = program.across @ (s - metric.lifted)
        return onto_equations(program, _least(metric, program.columns_across, right)[program.own])
    step = _nearest(program, s, share, program.columns_within)
    return onto_equations(program, v + (program.kernel @ step if program.e.size else step))


@unless_lost
def towards_equations(
    program: DenseProgram, slack: Array, cost: Array, share: float
) -> Array | None:
    """The multipliers of cones nearest to some with small eigenvalues lifted."""
    if program.is_narrow:
        return slack + program.across.T @ _nearest(program, slack, share, program.columns_across)
    metric = Metric(program, slack, share)
    left = cost - program.M.T @ metric.lifted
    left = program.kernel.T @ left if program.e.size else left
    return _least(metric, program.columns_within, left)


def _nearest(program: DenseProgram, s: Array, share: float, columns: ColumnProducts) -> Array:
    """The x for which A x comes nearest to what lifts small eigenvalues of s."""
    metric = Metric(program, s, share, inverse=True)
    right, turned = metric.applied(metric.lifted - s), Turned(metric, columns)
    upper = turned.triangle(_ROUGHLY)
    found = np.zeros(upper.shape[1])
    for _ in range(_REFINED):
        found = found + solved(upper, turned.with_each(right - turned.at(found)))
    return found


def _least(metric: Metric, columns: ColumnProducts, right: Array) -> Array:
    """What is lifted, and the shortest d with A^T d as given."""
    turned = Turned(metric, columns)
    upper = turned.triangle(_ROUGHLY)
    found = turned.at(solved(upper, right))
    # What is added mends what rounding makes of products with large coefficients.
    for _ in range(_REFINED - 1):
        found = found + turned.at(solved(upper, right - turned.with_each(found)))
    return metric.lifted + metric.applied(found)
