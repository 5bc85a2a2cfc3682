"""The primal-dual interior-point iteration at a fixed rank."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(eq=False)
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

    def below(self, tol: float) -> bool:
        """Whether the point is optimal at its rank, to a tolerance."""
        return self.gap < tol and self.infeasibility < tol and self.stationarity < 10 * tol


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
        self._has_low = np.isfinite(self.rows.low)
        self._has_high = np.isfinite(self.rows.high)

    def begin(self, R: Matrix) -> Iterate:
        """Slacks and multipliers for a first point: equal weights that sum to the variance."""
        rows = self.rows
        h = rows.lengths(self._difference @ R)
        equal_weights = rows.take(rows.scale) * self._variance(R) / rows.take(rows.scale).sum()
        y = np.where(rows.low < 0, -0.1 * equal_weights, equal_weights)
        y = np.clip(y, 0.5 * np.maximum(rows.low, -1e300), 0.5 * np.minimum(rows.high, 1e300))
        point = Iterate(R, y, np.where(self._has_low, 0.1, 0), np.where(self._has_high, 0.1, 0), 0)
        self._widen_slacks(point, h - rows.target - rows.compliance * y)
        point.mu = 0.1 * self._mean_product(point)
        return point

    def extend(self, point: Iterate, columns: Matrix, product: float) -> Iterate:
        """Continue in new columns: bring every product of the point up to the given size."""
        rows = self.rows
        R = np.hstack([point.R, columns])
        h = rows.lengths(self._difference @ R)
        slack_low = np.where(self._has_low, np.maximum(point.slack_low, np.sqrt(product)), 0)
        slack_high = np.where(self._has_high, np.maximum(point.slack_high, np.sqrt(product)), 0)
        y = np.maximum(point.y, np.minimum(rows.low + product / np.maximum(slack_low,1e-300), rows.high / 2))
        new = Iterate(R, y, slack_low, slack_high, product)
        self._widen_slacks(new, h - rows.target - rows.compliance * y)
        return new

    def run(self, point: Iterate, tol: float) -> tuple[Iterate, Residuals]:
        """Iterate until optimal at this rank, out of time, or unable to move."""
        while True:
            delta = self._difference @ point.R
            residual = self._residual(point, delta)
            measure = self._measure(point, delta, residual)
            self._note(point, measure)
            if measure.below(tol) or self.journal.exhausted or point.reg > _LARGEST_REG:
                return point, measure
            self._step(point, delta, residual)

    def _step(self, point: Iterate, delta: Matrix, residual: Vector) -> None:
        rows = self.rows
        z_low, z_high = point.y - rows.low, rows.high - point.y
        barrier_low, barrier_high = point.mu / z_low, point.mu / z_high
        sigma = 1 / (rows.compliance + point.slack_low / z_low + point.slack_high / z_high)
        g = residual - point.slack_low + point.slack_high + barrier_low - barrier_high

        weights = rows.weights(point.y)
        rhs = -2 * self._gradient(point.R, delta, weights + rows.weights(sigma * g))
        dR = self._newton_step(point, delta, weights, rows.stiffness(sigma), rhs)

        d_delta = self._difference @ dR
        dh = rows.take(2 * np.einsum("ij,ij->i", delta, d_delta) / rows.scale)
        curve = rows.lengths(d_delta)
        dy = sigma * (dh + g)
        d_low = barrier_low - point.slack_low - point.slack_low / z_low * dy
        d_high = barrier_high - point.slack_high + point.slack_high / z_high * dy
        primal = min(_longest(point.slack_low, d_low), _longest(point.slack_high, d_high))
        dual = min(_longest(z_low, dy), _longest(z_high, -dy))
        primal = self._shorten(primal, residual, curve)

        point.R = point.R + primal * dR
        point.y = point.y + dual * dy
        point.slack_low = point.slack_low + primal * d_low
        point.slack_high = point.slack_high + primal * d_high
        h = rows.lengths(self._difference @ point.R)
        self._widen_slacks(point, h - rows.target - rows.compliance * point.y)
        length = min(primal, dual)
        centring = 0.1 if length > 0.9 else 0.3 if length > 0.5 else 0.8
        point.mu = centring * self._mean_product(point)

    def _newton_step(
        self, point: Iterate, delta: Matrix, weights: Vector, stiffness: Vector, rhs: Matrix
    ) -> Matrix:
        """Factor with the smallest tried regularization that has the inertia of a minimum."""
        self._newton.assemble(weights, stiffness, delta)
        while True:
            negative = self._newton.factorize(-2 + max(point.reg, _LEAST_REG))
            self.journal.factorizations += 1
            if negative == (self._newton.rank if point.reg < 2 else 0):
                break
            point.reg = max(4 * point.reg, _FIRST_REG)
            if point.reg > _LARGEST_REG:
                break
        dR = self.centred(self._newton.solve(rhs))
        point.reg = point.reg / 3 if point.reg > _FIRST_REG else 0.0
        return dR

    def _shorten(self, primal: float, residual: Vector, curve: Vector) -> float:
        """Halve a step while the curvature of the lengths makes it too infeasible."""
        allowed = max(1.0, float(abs(residual).max()))
        while abs((1 - primal) * residual + primal**2 * curve).max() > allowed:
            primal *= 0.5
        return primal

    def _widen_slacks(self, point: Iterate, away: Vector) -> None:
        """Let slacks take up what the true lengths allow, which only helps."""
        low = np.maximum(point.slack_low, point.slack_high - away)
        point.slack_low = np.where(self._has_low, low, 0.0)
        high = np.maximum(point.slack_high, away + point.slack_low)
        point.slack_high = np.where(self._has_high, high, 0.0)

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

    def centred(self, R: Matrix) -> Matrix:
        """Remove the weighted mean of the rows."""
        return np.asarray(R - (self._mass * R).sum(axis=0) / self._mass.sum())


def _longest(value: Vector, change: Vector) -> float:
    """Longest step <= 1 that keeps value + step * change a fraction inside value > 0."""
    shrinking = change < 0
    if not shrinking.any():
        return 1.0
    return min(1.0, _TO_BOUNDARY * float((value[shrinking] / -change[shrinking]).min()))
