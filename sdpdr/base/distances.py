"""Precomputed distances: which inputs are accepted, and whether they look squared."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.advice import either
from sdpdr.base.arrays import ROUNDING, Array, own_rows, seem_distances
from sdpdr.base.errors import DataError, SeemingDistancesWarning, SquaredDistancesWarning, warn
from sdpdr.base.rows import entry, numbered

# Relative to a length: violation of the triangle inequality that is explained by three lengths
# rounded to three digits. Squared lengths violate it by as much as they are long.
_DIGITS = 0.015
# Decimal places of lengths that were rounded.
_PLACES = 7
# Error of an inner product of some thousand terms, as in 1 - S @ S.T, in units of rounding.
_UNITS = 16.0


def squared_distances(D: Any, *, squared: bool, at_least: int = 3) -> Array:
    """Matrix of SQUARED distances of shape (n, n) from precomputed distances."""
    array = _square(D, at_least)
    known = np.isfinite(array)
    largest = float(np.abs(array).max(initial=0.0, where=known))
    eps = precision_of(D)
    slack = max(ROUNDING, _UNITS * eps) * largest
    # In tiny lengths the square root magnifies the rounding of their squares.
    slack_of_squares = _UNITS * eps * largest**2
    cannot = "A distance cannot be: pass distances, not a kernel, and NaN where none is known"
    _refuse(array < -slack, array, "negative", cannot)
    own = np.abs(np.diag(array))
    _refuse(
        np.diag((own > slack) & (own**2 > slack_of_squares) & np.diag(known)),
        array,
        "not zero on the diagonal",
        "A point has distance 0 to itself: pass distances, not similarities",
    )
    array = np.where(known, array, np.where(known.T, array.T, np.inf))
    with np.errstate(invalid="ignore"):  # inf - inf, which is no difference
        apart = np.abs(array - array.T)
        asymmetric = (apart > slack) & (apart * (array + array.T) > slack_of_squares)
    _refuse_asymmetric(asymmetric, array, D)
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


def _square(D: Any, at_least: int) -> Array:
    """Entries as a dense array with infinities where a sparse one stores none."""
    from sdpdr.base.estimators import numeric  # here, since programs alone need no scikit-learn

    require_one_order(D)
    require_not_condensed(D)
    if sp.issparse(D):
        D = sp.csr_array(D) if np.diff(D.shape).any() else with_unknown(D)
    array = numeric(D, at_least=at_least, sparse=True, finite=False)
    if array.shape[0] != array.shape[1]:
        raise DataError(
            f"distances need a square matrix; what was passed has shape {array.shape}. "
            + either(
                "If it holds points, pass metric='euclidean' where a method has that, or their "
                "distances, sklearn.metrics.pairwise_distances(X).",
                "If it holds points, leave --metric precomputed out.",
            )
        )
    return np.asarray(array)


def with_unknown(D: Any) -> Array:
    """Dense distances of a square sparse array, infinite where it stores none."""
    entries = sp.coo_array(own_rows(D))
    array = np.full(entries.shape, np.inf)
    np.fill_diagonal(array, 0.0)
    array[entries.row, entries.col] = entries.data
    return array


def require_not_condensed(D: Any) -> None:
    """Refuse a vector of the distances of all pairs, as SciPy's ``pdist`` returns it."""
    if sp.issparse(D):
        return
    flat = isinstance(D, (list, tuple)) and all(np.isscalar(value) for value in D)
    shape = np.shape(D) if hasattr(D, "shape") or flat else ()
    size = int(np.prod(shape, dtype=np.int64))
    if size < 2 or max(shape) != size:
        return
    n = int((1.0 + np.sqrt(1.0 + 8.0 * size)) / 2.0)
    found = f"the distances are a vector of {size} numbers"
    if n * (n - 1) != 2 * size:
        less, more = (f"{k * (k - 1) // 2} of {k} points" for k in (n, n + 1))
        raise DataError(
            f"{found}, but the distances of all pairs of n points are n (n - 1) / 2: {less}, "
            f"{more}. Pass as many, or a square matrix."
        )
    vector = "D" if len(shape) == 1 else "np.ravel(D)"
    raise DataError(
        f"{found}, one for each pair of {n} points, where a square matrix is expected. "
        f"Pass scipy.spatial.distance.squareform({vector})."
    )


def completing() -> str:
    """Return advice on completing distances, for a message."""
    return either(
        "Complete the distances first, with sdpdr.DistanceCompletion().fit(D).distances_.",
        "--method distance_completion finds places that have all that are known; embed those.",
    )


