"""A program in numbers of the working precision, laid out for an interior-point method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap

from flint import arb, arb_mat

from sdpdr.solvers.multiprecision.arithmetic import Vector, dot
from sdpdr.solvers.multiprecision.stored import Column, StoredBlock, StoredProgram, Symmetric


@dataclass(frozen=True, eq=False)
class PreciseSparse:
    """A symmetric matrix by its upper triangle.

    Attributes
    ----------
    places : tuple of (int, int)
    values : list of arb
    doubled : list of arb
        The values, those off the diagonal twice, so that <A, W> is a single dot product.
    flat : list of int
        Places in the list of all entries, row by row.
    """

    places: tuple[tuple[int, int], ...]
    values: Vector
    doubled: Vector
    flat: list[int]

    @classmethod
    def of(cls, order: int, matrix: Symmetric) -> PreciseSparse:
        """The entries in numbers of the working precision."""
        places = tuple(matrix)
        values = [arb(x) for x in matrix.values()]
        doubled = [v if i == j else v + v for (i, j), v in zip(places, values, strict=True)]
        return cls(places, values, doubled, [i * order + j for i, j in places])

    def inner(self, entries: Vector) -> arb:
        """<A, W> for all entries of a symmetric W, row by row."""
        return dot(self.doubled, [entries[k] for k in self.flat])

    @cached_property
    def support(self) -> list[int]:
        """Rows that are not zero."""
        return sorted({k for place in self.places for k in place})


@dataclass(frozen=True, eq=False)
class Cone:
    """A matrix variable with its data: cost C and the matrices A_i of those rows that have one."""

    order: int
    cost: PreciseSparse
    rows: Mapping[int, PreciseSparse]

    @classmethod
    def of(cls, block: StoredBlock, number_of: Mapping[int, int]) -> Cone:
        """A block of a program, with its rows numbered anew."""
        rows = {
            number_of[row]: PreciseSparse.of(block.order, matrix)
            for row, matrix in block.matrices.items()
            if row in number_of
        }
        return cls(block.order, PreciseSparse.of(block.order, block.matrices.get(0, {})), rows)

    def adjoint(self, y: Sequence[arb], *, cost: int = 0) -> arb_mat:
        """The matrix cost C + sum_i y_i A_i, where ``cost`` is 0 or 1."""
        n = self.order
        total = [arb(0)] * (n * n)
        terms = [(y[row], matrix) for row, matrix in self.rows.items()]
        for weight, matrix in [*terms, (arb(cost), self.cost)]:
            if weight == 0:
                continue
            for (i, j), value in zip(matrix.places, matrix.values, strict=True):
                total[i * n + j] += weight * value
        for i in range(n):
            for j in range(i):
                total[i * n + j] = total[j * n + i]
        return arb_mat(n, n, total).mid()


@dataclass(frozen=True, eq=False)
class Compiled:
    """The program of `StoredProgram` in working precision, with rows numbered from 0.

    Attributes
    ----------
    cones : tuple of Cone
    positive, free : tuple of dict from row to coefficient
    positive_cost, free_cost, rhs : list of arb
    """

    cones: tuple[Cone, ...]
    positive: tuple[Mapping[int, arb], ...]
    free: tuple[Mapping[int, arb], ...]
    positive_cost: Vector
    free_cost: Vector
    rhs: Vector

    @property
    def degree(self) -> int:
        """The sum of the orders, by which complementarity is divided."""
        return sum(cone.order for cone in self.cones) + len(self.positive)


def compiled(program: StoredProgram, rows: Sequence[int], free: Sequence[int]) -> Compiled:
    """The numbers of a program, with those rows and free scalars that are kept.

    Both are numbered from 1.

    Examples
    --------
    >>> line = StoredProgram((), ({0: 1.0, 1: 2.0},), (), (3.0,))
    >>> compiled(line, [1], []).positive
    ({0: 2.00000000000000},)
    """
    number_of = {row: k for k, row in enumerate(rows)}
    cones = tuple(Cone.of(block, number_of) for block in program.blocks)

    def coefficients(column: Column) -> dict[int, arb]:
        return {number_of[row]: arb(x) for row, x in column.items() if row in number_of}

    kept = [program.free[k - 1] for k in free]
    return Compiled(
        cones=cones,
        positive=tuple(map(coefficients, program.positive)),
        free=tuple(map(coefficients, kept)),
        positive_cost=[arb(column.get(0, 0.0)) for column in program.positive],
        free_cost=[arb(column.get(0, 0.0)) for column in kept],
        rhs=[arb(program.rhs[row - 1]) for row in rows],
    )


def combine(columns: Sequence[Mapping[int, arb]], x: Sequence[arb], m: int) -> Vector:
    """The vector of m rows B x."""
    total = [arb(0)] * m
    for column, factor in zip(columns, x, strict=True):
        for row, value in column.items():
            total[row] += value * factor
    return [t.mid() for t in total]


def transposed(columns: Sequence[Mapping[int, arb]], y: Sequence[arb]) -> Vector:
    """The vector B^T y."""
    return [
        sum(starmap(lambda row, value: value * y[row], column.items()), arb(0)).mid()
        for column in columns
    ]
