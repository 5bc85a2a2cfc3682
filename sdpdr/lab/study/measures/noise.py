"""What noise can do: pooled spread of repeats, bootstrap of a mean, tests of many at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm
from scipy.stats import t as student

from sdpdr.base.arrays import Array
from sdpdr.lab.study.measures.frame import need, seconds_of
from sdpdr.lab.study.measures.runs import ONE

FEWEST_REPEATS = 5
"""Degrees of freedom below which repeats do not tell the noise."""


def noise_of(*frames: pd.DataFrame) -> float:
    r"""Relative noise of one run: standard deviation of the logarithm of its seconds.

    Pooled over all groups of solved repeats,
    :math:`\sigma^2 = \sum_{g,i} (\log t_{gi} - \overline{\log t_g})^2 / \sum_g (r_g - 1)`.

    Parameters
    ----------
    *frames : DataFrame
        Rows, with the columns of `sdpdr.lab.study.schema`. Repeats are not pooled across frames.

    Returns
    -------
    float
        ``nan`` with fewer than five degrees of freedom.

    Examples
    --------
    >>> from sdpdr.lab.study.measures.frame import frame_of
    >>> rows = [{"problem": p, "solver": "p", "solved": True, "solve": t}
    ...         for p in "abcdef" for t in (1.0, 1.21)]
    >>> round(noise_of(frame_of(rows)), 4)  # log(1.21) / sqrt(2)
    0.1348
    >>> noise_of(frame_of(rows[:4]))
    nan
    """
    squares, freedom = 0.0, 0
    for frame in frames:
        need(frame, *ONE, "solved")
        timed = frame.assign(_seconds=seconds_of(frame))
        timed = timed[timed["solved"].astype(bool) & (timed["_seconds"] > 0)]
        logs = timed.assign(_log=np.log(timed["_seconds"].to_numpy(dtype=float)))
        groups = logs.groupby(list(ONE), dropna=False)["_log"]
        squares += float(((logs["_log"] - groups.transform("mean")) ** 2).sum())
        freedom += len(logs) - groups.ngroups
    return float(np.sqrt(squares / freedom)) if freedom >= FEWEST_REPEATS else float("nan")


def draws_of_mean(
    sample: ArrayLike, rng: np.random.Generator, *, least: float = 0.0, count: int = 9999
) -> Array:
    r"""Draws from the uncertainty of the mean of a sample, by bootstrap.

    The means of samples drawn with replacement, about the mean. For small samples they lie too
    close together: they are moved apart by :math:`\sqrt{m/(m-1)}\; t_{m-1} / z`, with the 97.5
    percent points of Student's and the normal distribution, which makes the 95 percent interval of
    a normal sample the usual one, as do the expanded percentile intervals of Hesterberg.

    Parameters
    ----------
    sample : array_like of shape (m,)
        At least two.
    rng : Generator
    least : float, default 0
        Standard error that is known to be there. If the sample's own is smaller, by luck, the draws
        are normal with this one.
    count : int, default 9999
        Of draws.

    Returns
    -------
    ndarray of shape (count,)

    References
    ----------
    Hesterberg, The American Statistician 69(4), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> draws = draws_of_mean([0.0, 1.0, 2.0, 3.0], np.random.default_rng(0))
    >>> bool(abs(draws.mean() - 1.5) < 0.05)
    True
    """
    d = np.asarray(sample, dtype=float)
    m = len(d)
    if d.std(ddof=1) / np.sqrt(m) <= least:
        return np.asarray(d.mean() + least * rng.standard_normal(count))
    apart = np.sqrt(m / (m - 1)) * student.ppf(0.975, m - 1) / norm.ppf(0.975)
    drawn = d[rng.integers(m, size=(count, m))].mean(axis=1)
    return np.asarray(d.mean() + apart * (drawn - d.mean()))


def holm(p: ArrayLike) -> Array:
    r"""Holm's correction of p-values for being several.

    With :math:`p_{(1)} \le \dots \le p_{(k)}`, the adjusted ones are

    .. math:: \tilde p_{(i)} = \min\bigl\{1, \max_{j \le i} (k - j + 1)\, p_{(j)}\bigr\}.

    Rejecting where :math:`\tilde p \le \alpha` rejects any true hypothesis with probability at most
    :math:`\alpha`, however the tests depend on one another.

    Parameters
    ----------
    p : array_like of shape (k,)

    Returns
    -------
    ndarray of shape (k,)
        In the order given.

    References
    ----------
    Holm, Scandinavian Journal of Statistics 6(2), 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p, dtype=float)
    order = np.argsort(given, kind="stable")
    weighted = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(weighted))
    return adjusted
