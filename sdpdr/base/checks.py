"""What a user may pass as data, and what is said when it cannot be used.

scikit-learn's own check runs first and its words are kept (other libraries look for them); ours
follow and say what to do.
"""

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

# Relative to the largest entry: up to this difference two halves of a matrix are the same.
_SYMMETRIC = 1e-8
# Warnings about the data themselves, which a second look at them would repeat.
_OF_INPUT = (
    DoubtfulColumnWarning,
    DuplicatePointsWarning,
    RowNumbersWarning,
    SeemingDistancesWarning,
    SquaredDistancesWarning,
    UnlikeColumnsWarning,
)
# Seeds that are drawn lie below.
_SEEDS = 2**31 - 1

T = TypeVar("T")


def points(X: ArrayLike, *, at_least: int = 3, sparse: bool = False) -> Matrix:
    """Points as a C-ordered float array of shape (n, D), finite and not all equal.

    Parameters
    ----------
    X : array_like of shape (n, D)
        Whatever scikit-learn takes as dense data: arrays, lists, data frames.
    at_least : int, default 3
        Fewest points allowed.
    sparse : bool, default False
        Whether sparse data are taken, and returned as a csr_array without zeros.

    Raises
    ------
    DataError
        X has NaN or infinite entries, the wrong number of dimensions, too few points, no
        features, complex entries, text, or the same point in every row.
    DataTypeError
        X is sparse where it must not be, or holds objects that are not numbers.

    Warns
    -----
    RowNumbersWarning, DoubtfulColumnWarning
        X is a data frame, and one of its columns is its index, holds years, or a code for what is
        missing.

    Examples
    --------
    >>> points([[0, 1], [2, 3], [4, 6]]).dtype
    dtype('float64')
    """
    array = _numbers(X, at_least=at_least, sparse=sparse)
    warn_of_columns(X)
    return varying(array)


