r"""Programs over cones: a cost, a matrix, and a list of cones.

.. math::

    \min\ \tfrac12 |R x|^2 + c^T x + d
    \quad\text{s.t.}\quad b - A x \in K_1 \times \dots \times K_p,

with the dual :math:`\max\ d - b^T z - \tfrac12 |y|^2` over :math:`z \in K_1^* \times \dots \times
K_p^*` and y with :math:`c + A^T z + R^T y = 0`. It is what cvxpy gives to solvers.

Here its columns become variables of the standard form. A matrix whose entries are, up to scale and
shift, columns of their own is a matrix variable; a column that a row bounds from below by zero is a
non-negative scalar. All other columns are free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, SvecMap, VectorMap, svec_size
from sdpdr.linalg.svec import svec_pairs
from sdpdr.model.block import relabel
from sdpdr.program.point import PsdVariable, Value, Variable, VectorVariable, as_dense

# The name of R x and of its rows.
SQUARES = "squares"

Kind = Literal["zero", "nonnegative", "second-order", "psd"]


@dataclass(frozen=True, eq=False)
class Cone:
    """Rows of a conic program that lie in one cone.

    Attributes
    ----------
    kind : {"zero", "nonnegative", "second-order", "psd"}
    label : str
        Unique in a program.
    rows : array of int
        Of a second-order cone the bound comes first; of a matrix all entries come, column by
        column, and its symmetric part is what is positive semidefinite.
    """

    kind: Kind
    label: str
    rows: Index


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
    cones : sequence of Cone
        Every row is in one.
    columns : sequence of Columns
        Every column is in one.
    maximize : bool
        Whether the person maximises the negative of what is minimised here.
    name : str
    root : sparse array of shape (r, n), optional
        R; without it the cost is affine.
    """

    cost: Array
    constant: float
    matrix: sp.csr_array
    rhs: Array
    cones: Sequence[Cone]
    columns: Sequence[Columns]
    maximize: bool = False
    name: str = ""
    root: sp.csr_array | None = None


@dataclass(frozen=True, eq=False)
class Piece:
    """A variable and the columns that it stands for, ``x[place] = shift + scale * entries``.

    Attributes
    ----------
    variable : PsdVariable or VectorVariable
    place : array of int
        Of a matrix, in the order of ``svec``.
    shift, scale : array
    cone : Cone or None
        Whose rows say no more than that the variable is positive semidefinite.
    """

    variable: Variable
    place: Index
    shift: Array
    scale: Array
    cone: Cone | None = None

    def map(self, rows: sp.csr_array) -> LinearMap | VectorMap:
        """Rows of the whole matrix, restricted to the `place` and scaled, as a map."""
        if isinstance(self.variable, PsdVariable):
            return SvecMap.from_natural(self.variable.n, rows)
        return VectorMap(rows)

    def of(self, matrix: sp.csc_array) -> sp.csr_array:
        """What a matrix has in these columns, in the units of the variable."""
        scale = self.scale
        if isinstance(self.variable, PsdVariable):
            i, j = svec_pairs(np.arange(self.place.size))
            # Rows are symmetric matrices, which have either entry off the diagonal twice.
            scale = np.where(i == j, scale, scale / 2.0)
        return sp.csr_array(matrix[:, self.place] @ sp.diags_array(scale))

    def columns(self, value: Value) -> Array:
        """Values of the columns at a value of the variable."""
        dense = as_dense(value)
        if isinstance(self.variable, PsdVariable):
            i, j = svec_pairs(np.arange(self.place.size))
            dense = dense[i, j]
        return np.asarray(self.shift + self.scale * dense)


@dataclass(eq=False)
class Pieces:
    """All columns of a conic program, and the rows that are said by signs of variables.

    Attributes
    ----------
    program : ConicProgram
    found : list of Piece
    signs : dict from row to column
        Rows that say no more than that a column is not negative.
    """

    program: ConicProgram
    found: list[Piece] = field(default_factory=list)
    signs: dict[int, int] = field(default_factory=dict)
    _free: Array = field(init=False, repr=False)
    _names: set[str] = field(default_factory=lambda: {SQUARES}, repr=False)

    def __post_init__(self) -> None:
        self._free = np.ones(self.program.cost.size, dtype=bool)
        for cone in self.program.cones:
            if cone.kind == "psd":
                self._claim_matrix(cone)
        for cone in self.program.cones:
            if cone.kind == "nonnegative":
                self._claim_signs(cone)
        self._claim_rest()

    def _claim_matrix(self, cone: Cone) -> None:
        """A matrix variable, where entries are columns of their own."""
        matrix, rhs = symmetric_rows(self.program, cone)
        place = matrix.indices
        if np.any(np.diff(matrix.indptr) != 1) or not self._free[place].all():
            return
        if np.unique(place).size != place.size:
            return
        order = round(np.sqrt(cone.rows.size))
        variable = PsdVariable(self._name(cone.label, place), order)
        self._free[place] = False
        self.found.append(Piece(variable, place, rhs / matrix.data, -1.0 / matrix.data, cone))

    def _name(self, label: str, place: Index) -> str:
        """The name of the columns, if they are all that has the name, else that of the cone."""
        for columns in self.program.columns:
            if np.array_equal(np.sort(columns.place), np.sort(place)):
                label = columns.name
        return self._new(label)

    def _new(self, name: str) -> str:
        name = relabel(name, self._names)
        self._names.add(name)
        return name

    def _claim_signs(self, cone: Cone) -> None:
        """Columns that a row bounds from below by zero."""
        rows = self.program.matrix[cone.rows]
        alone = np.flatnonzero((np.diff(rows.indptr) == 1) & (self.program.rhs[cone.rows] == 0.0))
        first = rows.indptr[alone]
        for row, column, entry in zip(alone, rows.indices[first], rows.data[first], strict=True):
            if entry < 0.0 and self._free[column]:
                self._free[column] = False
                self.signs[int(cone.rows[row])] = int(column)

    def _claim_rest(self) -> None:
        """Vectors of what is left, by the names of the columns."""
        signed = np.zeros(self._free.size, dtype=bool)
        signed[list(self.signs.values())] = True
        for columns in self.program.columns:
            for suffix, kind in (("", self._free), (".nonnegative", signed)):
                place = columns.place[kind[columns.place]]
                if place.size == 0:
                    continue
                whole = place.size == columns.place.size
                name = self._new(columns.name if whole else f"{columns.name}{suffix}")
                variable = VectorVariable(name, place.size, nonnegative=bool(suffix))
                ones = np.ones(place.size)
                self.found.append(Piece(variable, place, 0.0 * ones, ones))

    def shift(self) -> Array:
        """Values of all columns where all variables are zero."""
        x = np.zeros(self._free.size)
        for piece in self.found:
            x[piece.place] = piece.shift
        return x

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.found)


def symmetric_rows(program: ConicProgram, cone: Cone) -> tuple[sp.csr_array, Array]:
    """Rows and right sides of the upper triangle of a matrix, in the order of ``svec``."""
    order = round(np.sqrt(cone.rows.size))
    i, j = svec_pairs(np.arange(svec_size(order)))
    upper, lower = cone.rows[j * order + i], cone.rows[i * order + j]
    matrix = sp.csr_array((program.matrix[upper] + program.matrix[lower]) / 2.0)
    matrix.eliminate_zeros()
    return matrix, (program.rhs[upper] + program.rhs[lower]) / 2.0
