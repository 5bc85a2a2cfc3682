"""Partly known distances as a graph: matrices, triples, names of points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import ROUNDING, Array, Index, own_rows
from sdpdr.base.distances import require_not_condensed, require_one_order, with_unknown
from sdpdr.base.errors import DataError, DataTypeError, ShapeError, SquaredDistancesWarning
from sdpdr.base.estimators import as_numbers, is_numeric
from sdpdr.base.rows import listed, numbered
from sdpdr.graphs import NeighborGraph, complete, from_edges


def named_distances(D: Any) -> tuple[NeighborGraph, np.ndarray]:
    """Graph of all distances that are known, in any form of `DistanceCompletion.fit`, and names.

    Names of points are those in triples, ascending, or those of the rows of a frame; else numbers.
    """
    if (triples := _worded_triples(D)) is not None:
        names, places = np.unique(triples.iloc[:, :2].to_numpy(dtype=str), return_inverse=True)
        lengths = _as_numbers(triples.iloc[:, 2])
        return _listed(places.reshape(-1, 2), lengths, names), names
    require_one_order(D)
    if validate.n_dimensions(D) == 1:
        require_not_condensed(D)
    graph = _of_sparse(D) if sp.issparse(D) else _of_array(_as_numbers(D))
    rows = getattr(D, "index", None)
    if isinstance(rows, pd.Index) and rows.dtype.kind == "O" and rows.size == graph.index.size:
        return graph, rows.to_numpy()
    return graph, np.arange(graph.index.size)


def _worded_triples(D: Any) -> pd.DataFrame | None:
    """Three columns, where the first two hold words."""
    if sp.issparse(D) or validate.n_dimensions(D) != 2:
        return None
    table = D if isinstance(D, pd.DataFrame) else None
    if table is None:
        try:
            table = pd.DataFrame(D if isinstance(D, list) else np.asarray(D))
        except ValueError:
            return None  # rows of several lengths, which others refuse with the reason
    if table.shape[1] != 3 or not any(_is_text(table.iloc[:, k]) for k in (0, 1)):
        return None
    gaps = np.flatnonzero(table.iloc[:, :2].isna().any(axis=1))
    if gaps.size:
        raise DataError(
            f"row {numbered(gaps[0])} of the triples names no pair of points. Leave it out."
        )
    return table


def _is_text(column: Any) -> bool:
    return any(isinstance(entry, str) for entry in column) and not is_numeric(column)


def _as_numbers(values: Any) -> Array:
    try:
        return as_numbers("distances", values)
    except DataError as error:
        raise DataTypeError(
            "the distances are not all numbers. Pass a square matrix with nan where a distance is "
            "not known, its names as index (index_col=0); or triples (i, j, distance) of numbers "
            f"or names of points. {error}"
        ) from None


def _of_sparse(D: Any) -> NeighborGraph:
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
    if not entries.data[apart].all():  # points at one place, which a dense matrix merges
        return _of_square(with_unknown(D))
    pairs = np.column_stack([entries.row, entries.col])[apart]
    return _listed(pairs, entries.data[apart], np.arange(entries.shape[0]))


def _of_array(array: Array) -> NeighborGraph:
    """Graph of a square matrix, or of triples of numbers."""
    hollow = array.ndim == 2 and len(array) == 3 and not np.nan_to_num(np.diag(array)).any()
    if array.ndim == 2 and array.shape[1] == 3 and not hollow:
        ends, whole = array[:, :2], np.rint(np.nan_to_num(array[:, :2])).astype(np.int64)
        if (ends != whole).any() or (whole < 0).any():
            raise DataError(
                "rows of three columns are triples (i, j, distance), but not all of the first two "
                "columns are numbers of points, 0 and up. Pass a square matrix of distances, or "
                "such triples."
            )
        points = np.arange(int(whole.max(initial=-1)) + 1)
        if whole.size and whole.min() == 1:
            raise DataError(
                f"points of triples (i, j, distance) are counted from 0, and these run from 1 to "
                f"{whole.max()}: of {whole.max() + 1} points no distance is known of point 0. If "
                "they are counted from 1, subtract 1 from the first two columns."
            )
        return _listed(whole, array[:, 2], points)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        # scikit-learn's words, which other libraries look for.
        none = array.ndim == 2 and not array.shape[1]
        found = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required; "
        raise ShapeError(
            f"{found if none else ''}distances must be a square matrix or triples (i, j, "
            f"distance); their shape is {array.shape}."
        )
    return _of_square(array)


def _of_square(array: Array) -> NeighborGraph:
    if np.any((array > 0.0) & (np.square(array) == 0.0)):
        raise DataError("some distances have squares too small for a number. Take another unit.")
    with warnings.catch_warnings():
        # Noisy distances break the triangle inequality.
        warnings.simplefilter("ignore", SquaredDistancesWarning)
        return complete(array, metric="precomputed")


def _listed(pairs: Index, lengths: Array, names: np.ndarray) -> NeighborGraph:
    """Graph of pairs and their lengths, those that are not known left out."""
    n, known = names.size, np.isfinite(lengths)
    pairs, lengths = pairs[known], np.asarray(lengths, dtype=float)[known]
    wrong = np.flatnonzero(lengths <= 0.0)
    if wrong.size:
        raise DataError(
            f"the distance of points {called(names, pairs[wrong[0]])} is "
            f"{lengths[wrong[0]]:g}; it must be positive. Points that coincide are to be one, and "
            "what is not known is to be left out, or nan."
        )
    own = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if own.size:
        raise DataError(
            f"point {called(names, pairs[own[0], :1])} has the distance {lengths[own[0]]:g} to "
            "itself. Leave that triple out."
        )
    _, which = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    apart = np.abs(np.diff(lengths[order])) > ROUNDING * lengths[order][1:]
    twice = np.flatnonzero((np.diff(which.ravel()[order]) == 0) & apart)
    if twice.size:
        a, b = order[twice[0]], order[twice[0] + 1]
        raise DataError(
            f"points {called(names, pairs[a])} have two distances, {lengths[a]:g} and "
            f"{lengths[b]:g}. Keep one of them, or their mean."
        )
    lost = np.setdiff1d(np.arange(n), pairs)
    if lost.size or not n:
        raise DataError(
            f"no distance is known of {lost.size} of {n} points: {called(names, lost)}. Leave "
            "these points out, or give one distance of each."
        )
    return from_edges(n, pairs, np.square(lengths))


def called(names: np.ndarray, points: Index) -> str:
    """Points in words: by their names, or by their numbers as the caller counts them."""
    return numbered(points) if names.dtype.kind in "iu" else listed(names[points])


def in_rows(y: Any, names: np.ndarray) -> Any:
    """Anchors as rows of coordinates, nan where there are none."""
    if not isinstance(y, tuple):
        return y
    if len(y) != 2:
        raise ShapeError(f"anchors are a tuple (indices, positions); this one has {len(y)} parts.")
    n = names.size
    nodes = validate.numbers("anchors", _places(y[0], names), n, "numbers of points")
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
            f"points {called(names, twice)} are anchors more than once. Give each one position."
        )
    rows = np.full((n, positions.shape[1]), np.nan)
    rows[nodes] = positions
    return rows


def _places(anchors: Any, names: np.ndarray) -> Any:
    """Numbers of points that are named by words; anything else as it is."""
    words = np.atleast_1d(np.asarray(anchors))
    if names.dtype.kind in "iu" or words.dtype.kind not in "UO":
        return anchors
    found = pd.Index(names).get_indexer(pd.Index(words))
    if np.any(found < 0):
        raise DataError(
            f"anchor {words[np.argmin(found)]} is none of the {names.size} points that distances "
            f"are given of: {listed(names)}."
        )
    return found
