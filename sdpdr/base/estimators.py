"""scikit-learn's checks of data with our errors, base classes, and weights of samples."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from sdpdr.base.advice import either
from sdpdr.base.arrays import (
    ALLOWED,
    Array,
    Matrix,
    is_admissible,
    own_rows,
    seem_distances,
)
from sdpdr.base.columns import warn_of_columns, warn_of_unlike_columns
from sdpdr.base.errors import DataError, DataTypeError
from sdpdr.base.keywords import ChecksKeywords
from sdpdr.base.parameters import require_kinds
from sdpdr.base.rows import is_frame, named, numbered

# Squares of larger numbers overflow.
_SQUARABLE = 1e150

# The message of scikit-learn about too few rows.
_TOO_FEW = re.compile(r"Found array with (\d+) sample\(s\) .* minimum of (\d+) is required")
_NUMBERS_ONLY = "All entries must be numbers: drop or encode columns of text or other objects."
_ADVICE = {
    "Expected 2D": "X must have shape (n, D): one row per point, one column per feature; "
    "for points on a line use X.reshape(-1, 1).",
    "parse": "Reduce X first, with sklearn.decomposition.TruncatedSVD, or pass X.toarray() if that "
    "fits into memory.",
    "Complex": "Pass real and imaginary parts as separate columns.",
    "sample(s)": "Add points: neighbourhoods need more of them.",
    "feature(s)": "Each point needs at least one coordinate.",
    "dim ": "X must have shape (n, D): flatten each image or series to one row.",
    "unique column names": "Rename the columns, or pass X.to_numpy().",
    "array element with a sequence": f"{_NUMBERS_ONLY} All rows must have the same length.",
    "inhomogeneous": f"{_NUMBERS_ONLY} All rows must have the same length.",
    **dict.fromkeys(("convert", "argument must be", "Cannot cast", "promoted"), _NUMBERS_ONLY),
}


def _require_unique_names(X: Any) -> None:
    """Refuse repeated column names, as scikit-learn does from 1.9 on."""
    columns = getattr(X, "columns", ())
    if len(set(columns)) < len(columns):
        raise DataError(
            "expected unique column names, found one twice. Rename the columns, or pass "
            "X.to_numpy()."
        )


def require_no_times(X: Any, name: str = "X") -> None:
    """Refuse dates and durations, which NumPy would count in nanoseconds or not convert at all."""
    if is_frame(X):
        timed = [k for k, kind in enumerate(X.dtypes) if kind.kind in "mM"]
        if not timed:
            return
        column = f"{name}[{X.columns[timed[0]]!r}]"
        many = "s" if len(timed) > 1 else ""
        what = f"column{many} {named(np.array(timed), X)} of {name} hold{'' if many else 's'}"
        way = f"({column} - {column}.min()).dt.total_seconds()"
    elif getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        what, way = f"{name} holds", f"({name} - {name}.min()) / numpy.timedelta64(1, 's')"
    else:
        return
    raise DataTypeError(
        f"{what} dates or durations. All entries must be numbers: make these seconds, as {way} "
        "does, or leave them out."
    )


def numeric(X: Any, *, at_least: int, sparse: bool = False, finite: bool = True) -> Matrix:
    """Data as a C-ordered float array of two dimensions, all numbers finite."""
    _require_unique_names(X)
    require_no_times(X)
    try:
        # scikit-learn finds infinities by a sum, which warns where both signs occur.
        with np.errstate(invalid="ignore"):
            array = check_array(
                X,
                accept_sparse="csr" if sparse else False,
                dtype=np.float64,
                order="C",
                ensure_all_finite=finite,
                ensure_min_samples=at_least,
                input_name="X",
            )
    except (TypeError, ValueError) as error:
        raise refused(X, error) from error
    if sp.issparse(array):
        array = own_rows(array)
        array.eliminate_zeros()
        largest = float(abs(array).max())
    else:
        largest = float(np.abs(array).max(initial=0.0, where=np.isfinite(array)))
    square = largest**2 if largest < _SQUARABLE else np.inf
    if not is_admissible(square) or (largest and not square):
        raise DataError(
            f"X holds {largest:g}, whose square is out of range; expected {ALLOWED}. Choose "
            "another unit: rescale X."
        )
    return array


def as_numbers(name: str, value: Any) -> Array:
    """Convert numbers of any shape and container to doubles; NaN and infinity are allowed."""
    require_no_times(value, name)
    try:
        found = check_array(
            value,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_2d=False,
            allow_nd=True,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        why = refused(value, error, name)
        is_named = value is None or isinstance(value, str)
        raise why if is_named else type(why)(f"{name}: {why}") from None
    return np.asarray(found)


def refused(X: Any, error: Exception, name: str = "X") -> DataError:
    """Return our error for one of scikit-learn's checks: its message, and advice."""
    kind = DataTypeError if isinstance(error, TypeError) else DataError
    if X is None:
        return DataTypeError(f"{name} is None, so there are no data: pass an array of numbers.")
    if isinstance(X, str):
        return DataTypeError(
            f"{name} is the text {X!r}: pass an array of numbers; pandas.read_csv reads one from a "
            "file."
        )
    words = str(error).rstrip(".:\n ")
    if "Complex" in words or "NaN" in words or "infinity" in words:
        words = words.partition("\n")[0].rstrip(".")  # all data, or advice for classifiers, follow
    if "array=" in words:  # the data stand in the middle
        first, *_, last = words.split("\n")
        words = f"{first.rstrip(':')}, of shape {np.shape(X)}. {last}"
    words = words.partition(" Reshape your data")[0].rstrip(".")  # ours follows
    advice = _advice(X, words)
    if few := _TOO_FEW.match(words):
        words = either(words, f"rows: {few[1]}, and at least {few[2]} are needed")
    return kind(f"{words}. {advice}" if advice else str(error))


