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
from sdpdr.extend import ridge
from sdpdr.families.regress.ridge import choose_ridge

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
    sdpdr.SpectralRegression(cardinality=2),
    sdpdr.SpectralRegression(alpha=0.0),
]


@pytest.mark.daily(4)
@pytest.mark.parametrize("estimator", REGRESSIONS, ids=repr)
@settings(max_examples=3)
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
    weighed = choose_ridge(X, Y, counts.astype(float), alphas=[0.3])
    copies = np.repeat(np.arange(30), counts)
    without = [np.delete(copies, k) for k in range(copies.size)]
    missed = [
        Y[copies[k]] - ridge(X[rest], Y[rest], 0.3)(X[copies[k]][None])[0]
        for k, rest in enumerate(without)
    ]
    assert weighed.error == pytest.approx(np.sqrt(np.mean(np.square(missed))))


@pytest.mark.parametrize("model", [sdpdr.LDA(), sdpdr.SDA(), sdpdr.SDA(way="direct")], ids=repr)
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_weights_of_any_size_have_a_map(model, size):
    y = some_unknown(KINDS) if isinstance(model, sdpdr.SDA) else KINDS
    weights = np.full(len(KINDS), size)
    if size > 1.0 and repr(model) == "SDA()":  # edges weigh its square
        with pytest.raises(DataError, match="labels are lost to rounding.*sample_weight"):
            clone(model).fit(WINE, y, sample_weight=weights)
        return
    found = clone(model).fit(WINE, y, sample_weight=weights)
    assert np.isfinite(found.transform(WINE)).all()
    assert np.mean(found.predict(WINE) == KINDS) > 0.9


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_weights_whose_squares_have_no_number_are_refused(size):
    with pytest.raises(DataError, match="Divide all by their largest"):
        sdpdr.SDA(way="direct").fit(WINE, KINDS, sample_weight=np.full(len(KINDS), size))


def test_frames_and_pipelines_pass_weights_on():
    X = pd.DataFrame(WINE, columns=load_wine().feature_names)
    weights = np.arange(len(X)) % 3
    pipe = make_pipeline(StandardScaler(), sdpdr.LDA()).fit(X, KINDS, lda__sample_weight=weights)
    assert pipe[-1].means_.shape == (3, 2)


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
def test_weights_that_are_none_are_refused(weights, error, words):
    with pytest.raises(error, match=words):
        sdpdr.LDA().fit(WINE, KINDS, sample_weight=weights)


def test_what_is_made_of_pairs_takes_no_weights():
    with pytest.raises(NotAcceptedError, match="pairs"):
        sdpdr.SpectralRegression(responses="laplacian").fit(WINE, sample_weight=np.ones(178) * 2)
    with pytest.raises(NotAcceptedError, match="kernel maps take no sample_weight"):
        sdpdr.SpectralRegression(kernel="rbf").fit(WINE, KINDS, sample_weight=np.arange(178))


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
        sdpdr.LDA().fit(X, KINDS, sample_weight=weights)


def test_what_is_no_table_is_refused_with_weights_too():
    with pytest.raises(DataTypeError):
        sdpdr.LDA().fit(5, sample_weight=[1.0])


def test_no_rows_are_refused_as_without_weights():
    words = []
    for options in ({}, {"sample_weight": []}):
        with pytest.raises(DataError) as told:
            sdpdr.LDA().fit(np.empty((0, 2)), [], **options)
        words.append(str(told.value))
    assert words[0] == words[1]
