"""The metric estimators: scikit-learn's checks, metric-learn's names, kernels, what they refuse."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import sdpdr
from sdpdr import GhodsiMetric, XingMetric, metric
from sdpdr.errors import (
    AddedRidgeWarning,
    DataError,
    NonUniqueWarning,
    ShapeError,
    UncertifiedWarning,
    UnknownNameError,
)


# As it comes it chooses a share of plain distances by many fits (test_contract.py, slow).
@parametrize_with_checks([
    XingMetric(ridge=1e-6, plain=0.0), XingMetric(kernel="linear", plain=0.0),
])  # fmt: skip
def test_scikit_learn_checks(estimator, check):
    check(estimator)


LEARNERS = [
    XingMetric(plain=0.0),
    XingMetric(plain=0.0, diagonal=True),
    GhodsiMetric(plain=0.0),
    GhodsiMetric(n_components=1),
    GhodsiMetric(n_components=2),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_components_matrix_and_distances_agree(learner, iris):
    X, y = iris
    learned = clone(learner).fit(X, y)
    A, L = learned.get_mahalanobis_matrix(), learned.components_
    np.testing.assert_allclose(A, L.T @ L)
    np.testing.assert_allclose(L @ L.T, np.diag(np.diag(L @ L.T)), atol=1e-12 * np.trace(A))
    # The longest first; with a cap on eigenvalues they are of one length, but for rounding.
    assert np.all(np.diff(np.diag(L @ L.T)) <= 1e-12 * np.trace(A))
    np.testing.assert_allclose(learned.transform(X), X @ L.T)
    two = X[[[0, 60], [10, 149]]]
    expected = [np.sqrt((a - b) @ A @ (a - b)) for a, b in two]
    np.testing.assert_allclose(learned.pair_distance(two), expected)
    np.testing.assert_allclose(learned.pair_score(two), -np.array(expected))
    function = learned.get_metric()
    np.testing.assert_allclose([function(a, b) for a, b in two], expected)
    assert function(*two[0], squared=True) == pytest.approx(expected[0] ** 2)
    assert learned.get_feature_names_out().shape == (len(L),)
    assert learned.gap_ <= 1e-6
    assert learned.value_ >= learned.bound_ - 1e-12 * abs(learned.value_)


def test_the_function_outlives_the_next_fit(iris):
    X, y = iris
    learner = XingMetric().fit(X, y)
    function, before = learner.get_metric(), learner.pair_distance(X[[[0, 60]]])[0]
    learner.fit(X[:100, ::-1], y[:100])
    assert function(X[0], X[60]) == pytest.approx(before)


def test_reported_value_is_the_objective(iris):
    X, y = iris
    learned = XingMetric(tol=1e-9, plain=0.0).fit(X, y)
    same = y[:, None] == y
    d = np.sqrt(((learned.transform(X)[:, None] - learned.transform(X)) ** 2).sum(-1))
    assert np.sum(np.triu(d**2 * same)) == pytest.approx(learned.value_, rel=1e-9)
    assert np.sum(np.triu(d * ~same)) == pytest.approx(1.0, rel=1e-12)
    assert learned.solution_ is None
    assert "Cauchy" in learned.argument_


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_labels_and_pairs_of_points_give_one_metric(learner, iris):
    X, y = np.unique(iris[0], axis=0), None
    y = np.array([iris[1][np.flatnonzero((iris[0] == x).all(axis=1))[0]] for x in X])
    i, j = np.triu_indices(len(X), 1)
    sign = np.where(y[i] == y[j], 1, -1)
    by_labels = clone(learner).fit(X, y)
    points = np.stack([X[i], X[j]], axis=1)
    for by_pairs in (clone(learner).fit(points, sign), clone(learner).fit_pairs(points, sign)):
        A, expected = by_pairs.get_mahalanobis_matrix(), by_labels.get_mahalanobis_matrix()
        np.testing.assert_allclose(A, expected, atol=1e-9 * np.abs(expected).max())
        assert by_pairs.n_features_in_ == 4


def test_general_solvers_give_the_same_metric(pairs):
    fast, general = XingMetric(tol=1e-9).fit(*pairs), XingMetric(solver="clarabel").fit(*pairs)
    assert general.value_ == pytest.approx(fast.value_, rel=1e-6)
    assert general.solution_.certified(1e-6)
    assert general.gap_ <= 1e-6
    np.testing.assert_allclose(
        general.get_mahalanobis_matrix(),
        fast.get_mahalanobis_matrix(),
        atol=1e-4 * np.abs(fast.get_mahalanobis_matrix()).max(),
    )
    for options in (
        {},
        {"n_components": 1},
        {"n_components": 2},
        {"ridge": 0.5},
        {"scale": "frobenius"},
    ):
        closed = GhodsiMetric(**options).fit(*pairs)
        solved = GhodsiMetric(**options, solver="clarabel").fit(*pairs)
        assert solved.value_ == pytest.approx(closed.value_, rel=1e-6)
        assert solved.components_.shape == closed.components_.shape
        np.testing.assert_allclose(
            solved.get_mahalanobis_matrix(), closed.get_mahalanobis_matrix(), atol=1e-4
        )


def test_a_metric_helps_where_one_feature_is_noise():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = np.column_stack([y + 0.2 * rng.standard_normal(120), 50.0 * rng.standard_normal(120)])
    plain = KNeighborsClassifier(5).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    for learner in (XingMetric(), XingMetric(diagonal=True)):
        pipe = make_pipeline(clone(learner), KNeighborsClassifier(5)).fit(X[::2], y[::2])
        assert pipe.score(X[1::2], y[1::2]) > plain + 0.2


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_of_few_points_the_metric_is_that_of_their_span(ridge):
    """Turned in a space of many columns, it is the same metric, and known to rounding."""
    rng = np.random.default_rng(0)
    points, y = rng.standard_normal((30, 4)), np.arange(30) % 3
    turn = np.linalg.qr(rng.standard_normal((60, 60)))[0][:, :4]
    pairs = metric.pairs_from_labels(points @ turn.T, y)
    few = metric.solve_xing(metric.pairs_from_labels(points, y), ridge=ridge)
    # The ridge is in units of the mean over columns.
    many = metric.solve_xing(pairs, ridge=ridge * 60 / 4)
    assert many.value == pytest.approx(few.value, rel=1e-9)
    np.testing.assert_allclose(turn.T @ many.matrix @ turn, few.matrix, rtol=1e-6, atol=1e-9)
    assert metric.whiten(pairs, ridge=1e-3).differences.shape[1] <= 29


def test_the_sums_reward_scatter_within_classes():
    """As printed, three balanced classes along x and noise along y: the noise is what is kept."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = np.column_stack([y + 0.05 * rng.standard_normal(60), 3.0 * rng.standard_normal(60)])
    kept = np.abs(GhodsiMetric(1, normalize=False).fit(X, y).components_[0])
    assert kept[1] > 0.99
    kept = np.abs(GhodsiMetric(1).fit(X, y).components_[0])
    assert kept[0] > 0.95


