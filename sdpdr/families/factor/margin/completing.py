"""What the estimators of signs and of ratings share, and how they read users who come later."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import limit_of
from sdpdr.base.errors import DataError, ShapeError, UnobservedWarning, warn
from sdpdr.base.parameters import require_kinds
from sdpdr.base.rows import listed
from sdpdr.families.factor.margin.bound import MarginFactorization
from sdpdr.families.factor.margin.descent import folded
from sdpdr.families.factor.margin.entries import (
    Observed,
    are_pairs,
    note_entries,
    numbers_of,
    refuse_other_order,
    values_of_pairs,
)
from sdpdr.families.factor.margin.factors import Completion, Program
from sdpdr.families.factor.margin.norms import NORMS
from sdpdr.families.factor.margin.prices import PATIENCE
from sdpdr.families.factor.margin.triples import as_table, named_columns


class Completing:
    """Base of estimators that complete entries of users and items."""

    norm: str
    max_iter: int
    time_limit: float | str | None
    random_state: Any

    users_: np.ndarray
    items_: np.ndarray
    unobserved_rows_: Index
    unobserved_columns_: Index
    _read: Observed

    @staticmethod
    @abstractmethod
    def entries(X: Any) -> Observed:
        """What `fit` reads from X; it takes this as well."""

    @abstractmethod
    def predict(self, users: Any = None, items: ArrayLike | None = None) -> Any:
        """Entries predicted, of pairs or of all users and items."""

    @abstractmethod
    def _program_of(self, entries: Observed) -> Program:
        """The program that was solved, of other entries."""

    @abstractmethod
    def _completion(self) -> Completion:
        """What the fit has found, as descent has it."""

    @property
    def names_solver(self) -> bool:
        """Whether a solver is asked for that is not the default."""
        return False

    @property
    def seconds(self) -> float | None:
        """The time limit; "auto" is a minute, unless a solver is named."""
        return limit_of(self.time_limit, None if self.names_solver else PATIENCE)

    def require_parameters(self) -> None:
        """Refuse parameters that suit no data.

        Raises
        ------
        DataError, DataTypeError, UnknownNameError
        """
        require_kinds(self)
        validate.choice("norm", self.norm, NORMS)
        validate.positive_integer("max_iter", self.max_iter)
        limit_of(self.time_limit, PATIENCE)
        # A generator is looked at, and nothing drawn from it.
        validate.seed(deepcopy(self.random_state))

    def _beside(self, X: Any, y: Any) -> tuple[Array, Array]:
        """What is predicted in place of entries held back, and these."""
        if are_pairs(X, y):
            return self.predict(X), values_of_pairs(X, y)
        entries, read = self.entries(X), self._read
        if not (entries.from_triples or read.from_triples) and entries.shape != read.shape:
            raise ShapeError(
                f"the matrix fitted has shape {read.shape}; this one has {entries.shape}."
            )
        i, a = entries.places.T
        users, items = entries.users[i], entries.items[a]
        if not read.from_triples and entries.is_numbered:
            refuse_other_order(self, X, entries)
            users, items = self.users_[i], self.items_[a]
        return self.predict(users, items), entries.values

    def _noted(
        self,
        X: Any,
        entries: Observed,
        found: Completion | MarginFactorization,
        what: str,
        consequence: str,
    ) -> None:
        """Set what fits of both kinds say of what was read and of what was found."""
        self._read, self.users_, self.items_ = entries, entries.users, entries.items
        self.value_, self.bound_, self.gap_ = found.value, found.bound, found.gap
        note_entries(self, X, entries)
        rows, columns = entries.empty_rows, entries.empty_columns
        self.unobserved_rows_, self.unobserved_columns_ = rows, columns
        if rows.size or columns.size:
            warn(
                f"{rows.size} rows and {columns.size} columns hold no {what}, {consequence}; see "
                "unobserved_rows_ and unobserved_columns_.",
                UnobservedWarning,
            )

    def _folded(self, X: Any) -> Completion:
        """Factors and offsets of new users, those of items being what they are."""
        check_is_fitted(self, "items_")
        return folded(self._program_of(read_newcomers(self, X)), self._completion())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn, beside this one
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


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
