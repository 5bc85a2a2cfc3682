"""The page that compares two results: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.base.rows import counted
from sdpdr.lab.study.measures import Versus, versus
from sdpdr.lab.study.page import figures
from sdpdr.lab.study.page.material import enumerated, named
from sdpdr.lab.study.page.outcomes import outcome_cell
from sdpdr.lab.study.page.parts import (
    Cell,
    Chart,
    Page,
    Section,
    Table,
    headed,
    listed,
    told,
    toned,
)
from sdpdr.lab.study.page.record import environments_table, flattened, moment
from sdpdr.lab.study.reading import Read

_TONES = {
    "slower": "bad", "faster": "good", "regression": "bad", "improvement": "good",
    "newly failed": "bad", "newly solved": "good",
}  # fmt: skip


def comparison_page(before: Read, after: Read) -> Page:
    """The page that compares two results of one study.

    Parameters
    ----------
    before, after : Read
        From `sdpdr.lab.study.reading.read_results`.

    Returns
    -------
    Page
    """
    found = versus(before.frame, after.frame)
    sections = [
        _contestants(found),
        _times(found),
        _changes(found),
        _values(found),
        _unmatched(found),
        _environments(before, after),
        Section.told("limitations", points=listed("comparison")),
    ]
    name = str(before.meta.get("title") or before.meta.get("name") or "a study")
    return Page(
        title=f"{name}: before and after",
        lead=f"Before: {_called(before, 'before')}. After: {_called(after, 'after')}.",
        verdict=list(_verdict(found)),
        sections=[section for section in sections if section is not None],
        tone=_TONES.get(found.verdict, ""),
    )


def _called(result: Read, otherwise: str) -> str:
    name = str(result.meta.get("name") or otherwise)
    began = moment(result.meta.get("started"))
    return f"{name}, begun {began}" if began else name


def _verdict(found: Versus) -> Iterator[str]:
    yield f"{found.verdict[0].upper()}{found.verdict[1:]}."
    changes = found.changes["change"].value_counts()
    compared = len(found.pairs)
    both = int(found.pairs["ratio"].notna().sum())
    yield (
        f"{counted(compared, 'line')} (an instance, a contestant and a tolerance) occur in both "
        f"results; {both} are solved in both, {changes.get('newly failed', 0)} newly failed, "
        f"{changes.get('newly solved', 0)} newly solved."
    )
    if np.isfinite(found.low):
        yield (
            f"Over all, seconds after are {found.ratio:.3f} times those before (95% interval "
            f"{found.low:.3f} to {found.high:.3f})."
        )
    if found.is_common:
        yield (
            "All contestants changed alike, as they do where a machine is another, or had other "
            "work to do: repeat both on an idle one before you believe it."
        )
    yield from _reasons(found)
    known = "measured from" if found.noise_from == "repeats" else "assumed, for there are too few"
    yield f"The relative noise of a single run is {found.noise:.0%}, {known} repeats."


def _reasons(found: Versus) -> Iterator[str]:
    """What led to the verdict, the worst first."""
    for word, sign in (("slower", 1), ("faster", -1)):
        table = named(found.contestants[found.contestants["verdict"] == word])
        changed = [
            f"{line.contestant} ({line.ratio**sign:.2f} times as {'slow' if sign > 0 else 'fast'})"
            for line in table.sort_values("ratio", ascending=sign < 0).itertuples()
        ]
        if changed:
            yield f"{word.capitalize()}: {enumerated(changed, 6)}."
    changes = named(found.changes)
    changes["what"] = list(map("{} by {}".format, changes["instance"], changes["contestant"]))
    excused = changes["excuse"] != ""
    for words, lines in (
        ("Newly failed", changes[(changes["change"] == "newly failed") & ~excused]),
        ("Newly failed, with an excuse", changes[excused]),
        ("Newly solved", changes[changes["change"] == "newly solved"]),
    ):
        if len(lines):
            yield f"{words}: {enumerated(lines['what'].to_list())}."
    if len(found.values):
        yield f"Another value than before: {enumerated(named(found.values)['instance'].to_list())}."


def _contestants(found: Versus) -> Section:
    table = named(found.contestants)
    shown = table.rename(columns={"ratio": "after / before"}).assign(
        verdict=list(map(_toned, table["verdict"])),
        p=table["adjusted"],
        newly_solved=toned(table["newly_solved"], "good"),
        newly_failed=toned(table["newly_failed"], "bad"),
    )
    columns = ["contestant", "tol", "verdict", "pairs", "after / before", "low", "high", "p"]
    frame = headed(shown, *columns, "newly_solved", "newly_failed")
    if table["tol"].nunique() < 2:
        frame = frame.drop(columns="tol")
    tables = [Table("contestants-table", frame, told("contestants-table"))]
    return Section.told("contestants", tables=tables)


def _toned(word: str) -> Cell:
    return Cell(word, _TONES.get(word, ""))


def _times(found: Versus) -> Section | None:
    timed = named(found.pairs.dropna(subset="ratio"))
    if timed.empty:
        return None
    order = list(dict.fromkeys(named(found.contestants)["contestant"]))
    groups = dict(iter(timed.groupby("contestant")))
    points = {who: groups[who] for who in order if who in groups}
    band = float(np.exp(1.96 * np.sqrt(2.0) * found.noise))
    words = told("times-figure", band=f"{band:.2f}")
    chart = Chart("times-figure", words, lambda: figures.against(points, band, order))
    worst = timed.sort_values("ratio", key=lambda r: np.abs(np.log(r)), ascending=False)
    shown = worst.assign(same_task=worst["same_task"].map({True: "yes", False: "no"}))
    columns = ["instance", "contestant", "before_seconds", "after_seconds", "ratio", "same_task"]
    table = Table("times-table", headed(shown, *columns), told("times-table"), is_long=True)
    return Section.told("times", charts=[chart], tables=[table])


def _changes(found: Versus) -> Section | None:
    if found.changes.empty:
        return None
    table = named(found.changes)
    solved = table["change"] == "newly solved"
    shown = table.assign(
        change=list(map(_toned, table["change"])),
        before=list(map(outcome_cell, table["before_outcome"], ~solved)),
        after=list(map(outcome_cell, table["after_outcome"], solved)),
    )
    columns = ["contestant", "instance", "change", "before", "after"]
    frame = headed(shown, *columns, "before_seconds", "after_seconds", "excuse")
    tables = [Table("changes-table", frame, told("changes-table"), is_long=len(frame) > 25)]
    return Section.told("changes", tables=tables)


def _values(found: Versus) -> Section | None:
    if found.values.empty:
        return None
    columns = ["contestant", "instance", "before_value", "after_value", "apart"]
    frame = headed(named(found.values), *columns)
    return Section.told("values", tables=[Table("values-table", frame, told("values-table"))])


def _unmatched(found: Versus) -> Section | None:
    if found.unmatched.empty:
        return None
    counts = found.unmatched["only_in"].value_counts()
    words = (
        f"{counts.get('before', 0)} lines occur before only, {counts.get('after', 0)} after only; "
        "they were not compared."
    )
    frame = headed(named(found.unmatched), "contestant", "instance", "only_in")
    table = Table("unmatched-table", frame, is_long=True)
    return Section.told("unmatched", [words], tables=[table])


def _environments(before: Read, after: Read) -> Section:
    sides = {"before": _joined(before.environments), "after": _joined(after.environments)}
    table = environments_table("environments-table", sides)
    differs = table.frame["before"] != table.frame["after"]
    frame = table.frame.assign(
        after=toned(table.frame["after"], "bad", differs),
        difference=differs.map({True: "differs", False: ""}),
    )
    frame = pd.concat([frame[differs], frame[~differs]])
    words = (
        f"The environments differ in {enumerated(table.frame['what'][differs].to_list(), 6)}."
        if differs.any()
        else "The environments are the same."
    )
    return Section.told("environments", [words], tables=[Table(table.name, frame)])


def _joined(environments: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Several environments as one, with all values that a fact takes."""
    found: dict[str, list[str]] = {}
    for environment in environments.values():
        for key, value in flattened(environment).items():
            if value not in found.setdefault(key, []):
                found[key].append(value)
    return {key: " / ".join(values) for key, values in found.items()}
