"""Users who come after a fit: their entries, in a matrix with a column for each item fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.rows import listed
from sdpdr.families.factor.margin.entries import Observed, note_entries, numbers_of
from sdpdr.families.factor.margin.triples import as_table, named_columns

# Columns of a list of user, item and rating.
_TRIPLE = 3


def read_newcomers(estimator: Any, X: Any) -> Observed:
    """Entries of new users, as a fitted `RatingMMMF` or `MMMF` reads them.

    Columns of a frame that are called as items are these, in any order; those left out are gaps.
    A matrix without such names has a column for each item, in the order of ``items_``. Triples are
    told from a matrix as in a fit, except that three columns with gaps are three items.

    Raises
    ------
    DataError
        An item is none of those fitted.
    ShapeError
        A matrix without names has more or fewer columns than there are items.
    """
    items, fitted = estimator.items_, estimator._read
    has_names = fitted.from_triples or not np.array_equal(items, np.arange(items.size))
    table = _called_as(items, X) if has_names else None
    is_labelled = table is not None
    if table is None and _has_gaps(X, items.size):
        table = as_table(X)
    entries = estimator.entries(X if table is None else _as_matrix(table))
    if entries.from_triples:
        return _of_known_items(entries, items)
    if fitted.from_triples and not is_labelled:
        _refuse_others(X, items)
    elif not is_labelled:
        note_entries(estimator, X, entries, reset=False)
    _require_all(entries, items)
    return Observed(entries.shape, entries.places, entries.values)


def _called_as(items: np.ndarray, X: Any) -> pd.DataFrame | None:
    """A frame with a column for each item, where those of X are called so; None elsewhere."""
    if not isinstance(X, pd.DataFrame) or _is_numbered(X) or named_columns(X):
        return None
    known = numbers_of(X.columns.to_numpy(), items) >= 0
    if not known.any():
        return None
    if not known.all():
        others = listed(list(map(repr, X.columns[~known].tolist())))
        raise DataError(
            f"columns of X are called as items, but not all: {others} are none of the "
            f"{items.size} items fitted, so their factors are not known. Leave these columns out."
        )
    if not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()].tolist()
        raise DataError(f"item {twice[0]!r} has several columns in X. Keep one of them.")
    return X.reindex(columns=items)


def _is_numbered(X: pd.DataFrame) -> bool:
    """Whether columns have no names but their places."""
    return X.columns.equals(pd.RangeIndex(X.shape[1]))


def _has_gaps(X: Any, count: int) -> bool:
    """Whether X is a row or more of three items with gaps, which is no list of triples."""
    if count != _TRIPLE or isinstance(X, Observed) or sp.issparse(X):
        return False
    if validate.n_dimensions(X) != 2 or named_columns(X):
        return False
    table = as_table(X)
    return table.shape[1] == _TRIPLE and bool(table.isna().any(axis=None))


def _as_matrix(table: pd.DataFrame) -> pd.DataFrame:
    """With names of rows, by which a frame is read as a matrix whatever it holds."""
    return table.set_axis(pd.Index([f"user {k}" for k in range(len(table))], dtype=object))


def _refuse_others(X: Any, items: np.ndarray) -> None:
    """Refuse a frame none of whose columns is called as an item."""
    if isinstance(X, pd.DataFrame) and not _is_numbered(X):
        called = listed(list(map(repr, X.columns.tolist())))
        raise DataError(
            f"X has columns {called}, none of which is called as one of the {items.size} items "
            "fitted (items_). Name columns so; or pass triples of user, item and rating."
        )


def _require_all(entries: Observed, items: np.ndarray) -> None:
    """Refuse a matrix without a column for each item."""
    if entries.shape[1] != items.size:
        raise ShapeError(
            f"a matrix of new users has a column for each of the {items.size} items fitted, in the "
            f"order of items_; this one has {entries.shape[1]}. Pass a frame whose columns are "
            "called as the items that it holds, or triples of user, item and rating."
        )


def _of_known_items(entries: Observed, items: np.ndarray) -> Observed:
    """Entries of triples at the places of items in a fit."""
    columns = numbers_of(entries.items, items)
    if np.any(columns < 0):
        unknown = entries.items[np.flatnonzero(columns < 0)[0]]
        raise DataError(
            f"item {unknown} was not among the {items.size} items fitted, so its factor is not "
            "known. Leave its ratings out. If X is no list of user, item and rating but a matrix, "
            "pass a frame whose columns are called as items_."
        )
    places = np.column_stack([entries.places[:, 0], columns[entries.places[:, 1]]])
    return Observed((entries.shape[0], items.size), places, entries.values)
