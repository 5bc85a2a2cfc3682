"""Labels as users pass them: which are unknown, which are not classes, and messages about both.

Estimators that take partly known labels read them by `as_vector` or `labels_of_samples`, and code
them by `unknown` or `encoded`.
"""

from __future__ import annotations

import math
from collections import Counter
from datetime import date, timedelta
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import column_or_1d

from sdpdr.base.arrays import Index
from sdpdr.base.errors import DataError, DataTypeError, DoubtfulColumnWarning, ShapeError, warn
from sdpdr.base.rows import listed

UNKNOWN = -1
"""The mark of an unknown label, as in scikit-learn."""
# Texts that ``str`` and NumPy make of a missing value; no class has such a name.
_BLANK = {"", "nan", "<na>", "nat"}
# Names that often stand for a label that is not known, but may be classes.
_DOUBTFUL = {
    "?", "-", ".", "na", "n/a", "#n/a", "none", "null", "unknown", "missing", "unlabeled",
    "unlabelled",
}  # fmt: skip
# Fewer labels are too few to judge by; scikit-learn has the same number.
_FEW_LABELS = 20
# Up to this ratio two classes are of similar size. To hide half of the labels of two equal
# classes, a common experiment, gives a larger one.
_ALIKE = 1.5
_MARK_MISSING = "pass numpy.where(y == -1, numpy.nan, y)"


def absent(y: ArrayLike) -> np.ndarray:
    """Which labels are missing: None, nan, masked, blank text, and nan or NA turned into text.

    Examples
    --------
    >>> absent(["a", "", " "]), absent([0.0, np.nan]), absent([None, -1])
    (array([False,  True,  True]), array([False,  True]), array([ True, False]))
    """
    labels = _unmasked(y)
    missing = _is_missing(labels)
    if labels.dtype.kind in "biufcmM":
        return missing
    blank = [_is_blank(each) for each in labels.ravel().tolist()]
    return missing | np.array(blank, dtype=bool).reshape(labels.shape)


def _is_missing(labels: np.ndarray) -> np.ndarray:
    """Which labels are None, nan, or one of the marks of pandas, which alone are not themselves."""
    if labels.dtype.kind == "O":
        each = [x is None or _differs(x) for x in labels.ravel().tolist()]
        return np.array(each, dtype=bool).reshape(labels.shape)
    return np.asarray(labels != labels)


def _differs(label: object) -> bool:
    """Whether a label differs from itself, or does not say so, as the mark NA of pandas."""
    try:
        return bool(label != label)
    except TypeError:
        return True
    except ValueError:  # an array of several values
        return False


def marked(y: ArrayLike) -> np.ndarray:
    """Which labels are the number -1, or -1 that became text beside words.

    Examples
    --------
    >>> marked([0, -1]), marked(["-1", "1"]), marked(np.array(["cat", -1]))
    (array([False,  True]), array([False, False]), array([False,  True]))
    """
    labels = _unmasked(y).tolist()
    marks: tuple[object, ...] = (UNKNOWN,)
    if any(isinstance(each, str) and _is_word(each) for each in labels):
        marks = (UNKNOWN, "-1", "-1.0")
    stripped = (each.strip() if isinstance(each, str) else each for each in labels)
    return np.array([isinstance(k, Real | str) and k in marks for k in stripped], dtype=bool)


def unknown(y: ArrayLike) -> np.ndarray:
    """Which labels are not known: those `absent` and, beside these or more than two values, -1."""
    labels, missing = _unmasked(y), absent(y)
    if labels.dtype.kind in "iufO" and not missing.any() and len(set(labels.tolist())) <= 2:
        return missing
    return np.asarray(missing | marked(labels)) if labels.dtype.kind in "iufOUS" else missing


def encoded(y: ArrayLike) -> tuple[Any, Index]:
    """The distinct labels, and the position of each label among them, -1 where it is not known.

    Here -1 is always a label that is not known, even beside one class only.
    """
    labels = _unmasked(y)
    if labels.ndim != 1:
        raise ShapeError(f"y must have one label for each point; it has shape {labels.shape}.")
    missing = absent(labels) | marked(labels)
    codes = np.full(labels.size, UNKNOWN)
    classes, codes[~missing] = distinct(labels[~missing])
    return classes, codes


def labels_of_samples(y: Any, n: int) -> Any:
    """Labels of n samples as scikit-learn's classifiers take them."""
    labels = as_vector(y)
    if labels.size != n:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, y "
            f"{labels.size} labels. Pass a label for each, -1 where it is not known."
        )
    require_classes(labels)
    warn_of_many(labels)
    warn_of_signs(labels)
    return labels


def _is_word(label: str) -> bool:
    """Whether text is neither blank nor a number."""
    try:
        float(label)
    except ValueError:
        return not _is_blank(label)
    return False


def _unmasked(y: ArrayLike) -> np.ndarray:
    """An array, with None where a masked array hides the label."""
    if isinstance(y, np.ma.MaskedArray):
        return _hidden(y.data, np.ma.getmaskarray(y))
    return np.asarray(y)


