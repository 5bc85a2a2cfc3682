"""Spectral regression and the projections: what they equal, and faults."""

from functools import partial

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sdpdr import LDA, LPP, LSDA, NPE, SDA, IsoProjection, SpectralRegression, extend, graphs
from sdpdr.errors import (
    DataError,
    NotAcceptedError,
    SdpdrError,
    ShapeError,
    UnknownNameError,
)

WAYS = pytest.mark.parametrize("way", ["regression", "direct"])
PROJECTIONS = {
    "LDA": LDA,
    "LPP": partial(LPP, n_neighbors=15),
    "NPE": partial(NPE, n_neighbors=15),
    "IsoProjection": partial(IsoProjection, n_neighbors=15),
    "SDA": partial(SDA, n_neighbors=15),
    "LSDA": partial(LSDA, n_neighbors=15),
}


def angle(A, B):
    return float(np.max(sl.subspace_angles(A, B)))


def clouds(n=60, m=5, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.standard_normal((n, m)) + 1.5 * rng.standard_normal((classes, m))[y], y


# -- projections -----------------------------------------------------------------------------------


@pytest.mark.daily(5)
@WAYS
@pytest.mark.parametrize("name", PROJECTIONS)
def test_every_projection_has_both_ways_and_a_default_dimension(name, way):
    X, y = clouds()
    y = np.where(np.arange(60) < 30, y, -1) if name == "SDA" else y
    learned = PROJECTIONS[name](way=way).fit(X, y)
    assert learned.transform(X).shape == (60, 2)
    assert learned.n_components_ == len(learned.get_feature_names_out()) == 2
    two = np.where(y == 2, 0.0, np.where(y < 0, np.nan, y))
    found = PROJECTIONS[name](way=way).fit(X, two).n_components_
    assert found == (1 if name in ("LDA", "SDA") else 2)


@WAYS
@pytest.mark.parametrize("name", ["IsoProjection", "LSDA"])
def test_orthonormal_components_stretch_no_distance(name, way):
    X, y = clouds()
    make = partial(PROJECTIONS[name], way=way, alpha=0.1, orthonormal=True)
    full, some = make(5).fit(X, y), make(2).fit(X, y)
    np.testing.assert_allclose(some.components_ @ some.components_.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(pdist(full.transform(X)), pdist(X))
    assert np.all(pdist(some.transform(X)) <= pdist(X) + 1e-9)
    np.testing.assert_allclose(some.components_, full.components_[:2], atol=1e-8)


@WAYS
def test_directions_that_others_span_are_left_out_or_refused(way):
    X, y = clouds(m=2)
    X = np.column_stack([X, X @ [1.0, 2.0]])
    assert IsoProjection(2, way=way).fit(X, y).components_.shape == (2, 3)
    with pytest.raises(DataError, match=r"n_components=3 is out of range: .* 1\.\.2"):
        IsoProjection(3, way=way).fit(X, y)


def test_orthonormal_discriminants_predict_the_same_classes():
    X, y = clouds()
    plain, turned = LDA().fit(X, y), LDA(orthonormal=True).fit(X, y)
    np.testing.assert_array_equal(turned.predict(X), plain.predict(X))


@WAYS
def test_discriminants_are_the_columns_of_scikit_learn(way):
    X, y = load_wine(return_X_y=True)
    theirs = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    ours = LDA(alpha=1e-9, way=way).fit(X, y).transform(X)
    agreement = np.abs(np.corrcoef(theirs.T, ours.T)[:2, 2:])
    np.testing.assert_allclose(agreement, np.eye(2), atol=1e-6)


def test_discriminants_do_not_depend_on_units_of_columns():
    """The decomposition of dense data squares no condition number."""
    X, y = load_wine(return_X_y=True)
    plain = LDA(alpha=0.0).fit(X, y)
    scaled = LDA(alpha=0.0).fit(X * np.logspace(0, 6, 13), y)
    np.testing.assert_allclose(scaled.eigenvalues_, plain.eigenvalues_, atol=1e-8)


# -- the order of discriminants --------------------------------------------------------------------

ORDERED = [
    LDA,
    partial(SDA, n_neighbors=20),
    partial(SpectralRegression, responses="semisupervised", n_neighbors=20),
    partial(SpectralRegression, responses="classes", kernel="poly"),
    partial(SpectralRegression, responses="classes", cardinality=3),
]


@pytest.mark.parametrize("make", ORDERED)
def test_fewer_discriminants_are_the_first_ones(make):
    X, y = clouds(m=6, classes=4)
    one, full = make(n_components=1).fit(X, y), make().fit(X, y)
    np.testing.assert_allclose(one.eigenvalues_, full.eigenvalues_[:1])
    np.testing.assert_allclose(one.transform(X), full.transform(X)[:, :1], atol=1e-9)


def separation(places, y):
    """Spread between classes of the best direction, as a share of the total."""
    places = places - places.mean(axis=0)
    means = np.array([places[y == c].mean(axis=0) for c in y])
    return sl.eigh(means.T @ means, places.T @ places, eigvals_only=True)[-1]


@pytest.mark.parametrize("make", ORDERED[:-1])
def test_the_first_discriminant_separates_as_well_as_any_mixture_of_all(make):
    X, y = clouds(m=6, classes=4)
    full = make(alpha=1e-9).fit(X, y).transform(X)
    first = separation(full[:, :1], y)
    np.testing.assert_allclose(first, separation(full, y), rtol=1e-6)
    # If a kernel fits all classes, all columns separate perfectly.
    assert first > separation(full[:, 1:2], y) * (1.0 - 1e-9)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_classes_of_one_mean_have_a_constant_map(kernel):
    X, y = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), [1, 1, 0, 0]
    learned = SpectralRegression(responses="classes", kernel=kernel).fit(X, y)
    np.testing.assert_allclose(learned.transform(X), 0.0, atol=1e-12)
    np.testing.assert_allclose(learned.eigenvalues_, 0.0, atol=1e-12)
    assert set(LDA().fit(X, y).predict(X)) <= {0, 1}


def test_spectral_regression_on_labels_is_discriminant_analysis():
    X, y = clouds(classes=4)
    one, other = LDA(alpha=0.3).fit(X, y), LDA(alpha=0.3, way="direct").fit(X, y)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-9)
    regressed = SpectralRegression(responses="classes", alpha=0.3).fit(X, y)
    np.testing.assert_allclose(regressed.components_, one.components_, atol=1e-12)
    hidden = np.where(np.arange(y.size) % 3 == 0, -1, y)
    one = SDA(n_neighbors=20, alpha=0.3).fit(X, hidden)
    other = SpectralRegression(n_neighbors=20, alpha=0.3).fit(X, hidden)
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-12)


