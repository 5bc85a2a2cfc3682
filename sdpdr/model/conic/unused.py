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
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.model.conic.program import AUXILIARY, ConeRows, ConicProgram, taken
from sdpdr.model.conic.step import Raised, Step

# Signs of moves that take no point out of the exponential cone: y exp(x / y) <= z.
_INWARD = np.array([-1.0, 0.0, 1.0])


def unused(program: ConicProgram) -> Step | None:
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
    alive, rounds = np.ones(program.rhs.size, dtype=bool), list[Raised]()
    while True:
        found, signs = _round(program, free, alive)
        gone = [found.row, *(_dropped(cone, signs) for cone in found.cones)]
        if not any(rows.size for rows in gone):
            break
        rounds.append(found)
        alive[np.concatenate(gone)] = False
        cones = [_sign(cone) if cone in signs else cone for cone in program.cones]
        program = replace(program, cones=cones)
    used = np.zeros(free.size, dtype=bool)
    used[program.matrix.indices[alive[program.row_of_entries()]]] = True
    column, row = np.flatnonzero(used | ~free), np.flatnonzero(alive)
    if column.size == free.size and row.size == alive.size:
        return None
    return Step.substituting(program, column, row, raised=tuple(reversed(rounds)))


def _dropped(cone: ConeRows, signs: Sequence[ConeRows]) -> Index:
    """The rows that leave with a cone, of which only a sign may be left."""
    return cone.rows[::2] if cone in signs else cone.rows


def _sign(cone: ConeRows) -> ConeRows:
    """What is left of an exponential cone: the second row is not negative."""
    return replace(cone, kind="nonnegative", rows=cone.rows[1:2])


def _round(
    program: ConicProgram, free: NDArray[np.bool_], alive: NDArray[np.bool_]
) -> tuple[Raised, list[ConeRows]]:
    """What is redundant among the rows that are alive, and cones of which only a sign is left."""
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
    return Raised(direction, [*cones, *signs], row[alone], column[alone]), signs


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
