"""Furthest-neighbour unfolding: oracles, identities, solvers agreeing, what is refused."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import DataError, DisconnectedGraphError, InfeasibleError, RigidGraphWarning
from sdpdr.graphs import FurthestPairs


def roll(n, k, seed=0):
    return graphs.knn(sdpdr.datasets.swiss_roll(n, seed=seed)[0], n_neighbors=k)


def all_pairs(graph):
    """Every pair, as if each point had been furthest from all others."""
    i, j = np.triu_indices(graph.n, 1)
    return np.column_stack([i, j])


@pytest.mark.daily(1)
@pytest.mark.parametrize("solver", ["auto", "clarabel"])
def test_the_known_value_is_found_and_certified(solver):
    solution = sdpdr.solve(methods.mfnu(roll(30, 4)), solver)
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(22740.389, rel=1e-6)


def test_a_path_is_pulled_straight():
    path = graphs.path(np.ones(7))
    points = np.arange(8.0)[:, None]
    solution = sdpdr.solve(methods.mfnu(path, pairs=graphs.furthest_pairs(points)), tol=1e-8)
    assert solution.value == pytest.approx(sum(max(i, 7 - i) ** 2 for i in range(8)), rel=1e-7)
    assert solution.bound == pytest.approx(252.0, rel=1e-7)


def test_all_pairs_are_variance():
    graph = roll(20, 4)
    spread = sdpdr.blocks.Spread(graph.n, all_pairs(graph), np.full(190, 1.0 / graph.n))
    plain = methods.mvu(graph)
    model = sdpdr.Model((*plain.blocks[:3], spread))
    mine, theirs = (sdpdr.solve(m, tol=1e-7).value for m in (model, plain))
    assert mine == pytest.approx(theirs, rel=1e-6)


def test_furthest_pairs_kept_apart():
    graph = roll(20, 3)
    apart = sdpdr.solve(methods.mvu_apart(graph), tol=1e-7)
    assert apart.certified(1e-6)
    assert apart.value == pytest.approx(3479.66072, rel=1e-6)
    found = graphs.furthest_pairs(graph)
    Y = apart.embedding(graph.n - 1) if apart.gram().shape[1] == graph.n else apart.embedding(3)
    lengths = np.sum((Y[found.edges[:, 0]] - Y[found.edges[:, 1]]) ** 2, axis=1)
    assert np.all(lengths >= found.sqdist * (1 - 1e-4))


def test_merged_points_pull_as_often_as_they_are():
    X = sdpdr.datasets.swiss_roll(20, seed=0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = graphs.knn(np.vstack([X, X[:3]]), n_neighbors=4)
    assert graph.n == 20
    weights = methods.mfnu(graph).blocks[-1].weights
    assert weights.sum() == 23.0


def test_what_is_refused():
    with pytest.raises(DisconnectedGraphError):
        methods.mfnu(graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0]))
    with pytest.raises(DataError, match="does not hold its points"):
        methods.mfnu(graphs.path([1.0, 1.0]))
    graph = roll(20, 4)
    with pytest.raises(DataError, match="of 3 points"):
        methods.mfnu(graph, pairs=graphs.furthest_pairs([[0.0], [1.0], [2.0]]))
    found = graphs.furthest_pairs(graph)
    with pytest.raises(InfeasibleError, match="shortest path"):
        methods.mvu_apart(graph, pairs=replace(found, sqdist=100.0 * found.sqdist))


def test_a_furthest_pair_that_is_an_edge_is_told():
    X = [[0.0], [1.0], [3.0]]
    graph = graphs.complete(X)
    assert isinstance(graphs.furthest_pairs(graph), FurthestPairs)
    with pytest.warns(RigidGraphWarning, match="are edges"):
        methods.mfnu(graph, "equality")
