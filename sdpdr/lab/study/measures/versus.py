"""Two results of one study, before and after: what became faster, slower, or fails now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sdpdr.base.arrays import Array
from sdpdr.lab.study.measures.contestants import RESOLUTION, label
from sdpdr.lab.study.measures.frame import CONTESTANT, INSTANCE, ONE, runs_by_median
from sdpdr.lab.study.measures.regret import draws_of_mean, holm, noise_of

FASTER, SLOWER = "faster", "slower"
SAME, UNDECIDED = "no difference beyond noise", "undecided: too few problems"
REGRESSION, IMPROVEMENT = "regression", "improvement"

FEWEST_PAIRS = 5
"""Instances solved in both results, below which nothing is said of times."""
NEAR_LIMIT = 0.8
"""A run that took this share of its limit may exceed it the next time by noise alone."""

_LINES = (
    "method", "n", "solved", "outcome", "seconds", "solve", "time_limit", "value", "scale",
    "repeats",
)  # fmt: skip
_SIDE = ("before", "after")
_TOLD = ("solved", "outcome", "seconds", "time_limit", "value", "repeats")
_PAIRS = (
    *ONE, "method", "n", "same_task", "ratio",
    *(f"{side}_{name}" for name in _TOLD for side in _SIDE),
)  # fmt: skip
_CHANGES = (
    *ONE, "change", "excuse", "before_outcome", "after_outcome", "before_seconds",
    "after_seconds",
)  # fmt: skip
_CONTESTANTS = (
    *CONTESTANT, "tol", "pairs", "ratio", "low", "high", "p", "adjusted", "verdict",
    "newly_solved", "newly_failed",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Versus:
    """A comparison of two results.

    Ratios are seconds after over seconds before: above one is slower.

    Attributes
    ----------
    verdict : str
        "regression", "improvement", "no difference beyond noise" or "undecided: too few problems".
    reasons : tuple of str
        What led to it, in words; also what was found beside it.
    ratio, low, high : float
        Geometric mean of all ratios, contestants of one instance averaged first, with the ends of
        its 95 percent interval; ``nan`` with fewer than five instances.
    noise : float
        Relative noise of one run.
    noise_from : str
        "repeats" or "assumed".
    contestants : DataFrame
        Columns ``solver, form, tol, pairs, ratio, low, high, p, adjusted, verdict, newly_solved,
        newly_failed``. ``pairs`` counts the instances solved in both, ``p`` belongs to the test of
        `versus`, ``adjusted`` is Holm's, ``verdict`` is "faster", "slower", "no difference beyond
        noise" or "undecided: too few problems".
    pairs : DataFrame
        All lines that both results have: ``problem, variant, solver, form, tol, method, n,
        same_task, ratio`` and ``before_``, ``after_`` of ``solved, outcome, seconds, time_limit,
        value, repeats``. ``ratio`` is ``nan`` unless both are solved; ``same_task`` tells whether
        the keys agree, or the settings were changed.
    changes : DataFrame
        Lines solved in one only: ``problem, variant, solver, form, tol, change, excuse,
        before_outcome, after_outcome, before_seconds, after_seconds`` with ``change`` "newly
        solved" or "newly failed", and what excuses a failure, or "".
    values : DataFrame
        Lines of `pairs` solved in both, whose values differ beyond the tolerance, with ``apart``,
        their relative distance.
    unmatched : DataFrame
        ``problem, variant, solver, form, tol`` and ``only_in``, "before" or "after".
    """

    verdict: str
    reasons: tuple[str, ...]
    ratio: float
    low: float
    high: float
    noise: float
    noise_from: str
    contestants: pd.DataFrame
    pairs: pd.DataFrame
    changes: pd.DataFrame
    values: pd.DataFrame
    unmatched: pd.DataFrame

    @property
    def is_common(self) -> bool:
        """Whether three contestants or more all changed alike, as the load of a machine does it."""
        verdicts = self.contestants["verdict"]
        return len(verdicts) >= 3 and set(verdicts) in ({SLOWER}, {FASTER})


def versus(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    least: float = 0.1,
    level: float = 0.95,
    factor: float = 10.0,
    seed: int = 0,
) -> Versus:
    r"""Compare two results of one study.

    Lines are matched by problem, variant, solver, form and tolerance. Of each contestant, the
    instances solved in both give :math:`d_i = \log(t_i^{\text{after}} / t_i^{\text{before}})`,
    whose mean is the logarithm of the geometric mean ratio. Its uncertainty is drawn by bootstrap
    over the instances (`draws_of_mean`), and is never taken to be less than the noise of the runs
    makes it: its variance is at least that of the mean difference of medians of runs, a single one
    of which has the noise that repeats show (`noise_of`), or `least` without repeats.

    Repeats do not show what differs from one sitting to the next: what else the machine does, its
    temperature. Therefore the hypothesis tested is not that nothing has changed but that
    :math:`|E d| \le \log(1 + \text{least})`. Its p-value is twice the share of draws on the wrong
    side of that band, and the p-values of all contestants are corrected by Holm's method. A
    contestant is called slower or faster if its corrected p-value is at most ``1 - level``.

    The whole is a regression if a contestant is slower, or a line is newly failed without excuse.
    It is excused if the solver is missing now, or if it hit the time limit and had taken 80 percent
    of that limit before.

    Parameters
    ----------
    before, after : DataFrame
        Rows, with the columns of `sdpdr.lab.study.schema`.
    least : float, default 0.1
        Relative change that is not worth a word; also the noise of a run where there are no
        repeats.
    level : float, default 0.95
        Of confidence, of tests and intervals.
    factor : float, default 10
        Values that differ by more than so many tolerances, relatively, are told; see
        `disagreements`.
    seed : int, default 0
        Of the bootstrap.

    Returns
    -------
    Versus

    References
    ----------
    Hesterberg, The American Statistician 69(4), 2015. Holm, Scandinavian Journal of Statistics
    6(2), 1979.

    Examples
    --------
    >>> from sdpdr.lab.study.measures.frame import frame_of
    >>> def rows(factor):
    ...     return frame_of({"problem": f"p{i}", "solver": "scs", "form": "gram", "tol": 1e-6,
    ...         "solved": True, "outcome": "SOLVED", "solve": factor * (1 + i)} for i in range(8))
    >>> found = versus(rows(1.0), rows(1.5))
    >>> found.verdict, found.reasons
    ('regression', ('scs gram at 1e-06: 1.50 times as slow, on 8 problems',))
    >>> versus(rows(1.0), rows(1.04)).verdict
    'no difference beyond noise'
    """
    measured = noise_of(before, after)
    noise = measured if np.isfinite(measured) else least
    pairs, unmatched = _match(before, after)
    changes = _changes(pairs)
    values = _values(pairs, factor)
    pairs = pairs[[*_PAIRS]]
    tested = pd.DataFrame(_tests(pairs, noise, least, level, seed), columns=[*_CONTESTANTS[:8]])
    contestants = _judge(tested, changes, 1 - level)
    both = pairs.dropna(subset="ratio")
    logs = np.log(both["ratio"]).groupby([both[name] for name in INSTANCE]).mean().to_numpy()
    draws = _draws(logs, 0.0, seed)
    verdict, reasons = _verdict(contestants, changes, values)
    return Versus(
        verdict,
        reasons,
        *_interval(logs, draws, level),
        noise,
        "repeats" if np.isfinite(measured) else "assumed",
        contestants,
        pairs,
        changes,
        values,
        unmatched,
    )


def _match(before: pd.DataFrame, after: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    sides = [_lines(frame) for frame in (before, after)]
    named = [side.add_prefix(f"{name}_") for side, name in zip(sides, _SIDE, strict=True)]
    pairs = named[0].join(named[1], how="inner")
    pairs["method"], pairs["n"] = pairs["before_method"], pairs["before_n"]
    pairs["same_task"] = [
        not keys.isdisjoint(others)
        for keys, others in zip(pairs["before_keys"], pairs["after_keys"], strict=True)
    ]
    seconds = pairs[["before_seconds", "after_seconds"]].clip(lower=RESOLUTION)
    solved = pairs["before_solved"] & pairs["after_solved"]
    pairs["ratio"] = (seconds["after_seconds"] / seconds["before_seconds"]).where(solved)
    alone = [
        one.index.difference(other.index, sort=False).to_frame(index=False).assign(only_in=name)
        for one, other, name in zip(sides, sides[::-1], _SIDE, strict=True)
    ]
    return pairs.reset_index(), pd.concat(alone, ignore_index=True)


def _lines(frame: pd.DataFrame) -> pd.DataFrame:
    lines = runs_by_median(frame).set_index([*ONE])[[*_LINES]]
    keys = frame.groupby([*ONE], sort=False)["key"].agg(lambda keys: frozenset(keys) - {""})
    return lines.assign(keys=keys)


def _changes(pairs: pd.DataFrame) -> pd.DataFrame:
    changed = pairs[pairs["before_solved"] != pairs["after_solved"]]
    excuses = [_excuse(line) for _, line in changed.iterrows()]
    words = np.where(changed["after_solved"], "newly solved", "newly failed")
    return changed.assign(change=words, excuse=excuses)[[*_CHANGES]].reset_index(drop=True)


def _excuse(line: pd.Series) -> str:
    if line["after_solved"]:
        return ""
    if line["after_outcome"] == "MISSING":
        return "the solver is missing"
    near = line["before_solve"] >= NEAR_LIMIT * line["after_time_limit"]
    if line["after_outcome"] == "TIME_LIMIT" and near:
        return "it took about that limit before"
    return ""


def _values(pairs: pd.DataFrame, factor: float) -> pd.DataFrame:
    both = pairs[pairs["before_solved"] & pairs["after_solved"]]
    size = both[["before_scale", "after_scale"]].max(axis=1)
    apart = (both["after_value"] - both["before_value"]).abs() / size.where(size > 0, 1.0)
    told = both.assign(apart=apart)[apart > factor * both["tol"]]
    return told[[*_PAIRS, "apart"]].reset_index(drop=True)


def _tests(
    pairs: pd.DataFrame, noise: float, least: float, level: float, seed: int
) -> Iterator[dict[str, object]]:
    for (solver, form, tol), lines in pairs.groupby([*CONTESTANT, "tol"], sort=False):
        timed = lines.dropna(subset="ratio")
        logs = np.log(timed["ratio"].to_numpy(dtype=float))
        draws = _draws(logs, _error_by_noise(timed, noise), seed)
        ratio, low, high = _interval(logs, draws, level)
        head = {"solver": solver, "form": form, "tol": tol, "pairs": len(logs)}
        yield head | {"ratio": ratio, "low": low, "high": high, "p": _p(draws, np.log1p(least))}


def _error_by_noise(timed: pd.DataFrame, noise: float) -> float:
    """Standard error of the mean log ratio if nothing but the noise of runs made it vary."""
    variance = sum(
        noise**2 * _inflation(timed[f"{side}_repeats"]) / timed[f"{side}_repeats"] for side in _SIDE
    )
    return float(np.sqrt(np.sum(variance)) / max(len(timed), 1))


def _inflation(repeats: pd.Series) -> pd.Series:
    """Variance of a median over that of a mean: at most pi/2, and 1 for two or fewer."""
    return pd.Series(np.where(repeats > 2, np.pi / 2, 1.0), index=repeats.index)


def _draws(logs: Array, least: float, seed: int) -> Array:
    if len(logs) < FEWEST_PAIRS:
        return np.empty(0)
    return draws_of_mean(logs, np.random.default_rng(seed), least=least)


def _interval(logs: Array, draws: Array, level: float) -> tuple[float, float, float]:
    ratio = float(np.exp(np.mean(logs))) if len(logs) else float("nan")
    if not draws.size:
        return ratio, float("nan"), float("nan")
    low, high = np.exp(np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2]))
    return ratio, float(low), float(high)


def _p(draws: Array, band: float) -> float:
    """Of the hypothesis that the mean is within the band around zero."""
    if not draws.size:
        return float("nan")
    wrong = min(np.count_nonzero(draws <= band), np.count_nonzero(draws >= -band))
    return float(min(1.0, 2 * (1 + wrong) / (1 + len(draws))))


def _judge(tested: pd.DataFrame, changes: pd.DataFrame, alpha: float) -> pd.DataFrame:
    known = tested["p"].notna()
    adjusted = pd.Series(np.nan, index=tested.index)
    adjusted[known] = holm(tested.loc[known, "p"])
    verdict = np.where(tested["ratio"] > 1, SLOWER, FASTER)
    verdict = np.where(adjusted <= alpha, verdict, SAME)
    judged = tested.assign(adjusted=adjusted, verdict=np.where(known, verdict, UNDECIDED))
    for change in ("newly_solved", "newly_failed"):
        such = changes[changes["change"] == change.replace("_", " ")]
        counts = such.groupby([*CONTESTANT, "tol"]).size()
        places = pd.MultiIndex.from_frame(judged[[*CONTESTANT, "tol"]])
        judged[change] = counts.reindex(places, fill_value=0).to_numpy(dtype=int)
    return judged[[*_CONTESTANTS]]


def _verdict(
    contestants: pd.DataFrame, changes: pd.DataFrame, values: pd.DataFrame
) -> tuple[str, tuple[str, ...]]:
    failed = (changes["change"] == "newly failed") & (changes["excuse"] == "")
    solved = changes["change"] == "newly solved"
    slower, faster = (contestants["verdict"] == word for word in (SLOWER, FASTER))
    reasons = [
        *(_told(line) for _, line in contestants[slower | faster].iterrows()),
        *(_changed(line) for _, line in changes.iterrows()),
        *(_moved(line) for _, line in values.iterrows()),
    ]
    if slower.any() or failed.any():
        return REGRESSION, tuple(reasons)
    if faster.any() or solved.any():
        return IMPROVEMENT, tuple(reasons)
    if (contestants["verdict"] == UNDECIDED).all():
        return UNDECIDED, tuple(reasons)
    return SAME, tuple(reasons)


def _who(line: pd.Series) -> str:
    return f"{label(line['solver'], line['form'])} at {line['tol']:g}"


def _where(line: pd.Series) -> str:
    return " ".join(filter(None, (line["problem"], line["variant"])))


def _told(line: pd.Series) -> str:
    if line["ratio"] > 1:
        return f"{_who(line)}: {line['ratio']:.2f} times as slow, on {line['pairs']} problems"
    return f"{_who(line)}: {1 / line['ratio']:.2f} times as fast, on {line['pairs']} problems"


def _changed(line: pd.Series) -> str:
    ends = f"{line['before_outcome']}, then {line['after_outcome']}"
    excuse = f"; {line['excuse']}" if line["excuse"] else ""
    return f"{_who(line)}: {_where(line)} {line['change']} ({ends}{excuse})"


def _moved(line: pd.Series) -> str:
    values = f"{line['before_value']:.9g}, then {line['after_value']:.9g}"
    return f"{_who(line)}: {_where(line)} has another value ({values})"
