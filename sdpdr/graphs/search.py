"""Exact nearest neighbours among points: a tree or brute force, with one answer.

Both searches only propose candidates. The lengths of those are then recomputed as sums of squared
differences and sorted, of equals the smaller index first, and a search is repeated with more
candidates as long as a tie or its own rounding may have hidden a neighbour. The table is
therefore the same whatever the search, the order of work and the number of threads.

Lengths that follow each other, in ascending order, at no more than a tolerance are equal. The
tolerance is the distance at which two points are the same: lengths between points known no better
are known no better either. So points moved, turned or stored in another way, whose lengths differ
in their last digits, have the same neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import triu
from scipy.spatial import KDTree

from sdpdr.base.arrays import Array, Index
from sdpdr.base.progress import Count

ALGORITHMS = ("auto", "kd_tree", "brute")
# Up to this many features a tree wins in the long run (unstructured points in 8 dimensions, 8
# neighbours, tree against brute force: 0.3 s and 0.2 s for 8000 points, 11 s and 32 s for 80,000).
TREE_FEATURES = 8
# Seconds of a processor for a pair of points, and for each of their features besides, by brute
# force: 16,000 points of 20 and of 100 features, 8,000 of 784.
_PAIR, _FEATURE = 2e-9, 5e-11
# Up to this many points brute force is done before a tree of many features is built.
BRUTE_POINTS = 10_000
# Points searched for both ways to see which way is faster.
TRIAL_POINTS = 64
# Units in the last place of the largest entry of a column, by which copies may differ in it.
UNITS = 4.0
# Numbers held at once in a block of pairwise work: 32 MB.
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Located:
    """Points, and lengths that do not depend on who asks.

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
    # Numbers gathered at once to be subtracted: 1 MB, so that they stay near the processor.
    gathered: ClassVar[int] = 1 << 17

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @property
    def in_few_dimensions(self) -> bool:
        """Whether a tree takes the points as they are."""
        return bool(self.X.shape[1] <= TREE_FEATURES)

    @cached_property
    def centered(self) -> Array:
        """The points moved to their mean: inner products lose digits far from the origin."""
        return self.X - self.X.mean(axis=0)

    @cached_property
    def turned(self) -> Array:
        """The points moved to their mean and turned to their principal axes.

        A tree then cuts where the points spread, and the first few differences decide: eight
        times as fast for 64 features on a surface of five dimensions.
        """
        scaled = self.centered / (np.abs(self.centered).max() or 1.0)
        _, axes = np.linalg.eigh(scaled.T @ scaled)
        return np.ascontiguousarray(self.centered @ axes[:, ::-1])

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
        """Bound on the error of squared lengths found in the points moved or turned."""
        norm = self.norms[rows]
        return self.rounding * (np.square(norm) + np.square(norm + np.sqrt(sqdist)))

    @property
    def rounding(self) -> float:
        """Bound on the relative error of a sum over the features."""
        return float(8.0 * (self.terms + 8) * np.finfo(float).eps)

    @property
    def terms(self) -> int:
        """How many numbers a length or an inner product is a sum of, at most."""
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
        Indices of the points searched, ascending.
    tree : bool
        By a k-d tree, in time n log n where neighbourhoods have few dimensions; or by brute force,
        all pairs as matrix products, in time n^2 D near the speed of the machine.

    References
    ----------
    Bentley, "Multidimensional binary search trees used for associative searching",
    Communications of the ACM 18 (1975).
    """

    coordinates: Located
    targets: Index
    tree: bool

    @property
    def _as_given(self) -> bool:
        return self.tree and self.coordinates.in_few_dimensions

    @cached_property
    def _points(self) -> Array:
        if self._as_given:
            return self.coordinates.X
        return self.coordinates.turned if self.tree else self.coordinates.centered

    @cached_property
    def library(self) -> Any:
        """SciPy's tree or scikit-learn's search, over the targets."""
        points = self._points[self.targets]
        if self.tree:
            return KDTree(points)
        from sklearn.neighbors import NearestNeighbors  # here, since it takes long to import

        return NearestNeighbors(algorithm="brute").fit(points)

    @property
    def order(self) -> Index:
        """Order of the targets in which those near each other are mostly near."""
        if self.tree:
            return np.asarray(self.library.indices, dtype=np.int64)
        return np.arange(len(self.targets))

    def query(self, sources: Index, k: int) -> tuple[Array, Index]:
        """PLAIN lengths, in ascending order, and positions of the k targets nearest to each."""
        # Told as a list, k = 1 gives tables like any other k.
        ask, many = (
            (self.library.query, range(1, k + 1)) if self.tree else (self.library.kneighbors, k)
        )
        length, found = ask(self._points[sources], many)
        return length, np.asarray(found, dtype=np.int64)

    def doubt(self, sources: Index, sqdist: Array) -> Array:
        """Bound on the error of the squares of such lengths."""
        if self._as_given:
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
            Whether a source that is a target itself passes itself over.
        count : callable, optional
            Told how many sources are done.
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
            reach, found = self.query(here, width)
            candidates = self.targets[np.sort(found, axis=1)]
            table[part], longest = closest(
                self.coordinates, here, candidates, table.shape[1], others
            )
            if width < len(self.targets):
                outside = np.square(reach[:, -1])
                least = np.maximum(outside - self.doubt(here, outside), 0.0)
                hidden = part[at_most(least, longest, self.coordinates.tolerance)]
                self._fill(table, sources, hidden, 2 * width, others)


def closest(
    coordinates: Located, here: Index, candidates: Index, k: int, others: bool
) -> tuple[Index, Array]:
    """Of a table of candidates in ascending order the k closest.

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
    """Search over some of the points.

    Up to eight features take a tree. With more it depends on how many dimensions the points
    really spread in, which no cheap rule tells: a sample is searched both ways and the faster
    way is taken. That may differ from run to run; the answer cannot.
    """
    if not coordinates.takes_trees:
        return Neighbors(coordinates, targets, tree=False)
    if algorithm == "auto" and not coordinates.in_few_dimensions:
        return _faster(coordinates, targets)
    return Neighbors(coordinates, targets, algorithm != "brute")


