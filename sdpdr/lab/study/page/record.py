"""Sections for the record: every run, what was asked, on which machine, and what it cannot tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Any

import pandas as pd

from sdpdr.base.rows import counted
from sdpdr.lab.study.page.material import Material
from sdpdr.lab.study.page.outcomes import outcome_cell
from sdpdr.lab.study.page.parts import Cell, Section, Table, headed, listed, show_bytes, told

_SHOWN = (
    "instance", "contestant", "method", "n", "tol", "repeat", "outcome", "claimed", "honesty",
    "value", "gap", "worst", "iterations", "build", "compile", "solve", "certify", "peak_memory",
    "used", "words",
)  # fmt: skip


def every_run(material: Material) -> Section:
    """All rows."""
    rows = material.rows
    alike = [name for name in ("tol", "repeat") if rows[name].nunique() < 2]
    shown = rows.assign(
        # What an outcome means would be the same words a thousand times over.
        outcome=[
            outcome_cell(outcome, solved, hinted=False)
            for outcome, solved in zip(rows["outcome"], rows["solved"], strict=True)
        ],
        words=list(map(brief, rows["words"])),
    )
    frame = headed(shown, *_SHOWN).drop(columns=alike)
    table = Table("runs-table", frame, told("runs-table"), is_long=True)
    return Section.told("runs", tables=[table])


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
    return Section.told(
        "asked",
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
        return Section.told("machine", words, tables=[table])
    facts = next(iter(found.values()), {"machine": "not recorded"})
    return Section.told("machine", facts=facts)


def environments_table(name: str, environments: Mapping[str, Mapping[str, str]]) -> Table:
    """Environments side by side."""
    frame = pd.DataFrame(environments).fillna("")
    return Table(name, frame.rename_axis("what").reset_index())


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
    repeats = int(material.runs["repeats"].max()) if len(material.runs) else 0
    noise = (
        "Each run was made once: differences of a few ten percent may be noise."
        if repeats < 2
        else f"Each run was made up to {repeats} times and the median is used; differences within "
        "the spread of the repeats are noise."
    )
    return Section.told("limitations", points=[*listed("study"), noise, *_found_limits(material)])


def _found_limits(material: Material) -> Iterator[str]:
    """Limits that these results in particular have."""
    frame, runs = material.frame, material.runs
    if frame["environment"].nunique() > 1:
        yield "Runs were made in several environments; times across them do not compare."
    if frame["threads"].nunique() > 1:
        yield "The runs were not all given the same number of threads."
    counts = runs.groupby(["tol", "instance"])["contestant"].nunique()
    most = runs.groupby("tol")["contestant"].nunique()
    uneven = int((counts < most.reindex(counts.index, level="tol")).sum())
    if uneven:
        yield (
            f"{counted(uneven, 'instance')} with no run of some contestant: left out of means, "
            "profiles and regret."
        )
    if len(frame) and frame["seed"].nunique() <= 1:
        yield "One seed: variation over seeds was not measured."
