"""Which contestant suits which structure: by method and size, and by solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.lab.study.measures.contestants import ratios_to_best
from sdpdr.lab.study.measures.frame import CONTESTANT, INSTANCE, need

SIZES: tuple[int, ...] = (50, 200, 1000)
"""Where one class of sizes ends and the next begins."""


def size_class(n: int | None, edges: Sequence[int] = SIZES) -> str:
    """The class of a size, in words.

    Examples
    --------
    >>> [size_class(n) for n in (20, 50, 999, 5000, None)]
    ['below 50', '50 to 199', '200 to 999', 'from 1000', 'unknown']
    """
    if n is None or pd.isna(n):
        return "unknown"
    at = int(np.searchsorted(edges, n, side="right"))
    if at == 0:
        return f"below {edges[0]}"
    return f"{edges[at - 1]} to {edges[at] - 1}" if at < len(edges) else f"from {edges[-1]}"


def best_by_structure(
    runs: pd.DataFrame, *, edges: Sequence[int] = SIZES, without: Sequence[str] = ("auto",)
) -> pd.DataFrame:
    """Contestants ranked for each method and class of sizes.

    First by the share that they solve, then by the median of their ratios to the best on the
    instances they solve: who solves more comes first, however slow. A class of few instances ranks
    chance as well, see `instances`.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`.
    edges : sequence of int, default (50, 200, 1000)
        Of the classes.
    without : sequence of str, default ("auto",)
        Solvers that do not take part, since they only choose another.

    Returns
    -------
    DataFrame
        Columns ``tol, method, size, instances, rank, solver, form, solved, success_rate, wins,
        ratio``, sorted by the first three and the rank, from 1. ``wins`` counts the instances where
        it was the fastest, ``ratio`` is the median, ``nan`` for contestants that solve nothing,
        which have the last ranks.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["a", "a", "b", "b"], "variant": "", "method": "mvu",
    ...     "n": 30, "solver": ["p", "q"] * 2, "form": "gram", "tol": 1e-6,
    ...     "solved": [True, True, True, False], "seconds": [4.0, 1.0, 4.0, 1.0]})
    >>> best_by_structure(runs)[["size", "instances", "rank", "solver", "success_rate", "ratio"]]
           size  instances  rank solver  success_rate  ratio
    0  below 50          2     1      p           1.0    2.5
    1  below 50          2     2      q           0.5    1.0
    """
    need(runs, "method", "n", "tol", *INSTANCE, *CONTESTANT)
    known = runs.groupby([*INSTANCE])["n"].transform("max")
    rivals = runs.assign(size=[size_class(n, edges) for n in known])
    rivals = rivals[~rivals["solver"].isin(list(without))]
    lines = [
        {"tol": tol, "method": method, "size": size, "_at": known[lines.index].min()} | line
        for (tol, method, size), lines in rivals.groupby(["tol", "method", "size"])
        for line in _ranking(lines)
    ]
    table = pd.DataFrame(lines, columns=["tol", "method", "size", "_at", *_RANKED])
    order = ["tol", "method", "_at", "rank"]
    return table.sort_values(order, kind="stable").drop(columns="_at").reset_index(drop=True)


_RANKED = ("instances", "rank", "solver", "form", "solved", "success_rate", "wins", "ratio")


def _ranking(runs: pd.DataFrame) -> list[dict[Any, Any]]:
    """Contestants, best first."""
    ratios = ratios_to_best(runs)
    finite = np.isfinite(ratios)
    table = pd.DataFrame(
        {
            "instances": len(ratios),
            "solved": finite.sum(),
            "success_rate": finite.mean(),
            "wins": (ratios == 1.0).sum(),
            "ratio": ratios.where(finite).median(),
        }
    ).sort_values(["success_rate", "ratio"], ascending=[False, True], kind="stable")
    return table.assign(rank=range(1, len(table) + 1)).reset_index().to_dict("records")


def forms_by_solver(runs: pd.DataFrame) -> pd.DataFrame:
    """Which form suits which solver: the forms of each compete with one another only.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`.

    Returns
    -------
    DataFrame
        Columns ``tol, solver, instances, rank, form, solved, success_rate, wins, ratio``, as of
        `best_by_structure`, but the ratios are to the best form of that solver. Solvers in order of
        first appearance.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": "a", "variant": "", "solver": ["p", "p", "q"],
    ...     "form": ["gram", "lmi", "lmi"], "tol": 1e-6, "solved": True,
    ...     "seconds": [4.0, 2.0, 0.1]})
    >>> forms_by_solver(runs)[["solver", "rank", "form", "wins", "ratio"]]
      solver  rank  form  wins  ratio
    0      p     1   lmi     1    1.0
    1      p     2  gram     0    2.0
    2      q     1   lmi     1    1.0
    """
    need(runs, "tol", *INSTANCE, *CONTESTANT)
    lines = [
        {"tol": tol} | line
        for (tol, _), lines in runs.groupby(["tol", "solver"], sort=False)
        for line in _ranking(lines)
    ]
    columns = ["tol", "solver", "instances", "rank", "form", "solved", "success_rate", "wins"]
    return pd.DataFrame(lines, columns=[*columns, "ratio"])
