r"""Proofs next to points, or multipliers, whose eigenvalues are of very different sizes.

A box around :math:`X = L L^T`, entry by entry, leaves the cone where the smallest eigenvalue is
small beside the rounding of the largest entries. In the metric of X itself nothing is small: with

.. math::  y + U w, \qquad U w = L W L^T \text{ on each matrix that consists of unknowns},

the equations :math:`(E U) w = f - E y` have an exact solution of some size, and the matrix stays
positive definite while :math:`|W|_F \le 1/2` and :math:`X - L L^T / 2 \succ 0`.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, scaled
from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.certify.flat import Part
from sdpdr.certify.products import added, congruence
from sdpdr.certify.rounding import UP, are_positive_definite, inner, longest_row, residual
from sdpdr.certify.symmetric_cones import Semidefinite
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import upper_triangle

if TYPE_CHECKING:
    from sdpdr.certify.proof import Statement

# Numbers of one matrix up to which a dense map between them is formed: 8 MB.
_DENSE_NUMBERS = 1000
# Beside the largest entry of a factor.
_NOTHING = 1e-60


class Own(NamedTuple):
    """A matrix that consists of unknowns.

    Attributes
    ----------
    order : int
    rows : array of int
        Where it is among all cones.
    columns : array of int
        The unknowns of its triangle, which are the entries times some weights.
    weights : array
        Powers of two.
    """

    order: int
    rows: Index
    columns: Index
    weights: Array

    @classmethod
    def of(cls, part: Part, columns: Index, *, off: float = 1.0) -> Own:
        """That of a cone, where unknowns off the diagonal are ``off`` times the entries."""
        i, j = upper_triangle(int(part.size))
        return cls(int(part.size), part.rows, columns, np.where(i == j, 1.0, off))

    def matrix(self, y: Array) -> Array:
        """The matrix at a point."""
        return Semidefinite(1, self.order).matrices((y[self.columns] / self.weights)[None])[0]


class Stretched:
    """What proves one side of a program in unknowns w around a point.

    Parameters
    ----------
    statement : Statement
    y : array
        Inside of all matrices that are unknowns.

    Raises
    ------
    UnprovedError
        If there is no such matrix, or it is not inside.
    """

    def __init__(self, statement: Statement, y: Array) -> None:
        self._statement, self._y = statement, y
        self._own = list[Own]()
        taken = np.zeros(y.size, dtype=bool)
        for own in statement.matrices():
            # Matrices that share unknowns do not move by themselves.
            if own.columns.size <= _DENSE_NUMBERS and not np.any(taken[own.columns]):
                self._own.append(own)
                taken[own.columns] = True
        if not self._own:
            raise UnprovedError("no matrix is a variable of a size that suits")
        blocks, self._factors = list[tuple[Index, sp.csr_array]](), list[Array]()
        radii = list[sp.csr_array | None]()
        for own in self._own:
            try:
                L = np.linalg.cholesky(own.matrix(y))
            except np.linalg.LinAlgError:
                raise UnprovedError("the point is not inside") from None
            # What would underflow in products is nothing beside the rest.
            L = np.where(np.abs(L) < _NOTHING * np.max(np.abs(L)), 0.0, L)
            try:
                U, around = congruence(sp.csr_array(L))
            except ArithmeticError as why:
                raise UnprovedError(str(why)) from None
            blocks.append((own.columns, scaled(U, own.weights)))
            radii.append(None if around is None else scaled(around, own.weights))
            self._factors.append(np.asarray(L, dtype=np.float64))
        rest = np.flatnonzero(~taken)
        sizes = np.sqrt(statement.squares[rest])
        blocks.append((rest, sp.csr_array(sp.diags_array(sizes))))
        self._U, self._around = _placed(blocks, radii, y.size)

    def value(self) -> float:
        """The largest cost of the exact point.

        Raises
        ------
        UnprovedError
        """
        given, y, U = self._statement, self._y, self._U
        E, around = self._product(given.E, given.radii)
        missed, radius = residual(given.f, given.E, y, 0.0, given.radii)
        data = added(around, _last_column(radius, y.size))
        w, far = Equations(E, missed, np.ones(y.size), data).near(np.zeros(y.size))
        reach = UP * (np.abs(w) + far)
        if not self._stay_inside(reach):
            raise UnprovedError("an exact solution lies too far from the point")
        size = abs(U) if self._around is None else sp.csr_array(abs(U) + self._around)
        reach = (1.0 + gamma(y.size + 3)) * reach  # sums below have no more terms than this
        middle, box = (part.copy() for part in given.box(y, UP * (size @ reach)))
        for own in self._own:
            # Proved already: the tip is what a box of no size may hold.
            middle[own.rows], box[own.rows] = 0.0, 0.0
        if not given.contain(middle, box):
            raise UnprovedError("the box around the point leaves the cone")
        cost = abs(given.cost @ U) + gamma(longest_row(sp.csr_array(U.T))) * (
            abs(given.cost) @ size
        )
        cost = cost + np.broadcast_to(given.radii_of_cost, y.shape) @ size
        at, more = inner(given.cost, y, 0.0, given.radii_of_cost)[1], UP * float(cost @ reach)
        return at + more + 4.0 * UNIT * (abs(at) + more)

    def _product(
        self, E: sp.csr_array, data: sp.csr_array | None
    ) -> tuple[sp.csr_array, sp.csr_array]:
        """E U, and radii of it with a column of nothing for the right side."""
        U, size = self._U, abs(self._U)
        k = gamma(longest_row(E))
        radii = float(k) * (abs(E) @ size)
        if self._around is not None:
            radii = radii + 1.01 * (abs(E) @ self._around)
        if data is not None:
            radii = radii + 1.01 * (data[:, :-1] @ size)
        nothing = sp.csr_array((E.shape[0], 1))
        return sp.csr_array(E @ U), sp.csr_array(sp.hstack([radii, nothing]))

    def _stay_inside(self, reach: Array) -> bool:
        """Whether all matrices that are unknowns stay positive definite."""
        for own, L in zip(self._own, self._factors, strict=True):
            i, j = upper_triangle(own.order)
            both = np.where(i == j, 1.0, 2.0)
            if not UP * np.sqrt(float(both @ reach[own.columns] ** 2)) <= 0.5:
                return False
            left, blur = _half(own.matrix(self._y), L)
            if self._around is not None:
                blur = blur + own.matrix(1.01 * (self._around @ reach))
            if not are_positive_definite(left[None], UP * blur[None]):
                return False
        return True


def _half(X: Array, L: Array) -> tuple[Array, Array]:
    """What half of L L^T leaves of X, which has about that size, and how it is rounded."""
    return X - 0.5 * (L @ L.T), float(gamma(L.shape[0] + 4)) * (np.abs(L) @ np.abs(L).T)


def _placed(
    blocks: list[tuple[Index, sp.csr_array]], radii: list[sp.csr_array | None], n: int
) -> tuple[sp.csr_array, sp.csr_array | None]:
    """Blocks on the diagonal, at their places, and their radii."""

    def at(places: Index, block: sp.csr_array) -> sp.csr_array:
        found = block.tocoo()
        row, column = found.coords
        return sp.csr_array((found.data, (places[row], places[column])), shape=(n, n))

    U = reduce(lambda one, other: one + other, [at(*block) for block in blocks])
    around = added(*(at(p, r) for (p, _), r in zip(blocks, radii, strict=False) if r is not None))
    return sp.csr_array(U), around


def _last_column(radius: Array, n: int) -> sp.csr_array:
    nothing = sp.csr_array((radius.size, n))
    return sp.csr_array(sp.hstack([nothing, sp.csr_array(radius[:, None])]))
