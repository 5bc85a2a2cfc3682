"""Checks of nonnegative matrices: complete, with missing entries, or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import norm
from sklearn.utils import check_array

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix, require_squares
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import refused, require_no_times


def nonnegative_matrix(X: ArrayLike, name: str = "X") -> Array:
    """A finite matrix without negative entries, not all zero, as floats.

    Parameters
    ----------
    X : array_like of shape (n, m)
    name : str, default "X"
        Its name in messages.

    Raises
    ------
    DataError
        An entry is negative, infinite or not a number (its place is named), or all are zero.
    DataTypeError
        The entries are not real numbers.

    Examples
    --------
    >>> nonnegative_matrix([[1, 0], [2, 3]])
    array([[1., 0.],
           [2., 3.]])
    """
    matrix = dense_matrix(X, name)
    require_nonnegative(matrix, name)
    return matrix


def require_nonnegative(matrix: Matrix, name: str = "X") -> None:
    """Refuse negative entries and zero matrices, dense or sparse.

    Raises
    ------
    DataError
    """
    i, j = (matrix < 0.0).nonzero()
    if i.size:
        raise DataError(
            f"Negative values in data: {name}[{i[0]}, {j[0]}] = {matrix[i[0], j[0]]:g}. {name} "
            "must be nonnegative; shift or clip it if negative entries mean nothing."
        )
    if not matrix.max() > 0.0:
        raise DataError(f"all entries of {name} are zero: there is nothing to factor.")


def number_of_components(value: object, shape: tuple[int, ...], name: str = "n_components") -> int:
    """A number of components from 1 to the smaller side of a matrix.

    Raises
    ------
    DataError
        It is out of range.
    """
    k = validate.positive_integer(name, value)
    if k > min(shape):
        raise DataError(
            f"{name}={k} is out of range: a {shape[0]} x {shape[1]} matrix is its own product with "
            f"the identity from {min(shape)} components on. Pass 1 to {min(shape)}."
        )
    return k


def factor_pair(
    name: str, W: ArrayLike, H: ArrayLike, shape: tuple[int, ...], k: int | None = None
) -> tuple[Array, Array]:
    """Two factors as floats, of shapes (n, k) and (k, m) for a matrix of shape (n, m).

    Parameters
    ----------
    name : str
        Their name in messages.
    W, H : array_like
    shape : tuple of int
    k : int, optional
        By default as many as W has columns.

    Raises
    ------
    ShapeError
    """
    left, right = (np.asarray(F, dtype=float) for F in (W, H))
    (n, m), words = shape, "k" if k is None else k
    columns = left.shape[-1] if k is None and left.ndim else k
    if left.shape != (n, columns) or right.shape != (columns, m):
        raise ShapeError(
            f"{name} must be factors of shapes ({n}, {words}) and ({words}, {m}); they have "
            f"{left.shape} and {right.shape}."
        )
    return left, right


def dense_matrix(X: Any, name: str = "X", *, gaps: bool = False) -> Array:
    """A finite matrix as floats, checked by scikit-learn, with its messages as our errors.

    Parameters
    ----------
    X : array_like of shape (n, m)
    name : str, default "X"
        Its name in messages.
    gaps : bool, default False
        Whether entries may be ``nan``.

    Raises
    ------
    DataError
        An entry is infinite or not a number, or X has no entries, or not two dimensions.
    DataTypeError
        X is sparse, or its entries are not real numbers.
    """
    finite = "allow-nan" if gaps else True
    return np.asarray(checked_matrix(X, name, ensure_all_finite=finite))


def checked_matrix(X: Any, name: str, **options: Any) -> Any:
    """A matrix checked by scikit-learn's `check_array` with the options given.

    Raises
    ------
    DataError, DataTypeError
    """
    require_no_times(X, name)
    try:
        matrix = check_array(X, dtype=np.float64, input_name=name, **options)
    except (TypeError, ValueError) as error:
        raise refused(X, error) from None
    require_squares(matrix.data if sp.issparse(matrix) else matrix, name)
    return matrix


@dataclass(frozen=True, eq=False)
class PartialMatrix:
    """A nonnegative matrix and which of its entries are known.

    Attributes
    ----------
    values : array of shape (n, m)
        Zero where an entry is not known.
    mask : array of shape (n, m)
        1 where an entry is known, 0 elsewhere.
    """

    values: Array
    mask: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix."""
        n, m = self.values.shape
        return n, m

    @property
    def is_complete(self) -> bool:
        """Whether all entries are known."""
        return bool(np.all(self.mask))

    @property
    def norm(self) -> float:
        """Frobenius norm of the known entries."""
        return float(np.linalg.norm(self.values))

    def positions(self) -> Index:
        """Rows and columns of the known entries, row by row; shape (p, 2)."""
        return np.argwhere(self.mask)

    def with_gaps(self) -> Array:
        """The matrix with ``nan`` where an entry is not known."""
        return np.where(self.mask > 0.0, self.values, np.nan)

    def error(self, W: Array, H: Array) -> float:
        """Distance of the product from the known entries, relative to their norm."""
        return float(np.linalg.norm(self.mask * (W @ H - self.values))) / self.norm


