"""Solving again after a parameter has changed, beside the first solve.

    python benchmarks/resolve.py        writes docs/tables/resolve.rst

Ten models, of which one parameter is changed by a tenth: processor seconds of the first solve, and
of the second, which begins with the answer to the first; medians of five models each made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from journal import processor_seconds

import sdpdr
from sdpdr import graphs, maximize, minimize, norm, parameter, pos, psd, scalar, square

TABLE = Path(__file__).parents[1] / "docs" / "tables" / "resolve.rst"
TIMES = 5
RNG = np.random.default_rng(0)
ROLL = graphs.knn(sdpdr.datasets.swiss_roll(300, seed=0)[0], n_neighbors=6)
SMALL = graphs.knn(sdpdr.datasets.swiss_roll(60, seed=0)[0], n_neighbors=5)
ADJACENT = np.triu(RNG.random((100, 100)) < 0.1, 1).astype(float)
LAPLACIAN = np.diag((ADJACENT + ADJACENT.T).sum(axis=1)) - ADJACENT - ADJACENT.T
FORMS = np.einsum("ka,kb->kab", *2 * [RNG.standard_normal((40, 8))])
PAIRS = np.argwhere(np.triu(RNG.random((20, 20)) < 0.3, 1))


def unfolding(p: Any) -> Any:
    """Variance under limits on lengths."""
    K = psd("K", ROLL.n)
    return maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(ROLL.edges) <= p * ROLL.sqdist)


def priced(p: Any) -> Any:
    """Variance against the price of lengths that change."""
    K = psd("K", SMALL.n)
    lengths = K.distance2(SMALL.edges) - SMALL.sqdist
    return maximize(K.trace()) + (K.sum(axis=1) == 0) + 50.0 * p * abs(lengths)


def cut(p: Any) -> Any:
    """A largest cut."""
    K = psd("K", 100)
    return maximize(0.25 * K.inner(LAPLACIAN)) + (K.diagonal() == p)


def entries(p: Any) -> Any:
    """A largest cut with a limit on an entry."""
    K = psd("K", 100)
    return maximize(0.25 * K.inner(LAPLACIAN)) + (K.diagonal() == 1) + (K[0, 1] <= 0.5 * p)


def theta(p: Any) -> Any:
    """Lovasz's theta."""
    K = psd("K", 20)
    return maximize(K.sum()) + (K.trace() == p) + (K[PAIRS[:, 0], PAIRS[:, 1]] == 0)


def design(p: Any) -> Any:
    """An E-optimal design with capacities."""
    w, t = scalar("w", 40, nonnegative=True), scalar("t")
    return maximize(t) + (w.sum() == 1) + (w @ FORMS >> t * np.eye(8)) + (w <= 0.1 * p)


def correlation(p: Any) -> Any:
    """The nearest correlation matrix."""
    K = psd("K", 15)
    return minimize(square(K - p * FORMS[0, :1, :1] * np.ones((15, 15))).sum()) + (
        K.diagonal() == 1
    )


def centre(p: Any) -> Any:
    """The centre of a ball in a polyhedron."""
    x, r = scalar("x", 8), scalar("r")
    A = FORMS[:, 0]
    return maximize(r) + (A @ x + np.linalg.norm(A, axis=1) * r <= p) + (norm(x) <= 10.0)


def hinge(p: Any) -> Any:
    """Prices of diagonals above a limit."""
    K = psd("K", 30)
    return maximize(K.sum()) + 40.0 * pos(K.diagonal() - p) + (K.trace() <= 60.0)


def linear(p: Any) -> Any:
    """A linear program."""
    x = scalar("x", 40, nonnegative=True)
    return maximize(x @ np.arange(1.0, 41.0)) + (FORMS[:, 0].T ** 2 @ x <= p)


MODELS: list[Callable[[Any], Any]] = [
    unfolding, priced, cut, entries, theta, design, correlation, centre, hinge, linear,
]  # fmt: skip


def measured(make: Callable[[Any], Any]) -> tuple[float, float, bool]:
    """Seconds of a first and of a second solve, and whether both are certified."""
    p = parameter("p", value=1.0)
    model = make(p)
    start = processor_seconds()
    first = model.solve(progress=False)
    middle = processor_seconds()
    p.value = 1.1
    second = model.solve(progress=False)
    return middle - start, processor_seconds() - middle, first.certified() and second.certified()


def rows() -> Iterator[tuple[str, float, float, bool]]:
    """Name, median seconds, and certificates of every model."""
    for make in MODELS:
        measured(make)  # what is loaded once belongs to no solve
        runs = [measured(make) for _ in range(TIMES)]
        first, second = (median(run[k] for run in runs) for k in (0, 1))
        yield make.__name__, first, second, all(run[2] for run in runs)


def main() -> None:
    """Measure, print, and write the table."""
    lines = [
        ".. list-table:: Processor seconds of a first solve, and of one after a change of a tenth",
        "   :header-rows: 1",
        "",
        "   * - model",
        "     - first",
        "     - again",
        "     - share",
        "     - certified",
    ]
    for name, first, second, proved in rows():
        cells = (name, f"{first:.3f}", f"{second:.3f}", f"{100 * second / first:.0f} %")
        print(*cells, "certified" if proved else "not certified", sep="  ", flush=True)
        first_cell, *others = (*cells, "yes" if proved else "no")
        lines += [f"   * - {first_cell}", *(f"     - {cell}" for cell in others)]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
