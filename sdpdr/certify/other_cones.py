"""Exponential and power cones, whose duals are images of themselves."""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.certify.cones import SmoothCone, are_zero
from sdpdr.certify.rounding import ELEMENTARY, TINY


class Exponential(SmoothCone):
    """Closure of the points (x, y, z) with ``z >= y exp(x / y)`` and y > 0.

    Parameters
    ----------
    count : int
    """

    nu = 3

    def __init__(self, count: int) -> None:
        super().__init__(count, 3)
        T = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        self.dual_map = np.repeat(T[None], count, 0)

    def centre(self) -> Array:
        return np.repeat([[-0.827838, 0.805102, 1.290928]], self.count, 0)

    def is_inside(self, s: Array) -> bool:
        x, y, z = s.T
        with np.errstate(all="ignore"):
            return bool(np.all((y > 0.0) & (z > 0.0) & (y * np.log(z / y) > x)))

    def contains(self, s: Array, radius: Array) -> bool:
        high, low, top = s[:, 0] + radius[:, 0], s[:, 1] - radius[:, 1], s[:, 2] - radius[:, 2]
        zero = are_zero(s, radius)
        if not np.all(low[~zero] > 0.0):
            return False
        # Convex in y and growing in x: the largest value over the box is at one of its ends. Of
        # both margins the elementary function takes half, and roundings of ends and sums the rest.
        with np.errstate(over="ignore"):
            for y in (low, s[:, 1] + radius[:, 1]):
                ratio = high / y
                power = np.exp(ratio + ELEMENTARY * np.abs(ratio)) * (1.0 + 2.0 * ELEMENTARY)
                # What underflows is larger than it seems.
                worst = y * (power + TINY)
                if not np.all((top > worst) | zero):
                    return False
        return True

    @staticmethod
    def _parts(s: Array) -> tuple[Array, Array, Array, Array, Array]:
        """x, y, z, psi = y log(z / y) - x, and its gradient."""
        x, y, z = s.T
        log = np.log(z / y)
        return x, y, z, y * log - x, np.stack([-np.ones_like(x), log - 1.0, y / z], axis=1)

    def gradient(self, s: Array) -> Array:
        x, y, z, psi, d = self._parts(s)
        return np.asarray(
            -d / psi[:, None] - np.stack([np.zeros_like(x), 1.0 / y, 1.0 / z], axis=1)
        )

    def hessian(self, s: Array) -> Array:
        _, y, z, psi, d = self._parts(s)
        H = d[:, :, None] * d[:, None, :] / psi[:, None, None] ** 2
        H[:, 1, 1] += 1.0 / (y * psi) + 1.0 / y**2
        H[:, 1, 2] -= 1.0 / (z * psi)
        H[:, 2, 1] -= 1.0 / (z * psi)
        H[:, 2, 2] += y / (z * z * psi) + 1.0 / z**2
        return np.asarray(H)


class Power(SmoothCone):
    """Points (x, y, z) with ``x^a y^(1-a) >= |z|`` and x, y >= 0.

    Parameters
    ----------
    exponents : array of shape (count,)
        a of each copy, between 0 and 1.
    """

    nu = 3

    def __init__(self, exponents: Array) -> None:
        super().__init__(len(exponents), 3)
        self.a = np.asarray(exponents, dtype=float)
        quotients = np.stack([1.0 / self.a, 1.0 / (1.0 - self.a), np.ones(self.count)], axis=1)
        self.dual_map = quotients[:, :, None] * np.eye(3)

    def centre(self) -> Array:
        return np.stack(
            [np.sqrt(1.0 + self.a), np.sqrt(2.0 - self.a), np.zeros(self.count)], axis=1
        )

    def _mean(self, x: Array, y: Array) -> Array:
        return np.asarray(np.exp(self.a * np.log(x) + (1.0 - self.a) * np.log(y)))

    def is_inside(self, s: Array) -> bool:
        x, y, z = s.T
        with np.errstate(all="ignore"):
            return bool(np.all((x > 0.0) & (y > 0.0) & (self._mean(x, y) > np.abs(z))))

    def contains(self, s: Array, radius: Array) -> bool:
        x, y = s[:, 0] - radius[:, 0], s[:, 1] - radius[:, 1]
        top = np.abs(s[:, 2]) + radius[:, 2]
        zero = are_zero(s, radius)
        if not np.all((x > 0.0) & (y > 0.0) | zero):
            return False
        # Errors of both logarithms, of 1 - a, of products and their sum go through exp; the ends
        # are rounded once each.
        with np.errstate(all="ignore"):
            error = 4.0 * ELEMENTARY * (2.0 + np.abs(np.log(x)) + np.abs(np.log(y)))
            inside = self._mean(x, y) * (1.0 - error) > top
        return bool(np.all(inside | zero))

    def _parts(self, s: Array) -> tuple[Array, Array, Array, Array, Array]:
        """x, y, z, the squared mean, and by how much it exceeds z^2."""
        x, y, z = s.T
        q = self._mean(x, y) ** 2
        return x, y, z, q, q - z * z

    def gradient(self, s: Array) -> Array:
        a = self.a
        x, y, z, q, p = self._parts(s)
        d = np.stack([2.0 * a * q / x, 2.0 * (1.0 - a) * q / y, -2.0 * z], axis=1)
        return np.asarray(
            -d / p[:, None] - np.stack([(1.0 - a) / x, a / y, np.zeros_like(z)], axis=1)
        )

    def hessian(self, s: Array) -> Array:
        a = self.a
        x, y, z, q, p = self._parts(s)
        d = np.stack([2.0 * a * q / x, 2.0 * (1.0 - a) * q / y, -2.0 * z], axis=1)
        D = np.zeros((self.count, 3, 3))
        D[:, 0, 0] = 2.0 * a * (2.0 * a - 1.0) * q / x**2
        D[:, 1, 1] = 2.0 * (1.0 - a) * (1.0 - 2.0 * a) * q / y**2
        D[:, 0, 1] = D[:, 1, 0] = 4.0 * a * (1.0 - a) * q / (x * y)
        D[:, 2, 2] = -2.0
        H = d[:, :, None] * d[:, None, :] / p[:, None, None] ** 2 - D / p[:, None, None]
        H[:, 0, 0] += (1.0 - a) / x**2
        H[:, 1, 1] += a / y**2
        return np.asarray(H)
