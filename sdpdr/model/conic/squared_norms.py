r"""Squares of norms as sums of squares.

cvxpy writes ``norm(X - G, "fro") ** 2`` as the square of an unknown t with a second-order cone
:math:`\|v\| \le t`. Where t is in nothing else, its square is the sum of those of v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.model.conic.cones import merging_weights
from sdpdr.model.conic.program import AUXILIARY, ConeRows, ConicProgram, taken


@dataclass(frozen=True, eq=False)
class SquaredNorm:
    """A second-order cone whose bound is squared in the cost and in nothing else.

    Attributes
    ----------
    cone : ConeRows
    column : int
        The bound t.
    square : int
        The row of the squares that t is in.
    scale : float
        The squared expressions are v times this.
    """

    cone: ConeRows
    column: int
    square: int
    scale: float


@dataclass(frozen=True, eq=False)
class SquaredNorms:
    """A program in which squared norms are sums of squares, and the way back.

    Attributes
    ----------
    program, given : ConicProgram
    norms : list of SquaredNorm
    column, row, square : arrays of int
        The columns, rows and squares of the original program that remain.
    weights : sparse array
        The squared expressions as combinations of the remaining ones and all v, of the same length.
    """

    program: ConicProgram
    given: ConicProgram
    norms: list[SquaredNorm]
    column: Index
    row: Index
    square: Index
    weights: sp.csr_array

    def primal(self, x: Array) -> Array:
        """Unknowns of the original program."""
        full = np.zeros(self.given.cost.size)
        full[self.column] = x
        for norm in self.norms:
            rows = norm.cone.rows
            slack = self.given.rhs[rows[1:]] - self.given.matrix[rows[1:]] @ full
            full[norm.column] = np.linalg.norm(slack) / -self.given.matrix[rows[0], norm.column]
        return full

    def dual(self, z: Array, squares: Array) -> tuple[Array, Array]:
        """Multipliers of the original program, of its rows and of its squares."""
        assert self.given.root is not None
        full, every = np.zeros(self.given.rhs.size), np.zeros(self.given.root.shape[0])
        full[self.row] = z
        apart = self.weights.T @ squares
        every[self.square] = apart[: self.square.size]
        start = self.square.size
        for norm in self.norms:
            rows = norm.cone.rows
            y = apart[start : start + rows.size - 1]
            start += y.size
            every[norm.square] = np.linalg.norm(y)
            full[rows] = norm.scale * np.append(np.linalg.norm(y), -y)
        return full, every


def squared_norms(program: ConicProgram) -> SquaredNorms | None:
    r"""The program in which squared norms are sums of squares; None if there are none.

    Examples
    --------
    Half the square of t, where :math:`\|(x - 3, x)\| \le t`:

    >>> from sdpdr.model.conic.program import Columns
    >>> matrix = sp.csr_array([[0.0, -1.0], [-1.0, 0.0], [-1.0, 0.0]])
    >>> columns = [Columns("x", np.arange(1)), Columns("auxiliary", np.arange(1, 2))]
    >>> cones = [ConeRows("second-order", "norm", np.arange(3))]
    >>> rhs, root = np.array([0.0, -3.0, 0.0]), sp.csr_array([[0.0, 1.0]])
    >>> given = ConicProgram(np.zeros(2), 0.0, matrix, rhs, cones, columns, root=root)
    >>> found = squared_norms(given)
    >>> found.program.root.toarray().tolist(), found.program.root_shift.tolist()
    ([[1.0], [1.0]], [-3.0, 0.0])
    >>> found.primal(np.array([3.0]))
    array([3., 3.])
    """
    norms = [] if program.root is None else _norms(program)
    return _with_squares(program, norms) if norms else None


def _norms(program: ConicProgram) -> list[SquaredNorm]:
    """The norms whose bounds are squared, and are in nothing else."""
    matrix, root, shift = program.matrix, program.root, program.root_shift
    assert root is not None
    is_own = program.are_called(AUXILIARY) & (program.cost == 0.0)
    is_own &= np.bincount(matrix.indices, minlength=is_own.size) == 1
    is_own &= np.bincount(root.indices, minlength=is_own.size) == 1
    alone = np.flatnonzero(np.diff(root.indptr) == 1)
    if shift is not None:
        alone = alone[shift[alone] == 0.0]
    square = dict(zip(root.indices[root.indptr[alone]].tolist(), alone.tolist(), strict=True))
    found = []
    for cone in program.cones:
        bound = taken(matrix, cone.rows[:1])
        if cone.kind != "second-order" or bound.nnz != 1 or program.rhs[cone.rows[0]] != 0.0:
            continue
        t = int(bound.indices[0])
        if is_own[t] and t in square and bound.data[0] < 0.0:
            scale = abs(float(root.data[root.indptr[square[t]]])) / -float(bound.data[0])
            found.append(SquaredNorm(cone, t, square[t], scale))
    return found


def _with_squares(program: ConicProgram, norms: list[SquaredNorm]) -> SquaredNorms:
    """The program with the squares of all v in place of their bounds."""
    assert program.root is not None
    (m, n), q = program.matrix.shape, program.root.shape[0]
    column = np.setdiff1d(np.arange(n), [norm.column for norm in norms])
    row = np.setdiff1d(np.arange(m), np.concatenate([norm.cone.rows for norm in norms]))
    square = np.setdiff1d(np.arange(q), [norm.square for norm in norms])
    own = np.zeros(q) if program.root_shift is None else program.root_shift
    bodies = [norm.cone.rows[1:] for norm in norms]
    parts = [-norm.scale * program.matrix[v] for norm, v in zip(norms, bodies, strict=True)]
    root = sp.csr_array(sp.vstack([program.root[square], *parts], format="csr")[:, column])
    root.sort_indices()
    shifts = [norm.scale * program.rhs[v] for norm, v in zip(norms, bodies, strict=True)]
    shift = np.concatenate([own[square], *shifts])
    # Expressions without unknowns are constants of the cost.
    known = np.where(np.diff(root.indptr) == 0, shift, 0.0)
    shift = shift - known
    weights = merging_weights(root, shift)
    smaller = program.keeping(
        row,
        column,
        constant=program.constant + 0.5 * float(known @ known),
        root=sp.csr_array(weights @ root),
        root_shift=weights @ shift,
    )
    return SquaredNorms(smaller, program, norms, column, row, square, weights)
