"""Columns that are probably not coordinates: row numbers, ids, codes of missing values, units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from sdpdr.base.arrays import Array
from sdpdr.base.errors import (
    DoubtfulColumnWarning,
    RowNumbersWarning,
    UnlikeColumnsWarning,
    warn,
)

# Names that pandas gives a column without a name, such as an index in a file.
UNNAMED = re.compile(r"|Unnamed: \d+")
# Usual names of columns of ids, in English, German and French.
_NAMES_OF_IDS = re.compile(
    r"id|ids|uid|uuid|key|index|row[ _.]?names?|zip|zip[ _-]?code|post(al)?[ _-]?code|.*[ _.-]id"
    r"|(account|case|customer|invoice|order|patient|sample|serial)[ _.-](no|nr)"
    r"|plz|postleitzahl|c(ode|[oó]digo)[ _-]?postal|(tele)?phone|telefon|ssn|ean|isbn|gtin"
    r"|id[ _.-].*|row|n°|nr\.?|.*[ _.-]nr\.?|.*nummer|identifiant|matricule"
    r"|(?-i:.*[a-z]I[Dd])",
    re.IGNORECASE,
)
# Such columns may also count something: they hold ids only if no two entries are equal.
_MAY_COUNT = re.compile(r"key|index|.*[ _.-]n[or]", re.IGNORECASE)
# In fewer rows a column with a name may hold 1, 2, ... by chance.
_COUNTED = 10
# Numbers that stand for missing values in files of measurements.
_CODES = (-1e30, 1e30, -1e20, 1e20, -99999, 99999, -9999, 9999, -999, 999, -200, -99)
# A code that occurs at least this often need only lie half a range from the other entries.
_OFTEN = 3
# Beyond this ratio of spreads, the narrower column hardly changes distances.
_APART = 100.0
# Share of the squared distances below which all columns but one together are negligible. Measured
# shares: at least 0.94 in images (digits, also with a wide border in which a pixel in ten thousand
# is lit; photographs, spectra, counts of words), 2e-3 in raw wine and other tables with units, and
# 7e-6 in images of which one pixel is lit and twenty others once by a 255th.
_NEGLIGIBLE = 1e-6
# Relative to the widest spread: up to this one a column is constant up to rounding.
_ROUNDED = 1e-14


def is_named_as_id(name: str) -> bool:
    """Whether a column has no name, or one that columns of ids have."""
    return bool(UNNAMED.fullmatch(name) or _NAMES_OF_IDS.fullmatch(name))


def column_of_ids(name: str, entries: Sequence[str]) -> bool:
    """Return whether a column is called as ids are, and its entries are words or whole numbers."""
    if not is_named_as_id(name):
        return False
    if len(set(entries)) < len(entries) and (not name or _MAY_COUNT.fullmatch(name)):
        return False
    return not any(re.fullmatch(r"[-+]?\d*[.,]\d+(?:[eE].*)?", entry) for entry in entries)


def counts_rows(name: object, column: ArrayLike) -> bool:
    """Whether a column of whole numbers is 0, ..., n - 1 or 1, ..., n, and not by chance."""
    entries = np.asarray(column)
    n = len(entries)
    least = 2 if UNNAMED.fullmatch(str(name)) else _COUNTED
    if n < least or entries.dtype.kind not in "iu" or entries[0] not in (0, 1):
        return False
    return bool(np.array_equal(entries - entries[0], np.arange(n)))


def sentinels(column: ArrayLike) -> list[float]:
    """Return the numbers that seem to stand for missing values in a column."""
    entries = np.asarray(column, dtype=float)
    entries = entries[np.isfinite(entries)]
    found = []
    for code in _CODES:  # from the furthest, so that none hides a nearer one
        held = entries == code
        others = entries[~held]
        if not held.any() or not others.size:
            continue
        least, most = float(others.min()), float(others.max())
        spread = (most - least) * (0.5 if held.sum() >= _OFTEN else 1.0)
        if max(least - code, code - most) > max(spread, 0.5 * abs(code)):
            found.append(code)
            entries = others
    return found


def doubts(name: object, column: ArrayLike) -> str:
    """Return why a column of numbers may not be a coordinate; empty if there is no reason.

    Examples
    --------
    >>> doubts("pressure", [12.5, 30.1, -999.0, 21.0, -999.0])
    "column 'pressure' holds -999 twice, far from its other entries (12.5 to 30.1), ..."
    >>> doubts("CustomerID", [1007, 1002, 1031])
    "column 'CustomerID' has a name of ids, and all its whole numbers are different"
    """
    entries = np.asarray(column, dtype=float)
    codes = sentinels(entries)
    if codes:
        others = entries[~np.isin(entries, codes) & np.isfinite(entries)]
        held = " and ".join(f"{code:g} {_times(int((entries == code).sum()))}" for code in codes)
        return (
            f"column {name!r} holds {held}, far from its other entries "
            f"({others.min():g} to {others.max():g}), as codes of missing values are"
        )
    whole = bool(entries.size) and bool((entries == np.round(entries)).all())
    if whole and is_named_as_id(str(name)) and len(set(entries.tolist())) == entries.size:
        return f"column {name!r} has a name of ids, and all its whole numbers are different"
    return ""


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def warn_of_columns(X: Any) -> None:
    """Warn of columns of a data frame that count its rows, and of those with `doubts`."""
    columns = getattr(X, "columns", ())
    if len(columns) < 2 or len(set(columns)) < len(columns):
        return
    for name in columns:
        if counts_rows(name, X[name]):
            warn(
                f"column {name!r} counts the rows, and is taken for a coordinate. Leave it out "
                f"with X.drop(columns={name!r}) or pandas.read_csv(FILE, index_col={name!r}); if "
                "it is a coordinate, pass X.to_numpy().",
                RowNumbersWarning,
            )
        elif X[name].dtype.kind in "iuf" and (words := doubts(name, X[name])):
            warn(
                f"{words}, and is taken for a coordinate. Leave it out with "
                f"X.drop(columns={name!r}), or missing values with X.replace(NUMBER, "
                "numpy.nan).dropna(); if it is a coordinate, pass X.to_numpy().",
                DoubtfulColumnWarning,
            )


def unlike(X: Array, names: Sequence[object]) -> str:
    """Describe two columns whose ranges and spreads differ a hundredfold; empty if none do."""
    if not len(X) or not np.isfinite(X).all():
        return ""
    spreads, ranges = X.std(axis=0), np.ptp(X, axis=0)
    varying = np.flatnonzero(ranges > 0.0)
    if varying.size < 2:
        return ""
    wide, narrow = (varying[pick(ranges[varying])] for pick in (np.argmax, np.argmin))
    ratio = spreads[wide] / spreads[narrow]
    if min(ratio, ranges[wide] / ranges[narrow]) <= _APART:
        return ""
    return (
        f"column {names[wide]!r} is spread {ratio:.0f} times as widely as {names[narrow]!r} "
        f"({spreads[wide]:.3g} and {spreads[narrow]:.3g}), which hardly changes distances"
    )


def lone(X: Array) -> str:
    """Describe a column that makes up all squared distances but a millionth; empty if none does."""
    if X.ndim != 2 or not len(X) or X.shape[1] < 2 or not np.isfinite(X).all():
        return ""
    spreads = X.std(axis=0)
    widest = int(np.argmax(spreads))
    others = np.delete(spreads, widest)
    others = others[others > _ROUNDED * spreads[widest]]
    if not others.size or np.sum(np.square(others / spreads[widest])) > _NEGLIGIBLE:
        return ""
    return (
        f"column {widest} is spread so widely ({spreads[widest]:.3g}) that the other {others.size},"
        f" spread {others.max():.3g} at most, hardly change distances"
    )


def warn_of_unlike_columns(X: Any) -> None:
    """Warn of columns that hardly change distances beside others.

    Columns of an array may be pixels, or in one unit on purpose: there `lone` must hold.
    """
    names = list(getattr(X, "columns", ()))
    if issparse(X) or len(names) == 1 or getattr(getattr(X, "dtype", None), "kind", "") == "c":
        return
    try:
        table = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return  # not numbers, which the checks of data refuse
    alone = lone(table)
    words = unlike(table, names) if names else alone
    if words:
        way = "pass X.to_numpy()" if names and not alone else "filter this warning out"
        warn(
            f"{words}. If they have units of their own, scale them first, as sklearn.pipeline."
            "make_pipeline(sklearn.preprocessing.StandardScaler(), ...) does; if not, "
            f"{way}.",
            UnlikeColumnsWarning,
        )
