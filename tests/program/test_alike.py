"""Lengths that are to be alike: points proved to be so, and steps that make use of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.linalg import SquaredEdgeLengths, Stacked, lengths_in
from sdpdr.linalg.congruent import BlockColumns
from sdpdr.linalg.distances import Alike, about_centre, lengths_between, mean_product, raised
from sdpdr.linalg.svec import smat, svec
from sdpdr.program.attain.corrected import even_lengths, evened
from sdpdr.program.point import Factor


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def walk(n, k=4):
    """A noisy walk, and its steps."""
    side = int(np.sqrt(n) / 2.0)
    actions = datasets.random_walk(n, side)
    X, _ = datasets.window_agent(actions, window=32, grain=0.02, start=0, scene=64 + 2 * side)
    graph = graphs.sequences(X, k)
    return graph, graphs.transitions(graph, actions)


def test_means_are_alike_and_raised_by_little(rng):
    points = rng.normal(size=(7, 2))
    none = np.zeros((0, 2), dtype=int)
    alike = Alike.of(7, none, np.array([[0, 1], [1, 2]]), np.array([[1, 2], [2, 3]]))
    even = alike.evened(lengths_between(points @ points.T))
    found = raised(even)
    assert found[0, 1] == found[1, 2] == found[2, 3]
    assert np.all(np.diagonal(found) == 0.0)
    eigenvalues = np.linalg.eigvalsh(about_centre(found, np.ones(7)))
    assert eigenvalues[0] > -1e-13
    # No more is added than the means lack.
    lacks = -np.linalg.eigvalsh(about_centre(even, np.ones(7)))[0]
    assert_allclose(np.max(found - even), 2.0 * lacks, atol=1e-11)


def test_points_that_coincide_make_others_alike():
    alike = Alike.of(4, np.array([[0, 1]]), np.array([[0, 1]]), np.array([[2, 3]]))
    assert alike.place.tolist() == [0, 0, 1, 1]


def test_products_with_the_gram_matrix_are_those_of_its_lengths(rng):
    weights = rng.uniform(0.5, 2.0, 5)
    points = rng.normal(size=(5, 3))
    points -= weights @ points / weights.sum()
    gram, cost = points @ points.T, rng.normal(size=(5, 5))
    cost += cost.T
    value, error = mean_product(cost, lengths_between(gram), weights)
    assert abs(value - np.sum(cost * gram)) <= error < 1e-11


def test_rows_of_lengths_are_read_through_sums_and_stacks():
    one, other = SquaredEdgeLengths(4, [[0, 1], [1, 2]]), SquaredEdgeLengths(4, [[2, 3], [0, 3]])
    rows = Stacked([one - other, 2.0 * one])
    edges, weights = lengths_in(rows)
    gram = np.diag([1.0, 2.0, 4.0, 8.0])
    read = weights @ lengths_between(gram)[edges[:, 0], edges[:, 1]]
    assert_allclose(read, rows.apply(gram), rtol=1e-14)


def test_an_evened_point_satisfies_every_row_and_is_no_better_than_the_bound(rng):
    graph, steps = walk(30)
    sdp = methods.are(graph, steps).to_sdp()
    solution = sdpdr.solve(sdp)
    near = solution["K"] + 1e-5 * np.diag(rng.uniform(size=graph.n))
    factor = {"K": Factor(np.linalg.cholesky(near + 1e-9 * np.eye(graph.n)))}
    value, point, _ = evened(sdp, {"K": near}, factor)
    largest = np.max(lengths_between(point["K"]))
    for rows in sdp.rows:
        assert np.max(sdp.missed(rows, point)) < 1e-11 * largest
    assert -value <= solution.bound
    assert -value > (1.0 - 1e-3) * solution.bound


def test_nothing_is_evened_where_rows_say_more():
    graph = graphs.path([1.0, 2.0])
    assert even_lengths(methods.mvu(graph).to_sdp()) is None
    assert even_lengths(methods.are(graph, "RR", isometry="inequality").to_sdp()) is not None
    assert (
        even_lengths(methods.are(graphs.path([1.0, 1.0]), "RR", isometry="equality").to_sdp())
        is None
    )


@pytest.mark.parametrize("rank", [1, 2])
def test_products_of_low_rank_are_those_of_matrices(rng, rank):
    n, p = 25, 700
    columns = []
    for _ in range(p):
        vectors = rng.normal(size=(rank, n))
        columns.append(svec((vectors.T * [1.0, -1.0][:rank]) @ vectors))
    block = BlockColumns.of(n, sp.csr_array(np.array(columns).T))
    assert block.low[0].shape == (rank, p, n)
    root = rng.normal(size=(n, n))
    moved = svec(root @ smat(np.array(columns)) @ root.T)
    assert_allclose(block.product(root), moved @ moved.T, rtol=1e-9, atol=1e-6)


@pytest.mark.nightly
def test_noisy_walks_are_certified_by_the_method_chosen():
    solution = sdpdr.solve(methods.are(*walk(40)))
    assert solution.solver == "dense"
    assert solution.certified()


@pytest.mark.nightly
def test_points_that_must_all_coincide_are_at_one_place():
    K = sdpdr.psd("K", 3)
    model = sdpdr.maximize(K.trace()) + (K.sum(axis=1) == 0)
    model += K.distance2([[0, 1]]) == K.distance2([[1, 2]])
    model += K.distance2([[0, 1]]) == 0
    model += K.distance2([[0, 2]]) <= 1.0
    solution = sdpdr.solve(model)
    assert solution.status is sdpdr.Status.SOLVED
    assert abs(solution.value) < 1e-9
    alike = Alike.of(2, np.array([[0, 1]]), *[np.zeros((0, 2), dtype=int)] * 2)
    assert raised(alike.evened(np.zeros((2, 2)))).tolist() == [[0.0]]
