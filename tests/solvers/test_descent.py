"""Descent on spheres: laws of its parts, programs with known optima, bounds that never lie."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr.linalg import Diagonal, Entries, InnerProduct, Trace
from sdpdr.linalg.maps import SvecMap
from sdpdr.linalg.svec import svec_size
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.program.attain import attain
from sdpdr.program.certificate import certify
from sdpdr.program.certificate.lifting import unit_lift
from sdpdr.program.point import Factor, Point
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank import Options, solve_factored
from sdpdr.solvers.lowrank.descent.low_end import low_end
from sdpdr.solvers.lowrank.descent.spheres import SphereLagrangian, Spheres, reason
from sdpdr.solvers.lowrank.descent.trust_region import Curvature, Region, truncated
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.hessian import Jacobian
from sdpdr.solvers.lowrank.general.lagrangian import Layout


def max_cut(weights, scale=1.0, length=1.0):
    """The bound of Goemans and Williamson, in units of one's own."""
    n = len(weights)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    cost = InnerProduct(sp.csr_array(-0.25 * scale * laplacian))
    unit = Rows("unit", "==", {"X": Diagonal(n)}, length * np.ones(n))
    return SDP((PsdVariable("X", n),), {"X": cost}, (unit,), maximize=True)


def cycle(n):
    weights = np.zeros((n, n))
    i = np.arange(n)
    weights[i, (i + 1) % n] = weights[(i + 1) % n, i] = 1.0
    return weights


def random_weights(n, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < share), 1)
    return upper + upper.T


def completion(n, rank, m, seed=0):
    """Least trace with some entries of a low-rank matrix known."""
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((2, n, rank))
    i, j = np.divmod(rng.choice(n * n, m, replace=False), n)
    known = np.einsum("ek,ek->e", left[i], right[j])
    rows = Rows("known", "==", {"X": Entries(2 * n, np.column_stack([i, n + j]))}, known)
    return SDP((PsdVariable("X", 2 * n),), {"X": 0.5 * Trace(2 * n)}, (rows,))


def theta(n, m, seed=0):
    """Lovász's number of a random graph."""
    i, j = np.triu_indices(n, 1)
    chosen = np.random.default_rng(seed).choice(i.size, m, replace=False)
    edges = np.column_stack([i, j])[chosen]
    rows = (
        Rows("trace", "==", {"X": Trace(n)}, np.ones(1)),
        Rows("edges", "==", {"X": Entries(n, edges)}, np.zeros(m)),
    )
    ones = InnerProduct(-np.ones((n, n)))
    return SDP((PsdVariable("X", n),), {"X": ones}, rows, maximize=True)


def mixed():
    """Lengths of single points and of a group, and entries at a price."""
    n = 8
    first = SvecMap(n, sp.csr_array(Diagonal(n).matrix()[:4]))
    group = SvecMap(n, sp.csr_array(2.0 * Diagonal(n).matrix()[4:].sum(axis=0)[None, :]))
    rows = (
        Rows("points", "==", {"X": first}, np.array([1.0, 2.0, 3.0, 4.0])),
        Rows("group", "==", {"X": group}, np.array([6.0])),
        Rows("entries", "==", {"X": Entries(n, [[0, 5], [2, 7]])}, np.array([0.3, -0.4])),
    )
    cost = InnerProduct(random_weights(n, 3, 1.0))
    return SDP((PsdVariable("X", n),), {"X": cost}, rows)


def local_of(sdp, rank=3, seed=0, penalty=2.0):
    problem = compile_problem(sdp)
    layout, rng = Layout(problem, (rank,)), np.random.default_rng(seed)
    y = rng.standard_normal(problem.m)
    function = SphereLagrangian(layout, y, penalty, Spheres(problem))
    return function.at(rng.standard_normal(layout.size)), rng


# -- laws of the parts --------------------------------------------------------------------------


def test_rows_on_lengths_are_kept_and_others_have_a_price():
    problem = compile_problem(mixed())
    spheres = Spheres(problem)
    assert spheres.free.tolist() == [False] * 5 + [True] * 2
    layout = Layout(problem, (3,))
    vector = spheres.retracted(layout, np.random.default_rng(0).standard_normal(layout.size))
    left = layout.values(vector)[1:] - problem.rhs
    assert np.allclose(left[~spheres.free], 0.0, atol=1e-12)
    assert np.allclose(spheres.retracted(layout, vector), vector)


