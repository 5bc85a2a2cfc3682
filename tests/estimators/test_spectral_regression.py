"""Spectral regression and the projections: what they equal, scikit-learn's checks, faults."""

from functools import partial

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sdpdr
from sdpdr import LDA, LPP, LSDA, NPE, SDA, IsoProjection, SpectralRegression, extend, graphs
from sdpdr.errors import (
    AddedEdgesWarning,
    DataError,
    NotAcceptedError,
    SdpdrError,
    ShapeError,
    UnknownNameError,
)

PROJECTIONS = (LDA, LPP, NPE, IsoProjection, SDA, LSDA)


def angle(A, B):
    return float(np.max(sl.subspace_angles(A, B)))


def clouds(n=60, m=5, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.standard_normal((n, m)) + 1.5 * rng.standard_normal((classes, m))[y], y


# The checks draw data at random, where a sample may have no neighbour of its class.
@pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning")
@parametrize_with_checks(
    [
        SpectralRegression(kernel="rbf"),
        SpectralRegression(cardinality=2),
        SpectralRegression(responses="classes", alpha="loo"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("make", PROJECTIONS)
@pytest.mark.parametrize("way", ["regression", "direct"])
def test_every_projection_has_both_ways(make, way):
    X, y = clouds()
    if make is SDA:
        y = np.where(np.arange(60) < 30, y, -1)
    d = None if make in (LDA, SDA) else 2
    learned = make(d, n_neighbors=15, way=way).fit(X, y)
    assert learned.transform(X).shape == (60, 2)
    assert learned.n_components_ == 2
    assert not learned.tried_
    assert clone(learned).way == way
    assert len(learned.get_feature_names_out()) == 2


@pytest.mark.parametrize("way", ["regression", "direct"])
def test_two_classes_have_one_discriminant(way):
    X, y = clouds()
    y = np.where(y == 2, 0, y)
    for make in (LDA, SDA):
        assert make(n_neighbors=15, way=way).fit_transform(X, y).shape == (60, 1)


@pytest.mark.parametrize("way", ["regression", "direct"])
def test_no_more_directions_than_columns(way):
    X, y = clouds()
    assert LSDA(n_neighbors=15, way=way).fit(X[:, :1], y).components_.shape[1] == 1


@pytest.mark.parametrize("way", ["regression", "direct"])
def test_an_isometric_projection_before_a_classifier_keeps_all_directions(way):
    X, y = clouds()
    learned = IsoProjection(n_neighbors=15, way=way).fit(X, y)
    assert np.linalg.matrix_rank(learned.components_) == X.shape[1]
    assert np.all(learned.eigenvalues_ > 0.0)


@pytest.mark.parametrize("way", ["regression", "direct"])
def test_an_isometric_projection_stretches_no_distance(way):
    X, y = clouds()
    all_of_them = IsoProjection(n_neighbors=15, way=way, alpha=0.1).fit(X, y)
    some = IsoProjection(2, n_neighbors=15, way=way, alpha=0.1).fit(X, y)
    far, turned, near = (
        pdist(places) for places in (X, all_of_them.transform(X), some.transform(X))
    )
    np.testing.assert_allclose(turned, far)
    assert np.all(near <= far + 1e-9)
    np.testing.assert_allclose(some.components_, all_of_them.components_[:2], atol=1e-9)


@pytest.mark.parametrize("way", ["regression", "direct"])
def test_an_isometric_projection_has_one_direction_for_columns_that_say_the_same(way):
    X, y = clouds(m=3)
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    learned = IsoProjection(n_neighbors=15, way=way).fit(X, y)
    assert learned.components_.shape == (3, 5)
    assert learned.eigenvalues_.shape == (3,)
    np.testing.assert_allclose(pdist(learned.transform(X)), pdist(X))


def test_both_ways_to_discriminants_span_one_space():
    X, y = clouds()
    one, other = LDA(alpha=0.7).fit(X, y), LDA(alpha=0.7, way="direct").fit(X, y)
    assert angle(one.components_.T, other.components_.T) < 1e-6


def test_discriminants_come_in_the_order_of_separation():
    """Without a ridge they are the columns of scikit-learn, which solves for them one by one."""
    X, y = load_wine(return_X_y=True)
    theirs = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    for way in ("regression", "direct"):
        ours = LDA(alpha=1e-9, way=way).fit(X, y).transform(X)
        agreement = np.abs(np.corrcoef(theirs.T, ours.T)[:2, 2:])
        np.testing.assert_allclose(agreement, np.eye(2), atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        LDA,
        partial(LDA, way="direct"),
        partial(SDA, n_neighbors=20),
        partial(SpectralRegression, responses="classes"),
        partial(SpectralRegression, responses="semisupervised", n_neighbors=20),
        partial(SpectralRegression, responses="classes", kernel="rbf"),
        partial(SpectralRegression, responses="classes", cardinality=3),
    ],
)
def test_fewer_discriminants_are_the_first_ones(make):
    X, y = clouds(m=6, classes=4)
    one, all_of_them = make(n_components=1).fit(X, y), make().fit(X, y)
    np.testing.assert_allclose(one.eigenvalues_, all_of_them.eigenvalues_[:1])
    np.testing.assert_allclose(one.transform(X), all_of_them.transform(X)[:, :1], atol=1e-9)


def separation(places, y):
    """Spread between classes, as a share of that in all, of the best direction."""
    places = places - places.mean(axis=0)
    means = np.array([places[y == c].mean(axis=0) for c in y])
    return sl.eigh(means.T @ means, places.T @ places, eigvals_only=True)[-1]


@pytest.mark.parametrize(
    "make",
    [
        LDA,
        partial(SDA, n_neighbors=20),
        partial(SpectralRegression, responses="classes"),
        partial(SpectralRegression, responses="semisupervised", n_neighbors=20),
        partial(SpectralRegression, responses="classes", kernel="poly"),
    ],
)
def test_the_first_discriminant_separates_as_well_as_any_mixture_of_all(make):
    X, y = clouds(m=6, classes=4)
    all_of_them = make(alpha=1e-9).fit(X, y).transform(X)
    first = separation(all_of_them[:, :1], y)
    np.testing.assert_allclose(first, separation(all_of_them, y), rtol=1e-6)
    # Where a kernel fits all classes, both separate perfectly.
    assert first > separation(all_of_them[:, 1:2], y) * (1.0 - 1e-9)


def test_spectral_regression_on_labels_is_discriminant_analysis():
    X, y = clouds(classes=4)
    hidden = np.where(np.arange(y.size) % 3 == 0, -1, y)
    for named, kind, labels in ((LDA, "classes", y), (SDA, "semisupervised", hidden)):
        one = named(2, n_neighbors=20, alpha=0.3).fit(X, labels)
        other = SpectralRegression(2, responses=kind, n_neighbors=20, alpha=0.3).fit(X, labels)
        np.testing.assert_allclose(one.components_, other.components_, atol=1e-12)
        np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_)


def test_both_ways_to_discriminants_find_the_same_columns():
    X, y = clouds()
    one, other = LDA(alpha=0.7).fit(X, y), LDA(alpha=0.7, way="direct").fit(X, y)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-9)
    agreement = np.abs(np.corrcoef(one.transform(X).T, other.transform(X).T)[:2, 2:])
    np.testing.assert_allclose(np.diag(agreement), 1.0)


def test_a_linear_manifold_is_projected_alike_both_ways():
    """Where linear functions hold the pencil's solutions, regression finds just those."""
    X, y = clouds(20, 40)
    for make in (LPP, NPE, LSDA):
        one = make(n_components=2, alpha=0.0).fit(X, y)
        other = make(n_components=2, alpha=0.0, way="direct").fit(X, y)
        np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-7)
        assert angle(one.transform(X), other.transform(X)) < 1e-5


