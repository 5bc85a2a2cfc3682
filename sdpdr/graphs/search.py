"""Exact nearest neighbours by scikit-learn, with one rule for ties.

scikit-learn proposes candidates. Their lengths are recomputed as sums of squared differences and
sorted, and the search is repeated with more candidates if a tie or rounding may have hidden a
neighbour. Consecutive lengths that differ by at most a tolerance are equal, and among equals the
smaller index comes first. The tolerance is the distance at which two points are the same. So the
table does not depend on the algorithm, on threads, or on how points are moved, rotated and stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.progress import Count

if TYPE_CHECKING:
    from sdpdr.graphs.space import Points

# Up to this many features a tree is faster for many points: for unstructured points in 8 dimensions
# it takes a third of the time of brute force at 80,000 points, but in 12 three times as long at
# 20,000.
TREE_FEATURES = 8
# Numbers held at once in a block of pairwise work: 32 MB.
BLOCK = 1 << 22


def _library(points: Points, targets: Index) -> tuple[Any, Array, bool]:
    """Return scikit-learn's search over the targets, its points, and whether it uses a tree."""
    from sklearn.neighbors import NearestNeighbors  # here, since it takes long to import

    tree = points.takes_trees and points.X.shape[1] <= TREE_FEATURES
    # Brute force takes inner products, which lose digits far from the origin; a tree does not.
    given = points.X if tree else points.centered
    search = NearestNeighbors(algorithm="kd_tree" if tree else "brute").fit(given[targets])
    return search, given, tree


def nearest_table(
    points: Points,
    sources: Index,
    targets: Index,
    k: int,
    *,
    others: bool = False,
    count: Count | None = None,
) -> Index:
    """Table (s, k) of the nearest targets of each source; ``others`` leaves out the source."""
    search, given, tree = _library(points, targets)
    table = np.empty((len(sources), k), dtype=np.intp)
    # One candidate more for the source itself, and one more to see whether the k-th is tied.
    waiting = [(np.arange(len(sources)), k + 1 + others, count)]
    while waiting:
        rows, width, counter = waiting.pop()
        width = min(width, len(targets))
        for part in blocks(rows, max(1, BLOCK // (8 * width)), counter):
            here = sources[part]
            reach, found = search.kneighbors(given[here], width)
            candidates = targets[np.sort(found, axis=1)]
            table[part], longest = _closest(points, here, candidates, k, others)
            if width < len(targets):
                outside = np.square(reach[:, -1])
                doubt = points.rounding * outside if tree else points.doubt(here, outside)
                least = np.maximum(outside - doubt, 0.0)
                hidden = part[at_most(least, longest, points.tolerance)]
                waiting.append((hidden, 2 * width, None))
    return table


def _closest(
    points: Points, here: Index, candidates: Index, k: int, others: bool
) -> tuple[Index, Array]:
    """The k closest candidates, and the longest squared length that is equal to the k-th."""
    length = points.sqdist(here[:, None], candidates)
    if others:
        length[candidates == here[:, None]] = np.inf
    order, group = ranked(length, points.tolerance)
    equal = group == group[:, k - 1 : k]
    longest = np.take_along_axis(length, order, axis=1).max(axis=1, where=equal, initial=0.0)
    return np.take_along_axis(candidates, order[:, :k], axis=1), longest


def pairs_within(points: Points, radius: float) -> Index:
    """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""
    from scipy.sparse import triu

    everyone = np.arange(points.n)
    search, given, _ = _library(points, everyone)
    square = np.square([radius * (1.0 + 1e-9) + points.tolerance])
    reach = float(np.sqrt(square + points.doubt(everyone, square).max())[0])
    near = triu(search.radius_neighbors_graph(given, reach), k=1)
    pairs = np.column_stack(near.nonzero()).astype(np.intp)
    # The length, not its square: a radius that is itself the length of a pair must hold it.
    return pairs[np.sqrt(points.sqdist(*pairs.T)) <= radius + points.tolerance]


def at_most(sqdist: Array, limit: Array | float, tolerance: float) -> np.ndarray:
    """Whether SQUARED lengths are at most others, or equal to them by a PLAIN tolerance."""
    return np.asarray(np.sqrt(sqdist) <= np.sqrt(limit) + tolerance)


def ranked(sqdist: Array, tolerance: float) -> tuple[Index, Index]:
    """Sort each row of SQUARED lengths; return the order, and the tie group of each position.

    Examples
    --------
    >>> order, group = ranked(np.array([[4.0, 1.0 + 1e-15, 1.0]]), 1e-12)
    >>> order.tolist(), group.tolist()
    ([[1, 2, 0]], [[0, 0, 1]])
    """
    length = np.sqrt(sqdist)
    order = np.argsort(length, axis=1, kind="stable")
    length = np.take_along_axis(length, order, axis=1)
    further = length[:, 1:] > length[:, :-1] + tolerance
    group: Index = np.zeros(order.shape, dtype=np.intp)
    group[:, 1:] = np.cumsum(further, axis=1)
    # Exactly equal numbers are in order already, so few rows are left to sort.
    rows = np.flatnonzero((~further & (length[:, 1:] > length[:, :-1])).any(axis=1))
    again = np.lexsort((order[rows], group[rows]), axis=-1)
    order[rows] = np.take_along_axis(order[rows], again, axis=1)
    return order, group


def first_of(sqdist: Array, k: int, tolerance: float) -> Index:
    """Return the columns of the k shortest SQUARED lengths of each row, without sorting the rest.

    Examples
    --------
    >>> first_of(np.array([[4.0, 1.0 + 1e-15, 1.0, 9.0]]), 2, 1e-12)
    array([[1, 2]])
    """
    length = np.sqrt(sqdist)
    kth = np.partition(length, k - 1, axis=1)[:, k - 1 : k]
    while True:
        near = length <= kth + tolerance
        longest = length.max(axis=1, where=near, initial=0.0, keepdims=True)
        if np.array_equal(longest, kth):
            break
        kth = longest
    row, column = np.nonzero(near)
    start = np.searchsorted(row, np.arange(len(length)))
    place = np.arange(len(row)) - start[row]
    candidates = np.full((len(length), int(place.max(initial=0)) + 1), np.inf)
    candidates[row, place] = sqdist[row, column]
    return np.asarray(column[start[:, None] + ranked(candidates, tolerance)[0][:, :k]])


def blocks(rows: Index, step: int, count: Count | None = None) -> Iterator[Index]:
    """Yield pieces of at most ``step`` rows, and call ``count`` with the rows of each when done."""
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        yield part
        if count is not None:
            count(len(part))
