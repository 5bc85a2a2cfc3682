"""SDPA keeps something of a solve that spoils a later one; the adapter does not let it."""

from __future__ import annotations

import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.plan import reductions_for
from sdpdr.program import Claim, Point
from sdpdr.reduce import Composed
from sdpdr.solvers import Outcome, Sdpa, Verdict, cvxpy_solvers
from sdpdr.solvers.cvxpy_solvers import CvxpySolver
from sdpdr.solvers.isolate import run_isolated
from sdpdr.solvers.render import render

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


def dense_then_blocks(sdp):
    """Both solves without the care of the adapter; runs in a process of its own."""
    CvxpySolver.run_rendered(Sdpa(), render(reduced_dense()))
    return CvxpySolver.run_rendered(Sdpa(), render(sdp))


def reduced_dense():
    return Composed(reductions_for("gram", DENSE)).apply(DENSE).sdp


def test_the_fault_is_still_there(blocks):
    """If this fails, SDPA has been mended, and the adapter may do without its care."""
    sdp, value = blocks
    outcome = run_isolated(_Task(sdp), "sdpa", 120.0)
    wrong = outcome.verdict is Verdict.FAILED
    assert wrong or abs(outcome.claim.value + value) > 1e-3 * value


class _Task:
    """`dense_then_blocks`, importable from a child process as this module is from pytest's path."""

    def __init__(self, sdp):
        self.sdp = sdp

    def __call__(self):
        return dense_then_blocks(self.sdp)


@pytest.mark.parametrize("form", ["chordal", "chordal-lmi"])
def test_blocks_after_a_dense_program_are_right(blocks, form):
    assert sdpdr.solve(DENSE, "sdpa", "lmi").certified(1e-5)
    solution = sdpdr.solve(swiss(), "sdpa", form)
    assert solution.value == pytest.approx(blocks[1], rel=1e-6)
    assert solution.bound == pytest.approx(blocks[1], rel=1e-6)
    assert solution.claimed.status.startswith("optimal")


@pytest.fixture
def asked(monkeypatch):
    """Names of the solvers that were sent to a child process."""
    names = []

    def record(task, name, limit):
        names.append((name, limit))
        return Outcome(Point(), Verdict.FAILED, Claim("not run"))

    monkeypatch.setattr(cvxpy_solvers, "run_isolated", record)
    return names


def test_one_matrix_stays_in_this_process(asked):
    for _ in range(2):
        assert sdpdr.solve(DENSE, "sdpa", "gram").certified(1e-5)
    assert asked == []


def test_several_matrices_leave_it_from_the_second_solve_on(blocks, asked):
    Sdpa().run(reduced_dense())
    Sdpa(time_limit=9.0).run(blocks[0])
    assert asked == [("sdpa", 9.0)]


def test_the_first_solve_of_a_process_stays(blocks, asked, monkeypatch):
    monkeypatch.setattr(cvxpy_solvers, "_SDPA_REMEMBERS", cvxpy_solvers.Event())
    monkeypatch.setattr(CvxpySolver, "run_rendered", lambda self, rendered, rendering: rendering)
    Sdpa().run_rendered(render(blocks[0]), 3.0)
    assert asked == []
    Sdpa().run_rendered(render(blocks[0]), 3.0)
    assert len(asked) == 1
