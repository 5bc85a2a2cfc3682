"""Numbers as doubles, which complex ones cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.errors import DataTypeError


def as_real(numbers: Any) -> Any:
    """An array of doubles, sparse if it was given sparse.

    Raises
    ------
    DataTypeError
        If numbers are complex, or none at all.

    Examples
    --------
    >>> as_real([[1, 2]])
    array([[1., 2.]])
    """
    given = numbers if sp.issparse(numbers) else np.asarray(numbers)
    if given.dtype.kind == "c":
        raise DataTypeError(
            "coefficients must be real; these are complex. Write a Hermitian matrix A + iB as the "
            "real symmetric one [[A, -B], [B, A]] of twice the order."
        )
    if given.dtype.kind not in "biuf":
        raise DataTypeError(f"coefficients must be numbers; these are {given.dtype}.")
    return given if given.dtype == np.float64 else given.astype(float)
