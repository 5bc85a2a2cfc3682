"""How often factors of known rank are found again, by convex iteration and by others.

An instance of a cell (n, m, k, density) is ``sdpdr.datasets.random_nonnegative`` with seeds 0, 1,
2, ...: a matrix X = W H with uniform factors of rank k. A method has succeeded when its factors are
non-negative and |X - WH| <= 1e-6 |X|, within five starts of 40 programs at most.

    python benchmarks/recovery.py --instances 1000 --cells dense10 sparse10 --jobs 1
    python benchmarks/recovery.py --table

The first command adds what is missing to benchmarks/recovery.json and can be interrupted at any
time; both write docs/tables/recovery.rst.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import NMF
from tables import write_table
from threadpoolctl import threadpool_limits

from sdpdr.base.files import write_text
from sdpdr.datasets import random_nonnegative
from sdpdr.factorize import nmf
from sdpdr.nonnegative import PartialMatrix, partial_matrix, polish_factors, random_factors

RESULTS = Path(__file__).parent / "recovery.json"
STARTS, PROGRAMS, TOL = 5, 40, 1e-6
CELLS = {
    "5x5 k=2": (5, 5, 2, 1.0),
    "8x8 k=4": (8, 8, 4, 1.0),
    "6x6 k=3 .6": (6, 6, 3, 0.6),
    "5x5 k=3 .5": (5, 5, 3, 0.5),
    "10x10 k=3": (10, 10, 3, 1.0),
    "10x10 k=3 .5": (10, 10, 3, 0.5),
}


class Line(NamedTuple):
    """One instance: start that succeeded (0 for none), programs, processor seconds, error."""

    seed: int
    start: int
    programs: int
    seconds: float
    error: float


def by_iteration(direction: str, polish: bool) -> Callable[[PartialMatrix, int, int], Line]:
    """Convex iteration, with or without a polish."""

    def run(known: PartialMatrix, k: int, seed: int) -> Line:
        found = nmf(
            known.values, k, direction=direction, starts=STARTS, seed=seed, polish=polish,
            max_iter=PROGRAMS, tol=TOL,
        )  # fmt: skip
        start = found.n_starts if found.reached else 0
        return Line(seed, start, len(found.history), 0.0, found.error)

    return run


def by_polish(known: PartialMatrix, k: int, seed: int) -> Line:
    """No program at all: random factors, polished."""
    best = np.inf
    for start in range(STARTS):
        W, H = random_factors(known, k, [seed, start])
        best = min(best, polish_factors(known, W, H).error)
        if best <= TOL:
            return Line(seed, start + 1, 0, 0.0, best)
    return Line(seed, 0, 0, 0.0, best)


def by_descent(polish: bool) -> Callable[[PartialMatrix, int, int], Line]:
    """scikit-learn's coordinate descent: nndsvda, then random starts."""

    def run(known: PartialMatrix, k: int, seed: int) -> Line:
        best = np.inf
        for start in range(STARTS):
            model = NMF(
                k, init="random" if start else "nndsvda", solver="cd", tol=1e-12, max_iter=2000,
                random_state=100 * seed + start,
            )  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                W = model.fit_transform(known.values)
            if not (np.all(np.isfinite(W)) and np.all(np.isfinite(model.components_))):
                continue  # the start "nndsvda" divides by zero where the rank of X is less than k
            error = known.error(W, model.components_)
            if polish:
                error = min(error, polish_factors(known, W, model.components_).error)
            best = min(best, error)
            if best <= TOL:
                return Line(seed, start + 1, 0, 0.0, best)
        return Line(seed, 0, 0, 0.0, best)

    return run


METHODS = {
    "schur": by_iteration("schur", False),
    "schur, polished": by_iteration("schur", True),
    "trailing": by_iteration("trailing", False),
    "trailing, polished": by_iteration("trailing", True),
    "polish alone": by_polish,
    "scikit-learn": by_descent(False),
    "scikit-learn, polished": by_descent(True),
}


