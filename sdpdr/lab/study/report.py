"""The report of a study: the answer in sentences, then figures and tables that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from rich.filesize import decimal

from sdpdr.base.rows import counted, enumerated
from sdpdr.lab.plot import studies as plot
from sdpdr.lab.study import measures
from sdpdr.lab.study.outcomes import (
    EMPTY,
    KINDS,
    SOLVED,
    kind_of,
    outcome_cells,
    outcome_text,
)
from sdpdr.lab.study.page import Cell, Page, Picture, Section, Table, write_page
from sdpdr.lab.study.results import LoadedResults
from sdpdr.lab.study.schema import CLAIMS, ENDS, PARTS

# If a study has more instances, the map of outcomes shows those on which a contestant failed.
_MOST_INSTANCES = 60
# Names that a sentence lists, and names of instances that were left out.
_NAMED, _LEFT_OUT = 5, 20
# Characters of a message in a table.
_LONGEST_MESSAGE = 300
# Settings whose names in study files are short.
_SETTINGS = {"tols": "tolerances", "warmup": "warming up"}


def write_report(results: LoadedResults, path: str | PathLike[str]) -> None:
    """Write the report of a study as ``.html`` or ``.md``.

    Parameters
    ----------
    results : LoadedResults
        From `sdpdr.lab.study.results.read_results`.
    path : str or Path
        The HTML file contains everything that it shows, and runs no scripts; Markdown has no
        figures.

    Raises
    ------
    FileFormatError
        The suffix is another.
    """
    write_page(study_page(results), path)


def study_page(results: LoadedResults) -> Page:
    """Return the report of a study as a page."""
    data = _Data(results)
    sections: list[Section] = []
    if len(results.frame):
        # Contestants are ranked only after all runs have ended.
        ranked = () if results.n_missing else (_ranking, _profiles)
        made = (*ranked, _outcomes, _claims, _growth, _doubts, _every_run)
        sections = [section for make in made for section in make(data)]
    meta = results.meta
    title = str(meta.get("title") or meta.get("name") or "A study of solvers")
    question = str(meta.get("question") or "")
    return Page(
        title,
        question if question != title else "",
        list(_verdict(data)),
        [*sections, _settings(data), _machine(data), _limitations(data)],
    )


class _Data:
    """Results, and the lines and the order that all sections share."""

    def __init__(self, results: LoadedResults) -> None:
        self.results, self.frame = results, results.frame

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One line for every instance, contestant and tolerance."""
        return measures.runs_by_median(self.frame)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Numbers solved and mean seconds, the best contestant first."""
        return measures.means(self.runs)

    @cached_property
    def tolerances(self) -> list[float]:
        """The one that most lines have comes first."""
        counts = self.runs["tol"].value_counts()
        return sorted(counts.index, key=lambda tol: (-counts[tol], tol))

    @cached_property
    def order(self) -> list[str]:
        """Contestants, the best first, at the first tolerance; by name in an unfinished study."""
        if self.results.n_missing:
            return sorted(self.runs["contestant"].unique())
        ranks = self.means.assign(rank=self.means["tol"].map(self.tolerances.index))
        best = ranks.sort_values("rank", kind="stable")["contestant"].drop_duplicates()
        return list(dict.fromkeys([*best, *self.runs["contestant"]]))

    def at(self, tol: float) -> pd.DataFrame:
        """The lines of one tolerance."""
        return self.runs[self.runs["tol"] == tol]

    def ordered(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Lines by tolerance and contestant, the best first; without the tolerance if it is one."""
        places: dict[str, list[Any]] = {"tol": self.tolerances, "contestant": self.order}
        frame = frame.sort_values(
            ["tol", "contestant"], key=lambda c: c.map(places[c.name].index), kind="stable"
        )
        frame = frame if len(self.tolerances) > 1 else frame.drop(columns="tol")
        return frame.rename(columns={"tol": "tolerance"})

    def pictures(
        self, name: str, caption: str, draw: Callable[[float], Callable[[], Figure] | None]
    ) -> list[Picture]:
        """Return a picture for each tolerance for which `draw` returns a figure."""
        made = []
        for place, tol in enumerate(self.tolerances):
            figure = draw(tol)
            if figure is not None:
                note = f" Tolerance {tol:.0e}." if len(self.tolerances) > 1 else ""
                suffix = f"-{place + 1}" if place else ""
                made.append(Picture(f"{name}{suffix}", f"{caption}{note}", figure))
        return made


