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
import re
import time
from pathlib import Path
from typing import Any

import sdpdr
from sdpdr.costs import Candidates
from sdpdr.costs.candidates import POSSIBLE
from sdpdr.errors import SdpdrError
from sdpdr.files import write_text
from sdpdr.program import SDP, read_sdpa
from sdpdr.solvers.external import ExternalSolver
from sdpdr.solvers.registry import SOLVERS

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "shared" / "data" / "sdplib"
KEPT, TABLE = HERE / "sdplib.json", HERE / "SDPLIB.md"
TOL = 1e-6
# Runs that are predicted to take this many times the limit are left out.
HOPELESS = 20
UNRUN = ("REFUSED", "NOT_TRIED")
# What the table calls infeasible, in the pair that SDPA reads, and what that is of ours.
VERDICTS = {"dual infeasible": "INFEASIBLE", "primal infeasible": "UNBOUNDED"}


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
        hopeless = why_hopeless(sdp, solver, form, limit)
        if hopeless:
            return row | {"status": "NOT_TRIED", "words": hopeless}
        alone = not here and not issubclass(SOLVERS[solver], ExternalSolver)
        solution = sdpdr.solve(sdp, solver, form, tol=TOL, time_limit=limit, isolate=alone)
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


def why_hopeless(sdp: SDP, solver: str, form: str, limit: float) -> str:
    """Why a run is not worth its time; empty if it is."""
    found = Candidates(sdp, "", dict(SOLVERS), TOL).candidate(solver, form)
    if found.refusal or found.cost is None or solver == "lowrank":
        return ""
    if found.verdict != POSSIBLE:
        return found.verdict
    if found.cost.seconds > HOPELESS * limit:
        return f"it is predicted to take more than {HOPELESS} times the limit"
    return ""


def forms_of(solver: str) -> list[str]:
    """Forms worth a run; a program from a file has none that is written in cvxpy."""
    same = ("lmi", "chordal-lmi") if issubclass(SOLVERS[solver], ExternalSolver) else ()
    return [form for form in SOLVERS[solver].forms if form != "cvxpy" and form not in same]


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
    notes = Notes()
    limits = sorted({r["limit"] for r in kept.values()})
    lines = [
        "# SDPLIB, every solver in every form",
        "",
        f"Written by `benchmarks/sdplib.py`; sdpdr {sdpdr.__version__}, Python "
        f"{platform.python_version()}, {platform.machine()}. Asked for {TOL:g}, and given "
        f"{' or '.join(f'{x:g}' for x in limits)} seconds. `csdp` and `sdpa-file` are programs "
        "that read and write files; their files are the same in the Gram and in the LMI forms, "
        "and so are run once. Seconds are of the whole call, with the start of a process (about "
        "one second), on a machine that did other work as well.",
        "",
        "## The best form of each solver",
        "",
        "In **bold** seconds where the value is certified to the tolerance, or the program rightly "
        "called infeasible or unbounded; the larger of gap and worst error where the answer falls "
        "short of it; else what became of it.",
        "",
        *summary(kept, values),
    ]
    for name, expected in values.items():
        rows = [r for r in kept.values() if r["problem"] == name]
        lines += ["", f"## {name} (table: {expected})", ""]
        if not rows:
            lines.append("Not run yet.")
            continue
        rows.sort(key=lambda r: (list(SOLVERS).index(r["solver"]), r["form"]))
        ran = [r for r in rows if r["status"] not in UNRUN]
        if ran:
            lines += [
                "| solver | form | verdict | value | bound | gap | error | worst | s | note |",
                "|---|---|---|---|---|---|---|---|---|---|",
                *(line(r, expected, notes) for r in ran),
            ]
        left = [r for r in rows if r["status"] in UNRUN]
        if left:
            words = ", ".join(f"{r['solver']} {r['form']} {notes.mark(r)}" for r in left)
            lines += ["", f"Not run: {words}."]
    lines += [
        "",
        "## Notes",
        "",
        "Gap is between the value and a bound proved from the multipliers, ours; error is against "
        "the table of SDPLIB, which has seven digits at most; worst is the largest of the six "
        "DIMACS errors. In the words of solvers, numbers are left out.",
        "",
        *notes.lines(),
    ]
    return "\n".join(lines) + "\n"


