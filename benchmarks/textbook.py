"""Thirty textbook programs, written in cvxpy: sdpdr as the solver beside cvxpy's best.

python benchmarks/textbook.py               # rewrites docs/tables/textbook.rst
python benchmarks/textbook.py cut --profile # those whose names have it, and where seconds go
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import psutil
from tables import write_table
from textbook_problems import PROBLEMS

# Clarabel brings threads of its own, which take more processor seconds than they save of others.
os.environ.setdefault("RAYON_NUM_THREADS", "1")

import sdpdr

TIMES = 3
_BETWEEN = " | "
# What value and constraints of another solver's answer may be off, relatively, to count: as much as
# our own call may leave between value and bound.
_SAME = 1e-6
THEIRS: dict[str, dict[str, Any]] = {
    "CLARABEL": {},
    "CVXOPT": {},
    "SCS": {"eps": 1e-7, "max_iters": 20_000},
}


def _of_others() -> float:
    """Processor seconds of the processes that this one has started, and that have not ended."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            seconds = process.cpu_times()
            total += seconds.user + seconds.system
    return total


def _solved(build: Callable[[], cp.Problem], **options: Any) -> tuple[float, cp.Problem]:
    """Processor seconds of a solve, compilation included, and the problem."""
    problem = build()
    # To look for processes takes as long as a small solve, and is not part of one.
    others = _of_others()
    begin = time.process_time()
    problem.solve(**options)
    own = time.process_time() - begin
    return own + _of_others() - others, problem


def _median(build: Callable[[], cp.Problem], **options: Any) -> tuple[float, cp.Problem]:
    """The median of several solves, and the last problem."""
    seconds, problems = zip(*(_solved(build, **options) for _ in range(TIMES)), strict=True)
    return statistics.median(seconds), problems[-1]


def _missed(problem: cp.Problem) -> float:
    """How far the constraints are missed, each beside the largest number in it, or one."""
    missed = [0.0]
    for c in problem.constraints:
        size = max(1.0, *(float(np.max(np.abs(a.value), initial=0.0)) for a in c.args))
        missed.append(float(np.max(np.abs(c.violation()), initial=0.0)) / size)
    for v in problem.variables():
        size = max(1.0, float(np.max(np.abs(v.value))))
        if v.attributes["PSD"]:
            missed.append(-float(np.linalg.eigvalsh((v.value + v.value.T) / 2.0)[0]) / size)
        if v.attributes["nonneg"]:
            missed.append(-float(np.min(v.value)) / size)
    return max(missed)


def _is_as_accurate(problem: cp.Problem, value: float) -> bool:
    """Whether an answer has the value, and satisfies the constraints, to what ours is proved to."""
    if problem.status != cp.OPTIMAL or abs(problem.value - value) > _SAME * max(1, abs(value)):
        return False
    return _missed(problem) <= _SAME


def _best(build: Callable[[], cp.Problem], value: float) -> tuple[str, float]:
    """The fastest of cvxpy's solvers that finds a value, and its seconds."""
    found = {}
    for solver, options in THEIRS.items():
        try:
            seconds, problem = _solved(build, solver=solver, **options)
        except (cp.SolverError, ArithmeticError, ValueError, RuntimeError):
            continue
        if _is_as_accurate(problem, value):
            found[solver] = seconds
    if not found:
        return "none reaches an optimum", math.nan
    best = min(found, key=lambda solver: found[solver])
    return best, _median(build, solver=best, **THEIRS[best])[0]


def row(name: str, build: Callable[[], cp.Problem]) -> list[str]:
    """One line of the table: the best of cvxpy's solvers, ours, the ratio, and what is proved."""
    ours, problem = _median(build, solver=sdpdr.CVXPY())
    solution = problem.solver_stats.extra_stats
    best, theirs = _best(build, problem.value)
    by = ", ".join(dict.fromkeys(f"{run.solver} ({run.form})" for run in solution.runs))
    cells = [name, best, f"{theirs:.3f}", f"{ours:.3f}", f"{ours / theirs:.2f}"]
    return [*cells, by, solution.status.name, f"{solution.gap:.0e}"]


def _profile(name: str, build: Callable[[], cp.Problem]) -> None:
    """Seconds of our phases, and of cvxpy's compilation."""
    build().solve(solver=sdpdr.CVXPY())
    problem = build()
    problem.solve(solver=sdpdr.CVXPY())
    phases = problem.solver_stats.extra_stats.timings
    words = ", ".join(f"{phase} {1e3 * seconds:.0f}" for phase, seconds in phases.items())
    compiled = 1e3 * problem.compilation_time
    total = 1e3 * problem.solver_stats.solve_time
    print(f"{name}: cvxpy {compiled:.0f} ms, we {total:.0f} ms ({words})", flush=True)


def _logged(log: Path | None) -> dict[str, list[str]]:
    """Lines of a run that did not come to its end, by name."""
    if log is None or not log.exists():
        return {}
    lines = (line.split(_BETWEEN) for line in log.read_text(encoding="utf-8").splitlines())
    return {cells[0]: cells for cells in lines}


def main() -> None:
    """Solve all, or those that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--log", type=Path, help="keep lines there, and measure only those missing")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = {name: build for name, build in PROBLEMS.items() if arguments.word in name}
    if arguments.profile:
        for name, build in chosen.items():
            _profile(name, build)
        return
    next(iter(chosen.values()))().solve(solver=sdpdr.CVXPY())  # what is loaded at the first solve
    known = _logged(arguments.log)
    rows = []
    for name, build in chosen.items():
        rows.append(known.get(name) or row(name, build))
        print(_BETWEEN.join(rows[-1]), flush=True)
        if arguments.log and name not in known:
            with arguments.log.open("a", encoding="utf-8") as log:
                log.write(_BETWEEN.join(rows[-1]) + "\n")
    ratios = [float(r[4]) for r in rows if r[4] != "nan"]
    summary = (
        f"{sum(r <= 1.5 for r in ratios)} of {len(ratios)} take at most 1.5 times as long as the "
        f"best of {', '.join(THEIRS)}; the median ratio is {statistics.median(ratios):.2f}."
    )
    print(summary)
    if arguments.word:
        return
    write_table(
        "textbook",
        ["program", "best", "its seconds", "ours", "ratio", "solved by", "status", "gap proved"],
        rows,
        command="python benchmarks/textbook.py",
        notes=[
            f"Processor seconds with one thread, compilation included, medians of {TIMES}. The "
            "best is the fastest of cvxpy's solvers whose value agrees with ours to 1e-6, which "
            "is what ours is proved to, and which satisfies all constraints to 1e-6 of the largest "
            f"number in each; their answers are not proved. {summary}"
        ],
    )


if __name__ == "__main__":
    main()
