"""The estimators ColoredMVU and MFNU: what they learn and refuse."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import DataError, UnknownNameError


@pytest.fixture(scope="module")
def roll():
    return sdpdr.datasets.swiss_roll(36, seed=0)


def test_they_learn_what_the_recipes_solve(roll):
    X, t = roll
    graph = graphs.knn(X, 5)
    for estimator, model in (
        (sdpdr.MFNU(n_neighbors=5), methods.mfnu(graph)),
        (sdpdr.MFNU(n_neighbors=5, objective="variance"), methods.mvu_apart(graph)),
        (sdpdr.ColoredMVU(n_neighbors=5), methods.colored_mvu(graph, t)),
    ):
        learned = estimator.fit(X, t)
        assert learned.solution_.value == pytest.approx(sdpdr.solve(model).value, rel=1e-6)
        assert learned.embedding_.shape == (36, 2)


@pytest.mark.nightly
def test_hsic_is_the_criterion(roll):
    X, t = roll
    learned = sdpdr.ColoredMVU(n_neighbors=5, solver="clarabel").fit(X, t)
    centre = np.eye(36) - 1.0 / 36
    T, K = np.outer(t, t), np.asarray(learned.gram_)
    assert learned.hsic_ == pytest.approx(np.trace(K @ centre @ T @ centre) / 35**2, rel=1e-6)


def test_what_is_refused(roll):
    X, t = roll
    with pytest.raises(DataError, match="requires y"):
        sdpdr.ColoredMVU().fit(X)
    with pytest.raises(DataError, match="7 points"):
        sdpdr.ColoredMVU().fit(X, t[:7])
    with pytest.raises(DataError, match="the same for all"):
        sdpdr.ColoredMVU().fit(X, np.zeros(36, int))
    with pytest.raises(UnknownNameError, match="objective"):
        sdpdr.MFNU(objective="volume").fit(X)
