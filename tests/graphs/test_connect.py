"""Duplicates, several components, spanning trees and radius graphs."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from sdpdr import datasets, graphs, methods
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    DroppedPointsWarning,
    DuplicatePointsWarning,
)
from sdpdr.graphs.data import make_space
from sdpdr.graphs.pairs import shortest_links, smallest_k
from sdpdr.graphs.points import Points
from sdpdr.graphs.precomputed import Precomputed


@pytest.fixture
def clusters():
    """20 points, then 30, then 5, far from each other."""
    X = np.random.default_rng(0).standard_normal((55, 2))
    X[20:50] += [50.0, 0.0]
    X[50:] += [0.0, 80.0]
    return X


def test_error_names_sizes_points_and_the_way_out(clusters):
    with pytest.raises(DisconnectedGraphError) as caught:
        graphs.knn(clusters, 4)
    message = str(caught.value)
    assert "3 components, of sizes 30, 20, 5" in message
    assert "0, 1, 2" in message
    k = smallest_k(make_space(clusters))
    assert f"n_neighbors={k}," in message
    assert "connect='mst'" in message
    assert "connect='largest'" in message
    assert [len(part) for part in caught.value.components] == [30, 20, 5]
    assert np.array_equal(caught.value.components[0], np.arange(20, 50))


@pytest.mark.parametrize("kind", ["knn", "radius"])
def test_a_method_gives_the_number_that_connects_and_following_it_works(clusters, kind):
    make = getattr(graphs, kind)
    with pytest.raises(DisconnectedGraphError) as caught:
        methods.mvu(make(clusters, 4, connect="none"))
    name, number = re.search(r"take (\w+)=([\d.]+), the smallest", str(caught.value)).groups()
    found = int(number) if kind == "knn" else float(number)
    assert methods.mvu(make(clusters, **{name: found})).size()["matrices"] == {"K": 55}
    with pytest.raises(DisconnectedGraphError):
        make(clusters, found - 1 if kind == "knn" else 0.999 * found)
    with pytest.raises(DisconnectedGraphError, match="connect='none' if constraints of your own"):
        make(clusters, 4)


def test_mst_adds_the_shortest_edge_between_components(clusters):
    apart = graphs.knn(clusters, 4, connect="none")
    joined = graphs.knn(clusters, 4, connect="mst")
    assert apart.n_components == 3
    assert joined.is_connected
    assert joined.m == apart.m + 2
    old = {tuple(edge) for edge in apart.edges}
    added = [e for e, edge in enumerate(joined.edges.tolist()) if tuple(edge) not in old]
    D = squareform(pdist(clusters))
    parts = [slice(0, 20), slice(20, 50), slice(50, 55)]
    between = [D[parts[a], parts[b]].min() for a, b in ((0, 1), (0, 2), (1, 2))]
    assert np.allclose(np.sqrt(joined.sqdist[added]), np.sort(between)[:2])


def test_largest_keeps_the_largest_and_tells(clusters):
    with pytest.warns(DroppedPointsWarning, match="dropped 25 of 55") as caught:
        graph = graphs.knn(clusters, 4, connect="largest")
    assert caught[0].filename == __file__
    assert graph.n == 30
    assert np.array_equal(np.flatnonzero(graph.index >= 0), np.arange(20, 50))
    alone = graphs.knn(clusters[20:50], 4)
    assert np.array_equal(graph.edges, alone.edges)
    assert np.array_equal(graph.with_cliques().edges, alone.with_cliques().edges)


def kruskal(X, labels):
    """Edges taken by length, then by their ends, whenever they join two parts."""
    i, j = np.triu_indices(len(X), 1)
    sqdist = np.square(X[i] - X[j]).sum(axis=1)
    label, links = labels.copy(), []
    for e in np.lexsort((j, i, sqdist)):
        if label[i[e]] != label[j[e]]:
            links.append([i[e], j[e]])
            label[label == label[j[e]]] = label[i[e]]
    return np.array(sorted(links)).reshape(-1, 2)


@pytest.mark.nightly
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 60),
    dim=st.sampled_from([1, 2, 3, 12]),
    parts=st.sampled_from([2, 5, 60]),
    step=st.sampled_from([0.0, 0.5]),
)
@settings(max_examples=25)
def test_links_are_the_first_of_equals(seed, n, dim, parts, step):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim)) + 4.0 * rng.integers(0, 3, (n, 1))
    if step:
        X = np.unique(np.round(X / step) * step, axis=0)
    labels = np.arange(len(X))
    if parts < 60:
        labels = np.unique(rng.integers(0, parts, len(X)), return_inverse=True)[1]
    expected = kruskal(X, labels)
    D = np.square(X[:, None] - X).sum(axis=-1)
    assert np.array_equal(shortest_links(Points(X), labels), expected)
    assert np.array_equal(shortest_links(Precomputed(D), labels), expected)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_a_radius_error_names_the_smallest_radius_that_connects(metric):
    X, _ = datasets.swiss_roll(20, seed=0)
    data = X if metric == "euclidean" else squareform(pdist(X))
    with pytest.raises(DisconnectedGraphError, match=r"take radius=11\.66104"):
        graphs.radius(data, 3.0, metric=metric)


def test_radius_graph_equals_brute_force():
    X, _ = datasets.swiss_roll(80, seed=2)
    D = squareform(pdist(X))
    expected = np.argwhere(np.triu(D <= 9.0, 1))
    assert np.array_equal(graphs.radius(X, 9.0, connect="none").edges, expected)
    same = graphs.radius(D, 9.0, metric="precomputed", connect="none")
    assert np.array_equal(same.edges, expected)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_radius_must_be_positive_and_finite(value):
    with pytest.raises(DataError, match="positive and finite"):
        graphs.radius([[0.0], [1.0], [2.0]], value)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_duplicates_are_merged_and_counted(metric):
    X, _ = datasets.swiss_roll(20, seed=0)
    repeated = np.vstack([X, X[:3], X[:1]])
    data = repeated if metric == "euclidean" else squareform(pdist(repeated))
    with pytest.warns(
        DuplicatePointsWarning,
        match=r"4 of 24 points repeat an earlier one: 20, 21, 22, 23\. They were merged",
    ) as caught:
        graph = graphs.knn(data, 4, metric=metric)
    assert caught[0].filename == __file__
    assert np.array_equal(graph.edges, graphs.knn(X, 4).edges)
    assert np.array_equal(graph.index, [*range(20), 0, 1, 2, 0])
    assert np.array_equal(graph.counts, [3, 2, 2] + [1] * 17)


def moved_copies(share, seed):
    """Twenty points, three of them twice, the second time moved by a share of the data's size."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 3))
    shift = share * np.abs(X).max() * rng.choice([-1.0, 1.0], (3, 3))
    return X, np.vstack([X, X[:3] + shift])


