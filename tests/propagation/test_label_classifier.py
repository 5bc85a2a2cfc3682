"""The classifier of mixed label propagation: modes, affinities, new points, refusals.

Its checks by scikit-learn run at night (tests/estimators/test_contract.py).
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.semi_supervised import LabelPropagation

import sdpdr
from sdpdr.errors import (
    DataError,
    IgnoredLabelsWarning,
    ShapeError,
    UnknownNameError,
    UnobservedWarning,
)
from sdpdr.propagation import harmonic, labelled_graph, near_and_far

pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.IgnoredLabelsWarning")

X, Y = make_moons(120, noise=0.07, random_state=1)
KNOWN = np.where(np.arange(120) < 16, Y, -1)


@pytest.mark.daily(2)
@pytest.mark.parametrize("mode", ["alternating", "fixed_lam", "harmonic", "mixed_graph"])
def test_two_moons_are_told_apart(mode):
    learned = sdpdr.MixedLabelPropagation(mode, smoothness=1e-3).fit(X, KNOWN)
    # A mixed graph wants opposite values of the furthest points, which are often of one class.
    assert np.mean(learned.transduction_ == Y) > (0.8 if mode == "mixed_graph" else 0.97)
    np.testing.assert_allclose(learned.label_distributions_.sum(axis=1), 1.0)
    (found,) = learned.propagations_
    np.testing.assert_allclose(learned.scores_, found.y / np.abs(found.y).max())
    if mode == "harmonic":  # that of the graph of neighbours
        labels = np.where(KNOWN == -1, np.nan, 2.0 * KNOWN - 1.0)
        np.testing.assert_allclose(found.y, harmonic(labelled_graph(near_and_far(X), labels)).y)
    if mode != "mixed_graph":
        np.testing.assert_array_equal(learned.transduction_[:16], Y[:16])


def test_several_classes_one_against_the_rest():
    B, y = make_blobs(120, centers=3, cluster_std=0.8, random_state=4)
    known = np.where(np.arange(120) < 15, y, -1)
    for mode in ("eigen", "harmonic"):
        learned = sdpdr.MixedLabelPropagation(mode, n_neighbors=12)
        learned.fit(B, known)
        assert learned.scores_.shape == (120, 3)
        assert np.abs(learned.scores_).max(axis=0).tolist() == [1.0, 1.0, 1.0]
        assert np.mean(learned.transduction_ == y) > 0.9
        assert np.mean(learned.predict(B) == y) > 0.9


@pytest.mark.parametrize(("metric", "sparse"), [("euclidean", False), ("cosine", True)])
def test_new_points_are_harmonic_extensions(metric, sparse):
    learned = sdpdr.MixedLabelPropagation("fixed_lam", metric=metric)
    learned.fit(sp.csr_array(X) if sparse else X, KNOWN)
    new, _ = make_moons(40, noise=0.07, random_state=5)
    rows, points = new, X
    if metric == "cosine":
        rows, points = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (new, X))
    near = np.argsort(np.linalg.norm(rows[:, None] - points, axis=2), axis=1)[:, :7]
    scores = learned.decision_function(sp.csr_array(new) if sparse else new)
    np.testing.assert_allclose(scores, learned.scores_[near].mean(axis=1), atol=1e-12)
    # A point of the fit, in a table of its own, is itself.
    there = learned.decision_function(sp.csr_array(X[3:9]) if sparse else X[3:9])
    np.testing.assert_allclose(there, learned.scores_[3:9], atol=1e-12)


def test_precomputed_similarities_dense_and_sparse():
    S = near_and_far(X, 7)
    points = sdpdr.MixedLabelPropagation().fit(X, KNOWN)
    for given in (S, S.toarray(), sp.csr_matrix(S)):
        learned = sdpdr.MixedLabelPropagation(affinity="precomputed").fit(given, KNOWN)
        np.testing.assert_allclose(learned.scores_, points.scores_, atol=1e-6)
        assert learned.predict(given[:5]).shape == (5,)
    isolated = learned.decision_function(np.zeros((1, 120)))
    assert isolated[0] == pytest.approx(learned.scores_.mean())


def test_harmonic_mode_is_scikit_learns_limit():
    """Clamped propagation on the same symmetric graph converges to the harmonic labels."""
    S = rbf_kernel(X, gamma=30.0)
    ours = sdpdr.MixedLabelPropagation(affinity="precomputed").fit(S, KNOWN)
    theirs = LabelPropagation(kernel=lambda A, B: rbf_kernel(A, B, gamma=30.0), max_iter=20_000)
    theirs.set_params(tol=1e-10).fit(X, KNOWN)
    np.testing.assert_allclose(ours.label_distributions_, theirs.label_distributions_, atol=1e-4)


def test_where_every_label_is_given_nothing_is_solved():
    learned = sdpdr.MixedLabelPropagation().fit(X, Y)
    np.testing.assert_array_equal(learned.transduction_, Y)
    assert learned.propagations_ == []


def test_points_that_labels_do_not_reach_are_warned_of_once_whatever_the_number_of_classes():
    far = np.vstack([X, X[:20] + 100.0])
    known = np.append(np.where(KNOWN == 0, np.arange(120) % 3, KNOWN), np.full(20, -1))
    with pytest.warns(UnobservedWarning, match="20 of 140 nodes to no label: 120, 121") as caught:
        learned = sdpdr.MixedLabelPropagation().fit(far, known)
    assert len(caught) == 1
    assert learned.scores_.shape == (140, 3)
    means = [np.mean(np.where(known[:16] == c, 1.0, -1.0)) for c in range(3)]
    np.testing.assert_allclose(learned.scores_[120:], np.tile(means, (20, 1)))
    alone = sdpdr.MixedLabelPropagation(affinity="precomputed")
    with (
        pytest.warns(UnobservedWarning),
        pytest.raises(DataError, match="connect no node without a label"),
    ):
        alone.fit(np.zeros((3, 3)), [0, 1, -1])


@pytest.mark.filterwarnings("always::sdpdr.errors.IgnoredLabelsWarning")
def test_ignored_labels_are_warned_of_once():
    S, y = sdpdr.datasets.signed_graph(20, 9, seed=2)
    known = np.where(np.isnan(y), -1, np.arange(20) % 3)
    with pytest.warns(IgnoredLabelsWarning, match="hardly decide") as caught:
        sdpdr.MixedLabelPropagation("eigen", affinity="precomputed").fit(S, known)
    assert len(caught) == 1


def test_bad_input_is_named():
    for y, options, error, message in (
        (None, {}, DataError, "requires y"),
        (Y[:20], {}, DataError, "X has 120 rows, y 20 labels"),
        (np.zeros(120), {}, DataError, "labels must take two values .*one class, 0"),
        (np.full(120, -1), {}, DataError, "no label"),
        (X[:, 0], {}, ValueError, "continuous"),
        (KNOWN, {"mode": "eigne"}, UnknownNameError, "eigen"),
        (KNOWN, {"affinity": "nearest"}, UnknownNameError, "affinity"),
        (KNOWN, {"affinity": "precomputed"}, ShapeError, "square matrix of similarities"),
        (KNOWN, {"n_neighbors": 0}, DataError, "n_neighbors"),
    ):
        with pytest.raises(error, match=message):
            sdpdr.MixedLabelPropagation(**options).fit(X, y)


# -- heat -------------------------------------------------------------------------------------


def test_a_point_far_from_all_follows_its_nearest_ones_by_heat():
    """Weights of its edges are below rounding, or zero."""
    B, y = make_blobs(100, 3, centers=2, random_state=0)
    first = np.argsort(y, kind="stable")
    known = np.full(100, -1)
    known[np.r_[first[:5], first[-5:]]] = y[np.r_[first[:5], first[-5:]]]
    B[first[60]] += 1e4 * (B[y == 1].mean(axis=0) - B[y == 0].mean(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = sdpdr.MixedLabelPropagation(weights="heat").fit(B, known)
    assert learned.transduction_[first[60]] == 1