def test_a_trace_beside_its_own_diagonal_is_left_to_a_price():
    rows = (
        Rows("trace", "==", {"X": Trace(3)}, np.array([3.0])),
        Rows("unit", "==", {"X": Diagonal(3)}, np.ones(3)),
    )
    sdp = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.eye(3))}, rows)
    assert Spheres(compile_problem(sdp)).free.tolist() == [True, False, False, False]


def test_a_diagonal_with_unequal_coefficients_is_no_sphere():
    weighted = SvecMap(2, sp.csr_array(np.array([[1.0, 0.0, 2.0]])))
    rows = (Rows("weighted", "==", {"X": weighted}, np.ones(1)),)
    sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.eye(2))}, rows)
    assert Spheres(compile_problem(sdp)).free.all()


def test_the_tangent_part_is_a_projection_that_keeps_lengths():
    local, rng = local_of(mixed())
    layout, spheres = local.function.layout, local.function.spheres
    change = rng.standard_normal(layout.size)
    tangent = spheres.tangent(layout, local.vector, change)
    assert np.allclose(spheres.tangent(layout, local.vector, tangent), tangent)
    assert abs(tangent @ (change - tangent)) < 1e-10
    (factor,), _ = layout.split(local.vector)
    (step,), _ = layout.split(tangent)
    slopes = layout.problem.blocks[0].forms.cross(factor, step)[1:]
    assert np.allclose(slopes[~spheres.free], 0.0, atol=1e-10)


@pytest.mark.parametrize("make", [mixed, lambda: max_cut(random_weights(9))])
def test_gradient_and_curvature_are_derivatives_on_the_manifold(make):
    local, rng = local_of(make())
    function, layout = local.function, local.function.layout
    spheres = function.spheres
    direction = spheres.tangent(layout, local.vector, rng.standard_normal(layout.size))
    h = 1e-5
    ahead, behind = (function.at(local.vector + t * direction) for t in (h, -h))
    assert np.isclose((ahead.value - behind.value) / (2 * h), local.gradient() @ direction)
    curvature = Curvature(local, [Jacobian(b.forms) for b in layout.problem.blocks])
    change = (ahead.gradient() - behind.gradient()) / (2 * h)
    expected = spheres.tangent(layout, local.vector, change)
    assert np.allclose(curvature @ direction, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("make", [mixed, lambda: max_cut(random_weights(9))])
def test_the_approximate_inverse_is_symmetric_and_positive(make):
    local, rng = local_of(make())
    layout = local.function.layout
    curvature = Curvature(local, [Jacobian(b.forms) for b in layout.problem.blocks])
    one, other = (curvature.tangent(rng.standard_normal(layout.size)) for _ in range(2))
    assert np.isclose(curvature.inverse(one) @ other, one @ curvature.inverse(other))
    assert curvature.inverse(one) @ one > 0.0
    assert np.allclose(curvature.tangent(curvature.inverse(one)), curvature.inverse(one))


def test_a_step_stays_in_its_region_and_goes_down():
    local, _ = local_of(max_cut(random_weights(12)))
    layout = local.function.layout
    curvature = Curvature(local, [Jacobian(b.forms) for b in layout.problem.blocks])
    gradient = local.gradient()
    for radius in (1e-6, 1e-2, np.inf):
        step = truncated(curvature, gradient, radius, 1e-3, 100, lambda: False)
        assert step.promise > 0.0
        model = -gradient @ step.change - 0.5 * step.change @ (curvature @ step.change)
        assert np.isclose(step.promise, model, rtol=1e-6)
    small = truncated(curvature, gradient, 1e-6, 1e-3, 100, lambda: False)
    assert small.at_border
    assert local.function.at(local.vector + small.change).value < local.value


def test_a_region_that_is_deceived_shrinks():
    local, _ = local_of(max_cut(random_weights(12)))
    curvature = Curvature(local, [Jacobian(b.forms) for b in local.function.layout.problem.blocks])
    step = truncated(curvature, local.gradient(), 1.0, 1e-3, 100, lambda: False)
    region = Region(1.0)
    assert not region.learn(step, -step.promise, 0.0)
    assert region.radius < 1.0
    assert not Region(1.0).learn(step, float("nan"), 0.0)


@pytest.mark.parametrize("low", [-1e-3, 1e-2])
def test_the_low_end_is_found_beside_a_cluster_of_zeros(low):
    n, r, rng = 400, 6, np.random.default_rng(1)
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.concatenate([np.zeros(r), [low], rng.uniform(0.5, 2.0, n - r - 1)])
    matrix = (basis * values) @ basis.T
    none = np.zeros((0, n))
    slack = DualSlack(matrix, np.zeros(0), none, none)
    found, vectors = low_end(slack, np.zeros((n, 0)), basis[:, :r], 3, 0)
    assert np.isclose(found[0], min(low, 0.0), atol=1e-6)
    assert np.allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)


