"""The price that signs held back choose, and offsets beside it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sdpdr import MMMF, MMMFCV, RatingMMMF, factorize
from sdpdr.base.deadline import Deadline
from sdpdr.errors import (
    DataTypeError,
    SdpdrError,
    UncertifiedWarning,
    UnobservedWarning,
    WeakSeparationWarning,
)
from sdpdr.families.factor.margin.prices import SIGN_RIDGE

# Columns of which all users think alike, in the same proportions.
LIKED = np.array([0.1, 0.9, 0.8, 0.2, 0.85, 0.15, 0.9, 0.1, 0.2, 0.8])
TWO_LEVELS = np.array([[1.0, 1.0, 2.0, 2.0]] * 3)


def popular(p=60, share=0.5):
    rng = np.random.default_rng(0)
    Y = np.where(rng.random((p, LIKED.size)) < LIKED, 1.0, -1.0)
    return np.where(rng.random(Y.shape) < share, Y, 0.0)


def planted(p=40, q=25, share=0.5, noise=0.0):
    """Signs of a matrix of rank two with noise, those observed and those held back."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((p, 2)) @ rng.standard_normal((2, q))
    Y = np.sign(scores + noise * np.random.default_rng(1).standard_normal((p, q)))
    seen = rng.random((p, q)) < share
    return np.where(seen, Y, 0.0), np.where(seen, 0.0, Y)


def test_popularity_is_found_where_there_is_nothing_else():
    Y = popular()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakSeparationWarning)
        model = MMMF().fit(Y)
    assert np.mean(model.predict() == np.sign(LIKED - 0.5)) > 0.98
    assert model.c_ <= model.prices_[1]
    assert model.gap_ <= 1e-6
    # The least price of a loss with a kink is known to some percent only.
    with pytest.warns(WeakSeparationWarning, match="only offsets predict. Raise c"):
        below = MMMF(0.9 * model.prices_[0], ridge=SIGN_RIDGE).fit(Y)
    assert not below.U_.any()


def test_offsets_that_tell_all_are_told_of():
    rng = np.random.default_rng(0)
    alone = np.where(rng.random((150, 30)) < np.resize(LIKED, 30), 1.0, -1.0)
    with pytest.warns(WeakSeparationWarning, match="only offsets predict. No higher price"):
        model = MMMF(tol=1e-3).fit(alone)
    assert not model.U_.any()


def test_without_offsets_the_warning_speaks_of_none():
    noise = np.random.default_rng(3).choice([-1.0, 1.0], (30, 12))
    with pytest.warns(
        WeakSeparationWarning, match="predicts nothing. .* nothing of each other. Pa"
    ):
        MMMF(ridge=np.inf, tol=1e-3).fit(noise)


def test_a_price_is_chosen_by_signs_held_back_and_the_program_solved_at_it():
    seen, held = planted(30, 20, 0.6)
    model = MMMF().fit(seen)
    assert model.score(held) > 0.9
    assert model.c_ == model.prices_[np.argmin(model.errors_)] > model.prices_[0]
    assert model.ridge_ == SIGN_RIDGE
    assert 0.0 <= model.bound_ <= model.value_
    assert model.gap_ <= 1e-6
    given = MMMF(model.c_, ridge=model.ridge_).fit(seen)
    assert given.value_ == model.value_
    assert not given.prices_.size
    np.testing.assert_array_equal(given.X_, model.X_)
    scores = model.U_ @ model.V_.T + model.user_offsets_[:, None] + model.item_offsets_
    np.testing.assert_allclose(model.decision_function(), scores, atol=1e-12)


def test_the_search_is_that_of_ratings_of_two_levels():
    seen, _ = planted(20, 12)
    signs = MMMF(tol=1e-3).fit(seen)
    ratings = RatingMMMF(ridge=signs.ridge_).fit(np.where(seen == 0.0, np.nan, seen))
    np.testing.assert_allclose(signs.errors_, ratings.errors_)
    times = (model.prices_ / model.prices_[0] for model in (signs, ratings))
    np.testing.assert_allclose(*times)


def test_a_number_is_the_printed_program():
    seen, _ = planted()
    model = MMMF(c=0.3).fit(seen)
    found = factorize.mmmf(seen, c=0.3)
    assert (model.c_, model.ridge_, model.value_) == (0.3, np.inf, found.value)
    np.testing.assert_allclose(model.X_, found.matrix)
    for nothing in (model.user_offsets_, model.item_offsets_, model.prices_):
        assert not nothing.any()
    size = np.linalg.svd(model.X_, compute_uv=False).sum()
    slack = np.maximum(0.0, 1.0 - seen * model.X_)[seen != 0.0]
    assert model.value_ == pytest.approx(size + 0.3 * slack.sum())


def test_the_max_norm_is_proved_too():
    seen, held = planted(20, 12, 0.6)
    model = MMMF(norm="max", tol=1e-4).fit(seen)
    assert model.gap_ <= 1e-4
    assert model.score(held) > 0.8


