"""Unknown labels that became text: they stay unknown, or a warning says which class they make."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import sdpdr
from sdpdr.base.labels import absent, as_vector, marked, unknown
from sdpdr.errors import DataError, DoubtfulColumnWarning

X, GROUP = make_blobs(60, 3, centers=3, cluster_std=0.6, random_state=0)
NAMES = np.array(["cat", "cow", "dog"])[GROUP]
HIDDEN = np.arange(60) % 4 == 0
LEARNERS = [
    sdpdr.MixedLabelPropagation,
    sdpdr.SDA,
    sdpdr.GhodsiMetric,
    pytest.param(sdpdr.ISM, marks=pytest.mark.nightly),
]


def classes_of(learner, y):
    learned = learner().fit(X, y)
    if learner is sdpdr.GhodsiMetric:
        return np.unique(NAMES[np.unique(learned.pairs_.dissimilar)]).tolist()
    return learned.classes_.tolist()


def hidden_by(mark):
    return [mark if hide else name for hide, name in zip(HIDDEN, NAMES.tolist(), strict=True)]


UNKNOWN = {
    "-1 as text": np.array(hidden_by(-1)),
    "-1.0 as text": np.array(hidden_by(-1.0)),
    "nan as text": np.array(hidden_by(np.nan)),
    "NA as text": np.array(hidden_by("<NA>")),
    "blank": np.array(hidden_by("")),
    "None": np.array(hidden_by(None), dtype=object),
    "pandas NA": pd.Series(hidden_by(pd.NA), dtype="string"),
    "masked": np.ma.masked_array(NAMES, HIDDEN),
}


@pytest.mark.parametrize("y", UNKNOWN.values(), ids=UNKNOWN)
@pytest.mark.filterwarnings("error")
def test_an_unknown_label_stays_unknown_whatever_its_container_makes_of_it(y):
    labels = as_vector(y)
    np.testing.assert_array_equal(unknown(labels), HIDDEN)
    np.testing.assert_array_equal(absent(y) | marked(y), HIDDEN)


@pytest.mark.integration
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.filterwarnings("error::sdpdr.errors.DoubtfulColumnWarning")
def test_estimators_do_not_take_it_for_a_class(learner):
    for kind in ("-1 as text", "nan as text", "masked"):
        assert classes_of(learner, UNKNOWN[kind]) == ["cat", "cow", "dog"]


def test_a_classifier_that_needs_every_label_refuses_it():
    with pytest.raises(DataError, match="not known"):
        sdpdr.LDA().fit(X, UNKNOWN["-1 as text"])


@pytest.mark.daily(4)
@pytest.mark.integration
@pytest.mark.parametrize("mark", ["?", "NA", "unlabeled", "None"])
@pytest.mark.parametrize("learner", LEARNERS[:3])
def test_a_doubtful_name_is_a_class_and_the_advice_of_the_warning_makes_it_unknown(learner, mark):
    y = np.array(hidden_by(mark))
    with pytest.warns(DoubtfulColumnWarning) as caught:
        found = learner().fit(X, y)
    assert getattr(found, "classes_", np.array([mark])).tolist().count(mark) == 1
    told = [str(each.message) for each in caught if "taken for a class" in str(each.message)]
    assert len(told) == 1
    advice = told[0].partition("pass ")[2].partition(". If it is")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtfulColumnWarning)
        assert classes_of(learner, eval(advice, {"numpy": np, "y": y})) == ["cat", "cow", "dog"]


def test_minus_one_among_numbers_as_text_is_a_class_with_a_warning():
    with pytest.warns(DoubtfulColumnWarning, match="'-1' in 15 samples"):
        sdpdr.MixedLabelPropagation().fit(X, np.where(HIDDEN, -1, GROUP).astype(str))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtfulColumnWarning)
        sdpdr.SDA().fit(X, np.where(GROUP == 0, "-1", "1"))


@pytest.mark.parametrize("signs", [np.where(GROUP == 0, -1, 1), np.where(GROUP == 0, "-1", "yes")])
def test_classes_called_plus_and_minus_one_are_refused_with_the_way_out(signs):
    with pytest.raises(DataError, match="-1 stands for a label that is not known") as caught:
        sdpdr.MixedLabelPropagation().fit(X, signs)
    advice = str(caught.value).partition("pass ")[2].rstrip(".")
    named = eval(advice, {"numpy": np, "y": signs})
    assert len(sdpdr.MixedLabelPropagation().fit(X, named).classes_) == 2
