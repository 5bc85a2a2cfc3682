"""Rows that say the same thing twice, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, places_of_rows, rows_as_they_are
from sdpdr.base.errors import InfeasibleError
from sdpdr.linalg import LinearMap
from sdpdr.linalg.exact import Number, exact_terms
from sdpdr.linalg.rounding import UNIT
from sdpdr.program.face import exposing_rows, visible_rows
from sdpdr.program.point import Point, side_by_side
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction, among_zeros

# Relative difference of two right sides that is a contradiction, not a matter of accuracy.
TOLERANCE = 1e-9
# What rounding may leave of the largest right side where the true one is zero.
ROUNDING = 1e-14
# Relative difference of coefficients that rounding leaves between rows that are parallel.
PARALLEL = 16.0 * UNIT
# Entries up to which rows are compared however many they are for sparse ones.
_FEW = 10_000_000
Mask: TypeAlias = NDArray[np.bool_]
# Of a coefficient: variable, and entry (i, j) with i <= j.
Place: TypeAlias = tuple[str, int, int]


@dataclass(frozen=True)
class Dedupe(Reduction):
    """Drop rows that repeat another row up to a factor, rows of zeros, and repeated centring.

    Of inequalities that differ in their right side only, the tightest stays. Redundant rows are
    what breaks interior-point methods on neighbour graphs that list (i, j) and (j, i).

    Rows count as parallel if their coefficients differ by a few units in the last place. Two of
    them with different right sides are called a contradiction only where the numbers stored are
    exactly proportional; otherwise both stay.

    Multipliers of dropped rows are lifted as zeros.
    """

    name: ClassVar[str] = "dedupe"

    def _reduce(self, sdp: SDP) -> Reduced:
        groups = [r for r in visible_rows(sdp) if not _is_wide(r)]
        repeated = _repeated_faces(sdp)
        kept = {r.label: np.full(r.m, r.label not in repeated) for r in sdp.rows}
        for relation in ("==", "<="):
            same = [r for r in groups if r.relation == relation]
            if same:
                for rows, mask in zip(same, _independent(sdp, same), strict=True):
                    kept[rows.label] = mask
        if all(mask.size and mask.all() for mask in kept.values()):
            return Reduced(sdp, _same, push=_same)
        remaining = tuple(r.take(kept[r.label]) for r in sdp.rows if kept[r.label].any())

        def lift(point: Point) -> Point:
            duals = dict(point.duals)
            for label, mask in kept.items():
                if label in duals or not mask.any():
                    duals[label] = among_zeros(duals.get(label, np.zeros(0)), mask)
            return Point(point.values, duals)

        def push(point: Point) -> Point:
            duals = {r.label: point.duals[r.label] for r in remaining if r.label in point.duals}
            return Point(point.values, {k: y[kept[k]] for k, y in duals.items()})

        return Reduced(replace(sdp, rows=remaining), lift, push=push)


def _is_wide(rows: Rows) -> bool:
    """Whether rows have so many entries that to look for parallel ones costs more than it saves."""
    maps = [a for a in rows.lhs.values() if isinstance(a, LinearMap)]
    return any(a.is_wide(_FEW) for a in maps)


def _same(point: Point) -> Point:
    return point


def _repeated_faces(sdp: SDP) -> set[str]:
    """Labels of rows K u = 0 whose vectors u depend on those of earlier rows."""
    repeated = set()
    for v in sdp.psd_variables:
        seen = np.empty((v.n, 0))
        for rows in exposing_rows(sdp, v.name):
            linear_map = rows.lhs[v.name]
            assert isinstance(linear_map, LinearMap)
            more = np.hstack([seen, linear_map.null_vectors(rows.rhs).toarray()])
            if seen.size and np.linalg.matrix_rank(more) == seen.shape[1]:
                repeated.add(rows.label)
            else:
                seen = more
    return repeated


def _independent(sdp: SDP, groups: list[Rows]) -> list[Mask]:
    """Masks of the rows to keep, one for each group; all groups share one relation."""
    parts = [_matrix(sdp, r) for r in groups]
    matrix = sp.vstack(parts, format="csr") if len(parts) > 1 else parts[0]
    matrix.eliminate_zeros()
    matrix.sort_indices()
    rhs = np.concatenate([r.rhs for r in groups])
    owner = [r.label for r in groups for _ in range(r.m)]
    size = float(np.max(np.abs(rhs[np.isfinite(rhs)]), initial=0.0))
    equality = groups[0].relation == "=="
    empty = np.diff(matrix.indptr) == 0
    wrong = empty & _says_something(rhs, equality, TOLERANCE * size)
    for e in np.flatnonzero(wrong):
        if not _exact_row(sdp, groups, int(e))[0]:
            relation = "=" if equality else "<="
            words = f"a row of {owner[e]!r} says 0 {relation} {rhs[e]:.6g}."
            raise InfeasibleError(words, _by_label(groups, {int(e): 1.0}))
    scale = _scales(matrix, equality)
    # What only rounding made empty is left alone.
    keep = ~empty | wrong
    # Scaled in place: a product of sparse matrices would cost time in the n^2 columns.
    matrix.data /= np.repeat(scale, np.diff(matrix.indptr))
    sides = rhs / scale
    ends = np.cumsum([r.m for r in groups])[:-1]
    if empty.size == 1:  # which is parallel to no other; other groups may have no rows at all
        return np.split(keep, ends)
    row, first = _clusters(matrix, ~empty)
    for cluster in _apart(row, first, sides, ROUNDING * size / np.abs(scale)) if equality else []:
        least, most = cluster[[np.argmin(sides[cluster]), np.argmax(sides[cluster])]]
        weights = _contradicting(sdp, groups, least, most)
        if weights:
            owners = [owner[e] for e in cluster]
            words = _contradiction(sides[cluster] * scale[cluster[0]], owners)
            raise InfeasibleError(words, _by_label(groups, weights))
        # Parallel but for rounding, which may be all that reconciles them.
        others = ~np.isin(row, cluster)
        row, first = row[others], first[others]
    keep[row] = False
    keep[first if equality else _tightest(row, first, sides)] = True
    return np.split(keep, ends)


def _contradicting(sdp: SDP, groups: list[Rows], one: int, other: int) -> dict[int, float]:
    """Weights of two rows that add up to 0 = b, b not 0, in exact arithmetic; else none."""
    (a, side_a), (b, side_b) = _exact_row(sdp, groups, one), _exact_row(sdp, groups, other)
    if a.keys() != b.keys() or not a:
        return {}
    key = next(iter(a))
    # Both parts of p + q sqrt 2 have the same ratio, or there is none.
    part = 0 if b[key][0] else 1
    ratio = a[key][part] / b[key][part]
    same = all(a[k] == (ratio * p, ratio * q) for k, (p, q) in b.items())
    if not same or side_a == ratio * side_b:
        return {}
    return {one: float(b[key][part]), other: -float(a[key][part])}


def _by_label(groups: list[Rows], weights: dict[int, float]) -> dict[str, Array]:
    """Weights of rows as multipliers, with a negative sum of right sides: a positive bound."""
    y = np.zeros(sum(r.m for r in groups))
    y[list(weights)] = list(weights.values())
    if groups[0].relation == "==":
        y *= -np.sign(y @ np.concatenate([r.rhs for r in groups]))
    parts = np.split(y, np.cumsum([r.m for r in groups])[:-1])
    return {r.label: part for r, part in zip(groups, parts, strict=True)}


def _exact_row(sdp: SDP, groups: list[Rows], e: int) -> tuple[dict[Place, Number], Fraction]:
    """The coefficients of a row of several groups, none of them zero, and its right side."""
    for rows in groups:
        if e < rows.m:
            break
        e -= rows.m
    total: dict[Place, Number] = {}
    for name, linear_map in rows.lhs.items():
        for _, i, j, (p, q) in exact_terms(linear_map, [e]):
            before = total.get((name, i, j), (Fraction(0), Fraction(0)))
            total[name, i, j] = (before[0] + p, before[1] + q)
    return {k: c for k, c in total.items() if any(c)}, Fraction(float(rows.rhs[e]))


def _contradiction(sides: Array, owner: list[str]) -> str:
    a, b = int(np.argmin(sides)), int(np.argmax(sides))
    return (
        f"two rows say that the same quantity equals {sides[a]:.6g} and {sides[b]:.6g} "
        f"(rows of {owner[a]!r} and {owner[b]!r}); drop or soften one of them."
    )


def _matrix(sdp: SDP, rows: Rows) -> sp.csr_array:
    """The rows on all variables side by side."""
    places, size = side_by_side(sdp.variables), sum(v.size for v in sdp.variables)
    # Of entries of a large matrix there are more than 32 bits count.
    parts = [(np.int64(places[name].start), a.matrix()) for name, a in rows.lhs.items()]
    if len(parts) == 1:
        # SciPy takes several times as long to stack matrices as to read them.
        ((start, part),) = parts
        entries = (part.data.copy(), part.indices + start, part.indptr.copy())
        return rows_as_they_are(*entries, (rows.m, size))
    counts = [np.repeat(np.arange(rows.m), np.diff(part.indptr)) for _, part in parts]
    row = np.concatenate([np.arange(0), *counts])
    column = np.concatenate([np.arange(0), *(part.indices + start for start, part in parts)])
    data = np.concatenate([np.zeros(0), *(part.data for _, part in parts)])
    return sp.csr_array((data, (row, column)), shape=(rows.m, size))


def _says_something(rhs: Array, equality: bool, tolerance: float) -> Mask:
    """Which right sides contradict a left side of zero."""
    return np.asarray(np.abs(rhs) > tolerance if equality else rhs < -tolerance)


def _scales(matrix: sp.csr_array, equality: bool) -> Array:
    """Largest entry of every row; for equalities with the sign of the first entry."""
    scale = np.ones(matrix.shape[0])
    full = np.flatnonzero(np.diff(matrix.indptr))
    if full.size == 0:
        return scale
    starts = matrix.indptr[full]
    scale[full] = np.maximum.reduceat(np.abs(matrix.data), starts)
    if equality:
        scale[full] *= np.sign(matrix.data[starts])
    return scale


def _apart(row: Index, first: Index, sides: Array, noise: Array) -> list[Index]:
    """Clusters of equations whose right sides are not the same."""
    starts = _starts(first)
    if not starts.size:
        return []
    most, least = np.maximum.reduceat(sides[row], starts), np.minimum.reduceat(sides[row], starts)
    largest = np.maximum.reduceat(noise[row], starts)
    apart = most - least > np.maximum(TOLERANCE * np.maximum(np.abs(most), np.abs(least)), largest)
    clusters = np.split(row, starts[1:])
    return [clusters[k] for k in np.flatnonzero(apart)]


def _tightest(row: Index, first: Index, sides: Array) -> Index:
    """Of every cluster of inequalities the first of those that say most."""
    starts = _starts(first)
    if not starts.size:
        return row
    sizes = np.diff([*starts, row.size])
    least = np.minimum.reduceat(sides[row], starts)
    least += ROUNDING * np.maximum.reduceat(np.abs(sides[row]), starts)
    tight = np.flatnonzero(sides[row] <= np.repeat(least, sizes))
    return row[tight[np.unique(first[tight], return_index=True)[1]]]


def _starts(first: Index) -> Index:
    """Where clusters begin."""
    return np.flatnonzero(np.diff(first, prepend=-1))


def _clusters(matrix: sp.csr_array, candidates: Mask) -> tuple[Index, Index]:
    """Rows that agree with others, and the first row that each agrees with, cluster by cluster.

    They are found by two hashes, so in one sort.
    """
    owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    hashes = [
        np.bincount(owner, matrix.data * _mix(matrix.indices, salt), minlength=matrix.shape[0])
        for salt in (1, 2)
    ]
    order = np.lexsort((hashes[1], np.round(hashes[0], 9)))
    order = order[candidates[order]]
    close = np.ones(max(order.size - 1, 0), dtype=bool)
    for h in hashes:
        close &= np.abs(np.diff(h[order])) <= 1e-11 * (1.0 + np.abs(h[order][:-1]))
    if not close.any():  # as of most programs, of which the small ones take as long as what follows
        return np.arange(0), np.arange(0)
    alike = np.concatenate([[0], np.cumsum(~close)])[: order.size]
    by_group = np.lexsort((order, alike))
    row, alike = order[by_group], alike[by_group]
    rows, firsts = [np.arange(0)], [np.arange(0)]
    while row.size:
        starts = _starts(alike)
        first = np.repeat(row[starts], np.diff([*starts, row.size]))
        same = _agree(matrix, row, first)
        counts = np.bincount(alike[same])
        several = same & (counts[alike] > 1)
        rows.append(row[several])
        firsts.append(first[several])
        # Those of a group that differ from its first row may agree with each other.
        row, alike = row[~same], alike[~same]
    row, first = np.concatenate(rows), np.concatenate(firsts)
    order = np.lexsort((row, first))
    return row[order], first[order]


def _agree(matrix: sp.csr_array, rows: Index, others: Index) -> Mask:
    """Which rows differ from the others beside them by rounding only."""
    counts = np.diff(matrix.indptr)
    same = np.asarray(counts[rows] == counts[others])
    a, b = (places_of_rows(matrix, which[same]) for which in (rows, others))
    near = np.abs(matrix.data[a] - matrix.data[b]) <= PARALLEL * np.abs(matrix.data[b])
    wrong = ~(near & (matrix.indices[a] == matrix.indices[b]))
    owner = np.repeat(np.flatnonzero(same), counts[rows[same]])
    same[owner[wrong]] = False
    return same


def _mix(index: Index, salt: int) -> Array:
    """A pseudo-random number in [0.5, 1.5) for every column, the same wherever it appears."""
    x = (index.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(31)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(29)
    return np.asarray(x.astype(np.float64) / 2.0**64 + 0.5)
