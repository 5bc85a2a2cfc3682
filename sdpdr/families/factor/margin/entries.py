"""Ratings as they come: triples of user, item and rating, sparse matrices, tables with gaps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index, own_rows
from sdpdr.base.errors import DataError, DataTypeError, FilledGapsWarning, ShapeError, warn
from sdpdr.base.estimators import as_numbers, note_columns
from sdpdr.base.labels import distinct
from sdpdr.base.rows import listed
from sdpdr.families.factor.margin.triples import (
    as_table,
    begins_with_names,
    has_named_rows,
    is_number,
    named_columns,
    refuse_text,
    triples_of,
    warn_of_unused,
)
from sdpdr.families.factor.nonnegative.inputs import checked_matrix, dense_matrix


@dataclass(frozen=True, eq=False)
class Observed:
    """Numbers observed at some places of a matrix.

    Attributes
    ----------
    shape : tuple of int
        (p, q), rows for users and columns for items.
    places : array of int, shape (m, 2)
        Row by row.
    values : array of shape (m,)
    users, items : arrays of shape (p,) and (q,)
        What rows and columns are called; their numbers by default.
    from_triples : bool
        Whether they came as triples, whose users and items are told by names alone, and not as a
        matrix, in which they have places.
    """

    shape: tuple[int, int]
    places: Index
    values: Array
    users: np.ndarray = field(default_factory=lambda: np.zeros(0))
    items: np.ndarray = field(default_factory=lambda: np.zeros(0))
    from_triples: bool = False

    def __post_init__(self) -> None:
        for name, n in zip(("users", "items"), self.shape, strict=True):
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.arange(n))

    @property
    def is_numbered(self) -> bool:
        """Whether rows and columns are called by their numbers, as in a matrix without names."""
        sides = zip((self.users, self.items), self.shape, strict=True)
        are_numbers = all(np.array_equal(names, np.arange(n)) for names, n in sides)
        return are_numbers and not self.from_triples

    @property
    def empty_rows(self) -> Index:
        """Rows in which nothing was observed."""
        return np.setdiff1d(np.arange(self.shape[0]), self.places[:, 0])

    @property
    def empty_columns(self) -> Index:
        """Columns in which nothing was observed."""
        return np.setdiff1d(np.arange(self.shape[1]), self.places[:, 1])

    def spread(self, values: Array) -> sp.csr_array:
        """The sparse matrix of other numbers at the same places."""
        ends, columns = self._pattern
        return sp.csr_array((values, columns, ends), shape=self.shape)

    @cached_property
    def _pattern(self) -> tuple[Index, Index]:
        """Where rows end, and the columns of entries; descent asks thousands of times."""
        rows, columns = self.places.astype(np.int32).T
        counts = np.bincount(rows, minlength=self.shape[0])
        return np.append(0, np.cumsum(counts)).astype(np.int32), np.ascontiguousarray(columns)

    def only(self, which: Index) -> Observed:
        """Some of them, in a matrix of the same shape."""
        which = np.sort(which)
        return replace(self, places=self.places[which], values=self.values[which])


def read_entries(X: Any, name: str = "X") -> Observed:
    """Ratings from triples, from a sparse matrix of what was observed, or from a table with gaps.

    Parameters
    ----------
    X : array_like or data frame of shape (m, 3), sparse array or array_like of shape (p, q)
        Triples are told by their names or by what they hold, see ``triples``; users and items may
        have any names that can be sorted. The entries stored in a sparse array were observed,
        zeros as well; of a dense one, those that are not NaN. A frame whose rows have names,
        words rather than numbers, keeps these and its columns for users and items.
    name : str, default "X"
        What messages call it.

    Raises
    ------
    DataError
        A pair occurs twice, a rating is not finite, or there is none; or the names of a frame's
        columns leave open what they hold.
    DataTypeError
        Ratings are no numbers, or names are of several kinds.

    Warns
    -----
    UnusedColumnsWarning
        A frame has other columns beside users, items and ratings.
    FilledGapsWarning
        Most entries of a matrix are zero, and none is missing.

    Examples
    --------
    >>> entries = read_entries([["eve", "up", 5], ["bob", "up", 4], ["bob", "jaws", 1]])
    >>> entries.users.tolist(), entries.items.tolist(), entries.places.tolist()
    (['bob', 'eve'], ['jaws', 'up'], [[0, 0], [0, 1], [1, 1]])
    """
    if isinstance(X, Observed):
        return X
    if (triples := triples_of(X)) is not None:
        warn_of_unused(X)
        entries = _from_triples(triples, name)
    elif sp.issparse(X):
        if X.format == "bsr":
            raise DataError(
                f"{name} is sparse in blocks (BSR), whose zeros may be ratings or padding. Pass "
                "the CSR or COO matrix that it was made of."
            )
        stored = own_rows(checked_matrix(X, name, accept_sparse="csr")).tocoo()
        places = np.column_stack([stored.row, stored.col]).astype(np.int64)
        entries = Observed((int(stored.shape[0]), int(stored.shape[1])), places, stored.data)
    else:
        refuse_text(X)
        matrix = dense_matrix(X, name, gaps=True)
        _warn_of_filled_gaps(matrix, name)
        places = np.argwhere(~np.isnan(matrix))
        names = (X.index.to_numpy(), X.columns.to_numpy()) if has_named_rows(X) else ()
        entries = Observed((len(matrix), matrix.shape[1]), places, matrix[tuple(places.T)], *names)
    if not entries.values.size:
        raise DataError(f"no rating was given: all entries of {name} are missing.")
    return entries


def varying(entries: Observed) -> Observed:
    """Ratings, not all of which are equal.

    Raises
    ------
    DataError
    """
    if np.ptp(entries.values) > 0.0:
        return entries
    raise DataError(
        f"ratings take 1 value, {entries.values[0]:g} alone; at least two are needed to tell "
        "items apart. Missing ratings must be NaN."
    )


def _warn_of_filled_gaps(matrix: Array, name: str) -> None:
    """Warn of zeros that are apart from all ratings, and more than these."""
    rated = matrix[matrix != 0.0]
    if not 0 < rated.size < matrix.size / 2 or not np.min(rated) > 0.0:  # not of nan
        return
    warn(
        f"{1.0 - rated.size / matrix.size:.0%} of the entries of {name} are 0, none is missing, "
        f"and all others are {np.min(rated):g} or more. As they are, these zeros are ratings, the "
        "lowest. What is not rated is NaN: leave fillna(0) out, or pass "
        f"{name}.replace(0, numpy.nan) of a frame, numpy.where({name} == 0, numpy.nan, {name}) of "
        "an array.",
        FilledGapsWarning,
    )


def are_pairs(X: Any, y: Any) -> bool:
    """Whether X holds pairs of user and item, and y what they are rated."""
    return y is not None and not isinstance(X, Observed) and _shape(X)[1:] == (2,)


def _shape(X: Any) -> tuple[int, ...]:
    # What only converts to an array may refuse NumPy's functions.
    return tuple(X.shape if hasattr(X, "shape") else np.asarray(X).shape)


def with_ratings(X: Any, y: Any) -> Any:
    """Triples, where X holds pairs of user and item and y what they are rated; X elsewhere.

    A table of two items with gaps is no list of pairs, and y says nothing of it.

    Raises
    ------
    DataError, ShapeError

    Examples
    --------
    >>> with_ratings([["eve", "up"], ["bob", "up"]], [5, 4]).to_numpy().tolist()
    [['eve', 'up', 5.0], ['bob', 'up', 4.0]]
    """
    if not are_pairs(X, y) or has_named_rows(X):
        return X
    table = as_table(X)
    if columns := named_columns(X, ("users", "items")):
        table = table[columns]
    if not begins_with_names(table):
        return X
    values = values_of_pairs(X, y)
    return pd.DataFrame({0: table.iloc[:, 0].array, 1: table.iloc[:, 1].array, 2: values})


def values_of_pairs(pairs: Any, y: Any) -> Array:
    """What pairs are rated, a number for each.

    Raises
    ------
    DataError, ShapeError
    """
    _refuse_words("y", y)
    values, count = as_numbers("y", y), _shape(pairs)[0]
    if values.shape != (count,):
        raise ShapeError(
            f"{count} pairs need a rating each, y of shape ({count},); its shape is {values.shape}."
        )
    if not np.isfinite(values).all():
        gone = listed(np.flatnonzero(~np.isfinite(values)))
        raise DataError(
            f"ratings in y are not finite: {gone}. Leave their pairs out: with known = "
            "numpy.isfinite(y), pass X[known] and y[known]."
        )
    return values


def _refuse_words(where: str, ratings: Any) -> None:
    entries = np.ravel(np.asarray(ratings)).tolist()
    words = [each for each in entries if isinstance(each, str)]
    if text := [each for each in words if not is_number(each)]:
        if len(set(text)) == 1 and len(text) < len(entries):
            raise DataError(
                f"{where} holds {text[0]!r} beside numbers. If it stands for a rating that is not "
                "known, leave such rows out, as pandas.read_csv(FILE, "
                f"na_values=[{text[0]!r}]).dropna() does."
            )
        raise DataError(
            f"{where} holds words, such as {text[0]!r}, and no ratings. If words stand for two "
            "signs, pass 1 and -1 in their place, to MMMF; if for ratings in an order, pass 1, 2, "
            "3 and so on, to RatingMMMF."
        )


def note_entries(estimator: Any, X: Any, entries: Observed, *, reset: bool = True) -> None:
    """Set ``n_features_in_``, of a matrix ``feature_names_in_`` too; or compare what is new.

    Raises
    ------
    ShapeError
        A new matrix has other columns than that of the fit.
    DataTypeError
        Names of columns are of several kinds.
    """
    if reset:
        has_index = isinstance(X, pd.DataFrame) and not entries.from_triples
        estimator._index = X.index if has_index else pd.RangeIndex(entries.shape[0])
    if not entries.from_triples and not isinstance(X, Observed):
        try:
            note_columns(estimator, X, reset=reset)
        except DataTypeError:
            raise  # Of names, and not of how many there are.
        except DataError as error:
            raise ShapeError(str(error)) from None
    elif reset:
        estimator.n_features_in_ = entries.shape[1]


def refuse_other_order(estimator: Any, X: Any, entries: Observed) -> None:
    """Refuse a matrix whose columns are called otherwise, or whose rows stand in another order.

    Rows that are numbered are told by their places, whatever their numbers.

    Raises
    ------
    ShapeError
    """
    note_entries(estimator, X, entries, reset=False)
    known = estimator._index
    if not isinstance(X, pd.DataFrame) or X.index.equals(known) or not X.index.is_unique:
        return
    if len(X) == len(known) and X.index.isin(known).all():
        raise ShapeError(
            "rows of X are numbered as those of the fit, and stand in another order; rows without "
            "names are told by their places. Pass X.loc[index of the fit], or give rows names, "
            "words that is, in both."
        )


def _from_triples(table: pd.DataFrame, name: str) -> Observed:
    _refuse_words(f"the third column of {name}", table.iloc[:, 2])
    values = checked_matrix(table.iloc[:, 2:], name)[:, 0]
    users, i = distinct(table.iloc[:, 0], "names of users")
    items, a = distinct(table.iloc[:, 1], "names of items")
    order = np.lexsort((a, i))
    places = np.column_stack([i, a])[order]
    twice = np.flatnonzero(np.all(places[1:] == places[:-1], axis=1))
    if twice.size:
        user, item = places[twice[0]]
        raise DataError(
            f"user {users[user]} rated item {items[item]} more than once in {name}. Keep one "
            "rating of each pair, such as the last or the mean."
        )
    return Observed(
        (users.size, items.size), places, values[order], users, items, from_triples=True
    )


def numbers_of(names: ArrayLike, known: np.ndarray) -> Index:
    """Where names stand among those known, -1 where they do not.

    Examples
    --------
    >>> numbers_of(["b", "x"], np.array(["a", "b"])).tolist()
    [1, -1]
    """
    asked = np.asarray(names)
    if asked.ndim > 1:
        raise ShapeError(f"names must be one after the other; their shape is {asked.shape}.")
    found = pd.Index(known).get_indexer(pd.Index(np.atleast_1d(asked)))
    return np.asarray(found, dtype=np.int64)


def names_of_pairs(users: Any, items: ArrayLike | None) -> tuple[Any, Any]:
    """Names of users and of items, of pairs or of triples, whose ratings are left out.

    Raises
    ------
    ShapeError
        They are no pairs.

    Examples
    --------
    >>> users, items = names_of_pairs([["eve", "up", 5], ["bob", "jaws", 1]], None)
    >>> users.tolist(), items.tolist()
    (['eve', 'bob'], ['up', 'jaws'])
    """
    if items is not None:
        return users, items
    if columns := named_columns(users, ("users", "items")):
        users = users[columns]
    if _begin_with_pairs(users):
        table = as_table(users)
        return table.iloc[:, 0].to_numpy(), table.iloc[:, 1].to_numpy()
    raise ShapeError(
        "users and items must be named one for one, or users be pairs of both, of shape (m, 2), or "
        f"triples with ratings, which are not looked at; they have shape {_shape(users)}."
    )


def _begin_with_pairs(X: Any) -> bool:
    """Whether X has two columns, or three of which the first two hold names."""
    columns = _shape(X)[1:]
    if columns != (3,):
        return columns == (2,)
    return not has_named_rows(X) and begins_with_names(as_table(X))


def pairs_of(
    users: Any, items: ArrayLike | None, known_users: np.ndarray, known_items: np.ndarray
) -> tuple[Index, Index]:
    """Numbers of users and items, named one for one or in pairs; -1 of those unknown.

    Raises
    ------
    ShapeError
        They are no pairs.
    """
    users, items = names_of_pairs(users, items)
    i, a = numbers_of(users, known_users), numbers_of(items, known_items)
    if i.shape != a.shape:
        raise ShapeError(f"{i.size} users and {a.size} items are no pairs. Name as many of each.")
    return i, a
