r"""A primal-dual interior-point method, from a point that need not satisfy any equation.

Every step is Mehrotra's: one towards the optimum says how far the barrier may fall, and how much
curvature the next one is to take into account. The multiplier z of the cones, y of the equations
and the point go their own ways, but where squares are in the cost.

References
----------
Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optim. 2(4), 1992.
Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, for the first point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.program.run import Verdict
from sdpdr.solvers.dense.normal import Data, Factored, Normal
from sdpdr.solvers.dense.scaling import Scaling

# Share of the way to the boundary; steps below the least get nowhere.
_SHARE, _LEAST = 0.98, 1e-4
# Over the tolerance of the gap, that of residuals.
_RESIDUALS = 10.0
# Times that what a step leaves of its equations is solved for, which rounding of the matrix and of
# scalings make large beside residuals near an optimum; the best step is taken.
_REFINED = 4
# What a ray may miss its equations by, relatively.
_RAY = 1e-9
Follow = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, eq=False)
class Iterate:
    """A point v, s with multipliers y of equations and z of cones, and what is left of each.

    Attributes
    ----------
    v, s, y, z : arrays
    free : array
        Of the equations of multipliers, c + Q v + E^T y - M^T z, with the other sign.
    missed : array
        e - E v
    apart : array
        M v + t - s
    """

    v: Array
    s: Array
    y: Array
    z: Array
    free: Array
    missed: Array
    apart: Array

    @classmethod
    def at(cls, data: Data, v: Array, s: Array, y: Array, z: Array) -> Iterate:
        """With residuals."""
        free = data.transposed @ z - data.cost - data.curvature * v - data.E.T @ y
        return cls(v, s, y, z, free, data.e - data.E @ v, data.M @ v + data.t - s)

    def gap(self) -> float:
        """The product of s and z."""
        return float(self.s @ self.z)

    def values(self, data: Data) -> tuple[float, float]:
        """The value of the point, and the bound of the multipliers were they feasible."""
        curved = 0.5 * float(data.curvature @ (self.v * self.v))
        below = -float(data.e @ self.y + data.t @ self.z) - curved
        return float(data.cost @ self.v) + curved, below

    def error(self, data: Data) -> float:
        """The largest residual, each relative to its data."""
        pairs = ((self.free, data.cost), (self.missed, data.e), (self.apart, data.t))
        return max(float(np.linalg.norm(a) / (1.0 + np.linalg.norm(b))) for a, b in pairs)


@dataclass(frozen=True, eq=False)
class Ending:
    """How it ended: the last iterate, what it is, and after how many steps."""

    last: Iterate
    verdict: Verdict
    iterations: int


def minimized(
    data: Data,
    tol: float,
    max_iter: int,
    deadline: Deadline | None = None,
    follow: Follow | None = None,
) -> Ending:
    """Solve a program over cones.

    Parameters
    ----------
    data : Data
    tol : float
        Of the gap, relative to the value where that is above one.
    max_iter : int
    deadline : Deadline, optional
    follow : callable, optional
        Given a record an iteration.

    Examples
    --------
    The least t with t >= 1 and t >= 2:

    >>> import scipy.sparse as sp
    >>> from sdpdr.solvers.dense.scaling import Cones
    >>> nothing = np.zeros((0, 1)), np.zeros(0)
    >>> M, t = sp.csr_array([[1.0], [1.0]]), np.array([-1.0, -2.0])
    >>> data = Data(np.ones(1), np.zeros(1), *nothing, M, t, Cones(2, ()))
    >>> ending = minimized(data, 1e-9, 50)
    >>> ending.last.v.round(6), ending.last.z.round(6)
    (array([2.]), array([0., 1.]))
    """
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return _Method(data, tol).run(max_iter, deadline or Deadline(), follow)
    except np.linalg.LinAlgError:  # before there was a point
        zero = np.zeros(data.cost.size), data.cones.identity, np.zeros(data.e.size)
        return Ending(Iterate.at(data, *zero, data.cones.identity), Verdict.FAILED, 0)


class _Method:
    """The iteration."""

    def __init__(self, data: Data, tol: float) -> None:
        self._data, self._tol, self._normal = data, tol, Normal(data)

    def run(self, max_iter: int, deadline: Deadline, follow: Follow | None) -> Ending:
        now = self._first()
        for k in range(max_iter):
            verdict = self._verdict(now)
            if follow is not None:
                follow(self._record(now, k, deadline.spent))
            if verdict is not None:
                return Ending(now, verdict, k)
            if deadline.is_over():
                return Ending(now, Verdict.TIME_LIMIT, k)
            try:
                further = self._moved(now)
            except np.linalg.LinAlgError:
                further = None
            if further is None:
                return Ending(now, Verdict.INACCURATE, k)
            now = further
        return Ending(now, self._verdict(now) or Verdict.ITERATION_LIMIT, max_iter)

    def _record(self, now: Iterate, k: int, seconds: float) -> dict[str, Any]:
        value, below = now.values(self._data)
        error = now.error(self._data)
        return {
            "iteration": k,
            "value": value,
            "bound": below,
            "infeasibility": error,
            "stationarity": now.gap() / max(1.0, abs(value)),
            "seconds": seconds,
        }

    def _verdict(self, now: Iterate) -> Verdict | None:
        data = self._data
        value, _ = now.values(data)
        small = now.gap() <= self._tol * max(1.0, abs(value))
        if small and now.error(data) <= _RESIDUALS * self._tol:
            return Verdict.SOLVED
        # Multipliers that gain without limit, or a direction that does.
        gain = -float(data.e @ now.y + data.t @ now.z)
        curved = bool(np.any(data.curvature))
        left = now.free + data.cost + data.curvature * now.v
        if gain > 0.0 and np.linalg.norm(left) <= _RAY * gain:
            return Verdict.INFEASIBLE
        loss = -float(data.cost @ now.v)
        apart = np.linalg.norm(now.apart - data.t) + np.linalg.norm(now.missed - data.e)
        return Verdict.UNBOUNDED if not curved and loss > 0.0 and apart <= _RAY * loss else None

    def _first(self) -> Iterate:
        """The shortest s and z that satisfy their equations, moved inside."""
        data, cones = self._data, self._data.cones
        system = self._normal.factored(None)
        v, _ = system.solve(-(data.transposed @ data.t), data.e)
        w, y = system.solve(-data.cost, np.zeros(data.e.size))
        pair = (self._inside(x) for x in (data.M @ v + data.t, -(data.M @ w)))
        s, z = pair
        assert s.shape == z.shape == (cones.size,)
        return Iterate.at(data, v, s, y, z)

    def _inside(self, x: Array) -> Array:
        cones = self._data.cones
        least, size = cones.least(x), float(np.linalg.norm(x)) / max(1.0, cones.degree) ** 0.5
        room = 0.1 * max(1.0, size)
        return x if least >= room else x + (max(1.0, room) - least) * cones.identity

    def _moved(self, now: Iterate) -> Iterate | None:
        """The next iterate; None where a step gets nowhere."""
        data = self._data
        scaling = Scaling(data.cones, now.s, now.z)
        system, gap = self._normal.factored(scaling), now.gap()
        point = scaling.point
        ds, dz = self._step(now, scaling, system, -point, 1.0, refine=False)[2:]
        ahead = [min(1.0, reach) for reach in scaling.reach(ds, dz)]
        left = float((point + ahead[0] * ds) @ (point + ahead[1] * dz))
        share = min(1.0, max(0.0, left / gap)) ** 3
        barrier = share * gap / data.cones.degree
        # The product of both is to be as large as the barrier.
        wanted = barrier * self._data.cones.identity - scaling.product(ds, dz)
        wanted = scaling.divided(wanted) - point
        dv, dy, ds, dz = self._step(now, scaling, system, wanted, 1.0 - share)
        lengths = [min(1.0, _SHARE * reach) for reach in scaling.reach(ds, dz)]
        if np.any(data.curvature):
            lengths = [min(lengths)] * 2
        if not max(lengths) > _LEAST:
            return None
        one, other = lengths
        s = now.s + one * (data.M @ dv + (1.0 - share) * now.apart)
        z = now.z + other * scaling.outer(dz)
        moved = Iterate.at(data, now.v + one * dv, s, now.y + other * dy, z)
        return moved if np.isfinite(moved.free).all() and np.isfinite(s).all() else None

    def _step(
        self,
        now: Iterate,
        scaling: Scaling,
        system: Factored,
        wanted: Array,
        share: float,
        *,
        refine: bool = True,
    ) -> tuple[Array, Array, Array, Array]:
        """dv, dy and scaled ds, dz with a sum as wanted, which take a share of the residuals."""
        data = self._data
        apart = share * scaling.inner(now.apart)
        right = share * now.free + data.transposed @ scaling.outer(wanted - apart)
        dv, dy = system.solve(right, share * now.missed, refine=refine)
        ds = scaling.inner(data.M @ dv) + apart
        best, least = (dv, dy, ds, wanted - ds), np.inf
        for _ in range(_REFINED if refine else 0):
            dv, dy, ds, dz = found = dv, dy, ds, wanted - ds
            left = share * now.free + data.transposed @ scaling.outer(dz)
            left -= data.curvature * dv + data.E.T @ dy
            size = float(np.linalg.norm(left))
            if not size < least:
                break
            best, least = found, size
            more, further = system.solve(left, share * now.missed - data.E @ dv, refine=False)
            dv, dy, ds = dv + more, dy + further, ds + scaling.inner(data.M @ more)
        return best
