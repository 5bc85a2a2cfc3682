"""Sections on trust: what claims were worth, what failed and why, and how exact answers are."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sdpdr.base.rows import counted
from sdpdr.lab import plot
from sdpdr.lab.study.measures.contestants import label
from sdpdr.lab.study.measures.failures import claims, contradictions, disagreements, failure_map
from sdpdr.lab.study.page import figures
from sdpdr.lab.study.page.material import Material, instance_name, named
from sdpdr.lab.study.page.outcomes import EMPTY, KINDS, SOLVED, in_words, kind_of, outcome_cell
from sdpdr.lab.study.page.parts import Chart, Section, Table, headed, told, toned
from sdpdr.lab.study.schema import HONESTY

_MOST_ROWS = 60
_WORTHS = [word or "none" for word in HONESTY]


def claimed(material: Material) -> Section:
    """What the solvers said, against what we verified."""
    table = material.ranked(named(claims(material.runs).reset_index()))
    explained = "; ".join(f"{word}: {HONESTY[word]}" for word in HONESTY if word)

    def chart(tol: float) -> Chart:
        counts = table[table["tol"] == tol].set_index("contestant")[_WORTHS]
        worths = f"{explained[0].upper()}{explained[1:]}"
        return material.chart(
            "claims-figure", tol, lambda: figures.claims(counts), known={"worths": worths}
        )

    shown = table.assign(
        near=toned(table["near"], "fair"), overstated=toned(table["overstated"], "bad")
    )
    frame = headed(shown, "contestant", "tol", *_WORTHS)
    tables = [material.table("claims-table", frame)]
    return Section.told("claims", charts=material.each(chart), tables=tables)


def failed(material: Material) -> Section:
    """What became of every instance in the hands of every contestant, and why."""
    maps = material.each(lambda tol: _failure_chart(material, tol))
    charts = [chart for chart, _ in maps]
    words = [sentence for _, sentence in maps if sentence]
    tables = [table for table in (_reasons(material), _doubts(material)) if table.rows]
    return Section.told("failures", words, charts=charts, tables=tables)


def _failure_chart(material: Material, tol: float) -> tuple[Chart, str]:
    runs = material.at(tol)
    instances = [instance_name(*name) for _, *name in failure_map(runs).index]
    kinds = _laid(
        runs.assign(kind=list(map(_place, runs["outcome"], runs["solved"]))), "kind", material
    )
    kinds = kinds.reindex(instances).fillna(KINDS.index(EMPTY)).astype(int)
    kept, sentence = _worth_showing(kinds)
    keys = [(kind.name, kind.sign, kind.colour) for kind in KINDS]
    names = list(kept.columns)
    chart = material.chart(
        "failures-figure",
        tol,
        lambda: figures.failures(kept, _hints(material, runs).reindex(kept.index)),
        lambda: plot.outcome_map(list(kept.index), names, kept.to_numpy(), keys),
        keys=[key for k, key in enumerate(keys) if (kept == k).any(axis=None)],
        min_width=200 + 18 * len(names),
    )
    return chart, sentence


def _place(outcome: str, solved: bool) -> int:
    return KINDS.index(kind_of(outcome, solved))


def _laid(runs: pd.DataFrame, column: str, material: Material) -> pd.DataFrame:
    """A column by instance and contestant, the best on the left."""
    laid = runs.pivot(index="instance", columns="contestant", values=column)
    return laid[[who for who in material.order if who in laid]]


def _hints(material: Material, runs: pd.DataFrame) -> pd.DataFrame:
    said = [
        figures.hint(
            line.instance,
            line.contestant,
            figures.spent(line.seconds, line.outcome),
            "" if line.solved else line.words,
        )
        for line in runs.itertuples()
    ]
    hints = _laid(runs.assign(hint=said), "hint", material)
    for who in hints:
        absent = hints.index[hints[who].isna()]
        hints.loc[absent, who] = [figures.hint(name, who, "no run") for name in absent]
    return hints


def _worth_showing(kinds: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """All rows where there is room; else those that somebody failed on."""
    uneven = kinds[(kinds != KINDS.index(SOLVED)).any(axis=1)]
    left_out = len(kinds) - len(uneven)
    if len(kinds) <= _MOST_ROWS or not left_out or uneven.empty:
        return kinds, ""
    return uneven, f"Not drawn: {counted(left_out, 'instance')} that every contestant solved."


def _reasons(material: Material) -> Table:
    """What was not solved or claimed falsely, one line an instance and contestant."""
    rows = material.rows
    rows = rows.assign(false=rows["honesty"] == "overstated")
    rows = rows[~rows["solved"].astype(bool) | rows["false"]]
    rows = rows.sort_values("false", ascending=False, kind="stable")
    rows = rows.drop_duplicates(["contestant", "instance", "tol", "outcome"])
    shown = rows.assign(
        outcome=list(map(outcome_cell, rows["outcome"], rows["solved"])),
        honesty=toned(rows["honesty"], "bad", rows["false"]),
        why=rows["words"],
    )
    columns = ["contestant", "instance", "tol", "claimed", "outcome", "honesty", "gap", "worst"]
    frame = headed(shown, *columns, "why")
    return material.table("reasons", frame, is_long=True)


def _doubts(material: Material) -> Table:
    """Verified answers that contradict one another, or what was expected."""
    once = ["problem", "variant", "solver", "form", "tol"]
    apart = named(disagreements(material.frame).drop_duplicates(once))
    judges = zip(apart["judge_solver"], apart["judge_form"], apart["judge_outcome"], strict=True)
    apart["against"] = [f"{label(solver, form)}: {in_words(end)}" for solver, form, end in judges]
    off = named(contradictions(material.frame).drop_duplicates(once))
    off = off.assign(against="what was expected", judge_value=off["reference"], apart=off["off"])
    found = pd.concat([part for part in (apart, off) if len(part)] or [apart])
    found["outcome"] = toned(map(in_words, found["outcome"]), "bad")
    found = found.rename(columns={"judge_value": "other value"})
    columns = ["contestant", "instance", "outcome", "value", "against", "other value", "apart"]
    return Table("doubts", found[columns], told("doubts"))


def accuracy(material: Material) -> Section | None:
    """How small a gap each contestant reached."""
    rows = material.rows[np.isfinite(material.rows["gap"])]
    rows = rows.drop_duplicates(["contestant", "instance", "tol"])
    if rows.empty:
        return None

    def chart(tol: float) -> Chart | None:
        reached = material.groups(rows[rows["tol"] == tol])
        if not reached:
            return None
        return material.chart(
            "accuracy-figure", tol, lambda: figures.gaps(reached, tol, material.order)
        )

    groups = rows.assign(gap=rows["gap"].abs()).groupby(["contestant", "tol"])
    table = groups.agg(
        answers=("gap", "size"), median=("gap", "median"), largest=("gap", "max"),
        worst=("worst", "median"),
    ).reset_index()  # fmt: skip
    titles = {"median": "median gap", "largest": "largest gap", "worst": "median worst error"}
    frame = material.ranked(table).rename(columns=titles)
    tables = [material.table("accuracy-table", frame)]
    return Section.told("accuracy", charts=material.each(chart), tables=tables)
