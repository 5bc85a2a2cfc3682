"""Eliminate unknowns of a conic program that only name expressions which are squared.

cvxpy writes ``sum_squares(X - G)`` as the squares of new unknowns y, with the equation y = X - G,
entry by entry, even if X is symmetric. An unknown that is in the squares and in a single equation
is defined by that equation. After its elimination the squares are those of X - G, and an expression
that is squared twice is squared once, with twice the weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.model.conic.cones import merging_weights
from sdpdr.model.conic.program import AUXILIARY, ConicProgram


@dataclass(frozen=True, eq=False)
class Defined:
    """A program without the unknowns that equations define, and the way back.

    Attributes
    ----------
    program : ConicProgram
    given : ConicProgram
    column, row : arrays of int
        The eliminated unknowns, and the equations that define them.
    entry : array
        Coefficients of these unknowns in these equations.
    weights : sparse array
        The merged squared expressions as combinations of the previous ones, of the same length.
    """

    program: ConicProgram
    given: ConicProgram
    column: Index
    row: Index
    entry: Array
    weights: sp.csr_array

    def primal(self, x: Array) -> Array:
        """Unknowns of the original program."""
        full = _spread(x, self.column, self.given.cost.size)
        left = (self.given.rhs - self.given.matrix @ full)[self.row]
        full[self.column] = left / self.entry
        return full

    def dual(self, z: Array, squares: Array) -> tuple[Array, Array]:
        """Multipliers of the original program, of its rows and of its squares."""
        assert self.given.root is not None
        full, own = _spread(z, self.row, self.given.rhs.size), self.weights.T @ squares
        slack = self.given.cost + self.given.root.T @ own
        full[self.row] = -slack[self.column] / self.entry
        return full, own


def defined(program: ConicProgram) -> Defined | None:
    """The program without unknowns that equations define; None if there are none.

    Examples
    --------
    The squares of y, where y = x - 3, twice:

    >>> from sdpdr.model.conic.program import Columns, ConeRows
    >>> rows = sp.csr_array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]])
    >>> root = sp.csr_array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> columns = [Columns("x", np.arange(1)), Columns("auxiliary", np.arange(1, 3))]
    >>> cones = [ConeRows("zero", "y", np.arange(2))]
    >>> given = ConicProgram(np.zeros(3), 0.0, rows, np.full(2, 3.0), cones, columns, root=root)
    >>> found = defined(given)
    >>> found.program.root.toarray().round(3), found.program.root_shift.round(3)
    (array([[1.414]]), array([-4.243]))
    >>> found.primal(np.array([5.0]))
    array([5., 2., 2.])
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


def _without(program: ConicProgram, column: Index, row: Index, entry: Array) -> Defined:
    """The program with definitions substituted for the unknowns."""
    assert program.root is not None
    m, n = program.matrix.shape
    kept, rows = np.setdiff1d(np.arange(n), column), np.setdiff1d(np.arange(m), row)
    spread, offset = _substitution(program, kept, column, row, entry)
    root, shift = sp.csr_array(program.root @ spread), program.root @ offset
    root.sort_indices()
    constant = program.constant + float(program.cost @ offset)
    nonempty = np.diff(root.indptr) > 0
    constant += 0.5 * float(shift[~nonempty] @ shift[~nonempty])
    shift = np.where(nonempty, shift, 0.0)
    weights = merging_weights(root, shift)
    smaller = program.keeping(
        rows,
        kept,
        cost=np.asarray(spread.T @ program.cost),
        constant=constant,
        root=sp.csr_array(weights @ root),
        root_shift=weights @ shift,
    )
    return Defined(smaller, program, column, row, entry, weights)


def _substitution(
    program: ConicProgram, kept: Index, column: Index, row: Index, entry: Array
) -> tuple[sp.csr_array, Array]:
    """A matrix and a vector that give all unknowns from the remaining ones."""
    n = program.cost.size
    scale = sp.diags_array(-1.0 / entry, format="csr")
    said = sp.csr_array(scale @ program.matrix[row][:, kept])
    place = np.empty(n, dtype=np.intp)
    place[np.concatenate([kept, column])] = np.arange(n)
    spread = sp.csr_array(sp.vstack([sp.eye_array(kept.size, format="csr"), said])[place])
    return spread, _spread(program.rhs[row] / entry, kept, n)


def _spread(numbers: Array, gone: Index, size: int) -> Array:
    """A vector with numbers at the remaining positions, and zeros at those eliminated."""
    full = np.zeros(size)
    full[np.setdiff1d(np.arange(size), gone)] = numbers
    return full
