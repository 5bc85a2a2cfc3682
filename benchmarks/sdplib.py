"""Every solver in every form on the SDPLIB problems at hand: values, our bounds, seconds, reasons.

    python benchmarks/sdplib.py                       # all that is missing; rewrites SDPLIB.md
    python benchmarks/sdplib.py --solvers lowrank --limit 60
    python benchmarks/sdplib.py --problems theta1 mcp100 --forms gram lmi --again

Each run is a process of its own with a time limit, so that a crash or a solver that hangs is a
row of the table like any other. Runs are kept in ``sdplib.json`` as they end: an interrupted
benchmark goes on where it stopped. Value, bound and gap are those of `sdpdr.solve`, whatever the
solver claims; the error compares the value with the table that comes with SDPLIB.

SDPLIB: Borchers, "SDPLIB 1.2, a library of semidefinite programming test problems", Optimization
Methods and Software 11(1), 1999.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import time
from pathlib import Path
from typing import Any

import sdpdr
from sdpdr.errors import SdpdrError
from sdpdr.files import write_text
from sdpdr.program import read_sdpa
from sdpdr.solvers.registry import SOLVERS

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "shared" / "data" / "sdplib"
KEPT, TABLE = HERE / "sdplib.json", HERE / "SDPLIB.md"
TOL = 1e-6


def optimal_values() -> dict[str, str]:
    """Values of the table that comes with the library; words where there is none."""
    with open(LIBRARY / "optimal_values.csv", encoding="ascii") as file:
        return {row["name"]: row["optimal_value"] for row in csv.DictReader(file)}


def run(name: str, solver: str, form: str, limit: float, here: bool) -> dict[str, Any]:
    """One run, as a row of the table."""
    row: dict[str, Any] = {"problem": name, "solver": solver, "form": form, "limit": limit}
    sdp = read_sdpa(LIBRARY / f"{name}.dat-s.gz")
    begin = time.perf_counter()
    try:
        solution = sdpdr.solve(sdp, solver, form, tol=TOL, time_limit=limit, isolate=not here)
    except SdpdrError as refusal:
        return row | {"status": "REFUSED", "words": str(refusal)}
    finite = solution.value == solution.value
    return row | {
        "status": solution.status.name,
        "value": solution.value if finite else None,
        "bound": solution.bound,
        "gap": solution.gap if solution.bound is not None and finite else None,
        "worst": solution.residuals.worst() if finite else None,
        "seconds": time.perf_counter() - begin,
        "words": solution.claimed.message or solution.argument,
    }


def read_kept() -> dict[str, dict[str, Any]]:
    """Runs that have ended, by problem, solver and form."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def keep(kept: dict[str, dict[str, Any]]) -> None:
    """Write all runs; a kill leaves no half of a file."""
    write_text(KEPT, json.dumps(kept, indent=1, sort_keys=True))
    write_text(TABLE, report(kept))


def report(kept: dict[str, dict[str, Any]]) -> str:
    """The table in Markdown."""
    values = optimal_values()
    lines = [
        "# SDPLIB, every solver in every form",
        "",
        f"Written by `benchmarks/sdplib.py`; sdpdr {sdpdr.__version__}, Python "
        f"{platform.python_version()}, {platform.machine()}. Tolerance {TOL:g}. Gap is ours, "
        "between the value and a bound proved from the multipliers; error is against the table "
        "of SDPLIB, which has seven digits at most. Worst is the largest of the six DIMACS "
        "errors. Seconds are of the whole call, the start of a process (about one second) "
        "included, on a machine that did other work as well.",
    ]
    for name, expected in values.items():
        rows = [r for r in kept.values() if r["problem"] == name]
        lines += ["", f"## {name} (table: {expected})", ""]
        if not rows:
            lines.append("Not run yet.")
            continue
        lines += [
            "| solver | form | verdict | value | bound | gap | error | worst | s | remark |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        rows.sort(key=lambda r: (list(SOLVERS).index(r["solver"]), r["form"]))
        lines += [line(r, expected) for r in rows]
    return "\n".join(lines) + "\n"


def line(row: dict[str, Any], expected: str) -> str:
    """One run as a line of Markdown."""
    value, error = row.get("value"), None
    if value is not None and expected[-1].isdigit():
        error = abs(value - float(expected)) / max(1.0, abs(float(expected)))
    settled = row["status"] in ("SOLVED", "INFEASIBLE", "UNBOUNDED")
    words = "" if settled else " ".join(row["words"].split()).replace("|", "\\|")
    cells = [
        row["solver"],
        row["form"],
        row["status"].lower().replace("_", " "),
        number(value, "{:.8g}"),
        number(row.get("bound"), "{:.8g}"),
        number(row.get("gap"), "{:.0e}"),
        number(error, "{:.0e}"),
        number(row.get("worst"), "{:.0e}"),
        number(row.get("seconds"), "{:.1f}"),
        words,
    ]
    return "| " + " | ".join(cells) + " |"


def number(value: float | None, pattern: str) -> str:
    """A number in a pattern, or nothing."""
    return "" if value is None else pattern.format(value)


def main() -> None:
    """Run what is missing, problem by problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usable = [name for name, cls in SOLVERS.items() if cls.availability().usable]
    parser.add_argument("--problems", nargs="*", default=list(optimal_values()))
    parser.add_argument("--solvers", nargs="*", default=usable, choices=list(SOLVERS))
    parser.add_argument("--forms", nargs="*")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a run")
    parser.add_argument("--again", action="store_true", help="repeat runs that are kept")
    parser.add_argument("--here", action="store_true", help="run in this process")
    arguments = parser.parse_args()
    kept = read_kept()
    for name in arguments.problems:
        for solver in arguments.solvers:
            for form in SOLVERS[solver].forms:
                key = f"{name} {solver} {form}"
                if arguments.forms and form not in arguments.forms:
                    continue
                if key in kept and not arguments.again:
                    continue
                kept[key] = run(name, solver, form, arguments.limit, arguments.here)
                keep(kept)
                print(line(kept[key], optimal_values()[name]), flush=True)


if __name__ == "__main__":
    main()
