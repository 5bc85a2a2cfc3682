"""Exact nearest neighbours by scikit-learn, with one rule for ties.

scikit-learn proposes candidates. Their lengths are then recomputed as sums of squared differences
and sorted, the smaller index first of equals, and the search is repeated with more candidates as
long as a tie or its own rounding may have hidden a neighbour. The table is therefore the same for
a k-d tree and for brute force, whatever the order of work and the number of threads.

Lengths that follow each other, in ascending order, at no more than a tolerance are equal. The
tolerance is the distance at which two points are the same: lengths between points known no better
are known no better either. So points that are moved, rotated or stored in another way, whose
lengths differ in their last digits, have the same neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import triu

from sdpdr.base.arrays import Array, Index
from sdpdr.base.progress import Count

ALGORITHMS = ("auto", "kd_tree", "brute")
# Up to this many features a tree wins in the long run: of unstructured points in 8 dimensions it
# takes a third of the time of brute force at 80,000 points, in 12 three times its time at 20,000.
TREE_FEATURES = 8
# CPU seconds for a pair of points, and for each of their features besides, by brute force: 16,000
# points of 20 and of 100 features, 8,000 of 784.
_PAIR, _FEATURE = 2e-9, 5e-11
# Copies of a row may differ by this many units in the last place of the largest entry of a column.
UNITS = 4.0
# Numbers held at once in a block of pairwise work: 32 MB.
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Located:
    """Points, and lengths that do not depend on the search.

    Parameters
    ----------
    X : ndarray of shape (n, D)
    tolerance : float, default 0.0
        PLAIN distance up to which two points are the same, and difference up to which two lengths
        are equal.
    """

    X: Array
    tolerance: float = 0.0

    takes_trees: ClassVar[bool] = True
    # Numbers gathered at once to be subtracted: 1 MB, so that they stay in the cache.
    gathered: ClassVar[int] = 1 << 17

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @cached_property
    def centered(self) -> Array:
        """The points moved to their mean, since inner products lose digits far from the origin."""
        return self.X - self.X.mean(axis=0)

    def sqdist(self, first: Index, second: Index) -> Array:
        """Sums of squared differences: equal lengths come out equal, short ones exact."""
        shape = np.broadcast_shapes(np.shape(first), np.shape(second))
        i, j = (np.broadcast_to(index, shape).ravel() for index in (first, second))
        sqdist = np.empty(i.size)
        step = max(1, self.gathered // self.terms)
        for at in range(0, i.size, step):
            difference = self.X[i[at : at + step]] - self.X[j[at : at + step]]
            sqdist[at : at + step] = self._squares(difference)
        return sqdist.reshape(shape)

    def _squares(self, difference: Any) -> Array:
        """Sums of squares along rows."""
        return np.asarray(np.einsum("ij,ij->i", difference, difference))

    def doubt(self, rows: Index, sqdist: Array) -> Array:
        """Bound on the error of squared lengths computed by inner products."""
        norm = self.norms[rows]
        return self.rounding * (np.square(norm) + np.square(norm + np.sqrt(sqdist)))

    @property
    def rounding(self) -> float:
        """Bound on the relative error of a sum over the features."""
        return float(8.0 * (self.terms + 8) * np.finfo(float).eps)

    @property
    def terms(self) -> int:
        """Largest number of terms in a length or an inner product."""
        return int(self.X.shape[1])

    @cached_property
    def norms(self) -> Array:
        """Lengths of the centred points, shape (n,)."""
        return np.linalg.norm(self.centered, axis=1)

    def products(self, rows: Index) -> Array:
        """Inner products of some centred points with all, shape (r, n)."""
        return np.asarray(self.centered[rows] @ self.centered.T)


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Exact search for the nearest of some target points.

    Parameters
    ----------
    coordinates : Located
    targets : ndarray of shape (t,)
        Indices of the targets, ascending.
    tree : bool
        Whether to use a k-d tree, in time n log n in few dimensions, or brute force, in time n^2 D.
    """

    coordinates: Located
    targets: Index
    tree: bool

    @cached_property
    def _points(self) -> Array:
        # Brute force takes inner products, a tree differences.
        return self.coordinates.X if self.tree else self.coordinates.centered

    @cached_property
    def library(self) -> Any:
        """scikit-learn's search over the targets."""
        from sklearn.neighbors import NearestNeighbors  # here, since it takes long to import

        algorithm = "kd_tree" if self.tree else "brute"
        return NearestNeighbors(algorithm=algorithm).fit(self._points[self.targets])

    def doubt(self, sources: Index, sqdist: Array) -> Array:
        """Bound on the error of squared lengths of the search."""
        if self.tree:
            return self.coordinates.rounding * sqdist
        return self.coordinates.doubt(sources, sqdist)

    def table(
        self, sources: Index, k: int, *, others: bool = False, count: Count | None = None
    ) -> Index:
        """Indices of the k nearest targets of each source, nearest first; shape (s, k).

        Parameters
        ----------
        sources : ndarray of shape (s,)
        k : int
        others : bool, default False
            Whether a source that is a target leaves out itself.
        count : callable, optional
            Called with the number of sources done.
        """
        table = np.empty((len(sources), k), dtype=np.int64)
        # Room for the source itself, and for one more to see whether the k-th is tied.
        self._fill(table, sources, np.arange(len(sources)), k + 1 + others, others, count)
        return table

    def _fill(
        self,
        table: Index,
        sources: Index,
        rows: Index,
        width: int,
        others: bool,
        count: Count | None = None,
    ) -> None:
        width = min(width, len(self.targets))
        for part in blocks(rows, max(1, BLOCK // (8 * width)), count):
            here = sources[part]
            reach, found = self.library.kneighbors(self._points[here], width)
            candidates = self.targets[np.sort(found, axis=1)]
            table[part], longest = closest(
                self.coordinates, here, candidates, table.shape[1], others
            )
            if width < len(self.targets):
                outside = np.square(reach[:, -1])
                least = np.maximum(outside - self.doubt(here, outside), 0.0)
                hidden = part[at_most(least, longest, self.coordinates.tolerance)]
                self._fill(table, sources, hidden, 2 * width, others)

    def within(self, radius: float) -> Index:
        """Pairs (i, j), i < j, of all points at PLAIN distance at most ``radius``; shape (p, 2)."""
        square = np.square([radius * (1.0 + 1e-9) + self.coordinates.tolerance])
        reach = float(np.sqrt(square + self.doubt(self.targets, square).max())[0])
        near = triu(self.library.radius_neighbors_graph(self._points, reach), k=1)
        pairs = np.column_stack(near.nonzero())
        # The length, not its square: a radius that is itself the length of a pair must hold it.
        length = np.sqrt(self.coordinates.sqdist(*pairs.T))
        kept = length <= radius + self.coordinates.tolerance
        return np.asarray(pairs[kept], dtype=np.int64)


def closest(
    coordinates: Located, here: Index, candidates: Index, k: int, others: bool
) -> tuple[Index, Array]:
    """The k closest of a table of candidates in ascending order.

    And the longest squared length that is equal to the k-th: what is no further may be among them.
    """
    length = coordinates.sqdist(here[:, None], candidates)
    if others:
        length[candidates == here[:, None]] = np.inf
    order, group = ranked(length, coordinates.tolerance)
    equal = group == group[:, k - 1 : k]
    longest = np.take_along_axis(length, order, axis=1).max(axis=1, where=equal, initial=0.0)
    return np.take_along_axis(candidates, order[:, :k], axis=1), longest


def search_among(coordinates: Located, targets: Index, algorithm: str = "auto") -> Neighbors:
    """Search over some of the points; by default a tree for dense points of few features."""
    few = coordinates.X.shape[1] <= TREE_FEATURES
    tree = few if algorithm == "auto" else algorithm == "kd_tree"
    return Neighbors(coordinates, targets, tree and coordinates.takes_trees)


def seconds_of_search(n: int, features: int) -> float:
    """Predicted CPU seconds for the neighbours of n points among all.

    A tree takes a negligible time.

    Examples
    --------
    >>> seconds_of_search(10_000, 3), round(seconds_of_search(10_000, 784), 1)
    (0.0, 4.1)
    """
    return n**2 * (_PAIR + features * _FEATURE) if features > TREE_FEATURES else 0.0


def pairs_within(coordinates: Located, radius: float) -> Index:
    """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""
    return search_among(coordinates, np.arange(coordinates.n)).within(radius)


def at_most(sqdist: Array, limit: Array | float, tolerance: float) -> np.ndarray:
    """Whether SQUARED lengths are at most others, or equal to them by a PLAIN tolerance.

    Examples
    --------
    >>> at_most(np.array([1.0, 1.1, np.inf]), 1.0, 0.1)
    array([ True,  True, False])
    """
    return np.asarray(np.sqrt(sqdist) <= np.sqrt(limit) + tolerance)


def ranked(sqdist: Array, tolerance: float) -> tuple[Index, Index]:
    """Order of each row of SQUARED lengths, shortest first, the first of equals; and its groups.

    Parameters
    ----------
    sqdist : ndarray of shape (r, w)
        Not NaN; infinite where there is nothing.
    tolerance : float
        PLAIN length.

    Returns
    -------
    order : ndarray of shape (r, w)
    group : ndarray of shape (r, w)
        Number of the group of equals in which each place of the order lies, from 0.

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
    group: Index = np.zeros(order.shape, dtype=np.int64)
    group[:, 1:] = np.cumsum(further, axis=1)
    # Equal numbers are in order already, so few rows have more to sort.
    rows = np.flatnonzero((~further & (length[:, 1:] > length[:, :-1])).any(axis=1))
    again = np.lexsort((order[rows], group[rows]), axis=-1)
    order[rows] = np.take_along_axis(order[rows], again, axis=1)
    return order, group


def first_of(sqdist: Array, k: int, tolerance: float) -> Index:
    """Columns of the k shortest of the SQUARED lengths of each row, in the order of `ranked`.

    Only those up to the k-th and its equals are sorted.

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
    """Pieces of at most ``step`` rows; ``count`` is called with the number of rows done."""
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        yield part
        if count is not None:
            count(len(part))
