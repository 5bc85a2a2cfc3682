"""What the arrays of a graph must be, and what is said where they are not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import LARGEST, SMALLEST, Array, Index, is_admissible
from sdpdr.base.errors import DataError, ShapeError


def fixed(array: np.ndarray) -> np.ndarray:
    """A copy that cannot be written to."""
    array = array.copy()
    array.flags.writeable = False
    return array


def checked_edges(n: int, edges: ArrayLike) -> Index:
    """Pairs (i, j) of n nodes, i < j, sorted and distinct."""
    array = validate.pairs("edges", edges)
    i, j = array.T
    _refuse((array < 0).any(axis=1) | (array >= n).any(axis=1), array, f"leaves 0 to {n - 1}")
    _refuse(i == j, array, "is a loop: an edge joins two different nodes")
    ahead = (i[1:] > i[:-1]) | ((i[1:] == i[:-1]) & (j[1:] > j[:-1]))
    _refuse(
        (i > j) | ~np.append(True, ahead),
        array,
        "is not in its place: edges must be (i, j) with i < j, sorted and distinct. "
        "graphs.from_edges does that for you",
    )
    return array


def _refuse(wrong: ArrayLike, edges: np.ndarray, fault: str) -> None:
    if np.any(wrong):
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(f"edge {row}, ({edges[row, 0]}, {edges[row, 1]}), {fault}.")


def checked_sqdist(sqdist: ArrayLike, m: int) -> Array:
    """SQUARED lengths of m edges, positive and finite."""
    array = np.asarray(sqdist, dtype=float)
    if array.shape != (m,):
        raise ShapeError(f"sqdist has shape {array.shape} but there are {m} edges: pass one each.")
    wrong = np.flatnonzero(~((array > 0) & is_admissible(array)))
    if wrong.size:
        raise DataError(
            f"edge {wrong[0]} has squared length {array[wrong[0]]}; it must be positive and "
            f"finite, from {SMALLEST:g} to {LARGEST:g}. Merge points that coincide, and rescale "
            "data whose squares are beyond."
        )
    return array


def checked_counts(n: int, counts: np.ndarray) -> np.ndarray:
    """How much each of n nodes counts, whole numbers or floats."""
    if counts.shape != (n,):
        raise ShapeError(f"counts has shape {counts.shape} but there are {n} nodes: pass one each.")
    if counts.dtype.kind not in "iuf" or not (np.isfinite(counts) & (counts > 0)).all():
        raise DataError("counts must be positive numbers: each node is some point.")
    return counts.astype(float if counts.dtype.kind == "f" else np.int64)


def checked_index(n: int, index: np.ndarray) -> Index:
    """The node of each original point, one of n or -1."""
    whole = index.ndim == 1 and index.dtype.kind in "iu"
    if not whole or index.min() < -1 or index.max() >= n:
        raise DataError(
            f"index must hold, for each original point, its node from 0 to {n - 1}, or -1 where "
            "the point was dropped."
        )
    return index.astype(np.int64)
