r"""Constants in matrices of unknowns, as unknowns of their own.

``cp.bmat([[np.eye(2), X], [X.T, Y]]) >> 0`` is a matrix variable, three of whose entries are
prescribed, though cvxpy passes it to solvers as an inequality between X, Y and constants. With a
column for each constant, and an equation for its value, all entries are different columns, and the
matrix becomes a variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.model.conic.program import AUXILIARY, Columns, ConeRows, ConicProgram, taken, widened


@dataclass(frozen=True, eq=False)
class WithConstants:
    """A program in which constants of matrices are unknowns, and the way back.

    Attributes
    ----------
    program : ConicProgram
        Its new columns and rows come last.
    given : ConicProgram
    """

    program: ConicProgram
    given: ConicProgram

    def primal(self, x: Array) -> Array:
        """Unknowns of the original program."""
        return x[: self.given.cost.size]

    def dual(self, z: Array, squares: Array) -> tuple[Array, Array]:
        """Multipliers of the original program, of its rows and of its squares."""
        return z[: self.given.rhs.size], squares


def with_constants(program: ConicProgram) -> WithConstants | None:
    """The program in which constants of matrices are unknowns; None if there are none.

    Examples
    --------
    The matrix of x, y and 1:

    >>> from sdpdr.model.conic.program import Columns, ConeRows, ConicProgram
    >>> matrix = sp.csr_array([[-1.0, 0.0], [0.0, -1.0], [0.0, -1.0], [0.0, 0.0]])
    >>> cone = ConeRows("psd", "lift", np.arange(4))
    >>> columns = [Columns("x", np.arange(1)), Columns("y", np.arange(1, 2))]
    >>> rhs = np.array([0.0, 0.0, 0.0, 1.0])
    >>> given = ConicProgram(np.ones(2), 0.0, matrix, rhs, [cone], columns)
    >>> found = with_constants(given).program
    >>> found.matrix.toarray()[3:].tolist(), found.rhs.tolist(), found.cones[-1].label
    ([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]], [0.0, 0.0, 0.0, 0.0, 1.0], 'lift.constants')
    """
    chosen = list(_matrices_of_unknowns(program))
    return _with_columns(program, chosen) if chosen else None


def _matrices_of_unknowns(program: ConicProgram) -> Iterator[tuple[ConeRows, Index, Index]]:
    """Matrices with constants, and the rows of these in both triangles.

    All other entries must be different columns that are in no other matrix. Where constants are as
    many, the matrix has fewer unknowns as an inequality.
    """
    counts = np.diff(program.matrix.indptr)
    matrices = [cone for cone in program.cones if cone.kind == "psd"]
    simple = [one for one in matrices if np.all(counts[one.rows] <= 1)]
    partly = [one for one in simple if 0 < 2 * np.sum(counts[one.rows] == 0) < one.rows.size]
    if not partly:
        return
    inside = (np.unique(taken(program.matrix, cone.rows).indices) for cone in matrices)
    uses = np.bincount(np.concatenate(list(inside)), minlength=program.cost.size)
    uses[program.are_called(program.arguments)] = 2
    for cone in partly:
        upper, lower = cone.entries()
        constant = counts[upper] == 0
        used = program.matrix.indices[program.matrix.indptr[upper[~constant]]]
        is_mirrored = np.array_equal(counts[upper], counts[lower]) and np.array_equal(
            program.rhs[upper], program.rhs[lower]
        )
        if is_mirrored and np.all(uses[used] == 1) and np.unique(used).size == used.size:
            yield cone, upper[constant], lower[constant]


def _with_columns(
    program: ConicProgram, chosen: list[tuple[ConeRows, Index, Index]]
) -> WithConstants:
    """The program with a column and an equation for each constant."""
    m, n = program.matrix.shape
    upper = np.concatenate([rows for _, rows, _ in chosen])
    lower = np.concatenate([rows for _, _, rows in chosen])
    k, constants = np.arange(upper.size), program.rhs[upper]
    off = upper != lower
    rows = np.concatenate([upper, lower[off]])
    entries = sp.csr_array((-np.ones(rows.size), (rows, np.append(k, k[off]))), shape=(m, k.size))
    matrix = sp.block_array([[program.matrix, entries], [None, sp.eye_array(k.size)]], format="csr")
    rhs = program.rhs.copy()
    rhs[rows] = 0.0
    ends = m + np.cumsum([0, *(part.size for _, part, _ in chosen)])
    equations = [
        ConeRows("zero", f"{cone.label}.constants", np.arange(start, stop))
        for (cone, _, _), start, stop in zip(chosen, ends, ends[1:], strict=False)
    ]
    larger = replace(
        program,
        cost=np.append(program.cost, np.zeros(k.size)),
        matrix=sp.csr_array(matrix),
        rhs=np.append(rhs, constants),
        cones=[*program.cones, *equations],
        columns=[*program.columns, Columns(AUXILIARY, n + k)],
        root=widened(program.root, k.size),
    )
    return WithConstants(larger, program)
