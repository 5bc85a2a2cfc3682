"""Action Respecting Embedding: how much smoother than plain unfolding, and how many states.

    python benchmarks/actions.py                         # rewrites ACTIONS.md
    python benchmarks/actions.py --sides 22 32 --walks 500
    python benchmarks/actions.py --only-certified --certified 60

*Smoothness* compares both methods on the agents of the course notes. *A swept sheet* is an agent
that crosses every place of a rolled sheet in equal steps, first by rows, then by columns. It is
solved with the limits that actions imply (``hops=0``), then with action rows (``hops=1``) from
there; the change by an action is over all pairs of all steps, so that the gap is one to the whole
program. *Noisy walks* are solved with the limits alone, which is a bound; the value beside it is
the best embedding in which actions are translations, and the truth lies between. Shorter ones are
solved with all action rows, and *certified*.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Gram
from sdpdr.errors import DuplicatePointsWarning
from sdpdr.graphs import NeighborGraph, Transitions
from sdpdr.linalg import InnerProduct, QuadraticForms
from sdpdr.model import AtMost, Block, Minimize, Var
from sdpdr.model.terms import Term

TABLE = Path(__file__).with_name("ACTIONS.md")
ARC, FIRST_ANGLE = 1.2, 1.5 * np.pi
SMALL = {"scene": 96, "window": 16, "grain": 0.1}
AGENTS = (
    ("40 right, 20 left", "R" * 40 + "L" * 20, {}, 3, 1),
    ("12 right, 6 left", "R" * 12 + "L" * 6, SMALL, 3, 1),
    ("walk, seed 0", datasets.random_walk(36, seed=0), SMALL | {"start": 36}, 4, 2),
    ("walk, seed 1", datasets.random_walk(36, seed=1), SMALL | {"start": 36}, 4, 2),
)


@dataclass(frozen=True, eq=False)
class Translations(Block):
    """Unfolding of y = T s: a state is a sum of shifts, one for each action taken so far."""

    graph: NeighborGraph
    taken: np.ndarray

    def terms(self) -> Iterable[Term]:
        """Limits on edges, and the variance, of the Gram matrix of the shifts."""
        i, j = self.graph.edges.T
        moved = QuadraticForms(self.taken[i] - self.taken[j])
        yield AtMost(moved @ Var("K"), self.graph.sqdist)
        yield Minimize(InnerProduct(-self.taken.T @ self.taken) @ Var("K"))


def sweep(side: int) -> str:
    """Actions that cross a square of places by rows, and then by columns."""
    rows = "D".join(("R" if r % 2 == 0 else "L") * (side - 1) for r in range(side))
    sideways = "L" if side % 2 else "R"
    columns = sideways.join(("U" if c % 2 == 0 else "D") * (side - 1) for c in range(side))
    return rows + columns


def sheet(actions: str, side: int) -> tuple[np.ndarray, np.ndarray]:
    """States of an agent on a rolled sheet, and its places."""
    angles = [FIRST_ANGLE]
    while len(angles) < side:
        angles.append(angles[-1] + ARC / np.hypot(angles[-1], 1.0))
    angle = np.array(angles)
    moves = {"R": (1, 0), "L": (-1, 0), "U": (0, -1), "D": (0, 1)}
    place = np.cumsum([(0, 0), *(moves[a] for a in actions)], axis=0)
    turn = angle[place[:, 0]]
    X = np.column_stack([turn * np.cos(turn), turn * np.sin(turn), ARC * place[:, 1]])
    return X, place.astype(float)


def of_nodes(graph: NeighborGraph, values: np.ndarray) -> np.ndarray:
    """Values of the first state of every node."""
    return values[np.unique(graph.index, return_index=True)[1]]


def every_column(solution: sdpdr.Solution) -> np.ndarray:
    """All columns of an embedding that are not rounding."""
    spectrum = solution.spectrum()
    return solution.embedding(int(np.sum(spectrum > 1e-12 * spectrum[0])))


def count_pairs(steps: Transitions) -> int:
    """Pairs of steps of equal actions: the rows as the method states them."""
    sizes = (np.sum(steps.moves >= 0, axis=1)).astype(int)
    return int(np.sum(sizes * (sizes - 1) // 2))


def smoothness() -> str:
    """Both methods on the agents of the course notes."""
    text = (
        "| agent | method | value | gap | fit of positions | uneven steps | change by an action "
        "| s |\n|---|---|---|---|---|---|---|---|\n"
    )
    for name, actions, options, k, d in AGENTS:
        X, position = datasets.window_agent(actions, **options)
        graph = graphs.sequences(X, k)
        steps = graphs.transitions(graph, actions)
        for method, model, solver in (
            ("MVU", methods.mvu(graph), "lowrank"),
            ("ARE", methods.are(graph, actions), "sdpa"),
        ):
            begin = time.perf_counter()
            solution = sdpdr.solve(model, solver, tol=1e-7)
            seconds = time.perf_counter() - begin
            points = every_column(solution)
            fit = graphs.position_fit(solution.embedding(d), position[:, :d])
            text += (
                f"| {name} | {method} | {solution.value:.3f} | {abs(solution.gap):.0e} "
                f"| {fit:.4f} | {graphs.step_variation(steps, points):.2g} "
                f"| {graphs.action_error(steps, points):.1e} | {seconds:.1f} |\n"
            )
            print(text.splitlines()[-1], flush=True)
    return text


def swept(side: int) -> str:
    """A row of the table of swept sheets."""
    actions = sweep(side)
    X, place = sheet(actions, side)
    begin = time.perf_counter()
    graph = graphs.sequences(X, 8)
    steps = graphs.transitions(graph, actions)
    limits = sdpdr.solve(methods.are(graph, steps, hops=0), "lowrank", tol=1e-6)
    middle = time.perf_counter() - begin
    model = methods.are(graph, steps, hops=1)
    solution = sdpdr.solve(model, "lowrank", tol=1e-6, start=limits)
    seconds = time.perf_counter() - begin
    plain = sdpdr.solve(methods.mvu(graph), "lowrank")
    truth = of_nodes(graph, place)
    fits = [1.0 - graphs.position_fit(s.embedding(2), truth) for s in (plain, solution)]
    rows = model.size()["rows"]["actions"]
    points = every_column(solution)
    return (
        f"| {graph.n} | {len(actions) + 1} | {graph.m} | {count_pairs(steps):,} | {rows} "
        f"| {middle:.1f} | {seconds:.1f} | {abs(solution.gap):.0e} "
        f"| {graphs.action_error(steps, points):.0e} | {fits[0]:.1e} | {fits[1]:.1e} |\n"
    )


def walked(n: int) -> str:
    """A row of the table of noisy walks."""
    side = int(np.sqrt(n) / 2.0)
    actions = datasets.random_walk(n, side)
    X, position = datasets.window_agent(
        actions, window=32, grain=0.02, start=0, scene=64 + 2 * side
    )
    begin = time.perf_counter()
    graph = graphs.sequences(X, 6)
    steps = graphs.transitions(graph, actions)
    limits = sdpdr.solve(methods.are(graph, steps, hops=0), "lowrank", tol=1e-5)
    seconds = time.perf_counter() - begin
    counts = np.array([[0, 0, 0, 0], *([a == b for b in "RLUD"] for a in actions)]).cumsum(axis=0)
    taken = np.sqrt(n) * np.linalg.qr(counts - counts.mean(axis=0))[0]
    moved = sdpdr.solve(Gram(4) + Translations(graph, taken), "clarabel")
    plain = sdpdr.solve(methods.mvu(graph), "lowrank", tol=1e-5)
    maps = [s.embedding(2) for s in (plain, limits)] + [taken @ moved.embedding(2)]
    fits = [graphs.position_fit(Y, position) for Y in maps]
    error = graphs.action_error(steps, every_column(limits))
    return (
        f"| {n} | {graph.m} | {count_pairs(steps):,} | {limits.bound:.6g} | {moved.value:.6g} "
        f"| {1.0 - moved.value / limits.bound:.1%} | {seconds:.1f} | {error:.1g} "
        f"| {fits[0]:.4f} | {fits[1]:.4f} | {fits[2]:.4f} |\n"
    )


def certified(n: int) -> str:
    """A row of the table of noisy walks that are solved with all action rows."""
    side = int(np.sqrt(n) / 2.0)
    actions = datasets.random_walk(n, side)
    X, position = datasets.window_agent(
        actions, window=32, grain=0.02, start=0, scene=64 + 2 * side
    )
    graph = graphs.sequences(X, 4)
    steps = graphs.transitions(graph, actions)
    begin = time.process_time()
    model = methods.are(graph, steps)
    solution = sdpdr.solve(model, isolate=False)
    seconds = time.process_time() - begin
    limits = sdpdr.solve(methods.are(graph, steps, hops=0), "lowrank")
    rows = sum(model.size()["rows"].values()) - n
    fit = graphs.position_fit(solution.embedding(2), position)
    error = graphs.action_error(steps, every_column(solution))
    return (
        f"| {n} | {graph.m} | {rows} | {solution.solver} | {solution.status.name} "
        f"| {solution.value:.8g} | {solution.bound:.8g} | {solution.gap:.0e} "
        f"| {limits.bound / solution.bound - 1.0:.1%} | {error:.0e} | {fit:.4f} | {seconds:.1f} |\n"
    )


def noisy(sizes: list[int]) -> str:
    """The table of noisy walks that are solved with all action rows."""
    text = (
        "\n## Noisy walks, certified\n\n"
        "| states | edges | rows | solver | status | value | bound | gap | limits alone "
        "| change by an action | fit | processor s |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    )
    for n in sizes:
        text += certified(n)
        print(text.splitlines()[-1], flush=True)
    return text + (
        "\nAll action rows, `k = 4`, solver `auto`; limits alone (`hops=0`) are that far above the "
        "bound.\n"
    )


def amended(sizes: list[int]) -> None:
    """Write the table of certified walks into the page, and leave all else as it is."""
    text = TABLE.read_text(encoding="utf-8")
    head, _, rest = text.partition("\n## Noisy walks, certified\n")
    if not rest:
        head, _, rest = text.rpartition("\nPython ")
    tail = rest.rpartition("\nPython ")[2]
    TABLE.write_text(f"{head}{noisy(sizes)}\nPython {tail}", encoding="utf-8")


def main() -> None:
    """Run everything and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sides", type=int, nargs="*", default=[22, 32, 45])
    parser.add_argument("--walks", type=int, nargs="*", default=[500, 1000, 2000])
    parser.add_argument("--certified", type=int, nargs="*", default=[60, 150])
    parser.add_argument("--only-certified", action="store_true", help="leave other tables alone")
    arguments = parser.parse_args()
    if arguments.only_certified:
        amended(arguments.certified)
        return
    warnings.simplefilter("ignore", DuplicatePointsWarning)  # a sweep is at every place twice
    text = "# Action Respecting Embedding\n\nWritten by `benchmarks/actions.py`, one thread.\n\n"
    text += "## Smoothness\n\n" + smoothness()
    text += (
        "\nFit of positions is the R^2 of the true place regressed on the coordinates; uneven "
        "steps are the standard\ndeviation of the lengths of steps of equal actions over the mean "
        "step.\n"
        "\n## A swept sheet\n\n"
        "| places | states | edges | action pairs | rows kept | first solve by, s | both by, s "
        "| gap | change by an action | 1 - fit, MVU | 1 - fit, ARE |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n"
    )
    for side in arguments.sides:
        text += swept(side)
        print(text.splitlines()[-1], flush=True)
        TABLE.write_text(text, encoding="utf-8")
    text += (
        "\nSeconds are those of the clock from the points on, graph and model included.\n"
        "\n## Noisy walks\n\n"
        "| states | edges | action pairs | bound | translations | between | s "
        "| change by an action | fit, MVU | fit, limits | fit, translations |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n"
    )
    for n in arguments.walks:
        text += walked(n)
        print(text.splitlines()[-1], flush=True)
        TABLE.write_text(text, encoding="utf-8")
    text += (
        "\nWindows of 32 pixels, grain 0.02. The optimum of the whole program lies between the "
        "best translations\nand the bound.\n"
    )
    text += noisy(arguments.certified)
    packages = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "qdldl", "clarabel"))
    text += f"\nPython {platform.python_version()}; {packages}.\n"
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
