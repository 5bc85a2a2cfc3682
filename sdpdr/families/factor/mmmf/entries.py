"""Observed entries of a matrix: signs or ratings, from matrices, pairs of positions and frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from sdpdr.base.arrays import Array, Index, own_rows, require_squares
from sdpdr.base.errors import DataError, DataTypeError, FilledGapsWarning, ShapeError, warn
from sdpdr.base.estimators import as_numbers, refused, require_no_times
from sdpdr.base.rows import listed

# A column of numbers above this holds times in seconds, not ratings.
_TIMES = 1e8


@dataclass(frozen=True, eq=False)
class Observed:
    """Numbers observed at some positions of a matrix.

    Attributes
    ----------
    shape : tuple of int
        (p, q), rows for users and columns for items.
    places : array of int, shape (m, 2)
        Positions, row by row.
    values : array of shape (m,)
    """

    shape: tuple[int, int]
    places: Index
    values: Array

    @property
    def empty_rows(self) -> Index:
        """Rows in which nothing was observed."""
        return np.setdiff1d(np.arange(self.shape[0]), self.places[:, 0])

    @property
    def empty_columns(self) -> Index:
        """Columns in which nothing was observed."""
        return np.setdiff1d(np.arange(self.shape[1]), self.places[:, 1])

    def spread(self, values: Array) -> sp.csr_array:
        """Sparse matrix of other numbers at the same positions."""
        ends, columns = self._pattern
        return sp.csr_array((values, columns, ends), shape=self.shape)

    @cached_property
    def _pattern(self) -> tuple[Index, Index]:
        """Row ends and column indices; descent spreads values thousands of times."""
        rows, columns = self.places.astype(np.int32).T
        counts = np.bincount(rows, minlength=self.shape[0])
        return np.append(0, np.cumsum(counts)).astype(np.int32), np.ascontiguousarray(columns)


class Signs(Observed):
    """Entries of which all are 1 or -1."""

    def matrix(self, weights: ArrayLike = 1.0) -> sp.csr_array:
        r"""Sparse matrix :math:`Q \circ Y` of weights Q, one for each sign."""
        values = np.broadcast_to(np.asarray(weights, dtype=float), self.values.shape) * self.values
        return self.spread(values)


def observed_signs(X: Any, name: str = "X", y: Any = None) -> Signs:
    """Read a matrix of signs: 1 and -1 where one was observed, 0 or NaN where not.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        Or, with ``y``, pairs of row and column, shape (m, 2).
    name : str, default "X"
        How messages refer to it.
    y : array_like of shape (m,), optional
        The signs at the pairs.

    Raises
    ------
    DataError
        An entry is another number (its position is named), or no sign was observed.
    DataTypeError
        The entries are not real numbers, or truth values.

    Examples
    --------
    >>> signs = observed_signs([[1, 0, -1], [0, -1, float("nan")]])
    >>> signs.places.tolist(), signs.values.tolist()
    ([[0, 0], [0, 2], [1, 1]], [1.0, -1.0, -1.0])
    >>> signs.empty_rows.size, signs.empty_columns.size
    (0, 0)
    """
    if isinstance(X, Signs):
        return X
    found = _of_pairs(X, y) if are_pairs(X, y) else _signs_of_matrix(X, name)
    wrong = np.flatnonzero(np.abs(found.values) != 1.0)
    if wrong.size:
        (i, a), value = found.places[wrong[0]], found.values[wrong[0]]
        raise DataError(
            f"{name}[{i}, {a}] = {value:g} is no sign. Entries must be 1 or -1 where a sign was "
            "observed, 0 or NaN where not; of ratings, pass np.sign(ratings - threshold) with "
            "missing ratings as NaN. Of a list of users, items and signs, pass the pairs as X and "
            "the signs as y."
        )
    if not found.values.size:
        raise DataError(
            f"no entry of {name} was observed: all are 0 or NaN, so every matrix fits, and the "
            "one of least norm is zero."
        )
    return Signs(found.shape, found.places, found.values)


def _signs_of_matrix(X: Any, name: str) -> Observed:
    checked = _checked(X, name, finite=False)
    if (X.dtype if sp.issparse(X) else np.asarray(X).dtype).kind == "b":
        raise DataTypeError(
            f"{name} holds truth values, of which False is 0 and would count as not observed. Pass "
            "signs: 1 and -1 where one was observed, 0 where not."
        )
    entries = own_rows(checked).tocoo()
    return _where(entries, (entries.data != 0.0) & ~np.isnan(entries.data))


def read_ratings(X: Any, y: Any = None, name: str = "X") -> Observed:
    """Read ratings from a sparse matrix, from a table with missing values, or from pairs.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        The entries stored in a sparse array were observed, zeros as well; of a dense array, those
        that are not NaN. Or, with ``y``, pairs of row and column, shape (m, 2).
    y : array_like of shape (m,), optional
        The ratings of the pairs.
    name : str, default "X"
        How messages refer to it.

    Raises
    ------
    DataError
        A pair occurs twice, a rating is not finite, there is none, or X is a list of users, items
        and ratings.
    DataTypeError
        Ratings are not numbers.

    Warns
    -----
    FilledGapsWarning
        Most entries of a matrix are zero, and none is missing.

    Examples
    --------
    >>> ratings = read_ratings([[5.0, np.nan], [4.0, 1.0]])
    >>> ratings.places.tolist(), ratings.values.tolist()
    ([[0, 0], [1, 0], [1, 1]], [5.0, 4.0, 1.0])
    >>> read_ratings([[0, 0], [1, 0], [1, 1]], [5, 4, 1]).values.tolist()
    [5.0, 4.0, 1.0]
    """
    if isinstance(X, Observed):
        return X
    if are_pairs(X, y):
        return _of_pairs(X, y)
    if sp.issparse(X):
        if X.format == "bsr":
            raise DataError(
                f"{name} is sparse in blocks (BSR), whose zeros may be ratings or padding. Pass "
                "the CSR or COO matrix that it was made of."
            )
        entries = own_rows(_checked(X, name)).tocoo()
        found = _where(entries, np.ones(entries.data.size, dtype=bool))
    else:
        matrix = _checked(X, name, finite="allow-nan")
        _refuse_lists(matrix, name)
        _warn_of_filled_gaps(matrix, name)
        places = np.argwhere(~np.isnan(matrix))
        found = Observed((len(matrix), matrix.shape[1]), places, matrix[tuple(places.T)])
    if not found.values.size:
        raise DataError(f"no rating was given: all entries of {name} are missing.")
    return found


def ratings_from_frame(
    frame: pd.DataFrame, *, users: str = "user", items: str = "item", ratings: str = "rating"
) -> tuple[sp.csr_array, pd.Index, pd.Index]:
    """Sparse matrix of the ratings in a frame, with the users of its rows and items of its columns.

    Parameters
    ----------
    frame : DataFrame
        One rating in each row.
    users, items, ratings : str
        Names of the columns that hold them. Users and items may have any names.

    Returns
    -------
    X : sparse array of shape (p, q)
        Its stored entries are the ratings, in rows and columns sorted by name.
    users, items : Index
        Names of rows and of columns; ``users.get_indexer([name])`` gives a position.

    Raises
    ------
    DataError
        A column is not there, a row lacks one of the three, or a pair is rated twice.

    Examples
    --------
    >>> films = pd.DataFrame({"user": ["eve", "bob", "bob"], "film": ["up", "up", "jaws"],
    ...                       "stars": [5, 4, 1]})
    >>> X, users, items = ratings_from_frame(films, items="film", ratings="stars")
    >>> users.tolist(), items.tolist(), X.toarray().tolist()
    (['bob', 'eve'], ['jaws', 'up'], [[1.0, 4.0], [0.0, 5.0]])
    """
    named = [users, items, ratings]
    if unknown := [name for name in named if name not in frame.columns]:
        raise DataError(
            f"the frame has no column {unknown[0]!r}; it has {listed(list(map(repr, frame)))}. "
            "Name its columns: ratings_from_frame(frame, users=..., items=..., ratings=...)."
        )
    missing = np.flatnonzero(frame[named].isna().any(axis=1))
    if missing.size:
        raise DataError(
            f"rows of the frame without a user, an item or a rating: {listed(missing)}. Leave them "
            f"out: frame.dropna(subset={named!r})."
        )
    (i, rows), (a, columns) = (pd.factorize(frame[name], sort=True) for name in named[:2])
    found = _of_pairs(np.column_stack([i, a]), frame[ratings], (len(rows), len(columns)))
    return found.spread(found.values), pd.Index(rows), pd.Index(columns)


def are_pairs(X: Any, y: Any) -> bool:
    """Whether X holds pairs of row and column, and y the values there.

    A table of two columns with missing values or fractions is a table, whatever y is.
    """
    if y is None or isinstance(X, Observed) or sp.issparse(X):
        return False
    table = pd.DataFrame(X if isinstance(X, (list, pd.DataFrame)) else np.asarray(X))
    if table.shape[1] != 2:
        return False
    numbers = table.apply(pd.to_numeric, errors="coerce")
    return bool(((numbers >= 0) & (numbers % 1 == 0)).all(axis=None))


def positions(name: str, values: Any) -> Index:
    """Whole numbers from zero on, in an array of any shape.

    Raises
    ------
    DataError
    """
    numbers = as_numbers(name, values)
    wrong = ~((numbers >= 0.0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if wrong.any():
        raise DataError(
            f"{name} must hold positions of users and items, whole numbers from 0 on; it holds "
            f"{numbers[wrong][0]:g}. sdpdr.factorize.ratings_from_frame turns names into positions."
        )
    return numbers.astype(np.int64)


def _of_pairs(pairs: Any, y: Any, shape: tuple[int, int] | None = None) -> Observed:
    places, values = positions("X", pairs), as_numbers("y", y)
    if values.shape != (len(places),):
        raise ShapeError(
            f"{len(places)} pairs need one value each, y of shape ({len(places)},); its shape is "
            f"{values.shape}."
        )
    if not np.isfinite(values).all():
        gone = listed(np.flatnonzero(~np.isfinite(values)))
        raise DataError(
            f"values in y are not finite: {gone}. Leave their pairs out: with known = "
            "numpy.isfinite(y), pass X[known] and y[known]."
        )
    require_squares(values, "y")
    order = np.lexsort(places.T[::-1])
    places, values = places[order], values[order]
    twice = np.flatnonzero(np.all(places[1:] == places[:-1], axis=1))
    if twice.size:
        user, item = places[twice[0]]
        raise DataError(
            f"user {user} and item {item} occur more than once. Keep one value of each pair, such "
            "as the last or the mean."
        )
    rows, columns = places.max(axis=0) + 1
    return Observed(shape or (int(rows), int(columns)), places, values)


def _where(entries: Any, seen: Any) -> Observed:
    places = np.column_stack([entries.row[seen], entries.col[seen]]).astype(np.int64)
    return Observed((int(entries.shape[0]), int(entries.shape[1])), places, entries.data[seen])


def _checked(X: Any, name: str, finite: Any = True) -> Any:
    require_no_times(X, name)
    try:
        matrix = check_array(
            X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite, input_name=name
        )
    except (TypeError, ValueError) as error:
        raise refused(X, error) from None
    require_squares(matrix.data if sp.issparse(matrix) else matrix, name)
    return matrix


def _refuse_lists(matrix: Array, name: str) -> None:
    """Refuse a list of users, items and ratings, which would pass for a matrix of three items."""
    n_columns = matrix.shape[1]
    has_times = n_columns == 4 and np.all(matrix[:, 3] > _TIMES)
    if not (n_columns == 3 or has_times) or np.isnan(matrix).any():
        return
    pairs = matrix[:, :2]
    if np.all(pairs >= 0.0) and np.all(pairs == np.floor(pairs)):
        raise DataError(
            f"{name} has no missing value and whole numbers in its first two columns, as a list of "
            "users, items and ratings has. Pass pairs of positions and their ratings, "
            "fit(pairs, ratings); sdpdr.factorize.ratings_from_frame makes a matrix of a frame. If "
            f"{name} is a complete matrix, pass scipy.sparse.csr_array({name})."
        )


def _warn_of_filled_gaps(matrix: Array, name: str) -> None:
    """Warn if most entries are zeros that are below all other ratings."""
    rated = matrix[matrix != 0.0]
    if not 0 < rated.size < matrix.size / 2 or not np.min(rated) > 0.0:  # False for NaN
        return
    warn(
        f"{1.0 - rated.size / matrix.size:.0%} of the entries of {name} are 0, none is missing, "
        f"and all others are {np.min(rated):g} or more. As they are, these zeros are ratings, the "
        "lowest. What is not rated is NaN: leave fillna(0) out, or pass "
        f"{name}.replace(0, numpy.nan) of a frame, numpy.where({name} == 0, numpy.nan, {name}) of "
        "an array.",
        FilledGapsWarning,
    )
