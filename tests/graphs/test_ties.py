"""Lengths that agree to rounding are equal, and of equals the first is taken."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from sdpdr import graphs

pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning")


def documents(topics, seed=0):
    """Rows of counts weighed like words: those of two topics have no word in common."""
    rng = np.random.default_rng(seed)
    parts = [sp.random_array((20, 50), density=0.15, rng=rng) for _ in range(topics)]
    X = sp.csr_array(sp.block_diag(parts))
    return X[X.sum(axis=1) > 0]


def lattice(seed=0):
    """Points of a lattice of step 0.1 in a random order."""
    points = 0.1 * np.stack(np.meshgrid(np.arange(9), np.arange(8)), axis=-1).reshape(-1, 2)
    return np.random.default_rng(seed).permutation(points)


def turned(X, angle=0.3):
    c, s = np.cos(angle), np.sin(angle)
    return X @ np.array([[c, -s], [s, c]])


def distances(X):
    return graphs.knn(squareform(pdist(X)), 4, metric="precomputed", connect="mst")


def test_bridges_between_parts_equally_far_are_those_of_the_smallest_indices():
    X = documents(2)
    labels = graphs.knn(X, 4, metric="cosine", connect="none").components
    assert labels.max() == 1
    joined = graphs.knn(X, 4, metric="cosine", connect="bridges")
    between = joined.edges[labels[joined.edges[:, 0]] != labels[joined.edges[:, 1]]]
    sizes = np.bincount(labels)
    few, many = (np.flatnonzero(labels == part) for part in np.argsort(sizes, kind="stable"))
    expected = np.sort(np.column_stack([few, np.full(len(few), many[0])]), axis=1)
    assert np.array_equal(between, expected[np.lexsort(expected.T[::-1])][:4])


@pytest.mark.parametrize(
    "changed", [lambda X: X + 1000.3, lambda X: 3.7 * X, turned, sp.csr_array, np.asfortranarray]
)
def test_lattices_moved_scaled_turned_or_sparse_have_the_same_neighbours(changed):
    X = lattice()
    one, other = (graphs.knn(A, 3, connect="mst") for A in (X, changed(X)))
    assert np.array_equal(one.edges, other.edges)


def test_distances_of_a_lattice_have_the_neighbours_of_its_points():
    X = lattice()
    assert np.array_equal(distances(X).edges, graphs.knn(X, 4, connect="mst").edges)
    assert np.array_equal(distances(turned(X)).edges, distances(X).edges)


@pytest.mark.parametrize("features", [2, 12])
def test_furthest_points_of_a_turned_square_are_the_first(features):
    X = np.zeros((81, features))
    X[:, :2] = 0.1 * np.stack(np.meshgrid(np.arange(9), np.arange(9)), axis=-1).reshape(-1, 2)
    expected = graphs.furthest_pairs(10.0 * X).furthest
    X[:, :2] = turned(X[:, :2])
    D = squareform(pdist(X))
    assert np.array_equal(graphs.furthest_pairs(X).furthest, expected)
    assert np.array_equal(graphs.furthest_pairs(D, metric="precomputed").furthest, expected)


@pytest.mark.parametrize("changed", [turned, sp.csr_array])
def test_a_radius_of_one_step_holds_every_step_of_a_lattice(changed):
    assert graphs.radius(changed(lattice()), 0.1).m == 9 * 7 + 8 * 8
