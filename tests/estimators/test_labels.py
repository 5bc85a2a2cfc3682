"""Labels that are not known: who learns without them, who says that it cannot."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sdpdr
from sdpdr.base.labels import warn_of_signs
from sdpdr.errors import DataError, DoubtfulColumnWarning

X, CLASSES = load_iris(return_X_y=True)
X = X[::3] + np.random.default_rng(0).normal(size=(50, 4)) * 1e-3
CLASSES = CLASSES[::3]
HIDDEN = np.arange(50) % 5 == 0
WORDS = np.array(["c", "a", "b"], dtype=object)


def marked(mark, numbers=True):
    """The labels, some of which are not known."""
    labels = CLASSES.copy() if numbers else WORDS[CLASSES]
    labels[HIDDEN] = mark
    return labels


@pytest.mark.parametrize("learner", [sdpdr.XingMetric, sdpdr.GhodsiMetric])
def test_points_without_labels_are_in_no_pair(learner):
    known = learner().fit(X[~HIDDEN], CLASSES[~HIDDEN])
    for y in (marked(-1), marked(None, numbers=False), marked("", numbers=False)):
        found = learner().fit(X, y)
        assert not np.isin(found.pairs_.similar, np.flatnonzero(HIDDEN)).any()
        assert not np.isin(found.pairs_.dissimilar, np.flatnonzero(HIDDEN)).any()
        assert len(found.pairs_.similar) == len(known.pairs_.similar)
        assert len(found.pairs_.dissimilar) == len(known.pairs_.dissimilar)
        assert found.value_ == pytest.approx(known.value_, rel=1e-4)


def test_points_without_labels_have_no_say_in_a_coloring():
    side = sdpdr.methods.side_information(marked(-1))
    centred = side - side.mean(axis=0)
    np.testing.assert_allclose(centred[HIDDEN], 0.0, atol=1e-12)
    words = sdpdr.methods.side_information(marked(None, numbers=False))
    np.testing.assert_array_equal(words[:, [2, 0, 1]], side)
    blank = sdpdr.methods.side_information(marked("", numbers=False))
    np.testing.assert_array_equal(blank, words)
    two = sdpdr.methods.side_information([1, -1, 1])
    np.testing.assert_array_equal(two, [[0, 1], [1, 0], [0, 1]])


@pytest.mark.daily(2)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning")
@pytest.mark.parametrize("learner", [sdpdr.LDA, sdpdr.LSDA, sdpdr.LPP, sdpdr.NPE])
def test_who_takes_minus_one_for_a_class_says_so(learner):
    with pytest.warns(DoubtfulColumnWarning, match=f"which {learner.__name__} takes for a class"):
        found = learner().fit(X, marked(-1))
    other = learner().fit(X, np.where(HIDDEN, 7, CLASSES))
    np.testing.assert_allclose(
        np.abs(found.transform(X)), np.abs(other.transform(X)), rtol=1e-6, atol=1e-9
    )


@pytest.mark.filterwarnings("error::sdpdr.errors.DoubtfulColumnWarning")
@pytest.mark.parametrize("learner", [sdpdr.LDA, sdpdr.LSDA, sdpdr.LPP, sdpdr.NPE])
def test_minus_one_is_a_class_of_two_without_words(learner):
    learner().fit(X, np.where(CLASSES == 0, -1, 1))


@pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning")
@pytest.mark.parametrize("responses", ["classes", "contrast", "laplacian"])
def test_responses_of_classes_alone_warn_of_minus_one(responses):
    with pytest.warns(DoubtfulColumnWarning, match=f"responses='{responses}'"):
        sdpdr.SpectralRegression(responses=responses).fit(X, marked(-1))


@pytest.mark.parametrize(
    "learner", [sdpdr.LDA, sdpdr.LSDA, sdpdr.LPP, sdpdr.NPE, sdpdr.IsoProjection]
)
def test_labels_that_are_missing_are_refused_by_who_has_no_mark_for_them(learner):
    words = [marked(mark, numbers=False) for mark in (None, np.nan, " ")]
    for y in (*words, words[-1].astype(str), marked_nan()):
        with pytest.raises(DataError, match=r"Input y contains .* of samples 0, 5, .*drop") as told:
            learner().fit(X, y)
        assert "-1" not in str(told.value)


def test_spectral_regression_says_how_unknown_labels_are_marked():
    for y in (marked(None, numbers=False), marked_nan()):
        with pytest.raises(DataError, match="mark unknown labels by -1"):
            sdpdr.SpectralRegression(responses="semisupervised").fit(X, y)


def marked_nan():
    return np.where(HIDDEN, np.nan, CLASSES)


BY_CLASS = [
    sdpdr.LDA, sdpdr.SDA, sdpdr.LSDA, sdpdr.LPP, sdpdr.NPE, sdpdr.GhodsiMetric,
    sdpdr.MixedLabelPropagation, pytest.param(sdpdr.ISM, marks=pytest.mark.nightly),
]  # fmt: skip


@pytest.mark.parametrize("learner", BY_CLASS)
@pytest.mark.parametrize(
    "measured",
    [X[:, 0], X[:, 0].astype(object), np.where(HIDDEN, np.nan, X[:, 0])],
    ids=["floats", "objects", "some unknown"],
)
def test_what_is_measured_is_no_class(learner, measured):
    takes_unknown = learner not in (sdpdr.LDA, sdpdr.LSDA, sdpdr.LPP, sdpdr.NPE)
    said = "type: continuous.*with fractions.*cut" if takes_unknown else "continuous|contains NaN"
    with pytest.raises(DataError, match=said):
        learner().fit(X, measured)


@pytest.mark.parametrize("learner", [sdpdr.LDA, sdpdr.MixedLabelPropagation])
def test_times_and_columns_are_no_classes(learner):
    with pytest.raises(DataError, match="type: unknown. y holds times"):
        learner().fit(X, pd.Series(pd.date_range("2020-01-01", periods=len(X))))
    with pytest.raises(DataError, match="y must hold a label for each row"):
        learner().fit(X, X)


@pytest.mark.daily(3)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning")
@pytest.mark.parametrize("learner", BY_CLASS)
def test_whole_numbers_are_classes_as_floats_too(learner):
    found, expected = (learner().fit(X, y) for y in (CLASSES.astype(float), CLASSES))
    answer = "transform" if hasattr(found, "transform") else "predict"
    np.testing.assert_array_equal(getattr(found, answer)(X), getattr(expected, answer)(X))


@pytest.mark.parametrize("learner", [sdpdr.LDA, sdpdr.MixedLabelPropagation])
def test_whole_numbers_that_hardly_repeat_are_doubted(learner):
    with pytest.warns(DoubtfulColumnWarning, match="40 different numbers in 50 labels"):
        learner().fit(X, np.arange(50) % 40)


def test_responses_of_what_is_measured_are_refused_where_classes_are_asked_for():
    with pytest.raises(DataError, match="type: continuous"):
        sdpdr.SpectralRegression(responses="classes").fit(X, X[:, 0])
    sdpdr.SpectralRegression().fit(X, X[:, 0])


def test_minus_one_is_a_class_of_two_to_who_learns_of_samples_without_labels():
    signs = np.where(CLASSES == 0, -1, 1)
    found, named = sdpdr.SDA().fit(X, signs), sdpdr.SDA().fit(X, CLASSES > 0)
    assert found.classes_.tolist() == [-1, 1]
    np.testing.assert_allclose(found.transform(X), named.transform(X))
    assert np.array_equal(found.predict(X) > 0, named.predict(X))
    with pytest.raises(DataError, match="1 known classes.*missing labels and -1"):
        sdpdr.SDA().fit(X, np.where(HIDDEN, np.nan, signs))


SIGNS = np.arange(50) % 3 - 1
SEMISUPERVISED = [
    sdpdr.SDA, sdpdr.SpectralRegression, pytest.param(sdpdr.ISM, marks=pytest.mark.nightly),
    sdpdr.MixedLabelPropagation, sdpdr.XingMetric, sdpdr.GhodsiMetric, sdpdr.ColoredMVU,
]  # fmt: skip


@pytest.mark.daily(3)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning")
@pytest.mark.filterwarnings("ignore::sdpdr.errors.LostLengthsWarning")
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@pytest.mark.parametrize("learner", SEMISUPERVISED)
def test_minus_one_that_looks_like_a_sign_is_told_once(learner):
    with pytest.warns(DoubtfulColumnWarning, match="-1 in 17 samples.*classes 0, 1") as said:
        learner().fit(X, SIGNS)
    assert sum(each.category is DoubtfulColumnWarning for each in said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtfulColumnWarning)
        if learner is sdpdr.SpectralRegression:
            learner(responses="semisupervised").fit(X, SIGNS)
        elif learner is not sdpdr.ColoredMVU:  # of which floats are measured
            learner().fit(X, np.where(SIGNS == -1, np.nan, SIGNS))
        learner().fit(X, np.where(SIGNS == -1, "minus", np.where(SIGNS == 0, "zero", "plus")))


@pytest.mark.parametrize(
    ("y", "doubtful"),
    [
        (SIGNS, True),
        (SIGNS.astype(float), True),
        (SIGNS.astype(object), True),
        (np.arange(50) % 5 - 2, True),  # from much worse to much better
        (np.where(SIGNS == -1, np.nan, SIGNS), False),
        (np.where(np.arange(50) < 40, -1, SIGNS % 2), False),  # few labels
        (np.where(np.arange(50) < 3, -1, np.abs(SIGNS)), False),  # few gaps
        (np.where(np.arange(48) < 24, -1, np.arange(48) % 2), False),  # half of the labels
        (SIGNS[:24], False),  # too few to judge by
        (marked(-1), False),
        (np.where(SIGNS == 0, 1, SIGNS), False),
        (np.where(SIGNS == -1, -1, SIGNS + 1), False),
    ],
)
def test_a_mark_that_is_as_frequent_as_a_class_is_doubted(y, doubtful):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn_of_signs(y)
    assert [each.category for each in said] == [DoubtfulColumnWarning] * doubtful
