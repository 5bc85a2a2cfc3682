"""Columns of a program over cones as variables of the standard form.

A matrix whose entries are different columns, up to scale and shift, becomes a matrix variable; a
column that a row bounds from below by zero becomes a nonnegative scalar. All others are free.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, rows_as_they_are
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import svec_pairs
from sdpdr.model.conic.program import SQUARES, ConeRows, ConicProgram, taken
from sdpdr.model.conic.recognise import MatrixRows
from sdpdr.model.labels import Labels
from sdpdr.program.point import PsdVariable, Value, Variable, VectorVariable, as_dense


@dataclass(frozen=True, eq=False)
class Piece:
    """A variable and the columns that it represents, ``x[place] = shift + scale * entries``.

    Attributes
    ----------
    variable : PsdVariable or VectorVariable
    place : array of int
        The columns; for a matrix in the order of ``svec``.
    shift, scale : array
    cone : ConeRows or None
        The cone whose rows only make the variable positive semidefinite.
    """

    variable: Variable
    place: Index
    shift: Array
    scale: Array
    cone: ConeRows | None = None

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
        i, j = svec_pairs(np.arange(self.place.size))
        # Rows are symmetric matrices, in which every entry off the diagonal counts twice.
        return np.where(i == j, self.scale, self.scale / 2.0)

    def columns(self, value: Value) -> Array:
        """Values of the columns at a value of the variable."""
        dense = as_dense(value)
        if isinstance(self.variable, PsdVariable):
            i, j = svec_pairs(np.arange(self.place.size))
            dense = dense[i, j]
        return np.asarray(self.shift + self.scale * dense)


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
    _names: Labels = field(default_factory=lambda: Labels([SQUARES]), repr=False)

    def __post_init__(self) -> None:
        self._free = ~self.program.are_called(self.program.arguments)
        for cone, matrix, rhs in symmetric_rows(self.program, self._may_be_variables()):
            self._claim_matrix(cone, matrix, rhs)
        self._claim_signs()
        self._free |= self.program.are_called(self.program.arguments)
        self._claim_rest()
        self._position = np.zeros(self._free.size, dtype=np.intp)
        self._units = np.zeros(self._free.size)
        self._ends = np.cumsum([0, *(piece.place.size for piece in self.found)]).tolist()
        for piece, start in zip(self.found, self._ends, strict=False):
            self._position[piece.place] = start + np.arange(piece.place.size)
            self._units[piece.place] = piece.units

    def _may_be_variables(self) -> list[ConeRows]:
        """The cones of matrices whose diagonal entries have one column each."""
        count = np.diff(self.program.matrix.indptr)
        matrices = (cone for cone in self.program.cones if cone.kind == "psd")
        return [one for one in matrices if np.all(count[one.rows[:: one.order + 1]] == 1)]

    def _claim_matrix(self, cone: ConeRows, matrix: sp.csr_array, rhs: Array) -> None:
        """Make a matrix variable if all entries are different free columns."""
        place = matrix.indices
        if np.any(np.diff(matrix.indptr) != 1) or not self._free[place].all():
            return
        if np.unique(place).size != place.size:
            return
        variable = PsdVariable(self._name(cone.label, place), cone.order)
        self._free[place] = False
        self.found.append(Piece(variable, place, rhs / matrix.data, -1.0 / matrix.data, cone))

    def _name(self, label: str, place: Index) -> str:
        """A new name: that of the columns if no others have it, else that of the cone."""
        for columns in self.program.columns:
            if np.array_equal(np.sort(columns.place), np.sort(place)):
                label = columns.name
        return self._names.take(label)

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
                self.found.append(Piece(variable, place, 0.0 * ones, ones))

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
