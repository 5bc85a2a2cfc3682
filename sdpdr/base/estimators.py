"""What is taken from scikit-learn: its checks of data, with our errors, and a base class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from sdpdr.base.arrays import ALLOWED, Array, is_admissible
from sdpdr.base.checks import numbered, warn_of_row_numbers
from sdpdr.base.errors import DataError, DataTypeError

# Beyond, squares overflow.
_SQUARABLE = 1e150

_ADVICE = {
    "Expected 2D": "X must have shape (n, D): one row per point, one column per feature; "
    "for points on a line use X.reshape(-1, 1).",
    "parse": "Use X.toarray(): neighbours are searched in dense data only.",
    "Complex": "Pass real and imaginary parts as separate columns.",
    "sample(s)": "Add points: neighbourhoods need more of them.",
    "feature(s)": "Each point needs at least one coordinate.",
    "dim ": "X must have shape (n, D): flatten each image or series to one row.",
}
_NUMBERS_ONLY = "All entries must be numbers: drop or encode columns of text or other objects."


def dense(X: Any, *, at_least: int, finite: bool = True) -> Array:
    """Data as a C-ordered float array of two dimensions, all numbers finite.

    Where ``finite`` is false, NaN and infinities stay as they are.

    Raises
    ------
    DataError, DataTypeError
        In scikit-learn's words, and what to do.
    """
    try:
        array = check_array(
            X,
            dtype=np.float64,
            order="C",
            ensure_all_finite=finite,
            ensure_min_samples=at_least,
            input_name="X",
        )
    except (TypeError, ValueError) as error:
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        words = str(error)
        raise kind(f"{words.rstrip('.')}. {_advice(X, words)}") from error
    largest = float(np.abs(array).max(initial=0.0, where=np.isfinite(array)))
    if not is_admissible(largest**2 if largest < _SQUARABLE else np.inf):
        raise DataError(
            f"X holds {largest:g}, of which the square is beyond what is computed with "
            f"({ALLOWED}). Choose another unit."
        )
    return np.asarray(array)


def _advice(X: Any, words: str) -> str:
    if "NaN" in words or "infinity" in words:
        numbers = check_array(X, dtype=np.float64, ensure_all_finite=False)
        rows = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
        return f"Rows that are not finite: {numbered(rows)}. Drop those rows or fill them in."
    return next((advice for key, advice in _ADVICE.items() if key in words), _NUMBERS_ONLY)


class Transformer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]  # nor have these
    BaseEstimator,  # type: ignore[misc]  # two
):
    """Base of estimators that map points, with names for the columns they make."""


def checked(estimator: Any, X: Any, **options: Any) -> Any:
    """``sklearn.utils.validation.validate_data`` of numbers; what it refuses is a `DataError`.

    Its words are kept, since other libraries look for them.

    Raises
    ------
    DataTypeError
        The data are sparse where they must not be, or no numbers.
    DataError
        They are not finite, of another shape than in the fit, or too few.

    Warns
    -----
    RowNumbersWarning
        In a fit: X is a data frame, and one of its columns is its index.
    """
    if options.get("reset", True):
        warn_of_row_numbers(X)
    try:
        return validate_data(estimator, X, dtype=np.float64, **options)
    except TypeError as error:
        raise DataTypeError(str(error)) from None
    except ValueError as error:
        raise DataError(str(error)) from None