def precision_of(D: Any) -> float:
    """Machine precision of the numbers passed: of single precision if they were computed in it."""
    single, double = (float(np.finfo(kind).eps) for kind in (np.float32, np.float64))
    kinds = [D.dtype] if hasattr(D, "dtype") else list(getattr(D, "dtypes", ()))
    if kinds and all(kind in (np.float32, np.float16) for kind in kinds):
        return single
    try:
        numbers = np.asarray(D.data if sp.issparse(D) else D, dtype=float)
    except (TypeError, ValueError):  # missing values of pandas, which NumPy does not read
        return double
    known = numbers[np.isfinite(numbers)]
    with np.errstate(over="ignore"):
        rounded = known.astype(np.float32)
    # Decimals of a few binary digits are exact in double precision as well.
    is_single = np.array_equal(rounded, known) and bool(np.any(rounded * 2.0**12 % 1.0))
    return single if is_single else double


def require_one_order(D: Any) -> None:
    """Refuse a frame of distances whose columns are called as its rows, in another order."""
    rows, columns = getattr(D, "index", None), getattr(D, "columns", None)
    if rows is None or columns is None or len(rows) != len(columns) or rows.equals(columns):
        return
    # As text, since names of different types have no order.
    row_names, column_names = ([repr(name) for name in names.tolist()] for names in (rows, columns))
    if row_names != column_names and sorted(row_names) == sorted(column_names):
        k = next(k for k, name in enumerate(row_names) if name != column_names[k])
        raise DataError(
            f"row {k} of the distances is called {row_names[k]} and column {k} {column_names[k]}, "
            "so that names are in two orders. Pass D[D.index], whose columns are as the rows; or "
            "D.to_numpy() if the order of the rows is right for both."
        )


def warn_if_squared(distances: Array) -> None:
    """Warn of distances that break the triangle inequality by more than rounding explains."""
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
            f"the precomputed distances break the triangle inequality: {entry(i, j)} = "
            f"{distances[i, j]:.6g} exceeds {detour[i, j]:.6g}, the way through point "
            f"{numbered(pivot)}. "
            "If the entries are squared distances, pass their square roots"
            + either(", np.sqrt(D).", "."),
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
    """Warn of points whose coordinates have the form of a matrix of distances."""
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
        other = f", {entry(j, i)} = {matrix[j, i]:.6g}" if i != j else ""
        raise DataError(
            f"the precomputed distances are {fault}: {entry(i, j)} = {matrix[i, j]:.6g}"
            f"{other}. {advice}."
        )


def _refuse_asymmetric(wrong: np.ndarray, matrix: Array, D: Any) -> None:
    """Refuse asymmetric distances, with other advice where one triangle was not filled in."""
    if not wrong.any():
        return
    # pandas would align a frame and its transpose by their names.
    framed = hasattr(D, "columns") and not D.index.equals(D.columns)
    name = "D.to_numpy()" if framed else "D"
    known = np.where(np.isfinite(matrix), matrix, 0.0)
    for triangle, part in (("lower", np.tril(known, -1)), ("upper", np.triu(known, 1))):
        if not part.any():
            raise DataError(
                f"the {triangle} triangle of the precomputed distances is zero: "
                + either(f"pass {name} + {name}.T.", "fill it in, as in the other triangle.")
            )
    if np.all((matrix == 0.0)[wrong] | (matrix.T == 0.0)[wrong]):
        larger = "D.maximum(D.T)" if sp.issparse(D) else f"np.maximum({name}, {name}.T)"
        _refuse(
            wrong,
            matrix,
            "given on one side of the diagonal and zero on the other",
            either(f"Pass {larger}", "Fill in the zeros"),
        )
    mean = either(f"pass ({name} + {name}.T) / 2", "write the mean of the two in both places")
    _refuse(wrong, matrix, "not symmetric", f"If that is meant, {mean}")


def _refuse_unknown(distances: Array) -> None:
    """Refuse points without a known distance, which could lie anywhere."""
    lost = np.flatnonzero(np.isfinite(distances).sum(axis=1) == 1)
    if lost.size:
        raise DataError(
            f"no distance is known of {lost.size} of {len(distances)} points: {numbered(lost)}. "
            "NaN and inf in precomputed distances, and entries that a sparse array does not store, "
            "are unknown. Leave these points out, or give one distance of each."
        )
