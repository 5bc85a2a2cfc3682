"""Duplicates, several components, spanning trees and radius graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from sdpdr import datasets, graphs
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    DroppedPointsWarning,
    DuplicatePointsWarning,
    UnknownNameError,
)
from sdpdr.graphs import pairs as spanning
from sdpdr.graphs.pairs import shortest_links
from sdpdr.graphs.precomputed import Precomputed
from sdpdr.graphs.space import Euclidean, make_space


@pytest.fixture
def clusters():
    """20 points, then 30, then 5, far from each other."""
    X = np.random.default_rng(0).standard_normal((55, 2))
    X[20:50] += [50.0, 0.0]
    X[50:] += [0.0, 80.0]
    return X


def tree_length(X):
    return minimum_spanning_tree(squareform(pdist(X))).sum()


def test_error_names_sizes_points_and_the_way_out(clusters):
    with pytest.raises(DisconnectedGraphError) as caught:
        graphs.knn(clusters, 4)
    message = str(caught.value)
    assert "3 components, of sizes 30, 20, 5" in message
    assert "0, 1, 2" in message
    k = graphs.smallest_connecting_k(clusters)
    assert f"n_neighbors={k}," in message
    assert "connect='mst'" in message
    assert "connect='largest'" in message
    assert [len(part) for part in caught.value.components] == [30, 20, 5]
    assert np.array_equal(caught.value.components[0], np.arange(20, 50))


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


@pytest.mark.nightly
@given(seed=st.integers(0, 10_000), n=st.integers(2, 40), dim=st.sampled_from([1, 2, 3, 20]))
@settings(max_examples=12)
def test_links_of_single_points_are_a_minimum_spanning_tree(seed, n, dim):
    X = np.random.default_rng(seed).standard_normal((n, dim))
    links = shortest_links(make_space(X, at_least=2), np.arange(n))
    assert len(links) == n - 1
    assert np.sqrt(np.square(X[links[:, 0]] - X[links[:, 1]]).sum(axis=1)).sum() == pytest.approx(
        tree_length(X)
    )


def test_links_are_right_far_from_the_origin():
    X = np.random.default_rng(0).standard_normal((60, 20)) + 1e7
    links = shortest_links(make_space(X), np.arange(60))
    assert np.linalg.norm(X[links[:, 0]] - X[links[:, 1]], axis=1).sum() == pytest.approx(
        tree_length(X)
    )


def test_links_of_a_lattice_full_of_ties_are_a_tree():
    X, _ = datasets.grid_with_hole(7, 8, hole=3)
    links = shortest_links(make_space(X), np.arange(len(X)))
    tree = graphs.from_edges(len(X), links, np.ones(len(links)))
    assert tree.m == len(X) - 1
    assert tree.is_connected
    assert np.abs(X[links[:, 0]] - X[links[:, 1]]).sum() == len(X) - 1


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
@settings(max_examples=12)
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
    assert np.array_equal(shortest_links(Euclidean(X), labels), expected)
    assert np.array_equal(shortest_links(Precomputed(D), labels), expected)


def test_links_of_tight_clusters_need_every_kind_of_search(monkeypatch):
    monkeypatch.setattr(spanning, "NEARBY", 2)
    rng = np.random.default_rng(0)
    X = np.repeat(100.0 * rng.standard_normal((12, 2)), 20, axis=0)
    X += 0.1 * rng.standard_normal(X.shape)
    assert np.array_equal(shortest_links(make_space(X), np.arange(240)), kruskal(X, np.arange(240)))


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_smallest_connecting_radius_of_the_swiss_roll(metric):
    X, _ = datasets.swiss_roll(20, seed=0)
    data = X if metric == "euclidean" else squareform(pdist(X))
    assert graphs.smallest_connecting_radius(data, metric=metric) == pytest.approx(
        11.66105, abs=1e-5
    )


@pytest.mark.nightly
@given(seed=st.integers(0, 10_000), dim=st.sampled_from([1, 2, 5, 18]))
@settings(max_examples=12)
def test_smallest_connecting_radius_connects_and_a_smaller_one_does_not(seed, dim):
    X = np.random.default_rng(seed).standard_normal((30, dim))
    length = graphs.smallest_connecting_radius(X)
    assert graphs.radius(X, length).is_connected
    assert not graphs.radius(X, length * (1 - 1e-9), connect="none").is_connected


def test_radius_graph_equals_brute_force():
    X, _ = datasets.swiss_roll(80, seed=2)
    D = squareform(pdist(X))
    expected = np.argwhere(np.triu(D <= 9.0, 1))
    assert np.array_equal(graphs.radius(X, 9.0, connect="none").edges, expected)
    same = graphs.radius(D**2, 9.0, metric="precomputed", squared=True, connect="none")
    assert np.array_equal(same.edges, expected)


def test_radius_error_names_the_radius_that_connects(clusters):
    length = graphs.smallest_connecting_radius(clusters)
    with pytest.raises(DisconnectedGraphError, match=f"radius={length!r}"):
        graphs.radius(clusters, 3.0)


def test_no_edges_at_all_is_a_graph_of_single_points():
    graph = graphs.radius([[0.0], [1.0], [2.0]], 0.5, connect="none")
    assert (graph.m, graph.n_components) == (0, 3)


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_radius_must_be_positive_and_finite(value):
    with pytest.raises(DataError, match="positive and finite"):
        graphs.radius([[0.0], [1.0], [2.0]], value)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_duplicates_are_merged_and_counted(metric):
    X, _ = datasets.swiss_roll(20, seed=0)
    repeated = np.vstack([X, X[:3], X[:1]])
    data = repeated if metric == "euclidean" else squareform(pdist(repeated))
    with pytest.warns(DuplicatePointsWarning, match="4 of 24 points") as caught:
        graph = graphs.knn(data, 4, metric=metric)
    assert caught[0].filename == __file__
    assert np.array_equal(graph.edges, graphs.knn(X, 4).edges)
    assert np.array_equal(graph.index, [*range(20), 0, 1, 2, 0])
    assert np.array_equal(graph.counts, [3, 2, 2] + [1] * 17)


def test_duplicates_may_be_refused():
    with pytest.raises(DataError, match=r"1 of 4 points repeats an earlier one: 2\."):
        graphs.knn([[0.0], [1.0], [0.0], [2.0]], 1, duplicates="error")


def test_minus_zero_is_zero():
    with pytest.warns(DuplicatePointsWarning):
        assert graphs.complete([[0.0], [-0.0], [1.0]]).n == 2


def test_the_first_of_equal_rows_stands_for_all():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [-0.0, 1.0], [5.0, 3.0]])
    assert Euclidean(X).representatives().tolist() == [0, 1, 0, 0, 4]


def test_lattices_have_no_equal_rows():
    X = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    assert np.array_equal(Euclidean(X).representatives(), np.arange(len(X)))


def moved_copies(share, seed):
    """Twenty points, three of them twice, the second time moved by a share of the data's size."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 3))
    shift = share * np.abs(X).max() * rng.choice([-1.0, 1.0], (3, 3))
    return X, np.vstack([X, X[:3] + shift])