def test_responses_follow_from_y():
    X, y = clouds()
    assert SpectralRegression().fit(X).eigenvalues_.shape == (2,)
    assert SpectralRegression().fit(X, y).classes_.tolist() == [0, 1, 2]
    partly = np.where(np.arange(60) < 30, y, -1)
    assert SpectralRegression(n_neighbors=15).fit(X, partly).classes_.tolist() == [0, 1, 2]
    assert SpectralRegression().fit(X, np.where(y == 0, -1, 1)).classes_.tolist() == [-1, 1]
    names = np.array(["a", "b", "c"])[y]
    np.testing.assert_allclose(
        SpectralRegression().fit(X, names).components_, SpectralRegression().fit(X, y).components_
    )
    places = X[:, :2] ** 2
    given = SpectralRegression().fit(X, places)
    np.testing.assert_array_equal(given.responses_, places)
    assert not hasattr(given, "eigenvalues_")
    pencil = extend.laplacian_pencil(graphs.knn(X, 5, connect="none"))
    own = SpectralRegression(responses=pencil).fit(X)
    np.testing.assert_allclose(own.transform(X), SpectralRegression().fit(X).transform(X))
    graph = SpectralRegression(responses=graphs.knn(X, 5, connect="none")).fit(X)
    np.testing.assert_allclose(graph.transform(X), own.transform(X))


