"""Where an iterate may go: the linearised conditions, and steps that solve them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Index
from sdpdr.solvers.lowrank.program import EdgeProgram, Matrix, Vector

_TO_BOUNDARY = 0.995


@dataclass(frozen=True, eq=False)
class Iterate:
    """Point of the iteration: factor, row multipliers, one slack for each end of their boxes."""

    R: Matrix
    y: Vector
    slack_low: Vector
    slack_high: Vector
    mu: float
    reg: float = 0.0


@dataclass(frozen=True, eq=False)
class Direction:
    """Changes of all parts of an iterate, and how far they may be followed.

    Attributes
    ----------
    R, y, slack_low, slack_high : arrays
    curve : array
        What the relative squared lengths gain beyond their linear part at a full step.
    primal, dual : float
        Step lengths in (0, 1] that keep slacks and multipliers inside.
    """

    R: Matrix
    y: Vector
    slack_low: Vector
    slack_high: Vector
    curve: Vector
    primal: float
    dual: float


class Linearization:
    r"""The optimality conditions at an iterate, linear in a change (see `InteriorPoint`).

    Parameters
    ----------
    rows : Rows
    point : Iterate
    residual : array
        Of the rows' first condition, at the point.

    Attributes
    ----------
    sigma, g : arrays
        The conditions ask for :math:`dy = \sigma (dh + g)`.
    """

    def __init__(self, rows: Rows, point: Iterate, residual: Vector) -> None:
        self._point, self._residual = point, residual
        self._z_low, self._z_high = point.y - rows.low, rows.high - point.y
        low, high = point.slack_low, point.slack_high
        self.sigma = 1 / (rows.compliance + low / self._z_low + high / self._z_high)
        self._aim(residual, point.mu / self._z_low, point.mu / self._z_high)

    def _aim(self, residual: Vector, barrier_low: Vector, barrier_high: Vector) -> None:
        self._barrier_low, self._barrier_high = barrier_low, barrier_high
        slacks = self._point.slack_low - self._point.slack_high
        self.g = residual - slacks + barrier_low - barrier_high

    def correct(self, ahead: Direction) -> None:
        """Foresee the second-order terms of a step of the lengths found.

        References
        ----------
        Mehrotra, On the implementation of a primal-dual interior point method, SIAM Journal on
        Optimization 2 (1992); Nocedal and Wright (2006), section 18.3, for the curvature.
        """
        point, both = self._point, min(ahead.primal, ahead.dual) ** 2
        self._aim(
            self._residual + ahead.primal**2 * ahead.curve,
            (point.mu - both * ahead.slack_low * ahead.y) / self._z_low,
            (point.mu + both * ahead.slack_high * ahead.y) / self._z_high,
        )

    def direction(self, dR: Matrix, dh: Vector, curve: Vector) -> Direction:
        """The changes that belong to a change of the factor."""
        low, high = self._point.slack_low, self._point.slack_high
        dy = self.sigma * (dh + self.g)
        d_low = self._barrier_low - low - low / self._z_low * dy
        d_high = self._barrier_high - high + high / self._z_high * dy
        primal = self._shorten(min(_longest(low, d_low), _longest(high, d_high)), curve)
        dual = min(_longest(self._z_low, dy), _longest(self._z_high, -dy))
        return Direction(dR, dy, d_low, d_high, curve, primal, dual)

    def _shorten(self, primal: float, curve: Vector) -> float:
        """Halve a step while the curvature of the lengths makes it too infeasible."""
        allowed = max(1.0, float(abs(self._residual).max()))
        while abs((1 - primal) * self._residual + primal**2 * curve).max() > allowed:
            primal *= 0.5
        return primal


def _longest(value: Vector, change: Vector) -> float:
    """Longest step <= 1 that keeps value + step * change a fraction inside value > 0."""
    shrinking = change < 0
    if not shrinking.any():
        return 1.0
    return min(1.0, _TO_BOUNDARY * float((value[shrinking] / -change[shrinking]).min()))


@dataclass(frozen=True, eq=False)
class Rows:
    r"""Penalties of the relative squared lengths :math:`h_e = q_e / d_e`, one row per limit.

    A row with target b, multiplier box [low, high] and compliance :math:`\gamma` stands for

    .. math:: \varphi(h) = \max_{low \le y \le high} \; y (h - b) - \tfrac{\gamma}{2} y^2 ,

    whose optimality conditions, with a slack t for each finite end of the box, are

    .. math:: h - b - \gamma y = t_{high} - t_{low}, \qquad
              t_{high} (high - y) = 0, \qquad t_{low} (y - low) = 0 .

    A hard upper limit is the box [0, inf], a hard lower one [-inf, 0], an equality
    [-inf, inf]; a price shortens the infinite end; a stiffness v on squared lengths is the
    compliance :math:`1 / (v d_e^2)`. Two-sided limits are two rows of one edge.
    """

    edge: Index
    target: Vector
    low: Vector
    high: Vector
    compliance: Vector
    scale: Vector
    aligned: bool

    @classmethod
    def of(cls, program: EdgeProgram) -> Rows:
        """Split the limits of a program into rows.

        Examples
        --------
        >>> band = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, lower=0.9, upper=1.1)
        >>> rows = Rows.of(band)
        >>> rows.target, rows.low, rows.high
        (array([1.1, 0.9]), array([  0., -inf]), array([inf,  0.]))
        """
        d = program.sqdist
        equal = program.lower == program.upper
        above = np.flatnonzero(np.isfinite(program.upper) & ~equal)
        below = np.flatnonzero(np.isfinite(program.lower) & ~equal)
        both = np.flatnonzero(equal)
        edge = np.concatenate([above, below, both])
        target = np.concatenate([program.upper[above], program.lower[below], program.upper[both]])
        price = program.price * d
        zero = np.zeros
        return cls(
            edge=edge,
            target=target / d[edge],
            low=np.concatenate([zero(len(above)), -price[below], -price[both]]),
            high=np.concatenate([price[above], zero(len(below)), price[both]]),
            compliance=1.0 / (program.stiffness * d**2)[edge],
            scale=d,
            aligned=np.array_equal(edge, np.arange(program.m)),
        )

    def lengths(self, delta: Matrix) -> Vector:
        """Relative squared length of every row's edge."""
        return self.take(np.einsum("ij,ij->i", delta, delta) / self.scale)

    def take(self, value: Vector) -> Vector:
        """Bring a value per edge to the rows."""
        return value if self.aligned else value[self.edge]

    def weights(self, y: Vector) -> Vector:
        """Edge weights w, the multipliers of the squared lengths, from row multipliers."""
        return self._sum(y) / self.scale

    def stiffness(self, sigma: Vector) -> Vector:
        """Curvatures of the squared lengths from those of the rows."""
        return self._sum(sigma) / self.scale**2

    def _sum(self, value: Vector) -> Vector:
        if self.aligned:
            return value
        return np.asarray(np.bincount(self.edge, value, len(self.scale)), dtype=float)
