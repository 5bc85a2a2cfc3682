"""Whatever a solver does, `solve` returns our grade of it and the caller lives on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.errors import NotAcceptedError, SolveFailedError
from sdpdr.model import from_cvxpy
from sdpdr.solvers import Clarabel, Outcome, Solver

pytestmark = pytest.mark.integration

OPTIMUM = 5 / (4 * np.sin(np.pi / 5) ** 2)  # a ring of five unit edges unfolds to a pentagon


@pytest.fixture
def model():
    return methods.mvu(graphs.cycle(5))


@pytest.fixture
def exact():
    """The same ring with exact lengths, which no shrinking can repair."""
    return methods.mvu(graphs.cycle(5), isometry="equality")


@pytest.fixture
def rigid():
    """Exact lengths of all pairs, which one matrix keeps to rounding, and none exactly."""
    points = np.random.default_rng(0).standard_normal((6, 2))
    return methods.mvu(graphs.complete(points), isometry="equality")


def assert_can_be_told(solution):
    """A solution of any grade prints, goes to JSON, and raises on request."""
    assert solution.status.name in repr(solution)
    record = json.loads(json.dumps(solution.record(), allow_nan=False))
    assert record["status"] == solution.status.name
    if solution.status is not Status.SOLVED:
        with pytest.raises(SolveFailedError, match=solution.status.name):
            solution.raise_for_status()


# -- crashing, hanging, giving up -------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [("Crasher", "ArithmeticError: the pivot is zero"), ("Panics", "Eigval error")],
)
def test_a_solver_that_raises_or_panics_has_failed_with_its_own_words(model, faulty, name, words):
    solution = sdpdr.solve(model, getattr(faulty, name)())
    assert solution.status is Status.FAILED
    assert words in solution.claimed.message
    assert np.isnan(solution.value)
    assert solution.bound is None
    assert solution.gap == np.inf
    assert_can_be_told(solution)


def test_a_solver_that_cannot_travel_to_a_child_is_refused(model):
    @dataclass(frozen=True)
    class Local(Solver):
        name: ClassVar[str] = "local"
        package: ClassVar[str] = "numpy"
        module: ClassVar[str] = "numpy"
        forms: ClassVar[tuple[str, ...]] = ("gram",)

        def run(self, sdp, progress=None) -> Outcome:
            return Clarabel().run(sdp)

    assert sdpdr.solve(model, Local()).status is Status.SOLVED
    with pytest.raises(NotAcceptedError, match="top level of a module"):
        sdpdr.solve(model, Local(), isolate=True)


def test_an_option_that_a_native_solver_does_not_know_is_its_failure(model):
    for form in ("gram", "cvxpy"):
        solution = sdpdr.solve(model, Clarabel(options={"no_such_option": 1}), form)
        assert solution.status is Status.FAILED
        assert "no_such_option" in solution.claimed.message


def test_auto_turns_to_a_second_solver_where_the_first_fails(model, monkeypatch):
    def fail(self, sdp, progress=None):
        raise ArithmeticError("the factorization broke down")

    monkeypatch.setattr(sdpdr.solvers.LowRank, "run", fail)
    solution = sdpdr.solve(model)
    assert solution.status is Status.SOLVED
    assert solution.solver != "lowrank"
    assert sdpdr.solve(model, "lowrank").status is Status.FAILED


# -- numbers that are none --------------------------------------------------------------------


def test_infinite_multipliers_prove_nothing_but_the_point_stays(model, faulty):
    solution = sdpdr.solve(model, faulty.InfiniteMultipliers())
    assert solution.status is Status.INACCURATE
    assert "multipliers were not used: they are not finite" in solution.claimed.message
    assert solution.value == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.bound is None
    assert_can_be_told(solution)


def test_success_without_a_point_is_a_failure(model, faulty):
    solution = sdpdr.solve(model, faulty.Silent())
    assert solution.status is Status.FAILED
    assert "they lack 'K'" in solution.claimed.message
    with pytest.raises(SolveFailedError, match="There is no point. FAILED: "):
        solution.embedding()


# -- lies -------------------------------------------------------------------------------------


def test_a_point_that_falls_short_is_moved_to_where_its_multipliers_say(model, faulty):
    solution = sdpdr.solve(model, faulty.Shrinks())
    assert solution.status is Status.SOLVED
    assert solution.attained == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.bound == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.attained <= OPTIMUM * (1.0 + 1e-12) <= solution.bound * (1.0 + 2e-12)


def test_a_point_that_falls_short_is_found_out_where_no_step_leads_further(model, faulty):
    """Without multipliers there is no path to follow, and the point stays short."""
    solution = sdpdr.solve(model, faulty.ShrinksAlone())
    assert solution.claimed.status == "optimal"
    assert solution.status is Status.INACCURATE
    assert solution.attained == pytest.approx(0.9 * OPTIMUM, rel=1e-6)
    assert solution.bound is None
    assert solution.gap == np.inf


def test_a_point_that_breaks_limits_is_shrunk_and_one_that_breaks_equalities_moved(
    model, exact, faulty
):
    for program in (model, exact):
        solution = sdpdr.solve(program, faulty.Stretches())
        assert solution.status is Status.SOLVED
        assert solution.value == pytest.approx(OPTIMUM, rel=1e-6)
        assert solution.residuals.primal() <= 1e-12


@pytest.mark.nightly
def test_a_point_that_breaks_equalities_is_found_out_where_none_keeps_them(rigid, faulty):
    solution = sdpdr.solve(rigid, faulty.Stretches())
    assert solution.claimed.status == "optimal"
    assert solution.status is Status.INACCURATE
    assert solution.attained is None
    assert solution.residuals.primal() > 0.01
    assert solution.epsilon == pytest.approx(0.1, rel=1e-6)
    assert solution.value > 1.05 * solution.bound


@pytest.mark.nightly
def test_poor_multipliers_give_a_bound_that_is_true(faulty):
    model = methods.mvu(graphs.path([1.0, 2.0, 0.5]))
    exact = sdpdr.solve(model, faulty.Faulty())
    solution = sdpdr.solve(model, faulty.FlatMultipliers())
    assert solution.value == pytest.approx(exact.value, rel=1e-6)
    assert solution.bound >= exact.attained


@pytest.mark.nightly
def test_multipliers_of_the_wrong_sign_are_not_those_of_the_bound(model, faulty):
    """What is proved is true, by multipliers on the central path in place of the solver's."""
    solution = sdpdr.solve(model, faulty.NegativeMultipliers())
    assert solution.value == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.bound >= OPTIMUM * (1.0 - 1e-9)
    assert all(
        np.all(solution.dual(r.label) >= 0.0) for r in model.to_sdp().rows if r.relation == "<="
    )


