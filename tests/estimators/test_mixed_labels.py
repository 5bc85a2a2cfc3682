"""The classifier of mixed label propagation: modes, affinities, new points, what it refuses."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_classification, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.semi_supervised import LabelPropagation
from sklearn.utils.estimator_checks import parametrize_with_checks

import sdpdr
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    IgnoredLabelsWarning,
    ShapeError,
    UnknownNameError,
    UnobservedWarning,
)
from sdpdr.propagation import PropagationStatus, harmonic, labelled_graph, near_and_far

MODES = ("eigen", "alternating", "fixed_lam", "harmonic", "mixed_graph")
pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.IgnoredLabelsWarning")

X, Y = make_moons(240, noise=0.07, random_state=1)
KNOWN = np.where(np.arange(240) < 16, Y, -1)


# As of scikit-learn's own semi-supervised classifiers, which it does not check there.
EXPECTED = {"check_classifiers_classes": "-1 is a class in that check, and unlabelled here"}


@parametrize_with_checks(
    [sdpdr.MixedLabelPropagation(priors="labels")], expected_failed_checks=lambda _: EXPECTED
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.nightly
@parametrize_with_checks(
    [sdpdr.MixedLabelPropagation(mode) for mode in MODES],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_checks_of_every_mode(estimator, check):
    check(estimator)


@pytest.mark.parametrize("mode", MODES)
def test_two_moons_are_told_apart(mode):
    learned = sdpdr.MixedLabelPropagation(mode, smoothness=1e-3).fit(X, KNOWN)
    # A mixed graph wants opposite values of the furthest points, which are often of one class.
    assert np.mean(learned.transduction_ == Y) > (0.8 if mode == "mixed_graph" else 0.97)
    assert learned.label_distributions_.shape == (240, 2)
    np.testing.assert_allclose(learned.label_distributions_.sum(axis=1), 1.0)
    assert len(learned.propagations_) == 1
    if mode != "mixed_graph":
        np.testing.assert_array_equal(learned.transduction_[:16], Y[:16])


def test_the_least_ratio_is_the_proved_optimum():
    learned = sdpdr.MixedLabelPropagation("eigen").fit(X, KNOWN)
    (found,) = learned.propagations_
    assert found.status is PropagationStatus.OPTIMAL
    np.testing.assert_allclose(learned.scores_, found.y / np.abs(found.y).max())
    assert not hasattr(learned, "warned_")


def test_labels_may_be_words_and_missing_ones_none():
    words = np.array(["down", "up"], dtype=object)[Y]
    words[16:] = None
    learned = sdpdr.MixedLabelPropagation("fixed_lam").fit(X, words)
    numbers = sdpdr.MixedLabelPropagation("fixed_lam").fit(X, KNOWN)
    assert learned.classes_.tolist() == ["down", "up"]
    np.testing.assert_array_equal(learned.transduction_ == "up", numbers.transduction_ == 1)


def test_several_classes_one_against_the_rest():
    B, y = make_blobs(150, centers=3, cluster_std=0.8, random_state=4)
    known = np.where(np.arange(150) < 15, y, -1)
    for mode in MODES[:4]:
        learned = sdpdr.MixedLabelPropagation(mode, n_neighbors=12, unreached="mean")
        learned.fit(B, known)
        assert learned.scores_.shape == (150, 3)
        assert np.abs(learned.scores_).max() == 1.0
        assert np.mean(learned.transduction_ == y) > 0.9
        assert np.mean(learned.predict(B) == y) > 0.9


def test_values_of_classes_are_compared_on_one_scale():
    """Digits: without it the class with the widest values takes all."""
    D, y = load_digits(return_X_y=True)
    known = np.full(len(y), -1)
    chosen = np.random.default_rng(0).permutation(len(y))[:60]
    known[chosen] = y[chosen]
    unseen = known == -1
    learned = sdpdr.MixedLabelPropagation("eigen", unreached="mean").fit(D, known)
    least_ratio = np.mean(learned.transduction_[unseen] == y[unseen])
    default = sdpdr.MixedLabelPropagation(unreached="mean").fit(D, known).transduction_
    assert np.mean(default[unseen] == y[unseen]) > least_ratio
    assert np.mean(learned.transduction_[unseen] == y[unseen]) > 0.75
    values = np.column_stack([found.y for found in learned.propagations_])
    if values.shape[0] == len(y):
        assert np.mean(np.argmax(values, axis=1)[unseen] == y[unseen]) < 0.5


def test_new_points_are_harmonic_extensions():
    learned = sdpdr.MixedLabelPropagation("fixed_lam").fit(X, KNOWN)
    new, truth = make_moons(100, noise=0.07, random_state=5)
    scores = learned.decision_function(new)
    distance = np.linalg.norm(new[:, None] - X, axis=2)
    near = np.argsort(distance, axis=1)[:, :7]
    np.testing.assert_allclose(scores, learned.scores_[near].mean(axis=1), atol=1e-12)
    assert np.mean(learned.predict(new) == truth) > 0.95
    np.testing.assert_array_equal(learned.predict(new) == 1, learned.predict_proba(new)[:, 1] > 0.5)
    np.testing.assert_allclose(learned.decision_function(X), learned.scores_, atol=1e-12)


def test_precomputed_similarities_dense_sparse_and_callable():
    S = near_and_far(X, 7)
    points = sdpdr.MixedLabelPropagation().fit(X, KNOWN)
    for given in (S, S.toarray(), sp.csr_matrix(S)):
        learned = sdpdr.MixedLabelPropagation(affinity="precomputed").fit(given, KNOWN)
        np.testing.assert_allclose(learned.scores_, points.scores_, atol=1e-6)
        assert learned.predict(given[:5]).shape == (5,)

    def kernel(A, B):
        return rbf_kernel(A, B, gamma=20.0) - 0.1

    learned = sdpdr.MixedLabelPropagation("fixed_lam", affinity=kernel).fit(X, KNOWN)
    assert np.mean(learned.transduction_ == Y) > 0.95
    assert np.mean(learned.predict(X[::3] + 1e-3) == Y[::3]) > 0.95


def test_harmonic_mode_is_scikit_learns_limit():
    """Clamped propagation on the same symmetric graph converges to the harmonic labels."""
    S = rbf_kernel(X, gamma=30.0)
    ours = sdpdr.MixedLabelPropagation("harmonic", affinity="precomputed").fit(S, KNOWN)
    theirs = LabelPropagation(kernel=lambda A, B: rbf_kernel(A, B, gamma=30.0), max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.set_params(tol=1e-10).fit(X, KNOWN)
    np.testing.assert_allclose(ours.label_distributions_, theirs.label_distributions_, atol=1e-4)


def test_correlations_of_rows_with_unknown_entries():
    rng = np.random.default_rng(0)
    taste = rng.standard_normal((2, 20))
    y = np.repeat([0, 1], 15)
    R = taste[y] + 0.4 * rng.standard_normal((30, 20))
    R[rng.random(R.shape) < 0.3] = np.nan
    known = np.where(np.arange(30) % 5 == 0, y, -1)
    learned = sdpdr.MixedLabelPropagation("fixed_lam", affinity="correlation").fit(R, known)
    np.testing.assert_array_equal(learned.transduction_, y)
    np.testing.assert_array_equal(learned.predict(R[:4]), y[:4])


def test_points_that_nothing_is_similar_to_get_the_mean():
    S = near_and_far(X, 7).toarray()
    learned = sdpdr.MixedLabelPropagation("harmonic", affinity="precomputed").fit(S, KNOWN)
    lonely = learned.decision_function(np.zeros((1, 240)))
    assert lonely[0] == pytest.approx(learned.scores_.mean())


def test_where_every_label_is_given_nothing_is_solved():
    learned = sdpdr.MixedLabelPropagation().fit(X, Y)
    np.testing.assert_array_equal(learned.transduction_, Y)
    assert learned.propagations_ == []
    assert learned.score(X, Y) == 1.0


def test_points_that_labels_do_not_reach():
    far = np.vstack([X, X[:20] + 100.0])
    known = np.append(KNOWN, np.full(20, -1))
    with pytest.raises(DisconnectedGraphError, match="nodes 240, 241, .* joined to no labelled"):
        sdpdr.MixedLabelPropagation(unreached="error").fit(far, known)
    with pytest.warns(UnobservedWarning, match="join 20 of 260 nodes to no label: 240, 241"):
        learned = sdpdr.MixedLabelPropagation().fit(far, known)
    assert len(set(learned.scores_[240:])) == 1


@pytest.mark.filterwarnings("error::sdpdr.errors.IgnoredLabelsWarning")
def test_ignored_labels_are_warned_of():
    S, y = sdpdr.datasets.signed_graph(seed=2)
    known = np.where(np.isnan(y), -1, y > 0)
    with pytest.warns(IgnoredLabelsWarning, match="hardly decide"):
        sdpdr.MixedLabelPropagation("eigen", affinity="precomputed").fit(S, known)


@pytest.mark.parametrize(
    ("y", "options", "error", "message"),
    [
        (Y[:20], {}, DataError, "X has 240 rows, y 20 labels"),
        (np.zeros(240), {}, DataError, "labels must take two values .*one class, 0"),
        (np.full(240, -1), {}, DataError, "no label"),
        (X[:, 0], {}, ValueError, "continuous"),
        (KNOWN, {"mode": "eigne"}, UnknownNameError, "eigen"),
        (KNOWN, {"affinity": "nearest"}, UnknownNameError, "affinity"),
        (KNOWN, {"affinity": "precomputed"}, ValueError, "square matrix of similarities"),
        (KNOWN, {"mode": "fixed_lam", "lam": 1e6}, DataError, "too large"),
        (KNOWN, {"n_neighbors": 0}, DataError, "n_neighbors"),
        (KNOWN, {"unreached": "drop"}, UnknownNameError, "unreached"),
        (KNOWN, {"priors": "label"}, UnknownNameError, "labels"),
        (KNOWN, {"priors": (0.2, 0.3, 0.5)}, ShapeError, "each of the 2 classes"),
        (KNOWN, {"priors": (0.5, 0.9)}, DataError, "sum is 1.4"),
        (KNOWN, {"priors": (1.0, 0.0)}, DataError, "positive"),
    ],
)
def test_bad_input_is_named(y, options, error, message):
    with pytest.raises(error, match=message):
        sdpdr.MixedLabelPropagation(**options).fit(X, y)


def test_without_y_it_says_what_to_pass():
    with pytest.raises(DataError, match="requires y"):
        sdpdr.MixedLabelPropagation().fit(X)


def test_it_can_be_cloned_and_its_room_is_public():
    learned = clone(sdpdr.MixedLabelPropagation("harmonic", n_neighbors=5)).fit(X, KNOWN)
    labels = np.where(KNOWN == -1, np.nan, 2.0 * KNOWN - 1.0)
    graph = labelled_graph(sdpdr.propagation.near_and_far(X, 5), labels)
    np.testing.assert_allclose(learned.scores_, harmonic(graph).y)


@pytest.mark.parametrize("away", [10.0, 40.0, 1e4])
def test_a_point_far_from_all_follows_its_nearest_ones_by_heat(away):
    """Weights of its edges are below rounding, or zero."""
    X, y = make_blobs(100, 3, centers=2, random_state=0)
    first = np.argsort(y, kind="stable")
    known = np.full(100, -1)
    known[np.r_[first[:5], first[-5:]]] = y[np.r_[first[:5], first[-5:]]]
    side = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    X[first[60]] += away * side
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = sdpdr.MixedLabelPropagation(weights="heat").fit(X, known)
    assert learned.transduction_[first[60]] == 1


def test_a_width_in_another_unit_is_named():
    X, y = make_blobs(60, 2, centers=2, random_state=0)
    known = np.where(np.arange(60) < 12, y, -1)
    for bandwidth in (1e-1, 1e-5):
        learner = sdpdr.MixedLabelPropagation(weights="heat", bandwidth=bandwidth)
        with pytest.raises(DataError, match="bandwidth is too short: half of the edges"):
            learner.fit(100.0 * X, known)
    two, ten = (
        sdpdr.MixedLabelPropagation(weights="heat").fit(unit * X, known).scores_ for unit in (2, 10)
    )
    np.testing.assert_allclose(two, ten, rtol=1e-9)


def overlapping():
    """Of a hundred columns ten tell: harmonic values hardly differ, and one class takes all."""
    points, truth = make_classification(300, 100, n_informative=10, random_state=3)
    order = np.random.default_rng(3).permutation(300)
    given = np.full(300, -1)
    for c in (0, 1):
        known = order[truth[order] == c][:5]
        given[known] = c
    return points, truth, given


@pytest.mark.parametrize("priors", ["labels", (0.5, 0.5), (0.2, 0.8)])
def test_masses_of_classes_are_the_priors(priors):
    points, _, given = overlapping()
    learned = sdpdr.MixedLabelPropagation(priors=priors).fit(points, given)
    plain = sdpdr.MixedLabelPropagation().fit(points, given)
    shares = (0.5, 0.5) if priors == "labels" else priors
    bare = given == -1
    # Before each row is divided by its sum, the classes have these sums.
    scaled = plain.label_distributions_[bare] * shares
    scaled /= plain.label_distributions_[bare].sum(axis=0)
    assert scaled.sum(axis=0) == pytest.approx(shares)
    scaled /= scaled.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learned.label_distributions_[bare], scaled)
    assert np.array_equal(learned.scores_, plain.scores_)
    assert np.array_equal(learned.transduction_[~bare], given[~bare])
    # One rule for points of the fit and others.
    np.testing.assert_allclose(learned.predict_proba(points), learned.label_distributions_)
    np.testing.assert_allclose(
        learned.decision_function(points), 2.0 * learned.predict_proba(points)[:, 1] - 1.0
    )


def test_priors_keep_one_class_from_taking_all():
    points, truth, given = overlapping()
    bare = given == -1
    plain, even = (
        sdpdr.MixedLabelPropagation(priors=priors).fit(points, given).transduction_[bare]
        for priors in (None, (0.5, 0.5))
    )
    assert min(np.mean(plain == 0), np.mean(plain == 1)) < 0.1
    assert min(np.mean(even == 0), np.mean(even == 1)) > 0.3
    assert np.mean(even == truth[bare]) > np.mean(plain == truth[bare]) + 0.1


def test_priors_of_several_classes_and_of_no_point_without_a_label():
    points, truth = make_blobs([60, 30, 10], 2, cluster_std=0.5, random_state=0)
    given = np.where(np.arange(100) % 4 == 0, truth, -1)
    learned = sdpdr.MixedLabelPropagation(priors="labels").fit(points, given)
    assert learned.label_distributions_.sum(axis=1) == pytest.approx(np.ones(100))
    assert learned.decision_function(points).shape == (100, 3)
    every = sdpdr.MixedLabelPropagation(priors="labels").fit(points, truth)
    assert np.array_equal(every.transduction_, truth)
