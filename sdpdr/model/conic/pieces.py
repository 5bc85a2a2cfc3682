r"""Programs over cones: a cost, a matrix, and a list of cones.

.. math::

    \min\ \tfrac12 |R x + r|^2 + c^T x + d
    \quad\text{s.t.}\quad b - A x \in K_1 \times \dots \times K_p,

with the dual :math:`\max\ d - b^T z - \tfrac12 |y|^2` over :math:`z \in K_1^* \times \dots \times
K_p^*` and y with :math:`c + A^T z + R^T y = 0`. This is the form that cvxpy passes to solvers.

Here its columns become variables of the standard form. A matrix whose entries are different
columns, up to scale and shift, becomes a matrix variable; a column that a row bounds from below by
zero becomes a nonnegative scalar. All other columns are free.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, rows_as_they_are
from sdpdr.linalg import LinearMap, VectorMap, svec_size
from sdpdr.linalg.svec import svec_pairs
from sdpdr.model.conic.recognise import MatrixRows
from sdpdr.model.labels import Labels
from sdpdr.program.point import PsdVariable, Value, Variable, VectorVariable, as_dense

# The name of R x and of its rows, and the name of columns that cvxpy has added.
SQUARES, AUXILIARY = "squares", "auxiliary"

Kind = Literal["zero", "nonnegative", "second-order", "psd"]


@dataclass(frozen=True, eq=False)
class ConeRows:
    """Rows of a conic program that lie in one cone.

    Attributes
    ----------
    kind : {"zero", "nonnegative", "second-order", "psd"}
    label : str
        Unique in a program.
    rows : array of int
        For a second-order cone, the bound comes first. For a matrix, these are all entries, column
        by column, and its symmetric part is positive semidefinite.
    """

    kind: Kind
    label: str
    rows: Index

    @property
    def order(self) -> int:
        """Order of a matrix."""
        return round(np.sqrt(self.rows.size))

    def entries(self) -> tuple[Index, Index]:
        """Rows of entries (i, j) of a matrix, and of (j, i), in the order of ``svec``."""
        i, j = svec_pairs(np.arange(svec_size(self.order)))
        return self.rows[j * self.order + i], self.rows[i * self.order + j]


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a conic program that have a name.

    Attributes
    ----------
    name : str
    place : array of int
    """

    name: str
    place: Index


@dataclass(frozen=True, eq=False)
class ConicProgram:
    """A program over cones (see the module's text).

    Attributes
    ----------
    cost : array of shape (n,)
    constant : float
    matrix : sparse array of shape (m, n)
    rhs : array of shape (m,)
    cones : sequence of ConeRows
        Every row is in one.
    columns : sequence of Columns
        Every column is in one.
    maximize : bool
        Whether the problem maximises the negative of this objective.
    name : str
    root : sparse array of shape (k, n), optional
        R; without it the cost is affine.
    root_shift : array of shape (k,), optional
        r; zero without it.
    arguments : str, optional
        The name of columns that stand for expressions, which stay free variables in any case.
    """

    cost: Array
    constant: float
    matrix: sp.csr_array
    rhs: Array
    cones: Sequence[ConeRows]
    columns: Sequence[Columns]
    maximize: bool = False
    name: str = ""
    root: sp.csr_array | None = None
    root_shift: Array | None = None
    arguments: str | None = None

    def row_of_entries(self) -> Index:
        """The row of every entry of the matrix."""
        return np.repeat(np.arange(self.rhs.size), np.diff(self.matrix.indptr))

    def are_of(self, kind: Kind) -> NDArray[np.bool_]:
        """Whether each row lies in a cone of a kind."""
        found = np.zeros(self.rhs.size, dtype=bool)
        for cone in self.cones:
            if cone.kind == kind:
                found[cone.rows] = True
        return found

    def are_called(self, name: str | None) -> NDArray[np.bool_]:
        """Whether each column has a name; columns added by cvxpy are called `AUXILIARY`."""
        found = np.zeros(self.cost.size, dtype=bool)
        for columns in self.columns:
            found[columns.place] = columns.name == name
        return found


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


def renumbered(places: Index, kept: Index, size: int) -> Index:
    """The new numbers of those positions that are kept."""
    number = np.full(size, -1)
    number[kept] = np.arange(kept.size)
    return number[places][number[places] >= 0]


def taken(matrix: sp.csr_array, rows: Index) -> sp.csr_array:
    """Rows of a matrix, without copying if they are contiguous."""
    if not rows.size or np.any(rows[1:] - rows[:-1] != 1):
        return matrix[rows]
    ends = matrix.indptr[rows[0] : rows[-1] + 2]
    part = slice(ends[0], ends[-1])
    entries = (matrix.data[part], matrix.indices[part], ends - ends[0])
    return rows_as_they_are(*entries, (rows.size, matrix.shape[1]))


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
