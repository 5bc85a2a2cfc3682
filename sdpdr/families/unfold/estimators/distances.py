"""What is passed as distances of which some are known: matrices, triples, names of points."""

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


def named_distances(
    D: Any, *, squared: bool = False, anchors: Any = None
) -> tuple[NeighborGraph, np.ndarray]:
    """Graph of all distances that are known, and what its points are called.

    Parameters
    ----------
    D : array_like, sparse array or data frame
        In any of the forms of `DistanceCompletion.fit`.
    squared : bool, default False
    anchors : array_like or tuple, optional
        As ``y`` of `DistanceCompletion.fit`; one of which no distance is given has one to another
        anchor, from their coordinates.

    Returns
    -------
    graph : NeighborGraph
    names : array of shape (n,)
        Words of triples, ascending, or those of the rows of a frame; numbers elsewhere.

    Raises
    ------
    DataError, DataTypeError, ShapeError
        The distances cannot be used.

    Examples
    --------
    >>> graph, names = named_distances([["Ulm", "Bonn", 340.0], ["Ulm", "Kiel", 640.0]])
    >>> names.tolist(), graph.edges.tolist()
    (['Bonn', 'Kiel', 'Ulm'], [[0, 2], [1, 2]])
    """
    if (triples := _worded_triples(D)) is not None:
        ends = triples.iloc[:, :2].to_numpy(dtype=str)
        names, places = np.unique(ends, return_inverse=True)
        lengths = _as_numbers(triples.iloc[:, 2])
        return _listed(places.reshape(-1, 2), lengths, squared, names, anchors), names
    require_one_order(D)
    graph = known_distances(D, squared=squared, anchors=anchors)
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
            return None  # Rows of several lengths; others refuse them, and say why.
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
    """An array of doubles.

    Raises
    ------
    DataTypeError
    """
    try:
        return as_numbers("distances", values)
    except DataError as error:
        raise DataTypeError(
            "the distances are not all numbers. Pass a square matrix with nan where a distance is "
            "not known, its names as index (index_col=0); or triples (i, j, distance) of numbers "
            f"or names of points. {error}"
        ) from None


def known_distances(D: Any, *, squared: bool = False, anchors: Any = None) -> NeighborGraph:
    """Graph of all distances that are known, in any of the forms of `DistanceCompletion.fit`.

    Raises
    ------
    DataError, DataTypeError, ShapeError
        The distances cannot be used.

    Examples
    --------
    >>> known_distances([[0, 1, 3.0], [2, 1, 1.0], [3, 0, 2.0], [3, 1, 2.0]]).edges.tolist()
    [[0, 1], [0, 3], [1, 2], [1, 3]]
    """
    if validate.n_dimensions(D) == 1:
        require_not_condensed(D)
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
        if not entries.data[apart].all():  # points at one place, which a dense matrix merges
            return known_distances(with_unknown(D), squared=squared, anchors=anchors)
        pairs = np.column_stack([entries.row, entries.col])[apart]
        points = np.arange(entries.shape[0])
        return _listed(pairs, entries.data[apart], squared, points, anchors)
    array = _as_numbers(D)
    if array.ndim == 2 and array.shape[1] == 3 and not (len(array) == 3 and _hollow(array)):
        ends, whole = array[:, :2], np.rint(np.nan_to_num(array[:, :2])).astype(np.int64)
        if (ends != whole).any() or (whole < 0).any():
            raise DataError(
                "rows of three columns are triples (i, j, distance), but not all of the first two "
                "columns are numbers of points, 0 and up. Pass a square matrix of distances, or "
                "such triples."
            )
        points = np.arange(int(whole.max(initial=-1)) + 1)
        known, _ = _lone_anchors(np.unique(whole), anchors, points)
        if whole.size and whole.min() == 1 and 0 not in known:
            raise DataError(
                f"points of triples (i, j, distance) are counted from 0, and these run from 1 to "
                f"{whole.max()}: of {whole.max() + 1} points no distance is known of point 0. If "
                "they are counted from 1, subtract 1 from the first two columns."
            )
        return _listed(whole, array[:, 2], squared, points, anchors)
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
    points, apart = np.arange(len(array)), np.isfinite(array) & ~np.eye(len(array), dtype=bool)
    pairs, lengths = _lone_anchors(np.flatnonzero((apart | apart.T).any(0)), anchors, points)
    if lengths.size:
        array = array.copy()
        array[tuple(pairs.T)] = np.square(lengths) if squared else lengths
    with warnings.catch_warnings():
        # Noisy distances break the triangle inequality, squared or not.
        warnings.simplefilter("ignore", SquaredDistancesWarning)
        return complete(array, metric="precomputed", squared=squared)


def _listed(
    pairs: Index, lengths: Array, squared: bool, names: np.ndarray, anchors: Any = None
) -> NeighborGraph:
    """Graph of pairs and their lengths, those that are not known left out."""
    n = names.size
    known = np.isfinite(lengths)
    pairs, lengths = pairs[known], np.asarray(lengths, dtype=float)[known]
    wrong = np.flatnonzero(lengths <= 0.0)
    if wrong.size:
        raise DataError(
            f"the distance of points {called(names, pairs[wrong[0]])} is "
            f"{lengths[wrong[0]]:g}; it must be positive. Points that coincide are to be one, and "
            "what is not known is to be left out, or nan."
        )
    _refuse_loops_and_twins(pairs, lengths, names)
    more, apart = _lone_anchors(np.unique(pairs), anchors, names)
    pairs = np.vstack([pairs, more])
    lengths = np.append(lengths, np.square(apart) if squared else apart)
    lost = np.setdiff1d(np.arange(n), pairs)
    if lost.size or not n:
        raise DataError(
            f"no distance is known of {lost.size} of {n} points: {called(names, lost)}. Leave "
            "these points out, or give one distance of each."
        )
    return from_edges(n, pairs, lengths if squared else np.square(lengths))


def _refuse_loops_and_twins(pairs: Index, lengths: Array, names: np.ndarray) -> None:
    """Refuse distances of a point to itself, and two that differ of one pair."""
    own = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if own.size:
        length = lengths[own[0]]
        raise DataError(
            f"point {called(names, pairs[own[0], :1])} has the distance {length:g} to itself. "
            "Leave that triple out."
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


def called(names: np.ndarray, points: Index) -> str:
    """Points in words: by their names, or by the numbers that whoever passed them counts with."""
    return numbered(points) if names.dtype.kind in "iu" else listed(names[points])


def _hollow(square: Array) -> bool:
    return not np.nan_to_num(np.diag(square)).any()


def in_rows(y: Any, names: np.ndarray) -> Any:
    """Anchors as rows of coordinates, nan where there are none.

    Raises
    ------
    DataError, ShapeError
    """
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
    """Numbers of points that are named by words; what is no word as it is."""
    asked = np.atleast_1d(np.asarray(anchors))
    if names.dtype.kind in "iu" or asked.dtype.kind not in "UO":
        return anchors
    found = pd.Index(names).get_indexer(pd.Index(asked))
    if np.any(found < 0):
        raise DataError(
            f"anchor {asked[np.argmin(found)]} is none of the {names.size} points that distances "
            f"are given of: {listed(names)}."
        )
    return found


def _lone_anchors(seen: Index, given: Any, names: np.ndarray) -> tuple[Index, Array]:
    """A pair for each anchor without distances, and its length: with the anchor furthest from it.

    Lengths between anchors are constants of every program, so these change none.
    """
    rows, n = in_rows(given, names), names.size
    places = np.zeros((0, 1)) if rows is None else as_numbers("y", rows)
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
