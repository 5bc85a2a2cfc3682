"""Furthest pairs against brute force, through the hull and without it."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist, pdist, squareform

from sdpdr import datasets, graphs
from sdpdr.errors import DataError, DuplicatePointsWarning
from sdpdr.graphs.space import Euclidean


def reach(X):
    return cdist(X, X, "sqeuclidean").max(axis=1)


def achieved(X, pairs):
    return np.square(X - X[pairs.furthest]).sum(axis=1)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 60), dim=st.integers(1, 8))
@settings(max_examples=12)
def test_furthest_equals_brute_force(seed, n, dim):
    X = np.random.default_rng(seed).standard_normal((n, dim))
    pairs = graphs.furthest_pairs(X)
    assert np.array_equal(pairs.furthest, cdist(X, X).argmax(axis=1))
    assert pairs.multiplicity.sum() == n
    assert set(pairs.multiplicity) <= {1, 2}
    i, j = pairs.edges.T
    assert np.allclose(pairs.sqdist, np.square(X[i] - X[j]).sum(axis=1))


@pytest.mark.nightly
@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(2, 40), st.integers(1, 7)),
        elements=st.integers(-2, 2).map(float),
    )
)
@example(X=np.zeros((2, 2)))
@settings(max_examples=12)
def test_lattice_points_of_any_shape_take_the_first_of_equals(X):
    furthest = Euclidean(X).furthest()
    assert np.array_equal(furthest, cdist(X, X, "sqeuclidean").argmax(axis=1))


@given(
    seed=st.integers(0, 10_000),
    rank=st.integers(1, 3),
    features=st.integers(2, 5),
    offset=st.sampled_from([0.0, 1e3]),
)
@settings(max_examples=12)
def test_points_on_lines_and_planes(seed, rank, features, offset):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, rank)) @ rng.standard_normal((rank, features)) + offset
    assert np.allclose(achieved(X, graphs.furthest_pairs(X)), reach(X), rtol=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("shape", ["ball", "sphere", "cube", "circle"])
def test_boxes_of_many_points(shape):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (3000, 2 if shape == "circle" else 3))
    if shape in ("sphere", "circle"):
        X /= np.linalg.norm(X, axis=1)[:, None]
    if shape == "ball":
        X = X[np.linalg.norm(X, axis=1) < 1.0]
    assert np.array_equal(Euclidean(X).furthest(), cdist(X, X).argmax(axis=1))


def test_points_on_the_rim_that_a_hull_may_leave_out():
    # Rounding decides which of the points on an edge of the triangle a hull calls vertices.
    t = np.linspace(0.0, 1.0, 101)[:, None]
    a, b, c = np.array([[0.1, 0.2], [1.3, 0.7], [0.4, 1.9]])
    X = np.vstack([a + t * (b - a), b + t * (c - b), c + t * (a - c)])
    furthest = Euclidean(X).furthest()
    assert np.allclose(np.square(X - X[furthest]).sum(axis=1), reach(X), rtol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_many_features_far_from_the_origin(offset):
    X = np.random.default_rng(0).integers(0, 2, (300, 30)).astype(float) + offset
    assert np.array_equal(Euclidean(X).furthest(), cdist(X, X, "sqeuclidean").argmax(axis=1))


def test_published_counts_of_the_swiss_roll():
    pairs = graphs.furthest_pairs(datasets.swiss_roll(30, seed=0)[0])
    assert len(pairs.edges) == 27
    assert len(set(pairs.furthest)) == 7


@pytest.mark.parametrize("rank", [1, 2])
def test_flat_data_are_searched_within_their_span(rank):
    rng = np.random.default_rng(rank)
    X = rng.standard_normal((50, rank)) @ rng.standard_normal((rank, 4)) + 3.0
    assert np.allclose(achieved(X, graphs.furthest_pairs(X)), reach(X))


def test_lattice_points_have_ties_and_the_first_is_taken():
    X, _ = datasets.grid_with_hole(6, 6, hole=2)
    pairs = graphs.furthest_pairs(X)
    assert np.array_equal(pairs.furthest, cdist(X, X, "sqeuclidean").argmax(axis=1))


@pytest.mark.parametrize("squared", [False, True])
def test_precomputed_distances_give_the_same_pairs(squared):
    X, _ = datasets.swiss_roll(40, seed=0)
    D = squareform(pdist(X))
    same = graphs.furthest_pairs(D**2 if squared else D, metric="precomputed", squared=squared)
    assert np.array_equal(same.edges, graphs.furthest_pairs(X).edges)


def test_furthest_pairs_of_a_graph_are_between_its_nodes():
    X, _ = datasets.swiss_roll(40, seed=0)
    with pytest.warns(DuplicatePointsWarning):
        graph = graphs.knn(np.vstack([X[:1], X]), 5)
    assert np.array_equal(graphs.furthest_pairs(graph).edges, graphs.furthest_pairs(X).edges)


def test_furthest_pairs_of_a_graph_without_points_are_refused():
    with pytest.raises(DataError, match="does not know its points"):
        graphs.furthest_pairs(graphs.cycle(5))
