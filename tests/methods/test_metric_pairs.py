"""Pairs for metric learning: where they come from, and what is refused."""

import numpy as np
import pytest
from scipy.spatial.distance import squareform

import sdpdr
from sdpdr import GhodsiMetric, blocks, methods, metric
from sdpdr.errors import (
    DataError,
    DataTypeError,
    InfeasibleError,
    ModelError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.metric import Pairs, closed_form, root_bound, solve_xing

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 3)) * [1.0, 3.0, 0.5] + np.repeat([[0.0] * 3, [2.0, 0.0, 0.0]], 10, 0)
EVERY = metric.pairs_from_labels(X, np.repeat([0, 1], 10))
SIMILAR, DISSIMILAR = EVERY.similar[::3], EVERY.dissimilar[::5]
PAIRS = Pairs(X, SIMILAR, DISSIMILAR)
GIVEN = {"similar": SIMILAR, "dissimilar": DISSIMILAR}


def test_pairs_from_labels_are_all_pairs():
    y = np.array(["b", "a", "b", "c", "a"])
    pairs = metric.pairs_from_labels(np.arange(10.0).reshape(5, 2), y)
    same = squareform((y[:, None] == y).astype(int), checks=False)
    every = np.column_stack(np.triu_indices(5, 1))
    assert sorted(map(tuple, pairs.similar)) == sorted(map(tuple, every[same == 1]))
    assert sorted(map(tuple, pairs.dissimilar)) == sorted(map(tuple, every[same == 0]))


def test_random_pairs_are_distinct_and_of_their_kind():
    y = np.repeat([0, 1, 2], [3, 10, 7])
    points = np.random.default_rng(0).standard_normal((20, 2))
    pairs = metric.pairs_from_labels(points, y, n_pairs=30, seed=3)
    for kind in ("similar", "dissimilar"):
        index = pairs.index(kind)
        assert index.shape == (30, 2)
        assert len(set(map(tuple, index))) == 30
        assert np.all((y[index[:, 0]] == y[index[:, 1]]) == (kind == "similar"))
    again = metric.pairs_from_labels(points, y, n_pairs=30, seed=3)
    np.testing.assert_array_equal(pairs.similar, again.similar)
    assert len(metric.pairs_from_labels(points, y, n_pairs=10**6).similar) == 3 + 45 + 21


@pytest.mark.parametrize("kind", ["similar", "dissimilar"])
def test_scatter_is_the_sum_of_outer_products(kind):
    far = Pairs(X + 1e6, SIMILAR, DISSIMILAR)
    steps = PAIRS.differences(kind)
    np.testing.assert_allclose(PAIRS.scatter(kind), steps.T @ steps, rtol=1e-12)
    np.testing.assert_allclose(far.scatter(kind), steps.T @ steps, rtol=1e-7)


@pytest.mark.parametrize("kind", ["similar", "dissimilar"])
def test_sums_over_pairs_of_classes_are_those_over_the_listed_pairs(kind):
    y = np.array([0, 2, 1, 1, -1] * 4)
    for points in (X, X + 1e6):
        pairs = metric.pairs_from_labels(points, y)
        listed = Pairs(X, pairs.similar, pairs.dissimilar)
        assert pairs.count(kind) == len(listed.index(kind))
        np.testing.assert_allclose(pairs.scatter(kind), listed.scatter(kind), rtol=1e-7)
    np.testing.assert_allclose(pairs.moved(2.0 * X).scatter(kind), 4.0 * listed.scatter(kind))
    with pytest.raises(ShapeError, match="20 points"):
        pairs.moved(X[:3])


def test_ghodsis_metric_lists_no_pairs_of_classes(monkeypatch):
    """They grow with the square of the points, and its program needs their sums alone."""
    y = np.repeat([0, 1], 10)
    listed = GhodsiMetric(n_pairs=1000).fit(X, y)

    def refuse(*args):
        raise AssertionError("listed")

    monkeypatch.setattr("sdpdr.families.metric.choose._pairs_of_labels", refuse)
    summed = GhodsiMetric().fit(X, y)
    matrices = [found.get_mahalanobis_matrix() for found in (listed, summed)]
    np.testing.assert_allclose(*matrices, rtol=1e-9, atol=1e-12)
    assert "90 similar and 100 dissimilar pairs" in repr(summed.pairs_)