def summary(kept: dict[str, dict[str, Any]], values: dict[str, str]) -> list[str]:
    """A line for every problem, a column for every solver."""
    solvers = [s for s in SOLVERS if any(r["solver"] == s for r in kept.values())]
    # Solvers that refuse all of the library only take space.
    solvers = [
        s
        for s in solvers
        if any(r["solver"] == s and r["status"] not in UNRUN for r in kept.values())
    ]
    lines = ["| problem | " + " | ".join(solvers) + " |", "|---" * (len(solvers) + 1) + "|"]
    solved = dict.fromkeys(solvers, 0)
    for name, expected in values.items():
        cells = []
        for solver in solvers:
            rows = [r for r in kept.values() if (r["problem"], r["solver"]) == (name, solver)]
            best = min(rows, key=lambda r: standing(r, expected), default=None)
            solved[solver] += best is not None and settled(best, expected)
            cells.append("" if best is None else brief(best, expected))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*lines, f"| solved of {len(values)} | " + " | ".join(map(str, solved.values())) + " |"]


def settled(row: dict[str, Any], expected: str) -> bool:
    """Whether a run ended with the right verdict."""
    return bool(row["status"] == VERDICTS.get(expected, "SOLVED"))


def standing(row: dict[str, Any], expected: str) -> tuple[int, float]:
    """Key that sorts runs, the best first."""
    if settled(row, expected):
        return (0, row["seconds"])
    if row.get("gap") is not None and expected not in VERDICTS:
        return (1, shortfall(row))
    return (3 if row["status"] in UNRUN else 2, 0.0)


def shortfall(row: dict[str, Any]) -> float:
    """How far from optimal or feasible an answer is: the larger of its gap and worst error."""
    return max(abs(row["gap"]), row["worst"] or 0.0)


def brief(row: dict[str, Any], expected: str) -> str:
    """A run in a few characters."""
    if settled(row, expected):
        return f"**{row['seconds']:.1f}** {row['form']}"
    if standing(row, expected)[0] == 1:
        return f"{shortfall(row):.0e} {row['form']}"
    return str(row["status"].lower().replace("_", " "))


class Notes:
    """Distinct remarks, numbered as they come; their own numbers are left out."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def mark(self, row: dict[str, Any]) -> str:
        """The number of a run's remark, in brackets; nothing where there is none."""
        words = " ".join(row["words"].split()).removesuffix(" solver='auto' finds one that can.")
        # What was asked for, and why it was not an edge program, can be told from the line.
        words = re.sub(r"^no way to solve this program as asked\. \S+ \(\S+ form\): ", "", words)
        words = re.sub(r"\.? It is not an edge program: .*", "", words)
        words = re.sub(r"\([^()]*\d[^()]*\)", "", words)
        words = re.sub(r"(?<![\w'])-?\d[\d.,]*(e[+-]?\d+)?(, \d+)*(?![\w'])", "N", words)
        words = re.sub(r"N( N)+( \.\.\.)?", "N", " ".join(words.split()))
        # The same may be said of many blocks.
        head, mark, blocks = re.sub(r"'Y\d+'", "'Y'", words).rpartition("does not apply: ")
        words = head + mark + "; ".join(dict.fromkeys(blocks.split("; ")))
        words = words.rstrip(".")[:240]
        if not words:
            return ""
        return f"[{self.known.setdefault(words, len(self.known) + 1)}]"

    def lines(self) -> list[str]:
        """All remarks."""
        return [f"- [{number}] {words.replace('|', ' ')}" for words, number in self.known.items()]


def line(row: dict[str, Any], expected: str, notes: Notes) -> str:
    """One run as a line of Markdown."""
    value, error = row.get("value"), None
    if value is not None and expected[-1].isdigit():
        error = abs(value - float(expected)) / max(1.0, abs(float(expected)))
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
        "" if settled(row, expected) else notes.mark(row),
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
            for form in forms_of(solver):
                key = f"{name} {solver} {form}"
                if arguments.forms and form not in arguments.forms:
                    continue
                if key in kept and not arguments.again:
                    continue
                kept[key] = run(name, solver, form, arguments.limit, arguments.here)
                keep(kept)
                print(key, brief(kept[key], optimal_values()[name]), flush=True)


if __name__ == "__main__":
    main()
