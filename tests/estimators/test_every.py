"""Every estimator once, on little data: scikit-learn's habits, columns of frames, what it keeps."""

import functools
import io
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits, load_wine

import sdpdr
from sdpdr import datasets
from sdpdr.base.columns import doubts, lone, unlike, warn_of_columns
from sdpdr.errors import (
    DataError,
    DoubtfulColumnWarning,
    DuplicatePointsWarning,
    RowNumbersWarning,
    UnlikeColumnsWarning,
)

ROLL = datasets.swiss_roll(30, seed=0)[0]
PLANE = np.random.default_rng(0).standard_normal((24, 3)) * [3.0, 2.0, 0.1]
CLASSES = (PLANE[:, 0] > 0.0).astype(int)
POSITIVE = np.abs(np.random.default_rng(1).standard_normal((8, 5))) + 0.1
SIGNS = np.sign(np.random.default_rng(2).standard_normal((6, 5)))
STARS = np.ceil(5.0 * POSITIVE / POSITIVE.max())
STACK = np.random.default_rng(3).standard_normal((10, 4, 3))
PARTLY = np.where(np.arange(24) % 4 == 0, CLASSES, -1)
PLACED = np.where(np.arange(24)[:, None] < 6, PLANE[:, :2], np.nan)
DISTANCES = np.linalg.norm(PLANE[:, None] - PLANE[None], axis=2)
DISTANCES[0, 5:] = np.nan

# By estimator its parameters, and what it is fitted to.
GIVEN = {
    "ARE": ({"n_neighbors": 3}, (ROLL,)),
    "AnchoredMVU": ({"connect": "mst", "isometry": "inequality"}, (PLANE, PLACED)),
    "ColoredMVU": ({"connect": "mst"}, (PLANE, CLASSES)),
    "CompletelyPositive": ({"affinity": "precomputed"}, (POSITIVE @ POSITIVE.T,)),
    "DensityMap": ({"connect": "mst"}, (PLANE,)),
    "DistanceCompletion": ({"n_components": 3}, (DISTANCES,)),
    "GhodsiMetric": ({}, (PLANE, CLASSES)),
    "ISM": ({"connect": "mst"}, (PLANE, CLASSES)),
    "IsoNMF": (
        {"n_components": 2, "n_neighbors": 3, "max_iter": 5, "connect": "mst"}, (POSITIVE,)
    ),
    "IsoProjection": ({"n_components": 2, "connect": "mst"}, (PLANE,)),
    "LDA": ({"n_components": 1}, (PLANE, CLASSES)),
    "LOOCVUnfolding": ({"n_neighbors": 3, "tol": 1e-4}, (ROLL[:12],)),
    "LPP": ({"n_components": 2}, (PLANE,)),
    "LSDA": ({"n_components": 1}, (PLANE, CLASSES)),
    "MFNU": ({"connect": "mst"}, (ROLL,)),
    "MMMF": ({}, (SIGNS,)),
    "MVE": ({"connect": "mst", "max_iter": 2}, (ROLL,)),
    "MVU": ({"connect": "mst"}, (ROLL,)),
    "MixedLabelPropagation": ({}, (PLANE, PARTLY)),
    "NMF": ({"n_components": 2}, (POSITIVE,)),
    "NPE": ({"n_components": 2}, (PLANE,)),
    "PolynomialFactorization": ({"n_components": 1}, (POSITIVE[:4, :3],)),
    "RatingMMMF": ({}, (STARS,)),
    "SDA": ({"n_components": 1}, (PLANE, PARTLY)),
    "SOPCA": ({"n_components": 2}, (STACK,)),
    "SpectralRegression": ({"n_components": 1}, (PLANE, CLASSES)),
    "XingMetric": ({}, (PLANE, CLASSES)),
}  # fmt: skip
PUBLIC = [
    name
    for name in sdpdr.estimators.__all__
    if hasattr(sdpdr, name) and hasattr(getattr(sdpdr, name), "get_params")
]
EVERY = {
    name: (getattr(sdpdr, name)(**GIVEN[name][0]), GIVEN[name][1])
    for name in PUBLIC
    if name in GIVEN
}


def test_none_is_forgotten():
    assert set(PUBLIC) == set(EVERY)


@functools.cache
def framed(name):
    """Fitted to a frame in single precision, and the frame that it returned."""
    estimator, (X, *others) = EVERY[name]
    X = X[:, 0] if X.ndim == 3 else X
    columns = [f"x{k}" for k in range(X.shape[1])]
    frame = pd.DataFrame(X.astype(np.float32), columns=columns, index=range(7, 7 + len(X)))
    learned = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RowNumbersWarning)
        if not hasattr(learned, "set_output"):
            return frame, learned.fit(frame, *others), None
        return frame, learned, learned.set_output(transform="pandas").fit_transform(frame, *others)


