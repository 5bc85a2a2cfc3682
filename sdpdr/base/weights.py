"""How much each sample counts, and samples that count for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from sdpdr.base.arrays import LARGEST, SMALLEST, Array
from sdpdr.base.errors import DataError, DataTypeError, ShapeError
from sdpdr.base.estimators import refused
from sdpdr.base.rows import numbered, rows_of


def checked_weights(value: Any, X: Any) -> Array | None:
    """Weights of the rows of X, 0 or more; None where all are one, or none are given.

    Raises
    ------
    DataError
        A weight is negative, NaN or infinite, or all are 0, or too large or small for sums.
    DataTypeError
        They are not numbers, or X is no table.
    ShapeError
        There is not one for each sample.

    Examples
    --------
    >>> checked_weights([2, 0, 1], np.eye(3))
    array([2., 0., 1.])
    """
    if value is None:
        return None
    try:
        n = _num_samples(X)
    except TypeError as error:
        raise refused(X, error) from None
    try:
        weights = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise DataTypeError("sample_weight must hold numbers, one for each row of X.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ShapeError(
            f"sample_weight must have shape ({n},), one number for each row of X; it has "
            f"{weights.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if wrong.size:
        raise DataError(
            f"sample_weight holds {weights[wrong[0]]:g} (rows {numbered(wrong)}): weights must be "
            "0 or more, and finite."
        )
    largest = float(weights.max(initial=0.0))
    if n and not largest:
        raise DataError("all weights of samples are zero, so there are no data.")
    if n and not SMALLEST <= largest <= LARGEST:
        raise DataError(
            f"the largest sample_weight is {largest:g}; it must be from {SMALLEST:g} to "
            f"{LARGEST:g}, so that sums of weights are numbers. Divide all by their largest."
        )
    return None if np.all(weights == 1.0) else weights


@contextmanager
def weighing(
    X: Any, y: Any, sample_weight: Any, *, pairwise: bool = False
) -> Iterator[tuple[Any, Any, Array | None]]:
    """Samples that weigh anything, their targets and weights; messages name them as passed.

    Parameters
    ----------
    X : array_like, sparse array or frame
    y : array_like or None
    sample_weight : array_like or None
        Without any, data are passed on as they are.
    pairwise : bool, default False
        Whether columns of X are samples, too.

    Raises
    ------
    DataError, DataTypeError, ShapeError

    Examples
    --------
    >>> with weighing(np.eye(3), ["a", "b", "c"], [1.0, 0.0, 2.0]) as (X, y, weights):
    ...     X.shape, y, weights
    ((2, 3), ['a', 'c'], array([1., 2.]))
    """
    weights = checked_weights(sample_weight, X)
    if weights is None or weights.all():
        yield X, y, weights
        return
    n = weights.size
    if y is not None and _num_samples(y) != n:
        raise ShapeError(f"X has {n} rows, y has {_num_samples(y)}: pass one for each row.")
    rows = np.flatnonzero(weights)
    part = _safe_indexing(X, rows)
    if pairwise:
        part = _safe_indexing(part if hasattr(part, "shape") else np.asarray(part), rows, axis=1)
    with rows_of(rows):
        yield part, None if y is None else _safe_indexing(y, rows), weights[rows]
