"""Minimum volume embedding: its values, its limits, and the bound that holds at any rank."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.errors import DataError, DisconnectedGraphError, DuplicatePointsWarning
from sdpdr.iterate import IterationStatus, minimum_volume, volume_iteration

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


@pytest.mark.parametrize(
    ("solver", "form"),
    [
        ("clarabel", "gram"),
        ("clarabel", "lmi"),
        # From the data, and in one dimension, below.
        pytest.param("lowrank", "factor", marks=pytest.mark.nightly),
    ],
)
def test_rank_two_is_low_rank_unfolding(graph, solver, form):
    """Dimensions beyond the second can be dropped where lengths may shrink: both values agree."""
    state = minimum_volume(graph, 2, tol=1e-7, solver=solver, form=form)
    assert state.status is IterationStatus.SETTLED
    assert state.objective == pytest.approx(-1628.44488, rel=1e-6)
    assert state.record.share < 1e-6
    assert state.bound == pytest.approx(-1640.39706, rel=1e-6)
    assert state.gap == pytest.approx(0.007286, abs=1e-6)


@pytest.mark.nightly
def test_the_data_lead_to_the_same_value(graph, roll):
    state = minimum_volume(graph, 2, start=roll, tol=1e-7)
    assert state.objective == pytest.approx(-1628.44488, rel=1e-6)
    assert state.history[0].note == "the model as it is"
    assert [r.start for r in state.history] == [0] + [1] * (len(state.history) - 1)


@pytest.mark.nightly  # the one from the data is met below
def test_one_dimension_has_local_optima(graph, roll):
    from_unfolding = minimum_volume(graph, 1, tol=1e-7).objective
    from_data = minimum_volume(graph, 1, start=roll, tol=1e-7).objective
    assert from_unfolding == pytest.approx(-1255.657, abs=2e-3)
    assert from_data == pytest.approx(-1142.201, abs=2e-3)


@pytest.mark.nightly
def test_restarts_keep_the_best(graph, roll):
    state = minimum_volume(graph, 1, start=roll, restarts=1, max_iter=6, **GRAM)
    assert state.start == 2
    ends = [min(r.objective for r in state.history if r.start == k) for k in (1, 2)]
    assert state.objective == pytest.approx(min(ends))
    assert state.objective <= -1142.2


@pytest.mark.nightly
@pytest.mark.parametrize("options", [{"rank": 2, "kappa": -1.0}, {"rank": 11}, {"rank": 3}])
def test_where_it_is_maximum_variance_unfolding(graph, unfolding, options):
    """With nothing to flatten, or where flattening is rewarded; rank 3 holds the optimum itself."""
    state = minimum_volume(graph, **options, **GRAM)
    assert -state.objective == pytest.approx(unfolding.value, rel=1e-6)


def test_no_price_at_all_has_the_same_optimum_as_one(graph):
    state = minimum_volume(graph, 2, kappa=0.0, tol=1e-7)
    assert state.objective == pytest.approx(-1628.44488, rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("from_data", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_with_exact_lengths_the_share_grows(roll, from_data):
    """Dimensions cannot be dropped; two of them come to hold .9877 of the variance."""
    graph = graphs.knn(roll, 3)
    start = roll if from_data else None
    state = minimum_volume(graph, 2, isometry="equality", start=start, tol=1e-7, **GRAM)
    assert 1.0 - state.history[0].share == pytest.approx(0.97285, abs=3e-5)
    assert 1.0 - state.record.share == pytest.approx(0.9877, abs=1e-4)
    assert state.objective == pytest.approx(-1630.10595, rel=1e-6)
    objective = [r.objective for r in state.history if r.start == state.start]
    assert np.all(np.diff(objective) <= 1e-5 * 1630)


@pytest.mark.nightly
@pytest.mark.parametrize("isometry", [Band(0.05), Slack(5.0, relative=True), Slack(1.0)], ids=str)
def test_it_goes_down_under_every_relation(graph, isometry):
    state = minimum_volume(graph, 2, isometry=isometry, max_iter=4, **GRAM)
    objective = np.array([r.objective for r in state.history])
    assert np.all(np.diff(objective) <= 1e-6 * np.abs(objective[0]))
    assert state.bound <= objective.min() + 1e-6 * abs(objective.min())


def test_the_bound_holds_for_any_matrix(graph, roll):
    """The input itself is feasible, and every rank and price obeys the bound."""
    X = roll - roll.mean(axis=0)
    values = np.linalg.eigvalsh(X @ X.T)[::-1]
    state = minimum_volume(graph, 1, kappa=2.0, max_iter=2)
    assert state.bound <= 2.0 * values[1:].sum() - values[0]
    assert state.bound <= state.objective


@pytest.mark.nightly
def test_merged_points_count_as_often_as_they_occur(roll):
    """A repeated point gives the value of the program in which it has two rows."""
    twice = np.vstack([roll[:7], roll[:1]])
    with pytest.warns(DuplicatePointsWarning):
        merged = graphs.knn(twice, 4)
    lone = graphs.knn(roll[:7], 4)
    state = minimum_volume(merged, 2, tol=1e-7, **GRAM)
    gram = np.asarray(state.gram())
    whole = gram[np.ix_(merged.index, merged.index)]
    values = np.linalg.eigvalsh(whole)[::-1]
    assert state.objective == pytest.approx(values[2:].sum() - values[:2].sum(), rel=1e-5)
    np.testing.assert_allclose(whole.sum(axis=0), 0.0, atol=1e-4)
    assert state.objective < minimum_volume(lone, 2, **GRAM).objective


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rank": 0}, "rank"),
        ({"rank": 12}, r"1\.\.11"),
        ({"kappa": -1.5}, "kappa must be at least -1"),
        ({"kappa": np.nan}, "kappa"),
    ],
)
def test_ranks_and_prices_without_a_program_are_named(graph, options, words):
    with pytest.raises(DataError, match=words):
        volume_iteration(graph, **options)


def test_a_disconnected_graph_is_refused():
    with pytest.raises(DisconnectedGraphError):
        minimum_volume(graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0]), 1)
