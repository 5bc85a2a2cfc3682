"""Values that users pass: each check returns the value, or raises an error that names it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar
from warnings import catch_warnings, simplefilter

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Index, Matrix, own_rows
from sdpdr.base.columns import warn_of_columns
from sdpdr.base.deadline import as_float
from sdpdr.base.errors import (
    DataError,
    DataTypeError,
    DoubtfulColumnWarning,
    DuplicatePointsWarning,
    FewPointsError,
    FewPointsWarning,
    RowNumbersWarning,
    SeemingDistancesWarning,
    ShapeError,
    SquaredDistancesWarning,
    UnknownNameError,
    UnlikeColumnsWarning,
    warn,
)
from sdpdr.base.rows import listed

# Relative to the largest entry: a matrix is symmetric up to this difference.
_SYMMETRIC = 1e-8
# Warnings about the data, which a second search would repeat.
_ABOUT_DATA = (
    DoubtfulColumnWarning,
    DuplicatePointsWarning,
    RowNumbersWarning,
    SeemingDistancesWarning,
    SquaredDistancesWarning,
    UnlikeColumnsWarning,
)
# Upper end of seeds that are drawn at random.
_SEEDS = 2**31 - 1

T = TypeVar("T")


def points(X: ArrayLike, *, at_least: int = 3, sparse: bool = False) -> Matrix:
    """Points as a C-ordered float array of shape (n, D), finite and not all equal."""
    from sdpdr.base.estimators import numeric  # here, since programs alone need no scikit-learn

    array = numeric(X, at_least=at_least, sparse=sparse)
    warn_of_columns(X)
    return varying(array)


def varying(X: Matrix) -> Matrix:
    """The points X, dense or sparse, not all of which are equal."""
    if not (X.max(axis=0) - X.min(axis=0)).max():
        raise DataError(
            f"all {X.shape[0]} points are equal, so there is no geometry to keep. "
            "Check that X has one row per point and that no step before set it to a constant."
        )
    return X


def symmetric(
    name: str,
    value: Any,
    *,
    sparse: bool = False,
    within: float = _SYMMETRIC,
    instead: str = "expected finite numbers.",
) -> Matrix:
    """Value of the argument called ``name`` as a matrix that is symmetric and finite."""
    stays = sparse and sp.issparse(value)
    matrix = own_rows(value) if stays else np.asarray(value, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ShapeError(f"{name} must be a square matrix; it has shape {matrix.shape}.")
    with np.errstate(invalid="ignore"):  # times zero, everything but a finite number is NaN
        rows, columns = (0.0 * matrix).nonzero()
    if rows.size:
        i, j = rows[0], columns[0]
        raise DataError(f"{name}[{i}, {j}] is {matrix[i, j]}: {instead}")
    uneven = abs(matrix - matrix.T)
    if uneven.max() > within * abs(matrix).max():
        i, j = np.unravel_index(int(uneven.argmax()), matrix.shape)
        raise DataError(
            f"{name} is not symmetric: {name}[{i}, {j}] = {matrix[i, j]:g}, {name}[{j}, {i}] = "
            f"{matrix[j, i]:g}. If that is meant, pass ({name} + {name}.T) / 2."
        )
    return (matrix + matrix.T) * 0.5


def n_dimensions(X: Any) -> int:
    """Number of dimensions of an array, data frame, sparse matrix or (ragged) nested sequence."""
    depth = 0
    while not hasattr(X, "shape") and isinstance(X, Sequence) and not isinstance(X, str) and len(X):
        X, depth = X[0], depth + 1
    return depth + (len(X.shape) if hasattr(X, "shape") else 0)


def n_neighbors(value: object, n: int) -> int:
    """Check a number of neighbours against the number n of distinct points."""
    if isinstance(value, str):
        raise DataTypeError(
            f"n_neighbors={value!r} is not an integer. Pass a whole number; one that suits the "
            "data is sdpdr.graphs.choose_k(X).n_neighbors."
        )
    number = _integer("n_neighbors", value)
    if 1 <= number < n:
        return number
    words = f"n_neighbors={number} but there are {n} distinct points: choose 1 to {n - 1}."
    raise FewPointsError(words, n - 1) if number >= n else DataError(words)


def all_if_few(n_neighbors: int, search: Callable[[int], T]) -> tuple[T, int]:
    """Search for so many neighbours, or for all if there are fewer; return also the number used."""
    try:
        return search(n_neighbors), n_neighbors
    except FewPointsError as error:
        most = error.most
    warn(
        f"n_neighbors={n_neighbors} but there are {most + 1} distinct points: each was joined to "
        "all others, so that no distance is left open.",
        FewPointsWarning,
    )
    with catch_warnings():
        for kind in _ABOUT_DATA:  # the first search has issued these
            simplefilter("ignore", kind)
        return search(most), most


def positive_integer(
    name: str, value: object, *, at_least: int = 1, at_most: int | None = None, why: str = ""
) -> int:
    """Value of the argument called ``name`` as an int; ``why`` explains an upper bound."""
    number = _integer(name, value)
    if at_most is not None and number > at_most:
        where = f"{at_least}..{at_most}{', ' if why else ''}{why}"
        raise DataError(f"{name}={number} is out of range: it must lie in {where}.")
    if number < at_least:
        raise DataError(f"{name}={number} is too small: it must be at least {at_least}.")
    return number


def real(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise DataTypeError(f"{name}={value!r} is not a number.")
    return as_float(value)


def _within(name: str, number: float, holds: bool, range: str) -> float:
    if not holds:
        raise DataError(f"{name}={number} is out of range: it must {range}.")
    return number


def positive_number(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a finite float above zero."""
    number = real(name, value)
    return _within(name, number, 0 < number < np.inf, "be positive and finite")


