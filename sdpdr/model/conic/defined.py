"""Eliminate unknowns of a conic program that only name expressions which are squared.

cvxpy writes ``sum_squares(X - G)`` as the squares of new unknowns y, with the equation y = X - G,
entry by entry, even if X is symmetric. An unknown that is in the squares and in a single equation
is defined by that equation. After its elimination the squares are those of X - G.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.model.conic.program import AUXILIARY, ConicProgram
from sdpdr.model.conic.step import Step, in_order, unit_columns


def defined(program: ConicProgram) -> Step | None:
    """The program without unknowns that equations define; None if there are none.

    Examples
    --------
    The square of y, where y = x - 3:

    >>> from sdpdr.model.conic.program import Columns, ConeRows
    >>> rows, root = sp.csr_array([[1.0, -1.0]]), sp.csr_array([[0.0, 2.0]])
    >>> columns = [Columns("x", np.arange(1)), Columns("auxiliary", np.arange(1, 2))]
    >>> cones = [ConeRows("zero", "y", np.arange(1))]
    >>> given = ConicProgram(np.zeros(2), 0.0, rows, np.full(1, 3.0), cones, columns, root=root)
    >>> found = defined(given)
    >>> found.program.root.toarray(), found.program.root_shift
    (array([[2.]]), array([-6.]))
    >>> found.primal(np.array([5.0]))
    array([5., 2.])
    """
    if program.root is None:
        return None
    column, row, entry = _definitions(program)
    return None if not column.size else _without(program, column, row, entry)


def _definitions(program: ConicProgram) -> tuple[Index, Index, Array]:
    """Unknowns that are squared alone and in one equation; their equations and coefficients."""
    assert program.root is not None
    matrix, root = program.matrix, program.root
    n, owner = matrix.shape[1], program.row_of_entries()
    equations, chosen = program.are_of("zero"), program.are_called(AUXILIARY)
    # Substituting for other unknowns would make the squares dense.
    lengths = np.diff(root.indptr)
    chosen[root.indices[np.repeat(lengths > 1, lengths)]] = False
    chosen &= np.bincount(root.indices, minlength=n) > 0
    chosen &= np.bincount(matrix.indices, minlength=n) == 1
    entries = np.flatnonzero(chosen[matrix.indices] & equations[owner])
    # If an equation has several such unknowns, it defines the one with the largest coefficient.
    entries = entries[np.lexsort((-np.abs(matrix.data[entries]), owner[entries]))]
    entries = entries[np.diff(owner[entries], prepend=-1) > 0]
    return matrix.indices[entries], owner[entries], matrix.data[entries]


def _without(program: ConicProgram, column: Index, row: Index, entry: Array) -> Step:
    """The program with definitions substituted for the unknowns."""
    (m, n), scale = program.matrix.shape, sp.diags_array(1.0 / entry, format="csr")
    kept, rows = np.setdiff1d(np.arange(n), column), np.setdiff1d(np.arange(m), row)
    unit = unit_columns(column, n)
    said = unit_columns(kept, n) - unit @ scale @ program.matrix[row][:, kept]
    return Step.substituting(
        program,
        kept,
        rows,
        columns=in_order(said),
        shift=unit @ (program.rhs[row] / entry),
        defining=(row, column),
    )
