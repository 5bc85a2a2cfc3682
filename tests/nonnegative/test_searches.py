"""Branch and bound: values, soundness, limits, interrupts, and going on."""

import numpy as np
import pytest
from scipy.optimize import nnls

from sdpdr.errors import DataError
from sdpdr.families.factor.nonnegative import branch_and_bound
from sdpdr.families.factor.nonnegative.branch_and_bound import _Cones
from sdpdr.families.factor.nonnegative.projection import project, squared_distances
from sdpdr.nonnegative import SearchStatus, box_search, cone_search

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.30]])
CLOSED = np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])
SQUARE = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=float)
SMALL = np.array([[1.0, 2.0], [3.0, 4.0]])


def relative(found):
    return found.lower / found.norm, found.upper / found.norm


def test_distances_from_cones_are_proved_and_tight_for_the_projection():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        G = rng.dirichlet(np.ones(4) * 0.5, 6).T
        V = rng.random((4, 5))
        nearest = project(G, V)
        exact = np.sum((V - G @ nearest) ** 2, axis=0)
        proved = squared_distances(G, V, nearest)
        assert np.all(proved <= exact + 1e-15)
        np.testing.assert_allclose(proved, exact, rtol=1e-9, atol=1e-14)
        # Wrong coefficients cost the bound and not the truth.
        assert np.all(squared_distances(G, V, rng.random((6, 5))) <= exact + 1e-15)


# -- cones -----------------------------------------------------------------------------------------


def test_the_printed_example_closes_at_the_root():
    found = cone_search(V3, 2, tol=1e-9)
    assert found.status is SearchStatus.CLOSED
    assert found.nodes == 0
    assert relative(found) == pytest.approx((0.030549, 0.030549), abs=5e-7)
    assert found.gap < 1e-12
    np.testing.assert_allclose(np.linalg.norm(V3 - found.W @ found.H), found.upper)


@pytest.fixture(scope="module")
def whole():
    return cone_search(CLOSED, 2, tol=3e-3)


@pytest.mark.integration
def test_a_matrix_that_eckart_and_young_do_not_close(whole):
    lower, upper = relative(whole)
    assert whole.status is SearchStatus.CLOSED
    assert 0.250947 - 1.07 * 3e-3 <= lower <= upper
    assert upper == pytest.approx(0.250947, abs=2e-6)
    tail = np.linalg.svd(CLOSED)[1][2] / np.linalg.norm(CLOSED)
    assert tail == pytest.approx(0.22595, abs=5e-6)
    assert lower > tail + 0.02


def test_no_factors_from_the_cones_of_a_node_have_less_than_its_bound():
    """A bound of the whole search may be cut off at the best factors; that of a node may not."""
    rng = np.random.default_rng(0)
    V = rng.random((3, 4)) * (rng.random((3, 4)) < 0.7)
    search = _Cones(V, 2)
    node = ((), ())
    search.bounded(node)
    for _ in range(25):
        node = list(search.children(node))[rng.integers(2)]
        bound = search.bounded(node)
        W = np.column_stack([search.vertices(s) @ rng.dirichlet(np.ones(3)) for s in node])
        error = sum(nnls(W, column)[1] ** 2 for column in V.T)
        assert bound <= error + 1e-12 * np.sum(V**2)


def test_a_matrix_with_an_exact_factorization_has_the_bound_zero():
    rng = np.random.default_rng(0)
    V = rng.random((4, 3)) * (rng.random((4, 3)) < 0.7) @ rng.random((3, 5))
    found = cone_search(V, 3, tol=1e-6, max_nodes=20)
    assert found.lower < 1e-12
    # Sides may be exchanged.
    assert cone_search(V.T, 3, tol=1e-6, max_nodes=1).W.shape == (5, 3)


# -- limits and interrupts -------------------------------------------------------------------------


def test_a_limit_of_nodes_ends_the_search():
    bounds = []
    for limit in (20, 50, 100):
        found = cone_search(CLOSED, 2, tol=3e-3, max_nodes=limit)
        assert (found.status, found.nodes) == (SearchStatus.NODE_LIMIT, limit)
        bounds.append(found.lower)
    assert np.all(np.diff(bounds) >= 0.0)


@pytest.mark.integration
def test_an_interrupt_leaves_bounds_that_hold(monkeypatch):
    """Also between two parts of a node, neither of which is lost."""
    true, calls = squared_distances, []

    def once(*arguments):
        calls.append(1)
        if len(calls) == 82:
            raise KeyboardInterrupt
        return true(*arguments)

    monkeypatch.setattr(branch_and_bound, "squared_distances", once)
    found = cone_search(CLOSED, 2, tol=3e-3)
    assert found.status is SearchStatus.INTERRUPTED
    assert 0.2259 < found.lower / found.norm < 0.250947 <= found.upper / found.norm + 1e-6


def test_time_runs_out():
    found = cone_search(CLOSED, 2, time_limit=1e-9)
    assert (found.status, found.nodes) == (SearchStatus.TIME_LIMIT, 0)
    assert relative(found) == pytest.approx((0.22595, 0.250947), abs=5e-6)


# -- boxes of logarithms ---------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("tol", [3e-2, 1e-3])
def test_the_box_search_encloses_the_leading_pair(tol):
    """Within the box the best of one component is the singular pair, up to the scale."""
    found = box_search(SMALL, 1, 0.1, 10.0, tol=tol)
    assert found.status is SearchStatus.CLOSED
    best = np.linalg.svd(SMALL)[1][1] ** 2
    assert best == pytest.approx(0.133931, abs=5e-7)
    assert found.lower**2 <= best <= found.upper**2
    assert found.lower >= np.sqrt(best) - tol * np.linalg.norm(SMALL)
    np.testing.assert_allclose(found.W[0], 1.0)


def test_bounds_of_boxes_hold_in_the_box():
    V, k = np.array([[1.0, 0.2], [0.3, 2.0]]), 2
    found = box_search(V, k, 0.05, 5.0, max_nodes=10)
    rng = np.random.default_rng(0)
    W, H = np.exp(rng.uniform(np.log(0.05), np.log(5.0), (2, 2000, 2, 2)))
    W[:, 0] = 1.0
    assert np.linalg.norm(V - W @ H, axis=(1, 2)).min() >= found.lower
    # Limits that exclude the best are part of the statement.
    narrow = box_search(SMALL, 1, 2.5, 3.5, tol=1e-2)
    assert narrow.status is SearchStatus.CLOSED
    assert narrow.lower > np.linalg.svd(SMALL)[1][1]
    assert "[2.5, 3.5]" in narrow.argument


def test_boxes_are_for_tiny_matrices():
    for X, arguments, words in [
        (np.ones((3, 3)), (3, 0.1, 10.0), "15 entries are free.*cone_search"),
        (SMALL, (1, 2.0, 1.0), "low must be less"),
        (SMALL, (1, 0.0, 1.0), "low=0"),
        ([[1.0, 2.0]], (2, 0.1, 10.0), "k=2 is out of range"),
    ]:
        with pytest.raises(DataError, match=words):
            box_search(X, *arguments)


def test_what_cannot_be_searched_is_named():
    for X, k, options, words in [
        (V3, 2, {"tol": 0.0}, "tol=0"),
        (V3, 2, {"max_nodes": 0}, "max_nodes=0"),
        (V3, 2, {"time_limit": -1.0}, "time"),
        ([[1.0, -2.0]], 1, {}, r"X\[0, 1\] = -2"),
        ([[1.0, 2.0]], 2, {}, "k=2 is out of range"),
    ]:
        with pytest.raises(DataError, match=words):
            cone_search(X, k, **options)
