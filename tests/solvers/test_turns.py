"""Who goes on when time is up: laws of turns, with solvers that only tell how they fare."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sdpdr import Status
from sdpdr.base.deadline import Deadline
from sdpdr.program import Claim
from sdpdr.program.residuals import Residuals
from sdpdr.program.run import Run
from sdpdr.program.solution import Solution
from sdpdr.solvers import LowRank
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


def turns_of(script, limit=LIMIT):
    """Seed, seconds and start of every turn; candidate k says what is in script[k], in order."""
    told = []
    ways = [Way((), LowRank(seed=k, time_limit=limit), "factor", "") for k in range(len(script))]
    first = Way(*(getattr(ways[0], part) for part in ("reductions", "solver", "form", "reason")),
                further=lambda: tuple(ways[1:]))  # fmt: skip
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
