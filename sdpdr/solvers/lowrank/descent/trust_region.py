r"""Trust regions on a manifold: conjugate gradients that stop at the border of what is trusted.

The step minimises the quadratic model :math:`\langle g, D\rangle + \tfrac12 \langle D, H D\rangle`
over tangent directions of length at most :math:`\Delta`, in the norm of the preconditioner. Where
the curvature is negative it goes to the border, so that saddles are left.

References
----------
Steihaug, SIAM J. Numer. Anal. 20, 1983; Absil, Baker and Gallivan, "Trust-region methods on
Riemannian manifolds", Found. Comput. Math. 7, 2007.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import daxpy

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.spheres import SphereLocal
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian
from sdpdr.solvers.lowrank.general.inner import Inner
from sdpdr.solvers.lowrank.general.precondition import block_preconditioner
from sdpdr.solvers.lowrank.general.verdict import is_unbounded, stationarity

# Radius of the first region, as a multiple of the exact step along the first direction.
_FIRST = 10.0
# Ratios of actual to predicted decrease below which the region shrinks, above which it grows, and
# above which a step is accepted.
_POOR, _GOOD, _ACCEPTED = 0.25, 0.75, 0.05
_SHRINK, _GROW = 0.25, 2.0


@dataclass(frozen=True, eq=False)
class Step:
    """A step, what the model promises of it, and what it took.

    Attributes
    ----------
    change : array
    promise : float
        Decrease of the model, positive.
    at_border : bool
    radius : float
        Radius of the region in which the step was found.
    products : int
    """

    change: Array
    promise: float
    at_border: bool
    radius: float
    products: int


def truncated(
    curvature: Curvature,
    gradient: Array,
    radius: float,
    accuracy: float,
    limit: int,
    late: Callable[[], bool],
) -> Step:
    """The step of a trust region.

    Parameters
    ----------
    curvature : Curvature
    gradient : array
        Tangent.
    radius : float
        In the norm of the preconditioner; infinite for one that suits the gradient.
    accuracy : float
        Relative residual at which conjugate gradients stop.
    limit : int
        Most products.
    late : callable
        Says when time is up.
    """
    step, residual = np.zeros_like(gradient), gradient.copy()
    solved = curvature.inverse(residual)
    rho = first = float(residual @ solved)
    direction = -solved
    # Products, since powers of numbers that run away are errors.
    step2, overlap, size2 = 0.0, 0.0, rho
    at_border, count = False, 0
    while count < max(limit, 1):
        count += 1
        product = curvature @ direction
        bend = float(direction @ product)
        length = rho / bend if bend != 0.0 else np.inf
        if not np.isfinite(radius):
            radius = _FIRST * abs(length if np.isfinite(length) else 1.0) * float(np.sqrt(size2))
        next2 = step2 + 2.0 * length * overlap + length * length * size2
        at_border = bend <= 0.0 or next2 >= radius * radius
        if at_border:
            root = np.sqrt(max(overlap * overlap + size2 * (radius * radius - step2), 0.0))
            length = float(root - overlap) / size2
        step, residual = daxpy(direction, step, a=length), daxpy(product, residual, a=length)
        if at_border:
            break
        step2 = next2
        solved = curvature.inverse(residual)
        rho_next = float(residual @ solved)
        if not rho_next > accuracy**2 * first or late():
            break
        beta = rho_next / rho
        overlap = beta * (overlap + length * size2)
        size2, rho = rho_next + beta * beta * size2, rho_next
        direction *= beta
        direction -= solved
    # The residual is the gradient of the model at the step.
    promise = -0.5 * float((gradient + residual) @ step)
    return Step(step, promise, at_border, radius, count)


@dataclass
class Region:
    """The radius, which follows how well the model foresees."""

    radius: float = float("inf")

    def learn(self, step: Step, decrease: float, rounding: float) -> bool:
        """Take what a step brought; whether to accept it.

        Parameters
        ----------
        step : Step
        decrease : float
            Actual decrease of the function.
        rounding : float
            What both numbers may be wrong by.

        Examples
        --------
        >>> region = Region(1.0)
        >>> region.learn(Step(np.zeros(1), 1.0, True, 1.0, 1), 1.0, 0.0), region.radius
        (True, 2.0)
        """
        ratio = (decrease + rounding) / (step.promise + rounding) if step.promise > 0.0 else -1.0
        self.radius = step.radius
        if not ratio >= _POOR:
            self.radius *= _SHRINK
        elif ratio > _GOOD and step.at_border:
            self.radius *= _GROW
        return bool(ratio > _ACCEPTED)


# Share of the typical diagonal that the approximation keeps at least.
_FLOOR = 1e-3


class Curvature:
    """The second derivative at a point, restricted to tangent directions.

    Parameters
    ----------
    local : SphereLocal
    jacobians : list of Jacobian
        One for each matrix variable; used where some rows have a penalty.
    """

    def __init__(self, local: SphereLocal, jacobians: list[Jacobian]) -> None:
        self._local, self._layout = local, local.function.layout
        self._spheres = local.function.spheres
        self._hessian = Hessian(local, jacobians) if self._spheres.free.any() else None
        self.inverse = self._approximate_inverse()

    def tangent(self, change: Array) -> Array:
        """The tangent part of a change."""
        return self._spheres.tangent(self._layout, self._local.vector, change)

    def __matmul__(self, change: Array) -> Array:
        """The product with a tangent direction."""
        if self._hessian is not None:
            return self.tangent(self._hessian @ change)
        parts, free = self._layout.split(change)
        curved = [2.0 * (s @ p) for s, p in zip(self._local.slacks, parts, strict=True)]
        return self.tangent(self._layout.join(curved, self._layout.problem.curvature * free))

    def _approximate_inverse(self) -> Callable[[Array], Array]:
        """The inverse of diagonal blocks; without penalized rows, of one number for each point."""
        if self._hessian is not None:
            solve = block_preconditioner(self._hessian)
            return lambda change: self.tangent(solve(self.tangent(change)))
        scales = []
        for slack, (_, r) in zip(self._local.slacks, self._layout.shapes, strict=True):
            size = 2.0 * np.abs(slack.diagonal())
            size = np.maximum(size, _FLOOR * float(np.mean(size)) + np.finfo(float).tiny)
            scales.append(np.repeat(1.0 / size, r))
        curvature = self._layout.problem.curvature
        scale = np.concatenate([*scales, 1.0 / np.where(curvature > 0.0, curvature, 1.0)])
        if self._spheres.are_points:
            return lambda change: np.asarray(scale * change)
        return lambda change: self.tangent(scale * change)


_MOST_STEPS = 200  # in one round
_MOST_PRODUCTS = 1000  # in one step
_VALUE_ROUNDING = 1e-13  # of values, relative to them
_LOOSEST = 0.1  # residual of conjugate gradients
_FLATTER = 0.5  # what a step has to leave of the gradient where values no longer tell


class Minimizer:
    """Minimises functions on the spheres of one problem.

    Parameters
    ----------
    inner : Inner
        Whose journal is kept, and whose latest point the one reached is.
    """

    def __init__(self, inner: Inner) -> None:
        self._inner, self._journal = inner, inner.journal

    def minimize(self, local: SphereLocal, accuracy: float) -> SphereLocal:
        """Go down until the gradient adds less than ``accuracy`` to the gap."""
        region, curvature = Region(), None
        self._inner.latest = local
        for _ in range(_MOST_STEPS):
            gradient = local.gradient()
            size = stationarity(local, gradient)
            if size <= accuracy or self._journal.exhausted or is_unbounded(local):
                break
            curvature = curvature or Curvature(local, self._inner.jacobians)
            goal = min(_LOOSEST, float(np.sqrt(size)))
            step = truncated(
                curvature, gradient, region.radius, goal, _MOST_PRODUCTS, self._journal.late
            )
            self._journal.products += step.products
            trial = local.function.at(local.vector + step.change)
            rounding = _VALUE_ROUNDING * max(abs(local.value), abs(trial.value))
            # A gain below the rounding of values is not measurable: then the gradient decides.
            is_measurable = step.promise > rounding or step.at_border
            accepted = region.learn(step, local.value - trial.value, rounding)
            if not is_measurable:
                accepted = stationarity(trial, trial.gradient()) < _FLATTER * size
            if accepted:
                local, curvature = trial, None
                self._inner.latest = local
            self._inner.note(local, size)
            if not is_measurable and not accepted:
                break
        return local
