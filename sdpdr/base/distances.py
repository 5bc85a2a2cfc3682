"""Precomputed distances: what may be passed, and whether they look squared, not only rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import ROUNDING, Array, seem_distances
from sdpdr.base.errors import DataError, SeemingDistancesWarning, SquaredDistancesWarning, warn
from sdpdr.base.rows import numbered

# Relative to a length: by how much one of three digits, with two others of three digits, may break
# the triangle inequality. Squares break it by as much as they are long.
_DIGITS = 0.015
# Decimal places of lengths that were rounded.
_PLACES = 7


def squared_distances(D: ArrayLike, *, squared: bool, at_least: int = 3) -> Array:
    """Matrix of SQUARED distances of shape (n, n) from precomputed distances.

    What is not known is infinite in the result, so that no search finds it.

    Parameters
    ----------
    D : array_like of shape (n, n)
        Symmetric, non-negative, zero on the diagonal (up to rounding, which is removed). NaN and
        inf stand for distances that are not known; one of D[i, j] and D[j, i] is enough.
    squared : bool
        Whether the entries are squared distances already.
    at_least : int, default 3
        Fewest points allowed.

    Raises
    ------
    DataError
        D is not such a matrix, or no distance of a point is known; the message names the first
        entry at fault. Or D is a frame whose columns are called as its rows, in another order.

    Warns
    -----
    SquaredDistancesWarning
        Plain distances break the triangle inequality, as squared ones do.

    Examples
    --------
    >>> squared_distances([[0, 1, 2], [1, 0, 1], [2, 1, 0]], squared=False)[0]
    array([0., 1., 4.])
    >>> squared_distances([[0, 1, np.nan], [np.nan, 0, 1], [np.nan, 1, 0]], squared=False)
    array([[ 0.,  1., inf],
           [ 1.,  0.,  1.],
           [inf,  1.,  0.]])
    """
    from sdpdr.base.estimators import numeric  # here, since programs alone need no scikit-learn

    require_one_order(D)
    array = numeric(D, at_least=at_least, finite=False)
    if array.shape[0] != array.shape[1]:
        raise DataError(
            f"metric='precomputed' needs a square matrix of distances, got shape {array.shape}. "
            "Pass the points themselves with metric='euclidean'."
        )
    known = np.isfinite(array)
    slack = ROUNDING * float(np.abs(array).max(initial=0.0, where=known))
    cannot = "A distance cannot be: pass distances, not a kernel, and NaN where none is known"
    _refuse(array < -slack, array, "negative", cannot)
    _refuse(
        np.diag((np.abs(np.diag(array)) > slack) & np.diag(known)),
        array,
        "not zero on the diagonal",
        "A point has distance 0 to itself: pass distances, not similarities",
    )
    array = np.where(known, array, np.where(known.T, array.T, np.inf))
    with np.errstate(invalid="ignore"):  # of inf - inf, which is no difference
        _refuse(
            np.abs(array - array.T) > slack,
            array,
            "not symmetric",
            "If that is meant, pass (D + D.T) / 2",
        )
    distances: Array = np.maximum((array + array.T) / 2.0, 0.0)
    np.fill_diagonal(distances, 0.0)
    _refuse_unknown(distances)
    if not distances.any():
        raise DataError(
            f"all {len(distances)} points are equal: every precomputed distance is 0. "
            "Check that the matrix was filled in."
        )
    if squared:
        return distances
    warn_if_squared(distances)
    return np.asarray(np.square(distances))


def require_one_order(D: Any) -> None:
    """Refuse a frame of distances whose columns are called as its rows, in another order.

    Raises
    ------
    DataError

    Examples
    --------
    >>> import pandas as pd
    >>> require_one_order(pd.DataFrame([[0, 2], [2, 0]], ["Ulm", "Kiel"], ["Kiel", "Ulm"]))
    Traceback (most recent call last):
    sdpdr.errors.DataError: row 0 of the distances is called 'Ulm' and column 0 'Kiel', ...
    """
    rows, columns = getattr(D, "index", None), getattr(D, "columns", None)
    if rows is None or columns is None or len(rows) != len(columns) or rows.equals(columns):
        return
    # Words for names, since not all that names something can be compared.
    row_names, column_names = ([repr(name) for name in names.tolist()] for names in (rows, columns))
    if row_names != column_names and sorted(row_names) == sorted(column_names):
        k = next(k for k, name in enumerate(row_names) if name != column_names[k])
        raise DataError(
            f"row {k} of the distances is called {row_names[k]} and column {k} {column_names[k]}, "
            "so that names are in two orders. Pass D[D.index], whose columns are as the rows; or "
            "D.to_numpy() if the order of the rows is right for both."
        )


def warn_if_squared(distances: Array) -> None:
    """Warn of plain distances that break the triangle inequality by more than they were rounded by.

    Parameters
    ----------
    distances : array of shape (n, n)
        Symmetric, infinite where they are not known, not all zero.

    Warns
    -----
    SquaredDistancesWarning

    Examples
    --------
    >>> import warnings
    >>> cities = np.array([[0.0, 34.0, 47.0], [34.0, 0.0, 12.0], [47.0, 12.0, 0.0]])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_squared(cities)
    ...     warn_if_squared(cities**2)
    >>> [str(warning.message)[:57] for warning in caught]
    ['the precomputed distances break the triangle inequality: ']
    """
    # Seen from the most central point about half of all pairs lie at an obtuse angle, and each
    # of them breaks the triangle inequality when lengths are squared: one pivot is enough.
    known = np.isfinite(distances)
    unknown = known.shape[1] - known.sum(axis=1)
    pivot = int(np.lexsort((distances.max(axis=1, initial=0.0, where=known), unknown))[0])
    detour = distances[pivot, :, None] + distances[pivot]
    excess = np.where(known, distances, 0.0) - detour
    i, j = np.unravel_index(int(excess.argmax()), excess.shape)
    largest = distances.max(where=known, initial=0.0)
    # Each of three lengths may be off by half a unit, and many of three digits by a percent.
    rounded = 1.5 * (1.0 + ROUNDING) * _unit_of(distances[known], largest)
    if excess[i, j] > max(ROUNDING * largest, rounded, _DIGITS * distances[i, j]):
        warn(
            f"the precomputed distances break the triangle inequality: D[{numbered([i, j])}] = "
            f"{distances[i, j]:.6g} exceeds {detour[i, j]:.6g}, the way through point "
            f"{numbered(pivot)}. "
            "If the entries are squared distances, pass squared=True.",
            SquaredDistancesWarning,
        )


def _unit_of(lengths: Array, largest: float) -> float:
    """The largest power of ten of which all lengths are multiples; 0 where they are not rounded."""
    for power in range(int(np.floor(np.log10(largest))), -_PLACES, -1):
        in_units = lengths / 10.0**power
        if np.all(np.abs(in_units - np.rint(in_units)) <= ROUNDING):
            return 10.0**power
    return 0.0


def warn_of_seeming_distances(X: Any) -> None:
    """Warn of points whose coordinates have the form of a matrix of distances.

    Warns
    -----
    SeemingDistancesWarning
        X is dense, square, symmetric and nowhere negative, and zero on its diagonal alone.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_seeming_distances(np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]]))
    >>> print(str(caught[0].message).partition(":")[0])
    X is square and symmetric with zeros on its diagonal, as distances are
    """
    if seem_distances(X):
        warn(
            "X is square and symmetric with zeros on its diagonal, as distances are: its rows are "
            "taken for points all the same. If it holds distances, pass metric='precomputed' "
            "(where a method takes that).",
            SeemingDistancesWarning,
        )


def _refuse(wrong: np.ndarray, matrix: Array, fault: str, advice: str) -> None:
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        other = f", D[{numbered([j, i])}] = {matrix[j, i]:.6g}" if i != j else ""
        raise DataError(
            f"the precomputed distances are {fault}: D[{numbered([i, j])}] = {matrix[i, j]:.6g}"
            f"{other}. {advice}."
        )


def _refuse_unknown(distances: Array) -> None:
    """Refuse points of which nothing is known, so that they could be anywhere."""
    lost = np.flatnonzero(np.isfinite(distances).sum(axis=1) == 1)
    if lost.size:
        raise DataError(
            f"no distance is known of {lost.size} of {len(distances)} points: {numbered(lost)}. "
            "NaN and inf in precomputed distances stand for unknown ones. Leave these points out, "
            "or give one distance of each."
        )
