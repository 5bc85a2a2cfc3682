"""Sections for the record: every run, what was asked, on which machine, and what it cannot tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from textwrap import shorten
from typing import Any

import pandas as pd

from sdpdr.lab.study.page.material import Material, counted, instance_of, who_of
from sdpdr.lab.study.page.parts import Cell, Column, Section, Table, show_bytes
from sdpdr.lab.study.page.trust import outcome_cell

_COLUMNS: Mapping[str, Column] = {
    "instance": Column("instance"),
    "contestant": Column("contestant"),
    "method": Column("method"),
    "n": Column("n", "d", "points, rows of the matrix, or order of the largest matrix"),
    "tol": Column("tol", ".0e", "relative gap asked for"),
    "repeat": Column("repeat", "d"),
    "outcome": Column("verified", hint="what we found"),
    "claimed": Column("claimed", hint="in the solver's own words"),
    "honesty": Column("the claim", hint="what the claim was worth"),
    "value": Column("value", ".9g", "at the point returned, computed by us"),
    "gap": Column("gap", ".1e", "relative distance of the value from the bound that we proved"),
    "worst": Column("worst error", ".1e", "the largest of the six DIMACS errors"),
    "iterations": Column("iterations", "d", "by the solver's count"),
    "build": Column("build", ".3f", "seconds"),
    "compile": Column("compile", ".3f", "seconds"),
    "solve": Column("solve", ".3f", "seconds"),
    "certify": Column("certify", ".3f", "seconds"),
    "peak_memory": Column("memory", "bytes", "peak of the process"),
    "used": Column("used", hint="what `auto` chose, or what was asked for"),
    "words": Column("words", hint="why there is no answer, or what the solver had to say"),
}


def every_run(material: Material) -> Section:
    """All rows."""
    frame = material.frame
    frame = frame.assign(instance=instance_of(frame), contestant=who_of(frame))
    several = {name for name in ("tol", "repeat") if frame[name].nunique() > 1}
    kept = [name for name in _COLUMNS if name not in {"tol", "repeat"} - several]
    frame = frame.assign(
        outcome=[
            replace(outcome_cell(outcome, solved), hint="")  # the same words a thousand times over
            for outcome, solved in zip(frame["outcome"], frame["solved"], strict=True)
        ],
        words=[brief(words) for words in frame["words"]],
    )
    rows = list(zip(*(frame[name].tolist() for name in kept), strict=True))
    words = (
        "One row a run. Click a heading to sort by it and again to turn the order around; what is "
        "missing stays last."
    )
    table = Table("runs-table", [_COLUMNS[name] for name in kept], rows, words, is_long=True)
    return Section("runs", "All runs", (), (), (table,))


def brief(words: str, most: int = 120) -> Cell:
    """The beginning of a long message, the whole of it when pointed at."""
    plain = " ".join(words.split())
    if len(plain) <= most:
        return Cell(plain)
    return Cell(shorten(plain, most, placeholder=" …"), hint=shorten(plain, 2000, placeholder=" …"))


def asked(material: Material) -> Section:
    """The study file, its settings, and the command."""
    meta = material.meta
    settings = meta.get("settings") or {}
    facts = {
        "question": meta.get("question"),
        "begun": moment(meta.get("started")),
        "ended": moment(meta.get("finished")),
    } | dict(_setting(name, value) for name, value in settings.items())
    code = {
        "Command": meta.get("command"),
        "The study": meta.get("text"),
    }
    return Section(
        "asked",
        "What was asked",
        facts={what: str(how) for what, how in facts.items() if how not in ("", None)},
        code={caption: str(text) for caption, text in code.items() if text},
    )


def moment(time: Any) -> str:
    """A time as people write it.

    Examples
    --------
    >>> moment("2026-01-01T10:00:00+00:00")
    '2026-01-01 10:00:00 UTC'
    """
    return re.sub(r"(\d)T(\d)", r"\1 \2", str(time or "")).replace("+00:00", " UTC")


def _setting(name: str, value: Any) -> tuple[str, str]:
    """Name and value of a setting, with its unit."""
    plain = {"tols": "tolerances", "hopeless": "not tried beyond"}.get(name, name.replace("_", " "))
    if isinstance(value, bool):
        return plain, "yes" if value else "no"
    if name == "memory_limit" and isinstance(value, (int, float)):
        return plain, show_bytes(value)
    unit = {"time_limit": " s", "patience": " s", "hopeless": " time limits"}.get(name, "")
    return plain, f"{_in_words(value)}{unit}"


def machine(material: Material) -> Section:
    """Machines and versions, one column each."""
    found = {d: flattened(e) for d, e in material.environments.items()}
    counts = material.frame["environment"].value_counts()
    words = [f"Runs come from {len(found)} environments; times across them do not compare."]
    if len(found) > 1:
        titled = {f"{d} ({counts.get(d, 0)} runs)": facts for d, facts in found.items()}
        table = environments_table("machine-table", titled)
        return Section("machine", "Machine and versions", words, tables=[table])
    facts = next(iter(found.values()), {"machine": "not recorded"})
    return Section("machine", "Machine and versions", facts=facts)


def environments_table(name: str, environments: Mapping[str, Mapping[str, str]]) -> Table:
    """Environments side by side."""
    what = list(dict.fromkeys(key for found in environments.values() for key in found))
    columns = [Column("what"), *(Column(title) for title in environments)]
    rows = [[key, *(found.get(key, "") for found in environments.values())] for key in what]
    return Table(name, columns, rows)


def flattened(environment: Mapping[str, Any]) -> dict[str, str]:
    """An environment as facts; the versions last.

    Examples
    --------
    >>> flattened({"versions": {"numpy": "2.1"}, "processors": 2})
    {'processors': '2', 'numpy': '2.1'}
    """
    plain = {k: _in_words(v) for k, v in environment.items() if not isinstance(v, Mapping)}
    nested = [v for v in environment.values() if isinstance(v, Mapping)]
    return plain | {str(k): _in_words(v) for part in nested for k, v in part.items()}


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_in_words(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_in_words, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)


def limitations(material: Material) -> Section:
    """What a reader should not conclude."""
    frame, runs = material.frame, material.runs
    repeats = int(runs["repeats"].max()) if len(runs) else 0
    points = [
        "Times are of this machine, this load and these versions. Ratios carry over better than "
        "seconds; neither carries over to other problems.",
        "The problems were chosen by us. They are semidefinite programs of dimensionality "
        "reduction and factorization unless files of yours were named; a solver that is slow on "
        "them may be fast on others.",
        "A solver is run with one tolerance translated into its options and its other settings as "
        "they are; its author would tune it better.",
        _repeats_sentence(repeats),
        "What is not solved counts in the mean as its time limit, so means of contestants that "
        "solve little say more about the limit than about them.",
        "Gaps are verified up to rounding in double precision. Where no bound can be proved, the "
        "grade rests on residuals.",
    ]
    return Section("limitations", "Limitations", points=[*points, *_found_limits(frame, material)])


def _repeats_sentence(repeats: int) -> str:
    if repeats < 2:
        return "Each run was made once: differences of a few ten percent may be noise."
    return (
        f"Each run was made up to {repeats} times and the median is used; differences within the "
        "spread of the repeats are noise."
    )


def _found_limits(frame: pd.DataFrame, material: Material) -> list[str]:
    """Limits that these results in particular have."""
    found = []
    if frame["environment"].nunique() > 1:
        found.append("Runs were made in several environments; times across them do not compare.")
    threads = frame["threads"].dropna().unique()
    if len(threads) > 1:
        found.append("The runs were not all given the same number of threads.")
    counts = material.runs.groupby(["tol", "instance"])["who"].nunique()
    most = material.runs.groupby("tol")["who"].nunique()
    uneven = sum(int(n < most[tol]) for (tol, _), n in counts.items())
    if uneven:
        found.append(
            f"{counted(uneven, 'instance')} with no run of some contestant: left out of means, "
            "profiles and regret."
        )
    if len(frame) and not frame["seed"].nunique() > 1:
        found.append("One seed: variation over seeds was not measured.")
    return found
