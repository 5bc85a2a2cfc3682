"""Contestants side by side: matrices of instance by contestant, ratios, and best forms."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.lab.study.measures.frame import CONTESTANT, INSTANCE, need
from sdpdr.lab.study.schema import OUTCOMES

RESOLUTION = 1e-6
"""Seconds; what takes less counts as much, so that ratios are finite."""


def label(solver: str, form: str) -> str:
    """A contestant in words.

    Examples
    --------
    >>> label("scs", "gram"), label("auto", "auto")
    ('scs gram', 'auto')
    """
    return solver if solver == form else f"{solver} {form}"


def at_one_tolerance(runs: pd.DataFrame) -> float:
    """The tolerance of all lines, ``nan`` if there are none.

    Raises
    ------
    DataError
        There are several: times to unequal accuracy are not compared.
    """
    need(runs, "tol")
    found = runs["tol"].unique()
    if len(found) > 1:
        several = ", ".join(f"{tol:g}" for tol in sorted(found))
        raise DataError(f"lines of several tolerances, {several}: take runs[runs.tol == t]")
    return float(found[0]) if len(found) else float("nan")


def matrix(runs: pd.DataFrame, column: str, *, complete: bool = False) -> pd.DataFrame:
    """One column laid out by instance and contestant.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`, of one tolerance.
    column : str
    complete : bool, default False
        Leave out the instances that some contestant has no line for, as in a study under way.

    Returns
    -------
    DataFrame
        Index ``problem, variant``, columns ``solver, form``, both in order of first appearance.

    Raises
    ------
    DataError
        There are several tolerances, or two lines for one place.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["a", "a", "b"], "variant": "", "solver": ["p", "q", "p"],
    ...     "form": "gram", "tol": 1e-6, "outcome": ["SOLVED", "FAILED", "SOLVED"]})
    >>> matrix(runs, "outcome").values.tolist()
    [['SOLVED', 'FAILED'], ['SOLVED', nan]]
    >>> matrix(runs, "outcome", complete=True).index.to_list()
    [('a', '')]
    """
    need(runs, *INSTANCE, *CONTESTANT, column)
    at_one_tolerance(runs)
    places = [*INSTANCE, *CONTESTANT]
    twice = runs.duplicated(places)
    if twice.any():
        raise DataError(f"two lines for {tuple(runs.loc[twice, places].iloc[0])}")
    across = pd.MultiIndex.from_frame(runs[[*CONTESTANT]].drop_duplicates())
    laid = runs.set_index(places)[column].unstack([*CONTESTANT])
    if complete:
        lines = runs.groupby([*INSTANCE])[column].transform("size")
        runs = runs[lines == len(across)]
    order = pd.MultiIndex.from_frame(runs[[*INSTANCE]].drop_duplicates())
    return laid.reindex(index=order, columns=across)


def times(runs: pd.DataFrame) -> pd.DataFrame:
    """Seconds by instance and contestant, infinite where not solved.

    Only instances that every contestant has a line for.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": "a", "variant": "", "solver": ["p", "q"], "form": "gram",
    ...                      "tol": 1e-6, "seconds": [2.0, 0.5], "solved": [True, False]})
    >>> times(runs).values.tolist()
    [[2.0, inf]]
    """
    need(runs, "seconds", "solved")
    taken = runs["seconds"].astype(float).clip(lower=RESOLUTION)
    finite = taken.where(runs["solved"].astype(bool) & taken.notna(), np.inf)
    return matrix(runs.assign(_seconds=finite), "_seconds", complete=True)


def ratios_to_best(runs: pd.DataFrame) -> pd.DataFrame:
    r"""Performance ratios :math:`r_{ps} = t_{ps} / \min_{s'} t_{ps'}`.

    Infinite where not solved, also where no contestant solves the instance.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`, of one tolerance.

    Returns
    -------
    DataFrame
        Laid out as by `matrix`.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": "a", "variant": "", "solver": ["p", "q"], "form": "gram",
    ...                      "tol": 1e-6, "seconds": [2.0, 0.5], "solved": True})
    >>> ratios_to_best(runs).values.tolist()
    [[4.0, 1.0]]
    """
    taken = times(runs)
    best = taken.min(axis=1)
    return taken.div(best.where(np.isfinite(best), 1.0), axis=0)


def best_form(runs: pd.DataFrame) -> pd.DataFrame:
    """Every solver in the form that was best for each instance, as one contestant.

    Such a contestant knows beforehand which form will be fastest, as nobody does; and the least of
    several noisy times is below what any of them takes on average. It bounds what choosing forms
    can gain.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`.

    Returns
    -------
    DataFrame
        As `runs`, with `form` "best" and the form taken in `used`: the fastest that is solved; if
        none is, the first by outcome, in the order of `sdpdr.lab.study.schema.OUTCOMES`.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["a", "a", "b", "b"], "variant": "", "solver": "p",
    ...     "form": ["gram", "lmi", "gram", "lmi"], "tol": 1e-6, "seconds": [2.0, 0.5, 3.0, 0.1],
    ...     "solved": [True, True, True, False], "outcome": ["SOLVED"] * 3 + ["FAILED"]})
    >>> best_form(runs)[["problem", "form", "used", "seconds"]].values.tolist()
    [['a', 'best', 'lmi', 0.5], ['b', 'best', 'gram', 3.0]]
    """
    need(runs, *INSTANCE, *CONTESTANT, "tol", "solved", "seconds", "outcome")
    missed = ~runs["solved"].astype(bool)
    ranked = runs.assign(
        _missed=missed, _end=runs["outcome"].map(_rank).where(missed, 0)
    ).sort_values(["_missed", "_end", "seconds"], kind="stable")
    first = ranked.drop_duplicates([*INSTANCE, "solver", "tol"]).sort_index()
    return (
        first.assign(used=first["form"], form="best")
        .drop(columns=["_missed", "_end"])
        .reset_index(drop=True)
    )


def _rank(outcome: str) -> int:
    return OUTCOMES.index(outcome) if outcome in OUTCOMES else len(OUTCOMES)
