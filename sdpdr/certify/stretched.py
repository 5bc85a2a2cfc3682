r"""Values next to points whose eigenvalues are of very different sizes.

A box around :math:`X = L L^T`, entry by entry, leaves the cone where the smallest eigenvalue is
small beside the rounding of the largest entries. In the metric of X itself nothing is small: with

.. math::  x + U w, \qquad U w = L W L^T \text{ on each matrix that is a variable},

the equations :math:`(E U) w = f - E x` have an exact solution of some size, and the matrix stays
positive definite while :math:`|W|_F \le 1/2` and :math:`X - L L^T / 2 \succ 0`.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.certify.flat import SEMIDEFINITE, FlatProgram, Part
from sdpdr.certify.products import added, congruence
from sdpdr.certify.rounding import UP, are_positive_definite, inner, longest_row, residual
from sdpdr.certify.symmetric_cones import Semidefinite
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import upper_triangle

# Numbers of one matrix up to which a dense map between them is formed: 8 MB.
_DENSE_NUMBERS = 1000
# Beside the largest entry of a factor.
_NOTHING = 1e-60


class Stretched:
    """The program in unknowns w around a point.

    Parameters
    ----------
    program : FlatProgram
    x : array of shape (n,)
        Inside of all matrices that are variables.
    sizes : array of shape (n,)
        Sizes of steps of all other variables.

    Raises
    ------
    UnprovedError
        If there is no such matrix, or it is not inside.
    """

    def __init__(self, program: FlatProgram, x: Array, sizes: Array) -> None:
        self._program, self._x = program, x
        self._own = list[tuple[Part, Index]]()
        taken = np.zeros(x.size, dtype=bool)
        for part in program.parts:
            is_small = part.kind == SEMIDEFINITE and part.rows.size <= _DENSE_NUMBERS
            columns = program.own(part) if is_small else None
            # Matrices that share variables do not move by themselves.
            if columns is not None and not np.any(taken[columns]):
                self._own.append((part, columns))
                taken[columns] = True
        if not self._own:
            raise UnprovedError("no matrix is a variable of a size that suits")
        blocks, self._factors = list[tuple[Index, sp.csr_array]](), list[Array]()
        radii = list[sp.csr_array | None]()
        for part, columns in self._own:
            try:
                L = np.linalg.cholesky(_matrix(part, x[columns]))
            except np.linalg.LinAlgError:
                raise UnprovedError("the point is not inside") from None
            # What would underflow in products is nothing beside the rest.
            L = np.where(np.abs(L) < _NOTHING * np.max(np.abs(L)), 0.0, L)
            try:
                U, around = congruence(sp.csr_array(L))
            except ArithmeticError as why:
                raise UnprovedError(str(why)) from None
            blocks.append((columns, U))
            radii.append(around)
            self._factors.append(np.asarray(L, dtype=np.float64))
        rest = np.flatnonzero(~taken)
        blocks.append((rest, sp.csr_array(sp.diags_array(sizes[rest]))))
        self._U, self._around = _placed(blocks, radii, x.size)

    def value(self) -> float:
        """The largest objective of the exact point.

        Raises
        ------
        UnprovedError
        """
        program, x, U = self._program, self._x, self._U
        E, around = self._product(program.E, program.around.E)
        missed, radius = residual(program.f, program.E, x, 0.0, program.around.E)
        data = added(around, _last_column(radius, x.size))
        w, far = Equations(E, missed, np.ones(x.size), data).near(np.zeros(x.size))
        reach = UP * (np.abs(w) + far)
        if not self._stay_inside(reach):
            raise UnprovedError("an exact solution lies too far from the point")
        size = abs(U) if self._around is None else sp.csr_array(abs(U) + self._around)
        reach = (1.0 + gamma(x.size + 3)) * reach  # sums below have no more terms than this
        slack, box = residual(program.b, program.A, x, UP * (size @ reach), program.around.A)
        for (part, _), _L in zip(self._own, self._factors, strict=True):
            # Proved already: the tip is what a box of no size may hold.
            slack[part.rows], box[part.rows] = 0.0, 0.0
        if not program.contain(slack, box):
            raise UnprovedError("the box around the point leaves the cone")
        cost = abs(program.c @ U) + gamma(longest_row(sp.csr_array(U.T))) * (abs(program.c) @ size)
        cost = cost + program.around.cost @ size if program.around.c is not None else cost
        at, more = inner(program.c, x, 0.0, program.around.cost)[1], UP * float(cost @ reach)
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
        """Whether all matrices that are variables stay positive definite."""
        for (part, columns), L in zip(self._own, self._factors, strict=True):
            i, j = upper_triangle(int(part.size))
            weight = np.where(i == j, 1.0, 2.0)
            if not UP * np.sqrt(float(weight @ reach[columns] ** 2)) <= 0.5:
                return False
            left, blur = _half(_matrix(part, self._x[columns]), L)
            if self._around is not None:
                blur = blur + _matrix(part, 1.01 * (self._around @ reach)[columns])
            if not are_positive_definite(left[None], UP * blur[None]):
                return False
        return True


def _half(X: Array, L: Array) -> tuple[Array, Array]:
    """What half of L L^T leaves of X, which has about that size, and how it is rounded."""
    return X - 0.5 * (L @ L.T), float(gamma(L.shape[0] + 4)) * (np.abs(L) @ np.abs(L).T)


def _matrix(part: Part, triangle: Array) -> Array:
    return Semidefinite(1, int(part.size)).matrices(triangle[None])[0]


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
