"""Base of the estimators of signs and of ratings: positions, scores, new users."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import limit_of
from sdpdr.base.errors import DataError, DataTypeError, ShapeError, UnobservedWarning, warn
from sdpdr.base.estimators import note_columns
from sdpdr.base.parameters import require_kinds
from sdpdr.families.factor.mmmf.descent import folded
from sdpdr.families.factor.mmmf.entries import Observed, are_pairs, positions
from sdpdr.families.factor.mmmf.norms import NORMS
from sdpdr.families.factor.mmmf.program import FactorModel, Program

# Seconds of a fit if no limit is given, as of unfoldings.
SECONDS = 60.0


class RatingEstimatorMixin:
    """Base of estimators that complete entries of users and items."""

    norm: str
    max_iter: int
    time_limit: float | str | None
    random_state: Any

    value_: float
    bound_: float
    gap_: float
    user_offsets_: Array
    item_offsets_: Array
    unobserved_rows_: Index
    unobserved_columns_: Index
    _read: Observed

    @abstractmethod
    def predict(self, users: Any = None, items: ArrayLike | None = None) -> Any:
        """Predicted entries, of pairs or of all users and items."""

    @abstractmethod
    def _entries(self, X: Any, y: Any = None) -> Observed:
        """Observed entries in the form in which `fit` takes them."""

    @abstractmethod
    def _program_of(self, entries: Observed) -> Program:
        """The fitted program with other entries."""

    @abstractmethod
    def _model(self) -> FactorModel:
        """Fitted factors, balanced, with offsets and thresholds."""

    @property
    def seconds(self) -> float | None:
        """The time limit; "auto" is a minute."""
        return limit_of(self.time_limit, SECONDS)

    def require_parameters(self) -> None:
        """Refuse parameters that suit no data.

        Raises
        ------
        DataError, DataTypeError, UnknownNameError
        """
        require_kinds(self)
        validate.choice("norm", self.norm, NORMS)
        validate.positive_integer("max_iter", self.max_iter)
        limit_of(self.time_limit, SECONDS)
        # The check of a generator draws from it.
        validate.seed(deepcopy(self.random_state))

    def decision_function(self, users: Any = None, items: ArrayLike | None = None) -> Array:
        """Scores f; arguments as for `predict`."""
        check_is_fitted(self, "value_")
        at = self._model()
        if users is None:
            return at.matrix
        i, a = self._positions(users, items)
        U, V = (np.vstack([F, np.zeros(F.shape[1])]) for F in (at.U, at.V))
        rows, columns = (np.append(offsets, 0.0) for offsets in (at.rows, at.columns))
        return FactorModel(U, V, rows, columns, at.thresholds).scores(i, a)

    def _positions(self, users: Any, items: ArrayLike | None) -> tuple[Index, Index]:
        """Rows and columns of pairs, unknown ones in one position behind the last."""
        if items is None:
            pairs = positions("users", users)
            if pairs.ndim != 2 or pairs.shape[1] != 2:
                raise ShapeError(
                    "users and items must be given one for one, or users be pairs of both, of "
                    f"shape (m, 2); they have shape {pairs.shape}."
                )
            i, a = pairs.T
        else:
            i, a = (np.atleast_1d(positions(name, side)) for name, side in
                    (("users", users), ("items", items)))  # fmt: skip
        if i.ndim > 1 or i.shape != a.shape:
            raise ShapeError(
                f"{i.size} users and {a.size} items are no pairs. Pass as many of each."
            )
        p, q = self._read.shape
        unknown = int(np.sum(i >= p)), int(np.sum(a >= q))
        if any(unknown):
            warn(
                f"of {i.size} pairs, the users of {unknown[0]} and the items of {unknown[1]} were "
                "not in the fit. Offsets of the other side predict these. New users can be folded "
                "in with fold_in.",
                UnobservedWarning,
            )
        return np.minimum(i, p), np.minimum(a, q)

    def _held_back(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Predictions for the entries of X, and these."""
        check_is_fitted(self, "value_")
        entries = self._entries(X, y)
        if not are_pairs(X, y):
            self._note_columns(X, reset=False)
            if entries.shape != self._read.shape:
                raise ShapeError(
                    f"the matrix fitted has shape {self._read.shape}; this one has "
                    f"{entries.shape}. Pass pairs of positions as X and their values as y."
                )
        return self.predict(*entries.places.T), entries.values

    def _note_columns(self, X: Any, *, reset: bool) -> None:
        """Set or compare number and names of columns.

        Raises
        ------
        ShapeError
            New data have other columns than those of the fit.
        """
        if isinstance(X, Observed):
            return
        try:
            note_columns(self, X, reset=reset)
        except DataTypeError:
            raise  # about names of several kinds
        except DataError as error:
            raise ShapeError(str(error)) from None

    def _set_fitted(self, X: Any, y: Any, entries: Observed, found: Any, kind: str) -> None:
        """Set the attributes that both estimators have."""
        self._read = entries
        self.value_, self.bound_, self.gap_ = found.value, found.bound, found.gap
        if not are_pairs(X, y):
            self._note_columns(X, reset=True)
        self.n_features_in_ = entries.shape[1]
        rows, columns = entries.empty_rows, entries.empty_columns
        self.unobserved_rows_, self.unobserved_columns_ = rows, columns
        if rows.size or columns.size:
            warn(
                f"{rows.size} rows and {columns.size} columns hold no {kind}; offsets of the other "
                "side, if there are any, predict them. See unobserved_rows_ and "
                "unobserved_columns_.",
                UnobservedWarning,
            )

    def _folded(self, X: Any) -> FactorModel:
        """Factors and offsets of new users, with fixed factors of items."""
        check_is_fitted(self, "value_")
        entries = self._entries(X)
        self._note_columns(X, reset=False)
        return folded(self._program_of(entries), self._model())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # scikit-learn's base follows
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags
