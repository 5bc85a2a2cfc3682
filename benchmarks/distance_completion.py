"""Points from some of their distances: the program beside scikit-learn and plain stress.

    python benchmarks/distance_completion.py            the table of the documentation
    python benchmarks/distance_completion.py --goals    what is maximised, beside the same misfit
    python benchmarks/distance_completion.py --large    hundreds of points, "auto"
    python benchmarks/distance_completion.py --starts   where the last step begins
    python benchmarks/distance_completion.py map        one kind of points, printed

Maps are towns on a sphere, between the latitudes and longitudes of the United States, with whole
miles along great circles: no points of a plane have these distances. Sensors are uniform in a
square, molecules in a ball. Of all distances a random share is known, or those below a radius.
Rows of hundreds of points are kept in benchmarks/distance_completion.json, and not measured again;
delete them there to have them anew.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import MDS, Isomap
from tables import write_table

import sdpdr
from sdpdr import blocks, graphs, methods, soften
from sdpdr.base.arrays import Array
from sdpdr.errors import DataError
from sdpdr.families.unfold.completion import along_paths, stiffness
from sdpdr.families.unfold.estimators.distances import known_distances
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model

KEPT = Path(__file__).with_suffix(".json")
# For the table of starts.
STARTED = (("sensors", 10), ("sensors", 20), ("sensors", 0.3), ("molecule", 20), ("map", 0.3))
MILES = 3959.0
NOISE = (0.0, 0.01, 0.1)
# Seconds by the clock for a program.
LIMIT = 120.0
# Hundreds of points: how many towns, sensors, and anchors among these.
LARGE_TOWNS, LARGE_SENSORS, ANCHORS = 312, 500, 25
MISFITS = {"default": "auto", "inequality": "inequality", "band of 0.05": blocks.Band(0.05)}


def towns(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Places in the plane nearest to great circles, and their lengths in whole miles."""
    latitude, longitude = np.radians(rng.uniform([25.0, -124.0], [49.0, -67.0], (n, 2))).T
    on_sphere = np.column_stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ]
    )
    D = np.rint(MILES * np.arccos(np.clip(on_sphere @ on_sphere.T, -1.0, 1.0)))
    np.fill_diagonal(D, 0.0)
    plane = sdpdr.baselines.classical_mds(D, metric="precomputed")
    return methods.refine(graphs.complete(D, metric="precomputed"), plane), D


