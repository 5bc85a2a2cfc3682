"""The MVE estimator: what it learns, what it refuses."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, iterate
from sdpdr.errors import DataError, DisconnectedGraphError, UncertifiedWarning

ROLL = sdpdr.datasets.swiss_roll(20, seed=0)[0]


def test_learns_what_the_iteration_finds():
    few = sdpdr.datasets.swiss_roll(8, seed=0)[0]
    learned = sdpdr.MVE(n_neighbors=3).fit(few)
    state = iterate.minimum_volume(graphs.knn(few, 3), 2)
    np.testing.assert_allclose(learned.embedding_, state.embedding(2), atol=1e-6)
    assert learned.iteration_.status is iterate.IterationStatus.SETTLED
    assert learned.n_iter_ == len(state.history)
    assert learned.iteration_.objective == pytest.approx(-1159.03, abs=0.01)


def test_stopping_early_gives_a_warning_and_the_best_so_far():
    with pytest.warns(UncertifiedWarning, match="ITERATION_LIMIT"):
        learned = sdpdr.MVE(n_neighbors=4, max_iter=2).fit(ROLL)
    assert np.isfinite(learned.embedding_).all()
    assert learned.n_iter_ == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 20}, r"1\.\.19"),
        ({"n_components": 0}, "n_components"),
        ({"kappa": -2.0}, "kappa"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"max_iter": -1}, "max_iter"),
    ],
)
def test_bad_hyperparameters_are_named(options, words):
    with pytest.raises(DataError, match=words):
        sdpdr.MVE(**{"n_neighbors": 4, **options}).fit(ROLL)


def test_disconnected_data_are_refused():
    apart = sdpdr.datasets.two_clusters(20, seed=0)[0]
    with pytest.raises(DisconnectedGraphError):
        sdpdr.MVE(n_neighbors=3, connect="error").fit(apart)
