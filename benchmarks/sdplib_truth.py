"""SDPLIB: for each file what "auto" and every single solver reach, beside the reference.

The folder holds ``.dat-s.gz`` files and ``optimal_values.csv`` with the columns ``name``,
``optimal_value`` and ``notes``, as SDPA prints values; a note may hold the multi-precision value
of ill-posed files. ``--references`` names what ``sdplib_references.py`` wrote, multi-precision
values that count more. It may be stopped and goes on where it was.

The time is that of the processor, children included, but for the start of the first worker of a
process. *Best single solver chosen afterwards*: among
those that certify the value (or come nearest to it) on a file, the fastest.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from journal import carry_out, processor_seconds
from tables import write_csv

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import NotAcceptedError
from sdpdr.program import SDP, read_sdpa
from sdpdr.program.work import sizes
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.possible import CHORDAL

TOL = 1e-6
SHIFT = 1.0
# Share of the time limit: where one factorization takes more, thirty do not end.
HOPELESS = 0.01
# An answer counts for the best single solver if it is this near to the reference.
NEAR = 1e-4
_TINY = methods.mvu(graphs.path([1.0, 2.0]))
WITHOUT = {"dual infeasible": "INFEASIBLE", "primal infeasible": "UNBOUNDED"}


def references(folder: Path, more: Path) -> dict[str, str]:
    """The reference of every file: a number as SDPA prints it, or why there is none."""
    found = {}
    with open(folder / "optimal_values.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            exact = re.search(r"(?:exact data: (?:tends to )?)(-?[\d.]+)", row["notes"] or "")
            found[row["name"]] = exact[1] if exact else row["optimal_value"]
    if more.is_file():
        with open(more, encoding="utf-8", newline="") as file:
            solved = [row for row in csv.DictReader(file) if row["status"] == "solved"]
        # What has no digit in three hundred bits tends to zero.
        found |= {r["name"]: r["primal"] if int(r["digits"]) else "0" for r in solved}
    return found


def ways() -> Iterator[tuple[str, str]]:
    """Auto, and every solver in every form that takes files well."""
    yield "auto", "auto"
    for name, cls in SOLVERS.items():
        if not cls.availability().usable or cls.is_special or name in ("ipopt", "multiprecision"):
            continue
        for form in cls.forms:
            if form not in CHORDAL and form != "cvxpy":
                yield name, form


def tasks(folder: Path, names: list[str], seconds: float) -> Iterator[dict[str, Any]]:
    """Every file, small ones first, by every solver."""
    paths = [folder / f"{name}.dat-s.gz" for name in names]
    for path in sorted(paths, key=lambda path: path.stat().st_size):
        name = path.name.removesuffix(".dat-s.gz")
        for solver, form in ways():
            yield {
                "key": f"{name} {solver} {form}",
                "name": name,
                "path": str(path),
                "solver": solver,
                "form": form,
                "seconds": seconds,
            }


def solve(task: Mapping[str, Any]) -> dict[str, Any]:
    """One run."""
    sdp = read_sdpa(task["path"])
    if task["solver"] != "auto" and _is_hopeless(sdp, task):
        return {"refused": "predicted to take too long"}
    # The first worker of a process takes three seconds to import everything, once.
    sdpdr.solve(_TINY, "clarabel", isolate=True, progress=False)
    before = processor_seconds()
    try:
        answer = sdpdr.solve(
            sdp,
            task["solver"],
            task["form"],
            tol=TOL,
            time_limit=task["seconds"],
            # Alone, the child is a process of its own; auto plans its processes itself.
            isolate=None if task["solver"] == "auto" else False,
            progress=False,
        )
    except NotAcceptedError as error:
        return {"refused": str(error)[:200]}

    def as_sdpa(x: float | None) -> float | None:
        if x is None or not math.isfinite(x):
            return None
        return sdp.constant + (x if sdp.maximize else -x)

    return {
        "cpu": processor_seconds() - before,
        "status": answer.status.name,
        "by": f"{answer.solver}, {answer.form}",
        "value": as_sdpa(answer.value),
        "attained": as_sdpa(answer.attained),
        "bound": as_sdpa(answer.bound),
        "gap": answer.gap if math.isfinite(answer.gap) else None,
        "certified": [tol for tol in (1e-3, 1e-4, 1e-5, 1e-6) if answer.certified(tol)],
        "claimed": answer.claimed.status,
        "attained_by": answer.attained_by[:300],
        "argument": answer.argument[:300],
    }


def _is_hopeless(sdp: SDP, task: Mapping[str, Any]) -> bool:
    """Whether to factor one matrix for all unknowns takes too long, at 1e9 products a second."""
    found = sizes(sdp)
    unknowns = found.multipliers if task["form"].endswith("lmi") else found.entries
    return float(unknowns) ** 3 / 3.0 > 1e9 * HOPELESS * task["seconds"]


# -- judging ------------------------------------------------------------------------------------


def digits(reference: str) -> float:
    """Relative size of one unit in the last digit that is written."""
    mantissa = reference.lower().partition("e")[0].strip("+-")
    value = abs(float(mantissa))
    return float(10.0 ** -len(mantissa.partition(".")[2])) / value if value else 0.0


def off(run: Mapping[str, Any], reference: str) -> float | None:
    """How far the value is from the reference, relatively; None where there is none."""
    if reference in WITHOUT or run.get("value") is None:
        return None
    exact = float(reference)
    return float(abs(run["value"] - exact) / abs(exact)) if exact else abs(float(run["value"]))


def objection(run: Mapping[str, Any], reference: str) -> str:
    """What a certificate says against the reference; empty if nothing."""
    tolerances = run.get("certified") or []
    if not tolerances:
        return ""
    if reference in WITHOUT:
        return f"certified, but {reference}"
    if float(reference) == 0.0:
        return "certified, but the value is 0"
    wrong = off(run, reference)
    if wrong is None:
        return "certified without a value"
    tightest = min(tolerances)
    if wrong > tightest + digits(reference):
        return f"certified to {tightest:.0e}, off by {wrong:.1e}"
    return ""


def is_answer(run: Mapping[str, Any], reference: str) -> bool:
    """Whether a run counts as having solved the file."""
    if reference in WITHOUT:
        return bool(run.get("status") == WITHOUT[reference])
    wrong = off(run, reference)
    return wrong is not None and wrong <= max(NEAR, digits(reference))


def ratio(runs: list[dict[str, Any]], known: Mapping[str, str]) -> tuple[float, int]:
    """Shifted geometric mean of auto over that of the best single solvers, and the files."""
    autos, bests = [], []
    for name, group in by_file(runs).items():
        auto = next((r for r in group if r["solver"] == "auto"), None)
        single = [r["cpu"] for r in group if r["solver"] != "auto" and is_answer(r, known[name])]
        if auto is None or not single or "cpu" not in auto:
            continue
        autos.append(math.log(auto["cpu"] + SHIFT))
        bests.append(math.log(min(single) + SHIFT))
    if not autos:
        return float("nan"), 0
    mine, best = (math.exp(sum(x) / len(x)) - SHIFT for x in (autos, bests))
    return mine / best, len(autos)


def by_file(runs: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Runs grouped by file."""
    grouped: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        grouped[run["name"]].append(run)
    return grouped


