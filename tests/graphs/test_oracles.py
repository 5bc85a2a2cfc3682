"""Numbers found elsewhere: directed neighbourhoods, hulls, duplicates and their weights."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from sklearn.neighbors import NearestNeighbors

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.errors import DuplicatePointsWarning
from sdpdr.graphs.pairs import clique_pairs, from_table, upper_pairs
from sdpdr.graphs.space import make_space

ROLL, _ = datasets.swiss_roll(30, seed=0)


@pytest.mark.parametrize(("k", "cliques"), [(3, 112), (4, 185), (5, 236), (6, 275)])
def test_symmetric_neighbourhoods_would_add_many_more_pairs(k, cliques):
    directed = from_table(make_space(ROLL).nearest(k))
    assert len(clique_pairs((directed + directed.T).tocsr())) == cliques
    assert graphs.knn(ROLL, k, angles=True, connect="none").m < cliques


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_the_other_product_gives_other_pairs(k):
    A = from_table(make_space(ROLL).nearest(k)).astype(float)
    ours = graphs.knn(ROLL, k, angles=True, connect="none").edges
    right, wrong = (upper_pairs((product + A + A.T).tocsr()) for product in (A.T @ A, A @ A.T))
    assert np.array_equal(ours, right)
    assert {tuple(pair) for pair in ours.tolist()} != {tuple(pair) for pair in wrong.tolist()}


def test_two_neighbours_take_shortcuts_across_the_spiral():
    X, _ = datasets.spiral(20)
    near = {tuple(pair) for pair in graphs.knn(X, 2, connect="none").edges.tolist()}
    assert {(0, 10), (4, 19)} <= near


@pytest.mark.parametrize(("dim", "seed", "vertices"), [(3, 0, 45), (5, 1, 195)])
def test_furthest_points_are_vertices_of_the_hull(dim, seed, vertices):
    X = np.random.default_rng(seed).standard_normal((2000, dim))
    hull = ConvexHull(X).vertices
    assert len(hull) == vertices
    furthest = graphs.furthest_pairs(X).furthest
    assert set(furthest.tolist()) <= set(hull.tolist())
    distance = np.linalg.norm(X[:, None] - X[None, hull], axis=2)
    assert np.array_equal(furthest, hull[distance.argmax(axis=1)])


def test_multiplicities_are_one_or_two_and_count_every_point():
    pairs = graphs.furthest_pairs(ROLL)
    assert set(pairs.multiplicity.tolist()) == {1, 2}
    assert pairs.multiplicity.sum() == 30
    assert np.count_nonzero(pairs.multiplicity == 2) == 3


def test_no_search_finds_the_point_itself_even_among_duplicates():
    X = np.zeros((6, 2))
    X[5] = 1.0
    theirs = NearestNeighbors(n_neighbors=3).fit(X).kneighbors(return_distance=False)
    for table in (theirs, make_space(X).nearest(3)):
        assert (table != np.arange(6)[:, None]).all()


@pytest.mark.nightly
def test_merged_duplicates_weigh_as_often_as_they_occur():
    X, _ = datasets.swiss_roll(20, seed=0)
    with pytest.warns(DuplicatePointsWarning, match="20, 21, 22"):
        graph = graphs.knn(np.vstack([X, X[:3]]), 4)
    assert graph.counts.tolist() == [2, 2, 2] + [1] * 17
    weighted = sdpdr.solve(methods.mvu(graph), tol=1e-8)
    alone = sdpdr.solve(methods.mvu(replace(graph, counts=np.ones(20, int))), tol=1e-8)
    assert weighted.certified()
    assert weighted.value == pytest.approx(3285.868, abs=1e-3)
    assert alone.value == pytest.approx(2904.106, abs=1e-3)
