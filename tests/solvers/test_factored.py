"""The general low-rank engine against programs with a known optimum."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import NotAcceptedError, ShapeError, UnknownNameError
from sdpdr.linalg import Diagonal, Entries, InnerProduct, Trace, VectorMap, svec_size
from sdpdr.program import SDP, Factor, Lmi, Point, PsdVariable, Rows, dimacs_errors
from sdpdr.program.point import VectorVariable
from sdpdr.program.run import Verdict
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank.frame import Journal, Options
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.engine import solve_factored
from sdpdr.solvers.lowrank.general.inner import Inner
from sdpdr.solvers.lowrank.general.lagrangian import Lagrangian, Layout
from sdpdr.solvers.lowrank.general.lowest import lowest
from sdpdr.solvers.lowrank.general.ranks import first_vector

from .factored_programs import dependence, known_program

TOL = 1e-6
GENERAL = LowRank(options={"engine": "general"})


def assert_optimal(result, sdp, value, tol=TOL):
    assert result.status == "converged", result.message
    assert result.value == pytest.approx(value, rel=tol, abs=tol)
    assert dimacs_errors(sdp, result.point).worst() <= tol


# -- known optima -------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.integration
@settings(max_examples=4, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    inequalities=st.sampled_from([0, 4]),
    scalars=st.sampled_from([0, 3]),
    free=st.sampled_from([0, 2]),
    curved=st.sampled_from([0, 2]),
)
def test_complementary_pairs_are_found(seed, inequalities, scalars, free, curved):
    known = known_program(
        seed, inequalities=inequalities, scalars=scalars, free=free, curved=curved
    )
    result = solve_factored(known.sdp)
    assert_optimal(result, known.sdp, known.value)


def test_centred_factors_are_centred_exactly():
    sdp = methods.mvu(graphs.cycle(9), "equality").to_sdp()
    result = solve_factored(sdp)
    assert_optimal(result, sdp, 9 / (4 * np.sin(np.pi / 9) ** 2))
    factor = result.point.values["K"].factor
    assert np.abs(factor.sum(axis=0)).max() <= 1e-12 * np.abs(factor).sum()


# -- ranks --------------------------------------------------------------------------------------


def test_the_rank_grows_where_the_certificate_says_so_and_the_history_tells():
    sdp = methods.mvu(graphs.cycle(10)).to_sdp()
    result = solve_factored(sdp, Options(rank=1))
    assert result.point.values["K"].factor.shape[1] >= 2
    assert any("grows from 1" in record.note for record in result.history)
    assert_optimal(result, sdp, 10 / (4 * np.sin(np.pi / 10) ** 2))


def test_a_rank_too_small_for_the_optimum_is_not_called_optimal():
    """At rank one, the cut of a triangle is 2; the bound is 9/4."""
    laplacian = 3.0 * np.eye(3) - np.ones((3, 3))
    unit = Rows("unit", "==", {"X": Diagonal(3)}, np.ones(3))
    cost = {"X": InnerProduct(-laplacian / 4)}
    sdp = SDP((PsdVariable("X", 3),), cost, (unit,), maximize=True)
    result = solve_factored(sdp, Options(rank=1, max_rank=1))
    assert result.status == "stalled"
    assert result.value <= 2.0 + 1e-6


# -- objectives of low rank ----------------------------------------------------------------------


def test_an_objective_of_low_rank_is_never_multiplied_out():
    n = 2500
    sdp = dependence(n, 3, 0)
    tracemalloc.start()
    problem = compile_problem(sdp)
    layout = Layout(problem, (4,))
    options = Options(max_iter=5)
    inner = Inner(problem, options, Journal(options))
    function = Lagrangian(layout, np.zeros(n), 1.0)
    local = inner.minimize(function.at(first_vector(problem, (4,), 0)), 1e-3)
    lowest(local.slacks[0], problem.blocks[0].face, 1, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * n**2


# -- no optimum ---------------------------------------------------------------------------------


def test_contradicting_rows_are_refuted():
    rows = (
        Rows("trace", "==", {"X": Trace(3)}, np.ones(1)),
        Rows("entry", "==", {"X": Entries(3, [(0, 1)])}, np.ones(1)),
    )
    sdp = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.diag([1.0, 2.0, 0.0]))}, rows)
    assert solve_factored(sdp).status == "infeasible"


@pytest.mark.nightly
def test_a_feasible_program_is_never_called_infeasible():
    for seed in range(4):
        assert solve_factored(known_program(seed).sdp, Options(max_iter=30)).status != "infeasible"


def test_a_ray_of_descent_is_unbounded():
    balance = Entries(3, [(0, 0)]) - Entries(3, [(1, 1)])
    rows = (Rows("balance", "==", {"X": balance}, np.zeros(1)),)
    sdp = SDP((PsdVariable("X", 3),), {"X": -1.0 * Trace(3)}, rows, maximize=True)
    assert solve_factored(sdp).status == "unbounded"


@pytest.mark.nightly
@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_no_unit_of_length_makes_a_penalty_of_squares_a_ray(unit):
    """In large units relative changes have coefficients that are small beside the unknowns."""
    X = np.random.default_rng(0).uniform(size=(20, 2))
    one, other = (
        sdpdr.solve(methods.distance_completion(graphs.complete(u * X)), GENERAL)
        for u in (1.0, unit)
    )
    assert one.certified()
    assert other.certified()
    assert other.value == pytest.approx(unit**2 * one.value, rel=1e-5)


# -- starts and stops ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start",
    [
        Point({"X0": Factor(np.ones((3, 1)))}),
        Point({"X0": np.ones((3, 3))}),
        Point({}, {"equal": np.ones(2)}),
    ],
    ids=["factor", "dense", "multipliers"],
)
def test_a_start_that_does_not_fit_is_refused_by_name(start):
    with pytest.raises(ShapeError, match=r"start: .*(X0|equal)"):
        solve_factored(known_program(0).sdp, start=start)


def test_an_interruption_returns_a_point():
    def stop(record):
        if record.iteration == 6:
            raise KeyboardInterrupt

    result = solve_factored(known_program(1).sdp, Options(callback=stop))
    assert result.status == "interrupted"
    assert result.iterations == 7
    assert np.isfinite(result.value)


# -- as a solver --------------------------------------------------------------------------------


def test_what_stalls_on_edges_is_tried_in_general():
    sides = graphs.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 9.0])
    outcome = LowRank().run(methods.mvu(sides, "equality").to_sdp())
    assert outcome.verdict is Verdict.INFEASIBLE
    assert "edge engine stalled" in outcome.claim.message


def test_options_of_both_engines_are_known_and_others_are_not():
    model = methods.mvu(graphs.cycle(5))
    assert sdpdr.solve(model, LowRank(options={"rank": 2, "newton": "cg"})).certified()
    with pytest.raises(UnknownNameError, match="'max_rnk'.*max_rank"):
        sdpdr.solve(model, LowRank(options={"max_rnk": 2}))
    with pytest.raises(UnknownNameError, match="engine"):
        sdpdr.solve(model, LowRank(options={"engine": "edge"}))


def test_large_matrix_inequalities_are_refused_with_the_reason():
    size = svec_size(200)
    lmi = Lmi("cone", 200, {"t": VectorMap(np.zeros((size, 1)))}, np.zeros(size))
    sdp = SDP((VectorVariable("t", 1), PsdVariable("X", 2)), {"X": Trace(2)}, lmis=(lmi,))
    with pytest.raises(NotAcceptedError, match="'cone' has order 200"):
        solve_factored(sdp)
