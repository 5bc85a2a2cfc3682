"""Columns that are mistaken for what they are not: rows, codes, years, units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import (
    DoubtfulColumnWarning,
    RowNumbersWarning,
    UnlikeColumnsWarning,
    warn,
)

# What pandas calls a column without a name, which is where it writes its index.
UNNAMED = re.compile(r"|Unnamed: \d+")
# Names that columns of ids have, German and French ones among them.
_NAMES_OF_IDS = re.compile(
    r"id|ids|uid|uuid|key|index|row[ _.]?names?|zip|zip[ _-]?code|post(al)?[ _-]?code|.*[ _.-]id"
    r"|(account|case|customer|invoice|order|patient|sample|serial)[ _.-](no|nr)"
    r"|plz|postleitzahl|c(ode|[oó]digo)[ _-]?postal|(tele)?phone|telefon|ssn|ean|isbn|gtin"
    r"|id[ _.-].*|row|n°|nr\.?|.*[ _.-]nr\.?|.*nummer|identifiant|matricule"
    r"|(?-i:.*[a-z]I[Dd])",
    re.IGNORECASE,
)
_MAY_COUNT = re.compile(r"key|index|.*[ _.-]n[or]", re.IGNORECASE)
# Fewer rows may be counted by chance, by a column that has a name.
_COUNTED = 10
# Numbers that stand for what is not known in files of measurements.
_CODES = (
    *(-1e30, 1e30, -1e20, 1e20, -99999.0, 99999.0, -9999.0, 9999.0, -999.0, 999.0, -200.0, -99.0),
)
# A code that occurs at least so often may lie nearer: half a range of the other entries away.
_OFTEN = 3
# Names of columns whose whole numbers between these are years.
_YEAR, _YEARS = re.compile(r"(.*_)?years?", re.IGNORECASE), (1000.0, 3000.0)
# The first and the last day that whole numbers of eight digits are taken for.
_DAYS = (19000101, 21001231)
# Names of columns whose whole numbers of six digits are months.
_OF_MONTHS = re.compile(r"month|monat|mois|mes\b|mese|date|datum|period|yyyymm", re.IGNORECASE)
# Spreads of columns that differ more than this leave the narrow ones without a say.
_APART = 100.0
# Share of the squared distances from which on all columns but one have no say together, whatever
# they are. Of images they hold 0.94 at least (digits, also with a wide border in which a pixel in
# ten thousand is lit; photographs, spectra, counts of words), of raw wine and of other tables with
# units 2e-3, and 7e-6 of images of which one pixel is lit, and twenty others once by a 255th.
_NO_SAY = 1e-6
# Spreads beside the widest that are what rounding leaves of a column of zeros.
_ROUNDED = 1e-14


def is_named_as_id(name: str) -> bool:
    """Whether a column has no name, or one that columns of ids have.

    Examples
    --------
    >>> [name for name in ("", "CustomerID", "order_no", "zip", "acid") if is_named_as_id(name)]
    ['', 'CustomerID', 'order_no', 'zip']
    >>> [name for name in ("Kunden-Nr", "Nr", "Matricule", "narrow") if is_named_as_id(name)]
    ['Kunden-Nr', 'Nr', 'Matricule']
    """
    return bool(UNNAMED.fullmatch(name) or _NAMES_OF_IDS.fullmatch(name))


def column_of_ids(name: str, entries: Sequence[str]) -> bool:
    """Return whether a column is called as ids are, and its entries are words or whole numbers.

    Names such as ``key`` or ``index`` may also be those of a quantity, unless no two entries are
    alike.

    Examples
    --------
    >>> column_of_ids("id", ["1", "1"]), column_of_ids("key", ["1", "1"])
    (True, False)
    >>> column_of_ids("id", ["1.5", "2"])
    False
    """
    if not is_named_as_id(name):
        return False
    if len(set(entries)) < len(entries) and (not name or _MAY_COUNT.fullmatch(name)):
        return False
    return not any(re.fullmatch(r"[-+]?\d*[.,]\d+(?:[eE].*)?", entry) for entry in entries)


def counts_rows(name: object, column: ArrayLike) -> bool:
    """Whether a column of whole numbers is 0, ..., n - 1 or 1, ..., n, and not by chance.

    Examples
    --------
    >>> counts_rows("t", np.arange(1, 21)), counts_rows("t", [0, 1, 2])
    (True, False)
    >>> counts_rows("Unnamed: 0", [0, 1, 2]), counts_rows("Unnamed: 0", [0, 2, 1])
    (True, False)
    """
    entries = np.asarray(column)
    n = len(entries)
    least = 2 if UNNAMED.fullmatch(str(name)) else _COUNTED
    if n < least or entries.dtype.kind not in "iu" or entries[0] not in (0, 1):
        return False
    return bool(np.array_equal(entries - entries[0], np.arange(n)))


def are_dates(name: object, column: ArrayLike) -> bool:
    """Whether all known entries are days of 1900 to 2100 without marks between, as 20240131 is.

    A time of day may follow (20240131235959). Months (202401) are told by the name of the column,
    or by ten rows of several years.

    Examples
    --------
    >>> are_dates("x", [20240131, np.nan, 19991224]), are_dates("x", [20240131, 20240231])
    (True, False)
    >>> are_dates("month", [202401, 202402]), are_dates("x", [202401, 202402])
    (True, False)
    """
    entries = np.asarray(column, dtype=float)
    known = entries[~np.isnan(entries)]
    if not known.size or (known != np.round(known)).any() or (np.abs(known) >= 1e15).any():
        return False
    numbers = known.astype(np.int64)
    for digits in (14, 12):
        if (numbers >= 10 ** (digits - 1)).all():
            return _are_days(numbers // 10 ** (digits - 8)) and _are_times(numbers, digits)
    many = numbers.size >= 10 and len(set((numbers // 100).tolist())) > 1
    if (numbers < 10**6).all() and (many or _OF_MONTHS.search(str(name))):
        return _are_days(100 * numbers + 1)
    return _are_days(numbers)


def _are_times(numbers: Index, digits: int) -> bool:
    seconds = numbers % 10 ** (digits - 8) * (1 if digits == 14 else 100)
    hours, minutes = seconds // 10000, seconds // 100 % 100
    return bool(((hours < 24) & (minutes < 60) & (seconds % 100 < 60)).all())


def _are_days(days: Index) -> bool:
    if not ((days >= _DAYS[0]) & (days <= _DAYS[1])).all():
        return False
    year, month, day = days // 10000, days // 100 % 100, days % 100
    if not ((month >= 1) & (month <= 12) & (day >= 1)).all():
        return False
    months = 12 * (year - 1970) + month - 1
    first, after = (k.astype("datetime64[M]").astype("datetime64[D]") for k in (months, months + 1))
    return bool((day <= (after - first).astype(int)).all())


def sentinels(column: ArrayLike) -> list[float]:
    """Return the numbers that seem to stand for missing values in a column.

    They are -200, numbers of nines, and 1e20 and 1e30 with either sign, further from all other
    entries than these are from each other.

    Examples
    --------
    >>> sentinels([12.5, 30.1, -999.0, 21.0]), sentinels([990.0, 999.0, 1004.0])
    ([-999.0], [])
    >>> sentinels([12.5, -1e30, 30.1, -99.0, 21.0])
    [-1e+30, -99.0]
    """
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
    """Return why a column of numbers may not be a coordinate; empty if nothing speaks against it.

    It may hold codes of missing values, see `sentinels`. Whole numbers of a column called a year
    are years, those that are days without marks between (20240131) dates, and distinct ones in a
    column called as ids are, ids.

    Examples
    --------
    >>> doubts("pressure", [12.5, 30.1, -999.0, 21.0, -999.0])
    "column 'pressure' holds -999 twice, far from its other entries (12.5 to 30.1), ..."
    >>> doubts("year", [1999, 2003, 2011])
    "column 'year' holds years, 1999 to 2011"
    >>> doubts("when", [20240131, 20240201])
    "column 'when' holds dates, 20240131 to 20240201"
    >>> doubts("depth", [990.0, 999.0, 1004.0]), doubts("years", [0.5, 3.0])
    ('', '')
    >>> doubts("CustomerID", [1007, 1002, 1031])
    "column 'CustomerID' is called as ids are, and no two of its whole numbers are alike"
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
        return f"column {name!r} is called as ids are, and no two of its whole numbers are alike"
    if whole and are_dates(name, entries):
        return f"column {name!r} holds dates, {entries.min():.0f} to {entries.max():.0f}"
    if whole and _YEAR.fullmatch(str(name)):
        least, most = float(entries.min()), float(entries.max())
        if _YEARS[0] <= least and most <= _YEARS[1]:
            return f"column {name!r} holds years, {least:g} to {most:g}"
    return ""


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def warn_of_columns(X: Any) -> None:
    """Warn of columns of a data frame that count its rows, and of those with `doubts`.

    Warns
    -----
    RowNumbersWarning, DoubtfulColumnWarning
        Naming them. Frames of one column, and arrays, whose columns have no names, pass.

    Examples
    --------
    >>> import pandas, warnings
    >>> frame = pandas.DataFrame({"Unnamed: 0": range(20), "x": np.cos(range(20))})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_columns(frame)
    >>> print(str(caught[0].message).partition(",")[0])
    column 'Unnamed: 0' counts the rows
    """
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
                f"X.drop(columns={name!r}), or what is not known with X.replace(NUMBER, "
                "numpy.nan).dropna(); if it is a coordinate, pass X.to_numpy().",
                DoubtfulColumnWarning,
            )


