"""Estimators of sparse data: what they make of dense ones, without ever making them dense."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn.base import clone

import sdpdr
from sdpdr import extend, graphs, propagation
from sdpdr.errors import DataError, DataTypeError, UnknownNameError
from sdpdr.estimators import LDA, LPP, LSDA, MVU, NMF, NPE, SDA, IsoProjection

# Graphs of data at random leave parts, copies and samples without company.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning"),
    pytest.mark.filterwarnings("ignore::sdpdr.errors.LostLengthsWarning"),
]
WIDE, TALL = (50, 160), (160, 40)


def topics(n, m, classes=3, seed=0):
    """Rows in which the words of a topic of their own are frequent, and which topic that is."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    rate = np.full((classes, m), 0.1)
    for c in range(classes):
        rate[c, c::classes] = 0.6
    X = rng.poisson(rate[y]) * rng.uniform(0.5, 1.5, (n, m))
    X[:, 0] += 0.3
    return sp.csr_array(X), y


def agree(estimator, X, y=None, tol=1e-8, *, rotated=False):
    """Both have the same coordinates, or, ``rotated``, the same inner products."""
    sparse, dense = clone(estimator).fit(X, y), clone(estimator).fit(X.toarray(), y)
    A, B = sparse.transform(X), dense.transform(X.toarray())
    if rotated:
        assert np.allclose(A @ A.T, B @ B.T, rtol=0.0, atol=tol * np.abs(B).max() ** 2)
        return sparse
    assert np.abs(A - B).max() <= tol * np.abs(B).max()
    assert np.allclose(sparse.transform(X.toarray()), A, atol=1e-10)
    return sparse


PROJECTIONS = [
    (LPP, False), (LPP, True), (NPE, False), (NPE, True), (IsoProjection, False), (LDA, True),
    (LSDA, True), (SDA, None),
]  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("shape", [WIDE, TALL])
@pytest.mark.parametrize("way", ["regression", "direct"])
@pytest.mark.parametrize(("kind", "labelled"), PROJECTIONS)
def test_projections_of_sparse_and_dense_data_agree(kind, labelled, way, shape):
    X, y = topics(*shape)
    y = {True: y, False: None, None: np.where(np.arange(len(y)) % 2, y, -1)}[labelled]
    near = {} if kind is LDA else {"n_neighbors": 8}
    # Neighbours within each class reconstruct the indicators of all three: their values are equal.
    is_tied = kind is NPE and labelled is True and way == "regression"
    agree(kind(n_components=2, way=way, **near), X, y, rotated=is_tied)


@pytest.mark.daily(4)
@pytest.mark.parametrize("kind", [LPP, SDA, LSDA])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("weights", ["heat", "cosine"])
def test_metric_and_weights_reach_every_projection_made_of_them(kind, metric, weights):
    X, y = topics(*WIDE)
    y = None if kind is LPP else np.where(np.arange(len(y)) % 2, y, -1) if kind is SDA else y
    options = {"n_components": 2, "n_neighbors": 12, "metric": metric}
    weighed = agree(kind(weights=weights, **options), X, y)
    plain = kind(**options).fit(X, y)
    assert np.max(sl.subspace_angles(weighed.components_.T, plain.components_.T)) > 1e-4


def test_weights_are_those_of_the_graph():
    X, _ = topics(*TALL)
    graph = graphs.knn(X, 5, metric="cosine", connect="none")
    pencil = extend.laplacian_pencil(graph, "heat", 0.7)
    W = graph.adjacency(np.exp(-graph.sqdist / (2.0 * 0.7**2)))
    assert abs(pencil.weights - W).max() < 1e-14
    mine = sdpdr.SpectralRegression(metric="cosine", weights="heat", alpha=0.1).fit(X)
    usual = extend.laplacian_pencil(graph, "heat")
    other = sdpdr.SpectralRegression(responses=usual, alpha=0.1).fit(X)
    assert np.allclose(mine.components_, other.components_, atol=1e-12)


@pytest.mark.daily(3)
@pytest.mark.parametrize("shape", [WIDE, TALL])
@pytest.mark.parametrize(
    "options",
    [{}, {"alpha": 0.3}, {"alpha": 0.0}],
)
def test_spectral_regression_of_sparse_and_dense_data_agree(shape, options):
    X, y = topics(*shape)
    agree(sdpdr.SpectralRegression(**options), X, y)
    agree(sdpdr.SpectralRegression(responses="laplacian", metric="cosine", **options), X)


