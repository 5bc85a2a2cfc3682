"""Latent variables where entries are missing, of new rows, and as a map of the data."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from sdpdr.baselines import GPLVM, gplvm_objective
from sdpdr.errors import DataError, DataTypeError, SdpdrError, UncertifiedWarning
from sdpdr.families.unfold.baselines.process import Process, groups_of
from sdpdr.families.unfold.quality import procrustes

RNG = np.random.default_rng(0)
T = np.linspace(0.0, 3.0, 36)
WAVES = np.column_stack(
    [np.cos(2.0 * T), np.sin(2.0 * T), 0.3 * T**2, T - 1.5, np.cos(T), np.sin(T)]
)
WAVES += 0.03 * RNG.standard_normal(WAVES.shape)
PLACES = RNG.standard_normal((9, 2))
CLOUD = RNG.standard_normal((9, 4))
HOLED = CLOUD.copy()
HOLED[[0, 3, 5], [1, 1, 2]] = np.nan
# Two columns that are known of the same samples, and two that are not.
DATA = {"whole": CLOUD, "gaps": HOLED}


def with_gaps(X, share=0.15, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


# Two components make three columns without noise: such searches have no end.
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@parametrize_with_checks([GPLVM(back_constraint=1.0, max_iter=10)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@parametrize_with_checks([GPLVM(kernel="linear")])
def test_scikit_learn_checks_of_places_that_are_searched(estimator, check):
    check(estimator)


# -- missing entries ----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_slopes_are_those_of_the_objective(kernel):
    def value(point):
        return gplvm_objective(point[2:].reshape(9, 2), *np.exp(point[:2]), HOLED, kernel)[0]

    point = np.concatenate([[0.3, -0.7], PLACES.ravel()])
    _, slope, pair = gplvm_objective(PLACES, *np.exp(point[:2]), HOLED, kernel)
    by_hand = np.concatenate([pair, slope.ravel()])
    numeric = approx_fprime(point, value, 1e-6)
    np.testing.assert_allclose(by_hand, numeric, atol=1e-4 * np.abs(by_hand).max())


def test_the_objective_is_the_likelihood_of_what_is_known():
    K = 0.8 * np.exp(-0.5 * np.sum((PLACES[:, None] - PLACES) ** 2, axis=2)) + 0.3 * np.eye(9)
    total = 0.0
    for y in HOLED.T:
        o = np.flatnonzero(~np.isnan(y))
        total -= multivariate_normal(np.zeros(o.size), K[np.ix_(o, o)]).logpdf(y[o])
    assert gplvm_objective(PLACES, 0.8, 0.3, HOLED)[0] == pytest.approx(total)


def test_columns_are_grouped_by_what_is_known_of_them():
    assert [g.columns.size for g in groups_of(CLOUD)] == [4]
    groups = groups_of(HOLED)
    assert sorted(g.columns.tolist() for g in groups) == [[0, 3], [1], [2]]
    assert sum(g.of(HOLED).size for g in groups) == 33
    assert not any(np.isnan(g.of(HOLED)).any() for g in groups)


def test_a_row_without_numbers_in_a_column_adds_nothing():
    """What is missing is integrated out: a sample known nowhere changes no likelihood."""
    more = np.vstack([PLACES, [[5.0, -3.0]]])
    unknown = np.vstack([HOLED, np.full((1, 4), np.nan)])
    value, slope, _ = gplvm_objective(more, 0.8, 0.3, unknown)
    assert value == pytest.approx(gplvm_objective(PLACES, 0.8, 0.3, HOLED)[0])
    np.testing.assert_allclose(slope[-1], 0.0, atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_ends_are_stationary_where_entries_are_missing(kernel):
    X = with_gaps(WAVES)
    model = GPLVM(1, kernel=kernel, tol=1e-7, max_iter=5000).fit(X)
    found = gplvm_objective(
        model.embedding_, model.signal_, model.noise_, X - np.nanmean(X, axis=0), kernel
    )
    assert model.log_likelihood_ == pytest.approx(-found[0], rel=1e-9)
    free = found[2] if kernel == "rbf" else found[2][1:]
    assert np.abs(np.append(found[1], free)).max() < 1e-5 * X.size


def test_gaps_are_filled_by_what_is_expected_there():
    X = with_gaps(WAVES)
    model = GPLVM(1).fit(X)
    gaps = np.isnan(X)
    missed = (model.inverse_transform(model.embedding_) - WAVES)[gaps]
    by_mean = (np.nanmean(X, axis=0) - WAVES)[gaps]
    assert np.sqrt(np.mean(missed**2)) < 0.2 * np.sqrt(np.mean(by_mean**2))
    assert abs(np.corrcoef(model.embedding_[:, 0], T)[0, 1]) > 0.98


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_expectations_are_those_of_each_column_by_itself():
    model = GPLVM(2, max_iter=30).fit(HOLED)
    new = np.random.default_rng(5).standard_normal((3, 2))
    assert model.variance(new).shape == (3, 4)
    for k, y in enumerate(HOLED.T):
        o = ~np.isnan(y)
        kernel = ConstantKernel(model.signal_) * RBF(1.0)
        process = GaussianProcessRegressor(kernel, alpha=model.noise_, optimizer=None)
        process.fit(model.embedding_[o], y[o] - model.mean_[k])
        mean, deviation = process.predict(new, return_std=True)
        np.testing.assert_allclose(model.inverse_transform(new)[:, k], mean + model.mean_[k])
        expected = deviation**2 + model.noise_
        np.testing.assert_allclose(model.variance(new)[:, k], expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_what_is_known_nowhere_is_refused():
    X = WAVES.copy()
    X[[3, 7]] = np.nan
    with pytest.raises(DataError, match=r"no number is known of rows 3, 7"):
        GPLVM().fit(X)
    X = pd.DataFrame(WAVES, columns=list("abcdef"))
    X["c"] = np.nan
    with pytest.raises(DataError, match=r"no number is known of columns 'c'"):
        GPLVM().fit(X)
    with pytest.raises(DataError, match="infinity"):
        GPLVM().fit(np.where(WAVES > 0.9, np.inf, WAVES))
    with pytest.raises(DataError, match="whole rows.*NaN.*back_constraint=None"):
        GPLVM(back_constraint=1.0).fit(with_gaps(WAVES))
    model = GPLVM(1, max_iter=5).fit(WAVES)
    with pytest.raises(DataError, match="rows 0"):
        model.transform(np.full((1, 6), np.nan))


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_gaps_of_frames_are_those_of_arrays():
    X = with_gaps(WAVES)
    frame = pd.DataFrame(X, columns=list("abcdef")).astype("Float64")
    assert frame.isna().any(axis=None)
    plain, named = GPLVM(1, max_iter=10).fit(X), GPLVM(1, max_iter=10).fit(frame)
    np.testing.assert_array_equal(named.embedding_, plain.embedding_)
    np.testing.assert_array_equal(named.transform(frame[:4]), plain.transform(X[:4]))


# -- new rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("kind", DATA)
def test_the_surprise_of_a_row_is_what_it_adds_to_the_objective(kernel, kind):
    data = DATA[kind]
    process = Process(PLACES, data, kernel, 0.8 if kernel == "rbf" else 1.0, 0.3)
    place, row = np.array([0.4, -0.2]), np.array([0.5, np.nan, -1.0, 0.2])
    value = process.surprise(place, row)[0]
    before, after = (
        gplvm_objective(latent, process.signal, 0.3, known, kernel)[0]
        for latent, known in (
            (PLACES, data), (np.vstack([PLACES, place]), np.vstack([data, row])),
        )
    )  # fmt: skip
    assert value == pytest.approx(after - before)
    for more in (0.0, 0.5):
        numeric = approx_fprime(place, lambda x, m=more: process.surprise(x, row, m)[0], 1e-7)
        np.testing.assert_allclose(process.surprise(place, row, more)[1], numeric, atol=1e-4)


@pytest.mark.parametrize("X", [WAVES, with_gaps(WAVES)], ids=["whole", "gaps"])
def test_rows_of_the_fit_land_near_their_places(X):
    model = GPLVM(1).fit(X)
    again = model.transform(X[::6])
    assert np.abs(again - model.embedding_[::6]).max() < 0.02 * np.ptp(model.embedding_)


def test_new_rows_are_likelier_there_than_at_the_nearest_sample():
    known, new = WAVES[::2], WAVES[1::2]
    model = GPLVM(1).fit(known)
    places = model.transform(new)
    near = np.argmin(np.linalg.norm(new[:, None] - known, axis=2), axis=1)

    def surprise(at):
        rows = (new - model.mean_) / model._unit
        return np.array([model._process.surprise(*pair)[0] for pair in zip(at, rows, strict=True)])

    assert np.all(surprise(places) <= surprise(model.embedding_[near]) + 1e-6)
    assert abs(np.corrcoef(places[:, 0], T[1::2])[0, 1]) > 0.99
    missed = model.inverse_transform(places) - new
    assert np.sqrt(np.mean(missed**2)) < 0.1


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_no_near_sample_is_a_better_beginning():
    """Folded by principal components, near rows have far places, of which the likeliest counts."""
    t = np.linspace(0.0, 4.0 * np.pi, 80)
    helix = np.column_stack([np.cos(t), np.sin(t), 0.3 * t])
    helix += 0.05 * np.random.default_rng(2).standard_normal(helix.shape)
    known, new = helix[::2], helix[1::2]
    model = GPLVM(1, max_iter=100).fit(known)
    found = model.transform(new)
    rows = (new - model.mean_) / model._unit
    near = np.argsort(np.linalg.norm(new[:, None] - known, axis=2), axis=1)[:, :3]
    for place, row, others in zip(found, rows, near, strict=True):
        here = model._process.surprise(place, row)[0]
        assert all(
            here <= model._process.surprise(model.embedding_[k], row)[0] + 1e-9 for k in others
        )


def test_new_rows_with_gaps_are_placed_by_what_is_known():
    model = GPLVM(1).fit(WAVES[::2])
    places = model.transform(with_gaps(WAVES[1::2], 0.3))
    assert abs(np.corrcoef(places[:, 0], T[1::2])[0, 1]) > 0.98


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_each_row_is_placed_by_itself():
    model = GPLVM(2, max_iter=50).fit(WAVES[::2])
    together = model.transform(WAVES[1::6])
    np.testing.assert_array_equal(model.transform(WAVES[1::6][::-1]), together[::-1])
    np.testing.assert_array_equal(model.transform(WAVES[1:2]), together[:1])


def test_linear_places_of_new_rows_have_a_closed_form():
    """The likeliest place has a variance of its own, but that of little noise hardly depends."""
    rng = np.random.default_rng(2)
    Y = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 8))
    Y += 1e-3 * rng.standard_normal(Y.shape)
    model = GPLVM(2, kernel="linear", tol=1e-9).fit(Y[:30])
    G = model.inverse_transform(np.eye(2)) - model.mean_
    wanted = np.linalg.lstsq(G.T, (Y[37:] - model.mean_).T)[0].T
    np.testing.assert_allclose(model.transform(Y[37:]), wanted, atol=1e-3)


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_rows_without_time_are_where_the_nearest_sample_is():
    model = GPLVM(1, max_iter=20).fit(WAVES[::2])
    model.set_params(time_limit=0.0)
    with pytest.warns(UncertifiedWarning, match="0 of 18 rows were placed"):
        places = model.transform(WAVES[1::2])
    assert np.isin(places, model.embedding_).all()


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@pytest.mark.parametrize("back", [None, 0.5])
def test_new_places_are_frames_and_columns_are_told_by_name(back):
    frame = pd.DataFrame(WAVES, columns=list("abcdef"))
    model = GPLVM(2, max_iter=20, back_constraint=back).set_output(transform="pandas")
    places = model.fit_transform(frame)
    assert list(places.columns) == list(model.get_feature_names_out()) == ["gplvm0", "gplvm1"]
    assert list(model.feature_names_in_) == list("abcdef")
    assert list(model.transform(frame[:3]).columns) == ["gplvm0", "gplvm1"]
    with pytest.raises(DataError, match="feature names"):
        model.transform(frame[list("fedcba")])
    with pytest.raises(DataError, match="6 features"):
        model.transform(WAVES[:, :4])
    single = GPLVM(2, max_iter=20, back_constraint=back).fit(WAVES)
    assert single.transform(WAVES[:2].astype(np.float32)).dtype == np.float32


# -- back constraints ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("width", [0.3, 1.0])
def test_back_constrained_places_are_a_map_of_the_data(kernel, width):
    model = GPLVM(2, kernel=kernel, back_constraint=width, max_iter=100).fit(WAVES)
    np.testing.assert_allclose(model.transform(WAVES), model.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-9)
    products = model.embedding_.T @ model.embedding_
    assert abs(products[0, 1]) < 1e-6 * products[0, 0]
    found = gplvm_objective(
        model.embedding_, model.signal_, model.noise_, WAVES - model.mean_, kernel
    )
    assert model.log_likelihood_ == pytest.approx(-found[0], rel=1e-6)


def test_coefficients_of_the_map_are_stationary():
    some = WAVES[::2]
    model = GPLVM(1, back_constraint=4.0, tol=1e-7, max_iter=20000).fit(some)
    assert model.converged_
    centred = some - model.mean_
    _, slope, pair = gplvm_objective(model.embedding_, model.signal_, model.noise_, centred)
    features = model._back(centred / model._unit)
    of_the_map = np.abs(np.append(features.T @ slope, pair)).max()
    assert of_the_map < 1e-5 * some.size
    # No free place is.
    assert np.abs(slope).max() > max(1e-4, 20.0 * of_the_map)


def test_near_rows_are_placed_near_each_other():
    model = GPLVM(1, back_constraint=1.0).fit(WAVES[::2])
    places = model.transform(WAVES[1::2])[:, 0]
    assert abs(np.corrcoef(places, T[1::2])[0, 1]) > 0.99
    moved = model.transform(WAVES[1::2] + 1e-6)[:, 0]
    np.testing.assert_allclose(moved, places, atol=1e-3)


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_the_width_is_relative_to_distances():
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((6, 6)))[0]
    some = WAVES[::2]
    plain, moved = (GPLVM(1, back_constraint=1.0).fit(X) for X in (some, 100.0 * some @ turn - 7.0))
    assert procrustes(plain.embedding_, moved.embedding_) < 1e-2
    twice = GPLVM(1, back_constraint=1.0, max_iter=5).fit(np.repeat(WAVES[:4], 2, axis=0))
    assert np.isfinite(twice.embedding_).all()


class Unread:
    """Data that nobody may look at."""

    def __array__(self, *_, **__):
        raise AssertionError("the data were read")


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"back_constraint": 0.0}, DataError),
        ({"back_constraint": np.inf}, DataError),
        ({"back_constraint": "rbf"}, DataTypeError),
        ({"back_constraint": True}, DataTypeError),
        ({"max_iter": 0}, DataError),
        ({"tol": 0.0}, DataError),
        ({"kernel": "cubic"}, SdpdrError),
    ],
)
def test_parameters_are_refused_before_data_are_read(options, kind):
    with pytest.raises(kind):
        GPLVM(**options).fit(Unread())
