"""A sequence of solvers under one deadline: whoever fails, the best of all sides is the answer."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.base.deadline import Deadline
from sdpdr.errors import DataError, NotAcceptedError
from sdpdr.program import Claim, Point
from sdpdr.program.residuals import Residuals
from sdpdr.program.run import Run, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers import LowRank, Outcome
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solvers.running import run_solver
from sdpdr.solving.candidate import Candidate
from sdpdr.solving.join import join
from sdpdr.solving.options import Request
from sdpdr.solving.portfolio import take_turns
from sdpdr.solving.proofs import budget

pytestmark = pytest.mark.integration

LENGTHS = [1.0, 2.0]
OPTIMUM = 14.0 / 3.0
posix = pytest.mark.skipif(os.name != "posix", reason="the doubles use signals of POSIX")


@pytest.fixture
def model():
    return methods.mvu(graphs.path(LENGTHS))


@pytest.fixture
def only(monkeypatch):
    """Make "auto" choose among doubles, in the order given."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    doubles = importlib.import_module("portfolio_doubles").BY_NAME
    kept = dict(SOLVERS)

    def install(*names):
        SOLVERS.clear()
        SOLVERS.update({name: doubles[name] for name in names})

    yield install
    SOLVERS.clear()
    SOLVERS.update(kept)  # in their order, which tables of solvers show
    sys.modules.pop("portfolio_doubles")


def order_of(solution):
    return [run.solver for run in solution.runs]


# -- the sequence -------------------------------------------------------------------------------


def test_turns_follow_the_plan(only, model):
    only("failing", "boaster", "finder")
    planned = [one.solver.name for one in sdpdr.plan(model).sequence]
    assert planned == ["failing", "boaster", "finder"]
    assert order_of(sdpdr.solve(model)) == planned


def test_a_solver_asked_for_by_name_is_alone(only, model):
    only("failing", "honest")
    solution = sdpdr.solve(model, "failing")
    assert solution.status is Status.FAILED
    assert order_of(solution) == ["failing"]
    assert len(sdpdr.plan(model, "failing").sequence) == 1


@pytest.mark.nightly
@pytest.mark.parametrize("bad", ["failing", "raising", "boaster", "finder", "prover"])
def test_whoever_falls_short_gives_way(only, model, bad):
    only(bad, "honest")
    solution = sdpdr.solve(model)
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(OPTIMUM, rel=1e-6)
    assert sorted(order_of(solution)) == sorted([bad, "honest"])


@posix
@pytest.mark.parametrize(
    ("bad", "limit"),
    [("crashing", 120.0), pytest.param("hanging", 30.0, marks=pytest.mark.nightly)],
)
def test_whoever_hangs_or_crashes_under_a_deadline_gives_way(only, model, bad, limit):
    only(bad, "honest")
    solution = sdpdr.solve(model, time_limit=limit)
    assert solution.status is Status.SOLVED
    assert order_of(solution) == [bad, "honest"]


@posix
def test_the_deadline_is_one_for_all(only, model):
    only("hanging", "failing")
    solution = sdpdr.solve(model, time_limit=0.5)
    assert solution.status is Status.TIME_LIMIT or order_of(solution)[-1] == "hanging"


def test_an_error_comes_out_only_if_there_is_nothing_else(only, model):
    only("raising")
    with pytest.raises(NotAcceptedError, match="not this program"):
        sdpdr.solve(model)
    only("raising", "failing")
    solution = sdpdr.solve(model)
    assert solution.status is Status.FAILED
    words = {run.solver: run.words for run in solution.runs}
    assert "not this program" in words["raising"]


def test_an_interrupt_keeps_what_was_found(only, model):
    only("finder", "interrupted", "honest")
    solution = sdpdr.solve(model)
    assert solution.status is Status.INTERRUPTED
    assert solution.value == pytest.approx(OPTIMUM, rel=1e-5)
    only("interrupted", "honest")
    with pytest.raises(KeyboardInterrupt):
        sdpdr.solve(model)


def test_the_explanation_shows_the_turns_and_their_shares(model):
    chosen = sdpdr.plan(model, time_limit=30.0)
    text = chosen.explain()
    assert "in turn" in text
    for one, share in zip(chosen.sequence, chosen.shares, strict=True):
        assert one.solver.name in text
        assert 0.0 < share <= 30.0
    # A sixth is left to the proofs of what is found last.
    assert sum(chosen.shares) == pytest.approx(25.0)


# -- joining ------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_the_point_of_one_and_the_bound_of_another_are_an_answer(only, model):
    for names in itertools.permutations(("finder", "prover")):
        only(*names)
        solution = sdpdr.solve(model)
        assert solution.status is Status.SOLVED
        assert solution.certified()
        assert solution.value == pytest.approx(OPTIMUM, rel=1e-6)
        assert solution.solver == "finder"
        assert "multipliers of prover" in solution.argument
        assert solution.residuals.worst() < 1e-5


