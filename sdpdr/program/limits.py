r"""Limits on variables that follow from the rows of a program: traces, diagonals, scalars, lengths.

If :math:`|y_i - y_j| \le \ell_{ij}` on the edges of a graph, no two points lie farther apart than
the shortest path between them, and no point farther from the origin than the shortest path to a
point whose norm is limited. Where :math:`\sum_i u_i y_i = 0` with u > 0 the weighted centre is
the origin, and it minimises the weighted sum of squared distances, so that for any root r

.. math::  \sum_i u_i |y_i|^2 \le \sum_i u_i |y_i - y_r|^2 \le \sum_i u_i\, g(i, r)^2

with one search for shortest paths g instead of all pairs.

Rows are read one at a time, as bound propagation in linear programming does. In a row
:math:`\sum_k \langle A_k, X_k\rangle + b^T z = r` everything but one part has a least value:
zero for a positive semidefinite A_k, that at the ends of known limits for the rest. So the part
left over has an upper limit. If A_k is diagonally dominant with the surplus
:math:`\delta_i = (A_k)_{ii} - \sum_{j \ne i} |(A_k)_{ij}| \ge 0`, the row limits
:math:`\sum_i \delta_i X_{ii}`; rows of the form :math:`a (e_i - e_j)(e_i - e_j)^T` limit the
length of an edge, and limits on lengths go round by shortest paths.

Limits hold at every feasible point. They are rounded outwards, and a form counts as positive
semidefinite only if its numbers prove it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap
from sdpdr.linalg.walks import dijkstra
from sdpdr.program.face import exposing_rows, visible_rows
from sdpdr.program.leftover import OUTWARDS, Group, Rest, outwards
from sdpdr.program.sdp import SDP

# Lengths of paths are sums of as many rounded numbers as a path has edges.
_ROUNDING = 4.0 * 2.0**-53


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


# Rounds end when no limit became finite; a tree of means needs one for each of its levels.
_ROUNDS = 40
# Entries up to which rows are read however many they are for sparse ones; others limit nothing.
_FEW = 1_000_000


@dataclass(frozen=True)
class TraceLimit:
    """An upper limit of the trace of a matrix variable, and where it comes from in words."""

    value: float
    source: str


class VariableLimits:
    """Limits that the rows of a program without matrix inequalities imply.

    Rows are read when a limit is asked for: most multipliers prove a bound without any.

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
        self._sdp = sdp
        self._is_read = False

    def _read(self) -> None:
        if self._is_read:
            return
        self._is_read, sdp = True, self._sdp
        self._diagonal = {v.name: np.full(v.n, np.inf) for v in sdp.psd_variables}
        self._traces: dict[str, list[TraceLimit]] = {v.name: [] for v in sdp.psd_variables}
        self._boxes = {
            v.name: (np.full(v.size, 0.0 if v.nonnegative else -np.inf), np.full(v.size, np.inf))
            for v in sdp.vector_variables
        }
        self._groups = [
            Group(r, sign)
            for r in visible_rows(sdp)
            if not any(isinstance(a, LinearMap) and a.is_wide(_FEW) for a in r.lhs.values())
            for sign in ((1.0, -1.0) if r.relation == "==" else (1.0,))
        ]
        for _ in range(_ROUNDS):
            if not self._propagate():
                break

    def trace(self, name: str) -> TraceLimit | None:
        """The smallest limit found of the trace of a matrix; None without one."""
        self._read()
        found = [*self._traces[name]]
        diagonal = self._diagonal[name]
        total = float(np.sum(diagonal)) * (1.0 + outwards(diagonal.size))
        found.append(TraceLimit(total, "limits of its diagonal"))
        found.append(self._spread(name))
        best = min(found, key=lambda limit: limit.value)
        return best if np.isfinite(best.value) else None

    def box(self, name: str) -> tuple[Array, Array]:
        """Lower and upper limits of a vector of scalars, infinite where there are none."""
        self._read()
        return self._boxes[name]

    # -- reading the rows ---------------------------------------------------------------

    def _propagate(self) -> bool:
        """One round; whether anything became tighter."""
        before = self._state()
        for group in self._groups:
            rest = group.rest(self._diagonal, self._boxes)
            for name, surplus in group.surplus.items():
                limit = rest.without(name)
                self._traces[name] += _trace_limits(surplus, limit, self._diagonal[name].size)
                _tighten(self._diagonal[name], surplus, limit)
            for name, coefficients in group.vectors.items():
                self._limit_scalars(name, coefficients, rest)
        for name, diagonal in self._diagonal.items():
            edges, lengths = self._edges(name)
            norms = norms_from_anchors(diagonal.size, edges, lengths, np.sqrt(diagonal))
            np.minimum(diagonal, np.square(norms) * (1.0 + OUTWARDS), out=diagonal)
        return self._state() > before

    def _state(self) -> int:
        """Number of limits that are finite; their size may shrink for ever and is left alone."""
        diagonals = sum(int(np.isfinite(d).sum()) for d in self._diagonal.values())
        sides = sum(int(np.isfinite(s).sum()) for box in self._boxes.values() for s in box)
        return diagonals + sides

    def _limit_scalars(self, name: str, coefficients: sp.csr_array, rest: Rest) -> None:
        lower, upper = self._boxes[name]
        entries = coefficients.tocoo()
        row, j, b = entries.row, entries.col, entries.data
        own = b * np.where(b > 0.0, lower[j], upper[j])
        limit = rest.without_entry(name, row, own)
        known = np.isfinite(limit)
        row, j, b, limit = row[known], j[known], b[known], limit[known] / b[known]
        slack = OUTWARDS * np.abs(limit) + rest.margin[row] / np.abs(b)
        np.minimum.at(upper, j[b > 0.0], (limit + slack)[b > 0.0])
        np.maximum.at(lower, j[b < 0.0], (limit - slack)[b < 0.0])

    # -- lengths of edges ---------------------------------------------------------------

    def _edges(self, name: str) -> tuple[Index, Array]:
        edges, lengths = [np.zeros((0, 2), dtype=np.int64)], [np.zeros(0)]
        for group in self._groups:
            if name in group.edges:
                rest = group.rest(self._diagonal, self._boxes).without(name)
                row, ends, size = group.edges[name]
                limit = rest[row] / size
                known = np.isfinite(limit)
                edges.append(ends[known])
                lengths.append(np.sqrt(np.maximum(limit[known], 0.0)) * (1.0 + OUTWARDS))
        return np.vstack(edges), np.concatenate(lengths)

    def _spread(self, name: str) -> TraceLimit:
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
            null = rows.lhs[name].null_vectors(rows.rhs)  # type: ignore[union-attr]  # matrices
            positive = np.flatnonzero(null.min(axis=0).toarray().ravel() > 0.0)
            if positive.size:
                weights: Array = null[:, positive[:1]].toarray().ravel()
                return weights
        return None


def _trace_limits(surplus: sp.csr_array, limit: Array, n: int) -> list[TraceLimit]:
    """Rows that limit the whole trace, all surplus being positive."""
    if surplus.shape[1] != n:
        return []
    full = np.flatnonzero((np.diff(surplus.indptr) == n) & np.isfinite(limit))
    found = []
    for e in full:
        smallest = float(np.min(surplus.data[surplus.indptr[e] : surplus.indptr[e + 1]]))
        if smallest > 0.0:
            value = max(float(limit[e]), 0.0) / smallest * (1.0 + OUTWARDS)
            found.append(TraceLimit(value, "a row that limits it"))
    return found


def _tighten(diagonal: Array, surplus: sp.csr_array, limit: Array) -> None:
    entries = surplus.tocoo()
    kept = (entries.data > 0.0) & np.isfinite(limit[entries.row])
    value = np.maximum(limit[entries.row[kept]], 0.0) / entries.data[kept]
    np.minimum.at(diagonal, entries.col[kept], value * (1.0 + OUTWARDS))
