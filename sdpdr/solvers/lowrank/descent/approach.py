"""The outer loop of a descent: accuracy, prices of rows, columns that come and go, verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.curvature import Curvature
from sdpdr.solvers.lowrank.descent.local import SphereLagrangian, SphereLocal
from sdpdr.solvers.lowrank.descent.low_end import low_end
from sdpdr.solvers.lowrank.descent.spheres import Spheres
from sdpdr.solvers.lowrank.descent.start import spectral
from sdpdr.solvers.lowrank.descent.trust_region import Region, truncated
from sdpdr.solvers.lowrank.general.forms import Slack
from sdpdr.solvers.lowrank.general.hessian import Jacobian
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.ranks import grown, shrunk
from sdpdr.solvers.lowrank.general.search import Search, first_penalty
from sdpdr.solvers.lowrank.general.verdict import (
    Verdict,
    judge,
    reported,
    scale_of,
    stationarity,
    violation,
)

# First columns over log n.
DESCENT_SHARE = 2.5
_MOST_PRODUCTS = 1000  # in one step
_MOST_STEPS = 200  # in one round
_ROUNDING = 1e-13  # of values, relative to them
_ROUNDS = 60
_FIRST, _NEXT, _LAST, _SHARPER = 1e-3, 1e-2, 1.0, 0.1
# Of prices: what rows have to come closer by, and what they rise by where they do not.
_PROGRESS, _FACTOR, _LARGEST = 0.2, 4.0, 1e9
_DIRECTIONS = 8
# What multipliers are raised by: a multiple of what is seen to lack, and a share of the tolerance.
_SURPLUS, _LIFT = 1.5, 0.03
# Share of the trace below which a column gives way, over the stationarity.
_IDLE = 1e-2
_NEAR = 1e-2  # violation up to which columns are judged
_NEGATIVE = 3.0  # times what the gradient explains, from which on eigenvalues are negative


def descend(search: Search, layout: Layout, vector: Array, multipliers: Array) -> bool:
    """Go down from a point; whether what was found is good enough.

    Parameters
    ----------
    search : Search
        Verdicts are left in it, good or not.
    layout : Layout
    vector : array
    multipliers : array of shape (m,)
    """
    return _Descent(search).run(layout, vector, multipliers)


class _Descent:
    """One search by descent.

    Parameters
    ----------
    search : Search
    """

    def __init__(self, search: Search) -> None:
        self.search, self.problem, self.options = search, search.problem, search.options
        self.spheres = Spheres(search.problem)
        self.jacobians = [Jacobian(block.forms) for block in search.problem.blocks]

    def run(self, layout: Layout, vector: Array, multipliers: Array) -> bool:
        """Minimise, judge, and change prices or columns, until what is found is good enough."""
        local = self._function(layout, multipliers, 1.0).at(vector)
        if self.spheres.free.any():
            if not multipliers.any():
                local = local.function.at(spectral(layout, vector, self.spheres, self.options.seed))
            local = self._function(layout, multipliers, first_penalty(local)).at(local.vector)
        accuracy, last, before = _FIRST, _LAST * self.options.tol, np.inf
        for _ in range(_ROUNDS):
            local = self.minimize(local, accuracy)
            verdict = self._judge(local)
            good = max(verdict.stationarity, verdict.infeasibility, verdict.products)
            if good <= last and self.search.settles(verdict, always=True):
                return True
            if self.search.journal.exhausted:
                return False
            wider = self._other_rank(local, verdict)
            local, before = self._next(local, wider, before), verdict.infeasibility
            if good <= last:
                last *= _SHARPER
            accuracy = max(last, min(accuracy, _NEXT * max(good, last)))
        return False

    def _function(self, layout: Layout, multipliers: Array, penalty: float) -> SphereLagrangian:
        return SphereLagrangian(layout, multipliers, penalty, self.spheres)

    def _other_rank(self, local: SphereLocal, verdict: Verdict) -> tuple[Layout, Array] | None:
        """The point with more columns, or with fewer; None where those it has are right."""
        changed = None
        if verdict.negativity > max(_NEGATIVE * verdict.stationarity, self.options.tol):
            changed = grown(local, verdict, self.options)
        elif verdict.infeasibility <= _NEAR:
            changed = shrunk(local, _IDLE * max(verdict.stationarity, verdict.infeasibility))
        if changed is None:
            return None
        self.search.journal.remark(changed[2])
        return changed[:2]

    def _next(
        self, local: SphereLocal, wider: tuple[Layout, Array] | None, before: float
    ) -> SphereLocal:
        """The next function: multipliers as estimated, and a higher price where rows stay away."""
        layout, vector = wider or (local.function.layout, local.vector)
        penalty = local.function.penalty
        if violation(local) > max(_PROGRESS * before, 0.3 * self.options.tol):
            penalty = min(_FACTOR * penalty, _LARGEST)
        return self._function(layout, local.estimate, penalty).at(vector)

    def _judge(self, local: SphereLocal) -> Verdict:
        def look(slack: Slack, face: Array, factor: Array) -> tuple[Array, Array]:
            return low_end(slack, face, factor, _DIRECTIONS, self.options.seed)

        verdict = judge(local, self.options.seed, look=look)
        return replace(verdict, multipliers=self._lifted(local, verdict))

    def _lifted(self, local: SphereLocal, verdict: Verdict) -> Array:
        """Multipliers of spheres raised by what the dual slacks lack, so that they prove a bound.

        By a little more than what is seen, since Ritz values do not lie below eigenvalues.
        """
        raised = verdict.multipliers.copy()
        for groups, (values, _) in zip(self.spheres.blocks, verdict.lows, strict=True):
            if not groups.rows.size:
                continue
            lack = max(0.0, -float(np.min(values, initial=0.0)))
            share = _LIFT * self.options.tol * scale_of(local) / float(groups.square.sum())
            raised[groups.rows] += (_SURPLUS * lack + share) * groups.square / groups.rhs
        return raised

    def minimize(self, local: SphereLocal, accuracy: float) -> SphereLocal:
        """Go down until the gradient adds less than ``accuracy`` to the gap."""
        journal, region, curvature = self.search.journal, Region(), None
        for _ in range(_MOST_STEPS):
            gradient = local.gradient()
            size = stationarity(local, gradient)
            if size <= accuracy or journal.exhausted:
                break
            if curvature is None:
                curvature = Curvature(local, self.jacobians)
            step = truncated(
                curvature,
                gradient,
                region.radius,
                min(0.1, float(np.sqrt(size))),
                _MOST_PRODUCTS,
                journal.late,
            )
            journal.products += step.products
            trial = local.function.at(local.vector + step.change)
            rounding = _ROUNDING * max(abs(local.value), abs(trial.value))
            if region.learn(step, local.value - trial.value, rounding):
                local, curvature = trial, None
            journal.note(
                value=reported(self.problem, local.objective),
                penalty=local.function.penalty,
                infeasibility=violation(local),
                stationarity=size,
                rank=max(local.function.layout.ranks),
            )
        return local
