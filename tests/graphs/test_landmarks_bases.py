"""Bases of the landmark form: reconstruction weights, Laplacian eigenvectors, routed weights."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr import datasets, graphs
from sdpdr.errors import DataError, DisconnectedGraphError
from sdpdr.graphs.bases import laplacian_basis, reconstruction_basis
from sdpdr.graphs.shortest_paths import routing_weights
from sdpdr.graphs.weighing import reconstruction_weights

ROLL = graphs.knn(datasets.swiss_roll(120, 0)[0], n_neighbors=6)
PLANE = np.random.default_rng(0).random((150, 2))
FLAT = graphs.knn(PLANE, n_neighbors=8)


def without_points(graph):
    return graphs.NeighborGraph(graph.n, graph.edges, graph.sqdist)


def relative_error(basis, points, chosen):
    return np.abs(basis @ points[chosen] - points).max() / np.ptp(points)


def test_one_iteration_gives_the_weights_of_locally_linear_embedding():
    points = datasets.swiss_roll(120, 0)[0]
    weights = reconstruction_weights(ROLL, iterations=1).toarray()
    for i in (0, 7, 100):
        near = np.flatnonzero(weights[i])
        steps = points[near] - points[i]
        gram = steps @ steps.T
        solved = np.linalg.solve(
            gram + 1e-3 * np.trace(gram) * np.eye(len(near)), np.ones(len(near))
        )
        np.testing.assert_allclose(weights[i, near], solved / solved.sum(), rtol=1e-8)


def test_the_plane_comes_back_from_landmarks():
    chosen = graphs.landmarks(FLAT, 12)
    assert relative_error(reconstruction_basis(FLAT, chosen), PLANE, chosen) < 1e-3


@pytest.mark.parametrize("graph", [ROLL, without_points(ROLL)], ids=["points", "lengths"])
def test_rows_of_the_basis_sum_to_one_and_landmarks_are_themselves(graph):
    chosen = graphs.landmarks(graph, 9)
    basis = reconstruction_basis(graph, chosen)
    np.testing.assert_allclose(basis.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(basis[chosen], np.eye(9))


def test_points_of_a_plane_that_reproduce_each_other_are_placed():
    """Three neighbours reproduce a point exactly, so some points need no landmark at all."""
    graph = graphs.knn(np.random.default_rng(2).standard_normal((500, 2)), 3, connect="mst")
    basis = reconstruction_basis(graph, graphs.landmarks(graph, 20))
    np.testing.assert_allclose(basis.sum(axis=1), 1.0, atol=1e-12)
    assert np.abs(basis).sum(axis=1).max() < 1e3


def test_the_basis_minimises_the_sum_of_squared_residuals():
    chosen = graphs.landmarks(ROLL, 5)
    basis = reconstruction_basis(ROLL, chosen)
    residual = np.eye(ROLL.n) - reconstruction_weights(ROLL).toarray()
    gradient = residual.T @ (residual @ basis)
    others = np.setdiff1d(np.arange(ROLL.n), chosen)
    assert np.abs(gradient[others]).max() < 1e-9 * np.abs(gradient).max() + 1e-10


@pytest.mark.parametrize("n", [60, 400])
def test_eigenvectors_are_orthonormal_centred_and_the_smoothest(n):
    graph = graphs.knn(datasets.swiss_roll(n, 0)[0], n_neighbors=6)
    basis = laplacian_basis(graph, 7)
    np.testing.assert_allclose(basis.T @ basis, np.eye(7), atol=1e-9)
    np.testing.assert_allclose(basis.sum(axis=0), 0.0, atol=1e-9)
    laplacian = graph.laplacian().toarray()
    exact = np.linalg.eigvalsh(laplacian)[1:8]
    np.testing.assert_allclose(np.diag(basis.T @ laplacian @ basis), exact, rtol=1e-8)


def test_routed_weights_of_a_path_are_the_optimal_multipliers():
    # On a path the bound of Isomap is attained; weights are known in closed form.
    lengths = np.array([1.0, 2.0, 0.5, 1.5])
    graph = graphs.path(lengths)
    line = np.concatenate([[0.0], np.cumsum(lengths)])
    optimal = -np.cumsum(line - line.mean())[:-1] / lengths
    np.testing.assert_allclose(routing_weights(graph, np.arange(5)) / 2.0, optimal)


TWO = graphs.NeighborGraph(4, [[0, 1], [2, 3]], [1.0, 1.0])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: reconstruction_basis(ROLL, [0, 0]), DataError, "distinct nodes"),
        (lambda: reconstruction_basis(ROLL, [ROLL.n]), DataError, r"nodes, 0\.\.119"),
        (lambda: reconstruction_basis(TWO, [0]), DataError, "have no landmark, the one of node 2"),
        (lambda: laplacian_basis(ROLL, ROLL.n), DataError, "besides the constant one"),
        (lambda: laplacian_basis(TWO, 1), DisconnectedGraphError, "2 components"),
    ],
)
def test_errors_of_bases_and_landmarks(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_isolated_nodes_are_named():
    lonely = graphs.NeighborGraph(3, [[0, 1]], [1.0])
    with pytest.raises(DataError, match="cannot be reconstructed: 2"):
        reconstruction_weights(lonely)