@pytest.mark.nightly
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=8)
@pytest.mark.parametrize("kind", ["dense", "sparse", "precomputed", "cosine"])
def test_copies_moved_by_rounding_are_the_same_node(kind, seed):
    X, moved = moved_copies(np.finfo(float).eps, seed)
    metric = kind if kind in ("precomputed", "cosine") else "euclidean"
    passed = {"sparse": csr_array, "precomputed": lambda Z: squareform(pdist(Z))}.get(
        kind, np.array
    )
    with pytest.warns(DuplicatePointsWarning, match="3 of 23 points"):
        graph = graphs.knn(passed(moved), 4, metric=metric)
    assert np.array_equal(graph.edges, graphs.knn(passed(X), 4, metric=metric).edges)
    assert np.array_equal(graph.index, [*range(20), 0, 1, 2])


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=12)
def test_points_further_apart_than_rounding_are_not_merged(seed):
    moved = moved_copies(1e-9, seed)[1]
    assert np.array_equal(make_space(moved).representatives(), np.arange(23))
    D = squareform(pdist(moved))
    assert np.array_equal(make_space(D, "precomputed").representatives(), np.arange(23))


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UnlikeColumnsWarning")
def test_what_rounding_may_do_grows_with_the_entries():
    X = np.array([[0.0, 0.0], [0.0, 1e-9], [0.0, 3.0]])
    column = np.full((3, 1), 1e12)
    assert make_space(X).representatives().tolist() == [0, 1, 2]
    assert make_space(np.hstack([X, column])).representatives().tolist() == [0, 1, 2]
    column[2] = -1e12
    assert make_space(np.hstack([X, column])).representatives().tolist() == [0, 0, 2]


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_points_that_all_agree_to_rounding_have_no_geometry(kind):
    X = np.ones((3, 1))
    X[0] = np.nextafter(1.0, 2.0)
    with pytest.raises(DataError, match="agree to rounding"):
        graphs.complete(kind(X))


def test_many_copies_do_not_hide_neighbours():
    X = np.repeat([[0.0], [1.0], [3.0]], 10, axis=0)
    with pytest.warns(DuplicatePointsWarning):
        graph = graphs.knn(X, 1)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.counts.tolist() == [10, 10, 10]


@pytest.mark.parametrize(
    ("option", "value", "near"),
    [
        ("symmetrize", "unoin", "union"),
        ("connect", "mts", "mst"),
        ("duplicates", "merg", "merge"),
        ("metric", "euclid", "euclidean"),
    ],
)
def test_unknown_options_offer_the_nearest(option, value, near):
    X = np.random.default_rng(0).standard_normal((10, 2))
    with pytest.raises(UnknownNameError, match=f"Did you mean '{near}'"):
        graphs.knn(X, 3, **{option: value, "connect": value if option == "connect" else "none"})
