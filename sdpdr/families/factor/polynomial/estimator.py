"""Factorization through a polynomial, with scikit-learn's face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted, validate_data

from sdpdr.base.arrays import Array
from sdpdr.base.estimators import as_precise
from sdpdr.families.factor.nonnegative.projection import FactorTransformer
from sdpdr.families.factor.polynomial.factorize import polynomial
from sdpdr.families.factor.polynomial.fit import LeastSquares, evaluate
from sdpdr.families.factor.polynomial.recipe import Lift


@dataclass(eq=False, repr=False)
class PolynomialFactorization(FactorTransformer):
    r"""Factors W, H with :math:`X_{ij} \approx g(W_i \cdot H_j)` for a polynomial g.

    `sdpdr.factorize.polynomial` with an interface that pipelines know. `transform` finds the rows
    of W for further rows of X, with H and g as they were found.

    Parameters
    ----------
    n_components : int, default 1
    coefficients : sequence of float, default (1.0,)
        Of g, from :math:`c_1`; None where they are to be found too.
    lift, nonnegative, regularization, degree, restarts, max_iter, tol, solver, time_limit
        As of `sdpdr.factorize.polynomial`.
    random_state : int, default 0

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        H.
    coefficients_ : array of shape (D,)
        Of g.
    reconstruction_err_ : float
        :math:`|g(WH) - X|_F`.
    bound_ : float or None
        No factors have a smaller misfit (or regularized objective).
    factors_ : PolynomialFactors
        All that was found.
    n_iter_ : int
        Programs solved.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
    lift: Lift = "layers"
    nonnegative: bool = True
    regularization: float | None = None
    degree: int = 2
    restarts: int = 0
    max_iter: int = 50
    tol: float = 1e-9
    solver: Any = "clarabel"
    time_limit: float | None = None
    random_state: int = 0

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find factors and return W, of shape (n, n_components)."""
        values = validate_data(self, X, dtype=float, ensure_all_finite="allow-nan")
        found = polynomial(
            values, self.coefficients, self.n_components, lift=self.lift,
            nonnegative=self.nonnegative, regularization=self.regularization, degree=self.degree,
            restarts=self.restarts, max_iter=self.max_iter, tol=self.tol, solver=self.solver,
            time_limit=self.time_limit, seed=self.random_state, progress=False,
        )  # fmt: skip
        self.factors_ = found
        self.components_, self.coefficients_ = found.H, found.coefficients
        self.reconstruction_err_, self.bound_ = found.misfit, found.bound
        self.n_iter_ = found.programs
        return as_precise(found.W, X)

    def transform(self, X: Any) -> Array:
        """The rows of W that fit rows of X best, with the components found."""
        check_is_fitted(self, "components_")
        values = validate_data(self, X, reset=False, dtype=float, ensure_all_finite="allow-nan")
        W = LeastSquares(values, self.nonnegative).rows(self.components_.T, self.coefficients_)
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
