"""Lists of users, items and ratings: how they are told from matrices of ratings.

Columns say what they hold by their names, or by what stands in them. Names go first, since numbers
of users and items read as ratings too. A frame that its names say half of is refused: taken as a
matrix, numbers of users would be ratings, without a word.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError, UnusedColumnsWarning, warn
from sdpdr.base.rows import listed

_MORE = r"s?[\W_]*(ids?|names?|no|nr|number|key|code|index)?"
_ROLES = {
    "users": re.compile(rf"user{_MORE}", re.IGNORECASE),
    "items": re.compile(rf"(item|movie|product){_MORE}", re.IGNORECASE),
    "ratings": re.compile(r"(rating|score|value)(s|[\W_]*(value|score))?", re.IGNORECASE),
}
# Seconds since 1970 are above, from 1973 on; ratings are not.
_TIMES = 1e8
_ADVICE = (
    "Pass three columns in this order, X[[USERS, ITEMS, RATINGS]]; or a matrix with a row for each "
    "user, a column for each item and NaN where there is no rating, as X.pivot(index=USERS, "
    "columns=ITEMS, values=RATINGS) makes it."
)
_WORDS = (
    "If words stand for the two signs, pass X.replace({ONE: 1, OTHER: -1}), with NaN where no sign "
    "was observed."
)


def triples_of(X: Any) -> pd.DataFrame | None:
    """Columns of users, items and ratings, where X is a list of these; None where it is a matrix.

    A frame with a column called after each is a list of triples, in whichever order, see
    `named_columns`. What has no such names is one if it has three columns without gaps, of which
    the first two hold names or whole numbers from zero on: as a matrix of ratings it would have
    nothing to complete. A frame whose rows have names is a matrix.

    Raises
    ------
    DataError
        A triple lacks a part, or X could be either.

    Examples
    --------
    >>> triples_of([[0, 7, 5.0], [2, 7, 3.0]]).shape
    (2, 3)
    >>> triples_of([[5, np.nan, 3], [4, 1, np.nan]]) is None
    True
    """
    if sp.issparse(X) or validate.n_dimensions(X) != 2:
        return None
    if columns := named_columns(X):
        return _complete(X[columns])
    table = as_table(X)
    if has_named_rows(X):
        return None
    if not begins_with_names(table):
        return None
    if table.shape[1] == 4 and _are_times(table.iloc[:, 3]):
        raise DataError(
            "X has four columns, of which the first two hold whole numbers or names and the last "
            f"holds times in seconds: a list of ratings, it seems. {_ADVICE}"
        )
    if table.shape[1] != 3:
        return None
    if table.iloc[:, 2].isna().any():
        row = int(np.flatnonzero(table.iloc[:, 2].isna())[0])
        known = "X.dropna()" if isinstance(X, pd.DataFrame) else "pandas.DataFrame(X).dropna()"
        raise DataError(
            f"row {row} of three columns has no third number, which is either a triple without "
            f"rating or a gap in a matrix of three items. Leave the former out: {known}; give the "
            "rows of the latter names (a frame's index), or pass a sparse array of what was "
            "observed."
        )
    return table


def named_columns(X: Any, roles: tuple[str, ...] = tuple(_ROLES)) -> list[Any]:
    """Of a frame, the columns called after users, items and ratings; empty where none is so.

    Names are ``user``, ``item`` (or ``movie``, ``product``) and ``rating`` (or ``score``,
    ``value``), in either number and any case, alone or before a word such as ``id``.

    Parameters
    ----------
    X : data frame, or anything else, whose columns have no names
    roles : tuple of str, optional
        Which of users, items and ratings there should be.

    Raises
    ------
    DataError
        Names say of some columns what they hold, and leave others open.

    Examples
    --------
    >>> named_columns(pd.DataFrame(columns=["timestamp", "Rating", "movieId", "user_id"]))
    ['user_id', 'movieId', 'Rating']
    >>> named_columns(pd.DataFrame(columns=["up", "jaws", "heat"]))
    []
    """
    if not isinstance(X, pd.DataFrame):
        return []
    words = [name for name in X.columns if isinstance(name, str)]
    found = {role: [name for name in words if _ROLES[role].fullmatch(name)] for role in roles}
    named = [names[0] for names in found.values() if len(names) == 1]
    if len(named) == len(roles):
        return named
    # Of pairs, ratings may follow, which nobody looks at.
    in_order = X.shape[1] in (len(roles), len(_ROLES))
    order = dict(zip(roles, X.columns, strict=False)) if in_order else {}
    if all(not names or names == [order.get(role)] for role, names in found.items()):
        return []
    called = [
        f"{role}: {listed([repr(name) for name in names])}"
        for role, names in found.items()
        if names
    ]
    if found["users"] or len(called) > 1:
        open_ones = [role for role, names in found.items() if len(names) != 1]
        raise DataError(
            f"columns are called as in a list of ratings ({'; '.join(called)}), but their names "
            f"leave open which one holds the {' and which the '.join(open_ones)}. {_ADVICE} If X "
            "is a matrix of ratings all the same, pass X.to_numpy()."
        )
    return []


def warn_of_unused(X: Any) -> None:
    """Warn of columns of a frame beside users, items and ratings.

    Warns
    -----
    UnusedColumnsWarning
    """
    if (taken := named_columns(X)) and (more := [name for name in X.columns if name not in taken]):
        users, items, ratings = map(repr, taken)
        warn(
            f"users are taken from column {users}, items from {items} and ratings from {ratings}; "
            f"not used: {listed(list(map(repr, more)))}. Pass X[[{users}, {items}, {ratings}]] to "
            "be spared these words.",
            UnusedColumnsWarning,
        )


def refuse_text(X: Any, *, signs: bool = False) -> None:
    """Refuse a frame as a matrix of ratings, or of signs, if one of its columns holds text.

    Raises
    ------
    DataError
    """
    for name, column in X.items() if isinstance(X, pd.DataFrame) else ():
        if column.dtype.kind != "O" and not pd.api.types.is_string_dtype(column):
            continue
        text = [entry for entry in column if isinstance(entry, str) and not is_number(entry)]
        if text:
            kind, advice = ("signs", _WORDS) if signs else ("ratings", _ADVICE)
            raise DataError(
                f"column {name!r} holds text, such as {text[0]!r}, so X is no matrix of {kind}; "
                f"and no list of them by its names. {advice} If column {name!r} names the rows "
                f"of a matrix, pass X.set_index({name!r})."
            )


def has_named_rows(X: Any) -> bool:
    """Whether X is a frame whose rows have names, words rather than numbers, each its own."""
    return isinstance(X, pd.DataFrame) and X.index.dtype.kind == "O" and X.index.is_unique


def as_table(X: Any) -> pd.DataFrame:
    """Columns with types of their own, where X has such."""
    return pd.DataFrame(X if isinstance(X, (list, pd.DataFrame)) else np.asarray(X))


def begins_with_names(table: pd.DataFrame) -> bool:
    """Whether the first two columns hold names, as of users and of items."""
    return all(holds_names(table.iloc[:, k]) for k in range(min(2, table.shape[1])))


def holds_names(column: Any) -> bool:
    """Whether a column holds words or whole numbers from zero on, without gaps."""
    if column.isna().any():
        return False
    if not pd.api.types.is_numeric_dtype(column):
        return True
    numbers = column.to_numpy(dtype=float)
    return bool(np.all((numbers >= 0.0) & (numbers == np.floor(numbers))))


def _complete(table: pd.DataFrame) -> pd.DataFrame:
    gaps = np.argwhere(table.isna().to_numpy())
    if gaps.size:
        row, k = gaps[0]
        raise DataError(
            f"row {row} of a list of ratings has nothing in column {table.columns[k]!r}. Leave "
            f"such rows out: X.dropna(subset={list(table.columns)!r})."
        )
    return table


def _are_times(column: Any) -> bool:
    if pd.api.types.is_datetime64_any_dtype(column):
        return True
    return pd.api.types.is_numeric_dtype(column) and bool((column > _TIMES).all())


def is_number(text: str) -> bool:
    """Whether a word writes a number.

    Examples
    --------
    >>> is_number("-1"), is_number("like")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True
