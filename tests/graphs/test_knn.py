"""Neighbour graphs against brute force, published counts and the laws they obey."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sdpdr import datasets, graphs
from sdpdr.graphs.data import make_space
from sdpdr.graphs.pairs import clique_pairs, from_table, smallest_k
from sdpdr.graphs.points import Points


def brute_table(X, k):
    """Stable sort of every row of distances, self excluded by index."""
    sqdist = np.square(X[:, None] - X[None]).sum(axis=-1)
    rows = [[j for j in np.argsort(row, kind="stable") if j != i] for i, row in enumerate(sqdist)]
    return np.array(rows)[:, :k]


def brute_cliques(table):
    hoods = [{i, *row} for i, row in enumerate(table.tolist())]
    return np.array(sorted({pair for hood in hoods for pair in combinations(sorted(hood), 2)}))


def gaussian(seed, n=25, dim=3):
    return np.random.default_rng(seed).standard_normal((n, dim))


seeds = st.integers(0, 10_000)
# Few different values: ties and duplicates everywhere.
lattices = arrays(np.float64, st.tuples(st.integers(3, 14), st.integers(1, 3)),
                  elements=st.integers(0, 3).map(float))  # fmt: skip


@pytest.mark.parametrize("dim", [3, 40])
def test_neighbours_are_exact_far_from_the_origin(dim):
    X = gaussian(0, n=150, dim=dim) + 1e6
    assert np.array_equal(Points(X).nearest(7), brute_table(X, 7))


@given(X=lattices, data=st.data())
@settings(max_examples=12)
def test_clique_pairs_hold_the_edges_themselves(X, data):
    table = brute_table(X, data.draw(st.integers(1, len(X) - 1)))
    assert np.array_equal(clique_pairs(from_table(table)), brute_cliques(table))


def test_edges_are_neighbours_either_way():
    X = gaussian(3)
    A = np.zeros((25, 25), dtype=bool)
    np.put_along_axis(A, brute_table(X, 4), True, axis=1)
    graph = graphs.knn(X, 4, connect="none")
    assert np.array_equal(graph.adjacency().toarray() > 0, A | A.T)


def test_precomputed_distances_give_the_same_graph():
    X, _ = datasets.swiss_roll(60, seed=1)
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=-1))
    graph = graphs.knn(X, 5, angles=True, connect="mst")
    options = {"metric": "precomputed", "angles": True, "connect": "mst"}
    same = graphs.knn(D, 5, **options)
    assert np.array_equal(same.edges, graph.edges)
    assert np.allclose(same.sqdist, graph.sqdist)


def test_the_smallest_number_of_neighbours_that_connects():
    X = gaussian(0, n=40, dim=2)
    k = smallest_k(make_space(X))
    assert graphs.knn(X, k, connect="none").is_connected
    assert not graphs.knn(X, k - 1, connect="none").is_connected


@pytest.mark.parametrize(
    ("k", "directed", "union", "cliques"), [(3, 90, 56, 83), (6, 180, 111, 217)]
)
def test_edge_counts_of_the_swiss_roll(k, directed, union, cliques):
    X, _ = datasets.swiss_roll(30, seed=0)
    assert make_space(X).nearest(k).size == directed
    assert graphs.knn(X, k, connect="none").m == union
    assert graphs.knn(X, k, angles=True, connect="none").m == cliques
