"""Leave-one-out unfolding: oracles, the bound of the means, degenerate forms, refusals."""

from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, iterate, methods
from sdpdr.blocks import (
    Band,
    Centered,
    GeometricMean,
    Gram,
    Isometry,
    LeastTrace,
    Slack,
    TraceAtMost,
)
from sdpdr.certify.attained import attained
from sdpdr.errors import (
    DisconnectedGraphError,
    DuplicatePointsWarning,
    ModelError,
)
from sdpdr.families.unfold.loocv import leave_one_out
from sdpdr.linalg import Diagonal
from sdpdr.model import Model, Var
from sdpdr.model.affine import evaluate
from sdpdr.program import Factor, Status

TRACE = 1545.86758


def roll(n):
    rng = np.random.default_rng(0)
    t = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n))
    return np.column_stack([t * np.cos(t), 21 * rng.uniform(size=n), t * np.sin(t)])


@pytest.fixture(scope="module")
def graph():
    return graphs.knn(roll(12), n_neighbors=3)


@pytest.fixture(scope="module")
def solved(graph):
    """The program with the default trace, solved."""
    return sdpdr.solve(methods.loocv(graph), "clarabel", "gram", tol=1e-7)


@pytest.fixture(scope="module")
def least_variance(graph):
    """c, the least centred trace that the lengths allow."""
    blocks = (Gram(12), Centered(12), Isometry(graph, "equality"), LeastTrace(12))
    return sdpdr.solve(Model(blocks, maximize=False), "clarabel", "gram", tol=1e-7).value


def dense(solution):
    return np.asarray(solution.gram())


def simplex(n, sqdist):
    pairs = np.column_stack(np.triu_indices(n, 1))
    return graphs.from_edges(n, pairs, np.full(len(pairs), sqdist))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("n", "sqdist", "trace", "value", "solver", "form"),
    [
        (2, 1.0, 3.0, 1.0, "clarabel", "gram"),
        (4, 2.0, 10.0, 4.5, "clarabel", "gram"),
        pytest.param(4, 2.0, 10.0, 4.5, "lowrank", "factor", marks=pytest.mark.nightly),
    ],
)
def test_a_regular_simplex_has_the_likelihood_of_its_trace(n, sqdist, trace, value, solver, form):
    model = methods.loocv(simplex(n, sqdist), trace=trace)
    solution = sdpdr.solve(model, solver, form, tol=1e-6)
    assert value == pytest.approx((n - 1) * (trace / n - sqdist / 2.0))
    np.testing.assert_allclose(solution.value, value, rtol=2e-5)
    np.testing.assert_allclose(solution.bound, value, rtol=2e-5)


def test_swiss_roll_with_the_default_trace(graph):
    solution = sdpdr.solve(methods.loocv(graph), "cvxopt", "lmi", tol=1e-6)
    np.testing.assert_allclose(solution.value, 2178.25771, rtol=2e-7)
    assert solution.bound > 2178.2577
    assert solution.certified(1e-5)
    gram = dense(solution)
    off = gram - np.diag(np.diag(gram))
    np.testing.assert_allclose(np.trace(gram), 2.0 * TRACE, rtol=1e-6)
    mean = np.exp(np.mean(np.log(off.sum(axis=1))))
    np.testing.assert_allclose(mean, solution.value, rtol=1e-6)
    assert off.min() > -1e-4
    i, j = graph.edges.T
    lengths = gram[i, i] + gram[j, j] - 2 * gram[i, j]
    np.testing.assert_allclose(lengths, graph.sqdist, rtol=1e-5)


