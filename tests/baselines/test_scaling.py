"""Scaling by stress: gradients, exact optima, invariances, and scikit-learn's own numbers."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy.optimize import check_grad
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression

from sdpdr import baselines, datasets
from sdpdr.baselines import (
    Sammon,
    kruskal_stress,
    metric_mds,
    nonmetric_mds,
    spe_stress,
    stress,
)
from sdpdr.errors import DataError, ShapeError, UnknownNameError
from sdpdr.families.unfold.baselines.stress import sammon_slope
from sdpdr.families.unfold.quality import procrustes

X = datasets.swiss_roll(40, seed=0)[0]
D = squareform(pdist(X))
FLAT = np.random.default_rng(1).random((15, 2))
FLAT_D = squareform(pdist(FLAT))


def sammon(X, n_components=2, **options):
    return Sammon(n_components, **options).fit(X).embedding_


MAPS = {"metric_mds": metric_mds, "nonmetric_mds": nonmetric_mds, "sammon": sammon}


def test_the_slope_of_sammon_is_that_of_its_stress():
    start = np.random.default_rng(0).standard_normal((40, 2))

    def value(flat):
        return sammon_slope(D, flat.reshape(40, 2))[0]

    def slope(flat):
        return sammon_slope(D, flat.reshape(40, 2))[1].ravel()

    assert value(start.ravel()) == spe_stress(D, start)
    size = np.linalg.norm(slope(start.ravel()))
    assert check_grad(value, slope, start.ravel(), epsilon=1e-6) < 1e-5 * size


def test_sammon_ends_where_the_slope_is_zero_and_below_its_start():
    fitted = Sammon().fit(X)
    assert fitted.converged_
    unit = D.sum() / (40 * 39)
    assert 40 * unit * np.abs(sammon_slope(D, fitted.embedding_)[1]).max() < 2e-6
    assert fitted.stress_ < spe_stress(D, baselines.classical_mds(X))
    assert fitted.stress_ == pytest.approx(spe_stress(D, fitted.embedding_))
    halted = Sammon(max_iter=2).fit(X)
    assert (halted.n_iter_, halted.converged_) == (2, False)
    assert halted.stress_ > fitted.stress_


def test_three_points_at_one_distance_on_a_line():
    """Places -a, 0, a: 2 (a - 1)^2 + (2 a - 1)^2 is least at a = 2/3, and stress there 1/3."""
    same = np.ones((3, 3)) - np.eye(3)
    line = np.array([[-1.0], [0.0], [1.0]]) * 2 / 3
    assert stress(same, line) == pytest.approx(1 / 3)
    assert spe_stress(same, line) == pytest.approx(1 / 9)
    assert np.abs(sammon_slope(same, line)[1]).max() < 1e-15
    found = sammon(np.array([[0, 1.0, 1], [1, 0, 1], [1, 1, 0]]), 1, metric="precomputed")
    np.testing.assert_allclose(np.sort(found[:, 0]), line[:, 0], atol=1e-6)


@pytest.mark.parametrize("name", MAPS)
def test_distances_that_fit_are_reproduced(name):
    Y = MAPS[name](FLAT, 2)
    limit = 0.02 if name == "nonmetric_mds" else 1e-7
    assert procrustes(FLAT, Y, scaling=name == "nonmetric_mds") < limit
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=1e-12)
    covariance = Y.T @ Y
    assert abs(covariance[0, 1]) < 1e-9
    assert covariance[0, 0] >= covariance[1, 1]


@pytest.mark.parametrize("name", MAPS)
def test_motions_units_and_distances_alone_do_not_matter(name):
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    before, after = MAPS[name](X), MAPS[name](1000.0 * X @ turn + 3.0)
    size = np.linalg.norm(after) / np.linalg.norm(before)
    # The order alone has no unit; scikit-learn's steps give it one.
    assert size == pytest.approx(1.0 if name == "nonmetric_mds" else 1000.0, rel=1e-4)
    assert procrustes(before, after) < 1e-3
    given = MAPS[name](D, metric="precomputed")
    assert procrustes(before, given, scaling=False) < 1e-4


def test_majorization_lowers_the_stress_of_classical_scaling():
    first = stress(D, baselines.classical_mds(X))
    values = [first, *(stress(D, metric_mds(X, max_iter=k)) for k in (1, 4, 16))]
    assert np.all(np.diff(values) <= 1e-9 * first)


def test_sammon_keeps_short_distances_better_than_stress_does():
    short = np.quantile(pdist(X), 0.2) >= D

    def error(Y):
        return np.sum((np.where(short, squareform(pdist(Y)) - D, 0.0)) ** 2)

    assert error(sammon(X)) < error(metric_mds(X))
    assert stress(D, metric_mds(X)) < stress(D, sammon(X))


# -- Kruskal's stress -----------------------------------------------------------------------------


def test_only_the_order_counts():
    Y = np.random.default_rng(5).standard_normal((15, 2))
    value = kruskal_stress(FLAT_D, Y)
    assert 0.0 < value < 1.0
    for increasing in (np.square, np.sqrt, lambda d: np.expm1(3.0 * d)):
        assert kruskal_stress(increasing(FLAT_D), Y) == pytest.approx(value, rel=1e-12)
    assert kruskal_stress(FLAT_D, 7.0 * Y) == pytest.approx(value, rel=1e-12)
    assert kruskal_stress(FLAT_D**2, FLAT) == 0.0


def test_the_regression_is_that_of_scikit_learn():
    Y = np.random.default_rng(5).standard_normal((15, 2))
    wanted, now = pdist(FLAT), pdist(Y)
    fitted = IsotonicRegression().fit_transform(wanted, now)
    expected = np.sqrt(np.sum((fitted - now) ** 2) / np.sum(now**2))
    assert kruskal_stress(FLAT_D, Y) == pytest.approx(expected)


def test_increasing_functions_of_distances_keep_the_points():
    """Squares break the triangle inequality, which a dissimilarity may, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Y = nonmetric_mds(FLAT_D**2, metric="precomputed", max_iter=1000, tol=1e-9)
    assert kruskal_stress(FLAT_D, Y) < 0.01
    assert kruskal_stress(FLAT_D, Y) < kruskal_stress(
        FLAT_D, metric_mds(np.sqrt(FLAT_D), metric="precomputed")
    )
    assert procrustes(FLAT, Y) < 0.05


