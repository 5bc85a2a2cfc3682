"""Profiles: the share of instances a contestant solves within a budget, for every budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sdpdr.lab.study.measures.contestants import matrix, ratios_to_best, times
from sdpdr.lab.study.measures.frame import need


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
