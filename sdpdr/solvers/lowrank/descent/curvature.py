"""Second derivative on the spheres, and an approximation that is easily inverted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.local import SphereLocal
from sdpdr.solvers.lowrank.descent.thin import thin_preconditioner
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian
from sdpdr.solvers.lowrank.general.precondition import block_preconditioner

# Share of the typical diagonal that the approximation keeps at least.
_FLOOR = 1e-3


class Curvature:
    """The second derivative at a point, restricted to tangent directions.

    Parameters
    ----------
    local : SphereLocal
    jacobians : list of Jacobian
        One for each matrix variable; used where some rows have a price.
    deep : bool, default False
        Whether thin columns are worth a factorization of the dual slack.
    """

    def __init__(
        self, local: SphereLocal, jacobians: list[Jacobian], *, deep: bool = False
    ) -> None:
        self._local, self._layout = local, local.function.layout
        self._spheres = local.function.spheres
        self._hessian = Hessian(local, jacobians) if self._spheres.free.any() else None
        self.inverse = self._approximate_inverse(deep)

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

    def _approximate_inverse(self, deep: bool) -> Callable[[Array], Array]:
        """The inverse of diagonal blocks; without rows at a price, of one number for each point."""
        if self._hessian is not None:
            better = thin_preconditioner(self._hessian) if deep else None
            solve = better or block_preconditioner(self._hessian)
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