@pytest.mark.parametrize("kind", ["dense", "sparse", "precomputed", "cosine"])
def test_copies_moved_by_rounding_are_the_same_node(kind):
    X, moved = moved_copies(np.finfo(float).eps, 0)
    metric = kind if kind in ("precomputed", "cosine") else "euclidean"
    passed = {"sparse": csr_array, "precomputed": lambda Z: squareform(pdist(Z))}.get(
        kind, np.array
    )
    with pytest.warns(DuplicatePointsWarning, match="3 of 23 points"):
        graph = graphs.knn(passed(moved), 4, metric=metric)
    assert np.array_equal(graph.edges, graphs.knn(passed(X), 4, metric=metric).edges)
    assert np.array_equal(graph.index, [*range(20), 0, 1, 2])


def test_points_further_apart_than_rounding_are_not_merged():
    moved = moved_copies(1e-9, 0)[1]
    assert np.array_equal(make_space(moved).representatives(), np.arange(23))
    D = squareform(pdist(moved))
    assert np.array_equal(make_space(D, "precomputed").representatives(), np.arange(23))


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_points_that_all_agree_to_rounding_have_no_geometry(kind):
    X = np.ones((3, 1))
    X[0] = np.nextafter(1.0, 2.0)
    with pytest.raises(DataError, match="agree to rounding"):
        graphs.complete(kind(X))