def test_by_default_directions_weigh_by_their_contrast(iris):
    """Weights are linear in the contrast of their directions, and change with no unit."""
    X, y = iris
    learned = GhodsiMetric(plain=0.0).fit(X, y)
    steps = X[:, None] - X
    same = np.triu(y[:, None] == y, 1)
    other = np.triu(y[:, None] != y, 1)
    C = [np.einsum("ijk,ijl,ij->kl", steps, steps, which) / which.sum() for which in (same, other)]
    contrast = C[0] - C[1]
    values, vectors = np.linalg.eigh(contrast)
    weights = np.diag(vectors.T @ learned.get_mahalanobis_matrix() @ vectors)
    expected = (1.0 - (values - values.mean()) / (3.0 * values.std())) / 4.0
    np.testing.assert_allclose(weights, expected, rtol=1e-9)
    scaled = GhodsiMetric(plain=0.0).fit(1e3 * X, y)
    np.testing.assert_allclose(scaled.components_, learned.components_, rtol=1e-8, atol=1e-12)


# Without the diagonal one: the features of a kernel are its principal coordinates.
@pytest.mark.parametrize("learner", [LEARNERS[0], *LEARNERS[2:]], ids=str)
def test_the_linear_kernel_reproduces_the_metric(learner, iris):
    X, y = iris[0][::3], iris[1][::3]
    options = {"tol": 1e-9} if isinstance(learner, XingMetric) else {}
    plain = clone(learner).set_params(**options).fit(X, y)
    kernel = clone(learner).set_params(kernel="linear", **options).fit(X, y)
    given = clone(learner).set_params(kernel="precomputed", **options).fit(X @ X.T, y)
    assert kernel.value_ == pytest.approx(plain.value_, rel=1e-8)
    new = iris[0][1::3]
    for other, features in ((kernel, new), (given, new @ X.T)):
        steps = np.diff(plain.transform(new), axis=0), np.diff(other.transform(features), axis=0)
        lengths = [np.linalg.norm(s, axis=1) for s in steps]
        np.testing.assert_allclose(lengths[1], lengths[0], rtol=1e-4, atol=1e-8)
    assert kernel.get_metric()(new[0], new[1]) == pytest.approx(
        kernel.pair_distance(new[None, :2])[0]
    )