def seconds_of_search(n: int, features: int) -> float:
    """Predicted for neighbours of n points among all, of one processor.

    In few dimensions a tree looks at few of them, which takes next to nothing.

    Examples
    --------
    >>> seconds_of_search(10_000, 3), round(seconds_of_search(10_000, 784), 1)
    (0.0, 4.1)
    """
    return n**2 * (_PAIR + features * _FEATURE) if features > TREE_FEATURES else 0.0


def pairs_within(coordinates: Located, radius: float) -> Index:
    """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""
    everyone = np.arange(coordinates.n)
    search = search_among(coordinates, everyone)
    reach = radius * (1.0 + 1e-9) + coordinates.tolerance
    if not coordinates.in_few_dimensions:
        reach = np.sqrt(reach**2 + coordinates.doubt(everyone, np.square([reach])).max())
    if search.tree:
        return _short(coordinates, search.library.query_pairs(reach, output_type="ndarray"), radius)
    near = triu(search.library.radius_neighbors_graph(coordinates.centered, reach), k=1)
    return _short(coordinates, np.column_stack(near.nonzero()), radius)


def _short(coordinates: Located, pairs: Index, radius: float) -> Index:
    # The root, not the square: a radius that is itself the length of a pair must hold it.
    length = np.sqrt(coordinates.sqdist(pairs[:, 0], pairs[:, 1]))
    return np.asarray(pairs[length <= radius + coordinates.tolerance], dtype=np.int64)


def at_most(sqdist: Array, limit: Array | float, tolerance: float) -> np.ndarray:
    """Whether SQUARED lengths are at most others, or equal to them by a PLAIN tolerance.

    Examples
    --------
    >>> at_most(np.array([1.0, 1.1, np.inf]), 1.0, 0.1)
    array([ True,  True, False])
    """
    return np.asarray(np.sqrt(sqdist) <= np.sqrt(limit) + tolerance)


def ranked(sqdist: Array, tolerance: float) -> tuple[Index, Index]:
    """Order of each row of SQUARED lengths, shortest first, of equals the first; and its groups.

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
    # Equal numbers are in order already: few rows have more to sort.
    rows = np.flatnonzero((~further & (length[:, 1:] > length[:, :-1])).any(axis=1))
    again = np.lexsort((order[rows], group[rows]), axis=-1)
    order[rows] = np.take_along_axis(order[rows], again, axis=1)
    return order, group


def first_of(sqdist: Array, k: int, tolerance: float) -> Index:
    """Columns of the k shortest of the SQUARED lengths of each row, in the order of `ranked`.

    Only those up to the k-th and its equals are sorted: of many, a tenth of the time.

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
    """Pieces of at most ``step`` rows; ``count`` is told how many are done."""
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        yield part
        if count is not None:
            count(len(part))


def _faster(coordinates: Located, targets: Index) -> Neighbors:
    brute, tree = (Neighbors(coordinates, targets, way) for way in (False, True))
    if len(targets) <= BRUTE_POINTS:
        return brute
    sample = targets[:: len(targets) // TRIAL_POINTS]
    return tree if _seconds(tree, sample) < _seconds(brute, sample) else brute


def _seconds(search: Neighbors, sample: Index) -> float:
    search.library  # noqa: B018  # made before the clock runs
    begin = perf_counter()  # of milliseconds, which other clocks may not tell apart
    search.query(sample, 8)
    return perf_counter() - begin
