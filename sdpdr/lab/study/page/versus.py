"""The page that compares two results: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sdpdr.lab.study.measures import Versus, versus
from sdpdr.lab.study.measures.contestants import label
from sdpdr.lab.study.page.material import counted, enumerated, instance_of, who_of
from sdpdr.lab.study.page.parts import Cell, Chart, Column, Page, Section, Table
from sdpdr.lab.study.page.record import flattened, moment
from sdpdr.lab.study.page.trust import outcome_cell
from sdpdr.lab.study.reading import Read

_TONES = {
    "slower": "bad", "faster": "good", "regression": "bad", "improvement": "good",
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
        _limitations(),
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
    named = str(result.meta.get("name") or otherwise)
    began = moment(result.meta.get("started"))
    return f"{named}, begun {began}" if began else named


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
        table = found.contestants[found.contestants["verdict"] == word]
        table = table.assign(who=who_of(table)).sort_values("ratio", ascending=sign < 0)
        changed = [
            f"{line.who} ({line.ratio**sign:.2f} times as {'slow' if sign > 0 else 'fast'})"
            for line in table.itertuples()
        ]
        if changed:
            yield f"{word.capitalize()}: {enumerated(changed, 6)}."
    changes = found.changes.assign(
        what=[
            f"{i} by {w}"
            for i, w in zip(instance_of(found.changes), who_of(found.changes), strict=True)
        ]
    )
    excused = changes["excuse"] != ""
    for words, lines in (
        ("Newly failed", changes[(changes["change"] == "newly failed") & ~excused]),
        ("Newly failed, with an excuse", changes[excused]),
        ("Newly solved", changes[changes["change"] == "newly solved"]),
    ):
        if len(lines):
            yield f"{words}: {enumerated(lines['what'].to_list())}."
    if len(found.values):
        yield f"Another value than before: {enumerated(instance_of(found.values))}."


def _contestants(found: Versus) -> Section:
    table = found.contestants
    several = table["tol"].nunique() > 1
    columns = [
        Column("contestant"),
        *([Column("tol", ".0e")] if several else []),
        Column("verdict"),
        Column("instances", "d", "solved in both"),
        Column("after / before", ".3f", "geometric mean ratio of seconds"),
        Column("from", ".3f", "lower end of its 95% interval"),
        Column("to", ".3f", "upper end"),
        Column("p", ".2g", "of a change beyond noise and beyond 10%; Holm's correction"),
        Column("newly solved", "d"),
        Column("newly failed", "d"),
    ]
    rows = [
        [
            label(line.solver, line.form),
            *([line.tol] if several else []),
            Cell(line.verdict, _TONES.get(line.verdict, "")),
            *(line.pairs, line.ratio, line.low, line.high, line.adjusted),
            Cell(line.newly_solved, "good" if line.newly_solved else ""),
            Cell(line.newly_failed, "bad" if line.newly_failed else ""),
        ]
        for line in table.itertuples()
    ]
    words = (
        "A contestant is called slower or faster when its change exceeds ten percent and what "
        "noise can do, with the correction for looking at several contestants. Ratios above 1 are "
        "slower."
    )
    return Section(
        "contestants", "Contestants", tables=[Table("contestants-table", columns, rows, words)]
    )


def _times(found: Versus) -> Section | None:
    timed = found.pairs.dropna(subset="ratio")
    timed = timed.assign(who=who_of(timed), instance=instance_of(timed))
    if timed.empty:
        return None
    order = list(dict.fromkeys(who_of(found.contestants)))
    band = float(np.exp(1.96 * np.sqrt(2.0) * found.noise))

    def draw() -> Any:
        from sdpdr.lab.study.page import figures

        points = {
            who: (
                group["before_seconds"].to_numpy(float),
                group["after_seconds"].to_numpy(float),
                [
                    f"<b>{figures.shown(line.instance)}</b><br>{figures.shown(who)}<br>"
                    f"{line.before_seconds:.3g} s, then {line.after_seconds:.3g} s "
                    f"({line.ratio:.2f} times)"
                    for line in group.itertuples()
                ],
            )
            for who in order
            if len(group := timed[timed["who"] == who])
        }
        return figures.against(points, band, order, ("before", "after"))

    chart = Chart(
        "times-figure",
        "One mark an instance and contestant solved in both; above the diagonal is slower now. "
        f"Within the grey band, a factor of {band:.2f}, a single mark says nothing: noise alone "
        "moves 95% of the marks by less.",
        draw,
    )
    worst = timed.assign(_far=np.abs(np.log(timed["ratio"]))).sort_values("_far", ascending=False)
    columns = [
        Column("instance"),
        Column("contestant"),
        Column("before", ".3g", "seconds"),
        Column("after", ".3g", "seconds"),
        Column("ratio", ".2f"),
        Column("same task", hint="whether the settings of the run are the same in both"),
    ]
    rows = [
        [line.instance, line.who, line.before_seconds, line.after_seconds, line.ratio,
         "yes" if line.same_task else "no"]
        for line in worst.itertuples()
    ]  # fmt: skip
    table = Table("times-table", columns, rows, "All of them, largest change first.", is_long=True)
    return Section("times", "Seconds, before and after", (), (chart,), (table,))


def _changes(found: Versus) -> Section | None:
    if found.changes.empty:
        return None
    columns = [
        Column("contestant"),
        Column("instance"),
        Column("change"),
        Column("before"),
        Column("after"),
        Column("seconds before", ".3g"),
        Column("seconds after", ".3g"),
        Column("excuse", hint="why a failure does not count as a regression"),
    ]
    table = found.changes
    rows = [
        [
            who,
            instance,
            Cell(line.change, "good" if line.change == "newly solved" else "bad"),
            outcome_cell(line.before_outcome, line.change == "newly failed"),
            outcome_cell(line.after_outcome, line.change == "newly solved"),
            *(line.before_seconds, line.after_seconds, line.excuse),
        ]
        for who, instance, line in zip(
            who_of(table), instance_of(table), table.itertuples(), strict=True
        )
    ]
    words = "Solved in one of the two only."
    return Section(
        "changes",
        "Changes of outcome",
        tables=[Table("changes-table", columns, rows, words, is_long=len(rows) > 25)],
    )


def _values(found: Versus) -> Section | None:
    moved = found.values
    if moved.empty:
        return None
    columns = [
        Column("contestant"),
        Column("instance"),
        Column("value before", ".9g"),
        Column("value after", ".9g"),
        Column("apart", ".1e", "relative distance"),
    ]
    rows = [
        [who, instance, line.before_value, line.after_value, line.apart]
        for who, instance, line in zip(
            who_of(moved), instance_of(moved), moved.itertuples(), strict=True
        )
    ]
    words = "Solved in both, with values that differ beyond the tolerance."
    table = Table("values-table", columns, rows, words)
    return Section("values", "Changes of value", tables=[table])


def _unmatched(found: Versus) -> Section | None:
    table = found.unmatched
    if table.empty:
        return None
    counts = table["only_in"].value_counts()
    rows = [
        [who, instance, line.only_in]
        for who, instance, line in zip(
            who_of(table), instance_of(table), table.itertuples(), strict=True
        )
    ]
    words = (
        f"{counts.get('before', 0)} lines occur before only, {counts.get('after', 0)} after only; "
        "they were not compared."
    )
    columns = [Column("contestant"), Column("instance"), Column("only in")]
    return Section(
        "unmatched",
        "Not compared",
        (words,),
        tables=[Table("unmatched-table", columns, rows, is_long=True)],
    )


def _environments(before: Read, after: Read) -> Section:
    first, second = (_joined(result.environments) for result in (before, after))
    what = list(dict.fromkeys([*first, *second]))
    rows = [
        [
            key,
            first.get(key, ""),
            Cell(second.get(key, ""), "bad" if first.get(key) != second.get(key) else ""),
            "differs" if first.get(key) != second.get(key) else "",
        ]
        for key in what
    ]
    rows.sort(key=lambda row: row[3] == "")
    different = [str(row[0]) for row in rows if row[3]]
    words = (
        f"The environments differ in {enumerated(different, 6)}."
        if different
        else "The environments are the same."
    )
    columns = [Column("what"), Column("before"), Column("after"), Column("difference")]
    return Section(
        "environments",
        "Machines and versions",
        (words,),
        tables=[Table("environments-table", columns, rows)],
    )


def _joined(environments: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Several environments as one, with all values that a fact takes."""
    found: dict[str, list[str]] = {}
    for environment in environments.values():
        for key, value in flattened(environment).items():
            if value not in found.setdefault(key, []):
                found[key].append(value)
    return {key: " / ".join(values) for key, values in found.items()}


def _limitations() -> Section:
    return Section(
        "limitations",
        "Limitations",
        points=[
            "Two results of one machine on two days differ by more than repeats within one show: "
            "changes below ten percent are never called a change.",
            "On different machines a change of seconds says nothing about the code.",
            "Contestants are compared on what both results solve; look at the changes of outcome "
            "beside it.",
        ],
    )
