"""The Gaussian process latent variable model: gradients, the linear optimum, expected data."""

import numpy as np
import pytest
import sklearn
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from sdpdr import baselines, datasets
from sdpdr.baselines import GPLVM
from sdpdr.errors import DataError, ShapeError, UncertifiedWarning, UnknownNameError
from sdpdr.families.unfold.baselines.gplvm import objective
from sdpdr.families.unfold.quality import procrustes

T = np.linspace(0.0, 3.0, 30)
CURVE = np.column_stack([np.cos(2.0 * T), np.sin(2.0 * T), 0.3 * T**2])
CURVE += 0.02 * np.random.default_rng(0).standard_normal(CURVE.shape)
CLOUD = np.random.default_rng(1).standard_normal((12, 5)) * [3.0, 2.0, 1.0, 0.7, 0.5]
CENTRED = CLOUD - CLOUD.mean(axis=0)
PLACES = np.random.default_rng(2).standard_normal((12, 2))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_slopes_are_those_of_the_objective(kernel):
    def value(point):
        return objective(point[2:].reshape(12, 2), *np.exp(point[:2]), CENTRED, kernel)[0]

    point = np.concatenate([[0.3, -0.7], PLACES.ravel()])
    _, slope, pair = objective(PLACES, *np.exp(point[:2]), CENTRED, kernel)
    by_hand = np.concatenate([pair, slope.ravel()])
    numeric = approx_fprime(point, value, 1e-6)
    np.testing.assert_allclose(by_hand, numeric, atol=1e-4 * np.abs(by_hand).max())


def test_the_objective_is_a_likelihood():
    """(2.18) is minus the log-likelihood of the columns."""
    K = 0.8 * np.exp(-0.5 * np.sum((PLACES[:, None] - PLACES) ** 2, axis=2)) + 0.3 * np.eye(12)
    gauss = multivariate_normal(np.zeros(12), K)
    value = objective(PLACES, 0.8, 0.3, CENTRED)[0]
    assert value == pytest.approx(-sum(gauss.logpdf(y) for y in CENTRED.T))


def test_the_linear_optimum_is_probabilistic_principal_components():
    """X = U (L - s I)^(1/2) of S = Y Y^T / D, with s the mean of the n - q eigenvalues left out."""
    for q in (1, 2, 3):
        model = GPLVM(q, kernel="linear").fit(CLOUD)
        noise = np.linalg.eigvalsh(CENTRED @ CENTRED.T / 5)[:-q].mean()
        assert model.converged_
        assert model.noise_ == pytest.approx(noise)
        value, slope, pair = objective(model.embedding_, 1.0, model.noise_, CENTRED, "linear")
        assert model.log_likelihood_ == pytest.approx(-value)
        assert np.abs(np.append(slope, pair[1])).max() < 1e-9 * abs(value)
        axes = np.abs(PCA(q).fit_transform(CLOUD).T @ model.embedding_)
        assert axes[~np.eye(q, dtype=bool)].max(initial=0.0) < 1e-9 * axes.max()


def test_a_curve_is_unrolled_that_principal_components_fold():
    model = GPLVM(1).fit(CURVE)
    assert abs(np.corrcoef(model.embedding_[:, 0], T)[0, 1]) > 0.99
    assert model.converged_
    linear = GPLVM(1, kernel="linear").fit(CURVE)
    assert model.log_likelihood_ > linear.log_likelihood_ + 50.0
    centred = CURVE - CURVE.mean(axis=0)
    value, _, _ = objective(model.embedding_, model.signal_, model.noise_, centred)
    assert model.log_likelihood_ == pytest.approx(-value)


def test_motions_and_units_change_no_map():
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    moved = 100.0 * CURVE @ turn - 7.0
    for kernel in ("rbf", "linear"):
        before, after = (GPLVM(1, kernel=kernel).fit(X) for X in (CURVE, moved))
        assert procrustes(before.embedding_, after.embedding_) < 1e-2
        assert after.noise_ == pytest.approx(1e4 * before.noise_, rel=0.05)


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_expected_data_are_those_of_gaussian_processes():
    model = GPLVM(2, max_iter=20).fit(CURVE)
    new = np.random.default_rng(5).standard_normal((4, 2))
    known = ConstantKernel(model.signal_) * RBF(1.0) + WhiteKernel(model.noise_)
    process = GaussianProcessRegressor(known, optimizer=None)
    process.fit(model.embedding_, CURVE - CURVE.mean(axis=0))
    mean, deviation = process.predict(new, return_std=True)
    np.testing.assert_allclose(model.variance(new), deviation[:, 0] ** 2, rtol=1e-5)
    np.testing.assert_allclose(model.inverse_transform(new), mean + model.mean_, atol=1e-6)


def test_expected_data_of_linear_functions_are_a_ridge_regression():
    model = GPLVM(2, kernel="linear").fit(CURVE)
    new = np.random.default_rng(5).standard_normal((4, 2))
    ridge = model.embedding_.T @ model.embedding_ + model.noise_ * np.eye(2)
    coef = np.linalg.solve(ridge, model.embedding_.T @ (CURVE - model.mean_))
    np.testing.assert_allclose(model.inverse_transform(new), new @ coef + model.mean_)
    spread = model.noise_ * (1.0 + np.sum(new.T * np.linalg.solve(ridge, new.T), axis=0))
    np.testing.assert_allclose(model.variance(new), spread)


def test_data_without_noise_have_the_least_one():
    flat = np.outer(np.arange(10.0), [1.0, 2.0])
    model = GPLVM(1, kernel="linear").fit(flat)
    assert model.noise_ == pytest.approx(1e-6 * np.mean((flat - flat.mean(axis=0)) ** 2))


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_the_function_returns_an_array_whatever_scikit_learn_returns():
    X = datasets.s_curve(40, seed=0)[0]
    expected = GPLVM(2, max_iter=5).fit(X).embedding_
    with sklearn.config_context(transform_output="pandas"):
        found = baselines.embed("gplvm", X, 2, n_neighbors=3, max_iter=5)
        frame = GPLVM(2, max_iter=5).fit_transform(X)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(frame.to_numpy(), expected)


def test_wrong_arguments_are_refused():
    for options, words in (
        ({"n_components": 4}, "n_features = 3"),
        ({"n_components": 0}, "n_components"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
    ):
        with pytest.raises(DataError, match=words):
            GPLVM(**options).fit(CURVE)
    with pytest.raises(UnknownNameError, match="Did you mean 'rbf'"):
        GPLVM(kernel="rbfs").fit(CURVE)
    with pytest.raises(ShapeError, match=r"\(m, 2\)"):
        GPLVM(kernel="linear").fit(CURVE).inverse_transform(np.zeros((2, 3)))
    with pytest.raises(DataError, match="Rescale X"):
        GPLVM(1).fit(1e150 * CURVE)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"time_limit": 0.0}, "Raise time_limit"), ({"max_iter": 5}, "max_iter=5.*Raise max_iter")],
)
def test_coordinates_are_kept_where_a_limit_ends_the_search(options, words):
    with pytest.warns(UncertifiedWarning, match=words):
        model = GPLVM(**options).fit(CURVE)
    assert not model.converged_
    assert model.n_iter_ <= 10
    assert np.isfinite(model.embedding_).all()
