r"""Statements next to points, or multipliers, whose eigenvalues are of very different sizes.

A box around :math:`X = L L^T`, entry by entry, leaves the cone if the smallest eigenvalue is below
the rounding of the largest entries. In the metric of X itself no eigenvalue is small: with

.. math::  y + U w, \qquad U w = L W L^T \text{ on each matrix that consists of unknowns},

the equations :math:`(E U) w = f - E y` have an exact solution of some size, and the matrix stays
positive definite while :math:`|W|_F \le 1/2` and :math:`X - L L^T / 2 \succ 0`. This is the same
statement in the unknowns w, and is proved in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, scaled
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.products import beside, congruence
from sdpdr.certify.rounding import UP, are_positive_definite, longest_row, residual
from sdpdr.certify.statement import Own, Statement
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.svec import upper_triangle

# Entries of a triangle up to which a dense map of triangles is formed: 8 MB.
_DENSE_NUMBERS = 1000
# Entries of a factor below this share of the largest are set to zero.
_NOTHING = 1e-60


def stretched(given: Statement, y: Array) -> Statement:
    """The statement in unknowns w around a point; its cost is the change from that of the point.

    Parameters
    ----------
    given : Statement
    y : array
        Positive definite in all matrices that are unknowns.

    Raises
    ------
    UnprovedError
        If there is no such matrix, or it is not positive definite.
    """
    metric = Metric(given.matrices(), given.squares, y)
    E, around = metric.product(given.E, None if given.radii is None else given.radii[:, :-1])
    f, radius = residual(given.f, given.E, y, 0.0, given.radii)
    of_cost = np.broadcast_to(given.radii_of_cost, y.shape)
    cost, around_cost = metric.product(sp.csr_array(given.cost[None]), sp.csr_array(of_cost[None]))

    def contain(w: Array, far: Array) -> bool:
        reach = UP * (np.abs(w) + far)
        if not metric.stays_inside(reach):
            return False
        middle, box = (part.copy() for part in given.box(y, metric.moves(reach)))
        for own in metric.own:
            # These cones are proved already; a box without size at the apex passes their test.
            middle[own.rows], box[own.rows] = 0.0, 0.0
        return given.contain(middle, box)

    return Statement(
        E=E,
        f=f,
        radii=beside(around, radius),
        squares=np.ones(y.size),
        cost=cost.toarray().ravel(),
        radii_of_cost=around_cost.toarray().ravel(),
        box=lambda w, far: (w, far),
        contain=contain,
        matrices=list,
    )


class Metric:
    """U of a point, and radii of it.

    Parameters
    ----------
    matrices : sequence of Own
    squares : array
        Squared sizes by which other unknowns may move.
    y : array
        Inside of all matrices.

    Attributes
    ----------
    own : list of Own
        The matrices that move independently.
    U, around : sparse arrays

    Raises
    ------
    UnprovedError
        If there is no such matrix, or it is not inside.
    """

    def __init__(self, matrices: Sequence[Own], squares: Array, y: Array) -> None:
        self._y, self.own = y, list[Own]()
        taken = np.zeros(y.size, dtype=bool)
        for own in matrices:
            # Matrices that share unknowns do not move independently.
            if own.columns.size <= _DENSE_NUMBERS and not np.any(taken[own.columns]):
                self.own.append(own)
                taken[own.columns] = True
        if not self.own:
            raise UnprovedError("no matrix is a variable of a size that suits")
        self.factors = [_factor(own.matrix(y)) for own in self.own]
        rest, nothing = np.flatnonzero(~taken), sp.csr_array((y.size, y.size))
        U, around = [_placed(rest, sp.diags_array(np.sqrt(squares[rest])), y.size)], [nothing]
        for own, L in zip(self.own, self.factors, strict=True):
            try:
                block, radii = congruence(sp.csr_array(L))
            except ArithmeticError as why:
                raise UnprovedError(str(why)) from None
            U.append(_placed(own.columns, scaled(block, own.weights), y.size))
            if radii is not None:
                around.append(_placed(own.columns, scaled(radii, own.weights), y.size))
        self.U, self.around = (sp.csr_array(reduce(add, v)) for v in (U, around))
        # Entries are rounded once, which the margins of all sums of these cover.
        self._size = abs(self.U)

    def product(
        self, E: sp.csr_array, data: sp.csr_array | None
    ) -> tuple[sp.csr_array, sp.csr_array]:
        """E U and its radii, which include those of E."""
        radii = float(gamma(longest_row(E))) * (abs(E) @ self._size)
        radii = radii + 1.01 * (abs(E) @ self.around)
        if data is not None:
            radii = radii + 1.01 * (data @ self._size)
        return sp.csr_array(E @ self.U), sp.csr_array(radii)

    def moves(self, reach: Array) -> Array:
        """Bounds on the changes of y if entries of w change by ``reach``."""
        return UP * (1.0 + gamma(reach.size + 3)) * (self._size @ reach)

    def stays_inside(self, reach: Array) -> bool:
        """Whether all matrices that are unknowns stay positive definite."""
        for own, L in zip(self.own, self.factors, strict=True):
            i, j = upper_triangle(own.order)
            both = np.where(i == j, 1.0, 2.0)
            # The sum is rounded as well.
            if not 1.001 * np.sqrt(float(both @ reach[own.columns] ** 2)) <= 0.5:
                return False
            # The rounding of U does not matter here: exact solutions are those of the exact one.
            left, blur = _half(own.matrix(self._y), L)
            if not are_positive_definite(left[None], UP * blur[None]):
                return False
        return True


def _factor(X: Array) -> Array:
    """The Cholesky factor of a matrix, without entries whose products would underflow."""
    try:
        L = np.linalg.cholesky(X)
    except np.linalg.LinAlgError:
        raise UnprovedError("the point is not inside") from None
    return np.where(np.abs(L) < _NOTHING * np.max(np.abs(L)), 0.0, L)


def _half(X: Array, L: Array) -> tuple[Array, Array]:
    """X - L L^T / 2, about half of X, and a bound on its rounding."""
    return X - 0.5 * (L @ L.T), float(gamma(L.shape[0] + 4)) * (np.abs(L) @ np.abs(L).T)


def _placed(places: Index, block: sp.sparray, n: int) -> sp.csr_array:
    """A square matrix with a block in some rows and columns, and zeros elsewhere."""
    found = sp.coo_array(block)
    row, column = found.coords
    return sp.csr_array((found.data, (places[row], places[column])), shape=(n, n))
