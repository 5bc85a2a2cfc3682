"""The metric estimators: scikit-learn's checks, metric-learn's names, refusals."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from sdpdr import GhodsiMetric, XingMetric
from sdpdr.errors import (
    AddedRidgeWarning,
    DataError,
    DataTypeError,
    NonUniqueWarning,
    ShapeError,
    UncertifiedWarning,
    UnknownNameError,
    UnlikeColumnsWarning,
)

X, Y = load_iris(return_X_y=True)
LEARNERS = [XingMetric(), XingMetric(diagonal=True), GhodsiMetric(), GhodsiMetric(n_components=2)]


@pytest.mark.daily(8)
@pytest.mark.integration
# Those of GhodsiMetric, which has the same base, run at night.
@parametrize_with_checks([XingMetric(ridge=1e-6)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_components_matrix_and_distances_agree(learner):
    learned = clone(learner).fit(X, Y)
    A, L = learned.get_mahalanobis_matrix(), learned.components_
    np.testing.assert_allclose(A, L.T @ L)
    np.testing.assert_allclose(L @ L.T, np.diag(np.diag(L @ L.T)), atol=1e-12 * np.trace(A))
    # The longest first; with a cap on eigenvalues they are of one length, but for rounding.
    assert np.all(np.diff(np.diag(L @ L.T)) <= 1e-12 * np.trace(A))
    two = X[[[0, 60], [10, 149]]]
    expected = [np.sqrt((a - b) @ A @ (a - b)) for a, b in two]
    np.testing.assert_allclose(learned.pair_distance(two), expected)
    np.testing.assert_allclose(learned.pair_score(two), -np.array(expected))
    function = learned.get_metric()
    assert learned.gap_ <= 1e-6
    assert learned.value_ >= learned.bound_ - 1e-12 * abs(learned.value_)
    assert learned.get_feature_names_out().shape == (len(L),)
    with sklearn.config_context(transform_output="pandas"):
        frame = learned.transform(X)
        np.testing.assert_array_equal(learned.pair_distance(two), -learned.pair_score(two))
    np.testing.assert_allclose(frame.to_numpy(), X @ L.T)
    learned.fit(X[:100, ::-1], Y[:100])  # the function outlives the next fit
    np.testing.assert_allclose([function(a, b) for a, b in two], expected)
    assert function(*two[0], squared=True) == pytest.approx(expected[0] ** 2)


def test_the_reported_value_is_the_objective():
    learned = XingMetric(tol=1e-9).fit(X, Y)
    same = Y[:, None] == Y
    d = np.sqrt(((learned.transform(X)[:, None] - learned.transform(X)) ** 2).sum(-1))
    assert np.sum(np.triu(d**2 * same)) == pytest.approx(learned.value_, rel=1e-9)
    assert np.sum(np.triu(d * ~same)) == pytest.approx(1.0, rel=1e-12)
    assert "Cauchy" in learned.argument_


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_labels_and_pairs_of_points_give_one_metric(learner):
    points = np.unique(X[::4], axis=0)
    y = np.array([Y[np.flatnonzero((x == X).all(axis=1))[0]] for x in points])
    i, j = np.triu_indices(len(points), 1)
    pairs, sign = np.stack([points[i], points[j]], axis=1), np.where(y[i] == y[j], 1, -1)
    by_labels, by_pairs = clone(learner).fit(points, y), clone(learner).fit(pairs, sign)
    A, expected = by_pairs.get_mahalanobis_matrix(), by_labels.get_mahalanobis_matrix()
    np.testing.assert_allclose(A, expected, atol=1e-9 * np.abs(expected).max())
    assert by_pairs.n_features_in_ == 4


def test_by_default_directions_weigh_by_their_contrast():
    """Weights are linear in the contrast of their directions, and change with no common unit."""
    learned, scaled = GhodsiMetric().fit(X, Y), GhodsiMetric().fit(1e3 * X, Y)
    steps = X[:, None] - X
    kinds = np.triu(Y[:, None] == Y, 1), np.triu(Y[:, None] != Y, 1)
    C = [np.einsum("ijk,ijl,ij->kl", steps, steps, kind) / kind.sum() for kind in kinds]
    values, vectors = np.linalg.eigh(C[0] - C[1])
    weights = np.diag(vectors.T @ learned.get_mahalanobis_matrix() @ vectors)
    expected = (1.0 - (values - values.mean()) / (3.0 * values.std())) / 4.0
    np.testing.assert_allclose(weights, expected, rtol=1e-9)
    np.testing.assert_allclose(scaled.components_, learned.components_, rtol=1e-8, atol=1e-12)
    with pytest.warns(UnlikeColumnsWarning):
        GhodsiMetric().fit(X * [1.0, 1.0, 1.0, 1e4], Y)


# -- ridges, warnings, refusals ---------------------------------------------------------------


def test_more_features_than_points_need_a_ridge():
    points, y = X[::5], Y[::5]
    wide = np.exp(-0.3 * ((points[:, None] - points) ** 2).sum(-1))
    with pytest.raises(DataError, match="ridge"):
        XingMetric(ridge=0.0).fit(wide, y)
    with pytest.warns(AddedRidgeWarning, match="no similar pair differs along") as caught:
        added = XingMetric().fit(wide, y)
    assert len(caught) == 1
    assert added.ridge_ == 1e-3
    same = XingMetric(ridge=1e-3).fit(wide, y)  # no warning
    np.testing.assert_array_equal(added.components_, same.components_)
    assert XingMetric().fit(X, Y).ridge_ == 0.0


def test_wide_tables_get_a_ridge_unless_the_metric_is_diagonal():
    y = np.repeat([0, 1], 12)
    wide = np.random.default_rng(0).standard_normal((24, 60)) + 3.0 * y[:, None]
    with pytest.warns(AddedRidgeWarning):
        assert XingMetric(tol=1e-3).fit(wide, y).ridge_ == 1e-3
    assert XingMetric(tol=1e-3, diagonal=True).fit(wide, y).ridge_ == 0.0
    hot = np.column_stack([wide[:, :3], y == 0])
    with pytest.warns(AddedRidgeWarning):
        assert XingMetric(tol=1e-3, diagonal=True).fit(hot, y).gap_ <= 1e-3


def test_limits_and_ties_are_warned_of():
    with pytest.warns(UncertifiedWarning, match="gap"):
        hasty = XingMetric(max_iter=0).fit(X, Y)
    assert hasty.gap_ > 1e-6
    square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    with pytest.warns(NonUniqueWarning, match="tied"):
        GhodsiMetric(1).fit(square, [0, 0, 1, 1])


def test_bad_hyperparameters_and_data_are_named():
    for learner, words in (
        (XingMetric(ridge=-1.0), "ridge"),
        (XingMetric(ridge="some"), "ridge"),
        (XingMetric(ridge=np.array([0.1, 0.2])), "ridge"),
        (XingMetric(diagonal="yes"), "diagonal"),
        (XingMetric(n_pairs=0), "n_pairs"),
        (XingMetric(tol=0.0), "tol"),
        (XingMetric(max_iter=-1), "max_iter"),
        (GhodsiMetric(n_components=5), "number of features, 4"),
        (GhodsiMetric(n_components=0), "n_components"),
        (GhodsiMetric(ridge="auto"), "ridge"),
        (GhodsiMetric(normalize="yes"), "normalize"),
    ):
        with pytest.raises((DataError, DataTypeError, UnknownNameError), match=words):
            learner.fit(X, Y)
    pairs = X[[[0, 1], [2, 60]]]
    with pytest.raises(DataError, match="requires y"):
        XingMetric().fit(X)
    with pytest.raises(DataError, match="one class only"):
        XingMetric().fit(X[:50], Y[:50])
    with pytest.raises(DataError, match="also holds 0"):
        XingMetric().fit(pairs, [1, 0])
    with pytest.raises(ShapeError, match="n_pairs, 2, n_features"):
        GhodsiMetric().fit(X, Y).pair_distance(X)
