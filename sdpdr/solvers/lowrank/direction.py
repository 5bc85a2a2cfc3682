r"""Where an interior point may go: the linearised conditions, and steps that solve them.

A row with value h, target b, multiplier box [low, high] and compliance :math:`\gamma` stands for
the penalty

.. math:: \varphi(h) = \max_{low \le y \le high} \; y (h - b) - \tfrac{\gamma}{2} y^2 ,

with the optimality conditions, a slack t for each finite end of the box,

.. math:: h - b - \gamma y = t_{high} - t_{low}, \qquad
          t_{high} (high - y) = 0, \qquad t_{low} (y - low) = 0 .
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array

_TO_BOUNDARY = 0.995
_WORTHY = 0.9  # share of the plain step's length that a corrected step must allow
# Directions with better centred products, each a solution with the factors at hand.
_CENTRINGS = 2
_FURTHER = 0.5  # what each of them aims at beyond the length of the last
_LONGER = 0.05  # what it must gain, in both lengths together
_FULL_LENGTH = 0.9  # length from which no more is tried
_OFF_CENTRE = 10.0  # factor between a product and the barrier that is left alone


@dataclass(frozen=True)
class Errors:
    """Relative measures of how far an iterate is from optimality at its rank."""

    gap: float
    residual: float
    stationarity: float

    @property
    def worst(self) -> float:
        """The largest; stationarity, which matters to second order, counts a tenth."""
        return max(self.gap, self.residual, 0.1 * self.stationarity)


class Boxes:
    """Rows with multipliers in boxes; arrays with an entry for each row.

    Attributes
    ----------
    low, high : arrays
        Ends of the boxes; infinite where there is none.
    compliance : array
        What a unit of a multiplier adds to the row, at least 0.
    """

    low: Array
    high: Array
    compliance: Array

    @cached_property
    def has_low(self) -> NDArray[np.bool_]:
        """Boxes with a lower end."""
        return np.isfinite(self.low)

    @cached_property
    def has_high(self) -> NDArray[np.bool_]:
        """Boxes with an upper end."""
        return np.isfinite(self.high)

    @cached_property
    def ends(self) -> int:
        """How many ends there are, or one: as many products of a slack and a multiplier."""
        return max(1, int(self.has_low.sum() + self.has_high.sum()))

    def mean_product(self, point: Iterate) -> float:
        """The mean product of a slack and the distance of its multiplier from the end."""
        low, high = self.has_low, self.has_high
        total = point.slack_low[low] @ (point.y - self.low)[low]
        total += point.slack_high[high] @ (self.high - point.y)[high]
        return float(total / self.ends)

    def fitted(self, point: Iterate, away: Array) -> Iterate:
        """The point with slacks inside the limits widened to what rows, away from them, allow."""
        low = np.maximum(point.slack_low, point.slack_high - away)
        high = np.maximum(point.slack_high, point.slack_low + away)
        low = np.where(self.low == 0.0, low, point.slack_low)
        high = np.where(self.high == 0.0, high, point.slack_high)
        return replace(point, slack_low=low * self.has_low, slack_high=high * self.has_high)

    def inside(self, point: Iterate, product: float) -> Array:
        """Multipliers so far inside that no product with a slack is below a size."""
        with np.errstate(divide="ignore", invalid="ignore"):
            room = (self.high - self.low) / 2
            floor = self.low + np.minimum(product / point.slack_low, room)
            ceiling = self.high - np.minimum(product / point.slack_high, room)
        y = np.where(self.has_low, np.maximum(point.y, floor), point.y)
        return np.asarray(np.where(self.has_high, np.minimum(y, ceiling), y))


@dataclass(frozen=True, eq=False)
class Iterate:
    """Point of the iteration: unknowns, row multipliers, one slack for each end of their boxes."""

    x: Array
    y: Array
    slack_low: Array
    slack_high: Array
    mu: float
    reg: float = 0.0


@dataclass(frozen=True, eq=False)
class NewtonDirection:
    """Changes of all parts of an iterate, and how far they may be followed.

    Attributes
    ----------
    x, y, slack_low, slack_high : arrays
    curve : array
        What the rows gain beyond their linear part at a full step.
    primal, dual : float
        Step lengths in (0, 1] that keep slacks and multipliers inside.
    """

    x: Array
    y: Array
    slack_low: Array
    slack_high: Array
    curve: Array
    primal: float
    dual: float

    @property
    def length(self) -> float:
        """The shorter of both lengths."""
        return min(self.primal, self.dual)

    def followed(self, point: Iterate, reg: float) -> Iterate:
        """The point at the end of the steps."""
        return Iterate(
            point.x + self.primal * self.x,
            point.y + self.dual * self.y,
            point.slack_low + self.primal * self.slack_low,
            point.slack_high + self.primal * self.slack_high,
            mu=point.mu,
            reg=reg,
        )


def share_to_keep(length: float, early: bool) -> float:
    """Share of the complementarity to aim at next, by the length of the last step."""
    quick, fair, slow = (0.4, 0.6, 0.9) if early else (0.05, 0.2, 0.6)
    return quick if length > 0.9 else fair if length > 0.5 else slow


class Linearization:
    r"""The optimality conditions at an iterate, linear in a change (see the module's text).

    Parameters
    ----------
    rows : Boxes
    point : Iterate
    residual : array
        Residual of the rows' first condition at the point.
    allowed : float, default 1.0
        Size of the residual up to which the curvature of rows may take a step.

    Attributes
    ----------
    sigma, g : arrays
        The conditions ask for :math:`dy = \sigma (dh + g)`.
    """

    def __init__(self, rows: Boxes, point: Iterate, residual: Array, allowed: float = 1.0) -> None:
        self._point, self._residual = point, residual
        self._allowed = max(allowed, float(abs(residual).max(initial=0.0)))
        self._z_low, self._z_high = point.y - rows.low, rows.high - point.y
        low, high = point.slack_low, point.slack_high
        self.sigma = 1 / (rows.compliance + low / self._z_low + high / self._z_high)
        self._aim(residual, point.mu / self._z_low, point.mu / self._z_high)

    def _aim(self, residual: Array, barrier_low: Array, barrier_high: Array) -> None:
        self._barrier_low, self._barrier_high = barrier_low, barrier_high
        self._aimed = residual
        slacks = self._point.slack_low - self._point.slack_high
        self.g = residual - slacks + barrier_low - barrier_high

    def best(self, solve: Callable[[Linearization], NewtonDirection]) -> NewtonDirection:
        """The direction to follow: Newton's, with what it misses foreseen, and better centred.

        Parameters
        ----------
        solve : callable
            Solves the conditions as they stand, with factors that all attempts share.

        References
        ----------
        Gondzio, Multiple centrality corrections in a primal-dual method for linear programming,
        Computational Optimization and Applications 6 (1996).
        """
        ahead = solve(self)
        self.correct(ahead)
        corrected = solve(self)
        if min(corrected.primal / ahead.primal, corrected.dual / ahead.dual) < _WORTHY:
            return ahead
        ahead = corrected
        for _ in range(_CENTRINGS):
            if ahead.length > _FULL_LENGTH:
                break
            self.centre(ahead)
            centred = solve(self)
            if centred.primal + centred.dual < ahead.primal + ahead.dual + _LONGER:
                break
            ahead = centred
        return ahead

    def centre(self, ahead: NewtonDirection) -> None:
        """Ask for products near the barrier where a longer step would make them far from it."""
        point = self._point
        primal, dual = min(1.0, ahead.primal + _FURTHER), min(1.0, ahead.dual + _FURTHER)
        with np.errstate(invalid="ignore"):  # ends at infinity have no slack, and no product
            low = (point.slack_low + primal * ahead.slack_low) * (self._z_low + dual * ahead.y)
            high = (point.slack_high + primal * ahead.slack_high) * (self._z_high - dual * ahead.y)
        self._aim(
            self._aimed,
            self._barrier_low + _towards(low, point.mu) / self._z_low,
            self._barrier_high + _towards(high, point.mu) / self._z_high,
        )

    def correct(self, ahead: NewtonDirection) -> None:
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

    def direction(self, dx: Array, dh: Array, curve: Array) -> NewtonDirection:
        """The changes that belong to a change of the unknowns, which changes the rows by dh."""
        low, high = self._point.slack_low, self._point.slack_high
        dy = self.sigma * (dh + self.g)
        d_low = self._barrier_low - low - low / self._z_low * dy
        d_high = self._barrier_high - high + high / self._z_high * dy
        primal = self._shorten(min(_longest(low, d_low), _longest(high, d_high)), curve)
        dual = min(_longest(self._z_low, dy), _longest(self._z_high, -dy))
        return NewtonDirection(dx, dy, d_low, d_high, curve, primal, dual)

    def _shorten(self, primal: float, curve: Array) -> float:
        """Halve a step while the curvature of the rows makes it too infeasible."""
        while True:
            left = abs((1 - primal) * self._residual + primal**2 * curve)
            if not left.max(initial=0.0) > self._allowed:
                return primal
            primal *= 0.5


def _towards(product: Array, mu: float) -> Array:
    """What brings products into a range around the barrier; no more than its upper end."""
    finite = np.where(np.isfinite(product), product, mu)
    missing = np.clip(finite, mu / _OFF_CENTRE, mu * _OFF_CENTRE) - finite
    return np.asarray(np.maximum(missing, -mu * _OFF_CENTRE))


def _longest(value: Array, change: Array) -> float:
    """Longest step <= 1 that keeps value + step * change a fraction inside value > 0."""
    # An end at infinity has neither slack nor change, or both without a limit.
    with np.errstate(invalid="ignore", divide="ignore"):
        fastest = -float(np.fmin.reduce(change / value, initial=0.0))
    return min(1.0, _TO_BOUNDARY / fastest) if fastest > 0.0 else 1.0