@pytest.mark.daily(7)
@pytest.mark.integration
@pytest.mark.parametrize("name", EVERY)
def test_habits_of_scikit_learn(name):
    """Names of columns, frames, single precision, parameters, pickles."""
    frame, learned, returned = framed(name)
    assert learned.n_features_in_ == frame.shape[1]
    assert learned.feature_names_in_.tolist() == list(frame.columns)
    assert clone(learned).get_params().keys() == EVERY[name][0].get_params().keys()
    again = pickle.loads(pickle.dumps(learned))
    if returned is None:
        assert not hasattr(learned, "get_feature_names_out")
        assert vars(again).keys() == vars(learned).keys()
        return
    made = [f"{name.lower()}{k}" for k in range(returned.shape[1])]
    assert returned.columns.tolist() == made == learned.get_feature_names_out().tolist()
    assert returned.index.equals(frame.index)
    assert set(returned.dtypes) == {np.dtype("float32")}
    if hasattr(learned, "embedding_"):
        np.testing.assert_array_equal(again.embedding_, returned)
    else:
        np.testing.assert_allclose(again.transform(frame), returned, rtol=1e-4, atol=1e-4)
    if isinstance(learned, sdpdr.estimators.GramEmbedding) and name != "AnchoredMVU":
        shares = learned.explained_variance_ratio_
        assert shares.shape == (returned.shape[1],)
        assert np.all(np.diff(shares) <= 0.0)
        assert 0.0 <= shares.min() <= shares.sum() <= 1.0 + 1e-6


def test_coordinates_that_are_given_have_no_shares():
    assert not hasattr(framed("AnchoredMVU")[1], "explained_variance_ratio_")


@pytest.mark.daily(2)
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in EVERY if is_classifier(EVERY[n][0])])
def test_labels_may_be_words(name):
    estimator, (X, y) = EVERY[name]
    words = np.array(["no", "yes"], dtype=object)[y]
    words[y < 0] = None
    numbers, named = clone(estimator).fit(X, y), clone(estimator).fit(X, words)
    assert named.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(named.predict(X) == "yes", numbers.predict(X) == 1)
    known = y >= 0
    assert numbers.score(X[known], y[known]) > 0.9
    assert named.score(X[known], words[known].astype(str)) == numbers.score(X[known], y[known])


@pytest.mark.parametrize("name", [n for n in ("NMF", "IsoNMF", "SOPCA") if n in EVERY])
def test_a_score_is_the_share_of_squares_that_comes_back(name):
    frame, learned, _ = framed(name)
    X = frame.to_numpy(dtype=float)
    back = learned.inverse_transform(learned.transform(frame).to_numpy(dtype=float))
    # Vectors of second-order PCA are measured from their mean, factors from zero.
    middle = X.mean(axis=0) if name == "SOPCA" else 0.0
    share = 1.0 - np.sum((X - back) ** 2) / np.sum((X - middle) ** 2)
    assert learned.score(frame) == pytest.approx(share, abs=1e-6)


OF_POINTS = [name for name, (_, data) in EVERY.items() if data[0] is ROLL or data[0] is PLANE]


@pytest.mark.daily(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_POINTS)
def test_columns_and_rows_of_data_are_named(name):
    """Row numbers are no coordinate without a warning, and missing entries have a place."""
    estimator, (X, *others) = EVERY[name]
    frame = pd.DataFrame(X.copy(), columns=[f"x{k}" for k in range(X.shape[1])])
    again = pd.read_csv(io.StringIO(frame.to_csv()))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowNumbersWarning)
        with pytest.raises(RowNumbersWarning, match="'Unnamed: 0' counts the rows"):
            clone(estimator).fit(again, *others)
    frame.iloc[[2, 4], 1] = np.nan
    for given, column in ((frame, "'x1'"), (frame.to_numpy(), "1")):
        with pytest.raises(DataError, match=rf"not finite: 2, 4\. Their columns: {column}\."):
            clone(estimator).fit(given, *others)


