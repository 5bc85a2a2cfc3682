"""Labels as they are passed: which are not known, which are no classes, and what to say of them."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date, timedelta
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import column_or_1d

from sdpdr.base.errors import DataError, DataTypeError, DoubtfulColumnWarning, warn
from sdpdr.base.rows import listed

UNKNOWN = -1
"""What stands for a label that is not known, as in scikit-learn."""
_FEW = 20
# Classes of which one is at most this much larger are of like size. Half of the labels of two
# equal classes hidden, a common experiment, is more.
_ALIKE = 1.5
_GAPS = "pass numpy.where(y == -1, numpy.nan, y)"


def absent(y: ArrayLike) -> np.ndarray:
    """Which labels are missing: None, nan, and words of blanks only, as empty cells are read.

    Examples
    --------
    >>> absent(["a", "", " "]), absent([0.0, np.nan]), absent([None, -1])
    (array([False,  True,  True]), array([False,  True]), array([ True, False]))
    """
    labels = np.asarray(y)
    missing = np.asarray(pd.isna(labels), dtype=bool)
    if labels.dtype.kind in "biufcmM":
        return missing
    blank = [isinstance(each, str | bytes) and not each.strip() for each in labels.ravel().tolist()]
    return missing | np.array(blank, dtype=bool).reshape(labels.shape)


def marked(y: ArrayLike) -> np.ndarray:
    """Which labels are the number -1.

    Examples
    --------
    >>> marked([0, -1]), marked(["-1", None]), marked(np.array([-1.0, None]))
    (array([False,  True]), array([False, False]), array([ True, False]))
    """
    labels = np.asarray(y).tolist()
    return np.array([isinstance(each, Real) and each == UNKNOWN for each in labels], dtype=bool)


def unknown(y: ArrayLike) -> np.ndarray:
    """Which labels are not known: those that are `absent` and, beside these or two classes, -1.

    Of two classes without anything missing one may be called -1.

    Examples
    --------
    >>> unknown([0, 1, -1]), unknown([1, -1, 1]), unknown(["a", None, "b"])
    (array([False, False,  True]), array([False, False, False]), array([False,  True, False]))
    """
    labels, missing = np.asarray(y), absent(y)
    if labels.dtype.kind in "iufO" and (missing.any() or len(set(labels.tolist())) > 2):
        return np.asarray(missing | marked(labels))
    return missing


def distinct(labels: ArrayLike, what: str = "labels") -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, ascending, and the position of each label among them.

    Raises
    ------
    DataTypeError
        They have no order, as words beside numbers.

    Examples
    --------
    >>> distinct(["b", "a", "b"])
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    given = np.asarray(labels)
    try:
        return np.unique(given, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in given.tolist()})
        raise DataTypeError(
            f"{what} are of several kinds ({', '.join(kinds)}), and have no order. Pass all as "
            "numbers, or all as text."
        ) from None


def as_vector(y: Any) -> np.ndarray:
    """Labels in one dimension; a column is made one, with scikit-learn's warning.

    Raises
    ------
    DataError, DataTypeError

    Examples
    --------
    >>> as_vector(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    """
    try:
        return np.asarray(column_or_1d(y, warn=True))
    except (TypeError, ValueError) as error:
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        words = str(error).partition("\n")[0].rstrip(".")
        raise kind(f"{words}. y must hold a label for each row of X.") from None


def require_classes(y: ArrayLike) -> None:
    """Refuse numbers with fractions and times, which are measured and are no classes.

    Parameters
    ----------
    y : array_like of shape (n,)
        Some may be `absent`. Whole numbers are classes, as floats too.

    Raises
    ------
    DataError

    Examples
    --------
    >>> require_classes([0.0, 1.0, 2.0, np.nan])
    >>> require_classes([0.5, 1.25, 0.75])
    Traceback (most recent call last):
    sdpdr.errors.DataError: Unknown label type: continuous. y holds numbers with fractions ...
    """
    labels = np.asarray(y)
    if labels.dtype.kind in "biuUS":
        return
    known = labels[~absent(labels)].tolist()
    if labels.dtype.kind in "mM" or any(isinstance(each, date | timedelta) for each in known):
        kind, what = "unknown", "times"
    elif any(isinstance(each, Real) and math.isinf(each) for each in known):
        raise DataError("Input y contains infinity, which is no label. Drop those samples.")
    elif any(isinstance(each, Real) and each % 1 != 0 for each in known):
        kind, what = "continuous", "numbers with fractions"
    else:
        return
    shown = listed(list(dict.fromkeys(map(str, known))), 3)
    raise DataError(
        f"Unknown label type: {kind}. y holds {what} ({shown}), which are measured; a class is a "
        "whole number or a word, and at least two samples should share it. Pass classes: cut what "
        "is measured into some, with pandas.qcut(y, 4, labels=False) for instance, or leave y out "
        "where the method needs none. sdpdr.SpectralRegression(responses='given') maps X to y."
    )


def warn_of_many(y: np.ndarray) -> None:
    """Warn of whole numbers more than half of which are others, as where something is measured.

    Warns
    -----
    DoubtfulColumnWarning
        Twenty labels or fewer are none to judge by, which scikit-learn holds, too.
    """
    known = y[~unknown(y)]
    count = len(set(known.tolist()))
    if known.dtype.kind in "iuf" and known.size > _FEW and count > known.size / 2:
        warn(
            f"y holds {count} different numbers in {known.size} labels, and each is a class of its "
            "own. If y is measured, cut it into classes first, as pandas.qcut(y, 4, labels=False) "
            "does.",
            DoubtfulColumnWarning,
        )


def require_known(y: Any, instead: str) -> None:
    """Refuse labels that are `absent` or infinite; ``instead`` says what to do.

    Raises
    ------
    DataError
    """
    labels = np.asarray(y)
    numbers = labels.dtype.kind in "fc"
    gone = ~np.isfinite(labels) if numbers else absent(labels)
    if gone.any():
        what = "NaN or infinity" if numbers else "labels that are not known (None, nan or blank)"
        rows = listed(np.unique(np.nonzero(gone)[0]))
        raise DataError(f"Input y contains {what}, of samples {rows}; {instead}.")


def warn_of_mark(y: np.ndarray, who: str) -> None:
    """Warn of -1 beside two classes or more from 0 on, where it is taken for a class.

    Warns
    -----
    DoubtfulColumnWarning
    """
    if y.ndim == 1 and y.dtype.kind in "iuf" and y.min() == UNKNOWN and unknown(y).any():
        warn(
            f"y holds -1, which {who} takes for a class like the others. Labels that are not known "
            "mean nothing to it: drop those samples, or take sdpdr.SDA, which learns of them too; "
            "a class has another name without these words.",
            DoubtfulColumnWarning,
        )


def warn_of_signs(y: np.ndarray, way: str = _GAPS) -> None:
    """Warn of -1, taken for a label that is not known, where it looks like a sign.

    That is beside 0 and 1 alone, or with smaller numbers still, and about as often as the classes
    occur. Of few labels among many samples, few gaps, or twenty labels in all, nothing is said.
    ``way`` tells how to ask for labels that are not known, without these words.

    Warns
    -----
    DoubtfulColumnWarning
    """
    gone = unknown(y) & marked(y)
    labels = y[~unknown(y)].tolist()
    if not gone.any() or len(labels) <= _FEW or not all(isinstance(each, Real) for each in labels):
        return
    classes = Counter(labels)
    if set(classes) != {0, 1} and min(classes, default=0) > UNKNOWN:
        return
    count = int(gone.sum())
    if min(classes.values()) <= _ALIKE * count and count <= _ALIKE * max(classes.values()):
        others = listed([f"{each:g}" for each in sorted(classes)], 3)
        warn(
            f"y holds -1 in {count} samples, about as often as its classes {others}, and -1 is a "
            "label that is not known. If it is a class, give it another name, as y.astype(str) "
            f"does. If not, say so: {way}.",
            DoubtfulColumnWarning,
        )
