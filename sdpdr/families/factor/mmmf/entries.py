"""Observed entries of a matrix of users and items: signs or ratings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, own_rows, require_squares
from sdpdr.base.errors import DataError, DataTypeError, ShapeError
from sdpdr.base.estimators import as_numbers
from sdpdr.base.rows import listed
from sdpdr.families.factor.nonnegative.inputs import checked_matrix


@dataclass(frozen=True, eq=False)
class Observed:
    """Values at some positions of a matrix of the given shape, row by row."""

    shape: tuple[int, int]
    rows: Index
    columns: Index
    values: Array

    def spread(self, values: Array) -> sp.csr_array:
        """Sparse matrix with other values at the same positions."""
        ends, columns = self._pattern
        return sp.csr_array((values, columns, ends), shape=self.shape)

    @cached_property
    def _pattern(self) -> tuple[Index, Index]:
        """Row ends and column indices, which every bound needs."""
        counts = np.bincount(self.rows, minlength=self.shape[0])
        return np.append(0, np.cumsum(counts)).astype(np.int32), self.columns.astype(np.int32)


def observed_signs(X: Any, y: Any = None) -> Observed:
    """Signs of a matrix, 1 and -1 where one was observed and 0 or NaN elsewhere, or of pairs."""
    if are_pairs(X, y):
        found = _of_pairs(X, y)
    else:
        matrix = checked_matrix(X, accept_sparse="csr", ensure_all_finite=False)
        if (X.dtype if sp.issparse(X) else np.asarray(X).dtype).kind == "b":
            raise DataTypeError(
                "X holds truth values, of which False is 0 and would count as not observed. Pass "
                "signs: 1 and -1 where one was observed, 0 where not."
            )
        found = _of_matrix(matrix, lambda values: (values != 0.0) & ~np.isnan(values))
    wrong = np.flatnonzero(np.abs(found.values) != 1.0)
    if wrong.size:
        i, a, value = (part[wrong[0]] for part in (found.rows, found.columns, found.values))
        raise DataError(
            f"X[{i}, {a}] = {value:g} is not a sign. Entries must be 1 or -1 where a sign was "
            "observed, 0 or NaN where not; for ratings, pass np.sign(ratings - threshold) with "
            "missing ratings as NaN. If X is a list of users, items and signs, pass the pairs as X "
            "and the signs as y."
        )
    if not found.values.size:
        raise DataError(
            "no entry of X was observed: all are 0 or NaN, so every matrix fits, and the one of "
            "least norm is zero."
        )
    return found


def read_ratings(X: Any, y: Any = None) -> Observed:
    """Ratings: stored entries of a sparse matrix, entries that are not NaN, or values of pairs."""
    if are_pairs(X, y):
        return _of_pairs(X, y)
    if sp.issparse(X) and X.format == "bsr":
        raise DataError(
            "X is sparse in blocks (BSR), whose zeros may be ratings or padding. Pass the CSR or "
            "COO matrix that it was made of."
        )
    finite = True if sp.issparse(X) else "allow-nan"
    matrix = checked_matrix(X, accept_sparse="csr", ensure_all_finite=finite)
    found = _of_matrix(matrix, lambda values: ~np.isnan(values))
    if not found.values.size:
        raise DataError("no rating was given: all entries of X are missing.")
    return found


def _of_matrix(matrix: Any, is_seen: Callable[[Array], Array]) -> Observed:
    """The stored entries of a sparse matrix, or all of a dense one, that were seen."""
    if sp.issparse(matrix):
        stored = own_rows(matrix).tocoo()
        seen = is_seen(stored.data)
        rows, columns, values = stored.row[seen], stored.col[seen], stored.data[seen]
    else:
        rows, columns = np.nonzero(is_seen(matrix))
        values = matrix[rows, columns]
    return Observed(matrix.shape, rows.astype(np.intp), columns.astype(np.intp), values)


def are_pairs(X: Any, y: Any) -> bool:
    """Whether X holds pairs of row and column, and y their values.

    scikit-learn passes a y to every estimator, so any other table is a matrix, whatever y is.
    """
    if y is None or sp.issparse(X):
        return False
    try:
        numbers = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return False
    return numbers.shape[1:] == (2,) and bool(
        np.all((numbers >= 0) & (numbers == np.floor(numbers)))
    )


def positions(X: Any) -> Index:
    """Pairs of positions of users and items, shape (m, 2)."""
    numbers = as_numbers("X", X)
    if numbers.ndim != 2 or numbers.shape[1] != 2:
        raise ShapeError(
            f"X must hold pairs of a user and an item, shape (m, 2); its shape is {numbers.shape}."
        )
    wrong = ~((numbers >= 0.0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if wrong.any():
        raise DataError(
            "X must hold positions of users and items, whole numbers from 0 on; it holds "
            f"{numbers[wrong][0]:g}. pandas.factorize(names)[0] turns names into positions."
        )
    return numbers.astype(np.intp)


def _of_pairs(X: Any, y: Any) -> Observed:
    """Checked pairs and their values, row by row."""
    pairs, values = positions(X), as_numbers("y", y)
    if values.shape != (len(pairs),):
        raise ShapeError(
            f"{len(pairs)} pairs need one value each, y of shape ({len(pairs)},); its shape is "
            f"{values.shape}."
        )
    if not np.isfinite(values).all():
        raise DataError(
            f"values in y are not finite: {listed(np.flatnonzero(~np.isfinite(values)))}. Leave "
            "their pairs out: with known = numpy.isfinite(y), pass X[known] and y[known]."
        )
    require_squares(values, "y")
    order = np.lexsort(pairs.T[::-1])
    pairs, values = pairs[order], values[order]
    twice = np.flatnonzero(np.all(pairs[1:] == pairs[:-1], axis=1))
    if twice.size:
        user, item = pairs[twice[0]]
        raise DataError(
            f"user {user} and item {item} occur more than once. Keep one value of each pair, such "
            "as the last or the mean."
        )
    p, q = pairs.max(axis=0) + 1
    return Observed((int(p), int(q)), pairs[:, 0], pairs[:, 1], values)
