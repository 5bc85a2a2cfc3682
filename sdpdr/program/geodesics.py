r"""How far points can lie from the origin when the lengths of some edges are limited.

If :math:`|y_i - y_j| \le \ell_{ij}` on the edges of a graph, no two points lie farther apart than
the shortest path between them, and no point farther from the origin than the shortest path to a
point whose norm is limited. Where :math:`\sum_i u_i y_i = 0` with u > 0 the weighted centre is
the origin, and it minimises the weighted sum of squared distances, so that for any root r

.. math::  \sum_i u_i |y_i|^2 \le \sum_i u_i |y_i - y_r|^2 \le \sum_i u_i\, g(i, r)^2

with one search for shortest paths g instead of all pairs.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.walks import dijkstra

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