def made(name, value=None, bound=None, attained=None, status=Status.INACCURATE, maximize=False):
    """An answer with a point if it has a value."""
    error = 0.0 if attained is not None else 1e-3
    return Solution(
        status=status,
        value=float("nan") if value is None else value,
        bound=bound,
        argument="",
        values={} if value is None else {"X": np.array([[value]])},
        duals={} if bound is None else {"row": np.array([bound])},
        measured=SimpleNamespace(residuals=Residuals(error, error, 0.0, 0.0, 0.0, 0.0)),
        claimed=Claim("made"),
        timings={},
        solver=name,
        form="gram",
        tol=1e-6,
        maximize=maximize,
        attained=attained,
        runs=(Run(name, "gram", status.name, value, bound, attained, 1.0),),
    )


def some(seed, maximize):
    """Answers to one program with optimum 1, some of which lack a side."""
    random = np.random.default_rng(seed)
    sense = -1.0 if maximize else 1.0
    found = []
    for k in range(4):
        above, below = 1.0 + sense * random.uniform(0, 1), 1.0 - sense * random.uniform(0, 1)
        has_point, has_bound = random.random(2) < 0.7
        value = above if has_point else None
        found.append(made(f"s{k}", value, below if has_bound else None, value, maximize=maximize))
    return found


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_join_has_the_best_of_both_sides_in_any_order(seed, maximize):
    found = some(seed, maximize)
    best, worst = (max, min) if maximize else (min, max)
    joined = join(found)
    points = [one.attained for one in found if one.attained is not None]
    bounds = [one.bound for one in found if one.bound is not None]
    assert joined.attained == best(points, default=None)
    assert joined.bound == worst(bounds, default=None)
    assert all(abs(joined.gap) <= abs(one.gap) for one in found)
    for other in itertools.permutations(found):
        again = join(other)
        assert (again.attained, again.bound, again.solver, again.status) == (
            joined.attained,
            joined.bound,
            joined.solver,
            joined.status,
        )
        assert [run.solver for run in again.runs] == [one.solver for one in other]


@pytest.mark.parametrize("maximize", [False, True])
def test_of_answers_to_data_nearby_the_nearest_to_the_best_bound_is_kept(maximize):
    """One agrees with its own bound to nine digits, and a better bound refutes its value."""
    sense = -1.0 if maximize else 1.0
    nearby = Status.OPTIMAL_NEARBY
    good = made("good", 1.0 + sense * 1e-7, 1.0 - sense * 6e-7, None, nearby, maximize)
    beyond = made("beyond", 1.0 - sense * 5e-6, 1.0 - sense * 5.001e-6, None, nearby, maximize)
    for found in itertools.permutations([good, beyond]):
        joined = join(found)
        assert (joined.solver, joined.value, joined.bound) == ("good", good.value, good.bound)


def test_a_proof_is_not_spoilt_by_a_point_beyond_it():
    proved = made("sound", 1.0, 1.0, status=Status.SOLVED)
    beyond = made("infeasible", 0.5, 0.4)
    for found in ([proved, beyond], [beyond, proved]):
        joined = join(found)
        assert joined.status is Status.SOLVED
        assert joined.value == 1.0


def test_a_claim_loses_against_what_is_proved():
    point = made("finder", 1.0, None, attained=1.0)
    bound = made("prover", None, 0.5)
    infeasible = made("liar", status=Status.INFEASIBLE)
    unbounded = made("liar", status=Status.UNBOUNDED)
    assert join([infeasible, point]).status is not Status.INFEASIBLE
    assert join([unbounded, bound]).status is not Status.UNBOUNDED
    assert join([infeasible, bound]).status is Status.INFEASIBLE
    assert join([unbounded, point]).status is Status.UNBOUNDED


def test_nothing_has_failed_where_both_sides_are_there():
    joined = join([made("a", 2.0, attained=2.0, status=Status.FAILED), made("b", None, 1.0)])
    assert joined.status is Status.INACCURATE
    assert (joined.attained, joined.bound) == (2.0, 1.0)


# -- laws of turns, with candidates that say what they are told to -------------------------------


def turns_of(script, limit=None, sdp=None, last=None):
    """Which candidate ran, for how long and from which start; candidate k says script[k]."""
    told, last = [], [] if last is None else last
    left = [list(answers) for answers in script]

    def attempt(one, sdp, request, words):
        told.append((one.solver.seed, one.solver.time_limit, request.start))
        last.append(request.is_last)
        answer = left[one.solver.seed].pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    solvers = (LowRank(seed=k) for k in range(len(script)))
    candidates = (Candidate((), solver, "factor", "") for solver in solvers)
    return take_turns(candidates, sdp, Request(TINY, deadline=Deadline(limit)), attempt), told


