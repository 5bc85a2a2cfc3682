"""The sources of distances, points dense or sparse and a precomputed matrix, behind one face.

Everything the graphs need of the data is asked of a `Space`: lengths of given pairs, nearest
points, pairs within a radius, which points are the same. All lengths are SQUARED.

The cosine of two rows is a matter of lengths as well: between rows scaled to length one the squared
length is twice one less the cosine. So ``metric="cosine"`` is the space of the directions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array, issparse

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.errors import DataError, DisconnectedGraphError
from sdpdr.base.progress import Count
from sdpdr.graphs.extremes import furthest_points
from sdpdr.graphs.search import BLOCK, Coordinates, blocks, pairs_within, search_among
from sdpdr.linalg.walks import connected_components

METRICS = ("euclidean", "cosine", "precomputed")
# Directions of parallel rows differ by rounding; so near to each other they are one.
PARALLEL = 1e-12

P = TypeVar("P", bound="Points")


@dataclass(frozen=True, eq=False)
class Points(Coordinates):
    """Points with coordinates.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, D)
    tolerance : float, default 0.0
        PLAIN distance up to which two points are the same.
    """

    tolerance: float = 0.0

    def nearest(
        self,
        k: int,
        algorithm: str = "auto",
        count: Count | None = None,
        rows: Index | None = None,
    ) -> Index:
        """Table of the k nearest other points of each row, nearest first; by default of all.

        Of points equally far the one with the smaller index comes first, and a point is never
        its own neighbour, even among duplicates. The algorithm (see `sdpdr.graphs.search`) makes
        no difference to the table; ``count`` is told how many points are done.
        """
        neighbors = search_among(self, np.arange(self.n), algorithm)
        if rows is not None:
            return neighbors.table(rows, k, others=True, count=count)
        # Sources next to each other look at the same part of a tree: twice as fast at a million.
        order = neighbors.order
        table = np.empty((self.n, k), dtype=np.int64)
        table[order] = neighbors.table(order, k, others=True, count=count)
        return table

    @property
    def fewest(self) -> int:
        """Least number of other points to which a point has a known distance."""
        return self.n - 1

    def known(self, i: Index, j: Index) -> np.ndarray:
        """Whether distances are known."""
        return np.ones(np.broadcast(i, j).shape, dtype=bool)

    def require_joined(self) -> None:
        """Refuse points between which no chain of known distances leads; here all are known."""

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """Nearest target of each source, of equals the one with the smallest index.

        The targets are in ascending order, and none of them is a source.
        """
        return search_among(self, targets).table(sources, 1)[:, 0]

    def furthest(self, count: Count | None = None) -> Index:
        """Point furthest from each point, of equals the one with the smallest index."""
        return furthest_points(self, count)

    def pairs_within(self, radius: float) -> Index:
        """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""
        return pairs_within(self, radius)

    def representatives(self) -> Index:
        """For each point the first one that is the same, shape (n,)."""
        # What is the same has the same component along any direction: few pairs need a look.
        direction = np.random.default_rng(0).standard_normal(self.X.shape[1])
        component = self.X @ direction
        order = np.argsort(component, kind="stable")
        reach = self.tolerance * np.linalg.norm(direction)
        starts = np.flatnonzero(np.diff(component[order], prepend=-np.inf) > reach)
        sizes = np.diff(starts, append=self.n)
        same = np.arange(self.n)
        for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
            group = np.sort(order[start : start + size])
            while group.size > 1:
                equal = self.sqdist(group[0], group) <= self.tolerance**2
                same[group[equal]] = group[0]
                group = group[~equal]
        return same

    def take(self: P, nodes: Index) -> P:
        """Restrict to some of the points, in the order given."""
        return replace(self, X=self.X[nodes])

    def fresh(self: P) -> P:
        """The same points without the copies that searches keep for the next one."""
        return replace(self)


