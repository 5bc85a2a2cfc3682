"""Every estimator once, on little data: it fits, clones, and says what it found (`make test`).

And all have scikit-learn's habits: names of columns, frames, single precision, pickles.
"""

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
STACK = np.random.default_rng(3).standard_normal((10, 4, 3))
PARTLY = np.where(np.arange(24) % 4 == 0, CLASSES, -1)
PLACED = np.where(np.arange(30)[:, None] < 6, ROLL[:, :2], np.nan)
DISTANCES = np.linalg.norm(PLANE[:, None] - PLANE[None], axis=2)
DISTANCES[0, 5:] = np.nan

# Estimator, data and labels, and what it is to have afterwards.
EVERY = {
    "ARE": (sdpdr.ARE(n_neighbors=3), (ROLL, np.zeros(29, dtype=int)), "embedding_"),
    "AnchoredMVU": (sdpdr.AnchoredMVU(connect="mst"), (ROLL, PLACED), "embedding_"),
    "ColoredMVU": (sdpdr.ColoredMVU(connect="mst"), (PLANE, CLASSES), "embedding_"),
    "CompletelyPositive": (
        sdpdr.CompletelyPositive(affinity="precomputed"), (POSITIVE @ POSITIVE.T,), None,
    ),
    "DensityMap": (sdpdr.DensityMap(connect="mst"), (PLANE,), "embedding_"),
    "DistanceCompletion": (sdpdr.DistanceCompletion(), (DISTANCES,), "embedding_"),
    "GhodsiMetric": (sdpdr.GhodsiMetric(), (PLANE, CLASSES), "components_"),
    "ISM": (sdpdr.ISM(connect="mst"), (PLANE, CLASSES), "embedding_"),
    "IsoNMF": (sdpdr.IsoNMF(2, n_neighbors=3, max_iter=5, connect="mst"), (POSITIVE,), None),
    "IsoProjection": (sdpdr.IsoProjection(2, connect="mst"), (PLANE,), "components_"),
    "LDA": (sdpdr.LDA(1), (PLANE, CLASSES), "components_"),
    "LOOCVUnfolding": (
        sdpdr.LOOCVUnfolding(n_neighbors=3, solver="clarabel", form="gram", tol=1e-5),
        (ROLL[:12],), "embedding_",
    ),
    "LPP": (sdpdr.LPP(2), (PLANE,), "components_"),
    "LSDA": (sdpdr.LSDA(1), (PLANE, CLASSES), "components_"),
    "MFNU": (sdpdr.MFNU(connect="mst"), (ROLL,), "embedding_"),
    "MMMF": (sdpdr.MMMF(), (SIGNS,), "factorization_"),
    "MVE": (sdpdr.MVE(connect="mst", max_iter=3), (ROLL,), "embedding_"),
    "MVU": (sdpdr.MVU(connect="mst"), (ROLL,), "embedding_"),
    "MixedLabelPropagation": (sdpdr.MixedLabelPropagation(), (PLANE, PARTLY), "classes_"),
    "NMF": (sdpdr.NMF(2), (POSITIVE,), "components_"),
    "NPE": (sdpdr.NPE(2), (PLANE,), "components_"),
    "PolynomialFactorization": (
        sdpdr.PolynomialFactorization(1, max_iter=3), (POSITIVE[:4, :3],), None,
    ),
    "RatingMMMF": (sdpdr.RatingMMMF(), (np.ceil(5.0 * POSITIVE / POSITIVE.max()),), None),
    "SDA": (sdpdr.SDA(1), (PLANE, PARTLY), "components_"),
    "SOPCA": (sdpdr.SOPCA(2), (STACK,), None),
    "SpectralRegression": (sdpdr.SpectralRegression(1), (PLANE, CLASSES), "mapping_"),
    "XingMetric": (sdpdr.XingMetric(), (PLANE, CLASSES), "components_"),
}  # fmt: skip


def test_none_is_forgotten():
    gathered = {name for name in sdpdr.estimators.__all__ if hasattr(sdpdr, name)}
    kinds = {name for name in gathered if hasattr(getattr(sdpdr, name), "get_params")}
    assert kinds == set(EVERY)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVERY)
def test_every_estimator_fits_little_data(name):
    estimator, data, found = EVERY[name]
    fitted = clone(estimator).fit(*data)
    learned = [key for key in vars(fitted) if key.endswith("_") and not key.startswith("_")]
    assert learned
    assert found is None or hasattr(fitted, found)
    assert clone(fitted).get_params().keys() == estimator.get_params().keys()


