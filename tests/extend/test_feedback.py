"""Relevance feedback: what is shown, what is learned, and a user who knows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import sdpdr
from sdpdr.errors import (
    AddedEdgesWarning,
    DataError,
    NotAcceptedError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.extend import RelevanceFeedback

DIGITS, DIGIT = load_digits(return_X_y=True)
GALLERY, KIND = DIGITS[100:700], DIGIT[100:700]


def rankings_of(search, query, user):
    """The ranking before any label, and after each round of a user."""
    rankings = [search.ask(query).ranking_]
    while not search.is_over:
        shown = search.shown()
        rankings.append(search.label(shown, user(shown)).ranking_)
    return rankings


@pytest.fixture
def begun():
    return RelevanceFeedback(n_pool=100).fit(GALLERY).ask(DIGITS[9])


def test_before_any_label_distances_rank(begun):
    away = np.linalg.norm(GALLERY - DIGITS[9], axis=1)
    assert np.all(np.diff(away[begun.ranking_]) >= 0.0)
    np.testing.assert_array_equal(begun.shown(), begun.ranking_[:10])
    assert (begun.map_, begun.rounds_, begun.is_over) == (None, 0, False)


def test_nothing_is_shown_twice_and_rankings_hold_all(begun):
    seen = []
    while not begun.is_over:
        shown = begun.shown()
        assert not set(shown) & set(seen)
        seen.extend(shown)
        begun.label(shown, KIND[shown] == 0)
        np.testing.assert_array_equal(np.sort(begun.ranking_), np.arange(600))
    assert begun.rounds_ == 4
    assert len(seen) == 40
    np.testing.assert_array_equal(np.flatnonzero(begun.labels_ >= 0), np.sort(seen))
    assert len(begun.shown()) == 10


@pytest.mark.parametrize("by", ["response", "distance"])
def test_the_ranking_is_that_of_spectral_regression(by):
    search = RelevanceFeedback(n_pool=80, by=by).fit(GALLERY).ask(DIGITS[9])
    before, shown = search.ranking_, search.shown()
    search.label(shown, np.arange(10) % 3 > 0)
    pool = np.sort(before[:80])
    known = np.append(search.labels_[pool], 1)
    objects = np.vstack([GALLERY[pool], DIGITS[9]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AddedEdgesWarning)
        learned = sdpdr.SpectralRegression(responses="semisupervised", connect="mst")
        learned.fit(objects, known)
    places = learned.transform(objects)[:, 0]
    assert learned.components_.shape[0] == 1
    if by == "distance":
        order = np.argsort(np.abs(places[:-1] - places[-1]), kind="stable")
    else:
        up = places[known == 1].mean() > places[known == 0].mean()
        order = np.argsort(-places[:-1] if up else places[:-1], kind="stable")
    np.testing.assert_array_equal(search.ranking_[:80], pool[order])
    np.testing.assert_array_equal(search.ranking_[80:], before[80:])


def test_a_search_ends_when_the_user_is_satisfied_or_everything_is_known():
    middles = np.repeat([[0.0, 0.0], [30.0, 0.0]], 20, axis=0)
    X = middles + np.random.default_rng(0).standard_normal((40, 2))
    search = RelevanceFeedback(5).fit(X)
    rankings = rankings_of(search, [0.0, 0.0], lambda shown: shown < 20)
    assert search.is_over
    assert (search.rounds_, len(rankings), search.map_) == (1, 2, None)
    np.testing.assert_array_equal(*rankings)
    assert np.all(rankings[-1][:20] < 20)
    search = RelevanceFeedback(7, max_rounds=10).fit(X[14:26])
    rankings_of(search, X[20], lambda shown: np.arange(len(shown)) % 2 == 0)
    assert search.is_over
    assert search.rounds_ == 2
    assert search.shown().size == 0


def test_a_column_that_parts_two_clouds_is_found():
    """Distances see four columns that tell nothing as much as the one that does."""
    rng = np.random.default_rng(1)
    relevant = np.arange(300) < 150
    X = rng.standard_normal((300, 5)) * [0.3, 1.5, 1.5, 1.5, 1.5]
    X[:, 0] += np.where(relevant, 1.0, -1.0)
    search = RelevanceFeedback(20, n_pool=300).fit(X)
    rankings = rankings_of(search, [1.0, 0.0, 0.0, 0.0, 0.0], lambda shown: relevant[shown])
    precisions = [relevant[ranking[:150]].mean() for ranking in rankings]
    assert precisions[0] < 0.8
    assert precisions[-1] > 0.85
    coef = np.abs(search.map_.components_[0])
    assert coef[0] > 2.0 * coef[1:].max()


def test_a_second_label_takes_the_place_of_the_first_and_asking_forgets(begun):
    shown = begun.shown()
    begun.label(shown, np.zeros(10)).label(shown[:1], [True])
    assert begun.labels_[shown[0]] == 1
    assert begun.rounds_ == 2
    begun.ask(DIGITS[9])
    assert (begun.labels_ == -1).all()


@pytest.mark.parametrize("options", [{}, {"metric": "cosine"}])
def test_sparse_objects_are_searched_as_dense_ones(options):
    def user(shown):
        return KIND[shown] == 3

    dense = RelevanceFeedback(**options).fit(GALLERY)
    sparse = RelevanceFeedback(**options).fit(sp.csr_array(GALLERY))
    for query in (DIGITS[3], sp.csr_array(DIGITS[3:4])):
        for one, other in zip(
            rankings_of(dense, DIGITS[3], user), rankings_of(sparse, query, user), strict=True
        ):
            assert np.sum(KIND[one[:60]] == 3) == np.sum(KIND[other[:60]] == 3)
            assert np.isin(one[:50], other[:60]).all()
    with pytest.raises(ShapeError, match="2 rows"):
        sparse.ask(sp.csr_array(DIGITS[:2]))


def test_angles_rank_first_by_cosine():
    search = RelevanceFeedback(metric="cosine").fit(GALLERY * 7.0).ask(DIGITS[9])
    lengths = np.linalg.norm(GALLERY, axis=1) * np.linalg.norm(DIGITS[9])
    assert np.all(np.diff((GALLERY @ DIGITS[9] / lengths)[search.ranking_]) <= 1e-12)


def test_what_cannot_be_is_refused(begun):
    with pytest.raises(ShapeError, match="2 rows"):
        begun.ask(DIGITS[:2])
    with pytest.raises(DataError, match="expecting 64 features"):
        begun.ask(DIGITS[0, :9])
    with pytest.raises(DataError, match="NaN"):
        begun.ask(np.full(64, np.nan))
    with pytest.raises(DataError, match="numbers of objects"):
        begun.label([600], [True])
    with pytest.raises(DataError, match="truth values"):
        begun.label([1, 2], [True])
    with pytest.raises(DataError, match="truth values"):
        begun.label([1], [0.5])
    with pytest.raises(NotAcceptedError, match="Call ask"):
        RelevanceFeedback().fit(GALLERY).shown()
    with pytest.raises(NotFittedError):
        RelevanceFeedback().ask(DIGITS[0])
    for options, error in (
        ({"n_shown": 0}, DataError),
        ({"n_pool": 0}, DataError),
        ({"by": "responses"}, UnknownNameError),
        ({"metric": "cosines"}, UnknownNameError),
    ):
        with pytest.raises(error):
            RelevanceFeedback(**options).fit(GALLERY)