def test_the_coordinates_of_an_unfolding_are_solutions_of_its_own_kernel():
    """With W = K, D = I and no ridge, kernel regression passes through the embedding."""
    X, _ = sdpdr.datasets.swiss_roll(60, seed=0)
    learned = sdpdr.MVU(n_neighbors=5, connect="mst", tol=1e-9).fit(X)
    Y = learned.embedding_
    dense = learned.gram_.factor @ learned.gram_.factor.T
    K = dense + 1e-7 * np.trace(dense) * np.eye(60)
    fitted = SpectralRegression(responses="given", kernel="precomputed", alpha=0.0).fit(K, Y)
    np.testing.assert_allclose(fitted.transform(K), Y, atol=1e-5 * np.abs(Y).max())
    # K W K a = lambda K D K a with W = K is K y = lambda y for y = K a.
    _, vectors = np.linalg.eigh(dense)
    assert angle(vectors[:, -2:], fitted.transform(K)) < 1e-3


def test_samples_added_to_a_kernel_map_are_samples_fitted_at_once():
    X, y = clouds(50)
    y[40:] = 7
    options = {"kernel": "rbf", "gamma": 0.2, "alpha": 0.01}
    whole = SpectralRegression(**options).fit(X, y)
    grown = SpectralRegression(**options).fit(X[:40], y[:40])
    assert grown.dual_coef_.shape == (40, 2)
    grown.partial_fit(X[40:45], y[40:45]).partial_fit(X[45:], y[45:])
    np.testing.assert_allclose(grown.transform(X), whole.transform(X), atol=1e-9)
    assert grown.classes_.tolist() == whole.classes_.tolist()
    assert not hasattr(SpectralRegression(), "partial_fit")


@pytest.mark.parametrize("solver", ["auto", "lsqr"])
def test_sparse_data_give_what_dense_data_give(solver):
    rng = np.random.default_rng(0)
    X = rng.random((80, 30)) * (rng.random((80, 30)) < 0.2)
    y = np.arange(80) % 4
    dense = SpectralRegression(solver=solver).fit(X, y)
    sparse = SpectralRegression(solver=solver).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-7)
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), atol=1e-7)
    few = SpectralRegression(cardinality=5).fit(X, y)
    same = SpectralRegression(cardinality=5).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(same.components_, few.components_, atol=1e-9)


def test_the_cardinality_is_kept():
    X, y = clouds(60, 12)
    learned = SpectralRegression(cardinality=4, alpha=0.0).fit(X, y)
    assert np.all(np.count_nonzero(learned.components_, axis=1) == 4)
    kernel = SpectralRegression(cardinality=6, alpha=0.0, kernel="rbf").fit(X, y)
    assert np.all(np.count_nonzero(kernel.dual_coef_, axis=0) == 6)


def test_leave_one_out_chooses():
    X, y = clouds(60, 12)
    kernel = SpectralRegression(kernel="rbf", alpha="loo").fit(X, y)
    assert kernel.alpha_ > 0.0
    error = np.sqrt(np.mean(kernel.leave_one_out() ** 2))
    for alpha in (kernel.alpha_ / 100.0, min(100.0 * kernel.alpha_, 1.0)):
        other = SpectralRegression(kernel="rbf", alpha=alpha, gamma=kernel.gamma_).fit(X, y)
        assert error <= np.sqrt(np.mean(other.leave_one_out() ** 2)) + 1e-12
    assert SpectralRegression(alpha="loo").fit(X, y).alpha_ > 0.0


