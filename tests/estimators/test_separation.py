"""The classifier of isometric separation maps: what it learns, predicts, explains and refuses."""

import numpy as np
import pytest
from sklearn.base import clone

import sdpdr
from sdpdr import graphs
from sdpdr.errors import (
    DataError,
    DuplicatePointsWarning,
    InfeasibleError,
    UnknownNameError,
    WeakSeparationWarning,
)
from sdpdr.families.unfold.estimators.separation import separating_dimension
from sdpdr.families.unfold.labelled import labelled
from sdpdr.program import Factor, as_dense

X, T = sdpdr.datasets.swiss_roll(24, seed=0)
Y = (np.sin(1.7 * T) > 0).astype(int)
SEEN = np.where(np.arange(24) % 3 == 1, -1, Y)
FAST = {"n_neighbors": 4, "solver": "clarabel", "tol": 1e-5}


@pytest.fixture(scope="module")
def fitted():
    return sdpdr.ISM(**FAST, margin=1.0, anchors=[2], furthest="auto").fit(X, Y)


def test_learns_what_the_recipe_solves(fitted):
    assert fitted.solution_.value == pytest.approx(15722.8390, rel=1e-5)
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.anchors_.tolist() == [2]
    assert fitted.margin_ == 1.0
    assert fitted.embedding_.shape == (24, 2)
    np.testing.assert_allclose(fitted.scores_[:, 0], as_dense(fitted.gram_)[2])


def test_every_labelled_point_lies_on_its_side(fitted):
    np.testing.assert_array_equal(fitted.transduction_, Y)
    np.testing.assert_array_equal(fitted.predict(X), Y)
    np.testing.assert_array_equal(fitted.decision_function(X) > 0, Y == 1)
    assert fitted.score(X, Y) == 1.0


def test_the_nearest_labelled_point_along_the_map_decides():
    learned = sdpdr.ISM(**FAST).fit(X, SEEN)
    K, (i, j) = as_dense(learned.gram_), learned.graph_.edges.T
    steps = np.full((24, 24), np.inf)
    steps[i, j] = steps[j, i] = np.sqrt(np.maximum(K[i, i] + K[j, j] - 2 * K[i, j], 0.0))
    np.fill_diagonal(steps, 0.0)
    for via in range(24):
        steps = np.minimum(steps, steps[:, via, None] + steps[via])
    known = np.flatnonzero(SEEN != -1)
    np.testing.assert_array_equal(
        learned.transduction_, SEEN[known][np.argmin(steps[:, known], axis=1)]
    )


def test_a_hyperplane_decides_where_it_is_asked_to():
    learned = sdpdr.ISM(**FAST, decision="hyperplane").fit(X, SEEN)
    np.testing.assert_array_equal(learned.transduction_, (learned.scores_[:, 0] > 0).astype(int))
    np.testing.assert_array_equal(learned.predict(X), learned.transduction_)
    with pytest.raises(UnknownNameError, match="nearest"):
        sdpdr.ISM(**FAST, decision="wall").fit(X, SEEN)


def test_three_classes_are_separated_as_two_are():
    y3 = np.digitize(T, np.quantile(T, [1 / 3, 2 / 3]))
    learned = sdpdr.ISM(**FAST).fit(X, y3)
    np.testing.assert_array_equal(learned.transduction_, y3)
    assert learned.decision_function(X).shape == (24, 3)
    assert Y[learned.anchors_].size == 3


def test_new_points_are_interpolated(fitted):
    i, j = graphs.knn(X, 4).edges[np.argmin(graphs.knn(X, 4).sqdist)]
    between = (X[i] + X[j]) / 2
    score = fitted.decision_function(between[None])
    lower, upper = sorted(fitted.decision_function(X[[i, j]]))
    assert lower - 1.0 < score[0] < upper + 1.0
    assert fitted.predict(between[None]).shape == (1,)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("isometry", "largest"),
    [("inequality", "5.7925"), pytest.param("equality", "4.3435", marks=pytest.mark.nightly)],
)
def test_too_large_a_margin_is_explained(isometry, largest):
    model = sdpdr.ISM(**FAST, anchors=[2], margin=5.8, isometry=isometry)
    with pytest.raises(InfeasibleError, match=rf"largest possible, {largest}.*anchor \[2\]"):
        model.fit(X, Y)


def test_cheap_slack_is_warned_of():
    with pytest.warns(WeakSeparationWarning, match="of class 1 are on .* Raise slack"):
        sdpdr.ISM(**FAST, anchors=[2], margin=1.0, slack=0.1, furthest="auto").fit(X, Y)


def test_smallest_dimension_that_separates(fitted):
    r = fitted.separating_dimension_
    assert 1 <= r <= 24
    values, vectors = np.linalg.eigh(as_dense(fitted.gram_))
    root = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))
    side = np.where(Y == 1, 1.0, -1.0)
    assert np.all(side * (root[:, :r] @ root[2, :r]) > 0)
    assert not np.all(side * (root[:, : r - 1] @ root[2, : r - 1]) > 0)


def test_a_line_through_the_origin_separates_in_one_dimension():
    line = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    known = labelled(graphs.path([1, 2, 1]), [0, 0, 1, 1])
    assert separating_dimension(Factor(line), known) == 1
    assert separating_dimension(line @ line.T, known) == 1
    assert separating_dimension(Factor(np.abs(line)), known) == 0


def test_duplicates_share_their_place_and_must_share_their_label():
    repeated = np.vstack([X, X[:2]])
    with pytest.warns(DuplicatePointsWarning):
        learned = sdpdr.ISM(**FAST, margin=0.5).fit(repeated, np.append(Y, [-1, -1]))
    np.testing.assert_array_equal(learned.transduction_[-2:], Y[:2])
    with (
        pytest.warns(DuplicatePointsWarning),
        pytest.raises(InfeasibleError, match="the same point, but have the labels"),
    ):
        sdpdr.ISM(**FAST).fit(repeated, np.append(Y, 1 - Y[:2]))


def test_points_left_out_are_predicted_from_those_near():
    far = np.vstack([X, X[:4] + 1000.0])
    with pytest.warns(sdpdr.errors.DroppedPointsWarning):
        learned = sdpdr.ISM(n_neighbors=3, connect="largest", solver="clarabel", tol=1e-4).fit(
            far, np.append(Y, [-1] * 4)
        )
    assert np.isnan(learned.embedding_[-4:]).all()
    assert set(learned.transduction_) <= {0, 1}
    with (
        pytest.warns(sdpdr.errors.DroppedPointsWarning),
        pytest.raises(DataError, match="left out"),
    ):
        clone(learned).set_params(anchors=[27]).fit(far, np.append(Y, [1] * 4))


def test_without_y_it_says_what_to_use_instead():
    with pytest.raises(DataError, match=r"requires y.*sdpdr\.MVU"):
        sdpdr.ISM().fit(X)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (Y[:20], {}, "24 rows, y 20 labels"),
        (np.zeros(24), {}, "one class"),
        (T, {}, "continuous"),
        (Y, {"anchors": [30]}, r"samples, 0\.\.23"),
        (SEEN, {"anchors": [1]}, "anchor 1 has no label"),
        (Y, {"margin": -1.0}, "margin must be positive"),
    ],
)
def test_bad_input_is_named(y, options, message):
    with pytest.raises(ValueError, match=message):
        sdpdr.ISM(**FAST, **options).fit(X, y)
