"""Plain distances mixed into a metric, and how much of them."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_moons

from sdpdr import GhodsiMetric, XingMetric
from sdpdr.errors import (
    AddedRidgeWarning,
    DataError,
    InfeasibleError,
    UnknownNameError,
    UnlikeColumnsWarning,
)
from sdpdr.methods import contrast
from sdpdr.metric import choose_share, closed_form, mixed


def test_a_share_of_the_variance_is_plain(iris):
    X, y = iris
    optimum = XingMetric(plain=0.0).fit(X, y).get_mahalanobis_matrix()
    C = np.cov(X.T, bias=True)
    for share in (0.25, 1.0):
        A = XingMetric(plain=share).fit(X, y).get_mahalanobis_matrix()
        assert np.sum(A * C) == pytest.approx(np.sum(optimum * C))
        rest = (1.0 - share) * optimum
        np.testing.assert_allclose(A - rest, (A - rest)[0, 0] * np.eye(4), atol=1e-12 * np.trace(A))
        assert np.sum((A - rest) * C) == pytest.approx(share * np.sum(A * C))


def test_the_share_follows_what_labels_are_of():
    """Much of it where two classes curl round each other, not all where one column is noise."""
    rng = np.random.default_rng(0)
    X, moon = make_moons(150, noise=0.1, random_state=0)
    assert XingMetric().fit(X, moon).plain_ >= 0.5
    far = np.column_stack([moon + 0.1 * X[:, 0], 50.0 * rng.standard_normal(150)])
    assert XingMetric().fit(far, moon).plain_ < 1.0


@pytest.mark.parametrize("learner", [XingMetric, GhodsiMetric])
def test_pairs_have_no_plain_distances_unless_asked(learner, pairs):
    learned = learner().fit(*pairs)
    assert learned.plain_ == 0.0
    assert learned.tried_ == ()
    assert learner(plain=0.5).fit(*pairs).plain_ == 0.5


@pytest.mark.parametrize("learner", [XingMetric, GhodsiMetric])
def test_the_share_taken_tells_no_fewer_than_any_that_was_tried(learner, iris):
    learned = learner().fit(*iris)
    tried = dict(learned.tried_)
    assert {0.0, 1.0} <= set(tried)
    assert learned.plain_ == max(s for s, told in tried.items() if told == max(tried.values()))


def test_ghodsi_leaves_an_exclusive_or_where_it_is():
    """No direction tells it: the contrast is that of noise."""
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, (200, 2))
    X = np.hstack([3.0 * side, np.zeros((200, 8))]) + 0.7 * rng.standard_normal((200, 10))
    learned = GhodsiMetric().fit(X, side[:, 0] ^ side[:, 1])
    assert learned.plain_ >= 0.5
    A = learned.get_mahalanobis_matrix()
    assert np.linalg.norm(A - np.trace(A) / 10 * np.eye(10)) < 0.2 * np.linalg.norm(A)


@pytest.mark.parametrize(
    "asked",
    [{"n_components": 1}, {"ridge": 2.0}, {"entropy": 1.0}, {"scale": "frobenius"}],
    ids=str,
)
def test_a_program_that_is_asked_for_is_not_mixed(asked, iris):
    learned, alone = (GhodsiMetric(**asked, **p).fit(*iris) for p in ({}, {"plain": 0.0}))
    assert learned.plain_ == 0.0
    assert learned.tried_ == ()
    np.testing.assert_array_equal(learned.components_, alone.components_)
    assert GhodsiMetric(**asked, plain=0.5).fit(*iris).plain_ == 0.5


@pytest.mark.parametrize("learner", [XingMetric, GhodsiMetric])
@pytest.mark.parametrize("plain", [-0.1, 1.5, "much"])
def test_a_share_that_is_none_is_named(learner, plain, iris):
    with pytest.raises((DataError, UnknownNameError), match=str(plain)):
        learner(plain=plain).fit(*iris)


def test_points_of_which_too_few_share_a_class_are_left_where_they_are():
    X = np.random.default_rng(0).standard_normal((4, 2))
    learned = XingMetric(ridge=1e-3).fit(X, [0, 0, 1, 2])
    assert learned.plain_ == 1.0


def test_a_share_is_not_chosen_where_no_class_has_two_points():
    with pytest.raises(DataError, match="no class has two points"):
        choose_share(lambda pairs: None, np.eye(4), np.arange(4))


LEARNERS = [
    XingMetric(),
    pytest.param(XingMetric(diagonal=True), marks=pytest.mark.nightly),
    pytest.param(XingMetric(kernel="rbf"), marks=pytest.mark.nightly),
    pytest.param(GhodsiMetric(), marks=pytest.mark.nightly),
    pytest.param(GhodsiMetric(kernel="linear"), marks=pytest.mark.nightly),
]


@pytest.mark.filterwarnings("ignore::sdpdr.errors.SdpdrWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_few_points_are_fitted_or_refused_in_words(learner):
    """Where one point is left out, all that are kept may be equal, or one."""
    learned = clone(learner).fit([[0.0, 1.0], [1.0, 3.0], [3.0, 2.0]], [0, 0, 1])
    assert np.all(np.isfinite(learned.components_))
    rng, fitted = np.random.default_rng(0), 0
    for _ in range(20):
        n = int(rng.integers(3, 7))
        X, y = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 2, n)
        try:
            learned = clone(learner).fit(X, y)
        except (DataError, InfeasibleError):
            continue
        assert np.all(np.isfinite(learned.components_))
        fitted += 1
    assert fitted > 5


def test_equal_points_have_no_variance_to_share():
    np.testing.assert_array_equal(mixed(np.eye(2), np.ones((3, 2)), 0.5), np.eye(2))


def test_columns_that_a_sum_repeats_are_told_with_as_many_directions_as_there_are():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 2
    far = np.column_stack([X, y])
    with pytest.warns(AddedRidgeWarning, match="along 1 direction in which 900 dissimilar"):
        XingMetric(plain=0.0).fit(far, y)


@pytest.mark.parametrize("make", [GhodsiMetric, XingMetric])
def test_plain_distances_of_columns_with_units_of_their_own_are_warned_of(make):
    X, y = load_wine(return_X_y=True, as_frame=True)
    with pytest.warns(UnlikeColumnsWarning, match="proline"):
        make().fit(X[::6], y[::6])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnlikeColumnsWarning)
        make(plain=0.0).fit(X[::6], y[::6])
        make().fit(X[::6].to_numpy(), y[::6])


@pytest.mark.parametrize("k", [1, 3, 5, 8])
def test_components_with_a_share_are_those_of_the_sum(k):
    rng = np.random.default_rng(k)
    components, points = rng.standard_normal((k, 5)), rng.standard_normal((4, 5))
    A, C = components.T @ components, np.cov(points.T, bias=True)
    for share in (0.2, 1.0):
        L = mixed(components, points, share)
        plain = share * np.sum(A * C) / np.trace(C) * np.eye(5)
        np.testing.assert_allclose(L.T @ L, (1.0 - share) * A + plain, atol=1e-12 * np.trace(A))
        np.testing.assert_allclose(L @ L.T, np.diag(np.sum(L**2, axis=1)), atol=1e-12 * np.trace(A))


def _noisy_classes(n, d):
    rng = np.random.default_rng(3)
    y = np.arange(n) % 3
    return rng.standard_normal((n, d)) + 0.8 * y[:, None] * (np.arange(d) < 2), y


def test_more_columns_than_rows_say_no_more_than_their_span():
    """Points of a plane turned into a space of many columns are told apart as in the plane."""
    X, y = _noisy_classes(40, 4)
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((90, 4)))[0]

    def learn(pairs):
        return closed_form(contrast(pairs))

    few, many = choose_share(learn, X, y), choose_share(learn, X @ turned.T + 5.0, y)
    assert few == many
    assert len({told for _, told in few.tried}) > 1


@pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedRidgeWarning")
@pytest.mark.parametrize("estimator", [GhodsiMetric(), XingMetric()])
def test_metrics_of_more_columns_than_rows_are_those_of_the_whole_space(monkeypatch, estimator):
    X, y = _noisy_classes(24, 40)
    within = clone(estimator).fit(X, y)
    monkeypatch.setattr("sdpdr.families.metric.plain._span", lambda points: np.eye(40))
    whole = clone(estimator).fit(X, y)
    assert within.tried_ == whole.tried_
    np.testing.assert_array_equal(within.components_, whole.components_)