# -- programs with known optima -----------------------------------------------------------------


@pytest.mark.parametrize("n", [5, 9, 33, 101])
def test_cuts_of_odd_cycles_have_the_value_in_closed_form(n):
    """n (1 + cos(pi / n)) / 2, by the circulant dual."""
    solution = sdpdr.solve(max_cut(cycle(n)), LowRank(options={"engine": "descent"}))
    assert solution.certified()
    assert np.isclose(solution.value, n * (1.0 + np.cos(np.pi / n)) / 2.0, rtol=1e-6)


def test_bipartite_graphs_are_cut_altogether():
    weights = np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((30, 30)))
    result = solve_factored(max_cut(weights), Options(tol=1e-7))
    assert result.status == "converged"
    assert result.message.startswith("descent")
    assert np.isclose(result.value, 900.0, rtol=1e-6)
    assert -1e-9 <= (result.bound - result.value) / 900.0 <= 1e-7


@pytest.mark.nightly
def test_completion_finds_the_matrix():
    sdp = completion(60, 2, 1600)
    solution = sdpdr.solve(sdp, LowRank(options={"engine": "descent"}))
    assert solution.certified()
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((2, 60, 2))
    factor = solution.values["X"].factor
    assert np.allclose(factor[:60] @ factor[60:].T, left @ right.T, atol=1e-4)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "make", [lambda: max_cut(random_weights(20)), mixed, lambda: theta(15, 30)]
)
def test_agreement_with_clarabel(make):
    sdp = make()
    ours = sdpdr.solve(sdp, LowRank(options={"engine": "descent"}))
    other = sdpdr.solve(sdp, "clarabel")
    assert np.isclose(ours.value, other.value, rtol=1e-5)
    assert abs(ours.bound - other.bound) <= 1e-5 * abs(other.bound)


@pytest.mark.nightly
@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("length", [1e-4, 1e4])
def test_units_do_not_matter(scale, length):
    weights = random_weights(40)
    one = solve_factored(max_cut(weights), Options(tol=1e-7))
    other = solve_factored(max_cut(weights, scale, length), Options(tol=1e-7))
    assert other.status == "converged"
    assert np.isclose(other.value, scale * length * one.value, rtol=1e-6)


def test_a_rank_too_small_grows():
    options = Options(tol=1e-7, rank=2, seed=3)
    result = solve_factored(max_cut(random_weights(60)), options, descent=True)
    assert result.status == "converged"
    assert result.history[0].rank == 2 < result.history[-1].rank
    assert any("grows" in record.note for record in result.history)


# -- bounds that never lie ----------------------------------------------------------------------


@pytest.mark.nightly
@given(seed=st.integers(0, 10_000), size=st.floats(1e-6, 1e3))
@settings(max_examples=10)
def test_no_multipliers_prove_less_than_the_optimum(seed, size):
    n = 9
    sdp = max_cut(cycle(n))
    optimum = n * (1.0 + np.cos(np.pi / n)) / 2.0
    y = {"unit": size * np.random.default_rng(seed).standard_normal(n)}
    for goal in (None, optimum, 1e9):
        bound = certify(sdp, y, goal=goal).bound
        assert bound is None or bound >= optimum * (1.0 - 1e-9)


@pytest.mark.parametrize("limit", [0, 1, 3, 10])
def test_a_run_that_is_stopped_tells_the_truth(limit):
    sdp = max_cut(cycle(101))
    optimum = 101 * (1.0 + np.cos(np.pi / 101)) / 2.0
    result = solve_factored(sdp, Options(tol=1e-9, max_iter=limit), descent=True)
    assert result.status == "max_iter"
    assert result.value <= optimum * (1.0 + 1e-9)
    assert result.bound is None or result.bound >= optimum * (1.0 - 1e-9)


