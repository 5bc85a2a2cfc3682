"""Completely positive factorization of products: the loop and least squares.

    python benchmarks/completely_positive.py    # rewrites docs/tables/completely_positive*.rst
    python benchmarks/completely_positive.py --instances 3 --tables decisions

Instance s of a cell (n, r, k, density) is A = B B' with B uniform in [0, 1] of shape (n, r),
entries kept with the probability of the cell, from numpy.random.default_rng(s); a factor with k
columns is looked for. An attempt succeeds if |A - B B'| <= 1e-6 |A| for its B with negative entries
replaced by zero.

The second table decides on matrices at the boundary of the doubly non-negative ones: X X' with
standard normal X of shape (n, r), projected onto both cones in turn, plus 1e-6 I.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from tables import write_table

from sdpdr.factorize import CpStatus, completely_positive, cp_iteration
from sdpdr.families.factor.nonnegative.polish import polish_square
from sdpdr.nonnegative import square_residual
from sdpdr.program import as_dense

BOUNDARY = ((5, 3), (6, 3), (8, 4), (10, 5), (12, 6))
CELLS = ((5, 3, 3, 1.0), (5, 5, 6, 0.6), (5, 5, 5, 0.6), (8, 8, 8, 0.5))
ENOUGH = 1e-6
# Of a second implementation, with cvxpy and SDPA: successes of 10, programs each.
SECOND = {
    (5, 3, 3, 1.0): {"loop": "10/10, 1.3-4.6 programs"},
    (5, 5, 6, 0.6): {"loop": "10/10, 2.6-3.3 programs"},
    (5, 5, 5, 0.6): {"loop": "10/10"},
}


@dataclass
class Tally:
    """Successes of a way to look, over the instances of a cell."""

    found: int = 0
    steps: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def product(n: int, r: int, density: float, seed: int) -> np.ndarray:
    """Instance of a cell."""
    rng = np.random.default_rng(seed)
    B = rng.random((n, r)) * (rng.random((n, r)) < density)
    return B @ B.T


def loop(direction: str) -> Callable[[np.ndarray, int, int], tuple[float, int]]:
    """One start of the iteration, unpolished."""

    def look(A: np.ndarray, k: int, seed: int) -> tuple[float, int]:
        iteration = cp_iteration(
            A, k, seed=100 + 10 * seed, direction=direction, tol=1e-8, max_iter=40, progress=False
        )
        state = iteration.run()
        B = np.maximum(as_dense(state.gram())[k:, :k], 0.0)
        return square_residual(A, B), len(state.history)

    return look


def polished_loop(A: np.ndarray, k: int, seed: int) -> tuple[float, int]:
    """One start of the iteration, polished where it is near."""
    found = completely_positive(A, k, draws=0, starts=1, certificate=False, seed=100 + 10 * seed)
    return found.residual, len(found.rows())


def least_squares(starts: int) -> Callable[[np.ndarray, int, int], tuple[float, int]]:
    """Random factors, polished without any program."""

    def look(A: np.ndarray, k: int, seed: int) -> tuple[float, int]:
        rng, best, taken = np.random.default_rng(100 + 10 * seed), np.inf, 0
        while taken < starts and best > ENOUGH:
            taken += 1
            first = rng.random((len(A), k)) * np.sqrt(2.0 * np.diag(A) / k)[:, None]
            best = min(best, square_residual(A, polish_square(A, first, max_iter=300)))
        return best, taken

    return look


WAYS: dict[str, tuple[str, Callable[[np.ndarray, int, int], tuple[float, int]]]] = {
    "loop, schur": ("programs", loop("schur")),
    "loop, trailing": ("programs", loop("trailing")),
    "loop, schur, polished": ("programs", polished_loop),
    "least squares, 1 start": ("starts", least_squares(1)),
    "least squares, 5 starts": ("starts", least_squares(5)),
}


def measure(cell: tuple[int, int, int, float], way: str, instances: int) -> Tally:
    """All instances of a cell in one way."""
    n, r, k, density = cell
    tally, look = Tally(), WAYS[way][1]
    for seed in range(instances):
        A = product(n, r, density, seed)
        kept = np.diag(A) > 0.0
        begin = time.process_time()
        residual, steps = look(A[np.ix_(kept, kept)], k, seed)
        tally.seconds.append(time.process_time() - begin)
        tally.steps.append(steps)
        tally.found += residual <= ENOUGH
    return tally


def boundary(n: int, r: int, seed: int) -> np.ndarray:
    """A random matrix at the boundary of the doubly non-negative ones."""
    A = np.random.default_rng(seed).standard_normal((n, r))
    A = np.maximum(A @ A.T, 0.0)
    for _ in range(5000):
        values, vectors = np.linalg.eigh(A)
        A = (vectors * np.maximum(values, 0.0)) @ vectors.T
        if A.min() > -1e-12:
            break
        A = np.maximum(A, 0.0)
    return np.maximum(A, 0.0) + 1e-6 * np.eye(n)


def decisions(instances: int) -> None:
    """How many matrices at the boundary are decided, and how long it takes."""
    rows = []
    for n, r in BOUNDARY:
        count, seconds = Counter(), []
        for seed in range(instances):
            begin = time.process_time()
            found = completely_positive(boundary(n, r, seed), starts=1, time_limit=120.0)
            seconds.append(time.process_time() - begin)
            count[found.status] += 1
        shares = [str(count[status]) for status in CpStatus]
        times = (f"{statistics.median(seconds):.2g}", f"{max(seconds):.2g}")
        rows.append((f"{n}, {r}", *shares, *times))
        print(*rows[-1], sep="  ", flush=True)
    path = write_table(
        "completely_positive_decisions",
        ("order, rank", "CP", "NOT_CP", "UNDECIDED", "seconds, median", "seconds, most"),
        rows,
        command="python benchmarks/completely_positive.py --tables decisions",
        notes=(
            f"{instances} matrices each: the product of a standard normal matrix of shape (n, r) "
            "from ``numpy.random.default_rng(s)`` with its transpose, projected onto both cones "
            "in turn, and 1e-6 I added. One start of the iteration for each k; a limit of two "
            "minutes by the clock. Seconds are of processor time on one core.",
        ),
    )
    print(f"wrote {path}")


def comparison(instances: int) -> None:
    """How the ways to look for a factor compare."""
    rows = []
    for cell in CELLS:
        n, r, k, density = cell
        for way, (unit, _) in WAYS.items():
            tally = measure(cell, way, instances)
            second = SECOND.get(cell, {})
            kind = "loop" if way in ("loop, schur", "loop, trailing") else way
            mean, median = statistics.mean(tally.steps), statistics.median(tally.seconds)
            rows.append(
                (
                    f"{n}, {r}, {k}, {density:g}",
                    way,
                    f"{tally.found}/{instances}",
                    f"{mean:.1f} {unit}",
                    f"{median:.2g}",
                    second.get(kind, ""),
                )
            )
            print(*rows[-1], sep="  ", flush=True)
    path = write_table(
        "completely_positive",
        (
            "order, columns of the product, k, density",
            "way",
            "found",
            "mean work",
            "seconds, median",
            "second implementation",
        ),
        rows,
        command="python benchmarks/completely_positive.py",
        notes=(
            "Found: a residual of 1e-6 at most. Instances are A = B B', B from "
            "``numpy.random.default_rng(s)``, s = 0, 1, ...; ways begin from the seed 100 + 10 s. "
            "Seconds are of processor time on one core. The thesis gives no figures. The second "
            "implementation, with cvxpy and SDPA, factored the same instances from other random "
            "starts, both directions of the loop taken together.",
        ),
    )
    print(f"wrote {path}")


def main() -> None:
    """Read the command line, measure and write."""
    tables = {"ways": comparison, "decisions": decisions}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--tables", nargs="+", choices=tables, default=list(tables))
    arguments = parser.parse_args()
    for name in arguments.tables:
        tables[name](arguments.instances)


if __name__ == "__main__":
    main()
