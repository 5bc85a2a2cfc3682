"""Points given by their distances, some of which may be unknown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sdpdr.base.arrays import ROUNDING, Array, Index
from sdpdr.base.distances import completing
from sdpdr.base.errors import DataError, DisconnectedGraphError
from sdpdr.base.rows import listed, numbered
from sdpdr.graphs.blocks import BLOCK, blocks
from sdpdr.graphs.space import UNITS, Search, Space
from sdpdr.graphs.ties import at_most
from sdpdr.linalg.walks import connected_components, members


@dataclass(frozen=True, eq=False)
class Precomputed(Space):
    """Points given by a symmetric matrix of SQUARED distances, infinite where one is unknown.

    Distances of equal points may differ by ``rounding``, relative to the longest.
    """

    matrix: Array
    rounding: float = ROUNDING

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.matrix)

    @cached_property
    def tolerance(self) -> float:  # type: ignore[override]  # a number there, found when needed
        """See `Space`."""
        longest = self.matrix[np.isfinite(self.matrix)].max()
        return float(UNITS * np.finfo(float).eps * np.sqrt(longest))

    def sqdist(self, first: Index, second: Index) -> Array:
        """See `Space`."""
        found = self.sqdist_or_inf(first, second)
        wrong = np.argwhere(np.isinf(found))
        if wrong.size:
            place = tuple(wrong[0])
            ends = [int(np.broadcast_to(end, found.shape)[place]) for end in (first, second)]
            raise DataError(
                f"the distance of points {numbered(ends)} is needed here, but it is not "
                f"known (NaN or inf in the precomputed distances). {completing()}"
            )
        return found

    def sqdist_or_inf(self, i: Index, j: Index) -> Array:
        """See `Space`."""
        return np.asarray(self.matrix[i, j])

    def sqdist_to_all(self) -> Array:
        """See `Space`; all must be known."""
        everyone = np.arange(self.n)
        return self.sqdist(everyone[:, None], everyone)

    def search(self, targets: Index) -> Search:
        """See `Space`."""

        def nearest(sources: Index, width: int) -> tuple[Index, Array]:
            found, reach = np.empty((len(sources), width), dtype=np.intp), np.empty(len(sources))
            for part in blocks(np.arange(len(sources)), max(1, BLOCK // len(targets))):
                between = self.matrix[np.ix_(sources[part], targets)]
                found[part] = np.argpartition(between, width - 1, axis=1)[:, :width]
                reach[part] = np.take_along_axis(between, found[part], axis=1).max(axis=1)
            return found, reach

        return nearest

    @property
    def fewest(self) -> int:
        """Smallest number of known distances from a point to others."""
        return int(np.isfinite(self.matrix).sum(axis=1).min()) - 1

    def require_joined(self) -> None:
        """Raise a `DisconnectedGraphError` if known distances do not connect all points."""
        _, labels = connected_components(csr_array(np.isfinite(self.matrix)))
        if labels.max() == 0:
            return
        parts = sorted(members(labels), key=len, reverse=True)
        sizes = listed([len(part) for part in parts])
        raise DisconnectedGraphError(
            f"the known distances form {len(parts)} disconnected components of {sizes} points; "
            "the smallest has the points "
            f"{numbered(np.sort(parts[-1]))}. Give distances between the components (more "
            "neighbours, if they are a graph of neighbours), or connect='largest' to keep the "
            "largest.",
            parts,
        )

    def furthest(self) -> Index:
        """See `Space`."""
        known = np.where(np.isinf(self.matrix), 0.0, self.matrix)
        return at_most(known.max(axis=1, keepdims=True), known, self.tolerance).argmax(axis=1)

    def pairs_within(self, radius: float) -> Index:
        """See `Space`."""
        return np.argwhere(np.triu(np.sqrt(self.matrix) <= radius + self.tolerance, 1))

    def representatives(self) -> Index:
        """See `Space`; points at distance zero must agree on all others."""
        zero = self.matrix <= self.tolerance**2
        _, labels = connected_components(csr_array(zero))
        _, first = np.unique(labels, return_index=True)
        same = first[labels]
        lengths = np.sqrt(np.where(np.isinf(self.matrix), np.nan, self.matrix))
        error = np.fmax.reduce(np.abs(lengths - lengths[same]), axis=1, initial=0.0)
        wrong = np.flatnonzero(error > self.rounding * np.nanmax(lengths))
        if wrong.size:
            group = np.flatnonzero(same == same[wrong[0]])
            i, j = (group[end] for end in np.nonzero(np.triu(zero[np.ix_(group, group)], 1)))
            apart = np.fmax.reduce(np.abs(lengths[i] - lengths[j]), axis=1, initial=0.0)
            worst = int(apart.argmax())
            raise DataError(
                f"the precomputed distances contradict themselves: points {numbered(i[worst])} "
                f"and {numbered(j[worst])} are at distance 0 but differ by {apart[worst]:.3g} in "
                "their distance to another point. Give distinct points a positive distance; where "
                "none is known, NaN rather than 0."
            )
        return np.asarray(same, dtype=np.intp)

    def take(self, nodes: Index) -> Precomputed:
        """See `Space`."""
        return Precomputed(self.matrix[np.ix_(nodes, nodes)], self.rounding)


def shared(matrix: Array) -> Array:
    """The matrix, with known distances shared among points at distance zero."""
    _, labels = connected_components(csr_array(matrix == 0.0))
    for part in np.flatnonzero(np.bincount(labels) > 1):
        same = np.flatnonzero(labels == part)
        known = np.where(np.isinf(matrix[same]), matrix[same].min(axis=0), matrix[same])
        matrix[same], matrix[:, same] = known, known.T
    return matrix
