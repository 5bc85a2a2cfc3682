"""Sections on trust: what claims were worth, what failed and why, and how exact answers are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.lab import plot
from sdpdr.lab.study.measures.contestants import label
from sdpdr.lab.study.measures.failures import claims, contradictions, disagreements, failure_map
from sdpdr.lab.study.page.material import Material, counted, instance_name, instance_of, who_of
from sdpdr.lab.study.page.outcomes import KINDS, SOLVED, in_words, kind_of, meaning
from sdpdr.lab.study.page.parts import Cell, Chart, Column, Section, Table, show_seconds
from sdpdr.lab.study.schema import HONESTY

_MOST_ROWS = 60
_WORTH_TONES = {"overstated": "bad", "near": "fair"}


def claimed(material: Material) -> Section:
    """What the solvers said, against what we verified."""
    counts = claims(material.runs)
    words = [name for name in HONESTY if name]
    charts, rows = [], []
    several = len(material.tolerances) > 1
    for tol in material.tolerances:
        told = {label(s, f): row for (t, s, f), row in counts.iterrows() if t == tol}
        names = [who for who in material.order if who in told]
        charts.append(_claims_chart(material, tol, names, [told[who] for who in names]))
        rows += [
            [
                who,
                *([tol] if several else []),
                *(_worth_cell(word, int(told[who][word])) for word in words),
                int(told[who]["none"]),
            ]
            for who in names
        ]
    columns = [
        Column("contestant"),
        *([Column("tol", ".0e")] if several else []),
        *(Column(word, "d", HONESTY[word]) for word in words),
        Column("no claim", "d", HONESTY[""]),
    ]
    tables = [Table("claims-table", columns, rows, "Instances, by what the claim was worth.")]
    false = _false_claims(material)
    return Section(
        "claims",
        "Claimed against verified",
        (
            "A solver's own word is recorded and never believed: residuals, value and bound are "
            "computed by us at the point that it returned.",
        ),
        charts,
        [*tables, *([false] if false.rows else [])],
    )


def _worth_cell(word: str, n: int) -> Cell:
    return Cell(n, _WORTH_TONES.get(word, "") if n else "")


def _claims_chart(
    material: Material, tol: float, names: list[str], told: Sequence[pd.Series]
) -> Chart:
    numbers = {word: [int(row[word or "none"]) for row in told] for word in HONESTY}

    def draw() -> Any:
        from sdpdr.lab.study.page import figures

        return figures.claims(names, numbers)

    explained = "; ".join(f"{word}: {HONESTY[word]}" for word in HONESTY if word)
    return Chart(
        f"claims-figure{material.suffix(tol)}",
        f"What the claims were worth. {explained[0].upper()}{explained[1:]}. Red is what to beware "
        f"of.{material.noted(tol)}",
        draw,
    )


def _false_claims(material: Material) -> Table:
    frame = material.frame[material.frame["honesty"] == "overstated"]
    columns = [
        Column("contestant"),
        Column("instance"),
        Column("tol", ".0e"),
        Column("claimed"),
        Column("we found"),
        Column("gap", ".1e", "relative, verified"),
        Column("worst error", ".1e", "the largest of the six DIMACS errors"),
    ]
    once = frame.assign(who=who_of(frame), instance=instance_of(frame)).drop_duplicates(
        ["who", "instance", "tol"]
    )
    rows = [
        [line.who, line.instance, line.tol, line.claimed, outcome_cell(line.outcome, line.solved),
         line.gap, line.worst]
        for line in once.itertuples()
    ]  # fmt: skip
    words = "The claims that were overstated, one by one."
    return Table("false-claims", columns, rows, words, is_long=len(rows) > 12)


def failed(material: Material) -> Section:
    """What became of every instance in the hands of every contestant, and why."""
    maps = [_failure_chart(material, tol) for tol in material.tolerances]
    charts = [chart for chart, _ in maps]
    words = [sentence for _, sentence in maps if sentence]
    tables = [table for table in (_reasons(material), _doubts(material)) if table.rows]
    return Section("failures", "Failure map", words, charts, tables)


def _failure_chart(material: Material, tol: float) -> tuple[Chart, str]:
    runs = material.at(tol)
    laid = failure_map(runs)
    across = {label(*who): who for who in laid.columns}
    names = [who for who in material.order if who in across]
    laid = laid[[across[who] for who in names]]
    instances = [instance_name(p, v) for _, p, v in laid.index]
    found = {(line.instance, line.who): line for line in runs.itertuples()}
    kinds = np.array(
        [[_kind_at(found.get((instance, who))) for who in names] for instance in instances],
        dtype=int,
    ).reshape(len(instances), len(names))
    kept, sentence = _worth_showing(kinds, instances)
    rows = [instances[k] for k in kept]

    def draw() -> Any:
        from sdpdr.lab.study.page import figures

        why = {
            (i, w): words
            for i, w, words in zip(
                instance_of(material.frame), who_of(material.frame), material.frame["words"],
                strict=True,
            )
        }  # fmt: skip
        texts = [[_hint(i, w, found.get((i, w)), why.get((i, w), "")) for w in names] for i in rows]
        return figures.failures(rows, names, kinds[kept].tolist(), texts)

    keys = [(k.name, k.sign, k.colour) for k in KINDS]
    chart = Chart(
        f"failures-figure{material.suffix(tol)}",
        "One row an instance, one column a contestant, best on the left. Point at a field for the "
        f"reason. Rows are grouped by method and grow in size.{material.noted(tol)}",
        draw,
        lambda: plot.outcome_map(rows, names, kinds[kept], keys),
        keys=[key for k, key in enumerate(keys) if (kinds[kept] == k).any()],
        min_width=200 + 18 * len(names),
    )
    return chart, sentence


def _worth_showing(kinds: np.ndarray, instances: Sequence[str]) -> tuple[list[int], str]:
    """All rows where there is room; else those that somebody failed on."""
    every = list(range(len(instances)))
    if len(every) <= _MOST_ROWS:
        return every, ""
    uneven = [k for k in every if (kinds[k] != KINDS.index(SOLVED)).any()]
    if not uneven or len(uneven) == len(every):
        return every, ""
    left_out = counted(len(every) - len(uneven), "instance")
    return uneven, f"Not drawn: {left_out} that every contestant solved."


def _kind_at(line: Any) -> int:
    return KINDS.index(kind_of("", False) if line is None else kind_of(line.outcome, line.solved))


def _hint(instance: str, who: str, line: Any, words: str) -> str:
    from sdpdr.lab.study.page.figures import shown

    head = f"<b>{shown(instance)}</b><br>{shown(who)}<br>"
    if line is None:
        return f"{head}no run"
    spent = f", {show_seconds(line.seconds)}" if np.isfinite(line.seconds) else ""
    reason = "" if line.solved else f"<br>{shown(words)}"
    return f"{head}{in_words(line.outcome)}{spent}{reason}"


def _reasons(material: Material) -> Table:
    """Everything that was not solved, with the reason, one line an instance and contestant."""
    frame = material.frame[~material.frame["solved"].astype(bool)]
    frame = frame.assign(who=who_of(frame), instance=instance_of(frame))
    once = frame.drop_duplicates(["who", "instance", "tol", "outcome"])
    columns = [
        Column("contestant"),
        Column("instance"),
        Column("tol", ".0e"),
        Column("outcome"),
        Column("why", hint="the reason, or what the solver had to say"),
    ]
    rows = [
        [line.who, line.instance, line.tol, outcome_cell(line.outcome, line.solved), line.words]
        for line in once.itertuples()
    ]
    return Table("reasons", columns, rows, "What was not solved, and why.", is_long=True)


def _doubts(material: Material) -> Table:
    """Verified answers that contradict one another, or what was expected."""
    columns = [
        Column("contestant"),
        Column("instance"),
        Column("outcome"),
        Column("value", ".9g"),
        Column("against"),
        Column("other value", ".9g"),
        Column("apart", ".1e", "relative distance"),
    ]
    found = [*_disagreements(material.frame), *_contradictions(material.frame)]
    words = (
        "Answers that we verified and that contradict another verified answer, or the reference. "
        "Such a line is a finding about the problem or about our own grading before it is one "
        "about a solver."
    )
    return Table("doubts", columns, found, words)


def _disagreements(frame: pd.DataFrame) -> Iterator[list[Any]]:
    table = disagreements(frame).drop_duplicates(["problem", "variant", "solver", "form", "tol"])
    for who, instance, line in zip(
        who_of(table), instance_of(table), table.itertuples(), strict=True
    ):
        judge = f"{label(line.judge_solver, line.judge_form)}: {in_words(line.judge_outcome)}"
        outcome = Cell(in_words(line.outcome), "bad")
        yield [who, instance, outcome, line.value, judge, line.judge_value, line.apart]


def _contradictions(frame: pd.DataFrame) -> Iterator[list[Any]]:
    table = contradictions(frame).drop_duplicates(["problem", "variant", "solver", "form", "tol"])
    for who, instance, line in zip(
        who_of(table), instance_of(table), table.itertuples(), strict=True
    ):
        outcome = Cell(in_words(line.outcome), "bad")
        yield [who, instance, outcome, line.value, "what was expected", line.reference, line.off]


def outcome_cell(outcome: str, solved: bool) -> Cell:
    """An outcome for a table."""
    kind = kind_of(outcome, solved)
    return Cell(f"{kind.sign} {in_words(outcome)}" if outcome else "", kind.tone, meaning(outcome))


def accuracy(material: Material) -> Section | None:
    """How small a gap each contestant reached."""
    charts, tables = [], []
    for tol in material.tolerances:
        frame = material.frame[(material.frame["tol"] == tol) & np.isfinite(material.frame["gap"])]
        if frame.empty:
            continue
        frame = frame.assign(who=who_of(frame), instance=instance_of(frame))
        once = frame.drop_duplicates(["who", "instance"])
        groups = dict(iter(once.groupby("who")))
        names = [who for who in material.order if who in groups]
        charts.append(_gap_chart(material, tol, names, groups))
        tables.append(_gap_table(material, tol, names, groups))
    if not charts:
        return None
    words = ("An answer far more exact than asked for was paid for; one that misses is no answer.",)
    return Section("accuracy", "Accuracy reached", words, charts, tables)


def _gap_chart(
    material: Material, tol: float, names: list[str], groups: dict[str, pd.DataFrame]
) -> Chart:
    def draw() -> Any:
        from sdpdr.lab.study.page import figures

        reached = {
            who: (
                group["gap"].to_numpy(float),
                [
                    f"<b>{figures.shown(line.instance)}</b><br>{figures.shown(who)}<br>"
                    f"gap {line.gap:.1e}, {in_words(line.outcome)}"
                    for line in group.itertuples()
                ],
            )
            for who, group in groups.items()
        }
        return figures.gaps(names, reached, [tol], material.order)

    return Chart(
        f"accuracy-figure{material.suffix(tol)}",
        "Relative distance between the value at the point returned and the bound that we proved, "
        "one mark an instance. The dashed line is the tolerance asked for; marks to the right of "
        "it miss it. Marks are spread upwards and downwards to be told apart.",
        draw,
    )


def _gap_table(
    material: Material, tol: float, names: list[str], groups: dict[str, pd.DataFrame]
) -> Table:
    columns = [
        Column("contestant"),
        Column("answers", "d", "with a gap that we could compute"),
        Column("median gap", ".1e"),
        Column("largest gap", ".1e"),
        Column("median worst error", ".1e", "the largest of the six DIMACS errors"),
    ]
    rows = [
        [who, len(g), g["gap"].abs().median(), g["gap"].abs().max(), g["worst"].median()]
        for who, g in ((who, groups[who]) for who in names)
    ]
    words = f"Gaps that we could compute{material.at_words(tol)}."
    return Table(f"accuracy-table{material.suffix(tol)}", columns, rows, words)
