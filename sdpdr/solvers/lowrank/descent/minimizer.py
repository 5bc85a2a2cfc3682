"""One round of a descent: steps of a trust region until the gradient is small enough."""

from __future__ import annotations

import numpy as np

from sdpdr.solvers.lowrank.descent.curvature import Curvature
from sdpdr.solvers.lowrank.descent.local import SphereLocal
from sdpdr.solvers.lowrank.descent.trust_region import Region, truncated
from sdpdr.solvers.lowrank.general.hessian import Jacobian
from sdpdr.solvers.lowrank.general.inner import Inner
from sdpdr.solvers.lowrank.general.verdict import is_unbounded, reported, stationarity, violation

_MOST_STEPS = 200  # in one round
_MOST_PRODUCTS = 1000  # in one step
_MANY = 60  # products in one step, from which on the next is worth a factorization
_ROUNDING = 1e-13  # of values, relative to them
_LOOSEST = 0.1  # residual of conjugate gradients


class Minimizer:
    """Minimises functions on the spheres of one problem.

    Parameters
    ----------
    inner : Inner
        Whose journal is kept, and whose latest point the one reached is.
    """

    def __init__(self, inner: Inner) -> None:
        self._inner, self._journal = inner, inner.journal
        self._deep = False
        self._jacobians = [Jacobian(block.forms) for block in inner.problem.blocks]

    def minimize(self, local: SphereLocal, accuracy: float) -> SphereLocal:
        """Go down until the gradient adds less than ``accuracy`` to the gap."""
        region, curvature = Region(), None
        self._inner.latest = local
        for _ in range(_MOST_STEPS):
            gradient = local.gradient()
            size = stationarity(local, gradient)
            if size <= accuracy or self._journal.exhausted or is_unbounded(local):
                break
            curvature = curvature or Curvature(local, self._jacobians, deep=self._deep)
            goal = min(_LOOSEST, float(np.sqrt(size)))
            step = truncated(
                curvature, gradient, region.radius, goal, _MOST_PRODUCTS, self._journal.late
            )
            self._journal.products += step.products
            self._deep = self._deep or step.products > _MANY
            trial = local.function.at(local.vector + step.change)
            rounding = _ROUNDING * max(abs(local.value), abs(trial.value))
            if region.learn(step, local.value - trial.value, rounding):
                local, curvature = trial, None
                self._inner.latest = local
            self._note(local, size)
            if not step.promise > rounding:
                # What is left to gain is less than numbers can tell.
                break
        return local

    def _note(self, local: SphereLocal, size: float) -> None:
        self._journal.note(
            value=reported(self._inner.problem, local.objective),
            penalty=local.function.penalty if local.active.any() else None,
            infeasibility=violation(local),
            stationarity=size,
            rank=max(local.function.layout.ranks),
        )
