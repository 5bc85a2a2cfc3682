"""Stochastic proximity embedding: distances that fit are reproduced, bad input is named."""

import numpy as np
import pytest

from sdpdr.baselines import SPE, spe_stress
from sdpdr.errors import DataError, UnknownNameError


@pytest.fixture(scope="module")
def square():
    return np.random.default_rng(0).uniform(size=(10, 2))


def distances(X):
    return np.linalg.norm(X[:, None] - X[None], axis=2)


def test_points_of_a_square_find_their_distances(square):
    learned = SPE().fit(square)
    Y = learned.embedding_
    assert learned.stress_ == pytest.approx(spe_stress(distances(square), Y))
    assert learned.stress_ < 1e-12
    np.testing.assert_allclose(distances(Y), distances(square), atol=1e-4)
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=1e-12)


def test_the_stress_is_the_corrected_one():
    """(4.26): each error is divided by its own distance, and the sum by the sum of distances."""
    D = distances(np.array([[0.0], [1.0], [3.0]]))
    Y = np.array([[0.0], [2.0], [2.5]])
    by_hand = (1.0**2 / 1.0 + 0.5**2 / 3.0 + 1.5**2 / 2.0) / 6.0
    assert spe_stress(D, Y) == pytest.approx(by_hand)
    # Further pairs count where they come closer, and do not where they part.
    assert spe_stress(D, Y, cutoff=1.0) == pytest.approx(by_hand)
    further = np.array([[0.0], [2.0], [6.0]])
    assert spe_stress(D, further, cutoff=1.0) == pytest.approx(1.0)


def test_it_unrolls_a_circle_piece_under_a_cutoff():
    """Only near pairs hold a distance; the others may not come closer, and the arc opens."""
    angles = np.linspace(0.0, 1.5 * np.pi, 12)
    arc = np.column_stack([np.cos(angles), np.sin(angles)])
    cut = 0.9
    learned = SPE(1, cutoff=cut, random_state=1).fit(arc)
    assert learned.stress_ < spe_stress(distances(arc), arc[:, :1] - arc[:, :1].mean(), cut)


def test_the_seed_decides_every_place_and_distances_are_enough(square):
    plain = SPE(cycles=3).fit(square).embedding_
    np.testing.assert_array_equal(SPE(cycles=3).fit(square).embedding_, plain)
    assert np.abs(SPE(cycles=3, random_state=1).fit(square).embedding_ - plain).max() > 1e-3
    given = SPE(cycles=3, metric="precomputed").fit(distances(square)).embedding_
    np.testing.assert_allclose(given, plain, atol=1e-8)


def test_what_cannot_be_used_is_named(square):
    for options in ({"n_components": 0}, {"cutoff": 0.0}, {"cutoff": np.nan}, {"cycles": 0}):
        with pytest.raises(DataError, match=next(iter(options))):
            SPE(**options).fit(square)
    with pytest.raises(DataError):
        SPE(metric="precomputed").fit(square)
    with pytest.raises(UnknownNameError, match="Did you mean 'euclidean'"):
        SPE(metric="euclid").fit(square)
