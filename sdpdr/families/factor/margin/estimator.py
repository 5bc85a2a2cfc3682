"""Maximum-margin matrix factorization with scikit-learn's face."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ShapeError, UnobservedWarning, WeakSeparationWarning
from sdpdr.families.factor.margin.bound import MarginFactorization
from sdpdr.families.factor.margin.mmmf import mmmf
from sdpdr.families.factor.margin.recipe import Signs, observed_signs
from sdpdr.families.factor.nonnegative.inputs import dense_matrix
from sdpdr.solvers.base import tolerance, unless_configured


@dataclass(eq=False, repr=False)
class _Completion(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What estimators of a whole matrix from some of its entries have in common."""

    c: float = 1.0
    _: KW_ONLY
    norm: str = "trace"
    solver: Any = "splitting"
    tol: float | None = None
    max_iter: int = 5000

    X_: Array = field(init=False)

    def decision_function(self, pairs: ArrayLike | None = None) -> Array:
        """Values of the matrix found, of which `predict` takes the signs or counts them.

        Parameters
        ----------
        pairs : array_like of int, shape (m, 2), optional
            Rows and columns; the whole matrix by default.

        Returns
        -------
        array of shape (m,) or (p, q)
        """
        check_is_fitted(self, "X_")
        matrix = self.X_
        if pairs is None:
            return matrix.copy()
        places = np.asarray(pairs)
        if places.ndim != 2 or places.shape[1] != 2 or places.dtype.kind not in "iu":
            raise ShapeError(
                "pairs must be whole numbers of shape (m, 2), rows and columns; they have shape "
                f"{places.shape} and type {places.dtype}."
            )
        outside = np.any((places < 0) | (places >= matrix.shape), axis=1)
        if np.any(outside):
            i, a = places[np.flatnonzero(outside)[0]]
            raise DataError(
                f"pair ({i}, {a}) lies outside the matrix of shape {matrix.shape} that was fitted."
            )
        return np.asarray(matrix[places[:, 0], places[:, 1]])

    def _note_unobserved(self, rows: Index, columns: Index) -> None:
        self.unobserved_rows_, self.unobserved_columns_ = rows, columns
        if rows.size or columns.size:
            warnings.warn(
                f"{rows.size} rows and {columns.size} columns hold no observation, so nothing is "
                "said of them and their entries are 0; see unobserved_rows_ and "
                "unobserved_columns_.",
                UnobservedWarning,
                stacklevel=3,
            )