def test_what_counts_rows_is_an_index_and_nothing_else():
    x = np.cos(np.arange(20.0))

    def named(column, rows=slice(None)):
        frame = pd.DataFrame({"x": x, "t": column})[rows]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn_of_columns(frame)
        return [warning.category for warning in caught]

    n = np.arange(20)
    assert named(n) == named(n + 1) == named(n.astype(np.uint8)) == [RowNumbersWarning]
    assert named(n[::-1]) == named(n + 2) == named(2 * n) == named(n / 1.0) == named(n // 2) == []
    assert named(n, slice(5)) == []  # so few may be so by chance
    warn_of_columns(np.column_stack([n, x]))
    warn_of_columns(pd.DataFrame({"t": n}))


UNLIKE = pd.DataFrame(ROLL * [1.0, 1.0, 1e4], columns=["east", "north", "grams"])


@pytest.mark.daily(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        sdpdr.MVU(sample=12),
        sdpdr.LPP(),
        sdpdr.MixedLabelPropagation(),
        sdpdr.baselines.GPLVM(max_iter=2),
        sdpdr.baselines.Sammon(max_iter=2),
    ],
    ids=repr,
)
def test_methods_that_go_by_distances_tell_of_units_once(estimator):
    frame = UNLIKE[: len(CLASSES)]
    for data, words in (
        (frame, "'grams' is spread .* as widely as .* filter this warning out"),
        (frame.to_numpy(), "column 2 is spread so widely .* that the other 2"),
    ):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UnlikeColumnsWarning)
            estimator.fit(data, PARTLY)
        (once,) = [each for each in told if each.category is UnlikeColumnsWarning]
        assert re.search(words, str(once.message))


@pytest.mark.filterwarnings("ignore")
def test_units_that_are_alike_or_make_no_difference_are_not_told():
    few = UNLIKE[: len(CLASSES)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnlikeColumnsWarning)
        sdpdr.MVU().fit(few / few.std())
        sdpdr.MVU(metric="cosine").fit(few)
        sdpdr.LDA().fit(few, CLASSES)


IMAGES = load_digits().data


@pytest.mark.parametrize(
    "table",
    [
        IMAGES,
        IMAGES[:, :9],
        np.eye(40),
        np.column_stack([np.arange(30.0), np.zeros(30)]),
        np.column_stack([np.arange(30.0), 1e-15 * np.cos(np.arange(30.0))]),
        np.arange(30.0)[:, None],
        np.zeros((30, 0)),
        load_wine().data,
        ROLL * [1.0, 1.0, 300.0],
    ],
    ids=["digits", "border", "one inked", "flat", "rounded", "one", "none", "wine", "wide"],
)
def test_one_column_is_all_there_is_of_no_table_of_pixels(table):
    assert lone(table) == ""


@pytest.mark.parametrize("times", [2e3, 1e9, 1e12])
def test_a_column_beside_which_others_have_no_say_is_named(times):
    assert lone(ROLL * [1.0, times, 1.0]).startswith("column 1 is spread so widely")
    assert lone(-3.0 * ROLL * [1.0, times, 1.0]).startswith("column 1 is spread so widely")


DOUBTFUL = {
    "pressure": [*range(20, 42), -999.0, -999.0],
    "CustomerID": [1007 + 3 * k for k in range(24)],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DOUBTFUL)
@pytest.mark.parametrize("estimator", [sdpdr.LDA()], ids=repr)
def test_codes_for_what_is_missing_and_ids_are_told_of_frames_alone(name, estimator):
    frame = pd.DataFrame(ROLL[:24], columns=["a", "b", "c"])
    frame[name] = DOUBTFUL[name]
    with pytest.warns(DoubtfulColumnWarning, match=f"'{name}' .* taken for a coordinate"):
        estimator.fit(frame, CLASSES)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtfulColumnWarning)
        estimator.fit(frame.to_numpy(), CLASSES)
        estimator.fit(frame.drop(columns=name), CLASSES)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("depth", [990.0, 999.0, 1004.0]),
        ("depth", [-1500.0, -999.0, 40.0]),
        ("code", [999.0, 999.0]),
        ("year", [1980.0, 1990.0]),
        ("CustomerID", [1.5, 2.25, 3.75]),
    ],
)
def test_numbers_among_others_of_their_size_raise_no_doubt(name, column):
    assert doubts(name, column) == ""


def test_a_rare_count_is_not_another_unit():
    rare = np.zeros((400, 3))
    rare[:, 0], rare[:, 1], rare[7, 2] = np.arange(400.0), np.arange(400.0) % 17, 4.0
    assert rare[:, 0].std() > 100.0 * rare[:, 2].std()
    assert "'c'" not in unlike(rare / [10.0, 1.0, 1.0], ["a", "b", "c"])


@pytest.mark.nightly
def test_rows_of_a_sample_are_named_as_in_the_data():
    X = np.concatenate([ROLL, ROLL[-1:]])
    with pytest.warns(DuplicatePointsWarning, match=f"earlier one: {len(ROLL)}\\."):
        sdpdr.MVU().fit(X)
    order = np.random.default_rng(0).permutation(len(X))
    m = int(np.flatnonzero(np.isin(order, [len(X) - 1, len(X) - 2])).max()) + 1
    assert m < len(X)
    with pytest.warns(
        DuplicatePointsWarning, match=f"of {m} points .* earlier one: {len(ROLL)}\\."
    ):
        sdpdr.MVU(sample=m).fit(X)
