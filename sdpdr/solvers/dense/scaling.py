r"""Cones of half-lines and matrices, and the scaling in which a point and its multiplier agree.

For positive definite S and Z there is one R with :math:`R^{-1} S R^{-T} = R^T Z R = \Lambda`
diagonal (Nesterov, Todd, "Self-scaled barriers and interior-point methods for convex programming",
Math. Oper. Res. 22, 1997).

During the iteration points are vectors of half-lines and *all* entries of the matrices, with
matrices of one order next to each other. Such a vector is a stack of matrices without a copy, which
saves calls for small matrices. Matrices of order 1 are half-lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, diagonal, placed
from sdpdr.linalg.svec import full_from_svec, svec_size

# Reciprocal of the longest step.
_SHORTEST = 1e-12


@dataclass(frozen=True, eq=False)
class OrderGroup:
    """Matrices of one order.

    Attributes
    ----------
    order : int
    places : list of slice
        Position of each, in points with matrices as ``svec``.
    part : slice
        Positions of all their entries, during the iteration.
    """

    order: int
    places: list[slice]
    part: slice


@dataclass(frozen=True, eq=False)
class Cones:
    """A product of half-lines, which come first, and of cones of matrices.

    Attributes
    ----------
    linear : int
        Number of half-lines.
    orders : tuple of int
        Orders of the matrices.
    """

    linear: int
    orders: tuple[int, ...]

    @cached_property
    def ends(self) -> list[int]:
        """Ends of the half-lines and of every matrix, each as its ``svec``."""
        sizes = np.cumsum([self.linear, *map(svec_size, self.orders)])
        return [int(end) for end in sizes]

    @property
    def size(self) -> int:
        """Number of entries of a point, with every matrix as its ``svec``."""
        return self.ends[-1]

    @property
    def degree(self) -> int:
        """Number of eigenvalues of a point."""
        return self.linear + sum(self.orders)

    @cached_property
    def half_lines(self) -> int:
        """Number of half-lines and matrices of order 1, which are stored next to them."""
        return self.linear + self.orders.count(1)

    @cached_property
    def groups(self) -> tuple[OrderGroup, ...]:
        """Matrices of order 2 and more, by order."""
        found, begin = list[OrderGroup](), self.half_lines
        for order in sorted(set(self.orders) - {1}):
            places = self._places(order)
            end = begin + len(places) * order * order
            found.append(OrderGroup(order, places, slice(begin, end)))
            begin = end
        return tuple(found)

    def _places(self, order: int) -> list[slice]:
        """Positions of the matrices of an order in a point with matrices as ``svec``."""
        return [
            slice(begin, end)
            for n, begin, end in zip(self.orders, self.ends, self.ends[1:], strict=False)
            if n == order
        ]

    @cached_property
    def entries(self) -> sp.csr_array:
        """The map from a point with matrices as ``svec`` to all their entries; an isometry."""
        whole = sum(n * n for n in self.orders) + self.linear
        blocks: list[tuple[int, int, sp.csr_array]] = [(0, 0, diagonal(np.ones(self.linear)))]
        ones = enumerate(self._places(1), self.linear)
        blocks += [(row, place.start, diagonal(np.ones(1))) for row, place in ones]
        for group in self.groups:
            full, begin = full_from_svec(group.order), group.part.start
            rows = range(begin, group.part.stop, full.shape[0])
            blocks += [(row, p.start, full) for row, p in zip(rows, group.places, strict=True)]
        return placed(blocks, (whole, self.size))

    def stacks(self, x: Array) -> list[Array]:
        """The matrices of a point by order from 2 on, shape (count, order, order); no copies."""
        return [x[g.part].reshape(len(g.places), g.order, g.order) for g in self.groups]

    @cached_property
    def identity(self) -> Array:
        """The point whose eigenvalues are all one."""
        found = np.ones(self.linear + sum(n * n for n in self.orders))
        for stack in self.stacks(found):
            stack[:] = np.eye(stack.shape[-1])
        return found

    def least(self, x: Array) -> float:
        """The least eigenvalue of a point.

        Examples
        --------
        >>> Cones(1, (2,)).least(np.array([3.0, 1.0, 0.0, 0.0, 2.0]))
        1.0
        """
        found = [np.min(x[: self.half_lines], initial=np.inf)]
        found += [np.min(np.linalg.eigvalsh(stack)) for stack in self.stacks(x)]
        return float(min(found))


class Scaling:
    """The scaling at a point and a multiplier in the interior of all cones.

    Parameters
    ----------
    cones : Cones
    s, z : arrays

    Attributes
    ----------
    point : array
        The scaled point, which equals the scaled multiplier: a diagonal matrix for every cone.
    roots : list of arrays of shape (count, order, order)
        Inverses of R, by order.
    weights : array
        For half-lines, the square root of s / z.

    Raises
    ------
    numpy.linalg.LinAlgError
        If one of them is not in the interior.
    """

    def __init__(self, cones: Cones, s: Array, z: Array) -> None:
        self.cones, k = cones, cones.half_lines
        if not (np.all(s[:k] > 0.0) and np.all(z[:k] > 0.0)):
            raise np.linalg.LinAlgError("a half-line was left")
        self.weights = np.sqrt(s[:k] / z[:k])
        self.point = np.zeros(s.size)
        self.point[:k] = np.sqrt(s[:k] * z[:k])
        self.roots, self._diagonals = list[Array](), list[Array]()
        stacks = zip(cones.stacks(s), cones.stacks(z), cones.stacks(self.point), strict=True)
        for S, Z, stored in stacks:
            upper = np.linalg.cholesky(Z).transpose(0, 2, 1)
            both = upper @ np.linalg.cholesky(S)
            # Near the central path all squares are near the barrier, so that none loses digits.
            squares, vectors = np.linalg.eigh(both @ both.transpose(0, 2, 1))
            if not np.all(squares > 0.0):
                raise np.linalg.LinAlgError("a cone of matrices was left")
            values = np.sqrt(squares)
            self.roots.append(vectors.transpose(0, 2, 1) @ upper / np.sqrt(values)[:, :, None])
            self._diagonals.append(values)
            np.einsum("kii->ki", stored)[:] = values

    def inner(self, x: Array) -> Array:
        """A step of the point, scaled: R^-1 X R^-T."""
        found, k = np.empty(x.size), self.cones.half_lines
        found[:k] = x[:k] / self.weights
        for X, root, stored in self._each(x, self.roots, found):
            _store_symmetric(root @ X @ root.transpose(0, 2, 1), stored)
        return found

    def outer(self, x: Array) -> Array:
        """A scaled step of the multiplier, without the scaling: R^-T X R^-1."""
        found, k = np.empty(x.size), self.cones.half_lines
        found[:k] = x[:k] / self.weights
        for X, root, stored in self._each(x, self.roots, found):
            _store_symmetric(root.transpose(0, 2, 1) @ X @ root, stored)
        return found

    def product(self, ds: Array, dz: Array) -> Array:
        """The symmetric product of two scaled steps."""
        found, k = np.empty(ds.size), self.cones.half_lines
        found[:k] = ds[:k] * dz[:k]
        for S, Z, stored in self._each(ds, self.cones.stacks(dz), found):
            _store_symmetric(S @ Z, stored)
        return found

    def divided(self, x: Array) -> Array:
        """The matrix whose symmetric product with the scaled point is x."""
        found, k = np.empty(x.size), self.cones.half_lines
        found[:k] = x[:k] / self.point[:k]
        for X, values, stored in self._each(x, self._diagonals, found):
            np.multiply(X, 2.0 / (values[:, :, None] + values[:, None, :]), out=stored)
        return found

    def reach(self, *steps: Array) -> list[float]:
        """The longest multiples of scaled steps that stay in the cones, from the scaled point."""
        lows = np.array([self._eigenvalues(step)[0] for step in steps])
        return [float(x) for x in 1.0 / np.maximum(-lows, _SHORTEST)]

    def reach_of_both(self, ds: Array) -> list[float]:
        """`reach` along ds and dz, whose sum leads to zero."""
        least, largest = self._eigenvalues(ds)
        return [1.0 / max(-least, _SHORTEST), 1.0 / max(1.0 + largest, _SHORTEST)]

    def _eigenvalues(self, step: Array) -> tuple[float, float]:
        """The least and the largest eigenvalue of a scaled step, relative to the scaled point."""
        k = self.cones.half_lines
        ratios = step[:k] / self.point[:k]
        least, largest = np.min(ratios, initial=0.0), np.max(ratios, initial=-1.0)
        for matrices, values in zip(self.cones.stacks(step), self._diagonals, strict=True):
            roots = 1.0 / np.sqrt(values)
            found = np.linalg.eigvalsh(matrices * (roots[:, :, None] * roots[:, None, :]))
            least, largest = min(least, found[:, 0].min()), max(largest, found[:, -1].max())
        return float(least), float(largest)

    def _each(
        self, x: Array, middle: Sequence[Array], found: Array
    ) -> zip[tuple[Array, Array, Array]]:
        """Yield, by order, matrices of a point, another array, and the array for the results."""
        return zip(self.cones.stacks(x), middle, self.cones.stacks(found), strict=True)


def _store_symmetric(X: Array, stored: Array) -> None:
    """Store the symmetric part: factorizations read one triangle, and equations read both."""
    np.add(X, X.transpose(0, 2, 1), out=stored)
    stored *= 0.5
