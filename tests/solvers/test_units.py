"""No engine knows the unit of the data: scaled by powers of two, everything scales with it."""

from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.linalg import Diagonal, InnerProduct, Trace
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.solvers import LowRank

from ..proofs import certify

ROLL = methods.mvu(graphs.knn(datasets.swiss_roll(40, 0)[0], n_neighbors=5)).to_sdp()


def max_cut():
    rng = np.random.default_rng(3)
    adjacency = np.triu(rng.random((30, 30)) < 0.2, 1).astype(float)
    adjacency += adjacency.T
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
    rows = (Rows("diagonal", "==", {"X": Diagonal(30)}, np.ones(30)),)
    return SDP((PsdVariable("X", 30),), {"X": InnerProduct(-laplacian)}, rows, maximize=True)


def in_units(sdp, k, c):
    """The program in X' = 2^k X, with costs times 2^c: its value is 2^(k + c) times as large."""
    rows = tuple(replace(r, rhs=np.exp2(k) * r.rhs) for r in sdp.rows)
    costs = {name: np.exp2(c) * cost for name, cost in sdp.objective.items()}
    return replace(sdp, rows=rows, objective=costs)


@pytest.mark.nightly
@pytest.mark.parametrize(("k", "c"), [(-90, 0), (0, 30), (30, 30)])
@pytest.mark.parametrize("sdp", [ROLL, max_cut()], ids=["interior point", "augmented Lagrangian"])
def test_both_low_rank_engines_find_the_same_in_any_unit(sdp, k, c):
    here, there = (sdpdr.solve(in_units(sdp, *by), "lowrank") for by in ((0, 0), (k, c)))
    unit = np.exp2(k + c)
    assert there.value / unit == pytest.approx(here.value, rel=1e-12)
    assert there.bound / unit == pytest.approx(here.bound, rel=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sdp", "form", "k", "c"),
    [(ROLL, "lmi", -30, 30), (max_cut(), "gram", -60, 0), (max_cut(), "lmi", 30, 30)],
)
def test_other_solvers_are_as_good_in_any_unit(sdp, form, k, c):
    here = sdpdr.solve(sdp, "clarabel", form)
    there = sdpdr.solve(in_units(sdp, k, c), "clarabel", form)
    unit = np.exp2(k + c)
    assert there.value / unit == pytest.approx(here.value, rel=1e-6)
    assert abs(there.bound - there.value) <= 1e-6 * abs(there.value)


@pytest.mark.parametrize("k", [-60, -30, 0, 30])
def test_multipliers_are_moved_by_as_little_as_they_need_in_any_unit(k):
    unit = np.exp2(k)
    cost = np.array([[2.0, 1.0], [1.0, -1.0]])
    rows = (Rows("trace", "==", {"X": Trace(2)}, np.ones(1)),)
    sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(unit * cost)}, rows)
    bound = certify(sdp, {"trace": np.array([0.0])}).bound
    assert bound / unit == pytest.approx(np.linalg.eigvalsh(cost)[0], rel=1e-9)


SPREAD = {
    "two": np.array([1e-90, 1e90]),
    "three": np.array([1e-90, 1.0, 1e90]),
    "many": 10.0 ** np.random.default_rng(0).permutation(np.linspace(-90.0, 90.0, 13)),
    "tiny": 1e-60 * np.arange(1.0, 7.0),
    "huge": 1e60 * np.arange(1.0, 7.0),
}


@pytest.mark.nightly
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("engine", ["auto", "edges", "general", "interior"])
@pytest.mark.parametrize("name", SPREAD)
def test_lengths_that_have_no_unit_in_common_overflow_nowhere(name, engine):
    """What is found may be of little use, and says so: a path unfolds to a straight line."""
    squares = SPREAD[name]
    line = np.concatenate([[0.0], np.cumsum(np.sqrt(squares))])
    optimum = float(np.sum(np.square(line - line.mean())))
    model = methods.mvu(graphs.path(np.sqrt(squares)))
    solution = sdpdr.solve(model, LowRank(options={"engine": engine}, max_iter=300))
    assert solution.claimed.status != "error"
    assert solution.value <= optimum * (1.0 + 1e-9)
    assert solution.bound is None or solution.bound >= optimum * (1.0 - 1e-9)
    if np.ptp(np.log10(squares)) < 1.0 and engine in ("auto", "edges"):
        assert solution.certified(1e-6)
