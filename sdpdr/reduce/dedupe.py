"""Rows that say the same thing twice, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, placed
from sdpdr.base.errors import InfeasibleError
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.exact import matrix_row, vector_row
from sdpdr.program.face import exposing_rows, visible_rows
from sdpdr.program.point import Factor, Point, PsdVariable, side_by_side
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction
from sdpdr.reduce.kept import narrowed, spread
from sdpdr.reduce.parallel import first_parallel, scales

# Relative difference of two right-hand sides that is a contradiction rather than rounding.
_TOLERANCE = 1e-9
# What rounding may leave of a right-hand side of zero, beside the largest one.
_RHS_ROUNDING = 1e-14
# Relative difference of two ratios that rounding does not make.
_CHANCE = 1e-11
# Up to this many entries, rows are compared even if they are not sparse.
_DENSE_ENTRIES = 10_000_000


@dataclass(frozen=True)
class Dedupe(Reduction):
    """Drop rows that repeat another row up to a factor, rows of zeros, and repeated centring.

    If inequalities differ only in their right-hand sides, the tightest one stays. Redundant rows
    break interior-point methods on neighbour graphs that list (i, j) and (j, i).

    Rows count as parallel if their coefficients differ by a few units in the last place. Two
    parallel equations with different right-hand sides are a contradiction only if the numbers
    stored are exactly proportional; otherwise both stay.

    Rows that are dropped share the multiplier of the row that they repeat, in equal parts. So an
    equation of symmetric matrices that is stated for both triangles has symmetric multipliers.
    Other rows that are dropped have multipliers of zero.

    Examples
    --------
    >>> from sdpdr.reduce import Dedupe
    >>> import numpy as np
    >>> from sdpdr.linalg import Entries
    >>> from sdpdr.program import SDP, PsdVariable, Rows
    >>> rows = Rows("twice", "==", {"X": Entries(2, [[0, 1], [1, 0]])}, np.zeros(2))
    >>> Dedupe().apply(SDP((PsdVariable("X", 2),), {}, (rows,))).sdp
    SDP(unnamed; matrices [X: 2x2], 0 scalars, 1 rows, 0 matrix inequalities)
    """

    name: ClassVar[str] = "dedupe"

    def _reduce(self, sdp: SDP) -> Reduced:
        visible = [r for r in visible_rows(sdp) if not _is_wide(r)]
        same = ([r for r in visible if r.relation == relation] for relation in ("==", "<="))
        groups = [_Alike(sdp, rows) for rows in same if rows and not _seem_apart(sdp, rows)]
        repeated = _repeated_faces(sdp)
        kept = {r.label: np.full(r.m, r.label not in repeated) for r in sdp.rows}
        for group in groups:
            kept |= group.split(group.kept)
        if all(mask.size and mask.all() for mask in kept.values()):
            return Reduced(sdp, _same, push=_same)
        remaining = tuple(r.take(kept[r.label]) for r in sdp.rows if kept[r.label].any())
        reduced = replace(sdp, rows=remaining)

        def lift(point: Point) -> Point:
            duals = spread(sdp, kept, point.duals)
            for group in groups:
                duals |= group.shared(duals)
            return Point(point.values, duals)

        def push(point: Point) -> Point:
            duals = dict(point.duals)
            for group in groups:
                duals |= group.gathered(duals)
            return Point(point.values, narrowed(reduced, kept, duals))

        return Reduced(reduced, lift, push=push)


def _is_wide(rows: Rows) -> bool:
    """Whether rows have so many entries that comparing them costs more than it saves."""
    return any(a.is_wide(_DENSE_ENTRIES) for a in rows.lhs.values() if isinstance(a, LinearMap))


def _seem_apart(sdp: SDP, groups: Sequence[Rows]) -> bool:
    """Whether no row is zero and no two are parallel, by their values at two random points.

    Values of parallel rows have one ratio. Others may have it by chance, and are looked at closely.
    """
    rng, values = np.random.default_rng(0), []
    for _ in range(2):
        point = {
            v.name: Factor(rng.uniform(size=(v.n, 1)))
            if isinstance(v, PsdVariable)
            else rng.uniform(size=v.size)
            for v in sdp.variables
        }
        values.append(np.concatenate([sdp.evaluate(r.lhs, point, r.m) for r in groups]))
    if not np.all(values[0]):
        return False
    ratios = np.sort(values[1] / values[0])
    return bool(np.all(np.diff(ratios) > _CHANCE * np.abs(ratios[1:])))


def _same(point: Point) -> Point:
    """The point itself, if no row was dropped."""
    return point


def _repeated_faces(sdp: SDP) -> set[str]:
    """Labels of rows K u = 0 whose vectors u depend on those of earlier rows."""
    repeated = set()
    for v in sdp.psd_variables:
        seen = np.empty((v.n, 0))
        for rows in exposing_rows(sdp, v.name):
            a = rows.lhs[v.name]
            assert isinstance(a, LinearMap)
            more = np.hstack([seen, a.null_vectors(rows.rhs).toarray()])
            if seen.size and np.linalg.matrix_rank(more) == seen.shape[1]:
                repeated.add(rows.label)
            else:
                seen = more
    return repeated


class _Alike:
    """Groups of rows that have the same relation, one under the other."""

    def __init__(self, sdp: SDP, groups: Sequence[Rows]) -> None:
        self._groups, self._is_equality = groups, groups[0].relation == "=="
        self._places = np.cumsum([r.m for r in groups])[:-1]
        matrix = sp.vstack([_matrix(sdp, r) for r in groups], format="csr")
        matrix.eliminate_zeros()
        matrix.sort_indices()
        self._rhs = np.concatenate([r.rhs for r in groups])
        self._size = float(np.max(np.abs(self._rhs), initial=0.0))
        empty = np.diff(matrix.indptr) == 0
        self._scale = scales(matrix, self._is_equality)
        self._sides = self._rhs / self._scale
        # Scaled in place, because a product of sparse matrices takes time in the n^2 columns.
        matrix.data /= np.repeat(self._scale, np.diff(matrix.indptr))
        # Rows of zeros that cannot hold stay: that no point satisfies them is proved elsewhere.
        away = np.abs(self._rhs) if self._is_equality else -self._rhs
        wrong, every = empty & (away > _TOLERANCE * self._size), np.arange(empty.size)
        first = first_parallel(matrix, np.flatnonzero(~empty))
        self._first = self._equal(first) if self._is_equality else self._tightest(first)
        self.kept = (~empty | wrong) & (self._first == every)
        # Looser inequalities share nothing.
        self._first = np.where(self._sides == self._sides[self._first], self._first, every)

    def split(self, y: Array) -> dict[str, Any]:
        """Numbers of all rows by label."""
        parts = np.split(y, self._places)
        return {r.label: part for r, part in zip(self._groups, parts, strict=True)}

    def shared(self, duals: Mapping[str, Array]) -> dict[str, Array]:
        """Multipliers with that of a repeated row divided among the rows that repeat it."""
        if not all(r.label in duals for r in self._groups):
            return {}
        y = np.concatenate([duals[r.label] for r in self._groups])
        count = np.bincount(self._first, minlength=y.size)[self._first]
        return self.split(y[self._first] / count * self._scale[self._first] / self._scale)

    def gathered(self, duals: Mapping[str, Array]) -> dict[str, Array]:
        """Multipliers with those of dropped rows added to that of the row they repeat."""
        if not all(r.label in duals for r in self._groups):
            return {}
        y = np.concatenate([duals[r.label] for r in self._groups]) * self._scale
        return self.split(np.bincount(self._first, y, y.size) / self._scale)

    def _tightest(self, first: Index) -> Index:
        """For each inequality the first of the tightest parallel ones."""
        sides, every = self._sides, np.arange(first.size)
        least, size = np.full(first.size, np.inf), np.zeros(first.size)
        np.minimum.at(least, first, sides)
        np.maximum.at(size, first, np.abs(sides))
        tight = sides <= (least + _RHS_ROUNDING * size)[first]
        chosen = np.full(first.size, first.size)
        np.minimum.at(chosen, first[tight], every[tight])
        return chosen[first]

    def _equal(self, first: Index) -> Index:
        """For each equation the first parallel one with the same right-hand side.

        Equations with other right-hand sides are parallel up to rounding, and the rounding may be
        what makes them compatible.
        """
        sides, noise = self._sides, np.zeros(first.size)
        least, most = np.full(first.size, np.inf), np.full(first.size, -np.inf)
        np.minimum.at(least, first, sides)
        np.maximum.at(most, first, sides)
        np.maximum.at(noise, first, _RHS_ROUNDING * self._size / np.abs(self._scale))
        size = np.maximum(np.abs(most), np.abs(least))
        heads = np.unique(first)
        apart = (most - least)[heads] > np.maximum(_TOLERANCE * size, noise)[heads]
        for head in heads[apart]:
            cluster = np.flatnonzero(first == head)
            order = cluster[np.argsort(sides[cluster])]
            self._refuse(int(order[0]), int(order[-1]), float(self._scale[head]))
            first[cluster] = cluster
        self._sides = sides[first]
        return first

    def _refuse(self, least: int, most: int, unit: float) -> None:
        """An error if two equations contradict each other exactly."""
        (one, a), (other, b) = self._row(least), self._row(most)
        if not a or not b or a.keys() != b.keys():
            return
        ratio = next(a[k] / b[k] for k in a)
        if a == {k: ratio * x for k, x in b.items()}:
            low, high = sorted(self._sides[[least, most]] * unit)
            # Multipliers with a negative sum of right sides: a positive bound on nothing.
            y = np.zeros(self._rhs.size)
            y[[least, most]] = 1.0, -float(ratio)
            raise InfeasibleError(
                f"two rows say that the same quantity equals {low:.6g} and {high:.6g} (rows of "
                f"{one!r} and {other!r}); drop or soften one of them.",
                self.split(-np.sign(y @ self._rhs) * y),
            )

    def _row(self, e: int) -> tuple[str, dict[Any, Fraction] | None]:
        """The label and the exact coefficients of a row; None where they are not known."""
        k = int(np.searchsorted(self._places, e, side="right"))
        rows, total = self._groups[k], dict[Any, Fraction]()
        e -= int(np.concatenate([[0], self._places])[k])
        for name, a in rows.lhs.items():
            whole = np.ones(a.n, dtype=bool)
            row: Any = vector_row(a, e) if isinstance(a, VectorMap) else matrix_row(a, e, whole)
            if row is None:
                return rows.label, None
            total |= {(name, place): x for place, x in row.items() if x}
        return rows.label, total


def _matrix(sdp: SDP, rows: Rows) -> sp.csr_array:
    """The rows on all variables side by side."""
    places, size = side_by_side(sdp.variables), sum(v.size for v in sdp.variables)
    return placed(
        [(0, places[name].start, a.matrix()) for name, a in rows.lhs.items()], (rows.m, size)
    )
