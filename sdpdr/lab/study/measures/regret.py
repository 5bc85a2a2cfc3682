"""How far one contestant is from the best of all, and what noise can do to a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm
from scipy.stats import t as student

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.lab.study.measures.contestants import at_one_tolerance, ratios_to_best, times
from sdpdr.lab.study.measures.frame import ONE, need, seconds_of

FEWEST_REPEATS = 5
"""Degrees of freedom below which repeats do not tell the noise."""
DRAWS = 9999
"""Of a bootstrap."""


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


def draws_of_mean(sample: ArrayLike, rng: np.random.Generator, *, least: float = 0.0) -> Array:
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

    Returns
    -------
    ndarray of shape (9999,)

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
        return np.asarray(d.mean() + least * rng.standard_normal(DRAWS))
    apart = np.sqrt(m / (m - 1)) * student.ppf(0.975, m - 1) / norm.ppf(0.975)
    drawn = d[rng.integers(m, size=(DRAWS, m))].mean(axis=1)
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


WITHIN: tuple[float, ...] = (1.5, 2.0, 10.0)
"""Ratios whose shares are told."""


@dataclass(frozen=True, eq=False)
class Regret:
    """Distance from the best contestant.

    Attributes
    ----------
    table : DataFrame
        One line for every instance that somebody solves, worst first. Columns ``problem, variant,
        method, n, solved, seconds, used, best_solver, best_form, best_seconds, ratio, lost``, where
        ``seconds``, ``ratio`` and ``lost``, the seconds beyond the best, are infinite if it is not
        solved.
    quantiles : mapping from share to ratio
        At 0.5, 0.9 and 1.
    within : mapping from ratio to share
        Share of the instances of the table with a ratio of at most 1.5, 2 and 10.
    mean : float
        Geometric mean of the ratios, on instances it solves; ``nan`` if there are none.
    """

    table: pd.DataFrame
    quantiles: Mapping[float, float]
    within: Mapping[float, float]
    mean: float

    @property
    def failed(self) -> pd.DataFrame:
        """Lines of the table that it did not solve, and another did."""
        return self.table[~self.table["solved"]]

    def worst(self, count: int = 10) -> pd.DataFrame:
        """The lines with the largest ratios."""
        return self.table.head(count)


def regret_of(runs: pd.DataFrame, solver: str = "auto", form: str | None = None) -> Regret:
    r"""Ratios :math:`t / \min_s t_s` of one contestant, the best taken over all, itself included.

    The best is chosen afterwards from noisy times: with k contestants that are equally fast, each
    measured with a relative noise of ten percent, the least of k = 5 is about eleven percent below
    their mean, so a ratio of 1.1 may be no regret at all.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`, of one tolerance. Instances that some contestant has no line for, and
        those that nobody solves, are left out.
    solver : str, default "auto"
    form : str, optional
        Needed if the solver takes part in several.

    Returns
    -------
    Regret

    Raises
    ------
    DataError
        There is no such contestant, several of them, or several tolerances.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["a", "a", "b", "b"], "variant": "", "method": "mvu",
    ...     "n": 9, "solver": ["auto", "p"] * 2, "form": ["auto", "gram"] * 2, "tol": 1e-6,
    ...     "used": "", "seconds": [3.0, 1.0, 2.0, 5.0], "solved": True})
    >>> regret = regret_of(runs)
    >>> regret.table[["problem", "best_solver", "ratio"]].values.tolist()
    [['a', 'p', 3.0], ['b', 'auto', 1.0]]
    >>> dict(regret.within)
    {1.5: 0.5, 2.0: 0.5, 10.0: 1.0}
    """
    at_one_tolerance(runs)
    who = _contestant(runs, solver, form)
    taken = times(runs)
    taken = taken[np.isfinite(taken).any(axis=1)]
    ratio = ratios_to_best(runs).loc[taken.index, who]
    best = taken.idxmin(axis=1) if len(taken) else pd.Series(dtype=object)
    own = runs[(runs["solver"] == who[0]) & (runs["form"] == who[1])]
    facts = own.set_index(["problem", "variant"])[["method", "n", "used"]].reindex(taken.index)
    table = facts.assign(
        solved=np.isfinite(taken[who]),
        seconds=taken[who],
        best_solver=[pair[0] for pair in best],
        best_form=[pair[1] for pair in best],
        best_seconds=taken.min(axis=1),
        ratio=ratio,
        lost=taken[who] - taken.min(axis=1),
    ).reset_index()
    table = table.sort_values("ratio", ascending=False, kind="stable").reset_index(drop=True)
    r = table["ratio"].to_numpy(dtype=float)
    finite = r[np.isfinite(r)]
    return Regret(
        table[[*_COLUMNS]],
        MappingProxyType({q: _quantile(r, q) for q in (0.5, 0.9, 1.0)}),
        MappingProxyType({w: float(np.mean(r <= w)) if r.size else float("nan") for w in WITHIN}),
        float(np.exp(np.mean(np.log(finite)))) if finite.size else float("nan"),
    )


_COLUMNS = (
    "problem", "variant", "method", "n", "solved", "seconds", "used", "best_solver", "best_form",
    "best_seconds", "ratio", "lost",
)  # fmt: skip


def _quantile(ratios: np.ndarray, share: float) -> float:
    """The least ratio that so large a share does not exceed; infinite ones are ordered as well."""
    if not ratios.size:
        return float("nan")
    return float(np.quantile(ratios, share, method="inverted_cdf"))


def _contestant(runs: pd.DataFrame, solver: str, form: str | None) -> tuple[str, str]:
    forms = list(runs.loc[runs["solver"] == solver, "form"].unique())
    if form is None and len(forms) == 1:
        return solver, forms[0]
    if form in forms:
        return solver, str(form)
    raise DataError(
        f"no single contestant {solver!r}, {form!r}; the forms of {solver!r} are {forms}, the "
        f"solvers {list(runs['solver'].unique())}"
    )
