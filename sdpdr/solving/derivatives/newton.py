"""Newton's method on the central path, from an answer that need not lie inside of any cone.

Unlike an interior-point method it may begin anywhere: from an answer X, S with W = X - S
(`sdpdr.solving.derivatives.kkt`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg.svec import svec_index
from sdpdr.program.attain.cone import ConeProgram
from sdpdr.program.attain.newton import unless_lost
from sdpdr.solving.derivatives.kkt import Equations, Place, Reached
from sdpdr.solving.derivatives.system import NewtonStep, System

_STEPS = 30
# After so many steps this share of the residual may be left, where more of them are worth it.
_PATIENCE, _LEFT = 4, 0.1
# Steps are halved so often, until the residual falls by a share of what it should.
_HALVINGS, _FALL = 6, 0.1
# Residuals that rounding leaves, relative to data, and that are worth having.
_REACHED, _USABLE = 1e-13, 1e-11
# Last points of the way, which tell what vanishes, and rounds in which rows tell its sizes by those
# of others.
_WAY, _ROUNDS = 4, 3
# Gaps, relative to the value, on the way to an optimum, and from which on it is one.
GAPS, _TIGHT = tuple(10.0**-k for k in range(5, 13)), 1e-9


@dataclass(frozen=True, eq=False)
class Central:
    """A point of the central path.

    Attributes
    ----------
    place : Place
    """

    place: Place

    @cached_property
    def at(self) -> Reached:
        """The same in the units of the program."""
        return self.place.of.reached(self.place.x, self.place.y, self.place.s)

    def in_units_of(self, of: Equations) -> Place:
        """The place in the units of other equations."""
        return of.placed(self.at, self.place.mu * self.place.of.price / of.price)


@unless_lost
def path_point(program: ConeProgram, at: Reached, size: float, share: float) -> Central | None:
    """The point of the central path with a gap, by Newton's method from another.

    Parameters
    ----------
    program : ConeProgram
    at : Reached
    size : float
        Of values; positive.
    share : float
        Of it, that is the gap.

    Returns
    -------
    Central or None
        None where Newton's method leads nowhere from there.
    """
    scaled = Equations.of(program, program.rescaled(at.x)).priced(at, size, program.order)
    slack = at.s.copy()
    slack[program.free] = 0.0
    mu = share * size / (max(program.order, 1) * scaled.price)
    place = _walked(scaled.placed(replace(at, s=slack), mu))
    return Central(place) if place.error <= _USABLE else None


def _walked(place: Place) -> Place:
    """The last place of Newton's method, where the residual falls no more."""
    first = place.error
    for steps in range(_STEPS):
        if place.error <= _REACHED or (steps > _PATIENCE and place.error > _LEFT * first):
            break
        after = _searched(place, System(place).step(place.missed, place.slack))
        if after is None:
            break
        place = after
    return place


def _searched(place: Place, step: NewtonStep) -> Place | None:
    """Where a step leads, shortened until it reduces the residual; None where none does."""
    for k in range(_HALVINGS):
        t = 0.5**k
        after = Place.at(place.of, place.w + t * step.dw, place.y + t * step.dy, place.mu)
        if after.error <= (1.0 - _FALL * t) * place.error:
            return after
    return None


@dataclass(frozen=True, eq=False)
class End:
    """Where the central path ends, and how it goes there.

    Attributes
    ----------
    central : Central
        Its last point.
    kept : float
        `Place.vanishing` beside the point before; zero where there was none.
    growth : float
        Of the multipliers, as the gap becomes a tenth; one where they converge.
    """

    central: Central
    kept: float
    growth: float


def optimum(
    program: ConeProgram, at: Reached, size: float, gaps: Sequence[float] = GAPS
) -> End | None:
    """The point of the central path next to the optimum that doubles lead to.

    Parameters
    ----------
    program : ConeProgram
    at : Reached
    size : float
        Of values; positive.
    gaps : sequence of float, optional
        Relative to the size, of points on the way. Multipliers that have no limit stay where they
        are if it begins with the last.

    Returns
    -------
    End or None
        None if no point is near the optimum.
    """
    found: list[Central] = []
    reached: list[float] = []
    for gap in gaps:
        after = path_point(program, at, size, gap)
        if after is not None:
            found.append(after)
            reached.append(gap)
            at = after.at
    if not reached or reached[-1] > _TIGHT:
        return None
    last = found[-1]
    if len(found) == 1:
        return End(last, 0.0, 1.0)
    kept = last.place.vanishing(found[-2].in_units_of(last.place.of))
    tiny = float(np.finfo(float).tiny)
    ratio = float(np.linalg.norm(last.at.y)) / max(float(np.linalg.norm(found[0].at.y)), tiny)
    wider, share = found[-_WAY:][0], reached[-1] / reached[-_WAY:][0]
    sizes = _sizes(program, wider.at.x, last.at.x, np.sqrt(share))
    of = Equations.of(program, program.rescaled(sizes)).priced(last.at, size, program.order)
    central = Central(last.in_units_of(of))
    return End(central, kept, ratio ** (1.0 / np.log10(reached[0] / reached[-1])))


def _sizes(program: ConeProgram, wider: Array, x: Array, least: float) -> Array:
    """The point, with sizes that would fill their rows, or be the value, for what vanishes of it.

    Next to the optimum they are no units: what they allow others to change vanishes with them.

    Parameters
    ----------
    program : ConeProgram
    wider, x : arrays of shape (N,)
        Points of the path, one far from its end and one near to it.
    least : float
        What a scalar, or the diagonal of a matrix, keeps at least if it does not vanish.
    """
    less = np.abs(x) <= least * np.abs(wider)
    open_, seen = np.zeros(x.size, dtype=bool), np.abs(x)
    scalars = np.concatenate([program.nonnegative, program.free])
    open_[scalars] = less[scalars]
    for block in program.blocks:
        k = np.arange(block.order)
        diagonal = block.start + svec_index(k, k)
        if np.all(less[diagonal]):
            open_[diagonal], seen[block.part] = True, 0.0
    rows = sp.vstack([abs(program.A), sp.csr_array(np.abs(program.c)[None, :])], format="coo")
    entries, row, column = rows.data, rows.row, rows.col
    given = np.append(np.abs(program.b), abs(program.value(x) - program.sdp.constant))
    sizes = np.where(open_, 0.0, seen)
    for _ in range(_ROUNDS):
        reached = np.maximum(rows @ sizes, given)
        known = open_[column] & (entries > 0.0) & (reached[row] > 0.0)
        filling = np.full(x.size, np.inf)
        np.minimum.at(filling, column[known], reached[row[known]] / entries[known])
        filled = np.isfinite(filling)
        sizes[filled] = filling[filled]
        open_ &= ~filled
    return np.where(open_, x, np.copysign(sizes, x))