def test_all_signs_turned_round_turn_the_scores_round():
    seen, _ = planted(20, 12)
    models = [MMMF().fit(sign * seen) for sign in (1.0, -1.0)]
    assert models[0].c_ == pytest.approx(models[1].c_)
    assert models[0].value_ == pytest.approx(models[1].value_, rel=2e-6)


@pytest.mark.filterwarnings("ignore::sdpdr.errors.WeakSeparationWarning")
def test_rows_and_columns_without_signs_have_the_other_sides_offset():
    Y = popular()
    Y[3], Y[:, 4] = 0.0, 0.0
    with pytest.warns(UnobservedWarning, match="1 rows and 1 columns .* offsets of the other side"):
        model = MMMF().fit(Y)
    np.testing.assert_allclose(model.X_[3], model.item_offsets_)
    np.testing.assert_allclose(model.X_[:, 4], model.user_offsets_)
    assert model.X_[3, 4] == model.predict()[3, 4] == 0


def test_users_folded_in_again_are_as_they_were():
    seen, _ = planted(20, 12)
    model = MMMF(0.3, ridge=1.0).fit(seen)
    clear = np.abs(model.X_) > 0.05
    assert model.user_offsets_.any()
    assert np.mean((model.fold_in(seen) == model.predict())[clear]) > 0.98


def limits_told(monkeypatch, estimator, X):
    """The seconds of the deadlines that fits and searches are given."""
    seconds = []

    class Noted(Deadline):
        def __init__(self, limit=None, since=None):
            super().__init__(limit, since)
            seconds.append(self.seconds)

    monkeypatch.setattr("sdpdr.families.factor.margin.estimator.Deadline", Noted)
    monkeypatch.setattr("sdpdr.families.factor.margin.ratings.Deadline", Noted)
    monkeypatch.setattr("sdpdr.families.factor.margin.crossval.Deadline", Noted)
    estimator.fit(X)
    return seconds


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (MMMF(0.3, tol=1e-2), 60.0),
        (MMMF(0.3, tol=1e-2, time_limit=7.0), 7.0),
        (MMMF(0.3, tol=1e-2, time_limit=None), np.inf),
        (MMMF(0.3, tol=1e-2, solver="factors"), np.inf),
        (RatingMMMF(0.3), 60.0),
        (RatingMMMF(0.3, time_limit=None), np.inf),
        (MMMFCV(MMMF(tol=1e-2), cs=[0.3], cv=2), 60.0),
        (MMMFCV(RatingMMMF(time_limit=7.0), cs=[0.3], cv=2, time_limit=None), np.inf),
        (MMMFCV(MMMF(tol=1e-2, solver="factors"), cs=[0.3], cv=2), np.inf),
    ],
)
def test_fits_are_limited_unless_somebody_says_otherwise(monkeypatch, model, expected):
    assert limits_told(monkeypatch, model, planted(12, 8)[0])[0] == expected


def test_fits_of_a_search_have_what_is_left_of_its_time_or_their_own(monkeypatch):
    whole = MMMFCV(MMMF(tol=1e-2), cs=[0.3], cv=2, time_limit=40.0)
    told = limits_told(monkeypatch, whole, planted(12, 8)[0])
    # Beside each fit's own: a minute, as the estimator has it where nobody asks.
    first, *rest = [seconds for seconds in told if seconds != 60.0]
    assert first == 40.0
    assert max(rest[:2]) < 20.0 < rest[2] < 40.0
    own = MMMFCV(MMMF(tol=1e-2, time_limit=7.0), cs=[0.3], cv=2, time_limit=None)
    assert set(limits_told(monkeypatch, own, planted(12, 8)[0])) == {np.inf, 7.0}
    assert own.estimator_.time_limit == 7.0


def test_a_limit_that_is_no_limit_is_refused():
    for model in (MMMF(), RatingMMMF(), MMMFCV()):
        with pytest.raises(DataTypeError, match="time_limit"):
            model.set_params(time_limit="soon").fit(planted()[0])


@pytest.mark.parametrize(("cs", "c"), [([0.6, 0.3], 0.3), (None, None)])
def test_a_search_without_time_takes_the_rule(cs, c):
    seen, _ = planted(12, 8)
    with pytest.warns(UncertifiedWarning) as said:
        model = MMMFCV(RatingMMMF(), cs=cs, cv=2, time_limit=0.0).fit(seen)
    assert sum("time to try 0 prices" in str(each.message) for each in said) == 1
    assert model.c_ == (c or 2.0 * RatingMMMF().least_price(seen))
    assert model.cs_.shape == (0,)
    assert model.scores_.shape == (0, 2)
    assert np.isnan(model.best_score_)
    assert np.isfinite(model.decision_function()).all()


@pytest.mark.filterwarnings("ignore::sdpdr.errors.WeakSeparationWarning")
def test_no_time_is_told_and_the_price_is_the_rule():
    seen, _ = planted()
    with pytest.warns(UncertifiedWarning):
        model = MMMF(time_limit=0.0).fit(seen)
    assert not model.prices_.size
    assert 0.0 < model.c_ < np.inf
    assert model.bound_ <= model.value_


