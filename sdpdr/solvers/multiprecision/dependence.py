"""Rows that follow from others, found in exact arithmetic modulo a prime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from flint import nmod_mat

from sdpdr.solvers.multiprecision.stored import Column, StoredProgram

# A Mersenne prime; doubles are fractions over powers of two, and none of those vanishes modulo it.
PRIME = 2**61 - 1


def independent_rows(
    columns: Iterable[Column], rhs: Sequence[float], pause: Callable[[], None] = lambda: None
) -> tuple[list[int], bool]:
    r"""Rows to keep, numbered from 1, and whether the others follow from them.

    With a random diagonal D, :math:`A D A^T` has the rank of the rows A but for a chance of about
    one in the prime, so that its first independent columns are the first independent rows.

    Parameters
    ----------
    columns : iterable of mapping from row to coefficient
        The columns of A; row 0 is left out.
    rhs : sequence of float
        Right sides of rows 1, ..., m.
    pause : callable, optional
        Called for every column; whatever it raises ends the work.

    Returns
    -------
    rows : list of int
    consistent : bool
        False where the other rows contradict those kept, whatever the cones.

    Examples
    --------
    >>> independent_rows([{1: 1.0, 2: 2.0}, {3: 1.0}], [1.0, 2.0, 5.0])
    ([1, 3], True)
    >>> independent_rows([{1: 1.0, 2: 2.0}], [1.0, 3.0])
    ([1], False)
    """
    m = len(rhs)
    # Any numbers will do, as long as data do not know them.
    random = Random(61)
    gram = [[0] * m for _ in range(m)]
    for column in columns:
        pause()
        _add(gram, column, random)
    kept = _pivots(gram)
    _add(gram, dict(enumerate(rhs, start=1)), random)
    return kept, len(_pivots(gram)) == len(kept)


def free_equations(program: StoredProgram) -> tuple[list[Column], list[float]]:
    """The equations F'y = d of the dual: columns and right sides of rows, one for each scalar.

    Free scalars whose columns follow from others are rows of it that do, and may be zero. Rows that
    contradict each other are a direction in which the cost falls while nothing else changes.
    """
    columns: dict[int, dict[int, float]] = {}
    for place, column in enumerate(program.free, start=1):
        for row, value in column.items():
            columns.setdefault(row, {})[place] = value
    costs = columns.pop(0, {})
    return list(columns.values()), [costs.get(k + 1, 0.0) for k in range(len(program.free))]


def _add(gram: list[list[int]], column: Column, random: Random) -> None:
    """Add the outer product of a column with itself, times a random number."""
    weight = random.randrange(1, PRIME)
    entries = [(row - 1, _residue(value)) for row, value in column.items() if row and value]
    for i, a in entries:
        line, scaled = gram[i], weight * a % PRIME
        for j, b in entries:
            line[j] = (line[j] + scaled * b) % PRIME


def _pivots(square: list[list[int]]) -> list[int]:
    """The first independent columns of a matrix, numbered from 1."""
    m = len(square)
    if not m:
        return []
    reduced, rank = nmod_mat(m, m, [x for line in square for x in line], PRIME).rref()
    pivots, column = [], 0
    for i in range(rank):
        while not int(reduced[i, column]):
            column += 1
        pivots.append(column + 1)
    return pivots


def _residue(value: float) -> int:
    """A double modulo the prime."""
    over, under = float(value).as_integer_ratio()
    return over * pow(under, -1, PRIME) % PRIME
