"""What `sdpdr.verify` proves of answers of other solvers, and in what share of their seconds.

    python benchmarks/verify_answers.py                  all, and the table of the documentation
    python benchmarks/verify_answers.py --only cvxpy     forty problems by three solvers of cvxpy
    python benchmarks/verify_answers.py --only sdplib    files of SDPLIB, solved by CSDP
    python benchmarks/verify_answers.py --only sdplib --problems theta1    some; the rest stays
    python benchmarks/verify_answers.py --table          the table again, nothing solved

The files are those of ``SDPDR_DATA/sdplib``, in the folder above this one where that is not set.
What came of each answer is kept in ``benchmarks/verify_answers.json``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from tables import write_table
from textbook_problems import PROBLEMS, Draw

import sdpdr

KEPT = Path(__file__).with_suffix(".json")
DATA = Path(os.environ.get("SDPDR_DATA", Path(__file__).parents[2] / "data")) / "sdplib"
SOLVERS = {"Clarabel": cp.CLARABEL, "SCS": cp.SCS, "CVXOPT": cp.CVXOPT}
# Sizes over those in the names of the textbook problems.
TIMES = 0.4
# SCS stops at 1e-4 otherwise; a hundred thousand steps are its own limit.
OPTIONS = {"SCS": {"eps_abs": 1e-7, "eps_rel": 1e-7}}
# CPU seconds of CSDP for one file.
LIMIT = 120


# -- problems over other cones --------------------------------------------------------------------

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((30, 6)), RNG.standard_normal(30)
SIGNS = np.sign(B)
MEAN, ROOT = RNG.random(6), RNG.standard_normal((6, 6))


def portfolio() -> cp.Problem:
    """Return less risk (second-order)."""
    x = cp.Variable(6, nonneg=True)
    return cp.Problem(cp.Maximize(MEAN @ x - cp.norm(ROOT @ x)), [cp.sum(x) == 1])


def lasso() -> cp.Problem:
    """Least squares with absolute penalties (second-order)."""
    x = cp.Variable(6)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - B) + cp.norm1(x)))


def huber() -> cp.Problem:
    """Robust regression (second-order)."""
    x = cp.Variable(6)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(A @ x - B))))


def assignment() -> cp.Problem:
    """Assignment of six tasks (linear)."""
    X = cp.Variable((6, 6), nonneg=True)
    rows = [cp.sum(X, axis=0) == 1, cp.sum(X, axis=1) == 1]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(ROOT, X))), rows)


def centre() -> cp.Problem:
    """The largest ball in a polytope (linear)."""
    x, r = cp.Variable(6), cp.Variable()
    rows = [A @ x + r * np.linalg.norm(A, axis=1) <= 1, cp.abs(x) <= 3]
    return cp.Problem(cp.Maximize(r), rows)


def entropy() -> cp.Problem:
    """Entropy with given means (exponential)."""
    x = cp.Variable(6)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, MEAN @ x == 0.5])


def divergence() -> cp.Problem:
    """Kullback-Leibler projection (exponential)."""
    x, y = cp.Variable(6), np.ones(6) / 6
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, y))), [cp.sum(x) == 1, MEAN @ x >= 0.6])


def logistic() -> cp.Problem:
    """Logistic regression with a penalty (exponential)."""
    x = cp.Variable(6)
    loss = cp.sum(cp.logistic(-cp.multiply(SIGNS, A @ x)))
    return cp.Problem(cp.Minimize(loss + cp.sum_squares(x)))


def log_sum_exp() -> cp.Problem:
    """A geometric program (exponential)."""
    x = cp.Variable(6)
    return cp.Problem(cp.Minimize(cp.log_sum_exp(A @ x + B)), [cp.norm_inf(x) <= 1])


def geometric_mean() -> cp.Problem:
    """A geometric mean under budgets (second-order)."""
    x = cp.Variable(6)
    return cp.Problem(cp.Maximize(cp.geo_mean(x)), [np.abs(A[:4]) @ x <= 1])


def cubes() -> cp.Problem:
    """Sums of cubes (power)."""
    x = cp.Variable(6)
    cost = cp.sum(cp.power(x, 3, approx=False))
    return cp.Problem(cp.Minimize(cost), [A[:2] @ x == np.array([1.0, 2.0])])


def likelihood() -> cp.Problem:
    """Log det with a trace (exponential and semidefinite)."""
    S, C = cp.Variable((4, 4), PSD=True), ROOT[:4, :4] @ ROOT[:4, :4].T + np.eye(4)
    return cp.Problem(cp.Maximize(cp.log_det(S) - cp.trace(C @ S)))


OTHERS: tuple[Callable[[], cp.Problem], ...] = (
    portfolio, lasso, huber, assignment, centre, entropy, divergence, logistic, log_sum_exp,
    geometric_mean, cubes, likelihood,
)  # fmt: skip


def problems() -> dict[str, Callable[[], cp.Problem]]:
    """Forty problems by name."""
    textbook = list(PROBLEMS.items())[: 40 - len(OTHERS)]
    found: dict[str, Callable[[], cp.Problem]] = {
        name: lambda build=build: build(Draw(TIMES)) for name, build in textbook
    }
    return found | {(make.__doc__ or "").rstrip("."): make for make in OTHERS}


# -- runs -----------------------------------------------------------------------------------------


def record(name: str, solver: str, solving: float, make: Callable[[], Any]) -> dict[str, Any]:
    """What is proved of one answer."""
    begin = time.process_time()
    found = make()
    seconds = time.process_time() - begin
    row = {
        "problem": name,
        "solver": solver,
        "status": found.status.name,
        "gap": found.gap if np.isfinite(found.gap) else None,
        "claimed": found.claimed.value,
        "is_refuted": found.is_refuted,
        "attained": found.attained,
        "bound": found.bound,
        "moved": found.moved,
        "note": found.claimed.message,
        "solving": solving,
        "proving": seconds,
    }
    gap = "-" if row["gap"] is None else f"{row['gap']:.1e}"
    refuted = "refuted" if found.is_refuted else ""
    print(
        f"{name:<34.34}{solver:<9}{row['status']:<15}{gap:>8}{solving:>9.3f} s"
        f"{seconds:>8.3f} s {seconds / max(solving, 1e-3):>6.1f} {refuted} {row['note'][:40]}",
        flush=True,
    )
    return row


def run_cvxpy(wanted: Collection[str]) -> Iterator[dict[str, Any]]:
    """Forty problems, solved by three solvers of cvxpy each."""
    # The first run of all imports what the others need.
    first = entropy()
    first.solve(solver=cp.CLARABEL)
    sdpdr.verify(first)
    for name, make in problems().items():
        if wanted and name not in wanted:
            continue
        for solver, known in SOLVERS.items():
            problem = make()
            begin = time.process_time()
            try:
                problem.solve(solver=known, **OPTIONS.get(solver, {}))
            except (cp.SolverError, ValueError, ArithmeticError, RuntimeError) as error:
                print(f"{name:<34.34}{solver:<9}{str(error).splitlines()[0][:60]}")
                continue
            solving = time.process_time() - begin
            yield record(name, solver, solving, lambda p=problem: sdpdr.verify(p))


def run_sdplib(wanted: Collection[str]) -> Iterator[dict[str, Any]]:
    """Files of SDPLIB, solved by CSDP."""
    with tempfile.TemporaryDirectory() as place:
        program, answer = Path(place, "program.dat-s"), Path(place, "answer.sol")
        for path in sorted(DATA.glob("*.dat-s.gz")):
            name = path.name.removesuffix(".dat-s.gz")
            if wanted and name not in wanted:
                continue
            program.write_bytes(gzip.decompress(path.read_bytes()))
            answer.unlink(missing_ok=True)
            begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            command = f"ulimit -t {LIMIT}; exec csdp {program.name} {answer.name}"
            subprocess.run(["sh", "-c", command], cwd=place, capture_output=True, check=False)
            solving = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
            if not answer.exists():
                print(f"{name:<34}CSDP     wrote no solution in {LIMIT} s")
                continue
            yield record(name, "CSDP", solving, lambda: sdpdr.verify(program, answer))


# -- the table ------------------------------------------------------------------------------------

PROVED = ("SOLVED", "INFEASIBLE", "UNBOUNDED")


def summary(rows: Iterable[dict[str, Any]]) -> list[tuple[str, ...]]:
    """For every solver: how many are proved, with what gaps, in what share of its seconds."""
    by_solver = defaultdict(list)
    for row in rows:
        by_solver[row["solver"]].append(row)
    lines = []
    for solver, own in by_solver.items():
        gaps = [row["gap"] for row in own if row["status"] == "SOLVED"]
        shares = [row["proving"] / max(row["solving"], 1e-3) for row in own]
        total = sum(row["proving"] for row in own) / sum(row["solving"] for row in own)
        proved = sum(row["status"] in PROVED for row in own)
        solved_again = sum("one solve" in row["note"] for row in own)
        open_ = ", ".join(row["problem"] for row in own if row["status"] not in PROVED)
        lines.append(
            (
                solver,
                f"{proved} of {len(own)}",
                f"{np.median(gaps):.0e}",
                f"{max(gaps):.0e}",
                f"{np.median(shares):.1f}",
                f"{total:.2f}",
                str(solved_again),
                str(sum(row["is_refuted"] for row in own)),
                open_ or "-",
            )
        )
    return lines


HEAD = (
    "Answers of", "Proved", "Median gap", "Largest", "Share of CPU seconds: median", "In all",
    "Multipliers found by a solve", "Claims refuted", "Not proved to 1e-6",
)  # fmt: skip
NOTES = (
    "Forty problems of textbooks and courses in cvxpy, over linear, second-order, semidefinite, "
    "exponential and power cones; CVXOPT has neither of the last two, and some problems it refuses."
    f" CSDP: the files of SDPLIB that it solves in {LIMIT} s with its defaults, and a minute of "
    "proofs at most for each. A share is the CPU seconds of :func:`sdpdr.verify` over those of the "
    "solve, in cvxpy with its canonicalization. A claim is refuted if it is off by more than 1e-6, "
    "relatively.",
)


def main() -> None:
    """Run what is asked for, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["cvxpy", "sdplib"])
    parser.add_argument("--problems", nargs="*", default=())
    parser.add_argument("--table", action="store_true")
    chosen = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    warnings.simplefilter("ignore")
    for kind, run in (("cvxpy", run_cvxpy), ("sdplib", run_sdplib)):
        if not chosen.table and chosen.only in (None, kind):
            wanted = chosen.problems
            kept[kind] = [
                row for row in kept.get(kind, []) if wanted and row["problem"] not in wanted
            ]
            for row in run(wanted):
                kept[kind].append(row)
                KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    rows = [row for kind in ("cvxpy", "sdplib") for row in kept.get(kind, [])]
    command = "python benchmarks/verify_answers.py"
    write_table("verify", HEAD, summary(rows), command=command, notes=NOTES)


if __name__ == "__main__":
    main()
