"""Solving again after a parameter has changed, beside the first solve.

    python benchmarks/resolve.py            writes docs/tables/resolve.rst
    python benchmarks/resolve.py theta cut  prints the lines of some models

Ten models of three sizes, of which one parameter is changed by a tenth: processor seconds of the
first solve, and of the second, which begins with the answer to the first; medians of five models
each made anew, after one that is not counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from journal import processor_seconds

import sdpdr
from sdpdr import graphs, maximize, minimize, norm, parameter, pos, psd, scalar, square

TABLE = Path(__file__).parents[1] / "docs" / "tables" / "resolve.rst"
TIMES = 5


def unfolding(p: Any, n: int) -> Any:
    """Variance under limits on lengths."""
    roll = graphs.knn(sdpdr.datasets.swiss_roll(n, seed=0)[0], n_neighbors=6)
    K = psd("K", n)
    return maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(roll.edges) <= p * roll.sqdist)


def priced(p: Any, n: int) -> Any:
    """Variance against the price of lengths that change."""
    roll = graphs.knn(sdpdr.datasets.swiss_roll(n, seed=0)[0], n_neighbors=5)
    K = psd("K", n)
    lengths = K.distance2(roll.edges) - roll.sqdist
    return maximize(K.trace()) + (K.sum(axis=1) == 0) + 50.0 * p * abs(lengths)


def cut(p: Any, n: int) -> Any:
    """A largest cut."""
    K = psd("K", n)
    return maximize(0.25 * K.inner(laplacian(n))) + (K.diagonal() == p)


def entries(p: Any, n: int) -> Any:
    """A largest cut with a limit on an entry."""
    K = psd("K", n)
    return maximize(0.25 * K.inner(laplacian(n))) + (K.diagonal() == 1) + (K[0, 1] <= 0.5 * p)


def theta(p: Any, n: int) -> Any:
    """Lovasz's theta."""
    K = psd("K", n)
    i, j = np.nonzero(np.triu(np.random.default_rng(0).random((n, n)) < 6.0 / n, 1))
    return maximize(K.sum()) + (K.trace() == p) + (K[i, j] == 0)


def design(p: Any, n: int) -> Any:
    """An E-optimal design with capacities."""
    order = 8
    w, t = scalar("w", n, nonnegative=True), scalar("t")
    a = np.random.default_rng(0).standard_normal((n, order))
    matrices = np.einsum("ka,kb->kab", a, a)
    return maximize(t) + (w.sum() == 1) + (w @ matrices >> t * np.eye(order)) + (w <= 4.0 / n * p)


def correlation(p: Any, n: int) -> Any:
    """The nearest correlation matrix."""
    K, near = psd("K", n), 0.4 * np.ones((n, n))
    return minimize(square(K - p * near).sum()) + (K.diagonal() == 1)


def centre(p: Any, n: int) -> Any:
    """The centre of a ball in a polyhedron."""
    x, r = scalar("x", 8), scalar("r")
    A = np.random.default_rng(0).standard_normal((n, 8))
    return maximize(r) + (A @ x + np.linalg.norm(A, axis=1) * r <= p) + (norm(x) <= 10.0)


def hinge(p: Any, n: int) -> Any:
    """Prices of diagonals above a limit."""
    K = psd("K", n)
    return maximize(K.sum()) + 40.0 * pos(K.diagonal() - p) + (K.trace() <= 2.0 * n)


def linear(p: Any, n: int) -> Any:
    """A linear program."""
    x = scalar("x", n, nonnegative=True)
    A = np.random.default_rng(0).standard_normal((n // 5, n)) ** 2
    return maximize(x @ np.arange(1.0, n + 1.0)) + (A @ x <= p)


def laplacian(n: int) -> Any:
    """Of a random graph of ten neighbours."""
    edges = np.triu(np.random.default_rng(0).random((n, n)) < 10.0 / n, 1).astype(float)
    return np.diag((edges + edges.T).sum(axis=1)) - edges - edges.T


# Each with three sizes: points, orders or scalars.
MODELS: dict[Callable[[Any, int], Any], tuple[int, int, int]] = {
    unfolding: (60, 300, 1000),
    priced: (20, 60, 100),
    cut: (40, 150, 250),
    entries: (40, 150, 250),
    theta: (20, 60, 120),
    design: (40, 160, 1000),
    correlation: (8, 15, 30),
    centre: (40, 300, 3000),
    hinge: (30, 90, 160),
    linear: (40, 400, 1500),
}


def measured(make: Callable[[Any, int], Any], n: int) -> tuple[float, float, bool]:
    """Seconds of a first and of a second solve, and whether both are certified."""
    p = parameter("p", value=1.0)
    model = make(p, n)
    start = processor_seconds()
    first = model.solve(progress=False)
    middle = processor_seconds()
    p.value = 1.1
    second = model.solve(progress=False)
    return middle - start, processor_seconds() - middle, first.certified() and second.certified()


def rows(chosen: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """Name, size, median seconds, share and certificates of every model, or of those chosen."""
    for make, sizes in MODELS.items():
        if chosen and make.__name__ not in chosen:
            continue
        for n in sizes:
            measured(make, n)  # what is loaded once belongs to no solve
            runs = [measured(make, n) for _ in range(TIMES)]
            first, second = (median(run[k] for run in runs) for k in (0, 1))
            proved = "yes" if all(run[2] for run in runs) else "no"
            share = f"{100 * second / first:.0f} %"
            yield make.__name__, str(n), f"{first:.3f}", f"{second:.3f}", share, proved


def main() -> None:
    """Measure, print, and write the table unless models were chosen."""
    lines = [
        ".. list-table:: Processor seconds of a first solve, and of one after a change of a tenth",
        "   :header-rows: 1",
        "",
    ]
    chosen = sys.argv[1:]
    heading = ("model", "size", "first", "again", "share", "certified")
    for cells in chain([heading], rows(chosen)):
        print(*cells, sep="  ", flush=True)
        first_cell, *others = cells
        lines += [f"   * - {first_cell}", *(f"     - {cell}" for cell in others)]
    if not chosen:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
