"""Sparse points and angles: the same graphs as of dense points, and what weighs an edge."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from sdpdr import graphs
from sdpdr.errors import DataError, DuplicatePointsWarning, UnknownNameError

METRICS = ("euclidean", "cosine")


def words(n=150, m=400, density=0.05, seed=0):
    """Rows of non-negative numbers, each with a first column of its own size: no two orthogonal."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, m), density=density, rng=rng, format="csr")
    return sp.csr_array(sp.hstack([rng.uniform(0.2, 1.0, (n, 1)), X]))


def same(one, other):
    assert np.array_equal(one.edges, other.edges)
    assert np.allclose(one.sqdist, other.sqdist, rtol=1e-10)
    return True


@pytest.mark.daily(1)
@pytest.mark.parametrize("metric", METRICS)
def test_graphs_of_sparse_and_dense_points_agree(metric):
    X = words()
    D = X.toarray()
    wide = 1.01 * np.sqrt(graphs.knn(X, 4, metric=metric, connect="mst").sqdist.max())
    assert same(graphs.radius(X, wide, metric=metric), graphs.radius(D, wide, metric=metric))
    assert same(graphs.complete(X[:20], metric=metric), graphs.complete(D[:20], metric=metric))
    one, other = (graphs.furthest_pairs(A, metric=metric) for A in (X, D))
    assert np.array_equal(one.furthest, other.furthest)
    assert graphs.choose_k(X, metric=metric).n_neighbors == (
        graphs.choose_k(D, metric=metric).n_neighbors
    )


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, np.asarray])
def test_cosine_neighbours_are_those_of_scikit_learn(kind):
    X = words(seed=1).toarray()
    theirs = NearestNeighbors(n_neighbors=5, metric="cosine", algorithm="brute").fit(X)
    near = theirs.kneighbors(return_distance=False)
    found = graphs.knn(kind(X), 5, metric="cosine", connect="none").provenance.neighborhoods
    assert all(set(found.indices[5 * i : 5 * i + 5]) == set(near[i]) for i in range(len(X)))


@pytest.mark.parametrize("kind", [sp.csr_array, np.asarray])
def test_parallel_rows_are_one_point(kind):
    X = words(40).toarray()
    both = kind(np.vstack([X, X[:7] * np.linspace(0.3, 7.7, 7)[:, None]]))
    with pytest.warns(DuplicatePointsWarning, match="7 of 47"):
        graph = graphs.knn(both, 4, metric="cosine", connect="none")
    assert np.array_equal(graph.index, np.r_[:40, :7])
    assert graphs.knn(both, 4, connect="none").n == 47


@pytest.mark.parametrize("kind", [sp.csr_array, np.asarray])
def test_rows_without_a_direction_are_named(kind):
    X = words(20).toarray()
    X[[3, 8]] = 0.0
    with pytest.raises(DataError, match=r"rows of zeros have none: 3, 8\. Leave"):
        graphs.knn(kind(X), 3, metric="cosine")
    with pytest.raises(DataError, match="rows are parallel"):
        graphs.knn(kind(np.outer([1.0, 2.0, 3.0, 4.0], [0.1, 0.7])), 2, metric="cosine")


def test_faults_of_sparse_points_are_named():
    X = words(20)
    with pytest.raises(DataError, match="points are equal"):
        graphs.knn(sp.csr_array(np.ones((5, 3))), 2)
    X.data[-1] = np.nan
    with pytest.raises(DataError, match=r"not finite: 19\."):
        graphs.knn(X, 2)
    with pytest.raises(UnknownNameError):
        graphs.knn(words(20), 2, metric="cosines")


# -- weights ---------------------------------------------------------------------------------------


def test_heat_is_one_half_power_at_the_median_edge_in_any_unit():
    X = words(seed=4)
    one, other = (graphs.knn(u * X, 4, connect="none") for u in (1.0, 1e6))
    heat = graphs.edge_weights(one, "heat")
    assert np.allclose(heat, graphs.edge_weights(other, "heat"))
    assert np.isclose(np.median(-np.log(heat)), 0.5)
    wide = graphs.edge_weights(one, "heat", bandwidth=1e6)
    assert np.allclose(wide, 1.0)
    assert np.all(graphs.edge_weights(one) == 1.0)


def test_weights_that_cannot_be_had_are_refused():
    graph = graphs.knn(words(30), 3, connect="none")
    with pytest.raises(DataError, match="bandwidth=2.0 is for weights="):
        graphs.edge_weights(graph, "cosine", bandwidth=2.0)
    with pytest.raises(DataError, match="bandwidth"):
        graphs.edge_weights(graph, "heat", bandwidth=-1.0)
    with pytest.raises(UnknownNameError):
        graphs.edge_weights(graph, "hot")
    with pytest.raises(DataError, match="no angles follow"):
        graphs.edge_weights(graphs.path([1.0, 2.0]), "cosine")
    with pytest.raises(DataError, match="rows of zeros"):
        graphs.edge_weights(graphs.knn([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0]], 1), "cosine")
