"""Plans as values: read, changed; reductions composed, verdicts lifted."""

import pickle
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods, minimize, psd, sum_exp
from sdpdr.errors import (
    DataError,
    DataTypeError,
    NotAcceptedError,
    UnknownNameError,
)
from sdpdr.linalg import InnerProduct, Stacked, Trace, VectorMap
from sdpdr.program import SDP, Point, PsdVariable, Rows, Status, VectorVariable
from sdpdr.program.point import as_dense
from sdpdr.reduce import Dedupe, Dual, Reduced, Reduction, Scale
from sdpdr.reduce.landmark import Landmark

pytestmark = pytest.mark.integration

SHORT, LONG = 1.0, 2.0
OPTIMUM = 14.0 / 3.0  # of the path with edges of these lengths: the straight line


@pytest.fixture(scope="module")
def model():
    return methods.mvu(graphs.path([SHORT, LONG]))


def trace_program(right_side):
    """The least trace with a prescribed first entry, which a negative one makes infeasible."""
    first = np.diag([1.0, 0.0])
    rows = (Rows("first", "==", {"X": InnerProduct(first)}, [right_side]),)
    return SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows=rows)


@dataclass(frozen=True)
class Doubled(Reduction):
    """Every right side, and so every matrix, times two."""

    name: ClassVar[str] = "doubled"

    def _reduce(self, sdp):
        rows = tuple(replace(r, rhs=2.0 * r.rhs) for r in sdp.rows)

        def lift(point):
            return Point({k: 0.5 * as_dense(v) for k, v in point.values.items()}, point.duals)

        return Reduced(replace(sdp, rows=rows), lift, lambda value: 0.5 * value)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "via",
    [(), (Dual(), Dual()), (Dedupe(), Scale()), (Doubled(),)],
)
@pytest.mark.parametrize("solver", ["auto", "clarabel"])
def test_reductions_of_ones_own_choice_change_nothing_but_the_way(model, via, solver):
    solution = sdpdr.solve(model, solver, via=via)
    assert solution.status is Status.SOLVED
    assert solution.attained == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.bound == pytest.approx(OPTIMUM, rel=1e-6)
    assert sdpdr.plan(model, solver, via=via).reductions[: len(via)] == via


def test_a_narrower_program_is_graded_as_an_answer_to_the_whole_one():
    points = datasets.swiss_roll(60, seed=0)[0]
    model = methods.mvu(graphs.knn(points, n_neighbors=5, connect="mst"))
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 8)))[0]
    whole, narrow = sdpdr.solve(model), sdpdr.solve(model, "clarabel", via=[Landmark(basis)])
    assert 0.0 < narrow.value < whole.value
    assert narrow.bound is None or narrow.bound >= whole.attained * (1.0 - 1e-6)
    assert whole.narrower is None


def test_what_is_proved_of_a_narrower_program_stands_beside_the_answer(tmp_path):
    model = methods.mvu(graphs.knn(datasets.swiss_roll(60, seed=0)[0], n_neighbors=5))
    step = Landmark(np.linalg.qr(np.random.default_rng(0).standard_normal((60, 8)))[0])
    solution = sdpdr.solve(model, "clarabel", via=[step])
    alone = sdpdr.solve(step.apply(model.to_sdp()).sdp, "clarabel")
    assert solution.narrower.certified()
    assert alone.certified()
    assert solution.narrower.value == pytest.approx(alone.value, rel=1e-5)
    # The narrower optimum is attained in the whole program, which it does not bound.
    assert solution.attained == pytest.approx(alone.value, rel=1e-5)
    assert solution.bound is None
    assert "In the narrower program that was solved, the maximum is" in str(solution)
    assert "Leave out the step" in solution.advice
    written = solution.narrower.write_proof(tmp_path / "narrow.proof")
    assert set(written.claims) == {"value", "bound"}


@pytest.mark.nightly
@pytest.mark.parametrize("via", [(), (Dual(),), (Dual(), Dual()), (Doubled(), Dual())])
def test_verdicts_are_lifted_as_points_are(via):
    solution = sdpdr.solve(trace_program(-1.0), "clarabel", via=via)
    assert solution.status is Status.INFEASIBLE


@pytest.mark.parametrize("via", [(), (Dual(),), (Dual(), Doubled())])
def test_so_is_an_objective_without_limit(via):
    program = replace(trace_program(1.0), objective={"X": -1.0 * Trace(2)})
    solution = sdpdr.solve(program, "clarabel", via=via)
    assert solution.status is Status.UNBOUNDED


def test_a_plan_runs_as_solve_does(model):
    chosen = sdpdr.plan(model, "clarabel", "lmi")
    ran, solved = chosen.run(), sdpdr.solve(model, "clarabel", "lmi")
    assert (ran.status, ran.solver, ran.form) == (solved.status, solved.solver, solved.form)
    assert ran.value == pytest.approx(solved.value, rel=1e-9)


def test_a_plan_is_changed_by_saying_what_is_different(model):
    chosen = sdpdr.plan(model, "clarabel", "lmi", tol=1e-5)
    other = chosen.but(form="gram")
    assert (other.solver.name, other.form, other.solver.tol) == ("clarabel", "gram", 1e-5)
    assert other.but(solver="auto", form="auto").solver == sdpdr.plan(model, tol=1e-5).solver