def near(status, gap, *, point=True):
    """An answer that is so far from its bound."""
    value = 1.0 if point else None
    return made("lowrank", value, 1.0 - gap if point else None, value, status)


SOLVED, SHORT = near(Status.SOLVED, 0.0), near(Status.INACCURATE, 1e-3)
STOPPED, LOST = near(Status.TIME_LIMIT, 1e-2), near(Status.TIME_LIMIT, 0.0, point=False)
TINY = sdpdr.SDP((), {}, ())


@pytest.mark.parametrize("first", [SHORT, STOPPED, LOST, NotAcceptedError("not this one")])
def test_the_next_candidate_runs_only_where_the_one_before_fell_short(first):
    found, told = turns_of([[first], [SOLVED], [SOLVED]], sdp=TINY)
    assert found.status is Status.SOLVED
    assert [who for who, _, _ in told] == [0, 1]
    assert [who for who, _, _ in turns_of([[SOLVED], [SOLVED]], sdp=TINY)[1]] == [0]


def test_the_nearest_that_was_stopped_goes_on_from_its_point_at_the_end():
    found, told = turns_of([[LOST], [STOPPED, SOLVED], [SHORT]], sdp=TINY)
    assert found.status is Status.SOLVED
    assert [(who, start) for who, _, start in told] == [
        (0, None), (1, None), (2, None), (1, STOPPED)
    ]  # fmt: skip


def test_two_that_are_optimal_nearby_spare_the_others():
    nearby = replace(near(Status.OPTIMAL_NEARBY, 0.0), attained=None, bound=None)
    found, told = turns_of([[nearby], [nearby], [SOLVED]], sdp=TINY)
    assert found.status is Status.OPTIMAL_NEARBY
    assert len(told) == 2


def test_each_gets_half_of_the_time_that_is_left_and_the_last_all_but_that_of_proofs():
    last = []
    _, told = turns_of([[SHORT], [SHORT], [SHORT]], 960.0, TINY, last)
    assert last == [False, False, True]
    assert [limit for _, limit, _ in told] == pytest.approx([400.0, 400.0, 800.0], rel=1e-2)


def test_a_limit_of_the_caller_is_told_and_that_of_a_turn_is_not():
    assert turns_of([[STOPPED, STOPPED]], sdp=TINY)[0].status is Status.INACCURATE
    assert turns_of([[LOST, LOST]], sdp=TINY)[0].status is Status.FAILED
    assert turns_of([[STOPPED]], 0.0, TINY)[0].status is Status.TIME_LIMIT


# -- arguments without effect -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"form": "lmi", "landmarks": 20}, "landmarks=20 has no effect with form='lmi'"),
        ({"form": "landmark", "landmarks": 2, "max_iter": 5}, "max_iter"),
    ],
)
def test_arguments_without_effect_are_refused(model, options, words):
    with pytest.raises(DataError, match=words):
        sdpdr.solve(model, **options)


@pytest.mark.parametrize("part", ["values", "duals"])
def test_a_start_that_is_not_finite_is_refused_by_name(model, part):
    known = sdpdr.solve(model, "lowrank")
    point = Point(dict(known.values), dict(known.duals))
    name = next(iter(getattr(point, part)))
    spoilt = replace(point, **{part: {name: np.full(np.shape(getattr(point, part)[name]), np.nan)}})
    with pytest.raises(DataError, match=f"the start's '{name}' is not finite"):
        sdpdr.solve(model, "lowrank", start=spoilt)


def test_a_start_is_refused_where_nobody_can_begin_from_it(model):
    first = sdpdr.solve(model)
    with pytest.raises(NotAcceptedError, match="cannot begin"):
        sdpdr.solve(model, "clarabel", start=first)
    assert sdpdr.solve(model, start=first).status is Status.SOLVED


@pytest.mark.parametrize(("is_last", "expected"), [(True, 500.0), (False, 5.0)])
def test_proofs_do_not_take_the_time_of_candidates_that_wait(is_last, expected, monkeypatch):
    monkeypatch.setattr("sdpdr.solving.proofs.AT_LEAST", 2.0)
    request = Request(TINY, is_last=is_last, deadline=Deadline(500.0))
    assert budget(1.0, request) == pytest.approx(expected, abs=1.0)


def test_what_a_solver_waits_for_adds_nothing_to_the_budget_of_proofs():
    def waits():
        time.sleep(0.5)
        return Outcome(Point(), Verdict.SOLVED, Claim("optimal"))

    outcome = run_solver(LowRank(), waits, None)
    assert outcome.seconds["solve"] >= 0.5
    assert outcome.cpu < 0.25


def test_the_work_of_a_solver_counts_where_a_worker_does_it(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    works = importlib.import_module("portfolio_doubles").works
    assert run_solver(LowRank(), works, isolate=True).cpu >= 0.2
