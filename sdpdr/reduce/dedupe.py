"""Rows that say the same thing twice, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.errors import InfeasibleError
from sdpdr.linalg import LinearMap
from sdpdr.linalg.svec import Array, Index
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP, Rows
from sdpdr.reduce.base import Reduced, Reduction

# Relative difference of two right sides that is a contradiction, not a matter of accuracy.
TOLERANCE = 1e-9
# What rounding may leave of the largest right side where the true one is zero.
ROUNDING = 1e-14
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Dedupe(Reduction):
    """Drop rows that repeat another row up to a factor, rows of zeros, and repeated centring.

    Of inequalities that differ in their right side only, the tightest stays. Redundant rows are
    what breaks interior-point methods on neighbour graphs that list (i, j) and (j, i).

    Multipliers of dropped rows are lifted as zeros.
    """

    name: ClassVar[str] = "dedupe"

    def _reduce(self, sdp: SDP) -> Reduced:
        hidden = {r.label for v in sdp.psd_variables for r in exposing_rows(sdp, v.name)}
        groups = [r for r in sdp.rows if r.label not in hidden]
        repeated = _repeated_faces(sdp)
        kept = {r.label: np.full(r.m, r.label not in repeated) for r in sdp.rows}
        for relation in ("==", "<="):
            same = [r for r in groups if r.relation == relation]
            if same:
                for rows, mask in zip(same, _independent(sdp, same), strict=True):
                    kept[rows.label] = mask
        if all(mask.size and mask.all() for mask in kept.values()):
            return Reduced(sdp, _same, push=_same)
        remaining = tuple(_select(r, kept[r.label]) for r in sdp.rows if kept[r.label].any())

        def lift(point: Point) -> Point:
            duals = dict(point.duals)
            for label, mask in kept.items():
                if label in duals or not mask.any():
                    full = np.zeros(mask.size)
                    full[mask] = duals.get(label, np.zeros(0))
                    duals[label] = full
            return Point(point.values, duals)

        def push(point: Point) -> Point:
            duals = {r.label: point.duals[r.label] for r in remaining if r.label in point.duals}
            return Point(point.values, {k: y[kept[k]] for k, y in duals.items()})

        return Reduced(replace(sdp, rows=remaining), lift, push=push)


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


def _select(rows: Rows, mask: Mask) -> Rows:
    if mask.all():
        return rows
    pick = sp.eye_array(rows.m, format="csr")[np.flatnonzero(mask)]
    lhs = {name: pick @ linear_map for name, linear_map in rows.lhs.items()}
    return replace(rows, lhs=lhs, rhs=rows.rhs[mask])


def _independent(sdp: SDP, groups: list[Rows]) -> list[Mask]:
    """Masks of the rows to keep, one for each group; all groups share one relation."""
    matrix = sp.vstack([_matrix(sdp, r) for r in groups], format="csr")
    matrix.eliminate_zeros()
    matrix.sort_indices()
    rhs = np.concatenate([r.rhs for r in groups])
    owner = [r.label for r in groups for _ in range(r.m)]
    size = float(np.max(np.abs(rhs[np.isfinite(rhs)]), initial=0.0))
    equality = groups[0].relation == "=="
    empty = np.diff(matrix.indptr) == 0
    _check_empty(empty, rhs, owner, equality, TOLERANCE * size)
    scale = _scales(matrix, equality)
    keep = ~empty
    # Scaled in place: a product of sparse matrices would cost time in the n^2 columns.
    matrix.data /= np.repeat(scale, np.diff(matrix.indptr))
    for cluster in _clusters(matrix, ~empty):
        sides = rhs[cluster] / scale[cluster]
        noise = ROUNDING * size / np.abs(scale[cluster]).min()
        if equality and np.ptp(sides) > max(TOLERANCE * np.abs(sides).max(), noise):
            owners = [owner[e] for e in cluster]
            raise InfeasibleError(_contradiction(sides * scale[cluster[0]], owners))
        keep[cluster] = False
        least = sides.min() + ROUNDING * np.abs(sides).max()
        keep[cluster[0 if equality else np.flatnonzero(sides <= least)[0]]] = True
    return np.split(keep, np.cumsum([r.m for r in groups])[:-1])


def _contradiction(sides: Array, owner: list[str]) -> str:
    a, b = int(np.argmin(sides)), int(np.argmax(sides))
    return (
        f"two rows say that the same quantity equals {sides[a]:.6g} and {sides[b]:.6g} "
        f"(rows of {owner[a]!r} and {owner[b]!r}); drop or soften one of them."
    )


def _matrix(sdp: SDP, rows: Rows) -> sp.csr_array:
    """The rows on all variables side by side."""
    parts = []
    for v in sdp.variables:
        width = v.size
        if v.name in rows.lhs:
            parts.append(rows.lhs[v.name].matrix())
        else:
            parts.append(sp.csr_array((rows.m, width)))
    return sp.hstack(parts, format="csr")


def _check_empty(
    empty: Mask, rhs: Array, owner: list[str], equality: bool, tolerance: float
) -> None:
    wrong = empty & ((np.abs(rhs) > tolerance) if equality else (rhs < -tolerance))
    if wrong.any():
        e = int(np.flatnonzero(wrong)[0])
        relation = "=" if equality else "<="
        raise InfeasibleError(f"a row of {owner[e]!r} says 0 {relation} {rhs[e]:.6g}.")


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


def _clusters(matrix: sp.csr_array, candidates: Mask) -> list[Index]:
    """Groups of two and more rows that agree; found by two hashes, so in one sort."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    hashes = [
        np.bincount(row, matrix.data * _mix(matrix.indices, salt), minlength=matrix.shape[0])
        for salt in (1, 2)
    ]
    order = np.lexsort((hashes[1], np.round(hashes[0], 9)))
    order = order[candidates[order]]
    close = np.ones(max(order.size - 1, 0), dtype=bool)
    for h in hashes:
        close &= np.abs(np.diff(h[order])) <= 1e-11 * (1.0 + np.abs(h[order][:-1]))
    if not close.any():
        return []
    breaks = np.flatnonzero(~close) + 1
    return [np.sort(part) for part in np.split(order, breaks) if part.size > 1]


def _mix(index: Index, salt: int) -> Array:
    """A pseudo-random number in [0.5, 1.5) for every column, the same wherever it appears."""
    x = (index.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(31)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(29)
    return np.asarray(x.astype(np.float64) / 2.0**64 + 0.5)