def test_a_gaussian_of_width_sigma_has_gamma_of_one_over_twice_its_square():
    X, y = clouds()
    K = rbf_kernel(X, gamma=1.0 / (2.0 * 1.5**2))
    away = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    np.testing.assert_allclose(K, np.exp(-away / (2.0 * 1.5**2)))
    one = SpectralRegression(kernel="rbf", gamma=1.0 / 4.5).fit(X, y).transform(X)
    other = SpectralRegression(kernel="precomputed").fit(K, y).transform(K)
    np.testing.assert_allclose(one, other, atol=1e-10)


def test_digits_are_told_apart_better_than_without():
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    train, test = order[:400], order[400:]
    errors = {}
    for name, learner in {
        "kernel": SpectralRegression(kernel="rbf", alpha="loo"),
        "ridge": SpectralRegression(alpha="loo"),
        "none": SpectralRegression(alpha=0.0),
    }.items():
        pipe = make_pipeline(learner, KNeighborsClassifier(1)).fit(X[train], y[train])
        errors[name] = 1.0 - pipe.score(X[test], y[test])
    assert errors["kernel"] < errors["ridge"] <= errors["none"]
    assert errors["kernel"] < 0.04


def test_a_sample_without_a_neighbour_of_its_class_is_named():
    X = np.column_stack([[0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 5.3], np.arange(7) * 0.01])
    y = [0, 0, 0, 1, 1, 1, 0]
    graph = graphs.knn(X, 2, connect="none")
    with pytest.raises(DataError, match="samples 6 have no weight"):
        extend.graph_embedding(extend.contrast_pencil(graph, y), 1)
    for learner in (
        LSDA(n_components=1, n_neighbors=2),
        LSDA(n_components=1, n_neighbors=2, way="direct"),
        SpectralRegression(1, responses="contrast", n_neighbors=2),
    ):
        with pytest.warns(AddedEdgesWarning, match="1 of .* has no neighbour of its class: 6"):
            learner.fit(X, y)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_sample_at_right_angles_to_its_neighbours_is_joined_by_angles(kind):
    """The nearest of its class have no column in common with sample 0, as short texts have."""
    rng = np.random.default_rng(0)
    X = np.zeros((12, 5))
    X[0, 0] = 1.0
    X[1:6, 1:3] = rng.uniform(0.1, 0.2, (5, 2))
    X[6, [0, 3]] = 8.0
    X[7:, 3:] = rng.uniform(1.0, 2.0, (5, 2))
    y = np.array([0] * 7 + [1] * 5)
    for learner in (
        LSDA(1, n_neighbors=3, weights="cosine"),
        SpectralRegression(1, responses="contrast", n_neighbors=3, weights="cosine"),
    ):
        with pytest.warns(AddedEdgesWarning, match="or at right angles only: 0, 6"):
            learner.fit(kind(X), y)
    X[6, 0] = 0.0
    refused = pytest.raises(DataError, match="samples 0, 6 have no weight.*binary")
    with refused, pytest.warns(AddedEdgesWarning):
        LSDA(1, n_neighbors=3, weights="cosine").fit(kind(X), y)


def test_in_a_pipeline():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), LDA(), KNeighborsClassifier(3)).fit(X, y)
    assert pipe.score(X, y) > 0.95


