"""Ratings completed with offsets of users and items, and the price that predicts best."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import (
    UncertifiedWarning,
    UnobservedWarning,
    WeakSeparationWarning,
    warn,
)
from sdpdr.base.estimators import Transformer, as_precise
from sdpdr.families.factor.margin.completing import Completing
from sdpdr.families.factor.margin.conic import complete_by_cones, is_small, what_helps
from sdpdr.families.factor.margin.descent import complete, least_price
from sdpdr.families.factor.margin.entries import (
    Observed,
    pairs_of,
    read_entries,
    varying,
    with_ratings,
)
from sdpdr.families.factor.margin.factors import Completion, Program
from sdpdr.families.factor.margin.losses import Hinge, Loss, SquaredLoss
from sdpdr.families.factor.margin.prices import RIDGE, chosen_path, why_zero

LOSSES = ("squared", "hinge")


@dataclass(eq=False, repr=False)
class RatingMMMF(Completing, Transformer):
    r"""Ratings completed by a matrix of small norm, with offsets and a proven gap.

    .. math::

        \min_{M, b, d, \theta}\ |M| + c\,\Bigl(\sum_{(i,a) \in S}
        \ell(R_{ia}; M_{ia} + b_i + d_a, \theta) + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr)

    The squared loss is half the squared distance from the rating, less the mean of all. The hinge
    has a threshold :math:`\theta_t` between any two levels that follow each other, and prices the
    margin by which a score is on the wrong side of each. The program is solved on factors of M,
    with a bound on its optimum from the slopes of the loss; of up to 45 users and items and 1200
    margins of the hinge by an interior point, whose multipliers prove the bound. Under the max-norm
    it takes all that fit into the time limit, up to 150 and 12000; beyond, gaps are large.

    Parameters
    ----------
    c : float, optional
        Price of the loss. By default ratings held back choose it, among multiples of the price
        below which M is zero; `MMMFCV` holds back all in turn.
    loss : {"squared", "hinge"}, default "squared"
        Predictions are numbers between the least and largest rating, or levels.
    norm : {"trace", "max"}, default "trace"
    ridge : float, default 5
        :math:`\kappa`, the price of offsets in ratings: an offset is drawn to zero as if by so
        many ratings. Infinite for none.
    tol : float, default 1e-2
        Of the relative gap.
    max_iter : int, default 50
        Rounds, after each of which the bound is looked at.
    time_limit : float, "auto" or None, default "auto"
        Seconds, of which the choice of a price has half; by default 60, and None for no limit.
    warm_start : bool, default False
        Whether a fit begins with the answer of the last one, if that had as many users, items and
        levels: for the same ratings at another price.
    random_state : int or RandomState, default 0
        Of what is held back, and of directions in which columns are added. The optimum at a price
        does not depend on it.

    Attributes
    ----------
    c_ : float
        The price that was used.
    prices_, errors_ : arrays of shape (n,)
        Prices tried, and the root mean squared errors on ratings held back, of the squared loss and
        the trace norm at these multiples of their own least price. Empty where c was given.
    users_, items_ : arrays of shape (p,) and (q,)
        What rows and columns are called, ascending.
    U_, V_ : arrays of shape (p, k) and (q, k)
        Factors of M.
    user_offsets_, item_offsets_ : arrays of shape (p,) and (q,)
    mean_ : float
        Of the ratings.
    levels_ : array of shape (r,)
        Ratings that occur, ascending.
    thresholds_ : array of shape (r - 1,)
        Of the hinge, each in the middle of its best places; empty for the squared loss.
    value_, bound_, gap_ : float
        What the program is worth here, what it is worth at least, and their relative difference.
    completion_ : Completion
    unobserved_rows_, unobserved_columns_ : arrays of int
    n_iter_, n_features_in_ : int

    Raises
    ------
    DataError, ShapeError, UnknownNameError

    Warns
    -----
    UnusedColumnsWarning
        A frame of triples has other columns.
    FilledGapsWarning
        Most entries of a table are 0 and none is NaN, as where gaps were filled.
    UncertifiedWarning
        The gap is larger than ``tol``.
    UnobservedWarning
        Users or items have no rating, or were not seen in the fit; the other side's offset is
        all that their predictions have.
    WeakSeparationWarning
        The price is so low that M is zero, and only offsets predict: one that was given, or the
        one at which ratings held back were predicted best.

    References
    ----------
    Srebro, Rennie, Jaakkola, "Maximum-margin matrix factorization", NIPS, 2004. Rennie and
    Srebro, "Fast maximum margin matrix factorization for collaborative prediction", ICML, 2005,
    for the loss over all thresholds. Tong thesis, section 2.3.4.

    Examples
    --------
    >>> import sdpdr
    >>> ratings = [["ann", "up", 5], ["ann", "jaws", 1], ["bob", "up", 4], ["bob", "heat", 2],
    ...            ["eve", "jaws", 5], ["eve", "heat", 5], ["ann", "heat", 1], ["eve", "up", 1]]
    >>> model = sdpdr.RatingMMMF(c=2.0, ridge=1.0).fit(ratings)
    >>> model.predict(["bob"], ["jaws"]).round(1), model.gap_ < 1e-2
    (array([2.2]), True)
    >>> sdpdr.RatingMMMF(c=2.0, loss="hinge").fit(ratings).predict(["bob", "eve"], ["up", "up"])
    array([4., 1.])
    """

    c: float | None = None
    _: KW_ONLY
    loss: str = "squared"
    norm: str = "trace"
    ridge: float = RIDGE
    tol: float = 1e-2
    max_iter: int = 50
    time_limit: float | str | None = "auto"
    warm_start: bool = False
    random_state: Any = 0

    completion_: Completion = field(init=False)

    def fit(self, X: Any, y: Any = None) -> RatingMMMF:
        """Complete ratings.

        Parameters
        ----------
        X : array_like or data frame of shape (m, 3), sparse array or array_like of shape (p, q)
            Triples of user, item and rating; or a sparse array whose stored entries are ratings;
            or a table with NaN where none was given; or, with ``y``, pairs of user and item. A
            frame with columns called after users, items (or movies, products) and ratings (or
            scores, values), such as ``userId``, is a list of triples, whatever their order and
            what else it holds. Without such names three columns of which the first two hold
            names or whole numbers are triples.
        y : array_like of shape (m,), optional
            The ratings of the pairs. Not used where X holds the ratings itself.

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
        X = with_ratings(X, y)
        entries = varying(read_entries(X))
        self.levels_ = np.unique(entries.values)
        self.mean_ = float(np.mean(entries.values))
        self.c_, self.prices_, self.errors_ = self._price(entries, deadline)
        program = self._program(entries, self.c_, entries)
        found = program.start()
        if is_small(program, deadline):
            found = complete_by_cones(program, self.tol, deadline)
        if not found.gap <= self.tol:
            found = complete(
                program,
                tol=self.tol,
                max_iter=self.max_iter,
                deadline=deadline,
                start=self._last(program),
            )
        self.completion_, self._loss = found, program.loss
        self.U_, self.V_, self.thresholds_ = found.U, found.V, found.shared
        self.user_offsets_, self.item_offsets_ = found.rows, found.columns
        self.n_iter_ = len(found.history)
        told = "and are predicted from what is known of the other side"
        self._noted(X, entries, found, "rating", told)
        self._note_quality(program)
        return self

    def least_price(self, X: Any) -> float:
        """The price below which M is zero; for the hinge, whose slope jumps, about that.

        Infinite where offsets and thresholds meet all margins, and no price makes M pay.

        Parameters
        ----------
        X
            As for `fit`.
        """
        self.require_parameters()
        entries = varying(read_entries(X))
        return least_price(self._program(entries, 1.0, entries))

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

    def _price(self, entries: Observed, deadline: Deadline) -> tuple[float, Array, Array]:
        """The price that was given or is chosen, those tried, and their errors."""
        if self.c is not None:
            return self.c, np.zeros(0), np.zeros(0)
        least = self.least_price(entries)
        return chosen_path(entries, self.ridge, deadline, self.random_state).priced(least)

    @staticmethod
    def entries(X: Any) -> Observed:
        """What `fit` reads from X; it takes this as well."""
        return read_entries(X)

    def decision_function(self, users: Any = None, items: ArrayLike | None = None) -> Array:
        """Scores :math:`M_{ia} + b_i + d_a`; arguments as for `predict`."""
        check_is_fitted(self, "completion_")
        if users is None:
            return self.completion_.matrix
        i, a = self._places(users, items)
        found = self.completion_
        U, V = (np.vstack([F, np.zeros(F.shape[1])]) for F in (found.U, found.V))
        rows, columns = (np.append(offsets, 0.0) for offsets in (found.rows, found.columns))
        return Completion(U, V, rows, columns, found.shared).scores(i, a)

    def predict(self, users: Any = None, items: ArrayLike | None = None) -> Array:
        """Ratings predicted.

        A score that lies on a threshold, within a thousandth of the margin (or of the largest
        threshold), does not pass it: of two levels, the lower is predicted. So what lies on one
        is predicted alike however users and items are ordered, as far as the program leaves
        nothing free: with the max-norm it may leave free what was not observed.

        Parameters
        ----------
        users : array_like of shape (m,), (m, 2) or (m, 3), optional
            Names of users; or pairs of user and item; or triples, as for `score`, whose ratings
            are not looked at. The whole matrix by default.
        items : array_like of shape (m,), optional
            Names of items, one for each user.

        Returns
        -------
        array of shape (m,) or (p, q)
        """
        scores = self.decision_function(users, items)
        return self._loss.ratings(scores, self.thresholds_)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the root of the mean squared error of predictions, over ratings held back.

        Parameters
        ----------
        X
            Ratings, as for `fit`; or, with ``y``, pairs of user and item, as for `predict`. Rows of
            a frame are told by their names, those that are numbered by their places.
        y : array_like of shape (m,), optional
            The ratings of the pairs. Not used where X holds the ratings itself.

        Raises
        ------
        ShapeError
            A matrix has another shape; or rows or columns of a frame, whose rows have no names, are
            called as those of the fit and stand in another order.
        """
        check_is_fitted(self, "completion_")
        predicted, ratings = self._beside(X, y)
        return -float(np.sqrt(np.mean(np.square(predicted - ratings))))

    def transform(self, X: Any) -> Array:
        """Factors of new users, those of items being what they are.

        Parameters
        ----------
        X
            Their ratings: triples, of users with any names; a frame with columns called as items
            (``items_``); or a matrix with a column for each item, in that order.

        Returns
        -------
        array of shape (n, k)
            Users in ascending order of their names. Frames (``set_output``) are made of a matrix's
            rows; rows of triples are no users.
        """
        return as_precise(self._folded(X).U, X)

    def fold_in(self, X: Any) -> Array:
        """Ratings of all items predicted for new users, from those of some.

        Each user's factor and offset minimise the program in which all else is as it was fitted.

        Parameters
        ----------
        X
            As for `transform`.

        Returns
        -------
        array of shape (n, q)
        """
        return self._loss.ratings(self._folded(X).matrix, self.thresholds_)

    def _program_of(self, entries: Observed) -> Program:
        return self._program(entries, self.c_, self._read)

    def _completion(self) -> Completion:
        return self.completion_

    def _program(self, entries: Observed, c: float, fitted: Observed) -> Program:
        loss: Loss = SquaredLoss(entries.values, fitted.values)
        if self.loss == "hinge":
            loss = Hinge.of(entries.values, np.unique(fitted.values))
        return Program(entries, loss, self.norm, c, self.ridge, self.random_state)

    def _last(self, program: Program) -> Completion | None:
        """The answer of the last fit, where this one may begin with it."""
        last: Completion | None = getattr(self, "completion_", None)
        if last is None or not self.warm_start:
            return None
        sizes = (len(last.U), len(last.V), last.shared.size)
        return last if sizes == (*program.entries.shape, program.loss.n_shared) else None

    def _places(self, users: Any, items: ArrayLike | None) -> tuple[Index, Index]:
        """Numbers of users and items, those unknown in one place behind the last."""
        i, a = pairs_of(users, items, self.users_, self.items_)
        unknown = int(np.sum(i < 0)), int(np.sum(a < 0))
        if any(unknown):
            warn(
                f"of {i.size} pairs, the users of {unknown[0]} and the items of {unknown[1]} were "
                "not in the fit. What is known of the other predicts these, and the mean where "
                "neither is known. New users with ratings can be folded in.",
                UnobservedWarning,
            )
        return np.where(i < 0, self.users_.size, i), np.where(a < 0, self.items_.size, a)

    @property
    def _n_features_out(self) -> int:
        return int(self.V_.shape[1])

    def _note_quality(self, program: Program) -> None:
        if not self.gap_ <= self.tol:
            warn(
                f"value and bound differ by {self.gap_:.1e}, not {self.tol:g}, after "
                f"{self.n_iter_} rounds. {what_helps(program, self.c is None)}",
                UncertifiedWarning,
            )
        elif not self.U_.shape[1]:
            warn(
                f"a loss at a price of c = {self.c_:g} is so cheap that the best matrix is zero, "
                "within the tolerance, and only offsets predict. "
                + why_zero(self.errors_, self.ridge),
                WeakSeparationWarning,
            )