def lines(runs: list[dict[str, Any]], known: Mapping[str, str]) -> Iterator[list[object]]:
    """One line for each file."""
    for name, group in by_file(runs).items():
        auto = next(r for r in group if r["solver"] == "auto")
        others = [r for r in group if r["solver"] != "auto"]
        answers = [r for r in others if is_answer(r, known[name]) and "cpu" in r]
        best = min(answers, key=lambda r: r["cpu"], default=None)
        said = sum(bool(objection(r, known[name])) for r in group)
        yield [
            f"``{name}``",
            known[name],
            auto.get("status", auto.get("error", "–")),
            auto.get("by", "–"),
            *(_shown(auto.get(key)) for key in ("value", "attained", "bound")),
            "–" if auto.get("gap") is None else f"{auto['gap']:.0e}",
            f"{auto['cpu']:.1f}" if "cpu" in auto else "–",
            "–" if best is None else f"{best['solver']}, {best['form']}: {best['cpu']:.1f}",
            f"{sum(bool(r.get('certified')) and 1e-6 in r['certified'] for r in others)}"
            f" of {len(others)}",
            said,
        ]


def _shown(x: float | None) -> str:
    return "–" if x is None else f"{x:.10g}"


def main() -> None:
    """Run, tell, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of files")
    parser.add_argument(
        "--references",
        type=Path,
        default=Path(__file__).with_name("sdplib_references.csv"),
        help="what benchmarks/sdplib_references.py wrote",
    )
    parser.add_argument("--out", type=Path, default=Path("out/sdplib_truth.jsonl"))
    parser.add_argument("--only", action="append", default=[], help="names of files")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of time of a solve")
    parser.add_argument("--dry", action="store_true", help="write no table")
    args = parser.parse_args()
    known = references(args.data, args.references)
    names = args.only or [n for n in known if (args.data / f"{n}.dat-s.gz").is_file()]
    found = carry_out(
        tasks(args.data, names, args.seconds),
        solve,
        args.out,
        workers=args.workers,
        limit=2.0 * args.seconds + 60.0,
    )
    runs = [r for r in found if "refused" not in r]
    for run in runs:
        words = run.get("error") or objection(run, known[run["name"]])
        if words:
            print(f"{run['key']}: {words}")
    for name, group in by_file(runs).items():
        auto = next((r for r in group if r["solver"] == "auto"), {})
        if known[name] not in WITHOUT and auto.get("value") is None:
            print(f"{name}: auto ends without a point")
    times, count = ratio(runs, known)
    print(
        f"processor time of auto over that of the best single solvers: {times:.2f} ({count} files)"
    )
    if not args.dry:
        write_csv(
            "sdplib",
            [
                "File",
                "Reference",
                "auto says",
                "By",
                "Value",
                "Attained",
                "Bound",
                "Gap",
                "Seconds",
                "Best single solver",
                "Solvers certified",
                "Certified and off",
            ],
            list(lines(runs, known)),
            command="python benchmarks/sdplib_truth.py --data FOLDER",
            notes=[
                "Values in SDPA's convention. The reference is that of SDPLIB's table, or of "
                "multi-precision where the table's belongs to other data (``hinf4``, ``hinf11``). "
                f"Seconds are of the processor, limited to {args.seconds:g} for a solve. The best "
                f"single solver was chosen afterwards among those within {NEAR:g} of the "
                f"reference; auto takes {times:.2f} times its time, in the shifted geometric mean "
                f"over {count} files (shift {SHIFT:g} s).",
            ],
        )


if __name__ == "__main__":
    main()
