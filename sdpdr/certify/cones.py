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

from sdpdr.base.arrays import Array, Matrix
from sdpdr.certify.rounding import ELEMENTARY, UP, are_positive_definite
from sdpdr.linalg.rounding import gamma, near_powers

# Lengths that are divided by are no less than this.
_LEAST = 1e-150
# Limits of t: solvers leave s or z next to zero.
_SCALES = (1e-12, 1e12)


class Scaling(ABC):
    """R with R^T R the Hessian of a barrier: products with R, R^T and their inverses."""

    @abstractmethod
    def times(self, v: Matrix) -> Matrix:
        """R v."""

    @abstractmethod
    def transposed(self, v: Matrix) -> Matrix:
        """R^T v."""

    @abstractmethod
    def back(self, v: Matrix) -> Matrix:
        """R^-1 v."""

    @abstractmethod
    def back_transposed(self, v: Matrix) -> Matrix:
        """R^-T v."""


class _Blocks(Scaling):
    """R and its inverse as sparse matrices."""

    def __init__(self, R: sp.csr_array, inverse: sp.csr_array) -> None:
        self._R, self._inverse = R, inverse

    def times(self, v: Matrix) -> Matrix:
        return self._R @ v

    def transposed(self, v: Matrix) -> Matrix:
        return self._R.T @ v

    def back(self, v: Matrix) -> Matrix:
        return self._inverse @ v

    def back_transposed(self, v: Matrix) -> Matrix:
        return self._inverse.T @ v


class Congruence(Scaling):
    """For matrices: R v is the triangle of V M V^T, entries off the diagonal times the root of two.

    The root is an isometry's, chosen here and nowhere stored: R^T R has none.
    """

    def __init__(self, cone: Semidefinite, s: Array) -> None:
        self._cone = cone
        self._L = np.asarray(np.linalg.cholesky(cone.matrices(s)), dtype=np.float64)
        self._V = np.asarray(np.linalg.inv(self._L), dtype=np.float64)
        self._square, self._root = cone.weight, np.sqrt(cone.weight)

    def matrix(self) -> Array:
        """S, of a single matrix."""
        return self._L[0] @ self._L[0].T

    def inverse(self) -> Array:
        """Its inverse."""
        return self._V[0].T @ self._V[0]

    def _mapped(self, v: Matrix, before: Array, factor: Array, after: Array) -> Array:
        cone = self._cone
        dense = np.asarray(v.toarray() if sp.issparse(v) else v)
        flat = dense.reshape(cone.count, cone.dim, -1)
        matrices = np.empty((flat.shape[2], cone.count, cone.order, cone.order))
        entries = (flat * before[:, None]).transpose(2, 0, 1)
        matrices[:, :, cone.i, cone.j] = matrices[:, :, cone.j, cone.i] = entries
        turned = factor @ matrices @ factor.transpose(0, 2, 1)
        found = turned[:, :, cone.i, cone.j] * after
        return np.asarray(found.transpose(1, 2, 0).reshape(dense.shape))

    def times(self, v: Matrix) -> Matrix:
        return self._mapped(v, np.ones_like(self._root), self._V, self._root)

    def transposed(self, v: Matrix) -> Matrix:
        return self._mapped(v, 1.0 / self._root, self._V.transpose(0, 2, 1), self._square)

    def back(self, v: Matrix) -> Matrix:
        return self._mapped(v, 1.0 / self._root, self._L, np.ones_like(self._root))

    def back_transposed(self, v: Matrix) -> Matrix:
        return self._mapped(v, 1.0 / self._square, self._L.transpose(0, 2, 1), self._root)


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
    def hessian(self, s: Array) -> Array:
        """That of the barrier, of shape (count, dim, dim)."""

    @abstractmethod
    def is_dual_inside(self, z: Array) -> bool:
        """Whether multipliers are inside of the dual cone, as far as floating point tells."""

    @abstractmethod
    def dual_contains(self, z: Array, radius: Array) -> bool:
        """Whether all multipliers within a radius of z lie in the dual cone: a theorem."""

    def scaling(self, s: Array) -> Scaling:
        """R with R^T R the Hessian at s."""
        H = self.hessian(s)
        d = np.sqrt(np.maximum(np.einsum("kii->ki", H), 1e-300))
        values, Q = np.linalg.eigh(H / (d[:, :, None] * d[:, None, :]))
        roots = np.sqrt(np.maximum(values, 1e-16))
        R = roots[:, :, None] * Q.transpose(0, 2, 1) * d[:, None, :]
        inverse = Q / roots[:, None, :] / d[:, :, None]
        blocks = (sp.csr_array(sp.block_diag(list(one), format="csr")) for one in (R, inverse))
        return _Blocks(*blocks)

    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        """Point and multipliers with ``z = -mu F'(s)``, and ``s - t z`` as given.

        By Newton's method on a function that is self-concordant, from a far level down.
        """
        t = _ratio(s, z)
        w, aim = s - t * z, mu * t
        size = np.maximum(np.linalg.norm(w, axis=1, keepdims=True), np.sqrt(aim)) + _LEAST
        x, level = self.centre() * size, size**2
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


