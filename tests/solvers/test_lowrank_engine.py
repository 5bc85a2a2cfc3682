"""The low-rank engine: its derivatives, known optima, what it proves, and how it fails."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import helmert
from scipy.spatial import cKDTree

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Band
from sdpdr.errors import DataError, DisconnectedGraphError, ModelError, ShapeError
from sdpdr.program import Status
from sdpdr.solvers.lowrank import EdgeProgram, Options, solve_edge_program
from sdpdr.solvers.lowrank.edge.certificate import connectivity, dual_bound
from sdpdr.solvers.lowrank.edge.newton import BlockLaplacian
from sdpdr.solvers.lowrank.edge.pencil import EdgePencil
from sdpdr.solvers.lowrank.edge.program import LengthRows, Objective


def swiss(n, seed=0):
    rng = np.random.default_rng(seed)
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    h = 21 * rng.random(n)
    return np.column_stack([t * np.cos(t), h, t * np.sin(t)])


def spiral(n):
    a = np.linspace(0, 1, n) ** 0.65 * 3 * np.pi + np.pi
    return np.column_stack([a * np.cos(a), a * np.sin(a)])


def knn(X, k):
    _, index = cKDTree(X).query(X, k + 1)
    pairs = np.column_stack([np.repeat(np.arange(len(X)), k), index[:, 1:].ravel()])
    edges = np.unique(np.sort(pairs, axis=1), axis=0)
    return edges, sqdist(X, edges)


def sqdist(X, edges):
    edges = np.asarray(edges)
    return ((X[edges[:, 0]] - X[edges[:, 1]]) ** 2).sum(axis=1)


def path(n):
    return [(i, i + 1) for i in range(n - 1)]


def cycle(n):
    return [*path(n), (0, n - 1)]


def complete(n):
    return list(combinations(range(n), 2))


def spiral_program(**limits):
    edges, d = knn(spiral(20), 3)
    return EdgeProgram(edges, 20, d, **{k: v(d) if callable(v) else v for k, v in limits.items()})


def swiss_program(n, k, **limits):
    edges, d = knn(swiss(n), k)
    return EdgeProgram(
        edges, n, d, **{key: v(d) if callable(v) else v for key, v in limits.items()}
    )


def same(d):
    return d


# --- laws -------------------------------------------------------------------------------------


def test_newton_matrix_is_the_second_derivative():
    rng = np.random.default_rng(0)
    n, r, sigma = 7, 3, 2.0
    edges = np.array([*cycle(n), (0, 3), (2, 5)])
    mass = rng.uniform(1, 2, n)
    target, R, X = rng.uniform(1, 2, len(edges)), rng.normal(size=(n, r)), rng.normal(size=(n, r))

    def value(Z):
        q = sqdist(Z, edges)
        return 0.5 * sigma * ((q - target) ** 2).sum() - (mass[:, None] * Z**2).sum()

    delta = R[edges[:, 0]] - R[edges[:, 1]]
    weights = sigma * (sqdist(R, edges) - target)
    matrix = BlockLaplacian(edges, mass, r)
    matrix.assemble(weights, np.full(len(edges), sigma), delta)
    assert matrix.factorize(-2.0) >= 0
    t = 1e-4
    curvature = (value(R + t * X) - 2 * value(R) + value(R - t * X)) / t**2
    upper = matrix.upper(-2.0).toarray()
    full = upper + np.triu(upper, 1).T
    assert X.ravel() @ full @ X.ravel() == pytest.approx(curvature, rel=1e-5)
    np.testing.assert_allclose(full @ matrix.solve(X).ravel(), X.ravel(), atol=1e-8)


def laplacian(program, weights):
    edges = program.difference.toarray()
    return edges.T @ (weights[:, None] * edges)


def test_rows_of_mixed_limits():
    program = EdgeProgram(
        [(0, 1), (0, 2), (1, 2)],
        3,
        2.0,
        lower=[-np.inf, 1.0, 2.0],
        upper=[3.0, 3.0, 2.0],
        penalty=5.0,
    )
    rows = LengthRows.of(program)
    assert rows.edge.tolist() == [0, 1, 1, 2]
    assert rows.target.tolist() == [1.5, 1.5, 0.5, 1.0]
    assert rows.low.tolist() == [0.0, 0.0, -10.0, -10.0]
    assert rows.high.tolist() == [10.0, 10.0, 0.0, 10.0]
    np.testing.assert_allclose(rows.weights(np.array([2.0, 4.0, -1.0, 6.0])), [1.0, 1.5, 3.0])


@pytest.mark.parametrize("n", [60, 260])
def test_connectivity_is_a_lower_bound_of_the_second_eigenvalue(n):
    program, centred = swiss_program(n, 5), helmert(n)
    rng = np.random.default_rng(2)
    for weights in (rng.random(program.m), rng.normal(size=program.m) + 0.2):
        L = laplacian(program, weights)
        exact = np.linalg.eigvalsh(centred @ L @ centred.T)[0]
        lower = connectivity(EdgePencil(program), weights, 1e-8).lower
        assert lower <= exact + 1e-9 * max(1, abs(exact))


def test_any_weights_bound_the_optimum():
    program = swiss_program(60, 5)
    optimum = solve_edge_program(program).value
    rng = np.random.default_rng(3)
    for _ in range(5):
        weights = rng.random(program.m)
        lower = connectivity(EdgePencil(program), weights, 1e-8).lower
        assert dual_bound(program, weights, lower) >= optimum


def test_penalties_hold_points_together_that_pay_for_the_variance_there_is():
    """Half the variance needs half the penalty: of one edge a quarter."""
    half = Objective(np.ones(2), 0.5)
    dear = EdgeProgram([(0, 1)], 2, 1.0, penalty=0.3, objective=half)
    assert solve_edge_program(dear).value == pytest.approx(0.25, rel=1e-6)
    with pytest.raises(ModelError, match="too low"):
        solve_edge_program(replace(dear, penalty=0.2))


def test_same_seed_same_answer_to_the_last_bit():
    program = swiss_program(100, 4)
    first, second = (solve_edge_program(program, Options(seed=4)) for _ in range(2))
    assert np.array_equal(first.R, second.R)
    assert np.array_equal(first.weights, second.weights)


def test_answer_satisfies_the_optimality_conditions():
    program = swiss_program(100, 4)
    result = solve_edge_program(program)
    L = laplacian(program, result.weights)
    np.testing.assert_allclose(L @ result.R, result.R, atol=1e-4 * abs(result.R).max())
    assert (result.weights >= 0).all()
    slack = program.upper - sqdist(result.R, program.edges)
    assert abs(result.weights * slack).max() <= 1e-6 * result.value
    np.testing.assert_allclose(result.R.mean(axis=0), 0, atol=1e-9 * abs(result.R).max())


# --- oracles ----------------------------------------------------------------------------------


def test_path_is_a_line_with_known_weights():
    lengths = np.array([1, 2, 0.5, 1.5, 1, 3, 0.7])
    result = solve_edge_program(EdgeProgram(path(8), 8, lengths**2))
    assert result.value == pytest.approx(85.36, rel=1e-8)
    expected = [4.65, 4.15, 19.9, 7.4, 10.75, 3.13333, 7.21429]
    np.testing.assert_allclose(result.weights, expected, rtol=1e-5)


def test_complete_graph_returns_the_data():
    X = np.random.default_rng(0).standard_normal((10, 3))
    X -= X.mean(axis=0)
    result = solve_edge_program(EdgeProgram(complete(10), 10, sqdist(X, complete(10))))
    assert result.value == pytest.approx(19.628908743, rel=1e-8)
    np.testing.assert_allclose(result.R @ result.R.T, X @ X.T, atol=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("penalty", "two_sided", "value"),
    [
        (1.01 * 3.251265, False, 2508.3134),
        (1.01 * 3.251265, True, 2426.7255),
        (6.2, False, 1628.40392),
        (22.0, True, 1610.44463),
    ],
)
def test_no_multiplier_is_larger_than_the_penalty_of_slack(penalty, two_sided, value):
    limits = {"lower": same} if two_sided else {}
    result = solve_edge_program(spiral_program(penalty=penalty, **limits), Options(tol=1e-6))
    assert result.status == "converged"
    assert result.value == pytest.approx(value, rel=1e-6)
    assert abs(result.weights).max() <= penalty * (1 + 1e-12)


def test_equality_whose_multipliers_are_unbounded():
    program = swiss_program(100, 4, lower=same)
    result = solve_edge_program(program)
    assert result.value == pytest.approx(24496.0, abs=0.3)
    assert abs(result.gap) <= 1e-5
    assert abs(sqdist(result.R, program.edges) / program.sqdist - 1).max() <= 1e-6


# --- rank, start, limits ----------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("rank", [1, 5])
def test_rank_grows_to_the_certified_optimum(rank):
    X = np.random.default_rng(0).standard_normal((40, 5))
    edges, d = knn(X, 6)
    result = solve_edge_program(EdgeProgram(edges, 40, d), Options(rank=rank))
    assert result.status == "converged"
    assert result.R.shape[1] > 2
    assert result.value == pytest.approx(
        solve_edge_program(EdgeProgram(edges, 40, d)).value, rel=2e-8
    )


def test_a_shape_without_variance_to_stretch_does_not_drift_apart():
    graph = graphs.from_edges(3, path(3), [0.5657, 1.39725])
    side = [0.39988572818992507, 0.8620741371095779, 0.37124079199745974]
    assert sdpdr.solve(methods.colored_mvu(graph, side), "lowrank").certified(1e-6)


@pytest.mark.parametrize(
    ("options", "status"),
    [(Options(max_iter=4), "max_iter"), (Options(time_limit=0.0), "time_limit")],
)
def test_limits_return_the_point_reached(options, status):
    result = solve_edge_program(swiss_program(100, 4), options)
    assert result.status == status
    assert np.isfinite(result.R).all()
    assert result.value <= 26004.92
    assert result.bound >= 26004.91


def test_interruption_returns_the_point_reached():
    def stop(record):
        if record.iteration == 12:
            raise KeyboardInterrupt

    result = solve_edge_program(swiss_program(100, 4), Options(callback=stop))
    assert result.status == "interrupted"
    assert 20000 < result.value < 26004.92


@pytest.mark.parametrize("most", [0, 1000])
def test_fill_is_announced_instead_of_tried(most):
    result = solve_edge_program(swiss_program(100, 4), Options(max_fill=most))
    assert result.status == "stalled"
    assert result.factorizations == 0
    assert "fewer neighbours" in result.message


@pytest.mark.nightly
def test_a_band_that_its_shift_rounds_to_one_length_ends_without_an_error():
    """Three lengths of a triangle of which one is longer than the others together."""
    graph = graphs.from_edges(4, [[0, 1], [0, 2], [1, 2], [1, 3]], [1.0, 9.0, 1.0, 1.0])
    found = sdpdr.solve(methods.mvu(graph, isometry=Band(1e-6)), "lowrank")
    assert found.status is Status.INFEASIBLE


# --- faults -----------------------------------------------------------------------------------


def test_disconnected_edges_are_refused():
    with pytest.raises(DisconnectedGraphError, match="2 separate parts") as caught:
        solve_edge_program(EdgeProgram([(0, 1), (2, 3)], 4, 1.0))
    assert [len(part) for part in caught.value.components] == [2, 2]


def test_contradictory_equalities_are_not_certified():
    program = EdgeProgram(complete(3), 3, [1.0, 1.0, 9.0], lower=[1.0, 1.0, 9.0], upper=[1, 1, 9.0])
    result = solve_edge_program(program, Options(max_iter=400))
    assert result.status != "converged"
    assert result.infeasibility > 1e-3


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"edges": [(1, 0)]}, DataError, "sort the pairs"),
        ({"edges": [(0, 1), (0, 1)], "sqdist": [1.0, 1.0]}, DataError, "twice"),
        ({"edges": [0, 1]}, ShapeError, "expected \\(m, 2\\)"),
        ({"sqdist": [1.0, 2.0]}, ShapeError, "scalar or \\(1,\\)"),
        ({"sqdist": 0.0}, DataError, "merge duplicate points"),
        ({"sqdist": np.nan}, DataError, "finite"),
        ({"mass": [1.0, -1.0]}, DataError, "mass\\[1\\]"),
        ({"penalty": 0.0}, DataError, "penalty"),
        ({"lower": 3.0, "upper": 2.0}, DataError, "lower <= upper"),
        ({"upper": np.inf}, ModelError, "unbounded"),
    ],
)
def test_bad_programs_are_refused_in_words(change, error, words):
    with pytest.raises(error, match=words):
        EdgeProgram(**{"edges": [(0, 1)], "n": 2, "sqdist": 1.0, **change})


@pytest.mark.parametrize(
    ("start", "error"), [(np.ones((3, 1)), ShapeError), (np.full((2, 1), np.nan), DataError)]
)
def test_bad_starts_are_refused(start, error):
    with pytest.raises(error, match="start"):
        solve_edge_program(EdgeProgram([(0, 1)], 2, 1.0), start=start)
