"""Shifted geometric means, and profiles: one number, or one curve, for each contestant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.lab.study.measures.contestants import label, matrix, ratios_to_best, times
from sdpdr.lab.study.measures.frame import CONTESTANT, need
from sdpdr.lab.study.schema import NEVER_RAN

SHIFT = 0.1
"""Seconds. Benchmarks of large programs take 1 or 10."""


def shifted_geometric_mean(seconds: Iterable[float], shift: float = SHIFT) -> float:
    r"""The mean :math:`\bigl(\prod_{i=1}^m (t_i + s)\bigr)^{1/m} - s`.

    It lies between the geometric mean (s = 0), which a microsecond more or less on an easy problem
    moves as much as an hour on a hard one, and the arithmetic mean (s to infinity), which sees
    nothing but the slowest. Times far below the shift hardly count.

    Parameters
    ----------
    seconds : iterable of float
        At least zero.
    shift : float, default 0.1
        Seconds, at least zero.

    Returns
    -------
    float
        ``nan`` for no times.

    Raises
    ------
    DataError
        The shift or a time is negative.

    References
    ----------
    Achterberg, *Constraint Integer Programming*, PhD thesis, TU Berlin, 2007, appendix A.

    Examples
    --------
    >>> round(shifted_geometric_mean([1.0, 7.0], shift=1.0), 12)
    3.0
    """
    t = np.asarray(list(seconds), dtype=float)
    if shift < 0 or (t < 0).any():
        raise DataError(f"times and shift must be at least 0; shift {shift:g}, times {t}")
    if not t.size:
        return float("nan")
    if shift == 0 and (t == 0).any():
        return 0.0
    return float(np.exp(np.mean(np.log(t + shift))) - shift)


def means(runs: pd.DataFrame, *, shift: float = SHIFT, penalty: float = 1.0) -> pd.DataFrame:
    """Shifted geometric mean of the seconds of every contestant, and its rates.

    What is not solved counts as ``penalty`` times its time limit, or as the seconds it took if that
    is more. With a penalty of 1 this follows Mittelmann's benchmarks and qpbenchmark: a contestant
    that gave up after a second is charged as if it had used all its time. All the same the mean of
    one that solves nothing is about the limit, and no more, so read it beside the success rate.
    A contestant that was never run, say because it is not installed, has no mean.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`. Instances that some contestant has no line for are left out.
    shift : float, default 0.1
        Seconds, see `shifted_geometric_mean`.
    penalty : float, default 1
        At least 1.

    Returns
    -------
    DataFrame
        One line for every tolerance and contestant, best first, with

        - ``tol, solver, form``,
        - ``instances``: how many were counted,
        - ``ran``: of these, how many the solver was run on; not refused, missing, too large to try,
          or impossible to build,
        - ``solved``, and ``success_rate``, its share of all instances counted,
        - ``claims``: how many of its answers came with a claim,
        - ``correct_rate``: the share of claims that agree with what we verified, honesty "true" or
          "silent"; ``nan`` without claims,
        - ``mean``: seconds; ``nan`` for a contestant that was never run,
        - ``ratio``: of the mean to the least of its tolerance.

    Raises
    ------
    DataError
        The shift is negative, the penalty below 1, or an unsolved line has no time limit.

    References
    ----------
    Mittelmann, "Benchmarks for optimization software", https://plato.asu.edu/bench.html. Caron and
    others, "qpbenchmark", https://github.com/qpsolvers/qpbenchmark.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["a", "a", "b", "b"], "variant": "", "form": "gram",
    ...     "solver": ["p", "q"] * 2, "tol": 1e-6, "seconds": [3.0, 1.0, 7.0, 0.2],
    ...     "solved": [True, True, True, False], "outcome": ["SOLVED"] * 3 + ["FAILED"],
    ...     "honesty": ["true"] * 3 + ["overstated"], "time_limit": 49.0})
    >>> table = means(runs, shift=1.0)
    >>> table[["solver", "success_rate", "correct_rate", "mean", "ratio"]].round(3)
      solver  success_rate  correct_rate   mean  ratio
    0      p           1.0           1.0  4.657  1.000
    1      q           0.5           0.5  9.000  1.933
    """
    need(runs, *CONTESTANT, "tol", "solved", "outcome", "honesty", "time_limit")
    if not penalty >= 1:
        raise DataError(f"the penalty must be at least 1, not {penalty:g}")
    lines = [
        {"tol": tol} | line
        for tol, own in runs.groupby("tol")
        for line in _means_at(own, shift, penalty)
    ]
    table = pd.DataFrame(lines, columns=_COLUMNS)
    table["ratio"] = table["mean"] / table.groupby("tol")["mean"].transform("min")
    return table.sort_values(["tol", "mean"], kind="stable").reset_index(drop=True)


_COLUMNS = (
    "tol", "solver", "form", "instances", "ran", "solved", "success_rate", "claims",
    "correct_rate", "mean", "ratio",
)  # fmt: skip


def _means_at(runs: pd.DataFrame, shift: float, penalty: float) -> list[dict[Any, Any]]:
    """The lines of one tolerance."""
    limit, spent, honesty, outcome = (
        matrix(runs, column, complete=True)
        for column in ("time_limit", "seconds", "honesty", "outcome")
    )
    taken, limit = times(runs), limit.astype(float)
    missed, ran = np.isinf(taken), (~outcome.isin(NEVER_RAN)).sum()
    for who, unknown in (missed & limit.isna() & (ran > 0)).items():
        if unknown.any():
            where = unknown.idxmax()
            raise DataError(f"{who} did not solve {where}, and no time limit can count instead")
    charged = taken.where(~missed, np.fmax(penalty * limit, spent.astype(float)))
    claims = (honesty != "").sum()
    table = pd.DataFrame(
        {
            "instances": len(taken),
            "ran": ran,
            "solved": (~missed).sum(),
            "success_rate": (~missed).mean(),
            "claims": claims,
            "correct_rate": honesty.isin(["true", "silent"]).sum() / claims,
            "mean": charged.apply(shifted_geometric_mean, shift=shift).where(ran > 0),
        }
    )
    return table.reset_index().to_dict("records")


def not_installed(runs: pd.DataFrame) -> list[str]:
    """Contestants all of whose lines end in "MISSING", in words.

    Examples
    --------
    >>> not_installed(pd.DataFrame({"solver": ["csdp", "scs", "scs"], "form": "gram",
    ...     "outcome": ["MISSING", "SOLVED", "MISSING"]}))
    ['csdp gram']
    """
    need(runs, *CONTESTANT, "outcome")
    absent = runs["outcome"].eq("MISSING").groupby([runs[name] for name in CONTESTANT], sort=False)
    return [label(*who) for who, gone in absent.all().items() if gone]


@dataclass(frozen=True, eq=False)
class Profile:
    r"""Step functions :math:`\rho_s(\tau) = |\{p : c_{ps} \le \tau\}| / |P|`, one a contestant.

    Attributes
    ----------
    costs : DataFrame
        What each contestant spends on each instance, laid out as by `matrix`; infinite where it
        does not solve it.
    budget : str
        What the budget is, in words.

    Examples
    --------
    >>> across = pd.MultiIndex.from_tuples([("p", "gram"), ("q", "lmi")])
    >>> profile = Profile(pd.DataFrame([[1.0, 4.0], [np.inf, 1.0]], columns=across), "ratio")
    >>> profile.share(2.0).to_list()
    [0.5, 0.5]
    >>> profile.steps("q", "lmi").values.tolist()
    [[1.0, 0.5], [4.0, 1.0]]
    """

    costs: pd.DataFrame
    budget: str

    @property
    def contestants(self) -> list[tuple[str, str]]:
        """Pairs of solver and form."""
        return list(self.costs.columns)

    def share(self, tau: float) -> pd.Series:
        """Share of the instances that each contestant solves within the budget.

        An infinite budget buys no answer that there is not: it gives the success rates.
        """
        return (np.isfinite(self.costs) & (self.costs <= tau)).mean()

    def steps(self, solver: str, form: str) -> pd.DataFrame:
        """The function of one contestant, exactly.

        Returns
        -------
        DataFrame
            Columns ``tau``, where it jumps, ascending and without repetition, and ``share``, its
            value from there on. Before the first it is zero; empty if nothing is solved.
        """
        cost = self.costs[(solver, form)].to_numpy(dtype=float)
        tau, counts = np.unique(cost[np.isfinite(cost)], return_counts=True)
        return pd.DataFrame({"tau": tau, "share": np.cumsum(counts) / max(len(cost), 1)})


def performance_profile(runs: pd.DataFrame) -> Profile:
    r"""Performance profiles: the budget is a multiple of the time of the fastest.

    With ratios :math:`r_{ps} = t_{ps} / \min_{s'} t_{ps'}`, infinite where contestant s does not
    solve instance p, :math:`\rho_s(1)` is the share of instances where s is the fastest (ties count
    for all), and :math:`\rho_s(\infty)` its success rate. Scaling the times of an instance changes
    nothing.

    **A profile ranks the best contestant only.** The ratios depend on who takes part: taking the
    fastest away changes the order of the others, so that the second best is found by profiles
    without the best, never by reading the second curve (Gould and Scott). `time_profile` does not
    depend on the field.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`, of one tolerance. Instances that some contestant has no line for are
        left out.

    Returns
    -------
    Profile

    References
    ----------
    Dolan and Moré, Mathematical Programming 91(2), 2002. Gould and Scott, ACM Transactions on
    Mathematical Software 43(2), 2016.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["a", "a", "b", "b"], "variant": "", "form": "gram",
    ...     "solver": ["p", "q"] * 2, "tol": 1e-6, "seconds": [1.0, 2.0, 6.0, 2.0], "solved": True})
    >>> profile = performance_profile(runs)
    >>> [profile.share(tau).to_list() for tau in (1, 2, 3)]
    [[0.5, 0.5], [0.5, 1.0], [1.0, 1.0]]
    """
    return Profile(ratios_to_best(runs), "multiple of the fastest")


def time_profile(runs: pd.DataFrame) -> Profile:
    """Profiles over seconds: the share of instances solved within so many.

    The curve of a contestant depends on nobody else. It mixes sizes: what it says of a budget is
    true of this set of instances only.

    Parameters
    ----------
    runs : DataFrame
        As of `performance_profile`.

    Returns
    -------
    Profile

    References
    ----------
    Moré and Wild, SIAM Journal on Optimization 20(1), 2009, whose data profiles count evaluations
    instead.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["a", "b"], "variant": "", "form": "gram", "solver": "p",
    ...     "tol": 1e-6, "seconds": [1.0, 5.0], "solved": [True, False]})
    >>> time_profile(runs).share(60.0).to_list()
    [0.5]
    """
    return Profile(times(runs), "seconds")


def accuracy_profile(runs: pd.DataFrame) -> Profile:
    """Profiles over accuracy: the share of instances where the worst error is at most so much.

    The error is the largest of the six DIMACS errors, measured by us at the point returned,
    whatever the outcome says; runs without a point never count.

    Parameters
    ----------
    runs : DataFrame
        As of `performance_profile`, with the column `worst`.

    Returns
    -------
    Profile

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["a", "b"], "variant": "", "form": "gram", "solver": "p",
    ...     "tol": 1e-6, "worst": [1e-9, 1e-3]})
    >>> accuracy_profile(runs).share(1e-6).to_list()
    [0.5]
    """
    need(runs, "worst")
    error = runs["worst"].astype(float)
    return Profile(
        matrix(runs.assign(_error=error.where(error.notna(), np.inf)), "_error", complete=True),
        "largest DIMACS error",
    )
