"""The reduced variable M with X = V M V^T, and maps in terms of it, without rounding."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, from_places
from sdpdr.linalg import (
    Combined,
    LinearMap,
    Products,
    SquaredEdgeLengths,
    Stacked,
    SvecMap,
    Trace,
    VectorMap,
)
from sdpdr.linalg.exact import Vector, matrix_row, whole
from sdpdr.linalg.svec import selected, svec_index, svec_size
from sdpdr.program.echelon import Echelon
from sdpdr.program.point import Factor, PsdVariable, Value, congruent
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# Rows of a map that has to be written out, order of its matrices, and places of null vectors:
# beyond, they are better stated as rows, for which `Face` has a sparse basis.
_ROWS, _ORDER, _DENSE = 5000, 400, 60


class Selection:
    """X is zero outside some rows and columns.

    Parameters
    ----------
    n : int
    kept : array of int
        The rows and columns that are left, ascending.
    """

    def __init__(self, n: int, kept: Index) -> None:
        self.n, self.kept = n, kept

    @property
    def r(self) -> int:
        """Order of M."""
        return int(self.kept.size)

    @cached_property
    def matrix(self) -> sp.csr_array:
        """V, shape (n, r)."""
        place = (self.kept, np.arange(self.r))
        return sp.csr_array((np.ones(self.r), place), shape=(self.n, self.r))

    def image(self, vector: Array) -> Array:
        """V^T u."""
        return vector[self.kept]

    def restrict(self, linear_map: LinearMap) -> LinearMap:
        """The map M -> A(V M V^T)."""
        return linear_map if self.r == self.n else linear_map.congruence(self.matrix)


class MixedBasis:
    r"""X = V M V^T with whole numbers in V.

    On the places J that are no pivots V is diagonal; a pivot's row says how it depends on them.

    Parameters
    ----------
    echelon : Echelon
        Null vectors on n places, none of them a unit vector.
    n : int

    Raises
    ------
    OverflowError
        If V has entries that no double holds, or too many.
    """

    def __init__(self, echelon: Echelon, n: int) -> None:
        self.n, self._echelon = n, echelon
        if max(map(len, echelon.vectors.values())) > _DENSE:
            raise OverflowError("null vectors that would fill the rows")
        self.kept = np.array([i for i in range(n) if i not in echelon.vectors], dtype=np.int64)
        self._new = {int(i): k for k, i in enumerate(self.kept)}
        entries: dict[int, list[Fraction]] = {}
        for pivot in echelon.vectors:
            for j, value in echelon.row(pivot).items():
                entries.setdefault(j, []).append(value)
        self._scale = {j: whole(values) for j, values in entries.items()}
        self.matrix = self._matrix()

    @property
    def r(self) -> int:
        """Order of M."""
        return int(self.kept.size)

    def _row(self, i: int) -> Vector:
        """Row i of V, its places those of M."""
        return {
            self._new[j]: value * self._scale.get(j, 1) for j, value in self._echelon.row(i).items()
        }

    def _matrix(self) -> sp.csr_array:
        entries = [(i, k, value) for i in range(self.n) for k, value in self._row(i).items()]
        if doubles([value for _, _, value in entries]) is None:
            raise OverflowError("null vectors whose whole-numbered basis no double holds")
        return from_places(entries, (self.n, self.r))

    def image(self, vector: Array) -> Array | None:
        """V^T u; None if it would be rounded."""
        total = [Fraction(0)] * self.r
        for i in np.flatnonzero(vector):
            for k, value in self._row(int(i)).items():
                total[k] += value * Fraction(float(vector[i]))
        rounded = doubles(total)
        return None if rounded is None else np.array(rounded, dtype=float)

    def restrict(self, linear_map: LinearMap) -> LinearMap | None:
        """The map M -> A(V M V^T); None if its numbers would be rounded."""
        a = linear_map
        if isinstance(a, Stacked):
            parts = [self.restrict(part) for part in a.maps]
            known = [part for part in parts if part is not None]
            return Stacked(known) if len(known) == len(parts) else None
        if isinstance(a, Combined) and self._joins is not None:
            inner = self.restrict(a.inner)
            return None if inner is None else Combined(a.weights, inner)
        if isinstance(a, SquaredEdgeLengths) and self._joins is not None:
            return a.congruence(self.matrix)
        if isinstance(a, Trace) and self._joins is not None:
            weights = self._sums(a.weights)
            return None if weights is None else Trace(self.r, weights)
        return self._written_out(a)

    @cached_property
    def _joins(self) -> Index | None:
        """Which entry of M stands for each place, where points merely coincide."""
        places = selected(self.matrix)
        return None if places is None or np.any(places < 0) else places

    def _sums(self, weights: Array) -> Array | None:
        assert self._joins is not None
        total = [Fraction(0)] * self.r
        for k, weight in zip(self._joins, weights.tolist(), strict=True):
            total[k] += Fraction(weight)
        rounded = doubles(total)
        return None if rounded is None else np.array(rounded, dtype=float)

    def _written_out(self, linear_map: LinearMap) -> SvecMap | None:
        if linear_map.m > _ROWS or self.n > _ORDER:
            return None
        keep = np.ones(self.n, dtype=bool)
        row, places, values = [], [], list[Fraction]()
        for e in range(linear_map.m):
            matrix = matrix_row(linear_map, e, keep)
            if matrix is None:
                return None
            for (i, j), value in self._echelon.restrict(matrix).items():
                row.append(e)
                places.append((self._new[i], self._new[j]))
                values.append(value * self._scale.get(i, 1) * self._scale.get(j, 1))
        rounded = doubles(values)
        if rounded is None:
            return None
        i, j = np.array(places, dtype=np.int64).reshape(-1, 2).T
        shape = (linear_map.m, svec_size(self.r))
        entries = sp.csr_array((np.array(rounded, dtype=float), (row, svec_index(i, j))), shape)
        return SvecMap.from_natural(self.r, entries)


def doubles(values: list[Fraction]) -> list[float] | None:
    """Fractions as doubles, where each of them is one."""
    try:
        rounded = [float(value) for value in values]
    except OverflowError:
        return None
    exact = all(Fraction(x) == value for x, value in zip(rounded, values, strict=True))
    return rounded if exact else None


AnyMap: TypeAlias = "LinearMap | VectorMap"


@dataclass(eq=False)
class Basis:
    """How a matrix variable is written: X = S V M V^T S^T, S a selection, V a combination.

    Where V would need rounding, M is the selected part and ``null`` holds vectors u for rows
    M u = 0, which say the same; it is not complete if a vector cannot be written down either.
    """

    selection: Selection
    combination: MixedBasis | None = None
    null: list[Array] = field(default_factory=list)
    complete: bool = True

    @property
    def is_selection(self) -> bool:
        """Whether the selection says all that is known of the face."""
        return self.combination is None and not self.null and self.complete

    @property
    def r(self) -> int:
        """Order of M."""
        return self.selection.r if self.combination is None else self.combination.r

    def restrict(self, linear_map: LinearMap) -> LinearMap:
        """The map in terms of M."""
        linear_map = self.selection.restrict(linear_map)
        if self.combination is None:
            return linear_map
        restricted = self.combination.restrict(linear_map)
        assert restricted is not None  # or the combination would not have been taken
        return restricted

    def image(self, vector: Array) -> Array | None:
        """The vector in terms of M; None if it would be rounded."""
        image = self.selection.image(vector)
        return image if self.combination is None else self.combination.image(image)

    def matrix(self) -> sp.csr_array:
        """S V, shape (n, r)."""
        if self.combination is None:
            return self.selection.matrix
        return sp.csr_array(self.selection.matrix @ self.combination.matrix)

    def lift(self, value: Value) -> Value:
        """X of M; exact where there is no combination."""
        return congruent(value, self.matrix())

    def push(self, value: Value) -> Value:
        """M of X."""
        at = self.selection.kept
        scale = np.ones(at.size)
        if self.combination is not None:
            at = at[self.combination.kept]
            scale = self.combination.matrix[self.combination.kept].diagonal()
        if isinstance(value, Factor):
            return Factor(value.factor[at] / scale[:, None])
        return np.asarray(value)[np.ix_(at, at)] / np.outer(scale, scale)


def basis_of(sdp: SDP, variable: PsdVariable, echelon: Echelon) -> Basis:
    """How a variable is written on the face whose null vectors are known in echelon form."""
    left = np.array([i for i in range(variable.n) if i not in echelon.units], dtype=np.int64)
    selection = Selection(variable.n, left)
    if not echelon.mixed:
        return Basis(selection)
    new = {int(i): k for k, i in enumerate(left)}
    vectors = [
        {new[i]: value for i, value in echelon.vectors[p].items()} for p in sorted(echelon.mixed)
    ]
    small = Echelon()
    for vector in vectors:
        small.insert(vector)
    try:
        combination = MixedBasis(small, left.size)
    except OverflowError:
        combination = None
    if combination is not None and _is_exact(sdp, variable.name, selection, combination):
        return Basis(selection, combination)
    null = []
    for vector in vectors:
        scale = whole(vector.values())
        entries = doubles([value * scale for value in vector.values()])
        if entries is not None:
            u = np.zeros(left.size)
            u[list(vector)] = entries
            null.append(np.ldexp(u, -int(np.frexp(np.abs(u).max())[1])))
    return Basis(selection, null=null, complete=len(null) == len(vectors))


def _is_exact(sdp: SDP, name: str, selection: Selection, combination: MixedBasis) -> bool:
    """Whether every map on a variable can be written in the new basis without rounding."""
    parts = (*(r.lhs for r in sdp.rows if not states_face(r)), *(lmi.lhs for lmi in sdp.lmis))
    maps = [lhs[name] for lhs in (sdp.objective, *parts) if name in lhs]
    faces = [r.lhs[name] for r in sdp.rows if name in r.lhs and states_face(r)]
    return all(
        combination.restrict(selection.restrict(a)) is not None
        for a in maps
        if isinstance(a, LinearMap)
    ) and all(
        combination.image(selection.image(a.vector)) is not None
        for a in faces
        if isinstance(a, Products)
    )


def states_face(r: Rows) -> bool:
    """Whether a group says K u = 0."""
    alone = len(r.lhs) == 1 and r.relation == "==" and not np.any(r.rhs)
    return alone and all(isinstance(a, Products) for a in r.lhs.values())
