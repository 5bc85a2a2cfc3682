"""What every solver has to be asked for, so that our own gap and residuals meet the tolerance.

Twenty small cards of the library that are not difficult are solved with the tolerance divided by
1, 10, 100 and 1000, and with the solver's own defaults. What counts is our grade of the answer.
Iterations stand for the cost of asking for more, since they are the same on every machine.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import median
from typing import Any

from tables import write_table

import sdpdr
from sdpdr import Status
from sdpdr.errors import NotAcceptedError
from sdpdr.library import find_card
from sdpdr.solvers import Solver
from sdpdr.solvers.registry import SOLVERS

CARDS = (
    "are-line", "circle", "complete-graph", "cp-lift-along-ones", "density-map-trace",
    "fantope-path-6", "ism-swiss-roll-24", "loocv-simplex", "metric-xing-clouds-diagonal",
    "mixed-labels-bound-10", "mmmf-max-norm", "mmmf-soft-five", "mvee-gaussian-30",
    "nmf-dnn-square", "nmf-lift-random-40", "nmf-shor-square", "path-graph", "path-graph-band",
    "sopca-single-matrix", "swiss-roll-60-angles",
)  # fmt: skip
DIVISORS = (1, 10, 100, 1000)
LIMIT = 10.0


@dataclass(frozen=True)
class Reached:
    """What we measured of an answer."""

    gap: float
    worst: float
    solved: bool
    iterations: int


def solve(model: sdpdr.Model, solver: Solver) -> Reached | None:
    """One run; None where the solver does not take the program."""
    try:
        form = sdpdr.plan(model, solver).form
        form = "lmi" if form == "cvxpy" else form  # that of a solver with a face to stand on
        answer = sdpdr.solve(model, solver, form, time_limit=limit(solver))
    except NotAcceptedError:
        return None
    worst, solved = answer.residuals.worst(), answer.status is Status.SOLVED
    return Reached(abs(answer.gap), worst, solved, answer.claimed.iterations or 0)


def limit(solver: Solver) -> float | None:
    """A limit of time where that does not mean a process of its own."""
    return LIMIT if solver.obeys_time_limit else None


def asked(cls: type[Solver], tol: float, divisor: int) -> Solver:
    """A solver that is asked for a fraction of the tolerance, whatever the table says."""
    number = tol / divisor
    options: dict[str, Any] = dict.fromkeys(cls.known_rule().options, number)
    if cls.name == "mosek":
        options = {"mosek_params": options}
    return cls(tol=tol, options=options)


def rows_of(name: str, models: dict[str, sdpdr.Model], tol: float) -> list[list[str]]:
    """One line for every divisor, and one for the solver's own defaults."""
    cls, rule = SOLVERS[name], SOLVERS[name].known_rule()
    own = ", ".join(f"{x:.0e}" for x in dict.fromkeys(rule.own))
    ways = [(f"tol / {d}", f"{tol / d:.0e}", asked(cls, tol, d)) for d in DIVISORS]
    ways.append(("**by the table**", f"{rule.asked(tol):.0e}", cls(tol=tol)))
    ways.append(("its own", own, cls(tol=tol, defaults=True)))
    lines = []
    for way, number, solver in ways:
        found = [r for r in (solve(model, solver) for model in models.values()) if r]
        iterations = sum(r.iterations for r in found)
        line = [
            f"``{name}``",
            way,
            number,
            f"{median(r.gap for r in found):.0e}",
            f"{median(r.worst for r in found):.0e}",
            f"{sum(r.solved for r in found)} of {len(found)}",
            f"{iterations:,}" if iterations else "–",
        ]
        lines.append(line)
        print(*line, sep="  ", flush=True)
    return lines


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--solver", action="append", choices=sorted(SOLVERS), help="default: all")
    parser.add_argument("--dry", action="store_true", help="print, and write no table")
    args = parser.parse_args()
    models = {name: find_card(name).build() for name in CARDS}
    rows = []
    for name in args.solver or SOLVERS:
        # That of cvxpy is the same code as the program, and slower to ask a hundred times.
        twice = name == "sdpa" and not args.solver and SOLVERS["sdpa-file"].availability().usable
        if SOLVERS[name].availability().usable and not twice:
            rows += rows_of(name, models, args.tol)
    if args.dry:
        return
    write_table(
        "tolerances",
        ["Solver", "Asked", "Number", "Median gap", "Median error", "Solved", "Iterations"],
        rows,
        command="python benchmarks/tolerances.py",
        notes=[
            f"A relative gap and residuals of {args.tol:.0e} are wanted. Gap and largest DIMACS "
            "error are ours, at the answer; *solved* is our grade. Iterations are summed over the "
            "cards, where the solver counts them; a card that it does not take is left out. "
            f"Solvers that keep a limit of time are given {LIMIT:g} seconds. ``sdpa`` has the rule "
            "of ``sdpa-file``, which is the same code.",
            "Cards: " + ", ".join(f"``{name}``" for name in CARDS) + ".",
        ],
    )


if __name__ == "__main__":
    main()
