"""Objectives other than variance at thousands of points: seconds and certified gaps.

    python benchmarks/family.py                # 1000 and 2000 points; rewrites FAMILY.md

The swiss roll with five neighbours, lengths that may shrink. Every row is one solve by the
low-rank solver in this process, certificate included; ratios are to Maximum Variance Unfolding
on the same graph.
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path

import numpy as np

import sdpdr
from sdpdr import graphs, methods
from sdpdr.base.files import write_text

TABLE = Path(__file__).with_name("FAMILY.md")


def main() -> None:
    """Run everything and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 2000])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    lines = [
        "# Objectives other than variance",
        "",
        "Written by `python benchmarks/family.py`: swiss roll, 5 neighbours, lengths that may",
        f"shrink, tolerance 1e-6, one thread; sdpdr {sdpdr.__version__}, Python "
        f"{platform.python_version()}. Seconds are medians of whole solves, certificate included.",
        "",
        "| n | method | seconds | times variance | certified gap | rank |",
        "|---|---|---|---|---|---|",
    ]
    for n in arguments.sizes:
        X, t = sdpdr.datasets.swiss_roll(n, seed=0)
        graph = graphs.knn(X, n_neighbors=5, connect="mst")
        plain = float("nan")
        for name, model in recipes(graph, t).items():
            seconds, solution = measured(model, arguments.repeats)
            plain = seconds if name == "variance" else plain
            rank = solution.gram().factor.shape[1]
            lines.append(
                f"| {n} | {name} | {seconds:.2f} | {seconds / plain:.1f} | {solution.gap:.0e} "
                f"| {rank} |"
            )
            print(lines[-1], flush=True)
    write_text(TABLE, "\n".join([*lines, ""]))


def recipes(graph: graphs.NeighborGraph, t: np.ndarray) -> dict[str, sdpdr.Model]:
    """The models compared."""
    bins = np.digitize(t, np.quantile(t, np.linspace(0.0, 1.0, 10)[1:-1]))
    return {
        "variance": methods.mvu(graph),
        "furthest pairs": methods.mfnu(graph),
        "variance, furthest pairs kept apart": methods.mvu_apart(graph),
        "colored, one column": methods.colored_mvu(graph, t),
        "colored, nine classes": methods.colored_mvu(graph, bins),
    }


def measured(model: sdpdr.Model, repeats: int) -> tuple[float, sdpdr.Solution]:
    """Median seconds, and the last solution."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        solution = sdpdr.solve(model, "lowrank", time_limit=300.0)
        seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds)), solution


if __name__ == "__main__":
    main()