@functools.cache
def framed(name):
    """Fitted to a frame in single precision, and the frame that it returned.

    Of the rows, which have numbers that do not begin at zero, nothing is said.
    """
    estimator, (X, *others), _ = EVERY[name]
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


@pytest.mark.parametrize("name", EVERY)
def test_columns_have_names_and_the_precision_of_the_data(name):
    frame, learned, returned = framed(name)
    assert learned.n_features_in_ == frame.shape[1]
    assert learned.feature_names_in_.tolist() == list(frame.columns)
    if returned is None:
        assert not hasattr(learned, "get_feature_names_out")
        return
    made = [f"{name.lower()}{k}" for k in range(returned.shape[1])]
    assert returned.columns.tolist() == made == learned.get_feature_names_out().tolist()
    assert returned.index.equals(frame.index)
    assert set(returned.dtypes) == {np.dtype("float32")}


@pytest.mark.parametrize("name", EVERY)
def test_what_is_returned_is_what_is_kept(name):
    frame, learned, returned = framed(name)
    again = pickle.loads(pickle.dumps(learned))
    if returned is None:
        assert vars(again).keys() == vars(learned).keys()
    elif hasattr(learned, "embedding_"):
        np.testing.assert_array_equal(again.embedding_, returned)
    else:
        np.testing.assert_allclose(again.transform(frame), returned, rtol=1e-4, atol=1e-4)


UNFOLDED = [name for name in EVERY if isinstance(EVERY[name][0], sdpdr.estimators.GramEmbedding)]


@pytest.mark.parametrize("name", UNFOLDED)
def test_shares_of_the_columns(name):
    _, learned, returned = framed(name)
    if name == "AnchoredMVU":
        assert not hasattr(learned, "explained_variance_ratio_")
        return
    shares = learned.explained_variance_ratio_
    assert shares.shape == (returned.shape[1],)
    assert np.all(np.diff(shares) <= 0.0)
    assert shares.min() >= 0.0
    assert shares.sum() <= 1.0 + 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in EVERY if is_classifier(EVERY[n][0])])
def test_labels_may_be_words(name):
    estimator, (X, y), _ = EVERY[name]
    words = np.array(["no", "yes"], dtype=object)[y]
    words[y < 0] = None
    numbers, named = clone(estimator).fit(X, y), clone(estimator).fit(X, words)
    assert named.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(named.predict(X) == "yes", numbers.predict(X) == 1)
    known = y >= 0
    assert numbers.score(X[known], y[known]) > 0.9
    assert named.score(X[known], words[known].astype(str)) == numbers.score(X[known], y[known])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["LDA", "LSDA", "GhodsiMetric", "XingMetric", "SpectralRegression"]
)
def test_maps_are_learned_from_words(name):
    estimator, (X, y), _ = EVERY[name]
    words = np.array(["no", "yes"], dtype=object)[y]
    places = clone(estimator).fit(X, y).transform(X)
    np.testing.assert_allclose(clone(estimator).fit(X, words).transform(X), places)


@pytest.mark.parametrize("name", ["NMF", "IsoNMF", "PolynomialFactorization", "SOPCA"])
def test_a_score_is_the_share_of_squares_that_comes_back(name):
    frame, learned, _ = framed(name)
    X = frame.to_numpy(dtype=float)
    back = learned.inverse_transform(learned.transform(frame).to_numpy(dtype=float))
    # Vectors of second-order PCA are measured from their mean, factors from zero.
    middle = X.mean(axis=0) if name == "SOPCA" else 0.0
    share = 1.0 - np.sum((X - back) ** 2) / np.sum((X - middle) ** 2)
    assert learned.score(frame) == pytest.approx(share, abs=1e-6)
    assert 0.0 < share <= 1.0


