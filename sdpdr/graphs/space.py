"""The two sources of distances, points and a precomputed matrix, behind one face.

Everything the graphs need of the data is asked of a `Space`: lengths of given pairs, nearest
points, pairs within a radius, which points are the same. All lengths are SQUARED.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Count
from sdpdr.graphs.extremes import furthest_points
from sdpdr.graphs.search import BLOCK, Coordinates, blocks, pairs_within, search_among
from sdpdr.linalg.walks import connected_components


class Euclidean(Coordinates):
    """Points with coordinates.

    Parameters
    ----------
    X : ndarray of shape (n, D)
    """

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.X)

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
        """For each point the first point that equals it in every coordinate, shape (n,)."""
        first: dict[bytes, int] = {}
        # Adding 0 makes -0 and 0 the same bytes.
        rows = (row.tobytes() for row in self.X + 0.0)
        same = (first.setdefault(row, i) for i, row in enumerate(rows))
        return np.fromiter(same, dtype=np.int64, count=self.n)

    def take(self, nodes: Index) -> Euclidean:
        """Restrict to some of the points, in the order given."""
        return Euclidean(self.X[nodes])

    def fresh(self) -> Euclidean:
        """The same points without the copies that searches keep for the next one."""
        return Euclidean(self.X)


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Points known only by a matrix of squared distances.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric, SQUARED, zero on the diagonal.
    """

    matrix: Array

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.matrix)

    def sqdist(self, i: Index, j: Index) -> Array:
        """Entries of the matrix."""
        return self.matrix[i, j]

    def nearest(
        self,
        k: int,
        algorithm: str = "auto",
        count: Count | None = None,
        rows: Index | None = None,
    ) -> Index:
        """See `Euclidean.nearest`. All entries are looked at: there is but one algorithm."""
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
        return np.asarray(self.matrix.argmax(axis=1))

    def pairs_within(self, radius: float) -> Index:
        """See `Euclidean.pairs_within`."""
        return np.argwhere(np.triu(np.sqrt(self.matrix) <= radius, 1))

    def representatives(self) -> Index:
        """See `Euclidean.representatives`. Equal means at distance zero."""
        _, labels = connected_components(csr_array(self.matrix == 0.0))
        _, first = np.unique(labels, return_index=True)
        same = first[labels]
        error = np.abs(np.sqrt(self.matrix) - np.sqrt(self.matrix[same])).max(axis=1)
        wrong = np.flatnonzero(error > validate.ROUNDING * np.sqrt(self.matrix.max()))
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
        lengths = np.sqrt(self.matrix[nodes])
        apart = np.array([np.abs(lengths[i] - lengths[j]).max() for i, j in zip(a, b, strict=True)])
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
        return np.asarray(column[order[start[:, None] + np.arange(k)]])


Space: TypeAlias = Euclidean | Precomputed


def sqdist_to_all(space: Space, rows: Index | None = None) -> Array:
    """Squared distances of some points, by default of all, to all; shape (r, n)."""
    everyone = np.arange(space.n)
    return space.sqdist((everyone if rows is None else rows)[:, None], everyone)


def make_space(
    X: ArrayLike, metric: str = "euclidean", *, squared: bool = False, at_least: int = 3
) -> Space:
    """Space of the points X, or of the precomputed distances X.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    metric : {"euclidean", "precomputed"}
    squared : bool, default False
        Whether precomputed distances are squared.
    at_least : int, default 3
        Fewest points allowed.

    Raises
    ------
    DataError
        See `sdpdr.base.checks`.
    UnknownNameError
        The metric is none of the two.
    """
    validate.choice("metric", metric, ("euclidean", "precomputed"))
    if metric == "precomputed":
        return Precomputed(validate.squared_distances(X, squared=squared, at_least=at_least))
    if squared:
        raise DataError(
            "squared=True describes precomputed distances, but metric='euclidean'. "
            "Pass metric='precomputed', or leave squared out."
        )
    return Euclidean(validate.points(X, at_least=at_least))
