r"""Cliques of points whose mutual squared lengths are all prescribed.

For weights v with sum zero, :math:`v v^T = -\sum_{i<j} v_i v_j (e_i - e_j)(e_i - e_j)^T`. So rows
that prescribe the squared lengths d of a clique say :math:`v^T K v = -\sum_{i<j} v_i v_j d_{ij}`,
the value of the clique's Gram matrix about one of its points. Where that matrix is singular over
the rationals, its null vectors are null vectors of K; where it is not semidefinite, no points
have these lengths. Lengths computed in floating point are hardly ever singular exactly: a clique
that is flat up to rounding proves nothing, and is only remarked on.

References
----------
Krislock and Wolkowicz, "Explicit sensor network localization using semidefinite representations
and facial reductions", SIAM J. Optim. 20(5), 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sdpdr.linalg import Combined, LinearMap, SquaredEdgeLengths, VectorMap
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.exact import Vector, add
from sdpdr.reduce.facial.faces import Multiplier

# Eigenvalue, relative to the largest, below which a clique is flat up to rounding.
_FLAT = 1e-12
# Most cliques and most points of one that are looked at.
_MANY, _LARGE = 2000, 30

Row = tuple[str, int, Fraction, Fraction]


def flat_cliques(sdp: SDP) -> Iterator[tuple[str, list[Multiplier]]]:
    """Combinations of rows whose matrix is v v^T, for the variable named, with no right side.

    Or a negative one: then the lengths contradict each other.
    """
    for name, clique, rows in _cliques(sdp):
        for v in _flat_weights(clique, rows):
            yield (
                name,
                [
                    (label, e, -v[i] * v[j] / factor)
                    for i in sorted(v)
                    for j in sorted(v)
                    if i < j
                    for label, e, factor, _ in (rows[i, j],)
                ],
            )


def nearly_flat(sdp: SDP) -> Iterator[tuple[str, list[int]]]:
    """Cliques that are flat to within rounding, but not exactly."""
    for name, clique, rows in _cliques(sdp):
        gram = np.array([[float(a) for a in row] for row in _gram(clique, rows)], dtype=float)
        values = np.linalg.eigvalsh(gram)
        near = np.abs(values) <= _FLAT * np.abs(values).max()
        if near.any() and not list(_flat_weights(clique, rows)):
            yield name, clique


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
    if isinstance(linear_map, SquaredEdgeLengths):
        for e, (i, j) in enumerate(linear_map.edges.tolist()):
            yield e, (i, j), Fraction(1)
    elif isinstance(linear_map, Combined) and isinstance(linear_map.inner, SquaredEdgeLengths):
        weights = linear_map.weights
        for e in np.flatnonzero(np.diff(weights.indptr) == 1).tolist():
            at = weights.indptr[e]
            i, j = linear_map.inner.edges[weights.indices[at]].tolist()
            yield e, (i, j), Fraction(float(weights.data[at]))


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


def _gram(clique: list[int], rows: dict[tuple[int, int], Row]) -> list[list[Fraction]]:
    """Twice the Gram matrix about the first point."""
    origin, others = clique[0], clique[1:]

    def squared(i: int, j: int) -> Fraction:
        return Fraction(0) if i == j else rows[min(i, j), max(i, j)][3]

    return [
        [squared(origin, i) + squared(origin, j) - squared(i, j) for j in others] for i in others
    ]


def _flat_weights(clique: list[int], rows: dict[tuple[int, int], Row]) -> Iterator[Vector]:
    """Weights v of sum zero whose form vanishes, or is negative."""
    origin, others = clique[0], clique[1:]
    gram = _gram(clique, rows)
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
