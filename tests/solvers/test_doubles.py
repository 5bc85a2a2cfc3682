"""The doubles of the study's runner, each alone: whatever they do is a status with words."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, errors, graphs, methods
from sdpdr.program import Claim, Point
from sdpdr.program.run import Verdict
from sdpdr.solvers import Outcome
from sdpdr.solvers.processes.isolate import run_isolated
from sdpdr.solvers.screen import admit, printable

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the doubles use signals of POSIX")
OPTIMUM = 5 / (4 * np.sin(np.pi / 5) ** 2)  # a ring of five unit edges unfolds to a pentagon
ISOLATED = [False, True]


@pytest.fixture
def doubles(monkeypatch):
    """The doubles as a plain module, which a child process finds as well."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "study")
    yield importlib.import_module("doubles")
    sys.modules.pop("doubles")


@pytest.fixture
def ring():
    return methods.mvu(graphs.cycle(5))


def run(model, double, isolate=True, limit=3.0):
    solution = sdpdr.solve(model, double, "gram", isolate=isolate, time_limit=limit)
    json.dumps(solution.record(), allow_nan=False)
    for words in (solution.claimed.status, solution.claimed.message):
        assert words.isprintable()
    assert solution.solver == double.name
    return solution


def is_nothing(solution):
    return solution.bound is None and not solution.values and np.isnan(solution.value)


# -- liars ----------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("lie", "status"),
    [
        ("zero", Status.INACCURATE),
        ("shape", Status.FAILED),
        ("nan", Status.FAILED),
        ("nothing", Status.FAILED),
        ("infeasible", Status.FAILED),
    ],
)
def test_a_lie_is_found_out(doubles, ring, lie, status):
    solution = run(ring, doubles.Liar(lie=lie), isolate=False)
    assert solution.status is status
    assert solution.claimed.status == ("infeasible" if lie == "infeasible" else "optimal")
    assert not solution.certified()
    if status is Status.FAILED:
        assert is_nothing(solution)
        assert solution.claimed.message


@pytest.mark.nightly
@pytest.mark.parametrize("lie", ["short", "scaled"])
def test_what_falls_short_of_the_optimum_is_moved_to_it(doubles, ring, lie):
    """Steps lead there where a program is small; what is returned is proved, not believed."""
    solution = run(ring, doubles.Liar(lie=lie), isolate=False)
    assert solution.status is Status.SOLVED
    assert solution.attained == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.bound == pytest.approx(OPTIMUM, rel=1e-6)


def test_a_right_point_with_a_boast_is_right_and_the_boast_is_kept(doubles, ring):
    solution = run(ring, doubles.Liar(lie="value"))
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.claimed.value > 1e8


# -- crashes --------------------------------------------------------------------------------------


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
def test_a_crash_is_told_from_an_error(doubles, ring, how, status, words):
    solution = run(ring, doubles.Crasher(how=how))
    assert solution.status is Status.FAILED
    assert solution.claimed.status == status
    assert words in solution.claimed.message
    assert is_nothing(solution)


def test_an_error_has_the_same_words_in_isolation(doubles, ring):
    inside, outside = (run(ring, doubles.Crasher(how="raise"), isolate) for isolate in ISOLATED)
    assert inside.claimed == outside.claimed
    assert inside.status is outside.status is Status.FAILED


def test_errors_of_our_own_come_out_of_isolation(ring):
    for isolate in ISOLATED:
        with pytest.raises(errors.UnknownNameError, match="Did you mean 'max_rank'") as caught:
            sdpdr.solve(
                ring, sdpdr.solvers.LowRank(options={"max_rang": 3}), isolate=isolate, time_limit=60
            )
        assert caught.value.name == "max_rang"


# -- hanging --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("where", "obeys"), [("python", True), ("c", False)])
def test_who_hangs_is_ended(doubles, ring, where, obeys, monkeypatch):
    """A promise to obey a time limit is not believed."""
    monkeypatch.setattr(doubles.Hanger, "obeys_time_limit", obeys)
    solution = run(ring, doubles.Hanger(where=where), limit=0.5)
    assert solution.status is Status.TIME_LIMIT
    assert solution.claimed.status == "killed"
    assert "s; it had no point to offer" in solution.claimed.message
    assert is_nothing(solution)


