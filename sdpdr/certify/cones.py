r"""The cones, each describing itself.

A cone stands for ``count`` equal copies; its points are arrays of shape ``(count, dim)``. It knows
whether a box lies in it and in its dual (verified), a point inside, gradient and Hessian of its
barrier, the map of its dual to itself, and the *pair*: the point and the multipliers

.. math::  z = -\mu F'(s), \qquad s - t z = w

on the central path that belong to w, with one t for each copy. Whatever numbers a solver leaves,
this pair lies inside both cones.

Symmetric matrices are their upper triangles, column by column, and nothing is multiplied by the
root of two: inner products count entries off the diagonal once, so that multipliers hold twice
the entries of their matrix there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Matrix, rows_as_they_are
from sdpdr.certify.rounding import ELEMENTARY, UP

# Lengths that are divided by are no less than this.
LEAST = 1e-150
# Limits of t: solvers leave s or z next to zero.
_SCALES = (1e-12, 1e12)


class Scaling(ABC):
    """R with R^T R the Hessian of a barrier: products with R, its inverse, and the Hessian."""

    @abstractmethod
    def times(self, v: Matrix) -> Matrix:
        """R v."""

    @abstractmethod
    def back(self, v: Matrix) -> Matrix:
        """R^-1 v."""

    @abstractmethod
    def back_transposed(self, v: Matrix) -> Matrix:
        """R^-T v."""

    @abstractmethod
    def hessian(self, v: Array) -> Array:
        """R^T R v."""

    @abstractmethod
    def inverse_hessian(self, v: Array) -> Array:
        """R^-1 R^-T v."""


class Blocks(Scaling):
    """R and its inverse as sparse matrices, of blocks of shape (count, dim, dim)."""

    def __init__(self, R: Array, inverse: Array) -> None:
        self._R, self._inverse = _along_diagonal(R), _along_diagonal(inverse)

    def times(self, v: Matrix) -> Matrix:
        return self._R @ v

    def back(self, v: Matrix) -> Matrix:
        return self._inverse @ v

    def back_transposed(self, v: Matrix) -> Matrix:
        return self._inverse.T @ v

    def hessian(self, v: Array) -> Array:
        return np.asarray(self._R.T @ (self._R @ v))

    def inverse_hessian(self, v: Array) -> Array:
        return np.asarray(self._inverse @ (self._inverse.T @ v))


def _along_diagonal(blocks: Array) -> sp.csr_array:
    count, dim, _ = blocks.shape
    columns = np.arange(count * dim).reshape(count, 1, dim).repeat(dim, axis=1)
    ends = dim * np.arange(count * dim + 1)
    return rows_as_they_are(blocks.ravel(), columns.ravel(), ends, (count * dim, count * dim))


class Cone(ABC):
    """Copies of a cone.

    Parameters
    ----------
    count : int
        Copies.
    dim : int
        Numbers in a point of one.
    """

    # Parameter of the barrier of one copy.
    nu: int

    def __init__(self, count: int, dim: int) -> None:
        self.count, self.dim = count, dim

    @property
    def degree(self) -> int:
        """Parameter of the barrier of all copies."""
        return self.nu * self.count

    @abstractmethod
    def centre(self) -> Array:
        """A point inside."""

    @abstractmethod
    def is_inside(self, s: Array) -> bool:
        """Whether a point is inside, as far as floating point tells."""

    @abstractmethod
    def contains(self, s: Array, radius: Array) -> bool:
        """Whether all points within a radius of s, entry by entry, lie in the cone: a theorem."""

    @abstractmethod
    def gradient(self, s: Array) -> Array:
        """That of the barrier."""

    @abstractmethod
    def scaling(self, s: Array) -> Scaling:
        """R with R^T R the Hessian of the barrier at s."""

    @abstractmethod
    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        """Point and multipliers with ``z = -mu F'(s)``, and ``s - t z`` as given."""

    def dual_images(self, z: Array) -> Array:
        """T z, which is in the cone for z in its dual, and for no others; T z = z by default."""
        return z

    def is_dual_inside(self, z: Array) -> bool:
        """Whether multipliers are inside of the dual cone, as far as floating point tells."""
        return self.is_inside(self.dual_images(z))

    def dual_contains(self, z: Array, radius: Array) -> bool:
        """Whether all multipliers within a radius of z lie in the dual cone: a theorem."""
        return self.contains(self.dual_images(z), self.dual_images(radius))


