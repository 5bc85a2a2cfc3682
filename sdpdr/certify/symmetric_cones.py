"""Cones that are their own duals: half-lines, second-order cones, semidefinite matrices."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.certify.cones import Blocks, Cone, Scaling, are_zero, ratio, split
from sdpdr.certify.rounding import are_positive_definite
from sdpdr.linalg.rounding import dot_enclosure, gamma, near_powers
from sdpdr.linalg.svec import upper_triangle


class Congruence(Scaling):
    """For matrices: R v is the triangle of V M V^T, entries off the diagonal times the root of two.

    The root is an isometry's, chosen here and nowhere stored: R^T R has none.
    """

    def __init__(self, cone: Semidefinite, s: Array) -> None:
        self._cone = cone
        self._L = np.asarray(np.linalg.cholesky(cone.matrices(s)), dtype=np.float64)
        self._V = np.asarray(np.linalg.inv(self._L), dtype=np.float64)
        self._square, self._root = cone.weight, np.sqrt(cone.weight)

    def hessian(self, v: Array) -> Array:
        return (self._square * self._there_and_back(self._V, v)).ravel()

    def inverse_hessian(self, v: Array) -> Array:
        triangles = v.reshape(-1, self._cone.dim) / self._square
        return self._there_and_back(self._L.transpose(0, 2, 1), triangles).ravel()

    def _there_and_back(self, R: Array, v: Array) -> Array:
        """R^T (R M R^T) R for every matrix M; not by R^T R, which has fewer digits.

        What rounding leaves beside symmetric matrices would keep refinements from converging.
        """
        cone, other = self._cone, R.transpose(0, 2, 1)
        matrices = _symmetric(R @ cone.matrices(v.reshape(-1, cone.dim)) @ other)
        return cone.triangles(_symmetric(other @ matrices @ R))

    @property
    def roots(self) -> Array:
        """R of each matrix S = R^T R."""
        return self._L.transpose(0, 2, 1)

    @property
    def inverse_roots(self) -> Array:
        """The same of their inverses."""
        return self._V

    def _mapped(self, v: Matrix, before: Array, factor: Array, after: Array) -> Array:
        cone = self._cone
        dense = np.asarray(v.toarray() if sp.issparse(v) else v)
        triangles = dense.reshape(cone.count, cone.dim, -1).transpose(2, 0, 1)
        matrices = cone.matrices(np.multiply(triangles, before, order="C"))
        turned = factor @ matrices @ factor.transpose(0, 2, 1)
        found = cone.triangles(turned) * after
        return np.asarray(found.transpose(1, 2, 0).reshape(dense.shape))

    def times(self, v: Matrix) -> Matrix:
        return self._mapped(v, np.ones_like(self._root), self._V, self._root)

    def back(self, v: Matrix) -> Matrix:
        return self._mapped(v, 1.0 / self._root, self._L, np.ones_like(self._root))

    def back_transposed(self, v: Matrix) -> Matrix:
        return self._mapped(v, 1.0 / self._square, self._L.transpose(0, 2, 1), self._root)


def _symmetric(matrices: Array) -> Array:
    return np.asarray(0.5 * (matrices + matrices.transpose(0, 2, 1)))


class Nonnegative(Cone):
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

    def scaling(self, s: Array) -> Scaling:
        blocks = s.reshape(-1, 1, 1)
        return Blocks(1.0 / blocks, blocks)

    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        t = ratio(s.reshape(1, -1), z.reshape(1, -1))
        x, other = split(s - t * z, mu * t)
        return x, other / t


class SecondOrder(Cone):
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
        known = inside[:, 0] | are_zero(s, radius)
        left = np.flatnonzero(~known)
        return all(_is_in_the_cone(s[k]) and not np.any(radius[k]) for k in left)

    def _form(self, s: Array) -> tuple[Array, Array]:
        """J s, and the product of both ends: s^T J s."""
        low, high = self._ends(s)
        return np.concatenate([s[:, :1], -s[:, 1:]], axis=1), (low * high)[:, None]

    def gradient(self, s: Array) -> Array:
        turned, det = self._form(s)
        return np.asarray(-2.0 * turned / det)

    def scaling(self, s: Array) -> Scaling:
        if self.count == 1:
            return _Reflection(s[0])
        (low, high), unit = self._ends(s), _directions(s)
        root = 2.0**0.25
        R = _reflections(root / np.sqrt(low), root / np.sqrt(high), unit)
        inverse = _reflections(np.sqrt(low) / root, np.sqrt(high) / root, unit)
        return Blocks(R, inverse)

    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        t = ratio(s, z)
        w = s - t * z
        unit = _directions(w)
        # In both ends the barrier is -log; -mu F' has the end 2 mu / end.
        ends, others = split(np.stack(self._ends(w)), 2.0 * mu * t[:, 0])
        others = others / t[:, 0]
        return _of_ends(ends[0], ends[1], unit), _of_ends(others[0], others[1], unit)


def _is_in_the_cone(s: Array) -> bool:
    """Whether a point of a second-order cone, on its boundary for instance, is exactly in it."""
    with suppress(ArithmeticError):  # of numbers whose squares are no doubles
        return bool(s[0] >= 0.0 and dot_enclosure(np.r_[s[:1], -s[1:]], s)[0] >= 0.0)
    return False


def _directions(s: Array) -> Array:
    """Tails of points, of length one."""
    length = np.linalg.norm(s[:, 1:], axis=1)
    return np.asarray(s[:, 1:] / np.maximum(length, 1e-300)[:, None])


def _reflections(low: Array, high: Array, unit: Array) -> Array:
    """P(v) of each copy, as `_Reflection` has it, for v of given ends."""
    v, J = _of_ends(low, high, unit), np.diag(np.r_[1.0, -np.ones(unit.shape[1])])
    return 2.0 * v[:, :, None] * v[:, None, :] - (low * high)[:, None, None] * J


def _of_ends(low: Array, high: Array, unit: Array) -> Array:
    head, tail = (low + high)[:, None] / 2.0, (high - low)[:, None] / 2.0
    return np.concatenate([head, tail * unit], axis=1)


class _Reflection(Scaling):
    """One second-order cone: R = P(v), P(v) y = 2 v v^T y - det(v) J y, which is symmetric."""

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

    def back(self, v: Matrix) -> Matrix:
        return self._applied(self._back, v)

    back_transposed = back

    def hessian(self, v: Array) -> Array:
        return self.times(self.times(v))

    def inverse_hessian(self, v: Array) -> Array:
        return self.back(self.back(v))


class Semidefinite(Cone):
    """Positive semidefinite matrices of one order.

    Parameters
    ----------
    count, order : int
    """

    def __init__(self, count: int, order: int) -> None:
        super().__init__(count, order * (order + 1) // 2)
        self.order = self.nu = order
        self.i, self.j = upper_triangle(order)
        self.weight = np.where(self.i == self.j, 1.0, 2.0)
        # Where entries of a matrix are in its triangle, and those of the triangle in the matrix.
        self._in_triangle = np.empty((order, order), dtype=np.intp)
        self._in_triangle[self.i, self.j] = np.arange(self.dim)
        self._in_triangle[self.j, self.i] = np.arange(self.dim)
        self._in_matrix = self.i * order + self.j

    def dual_images(self, z: Array) -> Array:
        return np.asarray(z / self.weight)

    def matrices(self, s: Array) -> Array:
        """The matrices of points."""
        return s.take(self._in_triangle, axis=-1)

    def triangles(self, matrices: Array) -> Array:
        """The points of matrices."""
        flat = matrices.reshape(*matrices.shape[:-2], -1)
        return flat.take(self._in_matrix, axis=-1)

    def centre(self) -> Array:
        return np.repeat((self.i == self.j)[None].astype(float), self.count, 0)

    def is_inside(self, s: Array) -> bool:
        try:
            np.linalg.cholesky(self.matrices(s))
        except np.linalg.LinAlgError:
            return False
        return True

    def contains(self, s: Array, radius: Array) -> bool:
        rest = ~are_zero(s, radius)
        return are_positive_definite(self.matrices(s)[rest], self.matrices(radius)[rest])

    def gradient(self, s: Array) -> Array:
        inverse = np.asarray(np.linalg.inv(self.matrices(s)), dtype=np.float64)
        return np.asarray(-self.weight * self.triangles(inverse))

    def scaling(self, s: Array) -> Scaling:
        return Congruence(self, s)

    def pair(self, s: Array, z: Array, mu: float) -> tuple[Array, Array]:
        root = np.sqrt(self.weight)  # so that both have lengths that do not depend on the basis
        t = ratio(root * s, z / root)
        values, Q = np.linalg.eigh(self.matrices(s) - t[..., None] * self.matrices(z / self.weight))
        x, other = split(values, mu * t)
        X, Z = ((Q * v[:, None]) @ Q.transpose(0, 2, 1) for v in (x, other / t))
        return self.triangles(X), self.weight * self.triangles(Z)
