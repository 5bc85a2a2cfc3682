"""The Gaussian process latent variable model: gradients, the linear optimum, new places."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from sdpdr import baselines, datasets
from sdpdr.baselines import GPLVM, gplvm_objective
from sdpdr.errors import DataError, ShapeError, UncertifiedWarning, UnknownNameError
from sdpdr.families.unfold.quality import procrustes

T = np.linspace(0.0, 3.0, 30)
CURVE = np.column_stack([np.cos(2.0 * T), np.sin(2.0 * T), 0.3 * T**2])
CURVE += 0.02 * np.random.default_rng(0).standard_normal(CURVE.shape)
CLOUD = np.random.default_rng(1).standard_normal((12, 5)) * [3.0, 2.0, 1.0, 0.7, 0.5]
CENTRED = CLOUD - CLOUD.mean(axis=0)
PLACES = np.random.default_rng(2).standard_normal((12, 2))


# As it comes it has its checks among the slow ones (tests/estimators/test_contract.py): two
# components make three columns without noise, and such searches have no end. Others of its
# parameters have theirs every day (tests/baselines/test_gplvm_places.py).
@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@parametrize_with_checks([GPLVM(max_iter=100)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_slopes_are_those_of_the_objective(kernel):
    def value(point):
        return gplvm_objective(
            point[2:].reshape(12, 2), np.exp(point[0]), np.exp(point[1]), CENTRED, kernel
        )[0]

    point = np.concatenate([[0.3, -0.7], PLACES.ravel()])
    _, slope, pair = gplvm_objective(PLACES, np.exp(0.3), np.exp(-0.7), CENTRED, kernel)
    by_hand = np.concatenate([pair, slope.ravel()])
    numeric = approx_fprime(point, value, 1e-6)
    np.testing.assert_allclose(by_hand, numeric, atol=1e-4 * np.abs(by_hand).max())


def test_the_objective_is_a_likelihood_and_a_divergence():
    """(2.18) is minus the log-likelihood of columns, and D times (2.19) up to a constant."""
    K = 0.8 * np.exp(-0.5 * np.sum((PLACES[:, None] - PLACES) ** 2, axis=2)) + 0.3 * np.eye(12)
    value = gplvm_objective(PLACES, 0.8, 0.3, CENTRED)[0]
    gauss = multivariate_normal(np.zeros(12), K)
    assert value == pytest.approx(-sum(gauss.logpdf(y) for y in CENTRED.T))
    # More columns than samples, or S would be singular and its divergence infinite.
    many = np.random.default_rng(3).standard_normal((12, 40))
    S = many @ many.T / 40

    def divergence(latent):
        K = np.exp(-0.5 * np.sum((latent[:, None] - latent) ** 2, axis=2)) + 0.3 * np.eye(12)
        logs = np.linalg.slogdet(K)[1] - np.linalg.slogdet(S)[1]
        return 0.5 * (logs + np.trace(S @ np.linalg.inv(K)) - 12)

    ahead, behind = (gplvm_objective(p, 1.0, 0.3, many)[0] for p in (PLACES, 2.0 * PLACES))
    assert ahead - behind == pytest.approx(40 * (divergence(PLACES) - divergence(2.0 * PLACES)))


@pytest.mark.parametrize("q", [1, 2, 3])
def test_the_linear_optimum_is_probabilistic_principal_components(q):
    """X = U (L - s I)^(1/2) of S = Y Y^T / D, with s the mean of the n - q eigenvalues left out."""
    model = GPLVM(q, kernel="linear", tol=1e-8).fit(CLOUD)
    values, vectors = np.linalg.eigh(CENTRED @ CENTRED.T / 5)
    noise = values[:-q].mean()
    best = vectors[:, -q:] * np.sqrt(values[-q:] - noise)
    assert model.converged_
    assert model.noise_ == pytest.approx(noise, rel=1e-5)
    assert procrustes(best, model.embedding_, scaling=False) < 1e-4
    optimum = gplvm_objective(best, 1.0, noise, CENTRED, "linear")
    assert model.log_likelihood_ == pytest.approx(-optimum[0], rel=1e-9)
    assert np.abs(optimum[1]).max() < 1e-9
    assert abs(optimum[2][1]) < 1e-9
    axes = np.abs(PCA(q).fit_transform(CLOUD).T @ model.embedding_)
    assert axes[~np.eye(q, dtype=bool)].max(initial=0.0) < 1e-3 * axes.max()


def test_a_curve_is_unrolled_that_principal_components_fold():
    model = GPLVM(1).fit(CURVE)
    along = model.embedding_[:, 0]
    assert abs(np.corrcoef(along, T)[0, 1]) > 0.99
    assert model.converged_
    linear = GPLVM(1, kernel="linear").fit(CURVE)
    assert model.log_likelihood_ > linear.log_likelihood_ + 50.0


def test_the_ends_are_stationary_in_the_units_of_the_data():
    model = GPLVM(1, tol=1e-7, max_iter=2000).fit(CURVE)
    value, slope, pair = gplvm_objective(
        model.embedding_, model.signal_, model.noise_, CURVE - CURVE.mean(axis=0)
    )
    assert model.log_likelihood_ == pytest.approx(-value, rel=1e-9)
    assert np.abs(np.append(slope, pair)).max() < 1e-5 * CURVE.size


def test_units_motions_and_means_do_not_matter():
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    plain, moved = GPLVM(1).fit(CURVE), GPLVM(1).fit(100.0 * CURVE @ turn - 7.0)
    assert procrustes(plain.embedding_, moved.embedding_) < 1e-2
    assert moved.noise_ == pytest.approx(1e4 * plain.noise_, rel=0.05)


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_new_places_are_those_of_gaussian_processes(kernel):
    model = GPLVM(2, kernel=kernel, max_iter=20).fit(CURVE)
    new = np.random.default_rng(5).standard_normal((4, 2))
    if kernel == "rbf":
        known = ConstantKernel(model.signal_) * RBF(1.0) + WhiteKernel(model.noise_)
        process = GaussianProcessRegressor(known, optimizer=None).fit(
            model.embedding_, CURVE - CURVE.mean(axis=0)
        )
        mean, deviation = process.predict(new, return_std=True)
        np.testing.assert_allclose(model.variance(new), deviation[:, 0] ** 2, rtol=1e-5)
        np.testing.assert_allclose(model.inverse_transform(new), mean + model.mean_, atol=1e-6)
        assert model.variance(np.full((1, 2), 100.0))[0] == pytest.approx(
            model.signal_ + model.noise_
        )
    else:
        ridge = model.embedding_.T @ model.embedding_ + model.noise_ * np.eye(2)
        coef = np.linalg.solve(ridge, model.embedding_.T @ (CURVE - model.mean_))
        np.testing.assert_allclose(model.inverse_transform(new), new @ coef + model.mean_)
        spread = model.noise_ * (1.0 + np.sum(new.T * np.linalg.solve(ridge, new.T), axis=0))
        np.testing.assert_allclose(model.variance(new), spread)


def test_data_without_noise_have_the_least_one():
    flat = np.outer(np.arange(10.0), [1.0, 2.0])
    model = GPLVM(1, kernel="linear").fit(flat)
    centred = flat - flat.mean(axis=0)
    assert model.noise_ == pytest.approx(1e-6 * np.mean(centred**2))


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_the_face_takes_it():
    X = datasets.s_curve(40, seed=0)[0]
    found = baselines.embed("gplvm", X, 2, n_neighbors=3, max_iter=5)
    np.testing.assert_array_equal(found, GPLVM(2, max_iter=5).fit_transform(X))


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
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
        GPLVM(max_iter=1).fit(CURVE).inverse_transform(np.zeros((2, 3)))


def test_places_are_kept_where_the_time_is_over():
    X = np.random.default_rng(0).standard_normal((30, 4))
    with pytest.warns(UncertifiedWarning, match="Raise time_limit"):
        model = GPLVM(time_limit=0.0).fit(X)
    assert not model.converged_
    assert model.n_iter_ <= 1
    assert np.isfinite(model.embedding_).all()
    assert model.noise_ > 0.0


def test_places_have_the_precision_of_the_data_and_the_way_back_does_not():
    data = CURVE.astype(np.float32)
    single, double = GPLVM(1).fit(data), GPLVM(1).fit(data.astype(float))
    assert single.embedding_.dtype == np.float32
    assert double.embedding_.dtype == np.float64
    places = double.embedding_
    np.testing.assert_array_equal(
        single.inverse_transform(places), double.inverse_transform(places)
    )


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("back", [None, 1.0])
@pytest.mark.parametrize("power", [-430, -100, 1, 430])
def test_what_data_are_measured_in_changes_no_step(kernel, back, power):
    """Exactly for powers of two: places have a unit of their own, or that of the data."""
    c = 2.0**power
    plain, scaled = (
        GPLVM(1, kernel=kernel, back_constraint=back, max_iter=60).fit(X)
        for X in (CURVE, c * CURVE)
    )
    unit = c if kernel == "linear" else 1.0
    np.testing.assert_array_equal(scaled.embedding_, unit * plain.embedding_)
    assert scaled.noise_ == c * (c * plain.noise_)
    if kernel == "rbf":
        assert scaled.signal_ == c * (c * plain.signal_)
    ahead = scaled.log_likelihood_ - plain.log_likelihood_
    assert ahead == pytest.approx(-CURVE.size * power * np.log(2.0), rel=1e-9)
    new, at = CURVE[:3] + 0.01, np.array([[0.3], [-0.2]])
    np.testing.assert_array_equal(scaled.transform(c * new), unit * plain.transform(new))
    back_to = scaled.inverse_transform(unit * at), plain.inverse_transform(at)
    np.testing.assert_allclose(back_to[0], c * back_to[1], rtol=1e-12)
    np.testing.assert_allclose(scaled.variance(unit * at) / c / c, plain.variance(at))


@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_data_whose_squares_have_no_number_are_refused(size):
    with pytest.raises(DataError, match="Rescale X"):
        GPLVM(1).fit(size * CURVE)


def test_ends_for_want_of_steps_are_told_with_numbers():
    with pytest.warns(UncertifiedWarning, match=r"max_iter=20\) .*last ten steps gained .*Raise"):
        model = GPLVM(2, max_iter=20).fit(CURVE)
    assert not model.converged_
    assert model.n_iter_ <= 20
    with pytest.warns(UncertifiedWarning, match="ended after 5 steps .* the last 5 steps gained"):
        GPLVM(2, kernel="linear", max_iter=5).fit(CURVE)


def test_noise_that_falls_unrolls_further_in_as_many_steps():
    """With all noise allowed at once the search ends at 288."""
    X = datasets.s_curve(60, seed=0)[0]
    with pytest.warns(UncertifiedWarning, match="last ten steps"):
        model = GPLVM(max_iter=300).fit(X)
    assert model.log_likelihood_ > 380.0
