"""Sections on speed: the ranking, profiles, where the time goes, and growth with size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.lab import plot
from sdpdr.lab.study.measures.contestants import label
from sdpdr.lab.study.measures.failures import claims
from sdpdr.lab.study.measures.growth import growth
from sdpdr.lab.study.measures.means import SHIFT, Profile, performance_profile, time_profile
from sdpdr.lab.study.page.material import Material, who_of
from sdpdr.lab.study.page.parts import Cell, Chart, Column, Section, Table

PHASES = ("build", "compile", "solve", "certify")


def ranking(material: Material) -> Section:
    """Contestants, best first: how many they solve, how fast, and what their word is worth."""
    runs = material.runs
    means = {
        (line.tol, label(line.solver, line.form)): line for line in material.means.itertuples()
    }
    worth = claims(runs)
    told = {(tol, label(s, f)): row for (tol, s, f), row in worth.iterrows()}
    several = len(material.tolerances) > 1
    rows = [
        _ranking_row(group, means.get((tol, who)), told[(tol, who)], tol, several)
        for tol in material.tolerances
        for who, group in material.by_contestant(tol).items()
    ]
    columns = [
        Column("contestant", hint="solver and form"),
        *([Column("tol", ".0e", "relative gap asked for")] if several else []),
        Column("solved", "d", "answers that we verified, and that were expected"),
        Column("of", "d", "instances it was asked for"),
        Column("times the best", ".2f", "ratio of shifted geometric means of seconds"),
        Column("mean seconds", ".3g", f"shifted geometric mean, shift {SHIFT:g} s"),
        Column("overstated", "d", "claims of success that we could not verify"),
        Column("median memory", "bytes", "of the peaks of the process"),
    ]
    words = (
        f"An instance counts as solved when our own residuals and gap say so. Seconds are those to "
        f"compile, solve and certify, by the median of the repeats; the mean is geometric, shifted "
        f"by {SHIFT:g} s, over the instances that every contestant was run on, and what is not "
        "solved counts as its time limit. Contestants are ordered by the number solved first."
    )
    table = Table("ranking-table", columns, rows, words)
    why = [f"There are no means: {material.no_means}."] if material.no_means else []
    return Section("ranking", "Ranking", why, tables=[table])


def _ranking_row(
    group: pd.DataFrame, line: Any, told: pd.Series, tol: float, several: bool
) -> list[Any]:
    n, solved, false = len(group), int(group["solved"].sum()), int(told["overstated"])
    memory = group["peak_memory"].dropna()
    return [
        group["who"].iloc[0],
        *([tol] if several else []),
        Cell(solved, "good" if solved == n else ""),
        n,
        line.ratio if line is not None else None,
        line.mean if line is not None else None,
        Cell(false, "bad" if false else ""),
        float(memory.median()) if len(memory) else None,
    ]


def profiles(material: Material) -> Section:
    """Performance profiles, then profiles over seconds, one of each for each tolerance."""
    charts = [
        _profile(material, tol, k) for tol in material.tolerances for k, _ in enumerate(_PROFILES)
    ]
    return Section(
        "profile",
        "Performance profile",
        ("The share of instances solved within a budget of time, as far as we could verify.",),
        [chart for chart in charts if chart is not None],
    )


@dataclass(frozen=True)
class _Kind:
    name: str
    of: Callable[[pd.DataFrame], Profile]
    x: str
    unit: str
    words: str


_PROFILES = (
    _Kind(
        "profile-figure",
        performance_profile,
        "times the fastest verified answer",
        "times the fastest",
        "At 1 on the left, the share of instances on which a contestant was the fastest; further "
        "right, the share it solved within so many times the seconds of the fastest; at the right "
        "end, the share it solved at all. Higher is better. This profile tells who is best; the "
        "order of the others depends on who takes part.",
    ),
    _Kind(
        "seconds-figure",
        time_profile,
        "seconds",
        "seconds",
        "The share of instances that a contestant solved within so many seconds. The curve of a "
        "contestant does not depend on the others, so that any two can be compared; it mixes "
        "problems of all sizes.",
    ),
)


def _profile(material: Material, tol: float, k: int) -> Chart | None:
    kind = _PROFILES[k]
    profile = kind.of(material.at(tol))
    n = len(profile.costs)
    start = 1.0 if kind.of is performance_profile else None
    curves = _curves(profile, material, start)
    if not curves:
        return None
    order = material.order

    def draw() -> Any:
        from sdpdr.lab.study.page import figures

        return figures.profile(curves, order, n, kind.x, kind.unit)

    return Chart(
        f"{kind.name}{material.suffix(tol)}",
        f"{kind.words}{material.noted(tol)}",
        draw,
        lambda: plot.performance_profile(curves, x=kind.x),
    )


def _curves(
    profile: Profile, material: Material, start: float | None
) -> Mapping[str, tuple[Any, Any]]:
    """Steps of every contestant, in order, all from one left end to one right end."""
    steps = {label(*who): profile.steps(*who) for who in profile.contestants}
    jumps = [tau for s in steps.values() for tau in s["tau"]]
    if not jumps:
        return {}
    left = start or min(jumps) / 1.5
    right = 1.5 * max(jumps)
    curves = {}
    for who in material.order:
        if who in steps:
            tau, share = steps[who]["tau"].to_numpy(), steps[who]["share"].to_numpy()
            if not tau.size or tau[0] > left:
                tau, share = np.insert(tau, 0, left), np.insert(share, 0, 0.0)
            curves[who] = (np.append(tau, right), np.append(share, share[-1]))
    return curves


def phases(material: Material) -> Section:
    """Where the seconds go, by phase."""
    charts, tables = [], []
    for tol in material.tolerances:
        solved = material.at(tol)
        solved = solved[solved["solved"] & (solved["total"] > 0.0)]
        if not len(solved):
            continue
        shares = solved[[*PHASES]].fillna(0.0).div(solved[[*PHASES]].sum(axis=1), axis=0)
        share = shares.assign(who=solved["who"]).groupby("who").mean()
        median = solved.groupby("who")[[*PHASES, "total"]].median()
        names = [who for who in material.order if who in share.index]
        charts.append(_phase_chart(material, tol, names, share, median))
        tables.append(_phase_table(material, tol, names, median))
    return Section(
        "phases",
        "Where the time goes",
        (
            "Build makes the data, the graph and the model, the same for all; compile makes the "
            "program of a form and hands it over; solve is the solver; certify measures the "
            "answer and proves a bound.",
        ),
        charts,
        tables,
    )


def _phase_chart(
    material: Material, tol: float, names: list[str], share: pd.DataFrame, median: pd.DataFrame
) -> Chart:
    def draw() -> Any:
        from sdpdr.lab.study.page import figures

        return figures.phases(
            names,
            {phase: share.loc[names, phase].to_list() for phase in PHASES},
            {phase: median.loc[names, phase].to_list() for phase in PHASES},
        )

    return Chart(
        f"phases-figure{material.suffix(tol)}",
        "Share of the seconds that each phase takes, on average over the instances that the "
        f"contestant solved{material.at_words(tol)}. Contestants solve different instances, so "
        "compare the colours within a bar.",
        draw,
    )


def _phase_table(material: Material, tol: float, names: list[str], median: pd.DataFrame) -> Table:
    columns = [
        Column("contestant"),
        *(Column(phase, ".3g", "median seconds") for phase in (*PHASES, "total")),
    ]
    rows = [[who, *median.loc[who, [*PHASES, "total"]]] for who in names]
    words = f"Median seconds of each phase, over the instances solved{material.at_words(tol)}."
    return Table(f"phases-table{material.suffix(tol)}", columns, rows, words)


def growths(material: Material) -> Section | None:
    """Seconds over size, one figure for each family and tolerance."""
    table = growth(material.runs)
    if table.empty:
        return None
    table = table.assign(who=who_of(table))
    charts = [
        _growth_chart(material, k, lines)
        for k, (_, lines) in enumerate(table.groupby(["family", "variant", "tol"], sort=False))
    ]
    kept = [chart for chart in charts if chart is not None]
    return Section(
        "growth",
        "Growth with size",
        ("Seconds to a graded answer over the size of the problem, for problems of one family.",),
        [replace(chart, is_small=len(kept) > 1) for chart in kept],
        [_growth_table(material, table)],
    )


def _growth_chart(material: Material, k: int, lines: pd.DataFrame) -> Chart | None:
    family, variant, tol = lines[["family", "variant", "tol"]].iloc[0]
    runs = material.at(tol)
    runs = runs[(runs["family"] == family) & (runs["variant"] == variant) & runs["solved"]]
    runs = runs[(runs["seconds"] > 0.0) & runs["n"].notna()]
    points, fitted, formulas = {}, {}, {}
    fits = {line.who: line for line in lines.itertuples()}
    for who in material.order:
        own = runs[runs["who"] == who].sort_values("n")
        if len(own):
            points[who] = (own["n"].to_numpy(float), own["seconds"].to_numpy(float), own)
            line = fits[who]
            if np.isfinite(line.exponent):
                ends = np.geomspace(float(line.smallest), float(line.largest_solved), 40)
                fitted[who] = (ends, line.overhead + line.factor * ends**line.exponent)
                formulas[who] = f"{line.overhead:.2g} s + {line.factor:.2g} s · n^{_interval(line)}"
    if not points:
        return None

    def draw() -> Any:
        from sdpdr.lab.study.page import figures

        return figures.growth(
            {who: (x, y, figures.hints(own)) for who, (x, y, own) in points.items()},
            {who: (*curve, formulas[who]) for who, curve in fitted.items()},
            material.order,
        )

    named = f"{family}, {variant}" if variant else family
    return Chart(
        f"growth-figure-{k + 1}",
        f"Family {named}{material.at_words(tol)}: each mark is an instance solved, each line a "
        "fitted overhead plus a power of the size. Both scales are logarithmic; a line that ends "
        "early belongs to a contestant that solved nothing larger.",
        draw,
        lambda: plot.growth({who: pair[:2] for who, pair in points.items()}, fitted),
    )


def _growth_table(material: Material, table: pd.DataFrame) -> Table:
    several = len(material.tolerances) > 1
    columns = [
        Column("contestant"),
        Column("family"),
        *([Column("tol", ".0e")] if several else []),
        Column("exponent", ".2f", "b of overhead + factor · n^b"),
        Column("from", ".2f", "lower end of its 95% interval"),
        Column("to", ".2f", "upper end; a dash where the times do not bound it"),
        Column("overhead", ".2g", "seconds"),
        Column("sizes", "d", "distinct sizes solved"),
        Column("largest solved", "d"),
        Column("least failed", "d"),
    ]
    place = {who: k for k, who in enumerate(material.order)}
    rows = [
        [
            line.who,
            f"{line.family}, {line.variant}" if line.variant else line.family,
            *([line.tol] if several else []),
            *(line.exponent, line.low, line.high, line.overhead, line.sizes),
            *(line.largest_solved, line.first_failed),
        ]
        for line in sorted(table.itertuples(), key=lambda line: place[line.who])
    ]
    words = (
        "The exponents, with intervals of 95% confidence. Fewer than three sizes make no exponent; "
        "an exponent from few or small sizes says little about large ones."
    )
    return Table("growth-table", columns, rows, words)


def _interval(line: Any) -> str:
    top = f"{line.high:.2f}" if np.isfinite(line.high) else "∞"
    return f"{line.exponent:.2f} ({line.low:.2f} to {top})"
