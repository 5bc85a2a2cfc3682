"""The price of the loss that predicts best, by cross-validation of entries."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
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
from sdpdr.base.estimators import as_numbers
from sdpdr.families.factor.margin.entries import Observed, note_entries, with_ratings
from sdpdr.families.factor.margin.estimator import MMMF
from sdpdr.families.factor.margin.prices import (
    ANY_PRICE,
    PATIENCE,
    Path,
    ascended,
    choosing_of,
    held_back,
)
from sdpdr.families.factor.margin.ratings import RatingMMMF

Fold = tuple[Observed, Observed]


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
        Prices; by default multiples of the one below which the matrix is zero, from that on, until
        none up to twice the best predicts better.
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
        twice the price below which the matrix is zero, or the lowest that was given; where it ended
        while scores were rising, twice that price or more.
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
        parts, given = self._checked(base)
        seed = validate.seed(self.random_state)
        deadline = Deadline(limit_of(self.time_limit, None if base.names_solver else PATIENCE))
        X = with_ratings(X, y)
        entries = base.entries(X)
        validate.positive_integer("cv", parts, at_least=2, at_most=entries.values.size)
        least = 1.0 if given else clone(base).least_price(entries)
        folds = list(held_back(entries, parts, seed))
        if isinstance(base, RatingMMMF):
            _require_variety(folds, parts)
        if not np.isfinite(least):
            least, given = 1.0, (ANY_PRICE,)
        path = self._ascended(base, least, given, folds, choosing_of(deadline))
        self.c_, self.cs_ = least * path.best, least * path.times
        self.best_score_ = float(np.max(np.mean(self.scores_, axis=1))) if self.cs_.size else np.nan
        self.estimator_ = clone(base).set_params(c=self.c_, time_limit=_time_of(base, deadline))
        self.estimator_.fit(entries).set_params(time_limit=base.time_limit)
        # The estimator is fitted to entries, and new tables are compared with names of its columns.
        for fitted in (self, self.estimator_):
            note_entries(fitted, X, entries)
        return self

    def _checked(self, base: Any) -> tuple[int, tuple[float, ...]]:
        """How many parts, and the prices given, ascending; what no data would suit is refused."""
        if not isinstance(base, RatingMMMF | MMMF):
            raise DataTypeError(f"estimator={base!r} is neither a RatingMMMF nor an MMMF.")
        parts = validate.positive_integer("cv", self.cv, at_least=2)
        given = () if self.cs is None else np.sort(np.ravel(as_numbers("cs", self.cs))).tolist()
        if self.cs is not None and not given:
            raise DataError("cs holds no price. Pass at least one.")
        for c in given or (None,):
            clone(base).set_params(c=c).require_parameters()
        return parts, tuple(given)

    def _ascended(
        self,
        base: Any,
        least: float,
        given: tuple[float, ...],
        folds: list[Fold],
        deadline: Deadline,
    ) -> Path:
        """Prices tried, and the scores at each of them."""
        scores: list[list[float]] = []
        learners = [clone(base) for _ in folds]
        if isinstance(base, RatingMMMF) and base.loss == "squared":
            # Each price begins where the last one ended, on MovieLens in half of the time. Under
            # the hinge descent begins with kinks rounded off widely, and it took up to 1.7 times.
            learners = [learner.set_params(warm_start=True) for learner in learners]
        perfect = 1.0 if isinstance(base, MMMF) else 0.0

        def error_at(multiple: float) -> float:
            own = {"c": least * multiple, "time_limit": _time_of(base, deadline)}
            scores.append(
                [
                    _tried(learner.set_params(**own), *fold)
                    for learner, fold in zip(learners, folds, strict=True)
                    if not deadline.is_over()
                ]
            )
            return perfect - float(np.mean(scores[-1] or np.nan))

        path = ascended(error_at, deadline, given)
        tried = path.times.size
        self.scores_ = np.array(scores[:tried]).reshape(tried, len(folds))
        if path.is_cut:
            warn(
                f"there was time to try {tried} prices, of which the best is taken. Raise "
                "time_limit, or pass None for no limit.",
                UncertifiedWarning,
            )
        return path

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


def _require_variety(folds: list[Fold], parts: int) -> None:
    """Refuse a split that leaves equal entries to learn from."""
    if any(np.ptp(seen.values) == 0.0 for seen, _ in folds):
        count = folds[0][0].values.size + folds[0][1].values.size
        raise DataError(
            f"where one of {parts} parts is held back, the rest of the {count} entries are all "
            "equal, and nothing is learned from them. Pass more entries, or another cv or "
            "random_state."
        )


def _time_of(base: Any, deadline: Deadline) -> float | None:
    """What is left of the time, or the estimator's own where that is less."""
    return deadline.left(Deadline(base.seconds).seconds)


def _tried(estimator: Any, seen: Observed, held: Observed) -> float:
    """The score on entries held back. What a part leaves empty says nothing of the whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnobservedWarning)
        warnings.simplefilter("ignore", WeakSeparationWarning)
        return float(estimator.fit(seen).score(held))