@pytest.mark.nightly
def test_the_inequality_of_the_means_is_tight_for_large_traces(graph, solved, least_variance):
    np.testing.assert_allclose(least_variance, 655.7734, rtol=1e-6)
    # Equal to 3e-5 at the default trace already: an independent check of the optimum.
    assert 11 * 2 * TRACE / 12 - least_variance - solved.value == pytest.approx(0.0595, abs=2e-3)
    values = {4: 5012.38188, 100: 141048.7544}
    slack = []
    for factor, expected in values.items():
        model = methods.loocv(graph, trace=factor * TRACE)
        solution = sdpdr.solve(model, "clarabel", "gram", tol=1e-8)
        limit = 11 * factor * TRACE / 12 - least_variance
        np.testing.assert_allclose(solution.value, expected, rtol=1e-6)
        assert solution.value <= limit * (1.0 + 1e-9)
        slack.append(limit - solution.value)
    np.testing.assert_allclose(slack, [0.0259, 0.0022], atol=5e-3)


def test_least_trace_finds_the_same_point(graph):
    model = methods.loocv(graph, minimum=2178.25771)
    solution = sdpdr.solve(model, "clarabel", "lmi", tol=1e-6)
    np.testing.assert_allclose(solution.value, 2.0 * TRACE, rtol=2e-6)
    np.testing.assert_allclose(solution.bound, solution.value, rtol=5e-6)
    assert not model.is_maximization


def test_a_unit_diagonal_fixes_the_entries_of_edges(graph):
    solution = sdpdr.solve(methods.loocv(graph, unit=True), "clarabel", "lmi", tol=1e-6)
    np.testing.assert_allclose(solution.value, 8.7707553, rtol=1e-5)
    assert solution.certified(1e-5)
    gram = dense(solution)
    np.testing.assert_allclose(np.diag(gram), 1.0, atol=1e-5)
    i, j = graph.edges.T
    expected = 1.0 - graph.sqdist / graph.sqdist.max() / 2.0
    np.testing.assert_allclose(gram[i, j], expected, atol=1e-5)


# -- the form as printed ---------------------------------------------------------------------------


# -- samples that coincide -------------------------------------------------------------------------


def test_a_node_that_stands_for_several_samples_counts_as_several():
    X = np.vstack([roll(8), roll(8)[:2]])
    with pytest.warns(DuplicatePointsWarning):
        graph = graphs.knn(X, n_neighbors=3)
    assert graph.n == 8
    R = np.random.default_rng(5).standard_normal((8, 3))
    K, samples = R @ R.T, (R @ R.T)[np.ix_(graph.index, graph.index)]
    expected = samples.sum(axis=1) - np.diag(samples)
    got = evaluate(leave_one_out(graph.counts), {"K": K})
    np.testing.assert_allclose(np.sort(got), np.sort(expected))
    model = methods.loocv(graph)
    limit = next(b for b in model.blocks if isinstance(b, TraceAtMost)).limit
    np.testing.assert_allclose(limit, 2.0 * np.sum(np.square(X - X.mean(axis=0))))
    assert sdpdr.solve(model, "clarabel", "gram").status is Status.SOLVED


# -- invariance ------------------------------------------------------------------------------------


def test_scaling_and_reordering(solved):
    order = np.random.default_rng(1).permutation(12)
    other = graphs.knn(3.0 * roll(12)[order] + 7.0, n_neighbors=3)
    again = sdpdr.solve(methods.loocv(other), "clarabel", "gram").value
    np.testing.assert_allclose(again, 9.0 * solved.value, rtol=1e-6)


def test_lengths_that_may_shrink_would_let_everything_fall_into_one_point(graph):
    with pytest.raises(ModelError, match="fall into one point"):
        methods.loocv(graph, isometry="inequality")
    model = methods.loocv(graph)
    blocks = [Isometry(graph) if b.label == "isometry" else b for b in model.blocks]
    solution = sdpdr.solve(Model(tuple(blocks), maximize=True), "clarabel", "gram", tol=1e-7)
    np.testing.assert_allclose(solution.value, 11 * 2 * TRACE / 12, rtol=1e-6)
    np.testing.assert_allclose(dense(solution), 2 * TRACE / 12, rtol=1e-3)


# -- refusals --------------------------------------------------------------------------------------


