"""Estimators of signs and of ratings by a matrix of small norm."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, UncertifiedWarning, WeakSeparationWarning, warn
from sdpdr.base.estimators import Transformer, as_precise
from sdpdr.families.factor.mmmf.completing import RatingEstimatorMixin
from sdpdr.families.factor.mmmf.descent import FOLDED, complete, least_price
from sdpdr.families.factor.mmmf.entries import Observed, Signs, observed_signs, read_ratings
from sdpdr.families.factor.mmmf.factorization import MarginFactorization, mmmf
from sdpdr.families.factor.mmmf.losses import Hinge, Loss, SignHinge, SquaredLoss
from sdpdr.families.factor.mmmf.norms import dual_norm, principal
from sdpdr.families.factor.mmmf.program import FactorModel, Program
from sdpdr.families.factor.mmmf.recipe import require_penalties
from sdpdr.families.factor.mmmf.splitting import split

LOSSES = ("squared", "hinge")
# Penalties of offsets. Of 17 families of signs 15 predicts better than 5 on ten, by up to 1.3
# points, and worse on five, by up to 0.5.
RIDGE, SIGN_RIDGE = 5.0, 15.0
# Penalties of fits without one, as multiples of the least at which the matrix is not zero: near the
# best on MovieLens 100k, and in between the best of families with more and with less noise, from 1
# to 8 (``docs/methods/mmmf.rst``).
MULTIPLE, SIGN_MULTIPLE = 3.0, 2.0


@dataclass(eq=False, repr=False)
class MMMF(RatingEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Maximum-margin matrix factorization: signs completed by a matrix of least norm.

    .. math::

        \min_{M, b, d}\ |M| + c\,\Bigl(\sum_{(i,a) \in S} \max(0, 1 - X_{ia} f_{ia})
        + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr), \qquad f_{ia} = M_{ia} + b_i + d_a,

    with a bound that shows how near the answer is to the best; see `sdpdr.factorize.mmmf`. With a
    number for c it is the program as printed, without offsets b and d, :math:`f = M`.

    Parameters
    ----------
    c : float, optional
        Penalty of a unit of slack; infinite for a hard margin. By default twice the penalty below
        which M is zero. ``GridSearchCV`` finds a better one, see Notes.
    norm : {"trace", "max"}, default "trace"
    tol : float, default 1e-6
        Relative gap at which to stop.
    max_iter : int, default 5000
    time_limit : float, "auto" or None, default "auto"
        Seconds; None for no limit. By default 60.
    ridge : float, optional
        :math:`\kappa`, the penalty of offsets in signs: an offset is drawn to zero as if by so many
        signs. By default 15 without a number for c, and infinite, for no offsets, with one.
    random_state : int or RandomState, default 0
        Seed of random directions for the max-norm. The optimum does not depend on it.

    Attributes
    ----------
    c_, ridge_ : float
        The penalties that were used.
    X_ : array of shape (p, q)
        Scores f, whose signs are the prediction.
    U_, V_ : arrays of shape (p, k) and (q, k)
        Factors, :math:`M = U V^T`: users and items as points of one space.
    user_offsets_, item_offsets_ : arrays of shape (p,) and (q,)
        b and d; zero if there are none.
    slack_, Q_ : sparse arrays of shape (p, q)
        Slack and multipliers of the observed signs. A multiplier of c marks a sign that is not met
        with a full margin, one of 0 a sign that does not matter.
    value_, bound_, gap_ : float
    unobserved_rows_, unobserved_columns_ : arrays of int
        Rows and columns without observations; M is zero there, and their offsets are.
    factorization_ : MarginFactorization
    n_iter_, n_features_in_ : int

    Raises
    ------
    DataError
        An entry is no sign, or none was observed; c or ridge is not positive, or there are offsets
        beside a hard margin; or c is left open, and all signs are equal.
    UnknownNameError
        The norm is neither.

    Warns
    -----
    UnobservedWarning
        Rows or columns hold no observation.
    WeakSeparationWarning
        Slack is so cheap that the best matrix is zero.
    UncertifiedWarning
        The gap is larger than ``tol``.

    Notes
    -----
    Cross-validation holds back entries, not rows, so pass pairs of positions and their signs:
    ``GridSearchCV(MMMF(ridge=15.0), {"c": [...]}, cv=KFold(5, shuffle=True)).fit(pairs, signs)``
    with multiples of `least_price` for c.

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

    c: float | None = None
    _: KW_ONLY
    norm: str = "trace"
    tol: float = 1e-6
    max_iter: int = 5000
    time_limit: float | str | None = "auto"
    ridge: float | None = None
    random_state: Any = 0

    c_: float = field(init=False)
    X_: Array = field(init=False)
    factorization_: MarginFactorization = field(init=False)

    def fit(self, X: Any, y: Any = None) -> MMMF:
        """Complete a matrix of signs.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q)
            1 and -1 where a sign was observed, 0 or NaN where not; or, with ``y``, pairs of row and
            column, shape (m, 2).
        y : array_like of shape (m,), optional
            The signs of the pairs. Not used if X holds the signs itself.

        Returns
        -------
        self
        """
        self.require_parameters()
        deadline = Deadline(self.seconds)
        signs = observed_signs(X, y=y)
        self.c_, self.ridge_ = self._penalties(signs)
        found = mmmf(
            signs, c=self.c_, norm=self.norm, tol=self.tol, max_iter=self.max_iter,
            time_limit=deadline.left(), ridge=self.ridge_,
        )  # fmt: skip
        self._set_fitted(X, y, signs, found, "sign")
        self.factorization_ = found
        self.U_, self.V_ = found.U.copy(), found.V.copy()
        self.U_[signs.empty_rows] = self.V_[signs.empty_columns] = 0.0
        self.user_offsets_, self.item_offsets_ = np.split(found.offsets, [signs.shape[0]])
        self.X_ = self._model().matrix
        self.slack_ = signs.spread(found.slack)
        self.Q_ = signs.spread(np.clip(found.multipliers, 0.0, self.c_))
        self.n_iter_ = found.iterations
        if found.is_zero and found.certified(self.tol):
            only = "only offsets predict" if np.isfinite(self.ridge_) else "it predicts nothing"
            _warn_of_zero(self.c_, only)
        return self

    def predict(self, users: Any = None, items: ArrayLike | None = None) -> Index:
        """Predict signs; 0 if a score is at most ``tol`` times the largest.

        Symmetric data put entries on zero exactly, and their computed sign is that of rounding.

        Parameters
        ----------
        users : array_like of shape (m,) or (m, 2), optional
            Rows of users; or pairs of user and item. The whole matrix by default.
        items : array_like of shape (m,), optional
            Columns of items, one for each user.

        Returns
        -------
        array of int, shape (m,) or (p, q)
        """
        return self._signs_of(self.decision_function(users, items))

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the signs held back that are predicted.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q), or pairs of shape (m, 2) with ``y``
            As for `fit`.
        y : array_like of shape (m,), optional
            The signs of the pairs.

        Raises
        ------
        ShapeError
            A matrix has another shape, or other names of columns.
        """
        predicted, signs = self._held_back(X, y)
        return float(np.mean(predicted == signs))

    def least_price(self, X: Any) -> float:
        """Penalty c below which M is zero, with the offsets that a fit at a given c has.

        Without offsets it is exact for the trace norm, and that penalty or less for the max-norm;
        with them it is approximate, since the slope of the hinge jumps, and infinite if they meet
        all margins.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q)
            As for `fit`.
        """
        self.require_parameters()
        return self._least_price(observed_signs(X), np.inf if self.ridge is None else self.ridge)

    def fold_in(self, X: Any) -> Index:
        """Predict signs of all items for new users, from those of some.

        Each user's factor minimises the program in which items are as they were fitted, with the
        kink of the hinge rounded off over a width of 1e-4. Scores were off by up to 1.7 times that
        on planted signs; those within twice that are predicted as 0. With the max-norm the minimum
        may leave free what was not observed.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, q)
            Their signs, with a column for each item.

        Returns
        -------
        array of int, shape (n, q)

        Raises
        ------
        DataError
            The margin is hard: factors of items need not have one for the signs of another user.
        ShapeError
            X has other columns than the fit.
        """
        return self._signs_of(self._folded(X).matrix, 2.0 * FOLDED[-1])

    def require_parameters(self) -> None:
        """Refuse parameters that suit no data.

        Raises
        ------
        DataError, DataTypeError, UnknownNameError
        """
        super().require_parameters()
        ridge = np.inf if self.ridge is None else self.ridge
        require_penalties(1.0 if self.c is None else self.c, self.norm, ridge)
        validate.positive_number("tol", self.tol)

    def _penalties(self, signs: Signs) -> tuple[float, float]:
        """Penalties of slack and of offsets, given or by default."""
        if self.c is not None:
            return self.c, np.inf if self.ridge is None else self.ridge
        if np.ptp(signs.values) == 0.0:
            raise DataError(
                f"all signs observed are {signs.values[0]:g}, so they tell nothing apart. Pass "
                "signs of both kinds, or a number for c. An entry of 0 was not observed: if 0 and "
                "1 are the kinds, pass 2 X - 1."
            )
        ridge = SIGN_RIDGE if self.ridge is None else self.ridge
        return _default_penalty(SIGN_MULTIPLE, self._least_price(signs, ridge)), ridge

    def _least_price(self, signs: Signs, ridge: float) -> float:
        if np.isfinite(ridge):
            return least_price(self._program(signs, 1.0, ridge))
        return 1.0 / dual_norm(signs.matrix(), self.norm)

    def _program(self, signs: Observed, c: float, ridge: float) -> Program:
        return Program(signs, SignHinge(signs.values), self.norm, c, ridge, self.random_state)

    def _entries(self, X: Any, y: Any = None) -> Signs:
        return observed_signs(X, y=y)

    def _program_of(self, entries: Observed) -> Program:
        if not np.isfinite(self.c_):
            raise DataError(
                "new users need a finite penalty c: with a hard margin, factors of items need not "
                "have one for the signs of another user."
            )
        return self._program(entries, self.c_, self.ridge_)

    def _model(self) -> FactorModel:
        U, V, size = principal(self.U_, self.V_, self.norm)
        rows, columns = self.user_offsets_, self.item_offsets_
        return FactorModel(U, V, rows, columns, np.zeros(0), size=size)

    def _signs_of(self, values: Array, error: float = 0.0) -> Index:
        blurred = self.tol * np.max(np.abs(self.X_), initial=0.0)
        is_tie = np.abs(values) <= max(blurred, error)
        return np.where(is_tie, 0.0, np.sign(values)).astype(np.int64)