# -- the answer -----------------------------------------------------------------------------------


def _verdict(data: _Data) -> Iterator[str]:
    """The answer in sentences."""
    missing = _missing(data.results)
    if not len(data.frame):
        yield missing or "There are no runs yet."
        return
    tol = data.tolerances[0]
    runs = data.at(tol)
    yield from [missing] if missing else _best(data, runs, tol)
    yield _false_claims(runs)
    yield (
        f"Compared were {counted(data.runs['contestant'].nunique(), 'contestant')} (a solver in a "
        f"form) on {counted(data.runs['instance'].nunique(), 'instance')}: "
        f"{counted(len(data.frame), 'run')}."
    )


def _missing(results: LoadedResults) -> str:
    """Count the missing runs and name the command that adds them; empty for a finished study."""
    if not results.n_missing:
        return ""
    command = results.meta.get("command")
    again = f' "{command}" goes on where it stopped.' if command else ""
    return (
        f"This study is unfinished: {results.n_missing} of {results.meta['runs']} runs are "
        f"missing, so the contestants are not ranked yet.{again}"
    )


def _best(data: _Data, runs: pd.DataFrame, tol: float) -> Iterator[str]:
    """Name the contestants that solve the most, and the fastest."""
    where = f" at tolerance {tol:.0e}" if len(data.tolerances) > 1 else ""
    solved = runs.groupby("contestant")["solved"].sum()
    best = [name for name in data.order if name in solved.index and solved[name] == solved.max()]
    if solved.max() == 0:
        yield "No contestant solved anything."
    else:
        subject = f"{enumerated(best, _NAMED)} {'solves' if len(best) == 1 else 'solve'} the most:"
        if len(best) == len(solved) > 1:
            subject = f"All {len(best)} contestants solve"
        total = counted(runs["instance"].nunique(), "instance")
        yield f"{subject} {int(solved.max())} of {total}{where}, verified by us."
    means = data.means[(data.means["tol"] == tol) & (data.means["solved"] > 0)]
    if len(means) > 1:
        first, second = list(means.sort_values("mean").itertuples())[:2]
        yield (
            "By the shifted geometric mean of seconds, with unsolved instances counting as the "
            f"time limit, {first.contestant} is fastest ({first.mean:.3g} s), then "
            f"{second.contestant} at {second.mean / first.mean:.2f} times that."
        )


def _false_claims(runs: pd.DataFrame) -> str:
    false = runs[runs["claim_accuracy"] == "overstated"]["contestant"].value_counts()
    near = int((runs["claim_accuracy"] == "near").sum())
    missed = f" {counted(near, 'claim')} missed the tolerance by less than ten times."
    ending = missed if near else ""
    if not len(false):
        return f"No contestant claimed a success that it was far from.{ending}"
    names = enumerated([f"{name} ({n})" for name, n in false.items()], _NAMED)
    return (
        f"{counted(int(false.sum()), 'claim')} of success could not be verified: {names}.{ending}"
    )


# -- sections -------------------------------------------------------------------------------------