def test_a_pair_listed_twice_counts_twice():
    twice = Pairs(X, np.vstack([SIMILAR, SIMILAR[:, ::-1]]), DISSIMILAR)
    np.testing.assert_allclose(twice.scatter("similar"), 2.0 * PAIRS.scatter("similar"))
    assert solve_xing(twice).value == pytest.approx(2.0 * solve_xing(PAIRS).value, rel=1e-6)


# -- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"similar": [[0, 1], [2, 3]], "dissimilar": [[3, 2]]}, DataError, r"\(2, 3\) is called"),
        ({"similar": [], "dissimilar": []}, DataError, "there are no pairs"),
        ({"similar": None, "dissimilar": None}, DataError, "dissimilar='rest'"),
        ({"dissimilar": "others"}, UnknownNameError, "rest"),
        ({"similar": [[0, 20]]}, DataError, r"points 0\.\.19"),
        ({"similar": [[-1, 2]]}, DataError, r"points 0\.\.19"),
        ({"similar": [[4, 4]]}, DataError, "point 4 with itself"),
        ({"similar": [[0.5, 1.0]]}, DataTypeError, "whole numbers"),
        ({"similar": [[0, 1, 2]]}, ShapeError, r"shape \(p, 2\)"),
        ({"y": [0, 1] * 10}, DataError, "not both"),
        ({"similar": None, "dissimilar": None, "y": [1] * 20}, DataError, "one class only"),
        ({"similar": None, "dissimilar": None, "y": range(20)}, DataError, "no pair is similar"),
        ({"similar": None, "dissimilar": None, "y": [0, 1]}, ShapeError, "one label for each"),
        (
            {"similar": None, "dissimilar": None, "y": [0, 1] * 10, "n_pairs": 0},
            DataError,
            "n_pairs",
        ),
    ],
)
@pytest.mark.parametrize("recipe", [methods.xing, methods.ghodsi])
def test_bad_pairs_are_refused(recipe, changes, error, words):
    with pytest.raises(error, match=words):
        recipe(X, **{**GIVEN, **changes})


@pytest.mark.parametrize("nothing", [None, [], np.zeros((0, 2))])
@pytest.mark.parametrize("kind", ["similar", "dissimilar"])
def test_xings_program_needs_both_kinds(kind, nothing):
    with pytest.raises(DataError, match=f"no {kind} pairs"):
        methods.xing(X, **{**GIVEN, kind: nothing})
    pairs = Pairs(X, **{**GIVEN, kind: []})
    for learner in (metric.solve_xing, metric.whiten):
        with pytest.raises(DataError, match=f"no {kind} pairs"):
            learner(pairs)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kind", ["similar", "dissimilar"])
def test_ghodsis_program_takes_either_kind(kind, normalize):
    """Of similar pairs the direction in which they differ least, of others the most."""
    index = GIVEN[kind]
    steps = X[index[:, 0]] - X[index[:, 1]]
    values, vectors = np.linalg.eigh(steps.T @ steps / (len(steps) if normalize else 1))
    k = 0 if kind == "similar" else -1
    best = values[k] if kind == "similar" else -values[k]
    solution = sdpdr.solve(methods.ghodsi(X, **{kind: index}, normalize=normalize))
    assert solution.value == pytest.approx(best, rel=1e-5)
    pairs, sign = np.stack([X[index[:, 0]], X[index[:, 1]]], 1), 1 if kind == "similar" else -1
    for solver in ("closed", "clarabel"):
        learned = GhodsiMetric(1, normalize=normalize, solver=solver)
        learned.fit(pairs, np.full(len(pairs), sign))
        assert abs(learned.components_[0] @ vectors[:, k]) == pytest.approx(1.0, abs=1e-4)
    assert len(GhodsiMetric().fit(pairs, np.full(len(pairs), sign)).components_) == X.shape[1]