def sensors(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Uniform in a square."""
    X = rng.uniform(0.0, 1.0, (n, 2))
    return X, squareform(pdist(X))


def molecule(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Uniform in a ball."""
    X = rng.standard_normal((n, 3))
    X *= (rng.uniform(size=n) ** (1.0 / 3.0) / np.linalg.norm(X, axis=1))[:, None]
    return X, squareform(pdist(X))


KINDS = {
    "map": (towns, 150, (0.1, 0.3, 1.0), "towns on a map"),
    "sensors": (sensors, 100, (20, 0.1, 0.3, 1.0), "sensors in a square"),
    "molecule": (molecule, 100, (20, 0.3, 1.0), "points in a ball"),
}


def partly(D: Array, share: float, noise: float, rng: np.random.Generator) -> Array:
    """Some distances, with errors in proportion to them; NaN for the others.

    A share of all, or, a whole number, those within a radius that holds so many others of the
    median point.
    """
    chance = squareform(rng.uniform(size=len(D) * (len(D) - 1) // 2))
    errors = squareform(rng.standard_normal(len(D) * (len(D) - 1) // 2))
    if isinstance(share, int):
        known = float(np.median(np.sort(D, axis=1)[:, share])) >= D
    else:
        known = (chance < share) | (D == 0.0)
    return np.where(known, D * np.abs(1.0 + noise * errors), np.nan)


def away(X: Array, Y: Array) -> float:
    """Distance of Y from X, turned and shifted to it, relative to the extent of X."""
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    U, _, V = np.linalg.svd(Y.T @ X)
    return float(np.linalg.norm(Y @ U @ V - X) / np.linalg.norm(X))


def paths(D: Array) -> Array:
    """Shortest paths along the known distances."""
    return np.asarray(shortest_path(np.where(np.isfinite(D), D, 0.0), directed=False))


def rivals(D: Array, graph: NeighborGraph, r: int) -> Iterator[tuple[str, Callable[[], Array]]]:
    """What else completes distances."""
    yield (
        "Isomap",
        lambda: Isomap(n_neighbors=len(D) - 1, n_components=r, metric="precomputed").fit_transform(
            paths(D)
        ),
    )
    yield (
        "MDS",
        lambda: MDS(
            r, n_init=1, init="random", dissimilarity="precomputed", random_state=0
        ).fit_transform(paths(D)),
    )
    start = np.random.default_rng(0).standard_normal((graph.n, r)) * np.sqrt(graph.sqdist.max())
    yield "stress", lambda: methods.refine(graph, start)


def row(kind: str, share: float, noise: float) -> list[str]:
    """One line of the table."""
    make, n, _, words = KINDS[kind]
    rng = np.random.default_rng(0)
    X, D = make(n, rng)
    known = partly(D, share, noise, rng)
    r = X.shape[1]
    start = time.process_time()
    found = sdpdr.DistanceCompletion(r, time_limit=LIMIT, solver="lowrank").fit(known)
    seconds = time.process_time() - start
    solution, graph = found.solution_, found.graph_
    proof = f"{solution.gap:.0e}" if solution.certified(1e-5) else f"— ({solution.status.name})"
    cells = [away(X, found.relaxed_), away(X, found.embedding_)]
    cells += [away(X, fit()) for _, fit in rivals(known, graph, r)]
    share_words = "near" if isinstance(share, int) else f"{share:.0%}"
    return [
        f"{words}, {share_words}, {noise:.0%}",
        str(graph.m),
        f"{seconds:.1f} s, {proof}",
        *(f"{100.0 * cell:.2g} %" for cell in cells),
    ]


def goals() -> None:
    """What is maximised, beside the same misfit, and what becomes of the places."""
    rows = []
    for kind, near in (("sensors", 10), ("sensors", 20), ("molecule", 20)):
        rng = np.random.default_rng(0)
        X, D = KINDS[kind][0](n := 80, rng)
        graph, r = known_distances(partly(D, near, 0.05, rng)), X.shape[1]
        rows.append([f"{n} {KINDS[kind][3]}, {graph.m} distances"])
        for model in programs(graph):
            solution = sdpdr.solve(model, "lowrank", time_limit=LIMIT / 3.0)
            start = solution.embedding(r)
            proved = "" if solution.certified(1e-5) else f" ({solution.status.name})"
            both = (away(X, start), away(X, methods.refine(graph, start)))
            rows[-1].append(", ".join(f"{100.0 * part:.2g} %" for part in both) + proved)
            print(" | ".join(rows[-1]), flush=True)
    head = ("Points", "largest trace", "least trace", "misfit alone", "absolute", "inequality")
    notes = (
        "Distance from the true places as in the table below, of the program alone and after the "
        f"last step, at 5 % noise; each program at most {LIMIT / 3.0:.0f} seconds by the clock of "
        "a busy machine. The first three charge for the squares of relative changes, at c = 1000; "
        "the fourth is the largest trace with absolute prices, c = 100; the last is the unfolding "
        "with the distances as limits.",
    )
    write_table(
        "distance_completion_goals", head, rows,
        command="python benchmarks/distance_completion.py --goals", notes=notes,
    )  # fmt: skip


def large_cases() -> Iterator[tuple[str, str, Callable[[], tuple[Array, Array, Any]]]]:
    """Points and misfit in words, and what makes places, known distances and anchors."""
    for share in KINDS["map"][2]:
        for words in MISFITS:
            yield f"{LARGE_TOWNS} towns, {share:.0%}", words, partial(_large_towns, share)
    for noise in NOISE:
        words = f"{LARGE_SENSORS} sensors, near, {noise:.0%} noise"
        yield f"{words}, {ANCHORS} anchors", "default", partial(_large_sensors, noise, True)
        yield words, "default", partial(_large_sensors, noise, False)


def _large_towns(share: float) -> tuple[Array, Array, Any]:
    rng = np.random.default_rng(0)
    X, D = towns(LARGE_TOWNS, rng)
    return X, partly(D, share, 0.0, rng), None


def _large_sensors(noise: float, anchored: bool) -> tuple[Array, Array, Any]:
    rng = np.random.default_rng(0)
    X, D = sensors(LARGE_SENSORS, rng)
    known = partly(D, 15, noise, rng)
    chosen = rng.permutation(LARGE_SENSORS)[:ANCHORS]
    return X, known, (chosen, X[chosen]) if anchored else None


def large(at_most: int | None) -> None:
    """Hundreds of points, with a time limit and nothing said of a solver; rows are kept."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    cases = list(large_cases())
    waiting = [case for case in cases if f"{case[0]}; {case[1]}" not in kept]
    for points, words, make in waiting[:at_most]:
        X, known, anchors = make()
        kept[f"{points}; {words}"] = large_row(points, words, X, known, MISFITS[words], anchors)
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    names = [f"{points}; {words}" for points, words, _ in cases]
    rows = [kept[name] for name in names if name in kept]
    missing = [name for name in names if name not in kept]
    head = ("Points, share known", "Known", "Misfit", "Status", "Gap", "Seconds", "Solvers",
            "Program", "DistanceCompletion")  # fmt: skip
    notes = (
        f'With ``solver="auto"`` and ``time_limit={LIMIT:g}``. Seconds are those of the processor, '
        "of the whole fit. Solvers are those that had a turn, in order. The last two columns are "
        "the distance from the true places, relative to their extent, of the program and after "
        "the last step; without anchors after the best rotation and shift. Near means within a "
        "radius that holds 15 others of the median point. Towns on a sphere fit no plane.",
        *([f"Not measured yet: {'; '.join(missing)}."] if missing else []),
    )
    write_table(
        "distance_completion_large", head, rows,
        command="python benchmarks/distance_completion.py --large", notes=notes,
    )  # fmt: skip


def large_row(
    points: str, words: str, X: Array, known: Array, misfit: Any, anchors: Any = None
) -> list[str]:
    """One line of the table of hundreds of points."""
    start = time.process_time()
    found = sdpdr.DistanceCompletion(X.shape[1], misfit=misfit, time_limit=LIMIT)
    found.fit(known, anchors)
    seconds, solution = time.process_time() - start, found.solution_
    far = away if anchors is None else off
    line = [
        points,
        str(found.graph_.m),
        words,
        solution.status.name,
        "—" if solution.bound is None else f"{solution.gap:.0e}",
        f"{seconds:.0f}",
        ", ".join(run.solver for run in solution.runs),
        *(f"{100.0 * far(X, places):.2g} %" for places in (found.relaxed_, found.embedding_)),
    ]
    print(" | ".join(line), flush=True)
    return line


def starts() -> None:
    """Where the last step begins: from the program, from shortest paths, and which was kept."""
    rows, none = [], np.zeros(0, dtype=int)
    for kind, share in STARTED:
        for noise in (0.0, 0.05, 0.15, 0.3):
            runs = []
            for seed in range(6):
                rng = np.random.default_rng(seed)
                X, D = KINDS[kind][0](60, rng)
                known = partly(D, share, noise, rng)
                try:
                    found = sdpdr.DistanceCompletion(X.shape[1]).fit(known)
                except DataError:  # in parts
                    continue
                graph, r = found.graph_, X.shape[1]
                paths = along_paths(graph, r, none, np.zeros((0, r)))
                ends = (methods.refine(graph, Y) for Y in (found.relaxed_, paths))
                errors = [away(X, Y) for Y in (*ends, found.embedding_)]
                runs.append([*errors, found.start_ == "paths"])
            middle = np.median(runs, axis=0)
            chosen = f"{int(np.sum(runs, axis=0)[-1])} of {len(runs)}"
            words = f"{share} near" if isinstance(share, int) else f"{share:.0%}"
            rows.append([f"60 {KINDS[kind][3]}, {words}, {noise:.0%}",
                         *(f"{100.0 * each:.2g} %" for each in middle[:3]), chosen])  # fmt: skip
            print(" | ".join(rows[-1]), flush=True)
    write_table(
        "distance_completion_starts",
        ["Points, share known, noise", "from the program", "from paths", "kept", "paths kept"],
        rows,
        command="python benchmarks/distance_completion.py --starts",
        notes=(
            "Distance from the true places as in the other tables, after the last step, medians "
            "over six seeds but those in parts. Where next to nothing is left of the noise the "
            "choice falls on the program, though lengths may be met by several places.",
        ),
    )  # fmt: skip


def off(X: Array, Y: Array) -> float:
    """Distance of Y from X as they are, relative to the extent of X."""
    return float(np.linalg.norm(Y - X) / np.linalg.norm(X - X.mean(axis=0)))


def programs(graph: NeighborGraph) -> Iterator[Model]:
    """Five programs for the same distances."""
    weight = 1000.0 / stiffness(graph, [])
    misfit = blocks.Gram(graph.n) + blocks.Centered(graph.n)
    misfit = misfit + soften(blocks.Lengths(graph, exact=True, relative=True), weight, square=True)
    yield methods.distance_completion(graph)
    yield misfit + blocks.LeastTrace(graph.n)
    yield misfit
    yield methods.distance_completion(graph, misfit="absolute", price=100.0)
    yield methods.mvu(graph)


def main() -> None:
    """Solve, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--goals", action="store_true", help="the table of other programs")
    parser.add_argument("--starts", action="store_true", help="where the last step begins")
    parser.add_argument("--large", action="store_true", help="the table of hundreds of points")
    parser.add_argument("--at-most", type=int, help="so many of its rows that are not kept yet")
    asked = parser.parse_args()
    chosen = asked.kinds
    if asked.goals:
        goals()
        return
    warnings.simplefilter("ignore")
    if asked.starts:
        starts()
        return
    if asked.large:
        large(asked.at_most)
        return
    rows = []
    for kind in chosen or KINDS:
        for share in KINDS[kind][2]:
            for noise in NOISE:
                rows.append(row(kind, share, noise))
                print(" | ".join(rows[-1]), flush=True)
    if not chosen:
        head = (
            "Points, share known, noise", "Known", "Program, gap", "Program", "DistanceCompletion",
            "Isomap", "MDS", "Stress",
        )  # fmt: skip
        notes = (
            "Distance from the true places after the best rotation and shift, relative to the "
            "extent of the points: of the program projected to two or three dimensions; after "
            "moving to a minimum of stress, which is the estimator's answer; of scikit-learn's "
            "Isomap and MDS (one random start) on shortest paths along the known distances; of "
            "stress alone from a random start. Seconds are those of the processor for the "
            'estimator with ``solver="lowrank"``, and the gap is that of the program.',
            "150 towns, whose great circles fit no plane: where these lie is the plane nearest to "
            "all of them. 100 sensors and 100 points of a ball; near means within a radius that "
            "holds 20 others of the median point. Errors are normal and in proportion to the "
            "distance.",
        )
        write_table(
            "distance_completion", head, rows,
            command="python benchmarks/distance_completion.py", notes=notes,
        )  # fmt: skip


if __name__ == "__main__":
    main()