@pytest.mark.parametrize(
    ("model", "X", "words"),
    [
        (MMMF(), [[1, 0, 1], [0, 1, 1]], "all signs observed are 1.*if 0 and 1 are the kinds"),
        (MMMF(), pd.DataFrame([["yes", "no"]] * 2), "no matrix of signs.*replace.*ONE: 1"),
        (MMMF(), [[-1, 0], [0, -1]], "all signs observed are -1"),
        (MMMF(), np.zeros((3, 2)), "no entry of X was observed"),
        (MMMF(), np.full((3, 2), np.nan), "no entry of X was observed"),
        (MMMF(-1.0), [[1, -1]], "c=-1.0 is out of range: it must be positive, or infinite"),
        (MMMF(np.nan), [[1, -1]], "c=nan is out of range"),
        (MMMF(ridge=-1.0), [[1, -1]], "ridge=.* must be positive"),
        (MMMF(ridge=np.nan), [[1, -1]], "ridge=.* must be positive"),
        (MMMF(ridge="a"), [[1, -1]], "ridge='a' is not a number"),
        (MMMF(norm="nuclear"), [[1, -1]], "nuclear"),
        (MMMF(np.inf, ridge=5.0), [[1, -1]], "need a finite c"),
    ],
)
def test_what_is_refused(model, X, words):
    with pytest.raises(SdpdrError, match=words):
        model.fit(X)


class Unread:
    """Data that nobody may look at."""

    def __array__(self, *_, **__):
        raise AssertionError("the data were read")


@pytest.mark.parametrize(
    "model",
    [
        *(MMMF(**{name: "a"}) for name in ("c", "norm", "tol", "max_iter", "ridge", "time_limit")),
        *(RatingMMMF(**{name: "a"}) for name in ("c", "loss", "norm", "ridge", "tol", "max_iter")),
        *(MMMFCV(**{name: "a"}) for name in ("estimator", "cs", "cv", "time_limit")),
        *(learner(random_state="a") for learner in (MMMF, RatingMMMF, MMMFCV)),
        MMMF(solver="clarabell"),
        MMMF(solver=3),
        MMMF(np.inf, solver="factors"),
        MMMF(np.inf, ridge=1.0),
        MMMFCV(RatingMMMF(), cs=[0.5, np.inf]),
        MMMFCV(MMMF(), cs=[-1.0]),
        MMMFCV(RatingMMMF(norm="nuclear")),
        MMMFCV(MMMF(time_limit="soon")),
    ],
    ids=repr,
)
def test_parameters_are_refused_before_data_are_read(model):
    with pytest.raises(SdpdrError):
        model.fit(Unread())


def test_functions_refuse_parameters_before_data_are_read():
    for options in ({"c": -1.0}, {"norm": "a"}, {"tol": 0.0}, {"solver": "clarabell"}):
        with pytest.raises(SdpdrError):
            factorize.mmmf(Unread(), **options)


def test_a_generator_of_random_states_is_not_drawn_from_by_checks():
    state = np.random.RandomState(0)
    MMMF(0.3, random_state=state).require_parameters()
    assert state.randint(1000) == np.random.RandomState(0).randint(1000)


@pytest.mark.parametrize("options", [{"ridge": "a"}, {"ridge": 0.0}, {"norm": "nuclear"}])
def test_the_least_price_refuses_what_a_fit_does(options):
    with pytest.raises(SdpdrError):
        MMMF(**options).least_price([[1, -1]])


def test_one_sign_only_is_fitted_at_a_number():
    assert MMMF(1.0).fit([[1, 0, 1], [0, 1, 1]]).predict().min() == 1


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::sdpdr.errors.SdpdrWarning")
def test_offsets_that_meet_all_margins_leave_no_price_at_which_a_matrix_pays():
    ratings = RatingMMMF(loss="hinge", ridge=1e-12)
    assert ratings.least_price(TWO_LEVELS) == np.inf
    np.testing.assert_array_equal(ratings.fit(TWO_LEVELS).predict(), TWO_LEVELS)
    assert ratings.c_ == 1.0
    signs = MMMF(ridge=1e-12, max_iter=50)
    assert signs.least_price(2.0 * TWO_LEVELS - 3.0) == np.inf
    np.testing.assert_array_equal(
        signs.fit(2.0 * TWO_LEVELS - 3.0).predict(), 2.0 * TWO_LEVELS - 3.0
    )
    search = MMMFCV(ratings, cv=3).fit(TWO_LEVELS)
    np.testing.assert_array_equal(search.cs_, [1.0])


@pytest.mark.parametrize("rows", [None, [f"user {k}" for k in range(12)]])
def test_cross_validation_of_a_named_table_is_silent(rows):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(1, 6, (12, 5)).astype(float), rows, list("abcde"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakSeparationWarning)
        model = MMMFCV(RatingMMMF(loss="squared"), cs=[0.5, 2.0], cv=3).fit(X)
        assert model.fold_in(X.iloc[:2]).shape == (2, 5)
        assert len(model.transform(X.iloc[:2])) == 2
        assert model.score(X) < 0.0
    if rows is None:
        np.testing.assert_array_equal(model.estimator_.feature_names_in_, X.columns)