def test_a_limit_is_asked_for_where_none_is_known():
    with pytest.raises(ModelError, match=r"grows for ever.*Give trace, unit=True or minimum"):
        methods.loocv(graphs.path([1.0, 1.0]))


@pytest.mark.parametrize("given", [{"trace": 0.0}, {"trace": -1.0}, {"trace": np.inf}])
def test_a_limit_that_is_none_is_refused(given):
    with pytest.raises(ModelError, match="positive and finite"):
        methods.loocv(graphs.path([1.0, 1.0]), **given)


def test_parts_that_know_nothing_of_each_other_are_refused():
    with pytest.raises(DisconnectedGraphError):
        methods.loocv(graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0]), trace=1.0)


def test_too_small_a_trace_is_infeasible():
    solution = sdpdr.solve(methods.loocv(simplex(4, 2.0), trace=2.0), "clarabel", "gram")
    assert solution.status is Status.INFEASIBLE


@pytest.mark.parametrize("seed", range(2))
def test_the_points_moved_from_the_origin_are_within_the_trace_of_the_estimator(seed):
    X = np.random.default_rng(seed).standard_normal((12, 3))
    X[0] *= 4.0
    learner = sdpdr.LOOCVUnfolding()
    model = learner._model(graphs.knn(X, n_neighbors=6), X, None)
    limit = next(b.limit for b in model.blocks if isinstance(b, TraceAtMost))
    centred = X - X.mean(axis=0)
    gram = centred @ centred.T
    moved = gram - min(gram.min(), 0.0)
    assert moved.min() >= 0.0
    assert np.trace(moved) < limit


# -- by folding ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_multipliers_of_a_geometric_mean_are_its_slopes(size):
    values = np.exp(np.random.default_rng(size).standard_normal(size))
    mean = GeometricMean(Diagonal(size) @ Var("K"))
    root = float(np.exp(np.mean(np.log(values))))
    scalars, multipliers = mean.scalars(values), mean.multipliers(values)
    assert scalars[0] == pytest.approx(root)
    slopes = np.zeros(size)
    for (one, other), matrix in zip(mean._pairs, multipliers, strict=True):
        assert np.linalg.eigvalsh(matrix)[0] > -1e-12 * np.trace(matrix)
        for k, slope in zip((one, other), np.diag(matrix), strict=True):
            if k >= 0:
                slopes[k] += slope
    if size > 1:
        np.testing.assert_allclose(slopes, root / (size * values))


@pytest.mark.parametrize("size", [2, 5, 12])
def test_scalars_with_room_hold_all_matrix_inequalities_strictly(size):
    values = np.exp(np.random.default_rng(size).standard_normal(size))
    mean, room = GeometricMean(Diagonal(size) @ Var("K")), 1e-3
    full, scalars = mean.scalars(values), mean.scalars(values, room)
    for s, pair in enumerate(mean._pairs):
        one, other = (values[k] if k >= 0 else scalars[-1 - k] for k in pair)
        assert scalars[s] <= np.sqrt(one * other) * (1.0 - 0.9 * room)
    assert 1.0 - 20.0 * room < scalars[0] / full[0] < 1.0


def is_by_folding(run):
    return run.words.startswith("of the folded kernel")


@pytest.mark.nightly
def test_solved_by_folding_the_optimum_is_that_of_the_program_as_it_is_written(graph):
    whole = sdpdr.solve(methods.loocv(graph, 10.0 * TRACE), "clarabel", "gram", tol=1e-7)
    found = iterate.solve_loocv(graph, 10.0 * TRACE, tol=1e-5)
    assert found.status is Status.SOLVED
    assert all(map(is_by_folding, found.runs))
    np.testing.assert_allclose(found.value, whole.value, rtol=1e-5)
    assert found.attained <= whole.bound * (1.0 + 1e-9)
    assert found.bound >= whole.attained * (1.0 - 1e-9)
    for run in found.runs:
        assert run.bound is None or run.bound >= whole.attained * (1.0 - 1e-9)


