"""Small programs: whole solves, planning and proofs included, beside cvxpy with Clarabel.

    python benchmarks/small.py                      the table of the documentation
    python benchmarks/small.py cut triangles --dry  some programs, printed only
    python benchmarks/small.py cut --orders 5 10

Max-cut, with and without triangle inequalities, theta numbers, unfoldings, written with one
statement for all edges and with one for each, and nearest correlation matrices. Each order of each
family is a process of its own, which solves a program of another seed first, so that imports are
not counted, and then three more.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from multiprocessing import get_context
from multiprocessing.connection import Connection

import cvxpy as cp
import numpy as np
from journal import processor_seconds
from tables import write_table

import sdpdr
from sdpdr import blocks, graphs, methods
from sdpdr.linalg import Diagonal, Entries, InnerProduct, SquaredEdgeLengths, Trace
from sdpdr.model import AtMost, Block, Equal, Maximize, Model, Penalize, Var
from sdpdr.model.terms import Term

ORDERS, SEEDS, PATIENCE = (5, 10, 20, 50), (1, 2, 3), 600.0
# Beyond it a dense theta number or all triangles are no small program any more.
LARGEST = {"theta": 20, "triangles": 20}


@dataclass(frozen=True, eq=False)
class Terms(Block):
    """Terms that were made elsewhere."""

    given: tuple[Term, ...]

    def terms(self) -> Iterable[Term]:
        """As they are."""
        return self.given


def model(n: int, *terms: Term) -> Model:
    """A model in one matrix K of order n."""
    return blocks.Gram(n) + Terms(terms)


def weights(n: int, seed: int) -> np.ndarray:
    """Weights of the edges of a random graph, one half of all of them."""
    rng = np.random.default_rng(seed)
    half = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.5), 1)
    return np.asarray(half + half.T)


def laplacian(n: int, seed: int) -> np.ndarray:
    """A quarter of the graph's Laplacian."""
    w = weights(n, seed)
    return np.asarray(0.25 * (np.diag(w.sum(axis=1)) - w))


SIGNS = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))


def cut(n: int, seed: int, triangles: bool = False) -> Model:
    """The bound of Goemans and Williamson on the largest cut."""
    K = Var("K")
    terms: list[Term] = [
        Maximize(InnerProduct(laplacian(n, seed)) @ K),
        Equal(Diagonal(n) @ K, 1.0, name="unit"),
    ]
    if triangles:
        i, j, k = np.array(list(combinations(range(n), 3))).T
        x, y, z = (Entries(n, np.column_stack(p)) @ K for p in ((i, j), (i, k), (j, k)))
        for number, (a, b, c) in enumerate(SIGNS):
            terms.append(AtMost(-(a * x + b * y + c * z), 1.0, name=f"triangle{number}"))
    return model(n, *terms)


def cvxpy_cut(n: int, seed: int, triangles: bool = False) -> cp.Problem:
    """The same for cvxpy."""
    K = cp.Variable((n, n), PSD=True)
    rows = [cp.diag(K) == 1]
    if triangles:
        i, j, k = np.array(list(combinations(range(n), 3))).T
        rows += [a * K[i, j] + b * K[i, k] + c * K[j, k] >= -1 for a, b, c in SIGNS]
    return cp.Problem(cp.Maximize(cp.trace(laplacian(n, seed) @ K)), rows)


def theta(n: int, seed: int) -> Model:
    """The theta number of a random graph."""
    K = Var("K")
    edges = np.argwhere(np.triu(weights(n, seed)) > 0.0)
    return model(
        n,
        Maximize(InnerProduct(np.ones((n, n))) @ K),
        Equal(Trace(n) @ K, 1.0, name="trace"),
        Equal(Entries(n, edges) @ K, 0.0, name="edges"),
    )


def cvxpy_theta(n: int, seed: int) -> cp.Problem:
    """The same for cvxpy."""
    K = cp.Variable((n, n), PSD=True)
    i, j = np.argwhere(np.triu(weights(n, seed)) > 0.0).T
    return cp.Problem(cp.Maximize(cp.sum(K)), [cp.trace(K) == 1, K[i, j] == 0])


def correlation(n: int, seed: int) -> Model:
    """The nearest correlation matrix."""
    K = Var("K")
    i, j = np.triu_indices(n, 1)
    away = Entries(n, np.column_stack([i, j])) @ K
    return model(
        n,
        Equal(Diagonal(n) @ K, 1.0, name="unit"),
        Penalize(away, guess(n, seed)[i, j], "square", 2.0, name="distance"),
    )


def cvxpy_correlation(n: int, seed: int) -> cp.Problem:
    """The same for cvxpy."""
    K, C = cp.Variable((n, n), PSD=True), guess(n, seed)
    i, j = np.triu_indices(n, 1)
    return cp.Problem(cp.Minimize(cp.sum_squares(K[i, j] - C[i, j])), [cp.diag(K) == 1])


def guess(n: int, seed: int) -> np.ndarray:
    """A symmetric matrix that is no correlation matrix."""
    half = np.triu(np.random.default_rng(seed).uniform(-1.0, 1.0, (n, n)), 1)
    return np.asarray(half + half.T + np.eye(n))