def test_the_value_is_ours_whatever_the_solver_says(model, faulty):
    solution = sdpdr.solve(model, faulty.Boasts())
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.claimed.value > 1e8


def test_a_certified_answer_is_solved_even_if_the_solver_says_otherwise(model, faulty):
    for solver, claim in ((faulty.Modest(), "gave up"), (faulty.CriesInfeasible(), "infeasible")):
        solution = sdpdr.solve(model, solver)
        assert solution.status is Status.SOLVED
        assert solution.claimed.status == claim


def test_a_program_that_zero_solves_is_not_infeasible(model, faulty):
    solution = sdpdr.solve(model, faulty.CriesInfeasibleAlone())
    assert solution.status is Status.INACCURATE
    assert "a point is proved feasible" in solution.claimed.message
    assert solution.claimed.status == "infeasible"


def test_a_program_with_a_proven_point_is_not_infeasible(exact, faulty):
    solution = sdpdr.solve(exact, faulty.ShrinksAndCriesInfeasible())
    assert solution.status is Status.SOLVED
    assert "a point is proved feasible" in solution.claimed.message
    assert solution.claimed.status == "infeasible"


@pytest.mark.nightly
def test_infeasible_without_a_proof_is_a_claim(rigid, faulty):
    solution = sdpdr.solve(rigid, faulty.ShrinksAndCriesInfeasible())
    assert solution.status is Status.UNVERIFIED
    assert solution.claimed.status == "infeasible"
    assert solution.ray is None
    assert "nothing proves it" in solution.claimed.message


def test_a_program_with_a_proven_bound_is_not_unbounded(model, faulty):
    solution = sdpdr.solve(model, faulty.ShrinksAndCriesUnbounded())
    assert solution.status is Status.SOLVED
    assert "multipliers prove a bound" in solution.claimed.message
    assert solution.bound == pytest.approx(OPTIMUM, rel=1e-6)


@pytest.mark.parametrize(
    ("relation", "form"),
    [
        ("inequality", "gram"),
        pytest.param("equality", "lmi", marks=pytest.mark.nightly),
        pytest.param(Slack(300.0, "absolute", True), "gram", marks=pytest.mark.nightly),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nothing_false_is_proved_from_nonsense(faulty, relation, form):
    model = methods.mvu(graphs.cycle(6), relation)
    optimum = sdpdr.solve(model, tol=1e-8).raise_for_status().value
    for seed in range(3):
        solution = sdpdr.solve(model, faulty.Nonsense(), form, seed=seed)
        assert solution.claimed.status == "trust me"
        if solution.bound is not None:
            assert solution.bound >= optimum * (1.0 - 1e-7)
        if solution.attained is not None:
            assert solution.attained <= optimum * (1.0 + 1e-7)
        assert_can_be_told(solution)


def test_what_is_written_in_cvxpy_is_proved_and_need_not_travel_to_be_isolated(model):
    mixed = model + from_cvxpy(lambda v: [cp.trace(v["K"]) <= 3.0])
    for isolate in (False, True):
        solution = sdpdr.solve(mixed, "clarabel", isolate=isolate)
        assert solution.status is Status.SOLVED
        assert solution.value == pytest.approx(3.0, rel=1e-6)
        assert np.trace(solution["K"]) == pytest.approx(3.0, rel=1e-6)