def test_the_kernel_form_fixes_the_trace_of_the_product(iris):
    X, y = iris[0][::5], iris[1][::5]
    learned = GhodsiMetric(plain=0.0, kernel="rbf", kernel_params={"gamma": 0.3}).fit(X, y)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1))
    W = learned.get_mahalanobis_matrix()
    assert np.trace(K @ W) == pytest.approx(1.0, rel=1e-8)
    assert abs(np.trace(W) - 1.0) > 0.01
    np.testing.assert_allclose(learned.transform(X), K @ learned.components_.T)


def test_a_kernel_of_full_rank_needs_a_ridge_or_fewer_coordinates(iris):
    X, y = iris[0][::5], iris[1][::5]
    rbf = {"kernel": "rbf", "kernel_params": {"gamma": 0.3}}
    with pytest.raises(DataError, match="ridge"):
        XingMetric(**rbf, ridge=0.0).fit(X, y)
    with pytest.warns(AddedRidgeWarning):
        assert XingMetric(**rbf).fit(X, y).ridge_ == 1e-3
    assert XingMetric(**rbf, ridge=1e-2).fit(X, y).gap_ <= 1e-6
    assert XingMetric(**rbf, kernel_components=5).fit(X, y).components_.shape[1] == len(X)


def digits_one_hot():
    """Ten classes in eight columns of numbers and twelve of zeros and ones, some of one class."""
    X, y = load_digits(return_X_y=True)
    hot = np.eye(6)[np.digitize(X[:200, 20], [1, 4, 8, 12, 15])]
    return np.hstack([X[:200, 18:30], hot, y[:200, None] == np.arange(3)]), y[:200]


def wide():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 12)
    return rng.standard_normal((24, 60)) + 3.0 * y[:, None], y


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("table", [digits_one_hot, wide])
def test_tables_of_ones_and_wide_tables_get_a_ridge_and_are_told_so(table, diagonal):
    X, y = table()
    options = {"diagonal": diagonal, "n_pairs": 300, "tol": 1e-3}
    if table is wide and diagonal:
        assert XingMetric(**options).fit(X, y).ridge_ == 0.0  # every column alone varies
        return
    with pytest.warns(AddedRidgeWarning, match="no similar pair differs along") as caught:
        learned = XingMetric(**options).fit(X, y)
    assert len(caught) == 1
    assert learned.ridge_ == 1e-3
    assert learned.gap_ <= 1e-3
    same = XingMetric(ridge=1e-3, **options).fit(X, y)
    np.testing.assert_array_equal(learned.components_, same.components_)
    with pytest.raises(DataError, match="no similar pair differs"):
        XingMetric(ridge=0.0, **options).fit(X, y)


def test_where_the_least_cost_is_attained_there_is_no_ridge(iris):
    learned = XingMetric(plain=0.0).fit(*iris)
    assert learned.ridge_ == 0.0
    np.testing.assert_array_equal(
        learned.components_, XingMetric(plain=0.0, ridge=0.0).fit(*iris).components_
    )


def test_random_pairs_follow_the_seed(iris):
    X, y = iris
    one, same, other = (XingMetric(n_pairs=200, random_state=s).fit(X, y) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.components_, same.components_)
    assert one.value_ != other.value_
    assert len(one.pairs_.similar) == len(one.pairs_.dissimilar) == 200


