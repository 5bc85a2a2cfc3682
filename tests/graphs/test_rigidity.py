"""What exact lengths leave undecided, and what unfolding makes of it."""

import warnings

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import RigidGraphWarning
from sdpdr.graphs import rigidity


def with_angles(n, k):
    return graphs.knn(sdpdr.datasets.swiss_roll(n, seed=0)[0], n_neighbors=k, angles=True)


def test_null_vectors_are_those_of_the_data():
    X = sdpdr.datasets.swiss_roll(20, seed=0)[0]
    found = rigidity(graphs.knn(X, n_neighbors=4, angles=True))
    assert found.null.shape[1] == 19 - found.order > 10
    np.testing.assert_allclose(found.null.T @ found.null, np.eye(19 - found.order), atol=1e-10)
    np.testing.assert_allclose(found.null.T @ (X - X.mean(axis=0)), 0.0, atol=1e-6)


def test_a_triangulated_point_set_is_decided():
    X = np.random.default_rng(0).standard_normal((12, 2))
    pairs = [(i, j) for i in range(12) for j in range(max(0, i - 3), i)]
    lengths = [np.sum((X[i] - X[j]) ** 2) for i, j in pairs]
    found = rigidity(graphs.from_edges(12, pairs, lengths))
    assert (found.order, found.free) == (2, 0)


@pytest.mark.parametrize(("n", "k"), [(30, 4), (20, 5)])
def test_a_rigid_graph_is_told(n, k):
    with pytest.warns(RigidGraphWarning, match="leave one embedding only"):
        methods.mvu(with_angles(n, k), "equality")


def test_relations_that_give_way_are_not_rigid():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "Flat" not in repr(methods.mvu(with_angles(30, 4), "inequality"))


@pytest.mark.nightly
def test_angles_kept_exactly():
    """The notes' oracle, where plain interior-point codes lose digits or fail.

    Flat cliques of rounded lengths have no point that keeps them all exactly.
    """
    model = methods.mvu(with_angles(20, 4), "equality")
    assert "Flat" in repr(model)
    solution = sdpdr.solve(model, "clarabel", "gram", tol=1e-7)
    assert solution.value == pytest.approx(2448.7424, rel=1e-7)
    assert solution.status is sdpdr.Status.OPTIMAL_NEARBY
    assert solution.epsilon < 1e-7
    assert solution.apparent_gap < 2e-7