def _are_zero(s: Array, radius: Array) -> NDArray[np.bool_]:
    """Which copies hold the tip of the cone and nothing else, which belongs to it."""
    return np.asarray(~(np.any(s, axis=1) | np.any(radius, axis=1)))


def _ratio(s: Array, z: Array) -> Array:
    """How much larger points are than their multipliers, one number for each copy."""
    ratio = np.linalg.norm(s, axis=1) / np.maximum(np.linalg.norm(z, axis=1), _LEAST)
    return np.asarray(np.clip(ratio, *_SCALES)[:, None])


def _split(w: Array, level: Array | float) -> tuple[Array, Array]:
    """The positive x with ``x - level / x = w``, and ``level / x``, neither by cancellation."""
    far = (np.abs(w) + np.sqrt(w * w + 4.0 * level)) / 2.0
    return np.where(w > 0.0, far, level / far), np.where(w > 0.0, level / far, far)


class _SelfDual(Cone):
    """Cones that are their own duals."""

    def is_dual_inside(self, z: Array) -> bool:
        return self.is_inside(z)

    def dual_contains(self, z: Array, radius: Array) -> bool:
        return self.contains(z, radius)


class Nonnegative(_SelfDual):
    """Numbers that are 0 or more: one copy holds all of them."""

    nu = 1

    @property
    def degree(self) -> int:
        """A number each."""
        return self.count * self.dim

    def centre(self) -> Array:
        return np.ones((self.count, self.dim))

    def is_inside(self, s: Array) -> bool:
        return bool(np.all(s > 0.0))

    def contains(self, s: Array, radius: Array) -> bool:
        return bool(np.all(s - radius >= 0.0))

    def gradient(self, s: Array) -> Array:
        return -1.0 / s

    def hessian(self, s: Array) -> Array:
        return np.asarray((1.0 / s**2)[..., None] * np.eye(self.dim))

    def scaling(self, s: Array) -> Scaling:
        flat = s.ravel()
        return _Blocks(sp.csr_array(sp.diags_array(1.0 / flat)), sp.csr_array(sp.diags_array(flat)))

    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        t = _ratio(s.reshape(1, -1), z.reshape(1, -1))
        x, other = _split(s - t * z, mu * t)
        return x, other / t


