r"""Programs in units of their own: every unknown, equation and cone in a power of two.

Lengths may be in metres or miles, and one row may be a thousand times another; nothing that is
proved should depend on it. In place of :math:`E x = f`, :math:`A x + s = b`, :math:`c^T x` the
kernel reads

.. math::  (R_E E C)\, u = R_E f / l, \quad (R_A A C)\, u + t = R_A b / l, \quad (C c / p)^T u,

with :math:`x = l\, C u`. Logarithms of C and R are those of least squares for which entries are
nearest to one, so that another choice of units changes them and not the program that is left
(A. R. Curtis and J. K. Reid, *On the automatic scaling of matrices for Gaussian elimination*,
1972). Powers of two round nothing: a proof of the one program is a proof of the other. On a matrix
R is a congruence, and the numbers of a second-order, exponential or power cone share one. A
logarithm has no unit: programs with exponential or power cones stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Index, Matrix, scaled
from sdpdr.certify.flat import (
    EXPONENTIAL,
    NONNEGATIVE,
    POWER,
    SEMIDEFINITE,
    Around,
    FlatProgram,
    Part,
)
from sdpdr.linalg.magnitudes import largest_of_rows
from sdpdr.linalg.rounding import near_powers

# Exponents up to which units go: products of three stay far from the ends of doubles.
_MOST = 64.0
# Steps of the least squares, and how nearly they are solved.
_STEPS, _NEAR = 300, 1e-9
# Where exponents are rounded up: nice data lie on simple fractions, and never near this one.
_UP = 0.618
# Beside the largest entry of its row, what may be the rounding of zero, and then tells no unit.
_ROUNDING = 2.0**-50
# A number of the objective, in these units, that counts as zero.
NOTHING = 1e-7


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a program; `of` finds them.

    Attributes
    ----------
    unknowns : array of shape (n,)
        C.
    equations : array of shape (m,)
    cones : array of shape (k,)
        The diagonals of R.
    length, price : float
        l and p.
    """

    unknowns: Array
    equations: Array
    cones: Array
    length: float = 1.0
    price: float = 1.0

    @classmethod
    def of(cls, program: FlatProgram) -> Units:
        """Units that suit a program.

        Examples
        --------
        >>> from sdpdr.certify.flat import Piece, build
        >>> above = Piece(NONNEGATIVE, 1, sp.csr_array([[-64.0]]), np.array([-512.0]))
        >>> program = build(np.array([4.0]), sp.csr_array((0, 1)), np.zeros(0), [above])
        >>> units = Units.of(program)
        >>> own = units.program(program)
        >>> own.b.tolist(), own.A.toarray().tolist(), own.c.tolist()
        ([-1.0], [[-1.0]], [1.0])
        >>> units.point(np.array([8.0])).tolist()
        [1.0]
        """
        given = cls.given(program)
        if any(part.kind in (EXPONENTIAL, POWER) for part in program.parts):
            return given
        fitted = _Fit(program).units()
        own = fitted.program(program)
        right, cost = np.concatenate([own.f, own.b]), own.c
        length, price = (
            float(near_powers(np.array([np.max(np.abs(v), initial=0.0) or 1.0]))[0])
            for v in (right, cost)
        )
        units = replace(fitted, length=length, price=price)
        return units if units.are_exact(program) else given

    def are_exact(self, program: FlatProgram) -> bool:
        """Whether the program is the same in these units: nothing has vanished or overflowed."""
        own = self.program(program)
        with np.errstate(all="ignore"):
            back = replace(
                self,
                unknowns=1.0 / self.unknowns,
                equations=1.0 / self.equations,
                cones=1.0 / self.cones,
                length=1.0 / self.length,
                price=1.0 / self.price,
            ).program(own)
        pairs = (
            (back.c, program.c),
            (back.f, program.f),
            (back.b, program.b),
            (np.array(back.offset), np.array(program.offset)),
        )
        sparse = ((back.E, program.E), (back.A, program.A))
        return all(np.array_equal(one, other) for one, other in pairs) and not any(
            (one != other).nnz for one, other in sparse
        )

    @classmethod
    def given(cls, program: FlatProgram) -> Units:
        """The units that the program is in."""
        unknowns, equations, cones = (np.ones(v.size) for v in (program.c, program.f, program.b))
        return cls(unknowns, equations, cones)

    @property
    def cost(self) -> float:
        """The unit of the objective."""
        return self.length * self.price

    def program(self, program: FlatProgram) -> FlatProgram:
        """The program in these units."""
        around = program.around
        return replace(
            program,
            c=self.unknowns * program.c / self.price,
            E=scaled(program.E, self.equations, self.unknowns),
            f=self.equations * program.f / self.length,
            A=scaled(program.A, self.cones, self.unknowns),
            b=self.cones * program.b / self.length,
            offset=program.offset / self.cost,
            around=Around(
                None if around.c is None else self.unknowns * around.c / self.price,
                self._radii(around.E, self.equations),
                self._radii(around.A, self.cones),
            ),
            parts=tuple(self._part(part) for part in program.parts),
        )

    def _radii(self, radii: Matrix | None, rows: Array) -> sp.csr_array | None:
        if radii is None:
            return None
        columns = np.append(self.unknowns, 1.0 / self.length)
        return scaled(sp.csr_array(radii), rows, columns)

    def _part(self, part: Part) -> Part:
        """A cone, which of matrices remembers the congruence, up to a multiple."""
        if part.kind != SEMIDEFINITE:
            return part
        scale = self.cones[part.rows[_on_diagonal(int(part.size))]]
        return part._replace(units=np.sqrt(scale / scale[0]))

    def point(self, x: Array) -> Array:
        """A point of the program in these units."""
        return np.asarray(x / (self.length * self.unknowns))

    def given_point(self, u: Array) -> Array:
        """The point of the program as it was given."""
        return np.asarray(self.length * self.unknowns * u)

    def multipliers(self, z: Array) -> Array:
        """Multipliers of equations and cones of the program in these units."""
        return np.asarray(z / (self.price * np.concatenate([self.equations, self.cones])))

    def given_multipliers(self, z: Array) -> Array:
        """The multipliers of the program as it was given."""
        return np.asarray(self.price * np.concatenate([self.equations, self.cones]) * z)

    def given_costs(self, c: Array) -> Array:
        """Costs of the program as it was given."""
        return np.asarray(self.price * c / self.unknowns)


