"""Retrieval with relevance feedback: rank, show, receive labels, rank again."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Index
from sdpdr.base.errors import (
    AddedEdgesWarning,
    DataError,
    FewPointsWarning,
    NotAcceptedError,
    ShapeError,
)
from sdpdr.base.estimators import checked
from sdpdr.families.regress.pencils import METRICS
from sdpdr.families.regress.spectral_regression import SpectralRegression

_UNKNOWN, _IRRELEVANT, _RELEVANT = -1, 0, 1


@dataclass(eq=False, repr=False)
class RelevanceFeedback(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Retrieval with relevance feedback, by semi-supervised spectral regression.

    Objects are first ranked by their distance from a query q, and the user labels the best ones as
    relevant or not. `sdpdr.SpectralRegression` carries the labels, and the query as a relevant
    object, along the neighbour graph of the best objects, whose components are joined by shortest
    edges. Two classes have one response, so the map is one function :math:`a^T x`, which ranks
    those objects again, and all others follow in their previous order:

    .. math:: a^T x_i \quad\text{(``"response"``), or}\quad |a^T (x_i - q)|
              \quad\text{(``"distance"``)},

    the former with the sign of the mean of relevant objects, largest first; the latter smallest
    first, which ranks low the objects that are more clearly relevant than the query.

    Parameters
    ----------
    n_shown : int, default 10
        Objects shown in a round, none of them twice.
    n_pool : int, default 400
        Number of best objects that, with all labelled ones, are learned from and ranked.
    max_rounds : int, default 4
        Largest number of rounds.
    by : {"response", "distance"}, default "response"
    metric : {"euclidean", "cosine"}, default "euclidean"
        Metric of the first ranking, and of neighbours.

    Attributes
    ----------
    labels_ : array of int, shape (n,)
        1 relevant, 0 not, -1 unknown.
    ranking_ : array of int, shape (n,)
        Best first.
    rounds_ : int
        Rounds of labels in this search.
    is_over : bool
        Whether all objects shown last were relevant, the rounds are over, or all have a label.
    map_ : SpectralRegression, or None
        None before an object is labelled irrelevant; the ranking does not change before.
    n_features_in_ : int

    Raises
    ------
    DataError, DataTypeError, ShapeError, NotAcceptedError
        Data, queries or labels that cannot be used; a method is called before `ask`.

    References
    ----------
    Cai thesis, section 3.5.3, which ranks by the distance, in as many dimensions as there are
    classes, two; one of those responses is the constant vector, which separates no objects.

    Examples
    --------
    >>> from sdpdr.extend import RelevanceFeedback
    >>> from sklearn.datasets import load_digits
    >>> X, digit = load_digits(return_X_y=True)
    >>> search = RelevanceFeedback().fit(X[1:]).ask(X[0])
    >>> relevant = digit[1:] == digit[0]
    >>> before = relevant[search.ranking_[:150]].mean()
    >>> while not search.is_over:
    ...     shown = search.shown()
    ...     search = search.label(shown, relevant[shown])
    >>> bool(relevant[search.ranking_[:150]].mean() >= before)
    True
    """

    n_shown: int = 10
    _: KW_ONLY
    n_pool: int = 400
    max_rounds: int = 4
    by: str = "response"
    metric: str = "euclidean"

    def fit(self, X: Any, y: Any = None) -> RelevanceFeedback:
        """Store the objects (n, m), dense or sparse; y is ignored."""
        for name in ("n_shown", "n_pool", "max_rounds"):
            validate.positive_integer(name, getattr(self, name))
        validate.choice("by", self.by, ("response", "distance"))
        validate.choice("metric", self.metric, METRICS)
        self._X = checked(self, X, accept_sparse="csr", ensure_min_samples=2)
        self.__dict__.pop("_objects", None)  # of an earlier fit
        return self

    def ask(self, query: ArrayLike) -> RelevanceFeedback:
        """Start a search, without labels, by ranking distances from the query.

        Parameters
        ----------
        query : array_like of shape (m,), or sparse array of shape (1, m)

        Returns
        -------
        self
        """
        check_is_fitted(self, "n_features_in_")
        row = query if sp.issparse(query) else np.atleast_2d(np.asarray(query))
        row = checked(self, row, accept_sparse="csr", reset=False)
        if row.shape[0] != 1:
            raise ShapeError(f"the query has {row.shape[0]} rows. Pass one row, of one object.")
        if sp.issparse(self._X):
            self._objects: Any = sp.vstack([self._X, sp.csr_array(row)], format="csr")
        else:
            self._objects = np.vstack([self._X, row.toarray() if sp.issparse(row) else row])
        self._apart = pairwise_distances(self._X, self._objects[[-1]], metric=self.metric)[:, 0]
        self.labels_ = np.full(self._X.shape[0], _UNKNOWN)
        self.rounds_, self._satisfied = 0, False
        self.map_: SpectralRegression | None = None
        self.ranking_ = np.argsort(self._apart, kind="stable")
        return self

    @property
    def is_over(self) -> bool:
        """Whether the search is over."""
        self._check_asked()
        known = bool(np.all(self.labels_ != _UNKNOWN))
        return self._satisfied or self.rounds_ >= self.max_rounds or known

    def shown(self) -> Index:
        """Numbers of the best objects that have no label yet, at most ``n_shown``."""
        self._check_asked()
        new = self.ranking_[self.labels_[self.ranking_] == _UNKNOWN]
        return np.asarray(new[: self.n_shown])

    def label(self, objects: ArrayLike, relevant: ArrayLike) -> RelevanceFeedback:
        """Receive labels of objects, and rank again.

        Parameters
        ----------
        objects : array_like of int, shape (p,)
            Those of `shown`, some of them, or others. A second label replaces the first.
        relevant : array_like of bool, shape (p,)

        Returns
        -------
        self
        """
        self._check_asked()
        numbers = validate.numbers("objects", objects, self._X.shape[0], "numbers of objects")
        labels = np.atleast_1d(np.asarray(relevant))
        if labels.shape != numbers.shape or not np.isin(labels, (0, 1)).all():
            raise DataError(
                f"relevant={relevant!r}: expected {numbers.size} truth values, one for each object."
            )
        self.labels_[numbers] = np.where(labels.astype(bool), _RELEVANT, _IRRELEVANT)
        self.rounds_ += 1
        self._satisfied = bool(labels.all())
        if np.any(self.labels_ == _IRRELEVANT):
            self._rank()
        return self

    def _rank(self) -> None:
        known = np.flatnonzero(self.labels_ != _UNKNOWN)
        pool = np.union1d(self.ranking_[: self.n_pool], known)
        objects = self._objects[np.append(pool, -1)]  # the query is the last of all
        labels = np.append(self.labels_[pool], _RELEVANT)
        learned = SpectralRegression(responses="semisupervised", metric=self.metric, connect="mst")
        with warnings.catch_warnings():
            # Components are joined, and of few objects all are neighbours, in every round.
            warnings.simplefilter("ignore", AddedEdgesWarning)
            warnings.simplefilter("ignore", FewPointsWarning)
            self.map_ = learned.fit(objects, labels)
        response = learned.transform(objects)[:, 0]
        if self.by == "distance":
            badness = np.abs(response[:-1] - response[-1])
        else:
            gain = response[labels == _RELEVANT].mean() - response[labels == _IRRELEVANT].mean()
            badness = -np.sign(gain) * response[:-1]
        # Ties by distance, so that the order is deterministic.
        ranked = pool[np.lexsort((self._apart[pool], badness))]
        self.ranking_ = np.concatenate([ranked, self.ranking_[~np.isin(self.ranking_, pool)]])

    def _check_asked(self) -> None:
        check_is_fitted(self, "n_features_in_")
        if not hasattr(self, "_objects"):
            raise NotAcceptedError("there is no search yet. Call ask(query) first.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