class Euclidean(Points):
    """Points whose coordinates are a dense array."""

    def representatives(self) -> Index:
        """For each point the first point that equals it in every coordinate, shape (n,)."""
        if self.tolerance:
            return super().representatives()
        first: dict[bytes, int] = {}
        # Adding 0 makes -0 and 0 the same bytes.
        rows = (row.tobytes() for row in self.X + 0.0)
        same = (first.setdefault(row, i) for i, row in enumerate(rows))
        return np.fromiter(same, dtype=np.int64, count=self.n)


class Sparse(Points):
    """Points whose coordinates are the rows of a csr_array: never dense, and so never centred."""

    X: Any

    takes_trees: ClassVar[bool] = False

    @property
    def centered(self) -> Any:
        """The points as they are: their mean is as good as dense."""
        return self.X

    @property
    def terms(self) -> int:
        """See `Coordinates.terms`."""
        return 2 * max(1, int(np.diff(self.X.indptr).max()))

    @cached_property
    def norms(self) -> Array:
        """See `Coordinates.norms`."""
        return np.sqrt(np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel())

    def products(self, rows: Index) -> Array:
        """See `Coordinates.products`."""
        return np.asarray((self.X[rows] @ self.X.T).toarray())

    def furthest(self, count: Count | None = None) -> Index:
        """See `Euclidean.furthest`; what rounding cannot tell apart is equal.

        Rows without a common column are all at the same angle, and may be nearly all rows.
        """
        furthest = np.empty(self.n, dtype=np.int64)
        size = np.square(self.norms)
        for part in blocks(np.arange(self.n), max(1, BLOCK // self.n)):
            length = size - 2.0 * self.products(part)
            top = length.max(axis=1)
            doubt = self.doubt(part, np.maximum(top + size[part], 0.0))
            furthest[part] = np.argmax(length >= (top - 2.0 * doubt)[:, None], axis=1)
            if count is not None:
                count(len(part))
        return furthest

    def sqdist(self, first: Index, second: Index) -> Array:
        """See `Coordinates.sqdist`."""
        shape = np.broadcast_shapes(np.shape(first), np.shape(second))
        i, j = (np.broadcast_to(index, shape).ravel() for index in (first, second))
        sqdist = np.empty(i.size)
        step = max(1, BLOCK // self.terms)
        for at in range(0, i.size, step):
            difference = self.X[i[at : at + step]] - self.X[j[at : at + step]]
            sqdist[at : at + step] = difference.multiply(difference).sum(axis=1)
        return sqdist.reshape(shape)


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Points known only by a matrix of squared distances, all of them or some.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric, SQUARED, zero on the diagonal; infinite where a distance is not known.
    """

    matrix: Array

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.matrix)

    def sqdist(self, i: Index, j: Index) -> Array:
        """Entries of the matrix, which must be known.

        Raises
        ------
        DataError
            One is not.
        """
        found = np.asarray(self.matrix[i, j])
        wrong = np.argwhere(np.isinf(found))
        if wrong.size:
            place = tuple(wrong[0])
            ends = [int(np.broadcast_to(end, found.shape)[place]) for end in (i, j)]
            raise DataError(
                f"the distance of points {validate.numbered(ends)} is needed here, but it is not "
                "known (NaN or inf in the precomputed distances). Complete the distances first, "
                "with sdpdr.DistanceCompletion().fit(D).distances_."
            )
        return found

    def known(self, i: Index, j: Index) -> np.ndarray:
        """See `Euclidean.known`."""
        return np.isfinite(self.matrix[i, j])

    @property
    def fewest(self) -> int:
        """See `Euclidean.fewest`."""
        return int(np.isfinite(self.matrix).sum(axis=1).min()) - 1

    def require_joined(self) -> None:
        """See `Euclidean.require_joined`.

        Raises
        ------
        DisconnectedGraphError
            With the points of each part, largest first.
        """
        _, labels = connected_components(csr_array(np.isfinite(self.matrix)))
        if labels.max() == 0:
            return
        order = np.argsort(labels, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        parts.sort(key=len, reverse=True)
        sizes = validate.listed([len(part) for part in parts])
        raise DisconnectedGraphError(
            f"the known distances fall into {len(parts)} parts of {sizes} points, which no "
            "distance joins; the smallest has the points "
            f"{validate.numbered(np.sort(parts[-1]))}. Give distances between the parts, or "
            "connect='largest' to keep the largest.",
            parts,
        )

    def nearest(
        self,
        k: int,
        algorithm: str = "auto",
        count: Count | None = None,
        rows: Index | None = None,
    ) -> Index:
        """See `Euclidean.nearest`. All entries are looked at: there is but one algorithm.

        A point with fewer than k known distances is its own neighbour in the places left over.
        """
        rows = np.arange(self.n) if rows is None else rows
        found = [np.empty((0, k), dtype=np.int64)]
        for part in blocks(rows, max(1, BLOCK // self.n)):
            found.append(self._closest(part, k))
            if count is not None:
                count(len(part))
        return np.concatenate(found)

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """See `Euclidean.nearest_between`."""
        parts = blocks(sources, max(1, BLOCK // len(targets)))
        nearest = [self.matrix[np.ix_(part, targets)].argmin(axis=1) for part in parts]
        return np.asarray(targets[np.concatenate(nearest)])

    def furthest(self, count: Count | None = None) -> Index:
        """See `Euclidean.furthest`."""
        return np.asarray(np.where(np.isinf(self.matrix), -1.0, self.matrix).argmax(axis=1))

    def pairs_within(self, radius: float) -> Index:
        """See `Euclidean.pairs_within`."""
        return np.argwhere(np.triu(np.sqrt(self.matrix) <= radius, 1))

    def representatives(self) -> Index:
        """See `Euclidean.representatives`. Equal means at distance zero."""
        _, labels = connected_components(csr_array(self.matrix == 0.0))
        _, first = np.unique(labels, return_index=True)
        same = first[labels]
        lengths = np.sqrt(np.where(np.isinf(self.matrix), np.nan, self.matrix))
        error = _largest_difference(lengths, lengths[same])
        wrong = np.flatnonzero(error > validate.ROUNDING * np.nanmax(lengths))
        if wrong.size:
            i, j, apart = self._torn(np.flatnonzero(same == same[wrong[0]]))
            raise DataError(
                f"the precomputed distances contradict themselves: points {validate.numbered(i)} "
                f"and {validate.numbered(j)} are at distance 0 but differ by {apart:.3g} in their "
                "distance to another point. Give distinct points a positive distance."
            )
        return np.asarray(same, dtype=np.int64)

    def _torn(self, nodes: Index) -> tuple[int, int, float]:
        """Of points joined by distances of zero, the two at zero that differ most from others."""
        a, b = np.nonzero(np.triu(self.matrix[np.ix_(nodes, nodes)] == 0.0, 1))
        lengths = np.sqrt(np.where(np.isinf(self.matrix[nodes]), np.nan, self.matrix[nodes]))
        apart = _largest_difference(lengths[a], lengths[b])
        worst = int(np.argmax(apart))
        return int(nodes[a[worst]]), int(nodes[b[worst]]), float(apart[worst])

    def take(self, nodes: Index) -> Precomputed:
        """See `Euclidean.take`."""
        return Precomputed(self.matrix[np.ix_(nodes, nodes)])

    def fresh(self) -> Precomputed:
        """See `Euclidean.fresh`."""
        return self

    def _closest(self, rows: Index, k: int) -> Index:
        block = self.matrix[rows]
        block[np.arange(len(rows)), rows] = np.inf
        # All entries up to the k-th smallest, ties included, then a stable sort of those alone.
        kth = np.partition(block, k - 1, axis=1)[:, k - 1]
        row, column = np.nonzero(block <= kth[:, None])
        order = np.lexsort((block[row, column], row))
        start = np.searchsorted(row, np.arange(len(rows)))
        table = column[order[start[:, None] + np.arange(k)]]
        unknown = np.isinf(np.take_along_axis(block, table, axis=1))
        return np.asarray(np.where(unknown, rows[:, None], table))


def _largest_difference(a: Array, b: Array) -> Array:
    """Of rows, where neither is NaN."""
    return np.asarray(np.fmax.reduce(np.abs(a - b), axis=1, initial=0.0))


def _shared(matrix: Array) -> Array:
    """Distances known of one of several points at distance zero are known of all."""
    _, labels = connected_components(csr_array(matrix == 0.0))
    for part in np.flatnonzero(np.bincount(labels) > 1):
        same = np.flatnonzero(labels == part)
        known = np.where(np.isinf(matrix[same]), matrix[same].min(axis=0), matrix[same])
        matrix[same], matrix[:, same] = known, known.T
    return matrix


Space: TypeAlias = Euclidean | Sparse | Precomputed


def sqdist_to_all(space: Space, rows: Index | None = None) -> Array:
    """Squared distances of some points, by default of all, to all; shape (r, n)."""
    everyone = np.arange(space.n)
    if isinstance(space, Sparse):
        rows = everyone if rows is None else rows
        size = np.square(space.norms)
        sqdist = np.maximum(size[rows, None] + size - 2.0 * space.products(rows), 0.0)
        sqdist[np.arange(len(rows)), rows] = 0.0
        return np.asarray(sqdist)
    return space.sqdist((everyone if rows is None else rows)[:, None], everyone)


def make_space(
    X: ArrayLike, metric: str = "euclidean", *, squared: bool = False, at_least: int = 3
) -> Space:
    """Space of the points X, or of the precomputed distances X.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, D), or (n, n) for precomputed distances
    metric : {"euclidean", "cosine", "precomputed"}
        With ``"cosine"`` the points are the directions of the rows, none of them zero.
    squared : bool, default False
        Whether precomputed distances are squared. NaN and inf among them are not known.
    at_least : int, default 3
        Fewest points allowed.

    Raises
    ------
    DataError
        See `sdpdr.base.checks`.
    UnknownNameError
        The metric is none of the three.
    """
    validate.choice("metric", metric, METRICS)
    if metric == "precomputed":
        sqdist = validate.squared_distances(X, squared=squared, at_least=at_least)
        return Precomputed(_shared(sqdist) if np.isinf(sqdist).any() else sqdist)
    if squared:
        raise DataError(
            f"squared=True describes precomputed distances, but metric={metric!r}. "
            "Pass metric='precomputed', or leave squared out."
        )
    points = validate.points(X, at_least=at_least, sparse=True)
    if metric == "euclidean":
        warn_of_unlike_columns(X)
    if metric == "cosine":
        return _as_space(directions(points), PARALLEL)
    return _as_space(points, 0.0)


def directions(X: Matrix) -> Matrix:
    """Rows scaled to length one, dense or sparse as they are.

    Raises
    ------
    DataError
        A row is zero, or all rows are parallel.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    X = csr_array(X) if issparse(X) else X
    largest = abs(X).max(axis=1)
    largest = largest.toarray() if issparse(largest) else largest
    empty = np.flatnonzero(largest == 0.0)
    if empty.size:
        raise DataError(
            f"metric='cosine' compares directions, and rows of zeros have none: "
            f"{validate.numbered(empty)}. Leave those rows out."
        )
    # Squares of entries of any size stay in range.
    scaled = diags_array(1.0 / largest) @ X
    squares = scaled.multiply(scaled) if issparse(scaled) else np.square(scaled)
    unit = diags_array(1.0 / np.sqrt(np.asarray(squares.sum(axis=1)).ravel())) @ scaled
    return csr_array(unit) if issparse(unit) else unit


def _as_space(points: Matrix, tolerance: float) -> Euclidean | Sparse:
    kind = Sparse if issparse(points) else Euclidean
    space = kind(points, tolerance)
    if tolerance and space.sqdist(np.zeros(1, int), np.arange(space.n)).max() <= tolerance**2:
        raise DataError(
            f"all {space.n} rows are parallel, so metric='cosine' sees one point. Pass "
            "metric='euclidean'."
        )
    return space
