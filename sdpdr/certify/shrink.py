r"""Points that are made feasible in closed form: shrunk, or held as they are.

*Scalars that give way.* A scalar that one row alone reads makes that row hold, whatever the
matrices are: exactly, since it is what the row says it is. With signs, one that raises the row and
one that lowers it give way to both sides; where there is only one, the row must leave room for it.
An inequality has one such scalar by nature. Others are put at the cheapest values that fit.

*Shrinking.* Where the equations that nothing gives way in are homogeneous, a feasible point may be
divided by any :math:`s \ge 1`: the feasible set holds all points between it and zero, as far as
rows with positive limits go. Here s is the least number with which every row leaves more room than
its rounding and the radius of the point.

The exact point is one near the numbers that are stored (`sdpdr.certify.near`), and the value is no
less than that of any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, placed
from sdpdr.certify.near import UP, Near, error_of, evaluated, objective_above
from sdpdr.certify.rounding import TINY, longest_row
from sdpdr.linalg import LinearMap
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import smat, svec_size
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.program.face import visible_rows
from sdpdr.program.point import Value
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.sdp import SDP, remembered

# A row must leave room for its radius after it was shrunk, which is a little different from the
# radius before: twice as much. The first division adds its own rounding to that.
_ROOM, _DIVISIONS = 2.0, 4


@dataclass(frozen=True, eq=False)
class Layout:
    """All rows of a program but those that state faces, one below the other, and all scalars.

    Attributes
    ----------
    sdp : SDP
    groups : tuple of Rows
    b : array of shape (m,)
        Right sides.
    equal : array of bool, shape (m,)
        Which rows are equations.
    B : sparse array of shape (m, q)
        What the rows do to the scalars.
    cost, curvature : arrays of shape (q,)
    signed : array of bool, shape (q,)
        Which scalars are not negative.
    row, entry : arrays of shape (q,)
        The one row that reads a scalar, and the coefficient; -1 for all others.
    """

    sdp: SDP
    groups: tuple[Rows, ...]
    b: Array
    equal: NDArray[np.bool_]
    B: sp.csr_array
    cost: Array
    curvature: Array
    signed: NDArray[np.bool_]
    row: Index
    entry: Array

    @property
    def demands(self) -> NDArray[np.bool_]:
        """Equations that no scalar of their own makes hold."""
        has_own = np.zeros(self.b.size, dtype=bool)
        has_own[self.row[self.row >= 0]] = True
        return self.equal & ~has_own

    def scalars(self, values: Mapping[str, Value]) -> Array:
        """All scalars of a point, none of them of the wrong sign."""
        parts = [np.asarray(values[v.name], dtype=float) for v in self.sdp.vector_variables]
        z = np.concatenate([np.zeros(0), *parts])
        return np.where(self.signed, np.maximum(z, 0.0), z)

    def split(self, z: Array) -> dict[str, Array]:
        """Scalars by variable."""
        scalars = self.sdp.vector_variables
        ends = np.cumsum([v.size for v in scalars])
        return {v.name: z[end - v.size : end] for v, end in zip(scalars, ends, strict=True)}

    def takers(self, solved: NDArray[np.bool_]) -> tuple[Index, Index]:
        """For every row the scalar that takes what is left above, and below; -1 where there is none.

        The one of an inequality itself has the number q. Of several the cheapest takes all.
        Rows that are solved as equations have none.
        """
        q, m = self.cost.size, self.b.size
        own = np.flatnonzero(self.row >= 0)
        own = own[~solved[self.row[own]]]
        limits = np.flatnonzero(~self.equal & ~solved)
        row = np.concatenate([self.row[own], limits])
        who = np.concatenate([own, np.full(limits.size, q)])
        free = np.concatenate([~self.signed[own], np.zeros(limits.size, dtype=bool)])
        side = np.concatenate([np.sign(self.entry[own]), np.ones(limits.size)])
        price = np.concatenate([self.cost[own] / np.abs(self.entry[own]), np.zeros(limits.size)])
        order = np.lexsort((np.where(free, -np.inf, price), row))
        found = []
        for sign in (1.0, -1.0):
            some = order[(free | (side == sign))[order]]
            rows, first = np.unique(row[some], return_index=True)
            takers = np.full(m, -1)
            takers[rows] = who[some[first]]
            found.append(takers)
        return found[0], found[1]


@remembered
def layout(sdp: SDP) -> Layout:
    """Rows and scalars of a program.

    Examples
    --------
    >>> from sdpdr import minimize, psd, sum_squares
    >>> X = psd("X", 2)
    >>> found = layout((minimize(sum_squares(X - np.eye(2))) + (X.diagonal() == 1.0)).to_sdp())
    >>> found.demands.tolist(), found.row.tolist()
    ([False, False, False, True, True], [0, 1, 2])
    """
    groups, scalars = tuple(visible_rows(sdp)), sdp.vector_variables
    m, q = sum(rows.m for rows in groups), sum(v.size for v in scalars)
    starts = dict(zip((v.name for v in scalars), _starts([v.size for v in scalars]), strict=True))
    parts, seen = [], np.zeros(q, dtype=bool)
    for rows, at in zip(groups, _starts([rows.m for rows in groups]), strict=True):
        for name in rows.lhs.keys() & starts.keys():
            parts.append((at, starts[name], rows.lhs[name].matrix()))
    for lmi in sdp.lmis:
        for name in lmi.lhs.keys() & starts.keys():
            seen[starts[name] : starts[name] + sdp.variable(name).extents[0]] = True
    B = sp.csc_array(placed(parts, (m, q)))
    B.sum_duplicates()
    B.eliminate_zeros()
    own = np.flatnonzero((np.diff(B.indptr) == 1) & ~seen)
    row, entry = np.full(q, -1), np.zeros(q)
    row[own], entry[own] = B.indices[B.indptr[own]], B.data[B.indptr[own]]
    places = {name: slice(at, at + sdp.variable(name).extents[0]) for name, at in starts.items()}
    cost = np.concatenate([np.zeros(0), *(np.asarray(sdp.cost(v.name)) for v in scalars)])
    return Layout(
        sdp=sdp,
        groups=groups,
        b=np.concatenate([np.zeros(0), *(rows.rhs for rows in groups)]),
        equal=np.concatenate(
            [np.zeros(0, dtype=bool), *(np.full(r.m, r.relation == "==") for r in groups)]
        ),
        B=sp.csr_array(B),
        cost=cost,
        curvature=sdp.curvatures(places, q),
        signed=np.concatenate(
            [np.zeros(0, dtype=bool), *(np.full(v.size, v.nonnegative) for v in scalars)]
        ),
        row=row,
        entry=entry,
    )


def _starts(sizes: list[int]) -> list[int]:
    """Where parts of given sizes begin."""
    return [int(k) for k in np.cumsum([0, *sizes])[:-1]]


@dataclass(frozen=True, eq=False)
class Candidate:
    """Matrices near factors, and scalars, that solve some rows exactly, to be tried on the others.

    Attributes
    ----------
    layout : Layout
    points : mapping from name to Near
    z, moves : arrays of shape (q,)
        Scalars, and radii within which the exact ones are; those that give way are not read.
    solved : array of bool, shape (m,)
        Rows that hold exactly.
    """

    layout: Layout
    points: Mapping[str, Near]
    z: Array
    moves: Array
    solved: NDArray[np.bool_]

    def tried(self) -> Trial:
        """What all rows leave, and the scalars that give way to that."""
        found = self.layout
        up, down = found.takers(self.solved)
        takes = np.zeros(found.cost.size + 1, dtype=bool)
        takes[up], takes[down] = True, True
        # The last place stands for -1 and for the scalar of an inequality, which has no cost.
        fixed = np.where(takes[:-1], 0.0, self.z)
        moves = np.where(takes[:-1], 0.0, self.moves)
        lhs, error = evaluated(found.groups, self.points)
        size = abs(found.B)
        lhs, rounding = lhs + found.B @ fixed, float(gamma(longest_row(found.B) + 8))
        scale = np.abs(lhs) + np.abs(found.b) + size @ np.abs(fixed)
        radius = UP * (error + size @ moves + rounding * (scale + error)) + TINY
        return Trial(self, up, down, fixed, moves, found.b - lhs, radius)


@dataclass(frozen=True, eq=False)
class Trial:
    """What rows leave for the scalars that give way in them; the number q is an inequality's own.

    Attributes
    ----------
    candidate : Candidate
    up, down : arrays of int, shape (m,)
    fixed, moves : arrays of shape (q,)
        The other scalars, and their radii.
    left, radius : arrays of shape (m,)
        What is left of right sides, and within which of it the exact number is.
    """

    candidate: Candidate
    up: Index
    down: Index
    fixed: Array
    moves: Array
    left: Array
    radius: Array

    @property
    def short(self) -> NDArray[np.bool_]:
        """Rows that may not hold."""
        holds = (self.up >= 0) | (self.left <= -self.radius)
        holds &= (self.down >= 0) | (self.left >= self.radius)
        return np.asarray(~holds & ~self.candidate.solved)

    def excess(self) -> float | None:
        """The number by which everything is divided for short rows to hold; None if none will do."""
        found = self.candidate.layout
        sign = np.where(self.down >= 0, -1.0, 1.0)
        b, lhs = sign * found.b, sign * (found.b - self.left)
        room = b - _ROOM * (self.radius + float(gamma(8)) * np.abs(b))
        short = self.short
        if np.any(room[short] <= 0.0):
            return None
        return float(np.max(lhs[short] / room[short], initial=1.0)) * (1.0 + 4.0 * UNIT)

    def holds(self) -> bool:
        """Whether all rows and matrix inequalities hold at some exact point."""
        sdp = self.candidate.layout.sdp
        return not self.short.any() and all(self._is_inside(lmi) for lmi in sdp.lmis)

    def _is_inside(self, lmi: Lmi) -> bool:
        found, points = self.candidate.layout, self.candidate.points
        value, error = lmi.constant.copy(), np.zeros(svec_size(lmi.order))
        z, moves = found.split(self.fixed), found.split(self.moves)
        for name, linear_map in lmi.lhs.items():
            if isinstance(linear_map, LinearMap):
                part = linear_map.apply_factor(points[name].factor)
                error += error_of(linear_map, points[name])
            else:
                size = abs(linear_map.matrix())
                part = linear_map.matrix() @ z[name]
                error += size @ moves[name]
                error += float(gamma(longest_row(size) + 4)) * (size @ np.abs(z[name]))
            value += part
            error += float(gamma(len(lmi.lhs) + 4)) * (np.abs(value) + np.abs(part))
        around = UP * (error + 8.0 * UNIT * np.abs(value))
        return is_verified_positive(smat(value), smat(around))

    def scalars(self) -> tuple[Array, Array]:
        """All scalars, and how far from each the exact one may be.

        Of two that give way to both sides each may be larger by the radius, so that neither is
        negative; the other is larger by as much then, beside what is rounded.
        """
        found = self.candidate.layout
        z, moves = np.append(self.fixed, 0.0), np.append(self.moves, 0.0)
        for takers in (self.up, self.down):
            rows = np.flatnonzero((takers >= 0) & (takers < found.cost.size))
            who = takers[rows]
            share = self.left[rows] / found.entry[who]
            z[who] = np.where(found.signed[who], np.maximum(share, 0.0), share)
            around = 2.0 * self.radius[rows] / np.abs(found.entry[who])
            moves[who] = UP * (around + 2.0 * UNIT * np.abs(z[who]))
        return z[:-1], moves[:-1]

    def value(self) -> float:
        """No less than the objective of the minimisation at the exact point."""
        found, (z, moves) = self.candidate.layout, self.scalars()
        total, sizes = [found.sdp.constant], [abs(found.sdp.constant)]
        for v in found.sdp.psd_variables:
            total.append(objective_above(found.sdp, v.name, self.candidate.points[v.name]))
        slope = np.abs(found.cost) + found.curvature * (np.abs(z) + moves)
        total.append(float(found.cost @ z + 0.5 * (found.curvature @ np.square(z))))
        total.append(UP * float((np.abs(found.cost + found.curvature * z)) @ moves))
        total.append(UP * float(0.5 * (found.curvature @ np.square(moves))))
        sizes += [abs(part) for part in total]
        sizes.append(float(slope @ (np.abs(z) + moves)))
        rounding = float(gamma(z.size + len(total) + 8)) * sum(sizes)
        return float(np.nextafter(sum(total) + UP * rounding, np.inf))


def shrunk(candidate: Candidate) -> tuple[Trial, float] | None:
    """A point at which all rows hold, divided by as little as will do, and the divisor.

    None where shrinking does not lead there. Nothing is divided where rows that are solved have
    right sides.

    Parameters
    ----------
    candidate : Candidate

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    >>> points = {"K": Near.of(np.array([[-1.001], [0.0], [1.001]]))}
    >>> exact = Candidate(layout(sdp), points, np.zeros(0), np.zeros(0), np.zeros(2, dtype=bool))
    >>> trial, divisor = shrunk(exact)
    >>> round(divisor, 6), -2.0 <= trial.value() < -1.999999
    (1.002001, True)
    """
    total, may = 1.0, not np.any(candidate.layout.b[candidate.solved])
    for _ in range(_DIVISIONS):
        trial = candidate.tried()
        if trial.holds():
            return trial, total
        divisor = trial.excess()
        if divisor is None or not may:
            return None
        candidate, total = divided(candidate, divisor), total * divisor
    return None


def divided(candidate: Candidate, divisor: float) -> Candidate:
    """The point over a number: radii shrink with it, and rounding is added to them."""
    root = np.sqrt(divisor)
    points = {}
    for name, near in candidate.points.items():
        factor = near.factor / root
        # Of the exact point over the exact root, what is stored misses a few units of each entry.
        size = float(np.linalg.norm(factor / near.units[:, None]))
        far = UP * (near.far + 4.0 * UNIT * size) if near.far else 0.0
        points[name] = Near(factor, near.units, far)
    z, moves = candidate.z / divisor, candidate.moves / divisor
    moves = np.where(moves > 0.0, UP * (moves + 4.0 * UNIT * np.abs(z)), 0.0)
    return Candidate(candidate.layout, points, z, moves, candidate.solved)
