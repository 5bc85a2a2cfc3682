"""What may be factored, and what is said when it cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from sdpdr.errors import DataError, DataTypeError
from sdpdr.graphs import validate
from sdpdr.linalg.svec import Array


def nonnegative_matrix(X: ArrayLike, name: str = "X") -> Array:
    """A finite matrix without negative entries, not all zero, as floats.

    Parameters
    ----------
    X : array_like of shape (n, m)
    name : str, default "X"
        What messages call it.

    Raises
    ------
    DataError
        An entry is negative, infinite or not a number (its place is named), or all are zero.
    DataTypeError
        The entries are no real numbers.

    Examples
    --------
    >>> nonnegative_matrix([[1, 0], [2, 3]])
    array([[1., 0.],
           [2., 3.]])
    """
    matrix = dense_matrix(X, name)
    if np.any(matrix < 0.0):
        i, j = np.argwhere(matrix < 0.0)[0]
        raise DataError(
            f"Negative values in data: {name}[{i}, {j}] = {matrix[i, j]:g}. {name} must be "
            "non-negative; shift or clip it if negative entries mean nothing."
        )
    if not np.any(matrix):
        raise DataError(f"all entries of {name} are zero: there is nothing to factor.")
    return matrix


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


def dense_matrix(X: Any, name: str = "X") -> Array:
    """A finite matrix as floats; scikit-learn's own check, in its words, as our errors.

    Raises
    ------
    DataError
        An entry is infinite or not a number, or X has no entries, or not two dimensions.
    DataTypeError
        X is sparse, or its entries are no real numbers.
    """
    try:
        return np.asarray(check_array(X, dtype=np.float64, input_name=name))
    except TypeError as error:
        raise DataTypeError(f"{error}") from None
    except ValueError as error:
        raise DataError(f"{error}") from None
