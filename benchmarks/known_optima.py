"""Random programs with exactly known optima: thousands of solves, and nothing false may be said.

Every kind of `sdpdr.testing.planted` with many seeds goes to "auto" and to every solver here in
every form; every third run is rigorous. Each answer is judged by `sdpdr.testing.GroundTruth`: no
certificate may be off by more than its tolerance, no bound, attained value or enclosure on the
wrong side, no status without its proof. The command fails if one is, or if "auto" certifies less
than 99 % of the programs that have an interior on both sides. It may be stopped and goes on where
it was. ``make truth`` runs it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from journal import carry_out
from tables import write_csv

import sdpdr
from sdpdr.errors import NotAcceptedError
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.possible import CHORDAL
from sdpdr.testing import KINDS, planted

TOL = 1e-6
SHARE = 0.99
# Minutes for programs that other solvers take seconds for, and no more to learn.
SLOW = ("multiprecision",)
INTERIOR = {kind for kind in KINDS if planted(kind, 0).interior}


def pairs() -> list[tuple[str, str]]:
    """Every usable solver in every form but those by cliques, which need larger programs."""
    found = [("auto", "auto")]
    for name, cls in SOLVERS.items():
        if cls.availability().usable and not cls.is_special and name not in SLOW:
            found += [(name, form) for form in cls.forms if form not in CHORDAL]
    return found


def tasks(solves: int) -> Iterator[dict[str, Any]]:
    """Kind after kind, so that a run that was stopped early has seen all of them."""
    ways, count, seed = pairs(), 0, 0
    while True:
        for kind in KINDS:
            for k, (solver, form) in enumerate(ways):
                if count == solves:
                    return
                yield {
                    "key": f"{kind} {seed} {solver} {form}",
                    "kind": kind,
                    "seed": seed,
                    "solver": solver,
                    "form": form,
                    "rigorous": (k + seed) % 3 == 0,
                }
                count += 1
        seed += 1


def solve(task: Mapping[str, Any]) -> dict[str, Any]:
    """One run, judged."""
    program = planted(task["kind"], task["seed"])
    try:
        answer = sdpdr.solve(
            program.sdp,
            task["solver"],
            task["form"],
            tol=TOL,
            rigorous=task["rigorous"],
            isolate=False,  # the child is a process of its own already
            progress=False,
        )
    except NotAcceptedError as error:
        return {"refused": str(error)[:200]}
    finite = answer.gap == answer.gap and abs(answer.gap) != float("inf")
    return {
        "status": answer.status.name,
        "value": repr(answer.value),
        "bound": repr(answer.bound),
        "attained": repr(answer.attained),
        "gap": answer.gap if finite else None,
        "certified": answer.certified(TOL),
        "enclosed": answer.enclosure is not None,
        "attained_by": answer.attained_by[:300],
        "argument": answer.argument[:300],
        "objections": list(program.truth.contradictions(answer)),
    }


def per_kind(runs: list[dict[str, Any]]) -> list[list[object]]:
    """One line for each kind: what auto and all solvers reach."""
    lines: list[list[object]] = []
    for kind in KINDS:
        of_kind = [r for r in runs if r["kind"] == kind]
        auto = [r for r in of_kind if r["solver"] == "auto"]
        lines.append(
            [
                kind,
                "both" if kind in INTERIOR else "–",
                len(of_kind),
                share(of_kind),
                share(auto),
                sum(bool(r.get("enclosed")) for r in of_kind),
                sum(bool(r.get("objections")) for r in of_kind),
                sum("error" in r for r in of_kind),
            ]
        )
    return lines


def per_solver(runs: list[dict[str, Any]]) -> list[list[object]]:
    """One line for each solver in a form."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        grouped[run["solver"], run["form"]].append(run)
    lines: list[list[object]] = []
    for (solver, form), group in grouped.items():
        inside = [r for r in group if r["kind"] in INTERIOR]
        lines.append(
            [
                f"``{solver}``, {form}",
                len(group),
                share(group),
                share(inside),
                sum(bool(r.get("objections")) for r in group),
                sum("error" in r for r in group),
            ]
        )
    return lines


def share(runs: list[dict[str, Any]]) -> str:
    """How many are certified."""
    if not runs:
        return "–"
    return f"{sum(bool(r.get('certified')) for r in runs)} of {len(runs)}"


def main() -> int:
    """Run, tell, write the tables; 1 if something false was said or too little was proved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solves", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=Path("out/known_optima.jsonl"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one run")
    parser.add_argument("--dry", action="store_true", help="write no table")
    args = parser.parse_args()
    results = carry_out(tasks(args.solves), solve, args.out, workers=args.workers, limit=args.limit)
    runs = [r for r in results if "refused" not in r]
    for run in runs:
        for words in [*run.get("objections", []), *([run["error"]] if "error" in run else [])]:
            print(f"{run['key']}: {words}")
    inside = [r for r in runs if r["solver"] == "auto" and r["kind"] in INTERIOR]
    certified = sum(bool(r.get("certified")) for r in inside)
    false = sum(bool(r.get("objections")) for r in runs)
    statuses = Counter(r.get("status", "error") for r in runs)
    print(f"{len(results)} solves, {len(results) - len(runs)} refused; {dict(statuses)}")
    print(f"false statements: {false}; errors: {sum('error' in r for r in runs)}")
    print(f"auto, interior on both sides: {certified} of {len(inside)} certified at {TOL:g}")
    if not args.dry:
        _write(runs, len(results), certified, len(inside), false)
    return int(false > 0 or certified < SHARE * len(inside))


def _write(
    runs: list[dict[str, Any]], solves: int, certified: int, inside: int, false: int
) -> None:
    command = "python benchmarks/known_optima.py"
    write_csv(
        "known_optima",
        [
            "Kind",
            "Interior",
            "Answers",
            "Certified",
            "Certified by auto",
            "Enclosed",
            "False statements",
            "Errors",
        ],
        per_kind(runs),
        command=command,
        notes=[
            f"{solves} solves, of which {solves - len(runs)} were refused in words. False "
            f"statements in all: {false}. Among the programs with an interior on both sides, auto "
            f"certifies {certified} of {inside} at {TOL:g}.",
        ],
    )
    write_csv(
        "known_optima_solvers",
        [
            "Solver, form",
            "Answers",
            "Certified",
            "Certified, with interior",
            "False statements",
            "Errors",
        ],
        per_solver(runs),
        command=command,
    )


if __name__ == "__main__":
    sys.exit(main())