def positive_or_infinite(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a positive float, which may be infinite."""
    number = real(name, value)
    return _within(name, number, number > 0, "be positive, or infinite")


def non_negative(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a finite float, zero or above."""
    number = real(name, value)
    return _within(name, number, 0 <= number < np.inf, "be 0 or more, and finite")


def share(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a float from zero to one."""
    number = real(name, value)
    return _within(name, number, 0.0 <= number <= 1.0, "lie in [0, 1]")


def seed(value: object) -> int:
    """Random state of scikit-learn as a seed; None draws one."""
    if value is None:
        value = np.random.mtrand._rand  # what scikit-learn draws from
    if isinstance(value, np.random.Generator):
        return int(value.integers(_SEEDS))
    if isinstance(value, np.random.RandomState):
        return int(value.randint(_SEEDS))
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise DataTypeError(
            f"random_state={value!r} is no seed. Pass a whole number, a generator of numpy.random, "
            "or None."
        )
    return positive_integer("random_state", value, at_least=0, at_most=2**32 - 1)


def seed_or_none(value: object) -> int | None:
    """Random state as a seed; None where the solver chooses it."""
    return None if value is None else seed(value)


def pairs(name: str, value: ArrayLike) -> Index:
    """Value of the argument called ``name`` as an integer array of shape (m, 2), m >= 0."""
    array = np.asarray(value)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ShapeError(
            f"{name} must be an integer array of shape (m, 2), got {array.dtype} of shape "
            f"{array.shape}. Each row names the two ends of an edge."
        )
    return array.astype(np.intp)


def numbers(name: str, value: ArrayLike, n: int, what: str, *, distinct: bool = False) -> Index:
    """Value of the argument called ``name`` as whole numbers from 0 to n - 1, at least one."""
    array = np.atleast_1d(np.asarray(value))
    whole = array.size and array.ndim == 1 and array.dtype.kind in "iu"
    if not whole or (array < 0).any() or (array >= n).any():
        raise DataError(f"{name} must be {what}, 0..{n - 1}; got {value!r}.")
    if distinct and len(np.unique(array)) < len(array):
        raise DataError(f"{name} must be distinct {what}; got {listed(array)}.")
    return array.astype(np.intp)


def choice(kind: str, value: object, known: Collection[str]) -> None:
    """Refuse a value that is not among those known, naming the nearest one."""
    if not isinstance(value, Hashable) or value not in known:  # an array is in nothing
        raise UnknownNameError(kind, value, known)


def _integer(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise DataTypeError(f"{name}={value!r} is not an integer. Pass a whole number.")
    return int(value)
