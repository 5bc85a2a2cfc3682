"""The price of the loss that predicts best, by cross-validation of entries."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold
from sklearn.utils import TransformerTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline, limit_of
from sdpdr.base.errors import (
    DataError,
    DataTypeError,
    UncertifiedWarning,
    UnobservedWarning,
    WeakSeparationWarning,
    warn,
)
from sdpdr.families.factor.margin.entries import Entries, note_entries, with_ratings
from sdpdr.families.factor.margin.estimator import MMMF
from sdpdr.families.factor.margin.prices import ANY_PRICE, PATIENCE, RULE, choosing_of
from sdpdr.families.factor.margin.ratings import RatingMMMF

# Times the price below which the matrix is zero. Fits take the longer the more they cost.
_PRICES = (1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.6, 8.0, 11.0, 16.0, 32.0)
# Share of the best score that a worse one lacks, and prices in a row that are no better.
_WORSE, _PATIENCE = 1e-3, 2


def _is_map(search: MMMFCV) -> bool:
    return search.estimator is None or hasattr(search.estimator, "transform")


@dataclass(eq=False, repr=False)
class MMMFCV(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The price of the loss at which entries held back are predicted best.

    Entries are split, not rows: each fit sees the matrix with other entries left out.

    Parameters
    ----------
    estimator : RatingMMMF or MMMF, optional
        Fitted with each price; `RatingMMMF` by default. `MMMF` has offsets at a price that is
        given only with a ``ridge``.
    cs : array_like, optional
        Prices; by default 1.25 to 32 times the one below which the matrix is zero, until one
        predicts worse by a thousandth, or two no better.
    cv : int, default 5
        Parts into which entries are split at random.
    time_limit : float, "auto" or None, default "auto"
        Seconds, of which the search has half: a price that it cuts short does not count. None for
        no limit but that of the estimator. By default 60, unless the estimator names a solver.
    random_state : int or RandomState, default 0
        Of the split.

    Attributes
    ----------
    cs_ : array of shape (n,)
        Prices that were tried.
    scores_ : array of shape (n, cv)
        The estimator's score on the part held back.
    c_ : float
        The price of the best mean score; the lowest of several. Where there was time for none,
        twice the price below which the matrix is zero, or the lowest that was given.
    best_score_ : float
        nan where there was time for none.
    estimator_ : RatingMMMF or MMMF
        Fitted to all entries with this price.
    n_features_in_ : int

    Raises
    ------
    DataError
        There are fewer entries than parts, or no price.

    Warns
    -----
    UncertifiedWarning
        The search ended for want of time.

    Examples
    --------
    >>> from sdpdr import datasets
    >>> X, _ = datasets.partial_signs(30, 20, share=0.6)
    >>> import sdpdr
    >>> model = MMMFCV(sdpdr.MMMF(tol=1e-3), cs=[0.05, 0.3, 1.0], cv=3).fit(X)
    >>> model.c_, model.predict([(0, 1)]).shape
    (0.3, (1,))
    """

    estimator: Any = None
    _: KW_ONLY
    cs: ArrayLike | None = None
    cv: int = 5
    time_limit: float | str | None = "auto"
    random_state: Any = 0

    def fit(self, X: Any, y: Any = None) -> MMMFCV:
        """Try all prices, and fit with the best.

        Parameters
        ----------
        X, y
            As for the estimator.

        Returns
        -------
        self
        """
        base = RatingMMMF() if self.estimator is None else self.estimator
        if not isinstance(base, RatingMMMF | MMMF):
            raise DataTypeError(f"estimator={base!r} is neither a RatingMMMF nor an MMMF.")
        deadline = Deadline(limit_of(self.time_limit, None if _names_solver(base) else PATIENCE))
        X = with_ratings(X, y)
        entries = base.entries(X)
        parts = validate.positive_integer("cv", self.cv, at_least=2, at_most=entries.values.size)
        self.cs_ = np.sort(np.ravel(_prices(base, entries) if self.cs is None else self.cs))
        if not self.cs_.size:
            raise DataError("cs holds no price. Pass at least one.")
        split = KFold(parts, shuffle=True, random_state=validate.seed(self.random_state))
        folds = [
            (entries.only(seen), entries.only(held)) for seen, held in split.split(entries.values)
        ]
        if isinstance(base, RatingMMMF):
            _require_variety(folds, parts)
        self.scores_ = self._scores(base, folds, choosing_of(deadline))
        self.c_ = self._best(base, entries)
        self.cs_ = self.cs_[: len(self.scores_)]
        self.best_score_ = float(np.max(np.mean(self.scores_, axis=1))) if self.cs_.size else np.nan
        self.estimator_ = _at(base, self.c_, deadline).fit(entries)
        self.estimator_.set_params(time_limit=base.time_limit)
        # The estimator is fitted to entries, and new tables are compared with names of its columns.
        for fitted in (self, self.estimator_):
            note_entries(fitted, X, entries)
        return self

    def _scores(self, base: Any, folds: list[tuple[Entries, Entries]], deadline: Deadline) -> Array:
        """Of every price; of those that nobody named, until they predict worse."""
        scores: list[list[float]] = []
        means: list[float] = []
        for c in self.cs_:
            tried = [_tried(_at(base, c, deadline), *f) for f in folds if not deadline.is_over()]
            if deadline.is_over():
                warn(
                    f"there was time to try {len(scores)} of {self.cs_.size} prices, of which the "
                    "best is taken. Raise time_limit, or pass None for no limit.",
                    UncertifiedWarning,
                )
                break
            scores.append(tried)
            means.append(float(np.mean(tried)))
            if self.cs is None and _is_past_the_best(means):
                break
        return np.array(scores).reshape(len(scores), len(folds))

    def _best(self, base: Any, entries: Entries) -> float:
        """The price of the best mean score; without scores, one that is good as a rule."""
        if len(self.scores_):
            return float(self.cs_[np.argmax(np.mean(self.scores_, axis=1))])
        rule = _PRICES.index(RULE) if self.cs is None else 0
        return float(self.cs_[min(rule, self.cs_.size - 1)])

    def predict(self, users: Any = None, items: ArrayLike | None = None) -> Array:
        """As the estimator does."""
        return self._fitted().predict(users, items)

    def decision_function(self, users: Any = None, items: ArrayLike | None = None) -> Array:
        """As the estimator does."""
        return self._fitted().decision_function(users, items)

    def score(self, X: Any, y: Any = None) -> float:
        """As the estimator does."""
        return float(self._fitted().score(X, y))

    def fold_in(self, X: Any) -> Array:
        """As the estimator does."""
        return self._fitted().fold_in(X)

    @available_if(_is_map)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def transform(self, X: Any) -> Array:
        """As the estimator does."""
        return self._fitted().transform(X)

    @available_if(_is_map)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """``fit(X, y)``, and the factors of its users."""
        X = with_ratings(X, y)
        return self.fit(X).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        if _is_map(self):
            tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_


