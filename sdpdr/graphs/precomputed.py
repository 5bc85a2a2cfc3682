"""Points of which nothing but distances is known, and of those perhaps some only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sdpdr.base.arrays import ROUNDING, Array, Index
from sdpdr.base.errors import DataError, DisconnectedGraphError
from sdpdr.base.progress import Count
from sdpdr.base.rows import listed, numbered
from sdpdr.graphs.search import BLOCK, UNITS, at_most, blocks, first_of
from sdpdr.linalg.walks import connected_components, members


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Points known only by a matrix of squared distances, all of them or some.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric, SQUARED, zero on the diagonal; infinite where a distance is not known.
    rounding : float
        Relative to the longest: by how much distances of points at one place may differ.
    """

    matrix: Array
    rounding: float = ROUNDING

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.matrix)

    @cached_property
    def tolerance(self) -> float:
        """See `Located`."""
        longest = self.matrix[np.isfinite(self.matrix)].max()
        return float(UNITS * np.finfo(float).eps * np.sqrt(longest))

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
                f"the distance of points {numbered(ends)} is needed here, but it is not "
                "known (NaN or inf in the precomputed distances). Complete the distances first, "
                "with sdpdr.DistanceCompletion().fit(D).distances_."
            )
        return found

    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """See `Euclidean.sqdist_to_all`; entries must be known."""
        everyone = np.arange(self.n)
        return self.sqdist((everyone if rows is None else rows)[:, None], everyone)

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
        parts = sorted(members(labels), key=len, reverse=True)
        sizes = listed([len(part) for part in parts])
        raise DisconnectedGraphError(
            f"the known distances fall into {len(parts)} parts of {sizes} points, which no "
            "distance joins; the smallest has the points "
            f"{numbered(np.sort(parts[-1]))}. Give distances between the parts (more neighbours, "
            "if they are a graph of neighbours), or connect='largest' to keep the largest.",
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
        found += [self._closest(part, k) for part in blocks(rows, max(1, BLOCK // self.n), count)]
        return np.concatenate(found)

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """See `Euclidean.nearest_between`."""
        nearest = []
        for part in blocks(sources, max(1, BLOCK // len(targets))):
            between = self.matrix[np.ix_(part, targets)]
            nearest.append(first_of(between, 1, self.tolerance)[:, 0])
        return np.asarray(targets[np.concatenate(nearest)])

    def furthest(self, count: Count | None = None) -> Index:
        """See `Euclidean.furthest`."""
        known = np.where(np.isinf(self.matrix), 0.0, self.matrix)
        return at_most(known.max(axis=1, keepdims=True), known, self.tolerance).argmax(axis=1)

    def pairs_within(self, radius: float) -> Index:
        """See `Euclidean.pairs_within`."""
        return np.argwhere(np.triu(np.sqrt(self.matrix) <= radius + self.tolerance, 1))

    def representatives(self) -> Index:
        """See `Euclidean.representatives`. Equal means at distance zero, to rounding."""
        _, labels = connected_components(csr_array(self._same))
        _, first = np.unique(labels, return_index=True)
        same = first[labels]
        lengths = np.sqrt(np.where(np.isinf(self.matrix), np.nan, self.matrix))
        error = _largest_difference(lengths, lengths[same])
        wrong = np.flatnonzero(error > self.rounding * np.nanmax(lengths))
        if wrong.size:
            i, j, apart = self._torn(np.flatnonzero(same == same[wrong[0]]))
            raise DataError(
                f"the precomputed distances contradict themselves: points {numbered(i)} "
                f"and {numbered(j)} are at distance 0 but differ by {apart:.3g} in their "
                "distance to another point. Give distinct points a positive distance; where none "
                "is known, NaN rather than 0."
            )
        return np.asarray(same, dtype=np.int64)

    @property
    def _same(self) -> np.ndarray:
        return np.asarray(self.matrix <= self.tolerance**2)

    def _torn(self, nodes: Index) -> tuple[int, int, float]:
        """Of points joined by distances of zero, the two at zero that differ most from others."""
        a, b = np.nonzero(np.triu(self._same[np.ix_(nodes, nodes)], 1))
        lengths = np.sqrt(np.where(np.isinf(self.matrix[nodes]), np.nan, self.matrix[nodes]))
        apart = _largest_difference(lengths[a], lengths[b])
        worst = int(np.argmax(apart))
        return int(nodes[a[worst]]), int(nodes[b[worst]]), float(apart[worst])

    def take(self, nodes: Index) -> Precomputed:
        """See `Euclidean.take`."""
        return Precomputed(self.matrix[np.ix_(nodes, nodes)], self.rounding)

    def fresh(self) -> Precomputed:
        """See `Euclidean.fresh`."""
        return self

    def _closest(self, rows: Index, k: int) -> Index:
        block = self.matrix[rows]
        block[np.arange(len(rows)), rows] = np.inf
        table = first_of(block, k, self.tolerance)
        unknown = np.isinf(np.take_along_axis(block, table, axis=1))
        return np.asarray(np.where(unknown, rows[:, None], table))


def _largest_difference(a: Array, b: Array) -> Array:
    """Of rows, where neither is NaN."""
    return np.asarray(np.fmax.reduce(np.abs(a - b), axis=1, initial=0.0))


def shared(matrix: Array) -> Array:
    """Distances known of one of several points at distance zero are known of all."""
    _, labels = connected_components(csr_array(matrix == 0.0))
    for part in np.flatnonzero(np.bincount(labels) > 1):
        same = np.flatnonzero(labels == part)
        known = np.where(np.isinf(matrix[same]), matrix[same].min(axis=0), matrix[same])
        matrix[same], matrix[:, same] = known, known.T
    return matrix
