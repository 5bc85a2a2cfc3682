"""Numbers as doubles, which complex ones cannot be, and copies that no caller can change."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.errors import DataTypeError, ShapeError


def as_real(numbers: Any, copy: bool = False) -> Any:
    """An array of doubles, sparse if it was given sparse.

    Whole numbers become doubles before anything is computed, because theirs wrap around.

    Parameters
    ----------
    numbers : array_like, sparse array or number
    copy : bool, default False
        Whether what is returned must not share memory with what was given.

    Raises
    ------
    DataTypeError
        If numbers are complex, or none at all.

    Examples
    --------
    >>> as_real([[1, 2]])
    array([[1., 2.]])
    """
    if isinstance(numbers, Real):  # also whole numbers too long for an array
        return np.asarray(float(numbers))
    given = numbers if sp.issparse(numbers) else np.asarray(numbers)
    if given.dtype.kind == "c":
        raise DataTypeError(
            "coefficients must be real; these are complex. Write a Hermitian matrix A + iB as the "
            "real symmetric one [[A, -B], [B, A]] of twice the order."
        )
    if given.dtype.kind not in "biuf":
        raise DataTypeError(f"coefficients must be numbers; these are {given.dtype}.")
    return given.astype(float, copy=copy)


def own_rows(matrix: Any) -> sp.csr_array:
    """A copy of a matrix with every entry once and in order.

    Entries that were stored in parts are added here, so that everybody reads the same sum.
    Products of SciPy would do it in place in their operands, also in those of a caller, and in
    those of a matrix that has its indices in common with another one.

    Raises
    ------
    DataTypeError
        As `as_real`.
    ShapeError
        If it is no matrix.

    Examples
    --------
    >>> parts = sp.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    >>> own_rows(parts).data
    array([3.])
    """
    given = as_real(matrix)
    if given.ndim != 2:
        raise ShapeError(f"a matrix has two dimensions; this one has shape {given.shape}.")
    own = sp.csr_array(given, copy=True)
    own.sum_duplicates()
    return own


def as_whole(what: str, number: Any) -> int:
    """A number of things as an int, whose products do not wrap around.

    Raises
    ------
    DataTypeError
        If it is not whole.
    """
    if not isinstance(number, Integral):
        raise DataTypeError(f"{what} must be a whole number; it is {number!r}.")
    return int(number)