class _Fit:
    """Logarithms of units for which entries are nearest to one.

    What is looked for is one number for each unknown, each equation, each row of a matrix, each
    inequality, and each other cone. Where the program falls into parts that share none of them,
    each part has its own length, which its right sides tell: the largest becomes one.
    """

    def __init__(self, program: FlatProgram) -> None:
        self._program = program
        n, m = program.c.size, program.f.size
        cones, lengths = self._rows_of_cones()
        self._count = n + m + lengths.size
        # How each of them changes with the length.
        self._lengths = np.concatenate([np.ones(n), -np.ones(m), lengths])
        self._cones = sp.csr_array(sp.hstack([sp.csr_array((program.b.size, n + m)), cones]))
        # Rows of one matrix have one length.
        matrices = [part.rows for part in program.parts if part.kind == SEMIDEFINITE]
        self._matrices = [sp.csr_array(np.sum(self._cones[r], axis=0)[None]) for r in matrices]
        self._equations = self._single(n + np.arange(m))
        self._unknowns = self._columns(self._single(np.arange(n)))

    def _single(self, places: Index) -> sp.csr_array:
        ones = np.ones(places.size)
        return sp.csr_array((ones, (np.arange(places.size), places)), (places.size, self._count))

    def _rows_of_cones(self) -> tuple[sp.csr_array, Array]:
        """The map from numbers of rows of matrices and of other cones to exponents of R."""
        rows, columns, lengths, count = list[Index](), list[Index](), list[Array](), 0
        for kind, size, part, _ in self._program.parts:
            if kind == SEMIDEFINITE:
                j, i = np.tril_indices(int(size))
                rows += [part, part]
                columns += [count + i, count + j]
                lengths.append(np.full(int(size), -0.5))
            else:
                own = np.arange(part.size) if kind == NONNEGATIVE else np.zeros(part.size, int)
                rows.append(part)
                columns.append(count + own)
                lengths.append(np.full(own[-1] + 1, -1.0))
            count += lengths[-1].size
        row, column = np.concatenate(rows), np.concatenate(columns)
        shape = (self._program.b.size, count)
        return sp.csr_array((np.ones(row.size), (row, column)), shape), np.concatenate(lengths)

    def _columns(self, unknowns: sp.csr_array) -> sp.csr_array:
        """Exponents of unknowns; those of a matrix that is a variable are tied to its cone."""
        A, n = self._program.A, self._program.c.size
        owner = np.full(n, -1)
        for kind, _, rows, _ in self._program.parts:
            if kind == SEMIDEFINITE and np.all(np.diff(A.indptr)[rows] == 1):
                columns = A.indices[A.indptr[rows]]
                if np.unique(columns).size == columns.size and np.all(owner[columns] < 0):
                    owner[columns] = rows
        self._owner = owner
        free, own = np.flatnonzero(owner < 0), np.flatnonzero(owner >= 0)
        of_free = sp.csr_array((np.ones(free.size), (free, np.arange(free.size))), (n, free.size))
        of_own = sp.csr_array((np.ones(own.size), (own, np.arange(own.size))), (n, own.size))
        return sp.csr_array(of_free @ unknowns[free] - of_own @ self._cones[owner[own]])

    def units(self) -> Units:
        """Those of least squares, rounded to powers of two; length and price are one."""
        program = self._program
        sides, logs = list[sp.csr_array](), list[Array]()
        for rows, M in ((self._equations, program.E), (self._cones, program.A)):
            found = M.tocoo()
            (row, column), size = found.coords, np.abs(found.data)
            solid = size > _ROUNDING * largest_of_rows(M)[row]
            row, column = row[solid], column[solid]
            sides.append(sp.csr_array(rows[row] + self._unknowns[column]))
            logs.append(-np.log2(size[solid]))
        side = sp.csr_array(sp.vstack(sides))
        theta = spl.lsmr(side, np.concatenate(logs), atol=_NEAR, btol=_NEAR, maxiter=_STEPS)[0]
        theta = self._with_lengths(theta, side)
        of_cones, unknowns = self._cones @ theta, _whole(self._unknowns @ theta)
        cones = _whole(of_cones)
        for kind, size, rows, _ in program.parts:
            if kind == SEMIDEFINITE:
                cones[rows] = _congruence(int(size), of_cones[rows])
        own = np.flatnonzero(self._owner >= 0)
        unknowns[own] = -cones[self._owner[own]]
        equations = _whole(self._equations @ theta)
        return Units(np.exp2(unknowns), np.exp2(equations), np.exp2(cones))

    def _with_lengths(self, theta: Array, side: sp.csr_array) -> Array:
        """The same with the length of each part: least squares leave it open."""
        tied = abs(sp.csr_array(sp.vstack([side, *self._matrices])))
        part = sp.csgraph.connected_components(sp.csr_array(tied.T @ tied), directed=False)[1]
        right = np.concatenate([self._program.f, self._program.b])
        rows = sp.csr_array(sp.vstack([self._equations, self._cones]))
        lengths = np.full(part.max(initial=0) + 1, -np.inf)
        some = np.flatnonzero(right)
        first = rows.indices[rows.indptr[some]]
        np.maximum.at(lengths, part[first], (rows @ theta)[some] + np.log2(np.abs(right[some])))
        # What all share is left to the length of the program.
        shared = np.floor(np.max(lengths)) if np.any(np.isfinite(lengths)) else 0.0
        lengths = np.where(np.isfinite(lengths), lengths - shared, 0.0)
        return np.asarray(theta + lengths[part] * self._lengths)


def _whole(exponents: Array) -> Array:
    return np.clip(np.ceil(exponents - _UP), -_MOST, _MOST)


def _on_diagonal(order: int) -> Index:
    """Where the diagonal of a matrix lies in its triangle."""
    return np.cumsum(np.arange(1, order + 1)) - 1


def _congruence(order: int, exponents: Array) -> Array:
    """Whole exponents of a multiple of a congruence, nearly those of a matrix.

    Examples
    --------
    >>> _congruence(2, np.array([1.0, 3.5, 6.0])).tolist()
    [1.0, 3.0, 5.0]
    """
    j, i = np.tril_indices(order)
    first, rows = exponents[0], (exponents[_on_diagonal(order)] - exponents[0]) / 2.0
    # Clipped one by one, so that the sums are a congruence still.
    first, rows = _whole(first), _whole(rows)
    return np.asarray(first + rows[i] + rows[j])
