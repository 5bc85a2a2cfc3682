r"""Cones of half-lines and matrices, and the scaling in which a point and its multiplier agree.

For positive definite S and Z there is one R with :math:`R^{-1} S R^{-T} = R^T Z R = \Lambda`
diagonal (Nesterov, Todd, "Self-scaled barriers and interior-point methods for convex programming",
Math. Oper. Res. 22, 1997). Matrices of one order are treated at once: calls for small ones take
longer than their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import smat, svec, svec_size


@dataclass(frozen=True, eq=False)
class OrderGroup:
    """Matrices of one order.

    Attributes
    ----------
    order : int
    rows : array of int of shape (count, s)
        Their entries among all, in the order of ``svec``.
    """

    order: int
    rows: Index

    def matrices(self, x: Array) -> Array:
        """Shape (count, order, order)."""
        return smat(x[self.rows])


@dataclass(frozen=True, eq=False)
class Cones:
    """A product of half-lines, which come first, and of cones of matrices.

    Attributes
    ----------
    linear : int
        How many half-lines.
    orders : tuple of int
        Orders of the matrices.
    """

    linear: int
    orders: tuple[int, ...]

    @cached_property
    def ends(self) -> list[int]:
        """Where the half-lines and every matrix end."""
        sizes = np.cumsum([self.linear, *map(svec_size, self.orders)])
        return [int(end) for end in sizes]

    @property
    def size(self) -> int:
        """How many entries a point has."""
        return self.ends[-1]

    @property
    def degree(self) -> int:
        """How many eigenvalues a point has."""
        return self.linear + sum(self.orders)

    @cached_property
    def groups(self) -> tuple[OrderGroup, ...]:
        """Matrices by order."""
        begins: dict[int, list[int]] = {}
        for order, begin in zip(self.orders, self.ends, strict=False):
            begins.setdefault(order, []).append(begin)
        return tuple(
            OrderGroup(order, np.array(places)[:, None] + np.arange(svec_size(order)))
            for order, places in sorted(begins.items())
        )

    @cached_property
    def identity(self) -> Array:
        """The point whose eigenvalues are all one."""
        found = np.ones(self.size)
        for group in self.groups:
            found[group.rows] = svec(np.eye(group.order))
        return found

    def least(self, x: Array) -> float:
        """The least eigenvalue of a point.

        Examples
        --------
        >>> Cones(1, (2,)).least(np.array([3.0, 1.0, 0.0, 2.0]))
        1.0
        """
        found = float(np.min(x[: self.linear], initial=np.inf))
        for group in self.groups:
            found = min(found, float(np.min(np.linalg.eigvalsh(group.matrices(x)), initial=found)))
        return found

    def lacking(self, x: Array, low: float, high: float) -> Array:
        """What brings eigenvalues between two numbers; of larger ones, at most the upper number.

        Examples
        --------
        >>> Cones(1, (2,)).lacking(np.array([0.5, 2.0, 0.0, 9.0]), 1.0, 3.0)
        array([ 0.5,  0. ,  0. , -3. ])
        """
        found, k = np.empty(self.size), self.linear
        found[:k] = np.maximum(np.clip(x[:k], low, high) - x[:k], -high)
        for group in self.groups:
            values, vectors = np.linalg.eigh(group.matrices(x))
            change = np.maximum(np.clip(values, low, high) - values, -high)
            scaled = vectors * change[:, None, :]
            found[group.rows] = svec(scaled @ vectors.transpose(0, 2, 1))
        return found


class Scaling:
    """The scaling at a point and a multiplier inside all cones.

    Parameters
    ----------
    cones : Cones
    s, z : arrays

    Attributes
    ----------
    diagonals : list of arrays of shape (count, order)
        The eigenvalues of both in the scaling, by group.
    roots : list of arrays of shape (count, order, order)
        Inverses of R, by group.
    weights : array
        For half-lines, the square root of s / z.

    Raises
    ------
    numpy.linalg.LinAlgError
        If one of them is not inside.
    """

    def __init__(self, cones: Cones, s: Array, z: Array) -> None:
        self.cones, k = cones, cones.linear
        if not (np.all(s[:k] > 0.0) and np.all(z[:k] > 0.0)):
            raise np.linalg.LinAlgError("a half-line was left")
        self.weights = np.sqrt(s[:k] / z[:k])
        self.point = np.zeros(cones.size)
        self.point[:k] = np.sqrt(s[:k] * z[:k])
        self.diagonals, self.roots = list[Array](), list[Array]()
        for group in cones.groups:
            lower = np.linalg.cholesky(group.matrices(s))
            turned = np.linalg.cholesky(group.matrices(z)).transpose(0, 2, 1)
            vectors, values, _ = np.linalg.svd(turned @ lower)
            roots = vectors.transpose(0, 2, 1) @ turned / np.sqrt(values)[:, :, None]
            self.roots.append(roots)
            self.diagonals.append(values)
            self.point[group.rows] = svec(values[:, :, None] * np.eye(group.order))

    def inner(self, x: Array) -> Array:
        """A step of the point, scaled: R^-1 X R^-T."""
        return self._between(x, [(root, root.transpose(0, 2, 1)) for root in self.roots])

    def outer(self, x: Array) -> Array:
        """A scaled step of the multiplier, as it is: R^-T X R^-1."""
        return self._between(x, [(root.transpose(0, 2, 1), root) for root in self.roots])

    def _between(self, x: Array, pairs: list[tuple[Array, Array]]) -> Array:
        found, k = np.empty(self.cones.size), self.cones.linear
        found[:k] = x[:k] / self.weights
        for group, (left, right) in zip(self.cones.groups, pairs, strict=True):
            found[group.rows] = svec(left @ group.matrices(x) @ right)
        return found

    def product(self, ds: Array, dz: Array) -> Array:
        """The symmetric product of two scaled steps."""
        found, k = np.empty(self.cones.size), self.cones.linear
        found[:k] = ds[:k] * dz[:k]
        for group in self.cones.groups:
            both = group.matrices(ds) @ group.matrices(dz)
            found[group.rows] = svec((both + both.transpose(0, 2, 1)) / 2.0)
        return found

    def divided(self, x: Array) -> Array:
        """What has the symmetric product x with the scaled point."""
        found, k = np.empty(self.cones.size), self.cones.linear
        found[:k] = x[:k] / self.point[:k]
        for group, values in zip(self.cones.groups, self.diagonals, strict=True):
            sums = values[:, :, None] + values[:, None, :]
            found[group.rows] = svec(group.matrices(x) * (2.0 / sums))
        return found

    def reach(self, *steps: Array) -> list[float]:
        """How far one may go from the scaled point along scaled steps without leaving a cone."""
        k, count = self.cones.linear, len(steps)
        lows = [[np.max(-step[:k] / self.point[:k], initial=0.0)] for step in steps]
        for group, values in zip(self.cones.groups, self.diagonals, strict=True):
            roots = 1.0 / np.sqrt(values)
            stacked = np.stack([group.matrices(step) for step in steps])
            stacked *= roots[:, :, None] * roots[:, None, :]
            least = np.linalg.eigvalsh(stacked)[..., 0]
            for i in range(count):
                lows[i].append(np.max(-least[i]))
        return [1.0 / max(float(max(low)), 1e-12) for low in lows]
