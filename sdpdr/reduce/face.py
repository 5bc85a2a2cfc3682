r"""Facial reduction: where rows force K u = 0, write K = V M V^T with V orthogonal to u.

Centring (K 1 = 0) leaves no strictly feasible point, without which interior-point methods fail. On
the face the program has interior points again. There are two bases: an orthonormal one, and a
sparse one along the edges of a spanning tree of the sparsity pattern, which keeps sparse rows
sparse. In the tree, the neighbours of a hub form a chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import UnknownNameError
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.spectral import complement
from sdpdr.linalg.walks import connected_components, predecessors, spanning_forest
from sdpdr.program.face import complete_multipliers, exposing_rows, null_vectors, visible_rows
from sdpdr.program.point import Point, PsdVariable
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_norms
from sdpdr.reduce.base import Reduced, Reduction
from sdpdr.reduce.bases import in_bases, into_bases, out_of_bases
from sdpdr.reduce.kept import narrowed, spread

# Rounding errors, in units of roundoff, of a coefficient of M; the order of K if that is larger.
_ROUNDINGS = 64
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
        ``"sparse"`` follows a spanning tree of the pattern; it needs a single vector u without
        zeros, and is orthonormal otherwise. ``"auto"`` uses it if the pattern is sparse.

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
        narrow = {r.label: in_bases(r.lhs, bases) for r in seen}
        kept = {r.label: _visible(r, narrow[r.label], bases) for r in seen}
        variables = tuple(
            PsdVariable(v.name, bases[v.name].shape[1]) if v.name in bases else v
            for v in sdp.variables
        )
        reduced = replace(
            sdp,
            variables=variables,
            objective=in_bases(sdp.objective, bases),
            rows=tuple(
                replace(r, lhs=narrow[r.label]).take(kept[r.label])
                for r in seen
                if kept[r.label].any()
            ),
            lmis=tuple(replace(lmi, lhs=in_bases(lmi.lhs, bases)) for lmi in sdp.lmis),
        )

        def lift(point: Point) -> Point:
            duals = complete_multipliers(sdp, spread(sdp, kept, point.duals))
            return Point(out_of_bases(point.values, bases), duals)

        def push(point: Point) -> Point:
            duals = narrowed(reduced, kept, point.duals)
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


def _visible(rows: Rows, narrow: Expression, bases: Mapping[str, Matrix]) -> NDArray[np.bool_]:
    """Which rows constrain M: those whose coefficients in ``narrow`` exceed rounding.

    A row that vanishes stays if zero does not satisfy it, since no point does then.
    """
    if not rows.lhs or not rows.lhs.keys() <= bases.keys():
        return np.ones(rows.m, dtype=bool)
    before = sum(row_norms(a) for a in rows.lhs.values())
    after = sum(row_norms(a) for a in narrow.values())
    order = max(bases[name].shape[0] for name in rows.lhs)
    rounding = max(_ROUNDINGS, order) * UNIT
    away = np.abs(rows.rhs) if rows.relation == "==" else -rows.rhs
    broken = away > rounding * np.abs(rows.rhs).max(initial=0.0)
    return np.asarray((after > rounding * before) | broken)


def _pattern(sdp: SDP, variable: PsdVariable) -> Index:
    sides = [r.lhs for r in visible_rows(sdp)] + [lmi.lhs for lmi in sdp.lmis]
    maps: list[Any] = [lhs[variable.name] for lhs in sides if variable.name in lhs]
    pairs = [a.pattern() for a in maps]
    return np.unique(np.vstack(pairs), axis=0) if pairs else np.empty((0, 2), dtype=np.intp)


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
    """A tree in which the neighbours of every hub form a chain.

    A row that reads a hub has entries in all columns at the hub: for a star with k leaves, k^2.
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
    linked = parent.astype(np.intp)
    linked[follows] = child[follows - 1]
    return child, linked
