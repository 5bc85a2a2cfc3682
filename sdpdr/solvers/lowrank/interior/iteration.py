"""The primal-dual iteration at fixed ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.linalg import norm

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.direction import Iterate, Linearization, NewtonDirection, share_to_keep
from sdpdr.solvers.lowrank.frame import Journal
from sdpdr.solvers.lowrank.interior.boxes import MARGIN, Boxed
from sdpdr.solvers.lowrank.interior.matrix import NewtonMatrix
from sdpdr.solvers.lowrank.interior.metric import RowMetric, worth
from sdpdr.solvers.lowrank.interior.progress import BoxedErrors, Progress
from sdpdr.solvers.lowrank.interior.whole import completed

# Multiples of the identity that are added to the Newton matrix: always, where its inertia is first
# found wrong, and at most; and the factors by which they rise after a failure and fall after
# success.
_LEAST_SHIFT, _FIRST_SHIFT, _LARGEST_SHIFT = 1e-11, 1e-6, 1e8
_SHIFT_RISE, _SHIFT_FALL = 3.0, 2.0
# Penalty of exact rows, over the typical multiplier: the first one, and the largest, beyond which
# the rows are taken to contradict each other.
_FIRST_PENALTY, _LARGEST_PENALTY = 100.0, 1e8
# The penalty rises by this factor when all other errors are below a share of the violation.
_PENALTY_GROWTH, _OTHER_ERRORS = 10.0, 0.1
_FIRST_MU = 0.1  # first complementarity, over the typical multiplier
# Complementarity does not fall below a share of stationarity (and this share bounds it), nor below
# a share of the residuals weighted by multipliers. Unfolding with temporal order, four shapes of
# 1000 to 3000 points: 206 iterations in all, 202 to 213 with a share of stationarity from a quarter
# of this to twice as much, and 298 with plain norms and the largest residual in their place.
_PACE, _PACE_IN_VALUE = 0.03, 0.3
_CURVED = 0.3  # second-order change of rows by a step, as a share of the largest violation
_LAST_MU = 0.005  # complementarity to aim at, as a share of the tolerance
_EARLY = 1e-2  # complementarity, as a share of the objective, above which shapes still form
_OUTGROWN = 5.0  # objective, over its expected size, beyond which the multipliers are too small
_ENDLESS = 1e30  # objective, in scaled units, that counts as unbounded


Look = Callable[[Iterate], bool]


class Interior:
    r"""Newton's method on the perturbed optimality conditions of a program with boxes.

    With the rows h(x), the conditions of `sdpdr.solvers.lowrank.direction` are linearised and
    slacks and multipliers eliminated, which leaves for the unknowns x the system

    .. math:: M\, dx = -\nabla f(x) - J^T (y + \sigma g)

    with the matrix M of `NewtonMatrix`, shifted until its inertia is that of a minimum.

    Parameters
    ----------
    boxed : Boxed
    ranks : tuple of int
    journal : Journal
    size : float
        The expected size of the objective, in scaled units.

    Attributes
    ----------
    point, kept : Iterate or None
        The last point reached by `run`, and the last one that keeps all rows.

    References
    ----------
    Nocedal and Wright (2006), section 19.3; Wächter and Biegler (2006) for the inertia rule.
    """

    def __init__(
        self,
        boxed: Boxed,
        ranks: tuple[int, ...],
        journal: Journal,
        size: float,
    ) -> None:
        self.boxed, self.journal, self.size = boxed, journal, size
        self.matrix = NewtonMatrix(boxed, ranks)
        self._metrics = [RowMetric(block) for block in boxed.blocks]
        self.ranks = ranks
        self.typical = boxed.typical(size)
        self._limits = (boxed.low == 0.0) & np.isinf(boxed.high)
        self.point: Iterate | None = None
        self.kept: Iterate | None = None
        self._last: tuple[Array, float, Array] | None = None
        self.use_penalty(_FIRST_PENALTY * self.typical)

    def use_penalty(self, penalty: float) -> None:
        """Set the penalty of exact rows."""
        self.penalty = penalty
        self.boxes = self.boxed.at_penalty(penalty)
        self._own_low = self.boxes.has_low & np.isinf(self.boxed.low)
        self._own_high = self.boxes.has_high & np.isinf(self.boxed.high)

    # -- points ---------------------------------------------------------------------------------

    def begin(self, factors: Sequence[Array], multipliers: Array | None = None) -> Iterate:
        """A first point: typical multipliers, and slacks of equal products wide enough for rows."""
        if multipliers is not None:
            most = float(np.max(np.abs(multipliers), initial=0.0))
            self.use_penalty(max(self.penalty, _PENALTY_GROWTH * most))
        boxed, boxes, typical = self.boxed, self.boxes, self.typical
        given = np.where(boxed.low == 0.0, typical, 0.0) if multipliers is None else multipliers
        y = np.append(given, np.zeros(boxed.m - given.size)) if given.size < boxed.m else given
        signs, signed = boxed.signs, np.flatnonzero(np.diff(boxed.scalars[boxed.signs].indptr))
        cost = boxed.cost[boxed.scalars[signs].indices[signed]]
        y = y.copy()
        y[signs] = np.where(cost > 0.0, 0.5 * cost, typical)
        least = np.where(boxes.low < 0.0, 0.5 * boxes.low, np.minimum(1e-2 * typical, boxes.high))
        y = np.clip(y, least, 0.5 * boxes.high)
        mu = _FIRST_MU * typical
        scalars = np.zeros(boxed.cost.size)
        scalars[boxed.scalars[signs].indices] = mu / y[signs]
        points = [b.extended(f) for b, f in zip(boxed.blocks, factors, strict=True)]
        x = self.matrix.join(points, scalars)
        low, high = mu / (y - boxes.low), mu / (boxes.high - y)
        away = self._away(x, y)
        low = np.where(boxes.has_low, np.maximum(low, high - away), 0.0)
        # Violated limits get no slack for it: their penalty would dominate the objective.
        wide = np.where(self._limits, high, np.maximum(high, low + away))
        high = np.where(boxes.has_high, wide, 0.0)
        low = np.where(boxes.has_low, np.maximum(low, high - away), 0.0)
        return Iterate(x, y, low, high, mu=mu)

    def resumed(self, point: Iterate, product: float) -> Iterate:
        """A point to continue from, with all products of slack and multiplier at least a number."""
        boxes, opened = self.boxes, product / self.typical
        low = np.maximum(point.slack_low, opened) * boxes.has_low
        high = np.maximum(point.slack_high, opened) * boxes.has_high
        wide = Iterate(point.x, point.y, low, high, mu=product)
        return self._fitted(replace(wide, y=boxes.inside(wide, product)))

    def factors(self, point: Iterate) -> list[Array]:
        """The factors of all matrix variables."""
        points, _ = self.matrix.split(point.x)
        return [b.factor(p) for b, p in zip(self.boxed.blocks, points, strict=True)]

    def multipliers(self, point: Iterate) -> Array:
        """Those of the rows of the problem."""
        points, _ = self.matrix.split(point.x)
        return completed(self.boxed, points, point.y[: self.boxed.problem.m])

    def scalars(self, point: Iterate) -> Array:
        """All scalars, the free ones first."""
        left = self.matrix.split(point.x)[1]
        return self.boxed.all_scalars(left, self._away(point.x, point.y), point.y)

    def share(self, point: Iterate) -> float:
        """The objective divided by the number of products of slacks and multipliers."""
        return self._scale(point) / self.boxes.ends

    def runs_away(self, point: Iterate) -> bool:
        """Whether the objective has grown without bound."""
        return not abs(self._values(point.x)[0]) <= _ENDLESS

    # -- iteration ------------------------------------------------------------------------------

    def run(
        self, point: Iterate, progress: Progress, look: Look | None = None
    ) -> tuple[Iterate, BoxedErrors]:
        """Iterate until optimal at these ranks, out of time, or without progress.

        Parameters
        ----------
        point : Iterate
        progress : Progress
            Made for this run.
        look : callable, optional
            Whether a point is good enough; called where ``progress`` says that a proof is due.
        """
        tol = progress.tol
        while True:
            self.point = point
            away = self._away(point.x, point.y)
            residual = away + point.slack_low - point.slack_high
            entries, gradient, stationarity = self._gradients(point)
            errors = self._errors(point, away, residual, stationarity)
            self._note(point, errors)
            if max(errors.missed, errors.violation) <= tol:
                self.kept = point
            value = self._values(point.x)[0]
            progress.note(errors, value, self._scale(point))
            if self.runs_away(point):
                return point, errors
            if abs(value) > _OUTGROWN * self.size:
                point = self._begun_anew(point)
                continue
            done = errors.worst < tol
            # Limits violated by more than their margin keep the run going; if all other conditions
            # hold far better, violating them pays, and the penalty rises.
            if done and errors.missed < MARGIN * tol and errors.violation <= 10.0 * tol:
                return point, errors
            if look is not None and not done:
                due = progress.take_a_proof(errors, value, self.factors(point))
                if due and look(point):
                    return point, errors
            if self._is_cheap(errors, done, tol) or (
                done and errors.residual < 0.5 * errors.missed
            ):
                if self.penalty > _LARGEST_PENALTY * self.typical:
                    return point, errors
                point = self._raised(point, errors)
                progress.begin_anew()
            if self.journal.exhausted or progress.is_stuck:
                return point, errors
            # Overflow gives numbers that are not finite, which end the run below.
            with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                new = self._step(point, away, residual, entries, gradient, errors)
            if new is None or not (np.isfinite(new.x).all() and np.isfinite(new.y).all()):
                return point, errors
            least = _LAST_MU * tol * self.share(new)
            point = replace(new, mu=max(new.mu, least))

    def _is_cheap(self, errors: BoxedErrors, done: bool, tol: float) -> bool:
        """Whether violating exact rows lowers the objective at their penalty."""
        share = _OTHER_ERRORS * errors.violation
        return errors.violation > 10.0 * tol and (done or errors.worst < share)

    def _begun_anew(self, point: Iterate) -> Iterate:
        """A new first point, for an objective far larger than expected."""
        self.size = abs(self._values(point.x)[0])
        self.typical = self.boxed.typical(self.size)
        self.use_penalty(max(self.penalty, _FIRST_PENALTY * self.typical))
        return self.begin(self.factors(point))

    def _raised(self, point: Iterate, errors: BoxedErrors) -> Iterate:
        """The same point with a higher penalty of exact rows."""
        self.use_penalty(_PENALTY_GROWTH * self.penalty)
        product = 1e-3 * errors.violation * self.penalty / _PENALTY_GROWTH
        return replace(point, mu=max(point.mu, product))

    def _step(
        self,
        point: Iterate,
        away: Array,
        residual: Array,
        entries: list[Array],
        gradient: Array,
        errors: BoxedErrors,
    ) -> Iterate | None:
        """A Newton step with second-order corrections by the same factorization."""
        self.matrix.linearize(point.x)
        allowed = max(1.0, _CURVED * float(np.max(np.abs(away), initial=0.0)))
        linear = Linearization(self.boxes, point, residual, allowed)
        self.matrix.assemble(entries, linear.sigma)
        shift = self._prepare(point.reg)
        if shift is None:
            return None
        ahead = linear.best(partial(self._direction, gradient))
        new = self._fitted(ahead.followed(point, shift))
        aim = share_to_keep(ahead.length, self._early(new)) * self.boxes.mean_product(new)
        return replace(new, mu=max(aim, min(point.mu, self._pace(new, errors))))

    def _direction(self, gradient: Array, linear: Linearization) -> NewtonDirection:
        """Solve with the last factorization; the direction with the curvature of rows along it."""
        matrix = self.matrix
        dx = matrix.solve(-(gradient + matrix.adjoint @ (linear.sigma * linear.g)))
        curve = np.zeros(self.boxed.m)
        points, _ = matrix.split(dx)
        for block, p in zip(self.boxed.blocks, points, strict=True):
            curve[: self.boxed.problem.m] += block.forms.values(p)[1:]
        return linear.direction(dx, matrix.slope @ dx, curve)

    def _prepare(self, shift: float) -> float | None:
        """Factor with the smallest shift tried that has the inertia of a minimum.

        Returns the first shift of the next iteration; None if no shift has that inertia.
        """
        corrected = False
        while shift <= _LARGEST_SHIFT:
            negative = self.matrix.factorize(max(shift, _LEAST_SHIFT))
            self.journal.factorizations += 1
            if negative == self.matrix.negative:
                return shift if corrected else shift / _SHIFT_FALL if shift > _FIRST_SHIFT else 0.0
            shift, corrected = max(_SHIFT_RISE * shift, _FIRST_SHIFT), True
        return None

    def _fitted(self, point: Iterate) -> Iterate:
        """Slacks inside the limits widened to what the rows allow."""
        return self.boxes.fitted(point, self._away(point.x, point.y))

    # -- values ---------------------------------------------------------------------------------

    def _values(self, x: Array) -> tuple[float, Array]:
        """The objective and all rows; those of the last unknowns are remembered."""
        if self._last is not None and self._last[0] is x:
            return self._last[1:]
        boxed, total = self.boxed, np.zeros(self.boxed.problem.m + 1)
        points, scalars = self.matrix.split(x)
        for block, p in zip(boxed.blocks, points, strict=True):
            total += block.forms.values(p)
        rows = boxed.scalars @ scalars
        rows[: boxed.problem.m] += total[1:]
        own = float(boxed.cost @ scalars + 0.5 * (boxed.curvature @ np.square(scalars)))
        self._last = (x, float(total[0]) + own, np.asarray(rows))
        return self._last[1:]

    def _away(self, x: Array, y: Array) -> Array:
        """The excess of rows over their right sides and their compliance."""
        return np.asarray(self._values(x)[1] - self.boxed.rhs - self.boxed.compliance * y)

    def _gradients(self, point: Iterate) -> tuple[list[Array], Array, float]:
        """Entries of the dual slacks, the gradient, and the relative error that it may cause."""
        boxed = self.boxed
        points, scalars = self.matrix.split(point.x)
        y = np.append(1.0, point.y[: boxed.problem.m])
        slacks = [b.forms.slack(y) for b in boxed.blocks]
        own = [2.0 * (s @ p) for s, p in zip(slacks, points, strict=True)]
        rest = boxed.cost + boxed.curvature * scalars + boxed.scalars.T @ point.y
        reduced = [b.reduced(g) for b, g in zip(boxed.blocks, own, strict=True)]
        entries = [b.forms.entries_of(y) for b in boxed.blocks]
        size = worth(self._metrics, reduced, points) + norm(rest) * norm(scalars)
        return entries, self.matrix.join(own, rest), 0.5 * float(size) / self._scale(point)

    def _errors(
        self, point: Iterate, away: Array, residual: Array, stationarity: float
    ) -> BoxedErrors:
        scale = self._scale(point)
        above = np.max(away[self._own_high], initial=0.0)
        below = np.max(-away[self._own_low], initial=0.0)
        return BoxedErrors(
            gap=self.boxes.mean_product(point) * self.boxes.ends / scale,
            residual=float(np.max(np.abs(residual), initial=0.0)),
            stationarity=stationarity,
            violation=float(max(above, below)),
            missed=float(np.max(away[self._limits], initial=0.0)),
        )

    def _scale(self, point: Iterate) -> float:
        """The size of the objective to which its errors are relative."""
        dual = abs(float(self.boxed.rhs @ point.y))
        return max(abs(self._values(point.x)[0]), dual, self.size, 1e-12)

    def _pace(self, point: Iterate, errors: BoxedErrors) -> float:
        """The least complementarity, so that it does not run ahead of the other conditions."""
        residual = self._away(point.x, point.y) + point.slack_low - point.slack_high
        scale = self._scale(point)
        missed = _PACE_IN_VALUE * float(np.abs(residual) @ np.abs(point.y)) / scale
        return min(_PACE, max(_PACE * errors.stationarity, missed)) * scale / self.boxes.ends

    def _early(self, point: Iterate) -> bool:
        """Whether shapes are still being found."""
        return self.boxes.mean_product(point) * self.boxes.ends > _EARLY * self._scale(point)

    def _note(self, point: Iterate, errors: BoxedErrors) -> None:
        problem = self.boxed.problem
        value = self._values(point.x)[0] * problem.units.objective + problem.sdp.constant
        self.journal.note(
            value=problem.sdp.report(value),
            mu=point.mu,
            infeasibility=max(errors.violation, errors.residual),
            stationarity=errors.stationarity,
            regularization=point.reg,
            rank=max(self.ranks, default=0),
        )
