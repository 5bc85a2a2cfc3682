"""What our estimators have of scikit-learn: a base class, and its check of data with our errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from sdpdr.base.errors import DataError, DataTypeError


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
    """
    try:
        return validate_data(estimator, X, dtype=np.float64, **options)
    except TypeError as error:
        raise DataTypeError(str(error)) from None
    except ValueError as error:
        raise DataError(str(error)) from None