# -- spectral regression ---------------------------------------------------------------------------


def test_responses_follow_from_y():
    X, y = clouds()
    assert SpectralRegression().fit(X).eigenvalues_.shape == (2,)
    assert SpectralRegression().fit(X, y).classes_.tolist() == [0, 1, 2]
    partly = np.where(np.arange(60) < 30, y, -1)
    assert SpectralRegression(n_neighbors=15).fit(X, partly).classes_.tolist() == [0, 1, 2]
    assert SpectralRegression().fit(X, np.where(y == 0, -1, 1)).classes_.tolist() == [-1, 1]
    places = X[:, :2] ** 2
    given = SpectralRegression().fit(X, places)
    np.testing.assert_array_equal(given.responses_, places)
    assert not hasattr(given, "eigenvalues_")
    graph = graphs.knn(X, 5, connect="none")
    plain = SpectralRegression().fit(X).transform(X)
    own = SpectralRegression(responses=extend.laplacian_pencil(graph)).fit(X)
    np.testing.assert_allclose(own.transform(X), plain)
    with pytest.raises(DataError, match=r"laplacian_pencil\(graph\)"):
        SpectralRegression(responses=graph).fit(X)


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


def test_the_coordinates_of_a_gram_matrix_are_solutions_of_its_own_kernel():
    """With W = K, D = I and no ridge, kernel regression interpolates the embedding."""
    factor = np.random.default_rng(0).standard_normal((60, 3)) * [3.0, 2.0, 0.3]
    values, vectors = np.linalg.eigh(factor @ factor.T)
    Y = vectors[:, -2:] * np.sqrt(values[-2:])
    K = factor @ factor.T + 1e-7 * values.sum() * np.eye(60)
    fitted = SpectralRegression(responses="given", kernel="precomputed", alpha=0.0).fit(K, Y)
    np.testing.assert_allclose(fitted.transform(K), Y, atol=1e-5 * np.abs(Y).max())
    pencil = extend.graph_embedding(extend.Pencil(K), 2)
    assert angle(pencil.vectors, fitted.transform(K)) < 1e-3


