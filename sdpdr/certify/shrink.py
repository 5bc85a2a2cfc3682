r"""Feasible points: a given point, or one divided by a number until all rows hold.

If the equations without slack scalars are homogeneous, a feasible point may be divided by any
:math:`s \ge 1`, and rows with positive right-hand sides hold all the more. Here s is the least
number with which the slack of every row exceeds its rounding error and the radius of the point.

The exact point is one near the numbers that are stored (`sdpdr.certify.near`), and the value is no
less than that of any of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.certify.near import Near, left_over, objective_above
from sdpdr.certify.rounding import TINY, UP, inner
from sdpdr.certify.slack import Layout, Scalars
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import smat
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.program.rows import Lmi, Rows

# Slack that a row needs after the division, in radii from before it: twice, since the radius
# changes a little. Rounding of a division may ask for another one; at most so many.
_ROOM, _DIVISIONS = 2.0, 4


class Candidate:
    """Matrices near factors, and scalars, at which some rows hold exactly; slacks of the others.

    Parameters
    ----------
    layout : Layout
    points : mapping from name to Near
    z, moves : arrays of shape (q,)
        Scalars, and radii within which the exact ones are; slack scalars are not read.
    solved : array of bool, shape (m,)
        Rows that hold exactly.

    Attributes
    ----------
    left, radius : arrays of shape (m,)
        The slack of each row before its slack scalars, and the radius of the exact one.
    short : array of bool, shape (m,)
        Rows that may not hold.
    """

    def __init__(
        self,
        layout: Layout,
        points: Mapping[str, Near],
        z: Array,
        moves: Array,
        solved: NDArray[np.bool_],
    ) -> None:
        self.layout, self.points, self.solved = layout, points, solved
        self.up, self.down = layout.takers(solved)
        takes = np.zeros(z.size + 1, dtype=bool)
        takes[self.up], takes[self.down] = True, True
        # The last place stands for none, and for the scalar of an inequality, which has no cost.
        self.z, self.moves = np.where(takes[:-1], 0.0, z), np.where(takes[:-1], 0.0, moves)
        self.left, self.radius = left_over(
            layout.groups, points, layout.b, layout.B, self.z, self.moves
        )
        holds = (self.up >= 0) | (self.left <= -self.radius)
        holds &= (self.down >= 0) | (self.left >= self.radius)
        self.short = ~holds & ~solved

    def holds(self) -> bool:
        """Whether all rows and matrix inequalities hold at some exact point."""
        return not self.short.any() and all(map(self._is_inside, self.layout.sdp.lmis))

    def _is_inside(self, lmi: Lmi) -> bool:
        """Whether a matrix inequality holds within the whole radius."""
        negative = Rows(lmi.label, "<=", lmi.lhs, -lmi.constant)
        B = Scalars.of(self.layout.sdp, [negative]).B
        left, radius = left_over([negative], self.points, negative.rhs, B, self.z, self.moves)
        # Entries are divided by the root of two.
        return is_verified_positive(smat(-left), smat(radius + 8.0 * UNIT * np.abs(left)))

    def scalars(self) -> tuple[Array, Array]:
        """All scalars, and how far from each the exact one may be.

        If a row has slack scalars on both sides, the one that lowers the row is larger by the
        radius, so that neither is negative, and the other one follows from the equation.
        """
        found, z, moves = self.layout, self.z.copy(), self.moves.copy()
        for takers in (self.up, self.down):
            rows = np.flatnonzero((takers >= 0) & (takers < z.size))
            who = takers[rows]
            share = self.left[rows] / found.entry[who]
            z[who] = np.where(found.signed[who], np.maximum(share, 0.0), share)
            around = 2.0 * self.radius[rows] / np.abs(found.entry[who])
            moves[who] = UP * (around + UNIT * np.abs(z[who]))
        return z, moves

    def value(self) -> float:
        """An upper bound on the objective of the minimisation at the exact point."""
        found, (z, moves) = self.layout, self.scalars()
        none, half, squares = np.zeros(z.size), 0.5 * found.curvature, z * z
        # What moves cost goes by the slope, in which terms cancel.
        slope = found.cost + found.curvature * z
        blur = 2.0 * UNIT * (np.abs(found.cost) + found.curvature * np.abs(z))
        rounding = UNIT * squares + TINY * (z != 0.0)
        scalars = inner(
            np.concatenate([found.cost, half, slope, half]),
            np.concatenate([z, squares, none, none]),
            np.concatenate([none, rounding, moves, UP * moves**2]),
            np.concatenate([none, none, blur, none]),
        )[1]
        matrices = (objective_above(found.sdp, name, near) for name, near in self.points.items())
        parts = np.array([found.sdp.constant, scalars, *matrices])
        return inner(parts, np.ones(parts.size))[1]

    def excess(self) -> float | None:
        """The divisor with which violated rows hold; None if there is none."""
        sign = np.where(self.down >= 0, -1.0, 1.0)
        b, lhs = sign * self.layout.b, sign * (self.layout.b - self.left)
        room = b - _ROOM * (self.radius + float(gamma(8)) * np.abs(b))
        short = self.short
        if np.any(room[short] <= 0.0) or np.any(self.layout.b[self.solved]):
            return None
        return float(np.max(lhs[short] / room[short], initial=1.0)) * (1.0 + 4.0 * UNIT)

    def divided(self, divisor: float) -> Candidate:
        """The point divided by a number, with its radii, to which rounding is added."""
        points = {}
        for name, near in self.points.items():
            factor = near.factor / np.sqrt(divisor)
            size = float(np.linalg.norm(factor / near.units[:, None]))
            far = UP * (near.far + 4.0 * UNIT * size) if near.far else 0.0
            points[name] = Near(factor, near.units, far)
        z = self.z / divisor
        moves = np.where(self.moves > 0.0, UP * (self.moves + 8.0 * UNIT * np.abs(z)), 0.0)
        return Candidate(self.layout, points, z, moves, self.solved)


def shrunk(candidate: Candidate) -> tuple[Candidate, float] | None:
    """A feasible point, divided by the least number with which all rows hold, and that number.

    None if no division makes it feasible, for instance if rows that hold exactly have right-hand
    sides other than zero.

    Parameters
    ----------
    candidate : Candidate

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.certify.slack import layout
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    >>> points = {"K": Near.of(np.array([[-1.001], [0.0], [1.001]]))}
    >>> given = Candidate(layout(sdp), points, np.zeros(0), np.zeros(0), np.zeros(2, dtype=bool))
    >>> found, divisor = shrunk(given)
    >>> round(divisor, 6), -2.0 <= found.value() < -1.999999
    (1.002001, True)
    """
    total = 1.0
    for _ in range(_DIVISIONS):
        if candidate.holds():
            return candidate, total
        divisor = candidate.excess()
        if divisor is None:
            return None
        candidate, total = candidate.divided(divisor), total * divisor
    return None
