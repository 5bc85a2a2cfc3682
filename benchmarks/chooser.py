"""A rule of three lines beside the cost model, replayed on the runs of studies.

    python benchmarks/chooser.py          the table, from the runs at hand
    python benchmarks/chooser.py --run    solves the problems with new seeds first; some minutes

The rule: edge programs, and matrices of order above 60, go to ``lowrank``; all others to Clarabel
on the multipliers; who has no answer after 5 s gives way to the other. Its seconds are those of the
runs that it would have made, while those of "auto" are measured. The rule was found on the study
``solvers``, and the cost model was fitted to families of the same kind and to files of SDPLIB. So
``solvers`` is known to both, ``sdplib`` is new to the rule alone, and new to both are the cards of
the library with another seed of their data.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from tables import write_table

from sdpdr.lab.library.card import Card
from sdpdr.lab.library.vocabulary import GRAPHS

ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "docs" / "studies"
RUNS = Path(__file__).with_suffix(".parquet")
COLUMNS = ["problem", "method", "order", "solver", "form", "time_limit", "cpu", "solved"]
# Recipes whose programs have rows on edges alone.
ON_EDGES = ("mvu", "mfnu", "colored_mvu", "mvu_apart")
LARGE, PATIENCE = 60, 5.0
LOWRANK, MULTIPLIERS = ("lowrank", "factor"), ("clarabel", "lmi")
# Of geometric means.
SHIFT = 1.0
NEW_SEED = 20_261
STUDY = """
[about]
title = "Problems that no chooser has seen"
question = "Is a rule of three lines as good as the cost model?"

[problems]
cards = [{cards}]

[[solvers]]
name = "auto"

[[solvers]]
name = "lowrank"

[[solvers]]
name = "clarabel"
forms = ["lmi"]

[run]
time_limit = {limit}
patience = 10
memory_limit = "3 GB"
"""
# Of a card, what is known of its answer at the seed that it names, and what stands for it here.
_KNOWN_ANSWER = re.compile(r"^\[expect\].*?(?=^\[|\Z)", re.M | re.S)
_NOTHING_KNOWN = """
[expect]
lower = -1e99
upper = 1e99
provenance = "analytic"
source = "a number"
"""


def new_cards(folder: Path) -> list[str]:
    """Write cards that have an answer with another seed of their data; it is not known there."""
    names = []
    for path in sorted((ROOT / "problems").glob("*.toml")):
        text, n_seeds = re.subn(r"^seed = \d+$", f"seed = {NEW_SEED}", path.read_text(), flags=re.M)
        if n_seeds and re.search(r"^value = ", text, flags=re.M):
            text = _KNOWN_ANSWER.sub("", text)
            if edges := edges_of(Card.load(path)):
                text = re.sub(r"^edges = \d+$", f"edges = {edges}", text, flags=re.M)
            names.append(path.name)
            (folder / path.name).write_text(text + _NOTHING_KNOWN)
    return names


def edges_of(card: Card) -> int | None:
    """How many edges the graph of a card has with the new seed; None where it has no graph."""
    if not card.graph:
        return None
    points = replace(card, data={**card.data, "seed": NEW_SEED}).points
    given = dict(card.graph)
    return GRAPHS[given.pop("kind")](*([points[0]] if points else []), **given).m


def run(limit: float) -> None:
    """Solve problems that are new, and keep the rows that the comparison needs."""
    from sdpdr.lab.study.results import read_results
    from sdpdr.lab.study.run import run_study

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cards = ", ".join(f'"{card}"' for card in new_cards(folder))
        study = folder / "new.toml"
        study.write_text(STUDY.format(cards=cards, limit=limit))
        rows = read_results(run_study(study, folder / "new.jsonl")).frame
    rows[COLUMNS].to_parquet(RUNS, index=False)


def replayed(name: str, runs: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """A row for "auto", for the rule, and for the best single pair."""
    limit = float(runs["time_limit"].max())
    runs = runs.assign(
        spent=runs["cpu"].where(runs["solved"], limit).clip(upper=limit),
        solved=runs["solved"].astype(float),
    )
    pairs = {"index": "problem", "columns": ["solver", "form"]}
    spent = runs.pivot_table(values="spent", aggfunc="median", **pairs).fillna(limit)
    solved = runs.pivot_table(values="solved", aggfunc="max", **pairs).fillna(0.0)
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
        (name, who, f"{int(done)} of {total}", f"{mean(seconds):.2f}")
        for who, (seconds, done) in rows.items()
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
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--run", action="store_true", help="solve problems with new seeds first")
    asked.add_argument("--limit", type=float, default=10.0, help="seconds of a run (10)")
    given = asked.parse_args()
    if given.run:
        run(given.limit)
    studies = {name: pd.read_parquet(STUDIES / f"{name}.parquet") for name in ("solvers", "sdplib")}
    studies["new seeds"] = pd.read_parquet(RUNS)
    rows = [row for name, runs in studies.items() for row in replayed(name, runs)]
    for row in rows:
        print(*row, sep="  ")
    notes = (
        "Seconds are shifted geometric means of processor seconds, and the limit where there is "
        "no answer; the last of each study is the best single pair, chosen afterwards.",
    )
    head = ("Study", "Chooser", "Solved", "Seconds")
    write_table("chooser", head, rows, command="python benchmarks/chooser.py", notes=notes)


if __name__ == "__main__":
    main()