def neighbours(n: int, seed: int) -> graphs.NeighborGraph:
    """Points of a spiral and their neighbours."""
    t = np.sort(np.random.default_rng(seed).uniform(3.0, 12.0, n))
    return graphs.knn(np.column_stack([t * np.cos(t), t * np.sin(t)]), min(4, n - 1), connect="mst")


def unfolding(n: int, seed: int) -> Model:
    """Maximum Variance Unfolding."""
    return methods.mvu(neighbours(n, seed))


def one_by_one(n: int, seed: int) -> Model:
    """The same with a statement for each edge."""
    graph = neighbours(n, seed)
    statements = tuple(
        AtMost(SquaredEdgeLengths(n, edge[None, :]) @ Var("K"), length, name=f"edge{e}")
        for e, (edge, length) in enumerate(zip(graph.edges, graph.sqdist, strict=True))
    )
    base = blocks.Gram(n) + blocks.Centered(n) + blocks.Variance(n)
    return base + Terms(statements)


def cvxpy_unfolding(n: int, seed: int) -> cp.Problem:
    """The same for cvxpy."""
    graph = neighbours(n, seed)
    K, (i, j) = cp.Variable((n, n), PSD=True), graph.edges.T
    rows = [cp.sum(K) == 0, K[i, i] + K[j, j] - 2 * K[i, j] <= graph.sqdist]
    return cp.Problem(cp.Maximize(cp.trace(K)), rows)


FAMILIES: dict[str, tuple[str, Callable[[int, int], Model], Callable[[int, int], cp.Problem]]] = {
    "cut": ("max-cut", cut, cvxpy_cut),
    "triangles": (
        "max-cut with triangles",
        lambda n, seed: cut(n, seed, triangles=True),
        lambda n, seed: cvxpy_cut(n, seed, triangles=True),
    ),
    "theta": ("theta number", theta, cvxpy_theta),
    "unfolding": ("unfolding", unfolding, cvxpy_unfolding),
    "one": ("unfolding, a statement for each edge", one_by_one, cvxpy_unfolding),
    "correlation": ("nearest correlation matrix", correlation, cvxpy_correlation),
}


@dataclass(frozen=True)
class Told:
    """Medians of processor seconds, who solved it, the gap, and how many were proved."""

    ours: float
    theirs: float
    solver: str
    gap: float
    proved: int


def measured(family: str, n: int, sink: Connection) -> None:
    """Solve both ways, program by program, and tell."""
    _, ours, theirs = FAMILIES[family]
    sdpdr.solve(ours(n, 0), progress=False)
    theirs(n, 0).solve(solver=cp.CLARABEL)
    seconds: list[tuple[float, float]] = []
    found = []
    for seed in SEEDS:
        begin = processor_seconds()
        found.append(sdpdr.solve(ours(n, seed), progress=False))
        between = processor_seconds()
        theirs(n, seed).solve(solver=cp.CLARABEL)
        seconds.append((between - begin, processor_seconds() - between))
    us, them = (statistics.median(column) for column in zip(*seconds, strict=True))
    names = "/".join(dict.fromkeys(f"{one.solver} {one.form}" for one in found))
    gap = max(np.inf if one.gap is None else abs(one.gap) for one in found)
    sink.send(Told(us, them, names, gap, sum(one.certified() for one in found)))


def told(family: str, n: int) -> Told | None:
    """What came of it, in a process of its own; None where it took too long."""
    context = get_context("spawn")
    source, sink = context.Pipe(duplex=False)
    process = context.Process(target=measured, args=(family, n, sink))
    process.start()
    sink.close()
    try:
        return source.recv() if source.poll(PATIENCE) else None
    except EOFError:
        return None
    finally:
        process.terminate()
        process.join()


def row(words: str, n: int, one: Told | None) -> tuple[object, ...]:
    """A line of the table."""
    if one is None:
        return (words, n, "—", "—", "—", "—", "—")
    ratio = one.ours / one.theirs
    proved = f"{one.proved} of {len(SEEDS)}, {one.gap:.0e}"
    return (words, n, one.solver, f"{one.ours:.3f}", f"{one.theirs:.3f}", f"{ratio:.1f}", proved)


def main() -> None:
    """Solve, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []])
    parser.add_argument("--orders", nargs="+", type=int, default=ORDERS)
    parser.add_argument("--dry", action="store_true", help="print the rows, and write no table")
    arguments = parser.parse_args()
    rows = []
    for family in arguments.families or FAMILIES:
        for n in arguments.orders:
            if n <= LARGEST.get(family, n):
                rows.append(row(FAMILIES[family][0], n, told(family, n)))
                print(*rows[-1], sep=" | ", flush=True)
    if not (arguments.dry or arguments.families):
        head = ("Program", "Order", "By", "sdpdr [s]", "cvxpy, Clarabel [s]", "Ratio", "Proved")
        notes = (
            "Seconds of the processor, those of workers included, from a model to a proved answer "
            "at tolerance 1e-6 beside those from a problem of cvxpy to Clarabel's word; medians of "
            f"{len(SEEDS)} programs after a first that is not counted. The last column says how "
            "many have a proved gap within the tolerance, and the largest gap.",
        )
        write_table("small", head, rows, command="python benchmarks/small.py", notes=notes)


if __name__ == "__main__":
    main()
