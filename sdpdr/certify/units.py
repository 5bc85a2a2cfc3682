r"""Programs in units of their own: every unknown, equation and cone in a power of two.

Proofs should not depend on whether lengths are in metres or miles, or rows multiplied by a
thousand. In place of :math:`E x = f`, :math:`A x + s = b`, :math:`c^T x` the
kernel reads

.. math::  (R_E E C)\, u = R_E f / l, \quad (R_A A C)\, u + t = R_A b / l, \quad (C c / p)^T u,

with :math:`x = l\, C u`. The logarithms of C and R minimise the squared logarithms of the entries,
so another choice of units by the user changes C and R, and not the program in these units
(A. R. Curtis and J. K. Reid, *On the automatic scaling of matrices for Gaussian elimination*,
1972). Powers of two cause no rounding: a proof of the one program is a proof of the other. On a
matrix R is a congruence, and all rows of a second-order cone share one number. Logarithms do not
scale, so programs with exponential or power cones keep their units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import (
    Array,
    Index,
    Matrix,
    chosen_rows,
    diagonal,
    light,
    placed,
    row_of_each,
    rows_as_they_are,
    scaled,
)
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
from sdpdr.linalg.svec import upper_triangle

# Largest exponents of units: products of three stay far from overflow.
_MOST = 64.0
# Steps of the least squares, and their relative accuracy.
_STEPS, _NEAR = 300, 1e-9
# Fraction above which exponents are rounded up: round data lie at simple fractions, far from it.
_UP = 0.618
# Share of the largest entry of a row that may be rounding of zero, and then determines no unit.
_ROUNDING = 2.0**-50
# Binary digits by which entries that units explain may differ from one: a tenth of `_ROUNDING`'s.
_ALIKE = 5.0
# Objective, in these units, up to which it counts as zero.
NOTHING = 1e-7


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a program; `Units.of` finds them.

    Attributes
    ----------
    unknowns : array of shape (n,)
        C.
    equations : array of shape (m,)
    cones : array of shape (k,)
        The diagonals of R.
    length, coefficient : float
        l and p, the units of unknowns and of coefficients of the objective.
    """

    unknowns: Array
    equations: Array
    cones: Array
    length: float = 1.0
    coefficient: float = 1.0

    @classmethod
    def of(cls, program: FlatProgram) -> Units:
        """Fit units to a program.

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
        right = [fitted.equations * program.f, fitted.cones * program.b]
        length, coefficient = _power(*right), _power(fitted.unknowns * program.c)
        units = replace(fitted, length=length, coefficient=coefficient)
        return units if units.are_exact(program) else given

    def are_exact(self, program: FlatProgram) -> bool:
        """Whether no number of the program underflows or overflows in these units."""
        own = self.program(program)
        pairs = (
            (own.c, program.c),
            (own.f, program.f),
            (own.b, program.b),
            (own.E.data, program.E.data),
            (own.A.data, program.A.data),
            (np.array(own.offset), np.array(program.offset)),
        )
        # Powers of two change no digits.
        return all(np.array_equal(np.frexp(a)[0], np.frexp(b)[0]) for a, b in pairs)

    @classmethod
    def given(cls, program: FlatProgram) -> Units:
        """Units of one, in which the program stays as it is."""
        unknowns, equations, cones = (np.ones(v.size) for v in (program.c, program.f, program.b))
        return cls(unknowns, equations, cones)

    @property
    def cost(self) -> float:
        """The unit of the objective."""
        return self.length * self.coefficient

    def program(self, program: FlatProgram) -> FlatProgram:
        """The program in these units."""
        around = program.around
        return replace(
            program,
            c=self.unknowns * program.c / self.coefficient,
            E=scaled(program.E, self.equations, self.unknowns),
            f=self.equations * program.f / self.length,
            A=scaled(program.A, self.cones, self.unknowns),
            b=self.cones * program.b / self.length,
            offset=program.offset / self.cost,
            around=Around(
                None if around.c is None else self.unknowns * around.c / self.coefficient,
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
        """A cone in these units; a matrix remembers its congruence, up to a multiple."""
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
        return np.asarray(z / (self.coefficient * np.concatenate([self.equations, self.cones])))

    def given_multipliers(self, z: Array) -> Array:
        """The multipliers of the program as it was given."""
        return np.asarray(self.coefficient * np.concatenate([self.equations, self.cones]) * z)

    def given_costs(self, c: Array) -> Array:
        """Costs of the program as it was given."""
        return np.asarray(self.coefficient * c / self.unknowns)


class _Fit:
    """Logarithms of units for which entries are nearest to one.

    The fitted numbers are one for each unknown, each equation, each row of a matrix, each
    inequality, and each other cone. The exponent of an equation, or of a row of a cone, is a sum of
    them, by a row of ``_sides``; so is that of an unknown, which follows from the matrix if it is
    an entry of one. If the program has parts that share no number, each part has its own length, by
    which its largest right-hand side becomes one.
    """

    def __init__(self, program: FlatProgram) -> None:
        self._program = program
        n, m = program.c.size, program.f.size
        cones, lengths = self._of_cones()
        # The change of each number with the length.
        self._lengths = np.concatenate([np.ones(n), -np.ones(m), lengths])
        count, k = self._lengths.size, program.b.size
        self._sides = placed([(0, n, diagonal(np.ones(m))), (m, n + m, cones)], (m + k, count))
        self._owner = self._owners()
        tied: Array = np.where(self._owner >= 0, 1.0, 0.0)
        free = placed([(0, 0, diagonal(1.0 - tied))], (n, count))
        owned = scaled(chosen_rows(self._sides, m + np.maximum(self._owner, 0)), tied)
        self._unknowns = sp.csr_array(free - owned)

    def _of_cones(self) -> tuple[sp.csr_array, Array]:
        """The numbers that each row of a cone is the sum of, and how they change with lengths."""
        numbers, each, lengths, count = list[Index](), list[Index](), list[Array](), 0
        for kind, size, rows, _ in self._program.parts:
            if kind == SEMIDEFINITE:
                numbers.append(count + np.stack(upper_triangle(int(size)), axis=1).ravel())
                lengths.append(np.full(int(size), -0.5))
            else:
                own = np.arange(rows.size) if kind == NONNEGATIVE else np.zeros(rows.size, int)
                numbers.append(count + own)
                lengths.append(np.full(own[-1] + 1, -1.0))
            each.append(np.full(rows.size, 2 if kind == SEMIDEFINITE else 1))
            count += lengths[-1].size
        ends, columns = np.cumsum(np.concatenate([[0], *each])), np.concatenate(numbers)
        found = rows_as_they_are(np.ones(columns.size), columns, ends, (ends.size - 1, count))
        return found, np.concatenate(lengths)

    def _owners(self) -> Index:
        """The row of each unknown that is an entry of a matrix variable; -1 for others."""
        A, owner = self._program.A, np.full(self._program.c.size, -1)
        counts = np.diff(A.indptr)
        for kind, _, rows, _ in self._program.parts:
            if kind == SEMIDEFINITE and np.all(counts[rows] == 1):
                columns = A.indices[A.indptr[rows]]
                if np.unique(columns).size == columns.size and np.all(owner[columns] < 0):
                    owner[columns] = rows
        return owner

    def units(self) -> Units:
        """The fitted units, rounded to powers of two; length and coefficient are one."""
        numbers = self._with_lengths(*self._fitted())
        exponents, m = self._sides @ numbers, self._program.f.size
        unknowns, cones = _whole(self._unknowns @ numbers), _whole(exponents[m:])
        for kind, size, rows, _ in self._program.parts:
            if kind == SEMIDEFINITE:
                cones[rows] = _congruence(int(size), exponents[m + rows])
        own = np.flatnonzero(self._owner >= 0)
        unknowns[own] = -cones[self._owner[own]]
        return Units(np.exp2(unknowns), np.exp2(_whole(exponents[:m])), np.exp2(cones))

    def _fitted(self) -> tuple[Array, sp.csr_array]:
        """The numbers for which entries are nearest to one, and those that each entry ties."""
        (m, n), A = self._program.E.shape, self._program.A
        M = placed([(0, 0, self._program.E), (m, 0, A)], (m + A.shape[0], n))
        M.eliminate_zeros()
        row, size = row_of_each(M), np.abs(M.data)
        ties = chosen_rows(self._sides, row) + chosen_rows(self._unknowns, M.indices)
        # Units of the entries of a matrix that is a variable cancel.
        ties.eliminate_zeros()
        solid = size > _ROUNDING * largest_of_rows(M)[row]
        if not np.all(solid):
            # Small entries are not rounding if fewer units than entries explain them all.
            numbers = _least_squares(ties, size)
            is_more = np.count_nonzero(np.diff(ties.indptr)) > np.unique(ties.indices).size
            solid |= is_more and np.max(np.abs(ties @ numbers + np.log2(size))) < _ALIKE
        ties = chosen_rows(ties, np.flatnonzero(solid))
        return _least_squares(ties, size[solid]), ties

    def _with_lengths(self, numbers: Array, ties: sp.csr_array) -> Array:
        """The numbers with the length of each part, which least squares leave open.

        All rows of a matrix have the same length.
        """
        rows, count = ties.shape[0] + self._sides.shape[0], numbers.size
        joined = placed([(0, rows, ties), (ties.shape[0], rows, self._sides)], (rows + count,) * 2)
        part = sp.csgraph.connected_components(joined, directed=False)[1][rows:]
        right = np.concatenate([self._program.f, self._program.b])
        some = np.flatnonzero(right)
        sides = chosen_rows(self._sides, some)
        sizes = sides @ numbers + np.log2(np.abs(right[some]))
        lengths = np.full(part.max() + 1, -np.inf)
        np.maximum.at(lengths, part[sides.indices[sides.indptr[:-1]]], sizes)
        # The common part of all lengths is that of the program.
        shared = np.floor(np.max(lengths)) if np.any(np.isfinite(lengths)) else 0.0
        lengths = np.where(np.isfinite(lengths), lengths - shared, 0.0)
        return np.asarray(numbers + lengths[part] * self._lengths)


def _least_squares(ties: sp.csr_array, sizes: Array) -> Array:
    """The numbers whose sums are nearest to minus the logarithms of sizes."""
    found = spl.lsmr(light(ties), -np.log2(sizes), atol=_NEAR, btol=_NEAR, maxiter=_STEPS)[0]
    return np.asarray(found)


def _power(*numbers: Array) -> float:
    """The power of two next to the largest of some numbers."""
    largest = max(float(np.max(np.abs(v), initial=0.0)) for v in numbers)
    return float(near_powers(np.array([largest or 1.0]))[0])


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
    i, j = upper_triangle(order)
    # Next to zero, so that rows have room on both sides.
    first = exponents[0] - 2.0 * np.rint(exponents[0] / 2.0)
    rows = (exponents[_on_diagonal(order)] - first) / 2.0
    # Clipped one by one, so that the sums are a congruence still.
    first, rows = _whole(first), _whole(rows)
    return np.asarray(first + rows[i] + rows[j])
