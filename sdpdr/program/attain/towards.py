"""Points, and multipliers, moved inside all cones in the local norm where they are.

Small eigenvalues are lifted by as little as a proof needs, and what comes nearest to that solves
the equations; a triangle of all directions that are free is factored for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.attain.dense import DenseProgram
from sdpdr.program.attain.metric import Metric, Turned, solved
from sdpdr.program.attain.newton import unless_lost

_STEPS, _TRIES = 2, 2
# A part of a column at right angles to those before, beside its length, whose square is above what
# rounding makes of products of some thousand entries, where steps are corrected.
_ROUGHLY = 1e-6


def onto_equations(program: DenseProgram, v: Array) -> Array:
    """The nearest point that solves the equations up to rounding."""
    for _ in range(_STEPS if program.e.size else 0):
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
        step = _least(_across(program, metric), right)
        moved = metric.lifted + metric.applied(step[:, None])[:, 0]
        return onto_equations(program, moved[program.own])
    inside = Metric(program, s, share, inverse=True)
    right = inside.applied((inside.lifted - s)[:, None])[:, 0]
    step = _nearest(_within(program, inside), right)
    return onto_equations(program, v + (program.kernel @ step if program.e.size else step))


def _across(program: DenseProgram, metric: Metric) -> Turned:
    return Turned(metric, program.across.T, lambda: program.products_across)


def _within(program: DenseProgram, metric: Metric) -> Turned:
    return Turned(metric, program.within, lambda: program.products_within)


def _nearest(columns: Turned, right: Array) -> Array:
    """The x for which A x comes nearest to what is given."""
    upper = columns.triangle(_ROUGHLY)
    found = np.zeros(upper.shape[1])
    for _ in range(_STEPS):
        found = found + solved(upper, columns.with_each(right - columns.at(found)))
    return found


def _least(columns: Turned, right: Array) -> Array:
    """The shortest d with A^T d as given."""
    upper = columns.triangle(_ROUGHLY)
    found = columns.at(solved(upper, right))
    # What is added mends what rounding makes of products with large coefficients.
    for _ in range(_STEPS - 1):
        found = found + columns.at(solved(upper, right - columns.with_each(found)))
    return found


@unless_lost
def towards_equations(
    program: DenseProgram, slack: Array, cost: Array, share: float
) -> Array | None:
    """The multipliers of cones nearest to some with small eigenvalues lifted."""
    if program.is_narrow:
        inside = Metric(program, slack, share, inverse=True)
        right = inside.applied((inside.lifted - slack)[:, None])[:, 0]
        return slack + program.across.T @ _nearest(_across(program, inside), right)
    metric = Metric(program, slack, share)
    left = cost - program.M.T @ metric.lifted
    left = program.kernel.T @ left if program.e.size else left
    step = _least(_within(program, metric), left)
    return metric.lifted + metric.applied(step[:, None])[:, 0]