@dataclass(eq=False, repr=False)
class MMMF(_Completion):
    r"""Maximum-margin matrix factorization: signs completed by a matrix of least norm.

    .. math:: \min_M |M| + c \sum_{(i,a) \in S} \max(0, 1 - X_{ia} M_{ia}),

    with a bound that tells how near the answer is to the best; see `sdpdr.factorize.mmmf`.

    Parameters
    ----------
    c : float, default 1
        Price of a unit of slack; infinite for a hard margin. At a price of at most one over the
        largest singular value of the signs, the best matrix is zero (of the trace norm).
    norm : {"trace", "max"}, default "trace"
    solver : str or Solver, default "splitting"
        Any other is one of `sdpdr.solve`.
    tol : float, optional
        Of the relative gap; by default that of a configured solver, or 1e-6.
    max_iter : int, default 5000

    Attributes
    ----------
    X_ : array of shape (p, q)
        M, whose signs are the prediction.
    U_, V_ : arrays of shape (p, k) and (q, k)
        Factors, :math:`M = U V^T`: users and items as points of one space.
    slack_, Q_ : sparse arrays of shape (p, q)
        Slack and multipliers of the signs observed. A multiplier of c marks a sign that is not
        met with a full margin, one of 0 a sign that does not matter.
    value_, bound_, gap_ : float
    unobserved_rows_, unobserved_columns_ : arrays of int
        Where nothing was observed; the trace norm leaves them zero.
    factorization_ : MarginFactorization
    n_iter_, n_features_in_ : int

    Warns
    -----
    UnobservedWarning
        Rows or columns hold no observation.
    WeakSeparationWarning
        Slack is so cheap that the best matrix is zero.
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
    """

    factorization_: MarginFactorization = field(init=False)

    def fit(self, X: Any, y: Any = None) -> MMMF:
        """Complete a matrix of signs.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q)
            1 and -1 where a sign was observed, 0 or NaN where not.
        y : ignored

        Returns
        -------
        self
        """
        signs = observed_signs(X)
        found = mmmf(
            signs,
            c=self.c,
            norm=self.norm,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self._note_unobserved(signs.empty_rows, signs.empty_columns)
        self.factorization_ = found
        self.U_, self.V_ = found.U.copy(), found.V.copy()
        self.U_[signs.empty_rows] = 0.0
        self.V_[signs.empty_columns] = 0.0
        self.X_ = self.U_ @ self.V_.T
        self.slack_ = _spread(signs, found.slack)
        self.Q_ = _spread(signs, np.clip(found.multipliers, 0.0, self.c))
        self.value_, self.bound_, self.gap_ = found.value, found.bound, found.gap
        self.n_iter_, self.n_features_in_ = found.iterations, signs.shape[1]
        if found.is_zero:
            warnings.warn(
                f"slack at a price of c = {self.c:g} is so cheap that the best matrix is zero, "
                "and predicts nothing. Raise c.",
                WeakSeparationWarning,
                stacklevel=2,
            )
        return self

    def predict(self, pairs: ArrayLike | None = None) -> Index:
        """Signs of the matrix found; 0 where an entry is at most ``tol`` times the largest.

        Symmetric data put entries on zero exactly, and their computed sign is that of rounding.

        Parameters
        ----------
        pairs : array_like of int, shape (m, 2), optional
            Rows and columns; the whole matrix by default.

        Returns
        -------
        array of int, shape (m,) or (p, q)
        """
        values = self.decision_function(pairs)
        blurred = tolerance(self.solver, self.tol) * np.max(np.abs(self.X_), initial=0.0)
        return np.where(np.abs(values) <= blurred, 0.0, np.sign(values)).astype(np.int64)

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the signs in X that are predicted.

        Parameters
        ----------
        X : array_like or sparse array of shape (p, q)
            As for `fit`; such as the signs held back.
        y : ignored
        """
        check_is_fitted(self, "X_")
        signs = observed_signs(X)
        _require_shape(signs.shape, self.X_.shape)
        return float(np.mean(self.predict(signs.places) == signs.values))


@dataclass(eq=False, repr=False)
class RatingMMMF(_Completion):
    r"""Ratings completed by a maximum-margin factorization for each threshold between levels.

    For thresholds :math:`\theta_1 < \dots < \theta_{r-1}` between the r levels, `MMMF` completes
    the signs of :math:`R - \theta_t`. The level predicted is the one above as many thresholds as
    have a positive sign, and a threshold on which an item sits, within the tolerance, is not
    passed; the sum of all matrices ranks items in finer steps. Each of the programs is solved to a
    proven gap; that levels are cut one at a time is a simplification, not an optimum of anything
    joint.

    Parameters
    ----------
    c, norm, solver, tol, max_iter
        As of `MMMF`; the tolerance is 1e-4 by default.

    Attributes
    ----------
    levels_ : array of shape (r,)
        The ratings that occur, ascending.
    models_ : list of MMMF
        One for each threshold.
    X_ : array of shape (p, q)
        The sum of their matrices.
    gaps_ : array of shape (r - 1,)
    unobserved_rows_, unobserved_columns_ : arrays of int
    n_features_in_ : int

    References
    ----------
    Rennie and Srebro, "Fast maximum margin matrix factorization for collaborative prediction",
    ICML, 2005, for losses over all thresholds; Tong thesis, section 3.3, for the comparison.

    Examples
    --------
    >>> import sdpdr
    >>> nan = float("nan")
    >>> R = [[5, 1, nan, 4], [4, 1, 1, nan], [1, nan, 5, 1], [nan, 5, 4, 1]]
    >>> sdpdr.RatingMMMF(c=1.0).fit(R).predict()
    array([[5., 1., 1., 4.],
           [4., 1., 1., 4.],
           [1., 4., 5., 1.],
           [1., 5., 4., 1.]])
    """

    def fit(self, X: Any, y: Any = None) -> RatingMMMF:
        """Complete a matrix of ratings.

        Parameters
        ----------
        X : array_like of shape (p, q)
            Ratings, NaN where none was given.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        DataError
            Fewer than two levels occur.
        """
        ratings = _ratings(X)
        seen = ~np.isnan(ratings)
        self.levels_ = np.unique(ratings[seen])
        if self.levels_.size < 2:
            raise DataError(
                f"ratings take {self.levels_.size} different values; at least two are needed to "
                "tell items apart. Missing ratings must be NaN."
            )
        self._note_unobserved(*(np.flatnonzero(~np.any(seen, axis=axis)) for axis in (1, 0)))
        with warnings.catch_warnings():
            # What is not observed is so for every threshold, and was said.
            warnings.simplefilter("ignore", UnobservedWarning)
            self.models_ = [
                self._one().fit(np.where(seen, np.where(ratings > low, 1.0, -1.0), 0.0))
                for low in self.levels_[:-1]
            ]
        self.X_ = np.sum([model.X_ for model in self.models_], axis=0)
        self.gaps_ = np.array([model.gap_ for model in self.models_])
        self.n_features_in_ = ratings.shape[1]
        return self

    def predict(self, pairs: ArrayLike | None = None) -> Array:
        """Levels predicted.

        Parameters
        ----------
        pairs : array_like of int, shape (m, 2), optional
            Rows and columns; the whole matrix by default.

        Returns
        -------
        array of shape (m,) or (p, q)
        """
        check_is_fitted(self, "X_")
        passed = np.sum([model.predict(pairs) > 0 for model in self.models_], axis=0)
        return np.asarray(self.levels_[passed])

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean absolute error over the ratings in X.

        Parameters
        ----------
        X : array_like of shape (p, q)
            As for `fit`.
        y : ignored
        """
        check_is_fitted(self, "X_")
        ratings = _ratings(X)
        _require_shape(ratings.shape, self.X_.shape)
        places = np.argwhere(~np.isnan(ratings))
        return -float(np.mean(np.abs(self.predict(places) - ratings[tuple(places.T)])))

    def _one(self) -> MMMF:
        # Of a configured solver, MMMF takes what it brings.
        tol = unless_configured(self.solver, 1e-4) if self.tol is None else self.tol
        return MMMF(self.c, norm=self.norm, solver=self.solver, tol=tol, max_iter=self.max_iter)


def _spread(signs: Signs, values: Array) -> sp.csr_array:
    return sp.csr_array((values, tuple(signs.places.T)), shape=signs.shape)


def _ratings(X: Any) -> Array:
    ratings = dense_matrix(X, gaps=True)
    if np.all(np.isnan(ratings)):
        raise DataError("no rating was given: all entries are NaN.")
    return ratings


def _require_shape(given: tuple[int, ...], fitted: tuple[int, ...]) -> None:
    if given != fitted:
        raise ShapeError(f"the matrix fitted has shape {fitted}; this one has {given}.")
