"""Furthest pairs against brute force, through the hull and without it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform

from sdpdr import datasets, graphs
from sdpdr.errors import DataError, DuplicatePointsWarning


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


def test_published_counts_of_the_swiss_roll():
    pairs = graphs.furthest_pairs(datasets.swiss_roll(30, seed=0)[0])
    assert len(pairs.edges) == 27
    assert len(set(pairs.furthest)) == 7


def test_precomputed_distances_give_the_same_pairs():
    X, _ = datasets.swiss_roll(40, seed=0)
    same = graphs.furthest_pairs(squareform(pdist(X)), metric="precomputed")
    assert np.array_equal(same.edges, graphs.furthest_pairs(X).edges)


def test_furthest_pairs_of_a_graph_are_between_its_nodes():
    X, _ = datasets.swiss_roll(40, seed=0)
    with pytest.warns(DuplicatePointsWarning):
        graph = graphs.knn(np.vstack([X[:1], X]), 5)
    assert np.array_equal(graphs.furthest_pairs(graph).edges, graphs.furthest_pairs(X).edges)


def test_furthest_pairs_of_a_graph_without_points_are_refused():
    with pytest.raises(DataError, match="does not hold its points"):
        graphs.furthest_pairs(graphs.cycle(5))
