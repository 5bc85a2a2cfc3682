"""Distances that are known, in any of the forms in which they come, and anchors in either."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, own_rows
from sdpdr.base.distances import ROUNDING
from sdpdr.base.errors import DataError, DataTypeError, ShapeError, SquaredDistancesWarning
from sdpdr.base.estimators import as_numbers
from sdpdr.base.rows import numbered
from sdpdr.graphs import NeighborGraph, complete, from_edges


def known_distances(D: Any, *, squared: bool = False, anchors: Any = None) -> NeighborGraph:
    """Graph of all distances that are known, in any of the forms of `DistanceCompletion.fit`.

    An anchor of which none is given has one to another anchor, from their coordinates.

    Raises
    ------
    DataError, DataTypeError, ShapeError
        The distances cannot be used.

    Examples
    --------
    >>> known_distances([[0, 1, 3.0], [2, 1, 1.0], [3, 0, 2.0], [3, 1, 2.0]]).edges.tolist()
    [[0, 1], [0, 3], [1, 2], [1, 3]]
    """
    if sp.issparse(D):
        entries = sp.coo_array(own_rows(D))
        if entries.shape[0] != entries.shape[1]:
            raise ShapeError(f"distances must be a square matrix; their shape is {entries.shape}.")
        apart = entries.row != entries.col
        own = entries.row[~apart & (entries.data != 0.0)]
        if own.size:
            raise DataError(
                f"points {numbered(np.unique(own))} have a distance to themselves that is "
                "not zero. Pass distances, not similarities."
            )
        pairs = np.column_stack([entries.row, entries.col])[apart]
        return _listed(entries.shape[0], pairs, entries.data[apart], squared, anchors)
    try:
        array = as_numbers("distances", D)
    except DataError as error:
        raise DataTypeError(
            "the distances are not all numbers; nan stands for those that are not known, and "
            f"columns of names have to be dropped (or read as index: index_col=0). {error}"
        ) from None
    if array.ndim == 2 and array.shape[1] == 3 and not (len(array) == 3 and _hollow(array)):
        ends, whole = array[:, :2], np.rint(np.nan_to_num(array[:, :2])).astype(np.int64)
        if (ends != whole).any() or (whole < 0).any():
            raise DataError(
                "rows of three columns are triples (i, j, distance), but not all of the first two "
                "columns are numbers of points, 0 and up. Pass a square matrix of distances, or "
                "such triples."
            )
        count = int(whole.max(initial=-1)) + 1
        known, _ = lone_anchors(np.unique(whole), in_rows(anchors, count), count)
        if whole.size and whole.min() == 1 and 0 not in known:
            raise DataError(
                f"points of triples (i, j, distance) are counted from 0, and these run from 1 to "
                f"{whole.max()}: of {whole.max() + 1} points no distance is known of point 0. If "
                "they are counted from 1, subtract 1 from the first two columns."
            )
        return _listed(count, whole, array[:, 2], squared, anchors)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        # scikit-learn's words, which other libraries look for.
        none = array.ndim == 2 and not array.shape[1]
        found = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required; "
        raise ShapeError(
            f"{found if none else ''}distances must be a square matrix or triples (i, j, "
            f"distance); their shape is {array.shape}."
        )
    if np.any((array > 0.0) & (np.square(array) == 0.0)):
        raise DataError("some distances have squares too small for a number. Take another unit.")
    n, apart = len(array), np.isfinite(array) & ~np.eye(len(array), dtype=bool)
    pairs, lengths = lone_anchors(np.flatnonzero((apart | apart.T).any(0)), in_rows(anchors, n), n)
    if lengths.size:
        array = array.copy()
        array[tuple(pairs.T)] = np.square(lengths) if squared else lengths
    with warnings.catch_warnings():
        # Noisy distances break the triangle inequality, squared or not.
        warnings.simplefilter("ignore", SquaredDistancesWarning)
        return complete(array, metric="precomputed", squared=squared)


def _listed(
    n: int, pairs: Index, lengths: Array, squared: bool, anchors: Any = None
) -> NeighborGraph:
    """Graph of pairs and their lengths, those that are not known left out."""
    known = np.isfinite(lengths)
    pairs, lengths = pairs[known], np.asarray(lengths, dtype=float)[known]
    wrong = np.flatnonzero(lengths <= 0.0)
    if wrong.size:
        raise DataError(
            f"the distance of points {numbered(pairs[wrong[0]])} is "
            f"{lengths[wrong[0]]:g}; it must be positive. Points that coincide are to be one, and "
            "what is not known is to be left out, or nan."
        )
    _refuse_loops_and_twins(pairs, lengths)
    more, apart = lone_anchors(np.unique(pairs), in_rows(anchors, n), n)
    pairs = np.vstack([pairs, more])
    lengths = np.append(lengths, np.square(apart) if squared else apart)
    lost = np.setdiff1d(np.arange(n), pairs)
    if lost.size or not n:
        raise DataError(
            f"no distance is known of {lost.size} of {n} points: {numbered(lost)}. Leave "
            "these points out, or give one distance of each."
        )
    return from_edges(n, pairs, lengths if squared else np.square(lengths))


def _refuse_loops_and_twins(pairs: Index, lengths: Array) -> None:
    """Refuse distances of a point to itself, and two that differ of one pair."""
    own = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if own.size:
        point, length = pairs[own[0], 0], lengths[own[0]]
        raise DataError(
            f"point {numbered(point)} has the distance {length:g} to itself. Leave that triple out."
        )
    _, which = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    apart = np.abs(np.diff(lengths[order])) > ROUNDING * lengths[order][1:]
    twice = np.flatnonzero((np.diff(which.ravel()[order]) == 0) & apart)
    if twice.size:
        a, b = order[twice[0]], order[twice[0] + 1]
        raise DataError(
            f"points {numbered(pairs[a])} have two distances, {lengths[a]:g} and {lengths[b]:g}. "
            "Keep one of them, or their mean."
        )


def _hollow(square: Array) -> bool:
    return not np.nan_to_num(np.diag(square)).any()


def in_rows(y: Any, n: int) -> Any:
    """Anchors as rows of coordinates, nan where there are none."""
    if not isinstance(y, tuple):
        return y
    if len(y) != 2:
        raise ShapeError(f"anchors are a tuple (indices, positions); this one has {len(y)} parts.")
    nodes = validate.numbers("anchors", y[0], n, "numbers of points")
    positions = np.asarray(y[1], dtype=float)
    positions = positions[:, None] if positions.ndim == 1 else positions
    if positions.ndim != 2 or len(positions) != nodes.size or not np.isfinite(positions).all():
        raise ShapeError(
            f"{nodes.size} anchors need positions of shape ({nodes.size}, r), all finite; these "
            f"have shape {positions.shape}."
        )
    twice = np.flatnonzero(np.bincount(nodes, minlength=n) > 1)
    if twice.size:
        raise DataError(
            f"points {numbered(twice)} are anchors more than once. Give each one position."
        )
    rows = np.full((n, positions.shape[1]), np.nan)
    rows[nodes] = positions
    return rows


def lone_anchors(seen: Index, rows: Any, n: int) -> tuple[Index, Array]:
    """A pair for each anchor without distances, and its length: with the anchor furthest from it.

    Lengths between anchors are constants of every program, so these change none.

    Parameters
    ----------
    seen : array of int
        Points of which some distance is given.
    rows : array_like of shape (n, r), or None
        Coordinates, nan where they are not known.
    n : int

    Returns
    -------
    pairs : array of int, shape (k, 2)
    lengths : array of shape (k,)

    Examples
    --------
    >>> pairs, lengths = lone_anchors([0, 1], [[0.0], [np.nan], [3.0]], 3)
    >>> pairs.tolist(), lengths.tolist()
    ([[2, 0]], [3.0])
    """
    places = np.zeros((0, 1)) if rows is None else np.asarray(rows, dtype=float)
    places = places[:, None] if places.ndim == 1 else places
    if len(places) != n:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    anchors = np.flatnonzero(~np.isnan(places).any(axis=1))
    alone = np.setdiff1d(anchors, seen)
    apart = np.linalg.norm(places[alone, None] - places[None, anchors], axis=2)
    furthest = np.argmax(apart, axis=1) if apart.size else np.zeros(0, dtype=np.int64)
    lengths = apart[np.arange(alone.size), furthest]
    kept = lengths > 0.0
    return np.column_stack([alone, anchors[furthest]])[kept], lengths[kept]
