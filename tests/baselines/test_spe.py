"""Stochastic proximity embedding: distances that fit are reproduced, bad input is named."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sdpdr.baselines import SPE, spe, spe_stress
from sdpdr.errors import DataError, ShapeError, UnknownNameError
from sdpdr.families.unfold.baselines.spe import matchings


@pytest.mark.integration
@parametrize_with_checks([SPE(cycles=3, steps=30)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def square():
    return np.random.default_rng(0).uniform(size=(25, 2))


def distances(X):
    return np.linalg.norm(X[:, None] - X[None], axis=2)


def test_points_of_a_square_find_their_distances(square):
    Y = spe(square, 2)
    assert spe_stress(distances(square), Y) < 1e-12
    np.testing.assert_allclose(distances(Y), distances(square), atol=1e-4)
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=1e-12)


def test_the_stress_is_the_corrected_one():
    """(4.26): each error is divided by its own distance, and the sum by the sum of distances."""
    D = distances(np.array([[0.0], [1.0], [3.0]]))
    Y = np.array([[0.0], [2.0], [2.5]])
    by_hand = (1.0**2 / 1.0 + 0.5**2 / 3.0 + 1.5**2 / 2.0) / 6.0
    assert spe_stress(D, Y) == pytest.approx(by_hand)
    near = (1.0**2 / 1.0 + 0.5**2 / 3.0 + 1.5**2 / 2.0) / 6.0
    assert spe_stress(D, Y, cutoff=1.0) == pytest.approx(near)
    further = np.array([[0.0], [2.0], [6.0]])
    assert spe_stress(D, further, cutoff=1.0) == pytest.approx(1.0)


def test_it_unrolls_a_circle_piece_under_a_cutoff():
    """Only near pairs hold a distance; the others may not come closer, and the arc opens."""
    angles = np.linspace(0.0, 1.5 * np.pi, 20)
    arc = np.column_stack([np.cos(angles), np.sin(angles)])
    cut = 0.6
    Y = spe(arc, 1, cutoff=cut, cycles=100, seed=1)
    D = distances(arc)
    assert spe_stress(D, Y, cut) < spe_stress(D, arc[:, :1] - arc[:, :1].mean(), cut)


def test_the_seed_decides_every_place(square):
    options = {"cycles": 3, "steps": 50}
    np.testing.assert_array_equal(spe(square, **options), spe(square, **options))
    assert np.abs(spe(square, **options) - spe(square, seed=1, **options)).max() > 1e-3


def test_precomputed_distances_give_the_same(square):
    plain = spe(square, cycles=3)
    given = spe(distances(square), cycles=3, metric="precomputed")
    np.testing.assert_allclose(given, plain, atol=1e-8)
    learned = SPE(cycles=3, metric="precomputed").fit(distances(square))
    np.testing.assert_allclose(learned.embedding_, plain, atol=1e-8)
    assert learned.stress_ == pytest.approx(spe_stress(distances(square), plain))


@pytest.mark.parametrize(("n", "pairs"), [(2, 3), (7, 10), (8, 10), (8, 3)])
def test_pairs_that_move_at_once_have_no_point_in_common(n, pairs):
    rounds = list(matchings(n, pairs, np.random.default_rng(0)))
    assert sum(first.size for first, _ in rounds) == pairs
    for first, second in rounds:
        ends = np.concatenate([first, second])
        assert np.unique(ends).size == ends.size


def test_every_pair_may_be_drawn():
    rng = np.random.default_rng(0)
    drawn = {frozenset(p) for i, j in matchings(5, 400, rng) for p in zip(i, j, strict=True)}
    assert len(drawn) == 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "n_components"),
        ({"cutoff": 0.0}, "cutoff"),
        ({"cutoff": np.nan}, "cutoff"),
        ({"cycles": 0}, "cycles"),
        ({"steps": 0}, "steps"),
    ],
)
def test_wrong_arguments_are_refused(square, options, words):
    with pytest.raises(DataError, match=words):
        spe(square, **options)


def test_wrong_data_are_refused(square):
    with pytest.raises(DataError):
        spe(np.where(square > 0.9, np.nan, square))
    with pytest.raises(DataError):
        spe(square, metric="precomputed")
    with pytest.raises(UnknownNameError, match="Did you mean 'euclidean'"):
        spe(square, metric="euclid")
    with pytest.raises(ShapeError, match="2 rows"):
        spe_stress(np.zeros((3, 3)), np.zeros((2, 1)))