def test_a_hasty_answer_warns(iris):
    with pytest.warns(UncertifiedWarning, match="gap"):
        hasty = XingMetric(max_iter=0).fit(*iris)
    assert hasty.gap_ > 1e-6
    assert hasty.bound_ < hasty.value_


def test_components_that_are_tied_are_told():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    with pytest.warns(NonUniqueWarning, match="tied"):
        learned = GhodsiMetric(1).fit(X, [0, 0, 1, 1])
    assert learned.components_.shape == (1, 2)


@pytest.mark.parametrize(
    ("learner", "error", "words"),
    [
        (XingMetric(ridge=-1.0), DataError, "ridge"),
        (XingMetric(ridge="some"), UnknownNameError, "ridge"),
        (XingMetric(n_pairs=0), DataError, "n_pairs"),
        (XingMetric(max_iter=-1), DataError, "max_iter"),
        (XingMetric(plain=1.5), DataError, "from 0 to 1"),
        (XingMetric(plain="some"), UnknownNameError, "auto"),
        (XingMetric(kernel="rbv"), UnknownNameError, "Did you mean 'rbf'"),
        (XingMetric(kernel="rbf", kernel_components=0), DataError, "kernel_components"),
        (XingMetric(solver="clarabell"), UnknownNameError, "Did you mean 'clarabel'"),
        (GhodsiMetric(n_components=5), DataError, "number of features, 4"),
        (GhodsiMetric(n_components=0), DataError, "n_components"),
        (GhodsiMetric(entropy=1.0, solver="clarabel"), DataError, "closed"),
        (GhodsiMetric(entropy=1.0, ridge=1.0), DataError, "one of them 0"),
        (GhodsiMetric(ridge=1.0, scale="frobenius"), DataError, "scale='trace'"),
        (GhodsiMetric(scale="size"), UnknownNameError, "frobenius"),
    ],
    ids=str,
)
def test_bad_hyperparameters_are_named(learner, error, words, pairs, iris):
    data = iris if learner.n_pairs is not None else pairs
    with pytest.raises(error, match=words):
        clone(learner).fit(*data)


def test_bad_data_is_refused(iris, pairs):
    X, y = iris
    learned = XingMetric().fit(X, y)
    with pytest.raises(DataError, match="requires y"):
        XingMetric().fit(X)
    with pytest.raises(DataError, match="one class only"):
        XingMetric().fit(X[:50], y[:50])
    with pytest.raises(DataError, match="also holds 0"):
        XingMetric().fit(pairs[0], pairs[1] + 1)
    with pytest.raises(DataError, match="precomputed"):
        XingMetric(kernel="precomputed").fit(*pairs)
    with pytest.raises(ShapeError, match="n_pairs, 2, n_features"):
        learned.pair_distance(X)
    far = np.ones((6, 2, 4))
    far[:3] += np.arange(24.0).reshape(3, 2, 4)
    with pytest.raises(DataError, match="scale='trace'"):
        GhodsiMetric(scale="frobenius").fit(-far, [-1, 1, 1, 1, 1, 1])


def test_names_at_top_level():
    assert {"XingMetric", "GhodsiMetric", "metric"} <= set(sdpdr.__all__)


def test_parameters_of_no_kernel_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="there is none"):
        sdpdr.XingMetric(kernel_params={"gamma": 1.0}).fit(X, y)


@pytest.mark.parametrize(
    "learner",
    [
        XingMetric(diagonal="yes"),
        XingMetric(diagonal=np.array([True, False])),
        XingMetric(ridge="some"),
        XingMetric(ridge=-1.0),
        XingMetric(ridge=np.array([0.1, 0.2])),
        GhodsiMetric(normalize="yes"),
        GhodsiMetric(normalize=np.array([True, False])),
        GhodsiMetric(ridge="auto"),
        GhodsiMetric(entropy=-1.0),
        GhodsiMetric(scale=np.array(["trace", "frobenius"])),
        GhodsiMetric(plain=np.array([0.1, 0.2])),
    ],
    ids=str,
)
def test_what_is_neither_a_number_nor_a_word_is_named(learner, iris):
    default = type(learner)().get_params()
    name = next(k for k, v in learner.get_params().items() if not np.array_equal(v, default[k]))
    with pytest.raises((DataError, UnknownNameError), match=name):
        learner.fit(*iris)
