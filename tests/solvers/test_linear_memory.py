"""Nothing on the way of a sparse program is quadratic in the number of points.

Each kind of row is lowered, reduced, compiled, started and graded in a process that may take
far less memory than a matrix of that order.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
import pytest

import sdpdr
from sdpdr import blocks, graphs, methods, soften
from sdpdr.linalg import Entries, QuadraticForms, SquaredEdgeLengths
from sdpdr.model import AtMost, Block, Model, Var
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank.general.lowest import unit_vectors

FEW, MANY = 12_000, 200_000
# A matrix of order FEW takes 1.15e9 bytes.
ROOM = 1e9


@dataclass(frozen=True, eq=False)
class Later(Block):
    n: int

    def terms(self):
        t = np.arange(self.n - 2)
        near = SquaredEdgeLengths(self.n, np.column_stack([t, t + 1]))
        far = SquaredEdgeLengths(self.n, np.column_stack([t, t + 2]))
        yield AtMost((near - far) @ Var("K"), 0.0)


@dataclass(frozen=True, eq=False)
class Alike(Block):
    """Neighbours in order have no product below a limit; a limit of zero is graded slowly."""

    n: int

    def terms(self):
        t = np.arange(self.n - 1)
        yield AtMost(-1.0 * Entries(self.n, np.column_stack([t, t + 1])) @ Var("K"), float(self.n))


def spiral(n: int) -> np.ndarray:
    """Points of a narrow band that is rolled up, in their order along it."""
    t = np.linspace(3.0, 6.0 * np.pi * np.sqrt(n / 300), n)
    return np.column_stack([t * np.cos(t), t * np.sin(t), np.random.default_rng(0).random(n)])


@dataclass(frozen=True, eq=False)
class Slopes(Block):
    """Two weighted sums over all points are no longer than a limit."""

    n: int

    def terms(self):
        weights = np.vstack([np.linspace(0.0, 1.0, self.n), np.linspace(1.0, 2.0, self.n) ** 2])
        yield AtMost(QuadraticForms(weights) @ Var("K"), float(self.n) ** 4)


def roll(n: int) -> graphs.NeighborGraph:
    return graphs.knn(spiral(n), n_neighbors=4, connect="mst")


def anchored(n: int) -> Model:
    X = spiral(n)
    known = np.arange(0, n, n // 10)[:10]
    return methods.anchored_mvu(roll(n), known, X[known])


def separation(n: int) -> Model:
    return methods.ism(roll(n), np.arange(n) < n // 2)


def penalized(n: int, square: bool = False, exact: bool = True) -> Model:
    base = blocks.Gram(n) + blocks.Centered(n) + blocks.Variance(n)
    return base + soften(blocks.Lengths(roll(n), exact), float(n * n), square=square)


def star(n: int) -> Model:
    hub = np.zeros(n - 1, dtype=int)
    edges = np.column_stack([hub, np.arange(1, n)])
    return methods.mvu(graphs.from_edges(n, edges, np.ones(n - 1)))


def wheel(n: int) -> Model:
    """A hub, spokes of one, and a rim of one that does not bind."""
    rim = np.arange(1, n)
    hub = np.column_stack([np.zeros(n - 1, dtype=int), rim])
    edges = np.vstack([hub, np.column_stack([rim, np.roll(rim, -1)])])
    return methods.mvu(graphs.from_edges(n, edges, np.ones(len(edges))))


KINDS: dict[str, Callable[[int], Model]] = {
    "inequalities": lambda n: methods.mvu(roll(n)),
    "equalities": lambda n: methods.mvu(roll(n), "equality"),
    "bands": lambda n: methods.mvu(roll(n), blocks.Band(0.05)),
    "differences": lambda n: methods.mvu(roll(n)) + Later(n),
    "entries": lambda n: methods.mvu(roll(n)) + Alike(n),
    "long rows": lambda n: methods.mvu(roll(n)) + Slopes(n),
    "anchors": anchored,
    "separation": separation,
    "absolute": penalized,
    "squared": lambda n: penalized(n, square=True),
    "one-sided": lambda n: penalized(n, exact=False),
    "star": star,
    "labels": lambda n: methods.colored_mvu(roll(n), np.arange(n) % 2),
}


def limit_memory(room: float) -> None:
    with open("/proc/self/statm") as numbers:
        used = int(numbers.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + int(room),) * 2)


def apart(n: int) -> Model:
    """Two halves about one centre, each of which is held together."""
    first = np.arange(n // 2 - 1)
    t = np.concatenate([first, first + n // 2])
    halves = graphs.from_edges(n, np.column_stack([t, t + 1]), np.ones(t.size))
    return (
        blocks.Gram(n)
        + blocks.Centered(n)
        + blocks.Variance(n)
        + blocks.Lengths(halves, exact=False)
    )


def refuted(n: int, room: float) -> str:
    """What becomes of an unbounded program in little memory; runs in a process of its own."""
    model = apart(n)
    sdpdr.solve(methods.mvu(graphs.path(np.ones(5))), "lowrank")
    limit_memory(room)
    return str(sdpdr.solve(model, "lowrank", progress=False).status)


def graded(kind: str, n: int, room: float) -> str:
    """What becomes of a program in little memory; runs in a process of its own."""
    model = KINDS[kind](n)
    sdpdr.solve(methods.mvu(graphs.path(np.ones(5))), "lowrank")
    limit_memory(room)
    # So few numbers for every point that no factorization of two hubs takes long.
    solver = LowRank(max_iter=2, options={"max_fill": 1500 * n})
    solution = sdpdr.solve(model, solver, progress=False)
    return f"{solution.status} {solution.claimed.message}"


def in_little_memory(run: Callable[..., str], *given: object) -> str:
    """In a process that a server starts, which has imported all once."""
    server = get_context("forkserver")
    server.set_forkserver_preload(["sdpdr.solving.plan", "sdpdr.families.methods", __name__])
    with server.Pool(1) as pool:
        return pool.apply(run, given)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "n"),
    [
        pytest.param("inequalities", 4_000, marks=pytest.mark.integration),
        pytest.param("long rows", 8_000, marks=pytest.mark.integration),
        *(pytest.param(kind, FEW, marks=pytest.mark.nightly) for kind in KINDS),
    ],
)
def test_no_kind_of_row_needs_a_dense_matrix(kind, n):
    room = ROOM * (n / FEW) ** 2
    assert "memory" not in in_little_memory(graded, kind, n, room).lower()


@pytest.mark.nightly
def test_what_drifts_apart_is_proved_without_a_dense_matrix():
    assert in_little_memory(refuted, FEW, ROOM) == "Status.UNBOUNDED"


@pytest.mark.nightly
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "leaves"), [("star", 300), ("wheel", 200)])
def test_what_hangs_on_a_hub_is_proved(kind, leaves):
    """Each spoke of one holds a point of variance one, if they balance; a rim of one is no bar."""
    solution = sdpdr.solve({"star": star, "wheel": wheel}[kind](leaves + 1), "lowrank")
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(leaves, rel=1e-6)


def test_a_few_columns_of_an_identity_take_no_square_matrix():
    """Ten thousand sensors with absolute penalties have 115,636 ranges, and slacks."""
    places = np.array([7, 2_999_999, 0])
    columns = unit_vectors(3_000_000, places)
    assert columns.shape == (3_000_000, 3)
    np.testing.assert_array_equal(columns[places], np.eye(3))
    assert columns.sum() == 3.0
