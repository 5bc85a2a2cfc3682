"""Estimators of signs and of ratings by a matrix of small trace norm."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline, limit_of
from sdpdr.base.errors import DataError, ShapeError, UnobservedWarning, WeakSeparationWarning, warn
from sdpdr.base.estimators import note_columns
from sdpdr.base.keywords import ChecksKeywords
from sdpdr.base.parameters import require_kinds
from sdpdr.base.rows import listed
from sdpdr.families.factor.mmmf import entries as read
from sdpdr.families.factor.mmmf.entries import Observed
from sdpdr.families.factor.mmmf.factorization import factorized
from sdpdr.families.factor.mmmf.program import (
    HingeProgram,
    MarginFactorization,
    Program,
    SquaredProgram,
    principal,
)
from sdpdr.families.factor.mmmf.recipe import require_penalties
from sdpdr.families.factor.mmmf.splitting import least_penalty

# Seconds of a fit if no limit is given.
_SECONDS = 60.0


@dataclass(eq=False, repr=False)
class _Completion(ChecksKeywords, BaseEstimator):  # type: ignore[misc]  # it has no types
    """Base of estimators that complete a matrix of users and items."""

    # Default penalty as a multiple of the least at which the matrix is not zero: near the best on
    # MovieLens 100k, and in between the best of families with more and with less noise, from 1 to 8
    # (``docs/methods/mmmf.rst``).
    _multiple: ClassVar[float]
    _program: ClassVar[type[Program]]
    # Penalty of offsets in signs. On ten of 17 families of signs 15 predicts better than 5, by up
    # to 1.3 points, and worse on five, by up to 0.5.
    _default_ridge: ClassVar[float] = 15.0

    c: float | None = None
    _: KW_ONLY
    ridge: float | None = None
    tol: float = 1e-6
    max_iter: int = 5000
    time_limit: float | str | None = "auto"

    c_: float = field(init=False)
    factorization_: MarginFactorization = field(init=False)

    @abstractmethod
    def _read(self, X: Any, y: Any = None) -> Observed:
        """Entries in the form that `fit` takes."""

    @abstractmethod
    def _learn(self, values: Array) -> None:
        """Set attributes of the loss, and refuse values that are all equal."""

    @abstractmethod
    def _labels(self, scores: Array) -> Array:
        """Predictions from scores."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Complete a matrix.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q), or pairs of shape (m, 2) with ``y``
            Signs: 1 and -1 where one was observed, 0 or NaN where not. Ratings: a sparse array
            whose stored entries are ratings, or a table with NaN where none was given. Or pairs of
            row and column.
        y : array_like of shape (m,), optional
            The signs or ratings of the pairs. Not used if X holds them itself.

        Returns
        -------
        self
        """
        self._require_parameters()
        deadline = Deadline(limit_of(self.time_limit, _SECONDS))
        entries = self._read(X, y)
        self._learn(entries.values)
        self.ridge_ = self._ridge(self.c is None)
        if self.c is None:
            least = least_penalty(self._program(entries, 1.0, self.ridge_))
            # If the best matrix is zero at every penalty, the choice does not matter.
            self.c_ = self._multiple * least if np.isfinite(least) else 1.0
        else:
            self.c_ = self.c
        program = self._program(entries, self.c_, self.ridge_)
        found = factorized(program, tol=self.tol, max_iter=self.max_iter, deadline=deadline)
        rows = np.setdiff1d(np.arange(entries.shape[0]), entries.rows)
        columns = np.setdiff1d(np.arange(entries.shape[1]), entries.columns)
        U, V = principal(found.U, found.V)
        U[rows] = V[columns] = 0.0
        self.factorization_, self.n_iter_ = replace(found, U=U, V=V), found.iterations
        self.value_, self.bound_, self.gap_ = found.value, found.bound, found.gap
        self.U_, self.V_, self.user_offsets_, self.item_offsets_ = U, V, found.rows, found.columns
        if not read.are_pairs(X, y):
            note_columns(self, X)
        self.n_features_in_ = entries.shape[1]
        if rows.size or columns.size:
            warn(
                f"nothing was observed in {rows.size} rows ({listed(rows)}) and {columns.size} "
                f"columns ({listed(columns)}). Offsets of the other side, if there are any, "
                "predict them.",
                UnobservedWarning,
            )
        if self.gap_ <= self.tol and not np.any(U):
            only = "only offsets predict" if np.isfinite(self.ridge_) else "it predicts nothing"
            warn(
                f"a loss with the penalty c = {self.c_:g} is so cheap that the best matrix is "
                f"zero, and {only}. Raise c.",
                WeakSeparationWarning,
            )
        return self

    def decision_function(self, X: ArrayLike | None = None) -> Array:
        """Scores f; the argument is as for `predict`."""
        check_is_fitted(self, "factorization_")
        at = self.factorization_
        if X is None:
            return at.scores
        i, a = self._known(read.positions(X))
        U, V = (np.vstack([F, np.zeros(F.shape[1])]) for F in (at.U, at.V))
        rows, columns = (np.append(offsets, 0.0) for offsets in (at.rows, at.columns))
        return MarginFactorization(U, V, rows, columns).scores_at(i, a)

    def predict(self, X: ArrayLike | None = None) -> Array:
        """Predict signs or ratings.

        Signs whose scores are at most ``tol`` times the largest are 0.

        Parameters
        ----------
        X : array_like of shape (m, 2), optional
            Pairs of user and item. The whole matrix by default.

        Returns
        -------
        array of shape (m,) or (p, q)
        """
        return self._labels(self.decision_function(X))

    def least_penalty(self, X: Any) -> float:
        """Penalty c below which M is zero, with the offsets that a fit at a given c has.

        It is exact for signs without offsets, and to some digits for the squared loss; else it is
        approximate, since the slope of the hinge jumps. It is infinite if offsets leave no loss.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q)
            As for `fit`.
        """
        self._require_parameters()
        return least_penalty(self._program(self._read(X), 1.0, self._ridge(False)))

    def _ridge(self, by_default: bool) -> float:
        """Penalty of offsets, of a fit whose c is chosen by default or given."""
        if self.ridge is not None:
            return self.ridge
        return self._default_ridge if by_default else np.inf

    def _require_parameters(self) -> None:
        require_kinds(self)
        validate.positive_integer("max_iter", self.max_iter)
        validate.positive_number("tol", self.tol)
        limit_of(self.time_limit, _SECONDS)
        require_penalties(1.0 if self.c is None else self.c, self._ridge(False))

    def _known(self, pairs: Index) -> tuple[Index, Index]:
        """Rows and columns of pairs, unknown ones in one position behind the last."""
        (i, a), p, q = pairs.T, len(self.U_), len(self.V_)
        unknown = int(np.sum(i >= p)), int(np.sum(a >= q))
        if any(unknown):
            warn(
                f"of {i.size} pairs, the users of {unknown[0]} and the items of {unknown[1]} were "
                "not in the fit. Offsets of the other side predict these. Fit again with their "
                "entries.",
                UnobservedWarning,
            )
        return np.minimum(i, p), np.minimum(a, q)

    def _held_back(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Predictions for the entries of X, and these."""
        check_is_fitted(self, "factorization_")
        entries, shape = self._read(X, y), (len(self.U_), len(self.V_))
        if not read.are_pairs(X, y):
            note_columns(self, X, reset=False)
            if entries.shape != shape:
                raise ShapeError(
                    f"the matrix fitted has shape {shape}; this one has {entries.shape}. Pass "
                    "pairs of positions as X and their values as y."
                )
        pairs = np.column_stack([entries.rows, entries.columns])
        return self.predict(pairs), entries.values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