@dataclass(eq=False, repr=False)
class RatingMMMF(RatingEstimatorMixin, Transformer):
    r"""Ratings completed by a matrix of small norm, with offsets and a proved gap.

    .. math::

        \min_{M, b, d, \theta}\ |M| + c\,\Bigl(\sum_{(i,a) \in S}
        \ell(R_{ia}; M_{ia} + b_i + d_a, \theta) + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr)

    The squared loss is half the squared distance from the rating, less the mean of all. The hinge
    has a threshold :math:`\theta_t` between any two consecutive levels, and penalizes the margin by
    which a score is on the wrong side of each. The squared loss is minimised by descent on factors
    of M; the hinge by splitting, which needs p q numbers of memory, and (p + q)^2 for the max-norm.
    Both come with a bound on the optimum from multipliers.

    Parameters
    ----------
    c : float, optional
        Penalty of the loss. By default three times the penalty below which M is zero.
        ``GridSearchCV`` finds a better one, see Notes.
    loss : {"squared", "hinge"}, default "squared"
        Predictions are numbers between the least and largest rating, or levels.
    norm : {"trace", "max"}, default "trace"
    ridge : float, default 5
        :math:`\kappa`, the penalty of offsets in ratings: an offset is drawn to zero as if by so
        many ratings. Infinite for none.
    tol : float, default 1e-2
        Relative gap at which to stop.
    max_iter : int, default 5000
        Rounds of descent, or steps of splitting.
    time_limit : float, "auto" or None, default "auto"
        Seconds; None for no limit. By default 60.
    random_state : int or RandomState, default 0
        Seed of directions in which columns are added. The optimum does not depend on it.

    Attributes
    ----------
    c_ : float
        The penalty that was used.
    U_, V_ : arrays of shape (p, k) and (q, k)
        Factors of M.
    user_offsets_, item_offsets_ : arrays of shape (p,) and (q,)
    mean_ : float
        Mean of the ratings.
    levels_ : array of shape (r,)
        Ratings that occur, ascending.
    thresholds_ : array of shape (r - 1,)
        Thresholds of the hinge, each in the middle of its best interval; empty for the squared
        loss.
    value_, bound_, gap_ : float
        Value of the program, lower bound of its optimum, and their relative difference.
    completion_ : FactorModel
    unobserved_rows_, unobserved_columns_ : arrays of int
    n_iter_, n_features_in_ : int

    Raises
    ------
    DataError, ShapeError, UnknownNameError

    Warns
    -----
    FilledGapsWarning
        Most entries of a table are 0 and none is NaN, as if missing ratings were filled with 0.
    UncertifiedWarning
        The gap is larger than ``tol``.
    UnobservedWarning
        Users or items have no rating, or were not seen in the fit; the other side's offset is
        all that their predictions have.
    WeakSeparationWarning
        The penalty is so low that M is zero, and only offsets predict.

    Notes
    -----
    Cross-validation holds back ratings, not users, so pass pairs of positions and their ratings:
    ``GridSearchCV(RatingMMMF(), {"c": [...]}, cv=KFold(5, shuffle=True)).fit(pairs, ratings)``
    with multiples of `least_price` for c. `sdpdr.factorize.ratings_from_frame` makes a matrix of a
    frame.

    References
    ----------
    Srebro, Rennie, Jaakkola, "Maximum-margin matrix factorization", NIPS, 2004. Rennie and
    Srebro, "Fast maximum margin matrix factorization for collaborative prediction", ICML, 2005,
    for the loss over all thresholds. Tong thesis, section 2.3.4.

    Examples
    --------
    >>> import sdpdr
    >>> nan = float("nan")
    >>> ratings = [[1, 1, 5, nan], [nan, 2, 4, nan], [5, 5, 1, nan], [4, nan, 2, 1]]
    >>> model = sdpdr.RatingMMMF(c=2.0, ridge=1.0).fit(ratings)
    >>> bool(2.0 < model.predict([1], [0])[0] < 2.6), model.gap_ < 1e-2
    (True, True)
    >>> sdpdr.RatingMMMF(c=2.0, loss="hinge").fit(ratings).predict([0, 2], [2, 2])
    array([5., 1.])
    """

    c: float | None = None
    _: KW_ONLY
    loss: str = "squared"
    norm: str = "trace"
    ridge: float = RIDGE
    tol: float = 1e-2
    max_iter: int = 5000
    time_limit: float | str | None = "auto"
    random_state: Any = 0

    c_: float = field(init=False)
    completion_: FactorModel = field(init=False)

    def fit(self, X: Any, y: Any = None) -> RatingMMMF:
        """Complete ratings.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q)
            A sparse array whose stored entries are ratings; or a table with NaN where none was
            given; or, with ``y``, pairs of row and column, shape (m, 2).
        y : array_like of shape (m,), optional
            The ratings of the pairs. Not used if X holds the ratings itself.

        Returns
        -------
        self

        Raises
        ------
        DataError
            A pair is rated twice, or all ratings are equal.
        """
        self.require_parameters()
        deadline = Deadline(self.seconds)
        entries = _varying(read_ratings(X, y))
        self.levels_ = np.unique(entries.values)
        self.mean_ = float(np.mean(entries.values))
        if self.c is None:
            self.c_ = _default_penalty(MULTIPLE, self.least_price(entries))
        else:
            self.c_ = self.c
        self._read = entries
        program = self._program(entries, self.c_)
        solve = complete if self.loss == "squared" else split
        found, count = solve(program, tol=self.tol, max_iter=self.max_iter, deadline=deadline)
        U, V, size = principal(found.U, found.V, self.norm)
        self.completion_ = found
        self.U_, self.V_, self.thresholds_ = U, V, found.thresholds
        self.user_offsets_, self.item_offsets_ = found.rows, found.columns
        self._size, self._loss, self.n_iter_ = size, program.loss, count
        self._set_fitted(X, y, entries, found, "rating")
        if not self.gap_ <= self.tol:
            warn(
                f"value and bound differ by {self.gap_:.1e}, not {self.tol:g}, after {count} "
                "iterations. Raise max_iter or time_limit (None for none).",
                UncertifiedWarning,
            )
        elif not self.U_.shape[1]:
            _warn_of_zero(self.c_, "only offsets predict")
        return self

    def predict(self, users: Any = None, items: ArrayLike | None = None) -> Array:
        """Predict ratings.

        A score that lies on a threshold, within a thousandth of the margin (or of the largest
        threshold), does not pass it: of two levels, the lower is predicted. So what lies on one
        is predicted alike however users and items are ordered, as far as the program leaves
        nothing free: with the max-norm it may leave free what was not observed.

        Parameters
        ----------
        users : array_like of shape (m,) or (m, 2), optional
            Rows of users; or pairs of user and item. The whole matrix by default.
        items : array_like of shape (m,), optional
            Columns of items, one for each user.

        Returns
        -------
        array of shape (m,) or (p, q)
        """
        scores = self.decision_function(users, items)
        return self._loss.ratings(scores, self.thresholds_)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the root mean squared error of predictions, over ratings held back.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q), or pairs of shape (m, 2) with ``y``
            As for `fit`.
        y : array_like of shape (m,), optional
            The ratings of the pairs.

        Raises
        ------
        ShapeError
            A matrix has another shape, or other names of columns.
        """
        predicted, ratings = self._held_back(X, y)
        return -float(np.sqrt(np.mean(np.square(predicted - ratings))))

    def least_price(self, X: Any) -> float:
        """Penalty c below which M is zero; approximate for the hinge, whose slope jumps.

        Infinite if offsets and thresholds meet all margins, so that no penalty makes M pay.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q)
            As for `fit`.
        """
        self.require_parameters()
        entries = _varying(read_ratings(X))
        return least_price(self._program(entries, 1.0, entries))

    def transform(self, X: Any) -> Array:
        """Factors of new users, with fixed factors of items.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, q)
            Their ratings, with a column for each item.

        Returns
        -------
        array of shape (n, k)
        """
        return as_precise(self._folded(X).U, X)

    def fold_in(self, X: Any) -> Array:
        """Predict ratings of all items for new users, from those of some.

        Each user's factor and offset minimise the program in which all else is as it was fitted.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, q)
            Their ratings, with a column for each item.

        Returns
        -------
        array of shape (n, q)
        """
        return self._loss.ratings(self._folded(X).matrix, self.thresholds_)

    def require_parameters(self) -> None:
        """Refuse parameters that suit no data.

        Raises
        ------
        DataError, DataTypeError, UnknownNameError
        """
        super().require_parameters()
        validate.choice("loss", self.loss, LOSSES)
        validate.price("ridge", self.ridge)
        validate.positive_number("tol", self.tol)
        if self.c is not None:
            validate.positive_number("c", self.c)

    def _program(self, entries: Observed, c: float, fitted: Observed | None = None) -> Program:
        fitted = self._read if fitted is None else fitted
        loss: Loss = SquaredLoss(entries.values, fitted.values)
        if self.loss == "hinge":
            loss = Hinge.of(entries.values, np.unique(fitted.values))
        return Program(entries, loss, self.norm, c, self.ridge, self.random_state)

    def _entries(self, X: Any, y: Any = None) -> Observed:
        return read_ratings(X, y)

    def _program_of(self, entries: Observed) -> Program:
        return self._program(entries, self.c_)

    def _model(self) -> FactorModel:
        found = self.completion_
        offsets = found.rows, found.columns
        return FactorModel(self.U_, self.V_, *offsets, self.thresholds_, size=self._size)

    @property
    def _n_features_out(self) -> int:
        return int(self.V_.shape[1])


def _default_penalty(multiple: float, least: float) -> float:
    """Penalty of a fit without one; any number if no penalty makes a matrix pay."""
    return multiple * least if np.isfinite(least) else 1.0


def _varying(entries: Observed) -> Observed:
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


def _warn_of_zero(c: float, consequence: str) -> None:
    warn(
        f"a loss with the penalty c = {c:g} is so cheap that the best matrix is zero, and "
        f"{consequence}. Raise c.",
        WeakSeparationWarning,
    )
