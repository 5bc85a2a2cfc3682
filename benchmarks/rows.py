"""Rows of every kind: the interior point over factors beside a general solver, up to thousands.

    python benchmarks/rows.py                 the table of the documentation
    python benchmarks/rows.py order ism       some programs, the others as they were
    python benchmarks/rows.py --ours          lowrank alone, and Clarabel's cells as they were

Every program is solved by ``lowrank`` and by Clarabel, at tolerance 1e-6, each in a process of its
own, within two minutes. Seconds are those of the processor, proofs included.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import psutil
from tables import write_csv

import sdpdr
from sdpdr import blocks, datasets, graphs, methods, soften
from sdpdr.errors import SdpdrError
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model import AtMost, Block, Model, Var
from sdpdr.program.solution import Solution

STORE = Path(__file__).with_suffix(".json")
LIMIT = 120.0
# Beyond the limit, for imports and for proofs.
PATIENCE = 30.0


@dataclass(frozen=True, eq=False)
class Later(Block):
    """Later points are further away: |y_t - y_(t+s)|^2 <= |y_t - y_(t+s+1)|^2 for three lags."""

    n: int

    def terms(self):  # type: ignore[no-untyped-def]  # the types are those of the base class
        """Differences of squared lengths."""
        for s in (1, 2, 3):
            t = np.arange(self.n - s - 1)
            near = SquaredEdgeLengths(self.n, np.column_stack([t, t + s]))
            far = SquaredEdgeLengths(self.n, np.column_stack([t, t + s + 1]))
            yield AtMost((near - far) @ Var("K"), 0.0)


def order(n: int) -> Model:
    """Unfolding of a spiral on which later points are further away."""
    t = np.linspace(0.0, 6.0 * np.pi * np.sqrt(n / 300), n)
    width = np.random.default_rng(0).uniform(0.0, 5.0, n)
    X = np.column_stack([t * np.cos(t), t * np.sin(t), width])
    return methods.mvu(graphs.knn(X, n_neighbors=6, connect="mst")) + Later(n)


def chain(n: int) -> Model:
    """A chain, its lengths penalized: straight, with a variance of n (n^2 - 1) / 12."""
    lengths = blocks.Lengths(graphs.path(np.ones(n - 1)), exact=True)
    base = blocks.Gram(n) + blocks.Centered(n) + blocks.Variance(n)
    return base + soften(lengths, float(n * n))


def ism(n: int) -> Model:
    """An isometric separation map of two halves of a Swiss roll."""
    X = datasets.swiss_roll(n, seed=0)[0]
    return methods.ism(graphs.knn(X, n_neighbors=5, connect="mst"), X[:, 1] > np.median(X[:, 1]))


def sensors(n: int, seed: int = 0) -> Model:
    """Sensors in the unit square, a twentieth of them known; noisy ranges, absolute penalties."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0.0, 1.0, (n, 2))
    places[:4] = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    graph = graphs.radius(places, 1.6 * np.sqrt(np.log(n) / (np.pi * n)), connect="mst")
    square = graph.sqdist * np.square(1.0 + 0.05 * rng.standard_normal(graph.m))
    known = np.arange(max(4, n // 20))
    graph = graphs.from_edges(n, graph.edges, square)
    lengths = blocks.AnchoredLengths(graph, known, places[known], exact=True)
    return blocks.Coordinates(n - known.size, 2) + soften(lengths, 1.0)


def anchored(n: int) -> Model:
    """Unfolding with ten known points."""
    X = datasets.swiss_roll(n, seed=0)[0]
    graph = graphs.knn(X, n_neighbors=6, connect="mst")
    known = np.arange(0, n, n // 10)[:10]
    return methods.anchored_mvu(graph, known, X[known])


def density(n: int) -> Model:
    """A density preserving map."""
    X = datasets.swiss_roll(n, seed=0)[0]
    return methods.density_map(graphs.knn(X, n_neighbors=6, connect="mst"))


def exact(n: int) -> Model:
    """A noisy Swiss roll, all lengths kept exactly: there is hardly ever an interior."""
    noise = np.random.default_rng(100).standard_normal((n, 3))
    X = datasets.swiss_roll(n, seed=0)[0] + 0.5 * noise
    return methods.mvu(graphs.knn(X, n_neighbors=5, connect="mst"), isometry="equality")


def band(n: int) -> Model:
    """Lengths kept to a twentieth of their squares."""
    X = datasets.swiss_roll(n, seed=0)[0]
    return methods.mvu(graphs.knn(X, n_neighbors=6, connect="mst"), isometry=blocks.Band(0.05))


def narrow(n: int) -> Model:
    """Lengths kept to a thousandth of their squares."""
    X = datasets.swiss_roll(n, seed=0)[0]
    return methods.mvu(graphs.knn(X, n_neighbors=6, connect="mst"), isometry=blocks.Band(1e-3))


PROGRAMS: dict[str, tuple[Callable[[int], Model], tuple[int, ...], str]] = {
    "order": (order, (300, 1000, 3000, 10_000), "unfolding, later points further away"),
    "chain": (chain, (1000,), "chain with absolute penalties"),
    "ism": (ism, (300, 1000, 1500), "separation map"),
    "anchored": (anchored, (200, 500), "unfolding with ten known points"),
    "sensors": (sensors, (200, 500), "sensors, noisy ranges, absolute penalties"),
    "exact": (exact, (34, 300, 1000), "noisy roll, exact lengths"),
    "band": (band, (300, 1000), "unfolding, lengths within 5 %"),
    "narrow": (narrow, (300, 1000), "unfolding, lengths within 0.1 %"),
    "density": (density, (200, 500), "density preserving map"),
}


def main() -> None:
    """Solve, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", choices=[*PROGRAMS, []])
    parser.add_argument("--ours", action="store_true", help="measure lowrank alone again")
    arguments = parser.parse_args()
    chosen = arguments.programs
    kept = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for name in chosen or PROGRAMS:
        make, sizes, words = PROGRAMS[name]
        before = {row[0]: row[-1] for row in kept.get(name, [])} if arguments.ours else {}
        kept[name] = []
        for n in sizes:
            what = f"{words}, {n} points"
            other = before[what] if what in before else told(make, n, "clarabel")
            kept[name].append([what, make(n).to_sdp().n_rows, told(make, n, "lowrank"), other])
            print(*kept[name][-1], sep=" | ", flush=True)
        STORE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    rows = [row for name in PROGRAMS for row in kept.get(name, [])]
    head = ("Program", "Rows", "lowrank", "Clarabel")
    notes = (
        "Seconds of the processor, and the relative distance of what is proved attainable from "
        "what is proved to bound it, at tolerance 1e-6; a dash, with the status, where one of "
        f"both is missing at the end or after {LIMIT:.0f} seconds by the clock, on a busy "
        "machine. Optimal nearby: the value is that of a point which rounding keeps from being "
        "proved feasible.",
    )
    write_csv("rows", head, rows, command="python benchmarks/rows.py", notes=notes)


def told(make: Callable[[int], Model], n: int, solver: str) -> str:
    """Seconds and gap of one solve in a process of its own."""
    context = get_context("spawn")
    source, sink = context.Pipe(duplex=False)
    process = context.Process(target=solved, args=(make, n, solver, sink))
    process.start()
    answer = source.recv() if source.poll(LIMIT + PATIENCE) else None
    process.terminate()
    process.join()
    if answer is None:
        return f"> {LIMIT:.0f} s"
    seconds, gap, status = answer
    # What was killed at the limit is not waited for, and its seconds are not known.
    nearby = " (optimal nearby)" if status == "optimal nearby" else ""
    return f"{seconds:.2g} s, {gap:.0e}{nearby}" if np.isfinite(gap) else f"— ({status})"


def solved(make: Callable[[int], Model], n: int, solver: str, sink: Connection) -> None:
    """Solve twice where it is quick, so that imports are not counted, and tell."""
    model = make(n)
    sdpdr.solve(make(40), solver, progress=False)
    before = processor_seconds()
    try:
        found: Solution = sdpdr.solve(model, solver, time_limit=LIMIT, progress=False)
    except SdpdrError as error:
        sink.send((np.nan, np.inf, type(error).__name__))
        return
    words = found.status.name.lower().replace("_", " ")
    gap = found.apparent_gap if found.status is sdpdr.Status.OPTIMAL_NEARBY else found.gap
    gap = np.inf if gap is None else abs(gap)
    sink.send((processor_seconds() - before, gap, words))


def processor_seconds() -> float:
    """Seconds of this process and of all below it: workers stay alive, and wait for the next."""
    own = psutil.Process()
    times = [p.cpu_times() for p in (own, *own.children(recursive=True))]
    return sum(t.user + t.system for t in times)


if __name__ == "__main__":
    main()
