"""The coefficients of a program as fractions, and combinations of rows that are sums of squares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from sdpdr.certify.check_proof import Program
from sdpdr.linalg.exact import Symmetric, Vector, add

Step = dict[str, Any]
ZERO = Fraction(0)
# Length of a number of an exact step: Python reads no more than 4300 digits.
_BITS = 10_000


class Exact:
    """The coefficients of a program as fractions, by row.

    Parameters
    ----------
    P : Program
        With the faces that are known.
    """

    def __init__(self, P: Program) -> None:
        self.P = P
        self._blocks: dict[int, dict[int, Symmetric]] = {}
        self.scalars: dict[int, Vector] = {}
        places = list(zip(*(x.tolist() for x in (P.k, P.i, P.j)), strict=True))
        for e, c, v in zip(*(x.tolist() for x in (P.row, P.column, P.value)), strict=True):
            if c < P.E:
                k, i, j = places[c]
                half = Fraction(v) / (1 + (i != j))
                add(self._blocks.setdefault(e, {}).setdefault(k, {}), {(i, j): half})
            else:
                add(self.scalars.setdefault(e, {}), {c - P.E: Fraction(v)})
        self._null = [
            echelon([dict(zip(i.tolist(), map(Fraction, v.tolist()), strict=True)) for i, v in U])
            for U in P.U
        ]

    def combined(self, y: Mapping[int, Fraction]) -> dict[int, Symmetric]:
        """The sum of y_e A_e, by block."""
        found: dict[int, Symmetric] = {}
        for e, weight in y.items():
            for k, entries in self._blocks.get(e, {}).items():
                add(found.setdefault(k, {}), entries, weight)
        return {k: entries for k, entries in found.items() if entries}

    def rest_of(self, k: int, entries: Mapping[tuple[int, int], Fraction]) -> Symmetric:
        """What counts of a symmetric matrix on the face that is known: nothing on pivots of U."""
        return off_face(entries, self._null[k])[0]

    def row(self, e: int) -> dict[Any, Fraction]:
        """The coefficients of a row that count on the faces known, by ``(k, i, j)`` and scalar."""
        found: dict[Any, Fraction] = {
            (k, *key): v
            for k, entries in self._blocks.get(e, {}).items()
            for key, v in self.rest_of(k, entries).items()
        }
        scalars = self.scalars.get(e, {})
        return found | {("z", j): v for j, v in scalars.items() if not self.P.fixed[j]}

    def step(self, y: Mapping[int, Fraction], drop: int | None = None) -> Step | None:
        """The step with some multipliers; None unless they leave sums of squares on the faces.

        None as well where a number is longer than the checker reads.
        """
        squares, known = list[tuple[int, Fraction, Vector]](), list[tuple[int, int, Vector]]()
        for k, entries in self.combined(y).items():
            rest, along = off_face(entries, self._null[k])
            terms = squares_of(rest)
            if terms is None:
                return None
            known += [(k, c, vector) for c, vector in along.items()]
            squares += [(k, *_whole(term)) for term in terms]
        weights = [weight for _, weight, _ in squares]
        of_known = [x for *_, vector in known for x in vector.values()]
        scale = math.lcm(*(x.denominator for x in (*y.values(), *weights, *of_known)))
        if any(abs(x * scale) >> _BITS for x in map(round, (*y.values(), *weights, *of_known))):
            return None
        found = {
            "y": _listed(y, scale),
            "squares": [
                [k, int(weight * scale), *_listed(vector, 1)] for k, weight, vector in squares
            ],
            "known": [[k, c, *_listed(vector, scale)] for k, c, vector in known],
        }
        return found if drop is None else {**found, "drop": drop}


def _whole(square: tuple[Fraction, Vector]) -> tuple[Fraction, Vector]:
    """A weight and a vector of whole numbers without a common factor, with the same product."""
    weight, vector = square
    scale = math.lcm(*(x.denominator for x in vector.values()))
    common = math.gcd(*(int(x * scale) for x in vector.values()))
    unit = Fraction(common, scale)
    return weight * unit**2, {i: x / unit for i, x in vector.items()}


def _listed(vector: Mapping[int, Fraction], scale: int) -> list[list[int]]:
    """The indices and the entries of a vector that is one of integers if scaled."""
    some = {i: int(x * scale) for i, x in vector.items() if x}
    return [list(some), list(some.values())]


def squares_of(entries: Mapping[tuple[int, int], Fraction]) -> list[tuple[Fraction, Vector]] | None:
    """A symmetric matrix as a sum of positive weights times w w'; None where it is none.

    Examples
    --------
    >>> one = Fraction(1)
    >>> squares_of({(0, 0): one, (0, 1): -one, (1, 1): one})
    [(Fraction(1, 1), {0: Fraction(1, 1), 1: Fraction(-1, 1)})]
    >>> squares_of({(0, 1): one}) is None
    True
    """
    rows: dict[int, Vector] = {}
    for (i, j), v in entries.items():
        rows.setdefault(i, {})[j] = v
        rows.setdefault(j, {})[i] = v
    terms = []
    for k in sorted(rows):
        row = {j: v for j, v in rows[k].items() if v}
        d = row.get(k, ZERO)
        if d < 0 or (row and not d):
            return None
        if not d:
            continue
        terms.append((1 / d, row))
        for i, x in row.items():
            for j, v in row.items():
                rows[i][j] = rows[i].get(j, ZERO) - x * v / d
    return terms


class Unit(NamedTuple):
    """A combination of null vectors that is one at its pivot, where all others are zero."""

    pivot: int
    vector: Vector
    shares: dict[int, Fraction]


def echelon(columns: Sequence[Vector]) -> list[Unit]:
    """Vectors that span what some null vectors span, without those that depend on others."""
    found = list[Unit]()
    for c, column in enumerate(columns):
        vector, shares = dict(column), {c: Fraction(1)}
        for unit in found:
            _subtract(vector, shares, unit, vector.get(unit.pivot, ZERO))
        if not vector:
            continue
        pivot = max(vector, key=lambda i: (abs(vector[i]), -i))
        scale = vector[pivot]
        new = Unit(
            pivot,
            {i: v / scale for i, v in vector.items()},
            {d: v / scale for d, v in shares.items()},
        )
        for unit in found:
            _subtract(unit.vector, unit.shares, new, unit.vector.get(pivot, ZERO))
        found.append(new)
    return found


def _subtract(vector: Vector, shares: Vector, unit: Unit, factor: Fraction) -> None:
    if factor:
        add(vector, unit.vector, -factor)
        add(shares, unit.shares, -factor)


def off_face(
    entries: Mapping[tuple[int, int], Fraction], units: Sequence[Unit]
) -> tuple[Symmetric, dict[int, Vector]]:
    """W less u a' + a u' of null vectors u, so that rows of pivots of these are zero.

    Returns
    -------
    rest : dict
    along : dict from the number of u to the vector a
    """
    rest, along = {key: v for key, v in entries.items() if v}, dict[int, Vector]()
    for unit in units:
        p = unit.pivot
        row = {i if j == p else j: v for (i, j), v in rest.items() if p in (i, j)}
        # Half of the diagonal, so that u a' + a u' has all of it.
        a = {j: v / 2 if j == p else v for j, v in row.items()}
        if p in a:
            add(a, {j: v for j, v in unit.vector.items() if j != p}, -a[p])
        for i, x in unit.vector.items():
            product = {(min(i, j), max(i, j)): (2 if i == j else 1) * v for j, v in a.items()}
            add(rest, product, -x)
        for c, share in unit.shares.items():
            add(along.setdefault(c, {}), a, share)
    return rest, {c: a for c, a in along.items() if a}
