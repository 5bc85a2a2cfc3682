r"""Limits on traces and scalars that follow from the constraints of a program.

Rows are read one at a time, as bound propagation in linear programming does (`propagation`). Rows
of the form :math:`a (e_i - e_j)(e_i - e_j)^T` limit the length of an edge. If
:math:`|y_i - y_j| \le \ell_{ij}` on the edges of a graph, no point lies farther from the origin
than the shortest path to a point whose norm is limited. Where :math:`\sum_i u_i y_i = 0` with u > 0
the weighted centre is the origin, and it minimises the weighted sum of squared distances, so that
with shortest paths g to any root r

.. math::  \sum_i u_i |y_i|^2 \le \sum_i u_i |y_i - y_r|^2 \le \sum_i u_i\, g(i, r)^2 .

Limits hold at every feasible point. They are rounded outwards, and a form counts as positive
semidefinite only if its numbers prove it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.bounds.dual_form import FEW, DualForm
from sdpdr.certify.bounds.propagation import OUTWARDS, Rest, UpperRows, outwards
from sdpdr.linalg import LinearMap
from sdpdr.linalg.walks import dijkstra
from sdpdr.program.face import exposing_rows
from sdpdr.program.sdp import SDP

# Rounds end when no limit became finite; a tree of means needs one for each of its levels.
_ROUNDS = 40


def norms_along_edges(edges: Index, lengths: Array, norms: Array) -> Array:
    """Upper limits of all norms, from those known and limits on lengths of edges.

    Parameters
    ----------
    edges : array of int, shape (m, 2)
    lengths : array of shape (m,)
    norms : array of shape (n,)
        Infinite where not known.

    Examples
    --------
    >>> norms_along_edges(np.array([[0, 1]]), np.array([1.0]), np.array([2.0, np.inf])).round(9)
    array([2., 3.])
    """
    n, anchored = norms.size, np.flatnonzero(np.isfinite(norms))
    if not anchored.size or not len(edges):
        return norms
    # The origin is one more point.
    low = np.concatenate([np.min(edges, axis=1), anchored])
    high = np.concatenate([np.max(edges, axis=1), np.full(anchored.size, n)])
    length = np.concatenate([lengths, norms[anchored]])
    order = np.lexsort((length, high, low))
    low, high, length = low[order], high[order], length[order]
    shortest = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))
    # The graph library reads a stored zero as no edge at all.
    kept = np.maximum(length[shortest], 1e-150)
    places = (low[shortest].astype(np.int32), high[shortest].astype(np.int32))
    graph = sp.csr_array((kept, places), shape=(n + 1, n + 1))
    reached = np.asarray(dijkstra(graph, indices=n))[:n]
    # A path is a sum of as many rounded numbers as it has edges.
    return np.asarray(np.minimum(norms, reached * (1.0 + outwards(n))))


class VariableLimits:
    """Limits that the constraints of a program imply, found when one is first requested.

    Parameters
    ----------
    sdp : SDP

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> limits = VariableLimits(methods.mvu(graphs.path([1.0, 1.0])).to_sdp())
    >>> round(limits.trace("K"), 6)
    5.0
    """

    def __init__(self, sdp: SDP) -> None:
        self._form = sdp.remembered(DualForm)

    def trace(self, name: str) -> float:
        """The smallest limit found of the trace of a matrix; infinite without one."""
        return min(self._found.covered(name), self._found.spread(name))

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
            if not any(isinstance(a, LinearMap) and a.is_wide(FEW) for a in r.lhs.values())
            for sign in (1.0, -1.0)
        ]
        for _ in range(_ROUNDS):
            before = self._known()
            self._read_rows()
            if self._known() == before:  # the sizes of limits may shrink for ever
                break

    def _known(self) -> int:
        sides = [side for box in self.boxes.values() for side in box]
        return sum(int(np.isfinite(one).sum()) for one in (*self.diagonals.values(), *sides))

    def _read_rows(self) -> None:
        for group in self._groups:
            rest = group.rest(self.diagonals, self.boxes)
            for name, surplus in group.surplus.items():
                entries = surplus.tocoo()
                value = rest.for_forms()[entries.row] / entries.data * (1.0 + OUTWARDS)
                np.minimum.at(self.diagonals[name], entries.col, value)
            for name, coefficients in group.vectors.items():
                self._limit_scalars(name, coefficients, rest)
        for name, diagonal in self.diagonals.items():
            norms = norms_along_edges(*self._edges(name), np.sqrt(diagonal))
            np.minimum(diagonal, np.square(norms) * (1.0 + OUTWARDS), out=diagonal)

    def _limit_scalars(self, name: str, coefficients: sp.csr_array, rest: Rest) -> None:
        lower, upper = self.boxes[name]
        entries = coefficients.tocoo()
        row, j, b = entries.row, entries.col, entries.data
        limit = rest.for_terms(row, b * np.where(b > 0.0, lower[j], upper[j]))
        known = np.isfinite(limit)
        j, b, limit = j[known], b[known], limit[known] / b[known]
        slack = OUTWARDS * np.abs(limit)
        np.minimum.at(upper, j[b > 0.0], (limit + slack)[b > 0.0])
        np.maximum.at(lower, j[b < 0.0], (limit - slack)[b < 0.0])

    def covered(self, name: str) -> float:
        """The trace by limits of diagonal entries, and by rows that limit several as a whole."""
        diagonal = self.diagonals[name]
        left, total, alone = diagonal.copy(), 0.0, np.inf
        parts = self._parts(name)
        for limit, places in parts:
            alone = min(alone, limit + float(np.sum(np.delete(diagonal, places))))
            if limit < float(np.sum(left[places])):
                total += limit
                left[places] = 0.0
        least = min(alone, total + float(np.sum(left)))
        return least * (1.0 + outwards(diagonal.size + len(parts)))

    def _parts(self, name: str) -> list[tuple[float, Index]]:
        """Limits of sums of several diagonal entries, and which: the smallest mean first."""
        found = []
        for group in self._groups:
            if name not in group.surplus:
                continue
            surplus = group.surplus[name]
            limit = group.rest(self.diagonals, self.boxes).for_forms()
            for e in np.flatnonzero((np.diff(surplus.indptr) > 1) & np.isfinite(limit)):
                part = slice(surplus.indptr[e], surplus.indptr[e + 1])
                smallest = float(np.min(surplus.data[part]))
                found.append((float(limit[e]) / smallest * (1.0 + OUTWARDS), surplus.indices[part]))
        return sorted(found, key=lambda one: one[0] / one[1].size)

    def _edges(self, name: str) -> tuple[Index, Array]:
        """Edges whose lengths are limited, and the limits."""
        edges, lengths = [np.zeros((0, 2), dtype=np.int64)], [np.zeros(0)]
        for group in self._groups:
            if name in group.edges:
                row, ends, factor = group.edges[name]
                limit = group.rest(self.diagonals, self.boxes).for_forms()[row] / factor
                known = np.isfinite(limit)
                edges.append(ends[known])
                lengths.append(np.sqrt(limit[known]) * (1.0 + OUTWARDS))
        return np.vstack(edges), np.concatenate(lengths)

    def spread(self, name: str) -> float:
        """The trace by shortest paths to a point, where points have a centre."""
        weights = self._centre(name)
        if weights is None:
            return np.inf
        root = np.full(weights.size, np.inf)
        root[0] = 0.0
        reach = norms_along_edges(*self._edges(name), root)
        spread = float(weights @ np.square(reach)) / float(np.min(weights))
        return spread * (1.0 + 2.0 * outwards(weights.size))

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
