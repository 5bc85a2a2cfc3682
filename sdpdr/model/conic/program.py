r"""Programs over cones: a cost, a matrix, and a list of cones.

.. math::

    \min\ \tfrac12 |R x + r|^2 + c^T x + d
    \quad\text{s.t.}\quad b - A x \in K_1 \times \dots \times K_p,

with the dual :math:`\max\ d - b^T z - \tfrac12 |y|^2` over :math:`z \in K_1^* \times \dots \times
K_p^*` and y with :math:`c + A^T z + R^T y = 0`. This is the form that cvxpy passes to solvers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import (
    ALLOWED,
    Array,
    Index,
    chosen_rows,
    is_admissible,
    rows_as_they_are,
)
from sdpdr.base.errors import ModelError
from sdpdr.linalg import svec_size
from sdpdr.linalg.svec import svec_pairs

# The name of R x and of its rows, and the name of columns that cvxpy has added.
SQUARES, AUXILIARY = "squares", "auxiliary"

Kind = Literal["zero", "nonnegative", "second-order", "psd", "exponential", "power"]


@dataclass(frozen=True, eq=False)
class ConeRows:
    r"""Rows of a conic program that lie in one cone.

    Attributes
    ----------
    kind : {"zero", "nonnegative", "second-order", "psd", "exponential", "power"}
    label : str
        Unique in a program.
    rows : array of int
        For a second-order cone, the bound comes first. For a matrix, these are all entries, column
        by column, and its symmetric part is positive semidefinite. An exponential cone has the
        points with :math:`y e^{x/y} \le z` and their limits.
    exponent : float
        That of a power cone.
    """

    kind: Kind
    label: str
    rows: Index
    exponent: float = 0.0

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

    def dual_slack(self, z: Array, squares: Array) -> Array:
        """The slack c + A^T z + R^T y of multipliers z of rows and y of squares."""
        found = self.cost + self.matrix.T @ z
        return np.asarray(found if self.root is None else found + self.root.T @ squares)


def taken(matrix: sp.csr_array, rows: Index) -> sp.csr_array:
    """Rows of a matrix, without copying if they are contiguous."""
    if not rows.size or np.any(rows[1:] - rows[:-1] != 1):
        return chosen_rows(matrix, rows)
    ends = matrix.indptr[rows[0] : rows[-1] + 2]
    part = slice(ends[0], ends[-1])
    entries = (matrix.data[part], matrix.indices[part], ends - ends[0])
    return rows_as_they_are(*entries, (rows.size, matrix.shape[1]))


def widened(matrix: sp.csr_array, more: int) -> sp.csr_array:
    """A matrix with further columns, which are zero."""
    return sp.csr_array(sp.hstack([matrix, sp.csr_array((matrix.shape[0], more))], format="csr"))


def with_numbers(program: ConicProgram) -> ConicProgram:
    """The program, in which an inequality without a limit, such as ``x <= inf``, reads ``0 <= 1``.

    Raises
    ------
    ModelError
        If another number is out of the range of `sdpdr.base.arrays`; the error names the
        constraint.
    """
    matrix, rhs = program.matrix, program.rhs
    limitless = (rhs == np.inf) & program.are_of("nonnegative")
    # Beside the rest of its row, or of its matrix, a tiny number may be rounding.
    tiny = (np.abs(rhs) <= 1.0) & ~program.are_of("zero") & ~program.are_of("nonnegative")
    largest = np.zeros(rhs.size)
    np.maximum.at(largest, program.row_of_entries(), np.abs(matrix.data))
    sides = np.flatnonzero(~(is_admissible(rhs) | tiny | limitless))
    rows = np.flatnonzero(~is_admissible(largest))
    cost = float(np.max(np.abs(program.cost), initial=0.0))
    if sides.size:
        label, number = _label(program, sides[0]), rhs[sides[0]]
        raise ModelError(
            f"{label!r}: a constant is {number:g}; it must be {ALLOWED}. Choose other units, or "
            "leave a constraint out to have no limit."
        )
    where = f"{_label(program, rows[0])!r}" if rows.size else "the objective"
    number = largest[rows[0]] if rows.size else cost
    if not is_admissible(number):
        raise ModelError(
            f"{where}: the largest coefficient is {number:g}; it must be {ALLOWED}. Choose other "
            "units."
        )
    if not limitless.any():
        return program
    entries = np.where(limitless[program.row_of_entries()], 0.0, matrix.data)
    emptied = sp.csr_array((entries, matrix.indices, matrix.indptr), shape=matrix.shape)
    emptied.eliminate_zeros()
    return replace(program, matrix=emptied, rhs=np.where(limitless, 1.0, rhs))


def _label(program: ConicProgram, row: int) -> str:
    """The label of the constraint of a row."""
    return next(cone.label for cone in program.cones if row in cone.rows)