def _advice(X: Any, words: str) -> str:
    if "NaN" in words or "infinity" in words:
        return _where_missing(X)
    advice = next((advice for key, advice in _ADVICE.items() if key in words), "")
    text = _of_text(X) if advice == _NUMBERS_ONLY else ""
    return f"{advice} Columns that are not numbers: {text}." if text else advice


def _where_missing(X: Any) -> str:
    numbers = check_array(X, accept_sparse="coo", dtype=np.float64, ensure_all_finite=False)
    if sp.issparse(numbers):
        unknown = ~np.isfinite(numbers.data)
        rows, columns = np.unique(numbers.row[unknown]), np.unique(numbers.col[unknown])
    else:
        rows, columns = (np.unique(places) for places in np.nonzero(~np.isfinite(numbers)))
    where = f"Rows that are not finite: {numbered(rows)}."
    if not sp.issparse(numbers) and seem_distances(numbers):
        return (
            f"{where} X is square and symmetric with zeros on its diagonal, as distances are. If "
            "it holds distances, of which some are not known, pass metric='precomputed' (where a "
            "method takes that), or take "
            + either("sdpdr.DistanceCompletion.", "--method distance_completion.")
        )
    return (
        f"{where} Their columns: {named(columns, X)}. Drop those rows or columns, or fill them in, "
        "with sklearn.impute for instance."
    )


def _of_text(X: Any) -> str:
    """Name the columns that hold anything but numbers; empty if X has no columns."""
    table = X if is_frame(X) else np.asarray(X, dtype=object)
    if table.ndim != 2:
        return ""
    columns = [X.iloc[:, k] for k in range(X.shape[1])] if is_frame(X) else list(table.T)
    wrong = [k for k, column in enumerate(columns) if not is_numeric(column)]
    return named(np.array(wrong, dtype=np.intp), X)


def is_numeric(column: Any) -> bool:
    """Whether a column holds numbers, or can be converted to numbers."""
    try:
        return bool(np.asarray(column, dtype=np.float64).size)
    except (TypeError, ValueError):
        return False


def as_precise(values: Any, X: Any) -> Array:
    """Values in single precision if all of X is, as scikit-learn's manifold methods return them."""
    kinds = [X.dtype] if hasattr(X, "dtype") else list(getattr(X, "dtypes", ()))
    single = bool(kinds) and all(kind == np.float32 for kind in kinds)
    return np.asarray(values, dtype=np.float32 if single else np.float64)


class Named(
    ChecksKeywords,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]  # nor has this
):
    """Base of transformers: names of output columns, frames on demand, precision of the data."""

    embedding_: Array

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Transformer(Named, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of estimators that map points."""


class Embedding(Named, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of estimators that place the points of their fit, and no others."""

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Learn the embedding and return it, shape (n, n_components)."""
        return np.asarray(self.fit(X, y).embedding_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = None
        return tags


class Provided:
    """A decorator of methods that an instance has unless ``require`` raises an AttributeError.

    ``sklearn.utils.metaestimators.available_if`` would replace the message of that error.
    """

    def __init__(self, require: Callable[[Any], None], method: Any = None) -> None:
        self.require, self.method = require, method

    def __call__(self, method: Callable[..., Any]) -> Any:
        """The method as an attribute that is there under the condition."""
        return Provided(self.require, method)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        if instance is None:
            return self.method
        self.require(instance)
        return MethodType(self.method, instance)


class Reconstructing(Transformer):
    """Base of estimators whose map has a way back."""

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the squares of X that its reconstruction explains, at most 1.

        Squares are measured from the reconstruction of zero coordinates, over known entries.

        Parameters
        ----------
        X : array_like
            As for `transform`.
        y : ignored
        """
        given = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
        places = np.asarray(self.transform(X), dtype=float)
        lost = given - self.inverse_transform(places)
        whole = given - self.inverse_transform(np.zeros_like(places))
        return 1.0 - float(np.nansum(np.square(lost)) / np.nansum(np.square(whole)))


def checked(estimator: Any, X: Any, *, by_distance: bool = False, **options: Any) -> Any:
    """``sklearn.utils.validation.validate_data`` of numbers; what it refuses is a `DataError`."""
    if options.get("reset", True):
        require_kinds(estimator)
        _require_unique_names(X)
        warn_of_columns(X)
        if by_distance:
            warn_of_unlike_columns(X)
    require_no_times(X)
    try:
        found = validate_data(estimator, X, dtype=np.float64, **options)
    except (TypeError, ValueError) as error:
        raise refused(X, error) from None
    # Arrays multiply as dense ones do, whichever kind of matrix was passed.
    return sp.csr_array(found) if sp.issparse(found) else found


def note_columns(estimator: Any, X: Any, *, reset: bool = True) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_`` from data that are checked; or compare."""
    if reset:
        require_kinds(estimator)
        _require_unique_names(X)
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except (TypeError, ValueError) as error:
        raise refused(X, error) from None
