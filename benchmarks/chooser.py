"""A rule of three lines beside the cost model, replayed on the runs of studies.

    python benchmarks/chooser.py

The rule: edge programs, and matrices of order above 60, go to ``lowrank``; all others to Clarabel
on the multipliers; who has no answer after 5 s gives way to the other. Its seconds are those of the
runs that it would have made, while those of "auto" are measured. The rule was found on the study
``solvers``, and the cost model was fitted to families of the same kind and to files of SDPLIB: so
``solvers`` is known to both, and ``sdplib`` is new to the rule alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from tables import write_table

STUDIES = Path(__file__).parents[1] / "docs" / "studies"
# Recipes whose programs have rows on edges alone.
ON_EDGES = ("mvu", "mfnu", "colored_mvu", "mvu_apart")
LARGE, PATIENCE = 60, 5.0
LOWRANK, MULTIPLIERS = ("lowrank", "factor"), ("clarabel", "lmi")
# Of geometric means.
SHIFT = 1.0


def replayed(study: str) -> list[tuple[str, str, str, str]]:
    """A row for "auto", for the rule, and for the best single pair."""
    runs = pd.read_parquet(STUDIES / f"{study}.parquet")
    limit = float(runs["time_limit"].max())
    runs["spent"] = runs["cpu"].where(runs["solved"], limit).clip(upper=limit)
    pairs = {"index": "problem", "columns": ["solver", "form"]}
    spent = runs.pivot_table(values="spent", aggfunc="median", **pairs)
    solved = runs.assign(solved=runs["solved"].astype(float)).pivot_table(
        values="solved", aggfunc="max", **pairs
    )
    facts = runs.groupby("problem")[["order", "method"]].first()
    by_rule = [ruled(spent.loc[p], solved.loc[p], facts.loc[p], limit) for p in spent.index]
    single = spent.drop(columns=[("auto", "auto")])
    best = min(single, key=lambda pair: mean(single[pair]))
    total = len(spent)
    rows = {
        "auto": (spent["auto", "auto"], solved["auto", "auto"].sum()),
        "the rule": ([s for s, _ in by_rule], sum(done for _, done in by_rule)),
        " ".join(best): (single[best], solved[best].sum()),
    }
    return [
        (study, name, f"{int(done)} of {total}", f"{mean(seconds):.2f}")
        for name, (seconds, done) in rows.items()
    ]


def ruled(spent: pd.Series, solved: pd.Series, fact: pd.Series, limit: float) -> tuple[float, bool]:
    """Seconds that the rule takes for a problem, and whether it has an answer then."""
    edges = fact["method"] in ON_EDGES or fact["order"] > LARGE
    first, other = (LOWRANK, MULTIPLIERS) if edges else (MULTIPLIERS, LOWRANK)
    if solved[first] and spent[first] <= PATIENCE:
        return float(spent[first]), True
    seconds = min(PATIENCE, float(spent[first])) + float(spent[other])
    return (seconds, True) if solved[other] and seconds <= limit else (limit, False)


def mean(seconds: pd.Series | list[float]) -> float:
    """The shifted geometric mean."""
    return float(np.exp(np.mean(np.log(np.asarray(seconds, dtype=float) + SHIFT))) - SHIFT)


def main() -> None:
    """Print the table and write it."""
    rows = [row for study in ("solvers", "sdplib") for row in replayed(study)]
    for row in rows:
        print(*row, sep="  ")
    notes = (
        "Seconds are shifted geometric means, and the limit where there is no answer; the last "
        "of each study is the best single pair, chosen afterwards.",
    )
    head = ("Study", "Chooser", "Solved", "Seconds")
    write_table("chooser", head, rows, command="python benchmarks/chooser.py", notes=notes)


if __name__ == "__main__":
    main()
