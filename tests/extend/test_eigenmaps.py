"""Eigenmaps of a kernel: the equation they solve, new objects, objects without coordinates."""

import numpy as np
import pytest
import scipy.linalg as sl
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from sdpdr import datasets
from sdpdr.errors import (
    DataError,
    DataTypeError,
    DisconnectedGraphError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.extend import KernelEigenmaps

X = datasets.s_curve(90, seed=0)[0]
ARC = np.linspace(0.0, 3.0, 60)
HALF = np.column_stack([np.cos(ARC), np.sin(ARC)])


@pytest.mark.parametrize("k", [None, 6])
def test_places_solve_the_eigenproblem_of_the_sparse_kernel_matrix(k):
    maps = KernelEigenmaps(3, n_neighbors=k).fit(X)
    K = rbf_kernel(X, gamma=maps.gamma_)
    W = maps.weights_.toarray()
    np.testing.assert_allclose(W[W > 0.0], K[W > 0.0])
    kept = [set(np.argsort(-row)[: maps.n_neighbors_ + 1]) for row in K]
    for i in range(90):
        either = {j for j in range(90) if j in kept[i] or i in kept[j]}
        assert set(np.flatnonzero(W[i])) == either
    D = np.diag(W.sum(axis=1))
    Y = maps.embedding_
    np.testing.assert_allclose(W @ Y, D @ Y * maps.eigenvalues_, atol=1e-9 * np.abs(D @ Y).max())
    np.testing.assert_allclose(Y.T @ D @ Y, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(Y.T @ D @ np.ones(90), 0.0, atol=1e-9)
    values = sl.eigh(D - W, D, eigvals_only=True)
    np.testing.assert_allclose(1.0 - maps.eigenvalues_, values[1:4], atol=1e-10)
    energy = sum(W[i, j] * np.sum((Y[i] - Y[j]) ** 2) for i in range(90) for j in range(90))
    assert energy == pytest.approx(2.0 * np.sum(1.0 - maps.eigenvalues_))


@pytest.mark.parametrize("k", [None, 89])
def test_objects_of_the_fit_are_placed_where_they_are(k):
    maps = KernelEigenmaps(2, n_neighbors=k).fit(X)
    scale = np.abs(maps.embedding_).max()
    np.testing.assert_allclose(maps.transform(X), maps.embedding_, atol=1e-8 * scale)
    np.testing.assert_array_equal(maps.fit_transform(X), maps.embedding_)


def test_new_objects_lie_between_their_neighbours():
    maps = KernelEigenmaps(1, n_neighbors=4, gamma=20.0).fit(HALF[::2])
    along = maps.embedding_[:, 0]
    assert np.all(np.diff(along) > 0.0) or np.all(np.diff(along) < 0.0)
    new = maps.transform(HALF[1:-1:2])[:, 0]
    inner = slice(2, -2)
    low, high = np.minimum(along[:-1], along[1:]), np.maximum(along[:-1], along[1:])
    assert np.all((new[inner] > low[inner]) & (new[inner] < high[inner]))


def test_the_fewest_neighbours_that_join_all():
    maps = KernelEigenmaps().fit(X)
    assert maps.n_neighbors_ > 1
    with pytest.raises(DisconnectedGraphError, match="parts, of sizes") as caught:
        KernelEigenmaps(n_neighbors=maps.n_neighbors_ - 1).fit(X)
    assert sum(map(len, caught.value.components)) == 90


def test_a_matrix_of_kernel_values_is_enough():
    def words_in_common(a, b):
        return float(len(set(a.split()) & set(b.split())))

    texts = [
        "the cat sat", "the cat ran", "a cat ran home", "a dog ran home", "a dog went home",
        "one dog went out", "one man went out", "one man stayed out",
    ]  # fmt: skip
    K = np.array([[words_in_common(a, b) for b in texts] for a in texts])
    maps = KernelEigenmaps(1, kernel="precomputed", n_neighbors=2).fit(K)
    along = maps.embedding_[:, 0]
    assert abs(np.corrcoef(along, np.arange(8))[0, 1]) > 0.9
    np.testing.assert_allclose(maps.transform(K), maps.embedding_, atol=1e-9)
    new = np.array([[words_in_common("one man stayed home", t) for t in texts]])
    assert abs(maps.transform(new)[0, 0] - along[7]) < abs(maps.transform(new)[0, 0] - along[0])


def test_kernels_by_name_by_hand_and_computed_are_the_same():
    named = KernelEigenmaps(kernel="laplacian", gamma=0.5, n_neighbors=6).fit(X)
    K = laplacian_kernel(X, gamma=0.5)
    given = KernelEigenmaps(kernel="precomputed", n_neighbors=6).fit(K)
    by_hand = KernelEigenmaps(
        kernel=lambda a, b: float(np.exp(-0.5 * np.abs(a - b).sum())), n_neighbors=6
    ).fit(X)
    for other in (given, by_hand):
        np.testing.assert_allclose(other.embedding_, named.embedding_, atol=1e-8)


def test_objects_that_coincide_share_a_place():
    maps = KernelEigenmaps().fit(np.vstack([X, X[:3]]))
    np.testing.assert_allclose(maps.embedding_[:3], maps.embedding_[90:], atol=1e-9)


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="negative values"):
        KernelEigenmaps(kernel="linear", n_neighbors=50).fit(X - X.mean(axis=0))
    with pytest.raises(DataError, match="n_neighbors"):
        KernelEigenmaps(n_neighbors=90).fit(X)
    with pytest.raises(DataError, match="n_components"):
        KernelEigenmaps(0).fit(X)
    with pytest.raises(DataError, match="choose"):
        KernelEigenmaps(60, n_neighbors=89, gamma=1e-3).fit(X)
    with pytest.raises(DataError, match="rows 1 to no object"):
        KernelEigenmaps(gamma=5.0).fit(X).transform([X[0], [1e3, 0.0, 0.0]])
    with pytest.raises(UnknownNameError, match="Did you mean 'rbf'"):
        KernelEigenmaps(kernel="rbff").fit(X)
    with pytest.raises(DataTypeError, match="neither a name nor a function"):
        KernelEigenmaps(kernel=3).fit(X)
    with pytest.raises(ShapeError, match="square"):
        KernelEigenmaps(kernel="precomputed").fit(X)
    with pytest.raises(DataError, match="not symmetric"):
        KernelEigenmaps(kernel="precomputed").fit(np.triu(rbf_kernel(X)))
