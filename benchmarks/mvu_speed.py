"""Inequality MVU beside cvxpy with Clarabel, SCS and SDPA: seconds, gaps, ratios.

    python benchmarks/mvu_speed.py              # rewrites benchmarks/RESULTS.md
    python benchmarks/mvu_speed.py --sizes 50 100 --repeats 1 --limit 30

Peers are given the program in two writings. ``gram`` is what a careful person writes: one positive
semidefinite variable, centring as one row, all lengths as one sparse product. ``lmi`` is what an
expert writes: the dual, a matrix inequality in the multipliers. Each stops at its first size that
passes the limit. Every answer is graded by sdpdr, so a ratio never compares different problems.
Whole calls are timed, compilation included, because that is what people wait for.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import sdpdr
from sdpdr.base.files import write_text
from sdpdr.certify import certify
from sdpdr.certify.attained import attained
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.program import Point
from sdpdr.solvers import find

RESULTS = Path(__file__).with_name("RESULTS.md")
PEERS = {
    "clarabel": {"tol_gap_rel": 1e-8},
    "scs": {"eps_abs": 1e-6, "eps_rel": 1e-6},
    "sdpa": {},
}
LARGE = ((1000, 4), (1000, 6), (10_000, 6))


def swiss_graph(n: int, k: int) -> NeighborGraph:
    """The graph of every measurement here."""
    return knn(sdpdr.datasets.swiss_roll(n, seed=0)[0], k)


def as_gram(graph: NeighborGraph) -> tuple[cp.Problem, Callable[[], Point]]:
    """MVU as a careful person writes it."""
    n, (i, j) = graph.n, graph.edges.T
    gram = cp.Variable((n, n), PSD=True)
    rows = np.tile(np.arange(graph.m), 4)
    columns = np.concatenate([i * n + i, j * n + j, i * n + j, j * n + i])
    values = np.repeat([1.0, 1.0, -1.0, -1.0], [graph.m] * 4)
    lengths = sp.csr_array((values, (rows, columns)), shape=(graph.m, n * n))
    limit = lengths @ cp.vec(gram, order="F") <= graph.sqdist
    problem = cp.Problem(cp.Maximize(cp.trace(gram)), [cp.sum(gram) == 0, limit])
    return problem, lambda: Point({"K": gram.value}, {"isometry": np.asarray(limit.dual_value)})


def as_lmi(graph: NeighborGraph) -> tuple[cp.Problem, Callable[[], Point]]:
    """Its dual as an expert writes it: L(w) + 1 1^T / n >= I, w >= 0."""
    n, (i, j) = graph.n, graph.edges.T
    weights = cp.Variable(graph.m, nonneg=True)
    columns = np.tile(np.arange(graph.m), 4)
    rows = np.concatenate([i * n + i, j * n + j, i * n + j, j * n + i])
    values = np.repeat([1.0, 1.0, -1.0, -1.0], [graph.m] * 4)
    laplacian = sp.csr_array((values, (rows, columns)), shape=(n * n, graph.m))
    matrix = cp.reshape(laplacian @ weights, (n, n), order="F")
    slack = matrix + np.full((n, n), 1.0 / n) - np.eye(n) >> 0
    problem = cp.Problem(cp.Minimize(graph.sqdist @ weights), [slack])
    return problem, lambda: Point({"K": slack.dual_value}, {"isometry": weights.value})


WRITINGS = {"gram": as_gram, "lmi": as_lmi}


def graded_gap(graph: NeighborGraph, point: Point) -> float:
    """Our own gap of anybody's point; ``inf`` if there is none."""
    program = sdpdr.methods.mvu(graph).to_sdp()
    if not point.values:
        return float("inf")
    centre = np.eye(graph.n) - 1.0 / graph.n
    gram = centre @ point.values["K"] @ centre
    w, v = np.linalg.eigh(gram)
    gram = (v * np.maximum(w, 0.0)) @ v.T
    found = attained(program, {"K": gram})
    duals = {"centered": np.zeros(graph.n), **point.duals}
    bound = certify(program, duals).bound
    if bound is None or found is None:
        return float("inf")
    return (bound - found.value) / found.value


