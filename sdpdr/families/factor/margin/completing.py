"""What the estimators of signs and of ratings share: parameters, gaps, entries that are scored."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import limit_of
from sdpdr.base.errors import ShapeError, UnobservedWarning, warn
from sdpdr.base.parameters import require_kinds
from sdpdr.families.factor.margin.entries import (
    Observed,
    are_pairs,
    refuse_other_order,
    values_of_pairs,
)
from sdpdr.families.factor.margin.prices import PATIENCE
from sdpdr.families.factor.margin.recipe import NORMS


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

    def _note_unobserved(self, entries: Observed, what: str, consequence: str) -> None:
        rows, columns = entries.empty_rows, entries.empty_columns
        self.unobserved_rows_, self.unobserved_columns_ = rows, columns
        if rows.size or columns.size:
            warn(
                f"{rows.size} rows and {columns.size} columns hold no {what}, {consequence}; see "
                "unobserved_rows_ and unobserved_columns_.",
                UnobservedWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn, beside this one
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags
