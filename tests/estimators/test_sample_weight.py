"""Weights of samples: whole numbers repeat rows, zero drops them, others lie between."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import sdpdr
from sdpdr.blocks import Band
from sdpdr.errors import DataError, DataTypeError, ShapeError

WINE = scale(load_wine().data)
ROLL = sdpdr.datasets.swiss_roll(40, seed=0)[0]

UNFOLDINGS = [
    sdpdr.MVU,
    sdpdr.DensityMap,
    pytest.param(sdpdr.MFNU, marks=pytest.mark.nightly),
    pytest.param(sdpdr.MVE, marks=pytest.mark.nightly),
]


def begun(kind):
    """An iteration by its first programs: every one of them keeps the laws of weights."""
    return kind(n_neighbors=4, **({"max_iter": 2} if kind is sdpdr.MVE else {}))


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", UNFOLDINGS)
def test_unfoldings_of_weighted_points_are_those_of_points_that_repeat(kind):
    counts = np.random.default_rng(1).integers(0, 3, len(ROLL))
    weighed = begun(kind).fit(ROLL, sample_weight=counts)
    repeated = begun(kind).fit(np.repeat(ROLL, counts, axis=0))
    assert np.isnan(weighed.embedding_[counts == 0]).all()
    # One program, whose answers differ by rounding, and by what an optimum leaves open.
    assert np.array_equal(weighed.graph_.counts, repeated.graph_.counts)
    assert np.array_equal(weighed.graph_.edges, repeated.graph_.edges)
    assert weighed.solution_.value == pytest.approx(repeated.solution_.value, rel=1e-5)
    size = np.abs(repeated.embedding_).max()
    np.testing.assert_allclose(
        np.repeat(weighed.embedding_, counts, axis=0), repeated.embedding_, atol=1e-6 * size
    )
    np.testing.assert_allclose(
        weighed.eigenvalues_[:2], repeated.eigenvalues_[:2], atol=1e-6 * repeated.eigenvalues_[0]
    )


def components(learner, weights):
    """Eigenvalues and columns from the Gram matrix of all rows itself, each as it weighs."""
    of_rows = np.asarray(learner.gram_)[np.ix_(learner.graph_.index, learner.graph_.index)]
    centring = np.eye(weights.size) - weights / weights.sum()
    root = np.sqrt(weights)[:, None]
    values, vectors = np.linalg.eigh(root * (centring @ of_rows @ centring.T) * root.T)
    columns = (vectors * np.sqrt(np.maximum(values, 0.0)) / root)[:, :-3:-1]
    top = np.argmax(np.abs(columns) > np.abs(columns).max(axis=0) * (1.0 - 1e-6), axis=0)
    return values[:-3:-1], columns * np.sign(columns[top, [0, 1]])


def assert_on_axes(learner, weights):
    values, columns = components(learner, weights)
    np.testing.assert_allclose(learner.eigenvalues_[:2], values, rtol=1e-5)
    np.testing.assert_allclose(learner.embedding_, columns, atol=1e-4 * np.abs(columns).max())
    shares = values / np.sum(learner.eigenvalues_)
    np.testing.assert_allclose(learner.explained_variance_ratio_, shares, rtol=1e-5)


REPEATING = [
    sdpdr.MVU(n_neighbors=4),
    sdpdr.ColoredMVU(n_neighbors=4),
    pytest.param(
        sdpdr.LOOCVUnfolding(n_neighbors=3, isometry=Band(0.1)), marks=pytest.mark.nightly
    ),
]


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", REPEATING, ids=repr)
def test_columns_are_principal_components_of_all_rows_that_repeat(estimator):
    counts = np.where(np.arange(14) < 4, 5, 1)
    rows = np.repeat(np.arange(14), counts)
    learner = clone(estimator).fit(ROLL[rows], ROLL[rows, :2])
    assert_on_axes(learner, np.ones(rows.size))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", UNFOLDINGS)
def test_columns_are_those_of_most_weighted_variance(kind):
    weights = np.random.default_rng(0).uniform(0.01, 1.0, len(ROLL)) ** 3
    assert_on_axes(begun(kind).fit(ROLL, sample_weight=weights), weights)


@pytest.mark.daily(1)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@pytest.mark.parametrize("kind", UNFOLDINGS)
def test_weights_that_are_all_equal_change_no_place(kind):
    value = 0.3
    plain = begun(kind).fit(ROLL[:20])
    weighed = begun(kind).fit(ROLL[:20], sample_weight=np.full(20, value))
    size = np.abs(plain.embedding_).max()
    np.testing.assert_allclose(weighed.embedding_, plain.embedding_, atol=1e-4 * size)
    most = weighed.eigenvalues_[0]
    np.testing.assert_allclose(weighed.eigenvalues_, value * plain.eigenvalues_, atol=1e-4 * most)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [sdpdr.MVU, sdpdr.MFNU, sdpdr.MVE, sdpdr.DensityMap])
@settings(max_examples=1)
@given(seed=st.integers(0, 2**16), power=st.integers(-12, 12))
@example(seed=0, power=-12)
@example(seed=1, power=12)
def test_weights_have_no_unit(kind, seed, power):
    unit, weights = 10.0**power, np.random.default_rng(seed).uniform(0.1, 2.0, 12)
    one = begun(kind).fit(ROLL[:12], sample_weight=weights)
    other = begun(kind).fit(ROLL[:12], sample_weight=unit * weights)
    size = np.abs(one.embedding_).max()
    np.testing.assert_allclose(other.embedding_, one.embedding_, atol=1e-4 * size)
    least = 1e-4 * unit * one.eigenvalues_[0]
    # Whether a column of rounding is left at the end of all is not the weights' doing.
    told, known = (np.zeros(12), np.zeros(12))
    told[: other.eigenvalues_.size], known[: one.eigenvalues_.size] = (
        other.eigenvalues_,
        one.eigenvalues_,
    )
    np.testing.assert_allclose(told, unit * known, atol=least)
    assert other.solution_.status is one.solution_.status
    for name in ("value", "bound"):
        here, there = getattr(one.solution_, name), getattr(other.solution_, name)
        assert there == pytest.approx(unit * here, rel=1e-5)
    if kind is sdpdr.MVE:
        assert other.iteration_.objective == pytest.approx(
            unit * one.iteration_.objective, rel=1e-5
        )
        assert other.iteration_.bound == pytest.approx(unit * one.iteration_.bound, rel=1e-5)


@pytest.mark.nightly
def test_a_second_stage_is_told_in_the_unit_of_the_weights():
    weights = np.random.default_rng(0).uniform(0.1, 2.0, 12)
    fits = [
        sdpdr.DensityMap(n_neighbors=4, compact=True).fit(ROLL[:12], sample_weight=unit * weights)
        for unit in (1.0, 1e-9)
    ]
    one, other = (found.second_stage_ for found in fits)
    assert other.record.trace == pytest.approx(1e-9 * one.record.trace, rel=1e-3)
    assert fits[1].eigenvalues_.sum() == pytest.approx(other.record.trace, rel=1e-3)


def test_weights_too_large_or_unlike_for_programs_are_refused():
    for unit in (1e300, 1e-300):
        with pytest.raises(DataError, match="largest sample_weight"):
            sdpdr.MVU().fit(ROLL, sample_weight=np.full(len(ROLL), unit))
    unlike = np.where(np.arange(len(ROLL)) < 3, 1.0, 1e-200)
    with pytest.raises(DataError, match="rows that are not to count"):
        sdpdr.MVU().fit(ROLL, sample_weight=unlike)
    one_large = np.where(np.arange(len(ROLL)) == 7, 1e15, 1.0)
    for kind in (sdpdr.MVU, sdpdr.MVE):
        with pytest.raises(DataError, match="beside the largest the others are nothing"):
            kind(n_neighbors=4).fit(ROLL, sample_weight=one_large)
    one_small = np.where(np.arange(len(ROLL)) == 3, 1e-60, 1.0)
    assert np.isfinite(sdpdr.MVU(n_neighbors=4).fit(ROLL, sample_weight=one_small).embedding_).all()


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


@pytest.mark.filterwarnings("ignore")
def test_rows_without_weight_need_not_be_numbers():
    X = ROLL.copy()
    X[3, 1] = np.nan
    weights = np.arange(len(ROLL)) % 3
    found = sdpdr.MVU(n_neighbors=4).fit(X, sample_weight=weights)
    assert np.isnan(found.embedding_[weights == 0]).all()
    assert np.isfinite(found.embedding_[weights > 0]).all()
    X[4, 1] = np.nan
    with pytest.raises(DataError, match="4"):
        sdpdr.MVU(n_neighbors=4).fit(X, sample_weight=weights)


@pytest.mark.filterwarnings("ignore")
def test_a_sample_has_its_own_mean_and_axes():
    weights = np.linspace(0.1, 3.0, len(ROLL))
    found = sdpdr.MVU(n_neighbors=4, sample=25).fit(ROLL, sample_weight=weights)
    places, own = found.embedding_[found.sample_], weights[found.sample_]
    spread = places.T @ (own[:, None] * places)
    np.testing.assert_allclose(
        spread, np.diag(found.eigenvalues_[:2]), atol=1e-6 * found.eigenvalues_[0]
    )


def test_frames_pass_weights_on():
    X = pd.DataFrame(WINE, columns=load_wine().feature_names)
    learner = sdpdr.MVU(n_neighbors=8).set_output(transform="pandas")
    places = learner.fit_transform(X.iloc[::5], sample_weight=np.arange(len(X))[::5] % 3)
    assert places.columns.tolist() == ["mvu0", "mvu1"]


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
        sdpdr.MVU().fit(WINE, sample_weight=weights)


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


def test_what_is_no_table_is_told_with_weights_too():
    with pytest.raises(DataTypeError):
        sdpdr.MVU().fit(5, sample_weight=[1.0])


def test_no_rows_are_refused_as_without_weights():
    words = []
    for options in ({}, {"sample_weight": []}):
        with pytest.raises(DataError) as told:
            sdpdr.MVU().fit(np.empty((0, 2)), [], **options)
        words.append(str(told.value))
    assert words[0] == words[1]
