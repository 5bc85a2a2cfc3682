"""Neighbours, furthest pairs and spanning trees at scale: processor seconds, memory, ratios.

    python benchmarks/neighbours.py                     # rewrites benchmarks/NEIGHBOURS.md
    python benchmarks/neighbours.py --largest 100000

Processor seconds of one thread, because they do not depend on who else is at work. Memory is the
most that numpy and Python held at once beyond the data (tracemalloc, in a second run), as a
multiple of the finished graph. The column "all pairs" is the plain way: all distances, block by
block. Its time for many points is extrapolated from few, as a square, and marked so.
"""

from __future__ import annotations

import argparse
import platform
import time
import tracemalloc
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from sdpdr import datasets, graphs
from sdpdr.base.files import write_text

RESULTS = Path(__file__).with_name("NEIGHBOURS.md")
PLAIN_POINTS = 4000


def seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a task, and its answer."""
    start = time.process_time()
    answer = task()
    return time.process_time() - start, answer


def peak(task: Callable[[], Any]) -> int:
    """Most bytes held at once during a task."""
    tracemalloc.start()
    task()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def swiss(n: int) -> np.ndarray:
    """Points of a swiss roll."""
    return datasets.swiss_roll(n, seed=0)[0]


def gaussian(n: int, features: int) -> np.ndarray:
    """Points without structure."""
    return np.random.default_rng(0).standard_normal((n, features))


def plain_seconds(X: np.ndarray) -> float:
    """Time of all pairs, extrapolated where there are many points."""
    few = X[:PLAIN_POINTS]

    def search() -> None:
        for at in range(0, len(few), 500):
            np.argpartition(cdist(few[at : at + 500], few, "sqeuclidean"), 7, axis=1)

    return seconds(search)[0] * (len(X) / len(few)) ** 2


def scale_rows(largest: int) -> list[str]:
    """Swiss rolls of growing size: every kind of work on one row."""
    lines = [
        "| n | 6 neighbours, s | times less than all pairs | peak / graph | furthest, s | "
        "connecting radius, s | cliques, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for n in (10**e for e in range(3, 8) if 10**e <= largest):
        X = swiss(n)
        search, graph = seconds(lambda X=X: graphs.knn(X, 6, connect="mst"))
        held = peak(lambda X=X: graphs.knn(X, 6, connect="mst"))
        size = graph.edges.nbytes + graph.sqdist.nbytes + graph.counts.nbytes + graph.index.nbytes
        furthest, _ = seconds(lambda X=X: graphs.furthest_pairs(X))
        radius, _ = seconds(lambda X=X: graphs.smallest_connecting_radius(X))
        cliques, _ = seconds(graph.with_cliques)
        lines.append(
            f"| {n} | {search:.2f} | {plain_seconds(X) / search:.0f} | {held / size:.1f} | "
            f"{furthest:.2f} | {radius:.2f} | {cliques:.2f} |"
        )
        print(lines[-1], flush=True)
    return lines


def furthest_row(n: int = 5000, features: int = 784) -> str:
    """Furthest pairs of many features, beside the one product they cannot do without."""
    X = gaussian(n, features)
    product, _ = seconds(lambda: X @ X.T)
    ours, _ = seconds(lambda: graphs.furthest_pairs(X))
    return (
        f"Furthest pairs of {n} points with {features} features: {ours:.2f} s, "
        f"{ours / product:.1f} times one product of the data with its transpose."
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000)
    options = parser.parse_args()
    furthest = furthest_row()
    print(furthest, flush=True)
    packages = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "scikit-learn"))
    page = [
        "# Neighbours at scale",
        "",
        "Written by `benchmarks/neighbours.py`: processor seconds of one thread.",
        "",
        "## Swiss roll",
        "",
        *scale_rows(options.largest),
        "",
        furthest,
        "",
        f"Python {platform.python_version()}; {packages}.",
    ]
    write_text(RESULTS, "\n".join(page) + "\n")


if __name__ == "__main__":
    main()