def test_a_glutton_that_is_left_alone_has_no_answer(doubles, ring):
    """Limits of memory are the runner's; alone, it stops for the sake of the machine."""
    small = doubles.Glutton(step=doubles.MB, most=3 * doubles.MB)
    solution = run(ring, small, isolate=False)
    assert solution.status is Status.FAILED
    assert solution.claimed.message == "3 MB, and nobody minded"


# -- babble ---------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("returns", "words"),
    [
        ("text", "babbler returned a str instead of an outcome."),
        ("none", "babbler returned nothing instead of an outcome."),
        ("parts", "babbler returned a str as point instead of an outcome."),
        ("unpicklable", "TypeError: this cannot travel"),
    ],
)
def test_what_is_no_outcome_is_a_failure(doubles, ring, returns, words):
    solution = run(ring, doubles.Babbler(returns=returns))
    assert solution.status is Status.FAILED
    assert solution.claimed.status == "error"
    assert solution.claimed.message == words
    assert is_nothing(solution)


def test_what_is_no_outcome_is_a_failure_here_too(doubles, ring, capfd):
    for returns in ("text", "none", "parts", "unpicklable"):
        solution = run(ring, doubles.Babbler(returns=returns, megabytes=0), isolate=False)
        assert solution.status is Status.FAILED
        assert "instead of an outcome" in solution.claimed.message


def test_nasty_words_are_made_harmless(doubles, ring):
    solution = run(ring, doubles.Babbler(returns="words"))
    assert solution.status is Status.INACCURATE
    assert "<script>" in solution.claimed.message  # pages have to escape what they show


def test_what_an_isolated_solver_prints_is_not_shown(doubles, ring, capfd):
    run(ring, doubles.Babbler())
    assert capfd.readouterr() == ("", "")


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


def test_arrays_of_objects_are_not_computed_with(ring):
    values = {"K": np.full((4, 4), "x", dtype=object)}
    outcome = sdpdr.solvers.screen.screen(
        sdpdr.plan(ring, "clarabel", "gram").reductions[-1].apply(_reduced(ring)).sdp,
        Outcome(Point(values), Verdict.SOLVED, Claim("optimal")),
    )
    assert outcome.verdict is Verdict.FAILED
    assert "not real numbers" in outcome.claim.message


def _reduced(model):
    sdp = model.to_sdp()
    for step in sdpdr.plan(model, "clarabel", "gram").reductions[:-1]:
        sdp = step.apply(sdp).sdp
    return sdp


# -- programs -------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "status", "claim", "words"),
    [
        ("LyingProgram", Status.INACCURATE, "solved", ""),
        ("SilentProgram", Status.FAILED, "solved", "can be read (No such file or directory)"),
        ("AbortingProgram", Status.FAILED, "crashed", "ended by SIGABRT"),
        ("GarbageProgram", Status.FAILED, "solved", "can be read (the scalars x: expected 5"),
        ("HangingProgram", Status.TIME_LIMIT, "killed", "was stopped after "),
    ],
)
def test_programs_that_misbehave(doubles, ring, name, status, claim, words):
    # Only who hangs waits until the end.
    limit = 0.5 if name == "HangingProgram" else 60.0
    solution = run(ring, getattr(doubles, name)(), isolate=False, limit=limit)
    assert solution.status is status
    assert solution.claimed.status == claim
    assert words in solution.claimed.message
    assert not solution.certified()
    if status is not Status.INACCURATE:
        assert is_nothing(solution)


def test_doubles_have_names_of_their_own(doubles):
    assert len(doubles.DOUBLES) == len(doubles.FIVE) + len(doubles.FIVE_PROGRAMS) == 10
    assert not set(doubles.DOUBLES) & set(sdpdr.solvers.registry.SOLVERS)
    assert all(cls.availability().usable for cls in doubles.DOUBLES.values())


def end_at_once() -> Outcome:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_the_claim_of_a_killed_child_does_not_change_from_run_to_run():
    outcomes = [run_isolated(end_at_once, "mine", 60.0) for _ in range(2)]
    assert outcomes[0].claim == outcomes[1].claim
