"""The two sources of distances, points and a precomputed matrix, behind one face.

Everything the graphs need of the data is asked of a `Space`: lengths of given pairs, nearest
points, pairs within a radius, which points are the same. All lengths are SQUARED.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import NearestNeighbors

from sdpdr.errors import DataError
from sdpdr.graphs import validate
from sdpdr.graphs.arrays import Array, Index

# Above this many features a tree visits most of the points anyway.
TREE_FEATURES = 15
# Numbers held at once in a block of pairwise work: 32 MB.
BLOCK = 1 << 22


class Space(Protocol):
    """Points known by their squared distances."""

    @property
    def n(self) -> int:
        """Number of points."""

    def sqdist(self, i: Index, j: Index) -> Array:
        """Squared distances of the pairs (i, j), which broadcast against each other."""

    def nearest(self, k: int) -> Index:
        """Table of the k nearest other points of each point, shape (n, k), nearest first.

        Of points equally far the one with the smaller index comes first, and a point is never
        its own neighbour, even among duplicates.
        """

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """Nearest target of each source, as a position in ``targets``; exact up to rounding."""

    def pairs_within(self, radius: float) -> Index:
        """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""

    def representatives(self) -> Index:
        """For each point the first point that equals it, shape (n,)."""

    def take(self, nodes: Index) -> Space:
        """Restrict to some of the points, in the order given."""


@dataclass(frozen=True, eq=False)
class Euclidean:
    """Points with coordinates.

    Parameters
    ----------
    X : ndarray of shape (n, D)
    """

    X: Array

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.X)

    def sqdist(self, i: Index, j: Index) -> Array:
        """Sum of squared differences: equal lengths come out equal, short ones exact."""
        shape = np.broadcast_shapes(np.shape(i), np.shape(j))
        first, second = (np.broadcast_to(index, shape).ravel() for index in (i, j))
        step = max(1, BLOCK // self.X.shape[1])
        parts = [
            np.square(self.X[first[at : at + step]] - self.X[second[at : at + step]]).sum(axis=1)
            for at in range(0, len(first), step)
        ]
        return np.concatenate([np.empty(0), *parts]).reshape(shape)

    def nearest(self, k: int) -> Index:
        """See `Space.nearest`. The search widens until no tie or rounding can hide a neighbour."""
        search = NearestNeighbors(algorithm="kd_tree" if self._tree else "brute").fit(self._coords)
        table = np.empty((self.n, k), dtype=np.int64)
        # Room for k neighbours, the point itself, and one more to see whether the k-th is tied.
        rows, width = np.arange(self.n), min(k + 2, self.n)
        while True:
            reach, found = search.kneighbors(self._coords[rows], n_neighbors=width)
            table[rows], length = self._closest(rows, found, k)
            if width == self.n:
                return table
            outside = np.square(reach[:, -1])
            rows = rows[length >= outside - self._error(rows, outside)]
            if not rows.size:
                return table
            width = min(2 * width, self.n)

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """See `Space.nearest_between`."""
        X = self._coords
        if self._tree:
            return np.asarray(KDTree(X[targets]).query(X[sources])[1], dtype=np.int64)
        return np.asarray(pairwise_distances_argmin(X[sources], X[targets]), dtype=np.int64)

    def pairs_within(self, radius: float) -> Index:
        """See `Space.pairs_within`."""
        pairs = KDTree(self.X).query_pairs(radius * (1.0 + 1e-9), output_type="ndarray")
        # The root, not the square: a radius that is itself the length of a pair must hold it.
        pairs = pairs[np.sqrt(self.sqdist(pairs[:, 0], pairs[:, 1])) <= radius]
        return np.asarray(pairs, dtype=np.int64)

    def representatives(self) -> Index:
        """See `Space.representatives`. Equal means equal in every coordinate."""
        # Rows are compared as bytes, which is fast; adding 0 makes -0 and 0 the same bytes.
        rows = np.ascontiguousarray(self.X + 0.0).view(np.dtype((np.void, self.X[0].nbytes)))
        _, first, inverse = np.unique(rows.ravel(), return_index=True, return_inverse=True)
        return np.asarray(first[inverse], dtype=np.int64)

    def take(self, nodes: Index) -> Euclidean:
        """See `Space.take`."""
        return Euclidean(self.X[nodes])

    @property
    def _tree(self) -> bool:
        return bool(self.X.shape[1] <= TREE_FEATURES)

    @cached_property
    def _coords(self) -> Array:
        # A brute-force search works with inner products and loses digits far from the origin.
        return self.X if self._tree else self.X - self.X.mean(axis=0)

    def _closest(self, rows: Index, found: Index, k: int) -> tuple[Index, Array]:
        """Of the candidates found, the k closest in stable order, and the k-th squared length."""
        found = np.sort(found, axis=1)
        length = self.sqdist(rows[:, None], found)
        length[found == rows[:, None]] = np.inf
        order = np.argsort(length, axis=1, kind="stable")[:, :k]
        kth = np.take_along_axis(length, order[:, -1:], axis=1)[:, 0]
        return np.take_along_axis(found, order, axis=1), kth

    def _error(self, rows: Index, sqdist: Array) -> Array:
        """Bound on the rounding error of squared distances that the search returned."""
        if self._tree:
            size = sqdist
        else:
            norm = np.linalg.norm(self._coords[rows], axis=1)
            size = np.square(norm) + np.square(norm + np.sqrt(sqdist))
        return np.asarray(8.0 * (self.X.shape[1] + 8) * np.finfo(float).eps * size)


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

    def nearest(self, k: int) -> Index:
        """See `Space.nearest`."""
        step = max(1, BLOCK // self.n)
        blocks = np.split(np.arange(self.n), np.arange(step, self.n, step))
        return np.concatenate([self._closest(rows, k) for rows in blocks])

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """See `Space.nearest_between`."""
        return np.asarray(self.matrix[np.ix_(sources, targets)].argmin(axis=1))

    def pairs_within(self, radius: float) -> Index:
        """See `Space.pairs_within`."""
        return np.argwhere(np.triu(np.sqrt(self.matrix) <= radius, 1))

    def representatives(self) -> Index:
        """See `Space.representatives`. Equal means at distance zero."""
        _, labels = connected_components(csr_array(self.matrix == 0.0), directed=False)
        _, first = np.unique(labels, return_index=True)
        same = first[labels]
        error = np.abs(np.sqrt(self.matrix) - np.sqrt(self.matrix[same])).max(axis=1)
        wrong = np.flatnonzero(error > validate.ROUNDING * np.sqrt(self.matrix.max()))
        if wrong.size:
            i = wrong[0]
            raise DataError(
                f"the precomputed distances contradict themselves: points {same[i]} and {i} are "
                f"at distance 0 but differ by {error[i]:.3g} in their distance to another point. "
                "Give distinct points a positive distance."
            )
        return np.asarray(same, dtype=np.int64)

    def take(self, nodes: Index) -> Precomputed:
        """See `Space.take`."""
        return Precomputed(self.matrix[np.ix_(nodes, nodes)])

    def _closest(self, rows: Index, k: int) -> Index:
        block = self.matrix[rows]
        block[np.arange(len(rows)), rows] = np.inf
        # All entries up to the k-th smallest, ties included, then a stable sort of those alone.
        kth = np.partition(block, k - 1, axis=1)[:, k - 1]
        row, column = np.nonzero(block <= kth[:, None])
        order = np.lexsort((block[row, column], row))
        start = np.searchsorted(row, np.arange(len(rows)))
        return np.asarray(column[order[start[:, None] + np.arange(k)]])


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
        See `sdpdr.graphs.validate`.
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