def _ranking(data: _Data) -> Iterator[Section]:
    """How many instances each contestant solved and how fast, and the contestants left out."""
    table = data.ordered(data.means)
    shown = pd.DataFrame(
        {
            "contestant": table["contestant"],
            **({"tolerance": table["tolerance"]} if "tolerance" in table else {}),
            "solved": _toned(table["solved"], "good", table["solved"] == table["instances"]),
            "instances": table["instances"],
            "mean seconds": table["mean"],
            "times the fastest": table["ratio"],
            "false claims": _toned(table["overstated"], "bad", table["overstated"] > 0),
            "median memory": table["memory"],
        }
    )
    note = (
        "An instance counts as solved if our own residuals and gap say so. Seconds are those to "
        f"compile, solve and certify; the mean is geometric, shifted by {measures.SHIFT:g} s, and "
        "an unsolved instance counts as its time limit. Only instances that every contestant has a "
        "run for are counted."
    )
    reasons = {
        "not installed, or without a licence": measures.not_installed(data.runs),
        "refused every problem": measures.refused_everywhere(data.runs),
    }
    left_out = {why: names for why, names in reasons.items() if names}
    text = [f"Left out, {why}: {enumerated(names, _LEFT_OUT)}." for why, names in left_out.items()]
    yield Section("ranking", "Ranking", text, tables=[Table(shown, note)])


def _profiles(data: _Data) -> Iterator[Section]:
    """Performance profiles."""

    def draw(tol: float) -> Callable[[], Figure] | None:
        profile = measures.performance_profile(data.runs, tol)
        finite = profile.ratios.to_numpy(dtype=float)
        finite = finite[np.isfinite(finite)]
        if not finite.size:
            return None
        end = 1.5 * max(float(finite.max()), 2.0)
        names = [name for name in data.order if name in profile.ratios]
        curves = {name: profile.curve(name, end) for name in names}
        return partial(plot.performance_profile, curves)

    caption = (
        "At 1 on the left, the share of instances on which a contestant was the fastest; further "
        "right, the share that it solved within so many times the seconds of the fastest; at the "
        "right end, the share that it solved at all. Higher is better. The figure shows which "
        "contestant is best; the order of the others depends on the others that take part."
    )
    pictures = data.pictures("profile", caption, draw)
    if pictures:
        yield Section("profile", "Performance profile", pictures=pictures)


def _outcomes(data: _Data) -> Iterator[Section]:
    """How every run ended, and why it failed."""
    left_out: list[str] = []

    def draw(tol: float) -> Callable[[], Figure]:
        runs = data.at(tol).sort_values(["method", "n"], kind="stable")
        kinds = list(map(KINDS.index, map(kind_of, runs["outcome"], runs["solved"])))
        laid = runs.assign(kind=kinds).pivot(index="instance", columns="contestant", values="kind")
        laid = laid.reindex(runs["instance"].unique())
        laid = laid[[name for name in data.order if name in laid]]
        laid = laid.fillna(KINDS.index(EMPTY)).astype(int)
        uneven = laid[(laid != KINDS.index(SOLVED)).any(axis=1)]
        if len(laid) > _MOST_INSTANCES and 0 < len(uneven) < len(laid):
            n = counted(len(laid) - len(uneven), "instance")
            left_out.append(f"Not drawn: {n} that every contestant solved.")
            laid = uneven
        signs = [(kind.name, kind.sign, kind.colour) for kind in KINDS]
        return partial(
            plot.outcome_map, list(laid.index), list(laid.columns), laid.to_numpy(), signs
        )

    order = "in the order of their names" if data.results.n_missing else "the best on the left"
    caption = f"One line an instance, one column a contestant, {order}."
    pictures = data.pictures("outcomes-map", caption, draw)
    counts = data.ordered(measures.outcome_counts(data.runs).reset_index())
    tables = [Table(counts.rename(columns=outcome_text), "Number of instances by outcome.")]
    met = [f"{outcome_text(name).capitalize()}: {ENDS[name]}." for name in counts if name in ENDS]
    runs = data.runs.assign(false=data.runs["claim_accuracy"] == "overstated")
    runs = runs[~runs["solved"] | runs["false"]]
    runs = runs.sort_values("false", ascending=False, kind="stable")
    if len(runs):
        reasons = pd.DataFrame(
            {
                "contestant": runs["contestant"],
                "instance": runs["instance"],
                **({"tolerance": runs["tol"]} if len(data.tolerances) > 1 else {}),
                "outcome": outcome_cells(runs),
                "claim": _toned(runs["claim_accuracy"], "bad", runs["false"]),
                "worst error": runs["worst"],
                "message": list(map(_short, runs["message"])),
            }
        )
        tables.append(Table(reasons, "Instances that were not solved or falsely claimed, and why."))
    yield Section("outcomes", "Outcomes", left_out, pictures, tables, points=met)


