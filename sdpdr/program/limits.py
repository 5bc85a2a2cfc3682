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
from sdpdr.linalg import LinearMap, lengths_of
from sdpdr.linalg.magnitudes import row_magnitudes, row_terms
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import SQRT2, svec_pairs
from sdpdr.linalg.walks import dijkstra
from sdpdr.program.face import exposing_rows, visible_rows
from sdpdr.program.rows import Rows
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
# Limits are loose by this much, relatively, which covers a few thousand roundings.
_OUTWARDS = 1e-12
# Entries up to which rows are read however many they are for sparse ones; others limit nothing.
_FEW = 1_000_000
# How many times smaller than its terms an entry is whose terms cancel.
_CANCELS = 8.0


@dataclass(frozen=True)
class TraceLimit:
    """An upper limit of the trace of a matrix variable, and where it comes from in words."""

    value: float
    source: str


class Limits:
    """Limits that the rows of a program without matrix inequalities imply.

    Rows are read when a limit is asked for: most multipliers prove a bound without any.

    Parameters
    ----------
    sdp : SDP

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> limits = Limits(methods.mvu(graphs.path([1.0, 1.0])).to_sdp())
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
            _Group(r, sign)
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
        total = float(np.sum(diagonal)) * (1.0 + _outwards(diagonal.size))
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
            np.minimum(diagonal, np.square(norms) * (1.0 + _OUTWARDS), out=diagonal)
        return self._state() > before

    def _state(self) -> int:
        """Number of limits that are finite; their size may shrink for ever and is left alone."""
        diagonals = sum(int(np.isfinite(d).sum()) for d in self._diagonal.values())
        sides = sum(int(np.isfinite(s).sum()) for box in self._boxes.values() for s in box)
        return diagonals + sides

    def _limit_scalars(self, name: str, coefficients: sp.csr_array, rest: _Rest) -> None:
        lower, upper = self._boxes[name]
        entries = coefficients.tocoo()
        row, j, b = entries.row, entries.col, entries.data
        own = b * np.where(b > 0.0, lower[j], upper[j])
        limit = rest.without_entry(name, row, own)
        known = np.isfinite(limit)
        row, j, b, limit = row[known], j[known], b[known], limit[known] / b[known]
        slack = _OUTWARDS * np.abs(limit) + rest.margin[row] / np.abs(b)
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
                lengths.append(np.sqrt(np.maximum(limit[known], 0.0)) * (1.0 + _OUTWARDS))
        return np.vstack(edges), np.concatenate(lengths)

    def _spread(self, name: str) -> TraceLimit:
        source = "shortest paths to one point"
        weights = self._centre(name)
        edges, lengths = self._edges(name)
        if weights is None or not len(edges):
            return TraceLimit(float("inf"), source)
        spread = spread_about_centre(weights.size, edges, lengths, weights)
        return TraceLimit(spread / float(np.min(weights)) * (1.0 + _OUTWARDS), source)

    def _centre(self, name: str) -> Array | None:
        """Weights u > 0 with K u = 0."""
        for rows in exposing_rows(self._sdp, name):
            null = rows.lhs[name].null_vectors(rows.rhs)  # type: ignore[union-attr]  # matrices
            positive = np.flatnonzero(null.min(axis=0).toarray().ravel() > 0.0)
            if positive.size:
                weights: Array = null[:, positive[:1]].toarray().ravel()
                return weights
        return None


class _Group:
    """A group of rows as upper limits: sign * lhs <= sign * rhs."""

    def __init__(self, rows: Rows, sign: float) -> None:
        self.rhs = sign * rows.rhs
        self.vectors: dict[str, sp.csr_array] = {}
        self.surplus: dict[str, sp.csr_array] = {}
        self.edges: dict[str, tuple[Index, Index, Array]] = {}
        self._matrices: dict[str, tuple[Index, Index, Index, Array]] = {}
        self._semidefinite: dict[str, np.ndarray] = {}
        for name, linear_map in rows.lhs.items():
            if not isinstance(linear_map, LinearMap):
                self.vectors[name] = sign * linear_map.matrix()
                self.vectors[name].eliminate_zeros()
                continue
            scaled = lengths_of(linear_map)
            if scaled is not None:
                self._add_edges(name, *scaled, sign)
            else:
                self._add_matrix(name, linear_map, sign)

    def _add_edges(self, name: str, edges: Index, size: Array, sign: float) -> None:
        size = sign * size
        positive = np.flatnonzero(size > 0.0)
        self.edges[name] = (positive, edges[positive], size[positive])
        self._semidefinite[name] = size >= 0.0
        m, (i, j) = size.size, edges.T
        row = np.arange(m)
        self._matrices[name] = (
            np.concatenate([row, row, row]),
            np.concatenate([i, j, i]),
            np.concatenate([i, j, j]),
            np.concatenate([size, size, -2.0 * size]),
        )
        self.surplus[name] = sp.csr_array((m, int(edges.max(initial=0)) + 1))

    def _add_matrix(self, name: str, linear_map: LinearMap, sign: float) -> None:
        matrix = linear_map.matrix()
        # What rounding may hide counts against the form, on the diagonal as off it.
        entries = sp.hstack([sign * matrix, -_hidden(linear_map, matrix)]).tocoo()
        kept = entries.data != 0.0
        row, value = entries.row[kept].astype(np.int64), entries.data[kept]
        i, j = svec_pairs(entries.col[kept] % matrix.shape[1])
        off = i != j
        # Of the form: entries off the diagonal count twice.
        weight = np.where(off, SQRT2 * value, value)
        self._matrices[name] = (row, i, j, weight)
        shape = (linear_map.m, linear_map.n)
        half = np.abs(weight[off]) * (0.5 + _OUTWARDS)
        diagonal = sp.csr_array((weight[~off], (row[~off], i[~off])), shape=shape)
        ends = np.concatenate([i[off], j[off]])
        others = sp.csr_array(
            (np.concatenate([half, half]), (np.tile(row[off], 2), ends)), shape=shape
        )
        surplus = sp.csr_array(diagonal - others)
        bad = np.unique(surplus.tocoo().row[surplus.tocoo().data < 0.0])
        semidefinite = np.ones(linear_map.m, dtype=bool)
        semidefinite[bad] = False
        self._semidefinite[name] = semidefinite
        self.surplus[name] = sp.csr_array(sp.diags_array(semidefinite.astype(float)) @ surplus)

    def rest(self, diagonal: dict[str, Array], boxes: dict[str, tuple[Array, Array]]) -> _Rest:
        """Least values of the parts of every row."""
        least: dict[str, Array] = {}
        infinite: dict[str, Array] = {}
        sizes: dict[str, Array] = {}
        longest = 0
        for name, coefficients in self.vectors.items():
            entries = coefficients.tocoo()
            lower, upper = boxes[name]
            b = entries.data
            ends = np.where(b > 0.0, lower[entries.col], upper[entries.col])
            terms = b * ends
            least[name], infinite[name] = _sums(entries.row, terms, self.rhs.size)
            sizes[name] = _sums(entries.row, np.abs(terms), self.rhs.size)[0]
            longest += int(np.max(np.bincount(entries.row), initial=0))
        for name, (row, i, j, weight) in self._matrices.items():
            first, second = np.sqrt(diagonal[name][i]), np.sqrt(diagonal[name][j])
            # An entry beside a diagonal entry of zero vanishes, however large the other may be.
            known = (first > 0.0) & (second > 0.0)
            largest = np.multiply(first, second, out=np.zeros(first.size), where=known)
            on = i == j
            terms = np.where(on & (weight > 0.0), 0.0, -np.abs(weight) * largest)
            least[name], infinite[name] = _sums(row, terms, self.rhs.size)
            sizes[name] = np.abs(least[name])
            longest += int(np.max(np.bincount(row), initial=0))
            # A semidefinite form is not negative, whatever its terms are.
            least[name][self._semidefinite[name]] = 0.0
            infinite[name][self._semidefinite[name]] = 0.0
        return _Rest(self.rhs, least, infinite, sizes, longest)


class _Rest:
    """What a row leaves for one of its parts when the others are as small as they can be."""

    def __init__(
        self,
        rhs: Array,
        least: dict[str, Array],
        infinite: dict[str, Array],
        sizes: dict[str, Array],
        terms: int,
    ) -> None:
        self._least, self._infinite = least, infinite
        self._finite = rhs - sum(least.values())
        self._unknown = np.zeros(rhs.size) + sum(infinite.values())
        self.margin = _outwards(terms) * (np.abs(rhs) + sum(sizes.values()))

    def without(self, name: str) -> Array:
        """Upper limit of one variable's part of every row."""
        limit = self._finite + self._least[name]
        unknown = self._unknown - self._infinite[name]
        return np.where(unknown == 0.0, limit + self.margin, np.inf)

    def without_entry(self, name: str, row: Index, own: Array) -> Array:
        """Upper limit of single terms, whose own least values are given."""
        infinite = np.isinf(own)
        limit = self._finite[row] + np.where(infinite, 0.0, own)
        return np.where(self._unknown[row] - infinite == 0.0, limit, np.inf)


