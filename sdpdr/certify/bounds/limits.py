r"""Limits on traces and scalars that follow from the constraints of a program.

Rows are read one at a time, as bound propagation in linear programming does (`propagation`). If a
form is diagonally dominant with the surplus
:math:`\delta_i = A_{ii} - \sum_{j \ne i} |A_{ij}| \ge 0`, its row limits
:math:`\sum_i \delta_i X_{ii}`; rows of the form :math:`a (e_i - e_j)(e_i - e_j)^T` limit the length
of an edge.

If :math:`|y_i - y_j| \le \ell_{ij}` on the edges of a graph, no point lies farther from the origin
than the shortest path to a point whose norm is limited. Where :math:`\sum_i u_i y_i = 0` with u > 0
the weighted centre is the origin, and it minimises the weighted sum of squared distances, so that
with shortest paths g to any root r

.. math::  \sum_i u_i |y_i|^2 \le \sum_i u_i |y_i - y_r|^2 \le \sum_i u_i\, g(i, r)^2 .

Limits hold at every feasible point. They are rounded outwards, and a form counts as positive
semidefinite only if its numbers prove it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.bounds.dual_form import DualForm
from sdpdr.certify.bounds.propagation import OUTWARDS, Rest, UpperRows, outwards
from sdpdr.linalg import LinearMap
from sdpdr.linalg.walks import dijkstra
from sdpdr.program.face import exposing_rows
from sdpdr.program.sdp import SDP

# Lengths of paths are sums of as many rounded numbers as a path has edges.
_ROUNDING = 4.0 * 2.0**-53
# Rounds end when no limit became finite; a tree of means needs one for each of its levels.
_ROUNDS = 40
# Entries up to which rows are read however many they are for sparse ones; others limit nothing.
_FEW = 1_000_000


def norms_from_anchors(n: int, edges: Index, lengths: Array, norms: Array) -> Array:
    """Upper limits of all norms, from those known (infinite where not) and lengths of edges.

    Parameters
    ----------
    n : int
    edges : array of int, shape (m, 2)
    lengths : array of shape (m,)
    norms : array of shape (n,)

    Examples
    --------
    >>> norms_from_anchors(2, np.array([[0, 1]]), np.array([1.0]), np.array([2.0, np.inf])).round(9)
    array([2., 3.])
    """
    anchored = np.flatnonzero(np.isfinite(norms))
    if not anchored.size or not len(edges):
        return norms
    to_anchors = np.column_stack([np.full(anchored.size, n), anchored])
    graph = _graph(
        n + 1, np.vstack([edges, to_anchors]), np.concatenate([lengths, norms[anchored]])
    )
    reached = np.asarray(dijkstra(graph, indices=n))[:n]
    return np.asarray(np.minimum(norms, reached * (1.0 + n * _ROUNDING)))


def spread_about_centre(n: int, edges: Index, lengths: Array, weights: Array) -> float:
    """Upper limit of the sum of ``weights_i |y_i|^2``; infinite if the graph is disconnected.

    The root is taken from the middle of a long shortest path.

    Examples
    --------
    >>> path = np.array([[0, 1], [1, 2]])
    >>> round(spread_about_centre(3, path, np.ones(2), np.ones(3)), 9)
    2.0
    """
    graph = _graph(n, edges, lengths)
    start = _distances(graph, 0)
    if not np.isfinite(start).all():
        return float("inf")
    far = _distances(graph, int(np.argmax(start)))
    other = _distances(graph, int(np.argmax(far)))
    middle = int(np.argmin(np.maximum(far, other)))
    candidates = (start, _distances(graph, middle))
    spread = min(float(weights @ np.square(g)) for g in candidates)
    return spread * (1.0 + 4.0 * n * _ROUNDING)


def _distances(graph: sp.csr_array, root: int) -> Array:
    return np.asarray(dijkstra(graph, indices=root))


def _graph(n: int, edges: Index, lengths: Array) -> sp.csr_array:
    """The shortest of parallel edges; those of no length get one too small to matter."""
    low, high = np.min(edges, axis=1), np.max(edges, axis=1)
    order = np.lexsort((lengths, high, low))
    low, high, lengths = low[order], high[order], lengths[order]
    first = np.ones(order.size, dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    # The graph library reads a stored zero as no edge at all.
    kept = np.maximum(lengths[first], 1e-150)
    index = (low[first].astype(np.int32), high[first].astype(np.int32))
    return sp.csr_array((kept, index), shape=(n, n))


@dataclass(frozen=True)
class TraceLimit:
    """An upper limit of the trace of a matrix variable, and its source in words."""

    value: float
    source: str


class VariableLimits:
    """Limits that the constraints of a program imply, found when one is first requested.

    Parameters
    ----------
    sdp : SDP

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> limits = VariableLimits(methods.mvu(graphs.path([1.0, 1.0])).to_sdp())
    >>> limits.trace("K").source
    'shortest paths to one point'
    >>> round(limits.trace("K").value, 6)
    2.0
    """

    def __init__(self, sdp: SDP) -> None:
        self._form = sdp.remembered(DualForm)

    def trace(self, name: str) -> TraceLimit | None:
        """The smallest limit found of the trace of a matrix; None without one."""
        found = self._found
        best = min(found.covered(name), found.spread(name), key=lambda limit: limit.value)
        return best if np.isfinite(best.value) else None

    def box(self, name: str) -> tuple[Array, Array]:
        """Lower and upper limits of a vector of scalars, infinite where there are none."""
        return self._found.boxes[name]

    @cached_property
    def _found(self) -> _Propagation:
        return _Propagation(self._form)


class _Propagation:
    """Reads the rows again and again, until no further limit becomes finite."""

    def __init__(self, form: DualForm) -> None:
        self._sdp = sdp = form.sdp
        self.diagonals = {v.name: np.full(v.n, np.inf) for v in sdp.psd_variables}
        self.boxes = {
            v.name: (np.full(v.size, 0.0 if v.nonnegative else -np.inf), np.full(v.size, np.inf))
            for v in sdp.vector_variables
        }
        self._groups = [
            UpperRows(r, sign)
            for r in form.rows
            if not any(isinstance(a, LinearMap) and a.is_wide(_FEW) for a in r.lhs.values())
            for sign in (1.0, -1.0)
        ]
        for _ in range(_ROUNDS):
            if not self._read_rows():
                break

    def _read_rows(self) -> bool:
        """One round; whether any limit became finite. Their sizes may shrink for ever."""
        before = self._known()
        for group in self._groups:
            rest = group.rest(self.diagonals, self.boxes)
            for name, surplus in group.surplus.items():
                _tighten(self.diagonals[name], surplus, rest.without(name))
            for name, coefficients in group.vectors.items():
                self._limit_scalars(name, coefficients, rest)
        for name, diagonal in self.diagonals.items():
            edges, lengths = self._edges(name)
            norms = norms_from_anchors(diagonal.size, edges, lengths, np.sqrt(diagonal))
            np.minimum(diagonal, np.square(norms) * (1.0 + OUTWARDS), out=diagonal)
        return self._known() > before

    def _known(self) -> int:
        sides = [side for box in self.boxes.values() for side in box]
        return sum(int(np.isfinite(one).sum()) for one in (*self.diagonals.values(), *sides))

    def _limit_scalars(self, name: str, coefficients: sp.csr_array, rest: Rest) -> None:
        lower, upper = self.boxes[name]
        entries = coefficients.tocoo()
        row, j, b = entries.row, entries.col, entries.data
        limit = rest.without_entry(row, b * np.where(b > 0.0, lower[j], upper[j]))
        known = np.isfinite(limit)
        j, b, limit = j[known], b[known], limit[known] / b[known]
        slack = OUTWARDS * np.abs(limit)
        np.minimum.at(upper, j[b > 0.0], (limit + slack)[b > 0.0])
        np.maximum.at(lower, j[b < 0.0], (limit - slack)[b < 0.0])

    # -- traces -----------------------------------------------------------------------------------

    def covered(self, name: str) -> TraceLimit:
        """Limits of diagonal entries, and of rows that limit the sum of several as a whole."""
        left = self.diagonals[name].copy()
        total, terms, source = 0.0, left.size, "limits of its diagonal"
        for limit, places in self._parts(name):
            # Rows whose entries are all left pay for these at once.
            if np.all(left[places] > 0.0) and limit < float(np.sum(left[places])):
                total, terms = total + limit, terms + 1
                left[places] = 0.0
                source = "constraints that limit it"
        value = (total + float(np.sum(left))) * (1.0 + outwards(terms))
        return TraceLimit(value, source)

    def _parts(self, name: str) -> list[tuple[float, Index]]:
        """Limits of sums of several diagonal entries, and which: the smallest mean first."""
        found = []
        for group in self._groups:
            surplus = group.surplus.get(name)
            if surplus is None:
                continue
            limit = group.rest(self.diagonals, self.boxes).without(name)
            for e in np.flatnonzero((np.diff(surplus.indptr) > 1) & np.isfinite(limit)):
                part = slice(surplus.indptr[e], surplus.indptr[e + 1])
                seen = surplus.data[part] > 0.0
                if np.sum(seen) > 1:
                    smallest = float(np.min(surplus.data[part][seen]))
                    value = max(float(limit[e]), 0.0) / smallest * (1.0 + OUTWARDS)
                    found.append((value, surplus.indices[part][seen]))
        return sorted(found, key=lambda one: one[0] / one[1].size)

    def _edges(self, name: str) -> tuple[Index, Array]:
        """Edges whose lengths are limited, and the limits."""
        edges, lengths = [np.zeros((0, 2), dtype=np.int64)], [np.zeros(0)]
        for group in self._groups:
            if name in group.edges:
                rest = group.rest(self.diagonals, self.boxes).without(name)
                row, ends, factor = group.edges[name]
                limit = rest[row] / factor
                known = np.isfinite(limit)
                edges.append(ends[known])
                lengths.append(np.sqrt(np.maximum(limit[known], 0.0)) * (1.0 + OUTWARDS))
        return np.vstack(edges), np.concatenate(lengths)

    def spread(self, name: str) -> TraceLimit:
        """The limit by shortest paths, where points have a centre."""
        source = "shortest paths to one point"
        weights = self._centre(name)
        edges, lengths = self._edges(name)
        if weights is None or not len(edges):
            return TraceLimit(float("inf"), source)
        spread = spread_about_centre(weights.size, edges, lengths, weights)
        return TraceLimit(spread / float(np.min(weights)) * (1.0 + OUTWARDS), source)

    def _centre(self, name: str) -> Array | None:
        """Weights u > 0 with K u = 0."""
        for rows in exposing_rows(self._sdp, name):
            linear_map = rows.lhs[name]
            assert isinstance(linear_map, LinearMap)
            null = linear_map.null_vectors(rows.rhs)
            positive = np.flatnonzero(null.min(axis=0).toarray().ravel() > 0.0)
            if positive.size:
                weights: Array = null[:, positive[:1]].toarray().ravel()
                return weights
        return None


def _tighten(diagonal: Array, surplus: sp.csr_array, limit: Array) -> None:
    entries = surplus.tocoo()
    kept = (entries.data > 0.0) & np.isfinite(limit[entries.row])
    value = np.maximum(limit[entries.row[kept]], 0.0) / entries.data[kept]
    np.minimum.at(diagonal, entries.col[kept], value * (1.0 + OUTWARDS))
