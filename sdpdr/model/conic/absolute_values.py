r"""Penalties on absolute values as equations with an excess on either side.

cvxpy writes ``abs(v)`` in a cost as an unknown t with the rows :math:`v \le t` and
:math:`-v \le t`. The equation :math:`v = v_+ - v_-` with the cost of :math:`v_+ + v_-` says the
same by one row, which keeps the structure of v: that of an edge's length, for instance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.model.conic.program import AUXILIARY, Columns, ConeRows, ConicProgram, widened
from sdpdr.model.labels import Labels

_LABEL = "absolute values"


@dataclass(frozen=True, eq=False)
class AbsoluteValues:
    """A program in which penalties on absolute values are equations, and the way back.

    Attributes
    ----------
    program : ConicProgram
        Its last rows are the equations, and the signs of both excesses; its last columns are these.
    given : ConicProgram
    column : array of int
        The bounds t of absolute values.
    upper, lower : arrays of int
        The rows with v and with -v.
    scale : array
        What t is multiplied by in these rows.
    """

    program: ConicProgram
    given: ConicProgram
    column: Index
    upper: Index
    lower: Index
    scale: Array

    def primal(self, x: Array) -> Array:
        """Unknowns of the original program."""
        count = self.column.size
        full = np.zeros(self.given.cost.size)
        full[np.setdiff1d(np.arange(full.size), self.column)] = x[: x.size - 2 * count]
        over, under = x[-2 * count : -count], x[-count:]
        full[self.column] = (over + under) / self.scale
        return full

    def dual(self, z: Array, squares: Array) -> tuple[Array, Array]:
        """Multipliers of the original program, of its rows and of its squares."""
        count = self.column.size
        full = np.zeros(self.given.rhs.size)
        gone = np.concatenate([self.upper, self.lower])
        full[np.setdiff1d(np.arange(full.size), gone)] = z[: z.size - 3 * count]
        y, total = z[-3 * count : -2 * count], self.given.cost[self.column] / self.scale
        full[self.upper], full[self.lower] = (total + y) / 2.0, (total - y) / 2.0
        return full, squares


def absolute_values(program: ConicProgram) -> AbsoluteValues | None:
    """The program with equations for penalized absolute values; None if there are none.

    Only values that depend on matrices are meant: solvers of linear programs do as well with rows.

    Examples
    --------
    The absolute value of x - 3, where x is the only entry of a matrix:

    >>> matrix = sp.csr_array([[1.0, -1.0], [-1.0, -1.0], [-1.0, 0.0]])
    >>> columns = [Columns("x", np.arange(1)), Columns("auxiliary", np.arange(1, 2))]
    >>> bounds = ConeRows("nonnegative", "a", np.arange(2))
    >>> psd = ConeRows("psd", "b", np.array([2]))
    >>> cost, rhs = np.array([0.0, 5.0]), np.array([3.0, -3.0, 0.0])
    >>> given = ConicProgram(cost, 0.0, matrix, rhs, [bounds, psd], columns)
    >>> found = absolute_values(given)
    >>> found.program.matrix.toarray()[1].tolist(), found.program.cost.tolist()
    ([1.0, -1.0, 1.0], [0.0, 5.0, 5.0])
    >>> found.primal(np.array([1.0, 0.0, 2.0]))
    array([1., 2.])
    """
    candidates = _candidates(program)
    if not candidates.any():
        return None
    column, upper, lower = _bounds(program, candidates)
    return _with_equations(program, column, upper, lower) if column.size else None


def _candidates(program: ConicProgram) -> NDArray[np.bool_]:
    """Whether each unknown costs something, and is bounded from below by two rows and nothing else.

    A program without matrices has none.
    """
    matrix, n = program.matrix, program.cost.size
    candidates = program.are_called(AUXILIARY) & (program.cost > 0.0)
    if not candidates.any() or not any(cone.kind == "psd" for cone in program.cones):
        return np.zeros(n, dtype=bool)
    owner, columns = program.row_of_entries(), matrix.indices
    candidates &= np.bincount(columns, minlength=n) == 2
    if program.root is not None:
        candidates[program.root.indices] = False
    candidates[columns[~program.are_of("nonnegative")[owner]]] = False
    candidates[columns[matrix.data >= 0.0]] = False
    return candidates


def _bounds(program: ConicProgram, candidates: NDArray[np.bool_]) -> tuple[Index, Index, Index]:
    """Unknowns that bound absolute values, and the rows with v and with -v."""
    matrix, owner = program.matrix, program.row_of_entries()
    columns = matrix.indices
    entries = np.flatnonzero(candidates[columns])
    entries = entries[np.argsort(columns[entries], kind="stable")]
    first, second = entries[::2], entries[1::2]
    column, upper, lower = columns[first], owner[first], owner[second]
    # A row with several candidates would be needed by each of them.
    uses = np.bincount(owner[entries], minlength=program.rhs.size)
    fits = (matrix.data[first] == matrix.data[second]) & (uses[upper] == 1) & (uses[lower] == 1)
    fits &= (upper != lower) & (program.rhs[upper] == -program.rhs[lower])
    column, upper, lower = column[fits], upper[fits], lower[fits]
    fits = _are_opposite(matrix, column, upper, lower) & _touch_matrices(program, upper)
    return column[fits], upper[fits], lower[fits]


def _are_opposite(
    matrix: sp.csr_array, column: Index, upper: Index, lower: Index
) -> NDArray[np.bool_]:
    """Whether two rows are each other's negative, but for a column each."""
    sums = sp.csr_array(matrix[upper] + matrix[lower])
    sums.eliminate_zeros()
    is_alone = np.diff(sums.indptr) == 1
    found = np.zeros(column.size, dtype=bool)
    found[is_alone] = sums.indices[sums.indptr[:-1][is_alone]] == column[is_alone]
    return found


