"""The way of the interior point: where it begins, what it assembles, when it looks for a proof."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr import graphs, methods
from sdpdr.solvers.lowrank import Options, solve_factored
from sdpdr.solvers.lowrank.frame import Journal
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.kkt import gathered
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.verdict import Unknowns, broken
from sdpdr.solvers.lowrank.interior.boxes import MARGIN, Boxed
from sdpdr.solvers.lowrank.interior.iteration import Interior
from sdpdr.solvers.lowrank.interior.lift import Reinforcement
from sdpdr.solvers.lowrank.interior.matrix import _cliques, suits
from sdpdr.solvers.lowrank.interior.metric import RowMetric, laplacian, worth
from sdpdr.solvers.lowrank.interior.points import PointBlock
from sdpdr.solvers.lowrank.interior.progress import BoxedErrors, Progress
from sdpdr.solvers.lowrank.interior.start import noisy, shape_from_lengths

from .test_interior import Later, spiral


def unfolding(n):
    """A graph of a spiral, as a problem in scaled units."""
    graph = graphs.knn(spiral(n), n_neighbors=4, connect="mst")
    return compile_problem(methods.mvu(graph).to_sdp())


def errors(gap=1e-8, stationarity=1e-8, missed=0.0):
    return BoxedErrors(gap, residual=0.0, stationarity=stationarity, violation=0.0, missed=missed)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), order=st.integers(1, 9), count=st.integers(1, 60))
def test_pairs_are_gathered_as_sorting_them_would(seed, order, count):
    one, other = np.random.default_rng(seed).integers(order, size=(2, count))
    to, starts, columns = gathered(one, other, order)
    low, high = np.minimum(one, other), np.maximum(one, other)
    keys, inverse = np.unique(low * order + high, return_inverse=True)
    assert to.tolist() == inverse.tolist()
    assert columns.tolist() == (keys % order).tolist()
    assert starts.tolist() == np.searchsorted(keys // order, np.arange(order + 1)).tolist()


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 5), width=st.integers(1, 6))
def test_cliques_write_all_pairs_of_slopes(seed, m, width):
    rng = np.random.default_rng(seed)
    slopes, stiffness = rng.standard_normal(m * width), rng.uniform(0.1, 2.0, m)
    count = np.full(m, width)
    (clique,) = _cliques(np.arange(m * width), np.arange(m) * width, count, width)
    out = np.full(m * width * (width + 1) // 2 + 3, np.nan)
    filled = clique.fill(out, slopes, stiffness)
    first, second = clique.pairs
    every = np.triu_indices(width)
    assert sorted(zip(first, second, strict=True)) == sorted(zip(*every, strict=True))
    own = slopes.reshape(m, width).T
    wanted = stiffness * own[first] * own[second]
    assert out[:filled] == pytest.approx(wanted.ravel())
    assert np.isnan(out[filled:]).all()


def test_limits_that_a_start_breaks_have_products_of_the_barrier_in_size():
    """At the price of exact rows they would be all that the first steps look at."""
    problem = unfolding(30)
    boxed = Boxed.of(problem)
    shape = 3.0 * shape_from_lengths(problem, problem.blocks[0], seed=0)
    at = Interior(boxed, (shape.shape[1],), Journal(Options()), size=1.0)
    point = at.begin([shape])
    broken = problem.rhs < problem.blocks[0].forms.values(shape)[1:]
    assert broken.sum() > problem.m / 2
    products = (at.boxes.high - point.y) * point.slack_high
    assert products[broken] == pytest.approx(point.mu)


@pytest.mark.parametrize("size", [1.0, 1e4])
def test_noise_is_small_beside_a_shape_and_beside_its_lengths(size):
    shape = size * np.linspace(0.0, 1.0, 200)[:, None]
    noise = noisy(shape, 4, seed=0)
    noise[:, :1] -= shape
    assert np.abs(noise).std() <= min(1e-2 * size, 0.3)


def test_shapes_from_lengths_are_relaxed_into_their_limits():
    problem = unfolding(60)
    shape = shape_from_lengths(problem, problem.blocks[0], seed=0)
    away = problem.blocks[0].forms.values(shape)[1:] - problem.rhs
    assert np.max(away) < 0.3


def test_a_proof_is_looked_for_where_rows_hold_and_again_when_more_is_promised():
    progress = Progress(1e-7, content=1e-6)
    assert not progress.take_a_proof(errors(gap=6e-7))
    assert not progress.take_a_proof(errors(gap=4e-7, missed=MARGIN * 1e-7))
    assert progress.take_a_proof(errors(gap=4e-7))
    assert not progress.take_a_proof(errors(gap=3e-7))
    assert not progress.take_a_proof(errors(gap=1e-9, stationarity=2e-5))
    assert progress.take_a_proof(errors(gap=1e-7))


def test_rows_are_waited_for_a_few_steps_only():
    progress = Progress(1e-7, content=1e-6)
    waits = [progress.settle(errors(gap=4e-7, missed=1e-3)) for _ in range(20)]
    assert waits[0]
    assert 2 < sum(waits) < 10


def test_without_a_gap_to_prove_nothing_is_looked_for():
    progress = Progress(1e-7, content=0.0)
    assert not progress.take_a_proof(errors(gap=0.0, stationarity=0.0))
    assert not progress.settle(errors(gap=0.0, stationarity=0.0))


@pytest.mark.nightly
@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_what_a_gradient_is_worth_bounds_every_move_of_that_size(seed):
    rng, points = np.random.default_rng(seed), PointBlock.of(unfolding(20).blocks[0])
    metric, at = RowMetric(points), rng.standard_normal((20, 3))
    gradient, move = rng.standard_normal((2, 20, 3))
    limit = metric.force(gradient) * metric.size(move)
    assert abs(np.sum(gradient * move)) <= limit * (1.0 + 1e-9)
    best = np.linalg.solve(dense(points), gradient)
    assert np.sum(gradient * best) == pytest.approx(metric.force(gradient) * metric.size(best))
    assert worth([metric], [gradient], [at]) > abs(np.sum(gradient * at))


def test_a_force_on_neighbours_is_worth_little_more_on_a_longer_path():
    """Plain norms say ten times as much where the path is ten times as long."""
    found, plain = [], []
    for n in (20, 200):
        path = compile_problem(methods.mvu(graphs.path(np.ones(n - 1))).to_sdp())
        pull = np.zeros((n, 1))
        pull[3:5] = [[1.0], [-1.0]]
        straight = (np.arange(n) - (n - 1) / 2)[:, None]
        found.append(
            worth([RowMetric(PointBlock.of(path.blocks[0]))], [pull], [straight]) / np.sqrt(n)
        )
        plain.append(np.linalg.norm(pull) * np.linalg.norm(straight) / np.sqrt(n))
    assert plain[1] > 9.9 * plain[0]
    assert found[1] < 3.0 * found[0]


def test_norms_are_plain_where_long_vectors_are_points():
    unfolded = methods.density_map(graphs.knn(np.random.default_rng(0).standard_normal((40, 2))))
    problem = compile_problem(unfolded.to_sdp())
    points = next(p for p in map(PointBlock.of, problem.blocks) if p.n > p.block.n)
    metric, gradient = RowMetric(points), np.ones((points.block.n, 2))
    assert metric.force(gradient) == pytest.approx(np.linalg.norm(gradient))
    assert metric.size(points.extended(gradient)) == pytest.approx(
        np.linalg.norm(points.extended(gradient))
    )


def dense(points):
    """The matrix of the metric."""
    diagonal, other = laplacian(points.forms)
    matrix, off = np.diag(diagonal), points.forms.i != points.forms.j
    i, j = points.forms.i[off], points.forms.j[off]
    matrix[i, j] = matrix[j, i] = other[off]
    return matrix


@pytest.mark.nightly
@pytest.mark.parametrize("less", [1e-4, 1e-2])
def test_multipliers_a_little_too_small_are_raised_until_no_eigenvalue_is_negative(less):
    """All negative eigenvalues at once, and bounds stay near what they were."""
    problem = unfolding(40)
    answer = solve_factored(problem.sdp, Options(tol=1e-9))
    y = problem.multipliers_of(answer.point)
    factor = answer.point.values["K"].factor / np.sqrt(problem.units.unknown)
    layout = Layout(problem, (factor.shape[1],))
    vector = layout.join([factor], np.zeros(0))
    lower = y * (1.0 - less * np.random.default_rng(0).uniform(size=y.size))
    value = float(problem.rhs @ y)
    raised = Reinforcement(Unknowns(layout, vector, lower), seed=0)(lower, loss=1e-7 * value)
    slack = problem.blocks[0].forms.slack(np.append(1.0, raised)).toarray()
    mean = np.full((40, 40), 1.0 / 40)
    least = np.linalg.eigvalsh(slack + np.trace(slack) * mean)[0]
    assert least * np.sum(np.square(factor)) >= -1.1e-7 * value
    assert np.all(raised >= lower)
    assert float(problem.rhs @ raised) <= (1.0 + 2.0 * less) * value


@pytest.mark.nightly
def test_temporal_order_begins_near_its_path_and_ends_with_a_proof():
    """It took 47 iterations from a shape at half its size, to the last digit; 31 since."""
    n = 300
    t, width = np.linspace(0.0, 6.0 * np.pi, n), np.random.default_rng(0).uniform(0.0, 5.0, n)
    points = np.column_stack([t * np.cos(t), t * np.sin(t), width])
    model = methods.mvu(graphs.knn(points, n_neighbors=6, connect="mst")) + Later(n, lags=3)
    result = solve_factored(model.to_sdp(), Options(tol=1e-7, enough=1e-6))
    assert result.status == "converged"
    assert abs(result.gap) <= 1e-6
    assert result.iterations <= 42


@pytest.mark.nightly
def test_a_longer_run_has_no_worse_point_that_keeps_all_rows():
    n = 120
    graph = graphs.knn(spiral(n), n_neighbors=4, connect="mst")
    sdp = methods.ism(graph, np.arange(n) < n // 2).to_sdp()
    runs = [
        solve_factored(sdp, Options(tol=1e-8, enough=1e-6, max_iter=k)) for k in range(8, 56, 6)
    ]
    keeping = [broken(sdp, run.point.values) <= 1e-8 for run in runs]
    first = keeping.index(True)
    assert all(keeping[first:])
    assert sum(run.status == "max_iter" for run in runs[first:]) >= 3
    values = [run.value for run in runs[first:]]
    assert np.all(np.diff(values) >= -1e-6 * np.abs(values[:-1]))
    assert all(run.bound >= (1.0 - 1e-6) * values[-1] for run in runs[first:])


@pytest.mark.nightly
def test_what_stays_sparse_is_factored_at_any_size_where_there_is_time_and_room():
    n = 6000
    problem = compile_problem(methods.density_map(graphs.cycle(n), bandwidth=1.0).to_sdp())
    assert suits(problem, np.inf, 3e8)
    assert not suits(problem, np.inf, n)
    line = np.random.default_rng(0).random((n, 2))
    sheet = graphs.knn(line, n_neighbors=6, connect="mst")
    problem = compile_problem(methods.density_map(sheet).to_sdp())
    assert suits(problem, 1000.0, 3e8)
    assert not suits(problem, 1.0, 3e8)
    assert suits(problem, np.inf, 3e8)  # who sets no limit has all the time of any limit