def _prices(base: Any, entries: Entries) -> Array:
    """Multiples of the least price, where there is one."""
    least = clone(base).least_price(entries)
    return least * np.array(_PRICES) if np.isfinite(least) else np.array([ANY_PRICE])


def _is_past_the_best(means: list[float]) -> bool:
    """Whether the last score is clearly worse than the best, or two were no better.

    Where a matrix is zero, scores of two prices differ by rounding.
    """
    best = int(np.argmax(means))
    return len(means) - 1 - best >= _PATIENCE or means[-1] < means[best] - _WORSE * abs(means[best])


def _require_variety(folds: list[tuple[Entries, Entries]], parts: int) -> None:
    """Refuse a split that leaves equal entries to learn from."""
    if any(np.ptp(seen.values) == 0.0 for seen, _ in folds):
        count = folds[0][0].values.size + folds[0][1].values.size
        raise DataError(
            f"where one of {parts} parts is held back, the rest of the {count} entries are all "
            "equal, and nothing is learned from them. Pass more entries, or another cv or "
            "random_state."
        )


def _names_solver(base: Any) -> bool:
    return isinstance(base, MMMF) and base.names_solver


def _at(base: Any, c: float, deadline: Deadline) -> Any:
    """The estimator at a price, in the time that is left, or its own where that is less."""
    own = Deadline(limit_of(base.time_limit, None if _names_solver(base) else PATIENCE)).seconds
    return clone(base).set_params(c=c, time_limit=deadline.left(own))


def _tried(estimator: Any, seen: Entries, held: Entries) -> float:
    """The score on entries held back. What a part leaves empty says nothing of the whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnobservedWarning)
        warnings.simplefilter("ignore", WeakSeparationWarning)
        return float(estimator.fit(seen).score(held))