def test_who_interrupts_gets_a_point():
    def stop(record):
        if record.iteration == 3:
            raise KeyboardInterrupt

    result = solve_factored(max_cut(cycle(101)), Options(callback=stop), descent=True)
    assert result.status == "interrupted"
    assert np.isfinite(result.value)


def test_rows_that_contradict_each_other_do_not_converge():
    rows = (
        Rows("unit", "==", {"X": Diagonal(4)}, np.ones(4)),
        Rows("far", "==", {"X": Entries(4, [[0, 1]])}, np.array([2.0])),
    )
    sdp = SDP((PsdVariable("X", 4),), {"X": InnerProduct(random_weights(4))}, rows)
    result = solve_factored(sdp, Options(max_iter=500), descent=True)
    assert result.status != "converged"


def test_a_start_that_is_optimal_is_the_answer():
    sdp = max_cut(random_weights(40))
    first = solve_factored(sdp, Options(tol=1e-7))
    again = solve_factored(sdp, Options(tol=1e-6), first.point)
    assert again.status == "converged"
    assert again.iterations == 0


# -- proofs beside the engine -------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: max_cut(cycle(7)), lambda: theta(6, 5)])
def test_the_unit_lift_adds_the_identity(make):
    sdp = make()
    lift = unit_lift(sdp)
    raised = sdp.dual_slack("X", lift) - sdp.cost("X")
    raised = raised.toarray() if sp.issparse(raised) else np.asarray(raised)
    assert np.allclose(raised, np.eye(len(raised)))


def test_nothing_lifts_where_a_point_is_free():
    assert unit_lift(completion(5, 1, 9)) is None


@pytest.mark.nightly
@pytest.mark.parametrize("make", [lambda: completion(8, 2, 40), lambda: theta(12, 20)])
def test_corrected_entries_give_a_feasible_matrix(make):
    sdp = make()
    found = solve_factored(sdp, Options(tol=1e-9))
    noise = 1e-8 * np.random.default_rng(0).standard_normal(found.point.values["X"].factor.shape)
    factor = found.point.values["X"].factor + noise
    attained = attain(sdp, Point({"X": Factor(factor)}))
    gap = (found.bound - attained.value) * (1.0 if sdp.maximize else -1.0)
    assert -1e-9 * abs(found.bound) <= gap <= 1e-4 * abs(found.bound)


@pytest.mark.nightly
def test_entries_far_off_are_not_corrected():
    sdp = completion(700, 1, 700)
    factor = np.random.default_rng(0).standard_normal((1400, 2))
    assert attain(sdp, Point({"X": Factor(factor)})).value is None


def test_adjoints_are_the_same_however_empty_the_rows():
    n, rng = 30, np.random.default_rng(0)
    full = rng.standard_normal((5, svec_size(n)))
    y = rng.standard_normal(5)
    for share in (1.0, 0.02):
        rows = sp.csr_array(np.where(rng.random(full.shape) < share, full, 0.0))
        matrix = rng.standard_normal((n, n))
        matrix = matrix + matrix.T
        linear_map = SvecMap(n, rows)
        assert np.isclose(linear_map.apply(matrix) @ y, np.sum(linear_map.adjoint(y) * matrix))


# -- the choice ---------------------------------------------------------------------------------


def test_the_message_says_why():
    solution = sdpdr.solve(max_cut(cycle(9)), "lowrank")
    assert "keeps exactly" in solution.claimed.message
    assert reason(compile_problem(completion(120, 2, 4000))).startswith("Of 240 points")


def test_inequalities_and_narrow_patterns_do_not_descend():
    below = Rows("unit", "<=", {"X": Diagonal(3)}, np.ones(3))
    cost = InnerProduct(-np.ones((3, 3)))
    assert not reason(compile_problem(SDP((PsdVariable("X", 3),), {"X": cost}, (below,))))
    n = 400
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    rows = Rows("path", "==", {"X": Entries(n, path)}, np.ones(n - 1))
    assert not reason(compile_problem(SDP((PsdVariable("X", n),), {"X": Trace(n)}, (rows,))))


@pytest.mark.nightly
def test_auto_takes_it_for_a_large_cut():
    chosen = sdpdr.plan(max_cut(random_weights(800, share=0.03)))
    assert (chosen.solver.name, chosen.form) == ("lowrank", "factor")
