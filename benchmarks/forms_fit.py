"""The fit behind ``benchmarks/forms.py``: constants from runs, and what a choice by them costs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import sdpdr
from sdpdr.errors import NotAcceptedError
from sdpdr.solving.choice import LONGEST
from sdpdr.solving.costs.prediction import FILES, Cost, method_of, patience, predict, priority
from sdpdr.solving.costs.structure import KINDS, Structure
from sdpdr.solving.costs.work import TOLERANCES, Rate, Work, work
from sdpdr.solving.turns import AT_LEAST, HURRY, HURRY_AT_LEAST, MORE, USABLE

TABLE = Path(__file__).with_name("FORMS.md")
CLOUD = "cloud-"
REFITTED = "Refitted since, with `--rows`: "
Run = dict[str, Any]
Rates = Mapping[tuple[str, str], Rate]
Pair = tuple[str, str]
# Runs that say how long a pair takes, if only that it is longer than the limit.
TIMED = ("SOLVED", "INFEASIBLE", "UNBOUNDED", "INACCURATE", "ITERATION_LIMIT", "OUT_OF_TIME")
# Of geometric means, so that what takes no time counts for nothing.
SHIFT = 1.0
UNKNOWN = ("REFUSED", "HOPELESS", "OUT_OF_TIME")
# A power between those of sparse and of dense work, which few runs are held to.
USUAL_POWER, HELD = 0.7, 0.3


def variant(run: Run) -> Pair:
    """Which constants a run is for."""
    return run["solver"], run.get("engine", run["kind"]) if run["form"] == "factor" else run["form"]


def fit(runs: list[Run], structures: Mapping[str, Structure]) -> dict[Pair, Rate]:
    """Constants for every pair of which something was measured."""
    groups: dict[Pair, list[tuple[Run, Work]]] = {}
    for run in runs:
        if run["status"] in ("REFUSED", "HOPELESS"):
            continue
        try:
            done = work(run["solver"], run["form"], structures[run["problem"]])
        except NotAcceptedError:
            continue
        groups.setdefault(variant(run), []).append((run, done))
    return {pair: rate(group) for pair, group in groups.items()}


def rate(group: list[tuple[Run, Work]]) -> Rate:
    """Constants of one pair."""
    timed = [(run, done) for run, done in group if run["status"] in TIMED]
    counts = np.array([done.multiplications for _, done in timed]) / 1e9
    seconds = np.array([run["seconds"] for run, _ in timed])
    ended = np.array([run["status"] != "OUT_OF_TIME" for run, _ in timed])

    def residuals(x: np.ndarray) -> np.ndarray:
        predicted = np.exp(x[0]) + np.exp(x[1]) * counts ** x[2]
        off = np.log(predicted / seconds)
        # A run that was stopped says only that it takes longer.
        off = np.where(ended, off, np.minimum(off, 0.0))
        return np.append(off, HELD * (x[2] - USUAL_POWER) / 0.1)

    low, high = [np.log(0.02), -8.0, 0.3], [np.log(0.2), 12.0, 1.2]
    x = least_squares(residuals, [np.log(0.05), 2.0, 0.7], bounds=(low, high), loss="soft_l1").x
    base, each = memory_rate(timed)
    reach = {kind: shares([run for run, _ in group if run["kind"] == kind]) for kind in KINDS}
    return Rate(*(float(f"{v:.3g}") for v in (np.exp(x[0]), np.exp(x[1]), x[2], base, each)), reach)


def memory_rate(timed: list[tuple[Run, Work]]) -> tuple[float, float]:
    """Bytes at least, and bytes for each number; 8 where no run was large enough to tell."""
    known = [(run["memory"], done.numbers) for run, done in timed if "memory" in run]
    if not known:
        return 2e7, 8.0
    bytes_, numbers = np.array(known, dtype=float).T
    base = float(np.percentile(bytes_, 25))
    large = bytes_ > 2.0 * base
    each = float(np.median((bytes_[large] - base) / numbers[large])) if np.any(large) else 8.0
    return base, max(8.0, each)


def shares(runs: list[Run]) -> tuple[float, ...]:
    """Shares of success at the tolerances, drawn to one half where few runs tell (Laplace)."""
    told = [run for run in runs if run["status"] not in UNKNOWN]
    hits = [sum(succeeded(run, tol) for run in told) for tol in TOLERANCES]
    return tuple(round((count + 1.0) / (len(told) + 2.0), 2) for count in hits)


def succeeded(run: Run, tol: float) -> bool:
    """Whether the answer of a run, made for the tightest tolerance, meets a tolerance."""
    if run.get("reached"):
        return True
    error = run.get("error")
    return tol > TOLERANCES[-1] and error is not None and error <= tol


# -- what the choice is worth -------------------------------------------------------------------


def ranked(runs: list[Run], structure: Structure, rates: Rates) -> list[tuple[Run, Cost | None]]:
    """Runs of one problem in the order in which `sdpdr.plan` would choose, with predictions."""
    found = []
    for run in runs:
        if run["status"] == "REFUSED":
            continue
        try:
            found.append((run, predict(run["solver"], run["form"], structure, rates=rates)))
        except NotAcceptedError:
            continue
    return sorted(found, key=lambda item: priority(item[1]))


def judged(runs: list[Run], structure: Structure, rates: Rates) -> dict[str, Any] | None:
    """How the choice for one problem compares; None where no pair reached the tolerance."""
    hits = [run for run in runs if run.get("reached")]
    if not hits:
        return None
    order = ranked(runs, structure, rates)
    first, cost = order[0]
    best = min(hits, key=lambda run: run["seconds"])
    spent = first.get("seconds", float("nan"))
    total, solved = in_turn(order)
    return {
        "first": first,
        "cost": cost,
        "best": best,
        "ratio": spent / best["seconds"] if first.get("reached") else float("inf"),
        "in_all": total / best["seconds"] if solved else float("inf"),
        "lost": total - best["seconds"] if solved else float("inf"),
        "shifted": (total + SHIFT) / (best["seconds"] + SHIFT),
    }


def in_turn(order: list[tuple[Run, Cost | None]]) -> tuple[float, bool]:
    """Seconds that a sequence takes by the rules of turns, and whether it succeeds."""
    spent, usable_at = 0.0, inf
    for run, cost in sequence(order):
        predicted = inf if cost is None else cost.seconds
        share = patience(cost)
        if usable_at < inf:
            budget = max(AT_LEAST, MORE * usable_at) - (spent - usable_at)
            if predicted > budget:
                continue
            share = min(share, budget, max(HURRY_AT_LEAST, HURRY * predicted))
        needed = run.get("seconds", inf) if run["status"] in TIMED[:-1] else inf
        if run["status"] == "FAILED":
            needed = run["seconds"]
        spent += min(needed, share)
        if needed > share:
            continue
        if run.get("reached"):
            return spent, True
        if usable_at == inf and (run.get("error") or inf) <= USABLE:
            usable_at = spent
    return spent, False


def sequence(order: list[tuple[Run, Cost | None]]) -> list[tuple[Run, Cost | None]]:
    """Other methods first, then other forms of the same, as `sdpdr.plan` has it."""
    others, again, seen = [], [], set()
    for item in order:
        method = method_of(item[0]["solver"])
        (again if method in seen else others).append(item)
        seen.add(method)
    return [*others, *again][:LONGEST]


def report(runs: list[Run], structures: Mapping[str, Structure], cards: set[str]) -> str:
    """The table in Markdown."""
    rates = fit(runs, structures)
    names = sorted(structures, key=lambda name: structures[name].shape("gram").entries)
    by_name = {name: [run for run in runs if run["problem"] == name] for name in names}
    fitted = {name: judged(by_name[name], structures[name], rates) for name in names}
    left_out = {}
    for name in names:
        others = fit([run for run in runs if run["problem"] != name], structures)
        left_out[name] = judged(by_name[name], structures[name], others)
    lines = [
        "# The choice of solver and form, beside the best of all",
        "",
        f"Written by `benchmarks/forms.py`; sdpdr {sdpdr.__version__}, tolerance 1e-6, seconds of "
        "one processor. Best is the fastest pair that reached the tolerance; ratio is the choice's "
        "seconds over its (with those that take turns after it, where it fell short: in all). Only "
        "problems that some pair solved within the limit count.",
        "",
        "| library | problems | first choice reaches the tolerance | within 2x of the best | "
        "within 2x or 0.1 s | the same, each problem left out of its fit |",
        "|---|---|---|---|---|---|",
        summary("cards", [n for n in names if n in cards], fitted, left_out),
        summary("SDPLIB", [n for n in names if n not in cards], fitted, left_out),
        summary("all", names, fitted, left_out),
        "",
        "| problem | choice | predicted s | s | MiB predicted | MiB | best | s | ratio | in all |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [line(name, found) for name, found in fitted.items()]
    lines += [
        "",
        errors_of_prediction(runs, structures, rates),
        "",
        *shifted_means(runs, structures, cards),
    ]
    return "\n".join(lines) + "\n"


def dated(table: str, rows: list[str]) -> str:
    """A report that says which constants were refitted after it was written."""
    paragraphs = table.split("\n\n")
    parts = [part for part in paragraphs if not part.startswith(REFITTED)]
    before = [part for part in paragraphs if part.startswith(REFITTED)]
    earlier = re.findall(r"`([\w-]+,[\w-]+)`", "".join(before))
    clouds = "" if CLOUD in table else ", and unfoldings of noise (clouds) are not in it"
    names = ", ".join(f"`{row}`" for row in sorted({*rows, *earlier}))
    note = f"{REFITTED}{names}. `rates.csv` is newer there than this report{clouds}."
    return "\n\n".join([*parts[:2], note, *parts[2:]])


def shifted_means(
    runs: list[Run], structures: Mapping[str, Structure], cards: set[str]
) -> list[str]:
    """What all turns take beside the best pair, with and without programs that read files."""
    lines = []
    for title, without in (("", ()), (" where no programs are installed that read files", FILES)):
        left = [run for run in runs if run["solver"] not in without]
        rates = fit(left, structures)
        for library in ("cards", "SDPLIB"):
            names = [name for name in structures if (name in cards) == (library == "cards")]
            ones = [[run for run in left if run["problem"] == name] for name in names]
            found = [judged(one, structures[n], rates) for n, one in zip(names, ones, strict=True)]
            logs = [np.log(one["shifted"]) for one in found if one]
            lines.append(
                f"- {library}{title}: all turns take {np.exp(np.mean(logs)):.2f} times the seconds "
                f"of the best pair, in the geometric mean shifted by {SHIFT:g} s over {len(logs)} "
                "programs."
            )
    return lines


def summary(title: str, names: list[str], fitted: Any, left_out: Any) -> str:
    """Shares over a part of the library."""
    known = [name for name in names if fitted[name]]

    def share(found: Mapping[str, Any], good: Any) -> str:
        return f"{np.mean([bool(good(found[name])) for name in known]):.0%}"

    def near(j: Any) -> bool:
        return j["ratio"] <= 2.0 or (j["first"].get("reached") and j["lost"] <= 0.1)

    cells = [
        title,
        str(len(known)),
        share(fitted, lambda j: bool(j["first"].get("reached"))),
        share(fitted, lambda j: j["ratio"] <= 2.0),
        share(fitted, near),
        share(left_out, near),
    ]
    return "| " + " | ".join(cells) + " |"


def line(name: str, found: dict[str, Any] | None) -> str:
    """One problem as a line of Markdown."""
    if found is None:
        return f"| {name} | no pair reached the tolerance within the limit |" + " |" * 8
    first, best, cost = found["first"], found["best"], found["cost"]
    cells = [
        name,
        f"{first['solver']}, {first['form']}",
        f"{cost.seconds:.2f}",
        f"{first['seconds']:.2f}" if "seconds" in first else "",
        f"{cost.memory / 2**20:.0f}",
        f"{first['memory'] / 2**20:.0f}" if "memory" in first else "",
        f"{best['solver']}, {best['form']}",
        f"{best['seconds']:.2f}",
        f"{found['ratio']:.1f}",
        f"{found['in_all']:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def errors_of_prediction(runs: list[Run], structures: Mapping[str, Structure], rates: Rates) -> str:
    """How far predictions of seconds and memory are off, as typical factors."""
    seconds, memory = [], []
    for run in runs:
        if run["status"] not in TIMED or run["status"] == "OUT_OF_TIME":
            continue
        cost = predict(run["solver"], run["form"], structures[run["problem"]], rates=rates)
        if cost is not None:
            seconds.append(abs(np.log(cost.seconds / run["seconds"])))
            memory.append(abs(np.log(cost.memory / max(run["memory"], 1e6))))
    quantiles = [np.exp(np.percentile(x, q)) for x in (seconds, memory) for q in (50, 90)]
    return (
        f"Over {len(seconds)} runs that ended, predicted seconds are off by a factor of "
        f"{quantiles[0]:.2f} at the median and {quantiles[1]:.2f} at the ninth decile, memory by "
        f"{quantiles[2]:.2f} and {quantiles[3]:.2f}."
    )