def one(task: tuple[str, str, int]) -> tuple[str, str, Line]:
    """Run a method on an instance."""
    cell, method, seed = task
    n, m, k, density = CELLS[cell]
    X, _ = random_nonnegative(n, m, rank=k, density=density, seed=seed)
    known = partial_matrix(X)
    begin = time.process_time()
    with threadpool_limits(1):
        line = METHODS[method](known, k, seed)
    return cell, method, line._replace(seconds=round(time.process_time() - begin, 4))


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Interval of confidence .95 for a probability."""
    z = 1.959964
    p, scale = successes / trials, 1.0 + z**2 / trials
    middle = (p + z**2 / (2 * trials)) / scale
    half = z * np.sqrt(p * (1.0 - p) / trials + z**2 / (4 * trials**2)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def load() -> dict[str, dict[str, list[Line]]]:
    """What has been run."""
    if not RESULTS.exists():
        return {}
    stored = json.loads(RESULTS.read_text())
    return {c: {m: [Line(*x) for x in xs] for m, xs in ms.items()} for c, ms in stored.items()}


def save(results: dict[str, dict[str, list[Line]]]) -> None:
    """Write all that has been run; one line of text for each cell and method."""
    parts = []
    for cell, methods in results.items():
        lines = [
            f"  {json.dumps(method)}: {json.dumps(sorted(found))}"
            for method, found in methods.items()
        ]
        parts.append(f"{json.dumps(cell)}: {{\n" + ",\n".join(lines) + "\n}")
    write_text(RESULTS, "{\n" + ",\n".join(parts) + "\n}\n")


def missing(
    results: dict[str, dict[str, list[Line]]], cells: list[str], methods: list[str], instances: int
) -> Iterator[tuple[str, str, int]]:
    """Instances not yet run."""
    for cell in cells:
        for method in methods:
            done = {line.seed for line in results.get(cell, {}).get(method, [])}
            yield from ((cell, method, s) for s in range(instances) if s not in done)


def row(cell: str, method: str, lines: list[Line]) -> list[str]:
    """A line of the table."""
    n, m, k, density = CELLS[cell]
    trials = len(lines)
    rates = [sum(0 < line.start <= most for line in lines) for most in (1, 3, STARTS)]
    low, high = wilson(rates[-1], trials)
    programs = [line.programs for line in lines]
    count = f"{np.median(programs):.0f} / {np.mean(programs):.1f}" if any(programs) else "none"
    return [
        f"{n} x {m}, k = {k}, {density:g}",
        method,
        str(trials),
        " / ".join(str(r) for r in rates),
        f"{100 * low:.1f}–{100 * high:.1f} %",
        count,
        f"{np.mean([line.seconds for line in lines]):.2g}",
    ]


def main() -> None:
    """Read the command line, run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=list(CELLS), metavar="CELL")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="write the table only")
    arguments = parser.parse_args()
    results = load()
    if not arguments.table:
        tasks = list(missing(results, arguments.cells, arguments.methods, arguments.instances))
        saved = time.monotonic()
        with ProcessPoolExecutor(arguments.jobs) as pool:
            for cell, method, line in pool.map(one, tasks):
                results.setdefault(cell, {}).setdefault(method, []).append(line)
                if time.monotonic() - saved > 20.0:
                    save(results)
                    saved = time.monotonic()
        save(results)
    write_table(
        "recovery",
        [
            "n x m, k, density of factors", "method", "instances", "found in 1 / 3 / 5 starts",
            "interval of .95", "programs: median / mean", "seconds",
        ],
        [row(c, m, results[c][m]) for c in CELLS for m in METHODS if results.get(c, {}).get(m)],
        command="python benchmarks/recovery.py --table",
        notes=[
            "Found: factors :math:`W, H \\ge 0` with :math:`|X - WH|_F \\le 10^{-6} |X|_F`. The "
            "interval is Wilson's, of the probability to be found within five starts. Programs and "
            "processor seconds are those of an instance, all its starts together, on one core.",
            "Instances are ``datasets.random_nonnegative`` with seeds 0, 1, 2, ...; starts are "
            "random factors of norm :math:`|X|_2^{1/2}`, the first of scikit-learn "
            "``nndsvda``, with ``solver='cd', tol=1e-12, max_iter=2000``. A start of the iteration "
            "has 40 programs at most; *polished* means that factors within one per cent, and the "
            "last ones of a start, are finished by ``polish_factors``; *polish alone* is that "
            "method from the random start.",
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
