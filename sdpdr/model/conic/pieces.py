"""Columns of a program over cones as variables of the standard form.

A matrix whose entries are different columns, up to scale and shift, becomes a matrix variable, also
if fewer of its entries are constants, as those of ``cp.bmat([[np.eye(2), X], [X.T, Y]]) >> 0``. A
column that a row bounds from below by zero becomes a nonnegative scalar. All others are free.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, rows_as_they_are
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import selection, svec_pairs
from sdpdr.model.conic.program import ConeRows, ConicProgram, taken
from sdpdr.model.conic.recognise import MatrixRows
from sdpdr.model.labels import Labels
from sdpdr.program.point import PsdVariable, Value, Variable, VectorVariable, as_dense


@dataclass(frozen=True, eq=False)
class Piece:
    """A variable and the columns that it represents, ``x[place] = shift + scale * values[inside]``.

    Attributes
    ----------
    variable : PsdVariable or VectorVariable
    place, inside : arrays of int
        The columns, and their positions in the variable; for a matrix in the order of ``svec``.
    shift, scale : array
    cone : ConeRows or None
        The cone whose rows only make the variable positive semidefinite.
    prescribed : pair of arrays
        Positions in a matrix that are constants, and these.
    """

    variable: Variable
    place: Index
    inside: Index
    shift: Array
    scale: Array
    cone: ConeRows | None = None
    prescribed: tuple[Index, Array] = (np.arange(0), np.zeros(0))

    def map(self, rows: sp.csr_array) -> LinearMap | VectorMap:
        """The rows, restricted to these columns and scaled by `units`, as a map of the variable."""
        if isinstance(self.variable, PsdVariable):
            return MatrixRows(self.variable.n, rows).map()
        return VectorMap(rows)

    def patterns(self, rows: sp.csr_array) -> list[Hashable]:
        """What rows of one map have in common, for each row (see `MatrixRows.keys`)."""
        if isinstance(self.variable, PsdVariable):
            return MatrixRows(self.variable.n, rows).keys()
        return (np.diff(rows.indptr) > 0).tolist()

    @property
    def units(self) -> Array:
        """Factors of coefficients in these columns that give coefficients of the variable."""
        if not isinstance(self.variable, PsdVariable):
            return self.scale
        return self.scale * halves(self.inside)

    @property
    def size(self) -> int:
        """Number of values of the variable; for a matrix those of its upper triangle."""
        return self.place.size + self.prescribed[0].size

    def columns(self, value: Value) -> Array:
        """Values of the columns at a value of the variable."""
        dense = as_dense(value)
        if isinstance(self.variable, PsdVariable):
            dense = dense[svec_pairs(self.inside)]
        return np.asarray(self.shift + self.scale * dense)

    def constants(self) -> tuple[LinearMap | VectorMap, Array]:
        """The constants in a matrix, as a map of the matrix and its values."""
        places, values = self.prescribed
        return self.map(selection(places, self.size, halves(places))), values


def halves(places: Index) -> Array:
    """Factors of entries of a matrix, in the order of ``svec``: one half off the diagonal.

    Rows are symmetric matrices, in which every entry off the diagonal counts twice.
    """
    i, j = svec_pairs(places)
    return np.where(i == j, 1.0, 0.5)


@dataclass(eq=False)
class Pieces:
    """All columns of a conic program as variables, and the rows that their signs replace.

    Attributes
    ----------
    program : ConicProgram
    found : list of Piece
    signs : tuple of arrays
        Rows that only make a column nonnegative, these columns, and the entries.
    """

    program: ConicProgram
    found: list[Piece] = field(default_factory=list)
    signs: tuple[Index, Index, Array] = field(init=False)
    _free: NDArray[np.bool_] = field(init=False, repr=False)
    _names: Labels = field(default_factory=Labels, repr=False)

    def __post_init__(self) -> None:
        self._free = ~self.program.are_called(self.program.arguments)
        matrices = list(symmetric_rows(self.program, self._may_be_variables()))
        # Those without constants come first, whose columns may be in others, too.
        for cone, matrix, rhs in sorted(matrices, key=lambda one: np.diff(one[1].indptr).min() < 1):
            self._claim_matrix(cone, matrix, rhs)
        self._claim_signs()
        self._free |= self.program.are_called(self.program.arguments)
        self._claim_rest()
        self._position = np.zeros(self._free.size, dtype=np.intp)
        self._units = np.zeros(self._free.size)
        self._ends = np.cumsum([0, *(piece.size for piece in self.found)]).tolist()
        for piece, start in zip(self.found, self._ends, strict=False):
            self._position[piece.place] = start + piece.inside
            self._units[piece.place] = piece.units

    def _may_be_variables(self) -> list[ConeRows]:
        """The cones of matrices whose diagonal entries have one column each, or are constants."""
        count = np.diff(self.program.matrix.indptr)
        matrices = (cone for cone in self.program.cones if cone.kind == "psd")
        return [one for one in matrices if np.all(count[one.rows[:: one.order + 1]] <= 1)]

    @cached_property
    def _uses(self) -> Index:
        """The number of matrices that each column is in."""
        inside = [
            np.unique(taken(self.program.matrix, cone.rows).indices)
            for cone in self.program.cones
            if cone.kind == "psd"
        ]
        return np.bincount(np.concatenate(inside), minlength=self._free.size)

    def _claim_matrix(self, cone: ConeRows, matrix: sp.csr_array, rhs: Array) -> None:
        """Make a matrix variable if all entries are different free columns, or some constants."""
        place, counts = matrix.indices, np.diff(matrix.indptr)
        constant, inside = np.flatnonzero(counts == 0), np.flatnonzero(counts == 1)
        if inside.size < counts.size - constant.size or not self._free[place].all():
            return
        if np.unique(place).size != place.size:
            return
        # Where constants are as many, the matrix has fewer unknowns as an inequality; and a column
        # in several matrices may be in one without constants.
        is_one_half = 2.0 * np.sum(1.0 / halves(constant)) >= cone.order**2
        if constant.size and (is_one_half or np.any(self._uses[place] > 1)):
            return
        shift, scale = rhs[inside] / matrix.data, -1.0 / matrix.data
        name = "" if constant.size or shift.any() else self._name_up_to_sign(place, scale)
        variable = PsdVariable(self._names.take(name or cone.label), cone.order)
        self._free[place] = False
        known = constant, rhs[constant]
        self.found.append(Piece(variable, place, inside, shift, scale, cone, known))

    def _name_of(self, place: Index) -> str:
        """The name of columns that no others have; empty if there is none."""
        named = (one for one in self.program.columns if one.place.size == place.size)
        return next((one.name for one in named if np.all(np.isin(one.place, place))), "")

    def _name_up_to_sign(self, place: Index, scale: Array) -> str:
        """The name of a matrix that is a variable of the problem or its negative; else empty.

        Any other matrix is not named after a variable, whose values it does not have.
        """
        name = self._name_of(place)
        if not name or np.all(scale == 1.0):
            return name
        return f"-{name}" if np.all(scale == -1.0) else ""

    def _claim_signs(self) -> None:
        """Find columns that a row bounds from below by zero, and the first such row of each."""
        program = self.program
        rows = [cone.rows for cone in program.cones if cone.kind == "nonnegative"]
        row = np.concatenate([np.arange(0), *rows])
        start, stop = program.matrix.indptr[row], program.matrix.indptr[row + 1]
        row = row[(stop == start + 1) & (program.rhs[row] == 0.0)]
        first = program.matrix.indptr[row]
        column, entry = program.matrix.indices[first], program.matrix.data[first]
        kept = np.flatnonzero((entry < 0.0) & self._free[column])
        kept = kept[np.sort(np.unique(column[kept], return_index=True)[1])]
        self.signs = row[kept], column[kept], entry[kept]
        self._free[column[kept]] = False

    def _claim_rest(self) -> None:
        """Make vector variables of the remaining columns, by name."""
        signed = np.zeros(self._free.size, dtype=bool)
        signed[self.signs[1]] = True
        for columns in self.program.columns:
            for suffix, kind in (("", self._free), (".nonnegative", signed)):
                place = columns.place[kind[columns.place]]
                if place.size == 0:
                    continue
                whole = place.size == columns.place.size
                name = self._names.take(columns.name if whole else f"{columns.name}{suffix}")
                variable = VectorVariable(name, place.size, nonnegative=bool(suffix))
                ones = np.ones(place.size)
                self.found.append(Piece(variable, place, np.arange(place.size), 0.0 * ones, ones))

    def shift(self) -> Array:
        """Values of all columns if all variables are zero."""
        x = np.zeros(self._free.size)
        for piece in self.found:
            x[piece.place] = piece.shift
        return x

    def parts(self, rows: sp.csr_array) -> list[tuple[Piece, sp.csr_array]]:
        """Rows on all columns, as pairs of a piece and its part of the rows, in its units."""
        column, data = self._position[rows.indices], rows.data * self._units[rows.indices]
        found = []
        for piece, start, stop in zip(self.found, self._ends, self._ends[1:], strict=False):
            inside = (column >= start) & (column < stop)
            before = np.concatenate([[0], np.cumsum(inside)])
            if before[-1]:
                part = (data[inside], column[inside] - start, before[rows.indptr])
                own = rows_as_they_are(*part, (rows.shape[0], stop - start))
                own.sort_indices()
                found.append((piece, own))
        return found

    def patterns(self, rows: sp.csr_array) -> list[Hashable]:
        """What rows of one map of each variable have in common, for each row."""
        parts = [piece.patterns(part) for piece, part in self.parts(rows)]
        return list(zip(*parts, strict=True)) if parts else [()] * rows.shape[0]

    def maps(self, rows: sp.csr_array) -> dict[str, LinearMap | VectorMap]:
        """Rows on all columns as maps of the variables that occur in them."""
        return {piece.variable.name: piece.map(part) for piece, part in self.parts(rows)}

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.found)


def symmetric_rows(
    program: ConicProgram, cones: Sequence[ConeRows]
) -> Iterator[tuple[ConeRows, sp.csr_array, Array]]:
    """Rows and right sides of the upper triangle of matrices, in the order of ``svec``."""
    if not cones:
        return
    places = [np.column_stack(cone.entries()) for cone in cones]
    # One product for all matrices, since one for each of many small matrices takes longer.
    pair = np.concatenate(places)
    means = (np.full(pair.size, 0.5), pair.ravel(), np.arange(0, pair.size + 1, 2))
    matrix = sp.csr_array(means, shape=(len(pair), program.rhs.size)) @ program.matrix
    matrix.eliminate_zeros()
    rhs, start = program.rhs[pair].mean(axis=1), 0
    for cone, place in zip(cones, places, strict=True):
        rows = np.arange(start, start + len(place))
        start += len(place)
        yield cone, taken(matrix, rows), rhs[rows]
