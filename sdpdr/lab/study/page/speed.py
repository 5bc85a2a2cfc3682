"""Sections on speed: the ranking, profiles, where the time goes, and growth with size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sdpdr.lab import plot
from sdpdr.lab.study.measures.contestants import label
from sdpdr.lab.study.measures.failures import claims
from sdpdr.lab.study.measures.growth import growth
from sdpdr.lab.study.measures.means import (
    SHIFT,
    Profile,
    not_installed,
    performance_profile,
    time_profile,
)
from sdpdr.lab.study.page import figures
from sdpdr.lab.study.page.material import Material, enumerated, instance_name, named
from sdpdr.lab.study.page.parts import Chart, Section, headed, told, toned
from sdpdr.lab.study.schema import PARTS

PHASES = list(PARTS)
_BY = ["tol", "contestant"]


def ranking(material: Material) -> Section:
    """Contestants, best first: how many they solve, how fast, and what their word is worth."""
    table = material.runs.groupby(_BY, sort=False).agg(
        solved=("solved", "sum"), of=("solved", "size"), memory=("peak_memory", "median")
    )
    table = table.join(material.means.set_index(_BY)[["mean", "ratio"]])
    table = table.join(named(claims(material.runs).reset_index()).set_index(_BY)["overstated"])
    table = material.ranked(table.reset_index())
    frame = pd.DataFrame(
        {
            "contestant": table["contestant"],
            "tol": table["tol"],
            "solved": toned(table["solved"], "good", table["solved"] == table["of"]),
            "of": table["of"],
            "times the best": table["ratio"],
            "mean seconds": table["mean"],
            "overstated": toned(table["overstated"], "bad"),
            "median memory": table["memory"],
        }
    )
    why = [f"There are no means: {material.no_means}."] if material.no_means else []
    if absent := not_installed(material.runs):
        why.append(f"Not installed, or without a licence: {enumerated(absent)}.")
    tables = [material.table("ranking-table", frame, shift=f"{SHIFT:g}")]
    return Section.told("ranking", why, tables=tables)


class _Kind(NamedTuple):
    name: str
    of: Callable[[pd.DataFrame], Profile]
    x: str
    unit: str


_PROFILES = (
    _Kind(
        "profile-figure",
        performance_profile,
        "times the fastest verified answer",
        "times the fastest",
    ),
    _Kind(
        "seconds-figure",
        time_profile,
        "seconds",
        "seconds",
    ),
)


def profiles(material: Material) -> Section:
    """Performance profiles, then profiles over seconds, one of each for each tolerance."""
    charts = [_profile(material, tol, kind) for tol in material.tolerances for kind in _PROFILES]
    return Section.told("profile", charts=[chart for chart in charts if chart is not None])


def _profile(material: Material, tol: float, kind: _Kind) -> Chart | None:
    profile = kind.of(material.at(tol))
    start = 1.0 if kind.of is performance_profile else None
    curves = _curves(profile, material, start)
    if not curves:
        return None
    n = len(profile.costs)
    return material.chart(
        kind.name,
        tol,
        lambda: figures.profile(curves, material.order, n, kind.x, kind.unit),
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
    left, right = start or min(jumps) / 1.5, 1.5 * max(jumps)
    curves = {}
    for who in filter(steps.__contains__, material.order):
        tau, share = steps[who]["tau"].to_numpy(), steps[who]["share"].to_numpy()
        if not tau.size or tau[0] > left:
            tau, share = np.insert(tau, 0, left), np.insert(share, 0, 0.0)
        curves[who] = (np.append(tau, right), np.append(share, share[-1]))
    return curves


def phases(material: Material) -> Section:
    """Where the seconds go, by phase."""
    solved = material.runs[material.runs["solved"] & (material.runs["total"] > 0.0)]
    solved = solved.fillna(dict.fromkeys(PHASES, 0.0))
    shares = solved.assign(**solved[PHASES].div(solved[PHASES].sum(axis=1), axis=0))
    share = shares.groupby(_BY)[PHASES].mean()
    median = material.ranked(solved.groupby(_BY)[[*PHASES, "total"]].median().reset_index())

    def chart(tol: float) -> Chart | None:
        middle = median[median["tol"] == tol].set_index("contestant")
        if middle.empty:
            return None
        return material.chart(
            "phases-figure",
            tol,
            lambda: figures.phases(share.loc[tol].reindex(middle.index), middle[PHASES]),
        )

    frame = median[["contestant", "tol", *PHASES, "total"]]
    tables = [material.table("phases-table", frame)] if len(frame) else []
    return Section.told("phases", charts=material.each(chart), tables=tables)


def growths(material: Material) -> Section | None:
    """Seconds over size, one figure for each family and tolerance."""
    table = named(growth(material.runs))
    if table.empty:
        return None
    charts = [
        _growth_chart(material, k, lines)
        for k, (_, lines) in enumerate(table.groupby(["family", "variant", "tol"], sort=False))
    ]
    kept = [chart for chart in charts if chart is not None]
    table["family"] = list(map(instance_name, table["family"], table["variant"]))
    ranked = material.ranked(table.drop(columns="tol")).join(table["tol"])
    columns = ["contestant", "family", "tol", "exponent", "from", "to", "overhead", "sizes"]
    frame = headed(
        ranked.rename(columns={"low": "from", "high": "to"}),
        *columns, "largest_solved", "first_failed",
    )  # fmt: skip
    return Section.told(
        "growth",
        charts=[replace(chart, is_small=len(kept) > 1) for chart in kept],
        tables=[material.table("growth-table", frame)],
    )


def _growth_chart(material: Material, k: int, lines: pd.DataFrame) -> Chart | None:
    family, variant, tol = lines[["family", "variant", "tol"]].iloc[0]
    runs = material.at(tol)
    runs = runs[(runs["family"] == family) & (runs["variant"] == variant) & runs["solved"]]
    runs = runs[(runs["seconds"] > 0.0) & runs["n"].notna()].sort_values("n")
    points = material.groups(runs)
    if not points:
        return None
    fitted, formulas = {}, {}
    for line in lines[lines["contestant"].isin(points)].itertuples():
        if np.isfinite(line.exponent):
            ends = np.geomspace(float(line.smallest), float(line.largest_solved), 40)
            fitted[line.contestant] = (ends, line.overhead + line.factor * ends**line.exponent)
            top = f"{line.high:.2f}" if np.isfinite(line.high) else "∞"
            power = f"{line.exponent:.2f} ({line.low:.2f} to {top})"
            formulas[line.contestant] = f"{line.overhead:.2g} s + {line.factor:.2g} s · n^{power}"
    marks = {who: (own["n"], own["seconds"]) for who, own in points.items()}
    where = {"family": instance_name(family, variant), "at": material.at_words(tol)}
    return Chart(
        f"growth-figure-{k + 1}",
        told("growth-figure", **where),
        lambda: figures.growth(points, fitted, formulas, material.order),
        lambda: plot.growth(marks, fitted),
    )
