"""`Space`: points with known distances, whatever these come from, and the search in them.

All lengths are SQUARED.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.graphs.blocks import BLOCK, blocks
from sdpdr.graphs.ties import at_most, ranked

# Copies of a row may differ by this many units in the last place of the largest entry of a column.
UNITS = 4.0

Search: TypeAlias = Callable[[Index, int], tuple[Index, Array]]


class Space(ABC):
    """Points with known distances; `sdpdr.graphs.data.make_space` makes one from data.

    ``tolerance`` is the PLAIN distance up to which two points are the same, and the difference up
    to which two lengths are equal.
    """

    tolerance: float

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of points."""

    @abstractmethod
    def sqdist(self, first: Index, second: Index) -> Array:
        """Squared lengths of pairs; a `DataError` if one is not known."""

    @abstractmethod
    def sqdist_to_all(self) -> Array:
        """Squared distances of all points to all; shape (n, n)."""

    @abstractmethod
    def search(self, targets: Index) -> Search:
        """Return a search among some points, given as rising indices.

        With sources (s,) and a width w, it returns positions (s, w) of the nearest targets, and for
        each source a bound below the squared lengths of all other targets.
        """

    @abstractmethod
    def furthest(self) -> Index:
        """The point furthest from each point; the first of those at equal distances."""

    @abstractmethod
    def pairs_within(self, radius: float) -> Index:
        """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""

    @abstractmethod
    def representatives(self) -> Index:
        """For each point the first point that equals it, shape (n,)."""

    @abstractmethod
    def take(self, nodes: Index) -> Space:
        """Restrict to some of the points, in the order given."""

    def nearest(self, k: int, rows: Index | None = None) -> Index:
        """Table of the k nearest other points of each row, by default of all, nearest first.

        A point is its own neighbour where fewer distances are known.
        """
        everyone = np.arange(self.n)
        return self._nearest(everyone if rows is None else rows, everyone, k, others=True)

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """The nearest target of each source; targets are ascending and contain no source."""
        return self._nearest(sources, targets, 1, others=False)[:, 0]

    def _nearest(self, sources: Index, targets: Index, k: int, *, others: bool) -> Index:
        """Table (s, k) of the nearest targets of each source; ``others`` leaves out the source.

        `search` proposes candidates. Their lengths are recomputed and sorted, and the search is
        repeated with more candidates if a tie or rounding may have hidden a neighbour.
        """
        search = self.search(targets)
        table = np.empty((len(sources), k), dtype=np.intp)
        # One candidate more for the source itself, and one more to see whether the k-th is tied.
        waiting = [(np.arange(len(sources)), k + 1 + others)]
        while waiting:
            rows, width = waiting.pop()
            width = min(width, len(targets))
            for part in blocks(rows, max(1, BLOCK // (8 * width))):
                here = sources[part]
                found, outside = search(here, width)
                candidates = targets[np.sort(found, axis=1)]
                table[part], longest = self._closest(here, candidates, k, others)
                if width < len(targets):
                    hidden = at_most(outside, longest, self.tolerance) & np.isfinite(outside)
                    waiting.append((part[hidden], 2 * width))
        return table

    def _closest(self, here: Index, candidates: Index, k: int, others: bool) -> tuple[Index, Array]:
        """The k closest candidates, and the longest squared length that is equal to the k-th."""
        length = self.sqdist_or_inf(here[:, None], candidates)
        if others:
            length[candidates == here[:, None]] = np.inf
        order, group = ranked(length, self.tolerance)
        length = np.take_along_axis(length, order, axis=1)
        equal = group == group[:, k - 1 : k]
        longest = length.max(axis=1, where=equal, initial=0.0)
        nearest = np.take_along_axis(candidates, order[:, :k], axis=1)
        if others:
            nearest = np.where(np.isinf(length[:, :k]), here[:, None], nearest)
        return nearest, longest

    def known(self, i: Index, j: Index) -> np.ndarray:
        """Whether distances are known."""
        return np.isfinite(self.sqdist_or_inf(i, j))

    def sqdist_or_inf(self, i: Index, j: Index) -> Array:
        """Squared lengths of pairs, infinite where they are not known."""
        return self.sqdist(i, j)

    @property
    def fewest(self) -> int:
        """Smallest number of known distances from a point to others."""
        return self.n - 1

    def require_joined(self) -> None:  # noqa: B027 - nothing to refuse where all are known
        """Refuse points that known distances do not connect."""

    def fresh(self) -> Space:
        """The same points without the arrays that searches cache."""
        return self
