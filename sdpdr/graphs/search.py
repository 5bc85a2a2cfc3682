"""Exact nearest neighbours, with one rule for ties.

A space proposes candidates; for points, scikit-learn finds them. Their lengths are recomputed as
sums of squared differences and sorted, and the search is repeated with more candidates if a tie or
rounding may have hidden a neighbour. Consecutive lengths that differ by at most a tolerance are
equal, and among equals the smaller index comes first. The tolerance is the distance at which two
points are the same. So the table does not depend on the algorithm, on threads, or on how points are
moved, rotated and stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.progress import Count

if TYPE_CHECKING:
    from sdpdr.graphs.space import Space

# Numbers held at once in a block of pairwise work: 32 MB.
BLOCK = 1 << 22


def nearest_table(
    space: Space,
    sources: Index,
    targets: Index,
    k: int,
    *,
    others: bool = False,
    count: Count | None = None,
) -> Index:
    """Table (s, k) of the nearest targets of each source; ``others`` leaves out the source.

    Then the source stands for itself where too few lengths are known.
    """
    search = space.search(targets)
    table = np.empty((len(sources), k), dtype=np.intp)
    # One candidate more for the source itself, and one more to see whether the k-th is tied.
    waiting = [(np.arange(len(sources)), k + 1 + others, count)]
    while waiting:
        rows, width, counter = waiting.pop()
        width = min(width, len(targets))
        for part in blocks(rows, max(1, BLOCK // (8 * width)), counter):
            here = sources[part]
            found, outside = search(here, width)
            candidates = targets[np.sort(found, axis=1)]
            table[part], longest = _closest(space, here, candidates, k, others)
            if width < len(targets):
                hidden = at_most(outside, longest, space.tolerance) & np.isfinite(outside)
                waiting.append((part[hidden], 2 * width, None))
    return table


def _closest(
    space: Space, here: Index, candidates: Index, k: int, others: bool
) -> tuple[Index, Array]:
    """The k closest candidates, and the longest squared length that is equal to the k-th."""
    length = space.sqdist_or_inf(here[:, None], candidates)
    if others:
        length[candidates == here[:, None]] = np.inf
    order, group = ranked(length, space.tolerance)
    length = np.take_along_axis(length, order, axis=1)
    equal = group == group[:, k - 1 : k]
    longest = length.max(axis=1, where=equal, initial=0.0)
    nearest = np.take_along_axis(candidates, order[:, :k], axis=1)
    if others:
        nearest = np.where(np.isinf(length[:, :k]), here[:, None], nearest)
    return nearest, longest


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


def blocks(rows: Index, step: int, count: Count | None = None) -> Iterator[Index]:
    """Yield pieces of at most ``step`` rows, and call ``count`` with the rows of each when done."""
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        yield part
        if count is not None:
            count(len(part))
