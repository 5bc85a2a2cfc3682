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

from sdpdr.base.arrays import (
    Array,
    Index,
    Matrix,
    from_triples,
    light,
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
        right = [fitted.equations * program.f, fitted.cones * program.b]
        length, coefficient = _power(*right), _power(fitted.unknowns * program.c)
        units = replace(fitted, length=length, coefficient=coefficient)
        return units if units.are_exact(program) else given

    def are_exact(self, program: FlatProgram) -> bool:
        """Whether the program is the same in these units: nothing has vanished or overflowed."""
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
        """The units that the program is in."""
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
        return np.asarray(z / (self.coefficient * np.concatenate([self.equations, self.cones])))

    def given_multipliers(self, z: Array) -> Array:
        """The multipliers of the program as it was given."""
        return np.asarray(self.coefficient * np.concatenate([self.equations, self.cones]) * z)

    def given_costs(self, c: Array) -> Array:
        """Costs of the program as it was given."""
        return np.asarray(self.coefficient * c / self.unknowns)


class _Fit:
    """Logarithms of units for which entries are nearest to one.

    What is looked for is one number for each unknown, each equation, each row of a matrix, each
    inequality, and each other cone. Where the program falls into parts that share none of them,
    each part has its own length, which its right sides tell: the largest becomes one.

    The exponent of an equation, a row of a cone or an unknown is the sum of a pair of numbers; a
    last number, which is zero, stands for none.
    """

    def __init__(self, program: FlatProgram) -> None:
        self._program = program
        n, m = program.c.size, program.f.size
        cones, lengths = self._pairs_of_cones(n + m)
        # How each number changes with the length.
        self._lengths = np.concatenate([np.ones(n), -np.ones(m), lengths, np.zeros(1)])
        self._none = self._lengths.size - 1
        self._cones = np.where(cones < 0, self._none, cones)
        self._equations = self._single(n + np.arange(m))
        self._owner = self._owners()
        is_own = self._owner >= 0
        # Those of an entry of a matrix are tied to it.
        pairs = self._cones[:, self._owner]
        self._unknowns = np.where(is_own, pairs, self._single(np.arange(n)))
        self._sign = np.where(is_own, -1.0, 1.0)

    def _single(self, numbers: Index) -> Index:
        return np.stack([numbers, np.full(numbers.size, self._none)])

    def _pairs_of_cones(self, count: int) -> tuple[Index, Array]:
        """The numbers of rows of all cones, from ``count`` on, and how they change with lengths."""
        pairs, lengths = np.full((2, self._program.b.size), -1), list[Array]()
        for kind, size, rows, _ in self._program.parts:
            if kind == SEMIDEFINITE:
                pairs[:, rows] = count + np.stack(upper_triangle(int(size))[::-1])
                lengths.append(np.full(int(size), -0.5))
            else:
                own = np.arange(rows.size) if kind == NONNEGATIVE else np.zeros(rows.size, int)
                pairs[0, rows] = count + own
                lengths.append(np.full(own[-1] + 1, -1.0))
            count += lengths[-1].size
        return pairs, np.concatenate(lengths)

    def _owners(self) -> Index:
        """The row that each unknown is, where a matrix is a variable; else -1."""
        A, owner = self._program.A, np.full(self._program.c.size, -1)
        counts = np.diff(A.indptr)
        for kind, _, rows, _ in self._program.parts:
            if kind == SEMIDEFINITE and np.all(counts[rows] == 1):
                columns = A.indices[A.indptr[rows]]
                if np.unique(columns).size == columns.size and np.all(owner[columns] < 0):
                    owner[columns] = rows
        return owner

    def units(self) -> Units:
        """Those of least squares, rounded to powers of two; length and coefficient are one."""
        numbers, signs, sizes = self._terms()
        kept = numbers != self._none
        ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        shape = (sizes.size, self._none)
        side = rows_as_they_are(signs[kept], numbers[kept], ends, shape)
        logs = -np.log2(sizes)
        theta = spl.lsmr(light(side), logs, atol=_NEAR, btol=_NEAR, maxiter=_STEPS)[0]
        theta = self._with_lengths(np.append(theta, 0.0), numbers)
        of_cones = theta[self._cones].sum(axis=0)
        unknowns = _whole(self._sign * theta[self._unknowns].sum(axis=0))
        cones, equations = _whole(of_cones), _whole(theta[self._equations].sum(axis=0))
        for kind, size, rows, _ in self._program.parts:
            if kind == SEMIDEFINITE:
                cones[rows] = _congruence(int(size), of_cones[rows])
        own = np.flatnonzero(self._owner >= 0)
        unknowns[own] = -cones[self._owner[own]]
        return Units(np.exp2(unknowns), np.exp2(equations), np.exp2(cones))

    def _terms(self) -> tuple[Index, Array, Array]:
        """The numbers whose sum each entry is to be near, four a row, their signs, and its size."""
        numbers, signs, sizes = list[Index](), list[Array](), list[Array]()
        for pairs, M in ((self._equations, self._program.E), (self._cones, self._program.A)):
            row, column, size = row_of_each(M), M.indices, np.abs(M.data)
            solid = size > _ROUNDING * largest_of_rows(M)[row]
            row, column = row[solid], column[solid]
            numbers.append(np.concatenate([pairs[:, row], self._unknowns[:, column]]).T)
            one, sign = np.ones(row.size), self._sign[column]
            signs.append(np.stack([one, one, sign, sign], axis=1))
            sizes.append(size[solid])
        return np.concatenate(numbers), np.concatenate(signs), np.concatenate(sizes)

    def _with_lengths(self, theta: Array, numbers: Index) -> Array:
        """The same with the length of each part: least squares leave it open."""
        first, other = [np.repeat(numbers[:, 0], 3)], [numbers[:, 1:].ravel()]
        for kind, _, rows, _ in self._program.parts:
            if kind == SEMIDEFINITE:  # whose rows have one length
                other.append(self._cones[0, rows])
                first.append(np.full(rows.size, other[-1][0]))
        start, end = np.concatenate(first), np.concatenate(other)
        some = end != self._none
        ties = from_triples(np.ones(some.sum()), start[some], end[some], (theta.size, theta.size))
        part = sp.csgraph.connected_components(ties, directed=False)[1]
        right = np.concatenate([self._program.f, self._program.b])
        pairs = np.concatenate([self._equations, self._cones], axis=1)[:, right != 0.0]
        sizes = theta[pairs].sum(axis=0) + np.log2(np.abs(right[right != 0.0]))
        lengths = np.full(part.max() + 1, -np.inf)
        np.maximum.at(lengths, part[pairs[0]], sizes)
        # What all share is left to the length of the program.
        shared = np.floor(np.max(lengths)) if np.any(np.isfinite(lengths)) else 0.0
        lengths = np.where(np.isfinite(lengths), lengths - shared, 0.0)
        return np.asarray(theta + lengths[part] * self._lengths)


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
    first, rows = exponents[0], (exponents[_on_diagonal(order)] - exponents[0]) / 2.0
    # Clipped one by one, so that the sums are a congruence still.
    first, rows = _whole(first), _whole(rows)
    return np.asarray(first + rows[i] + rows[j])
