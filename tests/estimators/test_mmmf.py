"""The estimator of signs: attributes, predictions, offsets, refusals.

scikit-learn's own checks pass tables of arbitrary numbers and expect rows to be independent
samples. Here X is one matrix of signs whose rows explain each other, so they do not apply; cloning
and parameters are tested below.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sdpdr import MMMF, factorize
from sdpdr.errors import (
    DataError,
    SdpdrError,
    ShapeError,
    UncertifiedWarning,
    UnobservedWarning,
    WeakSeparationWarning,
)

Y3 = np.array([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]])
# Columns that all users like in the same proportions.
LIKED = np.array([0.1, 0.9, 0.8, 0.2, 0.85, 0.15, 0.9, 0.1, 0.2, 0.8])


def planted(p=30, q=20, share=0.6):
    """Signs of a matrix of rank two, those observed and those held back."""
    rng = np.random.default_rng(0)
    Y = np.sign(rng.standard_normal((p, 2)) @ rng.standard_normal((2, q)))
    seen = rng.random((p, q)) < share
    return np.where(seen, Y, 0.0), np.where(seen, 0.0, Y)


def popular(p=60, share=0.5):
    rng = np.random.default_rng(0)
    Y = np.where(rng.random((p, LIKED.size)) < LIKED, 1.0, -1.0)
    return np.where(rng.random(Y.shape) < share, Y, 0.0)


def test_attributes_parameters_and_clones():
    model = MMMF(c=0.5)
    assert model.fit(Y3) is model
    assert model.value_ == pytest.approx(2.0 * np.sqrt(3.0), rel=1e-6)
    assert model.bound_ <= model.value_
    assert 0.0 <= model.gap_ <= 1e-6
    assert model.n_features_in_ == 4
    assert (model.c_, model.ridge_) == (0.5, np.inf)
    np.testing.assert_allclose(model.X_, model.U_ @ model.V_.T, atol=1e-12)
    assert not model.user_offsets_.any()
    found = factorize.mmmf(Y3, c=0.5)
    assert (model.value_, model.n_iter_) == (found.value, found.iterations)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "X_")


def test_signs_held_back_are_predicted():
    seen, held = planted()
    for options in ({}, {"c": 0.3}):
        model = MMMF(**options, tol=1e-2).fit(seen)
        assert model.gap_ <= 1e-2
        assert model.score(held) > 0.85
        pairs = np.argwhere(held)
        assert model.score(held) == np.mean(model.predict(pairs) == held[held != 0])
        assert model.score(held) == model.score(pairs, held[held != 0])


def test_predictions_at_pairs():
    model = MMMF(c=0.5).fit(Y3)
    whole = model.predict()
    assert whole.dtype.kind == "i"
    pairs = [[2, 3], [0, 0]]
    np.testing.assert_array_equal(model.predict(pairs), [whole[2, 3], whole[0, 0]])
    np.testing.assert_allclose(model.decision_function(pairs), model.X_[[2, 0], [3, 0]])
    with pytest.warns(UnobservedWarning, match="users of 1 and the items of 0 were not in the fit"):
        assert model.predict([[3, 0]]) == 0


def test_kinds_of_input():
    known = MMMF(c=0.5).fit(Y3)
    for X in (sp.csr_array(Y3), np.where(Y3, Y3, np.nan), pd.DataFrame(Y3)):
        model = MMMF(c=0.5).fit(X)
        np.testing.assert_array_equal(model.X_, known.X_)
        assert model.score(X) == 1.0
    pairs = np.argwhere(Y3)
    np.testing.assert_array_equal(MMMF(c=0.5).fit(pairs, Y3[Y3 != 0]).X_, known.X_)


def test_rows_and_columns_without_observations():
    X = np.zeros((5, 6))
    X[1:4, :4] = Y3
    with pytest.warns(UnobservedWarning, match=r"2 rows \(0, 4\) and 2 columns \(4, 5\)"):
        model = MMMF(c=0.5, tol=1e-4).fit(X)
    assert not model.X_[[0, 4]].any()
    assert not model.predict()[:, [4, 5]].any()
    np.testing.assert_array_equal(model.predict()[1:4, :4] * Y3, np.abs(Y3))


def test_slack_that_is_too_cheap_and_the_advice():
    with pytest.warns(WeakSeparationWarning, match="Raise c"):
        model = MMMF(c=0.3).fit(Y3)
    assert not model.predict().any()
    assert model.value_ == pytest.approx(2.7)
    least = MMMF().least_penalty(Y3)
    assert least == pytest.approx(1.0 / np.linalg.norm(Y3, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MMMF(c=1.05 * least).fit(Y3).predict().any()


def test_too_little_effort_is_reported():
    for options in ({"max_iter": 5}, {"time_limit": 0.0}):
        with pytest.warns(UncertifiedWarning, match="Raise max_iter or time_limit"):
            model = MMMF(c=0.3, **options).fit(planted()[0])
        assert model.bound_ <= model.value_
        assert model.gap_ > 1e-6
        assert model.n_iter_ in (1, 5)


# -- the default penalty and offsets --------------------------------------------------------------


def test_the_default_is_twice_the_least_penalty_with_offsets():
    seen, _ = planted(20, 12)
    model = MMMF(tol=1e-3).fit(seen)
    assert model.ridge_ == 15.0
    assert model.c_ == pytest.approx(2.0 * MMMF(ridge=15.0).least_penalty(seen))
    given = MMMF(model.c_, ridge=15.0, tol=1e-3).fit(seen)
    np.testing.assert_array_equal(given.X_, model.X_)
    scores = model.U_ @ model.V_.T + model.user_offsets_[:, None] + model.item_offsets_
    np.testing.assert_allclose(model.decision_function(), scores, atol=1e-12)


def test_popularity_is_found_by_offsets():
    Y = popular()
    least = MMMF(ridge=15.0).least_penalty(Y)
    with pytest.warns(WeakSeparationWarning, match="only offsets predict. Raise c"):
        model = MMMF(0.9 * least, ridge=15.0).fit(Y)
    assert not model.U_.any()
    assert np.mean(model.predict() == np.sign(LIKED - 0.5)) > 0.95


def test_rows_and_columns_without_signs_have_the_offset_of_the_other_side():
    Y = popular(30)
    Y[3], Y[:, 4] = 0.0, 0.0
    with pytest.warns(UnobservedWarning, match="1 rows"):
        model = MMMF(tol=1e-2).fit(Y)
    np.testing.assert_allclose(model.X_[3], model.item_offsets_)
    np.testing.assert_allclose(model.X_[:, 4], model.user_offsets_)
    assert model.X_[3, 4] == model.predict()[3, 4] == 0


# -- refusals -----------------------------------------------------------------------------------


def test_uses_that_are_refused():
    with pytest.raises(NotFittedError):
        MMMF().predict()
    model = MMMF(c=0.5).fit(Y3)
    for wrong in ([[0.5, 1.0]], [[0, -1]]):
        with pytest.raises(DataError, match="whole numbers from 0 on"):
            model.predict(wrong)
    for wrong in ([1, 2], [[1, 2, 3]]):
        with pytest.raises(ShapeError, match=r"shape \(m, 2\)"):
            model.predict(wrong)
    with pytest.raises(DataError, match="3 features"):
        model.score(Y3.T)
    with pytest.raises(ShapeError, match="Pass pairs"):
        model.score(Y3[:2])


def test_data_that_are_refused_and_the_advice():
    X = np.array([[1, 0, 1], [0, 1, 1]])
    with pytest.raises(DataError, match="all signs observed are 1.*if 0 and 1 are the kinds"):
        MMMF().fit(X)
    assert MMMF(tol=1e-3).fit(2 * X - 1).predict().shape == X.shape
    assert MMMF(1.0).fit(X).predict().min() == 1
    with pytest.raises(DataError, match="is not a sign.*pass the pairs as X"):
        MMMF().fit([[1, 2], [3, 4]])


class Unread:
    """Data that must not be read."""

    def __array__(self, *_, **__):
        raise AssertionError("the data were read")


def test_parameters_are_refused_before_data_are_read():
    with pytest.raises(DataError, match="c=-1.0 is out of range: it must be positive, or infinite"):
        MMMF(-1.0).fit(Unread())
    with pytest.raises(DataError, match="need a finite c"):
        MMMF(np.inf, ridge=5.0).fit(Unread())
    for name in ("c", "tol", "max_iter", "ridge", "time_limit"):
        with pytest.raises(SdpdrError):
            MMMF(**{name: "a"}).fit(Unread())
        with pytest.raises(SdpdrError):
            factorize.mmmf(Unread(), **{name: "a"})


def test_a_search_that_is_gone_says_what_to_write():
    import sdpdr

    with pytest.raises(AttributeError, match="GridSearchCV"):
        sdpdr.MMMFCV  # noqa: B018
