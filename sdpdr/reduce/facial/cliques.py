r"""Cliques of points whose mutual squared lengths are all prescribed.

For weights v with sum zero, :math:`v v^T = -\sum_{i<j} v_i v_j (e_i - e_j)(e_i - e_j)^T`. So rows
that prescribe the squared lengths d of a clique say :math:`v^T K v = -\sum_{i<j} v_i v_j d_{ij}`,
the value of the clique's Gram matrix about one of its points. Where that matrix is singular over
the rationals, its null vectors are null vectors of K; where it is not semidefinite, no points
have these lengths.

Lengths computed in floating point are hardly ever singular exactly. A clique that is flat up to
rounding exposes nothing; its lengths may even contradict each other by as much, which says nothing
of those that were meant. Both are remarked on, and neither is used.

References
----------
Krislock and Wolkowicz, "Explicit sensor network localization using semidefinite representations
and facial reductions", SIAM J. Optim. 20(5), 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg import Combined, LinearMap, VectorMap, lengths_of
from sdpdr.linalg.exact import Vector, add
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.faces import Multiplier

# Smallest eigenvalue, relative to the largest, above which a clique is certainly not flat, and
# below which it is flat up to rounding.
_DOUBT, _FLAT = 1e-9, 1e-12
# Binary digits of lengths that may be meant exactly.
_DIGITS = 40
# Most cliques and most points of one that are looked at.
_MANY, _LARGE = 2000, 30

Row = tuple[str, int, Fraction, Fraction]


@dataclass
class Cliques:
    """What the cliques of a program say.

    Attributes
    ----------
    flat : list of lists of multipliers
        Combinations of rows whose matrix is v v^T, with a right side of zero; or a negative one,
        if the lengths contradict each other.
    nearly : list of (variable, points)
        Cliques that are flat to within rounding, but not exactly.
    """

    flat: list[list[Multiplier]] = field(default_factory=list)
    nearly: list[tuple[str, list[int]]] = field(default_factory=list)


def read_cliques(sdp: SDP) -> Cliques:
    """Look at all cliques; over the rationals only where floating point leaves a doubt."""
    found = Cliques()
    for name, clique, rows in _cliques(sdp):
        lengths = _lengths_within(clique, rows)
        values = np.linalg.eigvalsh(lengths[:1, 1:] + lengths[1:, :1] - lengths[1:, 1:])
        size = float(np.abs(values).max())
        rounding_only = abs(values[0]) <= _FLAT * size
        if values[0] > _DOUBT * size:
            continue
        if rounding_only and not _is_short(lengths):
            found.nearly.append((name, clique))
            continue
        found.flat += [_multipliers(v, rows) for v in _flat_weights(clique, rows)]
    return found


def _is_short(numbers: Array) -> bool:
    """Whether all numbers have few binary digits; others are hardly ever singular exactly."""
    mantissa = np.ldexp(np.frexp(numbers)[0], _DIGITS)
    return bool(np.all(mantissa == np.round(mantissa)))


def _multipliers(v: Vector, rows: dict[tuple[int, int], Row]) -> list[Multiplier]:
    pairs = [(i, j) for i in sorted(v) for j in sorted(v) if i < j]
    known = [(rows[i, j], v[i] * v[j]) for i, j in pairs]
    return [(label, e, -product / factor) for (label, e, factor, _), product in known]


def _cliques(sdp: SDP) -> Iterator[tuple[str, list[int], dict[tuple[int, int], Row]]]:
    for v in sdp.psd_variables:
        rows = _lengths(sdp, v.name)
        near: dict[int, set[int]] = {}
        for i, j in rows:
            near.setdefault(i, set()).add(j)
            near.setdefault(j, set()).add(i)
        for count, clique in enumerate(_maximal(near)):
            if count == _MANY:
                break
            if 3 <= len(clique) <= _LARGE:
                yield v.name, clique, rows


def _lengths(sdp: SDP, name: str) -> dict[tuple[int, int], Row]:
    """Rows that prescribe a length, by their edge: label, number, factor, squared length."""
    found: dict[tuple[int, int], Row] = {}
    for r in sdp.rows:
        linear_map = r.lhs.get(name)
        if r.relation != "==" or len(r.lhs) != 1 or linear_map is None:
            continue
        for e, (i, j), factor in _edges(linear_map):
            if i != j and factor:
                side = Fraction(float(r.rhs[e])) / factor
                found.setdefault((min(i, j), max(i, j)), (r.label, e, factor, side))
    return found


def _edges(
    linear_map: LinearMap | VectorMap,
) -> Iterator[tuple[int, tuple[int, int], Fraction]]:
    rows = np.arange(linear_map.m)
    if isinstance(linear_map, Combined):
        rows = np.flatnonzero(np.diff(linear_map.weights.indptr) == 1)
        linear_map = linear_map.take(rows)
    found = lengths_of(linear_map)
    if found is not None:
        for e, (i, j), factor in zip(rows.tolist(), *map(np.ndarray.tolist, found), strict=True):
            yield e, (i, j), Fraction(factor)


def _maximal(near: dict[int, set[int]]) -> Iterator[list[int]]:
    """Maximal cliques, by the branching of Bron and Kerbosch with pivots."""
    waiting = [(frozenset[int](), set(near), set[int]())]
    while waiting:
        clique, candidates, excluded = waiting.pop()
        if not candidates and not excluded:
            yield sorted(clique)
        if not candidates:
            continue
        pivot = max(candidates | excluded, key=lambda i: (len(near[i] & candidates), -i))
        for i in sorted(candidates - near[pivot]):
            waiting.append((clique | {i}, candidates & near[i], excluded & near[i]))
            candidates, excluded = candidates - {i}, excluded | {i}


def _lengths_within(clique: list[int], rows: dict[tuple[int, int], Row]) -> Array:
    return np.array([[float(_squared(rows, i, j)) for j in clique] for i in clique])


def _exact_gram(clique: list[int], rows: dict[tuple[int, int], Row]) -> list[list[Fraction]]:
    origin, others = clique[0], clique[1:]
    about = {i: _squared(rows, origin, i) for i in others}
    return [[about[i] + about[j] - _squared(rows, i, j) for j in others] for i in others]


def _squared(rows: dict[tuple[int, int], Row], i: int, j: int) -> Fraction:
    return Fraction(0) if i == j else rows[min(i, j), max(i, j)][3]


def _flat_weights(clique: list[int], rows: dict[tuple[int, int], Row]) -> Iterator[Vector]:
    """Weights v of sum zero whose form vanishes, or is negative."""
    origin, others = clique[0], clique[1:]
    gram = _exact_gram(clique, rows)
    # Elimination with the unit matrix beside: its rows are the directions tried.
    rest = [{j: a for j, a in enumerate(row) if a} for row in gram]
    tries: list[Vector] = [{k: Fraction(1)} for k in range(len(others))]
    for k, row in enumerate(rest):
        pivot = row.get(k, Fraction(0))
        if pivot > 0:
            for i in range(k + 1, len(others)):
                factor = rest[i].get(k, Fraction(0)) / pivot
                if factor:
                    add(rest[i], row, -factor)
                    add(tries[i], tries[k], -factor)
            continue
        if not pivot and row:
            # A zero beside an entry c that is not: some combination of the two is negative.
            j, c = min(row.items())
            d = rest[j].get(j, Fraction(0))
            add(tries[k], tries[j], -c / d if d > 0 else -c)
        yield _weights(origin, others, tries[k])
        if row:
            return


def _weights(origin: int, others: list[int], direction: Vector) -> Vector:
    weights = {others[k]: value for k, value in direction.items()}
    add(weights, {origin: -sum(direction.values(), Fraction(0))})
    return weights