@pytest.mark.daily(2)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UnobservedWarning")
@pytest.mark.parametrize("weights", ["binary", "heat", "cosine"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_labels_spread_alike_over_sparse_and_dense_points(metric, weights):
    X, y = topics(90, 60, seed=1)
    known = np.where(np.arange(90) < 15, y, -1)
    model = sdpdr.MixedLabelPropagation(metric=metric, weights=weights)
    sparse, dense = clone(model).fit(X, known), clone(model).fit(X.toarray(), known)
    assert np.allclose(sparse.scores_, dense.scores_, atol=1e-9)
    new = topics(20, 60, seed=2)[0]
    away = sparse.decision_function(new) - dense.decision_function(new.toarray())
    assert np.abs(away).max() < 1e-9
    # A point of the fit is itself, whatever its size under the cosine.
    again = 3.3 * X if metric == "cosine" else X
    assert np.allclose(sparse.decision_function(again), sparse.scores_, atol=1e-12)
    weighed = propagation.near_and_far(X, 7, metric=metric, weights=weights)
    assert np.isclose(abs(weighed).max(), 1.0)


@pytest.mark.parametrize("shape", [(30, 20), (120, 200), (200, 120)])
def test_nonnegative_factors_of_sparse_and_dense_data_agree(shape):
    X, _ = topics(*shape)
    sparse, dense = (NMF(4, starts=2, max_iter=100) for _ in range(2))
    W, V = sparse.fit_transform(X), dense.fit_transform(X.toarray())
    assert np.allclose(W, V, atol=1e-8 * np.abs(V).max())
    assert np.allclose(sparse.components_, dense.components_, atol=1e-8)
    assert np.isclose(sparse.reconstruction_err_, dense.reconstruction_err_, rtol=1e-10)
    assert np.isclose(sparse.bound_, dense.bound_, rtol=1e-8)
    assert np.allclose(sparse.transform(X), W, atol=1e-10)
    assert sparse.bound_ <= sparse.reconstruction_err_


def test_faults_of_sparse_matrices_to_factor_are_named():
    X, _ = topics(120, 200)
    with pytest.raises(DataTypeError, match="bound='cones' is proved by dense"):
        NMF(2, bound="cones").fit(X)
    with pytest.raises(DataError, match="all entries of X are zero"):
        NMF(2, starts=1).fit(sp.csr_array((900, 900)))
    wrong = sp.csr_array(X.toarray().repeat(8, axis=0))
    wrong.data[5] = -2.0
    with pytest.raises(DataError, match=r"X\[0, \d+\] = -2"):
        NMF(2).fit(wrong)


def test_an_unfolding_of_sparse_data_is_that_of_dense_ones():
    X, _ = topics(24, 30)
    sparse, dense = (MVU(metric="cosine", n_neighbors=4).fit(A) for A in (X, X.toarray()))
    assert np.allclose(sparse.gram_, dense.gram_, atol=1e-5 * np.abs(dense.gram_).max())
    assert np.isclose(sparse.graph_.sqdist.max(), dense.graph_.sqdist.max())
    with pytest.raises(DataTypeError, match=r"extension='kernel'.*TruncatedSVD"):
        MVU(extension="kernel").fit(X)


# -- nothing dense -----------------------------------------------------------------------------

COLUMNS = 200_000


def peak(run):
    """Most bytes held at once beyond those before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def words():
    """Rows of some twenty entries each, and their classes."""
    n = 400
    rng = np.random.default_rng(0)
    X = sp.random_array((n, COLUMNS), density=20 / COLUMNS, rng=rng, format="lil")
    y = np.arange(n) % 2
    X[np.arange(n), y] = 1.0
    return sp.csr_array(X), y


@pytest.mark.nightly
@pytest.mark.parametrize(
    "estimator",
    [
        LPP(metric="cosine", weights="heat"),
        LPP(way="direct"),
        LSDA(),
        SDA(alpha=0.1),
        sdpdr.SpectralRegression(),
        sdpdr.MixedLabelPropagation(metric="cosine"),
        NMF(2, starts=1, max_iter=20),
    ],
    ids=lambda e: type(e).__name__,
)
def test_no_array_of_the_size_of_the_data_is_made(words, estimator):
    dense = 8 * words[0].shape[0] * COLUMNS
    assert peak(lambda: estimator.fit(*words)) < 0.1 * dense


# -- faults ----------------------------------------------------------------------------------------


def test_what_is_not_made_of_weights_refuses_them():
    X, y = topics(*WIDE)
    for responses in ("reconstruction", "geodesic", "classes"):
        model = sdpdr.SpectralRegression(responses=responses, weights="heat")
        with pytest.raises(DataError, match="not made of weights of edges. Leave it out"):
            model.fit(X, y)
    with pytest.raises(UnknownNameError):
        LPP(weights="hot").fit(X)
    with pytest.raises(UnknownNameError):
        LPP(metric="precomputed").fit(X)
    with pytest.raises(UnknownNameError):
        sdpdr.MixedLabelPropagation(metric="manhattan").fit(X, y)


def test_where_dense_data_are_needed_the_way_out_is_named():
    X, y = topics(*WIDE)
    for model in (sdpdr.SpectralRegression(kernel="rbf"), sdpdr.SOPCA()):
        with pytest.raises(DataTypeError, match=r"[Ss]parse.*TruncatedSVD"):
            model.fit(X, y)