@pytest.mark.parametrize("recipe", [methods.xing, methods.ghodsi])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_points_are_refused(recipe, value):
    spoiled = X.copy()
    spoiled[3, 1] = value
    with pytest.raises(DataError):
        recipe(spoiled, **GIVEN)


def test_dissimilar_pairs_of_equal_points_cannot_be_held_apart():
    equal = X.copy()
    equal[DISSIMILAR[:, 1]] = equal[DISSIMILAR[:, 0]]
    one = equal[DISSIMILAR[0, 0]]
    equal[np.unique(DISSIMILAR)] = one
    with pytest.raises(InfeasibleError, match="no metric can hold them apart"):
        methods.xing(equal, **GIVEN)


def test_similar_pairs_that_span_too_little_are_refused():
    with pytest.raises(DataError, match="along 1 direction in which 20 dissimilar pairs do"):
        methods.xing(X, similar=SIMILAR[:2], dissimilar=DISSIMILAR)
    flat = X.copy()
    flat[:, 1] = np.repeat([0.0, 1.0], 10)
    with pytest.raises(DataError, match="along feature 1 in which"):
        methods.xing(flat, **GIVEN, diagonal=True)
    assert solve_xing(Pairs(X, SIMILAR[:2], DISSIMILAR), ridge=1e-3).gap < 1e-6


@pytest.mark.parametrize("ridge", [-1.0, np.nan, np.inf])
def test_a_ridge_is_a_number_not_below_zero(ridge):
    with pytest.raises(DataError, match="ridge"):
        methods.xing(X, **GIVEN, ridge=ridge)


@pytest.mark.parametrize("cap", [0.0, 0.2, -1.0])
def test_a_cap_must_leave_room(cap):
    with pytest.raises(InfeasibleError, match="at least 1/3"):
        closed_form(np.eye(3), cap=cap)
    with pytest.raises(InfeasibleError, match="at least 1/3"):
        methods.ghodsi(X, **GIVEN, cap=cap)


def test_other_bad_arguments_are_named():
    with pytest.raises(DataError, match="one of them 0"):
        closed_form(np.eye(3), ridge=1.0, entropy=1.0)
    with pytest.raises(DataError, match="ridge"):
        methods.ghodsi(X, **GIVEN, ridge=-1.0)
    with pytest.raises(UnknownNameError, match="frobenius"):
        methods.ghodsi(X, **GIVEN, scale="forbenius")
    with pytest.raises(DataError, match="positive"):
        root_bound(PAIRS.differences("dissimilar"), np.zeros(20))
    with pytest.raises(ModelError, match="leading"):
        blocks.LeadingDiagonal(3, 1)
    with pytest.raises(UnknownNameError, match="similar"):
        PAIRS.scatter("other")


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "not symmetric"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), "not positive semidefinite"),
        (np.zeros((2, 2)), "not positive semidefinite"),
        (np.full((2, 2), np.nan), "NaN"),
    ],
)
def test_bad_kernels_are_refused(kernel, words):
    with pytest.raises(DataError, match=words):
        metric.kernel_coordinates(kernel)


@pytest.mark.parametrize(
    ("pairs", "y", "error", "words"),
    [
        (np.ones((4, 3)), [1, 1, -1, -1], ShapeError, r"\(n_pairs, 2, n_features\)"),
        (X[np.stack([SIMILAR[:4], SIMILAR[4:8]])].reshape(8, 2, 3), [1] * 3, ShapeError, "8 pairs"),
        (X[SIMILAR[:4]], [1, 1, 0, -1], DataError, "also holds 0"),
        (X[[[0, 1], [0, 1]]], [1, -1], DataError, "similar and dissimilar at once"),
        (X[[[1, 1], [2, 2]]], [1, -1], DataError, "there are no pairs"),
    ],
)
def test_bad_pairs_of_points_are_refused(pairs, y, error, words):
    with pytest.raises(error, match=words):
        metric.pairs_from_points(pairs, y)