@pytest.mark.nightly
def test_a_band_is_folded_as_well(graph):
    whole = sdpdr.solve(methods.loocv(graph, 10.0 * TRACE, isometry=Band(0.1)), "clarabel", "gram")
    found = iterate.solve_loocv(graph, 10.0 * TRACE, Band(0.1), tol=1e-5)
    assert found.certified()
    assert all(map(is_by_folding, found.runs))
    np.testing.assert_allclose(found.value, whole.value, rtol=1e-5)


def test_where_folding_falls_short_the_program_is_solved_as_it_is_written(graph, solved):
    """A trace so small that the inequality of the means loses more than the tolerance."""
    found = iterate.solve_loocv(graph, time_limit=60.0)
    assert found.certified(1e-6)
    assert not any(map(is_by_folding, found.runs))
    np.testing.assert_allclose(found.value, solved.value, rtol=2e-6)


@pytest.mark.parametrize("has_point", [True, False])
def test_where_folding_is_stopped_the_larger_program_is_not_tried(graph, monkeypatch, has_point):
    solves = []

    def stopped(model, **options):
        solves.append(model)
        found = sdpdr.solve(model, **options)
        return replace(found, status=Status.TIME_LIMIT, values=found.values if has_point else {})

    monkeypatch.setattr("sdpdr.families.unfold.loocv_by_fold.solve", stopped)
    found = iterate.solve_loocv(graph, 10.0 * TRACE, Band(0.1), tol=1e-5)
    assert len(solves) == 1
    assert bool(found.values) is has_point
    assert found.status is (Status.SOLVED if has_point else Status.TIME_LIMIT)
    assert found.bound >= found.value if has_point else found.bound > 0.0


def test_a_trace_that_no_kernel_has_is_infeasible_by_folding_too():
    found = iterate.solve_loocv(simplex(4, 2.0), trace=2.0)
    assert found.status is Status.INFEASIBLE


def test_lengths_that_have_a_penalty_are_not_folded(graph):
    for isometry in (Slack(1.0), "inequality"):
        with pytest.raises(ModelError, match="fold into one"):
            methods.fold(graph, isometry)
    with pytest.raises(ModelError, match="fold into one"):
        iterate.solve_loocv(graph, isometry=Slack(1.0))


@pytest.mark.nightly
@pytest.mark.integration
def test_many_points_in_a_band_are_proved_by_folding_on_both_sides():
    graph = graphs.knn(roll(50), n_neighbors=4, connect="mst")
    found = iterate.solve_loocv(graph, isometry=Band(0.01), tol=1e-5)
    assert found.status is Status.SOLVED
    assert all(map(is_by_folding, found.runs))
    model = methods.loocv(graph, isometry=Band(0.01))
    assert max(model.violations(found.values).values()) == 0.0


@pytest.mark.parametrize(("room", "is_inside"), [(1e-9, True), (0.0, False), (-1e-9, False)])
def test_a_point_inside_of_matrix_inequalities_is_feasible_as_it_is(room, is_inside):
    """At the boundary of one nothing is said, and beyond it least of all."""
    mean = GeometricMean(Diagonal(6) @ Var("K"))
    sdp = Model((Gram(6), TraceAtMost(6, 6.0), mean), maximize=True).to_sdp()
    factor = np.sqrt(1.0 - 1e-9) * np.diag(np.exp(0.01 * np.cos(np.arange(6.0))))
    factor /= max(1.0, np.linalg.norm(factor) / np.sqrt(6.0 * (1.0 - 1e-9)))
    scalars = mean.scalars(np.square(np.diag(factor)), room)
    found = attained(sdp, {"K": Factor(factor), mean.name: scalars})
    assert (found is not None) is is_inside
    if is_inside:
        assert found.value == pytest.approx(scalars[0], rel=1e-12)
