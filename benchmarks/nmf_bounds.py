"""How tight the bounds on non-negative factorizations are: random matrices and digits.

    python benchmarks/nmf_bounds.py              # rewrites docs/tables/nmf_bounds.rst
    python benchmarks/nmf_bounds.py --instances 4 --starts 10

Each matrix is factored from many random starts with scikit-learn's NMF, and the best error is set
beside the lower bounds. A gap is the share of that error which a better factorization might save.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
from journal import processor_seconds
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from tables import write_table

import sdpdr

# Rows, columns, components, share of entries that are not zero.
CELLS = (
    (4, 5, 2, 0.5),
    (6, 8, 2, 0.5),
    (6, 8, 2, 0.3),
    (8, 10, 2, 0.7),
    (5, 6, 3, 0.5),
    (6, 8, 3, 0.5),
    (6, 8, 4, 0.5),
    (12, 15, 3, 0.5),
)
# Digits of one kind, and components.
DIGITS = ((20, 2), (20, 4), (20, 8))
CLOSED = 1e-4


def best_error(V: np.ndarray, k: int, starts: int) -> float:
    """The least error of local searches from random starts."""
    best = np.inf
    for seed in range(starts):
        nmf = NMF(k, init="random", random_state=seed, tol=1e-9, max_iter=3000)
        W = nmf.fit_transform(V)
        best = min(best, float(np.linalg.norm(V - W @ nmf.components_)))
    return best


def gaps(V: np.ndarray, k: int, starts: int) -> tuple[float, float, float]:
    """Gaps of Eckart and Young and of the program, and seconds of the program."""
    best, begin = best_error(V, k, starts), processor_seconds()
    found = sdpdr.nmf_bound(V, k=k, method="overlap", time_limit=300.0)
    seconds = processor_seconds() - begin
    return 1.0 - found.parts["eckart_young"] / best, 1.0 - found.lower / best, seconds


def random_rows(instances: int, starts: int) -> Iterator[list[object]]:
    """One row for each cell."""
    for n, m, k, density in CELLS:
        rows = []
        for seed in range(instances):
            rng = np.random.default_rng(seed)
            V = rng.random((n, m)) * (rng.random((n, m)) < density)
            rows.append(gaps(V, k, starts))
        young, program, seconds = np.array(rows).T
        yield [
            f"random {n} x {m}, {density:.0%} filled",
            k,
            f"{100 * np.median(young):.2g} % ({np.sum(young < CLOSED)} of {instances})",
            f"{100 * np.median(program):.1g} % ({np.sum(program < CLOSED)} of {instances})",
            f"{100 * program.max():.2g} %",
            f"{np.median(seconds):.1g}",
        ]


def digit_rows(starts: int) -> Iterator[list[object]]:
    """One row for each number of components."""
    X, y = load_digits(return_X_y=True)
    for count, k in DIGITS:
        V = X[y == 3][:count]
        young, program, seconds = gaps(V, k, starts)
        yield [
            f"{count} threes of scikit-learn's digits, {count} x 64",
            k,
            f"{100 * young:.2g} %",
            f"{100 * program:.2g} %",
            "one matrix",
            f"{seconds:.1g}",
        ]


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=12)
    parser.add_argument("--starts", type=int, default=20)
    asked = parser.parse_args()
    # Some starts are still moving after 3000 rounds; the best of many is what counts.
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = [*random_rows(asked.instances, asked.starts), *digit_rows(asked.starts)]
    head = (
        "matrix", "k", "Eckart and Young, gap", "the program, gap", "the program, largest gap",
        "seconds",
    )  # fmt: skip
    notes = (
        f"Gaps are relative to the best error of {asked.starts} random starts of scikit-learn's "
        "NMF (coordinate descent, tol 1e-9); medians, and in brackets how many are below 1e-4, "
        f"which proves the local searches right. {asked.instances} matrices in each cell, seeds "
        "from 0: uniform entries, each kept with the probability given. Seconds of one core, "
        "rough. The documents have no figures to compare with.",
    )
    print(
        write_table(
            "nmf_bounds", head, rows, command="python benchmarks/nmf_bounds.py", notes=notes
        )
    )


if __name__ == "__main__":
    main()
