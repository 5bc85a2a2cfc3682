"""Points among anchors whose mirror image has the same lengths."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.walks import linked_parts, members

# Of the extent of anchors: what lies in a flat.
_FLAT = 1e-9
# Of the root mean square length: a point that a reflection moves by less is on the mirror.
_ON_MIRROR = 1e-3


def mirrored(graph: NeighborGraph, anchors: ArrayLike, places: ArrayLike) -> Index:
    r"""Points that a reflection moves without changing any length, though anchors stay.

    Take points, none of them an anchor, all of whose edges to others end in a set T that lies in
    one hyperplane: reflecting them in it changes no length, so the lengths allow two positions of
    each of them off the hyperplane. That is so if T has no more points than there are dimensions,
    or consists of anchors that span too little. Points alone are tested, and connected parts of the
    points that no chain of points with r + 1 neighbours in general position (anchors or earlier
    ones) reaches. All points found are mirrored, and others may be; but no point that such a chain
    reaches is, if lengths are exact.

    Parameters
    ----------
    graph : NeighborGraph
        With an edge for each length that is known.
    anchors : array_like of int
        Nodes whose positions are known.
    places : array_like of shape (n, r)
        Positions of all nodes, as they were found.

    Returns
    -------
    array of int
        Nodes, ascending.

    References
    ----------
    So and Ye, "Theory of semidefinite programming for sensor network localization", Mathematical
    Programming 109 (2007), for lengths that determine places.

    Examples
    --------
    The third point is as far from the anchors 0 and 1 on either side of them.

    >>> from sdpdr import graphs
    >>> known = graphs.from_edges(4, [[0, 2], [1, 2], [0, 3], [1, 3]], [2.0, 2.0, 10.0, 10.0])
    >>> mirrored(known, [0, 1, 3], [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 3.0]]).tolist()
    [2]
    """
    Y, n = np.asarray(places, dtype=float), graph.n
    fixed = np.zeros(n, dtype=bool)
    fixed[np.asarray(anchors, dtype=np.int64)] = True
    joined = sp.csr_array((np.ones(graph.m), graph.edges.T), shape=(n, n))
    near = [row.indices for row in sp.csr_array(joined + joined.T)]
    width = _ON_MIRROR * float(np.sqrt(np.mean(graph.sqdist)))
    found = np.zeros(n, dtype=bool)
    for part in _parts(near, fixed, Y):
        ends = np.setdiff1d(np.concatenate([near[v] for v in part]), part)
        few = ends.size <= Y.shape[1]
        if ends.size and (few or (fixed[ends].all() and not _spans(Y[ends]))):
            found[part] |= _away(Y[part], Y[ends]) > width
    return np.flatnonzero(found)


def _parts(near: list[Index], fixed: np.ndarray, Y: Array) -> Iterator[Index]:
    """Points that are no anchors alone, and connected parts of those that no chain reaches."""
    free = np.flatnonzero(~fixed)
    yield from free[:, None]
    reached = fixed.copy()
    waiting = set(free.tolist())
    while waiting:
        v = waiting.pop()
        ends = near[v][reached[near[v]]]
        if ends.size > Y.shape[1] and _spans(Y[ends]):
            reached[v] = True
            waiting.update(near[v][~reached[near[v]]].tolist())
    left = np.flatnonzero(~reached)
    pairs = [(v, w) for v in left for w in near[v] if not reached[w]]
    i, j = np.searchsorted(left, np.array(pairs, dtype=np.int64).reshape(-1, 2)).T
    for part in members(linked_parts(left.size, np.column_stack([i, j]))):
        yield left[part]


def _spans(places: Array) -> bool:
    """Whether places lie in no hyperplane."""
    steps = places - places.mean(axis=0)
    return int(np.linalg.matrix_rank(steps, tol=_FLAT * np.abs(steps).max())) == places.shape[1]


def _away(places: Array, ends: Array) -> Array:
    """Distances from the smallest flat that holds all ends."""
    steps = ends - ends.mean(axis=0)
    _, sizes, axes = np.linalg.svd(steps, full_matrices=False)
    axes = axes[sizes > _FLAT * max(float(np.abs(steps).max()), 1e-300)]
    apart = places - ends.mean(axis=0)
    return np.asarray(np.linalg.norm(apart - apart @ axes.T @ axes, axis=1))