OF_POINTS = [name for name, (_, data, _) in EVERY.items() if data[0] is ROLL or data[0] is PLANE]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_POINTS)
def test_row_numbers_are_no_coordinate_without_a_word(name):
    estimator, (X, *others), _ = EVERY[name]
    columns = [f"x{k}" for k in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns)
    again = pd.read_csv(io.StringIO(frame.to_csv()))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowNumbersWarning)
        with pytest.raises(RowNumbersWarning, match="'Unnamed: 0' counts the rows"):
            clone(estimator).fit(again, *others)


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_POINTS)
def test_missing_entries_are_named_by_row_and_column(name):
    estimator, (X, *others), _ = EVERY[name]
    X = np.array(X, dtype=float)
    X[4, 1] = X[2, 1] = np.nan
    with pytest.raises(DataError, match=r"not finite: 2, 4\. Their columns: 1\."):
        clone(estimator).fit(X, *others)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    with pytest.raises(DataError, match=r"not finite: 2, 4\. Their columns: 'x1'\."):
        clone(estimator).fit(frame, *others)


UNLIKE = pd.DataFrame(ROLL * [1.0, 1.0, 1e4], columns=["east", "north", "grams"])


@pytest.mark.filterwarnings("ignore")
def test_columns_of_unlike_units_are_told_of_frames():
    for estimator in (sdpdr.MVU(), sdpdr.MVU(sample=20)):
        with pytest.warns(UnlikeColumnsWarning, match="'grams' is spread .* as widely as"):
            estimator.fit(UNLIKE)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnlikeColumnsWarning)
        sdpdr.MVU().fit(UNLIKE.to_numpy() * [1.0, 1.0, 0.02])
        sdpdr.MVU(metric="cosine").fit(UNLIKE)
        sdpdr.MVU(metric="cosine").fit(UNLIKE.to_numpy())
        sdpdr.MVU().fit(UNLIKE / UNLIKE.std())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (sdpdr.LPP(), None),
        (sdpdr.NPE(), CLASSES),
        (sdpdr.IsoProjection(), None),
        (sdpdr.LSDA(), CLASSES),
        (sdpdr.SDA(), PARTLY),
        (sdpdr.SpectralRegression(), None),
        (sdpdr.SpectralRegression(kernel="rbf"), CLASSES),
        (sdpdr.GhodsiMetric(), CLASSES),
        (sdpdr.MixedLabelPropagation(), PARTLY),
        (sdpdr.baselines.NCMVU(time_limit=0.0), None),
        (sdpdr.baselines.GPLVM(max_iter=2), None),
        (sdpdr.baselines.Sammon(max_iter=2), None),
        (sdpdr.extend.KernelEigenmaps(), None),
    ],
)
def test_whoever_goes_by_distances_tells_of_units(estimator, y):
    frame = UNLIKE[: len(CLASSES)]
    for data, words in (
        (frame, "'grams' is spread .* as widely as .* filter this warning out"),
        (frame.to_numpy(), "column 2 is spread so widely .* that the other 2"),
    ):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UnlikeColumnsWarning)
            estimator.fit(data, y)
        (once,) = [each for each in told if each.category is UnlikeColumnsWarning]
        assert re.search(words, str(once.message))


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


@pytest.mark.filterwarnings("ignore")
def test_whoever_weighs_columns_by_itself_tells_of_no_units():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnlikeColumnsWarning)
        for estimator in (sdpdr.LDA(), sdpdr.SpectralRegression(), sdpdr.XingMetric()):
            estimator.fit(UNLIKE[: len(CLASSES)], CLASSES)


DOUBTFUL = {
    "pressure": [*range(20, 42), -999.0, -999.0],
    "year": [1990 + k % 7 for k in range(24)],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DOUBTFUL)
@pytest.mark.parametrize("estimator", [sdpdr.MVU(), sdpdr.LDA(), sdpdr.MixedLabelPropagation()])
def test_codes_for_what_is_missing_and_years_are_told_of_frames_alone(name, estimator):
    frame = pd.DataFrame(ROLL[:24], columns=["a", "b", "c"])
    frame[name] = DOUBTFUL[name]
    with pytest.warns(DoubtfulColumnWarning, match=f"'{name}' holds .* taken for a coordinate"):
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
        ("year", [0.5, 1.5]),
        ("years", [1.0, 7.0]),
        ("born", [1980.0, 1990.0]),
    ],
)
def test_numbers_among_others_of_their_size_raise_no_doubt(name, column):
    assert doubts(name, column) == ""


def test_a_rare_count_is_not_another_unit():
    rare = np.zeros((400, 3))
    rare[:, 0], rare[:, 1], rare[7, 2] = np.arange(400.0), np.arange(400.0) % 17, 4.0
    assert rare[:, 0].std() > 100.0 * rare[:, 2].std()
    assert "'c'" not in unlike(rare / [10.0, 1.0, 1.0], ["a", "b", "c"])


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
