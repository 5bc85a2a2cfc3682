"""A matrix of signs of which only a part was observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from sdpdr.errors import DataError, DataTypeError
from sdpdr.linalg.svec import Array, Index


@dataclass(frozen=True, eq=False)
class Signs:
    """Signs observed at some places of a matrix.

    Attributes
    ----------
    shape : tuple of int
        (p, q), rows for users and columns for items.
    places : array of int, shape (m, 2)
        Row by row.
    values : array of shape (m,)
        1 or -1.
    """

    shape: tuple[int, int]
    places: Index
    values: Array

    @property
    def empty_rows(self) -> Index:
        """Rows in which nothing was observed."""
        return np.setdiff1d(np.arange(self.shape[0]), self.places[:, 0])

    @property
    def empty_columns(self) -> Index:
        """Columns in which nothing was observed."""
        return np.setdiff1d(np.arange(self.shape[1]), self.places[:, 1])

    def matrix(self, weights: ArrayLike = 1.0) -> sp.csr_array:
        r"""The sparse matrix :math:`Q \circ Y` of weights Q, one for each sign."""
        values = np.broadcast_to(np.asarray(weights, dtype=float), self.values.shape) * self.values
        return sp.csr_array((values, tuple(self.places.T)), shape=self.shape)


def observed_signs(X: Any, name: str = "X") -> Signs:
    """Read a matrix of signs: 1 and -1 where one was observed, 0 or NaN where not.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
    name : str, default "X"
        What messages call it.

    Raises
    ------
    DataError
        An entry is another number (its place is named), or no sign was observed.
    DataTypeError
        The entries are no real numbers.

    Examples
    --------
    >>> signs = observed_signs([[1, 0, -1], [0, -1, float("nan")]])
    >>> signs.places.tolist(), signs.values.tolist()
    ([[0, 0], [0, 2], [1, 1]], [1.0, -1.0, -1.0])
    >>> signs.empty_rows.size, signs.empty_columns.size
    (0, 0)
    """
    try:
        checked = check_array(
            X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, input_name=name
        )
    except TypeError as error:
        raise DataTypeError(f"{error}") from None
    except ValueError as error:
        raise DataError(f"{error}") from None
    dense = not sp.issparse(checked)
    entries = sp.coo_array(np.where(np.isnan(checked), 0.0, checked) if dense else checked)
    entries.sum_duplicates()
    values = np.asarray(entries.data, dtype=float)
    seen = (values != 0.0) & ~np.isnan(values)
    row, column, values = entries.row[seen], entries.col[seen], values[seen]
    wrong = np.flatnonzero(np.abs(values) != 1.0)
    if wrong.size:
        i, a, value = row[wrong[0]], column[wrong[0]], values[wrong[0]]
        raise DataError(
            f"{name}[{i}, {a}] = {value:g} is no sign. Entries must be 1 or -1 where a sign was "
            "observed, 0 or NaN where not; of ratings, pass np.sign(ratings - threshold) with "
            "missing ratings as NaN."
        )
    if not values.size:
        raise DataError(
            f"no entry of {name} was observed: all are 0 or NaN, so every matrix fits, and the "
            "one of least norm is zero."
        )
    order = np.lexsort((column, row))
    places = np.column_stack([row, column])[order].astype(np.int64)
    return Signs((int(checked.shape[0]), int(checked.shape[1])), places, values[order])