def test_what_cannot_be_run_says_why(model):
    with pytest.raises(DataError, match="via has no effect"):
        sdpdr.solve(model, form="cvxpy", via=[Dual()])
    with pytest.raises(DataError, match="via has no effect"):
        sdpdr.solve(model, form="landmark", landmarks=3, via=[Dual()])
    smooth = minimize(sum_exp(psd("K", 3)[0, 0]))
    with pytest.raises(DataError, match="via has no effect"):
        sdpdr.solve(smooth, via=[Dual()])


@dataclass(frozen=True)
class Careless(Reduction):
    """Changes the program that it is given, which is not the one that is graded."""

    name: ClassVar[str] = "careless"

    def _reduce(self, sdp):
        for rows in sdp.rows:
            rows.rhs[:] *= 2.0
        return Reduced(sdp, lambda point: point)


def test_a_reduction_that_writes_where_it_reads_is_found_out(model):
    solution = sdpdr.solve(model, "clarabel", via=[Careless()])
    assert solution.attained is None or solution.attained <= OPTIMUM * (1.0 + 1e-6)
    assert solution.bound is None or solution.bound >= OPTIMUM * (1.0 - 1e-6)


@pytest.mark.parametrize(
    ("back", "words"),
    [
        ({"lift": lambda point: None}, "must return a Point"),
        (
            {"lift": lambda point: point, "lift_verdict": lambda v: "solved"},
            "must return a Verdict",
        ),
    ],
)
def test_ways_back_are_checked(model, back, words):
    @dataclass(frozen=True)
    class Wrong(Reduction):
        name: ClassVar[str] = "wrong"

        def _reduce(self, sdp):
            return Reduced(sdp, **back)

    with pytest.raises(DataTypeError, match=words):
        sdpdr.solve(model, "clarabel", via=[Wrong()])


@pytest.mark.parametrize(
    "values", [{"Y": np.eye(3)}, {"K": np.eye(2)}, {"K": np.full((3, 3), np.nan)}]
)
def test_points_that_are_lifted_to_no_point_are_a_failure(model, values):
    @dataclass(frozen=True)
    class Astray(Reduction):
        name: ClassVar[str] = "astray"

        def _reduce(self, sdp):
            return Reduced(sdp, lambda point: Point(values, point.duals))

    assert sdpdr.solve(model, "clarabel", via=[Astray()]).status is Status.FAILED


@pytest.mark.parametrize("solver", ["auto", "scs", "clarabel"])
def test_no_solver_goes_round_a_reduction(solver):
    line = methods.mvu(graphs.path(np.ones(5)))
    V = np.linspace(-1.0, 1.0, 6)[:, None] ** 3
    narrow = sdpdr.solve(line, solver, via=[Landmark(V)])
    assert narrow.value == pytest.approx(3.40587, rel=1e-3)
    assert narrow.status is not Status.SOLVED


def test_contradictions_on_the_way_are_none_of_the_program():
    free = SDP((VectorVariable("z", 1),), {"z": VectorMap([[1.0]])})
    assert sdpdr.solve(free).status is Status.UNBOUNDED
    assert sdpdr.solve(free, "clarabel", via=[Dual()]).status is Status.UNBOUNDED
    # The equations of the dual want one multiplier to be two numbers.
    balance = (Rows("balance", "==", {"z": VectorMap([[1.0, 1.0]])}, [0.0]),)
    tilted = SDP((VectorVariable("z", 2),), {"z": VectorMap([[1.0, 2.0]])}, balance)
    assert sdpdr.solve(tilted).status is Status.UNBOUNDED
    with pytest.raises(NotAcceptedError, match="Ask without them"):
        sdpdr.solve(tilted, "clarabel", via=[Dual()])
    twice = (Rows("twice", "==", {"X": Stacked([Trace(2), Trace(2)])}, [1.0, 2.0]),)
    program = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows=twice)
    assert sdpdr.solve(program, "clarabel", via=[Dedupe()]).status is Status.INFEASIBLE


def test_a_plan_is_carried_out_on_the_numbers_of_now():
    program = trace_program(1.0)
    chosen = sdpdr.plan(program, "clarabel")
    program.rows[0].rhs[:] = 3.0
    assert chosen.run().value == pytest.approx(3.0, rel=1e-5)
    program.rows[0].rhs[:] = -1.0
    assert chosen.run().status is Status.INFEASIBLE


def test_arguments_are_of_their_kind(model):
    for via in (Dual(), "dual", ["dual"], [Dual]):
        with pytest.raises(DataTypeError, match="reduction"):
            sdpdr.solve(model, via=via)
    with pytest.raises(DataTypeError, match="no program"):
        sdpdr.plan(None)
    with pytest.raises(DataTypeError, match="no solver"):
        sdpdr.plan(model, sdpdr.solvers.Clarabel)
    with pytest.raises(UnknownNameError, match="nonsense"):
        sdpdr.plan(model, "clarabel", "nonsense")
    with pytest.raises(DataError, match="gap_scale"):
        sdpdr.plan(model).run(gap_scale=-1.0)


def test_plans_with_reductions_travel(model):
    there = pickle.loads(pickle.dumps(sdpdr.plan(model, "clarabel", via=[Dual()])))
    assert there.reductions[0] == Dual()
    assert there.run().value == pytest.approx(OPTIMUM, rel=1e-5)
    refuted = pickle.loads(pickle.dumps(sdpdr.plan(trace_program(-1.0), "clarabel")))
    assert refuted.run().status is Status.INFEASIBLE