class SecondOrder(_SelfDual):
    """Points with ``s[0] >= |s[1:]|``."""

    nu = 2

    def centre(self) -> Array:
        return np.eye(self.dim)[:1].repeat(self.count, 0)

    @staticmethod
    def _ends(s: Array) -> tuple[Array, Array]:
        length = np.linalg.norm(s[:, 1:], axis=1)
        return s[:, 0] - length, s[:, 0] + length

    def is_inside(self, s: Array) -> bool:
        return bool(np.all(self._ends(s)[0] > 0.0))

    def contains(self, s: Array, radius: Array) -> bool:
        low, far = s[:, :1] - radius[:, :1], np.abs(s[:, 1:]) + radius[:, 1:]
        # In units of the largest entry no square that matters overflows or vanishes.
        unit = near_powers(np.maximum(np.max(far, axis=1, initial=0.0, keepdims=True), 1e-250))
        length = np.linalg.norm(far / unit, axis=1, keepdims=True)
        inside = low / unit > length * (1.0 + gamma(self.dim + 5)) + 1e-50
        return bool(np.all(inside[:, 0] | _are_zero(s, radius)))

    def _form(self, s: Array) -> tuple[Array, Array]:
        """J s, and the product of both ends: s^T J s."""
        low, high = self._ends(s)
        return np.concatenate([s[:, :1], -s[:, 1:]], axis=1), (low * high)[:, None]

    def gradient(self, s: Array) -> Array:
        turned, det = self._form(s)
        return np.asarray(-2.0 * turned / det)

    def hessian(self, s: Array) -> Array:
        turned, det = self._form(s)
        J = np.diag(np.r_[1.0, -np.ones(self.dim - 1)])
        outer = turned[:, :, None] * turned[:, None, :]
        return np.asarray(4.0 * outer / det[..., None] ** 2 - 2.0 * J / det[..., None])

    def scaling(self, s: Array) -> Scaling:
        return _Reflection(s[0]) if self.count == 1 else super().scaling(s)

    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        t = _ratio(s, z)
        w = s - t * z
        length = np.linalg.norm(w[:, 1:], axis=1)
        unit = w[:, 1:] / np.maximum(length, 1e-300)[:, None]
        # In both ends the barrier is -log; -mu F' has the end 2 mu / end.
        ends, others = _split(np.stack(self._ends(w)), 2.0 * mu * t[:, 0])
        others = others / t[:, 0]
        return _of_ends(ends[0], ends[1], unit), _of_ends(others[0], others[1], unit)


def _of_ends(low: Array, high: Array, unit: Array) -> Array:
    head, tail = (low + high)[:, None] / 2.0, (high - low)[:, None] / 2.0
    return np.concatenate([head, tail * unit], axis=1)


class _Reflection(Scaling):
    """Of one second-order cone: R = P(v), P(v) y = 2 v v^T y - det(v) J y, which is symmetric."""

    def __init__(self, s: Array) -> None:
        length = float(np.linalg.norm(s[1:]))
        unit = s[1:] / max(length, 1e-300)
        ends = np.array([s[0] - length, s[0] + length])
        self._forth = self._element((2.0**0.25) / np.sqrt(ends), unit)
        self._back = self._element(np.sqrt(ends) / 2.0**0.25, unit)

    @staticmethod
    def _element(ends: Array, unit: Array) -> tuple[Array, float]:
        low, high = ends
        return np.r_[(high + low) / 2.0, (high - low) / 2.0 * unit], float(low * high)

    @staticmethod
    def _applied(element: tuple[Array, float], v: Matrix) -> Array:
        u, det = element
        y = np.asarray(v.toarray() if sp.issparse(v) else v)
        columns = y.reshape(u.size, -1)
        J = np.r_[1.0, -np.ones(u.size - 1)][:, None]
        return np.asarray((2.0 * np.outer(u, u @ columns) - det * J * columns).reshape(y.shape))

    def times(self, v: Matrix) -> Matrix:
        return self._applied(self._forth, v)

    transposed = times

    def back(self, v: Matrix) -> Matrix:
        return self._applied(self._back, v)

    back_transposed = back


