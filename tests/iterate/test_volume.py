"""Minimum volume embedding: its values, its limits, and the bound that holds at any rank."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.errors import DataError, DisconnectedGraphError
from sdpdr.iterate import IterationStatus, minimum_volume

GRAM = {"solver": "clarabel", "form": "gram"}


@pytest.fixture(scope="module")
def roll():
    return sdpdr.datasets.swiss_roll(12, seed=0)[0]


@pytest.fixture(scope="module")
def graph(roll):
    return graphs.knn(roll, 4)


@pytest.fixture(scope="module")
def unfolding(graph):
    return sdpdr.solve(methods.mvu(graph), tol=1e-8)


@pytest.mark.nightly
def test_rank_two_is_low_rank_unfolding(graph):
    """Dimensions beyond the second can be dropped where lengths may shrink: both values agree."""
    state = minimum_volume(graph, 2, tol=1e-7, **GRAM)
    assert state.status is IterationStatus.SETTLED
    assert state.objective == pytest.approx(-1628.44488, rel=1e-6)
    assert state.record.share < 1e-6
    assert state.bound == pytest.approx(-1640.39706, rel=1e-6)
    assert state.gap == pytest.approx(0.007286, abs=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("options", [{"rank": 2, "kappa": -1.0}, {"rank": 11}, {"rank": 3}])
def test_where_it_is_maximum_variance_unfolding(graph, unfolding, options):
    """With nothing to flatten, or where flattening is rewarded; rank 3 holds the optimum itself."""
    state = minimum_volume(graph, **options, **GRAM)
    assert -state.objective == pytest.approx(unfolding.value, rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("isometry", [Band(0.05), Slack(1.0)], ids=str)
def test_it_goes_down_under_every_relation(graph, isometry):
    state = minimum_volume(graph, 2, isometry=isometry, max_iter=4, **GRAM)
    objective = np.array([r.objective for r in state.history])
    assert np.all(np.diff(objective) <= 1e-6 * np.abs(objective[0]))
    assert state.bound <= objective.min() + 1e-6 * abs(objective.min())


def test_the_bound_holds_for_any_matrix(graph, roll):
    """The input itself is feasible, and every rank and penalty obeys the bound."""
    X = roll - roll.mean(axis=0)
    values = np.linalg.eigvalsh(X @ X.T)[::-1]
    state = minimum_volume(graph, 1, kappa=2.0, max_iter=2)
    assert state.bound <= 2.0 * values[1:].sum() - values[0]
    assert state.bound <= state.objective


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rank": 0}, "rank"),
        ({"rank": 12}, r"1\.\.11"),
        ({"kappa": -1.5}, "kappa must be at least -1"),
        ({"kappa": np.nan}, "kappa"),
    ],
)
def test_ranks_and_penalties_without_a_program_are_named(graph, options, words):
    with pytest.raises(DataError, match=words):
        minimum_volume(graph, **options)


def test_a_disconnected_graph_is_refused():
    with pytest.raises(DisconnectedGraphError):
        minimum_volume(graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0]), 1)
