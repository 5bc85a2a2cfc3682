"""Bases of what is orthogonal to some vectors, without rounding."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import scipy.sparse as sp


def complement(null: sp.csr_array) -> sp.csr_array | None:
    """Columns that span what is orthogonal to others, without rounding.

    By elimination in rational numbers; None where a column has numbers that are no doubles.

    Examples
    --------
    >>> complement(sp.csr_array([[1.0], [1.0], [1.0]])).toarray()
    array([[-1., -1.],
           [ 1.,  0.],
           [ 0.,  1.]])
    """
    by_column, n = sp.csc_array(null), null.shape[0]
    pivots: dict[int, dict[int, Fraction]] = {}
    for k in range(null.shape[1]):
        part = slice(by_column.indptr[k], by_column.indptr[k + 1])
        line = {
            int(i): Fraction(float(u))
            for i, u in zip(by_column.indices[part], by_column.data[part], strict=True)
        }
        for at, other in pivots.items():
            _eliminate(line, at, other)
        if not line:
            continue
        at = max(line, key=lambda place: (abs(line[place]), -place))
        line = {place: value / line[at] for place, value in line.items()}
        for other in pivots.values():
            _eliminate(other, at, line)
        pivots[at] = line
    kept = [i for i in range(n) if i not in pivots]
    column = {place: k for k, place in enumerate(kept)}
    entries: dict[int, dict[int, Fraction]] = {place: {place: Fraction(1)} for place in kept}
    for at, line in pivots.items():
        for place, value in line.items():
            if place != at:
                entries[place][at] = -value
    rows, columns, data = list[int](), list[int](), list[float]()
    for place, numbers in entries.items():
        scale = lcm(*(value.denominator for value in numbers.values()))
        for i, value in numbers.items():
            if abs(value * scale) >= 2**53:
                return None
            rows.append(i)
            columns.append(column[place])
            data.append(float(value * scale))
    return sp.csr_array((data, (rows, columns)), shape=(n, len(kept)))


def _eliminate(line: dict[int, Fraction], at: int, other: dict[int, Fraction]) -> None:
    """Take from a line what makes its number at a pivot, which is one in the other, zero."""
    share = line.get(at)
    if not share:
        return
    for place, value in other.items():
        left = line.get(place, Fraction(0)) - share * value
        if left:
            line[place] = left
        else:
            line.pop(place, None)
