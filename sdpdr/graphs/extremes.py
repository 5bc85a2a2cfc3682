"""The point furthest from each point, exactly.

The distance to a fixed point is convex, so the furthest point is a vertex of the convex hull. In
few dimensions the hull is computed once; its vertices are then thinned out box by box. With more
features hulls have too many facets, and the rows of all distances are looked at, as products.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import cdist

from sdpdr.base.arrays import Array, Index
from sdpdr.base.progress import Count
from sdpdr.graphs.search import BLOCK, Located, at_most, blocks

# Convex hulls in more dimensions have too many facets to pay off.
HULL_FEATURES = 5
# Boxes of so few points, or with so few candidates left, are not divided further.
LEAF_POINTS = 128
LEAF_CANDIDATES = 8
# Relative to the squared extent: more than rounding can add up to in a comparison of lengths.
ROUNDING = 1e-11


def furthest_points(coordinates: Located, count: Count | None = None) -> Index:
    """Index of the point furthest from each point, the first of equals; shape (n,).

    Equal to the longest length are those less by the tolerance at most.

    Parameters
    ----------
    coordinates : Located
    count : callable, optional
        Told how many points are done.
    """
    if coordinates.X.shape[1] > HULL_FEATURES:
        return _by_products(coordinates, count)
    return _by_boxes(coordinates, _extreme_points(coordinates.X), count)


def _by_boxes(coordinates: Located, candidates: Index, count: Count | None) -> Index:
    """Divide the points into ever smaller boxes, each with ever fewer candidates."""
    X = coordinates.X
    furthest = np.empty(len(X), dtype=np.int64)
    waiting = [(np.arange(len(X)), candidates)]
    while waiting:
        rows, left = waiting.pop()
        low, high = X[rows].min(axis=0), X[rows].max(axis=0)
        left = left[_may_be_furthest(X[left], (low + high) / 2.0, (high - low) / 2.0)]
        if len(rows) > LEAF_POINTS and len(left) > LEAF_CANDIDATES:
            half = len(rows) // 2
            parted = np.argpartition(X[rows, np.argmax(high - low)], half)
            waiting += [(rows[parted[:half]], left), (rows[parted[half:]], left)]
            continue
        for part in blocks(rows, max(1, BLOCK // len(left))):
            length = cdist(X[part], X[left], "sqeuclidean")
            longest = length.max(axis=1, keepdims=True)
            furthest[part] = left[at_most(longest, length, coordinates.tolerance).argmax(axis=1)]
        if count is not None:
            count(len(rows))
    return furthest


def _may_be_furthest(candidates: Array, center: Array, halfwidth: Array) -> np.ndarray:
    """Which candidates can be furthest from a point of a box: false only where none is.

    For two candidates c and r, |x - c|^2 - |x - r|^2 is affine in x. Its largest value on the box
    center + [-h, h] is |c - z|^2 - |r - z|^2 + 2 sum_i h_i |c_i - r_i|, z the center; where that
    is negative r is always further. The rivals r tried are those furthest from the center and
    from the middle of each face.
    """
    moved = candidates - center
    length = np.square(moved).sum(axis=1)
    margin = ROUNDING * length.max()
    # Furthest from z + h: the largest |c - z|^2 - 2 h (c - z), up to a constant.
    faces = 2.0 * halfwidth * moved
    scores = np.column_stack([length, length[:, None] - faces, length[:, None] + faces])
    alive = np.ones(len(candidates), dtype=bool)
    for rival in set(scores.argmax(axis=0).tolist()):
        gain = length - length[rival] + 2.0 * np.abs(moved - moved[rival]) @ halfwidth
        alive &= gain >= -margin
    return alive


def _extreme_points(X: Array) -> Index:
    """Sorted indices of points among which all vertices of the convex hull are found."""
    n, features = X.shape
    if features == 0:
        return np.zeros(1, dtype=np.int64)  # all points coincide
    if features == 1:
        return np.unique([X.argmin(), X.argmax()])
    try:
        # Points so near a facet that rounding may hide a vertex among them are asked for as well.
        hull = ConvexHull(X, qhull_options="Qt Qc")
    except QhullError:
        # Qhull refuses data that lie in a subspace: use coordinates within it, if there is one.
        flat = _within_span(X)
        return _extreme_points(flat) if flat.shape[1] < features else np.arange(n)
    return np.union1d(hull.vertices, hull.coplanar[:, 0]).astype(np.int64)


def _within_span(X: Array) -> Array:
    centered = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(centered, full_matrices=False)
    rank = np.count_nonzero(s > s[0] * max(X.shape) * np.finfo(float).eps)
    return np.asarray(U[:, :rank] * s[:rank])


def _by_products(coordinates: Located, count: Count | None) -> Index:
    """All distances, block by block, as one product of matrices; exact among those near the top."""
    n = coordinates.n
    size = np.square(coordinates.norms)
    furthest = np.empty(n, dtype=np.int64)
    for part in blocks(np.arange(n), max(1, BLOCK // n), count):
        length = coordinates.products(part)
        length *= -2.0
        length += size
        top = length.max(axis=1)
        doubt = coordinates.doubt(part, np.maximum(top + size[part], 0.0))
        least = np.sqrt(np.maximum(top + size[part], 0.0)) - coordinates.tolerance
        reach = np.square(np.maximum(least, 0.0)) - size[part] - 2.0 * doubt
        row, column = np.nonzero(length >= reach[:, None])
        exact = coordinates.sqdist(part[row], column)
        longest = np.zeros(len(part))
        np.maximum.at(longest, row, exact)
        equal = at_most(longest[row], exact, coordinates.tolerance)
        row, column = row[equal], column[equal]
        furthest[part] = column[np.searchsorted(row, np.arange(len(part)))]
    return furthest
