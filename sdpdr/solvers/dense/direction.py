r"""Points with their multipliers, and directions from them: how exact, and how near the centre.

*Exact.* A direction is refined against what it leaves of its equations, computed from the rows of
the program and not from the matrix that was factored, of which rounding takes all directions that
are small beside others. Its error is the least that combinations of all corrections leave
(Eisenstat, Elman, Schultz, "Variational iterative methods for nonsymmetric systems of linear
equations", SIAM J. Numer. Anal. 20(2), 1983).

*Central.* Where products of a point and its multiplier are far apart, the next steps are short.
Those that a longer step would lead far out are corrected as long as that lets a step be longer,
each for a solve with the factor there is (Gondzio, "Multiple centrality corrections in a
primal-dual method for linear programming", Comput. Optim. Appl. 6, 1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.dense.normal import Data, Normal
from sdpdr.solvers.dense.scaling import Scaling

# Corrections, at most, and unknowns from which on a factorization takes longer than they do.
_CORRECTIONS, _WORTH = 4, 100
# How far a step is to go that is corrected for, relatively and absolutely; what it must gain; and
# how far products may be from the barrier, as a factor.
_FURTHER, _MORE, _GAINED, _APART = 1.08, 0.1, 0.02, 10.0
# Corrections in a row that take less than a hundredth of an error, after which no other is tried.
_PATIENCE, _LESS = 8, 0.99
# What a correction must have that others before it have not.
_NEW = 1e-8


@dataclass(frozen=True, eq=False)
class ConicIterate:
    """A point v, s with multipliers y of equations and z of cones, and what is left of each.

    Attributes
    ----------
    v, s, y, z : arrays
    free : array
        Residual of the equations of multipliers, c + Q v + E^T y - M^T z, with the opposite sign.
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
    def at(cls, data: Data, v: Array, s: Array, y: Array, z: Array) -> ConicIterate:
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

    def left(self) -> float:
        """The size of what is left of both equations."""
        return float(np.hypot(np.linalg.norm(self.free), np.linalg.norm(self.missed)))

    def error(self, data: Data) -> float:
        """The largest residual, each relative to its data."""
        pairs = ((self.free, data.cost), (self.missed, data.e), (self.apart, data.t))
        return max(float(np.linalg.norm(a) / (1.0 + np.linalg.norm(b))) for a, b in pairs)


@dataclass(frozen=True, eq=False)
class ConicDirection:
    """Changes of v and y, and scaled ones of s and z."""

    dv: Array
    dy: Array
    ds: Array
    dz: Array


class Directions:
    """Directions from a point: the sum of scaled ds and dz is as wanted.

    Parameters
    ----------
    data : Data
    normal : Normal
    now : ConicIterate

    Raises
    ------
    numpy.linalg.LinAlgError
        If the point is on the boundary of a cone, or the matrix is singular.
    """

    def __init__(self, data: Data, normal: Normal, now: ConicIterate) -> None:
        self.data, self.now = data, now
        self.scaling = Scaling(data.cones, now.s, now.z)
        self._system = normal.factored(self.scaling)

    def towards(self, wanted: Array) -> ConicDirection:
        """The direction that takes all residuals, as the factor has it."""
        data, scaling, now = self.data, self.scaling, self.now
        apart = scaling.inner(now.apart)
        right = now.free + data.transposed @ scaling.outer(wanted - apart)
        dv, dy = self._system.solve(right, now.missed, refine=False)
        ds = scaling.inner(data.M @ dv) + apart
        return ConicDirection(dv, dy, ds, wanted - ds)

    def refined(self, wanted: Array, goal: float, most: int) -> ConicDirection:
        """The same, refined until no more than a goal is left of its equations, or in vain."""
        data, scaling = self.data, self.scaling
        best = found = self.towards(wanted)
        left = self._left(found)
        least, idle, p = float(np.linalg.norm(left)), 0, found.dv.size
        images, sources = list[Array](), list[ConicDirection]()
        while least > goal and idle < _PATIENCE and len(images) < most:
            dv, dy = self._system.solve(left[:p], left[p:], refine=False)
            ds = scaling.inner(data.M @ dv)
            image = data.transposed @ scaling.outer(ds) + data.curvature * dv + data.E.T @ dy
            image = np.concatenate([image, data.E @ dv])
            whole = float(np.linalg.norm(image))
            # Twice, since once leaves of what is parallel what rounding makes of it.
            for _ in range(2):
                for known, source in zip(images, sources, strict=True):
                    part = float(known @ image)
                    image = image - part * known
                    dv, dy = dv - part * source.dv, dy - part * source.dy
                    ds = ds - part * source.ds
            size = float(np.linalg.norm(image))
            if not _NEW * whole < size < np.inf:
                break
            images.append(image / size)
            sources.append(ConicDirection(dv / size, dy / size, ds / size, -ds / size))
            step, last = float(images[-1] @ left), sources[-1]
            ds = found.ds + step * last.ds
            found = ConicDirection(
                found.dv + step * last.dv, found.dy + step * last.dy, ds, wanted - ds
            )
            left = self._left(found)
            error = float(np.linalg.norm(left))
            idle = 0 if error < _LESS * least else idle + 1
            if error < least:
                best, least = found, error
        return best

    def _left(self, found: ConicDirection) -> Array:
        """What a direction leaves of both equations."""
        data, now = self.data, self.now
        free = now.free + data.transposed @ self.scaling.outer(found.dz)
        free -= data.curvature * found.dv + data.E.T @ found.dy
        return np.concatenate([free, now.missed - data.E @ found.dv])

    def centred(self, wanted: Array, barrier: float) -> Array:
        """What is to be wanted for products not to end far from a barrier."""
        cones, scaling = self.data.cones, self.scaling
        if self.data.cost.size < _WORTH:
            return wanted
        found = self.towards(wanted)
        reach = [min(1.0, x) for x in scaling.reach(found.ds, found.dz)]
        for _ in range(_CORRECTIONS):
            far = [min(1.0, _FURTHER * x + _MORE) for x in reach]
            ends = scaling.point + far[0] * found.ds, scaling.point + far[1] * found.dz
            lacking = cones.lacking(scaling.product(*ends), barrier / _APART, barrier * _APART)
            other = wanted + scaling.divided(lacking)
            found = self.towards(other)
            further = [min(1.0, x) for x in scaling.reach(found.ds, found.dz)]
            if not sum(further) >= sum(reach) + _GAINED:
                break
            wanted, reach = other, further
        return wanted
