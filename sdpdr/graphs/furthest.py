"""The point furthest from each point in few dimensions, by the convex hull.

The distance to a fixed point is convex, so the furthest point is a vertex of the hull. Points are
divided into ever smaller boxes, and each box keeps only the vertices that can be furthest from a
point in it, which costs little more than sorting.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import cdist

from sdpdr.base.arrays import Array, Index
from sdpdr.graphs.blocks import BLOCK, blocks
from sdpdr.graphs.ties import at_most

# In more dimensions convex hulls have too many facets.
HULL_FEATURES = 5
# Boxes of so few points, or with so few candidates left, are not divided further.
_LEAF_POINTS, _LEAF_CANDIDATES = 128, 8
# Exceeds all rounding in a comparison of squared lengths, relative to the squared extent.
_TIE = 1e-11


def furthest_points(X: Array, tolerance: float) -> Index:
    """Index of the point furthest from each point; the first of those within the tolerance."""
    furthest = np.empty(len(X), dtype=np.intp)
    waiting = [(np.arange(len(X)), _hull(X))]
    while waiting:
        rows, left = waiting.pop()
        low, high = X[rows].min(axis=0), X[rows].max(axis=0)
        left = left[_may_be_furthest(X[left], (low + high) / 2.0, (high - low) / 2.0)]
        if len(rows) > _LEAF_POINTS and len(left) > _LEAF_CANDIDATES:
            half = len(rows) // 2
            parted = np.argpartition(X[rows, np.argmax(high - low)], half)
            waiting += [(rows[parted[:half]], left), (rows[parted[half:]], left)]
            continue
        for part in blocks(rows, max(1, BLOCK // len(left))):
            length = cdist(X[part], X[left], "sqeuclidean")
            longest = length.max(axis=1, keepdims=True)
            furthest[part] = left[at_most(longest, length, tolerance).argmax(axis=1)]
    return furthest


def _may_be_furthest(candidates: Array, center: Array, halfwidth: Array) -> np.ndarray:
    """Whether each candidate may be furthest from some point of a box; false only if it is not.

    For two candidates c and r, |x - c|^2 - |x - r|^2 is affine in x. Its largest value on the box
    center + [-h, h] is |c - z|^2 - |r - z|^2 + 2 sum_i h_i |c_i - r_i|, z the center; where that
    is negative r is always further. The rivals r tried are those furthest from the center and
    from the middle of each face.
    """
    moved = candidates - center
    length = np.square(moved).sum(axis=1)
    margin = _TIE * length.max()
    # Furthest from z + h: the largest |c - z|^2 - 2 h (c - z), up to a constant.
    faces = 2.0 * halfwidth * moved
    scores = np.column_stack([length, length[:, None] - faces, length[:, None] + faces])
    alive = np.ones(len(candidates), dtype=bool)
    for rival in set(scores.argmax(axis=0).tolist()):
        gain = length - length[rival] + 2.0 * np.abs(moved - moved[rival]) @ halfwidth
        alive &= gain >= -margin
    return alive


def _hull(X: Array) -> Index:
    """Sorted indices of points among which all vertices of the convex hull are found."""
    n, features = X.shape
    if features == 0:
        return np.zeros(1, dtype=np.intp)  # all points coincide
    if features == 1:
        return np.unique([X.argmin(), X.argmax()])
    try:
        # Qc also reports points so near a facet that rounding may hide a vertex among them.
        hull = ConvexHull(X, qhull_options="Qt Qc")
    except QhullError:  # the data lie in a subspace: take coordinates within it
        left, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        rank = np.count_nonzero(s > s[0] * max(X.shape) * np.finfo(float).eps)
        return _hull(left[:, :rank] * s[:rank]) if rank < features else np.arange(n)
    return np.union1d(hull.vertices, hull.coplanar[:, 0]).astype(np.intp)