@pytest.mark.parametrize(
    ("learner", "y", "error", "words"),
    [
        (SpectralRegression(alpha=-1.0), "labels", DataError, "alpha"),
        (SpectralRegression(alpha="magic"), "labels", UnknownNameError, "magic"),
        (SpectralRegression(responses="magic"), "labels", SdpdrError, "magic"),
        (SpectralRegression(responses=3), "labels", DataError, "Pencil"),
        (SpectralRegression(kernel="magic"), "labels", SdpdrError, "magic"),
        (SpectralRegression(n_components=3), "labels", DataError, "2 columns"),
        (SpectralRegression(kernel="rbf", penalty=np.eye(5)), "labels", DataError, "penalty"),
        (SpectralRegression(cardinality=0), "labels", DataError, "cardinality"),
        (SpectralRegression(cardinality=2, alpha="loo"), "labels", DataError, "cardinality"),
        (SpectralRegression(penalty=np.eye(4)), "labels", ShapeError, "5 columns"),
        (SpectralRegression(), "one", DataError, "two"),
        (SpectralRegression(), "short", ShapeError, "inconsistent"),
        (SpectralRegression(responses="classes"), None, DataError, "requires y"),
        (SpectralRegression(kernel="precomputed"), None, NotAcceptedError, "kernel matrix"),
        (LDA(way="magic"), "labels", SdpdrError, "magic"),
        (LDA(), None, DataError, "requires y"),
        (LDA(n_components=7), "labels", DataError, "n_components"),
        (SDA(n_neighbors=2), "few", DataError, "no labelled"),
    ],
)
def test_what_cannot_be_is_named(learner, y, error, words):
    X, labels = clouds()
    X[labels == 2] += 50.0
    given = {
        "labels": labels,
        "one": np.zeros(60),
        "short": labels[:9],
        "few": np.where(labels == 2, np.nan, labels),
        None: None,
    }[y]
    if learner.get_params().get("kernel") == "precomputed":
        X = X @ X.T
    with pytest.raises(error, match=words):
        learner.fit(X, given)


@pytest.mark.parametrize("unknown", [np.nan, None])
def test_beside_nan_and_none_minus_one_is_not_known_either(unknown):
    X, y = clouds()
    given = y.astype(object)
    given[::4] = -1
    given[1] = unknown
    learned = SDA(n_neighbors=15).fit(X, given)
    assert learned.classes_.tolist() == np.unique(y).tolist()
    assert learned.score(X, y) > 0.9


def test_labelled_samples_give_the_means_that_the_map_goes_through():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 6)), np.full(50, -1)
    y[:12] = rng.integers(0, 2, 12)
    found = SpectralRegression(responses="semisupervised", alpha=0.5).fit(X, y)
    centre, level = X[:12].mean(axis=0), found.responses_[:12].mean(axis=0)
    A, B = X - centre, found.responses_ - level
    slopes = np.linalg.solve(A.T @ A + 0.5 * np.eye(6), A.T @ B)
    np.testing.assert_allclose(found.components_, slopes.T, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, level - centre @ slopes, atol=1e-10)


@pytest.mark.parametrize(
    "learner", [sdpdr.LPP, sdpdr.NPE, sdpdr.LSDA, sdpdr.IsoProjection, sdpdr.SpectralRegression]
)
@pytest.mark.parametrize("option", ["metric", "connect"])
def test_options_of_the_graph_are_refused_before_the_data(learner, option):
    """Distances with gaps were told to have gaps, which no metric of these allows."""
    gaps = np.full((6, 6), np.nan)
    with pytest.raises(UnknownNameError, match="unknown .*'precomputed'"):
        learner(**{option: "precomputed"}).fit(gaps, [0, 1] * 3)


def test_given_places_of_other_samples_are_scored():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    Y = X @ rng.standard_normal((5, 2)) + 0.1 * rng.standard_normal((60, 2))
    learned = SpectralRegression(responses="given").fit(X[:40], Y[:40])
    lost = np.square(Y[40:] - learned.transform(X[40:])).sum(axis=0)
    whole = np.square(Y[40:] - Y[40:].mean(axis=0)).sum(axis=0)
    assert learned.score(X[40:], Y[40:]) == pytest.approx(np.mean(1.0 - lost / whole))
    one = SpectralRegression().fit(X[:40], Y[:40, 0])
    assert 0.9 < one.score(X[40:], Y[40:, 0]) < 1.0
    search = GridSearchCV(SpectralRegression(responses="given"), {"alpha": [1e-3, 1e3]}).fit(X, Y)
    assert search.best_params_ == {"alpha": 1e-3}
    classes = SpectralRegression().fit(X, Y[:, 0] > 0.0)
    assert not hasattr(classes, "score")
    with pytest.raises(AttributeError, match=r"sdpdr\.LDA"):
        classes.score(X, Y[:, 0] > 0.0)
    again = classes.fit(X[:40], Y[:40])
    assert again.score(X[40:], Y[40:]) == one.set_params().fit(X[:40], Y[:40]).score(X[40:], Y[40:])
    assert not hasattr(again, "classes_")
