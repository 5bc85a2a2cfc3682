"""Factorization through a polynomial, as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, require_squares
from sdpdr.base.deadline import in_seconds
from sdpdr.base.errors import warn
from sdpdr.base.estimators import as_precise, checked
from sdpdr.base.parameters import seconds_for
from sdpdr.families.factor.nonnegative.projection import FactorTransformer
from sdpdr.families.factor.polynomial.factorize import polynomial
from sdpdr.families.factor.polynomial.fit import evaluate, fitted_rows
from sdpdr.solving.iterate.records import IterationStatus


@dataclass(eq=False, repr=False)
class PolynomialFactorization(FactorTransformer):
    r"""Factors W, H with :math:`X_{ij} \approx g(W_i \cdot H_j)` for a polynomial g.

    They are found by `sdpdr.factorize.polynomial`. If g is increasing and all entries are known,
    there is a bound on the misfit of any factors; for one component and :math:`g(t) = ct` they are
    an optimum. `transform` finds the rows of W for further rows of X, with H and g as they were
    found.

    Parameters
    ----------
    n_components : int, default 1
    coefficients : sequence of float, default (1.0,)
        Coefficients of g, from :math:`c_1`; None if they are to be found too.
    nonnegative : bool, default True
        Whether factors, and unknown coefficients, are not negative.
    degree : int, default 2
        Degree of g, if ``coefficients`` are to be found.
    starts : int, default 10
        Random factors to begin from, if entries are missing, or g is unknown or not increasing.
    tol : float, default 1e-9
        Relative misfit at which entries count as met.
    time_limit : float or None, default 10
        Seconds of the fit; "auto" is the default.
    random_state : int, RandomState or Generator, default 0

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        H.
    coefficients_ : array of shape (D,)
        Coefficients of g.
    reconstruction_err_ : float
        :math:`|g(WH) - X|_F`.
    bound_ : float or None
        No factors have a smaller misfit.
    factors_ : PolynomialFactors
        All that was found.
    n_iter_ : int
        Factors from which a descent began.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Warns
    -----
    ConvergenceWarning
        The time limit ended the search.

    Examples
    --------
    >>> import numpy as np
    >>> import sdpdr
    >>> t = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
    >>> model = sdpdr.PolynomialFactorization(coefficients=(1.0, 0.5))
    >>> model.fit_transform(t + t**2 / 2).round(6).ravel().tolist()
    [1.0, 0.5, 0.8]
    >>> model.components_.round(6).tolist(), model.reconstruction_err_ < 1e-12
    ([[0.7, 1.2]], True)
    """

    n_components: int = 1
    _: KW_ONLY
    coefficients: Sequence[float] | None = (1.0,)
    nonnegative: bool = True
    degree: int = 2
    starts: int = 10
    tol: float = 1e-9
    time_limit: float | str | None = 10.0
    random_state: int = 0

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find factors and return W, of shape (n, n_components)."""
        values = checked(self, X, ensure_all_finite="allow-nan")
        require_squares(values)
        validate.positive_number("tol", self.tol)
        validate.positive_integer("degree", self.degree)
        seed, seconds = validate.seed(self.random_state), seconds_for(self)
        found = polynomial(
            values, self.coefficients, self.n_components, nonnegative=self.nonnegative,
            degree=self.degree, starts=self.starts, tol=self.tol, seed=seed, time_limit=seconds,
        )  # fmt: skip
        if found.status is IterationStatus.TIME_LIMIT:
            warn(
                f"the time limit of {in_seconds(seconds)} s ended the search after "
                f"{found.starts} starts; its misfit is {found.misfit:.4g}. Raise time_limit.",
                ConvergenceWarning,
            )
        self.factors_, self.n_iter_ = found, found.starts
        self.components_, self.coefficients_ = found.H, found.coefficients
        self.reconstruction_err_, self.bound_ = found.misfit, found.bound
        return as_precise(found.W, X)

    def transform(self, X: Any) -> Array:
        """The rows of W that fit rows of X best, with the components found."""
        check_is_fitted(self, "components_")
        values = checked(self, X, reset=False, ensure_all_finite="allow-nan")
        W = fitted_rows(values, self.components_.T, self.coefficients_, self.nonnegative)
        return as_precise(W, X)

    def inverse_transform(self, W: Any) -> Array:
        """:math:`g(WH)` for rows of W."""
        products = super().inverse_transform(W)
        return evaluate(self.coefficients_, products)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = self.nonnegative
        return tags