def median_seconds(task: Callable[[], Any], repeats: int, limit: float) -> tuple[float, Any]:
    """Median time of a task over the repeats (one if it passes the limit), and its last answer."""
    seconds, answer = [], None
    while len(seconds) < repeats and max(seconds, default=0.0) <= limit:
        start = time.perf_counter()
        answer = task()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), answer


def attempt(graph: NeighborGraph, peer: str, writing: str) -> Point:
    """A peer's answer; none if it gives up, which the table then says."""
    problem, point = WRITINGS[writing](graph)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # we grade the answer ourselves
            problem.solve(solver=peer.upper(), **PEERS[peer])
    except cp.SolverError:
        return Point()
    return point() if problem.status in cp.settings.SOLUTION_PRESENT else Point()


def measure_small(sizes: list[int], repeats: int, limit: float) -> list[str]:
    """Rows of the table beside the peers."""
    lines = [
        "| n | edges | who | writing | seconds | gap | times as long as sdpdr |",
        "|---|---|---|---|---|---|---|",
    ]
    running = {(p, w) for p in PEERS for w in WRITINGS if find(p).availability().usable}
    for n in sizes:
        graph = swiss_graph(n, 4)
        model = sdpdr.methods.mvu(graph)
        ours, solution = median_seconds(lambda m=model: sdpdr.solve(m, "lowrank"), repeats, limit)
        lines.append(
            f"| {n} | {graph.m} | **sdpdr** | factor | {ours:.3f} | {solution.gap:.0e} | 1 |"
        )
        for peer, writing in sorted(running):
            task = partial(attempt, graph, peer, writing)
            seconds, point = median_seconds(task, repeats, limit)
            gap = graded_gap(graph, point)
            shown = f"{gap:.0e}" if np.isfinite(gap) else "no answer"
            lines.append(
                f"| {n} | {graph.m} | {peer} | {writing} | {seconds:.2f} | {shown} | "
                f"{seconds / ours:.0f} |"
            )
            print(lines[-1], flush=True)
            if seconds > limit:
                running.discard((peer, writing))
    return lines


def measure_large(repeats: int) -> list[str]:
    """Rows for sizes that only the low-rank solver reaches."""
    lines = [
        "| n | k | edges | optimum | certified gap | seconds | iterations |",
        "|---|---|---|---|---|---|---|",
    ]
    for n, k in LARGE:
        model = sdpdr.methods.mvu(swiss_graph(n, k))
        seconds, s = median_seconds(lambda m=model: sdpdr.solve(m, "lowrank"), repeats, np.inf)
        rows = model.size()["rows"]["isometry"]
        lines.append(
            f"| {n} | {k} | {rows} | {s.value:.2f} | {s.gap:.0e} | {seconds:.2f} | "
            f"{s.claimed.iterations} |"
        )
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds a peer may take")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    # A first solve pays for imports, which belong to nobody.
    sdpdr.solve(sdpdr.methods.mvu(swiss_graph(20, 4)), "lowrank")
    small = measure_small(options.sizes, options.repeats, options.limit)
    large = measure_large(options.repeats)
    names = ("sdpdr", "cvxpy", "clarabel", "scs", "sdpa-python", "qdldl", "numpy", "scipy")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    text = "\n".join(
        [
            "# Inequality MVU on the swiss roll",
            "",
            "Written by `make bench` (`benchmarks/mvu_speed.py`); medians, whole calls. Gaps are",
            "relative, between a feasible point and a proven bound, and computed by sdpdr for all.",
            "",
            "## Beside cvxpy (4 neighbours)",
            "",
            *small,
            "",
            "## Alone",
            "",
            *large,
            "",
            f"Python {platform.python_version()}; {versions}.",
            "",
        ]
    )
    write_text(options.out, text)
    print(text)


if __name__ == "__main__":
    main()
