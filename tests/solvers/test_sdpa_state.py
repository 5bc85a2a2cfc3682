"""SDPA spoils later solves and may end its process; the adapter lets it do neither."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.linalg import InnerProduct, Trace
from sdpdr.program import SDP, Claim, Point, PsdVariable, Rows
from sdpdr.program.run import Verdict
from sdpdr.reduce import Composed
from sdpdr.solvers import Outcome, Sdpa, cvxpy_solvers
from sdpdr.solving.candidate import reductions_for

pytestmark = pytest.mark.skipif(
    not Sdpa.availability().usable, reason="sdpa-python is not installed"
)
DENSE = methods.mvu(graphs.cycle(5)).to_sdp()


def swiss():
    return methods.mvu(graphs.knn(datasets.swiss_roll(60, seed=0)[0], n_neighbors=4, connect="mst"))


def reduced(model, form):
    sdp = model.to_sdp()
    return Composed(reductions_for(form, sdp)).apply(sdp).sdp


@pytest.fixture(scope="module")
def blocks():
    """A program with several matrices, and its value."""
    sdp = reduced(swiss(), "chordal")
    return sdp, sdpdr.solve(swiss(), "lowrank", tol=1e-9).value


def reduced_dense():
    return Composed(reductions_for("gram", DENSE)).apply(DENSE).sdp


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["chordal", "chordal-lmi"])
def test_blocks_after_a_dense_program_are_right(blocks, form):
    assert sdpdr.solve(DENSE, "sdpa", "lmi").certified(1e-5)
    solution = sdpdr.solve(swiss(), "sdpa", form)
    assert solution.value == pytest.approx(blocks[1], rel=1e-6)
    assert solution.bound == pytest.approx(blocks[1], rel=1e-6)
    assert solution.claimed.status.startswith("optimal")


def test_it_never_runs_where_it_is_asked(monkeypatch):
    """Not even where isolation is declined: it may end the process that it runs in."""
    asked = []

    def record(task, name, limit, *, show=False):
        asked.append((name, limit))
        return Outcome(Point(), Verdict.FAILED, Claim("not run"))

    monkeypatch.setattr(cvxpy_solvers, "run_isolated", record)
    Sdpa(time_limit=9.0).run(reduced_dense())
    Sdpa().run(reduced_dense())
    (limited, left), free = asked
    # What compiling took is gone.
    assert limited == "sdpa"
    assert 0.0 < left <= 9.0
    assert free == ("sdpa", None)


def test_a_program_on_which_it_ends_its_process_has_an_outcome():
    """The first program of the gallery: exit status 0, without a word."""
    E = {entry: np.zeros((4, 4)) for entry in ((0, 0), (2, 2), (3, 3))}
    for i, j in E:
        E[i, j][i, j] = 1.0
    link = E[2, 2].copy()
    link[0, 1] = link[1, 0] = 1.0
    rows = (
        Rows("corner", "==", {"X": InnerProduct(E[0, 0])}, np.zeros(1)),
        Rows("link", "==", {"X": InnerProduct(link)}, np.ones(1)),
        Rows("unit", "==", {"X": InnerProduct(E[3, 3])}, np.ones(1)),
        Rows("size", "<=", {"X": Trace(4)}, np.array([1e5])),
    )
    sdp = SDP((PsdVariable("X", 4),), {"X": InnerProduct(E[2, 2] + E[3, 3])}, rows)
    for isolate in (None, False, True):
        solution = sdpdr.solve(sdp, "sdpa", "gram", isolate=isolate)
        assert not solution.certified() or solution.value == pytest.approx(2.0)
