r"""Penalties on absolute values as equations with an excess on either side.

cvxpy writes ``abs(v)`` in a cost as an unknown t with the rows :math:`v \le t` and
:math:`-v \le t`. The equation :math:`v = v_+ - v_-` with the cost of :math:`v_+ + v_-` says the
same by one row, which keeps the structure of v: that of an edge's length, for instance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Index
from sdpdr.model.conic.program import AUXILIARY, Columns, ConeRows, ConicProgram, widened
from sdpdr.model.conic.step import Step, in_order, unit_columns
from sdpdr.model.labels import Labels

_LABEL = "absolute values"


def absolute_values(program: ConicProgram) -> Step | None:
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


def _with_equations(program: ConicProgram, column: Index, upper: Index, lower: Index) -> Step:
    """The program with an equation in place of two rows, and two unknowns in place of one."""
    (m, n), count = program.matrix.shape, column.size
    pairs = np.concatenate([upper, lower])
    kept, row = np.setdiff1d(np.arange(n), column), np.setdiff1d(np.arange(m), pairs)
    step = Step.substituting(program, kept, row, defining=(pairs, np.tile(column, 2)))
    smaller, eye = step.program, sp.eye_array(count, format="csr")
    scale = -np.asarray(program.matrix[upper, column]).ravel()
    weight, start = program.cost[column] / scale, row.size
    matrix = sp.block_array(
        [
            [smaller.matrix, None, None],
            [program.matrix[upper][:, kept], -eye, eye],
            [None, -eye, None],
            [None, None, -eye],
        ]
    )
    label = Labels(cone.label for cone in program.cones).unique(_LABEL)
    signs = start + count + np.arange(2 * count)
    changed = replace(
        smaller,
        cost=np.concatenate([smaller.cost, weight, weight]),
        matrix=in_order(matrix),
        rhs=np.concatenate([smaller.rhs, program.rhs[upper], np.zeros(2 * count)]),
        cones=[
            *smaller.cones,
            ConeRows("zero", label, start + np.arange(count)),
            ConeRows("nonnegative", f"{label}.signs", signs),
        ],
        columns=[*smaller.columns, Columns(_LABEL, kept.size + np.arange(2 * count))],
        root=None if smaller.root is None else widened(smaller.root, 2 * count),
    )
    # t is the sum of both excesses over its scale. The multiplier y of the equation is the
    # difference of those of both rows, whose sum follows from the column of t.
    sums = unit_columns(column, n) @ sp.diags_array(1.0 / scale)
    differences = (unit_columns(upper, m) - unit_columns(lower, m)) / 2.0
    nothing = sp.csr_array((m, 2 * count))
    return replace(
        step,
        program=changed,
        columns=in_order(sp.hstack([step.columns, sums, sums])),
        rows=in_order(sp.hstack([step.rows, differences, nothing])),
    )
