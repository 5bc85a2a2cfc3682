r"""The Schur complement of a step, :math:`M_{ij} = \langle A_i, X A_j S^{-1}\rangle`.

Each row is found by whichever of two ways costs less (Fujisawa, Kojima, Nakata, "Exploiting
sparsity in primal-dual interior-point methods for semidefinite programming", Mathematical
Programming 79, 1997): products of the rows of A_j that are not zero, at the speed of C, or the
entries that are needed one by one. Rows with much support come first, so that each pair is met
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flint import arb, arb_mat

from sdpdr.solvers.multiprecision.arithmetic import Vector, product, symmetric
from sdpdr.solvers.multiprecision.compiled import Compiled, Cone, PreciseSparse

Table = list[Vector]
# How many multiplications inside a product of matrices take as long as one through Python.
_PYTHON = 8


def schur_complement(
    program: Compiled,
    x: Sequence[arb_mat],
    s_inverse: Sequence[arb_mat],
    ratio: Sequence[arb],
    pause: Callable[[], None],
) -> Table:
    """M as a symmetric table.

    Parameters
    ----------
    program : Compiled
    x, s_inverse : matrices by cone
    ratio : list of arb
        x / s of the non-negative scalars.
    pause : callable
        Called between rows; whatever it raises ends the work.
    """
    m = len(program.rhs)
    table = [[arb(0)] * m for _ in range(m)]
    for cone, primal, inverse in zip(program.cones, x, s_inverse, strict=True):
        _add_cone(table, cone, primal, inverse, pause)
    for column, weight in zip(program.positive, ratio, strict=True):
        _add_column(table, column, weight)
    for i in range(m):
        for j in range(i):
            table[i][j] = table[j][i]
    return table


def _add_cone(
    table: Table, cone: Cone, x: arb_mat, inverse: arb_mat, pause: Callable[[], None]
) -> None:
    ordered = sorted(cone.rows, key=lambda row: -len(cone.rows[row].support))
    x_rows, inverse_rows = x.tolist(), inverse.tolist()
    places = len({place for matrix in cone.rows.values() for place in matrix.flat})
    for k, row in enumerate(ordered):
        pause()
        matrix = cone.rows[row]
        found: Mapping[int, arb] | Vector
        if _is_sparse(matrix, cone.order, places):
            found = _Entries(matrix, cone.order, x_rows, inverse_rows)
        else:
            found = _by_products(matrix, x_rows, inverse_rows)
        for other in ordered[k:]:
            partner = cone.rows[other]
            value = table[min(row, other)][max(row, other)]
            for a, place in zip(partner.doubled, partner.flat, strict=True):
                value += a * found[place]
            table[min(row, other)][max(row, other)] = value.mid()


def _is_sparse(matrix: PreciseSparse, n: int, places: int) -> bool:
    """Whether entries one by one cost less, as far as multiplications tell."""
    full = sum(1 if i == j else 2 for i, j in matrix.places)
    support = len(matrix.support)
    # Products also pay for rows that are taken out, put together, and read.
    by_products = n * support * (n + support) + _PYTHON * (2 * n * n + 2 * n * support)
    # Rows that come later need fewer and fewer of the places, half of them on average.
    return _PYTHON * full * places <= by_products


class _Entries(dict[int, arb]):
    """Entries of the symmetric part of X A S^{-1}, computed when first read."""

    def __init__(self, matrix: PreciseSparse, n: int, x: Table, inverse: Table) -> None:
        super().__init__()
        self._n = n
        half = arb(0.5)
        self._terms = []
        for (p, q), value in zip(matrix.places, matrix.values, strict=True):
            scaled = value * half
            self._terms.append((x[p], inverse[q], scaled))
            if p != q:
                self._terms.append((x[q], inverse[p], scaled))

    def __missing__(self, place: int) -> arb:
        r, s = divmod(place, self._n)
        total = arb(0)
        for left, right, value in self._terms:
            total += value * (left[r] * right[s] + left[s] * right[r])
        self[place] = total.mid()
        return self[place]


def _by_products(matrix: PreciseSparse, x: Table, inverse: Table) -> Vector:
    """All entries of the symmetric part of X A S^{-1}."""
    support = matrix.support
    position = {k: p for p, k in enumerate(support)}
    size = len(support)
    core = [[arb(0)] * size for _ in range(size)]
    for (p, q), value in zip(matrix.places, matrix.values, strict=True):
        core[position[p]][position[q]] = core[position[q]][position[p]] = value
    right = product(arb_mat(core), arb_mat([inverse[k] for k in support]))
    left = arb_mat([x[k] for k in support]).transpose()
    return symmetric((left * right).mid()).entries()


def _add_column(table: Table, column: Mapping[int, arb], weight: arb) -> None:
    items = sorted(column.items())
    for k, (i, a) in enumerate(items):
        scaled = a * weight
        for j, b in items[k:]:
            table[i][j] = (table[i][j] + scaled * b).mid()
