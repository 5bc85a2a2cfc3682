"""Nothing on the way of a sparse program is quadratic in the number of points.

Each kind of row is lowered, reduced, compiled, started and graded in a process that may take
far less memory than a matrix of that order. `pytest -m slow` does the same with 200,000 points.
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
from sdpdr.linalg import Entries, SquaredEdgeLengths, Trace
from sdpdr.model import AtMost, Block, Model, Var

FEW, MANY = 12_000, 200_000
# A matrix of order FEW takes 1.15e9 bytes.
ROOM = 1e9
ROOM_OF_MANY = 12e9


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


@dataclass(frozen=True, eq=False)
class Small(Block):
    n: int

    def terms(self):
        yield AtMost(Trace(self.n) @ Var("K"), 1e3 * self.n)


@dataclass(frozen=True, eq=False)
class Triangles(Block):
    """Three points that follow each other have no product sum below a limit."""

    n: int

    def terms(self):
        t = np.arange(self.n - 2)
        pairs = (np.column_stack(p) for p in ((t, t + 1), (t + 1, t + 2), (t, t + 2)))
        one, two, three = (Entries(self.n, p) for p in pairs)
        yield AtMost(-1.0 * (one + two + three) @ Var("K"), float(self.n))


def spiral(n: int) -> np.ndarray:
    """Points of a narrow band that is rolled up, in their order along it."""
    t = np.linspace(3.0, 6.0 * np.pi * np.sqrt(n / 300), n)
    return np.column_stack([t * np.cos(t), t * np.sin(t), np.random.default_rng(0).random(n)])


def roll(n: int) -> graphs.NeighborGraph:
    return graphs.knn(spiral(n), n_neighbors=4, connect="mst")


def anchored(n: int) -> Model:
    X = spiral(n)
    known = np.arange(0, n, n // 10)[:10]
    return methods.anchored_mvu(roll(n), known, X[known])


def separation(n: int) -> Model:
    return methods.ism(roll(n), np.arange(n) < n // 2)


def priced(n: int, square: bool = False, exact: bool = True) -> Model:
    base = blocks.Gram(n) + blocks.Centered(n) + blocks.Variance(n)
    return base + soften(blocks.Lengths(roll(n), exact), float(n * n), square=square)


KINDS: dict[str, Callable[[int], Model]] = {
    "inequalities": lambda n: methods.mvu(roll(n)),
    "equalities": lambda n: methods.mvu(roll(n), "equality"),
    "bands": lambda n: methods.mvu(roll(n), blocks.Band(0.05)),
    "differences": lambda n: methods.mvu(roll(n)) + Later(n),
    "entries": lambda n: methods.mvu(roll(n)) + Alike(n),
    "triangles": lambda n: methods.mvu(roll(n)) + Triangles(n),
    "trace": lambda n: methods.mvu(roll(n)) + Small(n),
    "anchors": anchored,
    "separation": separation,
    "absolute": priced,
    "squared": lambda n: priced(n, square=True),
    "one-sided": lambda n: priced(n, exact=False),
    "labels": lambda n: methods.colored_mvu(roll(n), np.arange(n) % 2),
}


def graded(kind: str, n: int, room: float) -> str:
    """What becomes of a program in little memory; runs in a process of its own."""
    model = KINDS[kind](n)
    sdpdr.solve(methods.mvu(graphs.path(np.ones(5))), "lowrank")
    with open("/proc/self/statm") as numbers:
        used = int(numbers.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + int(room),) * 2)
    solution = sdpdr.solve(model, "lowrank", max_iter=2, progress=False)
    return f"{solution.status} {solution.claimed.message}"


def in_little_memory(kind: str, n: int, room: float) -> str:
    """In a process that a server starts, which has imported all once."""
    server = get_context("forkserver")
    server.set_forkserver_preload(["sdpdr.solving.plan", "sdpdr.families.methods", __name__])
    with server.Pool(1) as pool:
        return pool.apply(graded, (kind, n, room))


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_row_needs_a_dense_matrix(kind):
    assert "memory" not in in_little_memory(kind, FEW, ROOM).lower()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_row_needs_much_at_200_000_points(kind):
    assert "memory" not in in_little_memory(kind, MANY, ROOM_OF_MANY).lower()
