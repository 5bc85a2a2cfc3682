r"""Drop what cvxpy adds for a penalty of weight zero.

``cost + 0 * norm1(x)`` arrives with a bound t for each :math:`|x_i|`, which costs nothing and is
limited by nothing. No multipliers but zero fit such rows, so the dual has no interior, and neither
solvers nor proofs do well. An unknown is *loose* here if it costs nothing and moving it in one
direction takes no point out of any cone. If loose unknowns move every point into the interior of a
cone, that cone is redundant; an equation with an unknown that is in nothing else only defines it.
Both are dropped, in rounds: without them, further unknowns are loose. An entropy of weight zero
leaves a sign: with x loose and z a positive constant, y exp(x / y) <= z says that y >= 0. On the
way back, multipliers of dropped rows are zero, and each loose unknown moves as far as its rows
need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.model.conic.program import AUXILIARY, ConeRows, ConicProgram, taken

# Signs of moves that take no point out of the exponential cone: y exp(x / y) <= z.
_INWARD = np.array([-1.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Round:
    """Rows that are dropped together.

    Attributes
    ----------
    direction : array of shape (n,)
        Sign of the move of each loose unknown; zero for others.
    cones : list of ConeRows
        The redundant ones.
    signs : list of ConeRows
        Exponential cones of which only the sign of the second row is left.
    row, column : arrays of int
        Equations, and the unknowns that they define.
    """

    direction: Array
    cones: list[ConeRows]
    signs: list[ConeRows]
    row: Index
    column: Index

    @property
    def rows(self) -> Index:
        """All dropped rows."""
        dropped = [cone.rows for cone in self.cones] + [cone.rows[::2] for cone in self.signs]
        return np.concatenate([self.row, *dropped])

    def left(self, cones: Sequence[ConeRows]) -> list[ConeRows]:
        """The cones with signs in place of those of which only these are left."""
        signs = {
            id(cone): replace(cone, kind="nonnegative", rows=cone.rows[1:2]) for cone in self.signs
        }
        return [signs.get(id(cone), cone) for cone in cones]

    def primal(self, program: ConicProgram, x: Array) -> None:
        """Move loose unknowns, and compute those that equations define, in place."""
        for cone in (*self.cones, *self.signs):
            part = taken(program.matrix, cone.rows)
            d, s = -(part @ self.direction), program.rhs[cone.rows] - part @ x
            with np.errstate(over="ignore"):  # exponentials of what the user's unknowns are
                steps = np.broadcast_to(_steps(cone.kind, d, s), s.shape)
            moved = np.zeros(x.size)
            np.maximum.at(moved, part.indices, np.repeat(steps, np.diff(part.indptr)))
            loose = self.direction != 0.0
            x[loose] += self.direction[loose] * moved[loose]
        equations = program.matrix[self.row]
        entries = np.asarray(program.matrix[self.row, self.column]).ravel()
        x[self.column] = (program.rhs[self.row] - equations @ x) / entries


@dataclass(frozen=True, eq=False)
class Unused:
    """A program without what is redundant, and the way back.

    Attributes
    ----------
    program, given : ConicProgram
    rounds : list of Round
    column, row : arrays of int
        The columns and rows of the original program that remain.
    """

    program: ConicProgram
    given: ConicProgram
    rounds: list[Round]
    column: Index
    row: Index

    def primal(self, x: Array) -> Array:
        """Unknowns of the original program."""
        full = np.zeros(self.given.cost.size)
        full[self.column] = x
        for one in reversed(self.rounds):
            one.primal(self.given, full)
        return full

    def dual(self, z: Array, squares: Array) -> tuple[Array, Array]:
        """Multipliers of the original program, of its rows and of its squares."""
        full = np.zeros(self.given.rhs.size)
        full[self.row] = z
        return full, squares


def unused(program: ConicProgram) -> Unused | None:
    """The program without redundant bounds that cost nothing; None if there are none.

    Examples
    --------
    The length of x is below t, which costs nothing:

    >>> import scipy.sparse as sp
    >>> from sdpdr.model.conic.program import Columns
    >>> matrix = sp.csr_array([[0.0, -1.0], [-1.0, 0.0], [-1.0, 0.0]])
    >>> columns = [Columns("x", np.arange(1)), Columns("auxiliary", np.arange(1, 2))]
    >>> cones = [
    ...     ConeRows("second-order", "norm", np.arange(2)),
    ...     ConeRows("nonnegative", "x", np.array([2])),
    ... ]
    >>> given = ConicProgram(np.array([1.0, 0.0]), 0.0, matrix, np.zeros(3), cones, columns)
    >>> found = unused(given)
    >>> [cone.label for cone in found.program.cones], found.primal(np.array([3.0]))
    (['x'], array([3., 3.]))
    """
    free = program.are_called(AUXILIARY) & (program.cost == 0.0)
    if program.root is not None:
        free[program.root.indices] = False
    if not free.any():
        return None
    given, alive, rounds = program, np.ones(program.rhs.size, dtype=bool), list[Round]()
    while (found := _round(program, free, alive)).rows.size:
        rounds.append(found)
        alive[found.rows] = False
        program = replace(program, cones=found.left(program.cones))
    used = np.zeros(free.size, dtype=bool)
    used[program.matrix.indices[alive[program.row_of_entries()]]] = True
    column, row = np.flatnonzero(used | ~free), np.flatnonzero(alive)
    if column.size == free.size and row.size == alive.size:
        return None
    return Unused(program.keeping(row, column), given, rounds, column, row)


def _round(program: ConicProgram, free: NDArray[np.bool_], alive: NDArray[np.bool_]) -> Round:
    """What is redundant among the rows that are alive."""
    matrix, owner = program.matrix, program.row_of_entries()
    inside = np.flatnonzero(alive[owner] & free[matrix.indices])
    row, column, moved = owner[inside], matrix.indices[inside], -matrix.data[inside]
    count = np.bincount(column, minlength=free.size)
    alone = np.flatnonzero(program.are_of("zero")[row] & (count[column] == 1))
    # If an equation defines several unknowns, the others are in nothing.
    alone = alone[np.unique(row[alone], return_index=True)[1]]
    direction = _loose(program, row, column, moved) * free
    moves = -(matrix @ direction)
    cones = [
        part
        for cone in program.cones
        if cone.kind != "zero" and alive[cone.rows].any()
        for part in _redundant(program, cone, moves[cone.rows], alive)
    ]
    signs = [
        cone
        for cone in program.cones
        if cone.kind == "exponential"
        and alive[cone.rows].all()
        and moves[cone.rows[0]] < 0.0
        and _is_positive(program, cone.rows[2:])
    ]
    return Round(direction, cones, signs, row[alone], column[alone])


def _loose(program: ConicProgram, row: Index, column: Index, moved: Array) -> Array:
    """The sign of a move of each column that takes no point out of a cone; zero if there is none.

    The arrays are all entries of some columns: their rows, and by how much the slack of these
    increases as the column does.
    """
    n, m = program.cost.size, program.rhs.size
    # The sign of the move of a row that alone takes no point out of a cone; the cone of rows of v.
    side, norm = np.zeros(m), np.full(m, -1)
    for k, cone in enumerate(program.cones):
        if cone.kind == "nonnegative":
            side[cone.rows] = 1.0
        elif cone.kind == "psd":
            side[cone.rows[:: cone.order + 1]] = 1.0
        elif cone.kind == "second-order":
            side[cone.rows[0]], norm[cone.rows] = 1.0, k
        elif cone.kind == "exponential":
            side[cone.rows] = _INWARD
    bounds, body = side[row] != 0.0, (side[row] == 0.0) & (norm[row] >= 0)
    sign = np.sign(np.bincount(column[bounds], (side[row] * moved)[bounds], minlength=n))
    stuck = np.zeros(n, dtype=bool)
    stuck[column[~bounds & ~body]] = True
    stuck[column[bounds & (np.sign(side[row] * moved) != sign[column])]] = True
    # (d, v) lies in the second-order cone if |v| <= d.
    cones, pair = np.unique(norm[row] * n + column, return_inverse=True)
    heights = np.bincount(pair, np.where(bounds, moved, 0.0) ** 2, minlength=cones.size)
    widths = np.bincount(pair, np.where(body, moved, 0.0) ** 2, minlength=cones.size)
    stuck[cones[widths > heights] % n] = True
    return np.where(stuck, 0.0, sign)


def _redundant(
    program: ConicProgram, cone: ConeRows, d: Array, alive: NDArray[np.bool_]
) -> Iterator[ConeRows]:
    """The cone, or those rows of it, into whose interior a direction d leads."""
    if cone.kind == "nonnegative":
        rows = cone.rows[(d > 0.0) & alive[cone.rows]]
        if rows.size:
            yield ConeRows(cone.kind, cone.label, rows)
    elif cone.kind == "psd":
        if np.all(d[:: cone.order + 1] > 0.0):
            yield cone
    elif cone.kind == "exponential":
        if d[2] > 0.0 and _is_positive(program, cone.rows[1:2]):
            yield cone
    elif cone.kind == "second-order" and d[0] > 0.0:
        leaning, right = _leaning(program, cone, d)
        if d[0] > np.linalg.norm(d[1:]) or (not leaning.any() and right > 0.0):
            yield cone


def _is_positive(program: ConicProgram, rows: Index) -> bool:
    """Whether the slack of rows is a positive constant."""
    return not taken(program.matrix, rows).nnz and bool(np.all(program.rhs[rows] > 0.0))


def _leaning(program: ConicProgram, cone: ConeRows, d: Array) -> tuple[Array, float]:
    """Coefficients and constant of the product of (d, -v) and the slack of a second-order cone."""
    turned = np.append(d[0], -d[1:])
    left = taken(program.matrix, cone.rows).T @ turned
    return np.asarray(left), float(program.rhs[cone.rows] @ turned)


def _steps(kind: str, d: Array, s: Array) -> Array | float:
    """Multiples of a direction d that lead from s into a cone, of each row or of all together."""
    if kind == "nonnegative":
        return np.maximum(0.0, -s / d)
    if kind == "psd":
        # A matrix with a dominant diagonal.
        order = round(np.sqrt(s.size))
        S = np.abs(s.reshape(order, order))
        diagonal, heights = s[:: order + 1], d[:: order + 1]
        others = np.maximum(S.sum(axis=0), S.sum(axis=1)) - np.diag(S)
        return float(np.max((others - diagonal) / heights, initial=0.0))
    if kind == "exponential" and d[0] < 0.0:
        highest = s[1] * np.log(s[2] / s[1]) if s[1] > 0.0 else 0.0
        return max(0.0, float((highest - s[0]) / d[0]))
    if kind == "exponential":
        return max(0.0, float((s[1] * np.exp(s[0] / s[1]) - s[2]) / d[2]))
    width, apart = np.linalg.norm(s[1:]), d[0] - np.linalg.norm(d[1:])
    if width <= s[0]:
        return 0.0
    if apart > 0.0:
        return float((width - s[0]) / apart)
    product = d[0] * s[0] - d[1:] @ s[1:]
    return float(max((width**2 - s[0] ** 2) / (2.0 * product), -s[0] / d[0]))