# -- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAPS)
def test_wrong_arguments_are_refused(name):
    scale = MAPS[name]
    for options, words in (
        ({"n_components": 0}, "n_components"),
        ({"n_components": 40}, "of 40 points"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": 0.0}, "tol"),
    ):
        with pytest.raises(DataError, match=words):
            scale(X, **options)
    with pytest.raises(DataError):
        scale(np.where(X > 9.0, np.nan, X))
    with pytest.raises(DataError):
        scale(X, metric="precomputed")
    with pytest.raises(UnknownNameError, match="Did you mean 'euclidean'"):
        scale(X, metric="euclid")


def test_wrong_shapes_are_refused():
    for measure in (stress, kruskal_stress, spe_stress):
        with pytest.raises(ShapeError, match="must be"):
            measure(D, FLAT)


def test_points_that_coincide_stay_together():
    twice = np.vstack([X, X[:1]])
    Y = sammon(twice)
    assert np.isfinite(Y).all()
    assert np.linalg.norm(Y[0] - Y[-1]) < 1e-6 * np.linalg.norm(Y)


def test_nonmetric_scaling_heeds_no_output_asked_of_transformers():
    A = np.random.default_rng(0).random((12, 10))
    plain = baselines.nonmetric_mds(A, 2)
    with sklearn.config_context(transform_output="pandas"):
        np.testing.assert_array_equal(baselines.nonmetric_mds(A, 2), plain)