def _claims(data: _Data) -> Iterator[Section]:
    """Claims against what was verified."""
    table = data.ordered(measures.claims(data.runs).reset_index())
    for word, tone in (("near", "fair"), ("overstated", "bad")):
        table[word] = _toned(table[word], tone, table[word] > 0)
    text = (
        "A solver's claim is recorded and decides nothing: residuals, value and bound are "
        "computed by us at the point that it returned."
    )
    points = [f"{word}: {words}" for word, words in CLAIMS.items() if word]
    note = "Number of instances by what the claim was worth."
    tables = [Table(table.rename(columns={"none": "no claim"}), note)]
    yield Section("claims", "Claimed and verified", [text], tables=tables, points=points)


def _growth(data: _Data) -> Iterator[Section]:
    """Seconds over size, for families."""
    table = measures.growth(data.runs)
    if table.empty:
        return
    pictures = []
    by = ["family", "variant", "tol"]
    for place, ((family, variant, tol), lines) in enumerate(table.groupby(by, sort=False)):
        runs = data.at(tol)
        runs = runs[(runs["family"] == family) & (runs["variant"] == variant) & runs["solved"]]
        runs = runs[(runs["seconds"] > 0.0) & runs["n"].notna()].sort_values("n")
        points = {
            name: (own["n"].to_numpy(float), own["seconds"].to_numpy(float))
            for name, own in runs.groupby("contestant")
        }
        points = {name: points[name] for name in data.order if name in points}
        if not points:
            continue
        fits = lines.set_index("contestant")
        fitted = {
            name: (n, fits.loc[name, "factor"] * n ** fits.loc[name, "exponent"])
            for name, (n, _) in points.items()
            if np.isfinite(fits.loc[name, "exponent"])
        }
        caption = (
            f"Family {measures.instance_name(family, variant)}, tolerance {tol:.0e}: each mark is "
            "a solved instance, each line a power of the size. Both scales are logarithmic."
        )
        figure = partial(plot.growth, points, fitted)
        pictures.append(Picture(f"growth-{place + 1}", caption, figure))
    table["family"] = list(map(measures.instance_name, table["family"], table["variant"]))
    table = data.ordered(table.drop(columns=["variant", "factor"])).rename(
        columns={"largest_solved": "largest solved", "first_failed": "smallest failed"}
    )
    table.insert(0, "contestant", table.pop("contestant"))
    note = (
        "Exponents of the size, of a straight line through the logarithms. Fewer than three sizes "
        "make no exponent; small sizes, at which every program takes some time, make it too small."
    )
    yield Section("growth", "Growth with size", [], pictures, [Table(table, note)])


def _doubts(data: _Data) -> Iterator[Section]:
    """Verified answers that contradict one another."""
    found = measures.disagreements(data.frame)
    if len(found):
        note = (
            "Answers that we verified and that contradict another verified answer or the "
            "reference. They are findings about the problem or about our grading before they are "
            "findings about a solver."
        )
        table = Table(found.rename(columns={"other_value": "other value"}), note)
        yield Section("doubts", "Contradictions", tables=[table])


