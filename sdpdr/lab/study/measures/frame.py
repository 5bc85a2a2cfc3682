"""Frames of rows, filled up to the schema, and repeats made one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.lab.study.rows import typed
from sdpdr.lab.study.schema import COLUMNS

INSTANCE = ("problem", "variant")
"""What is solved."""
CONTESTANT = ("solver", "form")
"""Who solves it."""


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
    names = [column.name for column in COLUMNS]
    for row in given:
        for name in row.keys() - set(names):
            raise DataError(f"the schema has no column {name!r}")
    return typed(pd.DataFrame(given, columns=names, dtype=object))


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


ONE = (*INSTANCE, *CONTESTANT, "tol")
"""Columns that name a line."""
RUN_COLUMNS: tuple[str, ...] = (
    "problem", "variant", "method", "family", "n", "order", "rows", "solver", "form", "tol",
    "solved", "outcome", "honesty", "seconds", "build", "compile", "solve", "certify", "total",
    "peak_memory", "spread", "repeats", "time_limit", "value", "scale", "worst", "used",
)  # fmt: skip
"""Columns of `runs_by_median`, in order."""

# A line is as honest as its least honest repeat.
_LEAST_HONEST_FIRST = ("overstated", "near", "understated", "", "silent", "true")
_MEDIANS = ("seconds", "build", "compile", "solve", "certify", "total", "value", "worst")
_SHARED = ("method", "family", "n", "order", "rows", "time_limit", "used")


def runs_by_median(frame: pd.DataFrame) -> pd.DataFrame:
    r"""Repeats of a run as one line, with the median of what differs each time.

    The median of r times is moved by fewer than r/2 of them however far they stray, and the noise
    of a machine strays to one side; the mean is moved by each.

    Parameters
    ----------
    frame : DataFrame
        Rows, with the columns of `sdpdr.lab.study.schema`.

    Returns
    -------
    DataFrame
        One line for every instance, contestant and tolerance, in order of first appearance, with

        - ``problem, variant, method, family, n, order, rows, solver, form, tol`` as in the rows; a
          size that only some repeats know is taken from those,
        - ``solved``: all repeats are,
        - ``outcome``: the most frequent; of the repeats that are not solved, if there are any,
        - ``honesty``: the least honest: overstated, near, understated, no claim, silent, true,
        - ``seconds``: median of ``compile + solve + certify``, the time to a graded answer. Of runs
          that are not solved as well, so look at ``solved`` first; ``nan`` if nothing was measured,
        - ``build, compile, solve, certify, total``: medians, each by itself; they need not add up
          to the median of the sum,
        - ``peak_memory``: the largest,
        - ``spread``: :math:`(\max_i t_i - \min_i t_i) / \operatorname{median}_i t_i` over the
          seconds of the repeats, ``nan`` if there is one,
        - ``repeats``: how many,
        - ``time_limit, value, scale, worst, used``: first, median, largest, median, first, where
          the scale is what the value is large or small beside.

    Raises
    ------
    DataError
        A column is missing.

    Examples
    --------
    >>> from sdpdr.lab.study.measures.frame import frame_of
    >>> one = {"problem": "path", "solver": "scs", "form": "gram", "tol": 1e-6, "solved": True}
    >>> rows = frame_of(one | {"repeat": i, "solve": t} for i, t in enumerate([1.0, 9.0, 2.0]))
    >>> runs_by_median(rows)[["solver", "solved", "seconds", "spread", "repeats"]]
      solver  solved  seconds  spread  repeats
    0    scs    True      2.0     4.0        3
    """
    need(frame, *(column.name for column in COLUMNS))
    timed = frame.assign(seconds=seconds_of(frame), scale=scale_of(frame))
    groups = timed.groupby(list(ONE), sort=False, dropna=False)
    lines = groups[[*_MEDIANS]].median()
    lines[[*_SHARED]] = groups[[*_SHARED]].first()
    lines["peak_memory"] = groups["peak_memory"].max()
    lines["scale"] = groups["scale"].max()
    lines["solved"] = groups["solved"].all()
    lines["honesty"] = groups["honesty"].agg(_least_honest)
    lines["repeats"] = groups.size()
    times = groups["seconds"]
    lines["spread"] = ((times.max() - times.min()) / times.median()).where(times.count() > 1)
    telling = timed[~timed["solved"] | groups["solved"].transform("all")]
    ends = telling.groupby(list(ONE), sort=False, dropna=False)["outcome"]
    lines["outcome"] = ends.agg(_most_frequent)
    return lines.reset_index()[list(RUN_COLUMNS)]


def _least_honest(words: Iterable[str]) -> str:
    return min(words, key=_LEAST_HONEST_FIRST.index)


def _most_frequent(words: pd.Series) -> str:
    """The first of them to appear, on a tie."""
    counts = words.value_counts(sort=False)
    return str(counts.index[counts.argmax()])
