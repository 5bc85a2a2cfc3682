"""Unfolding within a number of dimensions: what is reached, what is given up, what is refused."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import DataError, InfeasibleError, ModelError
from sdpdr.iterate import IterationStatus, rank_constrained
from sdpdr.linalg import SquaredEdgeLengths

PATH = graphs.path([1.0] * 4)
GRAM = {"solver": "clarabel", "form": "gram"}


@pytest.fixture(scope="module")
def graph():
    return graphs.knn(sdpdr.datasets.swiss_roll(12, seed=0)[0], 4)


def changes(graph, Y):
    return SquaredEdgeLengths(graph.n, graph.edges).apply_factor(Y) / graph.sqdist - 1.0


@pytest.mark.nightly
def test_where_lengths_may_shrink_a_plane_is_found_at_once(graph):
    found = rank_constrained(graph, 2, "inequality", share=0.9)
    assert found.status is IterationStatus.RANK_REACHED
    assert len(found.state.history) <= 3
    assert found.purified.held()
    Y = found.embedding_
    assert Y.shape == (12, 2)
    assert np.sum(Y**2) >= 0.9 * 1640.397 * (1.0 - 1e-6)
    assert changes(graph, Y).max() < 1e-8


@pytest.mark.nightly
def test_asking_for_less_after_a_stall(graph):
    found = rank_constrained(graph, 1, "inequality", share=0.9, retries=3, **GRAM)
    assert found.status is IterationStatus.RANK_REACHED
    assert found.attempts == 2
    assert found.share == pytest.approx(0.72)
    assert found.purified.held(1e-8)
    assert "72% of the largest variance" in repr(found)


def test_more_than_the_largest_variance_is_infeasible():
    with pytest.raises(InfeasibleError, match=r"variance of 11.*is 10 "):
        rank_constrained(PATH, 1, variance=11.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rank": 0}, "rank"),
        ({"rank": 5}, r"1\.\.4"),
        ({"share": 0.0}, "share"),
        ({"share": 1.1}, "share"),
        ({"variance": -1.0}, "variance"),
        ({"retries": -1}, "retries"),
    ],
)
def test_ranks_shares_and_retries_without_a_program_are_refused(options, words):
    with pytest.raises(DataError, match=words):
        rank_constrained(PATH, **{"rank": 1, **options})


# -- the recipe ----------------------------------------------------------------------------------


@pytest.mark.parametrize("least", [0.0, -1.0, np.nan, np.inf])
def test_a_floor_must_be_positive(least):
    with pytest.raises(ModelError, match="positive"):
        methods.isometric(PATH, variance=least)
