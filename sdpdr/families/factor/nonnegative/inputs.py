"""Checks of nonnegative and of symmetric matrices, with messages that name the entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import norm
from sklearn.utils import check_array

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix, require_squares
from sdpdr.base.errors import DataError
from sdpdr.base.estimators import refused, require_no_times
from sdpdr.families.limits import ROUNDING


def checked_matrix(X: Any, name: str = "X", **options: Any) -> Any:
    """A matrix of floats, checked by scikit-learn's `check_array` with the options given."""
    require_no_times(X, name)
    try:
        matrix = check_array(X, dtype=np.float64, input_name=name, **options)
    except (TypeError, ValueError) as error:
        raise refused(X, error) from None
    require_squares(matrix.data if sp.issparse(matrix) else matrix, name)
    return matrix


def nonnegative_matrix(X: ArrayLike) -> Array:
    """A finite dense matrix without negative entries, not all zero."""
    matrix: Array = checked_matrix(X)
    require_nonnegative(matrix)
    return matrix


def require_nonnegative(matrix: Matrix) -> None:
    """Refuse an X with negative entries, or that is zero, dense or sparse."""
    i, j = (matrix < 0.0).nonzero()
    if i.size:
        raise DataError(
            f"Negative values in data: X[{i[0]}, {j[0]}] = {matrix[i[0], j[0]]:g}. X must be "
            "nonnegative; shift or clip it if negative entries mean nothing."
        )
    if not matrix.max() > 0.0:
        raise DataError("all entries of X are zero: there is nothing to factor.")


def number_of_components(value: object, shape: tuple[int, ...], name: str = "n_components") -> int:
    """A number of components from 1 to the smaller side of a matrix."""
    k = validate.positive_integer(name, value)
    if k > min(shape):
        raise DataError(
            f"{name}={k} is out of range: a {shape[0]} x {shape[1]} matrix is its own product with "
            f"the identity from {min(shape)} components on. Pass 1 to {min(shape)}."
        )
    return k


def partial_matrix(X: ArrayLike, nonnegative: bool = True) -> Array:
    """A matrix, not all zero, ``nan`` where an entry is missing; by default a nonnegative one."""
    given = np.array(checked_matrix(X, ensure_all_finite="allow-nan"))
    known = ~np.isnan(given)
    if not known.any():
        raise DataError(
            "no entry of X is known: all are nan. Pass at least one number for each row and column."
        )
    zeros = np.where(known, given, 0.0)
    require_nonnegative(zeros if nonnegative else np.abs(zeros))
    require_known(known)
    return given


def require_known(mask: np.ndarray, name: str = "X") -> None:
    """Refuse a matrix with a row or column without known entries."""
    for axis, word in ((1, "row"), (0, "column")):
        empty = np.flatnonzero(~mask.any(axis=axis))
        if empty.size:
            raise DataError(
                f"{word} {empty[0]} of {name} has no known entry, so its factor is arbitrary. "
                f"Leave the {word} out."
            )


def norm_of(X: Matrix) -> float:
    """The Frobenius norm of the known entries, dense or sparse."""
    return float(norm(X)) if sp.issparse(X) else float(np.sqrt(np.nansum(X * X)))


def residual(X: Matrix, W: Array, H: Array) -> float:
    """:math:`|X - WH|_F` over the known entries; of sparse X it is exact to 1e-8 of the norm."""
    if not sp.issparse(X):
        return norm_of(X - W @ H)
    square = norm_of(X) ** 2 - 2.0 * float(np.sum(W * (X @ H.T)))
    square += float(np.sum((W.T @ W) * (H @ H.T)))
    return float(np.sqrt(max(square, 0.0)))


def symmetric_matrix(X: ArrayLike) -> Array:
    """A finite symmetric matrix, not all zero; negative entries and eigenvalues are allowed."""
    matrix: Array = checked_matrix(X)
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"X must be a square symmetric matrix; it has shape {matrix.shape}. Pass a kernel of "
            "its rows, X @ X.T for instance; `sdpdr.factorize.nmf` takes any shape."
        )
    if not np.any(matrix):
        raise DataError("all entries of X are zero: there is nothing to factor.")
    return np.asarray(validate.symmetric("X", matrix, within=ROUNDING))