def unlike(X: Array, names: Sequence[object]) -> str:
    """In words, two columns of which one has no say beside the other; empty if there are none.

    Their ranges and their standard deviations are a hundredfold apart. Either alone may be: of
    counts that are nearly all zero, or by one entry far out.

    Examples
    --------
    >>> print(unlike(np.array([[0.0, 1.0], [1000.0, 2.0], [500.0, 0.0]]), ["income", "children"]))
    column 'income' is spread 500 times as widely as 'children' (408 and 0.816), ...
    >>> unlike(np.eye(3), ["a", "b", "c"])
    ''
    """
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
        f"({spreads[wide]:.3g} and {spreads[narrow]:.3g}), which so has no say in who is near whom"
    )


def lone(X: Array) -> str:
    """In words, a column beside which all others together have no say; empty if there is none.

    They hold less than a millionth of the squared distances, as no table of pixels has it. Columns
    that are constant but for rounding do not count.

    Examples
    --------
    >>> X = np.column_stack([np.arange(4.0), np.arange(4.0) ** 2])
    >>> print(lone(X * [1e9, 1.0]))
    column 0 is spread so widely (1.12e+09) that the other 1, spread 3.5 at most, ...
    >>> lone(X), lone(X * [1e9, 0.0])
    ('', '')
    """
    if X.ndim != 2 or not len(X) or X.shape[1] < 2 or not np.isfinite(X).all():
        return ""
    spreads = X.std(axis=0)
    widest = int(np.argmax(spreads))
    others = np.delete(spreads, widest)
    others = others[others > _ROUNDED * spreads[widest]]
    if not others.size or np.sum(np.square(others / spreads[widest])) > _NO_SAY:
        return ""
    return (
        f"column {widest} is spread so widely ({spreads[widest]:.3g}) that the other {others.size},"
        f" spread {others.max():.3g} at most, have no say in who is near whom"
    )


_SCALE = (
    "If they have units of their own, scale them first, as sklearn.pipeline.make_pipeline("
    "sklearn.preprocessing.StandardScaler(), ...) does; if not, "
)


def warn_of_unlike_columns(X: Any) -> None:
    """Warn of columns that have no say in distances beside others.

    Warns
    -----
    UnlikeColumnsWarning
        Of a data frame naming a pair, as of `unlike`. Columns of an array may be pixels, or in one
        unit by intent: of these only where one column is all there is, see `lone`.
    """
    names = list(getattr(X, "columns", ()))
    if issparse(X) or len(names) == 1:
        return
    try:
        table = np.asarray(X)
        if table.dtype.kind == "c":
            return  # Refused by others.
        table = table.astype(float)
    except (TypeError, ValueError):
        return  # No numbers; others refuse them, and say why.
    alone = lone(table)
    if names and (words := unlike(table, names)):
        way = "pass X.to_numpy()" if not alone else "filter this warning out"
        warn(f"{words}. {_SCALE}{way}.", UnlikeColumnsWarning)
    elif alone and not names:
        warn(f"{alone}. {_SCALE}filter this warning out.", UnlikeColumnsWarning)