def _trace_limits(surplus: sp.csr_array, limit: Array, n: int) -> list[TraceLimit]:
    """Rows that limit the whole trace, all surplus being positive."""
    if surplus.shape[1] != n:
        return []
    full = np.flatnonzero((np.diff(surplus.indptr) == n) & np.isfinite(limit))
    found = []
    for e in full:
        smallest = float(np.min(surplus.data[surplus.indptr[e] : surplus.indptr[e + 1]]))
        if smallest > 0.0:
            value = max(float(limit[e]), 0.0) / smallest * (1.0 + _OUTWARDS)
            found.append(TraceLimit(value, "a row that limits it"))
    return found


def _tighten(diagonal: Array, surplus: sp.csr_array, limit: Array) -> None:
    entries = surplus.tocoo()
    kept = (entries.data > 0.0) & np.isfinite(limit[entries.row])
    value = np.maximum(limit[entries.row[kept]], 0.0) / entries.data[kept]
    np.minimum.at(diagonal, entries.col[kept], value * (1.0 + _OUTWARDS))


def _hidden(linear_map: LinearMap, matrix: sp.csr_array) -> sp.csr_array:
    """Bounds on the errors of entries that are small beside the terms they are sums of.

    The errors of all others are small beside the entries, and covered by the margins.
    """
    sizes = row_magnitudes(linear_map)
    lost = sizes.multiply(sizes > _CANCELS * abs(matrix))
    return sp.csr_array(1.01 * float(gamma(row_terms(linear_map))) * lost)


def _outwards(terms: int) -> float:
    """Relative margin above the rounding of a sum."""
    return _OUTWARDS + 4.0 * UNIT * terms


def _sums(row: Index, terms: Array, m: int) -> tuple[Array, Array]:
    """Sums of the finite terms of every row, and the numbers of infinite ones."""
    infinite = np.isinf(terms)
    finite = np.bincount(row, np.where(infinite, 0.0, terms), minlength=m)
    count = np.bincount(row, infinite, minlength=m)
    return np.asarray(finite, dtype=float), np.asarray(count, dtype=float)
