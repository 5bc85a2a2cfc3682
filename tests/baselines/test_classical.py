"""Baselines against scikit-learn itself, the equations they solve, and the laws they share."""

import numpy as np
import pytest
from scipy.sparse import diags_array
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from sdpdr import baselines, datasets, graphs
from sdpdr.errors import DataError, DisconnectedGraphError, DuplicatePointsWarning, UnknownNameError
from sdpdr.families.unfold.quality import procrustes
from sdpdr.linalg.spectral import fix_signs, gram_spectrum

CLASSICAL = ("classical_mds", "isomap", "lle", "laplacian_eigenmaps", "kernel_pca")
X, T = datasets.s_curve(120, seed=0)
SQDIST = squareform(pdist(X, "sqeuclidean"))


def test_classical_scaling_of_points_is_principal_components():
    expected = fix_signs(PCA(2).fit_transform(X))
    np.testing.assert_allclose(baselines.classical_mds(X), expected, atol=1e-9)
    np.testing.assert_allclose(
        baselines.classical_mds(np.sqrt(SQDIST), metric="precomputed"), expected, atol=1e-9
    )
    assert procrustes(X, baselines.classical_mds(X, 3), scaling=False) < 1e-12


def test_isomap_is_that_of_scikit_learn_and_has_our_graph():
    ours = baselines.isomap(X, n_neighbors=7)
    np.testing.assert_allclose(ours, fix_signs(Isomap(n_neighbors=7).fit_transform(X)), atol=1e-9)
    paths = graphs.geodesics(graphs.knn(X, 7))
    again = baselines.classical_mds(paths, metric="precomputed")
    np.testing.assert_allclose(ours, again, atol=1e-7)
    given = baselines.isomap(np.sqrt(SQDIST), n_neighbors=7, metric="precomputed")
    np.testing.assert_allclose(ours, given, atol=1e-7)


def test_eigenmaps_solve_their_equation_on_our_graph():
    Y = baselines.laplacian_eigenmaps(X, 3, n_neighbors=7)
    graph = graphs.knn(X, 7)
    L, D = graph.laplacian(), diags_array(graph.degree.astype(float))
    values = np.diag(Y.T @ L @ Y) / np.diag(Y.T @ D @ Y)
    np.testing.assert_allclose(L @ Y, (D @ Y) * values, atol=1e-6 * np.abs(Y).max())
    np.testing.assert_allclose(D @ Y @ [1, 0, 0] @ np.ones(120), 0.0, atol=1e-9)
    half = diags_array(graph.degree**-0.5)
    smallest = gram_spectrum((half @ L @ half).toarray())[0][::-1][1:4]
    np.testing.assert_allclose(values, smallest, atol=1e-9)


def test_kernels_given_in_advance():
    linear = baselines.kernel_pca(X, kernel="linear")
    np.testing.assert_allclose(linear, baselines.classical_mds(X), atol=1e-9)
    wide = baselines.kernel_pca(X, gamma=1e-7)
    assert procrustes(baselines.classical_mds(X), wide) < 1e-4
    usual = baselines.kernel_pca(X)
    gamma = 0.5 / np.median(SQDIST[np.triu_indices(120, 1)])
    np.testing.assert_allclose(usual, baselines.kernel_pca(X, gamma=gamma), atol=1e-12)
    given = baselines.kernel_pca(np.sqrt(SQDIST), metric="precomputed")
    np.testing.assert_allclose(usual, given, atol=1e-7)


@pytest.mark.parametrize("name", CLASSICAL)
def test_no_embedding_sees_motions_or_the_order_of_points(name):
    Y = baselines.embed(name, X, n_neighbors=8)
    assert Y.shape == (120, 2)
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    assert procrustes(Y, baselines.embed(name, X @ turn + 1.0, n_neighbors=8)) < 1e-5
    order = np.random.default_rng(1).permutation(120)
    assert procrustes(Y[order], baselines.embed(name, X[order], n_neighbors=8)) < 1e-5


def test_estimators_have_names_too():
    few, _ = datasets.circle(12)
    for name, options in (("spe", {"cycles": 3}), ("gplvm", {})):
        assert baselines.embed(name, few, n_neighbors=2, **options).shape == (12, 2)
    given = baselines.SPE(cycles=10, random_state=3).fit(few).embedding_
    np.testing.assert_array_equal(baselines.embed("spe", few, seed=3, cycles=10), given)


@pytest.mark.parametrize("name", ["isomap", "lle", "laplacian_eigenmaps"])
def test_repeated_points_share_a_place_and_parts_are_refused(name):
    with pytest.warns(DuplicatePointsWarning):
        Y = baselines.embed(name, np.vstack([X, X[:4]]), n_neighbors=8)
    np.testing.assert_array_equal(Y[120:], Y[:4])
    np.testing.assert_array_equal(Y[:120], baselines.embed(name, X, n_neighbors=8))
    with pytest.raises(DisconnectedGraphError, match="2 components"):
        baselines.embed(name, np.vstack([X, X[:15] + 100.0]), n_neighbors=8)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"name": "isomaps"}, UnknownNameError, "Did you mean 'isomap'"),
        ({"name": "isomap", "gamma": 1.0}, TypeError, "isomap.. .gamma"),
        ({"name": "isomap", "n_components": 120}, DataError, "120 distinct points"),
        ({"name": "classical_mds", "n_components": 0}, DataError, "n_components=0"),
        ({"name": "isomap", "n_neighbors": 120}, DataError, "120 distinct points"),
        ({"name": "kernel_pca", "kernel": "string"}, UnknownNameError, "kernel"),
        ({"name": "kernel_pca", "gamma": 0.0}, DataError, "gamma=0.0"),
    ],
)
def test_what_cannot_be_used_is_named(options, error, words):
    options = dict(options)
    with pytest.raises(error, match=words):
        baselines.embed(options.pop("name"), X, **options)


@pytest.mark.parametrize("name", CLASSICAL)
def test_data_that_are_not_finite_are_named(name):
    with pytest.raises(DataError, match="not finite: 7"):
        baselines.embed(name, np.where(np.arange(120)[:, None] == 7, np.nan, X))


def test_only_one_kernel_takes_distances():
    with pytest.raises(DataError, match="needs points"):
        baselines.kernel_pca(np.sqrt(SQDIST), kernel="poly", metric="precomputed")


@pytest.mark.parametrize("name", ["spe", "sammon", "metric_mds", "nonmetric_mds"])
def test_scalings_want_all_distances(name):
    points = np.random.default_rng(0).uniform(size=(8, 2))
    D = np.linalg.norm(points[:, None] - points[None], axis=2)
    D[0, 5] = D[5, 0] = np.nan
    with pytest.raises(DataError, match="not known"):
        baselines.embed(name, D, 2, metric="precomputed")
