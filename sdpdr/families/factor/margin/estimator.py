"""Maximum-margin matrix factorization with scikit-learn's face."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, WeakSeparationWarning, warn
from sdpdr.families.factor.margin.bound import MarginFactorization
from sdpdr.families.factor.margin.completing import Completing
from sdpdr.families.factor.margin.descent import FOLDED, least_price
from sdpdr.families.factor.margin.entries import (
    Observed,
    names_of_pairs,
    pairs_of,
    with_ratings,
)
from sdpdr.families.factor.margin.factors import Completion, Program
from sdpdr.families.factor.margin.losses import SignHinge
from sdpdr.families.factor.margin.mmmf import mmmf, require_way
from sdpdr.families.factor.margin.norms import dual_norm, principal
from sdpdr.families.factor.margin.prices import SIGN_RIDGE, chosen_path, why_zero
from sdpdr.families.factor.margin.recipe import Signs, observed_signs, require_prices
from sdpdr.solvers.base import tolerance


@dataclass(eq=False, repr=False)
class MMMF(Completing, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Maximum-margin matrix factorization: signs completed by a matrix of least norm.

    .. math::

        \min_{M, b, d}\ |M| + c\,\Bigl(\sum_{(i,a) \in S} \max(0, 1 - X_{ia} f_{ia})
        + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr), \qquad f_{ia} = M_{ia} + b_i + d_a,

    with a bound that tells how near the answer is to the best; see `sdpdr.factorize.mmmf`. With a
    number for c it is the program as printed, without offsets b and d, :math:`f = M`.

    Parameters
    ----------
    c : float, optional
        Price of a unit of slack; infinite for a hard margin. By default signs held back choose it,
        as ratings do that of `RatingMMMF`, among multiples of the price below which M is zero.
        Without offsets that is one over the largest singular value of the signs (of the trace
        norm).
    norm : {"trace", "max"}, default "trace"
    solver : str or Solver, default "splitting"
        Or "factors", the descent of `RatingMMMF`, which took longer wherever both were tried, and
        leaves the max-norm of thousands of signs far from its bound; any other is one of
        `sdpdr.solve`.
    tol : float, optional
        Of the relative gap; by default that of a configured solver, or 1e-6.
    max_iter : int, default 5000
    time_limit : float, "auto" or None, default "auto"
        Seconds, of which the choice of a price has half; None for no limit. By default 60, unless
        another solver is named.
    ridge : float, optional
        :math:`\kappa`, the price of offsets in signs: an offset is drawn to zero as if by so many
        signs. By default 15 where the price is chosen, and infinite, for none, where c is given.
    random_state : int or RandomState, default 0
        Of what is held back. The optimum at a price does not depend on it.

    Attributes
    ----------
    c_, ridge_ : float
        The prices that were used.
    prices_, errors_ : arrays of shape (n,)
        Prices tried, and the root mean squared errors on signs held back, of the squared loss and
        the trace norm at these multiples of their own least price. Empty where c was given.
    users_, items_ : arrays of shape (p,) and (q,)
        What rows and columns are called, ascending; of a frame as they stand there.
    X_ : array of shape (p, q)
        Scores f, whose signs are the prediction.
    U_, V_ : arrays of shape (p, k) and (q, k)
        Factors, :math:`M = U V^T`: users and items as points of one space.
    user_offsets_, item_offsets_ : arrays of shape (p,) and (q,)
        b and d; zero where there are none.
    slack_, Q_ : sparse arrays of shape (p, q)
        Slack and multipliers of the signs observed. A multiplier of c marks a sign that is not
        met with a full margin, one of 0 a sign that does not matter.
    value_, bound_, gap_ : float
    unobserved_rows_, unobserved_columns_ : arrays of int
        Where nothing was observed; M is zero there, and their offsets are.
    factorization_ : MarginFactorization
    n_iter_, n_features_in_ : int

    Raises
    ------
    DataError
        An entry is no sign, or none was observed; c or ridge is not positive, or there are offsets
        beside a hard margin; or the price is to be chosen, and all signs are equal.
    UnknownNameError
        For another norm.

    Warns
    -----
    UnobservedWarning
        Rows or columns hold no observation.
    WeakSeparationWarning
        Slack is so cheap that the best matrix is zero: at a price that was given, or at the one
        at which signs held back were predicted best.
    UncertifiedWarning
        The gap is larger than ``tol``.

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
    >>> from sdpdr import datasets
    >>> chosen = sdpdr.MMMF(tol=1e-3).fit(datasets.partial_signs(30, 20, share=0.6)[0])
    >>> bool(chosen.c_ == chosen.prices_[chosen.errors_.argmin()]), chosen.ridge_
    (True, 15.0)
    """

    c: float | None = None
    _: KW_ONLY
    norm: str = "trace"
    solver: Any = "splitting"
    tol: float | None = None
    max_iter: int = 5000
    time_limit: float | str | None = "auto"
    ridge: float | None = None
    random_state: Any = 0

    X_: Array = field(init=False)
    factorization_: MarginFactorization = field(init=False)

    def fit(self, X: Any, y: Any = None) -> MMMF:
        """Complete a matrix of signs.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q), or of shape (m, 3)
            1 and -1 where a sign was observed, 0 or NaN where not; or triples of user, item and
            sign, as for `RatingMMMF`; or, with ``y``, pairs of user and item. A frame whose rows
            have names, words rather than numbers, keeps these and its columns for users and items.
        y : array_like of shape (m,), optional
            The signs of the pairs. Not used where X holds the signs itself.

        Returns
        -------
        self
        """
        self.require_parameters()
        deadline = Deadline(self.seconds)
        X = with_ratings(X, y)
        signs = observed_signs(X)
        self.ridge_, self.c_, self.prices_, self.errors_ = self._prices(signs, deadline)
        found = mmmf(
            signs, c=self.c_, norm=self.norm, solver=self.solver, tol=self.tol,
            max_iter=self.max_iter, time_limit=deadline.left(), ridge=self.ridge_,
        )  # fmt: skip
        told = "nothing is said of them and their entries are 0"
        if np.isfinite(self.ridge_):
            told = "offsets of the other side predict them"
        self._noted(X, signs, found, "observation", f"so {told}")
        self.factorization_ = found
        self.U_, self.V_ = found.U.copy(), found.V.copy()
        self.U_[signs.empty_rows] = self.V_[signs.empty_columns] = 0.0
        self.user_offsets_, self.item_offsets_ = np.split(found.offsets, [signs.shape[0]])
        self.X_ = self.U_ @ self.V_.T + self.user_offsets_[:, None] + self.item_offsets_
        self.slack_ = signs.spread(found.slack)
        self.Q_ = signs.spread(np.clip(found.multipliers, 0.0, self.c_))
        self.n_iter_ = found.iterations
        self._note_zero()
        return self

    def predict(self, users: Any = None, items: ArrayLike | None = None) -> Index:
        """Signs of the scores; 0 where one is at most ``tol`` times the largest.

        Symmetric data put entries on zero exactly, and their computed sign is that of rounding.

        Parameters
        ----------
        users : array_like of shape (m,), (m, 2) or (m, 3), optional
            Names of users; or pairs of user and item; or triples, as for `score`, whose ratings
            are not looked at. The whole matrix by default.
        items : array_like of shape (m,), optional
            Names of items, one for each user.

        Returns
        -------
        array of int, shape (m,) or (p, q)
        """
        return self._signs_of(self.decision_function(users, items))

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the signs held back that are predicted.

        Parameters
        ----------
        X
            Signs, as for `fit`; or, with ``y``, pairs of row and column, as for `predict`. Rows and
            columns of a frame with names, and those of triples, are told by these; of any other
            matrix they are where they were in the fit.
        y : array_like of shape (m,), optional
            The signs of the pairs. Not used where X holds the signs itself.

        Raises
        ------
        DataError
            A row or column is called as none of the fit.
        ShapeError
            A matrix has another shape; or columns of a frame, whose rows have no names, are called
            otherwise, or rows or columns stand in another order.
        """
        check_is_fitted(self, "X_")
        predicted, signs = self._beside(X, y)
        return float(np.mean(predicted == signs))

    def least_price(self, X: Any) -> float:
        """The price below which M is zero, with the offsets that a fit at a given price has.

        Without offsets it is exact for the trace norm, and that price or less for the max-norm;
        with them it is about that, as the slope of the hinge jumps, and infinite where they meet
        all margins.

        Parameters
        ----------
        X
            As for `fit`.
        """
        self.require_parameters()
        return self._least_price(observed_signs(X), self._ridge())

    def require_parameters(self) -> None:
        """Refuse parameters that suit no data.

        Raises
        ------
        DataError, DataTypeError, UnknownNameError
        """
        super().require_parameters()
        require_prices(1.0 if self.c is None else self.c, self.norm, self._ridge())
        validate.positive_number("tol", tolerance(self.solver, self.tol))
        require_way(self.solver, self.c)

    def _least_price(self, signs: Signs, ridge: float) -> float:
        if np.isfinite(ridge):
            return least_price(self._program(signs, 1.0, ridge))
        return 1.0 / dual_norm(signs.matrix(), self.norm)

    @property
    def names_solver(self) -> bool:
        """Whether a solver is asked for that is not the default."""
        return not (isinstance(self.solver, str) and self.solver == "splitting")

    def _ridge(self) -> float:
        """The price of offsets that was given, or goes with a price of slack that was."""
        return np.inf if self.ridge is None else validate.price("ridge", self.ridge)

    def _prices(self, signs: Signs, deadline: Deadline) -> tuple[float, float, Array, Array]:
        """The prices of offsets and of slack, given or chosen; those tried, and their errors."""
        if self.c is not None:
            return self._ridge(), self.c, np.zeros(0), np.zeros(0)
        ridge = SIGN_RIDGE if self.ridge is None else self._ridge()
        if np.ptp(signs.values) == 0.0:
            raise DataError(
                f"all signs observed are {signs.values[0]:g}, so none that is held back tells one "
                "price from another. Pass signs of both kinds, or a number for c. An entry of 0 "
                "was not observed: if 0 and 1 are the kinds, pass 2 X - 1."
            )
        path = chosen_path(signs, ridge, deadline, self.random_state)
        return ridge, *path.priced(self._least_price(signs, ridge))

    def _program(self, signs: Observed, c: float, ridge: float) -> Program:
        return Program(signs, SignHinge(signs.values), self.norm, c, ridge, 0)

    @staticmethod
    def entries(X: Any) -> Signs:
        """What `fit` reads from X; it takes this as well."""
        return observed_signs(X)

    def fold_in(self, X: Any) -> Index:
        """Signs of all items predicted for new users, from those of some.

        Each user's factor minimises the program in which items are as they were fitted, with the
        kink of the hinge rounded off over a width of 1e-4. Scores were off by up to 1.7 times that
        on planted signs; those within twice that are predicted as 0. With the max-norm the minimum
        may leave free what was not observed.

        Parameters
        ----------
        X
            Their signs, as for `fit`: triples, of users with any names; a frame with columns called
            as items (``items_``); or a matrix with a column for each item, in that order.

        Returns
        -------
        array of int, shape (n, q)
            Users in ascending order of their names.

        Raises
        ------
        DataError
            An item was not fitted, or the margin is hard: factors of items need not have one for
            the signs of another user.
        """
        return self._signs_of(self._folded(X).matrix, 2.0 * FOLDED[-1])

    def _program_of(self, entries: Observed) -> Program:
        if not np.isfinite(self.c_):
            raise DataError(
                "new users need a finite price c: with a hard margin, factors of items need not "
                "have one for the signs of another user."
            )
        return self._program(entries, self.c_, self.ridge_)

    def _completion(self) -> Completion:
        """The factors, balanced as those of the program are."""
        U, V, size = principal(self.U_, self.V_, self.norm)
        rows, columns = self.user_offsets_, self.item_offsets_
        return Completion(U, V, rows, columns, np.zeros(0), size=size)

    def _signs_of(self, values: Array, error: float = 0.0) -> Index:
        blurred = tolerance(self.solver, self.tol) * np.max(np.abs(self.X_), initial=0.0)
        is_tie = np.abs(values) <= max(blurred, error)
        return np.where(is_tie, 0.0, np.sign(values)).astype(np.int64)

    def decision_function(self, users: Any = None, items: ArrayLike | None = None) -> Array:
        """Scores f, of which `predict` takes the signs; arguments as there.

        Raises
        ------
        DataError
            A user or an item of a pair was not in the fit.
        """
        check_is_fitted(self, "X_")
        if users is None:
            return self.X_.copy()
        users, items = names_of_pairs(users, items)
        i, a = pairs_of(users, items, self.users_, self.items_)
        outside = np.flatnonzero((i < 0) | (a < 0))
        if outside.size:
            side = ("user", "item")[int(np.ravel(i)[outside[0]] >= 0)]
            name = np.atleast_1d(users if side == "user" else items)[outside[0]]
            raise DataError(
                f"{side} {name} was not in the fit: nothing is known of {outside.size} of "
                f"{np.size(i)} pairs. Leave these out; new users with signs can be folded in."
            )
        return np.asarray(self.X_[i, a])

    def _note_zero(self) -> None:
        found = self.factorization_
        if not (found.is_zero and found.certified(tolerance(self.solver, self.tol))):
            return
        only = "only offsets predict" if np.isfinite(self.ridge_) else "it predicts nothing"
        warn(
            f"slack at a price of c = {self.c_:g} is so cheap that the best matrix is zero, and "
            f"{only}. {why_zero(self.errors_, self.ridge_)}",
            WeakSeparationWarning,
        )
