"""Pairs for metric learning: their sources, their sums, and refusals."""

import numpy as np
import pytest

from sdpdr import GhodsiMetric, methods, metric
from sdpdr.errors import DataError, DataTypeError, ShapeError, UnknownNameError
from sdpdr.families.metric.pairs import pairs_of_points
from sdpdr.families.metric.xing import _similar_root
from sdpdr.metric import Pairs

from .test_xing import DISSIMILAR, GIVEN, PAIRS, SIMILAR, X

KINDS = ("similar", "dissimilar")


def test_pairs_from_labels_are_all_pairs():
    y = np.array(["b", "a", "b", "c", "a", None], dtype=object)
    pairs = metric.pairs_from_labels(np.arange(12.0).reshape(6, 2), y)
    every = {(i, j) for i in range(5) for j in range(i + 1, 5)}
    same = {(i, j) for i, j in every if y[i] == y[j]}
    assert set(map(tuple, pairs.similar.tolist())) == same
    assert set(map(tuple, pairs.dissimilar.tolist())) == every - same


def test_random_pairs_are_distinct_and_of_their_kind():
    y = np.repeat([0, 1, 2], [3, 10, 7])
    points = np.random.default_rng(0).standard_normal((20, 2))
    pairs = metric.pairs_from_labels(points, y, n_pairs=30, seed=3)
    for kind in KINDS:
        index = pairs.index(kind)
        assert len(set(map(tuple, index.tolist()))) == 30
        assert np.all((y[index[:, 0]] == y[index[:, 1]]) == (kind == "similar"))
    again = metric.pairs_from_labels(points, y, n_pairs=30, seed=3)
    np.testing.assert_array_equal(pairs.similar, again.similar)
    assert len(metric.pairs_from_labels(points, y, n_pairs=10**6).similar) == 3 + 45 + 21


@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_pairs_are_those_of_outer_products(kind):
    y = np.array([0, 2, 1, 1, -1] * 4)
    for points in (X, X + 1e6):
        of_classes = metric.pairs_from_labels(points, y)
        listed = Pairs(points, of_classes.similar, of_classes.dissimilar)
        index = listed.index(kind)
        steps = X[index[:, 0]] - X[index[:, 1]]
        assert of_classes.count(kind) == len(index)
        for pairs in (of_classes, listed):
            np.testing.assert_allclose(pairs.scatter(kind), steps.T @ steps, rtol=1e-7)
    if kind == "similar":
        for pairs in (of_classes, listed):
            root = _similar_root(pairs)
            np.testing.assert_allclose(root.T @ root, steps.T @ steps, rtol=1e-7)
    twice = Pairs(X, np.vstack([SIMILAR, SIMILAR[:, ::-1]]), DISSIMILAR)
    np.testing.assert_allclose(twice.scatter("similar"), 2.0 * PAIRS.scatter("similar"))


def test_ghodsis_metric_lists_no_pairs_of_classes(monkeypatch):
    """Their number grows with the square of the points, and its program needs their sums only."""
    y = np.repeat([0, 1], 10)
    listed = GhodsiMetric(n_pairs=1000).fit(X, y)

    def refuse(*args):
        raise AssertionError("listed")

    monkeypatch.setattr("sdpdr.families.metric.pairs._pairs_of_labels", refuse)
    summed = GhodsiMetric().fit(X, y)
    matrices = [found.get_mahalanobis_matrix() for found in (listed, summed)]
    np.testing.assert_allclose(*matrices, rtol=1e-9, atol=1e-12)
    assert "90 similar and 100 dissimilar pairs" in repr(summed.pairs_)


def test_bad_pairs_are_refused():
    labels = {"similar": None, "dissimilar": None}
    for changes, error, words in (
        ({"similar": [[0, 1], [2, 3]], "dissimilar": [[3, 2]]}, DataError, r"\(2, 3\) is called"),
        ({"similar": [], "dissimilar": []}, DataError, "there are no pairs"),
        (labels, DataError, "from labels y, or from similar"),
        ({"similar": [[0, 20]]}, DataError, r"points 0\.\.19"),
        ({"similar": [[4, 4]]}, DataError, "point 4 with itself"),
        ({"similar": [[0.5, 1.0]]}, DataTypeError, "whole numbers"),
        ({"similar": [[0, 1, 2]]}, ShapeError, r"shape \(p, 2\)"),
        ({"y": [0, 1] * 10}, DataError, "not both"),
        ({**labels, "y": [1] * 20}, DataError, "one class only"),
        ({**labels, "y": range(20)}, DataError, "no pair is similar"),
        ({**labels, "y": [0, 1]}, ShapeError, "one label for each"),
        ({**labels, "y": [0, 1] * 10, "n_pairs": 0}, DataError, "n_pairs"),
    ):
        for recipe in (methods.xing, methods.ghodsi):
            with pytest.raises(error, match=words):
                recipe(X, **{**GIVEN, **changes})
    for kind in KINDS:
        with pytest.raises(DataError, match=f"no {kind} pairs"):
            metric.solve_xing(Pairs(X, **{**GIVEN, kind: []}))
    with pytest.raises(UnknownNameError, match="similar"):
        PAIRS.scatter("other")


def test_bad_pairs_of_points_are_refused():
    for pairs, y, error, words in (
        (np.ones((4, 3)), [1, 1, -1, -1], ShapeError, r"\(n_pairs, 2, n_features\)"),
        (X[SIMILAR[:8]], [1] * 3, ShapeError, "8 pairs"),
        (X[[[0, 1], [0, 1]]], [1, -1], DataError, "similar and dissimilar at once"),
        (X[[[1, 1], [2, 2]]], [1, -1], DataError, "there are no pairs"),
    ):
        with pytest.raises(error, match=words):
            pairs_of_points(pairs, y)