def varying(X: Matrix) -> Matrix:
    """The points X, dense or sparse, not all of which are equal.

    Raises
    ------
    DataError
        All are.
    """
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
    instead: str = "NaN and infinity will not do.",
) -> Matrix:
    """Value of the argument called ``name`` as a matrix that is symmetric and finite.

    Parameters
    ----------
    name : str
    value : array_like or sparse matrix
    sparse : bool, default False
        Whether a sparse one stays sparse.
    within : float, default 1e-8
        Up to which difference two halves are the same, relative to the largest entry.
    instead : str
        What is said of NaN and infinity.
    """
    stays = sparse and sp.issparse(value)
    matrix = own_rows(value) if stays else np.asarray(value, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ShapeError(f"{name} must be a square matrix; it has shape {matrix.shape}.")
    with np.errstate(invalid="ignore"):  # times zero all but numbers are NaN
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
    """Of arrays, data frames, sparse matrices and nested sequences, ragged ones as well."""
    depth = 0
    while not hasattr(X, "shape") and isinstance(X, Sequence) and not isinstance(X, str) and len(X):
        X, depth = X[0], depth + 1
    return depth + (len(X.shape) if hasattr(X, "shape") else 0)


def n_neighbors(value: object, n: int) -> int:
    """Check a number of neighbours against the number n of distinct points.

    Raises
    ------
    DataError
        The number lies outside 1, ..., n - 1; a `FewPointsError` where it is too large.
    DataTypeError
        It is not an integer.
    """
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
    """What a search for neighbours finds, of fewer other points for all of them; and for how many.

    Parameters
    ----------
    n_neighbors : int
    search : callable
        Told a number of neighbours; it raises a `FewPointsError` where there are not so many.

    Warns
    -----
    FewPointsWarning
    """
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
        for kind in _OF_INPUT:  # the first search has issued these
            simplefilter("ignore", kind)
        return search(most), most


def positive_integer(
    name: str, value: object, *, at_least: int = 1, at_most: int | None = None, why: str = ""
) -> int:
    """Value of the argument called ``name`` as an int, not below ``at_least``.

    ``why`` says in words where an upper limit comes from.
    """
    number = _integer(name, value)
    if at_most is not None and number > at_most:
        where = f"{at_least}..{at_most}{', ' if why else ''}{why}"
        raise DataError(f"{name}={number} is out of range: it must lie in {where}.")
    if number < at_least:
        raise DataError(f"{name}={number} is too small: it must be at least {at_least}.")
    return number


def positive_number(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a finite float above zero."""
    number = real(name, value)
    if not 0 < number < np.inf:
        raise DataError(f"{name}={number} is out of range: it must be positive and finite.")
    return number


def real(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise DataTypeError(f"{name}={value!r} is not a number.")
    return as_float(value)


def non_negative(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a finite float, zero or above."""
    number = real(name, value)
    if not 0 <= number < np.inf:
        raise DataError(f"{name}={number} is out of range: it must be 0 or more, and finite.")
    return number


def share(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a float from zero to one."""
    number = real(name, value)
    if not 0.0 <= number <= 1.0:
        raise DataError(f"{name}={number} is out of range: it must lie in [0, 1].")
    return number


def seed(value: object, name: str = "random_state") -> int:
    """What scikit-learn calls a random state as a seed; of None one that is drawn anew.

    Raises
    ------
    DataError
        It is out of range.
    DataTypeError
        It is neither a whole number nor a generator.

    Examples
    --------
    >>> seed(3), seed(np.random.RandomState(0)) == seed(np.random.RandomState(0))
    (3, True)
    """
    if value is None:
        value = np.random.mtrand._rand  # what scikit-learn draws from
    if isinstance(value, np.random.Generator):
        return int(value.integers(_SEEDS))
    if isinstance(value, np.random.RandomState):
        return int(value.randint(_SEEDS))
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise DataTypeError(
            f"{name}={value!r} is no seed. Pass a whole number, a generator of numpy.random, or "
            "None."
        )
    return positive_integer(name, value, at_least=0, at_most=2**32 - 1)


def seed_or_none(value: object, name: str = "random_state") -> int | None:
    """As `seed`; None where the seed is left to the solver."""
    return None if value is None else seed(value, name)


def pairs(name: str, value: ArrayLike) -> Index:
    """Value of the argument called ``name`` as an integer array of shape (m, 2), m >= 0."""
    array = np.asarray(value)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ShapeError(
            f"{name} must be an integer array of shape (m, 2), got {array.dtype} of shape "
            f"{array.shape}. Each row names the two ends of an edge."
        )
    return array.astype(np.int64)


def numbers(name: str, value: ArrayLike, n: int, what: str) -> Index:
    """Value of the argument called ``name`` as numbers of things, 0 to n - 1; ``what`` they are."""
    array = np.atleast_1d(np.asarray(value))
    whole = array.size and array.ndim == 1 and array.dtype.kind in "iu"
    if not whole or (array < 0).any() or (array >= n).any():
        raise DataError(f"{name} must be {what}, 0..{n - 1}; got {value!r}.")
    return array.astype(np.int64)


def distinct_numbers(name: str, value: ArrayLike, n: int, what: str) -> Index:
    """Value of the argument called ``name`` as numbers of things, 0 to n - 1, none of them twice.

    Parameters
    ----------
    name : str
    value : array_like of int
        At least one; of any shape, which is lost.
    n : int
    what : str
        What they are numbers of, in words.

    Raises
    ------
    DataError
        They are no such numbers.
    """
    array = np.asarray(value).ravel()
    inside = array.dtype.kind in "iu" and np.all((array >= 0) & (array < n))
    if not array.size or not inside or len(np.unique(array)) < len(array):
        raise DataError(
            f"{name} must be distinct {what} from 0 to {n - 1}, at least one of them; "
            f"got {listed(array)}."
        )
    return array.astype(np.int64)


def choice(kind: str, value: object, known: Collection[str]) -> None:
    """Refuse a value that is not among those known, naming the nearest one."""
    if not isinstance(value, Hashable) or value not in known:  # an array is in nothing
        raise UnknownNameError(kind, value, known)


def price(name: str, value: object) -> float:
    """Value of the argument called ``name`` as a positive float, which may be infinite.

    Examples
    --------
    >>> price("ridge", np.inf)
    inf
    """
    number = real(name, value)
    if not number > 0:
        raise DataError(f"{name}={number} is out of range: it must be positive, or infinite.")
    return number


def _integer(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise DataTypeError(f"{name}={value!r} is not an integer. Pass a whole number.")
    return int(value)


def _numbers(X: Any, *, at_least: int, sparse: bool = False) -> Matrix:
    from sdpdr.base.estimators import numeric  # here, since programs alone need no scikit-learn

    return numeric(X, at_least=at_least, sparse=sparse)