def _every_run(data: _Data) -> Iterator[Section]:
    """All records."""
    records = measures.named(data.frame)
    titles = {
        "tol": "tolerance", "claim_accuracy": "claim", "worst": "worst error",
        "peak_memory": "memory",
    }  # fmt: skip
    columns = [
        "instance", "contestant", "n", "tol", "repeat", "outcome", "claim_accuracy", "value", "gap",
        "worst", *PARTS, "peak_memory", "used",
    ]  # fmt: skip
    shown = records.assign(outcome=outcome_cells(records))[columns].rename(columns=titles)
    alike = [name for name in ("tolerance", "repeat") if shown[name].nunique() < 2]
    yield Section("runs", "All runs", tables=[Table(shown.drop(columns=alike))])


def _settings(data: _Data) -> Section:
    """The study file, its settings and the command."""
    meta = data.results.meta
    facts = {
        "begun": _moment(meta.get("started")),
        "ended": _moment(meta.get("finished")) or "not yet",
    }
    for name, value in (meta.get("settings") or {}).items():
        unit = " s" if name in ("time_limit", "patience") else ""
        words = decimal(value) if name == "memory_limit" else f"{_words(value)}{unit}"
        facts[_SETTINGS.get(name, name.replace("_", " "))] = words
    code = {"Command": meta.get("command"), "Study file": meta.get("text")}
    return Section(
        "settings",
        "Settings",
        facts={name: words for name, words in facts.items() if words},
        code={caption: str(text) for caption, text in code.items() if text},
    )


def _machine(data: _Data) -> Section:
    """Machines and versions."""
    found = {name: flat(content) for name, content in data.results.environments.items()}
    if len(found) == 1:
        return Section("machine", "Machine and versions", facts=next(iter(found.values())))
    if not found:
        return Section("machine", "Machine and versions", ["They were not recorded."])
    counts = data.frame["environment"].value_counts()
    titled = {f"{name} ({counts.get(name, 0)} runs)": facts for name, facts in found.items()}
    table = pd.DataFrame(titled).fillna("").rename_axis("what").reset_index()
    text = f"Runs come from {len(found)} environments; times across them do not compare."
    return Section("machine", "Machine and versions", [text], tables=[Table(table)])


def _limitations(data: _Data) -> Section:
    """Conclusions that the results do not support."""
    points = [
        "Times are of this machine, this load and these versions. Ratios carry over better than "
        "seconds; neither carries over to other problems.",
        "A solver is run with one tolerance translated into its options and its other settings as "
        "they are; its author would tune it better.",
        "Gaps are verified up to rounding in double precision. Where no bound can be proved, the "
        "grade rests on residuals.",
        "Runs at the same time share memory and its bandwidth; to quote times, use jobs = 1.",
    ]
    if len(data.frame):
        repeats = int(data.runs["repeats"].max())
        points.append(
            "Each run was made once: differences of some ten percent may be noise."
            if repeats < 2
            else f"Each run was made up to {repeats} times, and the median is used."
        )
    return Section("limitations", "Limitations", points=points)


# -- words ----------------------------------------------------------------------------------------


def _toned(values: pd.Series, tone: str, chosen: pd.Series) -> list[Cell]:
    """Return values as cells, with a tone where chosen."""
    return [Cell(v, tone if yes else "") for v, yes in zip(values, chosen, strict=True)]


def _short(message: str) -> str:
    plain = " ".join(message.split())
    return plain if len(plain) <= _LONGEST_MESSAGE else f"{plain[:_LONGEST_MESSAGE]} …"


def _moment(time: Any) -> str:
    """A time such as 2026-01-01 10:00:00 UTC."""
    return str(time or "").replace("T", " ").replace("+00:00", " UTC")


def flat(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return an environment as facts, the versions last."""
    plain = {k: _words(v) for k, v in environment.items() if not isinstance(v, Mapping)}
    nested = [v for v in environment.values() if isinstance(v, Mapping)]
    return plain | {str(k): _words(v) for part in nested for k, v in part.items()}


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_words, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)
