"""Who goes on when time is up: laws of turns, with solvers that only tell how they fare."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sdpdr import Status
from sdpdr.base import deadline as clocks
from sdpdr.base.deadline import Deadline
from sdpdr.linalg import Entries, Trace
from sdpdr.program import SDP, Claim, PsdVariable, Rows
from sdpdr.program.residuals import Residuals
from sdpdr.program.run import Run
from sdpdr.program.solution import Solution
from sdpdr.solvers import LowRank
from sdpdr.solving import turns
from sdpdr.solving.costs.prediction import Cost
from sdpdr.solving.turns import take_turns
from sdpdr.solving.way import Way

LIMIT = 1000.0


def run_of(*errors):
    """A history of one record a second."""
    return tuple(
        {"seconds": float(t), "infeasibility": error, "stationarity": error / 2.0}
        for t, error in enumerate(errors)
    )


FALLING, FLAT = run_of(*0.1 ** np.arange(9.0)), run_of(*[0.1] * 9)


def answer(status, history=(), gap=1e-2, *, point=True):
    """A point that keeps all rows, and a bound so far away; or nothing."""
    return Solution(
        status=status,
        value=1.0 if point else float("nan"),
        bound=1.0 + gap if point else None,
        argument="",
        values={"X": np.eye(1)} if point else {},
        duals={"row": np.ones(1)} if point else {},
        measured=SimpleNamespace(residuals=Residuals(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
        claimed=Claim("made"),
        timings={},
        solver="lowrank",
        form="factor",
        tol=1e-6,
        maximize=True,
        attained=1.0 if point else None,
        history=history,
        runs=(Run("lowrank", "factor", status.name, None, None, None, 1.0),),
    )


SOLVED = answer(Status.SOLVED, gap=0.0)
CONVERGING, STALLED = (answer(Status.TIME_LIMIT, run) for run in (FALLING, FLAT))


def turns_of(script, predicted=(1.0, 1.0), limit=LIMIT):
    """Seed, seconds and start of every turn; candidate k says what is in script[k], in order."""
    told = []
    ways = [
        Way((), LowRank(seed=k, time_limit=limit), "factor", "", cost=Cost(seconds, 0.0, 1.0))
        for k, seconds in enumerate(predicted)
    ]
    first = Way(*(getattr(ways[0], part) for part in ("reductions", "solver", "form", "reason")),
                cost=ways[0].cost, further=lambda deadline: tuple(ways[1:]))  # fmt: skip
    left = [list(answers) for answers in script]

    def attempt(way, words, deadline, start):
        told.append((way.solver.seed, way.solver.time_limit, start))
        return left[way.solver.seed].pop(0)

    found = take_turns(first, attempt, Deadline(limit))
    return found, told


def test_who_converges_keeps_the_turn_and_goes_on_from_its_point():
    found, told = turns_of([[CONVERGING, CONVERGING, SOLVED], []])
    assert found.status is Status.SOLVED
    assert [who for who, _, _ in told] == [0, 0, 0]
    assert [start for _, _, start in told] == [None, CONVERGING, CONVERGING]


@pytest.mark.parametrize("limit", [LIMIT, None])
def test_who_has_stalled_gives_way(limit):
    found, told = turns_of([[STALLED], [SOLVED]], limit=limit)
    assert found.status is Status.SOLVED
    assert [who for who, _, _ in told] == [0, 1]


def test_who_converges_without_a_point_to_begin_from_gives_way():
    lost = answer(Status.TIME_LIMIT, FALLING, point=False)
    _, told = turns_of([[lost], [SOLVED]])
    assert [who for who, _, _ in told] == [0, 1]


def test_a_later_candidate_that_converges_keeps_its_turn_as_well():
    _, told = turns_of([[STALLED], [CONVERGING, SOLVED]])
    assert [who for who, _, _ in told] == [0, 1, 1]


class Clock:
    """A clock that stands still unless somebody works."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The clock of turns, on a machine where workers are there at once."""
    made = Clock()
    monkeypatch.setattr(clocks, "monotonic", made.monotonic)
    monkeypatch.setattr(turns, "until_there_is_a_worker", lambda solver: 0.0)
    return made


def small_program():
    """The least trace with X_11 = 1, whose optimum is 1, and a point of it without any proof."""
    rows = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.ones(1))
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,))
    point = {"X": np.diag([1.0, 0.01])}
    found = replace(
        answer(Status.TIME_LIMIT),
        value=1.01,
        bound=None,
        attained=None,
        values=point,
        duals={"corner": -np.ones(1)},
        maximize=False,
    )
    return sdp, found


@pytest.mark.parametrize(
    ("found", "ended"),
    [
        (Status.OPTIMAL_NEARBY, Status.OPTIMAL_NEARBY),
        (Status.INACCURATE, Status.TIME_LIMIT),
        (Status.TIME_LIMIT, Status.TIME_LIMIT),
    ],
)
def test_what_is_proved_of_an_answer_is_said_also_where_time_ran_out(clock, found, ended):
    first = Way((), LowRank(time_limit=1.0), "factor", "")

    def attempt(way, words, deadline, start):
        clock.now += deadline.left()
        return answer(found)

    assert take_turns(first, attempt, Deadline(1.0)).status is ended


@pytest.mark.parametrize("late", [False, True])
def test_what_proofs_left_to_others_is_proved_in_the_end(clock, late):
    sdp, found = small_program()
    first = Way((), LowRank(time_limit=1.0), "factor", "", sdp=sdp, further=lambda deadline: ())

    def attempt(way, words, deadline, start):
        if late and start is None:
            clock.now += deadline.left()
        return found

    joined = take_turns(first, attempt, Deadline(1.0))
    assert (joined.bound is not None) == late
    assert (joined.status is Status.SOLVED) == late
    if late:
        assert joined.bound <= 1.0 <= joined.attained
