"""Whether a matrix is positive semidefinite, decided over the rationals."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm

from sdpdr.linalg.exact_rows import Symmetric, Vector


def range_of(matrix: Symmetric) -> list[Vector] | None:
    r"""Columns that span the range of a positive semidefinite matrix; None if it is not one.

    The elimination :math:`W = \sum_k d_k l_k l_k^T` either ends with d > 0, which proves it, or
    meets a negative pivot or a zero pivot in a row that is not zero, which disproves it.

    Examples
    --------
    >>> one = Fraction(1)
    >>> range_of({(0, 0): one, (0, 1): -one, (1, 1): one})
    [{0: Fraction(1, 1), 1: Fraction(-1, 1)}]
    >>> range_of({(0, 0): one, (0, 1): 2 * one, (1, 1): one}) is None
    True
    """
    scale = whole(matrix.values())
    # Whole numbers are many times faster than fractions; each row is kept up to a factor > 0.
    rows: dict[int, dict[int, int]] = {}
    for (i, j), value in matrix.items():
        rows.setdefault(i, {})[j] = rows.setdefault(j, {})[i] = int(value * scale)
    if any(row.get(i, 0) <= 0 for i, row in rows.items()):
        return None
    columns = []
    # Rows of few entries first keep the others sparse.
    for k in sorted(rows, key=lambda i: len(rows[i])):
        row = rows.pop(k)
        pivot = row.get(k, 0)
        if pivot < 0 or (not pivot and row):
            return None
        if not pivot:
            continue
        columns.append({j: Fraction(value) for j, value in row.items()})
        for i in row.keys() - {k}:
            rows[i] = _eliminated(rows[i], row, k, pivot)
    return columns


def _eliminated(target: dict[int, int], row: dict[int, int], k: int, pivot: int) -> dict[int, int]:
    """A row without its entry at k, up to a positive factor."""
    factor = target[k]
    new = {j: pivot * value for j, value in target.items() if j != k}
    for j, value in row.items():
        if j != k:
            new[j] = new.get(j, 0) - factor * value
    common = gcd(*new.values()) or 1
    return {j: value // common for j, value in new.items() if value}


def whole(vector: Iterable[Fraction]) -> int:
    """The least whole number that makes all of some fractions whole."""
    return lcm(1, *(value.denominator for value in vector))
