"""The primal-dual interior-point iteration at a fixed rank."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from sdpdr.solvers.lowrank.journal import Journal
from sdpdr.solvers.lowrank.newton import BlockLaplacian
from sdpdr.solvers.lowrank.program import EdgeProgram, Matrix, Vector
from sdpdr.solvers.lowrank.rows import Rows

_TO_BOUNDARY = 0.995
_LEAST_REG = 1e-9
_FIRST_REG = 1e-4
_LARGEST_REG = 1e10
_ROUNDING = 1e-15
_PATIENCE = 150  # iterations without progress; unrolling a long roll takes about 70
_HUGE = 1e300
_EARLY = 1e-2  # complementarity, as a share of the objective, until which shapes still form


@dataclass(frozen=True, eq=False)
class Iterate:
    """Point of the iteration: factor, row multipliers, one slack for each end of their boxes."""

    R: Matrix
    y: Vector
    slack_low: Vector
    slack_high: Vector
    mu: float
    reg: float = 0.0


@dataclass(frozen=True)
class Residuals:
    """Relative measures of how far an iterate is from optimality at its rank."""

    gap: float
    infeasibility: float
    stationarity: float

    @property
    def worst(self) -> float:
        """The largest measure; stationarity, which matters to second order, counts a tenth."""
        return max(self.gap, self.infeasibility, 0.1 * self.stationarity)


class InteriorPoint:
    r"""Newton's method on the perturbed optimality conditions of an edge program.

    In the notation of `Rows`, with :math:`z` the distances of y to the ends of its box, the
    conditions :math:`t z = \mu` are linearised and both slacks and multipliers eliminated:

    .. math:: dy = \sigma (dh + g), \qquad
              g = h - b - \gamma y + \mu / z_{low} - \mu / z_{high}, \qquad
              1/\sigma = \gamma + t_{low}/z_{low} + t_{high}/z_{high},

    which leaves, for the displacement of the factor, the block Laplacian system

    .. math:: M(w, \sigma)\, dR = -2 \bigl(L(w + \sigma g / d) R - C R\bigr).

    The shift of M grows until its inertia is that of a minimum, so the step descends.

    Parameters
    ----------
    program : EdgeProgram
        Scaled so that lengths and masses are near 1.
    rank : int
    journal : Journal

    Attributes
    ----------
    point : Iterate or None
        The last point reached by `run`, whatever stopped it.

    References
    ----------
    Nocedal and Wright (2006), section 19.3; Wächter and Biegler (2006) for the inertia rule.
    """

    def __init__(self, program: EdgeProgram, rank: int, journal: Journal) -> None:
        m, n = program.m, program.n
        self.program, self.rows, self.journal = program, Rows.of(program), journal
        self._newton = BlockLaplacian(program.edges, program.mass, rank)
        self._difference = csr_matrix(
            (np.repeat([1.0, -1.0], m), (np.tile(np.arange(m), 2), program.edges.T.ravel())),
            shape=(m, n),
        )
        self._adjoint = self._difference.T.tocsr()
        self._mass = program.mass[:, None]
        self.point: Iterate | None = None
        self._has_low = np.isfinite(self.rows.low)
        self._has_high = np.isfinite(self.rows.high)
        self._any_box = bool((self._has_low | self._has_high).any())

    def begin(self, R: Matrix) -> Iterate:
        """Slacks and multipliers for a first point: equal weights that sum to the variance.

        The slack inside a limit is a tenth of the length; the one beyond a priced limit is made
        small enough to have the same product with its multiplier, however high the price.
        """
        rows = self.rows
        scale = rows.take(rows.scale)
        size = scale * self._variance(R) / scale.sum()
        y = np.where(rows.low < 0, -0.1 * size, size)
        y = np.clip(y, 0.5 * np.maximum(rows.low, -_HUGE), 0.5 * np.minimum(rows.high, _HUGE))
        low, high = 0.1 * size / (y - rows.low), 0.1 * size / (rows.high - y)
        low, high = np.where(rows.low == 0, 0.1, low), np.where(rows.high == 0, 0.1, high)
        point = self._fitted(R, y, low, high, mu=0.0)
        return replace(point, mu=0.1 * self._mean_product(point))

    def resume(self, point: Iterate, product: float, columns: Matrix | None = None) -> Iterate:
        """Continue from the answer to a nearby program, perhaps in more columns.

        Slacks below the square root of ``product`` are opened to it, and multipliers moved
        inside their box until no product is smaller than that: a converged point hugs its
        bounds too closely to start from.
        """
        rows = self.rows
        R = point.R if columns is None else np.hstack([point.R, columns])
        low = np.maximum(point.slack_low, np.sqrt(product))
        high = np.maximum(point.slack_high, np.sqrt(product))
        floor = rows.low + np.minimum(product / low, (rows.high - rows.low) / 2)
        ceiling = rows.high - np.minimum(product / high, (rows.high - rows.low) / 2)
        y = np.clip(point.y, np.where(self._has_low, floor, -np.inf), ceiling)
        return self._fitted(R, y, low, high, mu=product)

    def run(self, point: Iterate, tol: float) -> Iterate:
        """Iterate until optimal at this rank, out of time, or no longer getting anywhere."""
        best, since_best = np.inf, 0
        while True:
            self.point = point
            delta = self._difference @ point.R
            residual = self._residual(point, delta)
            measure = self._measure(point, delta, residual)
            self._note(point, measure)
            since_best = 0 if measure.worst < 0.99 * best else since_best + 1
            best = min(best, measure.worst)
            spent = (self._any_box and measure.gap < _ROUNDING) or point.reg > _LARGEST_REG
            if measure.worst < tol or self.journal.exhausted or spent or since_best > _PATIENCE:
                return point
            new = self._step(point, delta, residual)
            if not (np.isfinite(new.R).all() and np.isfinite(new.y).all()):
                return point
            point = new

    def _step(self, point: Iterate, delta: Matrix, residual: Vector) -> Iterate:
        rows, low, high = self.rows, point.slack_low, point.slack_high
        z_low, z_high = point.y - rows.low, rows.high - point.y
        barrier_low, barrier_high = point.mu / z_low, point.mu / z_high
        sigma = 1 / (rows.compliance + low / z_low + high / z_high)
        g = residual - low + high + barrier_low - barrier_high

        weights = rows.weights(point.y)
        rhs = -2 * self._gradient(point.R, delta, weights + rows.weights(sigma * g))
        self._newton.assemble(weights, rows.stiffness(sigma), delta)
        dR, reg = self._newton_step(rhs, point.reg)

        change = self._difference @ dR
        dh = rows.take(2 * np.einsum("ij,ij->i", delta, change) / rows.scale)
        dy = sigma * (dh + g)
        d_low = barrier_low - low - low / z_low * dy
        d_high = barrier_high - high + high / z_high * dy
        primal = min(_longest(low, d_low), _longest(high, d_high))
        primal = self._shorten(primal, residual, curve=rows.lengths(change))
        dual = min(_longest(z_low, dy), _longest(z_high, -dy))

        new = self._fitted(
            point.R + primal * dR,
            point.y + dual * dy,
            low + primal * d_low,
            high + primal * d_high,
            reg=reg,
        )
        length = min(primal, dual)
        return replace(new, mu=self._centring(new, length) * self._mean_product(new))

    def _centring(self, point: Iterate, length: float) -> float:
        """Share of the complementarity to aim at next, by the length of the last step.

        While the shape is still being found, a slow descent keeps away from the folded shapes
        that are saddle points.
        """
        early = self._mean_product(point) * len(point.y) > _EARLY * self._variance(point.R)
        quick, fair, slow = (0.4, 0.6, 0.9) if early else (0.1, 0.3, 0.8)
        return quick if length > 0.9 else fair if length > 0.5 else slow

    def _fitted(
        self, R: Matrix, y: Vector, low: Vector, high: Vector, mu: float = 0.0, reg: float = 0.0
    ) -> Iterate:
        """Point whose slacks inside the limits are widened to what the true lengths allow."""
        rows = self.rows
        away = rows.lengths(self._difference @ R) - rows.target - rows.compliance * y
        low = np.where(rows.low == 0, np.maximum(low, high - away), low)
        high = np.where(rows.high == 0, np.maximum(high, low + away), high)
        low, high = low * self._has_low, high * self._has_high
        return Iterate(R, y, low, high, mu, reg)

    def _newton_step(self, rhs: Matrix, reg: float) -> tuple[Matrix, float]:
        """Solve with the smallest tried regularization that has the inertia of a minimum."""
        while reg <= _LARGEST_REG:
            negative = self._newton.factorize(-2 + max(reg, _LEAST_REG))
            self.journal.factorizations += 1
            if negative == (self._newton.rank if reg < 2 else 0):
                dR = centred(self._newton.solve(rhs), self.program.mass)
                return dR, reg / 3 if reg > _FIRST_REG else 0.0
            reg = max(4 * reg, _FIRST_REG)
        return np.zeros_like(rhs), reg

    def _shorten(self, primal: float, residual: Vector, curve: Vector) -> float:
        """Halve a step while the curvature of the lengths makes it too infeasible."""
        allowed = max(1.0, float(abs(residual).max()))
        while abs((1 - primal) * residual + primal**2 * curve).max() > allowed:
            primal *= 0.5
        return primal

    def _residual(self, point: Iterate, delta: Matrix) -> Vector:
        rows = self.rows
        away = rows.lengths(delta) - rows.target - rows.compliance * point.y
        return np.asarray(away + point.slack_low - point.slack_high)

    def _gradient(self, R: Matrix, delta: Matrix, weights: Vector) -> Matrix:
        return np.asarray(self._adjoint @ (weights[:, None] * delta) - self._mass * R)

    def _measure(self, point: Iterate, delta: Matrix, residual: Vector) -> Residuals:
        gradient = self._gradient(point.R, delta, self.rows.weights(point.y))
        return Residuals(
            gap=self._mean_product(point) * len(point.y) / self._variance(point.R),
            infeasibility=float(abs(residual).max()),
            stationarity=float(np.linalg.norm(gradient) / np.linalg.norm(self._mass * point.R)),
        )

    def _mean_product(self, point: Iterate) -> float:
        rows, low, high = self.rows, self._has_low, self._has_high
        total = point.slack_low[low] @ (point.y - rows.low)[low]
        total += point.slack_high[high] @ (rows.high - point.y)[high]
        return float(total / max(np.count_nonzero(low) + np.count_nonzero(high), 1))

    def _note(self, point: Iterate, measure: Residuals) -> None:
        self.journal.note(
            value=self._variance(point.R),
            mu=point.mu,
            infeasibility=measure.infeasibility,
            stationarity=measure.stationarity,
            regularization=point.reg,
            rank=self._newton.rank,
        )

    def _variance(self, R: Matrix) -> float:
        return float((self._mass * R**2).sum())


def centred(R: Matrix, mass: Vector) -> Matrix:
    """Remove the weighted mean of the rows.

    Examples
    --------
    >>> centred(np.array([[0.0], [3.0]]), np.array([2.0, 1.0])).ravel()
    array([-1.,  2.])
    """
    return np.asarray(R - mass @ R / mass.sum())


def _longest(value: Vector, change: Vector) -> float:
    """Longest step <= 1 that keeps value + step * change a fraction inside value > 0."""
    shrinking = change < 0
    if not shrinking.any():
        return 1.0
    return min(1.0, _TO_BOUNDARY * float((value[shrinking] / -change[shrinking]).min()))
