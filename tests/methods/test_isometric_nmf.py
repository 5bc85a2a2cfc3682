"""Isometric factorization as programs: oracles, where they say nothing, ranks, what is refused."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, iterate, methods
from sdpdr.blocks import Band
from sdpdr.errors import DataError, DisconnectedGraphError, ShapeError, VacuousWarning
from sdpdr.model import check_block
from sdpdr.program import Factor, Point, dimacs_errors


@pytest.fixture(scope="module")
def seven():
    rng = np.random.default_rng(0)
    W = rng.random((7, 2))
    X = W @ rng.random((2, 4))
    return graphs.knn(X, 2), X


@pytest.mark.integration
def test_two_unit_rows_cannot_keep_the_lengths(seven):
    """Two rows of H cannot be unit, non-negative and leave W its lengths: that is proved."""
    infeasible = sdpdr.solve(methods.isometric_nmf(*seven, n_components=2))
    assert infeasible.status is sdpdr.Status.INFEASIBLE


def a_factorization(n=6, m=5):
    """W, H with disjoint unit rows, their product, and a graph with the lengths of both."""
    rng = np.random.default_rng(4)
    W, H = rng.random((n, 2)), np.zeros((2, m))
    H[0, :2], H[1, 2:] = rng.random(2), rng.random(m - 2)
    H /= np.linalg.norm(H, axis=1)[:, None]
    return W, H, W @ H, graphs.knn(W, 2, connect="mst")


@pytest.mark.nightly
def test_relaxations_bound_every_factorization():
    W, _, X, graph = a_factorization()
    furthest = graphs.furthest_pairs(X).furthest
    spread = np.sum((W - W[furthest]) ** 2)
    most = sdpdr.solve(methods.isometric_nmf(graph, X, n_components=2))
    assert spread <= most.bound + 1e-6


def test_factors_satisfy_the_blocks():
    for lifted in [False, True]:
        W, H, X, graph = a_factorization()
        B = np.vstack([W, H.T])
        model = methods.isometric_nmf(graph, X, n_components=2)
        if lifted:
            B, model = np.vstack([np.eye(2), B]), methods.isometric_nmf_lift(graph, X, 2)
        sdp = model.to_sdp()
        multipliers = {rows.label: np.zeros(rows.m) for rows in sdp.rows}
        assert dimacs_errors(sdp, Point({"Z": Factor(B)}, multipliers)).primal() < 1e-9
        for block in model.blocks:
            assert "every law holds" in check_block(block)


@pytest.mark.nightly
@pytest.mark.parametrize("isometry", ["inequality", Band(0.05)])
def test_relations_that_give_way_spread_no_less(seven, isometry):
    solution = sdpdr.solve(methods.isometric_nmf(*seven, isometry, trace_limit=20.0))
    # Less is proved for equality.
    assert solution.value >= 8.5961 - 6e-5


def a_rank_loop(seed, **options):
    """Factors with two components of a small product, by convex iteration."""
    rng = np.random.default_rng(seed)
    W, H = rng.random((4, 2)), rng.random((2, 3))
    X, graph = W @ H, graphs.knn(W, 1, connect="mst")
    model = methods.isometric_nmf_lift(graph, X, 2)
    way = iterate.Schur(2, scale=np.sqrt(np.linalg.norm(X, 2)), parts=(4, 3))
    state = iterate.ConvexIteration(model, 2, direction=way, seed=seed, **options).run()
    return X, graph, state, *model.blocks[0].read(state.gram())


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [2, 3])
def test_a_rank_loop_finds_factors_that_keep_entries_and_lengths(seed):
    X, graph, state, W, H = a_rank_loop(seed)
    assert state.status is iterate.IterationStatus.RANK_REACHED
    np.testing.assert_allclose(W @ H.T, X, atol=1e-4)
    steps = W[graph.edges[:, 0]] - W[graph.edges[:, 1]]
    np.testing.assert_allclose(np.sum(steps**2, axis=1), graph.sqdist, atol=1e-4)
    assert min(W.min(), H.min()) >= -1e-6


def test_what_is_refused():
    for change, error, words in [
        ({"X": -np.ones((3, 2))}, DataError, "Negative"),
        ({"X": np.ones((4, 2))}, ShapeError, "4 rows but the graph 3 nodes"),
        ({"trace_limit": 1.0}, DataError, "twice the sum of the singular values"),
        ({"trace_limit": -1.0}, DataError, "trace_limit"),
        ({"n_components": 3}, DataError, "n_components=3"),
    ]:
        given = {"X": np.array([[1.0, 0.0], [2.0, 1.0], [2.0, 3.0]]), "n_components": 2, **change}
        with pytest.raises(error, match=words):
            methods.isometric_nmf(graphs.path([1.0, 1.0]), **given)


def test_parts_are_refused_and_a_model_without_limits_is_said_to_say_nothing():
    graph = graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0])
    with pytest.raises(DisconnectedGraphError):
        methods.isometric_nmf(graph, np.eye(4), n_components=2)
    with pytest.warns(VacuousWarning, match="n_components"):
        methods.isometric_nmf(graphs.path([1.0, 1.0]), np.eye(3))
