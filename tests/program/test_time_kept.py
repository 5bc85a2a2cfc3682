"""A time limit is kept by every stage: laws with a clock that goes on when somebody looks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.base import deadline as clocks
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.linalg import Entries, Trace
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.solvers import LowRank
from sdpdr.solving import attempt as attempts
from sdpdr.solving.grade import attested

OVER = Deadline(0.0)
PATH = methods.mvu(graphs.path([1.0, 2.0, 1.0]))


class Clock:
    """So many seconds a look; none, unless somebody sets it on."""

    def __init__(self, pace):
        self.now, self.pace = 0.0, pace

    def monotonic(self):
        self.now += self.pace
        return self.now


@pytest.fixture
def standing(monkeypatch):
    made = Clock(0.0)
    monkeypatch.setattr(clocks, "monotonic", made.monotonic)
    return made


# -- the deadline itself ------------------------------------------------------------------------


def test_sooner_and_later_are_of_one_clock(standing):
    whole = Deadline(10.0)
    standing.now = 4.0
    share, proofs = whole.sooner(3.0), whole.later(2.0)
    assert (whole.left(), share.left(), proofs.left()) == (6.0, 3.0, 8.0)
    assert whole.sooner(100.0).left() == 6.0
    assert Deadline(10.0, since=whole).left() == 6.0
    standing.now = 11.0
    assert whole.is_over()
    assert not proofs.is_over()
    assert whole.later(2.0).left() == 1.0  # also of one that is over already


def test_without_a_limit_nothing_ends():
    for one in (Deadline(), Deadline(None).later(1.0), Deadline().sooner(np.inf)):
        assert (one.left(), one.ahead, one.is_over()) == (None, np.inf, False)
    assert Deadline().sooner(0.0).is_over()


def test_a_wait_that_is_excused_does_not_count_from_then_on(standing):
    whole = Deadline(5.0)
    before = whole.later(2.0)
    standing.now = 4.0
    whole.excuse(3.0)
    assert (whole.spent, whole.left(), whole.later(2.0).left()) == (1.0, 4.0, 6.0)
    assert (before.spent, before.left()) == (4.0, 3.0)  # what was made of it stays


@pytest.mark.parametrize("seconds", ["5", -1.0, True, np.nan])
def test_what_is_no_number_of_seconds_is_refused(seconds):
    with pytest.raises(DataError, match="time_limit="):
        Deadline(seconds)


# -- every stage --------------------------------------------------------------------------------


def test_nobody_who_runs_apart_is_asked_when_the_time_is_up(monkeypatch):
    """As if the reductions had taken all of it, and that of proofs."""
    ran = []
    monkeypatch.setattr(attempts, "run_solver", lambda *given: ran.append(given))
    chosen = sdpdr.plan(PATH, "clarabel", "gram", time_limit=0.0)
    request = attempts.Request(PATH, isolate=True, deadline=OVER)
    found = attempts.attempt(chosen.first, chosen.sdp, request)
    assert not ran
    assert found.status is Status.TIME_LIMIT
    assert found.bound is None
    assert not found.values
    assert "nothing was left" in found.claimed.message


def contradiction():
    """Diagonal entries of one, and one of five beside them."""
    rows = Rows("entries", "==", {"X": Entries(2, [[0, 0], [0, 1], [1, 1]])}, [1.0, 5.0, 1.0])
    return SDP((PsdVariable("X", 2),), {}, (replace(rows, rhs=np.array(rows.rhs)),))


def test_a_point_that_needs_no_step_is_attested_even_when_the_time_is_up():
    rows = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.ones(1))
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,))
    solved = sdpdr.solve(sdp)
    bare = replace(solved, attained=None, status=Status.OPTIMAL_NEARBY)
    late = attested(sdp, bare, OVER)
    assert late.attained == pytest.approx(1.0, abs=1e-5)
    assert late.values is bare.values
    assert late.bound == bare.bound
    assert attested(sdp, bare, Deadline(1e9)).attained == pytest.approx(1.0, abs=1e-5)


def test_a_limit_of_years_is_no_failure():
    assert sdpdr.solve(PATH, "clarabel", "gram", time_limit=1e9).status is Status.SOLVED


# -- all of a solve -----------------------------------------------------------------------------

OPTIMA = {
    "a path unfolds to a line": (PATH, 10.0),
    "limits from both sides": (methods.mvu(graphs.path([1.0, 2.0, 1.0]), "equality"), 10.0),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPTIMA)
@pytest.mark.parametrize("limit", [0.0, 10.0, 200.0, 1e7])
@pytest.mark.parametrize("solver", ["lowrank", "dense"])
def test_whenever_the_time_is_up_nothing_false_is_said(monkeypatch, name, limit, solver):
    model, optimum = OPTIMA[name]
    clock = Clock(1.0)
    monkeypatch.setattr(clocks, "monotonic", clock.monotonic)
    found = sdpdr.solve(model, solver, time_limit=limit)
    assert found.status not in (Status.INFEASIBLE, Status.UNBOUNDED)
    if found.bound is not None:
        assert found.bound >= optimum * (1.0 - 1e-9)
    if found.attained is not None:
        assert found.attained <= optimum * (1.0 + 1e-9)
    if limit == 1e7:
        assert found.status is Status.SOLVED


@pytest.mark.parametrize("limit", [0.0, 100.0, 1e7])
def test_whenever_the_time_is_up_what_has_no_point_is_not_solved(monkeypatch, limit):
    clock = Clock(1.0)
    monkeypatch.setattr(clocks, "monotonic", clock.monotonic)
    found = sdpdr.solve(contradiction(), "dense", "gram", time_limit=limit)
    assert found.status is not Status.SOLVED
    assert found.attained is None


def test_a_point_with_nothing_right_is_no_answer_of_a_solver_that_was_stopped():
    """A first point that breaks every row has any value, and one that is better than all."""
    cloud = graphs.knn(np.random.default_rng(0).standard_normal((20, 3)), n_neighbors=4)
    solver = LowRank(options={"engine": "general"}, time_limit=0.0)
    found = sdpdr.solve(methods.mvu(cloud, "equality"), solver)
    assert found.status is Status.TIME_LIMIT
    assert not found.values
    assert np.isnan(found.value)
    assert "misses the program" in found.attained_by
