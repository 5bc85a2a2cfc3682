"""Every program is planned and solved with the factorization that comes with all installations."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import blocks, datasets, graphs, methods
from sdpdr.linalg import Diagonal, InnerProduct, mkl
from sdpdr.model import AtMost, Block, Maximize, Var
from sdpdr.program.point import PsdVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def no_mkl(monkeypatch):
    monkeypatch.setattr(mkl, "available", lambda: False)


class Capped(Block):
    """Entries of the diagonal are at most one."""

    def terms(self):
        yield AtMost(Diagonal(4) @ Var("K"), 1.0)


def smallest():
    rows = Rows("trace", "<=", {"X": sdpdr.linalg.Trace(2)}, np.ones(1))
    cost = InnerProduct([[1.0, 0.0], [0.0, -2.0]])
    return SDP((PsdVariable("X", 2),), {"X": cost}, (rows,))


def anchored():
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(12, 2))
    graph = graphs.radius(points, 0.6)
    noisy = graph.sqdist * rng.uniform(0.8, 1.2, graph.m)
    graph = graphs.from_edges(12, graph.edges, noisy)
    anchors = np.arange(4)
    return blocks.Coordinates(8, 2) + sdpdr.soften(
        blocks.AnchoredLengths(graph, anchors, points[anchors], exact=True), 1.0
    )


PROGRAMS = {
    "trace below one": smallest,
    "unfolding": lambda: methods.mvu(graphs.knn(datasets.swiss_roll(40, seed=0)[0], 5)),
    "diagonal": lambda: (
        blocks.Gram(4)
        + Capped()
        + blocks.Stated("goal", [Maximize(InnerProduct(np.eye(4) + np.ones((4, 4))) @ Var("K"))])
    ),
    "penalized ranges": anchored,
}


@pytest.mark.daily(2)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("solver", ["auto", "lowrank"])
def test_it_is_solved_with_qdldl_alone(name, solver):
    solution = sdpdr.solve(PROGRAMS[name](), solver)
    assert solution.certified(1e-5), solution
