"""Frames of rows: one filled up to the schema, and the columns that name what is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.lab.study.schema import COLUMNS

INSTANCE = ("problem", "variant")
"""What is solved."""
CONTESTANT = ("solver", "form")
"""Who solves it."""

_EMPTY: Mapping[str, Any] = {
    "VARCHAR": "",
    "DOUBLE": float("nan"),
    "BIGINT": pd.NA,
    "BOOLEAN": False,
}
_DTYPES: Mapping[str, str] = {
    "VARCHAR": "object",
    "DOUBLE": "float64",
    "BIGINT": "Int64",
    "BOOLEAN": "bool",
}


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame with all columns of the schema, in its order and with its types.

    Parameters
    ----------
    rows : iterable of mappings
        From names of columns to values. What is left out is empty: "", ``nan``, ``<NA>`` or False.

    Returns
    -------
    DataFrame
        Columns as `sdpdr.lab.study.schema.COLUMNS`.

    Raises
    ------
    DataError
        A row has a column that the schema does not.

    Examples
    --------
    >>> rows = frame_of([{"problem": "path", "solver": "scs", "solve": 0.5, "n": 7}])
    >>> rows[["problem", "variant", "solve", "tol", "n", "order", "solved"]]
      problem variant  solve  tol  n  order  solved
    0    path            0.5  NaN  7   <NA>   False
    >>> frame_of([{"problme": "path"}])
    Traceback (most recent call last):
    ...
    sdpdr.errors.DataError: the schema has no column 'problme'
    """
    given = list(rows)
    names = {column.name for column in COLUMNS}
    for row in given:
        for name in row.keys() - names:
            raise DataError(f"the schema has no column {name!r}")
    return pd.DataFrame(
        {
            column.name: pd.Series(
                [row.get(column.name, _EMPTY[column.kind]) for row in given],
                dtype=_DTYPES[column.kind],
            )
            for column in COLUMNS
        }
    )


def need(frame: pd.DataFrame, *columns: str) -> None:
    """Raise a `DataError` that names the columns that the frame lacks."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise DataError(
            f"the frame lacks {', '.join(missing)}; it has {', '.join(map(str, frame.columns))}"
        )


def seconds_of(frame: pd.DataFrame) -> pd.Series:
    """Seconds to a graded answer, ``compile + solve + certify``, of each row.

    The time to build a problem is left out, for all contestants share it. A part that was not
    reached counts nothing; where none was, the result is ``nan``.

    Examples
    --------
    >>> rows = [{"build": 9.0, "compile": 1.0, "solve": 2.0, "certify": 0.5}, {"compile": 1.0}, {}]
    >>> seconds_of(frame_of(rows)).to_list()
    [3.5, 1.0, nan]
    """
    need(frame, "compile", "solve", "certify")
    return frame[["compile", "solve", "certify"]].sum(axis=1, min_count=1)


def scale_of(frame: pd.DataFrame) -> pd.Series:
    r"""What the value of each row is large or small beside.

    The gap is relative to :math:`\max(|v|, \sigma)`, with the size :math:`\sigma` of objective
    beside which a value counts as zero; so value, bound and gap tell it, unless the gap is zero or
    unknown.

    Examples
    --------
    >>> rows = [{"value": 0.0, "bound": 1e-9, "gap": 1e-8}, {"value": 2.0}]
    >>> scale_of(frame_of(rows)).round(9).to_list()
    [0.1, 2.0]
    """
    need(frame, "value", "bound", "gap")
    gap, value = frame["gap"].abs(), frame["value"].abs()
    told = (frame["bound"] - frame["value"]).abs() / gap.where((gap > 0) & (gap < float("inf")))
    return pd.concat([value, told], axis=1).max(axis=1)
