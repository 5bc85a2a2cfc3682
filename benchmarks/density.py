"""How far leave-one-out unfolding, density maps and least ellipsoids go: writes DENSITY.md.

Run ``python benchmarks/density.py [loocv folds maps large_maps ellipsoids estimates] [--quick]``.
Nothing here is a timed test. A run that needs more than the limit is stopped; what it has by then
is graded.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sdpdr
from sdpdr import density, graphs, iterate, methods
from sdpdr.errors import SdpdrError
from sdpdr.model import Model
from sdpdr.model.blocks import Band, Relation

LIMIT = 60.0
# Of maps of many points.
LARGE = 240.0
LENGTHS: dict[str, Relation] = {"exact": "equality", "band 0.01": Band(0.01)}
# Gap of folding that costs less than 1e-6 of the likelihood, of which its trace is a twelfth.
FOLDED = 1e-5
GENERAL = (
    ("clarabel", "gram"),
    ("clarabel", "lmi"),
    ("cvxopt", "lmi"),
    ("sdpa", "gram"),
    ("scs", "gram"),
    ("lowrank", "factor"),
)


def roll(n: int) -> np.ndarray:
    """The data."""
    return sdpdr.datasets.swiss_roll(n, seed=0)[0]


def timed(call: Callable[[], object]) -> tuple[object, float]:
    """What a call returns, and its seconds."""
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def row(what: str, n: int, model: Model, solver: str, form: str) -> str:
    """One solve as a line of the table."""
    try:
        solution, seconds = timed(
            lambda: sdpdr.solve(model, solver, form, tol=1e-6, time_limit=LIMIT)
        )
    except SdpdrError as error:
        return f"| {what} | {n} | {solver} | {form} | {type(error).__name__} | | | |"
    bound = "none" if solution.bound is None else f"{solution.bound:.8g}"
    line = (
        f"| {what} | {n} | {solver} | {form} | {solution.status.name} | {seconds:.1f} "
        f"| {solution.value:.8g} | {bound} | {solution.gap:.1e} |"
    )
    print(line, flush=True)
    return line


def unfoldings(sizes: tuple[int, ...]) -> list[str]:
    """Leave-one-out unfolding by every solver."""
    lines = []
    for n in sizes:
        model = methods.loocv(graphs.knn(roll(n), n_neighbors=4))
        lines += [row("loocv", n, model, *way) for way in GENERAL]
    return lines


def folds(sizes: tuple[int, ...]) -> list[str]:
    """Leave-one-out unfolding from folding, which is graded on the whole program.

    Of most points in a band alone: exact lengths are folded to the limit of the time.
    """
    exact = sizes[:-1] if len(sizes) > 1 else sizes
    pairs = [(n, words) for n in sizes for words in LENGTHS if words != "exact" or n in exact]
    return [folded(n, words, LENGTHS[words]) for n, words in pairs]


def folded(n: int, words: str, lengths: Relation) -> str:
    """A line of that table."""
    graph = graphs.knn(roll(n), n_neighbors=4, connect="mst")
    model = methods.loocv(graph, isometry=lengths)
    start = time.process_time()
    fold = sdpdr.solve(methods.fold(graph, lengths), "lowrank", tol=FOLDED, time_limit=LARGE)
    middle = time.process_time()
    found = iterate.loocv_of_fold(model, graph, fold, time_limit=10.0)
    seconds = f"{middle - start:.1f} | {time.process_time() - middle:.1f}"
    line = (
        f"| {n} | {words} | {len(graph.edges)} | {seconds} | {fold.value:.8g} "
        f"| {found.status.name} | {found.value:.9g} | {found.bound:.9g} "
        f"| {found.apparent_gap:.1e} |"
    )
    print(line, flush=True)
    return line


def large_maps(sizes: tuple[int, ...]) -> list[str]:
    """Density maps by our own solver alone, in seconds of a processor."""
    lines = []
    for n in sizes:
        graph = graphs.knn(roll(n), n_neighbors=6, connect="mst")
        for variant in ("unit", "trace"):
            model = methods.density_map(graph, variant=variant)
            start = time.process_time()
            found = sdpdr.solve(model, "lowrank", tol=1e-6, time_limit=LARGE)
            seconds = time.process_time() - start
            bound = "none" if found.bound is None else f"{found.bound:.9g}"
            lines.append(
                f"| {n} | {variant} | {found.status.name} | {seconds:.1f} | {found.value:.9g} "
                f"| {bound} | {found.apparent_gap:.1e} | {found.backward_error:.0e} |"
            )
            print(lines[-1], flush=True)
    return lines


def maps(sizes: tuple[int, ...]) -> list[str]:
    """Density maps, by every solver as far as it goes."""
    lines = []
    for n in sizes:
        graph = graphs.knn(roll(n), n_neighbors=6)
        ways = GENERAL if n <= 60 else GENERAL[1:2] + GENERAL[5:] if n <= 100 else GENERAL[5:]
        for variant in ("unit", "trace"):
            model = methods.density_map(graph, variant=variant)
            lines += [row(f"density map, {variant}", n, model, *way) for way in ways]
    return lines


def ellipsoids(sizes: tuple[int, ...]) -> list[str]:
    """Ascent, and the program beside it."""
    lines = []
    for k in sizes:
        for m in (3, 10):
            points = np.random.default_rng(0).standard_normal((k, m))
            found, seconds = timed(lambda p=points: density.minimum_ellipsoid(p))
            program = "| | |"
            if k <= 1000:
                solution, slow = timed(
                    lambda p=points: sdpdr.solve(methods.mvee(p), "clarabel", "lmi", tol=1e-6)
                )
                other = methods.ellipsoid_of(solution, points)
                off = abs(other.log_volume - found.log_volume)
                program = f"| {slow:.2f} | {off:.0e} |"
            lines.append(f"| {k} | {m} | {seconds:.3f} | {found.gap:.0e} {program}")
            print(lines[-1], flush=True)
    return lines


def estimates(sizes: tuple[int, ...]) -> list[str]:
    """The three estimates of density."""
    lines = []
    for n in sizes:
        points = np.random.default_rng(1).uniform(size=(n, 2))
        seconds = [
            timed(lambda e=e, p=points: e(p))[1]
            for e in (density.kernel, density.ball, density.ellipsoid)
        ]
        lines.append(f"| {n} | " + " | ".join(f"{s:.2f}" for s in seconds) + " |")
        print(lines[-1], flush=True)
    return lines


SECTIONS = {
    "loocv": (unfoldings, (12,), (12, 30, 60)),
    "folds": (folds, (30,), (60, 128, 256, 512)),
    "maps": (maps, (30,), (30, 60, 100, 300)),
    "large_maps": (large_maps, (100,), (1000, 3000)),
    "ellipsoids": (ellipsoids, (100,), (100, 1000, 10_000, 100_000)),
    "estimates": (estimates, (400,), (400, 2000)),
}
PROGRAM = "| program | n | solver | form | status | s | value | bound | gap |\n" + "|---" * 9 + "|"
HEADS = {
    "loocv": f"## Leave-one-out unfolding\n\n{PROGRAM}",
    "folds": (
        "## Leave-one-out unfolding, by folding: processor seconds of both steps\n\n"
        f"Within {LARGE:.0f} s each. Gaps are between value and bound, whether the value is proved "
        "attainable (solved) or that of a point feasible for data nearby.\n\n"
        "| n | lengths | edges | fold, s | grading, s | least trace | status | value | bound "
        "| gap |\n" + "|---" * 10 + "|"
    ),
    "large_maps": (
        "## Density maps of many points, by `lowrank`, in processor seconds\n\n"
        f"Within {LARGE:.0f} s each.\n\n"
        "| n | variant | status | s | value | bound | gap | moved data |\n" + "|---" * 8 + "|"
    ),
    "maps": f"## Density maps\n\n{PROGRAM}",
    "ellipsoids": (
        "## Least ellipsoids: ascent, and the program by Clarabel\n\n"
        "| points | m | ascent, s | its gap | program, s | difference of log-volumes |\n"
        + "|---" * 6
        + "|"
    ),
    "estimates": (
        "## Density at every point, seconds (plane, k = 15)\n\n"
        "| n | kernel | ball | ellipsoid |\n|---|---|---|---|"
    ),
}


def main() -> None:
    """Run some of the sections, keep their lines, and write all that are kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help="default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Path(__file__).with_suffix(".json")
    kept = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    for name in arguments.sections or SECTIONS:
        run, small, full = SECTIONS[name]
        kept[name] = run(small if arguments.quick else full)
        store.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    text = [
        "# Densities: how far it goes",
        f"`python benchmarks/density.py`; swiss rolls, seed 0, 4 neighbours for leave-one-out and "
        f"6 for maps; tolerance 1e-6; at most {LIMIT:.0f} s a run, after which it is stopped. "
        "Seconds are those of a busy machine with two cores and include our own certificate.",
        *("\n".join([HEADS[name], *lines]) for name, lines in kept.items()),
    ]
    report = "\n\n".join(text) + "\n"
    Path(__file__).with_name("DENSITY.md").write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