def _touch_matrices(program: ConicProgram, rows: Index) -> NDArray[np.bool_]:
    """Whether each row has an entry in a column of a matrix that is positive semidefinite."""
    inside = program.are_of("psd")[program.row_of_entries()]
    of_matrices = np.zeros(program.cost.size)
    of_matrices[program.matrix.indices[inside]] = 1.0
    return np.asarray(abs(program.matrix[rows]) @ of_matrices > 0.0)


def _with_equations(
    program: ConicProgram, column: Index, upper: Index, lower: Index
) -> AbsoluteValues:
    """The program with an equation in place of two rows, and two unknowns in place of one."""
    (m, n), count = program.matrix.shape, column.size
    rows = np.setdiff1d(np.arange(m), np.concatenate([upper, lower]))
    smaller = program.keeping(rows, np.setdiff1d(np.arange(n), column))
    scale = -np.asarray(program.matrix[upper, column]).ravel()
    values = program.keeping(upper, np.setdiff1d(np.arange(n), column)).matrix
    weight = program.cost[column] / scale
    eye = sp.eye_array(count, format="csr")
    blocks = [
        [smaller.matrix, None, None],
        [values, -eye, eye],
        [None, -eye, None],
        [None, None, -eye],
    ]
    matrix = sp.csr_array(sp.block_array(blocks, format="csr"))
    matrix.sort_indices()
    start, labels = rows.size, Labels(cone.label for cone in program.cones)
    equations = ConeRows("zero", labels.unique(_LABEL), start + np.arange(count))
    signs = ConeRows(
        "nonnegative", f"{equations.label}.signs", start + count + np.arange(2 * count)
    )
    changed = replace(
        smaller,
        cost=np.concatenate([smaller.cost, weight, weight]),
        matrix=matrix,
        rhs=np.concatenate([smaller.rhs, program.rhs[upper], np.zeros(2 * count)]),
        cones=[*smaller.cones, equations, signs],
        columns=[*smaller.columns, Columns(_LABEL, n - count + np.arange(2 * count))],
        root=widened(smaller.root, 2 * count),
    )
    return AbsoluteValues(changed, program, column, upper, lower, scale)
