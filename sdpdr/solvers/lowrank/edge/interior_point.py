"""The primal-dual interior-point iteration at a fixed rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sdpdr.solvers.lowrank.direction import (
    Errors,
    Iterate,
    Linearization,
    NewtonDirection,
    share_to_keep,
)
from sdpdr.solvers.lowrank.edge.newton import BlockLaplacian
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, LengthRows, Matrix, Vector
from sdpdr.solvers.lowrank.frame import Journal

_LEAST_REG = 1e-9
_FIRST_REG = 1e-4
_CORRECTION = 1e-3  # where none was needed: rarely is less enough
# A cold start is far from a minimum: to find the shift it needs, half the curvature of variance
# or more, from zero takes seven factorizations, and to come down from one too large costs less.
_COLD_REG = 1.0
_LARGEST_REG = 1e10
_GAP_ROUNDING = 1e-15  # relative gap that doubles cannot reduce
_OPENED = 10.0  # slack that a resumed row gets, over complementarity per mean multiplier
_FLOOR = 0.2  # complementarity aimed at, as a share of the tolerance
_SADDLE_REG = 0.1  # shift that a point which is optimal but for its inertia does not get rid of
_SADDLE_PATIENCE = 4
_PATIENCE = 150  # iterations without progress; unrolling a long roll takes about 70
_HUGE = 1e300
_LOST = 1e-3  # size of a column, as a share of the largest, that counts for nothing
_POINT = 1e-12  # squared length, over the mean, from which on an edge is none
_EARLY = 1e-2  # complementarity, as a share of the objective, until which shapes still form


@dataclass(frozen=True)
class Softened:
    r"""Edges whose curvature is bent towards that of a convex function.

    An edge of weight w < 0, which pushes its ends apart, has the block
    :math:`2 w I + 4 \sigma \delta \delta^T`, negative across the edge. A shift that makes up for
    the weights of all edges holds the whole shape in place, the more the more points there are: it
    unrolls in many small steps. To leave out a share of those weights across their own edges holds
    no more than what is wrong, and along the edges everything stays.

    References
    ----------
    Teran, Sifakis, Irving and Fedkiw, Robust quasistatic finite elements and flesh simulation
    (2005), for definite parts of elements.
    """

    weights: Vector
    stiffness: Vector
    delta: Matrix

    def by(self, share: float) -> tuple[Vector, Vector, Matrix]:
        """Weights, stiffnesses and differences of the edges; a share of 1 leaves none negative."""
        left_out = share * np.maximum(-self.weights, 0.0)
        along = left_out / (2.0 * np.maximum(np.einsum("ij,ij->i", self.delta, self.delta), _POINT))
        return (
            self.weights + left_out,
            self.stiffness - np.minimum(along, self.stiffness),
            self.delta,
        )


class InteriorPoint:
    r"""Newton's method on the perturbed optimality conditions of an edge program.

    In the notation of `LengthRows`, with :math:`z` the distances of y to the ends of its box, the
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
        self.program, self.rows, self.journal = program, LengthRows.of(program), journal
        self._newton = BlockLaplacian(program.edges, program.mass, rank, program.objective)
        self._difference = program.difference
        self._adjoint = self._difference.T.tocsr()
        # Curvature along constant displacements, which no edge resists.
        self._curvature = -2.0 * program.objective.variance
        self.point: Iterate | None = None
        # Multipliers of both signs make the program nonconvex in R: it takes more careful steps.
        self._signed = bool((self.rows.low < 0).any())
        self._any_box = bool((self.rows.has_low | self.rows.has_high).any())

    @property
    def rank(self) -> int:
        """Columns of the factor."""
        return self._newton.rank

    def begin(self, R: Matrix) -> Iterate:
        """Slacks and multipliers for a first point: equal weights that sum to the variance.

        The slack inside a limit is a tenth of the length; the one beyond a penalized limit is made
        small enough to have the same product with its multiplier, however high the penalty.
        """
        rows = self.rows
        scale = rows.take(rows.scale)
        size = scale * self._value(R) / scale.sum()
        y = np.where(rows.low < 0, -0.1 * size, size)
        y = np.clip(y, 0.5 * np.maximum(rows.low, -_HUGE), 0.5 * np.minimum(rows.high, _HUGE))
        low, high = 0.1 * size / (y - rows.low), 0.1 * size / (rows.high - y)
        low, high = np.where(rows.low == 0, 0.1, low), np.where(rows.high == 0, 0.1, high)
        point = self._fitted(Iterate(R, y, low, high, mu=0.0, reg=_COLD_REG))
        return replace(point, mu=0.1 * rows.mean_product(point))

    def resume(self, point: Iterate, product: float, columns: Matrix | None = None) -> Iterate:
        """Continue from the answer to a nearby program, perhaps in more columns.

        Slacks are opened to a few times ``product`` per mean multiplier, and multipliers moved
        inside their box until no product is smaller than ``product``: a converged point hugs its
        bounds too closely to start from. Opened any further, the slacks would be a violation
        much larger than that of the point, and wider than a narrow band.
        """
        R = point.x if columns is None else np.hstack([point.x, columns])
        opened = _OPENED * product * len(point.y) / self._value(point.x)
        low = np.maximum(point.slack_low, opened)
        high = np.maximum(point.slack_high, opened)
        wide = Iterate(R, point.y, low, high, mu=product)
        return self._fitted(replace(wide, y=self.rows.inside(wide, product)))

    def near(self, R: Matrix, weights: Vector, product: float) -> Iterate:
        """Begin near a factor and its edge weights, with products of a given size."""
        rows = self.rows
        y = np.clip(rows.take(weights * rows.scale), rows.low, rows.high)
        away = self._away(y, self._difference @ R)
        point = Iterate(R, y, np.maximum(-away, 0.0), np.maximum(away, 0.0), product)
        return self.resume(point, product)

    def run(self, point: Iterate, tol: float, final: float | None = None) -> Iterate:
        """Iterate until optimal at this rank, out of time, or no longer getting anywhere.

        Parameters
        ----------
        point : Iterate
        tol : float
            Accuracy to stop at.
        final : float, optional
            Accuracy required in the end. Where the factor has lost a column, the rank is large
            enough, and the barrier falls on towards it; elsewhere it waits at ``tol``.
        """
        best, since_best, at_saddle = np.inf, 0, 0
        while True:
            self.point = point
            delta = self._difference @ point.x
            residual = self._residual(point, delta)
            measure = self._measure(point, delta, residual)
            self._note(point, measure)
            since_best = 0 if measure.worst < 0.99 * best else since_best + 1
            best = min(best, measure.worst)
            spent = (self._any_box and measure.gap < _GAP_ROUNDING) or point.reg > _LARGEST_REG
            settled = max(measure.gap, measure.residual) < tol and not self._signed
            at_saddle = at_saddle + 1 if settled and point.reg > _SADDLE_REG else 0
            stuck = since_best > _PATIENCE or at_saddle > _SADDLE_PATIENCE
            if measure.worst < tol or self.journal.exhausted or spent or stuck:
                return point
            new = self._step(point, delta, residual)
            # Far below the tolerance there is nothing to gain, and a hard barrier holds folds.
            aim = tol if final is None or _has_full_rank(point.x) else final
            least = _FLOOR * aim * self._value(point.x) / len(point.y)
            new = replace(new, mu=max(new.mu, min(point.mu, least)))
            if not (np.isfinite(new.x).all() and np.isfinite(new.y).all()):
                return point
            point = new

    def _step(self, point: Iterate, delta: Matrix, residual: Vector) -> Iterate:
        """One Newton step and, with the same factors, one that foresees what it would miss."""
        linear = Linearization(self.rows, point, residual)
        weights = self.rows.weights(point.y)
        stiffness = self.rows.stiffness(linear.sigma)
        if self._early(point):
            reg = self._prepare(point.reg, Softened(weights, stiffness, delta))
        else:
            self._newton.assemble(weights, stiffness, delta)
            reg = self._prepare(point.reg)
        if reg > _LARGEST_REG:
            return replace(point, reg=reg)
        ahead = linear.best(partial(self._direction, point, delta, weights))
        new = self._fitted(ahead.followed(point, reg))
        aim = share_to_keep(ahead.length, self._early(new)) * self.rows.mean_product(new)
        return replace(new, mu=aim)

    def _direction(
        self, point: Iterate, delta: Matrix, weights: Vector, linear: Linearization
    ) -> NewtonDirection:
        """Solve with the last factors, and see how far the answer can be followed."""
        rows = self.rows
        weights = weights + rows.weights(linear.sigma * linear.g)
        rhs = -2 * self._gradient(point.x, delta, weights)
        dR = self.program.centred(self._newton.solve(rhs))
        change = self._difference @ dR
        dh = rows.take(2 * np.einsum("ij,ij->i", delta, change) / rows.scale)
        return linear.direction(dR, dh, rows.lengths(change))

    def _early(self, point: Iterate) -> bool:
        """Whether the shape is still being found, where lengths have limits from below.

        A slow descent then keeps away from the folded shapes that are saddle points.
        """
        if not self._signed:
            return False
        return self.rows.mean_product(point) * len(point.y) > _EARLY * self._value(point.x)

    def _fitted(self, point: Iterate) -> Iterate:
        """Point whose slacks inside the limits are widened to what the true lengths allow."""
        return self.rows.fitted(point, self._away(point.y, self._difference @ point.x))

    def _prepare(self, reg: float, softened: Softened | None = None) -> float:
        """Factor with the smallest tried regularization that has the inertia of a minimum.

        Returns the regularization to begin with in the next iteration. What was needed just now
        will be needed again: to go down at once would cost a factorization in vain every time.
        """
        corrected = False
        while reg <= _LARGEST_REG:
            if softened is not None:
                self._newton.assemble(*softened.by(min(reg, 1.0)))
            shift = self._curvature + max(reg, _LEAST_REG if self._curvature else 0.0)
            negative = self._newton.factorize(shift)
            self.journal.factorizations += 1
            if negative == (self._newton.rank if shift < 0 else 0):
                return reg if corrected or not reg else max(reg / 3, _FIRST_REG)
            reg, corrected = max(8 * reg, _CORRECTION), True
        return reg

    def _away(self, y: Vector, delta: Matrix) -> Vector:
        rows = self.rows
        return np.asarray(rows.lengths(delta) - rows.target - rows.compliance * y)

    def _residual(self, point: Iterate, delta: Matrix) -> Vector:
        return np.asarray(self._away(point.y, delta) + point.slack_low - point.slack_high)

    def _gradient(self, R: Matrix, delta: Matrix, weights: Vector) -> Matrix:
        pull = self.program.objective.times(R)
        return np.asarray(self._adjoint @ (weights[:, None] * delta)) - pull

    def _measure(self, point: Iterate, delta: Matrix, residual: Vector) -> Errors:
        gradient = self._gradient(point.x, delta, self.rows.weights(point.y))
        pull = self.program.objective.times(point.x)
        return Errors(
            gap=self.rows.mean_product(point) * len(point.y) / self._value(point.x),
            residual=float(abs(residual).max()),
            stationarity=float(np.linalg.norm(gradient) / np.linalg.norm(pull)),
        )

    def _note(self, point: Iterate, measure: Errors) -> None:
        self.journal.note(
            value=self._value(point.x),
            mu=point.mu,
            infeasibility=measure.residual,
            stationarity=measure.stationarity,
            regularization=point.reg,
            rank=self._newton.rank,
        )

    def _value(self, R: Matrix) -> float:
        return self.program.objective.value(R)


def _has_full_rank(R: Matrix) -> bool:
    spectrum = np.linalg.eigvalsh(R.T @ R)
    return bool(spectrum[0] > _LOST**2 * spectrum[-1])
