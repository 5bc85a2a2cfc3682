"""Repeats made one: a line for every instance, contestant and tolerance."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from sdpdr.lab.study.measures.frame import CONTESTANT, INSTANCE, need, scale_of, seconds_of
from sdpdr.lab.study.schema import COLUMNS

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
