r"""Points with their multipliers, and directions from them with small residuals.

A direction is refined by its residual, which is computed from the rows of the program: the
factorized matrix has lost directions that are small relative to others to rounding. The refined
direction has the least residual among combinations of all corrections (Eisenstat, Elman, Schultz,
"Variational iterative methods for nonsymmetric systems of linear equations", SIAM J. Numer. Anal.
20(2), 1983).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.dense.normal import Data, Normal
from sdpdr.solvers.dense.scaling import Scaling

# Corrections in a row that reduce the residual by less than a hundredth, after which none is tried.
_PATIENCE, _LESS = 8, 0.99
# Share of a correction that must be linearly independent of earlier ones.
_NEW = 1e-8


@dataclass(frozen=True, eq=False)
class ConicIterate:
    """A point v, s with multipliers y of equations and z of cones, and their residuals.

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
        """Compute the residuals."""
        free = data.adjoint @ z - data.cost - data.curvature * v - data.E.T @ y
        return cls(v, s, y, z, free, data.e - data.E @ v, data.slack @ v + data.offset - s)

    def folded(self, data: Data) -> ConicIterate:
        """The iterate with every matrix as its ``svec``."""
        fold = data.cones.entries.T
        return replace(self, s=fold @ self.s, z=fold @ self.z, apart=fold @ self.apart)

    def gap(self) -> float:
        """The product of s and z."""
        return float(self.s @ self.z)

    def value(self, data: Data) -> float:
        """The value of the point."""
        return float(data.cost @ self.v) + self._curved(data)

    def bound(self, data: Data) -> float:
        """The dual objective, which is a bound if the multipliers are feasible."""
        return self.gain(data) - self._curved(data)

    def _curved(self, data: Data) -> float:
        return 0.5 * float(data.curvature @ (self.v * self.v))

    def gain(self, data: Data) -> float:
        """The linear part of the dual objective; positive for a ray of multipliers."""
        return -float(data.e @ self.y + data.offset @ self.z)

    def left(self) -> float:
        """The norm of the residuals of both equations."""
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
    """Directions from a point, with a given sum of scaled ds and dz.

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
        """The direction that removes all residuals, up to the accuracy of the factor."""
        data, scaling, now, apart = self.data, self.scaling, self.now, self._apart
        right = now.free + data.adjoint @ scaling.outer(wanted - apart)
        dv, dy = self._system.solve(right, now.missed, refine=False)
        ds = scaling.inner(data.slack @ dv) + apart
        return ConicDirection(dv, dy, ds, wanted - ds)

    def refined(self, wanted: Array, goal: float, most: int) -> ConicDirection:
        """The direction, refined until its residual is at most ``goal`` or no longer falls."""
        data, scaling = self.data, self.scaling
        best = found = self.towards(wanted)
        left = self._left(found)
        least, idle, p, m = float(np.linalg.norm(left)), 0, found.dv.size, found.dy.size
        # Corrections so far, each as one vector of dv, dy and ds, and their images of length one.
        images, steps = np.empty((0, p + m)), np.empty((0, p + m + wanted.size))
        while least > goal and idle < _PATIENCE and len(images) < most:
            dv, dy = self._system.solve(left[:p], left[p:], refine=False)
            ds = scaling.inner(data.slack @ dv)
            image = data.adjoint @ scaling.outer(ds) + data.curvature * dv + data.E.T @ dy
            image, step = np.concatenate([image, data.E @ dv]), np.concatenate([dv, dy, ds])
            whole = float(np.linalg.norm(image))
            # Twice, because one orthogonalization leaves parallel parts of the size of rounding.
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
        """The residuals of both equations after a direction."""
        data, now = self.data, self.now
        free = now.free + data.adjoint @ self.scaling.outer(found.dz)
        free -= data.curvature * found.dv + data.E.T @ found.dy
        return np.concatenate([free, now.missed - data.E @ found.dv])
