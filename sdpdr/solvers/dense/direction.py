r"""Points with their multipliers, and directions from them, which leave little of their equations.

A direction is refined against what it leaves of its equations, computed from the rows of the
program and not from the matrix that was factored, of which rounding takes all directions that are
small beside others. Its error is the least that combinations of all corrections leave (Eisenstat,
Elman, Schultz, "Variational iterative methods for nonsymmetric systems of linear equations", SIAM
J. Numer. Anal. 20(2), 1983).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.dense.normal import Data, Normal
from sdpdr.solvers.dense.scaling import Scaling

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
        During the iteration, s and z have all entries of their matrices (`Cones.entries`).
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
        free = data.adjoint @ z - data.cost - data.curvature * v - data.E.T @ y
        return cls(v, s, y, z, free, data.e - data.E @ v, data.slack @ v + data.offset - s)

    def folded(self, data: Data) -> ConicIterate:
        """The same, with every matrix as its ``svec``."""
        fold = data.cones.entries.T
        return replace(self, s=fold @ self.s, z=fold @ self.z, apart=fold @ self.apart)

    def gap(self) -> float:
        """The product of s and z."""
        return float(self.s @ self.z)

    def value(self, data: Data) -> float:
        """The value of the point."""
        return float(data.cost @ self.v) + self._curved(data)

    def bound(self, data: Data) -> float:
        """The bound of the multipliers, were they feasible."""
        return self.gain(data) - self._curved(data)

    def _curved(self, data: Data) -> float:
        return 0.5 * float(data.curvature @ (self.v * self.v))

    def gain(self, data: Data) -> float:
        """What multipliers that were feasible without a cost would gain."""
        return -float(data.e @ self.y + data.offset @ self.z)

    def left(self) -> float:
        """The size of what is left of both equations."""
        return float(np.hypot(np.linalg.norm(self.free), np.linalg.norm(self.missed)))

    def error(self, data: Data) -> float:
        """The largest residual, each relative to its data."""
        residuals = zip((self.free, self.missed, self.apart), data.sizes, strict=True)
        return max(float(np.linalg.norm(left)) / size for left, size in residuals)


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
        self._apart = self.scaling.inner(now.apart)

    def towards(self, wanted: Array) -> ConicDirection:
        """The direction that takes all residuals, as the factor has it."""
        data, scaling, now, apart = self.data, self.scaling, self.now, self._apart
        right = now.free + data.adjoint @ scaling.outer(wanted - apart)
        dv, dy = self._system.solve(right, now.missed, refine=False)
        ds = scaling.inner(data.slack @ dv) + apart
        return ConicDirection(dv, dy, ds, wanted - ds)

    def refined(self, wanted: Array, goal: float, most: int) -> ConicDirection:
        """The same, refined until no more than a goal is left of its equations, or in vain."""
        data, scaling = self.data, self.scaling
        best = found = self.towards(wanted)
        left = self._left(found)
        least, idle, p, m = float(np.linalg.norm(left)), 0, found.dv.size, found.dy.size
        # Corrections found so far, as dv, dy and ds in a row, and what each takes, of length one.
        images, steps = np.empty((0, p + m)), np.empty((0, p + m + wanted.size))
        while least > goal and idle < _PATIENCE and len(images) < most:
            dv, dy = self._system.solve(left[:p], left[p:], refine=False)
            ds = scaling.inner(data.slack @ dv)
            image = data.adjoint @ scaling.outer(ds) + data.curvature * dv + data.E.T @ dy
            image, step = np.concatenate([image, data.E @ dv]), np.concatenate([dv, dy, ds])
            whole = float(np.linalg.norm(image))
            # Twice, since once leaves of what is parallel what rounding makes of it.
            for _ in range(2):
                parts = images @ image
                image, step = image - parts @ images, step - parts @ steps
            size = float(np.linalg.norm(image))
            if not _NEW * whole < size < np.inf:
                break
            images, steps = np.vstack([images, image / size]), np.vstack([steps, step / size])
            dv, dy, ds = np.split(float(images[-1] @ left) * steps[-1], [p, p + m])
            found = ConicDirection(
                found.dv + dv, found.dy + dy, found.ds + ds, wanted - found.ds - ds
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
        free = now.free + data.adjoint @ self.scaling.outer(found.dz)
        free -= data.curvature * found.dv + data.E.T @ found.dy
        return np.concatenate([free, now.missed - data.E @ found.dv])
