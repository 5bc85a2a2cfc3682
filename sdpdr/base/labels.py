"""Labels of samples: which are not known, and what is said to whoever takes those for a class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sdpdr.base.errors import DataError, DoubtfulColumnWarning
from sdpdr.base.rows import listed

UNKNOWN = -1
"""What stands for a label that is not known, as in scikit-learn."""


def unknown(y: ArrayLike) -> np.ndarray:
    """Which labels are not known: None and nan and, beside these or two classes, -1.

    Of two classes without anything missing one may be called -1.

    Examples
    --------
    >>> unknown([0, 1, -1]), unknown([1, -1, 1]), unknown(["a", None, "b"])
    (array([False, False,  True]), array([False, False, False]), array([False,  True, False]))
    """
    labels = np.asarray(y)
    missing = np.asarray(pd.isna(labels), dtype=bool)
    if labels.dtype.kind in "iufO" and (missing.any() or len(set(labels.tolist())) > 2):
        missing = missing | np.array([label == UNKNOWN for label in labels.tolist()], dtype=bool)
    return missing


def require_known(y: Any, instead: str) -> None:
    """Refuse labels that are None, nan or infinite; ``instead`` says what to do.

    Raises
    ------
    DataError
    """
    labels = np.asarray(y)
    numbers = labels.dtype.kind in "fc"
    gone = ~np.isfinite(labels) if numbers else np.asarray(pd.isna(labels))
    if gone.any():
        what = "NaN or infinity" if numbers else "labels that are not known (None, or nan)"
        rows = listed(np.unique(np.nonzero(gone)[0]))
        raise DataError(f"Input y contains {what}, of samples {rows}; {instead}.")


def warn_of_mark(y: np.ndarray, who: str) -> None:
    """Warn of -1 beside two classes or more from 0 on, where it is taken for a class.

    Warns
    -----
    DoubtfulColumnWarning
    """
    if y.ndim == 1 and y.dtype.kind in "iuf" and y.min() == UNKNOWN and unknown(y).any():
        warnings.warn(
            f"y holds -1, which {who} takes for a class like the others. Labels that are not known "
            "mean nothing to it: drop those samples, or take sdpdr.SDA, which learns of them too; "
            "a class has another name without these words.",
            DoubtfulColumnWarning,
            stacklevel=3,
        )
