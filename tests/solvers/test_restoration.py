"""Points brought back onto exact lengths: what they miss falls to rounding."""

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.solvers.lowrank import EdgeProgram, Options, solve_edge_program
from sdpdr.solvers.lowrank.edge.certificate import primal_value
from sdpdr.solvers.lowrank.edge.start import restored


def perturbed(seed):
    X = np.random.default_rng(seed).standard_normal((30, 3))
    graph = graphs.knn(X, 4, connect="mst")
    noise = 1e-4 * np.random.default_rng(seed + 1).standard_normal((30, 6))
    return graph, np.hstack([X, np.zeros((30, 3))]) + noise


@pytest.mark.parametrize("seed", range(2))
def test_exact_lengths_are_met(seed):
    graph, R = perturbed(seed)
    program = EdgeProgram(graph.edges, 30, graph.sqdist, lower=graph.sqdist)
    back = restored(program, R)
    assert primal_value(program, R)[1] > 1e-5
    assert primal_value(program, back)[1] < 1e-13
    centred = R - R.mean(axis=0)
    assert np.abs(back - centred).max() < 1e-2


def test_bands_move_only_what_is_outside():
    graph, R = perturbed(7)
    band = {"lower": 0.5 * graph.sqdist, "upper": 2.0 * graph.sqdist}
    inside = EdgeProgram(graph.edges, 30, graph.sqdist, **band)
    np.testing.assert_array_equal(restored(inside, R), R)


def test_penalized_lengths_are_left_alone():
    graph, R = perturbed(8)
    soft = EdgeProgram(graph.edges, 30, graph.sqdist, lower=graph.sqdist, stiffness=1.0)
    np.testing.assert_array_equal(restored(soft, R), R)


def test_values_of_exact_lengths_are_no_longer_too_good():
    """Multipliers of 1e5 made a violation of 1e-8 worth more than the gap."""
    X = datasets.swiss_roll(60, seed=0)[0]
    graph = graphs.knn(X, 4, connect="mst")
    program = EdgeProgram(graph.edges, 60, graph.sqdist, lower=graph.sqdist)
    result = solve_edge_program(program, Options(tol=1e-7))
    worth = result.infeasibility * float(np.abs(result.weights) @ graph.sqdist) / result.value
    assert worth < 1e-7
    assert 0.0 <= result.gap < 3e-6


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("width", [1e-3, 1e-8])
def test_bands_are_kept_by_more_than_rounding(seed, width):
    """A length on the edge of its band, to the last digit, is proved to lie nowhere."""
    graph, _ = perturbed(seed)
    R = np.random.default_rng(seed).standard_normal((30, 6))
    i, j = graph.edges.T
    square = np.square(R[i] - R[j]).sum(axis=1)
    band = EdgeProgram(graph.edges, 30, square, lower=(1 - width) * square, upper=square)
    noise = np.random.default_rng(seed + 1).standard_normal(R.shape)
    moved = R * (1.0 - width / 8.0) + 0.1 * width * noise
    back = restored(band, moved)
    lengths = np.square(back[i] - back[j]).sum(axis=1)
    room = np.minimum(band.upper - lengths, lengths - band.lower) / square
    assert primal_value(band, moved)[1] > 0.0
    assert room.min() > 1e-14
    assert np.abs(back - moved + moved.mean(axis=0)).max() < 100.0 * width


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1])
def test_exact_lengths_without_interior_are_optimal_for_data_nearby(seed):
    """Multipliers without bound left 2e-6 of the gap, and other solvers took their turns."""
    noise = np.random.default_rng(100 + seed).standard_normal((34, 3))
    X = datasets.swiss_roll(34, seed=seed)[0] + 0.5 * noise
    model = methods.mvu(graphs.knn(X, 5, connect="mst"), isometry="equality")
    solution = sdpdr.solve(model, "lowrank", tol=1.5e-6)
    assert solution.status is sdpdr.Status.OPTIMAL_NEARBY
    assert solution.bound is not None
    assert abs(solution.apparent_gap) < 1.5e-6
    assert solution.epsilon < 1.5e-6
