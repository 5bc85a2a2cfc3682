"""Measures of a study: pure functions of a frame of records.

A *contestant* is a solver in a form, an *instance* a problem in a variant. Times to unequal
accuracy are never compared: lines of different tolerances are treated apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.lab.study.schema import CLAIMS, COLUMNS, NEVER_RAN, OUTCOMES, VERIFIED

INSTANCE = ["problem", "variant"]
CONTESTANT = ["solver", "form"]
SHIFT = 0.1
"""Seconds added to each time before the geometric mean; for large programs 1 or 10 is usual."""
RESOLUTION = 1e-6
"""Seconds; shorter times count as this, so that ratios are finite."""
CONTRADICTION = 10.0
"""Tolerances by which two values of one instance may differ."""
FEWEST_SIZES = 3
"""With fewer sizes, growth has no exponent."""

_LINE = [*INSTANCE, *CONTESTANT, "tol"]
# The claims of a line are as accurate as those of its least accurate repeat.
_LEAST_ACCURATE_FIRST = ("overstated", "near", "understated", "", "silent", "true")


def label(solver: str, form: str) -> str:
    """Return the name of a contestant, such as ``scs gram``."""
    return solver if solver == form else f"{solver} {form}"


def instance_name(problem: str, variant: str) -> str:
    """Return the name of an instance."""
    return f"{problem}, {variant}" if variant else problem


def runs_by_median(frame: pd.DataFrame) -> pd.DataFrame:
    """Join the repeats of a run to one line, with the median of what differs each time.

    Parameters
    ----------
    frame : DataFrame
        Records, with the columns of `sdpdr.lab.study.schema`.

    Returns
    -------
    DataFrame
        One line for every instance, contestant and tolerance, with

        - ``problem, variant, solver, form, tol``, and ``contestant`` and ``instance``, their names,
        - ``method, family, n, time_limit`` of the first repeat that has them,
        - ``solved``: whether all repeats are,
        - ``outcome`` and ``message``: of the first repeat that is not solved, or of the first,
        - ``claim_accuracy``: the least accurate,
        - ``seconds``: median of ``compile + solve + certify``, the time to a graded answer; ``nan``
          if nothing was measured. It is there for runs that are not solved too: look at ``solved``,
        - ``worst``: the median, ``peak_memory``: the largest, and ``repeats``: how many.

    Raises
    ------
    DataError
        A column is missing.

    Examples
    --------
    >>> from sdpdr.lab.study.measures import runs_by_median
    >>> from sdpdr.lab.study.schema import frame_of
    >>> one = {"problem": "path", "solver": "scs", "form": "gram", "tol": 1e-6, "solved": True}
    >>> records = frame_of(one | {"repeat": i, "solve": t} for i, t in enumerate([1.0, 9.0, 2.0]))
    >>> runs_by_median(records)[["contestant", "solved", "seconds", "repeats"]]
      contestant  solved  seconds  repeats
    0   scs gram    True      2.0        3
    """
    missing = [column.name for column in COLUMNS if column.name not in frame]
    if missing:
        raise DataError(f"the frame lacks the columns {', '.join(missing)} of a study's records.")
    seconds = frame[["compile", "solve", "certify"]].sum(axis=1, min_count=1)
    # Repeats that are not solved come first, so that they speak for the line.
    timed = frame.assign(seconds=seconds).sort_values("solved", kind="stable")
    groups = timed.groupby(_LINE, sort=False, dropna=False)
    lines = groups[["seconds", "worst"]].median()
    first = ["method", "family", "n", "time_limit", "outcome", "message"]
    lines[first] = groups[first].first()
    lines["solved"] = groups["solved"].all()
    lines["peak_memory"] = groups["peak_memory"].max()
    lines["repeats"] = groups.size()
    ranks = timed["claim_accuracy"].map(_LEAST_ACCURATE_FIRST.index)
    least = ranks.groupby([timed[name] for name in _LINE], sort=False, dropna=False).min()
    lines["claim_accuracy"] = [_LEAST_ACCURATE_FIRST[int(rank)] for rank in least]
    order = frame.drop_duplicates(_LINE)[_LINE]
    return named(lines.reindex(pd.MultiIndex.from_frame(order)).reset_index())


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the names of its contestants and instances."""
    return frame.assign(
        contestant=list(map(label, frame["solver"], frame["form"])),
        instance=list(map(instance_name, frame["problem"], frame["variant"])),
    )


