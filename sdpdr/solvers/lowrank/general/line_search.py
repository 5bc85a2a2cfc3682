r"""Exact line search on the augmented Lagrangian.

Along x + t d the left sides are :math:`v + t a + t^2 c` with :math:`c = A(d d^T)`. With equalities
alone the function is a polynomial of degree four, whose lowest minimum follows from the roots of
a cubic. Rows that may be cut off bend it, so then the first zero of its slope is bracketed.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import polynomial as poly
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.general.lagrangian import Local

_FARTHEST = 1e4  # a step this many times the model's own is a run for infinity
_SLOPE = 0.05  # share of the first slope that counts as none
_ROUNDS = 60


class Curve:
    """The augmented Lagrangian along a direction, as a function of t.

    Parameters
    ----------
    local : Local
        Where it starts.
    direction : array
    """

    def __init__(self, local: Local, direction: Array) -> None:
        layout = local.function.layout
        self.problem, self.sigma = layout.problem, local.function.penalty
        self._start = local.function.multipliers + self.sigma * local.excess
        self._squares = np.square(local.estimate)
        free, step = layout.split(local.vector)[1], layout.split(direction)[1]
        # Free scalars enter linearly, so they have no part in the second order.
        second = layout.values(direction) - self.problem.free @ step
        slope = local.slope(direction)
        self._slope, self._bend = slope[1:], second[1:]
        q = self.problem.curvature
        self._linear = slope[0] + float(q @ (free * step))
        self._quadratic = second[0] + 0.5 * float(q @ np.square(step))

    def best(self) -> float:
        """The step t > 0 to take; 0 where no step goes down."""
        t = self._quartic() if self.problem.equal.all() else self._bracketed()
        while t > 1e-16:
            if self.change(t) < 0.0:
                return t
            t *= 0.25
        return 0.0

    def kept(self, t: float) -> NDArray[np.bool_]:
        """Rows that are not cut off at a step."""
        return np.asarray(self.problem.equal | (self._shifted(t) > 0.0))

    def change(self, t: float) -> float:
        """Value at t less value at zero."""
        u = self._estimate(t)
        penalty = float((np.square(u) - self._squares).sum()) / (2.0 * self.sigma)
        return t * self._linear + t**2 * self._quadratic + penalty

    def slope(self, t: float) -> float:
        """Derivative at t."""
        along = self._slope + 2.0 * t * self._bend
        return self._linear + 2.0 * t * self._quadratic + float(self._estimate(t) @ along)

    def _shifted(self, t: float) -> Array:
        return np.asarray(self._start + self.sigma * (t * self._slope + t**2 * self._bend))

    def _estimate(self, t: float) -> Array:
        u = self._shifted(t)
        return np.where(self.problem.equal, u, np.maximum(u, 0.0))

    def _quartic(self) -> float:
        u, a, c, s = self._start, self._slope, self._bend, self.sigma
        middle = self._quadratic + float(u @ c) + 0.5 * s * float(a @ a)
        high = [s * float(a @ c), 0.5 * s * float(c @ c)]
        quartic = np.array([0.0, self._linear + float(u @ a), middle, *high])
        roots = _real_roots(poly.polyder(quartic))
        roots = roots[(roots > 0.0) & (roots < _FARTHEST)]
        if not roots.size:
            return _FARTHEST if self.change(_FARTHEST) < self.change(1.0) else 1.0
        return float(roots[np.argmin(poly.polyval(roots, quartic))])

    def _bracketed(self) -> float:
        """First zero of the slope, roughly; by doubling, then by halving."""
        first = abs(self.slope(0.0))
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(_ROUNDS):
            here = self.slope(t)
            if abs(here) <= _SLOPE * first or t > _FARTHEST:
                return t
            if here < 0.0:
                low = t
            else:
                high = t
            t = 2.0 * t if np.isinf(high) else 0.5 * (low + high)
        return t


def _real_roots(cubic: Array) -> Array:
    size = np.abs(cubic).max()
    while cubic.size > 1 and abs(cubic[-1]) <= 1e-30 * size:
        cubic = cubic[:-1]
    if cubic.size < 2 or not np.isfinite(cubic).all():
        return np.zeros(0)
    roots = poly.polyroots(cubic)
    return np.asarray(roots[np.abs(roots.imag) <= 1e-8 * np.abs(roots)].real)
