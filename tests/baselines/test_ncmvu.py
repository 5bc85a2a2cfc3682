"""Non-convex unfolding: the corrected gradient, the values of the convex program, local optima."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime

import sdpdr
from sdpdr import graphs, methods
from sdpdr.baselines import ncmvu
from sdpdr.errors import (
    DataError,
    DataTypeError,
    DisconnectedGraphError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.families.unfold.baselines.ncmvu import lagrangian

X20 = sdpdr.datasets.swiss_roll(20, seed=0)[0]


@pytest.fixture(scope="module")
def graph():
    return graphs.knn(X20, 4)


@pytest.fixture(scope="module")
def point(graph):
    """Coordinates, multipliers and a penalty, none of them special."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((20, 4)), rng.standard_normal(graph.m), 0.7


def test_the_gradient_is_that_of_finite_differences(graph, point):
    R, w, s = point
    for model in (methods.mvu(graph), methods.mfnu(graph)):
        C = -sp.csr_array(model.to_sdp().cost("K"))
        for isometry, weights in (("equality", w), ("inequality", np.abs(w))):
            _, ours = lagrangian(R, weights, s, C, graph, isometry)

            def value(x, given=(weights, s, C, graph, isometry)):
                return lagrangian(x.reshape(R.shape), *given)[0]

            found = approx_fprime(R.ravel(), value, 1e-6)
            assert np.abs(found - ours.ravel()).max() <= 1e-5 * np.abs(ours).max()


def test_counted_nodes_move_with_their_weight(point):
    """The gradient accounts for the weighted centre."""
    graph = graphs.NeighborGraph(3, [[0, 1], [1, 2]], [1.0, 2.0], counts=[3, 1, 1])
    R, w = point[0][:3], np.array([0.3, -0.2])
    C = sp.diags_array([3.0, 1.0, 1.0])
    _, ours = lagrangian(R, w, 0.5, C, graph)
    found = approx_fprime(
        R.ravel(), lambda x: lagrangian(x.reshape(R.shape), w, 0.5, C, graph)[0], 1e-6
    )
    np.testing.assert_allclose(found, ours.ravel(), atol=1e-4)


@pytest.mark.nightly
def test_three_dimensions_reach_the_convex_optimum_from_anywhere(graph):
    found, value = ncmvu(graph, 3), 2904.10627
    assert found.converged
    assert found.violation < 1e-7
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.bound == pytest.approx(value, rel=1e-3)
    assert found.bound >= found.value * (1.0 - 1e-7)
    assert "optimal at any rank" in found.message


@pytest.mark.integration
def test_two_dimensions_are_too_few_and_the_bound_says_so(graph):
    found = ncmvu(graph, 2, start=X20, tol=1e-6)
    assert found.converged
    assert found.value == pytest.approx(2867.2736, rel=1e-5)
    assert found.gap > 0.1
    assert "Rank 2 may be too small" in found.message


@pytest.mark.nightly
def test_exact_lengths_in_a_plane_that_do_not_exist(graph):
    found = ncmvu(graph, 2, "equality", start=X20, max_iter=8)
    assert not found.converged
    assert found.violation > 1e-2
    assert "higher rank" in found.message


@pytest.mark.nightly
def test_starts_agree_where_lengths_may_shrink_and_part_where_they_may_not(graph):
    shrinking = [ncmvu(graph, 2, seed=seed, tol=1e-4, max_iter=12) for seed in (0, 1)]
    for found in shrinking:
        assert found.value == pytest.approx(2867.27, rel=1e-4)
    exact = [ncmvu(graph, 2, "equality", seed=seed, max_iter=5) for seed in (0, 1)]
    assert min(found.violation for found in exact) > 0.1
    assert abs(exact[0].value / exact[1].value - 1.0) > 0.01


def test_exact_lengths_that_exist():
    path = graphs.path([1.0, 2.0, 0.5])
    found = ncmvu(path, 2, "equality")
    assert found.converged
    assert found.value == pytest.approx(sdpdr.solve(methods.mvu(path, "equality")).value, rel=1e-6)
    assert found.gap < 1e-4


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rank": 0}, DataError, "rank"),
        ({"rank": 20}, DataError, r"1\.\.19"),
        ({"isometry": "equal"}, UnknownNameError, "Did you mean 'equality'"),
        ({"start": X20[:5]}, ShapeError, "5 points"),
        ({"max_iter": 0}, DataError, "max_iter"),
    ],
)
def test_wrong_arguments_are_refused(graph, options, error, words):
    with pytest.raises(error, match=words):
        ncmvu(graph, **options)


def test_points_and_disconnected_graphs_are_refused():
    with pytest.raises(DataTypeError, match=r"takes a graph of neighbours"):
        ncmvu(X20)
    with pytest.raises(DisconnectedGraphError):
        ncmvu(graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0]))


def test_without_time_the_bound_still_holds_and_the_end_is_told(graph):
    hasty = ncmvu(graph, time_limit=0.0)
    assert (hasty.converged, hasty.stopped) == (False, True)
    assert hasty.bound is None or hasty.bound >= 2904.1062
    assert "time_limit" in hasty.message
    assert np.isfinite(hasty.embedding).all()
