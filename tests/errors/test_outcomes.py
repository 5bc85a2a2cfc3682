"""Outcomes of solvers that crash or return anything: each is a status with a message."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, errors, graphs, methods
from sdpdr.program import Claim, Point
from sdpdr.program.run import Verdict
from sdpdr.solvers import Outcome
from sdpdr.solvers.screen import admit, printable

pytestmark = pytest.mark.skipif(os.name != "posix", reason="faulty solvers use signals of POSIX")
ISOLATED = [False, True]


@pytest.fixture
def ring():
    return methods.mvu(graphs.cycle(5))


def run(model, solver, isolate=True, limit=60.0):
    solution = sdpdr.solve(model, solver, "gram", isolate=isolate, time_limit=limit)
    json.dumps(solution.record(), allow_nan=False)
    for words in (solution.claimed.status, solution.claimed.message):
        assert words.isprintable()
    assert solution.solver == solver.name
    return solution


def is_nothing(solution):
    return solution.bound is None and not solution.values and np.isnan(solution.value)


# -- crashes --------------------------------------------------------------------------------------


@pytest.mark.daily(3)
@pytest.mark.parametrize(
    ("how", "status", "words"),
    [
        ("segfault", "crashed", "ended by SIGSEGV"),
        ("abort", "crashed", "ended by SIGABRT"),
        ("kill", "crashed", "may not have fitted in"),
        ("exit", "crashed", "exit status 0"),
        ("status", "crashed", "exit status 3"),
        ("system exit", "crashed", "I am leaving"),
        ("raise", "error", "ArithmeticError: the pivot is zero"),
    ],
)
def test_a_crash_is_told_from_an_error(ring, faulty, how, status, words):
    solution = run(ring, faulty.Crasher(how=how))
    assert solution.status is Status.FAILED
    assert solution.claimed.status == status
    assert words in solution.claimed.message
    assert is_nothing(solution)


def test_errors_of_our_own_come_out_of_isolation(ring):
    for isolate in ISOLATED:
        with pytest.raises(errors.UnknownNameError, match="Did you mean 'max_rank'") as caught:
            sdpdr.solve(
                ring, sdpdr.solvers.LowRank(options={"max_rang": 3}), isolate=isolate, time_limit=60
            )
        assert caught.value.name == "max_rang"


# -- babble ---------------------------------------------------------------------------------------


def test_other_objects_than_outcomes_are_failures_without_isolation(ring, faulty, capfd):
    for returns in ("text", "none", "parts", "unpicklable"):
        solution = run(ring, faulty.Babbler(returns=returns, megabytes=0), isolate=False)
        assert solution.status is Status.FAILED
        assert "instead of an outcome" in solution.claimed.message


def test_nasty_words_are_made_harmless(ring, faulty):
    solution = run(ring, faulty.Babbler(returns="words"))
    assert solution.status is Status.INACCURATE
    assert "<script>" in solution.claimed.message  # pages have to escape what they show


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(Point(), "optimal", Claim("x")), "a str as verdict"),
        (Outcome(Point(), Verdict.SOLVED, Claim(b"x")), "a bytes as the status of its claim"),
        (Outcome(Point(), Verdict.SOLVED, Claim("x", "3")), "a str as the value of its claim"),
        (Outcome(Point(), Verdict.SOLVED, Claim("x", 3.0, 2.5)), "a float as the iterations"),
        (Outcome(Point([1.0]), Verdict.SOLVED, Claim("x")), "a list as the values of its point"),
        (Outcome(Point(), Verdict.SOLVED, Claim("x"), {"solve": "1"}), "seconds that are no num"),
        (Outcome(Point(), Verdict.SOLVED, Claim("x"), {}, None), "nothing as history"),
    ],
)
def test_every_part_of_an_outcome_is_looked_at(outcome, words):
    admitted = admit(outcome, "mine")
    assert admitted.verdict is Verdict.FAILED
    assert f"mine returned {words}" in admitted.claim.message


def test_sound_outcomes_are_admitted_as_they_are():
    numbers = Claim("optimal", np.float64(1.5), 7, "well")
    outcome = Outcome(Point(), Verdict.SOLVED, numbers, {"solve": np.float64(0.1)})
    assert admit(outcome, "mine").claim == numbers
    assert admit(outcome, "mine").verdict is Verdict.SOLVED


def test_long_words_are_cut_off():
    assert len(printable("x" * 10**6)) < 2100
    assert printable("\x00" * 5000) == ""
    assert printable("a\r\n\tb\u202ec\ud800") == "a b c"
