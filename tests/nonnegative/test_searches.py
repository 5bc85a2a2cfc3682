"""Branch and bound: values, soundness, limits and interrupts."""

import numpy as np
import pytest
from scipy.optimize import nnls

from sdpdr.families.factor.nonnegative import branch_and_bound
from sdpdr.families.factor.nonnegative.branch_and_bound import _Search, cone_bound
from sdpdr.families.factor.nonnegative.projection import project, squared_distances

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.30]])
CLOSED = np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])
# Their best errors with two components, relative to their norms.
BEST3, BEST = 0.030549, 0.250947


def searched(V, relative, tol=3e-3, **limits):
    norm = np.linalg.norm(V)
    found = cone_bound(V, 2, relative * norm, tol, **limits)
    return found.lower / norm, found.nodes, found.argument


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


def test_the_printed_example_closes_at_the_root():
    lower, nodes, argument = searched(V3, BEST3 + 1e-6, tol=2e-6)
    assert lower == pytest.approx(BEST3, abs=5e-7)
    assert nodes == 0
    assert argument == "the singular values beyond the first k; the bounds meet"


@pytest.mark.integration
def test_a_matrix_that_eckart_and_young_do_not_close():
    lower, nodes, argument = searched(CLOSED, BEST + 2e-6)
    assert BEST - 1.07 * 3e-3 <= lower <= BEST + 1e-6
    tail = np.linalg.svd(CLOSED)[1][2] / np.linalg.norm(CLOSED)
    assert tail == pytest.approx(0.22595, abs=5e-6)
    assert lower > tail + 0.02
    assert argument == f"distances from the cones of {nodes} split nodes; the bounds meet"


def test_no_factors_from_the_cones_of_a_node_have_less_than_its_bound():
    """A bound of the whole search may be cut off at the best factors; that of a node may not."""
    rng = np.random.default_rng(0)
    V = rng.random((3, 4)) * (rng.random((3, 4)) < 0.7)
    search = _Search(V, 2)
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
    for M in (V, V.T):  # sides may be exchanged
        assert cone_bound(M, 3, np.inf, 1e-6, max_nodes=5).lower < 1e-12


# -- limits and interrupts -------------------------------------------------------------------------


def test_a_limit_of_nodes_ends_the_search():
    bounds = []
    for limit in (20, 50, 100):
        lower, nodes, argument = searched(CLOSED, BEST, max_nodes=limit)
        assert nodes == limit
        assert "limit of nodes" in argument
        bounds.append(lower)
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
    lower, _, argument = searched(CLOSED, BEST)
    assert 0.2259 < lower < BEST
    assert argument.endswith("; interrupted")


def test_time_runs_out():
    lower, nodes, argument = searched(CLOSED, BEST, time_limit=1e-9)
    assert (nodes, lower) == (0, pytest.approx(0.22595, abs=5e-6))
    assert argument.endswith("; the time limit was reached")