def at_tolerance(runs: pd.DataFrame, tol: float) -> pd.DataFrame:
    """Return the lines of one tolerance, of the instances that every contestant has a line for."""
    own = runs[runs["tol"] == tol]
    ran = (~own["outcome"].isin(NEVER_RAN)).groupby(own["contestant"]).transform("any")
    own = own[ran.astype(bool)]
    counts = own.groupby("instance")["contestant"].transform("nunique")
    return own[counts == own["contestant"].nunique()]


def shifted_geometric_mean(seconds: Iterable[float], shift: float = SHIFT) -> float:
    r"""Return :math:`\bigl(\prod_{i=1}^m (t_i + s)\bigr)^{1/m} - s` of times at least zero."""
    t = np.asarray(list(seconds), dtype=float)
    with np.errstate(divide="ignore"):  # Without a shift, one time of zero makes the mean zero.
        return float(np.exp(np.mean(np.log(t + shift))) - shift)


def means(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the number solved and the shifted geometric mean of the seconds of every contestant.

    What is not solved counts as its time limit, or as the seconds it took if these are more, as in
    Mittelmann's benchmarks.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`. Instances that some contestant has no line for are left out, and so
        are contestants that never ran (see `not_installed` and `refused_everywhere`).

    Returns
    -------
    DataFrame
        One line for every tolerance and contestant, the most solved and then the fastest first:
        ``tol, solver, form, contestant, instances, solved, mean``, ``ratio`` of the mean to the
        least of its tolerance, ``memory``, the median of the peaks, and ``overstated``, the number
        of claims that could not be verified.

    References
    ----------
    Mittelmann, "Benchmarks for optimization software", https://plato.asu.edu/bench.html.

    Examples
    --------
    >>> from sdpdr.lab.study.measures import means, runs_by_median
    >>> from sdpdr.lab.study.schema import frame_of
    >>> records = frame_of(
    ...     {"problem": problem, "solver": solver, "form": "gram", "tol": 1e-6, "solve": seconds,
    ...      "solved": seconds < 9.0, "outcome": "SOLVED", "time_limit": 9.0}
    ...     for problem, solver, seconds in
    ...     [("a", "p", 3.0), ("b", "p", 7.0), ("a", "q", 1.0), ("b", "q", 9.0)])
    >>> means(runs_by_median(records))[["solver", "solved", "mean", "ratio"]].round(3)
      solver  solved   mean  ratio
    0      p       2  4.591  1.499
    1      q       1  3.064  1.000
    """
    kept = [at_tolerance(runs, tol) for tol in sorted(runs["tol"].unique())]
    runs = pd.concat(kept) if kept else runs
    limit = runs["time_limit"].fillna(0.0)
    charged = runs["seconds"].where(runs["solved"], np.fmax(runs["seconds"], limit)).fillna(limit)
    groups = runs.assign(charged=charged).groupby(["tol", *CONTESTANT, "contestant"], sort=False)
    table = groups.agg(
        instances=("solved", "size"),
        solved=("solved", "sum"),
        mean=("charged", shifted_geometric_mean),
        memory=("peak_memory", "median"),
        overstated=("claim_accuracy", lambda words: int((words == "overstated").sum())),
    ).reset_index()
    table["ratio"] = table["mean"] / table.groupby("tol")["mean"].transform("min")
    return table.sort_values(
        ["tol", "solved", "mean"], ascending=[True, False, True], ignore_index=True
    )


def not_installed(runs: pd.DataFrame) -> list[str]:
    """Return the contestants all of whose lines end in "MISSING"."""
    return _always(runs, ["MISSING"])


def refused_everywhere(runs: pd.DataFrame) -> list[str]:
    """Return other contestants that never ran: they take none of the problems."""
    absent = set(not_installed(runs))
    return [name for name in _always(runs, NEVER_RAN) if name not in absent]


def _always(runs: pd.DataFrame, ends: Iterable[str]) -> list[str]:
    ended = runs["outcome"].isin(list(ends)).groupby(runs["contestant"], sort=False).all()
    return [str(name) for name, is_so in ended.items() if is_so]


@dataclass(frozen=True, eq=False)
class Profile:
    r"""Step functions :math:`\rho_s(\tau) = |\{p : r_{ps} \le \tau\}| / |P|`, one a contestant."""

    ratios: pd.DataFrame

    def share(self, tau: float) -> pd.Series:
        """Return the share that each contestant solves within a factor of the fastest."""
        return (np.isfinite(self.ratios) & (self.ratios <= tau)).mean()

    def curve(self, contestant: str, end: float) -> tuple[np.ndarray, np.ndarray]:
        """Return where the function of a contestant rises, and its values, up to an end."""
        ratios = self.ratios[contestant].to_numpy(dtype=float)
        tau, counts = np.unique(ratios[np.isfinite(ratios)], return_counts=True)
        share = np.cumsum(counts) / max(len(ratios), 1)
        if not tau.size or tau[0] > 1.0:
            tau, share = np.insert(tau, 0, 1.0), np.insert(share, 0, 0.0)
        return np.append(tau, end), np.append(share, share[-1])


def performance_profile(runs: pd.DataFrame, tol: float) -> Profile:
    r"""Return the performance profiles at a tolerance.

    With ratios :math:`r_{ps} = t_{ps} / \min_{s'} t_{ps'}`, infinite where contestant s does not
    solve instance p, :math:`\rho_s(1)` is the share of instances where s is the fastest (ties count
    for all), and the value for large :math:`\tau` its success rate.

    **A profile ranks the best contestant only**: without the fastest, the order of the others may
    change (Gould and Scott).

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`. Instances that some contestant has no line for are left out, and so
        are contestants that never ran.
    tol : float

    Returns
    -------
    Profile

    References
    ----------
    Dolan and Moré, Mathematical Programming 91(2), 2002. Gould and Scott, ACM Transactions on
    Mathematical Software 43(2), 2016.

    Examples
    --------
    >>> from sdpdr.lab.study.measures import performance_profile, runs_by_median
    >>> from sdpdr.lab.study.schema import frame_of
    >>> records = frame_of(
    ...     {"problem": problem, "solver": solver, "form": "gram", "tol": 1e-6, "solve": seconds,
    ...      "solved": True} for problem, solver, seconds in
    ...     [("a", "p", 1.0), ("a", "q", 2.0), ("b", "p", 6.0), ("b", "q", 2.0)])
    >>> profile = performance_profile(runs_by_median(records), 1e-6)
    >>> [profile.share(tau).to_list() for tau in (1, 2, 3)]
    [[0.5, 0.5], [0.5, 1.0], [1.0, 1.0]]
    """
    own = at_tolerance(runs, tol)
    taken = own["seconds"].clip(lower=RESOLUTION).where(own["solved"]).fillna(np.inf)
    laid = own.assign(taken=taken).pivot(index="instance", columns="contestant", values="taken")
    best = laid.min(axis=1)
    return Profile(laid.div(best.where(np.isfinite(best), 1.0), axis=0))


def outcome_counts(runs: pd.DataFrame) -> pd.DataFrame:
    """Count how each contestant ended, by tolerance and contestant; a column for each outcome."""
    return _counts(runs, "outcome", [name for name in OUTCOMES if name in set(runs["outcome"])])


def claims(runs: pd.DataFrame) -> pd.DataFrame:
    """Count the claims of each contestant by their accuracy; "none" where there was no claim."""
    words = runs["claim_accuracy"].where(runs["claim_accuracy"] != "", "none")
    return _counts(runs.assign(word=words), "word", [word or "none" for word in CLAIMS])


def _counts(runs: pd.DataFrame, column: str, names: list[str]) -> pd.DataFrame:
    counts = runs.groupby(["tol", "contestant", column], sort=False).size()
    table = counts.unstack(column, fill_value=0).reindex(columns=names, fill_value=0).astype(int)
    table.columns.name = None
    return table


def growth(runs: pd.DataFrame) -> pd.DataFrame:
    """Fit powers of the size to the seconds of every contestant on every family."""
    families = runs[(runs["family"] != "") & runs["n"].notna()]
    by = ["family", "variant", "tol", "contestant"]
    columns = ["exponent", "factor", "sizes", "largest_solved", "first_failed"]
    if families.empty:
        return pd.DataFrame(columns=[*by, *columns])
    table = families.groupby(by, sort=False)[["n", "seconds", "solved"]].apply(_fitted_power)
    return table.set_axis(columns, axis=1).astype({"sizes": int}).reset_index()


def _fitted_power(runs: pd.DataFrame) -> pd.Series:
    done = runs[runs["solved"] & (runs["seconds"] > 0)].astype(float)
    sizes, fit = done["n"].nunique(), (np.nan, np.nan)
    if sizes >= FEWEST_SIZES:
        power, logarithm = np.polyfit(np.log(done["n"]), np.log(done["seconds"]), 1)
        fit = (float(power), float(np.exp(logarithm)))
    failed = runs.loc[~runs["solved"], "n"].astype(float)
    return pd.Series([*fit, sizes, done["n"].max(), failed.min()])


def disagreements(frame: pd.DataFrame) -> pd.DataFrame:
    r"""Return verified answers that contradict another verified answer, or what is known.

    For every instance one solved record is the judge: certified before others, then of the least
    tolerance and error. Another solved record contradicts it if its outcome differs, or if
    :math:`|v - v_0| > 10\,\varepsilon \max(|v|, |v_0|, \sigma)`, where :math:`\varepsilon` is the
    larger tolerance and :math:`\sigma` the size beside which a value counts as zero. There should
    be none: one that is found says that a grade or a problem is wrong, before it says something
    about a solver.

    Parameters
    ----------
    frame : DataFrame
        Records, with the columns of `sdpdr.lab.study.schema`.

    Returns
    -------
    DataFrame
        Columns ``instance, contestant, outcome, value, against, other_value, apart``.

    Examples
    --------
    >>> from sdpdr.lab.study.measures import disagreements
    >>> from sdpdr.lab.study.schema import frame_of
    >>> one = {"problem": "a", "form": "gram", "tol": 1e-6, "solved": True, "outcome": "SOLVED"}
    >>> records = frame_of([one | {"solver": "p", "value": 1.0, "certified": True},
    ...                     one | {"solver": "q", "value": 1.1}])
    >>> disagreements(records)[["contestant", "value", "against"]].values.tolist()
    [['q gram', 1.1, 'p gram']]
    """
    records = named(frame)
    solved = records[records["solved"]].assign(size=_scale)
    ranked = solved.assign(doubt=~solved["certified"], unknown=solved["value"].isna())
    ranked = ranked.sort_values(["doubt", "tol", "unknown", "worst"], kind="stable")
    judges = ranked.drop_duplicates("instance").set_index("instance")
    judged = judges[["contestant", "tol", "outcome", "value", "size"]].add_prefix("judge_")
    pairs = solved.join(judged, on="instance")
    size = pairs[["size", "judge_size"]].max(axis=1)
    apart = (pairs["value"] - pairs["judge_value"]).abs() / size.where(size > 0, 1.0)
    wrong = apart > CONTRADICTION * pairs[["tol", "judge_tol"]].max(axis=1)
    found = pairs.assign(apart=apart)[wrong | (pairs["outcome"] != pairs["judge_outcome"])]
    found = found.rename(columns={"judge_contestant": "against", "judge_value": "other_value"})
    known = records[~records["solved"] & records["outcome"].isin(VERIFIED)]
    known = known[known["relative_error"].notna() | (known["outcome"] != "SOLVED")]
    known = known.assign(
        against="what is known", other_value=known["reference"], apart=known["relative_error"]
    )
    columns = ["instance", "contestant", "outcome", "value", "against", "other_value", "apart"]
    parts = [part[columns] for part in (found, known) if len(part)]
    together = pd.concat(parts) if parts else found[columns]
    return together.drop_duplicates(["instance", "contestant", "outcome"]).reset_index(drop=True)


def _scale(records: pd.DataFrame) -> pd.Series:
    r"""Return the scale of each record's relative gap, which is at least its absolute value."""
    gap, value = records["gap"].abs(), records["value"].abs()
    scale = (records["bound"] - records["value"]).abs() / gap.where((gap > 0) & np.isfinite(gap))
    return pd.concat([value, scale], axis=1).max(axis=1)