class SmoothCone(Cone):
    """Cones of which nothing but gradient and Hessian of the barrier is known."""

    # T of each copy, of shape (count, dim, dim).
    dual_map: Array

    def dual_images(self, z: Array) -> Array:
        return np.asarray((self.dual_map @ z[..., None])[..., 0])

    def dual_contains(self, z: Array, radius: Array) -> bool:
        size = np.abs(self.dual_map)
        # Quotients of T, and products with them, are rounded.
        around = UP * (size @ radius[..., None]) + ELEMENTARY * (size @ np.abs(z)[..., None])
        return self.contains(self.dual_images(z), around[..., 0])

    @abstractmethod
    def hessian(self, s: Array) -> Array:
        """That of the barrier, of shape (count, dim, dim)."""

    def scaling(self, s: Array) -> Scaling:
        H = self.hessian(s)
        d = np.sqrt(np.maximum(np.einsum("kii->ki", H), 1e-300))
        values, Q = np.linalg.eigh(H / (d[:, :, None] * d[:, None, :]))
        roots = np.sqrt(np.maximum(values, 1e-16))
        R = roots[:, :, None] * Q.transpose(0, 2, 1) * d[:, None, :]
        inverse = Q / roots[:, None, :] / d[:, :, None]
        return Blocks(R, inverse)

    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        """Point and multipliers with ``z = -mu F'(s)``, and ``s - t z`` as given.

        By Newton's method on a function that is self-concordant, from a far level down.

        Raises
        ------
        LinAlgError
            If there is no such level, as squares of the numbers overflow.
        """
        t = ratio(s, z)
        w, aim = s - t * z, mu * t
        size = np.maximum(np.linalg.norm(w, axis=1, keepdims=True), np.sqrt(aim))
        x, level = self.centre() * size, size**2
        if not np.all(np.isfinite(level) & np.isfinite(aim)):
            raise np.linalg.LinAlgError("squares of numbers in a cone overflow")
        while True:
            for _ in range(6):
                slope = x - w + level * self.gradient(x)
                bend = np.eye(self.dim) + level[..., None] * self.hessian(x)
                d = -np.linalg.solve(bend, slope[..., None])[..., 0]
                squares = np.einsum("ki,kij,kj->k", d, bend, d) / level[:, 0]
                local = np.sqrt(np.maximum(squares, 0.0))[:, None]
                x = x + np.where(local > 0.3, 1.0 / (1.0 + local), 1.0) * d
                if np.all(local < 1e-3):
                    break
            if np.all(level <= aim):
                return x, -mu * self.gradient(x)
            level = np.maximum(aim, 0.1 * level)


def are_zero(s: Array, radius: Array) -> NDArray[np.bool_]:
    """Which copies hold the tip of the cone and nothing else, which belongs to it."""
    return np.asarray(~(np.any(s, axis=1) | np.any(radius, axis=1)))


def ratio(s: Array, z: Array) -> Array:
    """How much larger points are than their multipliers, one number for each copy."""
    ratio = np.linalg.norm(s, axis=1) / np.maximum(np.linalg.norm(z, axis=1), LEAST)
    return np.asarray(np.clip(ratio, *_SCALES)[:, None])


def split(w: Array, level: Array | float) -> tuple[Array, Array]:
    """The positive x with ``x - level / x = w``, and ``level / x``, neither by cancellation."""
    far = (np.abs(w) + np.sqrt(w * w + 4.0 * level)) / 2.0
    return np.where(w > 0.0, far, level / far), np.where(w > 0.0, level / far, far)