def partial_matrix(
    X: ArrayLike, observed: ArrayLike | None = None, name: str = "X"
) -> PartialMatrix:
    """A nonnegative matrix, in which entries may be missing.

    Parameters
    ----------
    X : array_like of shape (n, m)
        ``nan`` where an entry is not known.
    observed : array_like of bool, shape (n, m), optional
        True where an entry counts as known.
    name : str, default "X"
        Its name in messages.

    Raises
    ------
    DataError
        A known entry is negative or not finite, or all are zero; a row or column has no known
        entry at all.
    ShapeError
        ``observed`` has another shape.

    Examples
    --------
    >>> known = partial_matrix([[1.0, np.nan], [2.0, 3.0]])
    >>> known.positions().tolist(), known.is_complete
    ([[0, 0], [1, 0], [1, 1]], False)
    """
    given = dense_matrix(X, name, gaps=True)
    mask = ~np.isnan(given)
    if observed is not None:
        wanted = np.asarray(observed, dtype=bool)
        if wanted.shape != given.shape:
            raise ShapeError(
                f"observed has shape {wanted.shape}; {name} has {given.shape}. Pass one truth "
                "value for each entry."
            )
        mask = mask & wanted
    if not mask.any():
        raise DataError(
            f"no entry of {name} is known: all are nan"
            f"{'' if observed is None else ' or not observed'}. Pass at least one number for each "
            "row and column."
        )
    values = nonnegative_matrix(np.where(mask, given, 0.0), name)
    require_known(mask, name)
    return PartialMatrix(values, mask.astype(float))


def require_known(mask: np.ndarray, name: str = "X") -> None:
    """Refuse a matrix with a row or column without known entries.

    Raises
    ------
    DataError
    """
    for axis, word in ((1, "row"), (0, "column")):
        empty = np.flatnonzero(~mask.any(axis=axis))
        if empty.size:
            raise DataError(
                f"{word} {empty[0]} of {name} has no known entry, so its factor is arbitrary. "
                f"Leave the {word} out."
            )


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A nonnegative sparse matrix without missing entries; see `PartialMatrix`.

    Errors and coordinates come from products, and nothing becomes dense.

    Parameters
    ----------
    values : csr_array of shape (n, m)

    Raises
    ------
    DataError
        An entry is negative, or all are zero.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> known = SparseMatrix(sp.csr_array(np.diag([3.0, 4.0])))
    >>> known.norm, known.error(np.array([[1.0], [0.0]]), np.array([[3.0, 0.0]]))
    (5.0, 0.8)
    """

    values: Any
    is_complete = True

    def __post_init__(self) -> None:
        require_nonnegative(self.values)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix."""
        n, m = self.values.shape
        return n, m

    @cached_property
    def norm(self) -> float:
        """Frobenius norm."""
        return float(norm(self.values))

    def with_gaps(self) -> Any:
        """The matrix itself."""
        return self.values

    def error(self, W: Array, H: Array) -> float:
        """Distance of the product, relative to the norm; below 1e-8 it cannot be resolved."""
        square = self.norm**2 - 2.0 * float(np.sum(W * (self.values @ H.T)))
        square += float(np.sum((W.T @ W) * (H @ H.T)))
        return float(np.sqrt(max(square, 0.0))) / self.norm
