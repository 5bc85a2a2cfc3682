"""Rows that follow from others, found in exact arithmetic modulo a prime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from flint import arb, arb_mat, ctx, fmpq, nmod_mat

from sdpdr.solvers.multiprecision.arithmetic import Vector
from sdpdr.solvers.multiprecision.compiled import number
from sdpdr.solvers.multiprecision.exact import ExactProgram

# Rows, from 0, and their residues in one column.
Part = list[tuple[int, int]]

# A Mersenne prime; denominators of doubles are powers of two, and none vanishes modulo it.
PRIME = 2**61 - 1
# Columns are added up at random places, each at several, into few more sums than there are rows;
# four places for each keep the rank as long as at most 0.976 of the sums are needed.
_PLACES, _ROOM = 4, 1.1


def independent_rows(
    program: ExactProgram, pause: Callable[[], None] = lambda: None
) -> tuple[list[int], bool]:
    """Rows to keep, numbered from 1, and whether the others follow from them.

    That rows are independent modulo a prime proves that they are; that they depend on each other
    is true but for a chance of about 1e-18.

    Parameters
    ----------
    program : ExactProgram
    pause : callable, optional
        Called for every column; whatever it raises ends the work.

    Returns
    -------
    rows : list of int
    consistent : bool
        False where the other rows contradict those kept, whatever the cones.
    """
    columns = list(program.columns())
    used = sorted({row for column in columns for row in column if row})
    idle = set(range(1, program.n_rows + 1)) - set(used)
    vacuous = all(program.rhs[row - 1] == 0 for row in idle)
    # Rows without coefficients, which a face leaves behind, are no part of the search.
    place = {row: k for k, row in enumerate(used)}
    parts = [[(place[r], _residue(x)) for r, x in column.items() if r] for column in columns]
    if len(_pivots(_sums(parts, len(used), pause), len(used))) == len(used):
        return used, vacuous
    lines = _lines([[(part, 1)] for part in parts], len(used), pause)
    kept = _pivots(lines, len(used))
    side = [_residue(program.rhs[row - 1]) for row in used]
    follow = len(_pivots([*lines, side], len(used))) == len(kept)
    return [used[k] for k in kept], vacuous and follow


def free_equations(program: ExactProgram) -> ExactProgram:
    """The equations F'y = d of the dual as rows of a program of their own.

    Free scalars whose columns follow from others are rows of it that do, and may be zero. Rows that
    contradict each other are a direction in which the cost falls while nothing else changes.
    """
    columns: dict[int, dict[int, fmpq]] = {}
    for place, column in enumerate(program.free, start=1):
        for row, value in column.items():
            columns.setdefault(row, {})[place] = value
    costs = columns.pop(0, {})
    rhs = tuple(costs.get(place, fmpq(0)) for place in range(1, len(program.free) + 1))
    return ExactProgram((), (), tuple(columns.values()), rhs)


def contradiction(program: ExactProgram, kept: Sequence[int]) -> Vector:
    """Multipliers y of all rows with b'y = 1 under which every coefficient cancels.

    Found by the normal equations of the rows kept, in working precision.

    Raises
    ------
    ValueError
        If the rows do not contradict each other.
    """
    place = {row: k for k, row in enumerate(kept)}
    others = [row for row in range(1, program.n_rows + 1) if row not in place]
    normal = [[arb(0)] * len(kept) for _ in kept]
    sides = {row: [arb(0)] * len(kept) for row in others}
    for column in program.columns():
        known = [(place[row], number(x)) for row, x in column.items() if row in place]
        for i, a in known:
            for j, b in known:
                normal[i][j] += a * b
            for row in others:
                if row in column:
                    sides[row][i] += a * number(column[row])
    rhs = [number(b) for b in program.rhs]
    half = arb(2) ** (-ctx.prec // 2)
    for row in others:
        weights: Vector = []
        if kept:
            system, side = arb_mat(normal).mid(), arb_mat([[x] for x in sides[row]]).mid()
            weights = system.solve(side, algorithm="approx").mid().entries()
        parts = [w * rhs[r - 1] for w, r in zip(weights, kept, strict=True)]
        rest = (rhs[row - 1] - sum(parts, arb(0))).mid()
        if abs(rest) > half * max([abs(rhs[row - 1]), *map(abs, parts)]):
            y = [arb(0)] * program.n_rows
            for r, weight in zip([row, *kept], [arb(1), *(-w for w in weights)], strict=True):
                y[r - 1] = (weight / rest).mid()
            return y
    raise ValueError("the rows do not contradict each other")


def _sums(columns: Sequence[Part], m: int, pause: Callable[[], None]) -> list[list[int]]:
    """Sums of columns with random weights, modulo the prime; their rank is that of the columns.

    It can come out too small by bad luck, but never too large.
    """
    count = int(_ROOM * m) + 10
    if len(columns) <= count:
        return _lines([[(column, 1)] for column in columns], m, pause)
    # Any numbers will do, as long as data do not know them.
    random = Random(61)
    parts: list[list[tuple[Part, int]]] = [[] for _ in range(count)]
    for column in columns:
        for place in random.sample(range(count), _PLACES):
            parts[place].append((column, random.randrange(1, PRIME)))
    return _lines(parts, m, pause)


def _lines(
    sums: Sequence[Sequence[tuple[Part, int]]], m: int, pause: Callable[[], None]
) -> list[list[int]]:
    """The coefficients of m rows in each of some weighted sums of columns, modulo the prime."""
    lines = []
    for parts in sums:
        pause()
        line = [0] * m
        for column, weight in parts:
            for row, residue in column:
                line[row] = (line[row] + weight * residue) % PRIME
        lines.append(line)
    return lines


def _pivots(lines: list[list[int]], m: int) -> list[int]:
    """The first independent rows, from 0, where each line is one column of the program."""
    if not m or not lines:
        return []
    reduced, rank = nmod_mat(len(lines), m, [x for line in lines for x in line], PRIME).rref()
    pivots, column = [], 0
    for i in range(rank):
        while not int(reduced[i, column]):
            column += 1
        pivots.append(column)
    return pivots


def _residue(value: fmpq) -> int:
    return int(value.p) * pow(int(value.q), -1, PRIME) % PRIME
