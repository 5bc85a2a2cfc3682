r"""Facial reduction: where rows force K u = 0, write K = V M V^T with V orthogonal to u.

Centring (K 1 = 0) leaves no strictly feasible point, and interior-point methods go wrong without
one. On the face the program has interior points again. Two bases are offered: an orthonormal one,
and a sparse one along the edges of a spanning tree of the sparsity pattern, which keeps sparse
rows sparse (K = V M V^T with V^T K-rows few entries each); neighbours of a hub form a chain there.

Whether rows vanish on a face is decided in exact arithmetic where that does not take long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import InfeasibleError, UnknownNameError
from sdpdr.linalg import LinearMap, SvecMap
from sdpdr.linalg.exact import matrix_row
from sdpdr.linalg.maps.combine import some_of_rows
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.spectral import complement
from sdpdr.linalg.walks import connected_components, predecessors, spanning_forest
from sdpdr.program.echelon import Echelon, exact_columns
from sdpdr.program.face import complete_multipliers, exposing_rows, null_vectors, visible_rows
from sdpdr.program.point import Point, PsdVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_norms
from sdpdr.reduce.base import (
    Reduced,
    Reduction,
    among_zeros,
    in_bases,
    into_bases,
    out_of_bases,
)

# Entries of rows that may be read as fractions, which takes about a second.
_ENTRIES = 500_000
# A row that is this much smaller on the face than off it may be rounding.
_VANISHED = 1e-12
# What rounding may leave of a row in its own numbers, as they are stored.
_ROUNDING = 64.0 * UNIT
# Neighbours in a spanning tree from which on a point is a hub. Trees of 3 to 12 nearest neighbours
# of points in 2 to 300 dimensions had at most 13, those of rows of 0 and 1 with hubs had up to 89.
_HUB = 16
Basis = Literal["auto", "sparse", "orthonormal"]


@dataclass(frozen=True)
class Face(Reduction):
    """Restrict matrix variables to the face that their equality rows confine them to.

    Parameters
    ----------
    basis : {"auto", "sparse", "orthonormal"}, default "auto"
        ``"sparse"`` follows a spanning tree of the pattern, for a single weighting vector u
        without zeros; ``"auto"`` takes it where the pattern is sparse.

    Notes
    -----
    The multipliers of the rows that state the face are completed in closed form for rows of the
    kind K u = 0, so that the lifted dual slack S satisfies S u = 0; they are zero otherwise.
    """

    name: ClassVar[str] = "face"
    basis: Basis = "auto"

    def __post_init__(self) -> None:
        if self.basis not in ("auto", "sparse", "orthonormal"):
            raise UnknownNameError("basis", self.basis, ("auto", "sparse", "orthonormal"))

    def accepts(self, sdp: SDP) -> str | None:
        """Any program that has rows of the kind K u = 0."""
        if any(exposing_rows(sdp, v.name) for v in sdp.psd_variables):
            return None
        return "no equality row confines a matrix variable to a face; it has interior already"

    def _reduce(self, sdp: SDP) -> Reduced:
        bases = {
            v.name: self._basis(sdp, v) for v in sdp.psd_variables if exposing_rows(sdp, v.name)
        }
        seen = visible_rows(sdp)
        kept = {r.label: _visible(r, bases, sdp) for r in seen}
        variables = tuple(
            PsdVariable(v.name, bases[v.name].shape[1]) if v.name in bases else v
            for v in sdp.variables
        )
        reduced = replace(
            sdp,
            variables=variables,
            objective=in_bases(sdp.objective, bases),
            rows=tuple(
                replace(r, lhs=in_bases(r.lhs, bases)).take(kept[r.label])
                for r in seen
                if kept[r.label].any()
            ),
            lmis=tuple(replace(lmi, lhs=in_bases(lmi.lhs, bases)) for lmi in sdp.lmis),
        )

        def lift(point: Point) -> Point:
            duals = dict(point.duals)
            for label, mask in kept.items():
                if point.duals and not (mask.size and mask.all()):
                    duals[label] = among_zeros(point.duals.get(label, np.zeros(0)), mask)
            values = out_of_bases(point.values, bases)
            return Point(values, complete_multipliers(sdp, duals))

        def push(point: Point) -> Point:
            masked = {k: y[kept[k]] if k in kept else y for k, y in point.duals.items()}
            duals = {label: masked[label] for label in reduced.labels if label in masked}
            return Point(into_bases(point.values, bases), duals)

        return Reduced(reduced, lift, push=push)

    def _basis(self, sdp: SDP, variable: PsdVariable) -> Matrix:
        null = null_vectors(sdp, variable.name)
        single = null.shape[1] == 1 and null.nnz == variable.n
        if self.basis == "orthonormal" or not single:
            return complement(null)
        pattern = _pattern(sdp, variable)
        if self.basis == "auto" and len(pattern) > 0.2 * variable.size:
            return complement(null)
        return _tree_basis(variable.n, pattern, null.toarray().ravel())


def _visible(rows: Rows, bases: dict[str, Matrix], sdp: SDP) -> NDArray[np.bool_]:
    """Rows that are not zero on the face; rounding that holds at zero counts as nothing.

    Rows that are small there, but not zero, stay unless they are rounding, however small.

    Raises
    ------
    InfeasibleError
        A row that vanishes exactly cannot hold.
    """
    if not rows.lhs or not set(rows.lhs) <= set(bases):
        return np.ones(rows.m, dtype=bool)
    before = sum(row_norms(a) for a in rows.lhs.values())
    after = sum(row_norms(a) for a in in_bases(rows.lhs, bases).values())
    kept = np.asarray(after > _VANISHED * before)
    small = np.flatnonzero(~kept)
    if not small.size:
        return kept
    size = _VANISHED * np.abs(rows.rhs).max(initial=0.0)
    broken = (np.abs(rows.rhs) if rows.relation == "==" else -rows.rhs)[small] > size
    # Entries that are known times a rounded root of two only prove nothing.
    is_known = all(not _is_scaled(a)[small].any() for a in rows.lhs.values())
    faces = {name: _face(null_vectors(sdp, name)) if is_known else None for name in rows.lhs}
    budget = _ENTRIES
    # Those that might be contradictions first, for not all may have their turn.
    for k in np.argsort(~broken, kind="stable"):
        e, left = int(small[k]), None
        if budget > 0:
            left, read = _remainder(rows, e, faces)
            budget -= read
        if broken[k] and left == 0.0:
            raise InfeasibleError(
                f"row {e} of {rows.label!r} is zero for every matrix that the other rows allow, "
                f"but is to be {rows.rhs[e]:g}: the constraints contradict each other."
            )
        kept[e] = broken[k] or (left is not None and left > _ROUNDING)
    return kept


def _is_scaled(a: Any) -> NDArray[np.bool_]:
    """Rows with coefficients of which only multiples by the root of two are stored."""

    def leaf(part: LinearMap) -> NDArray[np.bool_]:
        return np.full(part.m, isinstance(part, SvecMap) and not part.keeps_entries)

    return some_of_rows(a, leaf)


def _face(null: sp.csr_array) -> Echelon | None:
    vectors = exact_columns(null)
    if vectors is None:
        return None
    face = Echelon()
    for vector in vectors:
        face.insert(vector)
    return face


def _remainder(rows: Rows, e: int, faces: Mapping[str, Echelon | None]) -> tuple[float | None, int]:
    """How large a row is on its face, beside what it is off it, and how many entries were read.

    Zero is exact; None says that the numbers are not known exactly, or too many.
    """
    before, after, read = Fraction(0), Fraction(0), 0
    for name, a in rows.lhs.items():
        assert isinstance(a, LinearMap)
        face, matrix = faces[name], matrix_row(a, e, np.ones(a.n, dtype=bool))
        if face is None or matrix is None:
            return None, read
        read += len(matrix)
        before = max([before, *map(abs, matrix.values())])
        after = max([after, *map(abs, face.restrict(matrix).values())])
    return (float(after / before) if after else 0.0), read


def _pattern(sdp: SDP, variable: PsdVariable) -> Index:
    sides = [r.lhs for r in visible_rows(sdp)] + [lmi.lhs for lmi in sdp.lmis]
    maps: list[Any] = [lhs[variable.name] for lhs in sides if variable.name in lhs]
    pairs = [a.pattern() for a in maps]
    return np.unique(np.vstack(pairs), axis=0) if pairs else np.empty((0, 2), dtype=np.int64)


def _tree_basis(n: int, pattern: Index, u: Array) -> sp.csr_array:
    """Columns e_i / u_i - e_j / u_j over the edges of a spanning tree without hubs."""
    pairs = pattern[pattern[:, 0] != pattern[:, 1]]
    degree = np.bincount(pairs.ravel(), minlength=n)
    weights = (degree[pairs[:, 0]] + degree[pairs[:, 1]]).astype(float)
    graph = sp.csr_array((weights, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    count, part = connected_components(graph)
    tree = spanning_forest(graph).tocoo()
    heads = np.array([np.flatnonzero(part == c)[0] for c in range(count)])
    i, j = _without_hubs(
        n, np.concatenate([tree.row, heads[:-1]]), np.concatenate([tree.col, heads[1:]])
    )
    column = np.arange(n - 1)
    values = np.concatenate([1.0 / u[i], -1.0 / u[j]])
    rows, columns = np.concatenate([i, j]), np.concatenate([column, column])
    return sp.csr_array((values, (rows, columns)), shape=(n, n - 1))


def _without_hubs(n: int, i: Index, j: Index) -> tuple[Index, Index]:
    """A tree in which the neighbours of every hub follow each other, rather than the hub.

    All columns at a hub are in every row that reads it: of a star, each row would have the square
    of its leaves.
    """
    if np.max(np.bincount(np.concatenate([i, j]), minlength=n), initial=0) <= _HUB:
        return i, j
    above = predecessors(sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n)), 0)
    child = np.flatnonzero(above >= 0)
    child = child[np.argsort(above[child], kind="stable")]
    parent = above[child]
    crowded = np.bincount(parent, minlength=n)[parent] >= _HUB
    later = np.concatenate([[False], parent[1:] == parent[:-1]])
    follows = np.flatnonzero(crowded & later)
    linked = parent.copy()
    linked[follows] = child[follows - 1]
    return child, linked
