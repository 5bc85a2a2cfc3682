"""The graph itself: checks, matrices, subgraphs, constructors, paths and landmarks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr import datasets, graphs
from sdpdr.errors import DataError, ShapeError
from sdpdr.graphs import NeighborGraph

TRIANGLE = [[0, 1], [0, 2], [1, 2]]


@pytest.mark.parametrize(
    ("n", "edges", "sqdist", "message"),
    [
        (3, [[0, 3]], [1.0], "from 0 to 2"),
        (3, [[1, 1]], [1.0], "is a loop"),
        (3, [[1, 0]], [1.0], "from_edges"),
        (3, [[0, 1], [0, 1]], [1.0, 1.0], "from_edges"),
        (3, [[0, 1]], [0.0], "squared length 0.0"),
        (3, [[0, 1]], [np.nan], "squared length nan"),
        (0, [], [], "n=0 is too small"),
    ],
)
def test_wrong_graphs_are_refused(n, edges, sqdist, message):
    with pytest.raises(DataError, match=message):
        NeighborGraph(n, edges, sqdist)


@pytest.mark.parametrize(
    ("edges", "sqdist", "more"),
    [
        ([[0, 1, 2]], [1.0], {}),
        ([[0, 1]], [1.0, 2.0], {}),
        ([[0, 1]], [1.0], {"counts": [1, 1]}),
    ],
)
def test_arrays_that_do_not_fit_are_refused(edges, sqdist, more):
    with pytest.raises(ShapeError):
        NeighborGraph(3, edges, sqdist, **more)


def test_a_graph_cannot_be_changed_and_does_not_hold_the_arrays_passed():
    sqdist = np.ones(3)
    graph = NeighborGraph(3, TRIANGLE, sqdist)
    sqdist[0] = 5.0
    assert graph.sqdist[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        graph.sqdist[0] = 2.0


@given(seed=st.integers(0, 10_000))
@settings(max_examples=12)
def test_laplacian_is_the_sum_of_weighted_differences(seed):
    rng = np.random.default_rng(seed)
    graph = graphs.knn(rng.standard_normal((15, 2)), 3, connect="none")
    weights, y = rng.standard_normal(graph.m), rng.standard_normal(15)
    i, j = graph.edges.T
    L = graph.laplacian(weights)
    assert y @ L @ y == pytest.approx(np.sum(weights * (y[i] - y[j]) ** 2))
    assert np.allclose(L @ np.ones(15), 0.0)
    assert np.array_equal(graph.laplacian().diagonal(), graph.degree)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=12)
def test_subgraph_keeps_the_lengths_between_its_nodes(seed):
    rng = np.random.default_rng(seed)
    graph = graphs.knn(rng.standard_normal((20, 2)), 4, connect="none")
    nodes = rng.permutation(20)[:12]
    part = graph.subgraph(nodes)
    whole = graph.adjacency(graph.sqdist).toarray()
    assert np.array_equal(part.adjacency(part.sqdist).toarray(), whole[np.ix_(nodes, nodes)])
    assert np.array_equal(part.index[nodes], np.arange(12))
    assert (np.delete(part.index, nodes) == -1).all()


def test_index_stays_right_through_merging_and_two_restrictions():
    X = np.array([[0.0], [50.0], [0.0], [1.0], [51.0], [52.0], [51.0]])
    with pytest.warns(UserWarning, match="merged"):
        graph = graphs.radius(X, 2.0, connect="none")
    largest = graph.largest_component()
    assert largest.index.tolist() == [-1, 0, -1, -1, 1, 2, 1]
    assert largest.counts.tolist() == [1, 2, 1]
    assert largest.subgraph([2, 1]).index.tolist() == [-1, -1, -1, -1, 1, 0, 1]


def test_cliques_of_a_graph_without_points_are_refused():
    with pytest.raises(DataError, match="lengths of its own edges"):
        graphs.cycle(5).with_cliques()


def test_from_edges_sorts_and_drops_repetitions():
    graph = graphs.from_edges(4, [[3, 2], [1, 0], [2, 3], [0, 1]], [4.0, 1.0, 4.0, 1.0])
    assert graph.edges.tolist() == [[0, 1], [2, 3]]
    assert graph.sqdist.tolist() == [1.0, 4.0]


LINE = graphs.complete(np.arange(9.0)[:, None])


@pytest.mark.parametrize(
    ("use", "error", "words"),
    [
        (lambda: graphs.grid(3, 3).laplacian(np.ones(5)), ShapeError, "12 edges"),
        (lambda: graphs.grid(3, 3).subgraph([0, 0]), DataError, "distinct"),
        (lambda: LINE.with_edges([[0, 9]]), DataError, "from 0 to 8"),
        (lambda: graphs.geodesics(LINE, [9]), DataError, "sources must be nodes"),
    ],
)
def test_nodes_and_weights_that_do_not_fit_are_refused(use, error, words):
    with pytest.raises(error, match=words):
        use()


def test_from_edges_refuses_contradictions():
    with pytest.raises(DataError, match=r"edge \(\d, \d\) is given with squared lengths"):
        graphs.from_edges(3, [[0, 1], [1, 0]], [1.0, 1.1])
    with pytest.raises(ShapeError, match="sqdist has shape"):
        graphs.from_edges(3, [[0, 1]], [1.0, 2.0])


def test_geodesics_on_a_path_are_differences_of_positions():
    gaps = [1.0, 2.0, 0.5, 1.5]
    _, position = datasets.path(gaps)
    expected = np.abs(position[:, None] - position)
    assert np.allclose(graphs.geodesics(graphs.path(gaps)), expected)


def test_landmarks_are_nested_distinct_and_spread():
    graph = graphs.knn(datasets.swiss_roll(200)[0], 6)
    many = graphs.landmarks(graph, 40, seed=3)
    assert len(set(many)) == 40
    assert np.array_equal(graphs.landmarks(graph, 10, seed=3), many[:10])
    lengths = graphs.geodesics(graph, many)
    # Farthest-point choice: landmarks are at least as far apart as any point is from them.
    apart = lengths[:, many] + np.diag(np.full(40, np.inf))
    assert apart.min() >= lengths.min(axis=0).max() - 1e-9


def test_values_out_of_range_are_refused():
    for count in (0, 5):
        with pytest.raises(DataError, match="count="):
            graphs.landmarks(graphs.path([1, 1, 1]), count)
    with pytest.raises(DataError, match="length 1 is -1: lengths must be positive"):
        graphs.path([1.0, -1.0])
