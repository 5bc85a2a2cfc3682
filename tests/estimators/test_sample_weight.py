"""Weights of samples: whole numbers repeat rows, zero drops them, others lie between."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import sdpdr
from sdpdr.errors import DataError, DataTypeError, NotAcceptedError, ShapeError
from sdpdr.extend import choose_kernel, choose_ridge, ridge

WINE, KINDS = scale(load_wine().data), load_wine().target
ROLL = sdpdr.datasets.swiss_roll(40, seed=0)[0]


def some_unknown(y):
    return np.where(np.arange(y.size) % 3 == 0, -1, y)


SEMI = [
    sdpdr.SDA(),
    sdpdr.SDA(way="direct"),
    sdpdr.SpectralRegression(responses="semisupervised"),
]
REGRESSIONS = [
    *SEMI,
    sdpdr.LDA(),
    sdpdr.LDA(way="direct"),
    sdpdr.LDA(alpha=1.0, orthonormal=True),
    sdpdr.SpectralRegression(),
    sdpdr.SpectralRegression(kernel="rbf", alpha=0.1),
    sdpdr.SpectralRegression(cardinality=2),
    sdpdr.SpectralRegression(alpha=1.0, solver="lsqr"),
    sdpdr.SpectralRegression(alpha=1.0, solver="dual"),
    sdpdr.SpectralRegression(alpha=0.0),
]


@pytest.mark.parametrize("estimator", REGRESSIONS, ids=repr)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_whole_weights_are_rows_that_repeat(estimator, seed):
    counts = np.random.default_rng(seed).integers(0, 4, len(KINDS))
    y = some_unknown(KINDS) if estimator in SEMI else KINDS
    weighed = clone(estimator).fit(WINE, y, sample_weight=counts)
    repeated = clone(estimator).fit(np.repeat(WINE, counts, axis=0), np.repeat(y, counts))
    size = np.abs(repeated.transform(WINE)).max()
    np.testing.assert_allclose(weighed.transform(WINE), repeated.transform(WINE), atol=1e-6 * size)
    assert weighed.alpha_ == pytest.approx(repeated.alpha_)
    if hasattr(weighed, "predict"):
        assert np.array_equal(weighed.predict(WINE), repeated.predict(WINE))


@pytest.mark.parametrize(
    "estimator",
    [sdpdr.LDA(), sdpdr.LDA(way="direct"), sdpdr.SpectralRegression(cardinality=2)],
    ids=repr,
)
def test_sparse_data_are_weighed_as_dense_ones(estimator):
    X = np.where(np.abs(WINE) > 1.0, WINE, 0.0)
    weights = np.random.default_rng(0).uniform(0.0, 3.0, len(X))
    dense = clone(estimator).fit(X, KINDS, sample_weight=weights)
    found = clone(estimator).fit(sp.csr_array(X), KINDS, sample_weight=weights)
    np.testing.assert_allclose(found.transform(X), dense.transform(X), atol=1e-8)


def test_responses_that_are_given_are_fitted_by_weighted_squares():
    rng = np.random.default_rng(0)
    Y, weights = rng.standard_normal((len(WINE), 2)), rng.uniform(0.1, 3.0, len(WINE))
    found = sdpdr.SpectralRegression(alpha=0.5).fit(WINE, Y, sample_weight=weights)

    def loss(coef, intercept):
        missed = np.square(WINE @ coef.T + intercept - Y).sum(axis=1)
        return weights @ missed + 0.5 * np.square(coef).sum()

    least = loss(found.components_, found.intercept_)
    for _ in range(20):
        step = 1e-3 * rng.standard_normal(found.components_.shape)
        assert loss(found.components_ + step, found.intercept_ + 1e-3) > least


def test_the_ridge_leaves_out_one_of_several():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 4)), rng.standard_normal((30, 2))
    counts = rng.integers(1, 4, 30)
    weighed = choose_ridge(X, Y, [0.3], sample_weight=counts.astype(float))
    copies = np.repeat(np.arange(30), counts)
    without = [np.delete(copies, k) for k in range(copies.size)]
    missed = [
        Y[copies[k]] - ridge(X[rest], Y[rest], 0.3)(X[copies[k]][None])[0]
        for k, rest in enumerate(without)
    ]
    assert weighed.error == pytest.approx(np.sqrt(np.mean(np.square(missed))))


def test_so_do_ridge_and_width_of_a_kernel():
    rng = np.random.default_rng(0)
    X, Y, counts = rng.standard_normal((30, 2)), rng.standard_normal((30, 2)), np.arange(30) % 3 + 1

    def tried(X, Y, weights=None):
        squares = np.square(X[:, None] - X[None]).sum(axis=2)
        widths, ridges = [0.1, 1.0], [1e-3, 0.1]
        return choose_kernel(lambda g: np.exp(-g * squares), Y, widths, ridges, weights).tried

    repeated = tried(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    np.testing.assert_allclose(tried(X, Y, counts.astype(float)), repeated, rtol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@settings(max_examples=8, deadline=None)
@given(power=st.integers(-6, 8), spread=st.integers(0, 6), seed=st.integers(0, 2**16))
def test_a_ridge_that_is_chosen_for_a_kernel_can_be_factored(kernel, power, spread, seed):
    """Kernels of few dimensions are singular, and large weights made the least ridge nothing."""
    weights = 10.0 ** (power - spread * np.random.default_rng(seed).random(len(KINDS)))
    model = sdpdr.SpectralRegression(kernel=kernel).fit(WINE, KINDS, sample_weight=weights)
    found = model.transform(WINE)
    assert np.isfinite(found).all()
    own = [np.flatnonzero(c == KINDS) for c in range(3)]
    means = [np.average(found[k], axis=0, weights=weights[k]) for k in own]
    nearest = np.argmin(np.linalg.norm(found[:, None] - np.array(means), axis=2), axis=1)
    assert np.average(nearest == KINDS, weights=weights) > 0.9


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("power", [-30, -3, 3, 8, 30])
def test_the_unit_of_weights_is_that_of_the_ridge_of_a_kernel(kernel, power):
    weights, c = np.random.default_rng(0).uniform(0.5, 2.0, len(KINDS)), 10.0**power
    plain, scaled = (
        sdpdr.SpectralRegression(kernel=kernel, alpha=1e-2 * unit)
        .fit(WINE, KINDS, sample_weight=unit * weights)
        .transform(WINE)
        for unit in (1.0, c)
    )
    plain, scaled = (found * np.sign(found[0]) for found in (plain, scaled))
    np.testing.assert_allclose(np.sqrt(c) * scaled, plain, atol=1e-6 * np.abs(plain).max())


@pytest.mark.parametrize("power", [-6, 0, 4, 8])
def test_a_linear_kernel_has_the_map_without_one(power):
    """About the mean, which a kernel does not take off. Chosen ridges differ, maps hardly."""
    weights = 10.0**power * np.random.default_rng(0).uniform(0.5, 2.0, len(KINDS))
    X = WINE - np.average(WINE, axis=0, weights=weights)
    for alpha, tolerance in ((0.1 * 10.0**power, 1e-6), ("auto", 0.15)):
        plain, kernel = (
            sdpdr.SpectralRegression(kernel=kind, alpha=alpha)
            .fit(X, KINDS, sample_weight=weights)
            .transform(X)
            for kind in (None, "linear")
        )
        plain, kernel = (found * np.sign(found[0]) for found in (plain, kernel))
        np.testing.assert_allclose(kernel, plain, atol=tolerance * np.abs(plain).max())


@pytest.mark.parametrize("model", [sdpdr.LDA(), sdpdr.SDA(), sdpdr.SDA(way="direct")], ids=repr)
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_weights_of_any_size_have_a_map(model, size):
    y = some_unknown(KINDS) if isinstance(model, sdpdr.SDA) else KINDS
    weights = np.full(len(KINDS), size)
    if size < 1.0 and repr(model) == "SDA()":
        with pytest.raises(DataError, match="labels are lost beside neighbours.*sample_weight"):
            clone(model).fit(WINE, y, sample_weight=weights)
        return
    found = clone(model).fit(WINE, y, sample_weight=weights)
    assert np.isfinite(found.transform(WINE)).all()
    assert np.mean(found.predict(WINE) == KINDS) > 0.9


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_weights_whose_squares_have_no_number_are_refused(size):
    with pytest.raises(DataError, match="Rescale sample_weight"):
        sdpdr.SDA(way="direct").fit(WINE, KINDS, sample_weight=np.full(len(KINDS), size))


UNFOLDINGS = [sdpdr.MVU, sdpdr.MFNU, sdpdr.MVE, sdpdr.DensityMap]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", UNFOLDINGS)
def test_unfoldings_of_weighted_points_are_those_of_points_that_repeat(kind):
    counts = np.random.default_rng(1).integers(0, 3, len(ROLL))
    weighed = kind(n_neighbors=4).fit(ROLL, sample_weight=counts)
    repeated = kind(n_neighbors=4).fit(np.repeat(ROLL, counts, axis=0))
    assert np.isnan(weighed.embedding_[counts == 0]).all()
    # One program, whose answers differ by rounding, and by what an optimum leaves open.
    assert np.array_equal(weighed.graph_.counts, repeated.graph_.counts)
    assert np.array_equal(weighed.graph_.edges, repeated.graph_.edges)
    assert weighed.solution_.value == pytest.approx(repeated.solution_.value, rel=1e-5)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**16), power=st.integers(-3, 3))
def test_a_unit_of_all_weights_is_one_of_the_value(seed, power):
    weights = np.random.default_rng(seed).uniform(0.1, 2.0, len(ROLL))
    one = sdpdr.MVU(n_neighbors=4).fit(ROLL, sample_weight=weights)
    other = sdpdr.MVU(n_neighbors=4).fit(ROLL, sample_weight=10.0**power * weights)
    assert other.solution_.certified()
    assert other.solution_.value == pytest.approx(10.0**power * one.solution_.value, rel=1e-5)


def test_weighted_points_keep_their_mean_at_the_origin():
    weights = np.linspace(0.1, 3.0, len(ROLL))
    found = sdpdr.MVU(n_neighbors=4).fit(ROLL, sample_weight=weights)
    size = np.abs(found.embedding_).max() * weights.sum()
    assert np.abs(weights @ found.embedding_).max() < 1e-6 * size


def test_distances_of_samples_without_weight_are_left_out():
    weights = np.where(np.arange(len(ROLL)) < 5, 0.0, 1.5)
    D = np.linalg.norm(ROLL[:, None] - ROLL[None], axis=2)
    points = sdpdr.MVU(n_neighbors=4).fit(ROLL, sample_weight=weights)
    found = sdpdr.MVU(n_neighbors=4, metric="precomputed").fit(D, sample_weight=weights)
    assert found.n_features_in_ == len(ROLL)
    np.testing.assert_allclose(found.embedding_, points.embedding_, atol=1e-2)


@pytest.mark.filterwarnings("ignore")
def test_a_sample_is_drawn_of_those_that_weigh_anything():
    weights = np.arange(len(ROLL)) % 2
    found = sdpdr.MVU(n_neighbors=4, sample=15).fit(ROLL, sample_weight=weights)
    assert found.sample_.size == 15
    assert np.all(weights[found.sample_] == 1)
    assert np.isfinite(found.embedding_).all()


def test_frames_and_pipelines_pass_weights_on():
    X = pd.DataFrame(WINE, columns=load_wine().feature_names)
    weights = np.arange(len(X)) % 3
    pipe = make_pipeline(StandardScaler(), sdpdr.LDA()).fit(X, KINDS, lda__sample_weight=weights)
    assert pipe[-1].means_.shape == (3, 2)
    learner = sdpdr.MVU(n_neighbors=8).set_output(transform="pandas")
    places = learner.fit_transform(X.iloc[::5], sample_weight=weights[::5])
    assert places.columns.tolist() == ["mvu0", "mvu1"]


@pytest.mark.parametrize(
    "fit",
    [
        lambda w: sdpdr.LDA().fit(WINE, KINDS, sample_weight=w),
        lambda w: sdpdr.MVU().fit(WINE, sample_weight=w),
    ],
)
@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([1.0, 2.0], ShapeError, "one number for each row"),
        (np.zeros(178), DataError, "zero"),
        (-np.ones(178), DataError, "0 or more"),
        (np.full(178, np.nan), DataError, "nan"),
        (["a"] * 178, DataTypeError, "numbers"),
    ],
)
def test_weights_that_are_none_are_refused(fit, weights, error, words):
    with pytest.raises(error, match=words):
        fit(weights)


def test_what_is_made_of_pairs_takes_no_weights():
    with pytest.raises(NotAcceptedError, match="pairs"):
        sdpdr.SpectralRegression(responses="laplacian").fit(WINE, sample_weight=np.ones(178) * 2)
    kernel = WINE @ WINE.T
    with pytest.raises(NotAcceptedError, match="precomputed"):
        sdpdr.SpectralRegression(kernel="precomputed").fit(
            kernel, KINDS, sample_weight=np.arange(178)
        )
    with pytest.raises(NotAcceptedError, match="repeat rows"):
        sdpdr.SpectralRegression(kernel="rbf", cardinality=3).fit(
            WINE, KINDS, sample_weight=np.arange(178)
        )
    grown = sdpdr.SpectralRegression(kernel="rbf").fit(WINE, KINDS, sample_weight=np.arange(178))
    with pytest.raises(NotAcceptedError, match="sample_weight"):
        grown.partial_fit(WINE, KINDS)


def test_a_class_without_weight_is_none():
    X, y = load_iris(return_X_y=True)
    found = sdpdr.LDA().fit(X, y, sample_weight=(y != 2).astype(float))
    assert found.classes_.tolist() == [0, 1]


def test_rows_are_named_as_they_were_passed():
    X = WINE.copy()
    X[7, 0] = np.nan
    weights = np.ones(len(X))
    weights[:5] = 0.0
    with pytest.raises(DataError, match="7"):
        sdpdr.MVU().fit(X, sample_weight=weights)


def test_leaving_out_one_by_one_takes_whole_counts():
    graph = sdpdr.graphs.knn(ROLL[:12], n_neighbors=4).weighed(np.linspace(1.0, 2.0, 12))
    with pytest.raises(DataError, match="whole numbers"):
        sdpdr.methods.loocv(graph)


@pytest.mark.parametrize("estimator", [sdpdr.MVU(), sdpdr.LDA()], ids=repr)
def test_what_is_no_table_is_told_with_weights_too(estimator):
    with pytest.raises(DataTypeError):
        estimator.fit(5, sample_weight=[1.0])
