"""The end of the central path, by Newton's method on smoothed optimality conditions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.solving.derivatives.cone import Equations, Reached, filling
from sdpdr.solving.derivatives.place import Place
from sdpdr.solving.derivatives.system import System

# Newton steps, and halvings of each until the residual falls by this share of what it should.
_STEPS, _HALVINGS, _FALL = 30, 6, 0.1
# Residuals, relative to the data: what rounding leaves, and what derivatives need.
_REACHED, _USABLE = 1e-13, 1e-11
# Gaps on the way, relative to the value, and the largest at which the path has reached its end.
_GAPS, _TIGHT = tuple(10.0**-k for k in range(5, 13)), 1e-9
# Points of the path whose quotients say what vanishes, and passes that size what does.
_WAY, _ROUNDS = 4, 3
# Share of the largest unknown that is rounding.
_NOTHING = 1e-14


def _path_point(program: Equations, near: Reached, size: float, gap: float) -> Place | None:
    """The point of the path with a gap in units of a size; None if Newton's method fails."""
    of = program.in_units_of(near.x, near.s, size)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            mu = gap * size / program.cone.degree
            place = _walked(Place.near(of, near, mu))
        except np.linalg.LinAlgError:
            return None
    return place if place.error <= _USABLE else None


def _walked(place: Place) -> Place:
    """The last place of Newton's method, where the residual falls no more."""
    for _ in range(_STEPS):
        if place.error <= _REACHED:
            break
        after = _searched(place, *System(place).step())
        if after is None:
            break
        place = after
    return place


def _searched(place: Place, dw: Array, dy: Array) -> Place | None:
    """Where a step leads, shortened until it reduces the residual; None where none does."""
    for t in 0.5 ** np.arange(_HALVINGS):
        after = Place.at(place.of, place.w + t * dw, place.y + t * dy, place.mu)
        if after.error <= (1.0 - _FALL * t) * place.error:
            return after
    return None


class End(NamedTuple):
    """The last point of the central path, and how the path goes there.

    ``kept`` is `Place.kept` beside the point before, or zero where there was none. As the gap
    becomes a tenth, multipliers grow by ``growth``, which is one where they converge.
    """

    place: Place
    kept: float
    growth: float


def end_of_path(program: Equations, near: Reached, size: float) -> End | None:
    """The point of the central path next to the optimum; None if Newton's method finds none.

    Parameters
    ----------
    program : Equations
    near : Reached
    size : float
        Of objective values; positive.
    """
    found, passed = list[Place](), list[float]()
    for gap in _GAPS:
        place = _path_point(program, near, size, gap)
        if place is not None:
            found.append(place)
            passed.append(gap)
            near = place.reached
    if not passed or passed[-1] > _TIGHT:
        return None
    last = found[-1]
    if len(found) == 1:
        return End(last, 0.0, 1.0)
    before = found[-2]
    kept = last.kept(Place.near(last.of, before.reached, before.mu * before.of.price))
    first = max(float(np.linalg.norm(found[0].reached.y)), float(np.finfo(float).tiny))
    ratio = float(np.linalg.norm(last.reached.y)) / first
    sizes = _sizes(program, found[-_WAY:][0].reached.x, near.x, passed[-1] / passed[-_WAY:][0])
    of = program.in_units_of(sizes, near.s, size)
    place = Place.near(of, near, last.mu * last.of.price)
    return End(place, kept, ratio ** (1.0 / np.log10(passed[0] / passed[-1])))


def _sizes(program: Equations, wider: Array, x: Array, share: float) -> Array:
    """The point, with sizes that fill their equations, or are the value, for what vanishes of it.

    What vanishes next to the optimum is no unit: what it allows others to change vanishes too. It
    keeps less than the root of the share of the gap that a point keeps beside a wider one.
    """
    sizes = np.abs(x)
    less = sizes <= np.maximum(np.sqrt(share) * np.abs(wider), _NOTHING * np.max(sizes))
    vanishes = less.copy()
    for block in program.cone.blocks:
        vanishes[block.part] = False
        if np.all(less[block.diagonal]):
            vanishes[block.diagonal] = True
        root = np.sqrt(np.where(vanishes[block.diagonal], 0.0, sizes[block.diagonal]))
        i, j = block.pairs
        sizes[block.part] = root[i] * root[j]
    A = sp.csr_array(sp.vstack([program.A, sp.csr_array(program.c[None, :])]))
    right = np.append(np.abs(program.b), abs(program.value(x)))
    sizes[vanishes] = 0.0
    for _ in range(_ROUNDS):
        found = filling(A, right, sizes)
        filled = vanishes & np.isfinite(found)
        sizes[filled] = found[filled]
        vanishes &= ~filled
    return np.where(vanishes, x, sizes)
