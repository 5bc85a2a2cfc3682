"""The rule for ties.

Consecutive lengths that differ by at most a tolerance are equal, and among equals the smaller index
comes first. The tolerance is the distance at which two points are the same. So neighbours do not
depend on the algorithm, on threads, or on how points are moved, rotated and stored.
"""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array, Index


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