def test_sparse_data_give_the_map_of_dense_data_with_few_coefficients():
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 30)) * (rng.random((80, 30)) < 0.2), np.arange(80) % 4
    few = SpectralRegression(cardinality=5).fit(X, y)
    same = SpectralRegression(cardinality=5).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(same.components_, few.components_, atol=1e-9)
    assert np.count_nonzero(few.components_, axis=1).max() == 5


def test_fewer_given_coordinates_are_the_first_and_forget_earlier_labels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    Y = X @ rng.standard_normal((5, 2)) + 0.1 * rng.standard_normal((60, 2))
    one = SpectralRegression(1, responses="given").fit(X, Y)
    alone = SpectralRegression(responses="given").fit(X, Y[:, :1])
    np.testing.assert_allclose(one.components_, alone.components_)
    classes = SpectralRegression().fit(X, Y[:, 0] > 0.0)
    assert not hasattr(classes.fit(X, Y), "classes_")


# -- faults ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "y", "error", "words"),
    [
        (SpectralRegression(alpha=-1.0), "labels", DataError, "alpha"),
        (SpectralRegression(alpha="magic"), "labels", UnknownNameError, "magic"),
        (LSDA(alpha=None), "labels", DataError, "None"),
        (SpectralRegression(responses="magic"), "labels", SdpdrError, "magic"),
        (SpectralRegression(n_components=3), "labels", DataError, r"1\.\.2, since"),
        (SpectralRegression(kernel="rbf", penalty=np.eye(5)), "labels", DataError, "penalty"),
        (SpectralRegression(kernel="rbf", cardinality=2), "labels", DataError, "kernel"),
        (SpectralRegression(cardinality=0), "labels", DataError, "cardinality"),
        (SpectralRegression(cardinality=2, alpha="loo"), "labels", DataError, "cardinality"),
        (SpectralRegression(penalty=np.eye(5), alpha="loo"), "labels", DataError, "a number alpha"),
        (SpectralRegression(penalty=np.eye(4)), "labels", ShapeError, "5 columns"),
        (SpectralRegression(), "one", DataError, "two"),
        (SpectralRegression(), "short", ShapeError, "inconsistent"),
        (SpectralRegression(responses="classes"), None, DataError, "requires y"),
        (SpectralRegression(kernel="precomputed"), None, NotAcceptedError, "kernel matrix"),
        (LDA(way="magic"), "labels", SdpdrError, "magic"),
        (LDA(), None, DataError, "requires y"),
        (LDA(n_components=7), "labels", DataError, "n_components"),
        (LPP(metric="precomputed"), "gaps", UnknownNameError, "precomputed"),
        (SDA(n_neighbors=2), "few", DataError, "no labelled"),
    ],
)
def test_what_cannot_be_is_named(learner, y, error, words):
    X, labels = clouds()
    X[labels == 2] += 50.0
    given = {
        "labels": labels,
        "gaps": labels,
        "one": np.zeros(60),
        "short": labels[:9],
        "few": np.where(labels == 2, np.nan, labels),
        None: None,
    }[y]
    if learner.get_params().get("kernel") == "precomputed":
        X = X @ X.T
    if y == "gaps":  # options are refused before the data
        X[0, 0] = np.nan
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
