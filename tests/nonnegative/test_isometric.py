"""Isometric factors: gradients, curves, bounds, how the search ends, what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from sdpdr import graphs
from sdpdr.errors import DataError, ShapeError, UnknownNameError
from sdpdr.families.factor.isometric.factorize import Lagrangian
from sdpdr.nonnegative import IsometricStatus, hoyer, isometric_factors


@pytest.mark.parametrize("counted", [False, True])
def test_value_and_gradient_are_those_of_the_formula(counted):
    rng, n, m, k = np.random.default_rng(0), 7, 6, 3
    V = rng.random((n, m))
    graph = graphs.knn(V, 2, connect="none")
    counts = np.array([1, 2, 1, 3, 1, 1, 2]) if counted else np.ones(n, int)
    graph = graphs.NeighborGraph(n, graph.edges, graph.sqdist, counts)
    half = csr_array((np.ones(n), (np.arange(n), graphs.furthest_pairs(V).furthest)), shape=(n, n))
    both = (half + half.T).toarray()
    pairs = np.diag(both.sum(axis=1)) - both
    multipliers, of = rng.standard_normal(graph.m), Lagrangian(V, graph)
    of.pairs, of.beta, of.longest = csr_array(pairs), 0.3, of.unit**2
    W, H = rng.random((n, k)), rng.random((k, m))
    x = np.concatenate([W.ravel(), H.ravel()])
    value, gradient = of.evaluate(x, multipliers, 1.7)
    V, d = V / of.unit, graph.sqdist / of.unit**2
    gram, R, weights = W @ W.T, W @ H - V, counts[:, None]
    r = np.array([gram[i, i] + gram[j, j] - 2 * gram[i, j] for i, j in graph.edges]) - d
    expected = -0.3 * np.trace(pairs @ gram) - multipliers @ r
    expected += 0.85 * r @ r + 0.5 * np.sum(weights * R**2) / np.sum(weights * V**2)
    assert value == pytest.approx(expected)
    quotient = approx_fprime(x, lambda z: of.evaluate(z, multipliers, 1.7)[0], 1e-7)
    assert np.linalg.norm(gradient - quotient) <= 1e-6 * np.linalg.norm(quotient)


@pytest.fixture(scope="module")
def curve():
    """A curve in space, as rows of positive mixtures, with its three-neighbour graph."""
    t = np.linspace(0.0, 1.0, 30)
    W = np.column_stack([1 + np.cos(3 * t), 1 + np.sin(3 * t), t])
    X = W @ np.random.default_rng(1).random((3, 8))
    return X, graphs.knn(X, 3)


@pytest.mark.integration
def test_curve_as_a_penalty(curve):
    found = isometric_factors(*curve, 3, tol=1e-3)
    assert found.status is IsometricStatus.SETTLED
    assert found.dist <= 1e-3
    assert found.rec < 1e-2
    assert min(found.W.min(), found.H.min()) >= 0.0
    X, graph = curve
    steps = found.W[graph.edges[:, 0]] - found.W[graph.edges[:, 1]]
    assert np.linalg.norm(np.sum(steps**2, axis=1) - graph.sqdist) == pytest.approx(
        found.dist * np.linalg.norm(graph.sqdist), rel=1e-6, abs=1e-12
    )
    assert np.linalg.norm(X - found.W @ found.H) == pytest.approx(found.rec * np.linalg.norm(X))


@pytest.mark.integration
def test_objective_is_above_its_bound(curve):
    X, graph = curve
    found = isometric_factors(X, graph, 2, objective="furthest", tol=1e-3, max_iter=5)
    tail = np.linalg.svd(X, compute_uv=False)[2:]
    assert found.rec_bound == pytest.approx(np.linalg.norm(tail) / np.linalg.norm(X))
    assert found.rec >= found.rec_bound
    furthest = graphs.furthest_pairs(X).furthest
    assert found.spread == pytest.approx(np.sum((found.W - found.W[furthest]) ** 2))
    paths = graphs.geodesics(graph, np.arange(graph.n))[np.arange(graph.n), furthest]
    expected = 0.5 * found.rec**2 - 1e-3 * found.spread / np.sum(paths**2)
    assert found.objective == pytest.approx(expected)
    assert found.bound == pytest.approx(0.5 * found.rec_bound**2 - 1e-3)
    assert found.gap >= 0.0


def test_merged_points_count_twice():
    X = np.random.default_rng(2).random((10, 4))
    with pytest.warns(UserWarning, match="repeat"):
        graph = graphs.knn(np.vstack([X, X[:1]]), 3, connect="none")
    found = isometric_factors(X, graph, 2, max_iter=2)
    R = np.sum((X - found.W @ found.H) ** 2, axis=1)
    weights = np.array([2.0] + 9 * [1.0])
    assert found.rec == pytest.approx(np.sqrt(weights @ R / (weights @ np.sum(X**2, axis=1))))


def test_the_unit_of_the_data_is_that_of_the_left_factor_only(curve):
    X, graph = curve
    plain = isometric_factors(X, graph, 3, max_iter=2)
    scaled = replace(graph, sqdist=graph.sqdist * 1024.0**2)
    found = isometric_factors(1024.0 * X, scaled, 3, max_iter=2)
    np.testing.assert_allclose(found.W, 1024.0 * plain.W)
    np.testing.assert_allclose(found.H, plain.H)


def test_whatever_ends_the_search_the_best_factors_are_returned(curve):
    def stop(record):
        if record["iteration"] == 2:
            raise KeyboardInterrupt

    found = isometric_factors(*curve, 3, progress=stop)
    assert found.status is IsometricStatus.INTERRUPTED
    assert len(found.history) == 2
    assert found.dist == pytest.approx(min(r["dist"] for r in found.history))
    found = isometric_factors(*curve, 3, time_limit=1e-9)
    assert found.status is IsometricStatus.TIME_LIMIT
    assert not found.history
    assert found.W.shape == (30, 3)
    found = isometric_factors(*curve, 3, time_limit=0.05, tol=1e-12, max_iter=10**6)
    assert found.status in (IsometricStatus.TIME_LIMIT, IsometricStatus.STALLED)
    found = isometric_factors(*curve, 3, objective="furthest", pull=1e9)
    assert found.status is IsometricStatus.DIVERGED
    assert np.isfinite(found.W).all()


def test_what_is_refused(curve):
    for change, error, words in [
        ({"X": -np.ones((30, 8))}, DataError, r"X\[0, 0\] = -1"),
        ({"X": np.ones((29, 8))}, ShapeError, "29 rows but the graph 30 nodes"),
        ({"n_components": 9}, DataError, "n_components=9 is out of range"),
        ({"n_components": 0}, DataError, "n_components"),
        ({"objective": "farthest"}, UnknownNameError, "furthest"),
        ({"objective": "furthest", "pull": -1.0}, DataError, "pull"),
        ({"tol": 0.0}, DataError, "tol"),
    ]:
        given = {"X": curve[0], "graph": curve[1], "n_components": 3, **change}
        with pytest.raises(error, match=words):
            isometric_factors(**given)


def test_sparsity_is_one_of_a_single_entry_and_none_of_equal_ones_in_any_unit():
    np.testing.assert_allclose(hoyer([0.0, 0.0, 7.0]), 1.0)
    np.testing.assert_allclose(hoyer(np.full((3, 2), 2.0)), 0.0, atol=1e-15)
    x = np.random.default_rng(0).random(9)
    np.testing.assert_allclose(hoyer(5.0 * x), hoyer(x))
    np.testing.assert_allclose(hoyer(x.reshape(3, 3), axis=None), hoyer(x))
    np.testing.assert_allclose(hoyer(x.reshape(3, 3), axis=1), hoyer(x.reshape(3, 3).T, axis=0))
    assert np.isnan(hoyer([0.0, 0.0]))
    with pytest.raises(DataError):
        hoyer([np.nan, 1.0])