@dataclass(eq=False, repr=False)
class MMMF(_Completion):
    r"""Maximum-margin matrix factorization: signs completed by a matrix of least trace norm.

    .. math::

        \min_{M, b, d}\ |M| + c\,\Bigl(\sum_{(i,a) \in S} \max(0, 1 - X_{ia} f_{ia})
        + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr), \qquad f_{ia} = M_{ia} + b_i + d_a,

    with a bound that shows how near the answer is to the best; see `sdpdr.factorize.mmmf`. With a
    number for c it is the program as printed, without offsets b and d, :math:`f = M`.

    Parameters
    ----------
    c : float, optional
        Penalty of a unit of slack; infinite for a hard margin. By default twice the penalty below
        which M is zero.
    ridge : float, optional
        :math:`\kappa`, the penalty of offsets in signs: an offset is drawn to zero as if by so many
        signs. By default 15 without a number for c, and infinite, for no offsets, with one.
    tol : float, default 1e-6
        Relative gap at which to stop.
    max_iter : int, default 5000
    time_limit : float, "auto" or None, default "auto"
        Seconds; None for no limit. By default 60.

    Attributes
    ----------
    c_, ridge_ : float
        The penalties that were used.
    X_ : array of shape (p, q)
        Scores f, whose signs are the prediction.
    U_, V_ : arrays of shape (p, k) and (q, k)
        Factors, :math:`M = U V^T`: users and items as points of one space. Rows without
        observations are zero.
    user_offsets_, item_offsets_ : arrays of shape (p,) and (q,)
        b and d; zero if there are none.
    value_, bound_, gap_ : float
        Value of the program, lower bound of its optimum, and their relative difference.
    factorization_ : MarginFactorization
        As `sdpdr.factorize.mmmf` returns it, with multipliers and history.
    n_iter_, n_features_in_ : int

    Raises
    ------
    DataError
        An entry is not a sign, or none was observed; c or ridge is not positive, or there are
        offsets with a hard margin; or c is not given, and all signs are equal.

    Warns
    -----
    UnobservedWarning
        Rows or columns hold no observation, or were not seen in the fit.
    WeakSeparationWarning
        Slack is so cheap that the best matrix is zero.
    UncertifiedWarning
        The gap is larger than ``tol``.

    Notes
    -----
    Cross-validation holds back entries, not rows, so pass pairs of positions and their signs:
    ``GridSearchCV(MMMF(ridge=15.0), {"c": [...]}, cv=KFold(5, shuffle=True)).fit(pairs, signs)``
    with multiples of `least_penalty` for c. For the max-norm, solve `sdpdr.methods.mmmf`.

    References
    ----------
    Tong thesis, section 2.3.4. Srebro, Rennie, Jaakkola, "Maximum-margin matrix factorization",
    NIPS, 2004.

    Examples
    --------
    >>> import sdpdr
    >>> X = [[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]]
    >>> model = sdpdr.MMMF(c=0.5).fit(X)
    >>> model.predict()
    array([[ 1, -1, -1,  1],
           [ 1, -1, -1,  1],
           [-1,  1,  1, -1]])
    >>> model.predict([(0, 2)]), model.gap_ <= 1e-6
    (array([-1]), True)
    """

    _multiple, _program = 2.0, HingeProgram

    @property
    def X_(self) -> Array:
        """Scores of all users and items."""
        return self.factorization_.scores

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the signs of X, a matrix or pairs with ``y``, that are predicted."""
        predicted, signs = self._held_back(X, y)
        return float(np.mean(predicted == signs))

    def _read(self, X: Any, y: Any = None) -> Observed:
        return read.observed_signs(X, y)

    def _learn(self, values: Array) -> None:
        if self.c is None and np.ptp(values) == 0.0:
            raise DataError(
                f"all signs observed are {values[0]:g}, so they distinguish nothing. Pass "
                "signs of both kinds, or a number for c. An entry of 0 was not observed: if 0 and "
                "1 are the kinds, pass 2 X - 1."
            )

    def _labels(self, scores: Array) -> Array:
        is_tie = np.abs(scores) <= self.tol * np.max(np.abs(self.X_), initial=0.0)
        return np.where(is_tie, 0.0, np.sign(scores)).astype(np.int64)


@dataclass(eq=False, repr=False)
class RatingMMMF(_Completion):
    r"""Ratings completed by a matrix of small trace norm, with offsets and a proved gap.

    .. math::

        \min_{M, b, d}\ |M| + c\,\Bigl(\sum_{(i,a) \in S} \tfrac12
        (R_{ia} - \mu - M_{ia} - b_i - d_a)^2 + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr)

    with the mean :math:`\mu` of all ratings. Multipliers prove a bound on the optimum. Predictions
    are numbers between the least and the largest rating.

    Parameters
    ----------
    c : float, optional
        Penalty of the loss. By default three times the penalty below which M is zero.
    ridge : float, default 5
        :math:`\kappa`, the penalty of offsets in ratings: an offset is drawn to zero as if by so
        many ratings. Infinite for none.
    tol : float, default 1e-2
        Relative gap at which to stop.
    max_iter, time_limit
        As for `MMMF`.

    Attributes
    ----------
    mean_ : float
        Mean of the ratings.
    c_, ridge_, U_, V_, user_offsets_, item_offsets_, value_, bound_, gap_, factorization_
        As for `MMMF`.
    n_iter_, n_features_in_ : int

    Raises
    ------
    DataError, UnknownNameError

    Warns
    -----
    UnobservedWarning, WeakSeparationWarning, UncertifiedWarning
        As for `MMMF`.

    Notes
    -----
    Cross-validation is as for `MMMF`. ``frame.pivot(index="user", columns="item",
    values="rating")`` of pandas makes a table of a frame with a rating in each row.

    References
    ----------
    Srebro, Rennie, Jaakkola, "Maximum-margin matrix factorization", NIPS, 2004. Tong thesis,
    section 2.3.4.

    Examples
    --------
    >>> import sdpdr
    >>> nan = float("nan")
    >>> ratings = [[1, 1, 5, nan], [nan, 2, 4, nan], [5, 5, 1, nan], [4, nan, 2, 1]]
    >>> model = sdpdr.RatingMMMF(c=2.0, ridge=1.0).fit(ratings)
    >>> bool(2.0 < model.predict([(1, 0)])[0] < 2.6), model.gap_ < 1e-2
    (True, True)
    """

    _multiple, _program = 3.0, SquaredProgram

    _: KW_ONLY
    ridge: float = 5.0
    tol: float = 1e-2

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the root mean squared error over ratings, of a matrix or of pairs with ``y``."""
        predicted, ratings = self._held_back(X, y)
        return -float(np.sqrt(np.mean(np.square(predicted - ratings))))

    def _require_parameters(self) -> None:
        super()._require_parameters()
        if self.c is not None:
            validate.positive_number("c", self.c)

    def _read(self, X: Any, y: Any = None) -> Observed:
        return read.read_ratings(X, y)

    def _learn(self, values: Array) -> None:
        if np.ptp(values) == 0.0:
            raise DataError(
                f"ratings take 1 value, {values[0]:g} alone; at least two are needed to "
                "tell items apart. Missing ratings must be NaN."
            )
        self.mean_ = float(np.mean(values))
        self._range = float(np.min(values)), float(np.max(values))

    def _labels(self, scores: Array) -> Array:
        return np.clip(scores + self.mean_, *self._range)
