r"""Projections onto cones of nonnegative vectors, and the base class of estimators of factors."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import Reconstructing
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.nonnegative.least_squares import nonnegative_least_squares


def project(generators: Array, points: Array) -> Array:
    """Coefficients (p, m) of the points of a cone nearest to points (n, m); generators (n, p)."""
    return np.column_stack([nonnegative_least_squares(generators, point)[0] for point in points.T])


def coordinates(X: Matrix, components: Array) -> Array:
    r"""Coordinates of rows by nonnegative least squares, shape (n, k).

    With :math:`H^T = Q R` a sparse row x has those of :math:`\min_{w \ge 0} |R w - Q^T x|`, where R
    has order k, so one product X Q serves all rows.
    """
    if not sp.issparse(X):
        return project(components.T, X.T).T
    Q, R = np.linalg.qr(components.T)
    inside = X @ Q
    # The part outside the span cannot be fitted, but its size says which errors are small.
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - np.sum(inside**2, axis=1)
    targets = np.column_stack([inside, np.sqrt(np.maximum(squares, 0.0))])
    return project(np.vstack([R, np.zeros(R.shape[1])]), targets.T).T


def squared_distances(generators: Array, points: Array, coefficients: Array) -> Array:
    r"""Lower bounds on the squared distances of points from a cone, tight for the nearest points.

    Every y with :math:`G^T y \le 0` proves :math:`|v - x|^2 \ge 2 y^T v - |y|^2` for all x in the
    cone. The residual of the fit is such a y after a multiple of the vector of ones is subtracted,
    because the generators are nonnegative and have the sum one.
    """
    rest = points - generators @ coefficients
    rest = rest - np.maximum(generators.T @ rest, 0.0).max(axis=0)
    bounds = 2.0 * np.sum(rest * points, axis=0) - np.sum(rest * rest, axis=0)
    return np.asarray(np.maximum(bounds, 0.0))


@checks_keywords
def hoyer(X: ArrayLike, axis: int | None = 0) -> Array:
    r"""Hoyer's measure of sparsity, :math:`(\sqrt p - |x|_1/|x|_2)/(\sqrt p - 1)` of p numbers.

    One for a single nonzero entry, zero if all entries are equal in size; the scale of x does not
    matter.

    Parameters
    ----------
    X : array_like of shape (n, m), or (p,)
    axis : int or None, default 0
        Along which vectors lie: 0 for columns, 1 for rows, None for all entries as one vector.

    Returns
    -------
    ndarray of shape (m,), (n,) or ()
        nan for vectors of zeros, and for vectors of one entry.

    Raises
    ------
    DataError
        X has no entries, or some are not finite.

    References
    ----------
    P. O. Hoyer, "Non-negative matrix factorization with sparseness constraints", Journal of Machine
    Learning Research 5, 2004; Vasiloglou thesis, (2.61), where the text has the ends of the scale
    exchanged.

    Examples
    --------
    >>> from sdpdr.nonnegative import hoyer
    >>> hoyer([[0.0, 1.0], [3.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    array([1., 0.])
    """
    values = np.asarray(X, dtype=float)
    if not values.size or not np.isfinite(values).all():
        raise DataError("hoyer needs at least one entry, and finite ones only.")
    root = np.sqrt(values.size if axis is None else values.shape[axis])
    size = np.sqrt(np.sum(np.square(values), axis=axis))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (root - np.sum(np.abs(values), axis=axis) / size) / (root - 1.0)
    # Rounding may leave the interval; nan stays.
    return np.asarray(np.clip(found, 0.0, 1.0))


Fitted = TypeVar("Fitted", bound="FactorTransformer")


class FactorTransformer(Reconstructing):
    """Base of estimators of two factors: X is about W H, and H is ``components_``."""

    components_: Array

    def fit(self: Fitted, X: Any, y: Any = None) -> Fitted:
        """Find the factors.

        Parameters
        ----------
        X : array_like of shape (n, m)
            As for `fit_transform`.
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def inverse_transform(self, W: Any) -> Array:
        """The product of W, of shape (n, k), with the components.

        Raises
        ------
        ShapeError
            W has not k columns.
        """
        check_is_fitted(self)
        left = np.asarray(W, dtype=float)
        if left.ndim != 2 or left.shape[1] != len(self.components_):
            raise ShapeError(
                f"W must have {len(self.components_)} columns, one for each component; its shape "
                f"is {left.shape}."
            )
        return np.asarray(left @ self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