def _hidden(labels: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Labels as objects, with None in some places."""
    found = labels.astype(object)
    found[where] = None
    return found


def _text(label: object) -> str:
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)


def _is_blank(label: object) -> bool:
    return isinstance(label, str | bytes) and _text(label).strip().casefold() in _BLANK


def distinct(labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, ascending, and the position of each label among them."""
    given = np.asarray(labels)
    try:
        return np.unique(given, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in given.tolist()})
        raise DataTypeError(
            f"labels are of several kinds ({', '.join(kinds)}), and have no order. Pass all as "
            "numbers, or all as text."
        ) from None


def as_vector(y: Any) -> np.ndarray:
    """Labels in one dimension; a column is made one, with scikit-learn's warning."""
    try:
        y = _unmasked(y) if isinstance(y, np.ma.MaskedArray) else y
        labels = np.asarray(column_or_1d(y, warn=True))
    except (TypeError, ValueError) as error:
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        words = str(error).partition("\n")[0].rstrip(".")
        raise kind(f"{words}. y must hold a label for each row of X.") from None
    if labels.dtype.kind not in "US":
        return labels
    gone = absent(labels) | marked(labels)
    return _hidden(labels, gone) if gone.any() else labels


def require_classes(y: ArrayLike) -> None:
    """Refuse numbers with fractions and times, which are measured and are no classes."""
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
    """Warn if more than half of the labels are different numbers, as measurements are."""
    known = y[~unknown(y)]
    count = len(set(known.tolist()))
    if known.dtype.kind in "iuf" and known.size > _FEW_LABELS and count > known.size / 2:
        warn(
            f"y holds {count} different numbers in {known.size} labels, and each is a class of its "
            "own. If y is measured, cut it into classes first, as pandas.qcut(y, 4, labels=False) "
            "does.",
            DoubtfulColumnWarning,
        )


def require_known(y: Any, instead: str) -> None:
    """Refuse labels that are `absent` or infinite; ``instead`` says what to do."""
    labels = np.asarray(y)
    numbers = labels.dtype.kind in "fc"
    gone = ~np.isfinite(labels) if numbers else absent(labels)
    if gone.any():
        what = "NaN or infinity" if numbers else "labels that are not known (None, nan or blank)"
        rows = listed(np.unique(np.nonzero(gone)[0]))
        raise DataError(f"Input y contains {what}, of samples {rows}; {instead}.")


def warn_of_mark(y: np.ndarray, who: str) -> None:
    """Warn of -1 beside two classes or more from 0 on, where it is taken for a class."""
    warn_of_doubtful_names(y)
    if y.ndim == 1 and y.dtype.kind in "iuf" and y.min() == UNKNOWN and unknown(y).any():
        warn(
            f"y holds -1, which {who} takes for a class like the others. If it marks unknown "
            "labels, drop those samples, or use sdpdr.SDA, which learns from them too; if it is a "
            "class, rename it to avoid this warning.",
            DoubtfulColumnWarning,
        )


def warn_of_signs(y: np.ndarray, way: str = _MARK_MISSING) -> None:
    """Warn of -1, taken for a label that is not known, where it looks like a sign."""
    warn_of_doubtful_names(y)
    gone = unknown(y) & marked(y)
    labels = y[~unknown(y)].tolist()
    if (
        not gone.any()
        or len(labels) <= _FEW_LABELS
        or not all(isinstance(each, Real) for each in labels)
    ):
        return
    classes = Counter(labels)
    if set(classes) != {0, 1} and min(classes, default=0) > UNKNOWN:
        return
    count = int(gone.sum())
    if min(classes.values()) <= _ALIKE * count and count <= _ALIKE * max(classes.values()):
        others = listed([f"{each:g}" for each in sorted(classes)], 3)
        warn(
            f"y holds -1 in {count} samples, about as often as its classes {others}, and -1 is a "
            "label that is not known. If it is a class, give it another name, with "
            f"numpy.where(y == -1, {int(max(labels)) + 1}, y). If not, say so: {way}.",
            DoubtfulColumnWarning,
        )


def warn_of_doubtful_names(y: np.ndarray) -> None:
    """Warn of classes whose name often stands for an unknown label."""
    if y.ndim != 1 or y.dtype.kind not in "OUS":
        return
    counts = Counter(
        _text(each) for each in y[~unknown(y)].tolist() if isinstance(each, str | bytes)
    )
    names = [name for name in counts if name.strip().casefold() in _DOUBTFUL]
    if len(counts) > 2 and "-1" in counts:
        names.append("-1")
    if names:
        name = max(names, key=counts.__getitem__)
        warn(
            f"y holds {name!r} in {counts[name]} samples, which is taken for a class. If it stands "
            f"for labels that are not known, pass numpy.where(numpy.asarray(y) == {name!r}, None, "
            "y). If it is a class, another name avoids this warning.",
            DoubtfulColumnWarning,
        )


def require_target(estimator: object, y: Any, advice: str) -> None:
    """Refuse a missing target in scikit-learn's words, with advice."""
    if y is None:
        raise DataError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            f"{advice}"
        )


def decided(classes: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The classes with the largest scores; of two, the second if its score is positive."""
    best = (scores > 0.0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
    return np.asarray(classes[best])