class Semidefinite(Cone):
    """Positive semidefinite matrices of one order.

    Parameters
    ----------
    count, order : int
    """

    def __init__(self, count: int, order: int) -> None:
        super().__init__(count, order * (order + 1) // 2)
        self.order = self.nu = order
        self.j, self.i = np.tril_indices(order)
        self.weight = np.where(self.i == self.j, 1.0, 2.0)

    def matrices(self, s: Array) -> Array:
        """The matrices of points."""
        found = np.empty((self.count, self.order, self.order))
        found[:, self.i, self.j] = found[:, self.j, self.i] = s
        return found

    def centre(self) -> Array:
        return np.repeat((self.i == self.j)[None].astype(float), self.count, 0)

    def is_inside(self, s: Array) -> bool:
        try:
            np.linalg.cholesky(self.matrices(s))
        except np.linalg.LinAlgError:
            return False
        return True

    def is_dual_inside(self, z: Array) -> bool:
        return self.is_inside(z / self.weight)

    def contains(self, s: Array, radius: Array) -> bool:
        rest = ~_are_zero(s, radius)
        return are_positive_definite(self.matrices(s)[rest], self.matrices(radius)[rest])

    def dual_contains(self, z: Array, radius: Array) -> bool:
        return self.contains(z / self.weight, radius / self.weight)

    def gradient(self, s: Array) -> Array:
        return np.asarray(-self.weight * np.linalg.inv(self.matrices(s))[:, self.i, self.j])

    def hessian(self, s: Array) -> Array:
        one, eye = Semidefinite(1, self.order), np.eye(self.dim)
        scalings = [one.scaling(v[None]) for v in s]
        return np.array([scaling.transposed(scaling.times(eye)) for scaling in scalings])

    def scaling(self, s: Array) -> Scaling:
        return Congruence(self, s)

    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        t = _ratio(s, z / np.sqrt(self.weight))
        values, Q = np.linalg.eigh(self.matrices(s) - t[..., None] * self.matrices(z / self.weight))
        x, other = _split(values, mu * t)
        X, Z = ((Q * v[:, None]) @ Q.transpose(0, 2, 1) for v in (x, other / t))
        return X[:, self.i, self.j], self.weight * Z[:, self.i, self.j]


class Exponential(Cone):
    """Closure of the points (x, y, z) with ``z >= y exp(x / y)`` and y > 0.

    Parameters
    ----------
    count : int
    """

    nu = 3

    def __init__(self, count: int) -> None:
        super().__init__(count, 3)

    def centre(self) -> Array:
        return np.repeat([[-1.051383, 1.258967, 1.256409]], self.count, 0)

    def is_inside(self, s: Array) -> bool:
        x, y, z = s.T
        with np.errstate(all="ignore"):
            return bool(np.all((y > 0.0) & (z > 0.0) & (y * np.log(z / y) > x)))

    def contains(self, s: Array, radius: Array) -> bool:
        high, low, top = s[:, 0] + radius[:, 0], s[:, 1] - radius[:, 1], s[:, 2] - radius[:, 2]
        high = np.nextafter(high, np.inf)
        low, top = np.nextafter(low, -np.inf), np.nextafter(top, -np.inf)
        zero = _are_zero(s, radius)
        if not np.all(low[~zero] > 0.0):
            return False
        # Convex in y and growing in x: the largest value over the box is at one of its ends.
        with np.errstate(over="ignore"):
            for y in (low, np.nextafter(s[:, 1] + radius[:, 1], np.inf)):
                ratio = high / y
                worst = y * np.exp(ratio + ELEMENTARY * np.abs(ratio)) * (1.0 + 2.0 * ELEMENTARY)
                if not np.all((top > worst) | zero):
                    return False
        return True

    def dual_map(self) -> Array:
        """T of one copy, with T z in the cone for every z in its dual."""
        return np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

    def is_dual_inside(self, z: Array) -> bool:
        return self.is_inside(z @ self.dual_map().T)

    def dual_contains(self, z: Array, radius: Array) -> bool:
        T = self.dual_map()
        size = np.abs(T)
        rounded = gamma(self.dim + 2) * (np.abs(z) @ size.T)
        return self.contains(z @ T.T, UP * (radius @ size.T + rounded))

    @staticmethod
    def _parts(s: Array) -> tuple[Array, Array, Array, Array, Array]:
        """x, y, z, psi = y log(z / y) - x, and its gradient."""
        x, y, z = s.T
        log = np.log(z / y)
        return x, y, z, y * log - x, np.stack([-np.ones_like(x), log - 1.0, y / z], axis=1)

    def gradient(self, s: Array) -> Array:
        x, y, z, psi, d = self._parts(s)
        return np.asarray(-d / psi[:, None] - np.stack([0.0 * x, 1.0 / y, 1.0 / z], axis=1))

    def hessian(self, s: Array) -> Array:
        _, y, z, psi, d = self._parts(s)
        H = d[:, :, None] * d[:, None, :] / psi[:, None, None] ** 2
        H[:, 1, 1] += 1.0 / (y * psi) + 1.0 / y**2
        H[:, 1, 2] -= 1.0 / (z * psi)
        H[:, 2, 1] -= 1.0 / (z * psi)
        H[:, 2, 2] += y / (z * z * psi) + 1.0 / z**2
        return np.asarray(H)


class Power(Cone):
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

    def centre(self) -> Array:
        return np.stack([np.sqrt(1.0 + self.a), np.sqrt(2.0 - self.a), 0.0 * self.a], axis=1)

    def _mean(self, x: Array, y: Array) -> Array:
        return np.asarray(np.exp(self.a * np.log(x) + (1.0 - self.a) * np.log(y)))

    def is_inside(self, s: Array) -> bool:
        x, y, z = s.T
        with np.errstate(all="ignore"):
            return bool(np.all((x > 0.0) & (y > 0.0) & (self._mean(x, y) > np.abs(z))))

    def contains(self, s: Array, radius: Array) -> bool:
        x, y = (np.nextafter(s[:, k] - radius[:, k], -np.inf) for k in (0, 1))
        top = np.nextafter(np.abs(s[:, 2]) + radius[:, 2], np.inf)
        zero = _are_zero(s, radius)
        if not np.all((x > 0.0) & (y > 0.0) | zero):
            return False
        # Errors of both logarithms, of 1 - a, of products and their sum go through exp.
        with np.errstate(all="ignore"):
            error = 4.0 * ELEMENTARY * (2.0 + np.abs(np.log(x)) + np.abs(np.log(y)))
            inside = self._mean(x, y) * (1.0 - error) > top
        return bool(np.all(inside | zero))

    def dual_images(self, z: Array) -> Array:
        """T z of each copy."""
        return np.stack([z[:, 0] / self.a, z[:, 1] / (1.0 - self.a), z[:, 2]], axis=1)

    def is_dual_inside(self, z: Array) -> bool:
        return self.is_inside(self.dual_images(z))

    def dual_contains(self, z: Array, radius: Array) -> bool:
        moved, around = self.dual_images(z), self.dual_images(radius)
        return self.contains(moved, UP * around + ELEMENTARY * np.abs(moved))

    def _parts(self, s: Array) -> tuple[Array, Array, Array, Array, Array]:
        """x, y, z, the squared mean, and by how much it exceeds z^2."""
        x, y, z = s.T
        q = self._mean(x, y) ** 2
        return x, y, z, q, q - z * z

    def gradient(self, s: Array) -> Array:
        a = self.a
        x, y, z, q, p = self._parts(s)
        d = np.stack([2.0 * a * q / x, 2.0 * (1.0 - a) * q / y, -2.0 * z], axis=1)
        return np.asarray(-d / p[:, None] - np.stack([(1.0 - a) / x, a / y, 0.0 * z], axis=1))

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
