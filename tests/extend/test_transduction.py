"""Embeddings completed from known rows, and bags of points."""

import numpy as np
import pytest

from sdpdr import extend, graphs
from sdpdr.errors import DataError, ShapeError
from sdpdr.families.regress.transduction import isomap_form


def arc(n=60):
    t = np.linspace(0.0, 4.0, n)
    return np.column_stack([np.cos(t), np.sin(t)]), t


# -- transduction ---------------------------------------------------------------------------------


def test_an_arc_is_filled_in_from_a_few_places():
    X, t = arc()
    pencil = extend.reconstruction_pencil(graphs.knn(X, 4))
    y = np.full(60, np.nan)
    y[[0, 20, 40, 59]] = t[[0, 20, 40, 59]]
    form = pencil.mass_matrix - pencil.weights
    found = extend.transduce(form, y)
    np.testing.assert_allclose(found[:, 0], t, atol=0.03)
    # As printed, without the sign and with the block transposed, nothing fits.
    M = form.toarray()
    known = ~np.isnan(y)
    printed = np.linalg.solve(M[np.ix_(~known, ~known)], M[np.ix_(known, ~known)].T @ y[known])
    assert np.sqrt(np.mean((printed - t[~known]) ** 2)) > 1.0


def test_a_filled_in_place_is_optimal():
    X, t = arc(20)
    M = graphs.knn(X, 3).laplacian()
    y = np.where(np.arange(20) % 6 == 0, t, np.nan)
    found = extend.transduce(M, y)
    slope = (M @ found)[np.isnan(y)]
    np.testing.assert_allclose(slope, 0.0, atol=1e-10)
    np.testing.assert_array_equal(found[::6, 0], t[::6])


def test_the_form_of_isomap_vanishes_on_what_isomap_returns():
    X, t = arc()
    pencil = extend.geodesic_pencil(graphs.knn(X, 4))
    M = isomap_form(pencil, 2)
    values = np.linalg.eigvalsh(M)
    assert values[0] > -1e-9 * values[-1]
    assert np.sum(values < 1e-9 * values[-1]) == 3
    top = np.linalg.eigh(pencil.weights)[1][:, -2:]
    np.testing.assert_allclose(M @ np.column_stack([top, np.ones(60)]), 0.0, atol=1e-9 * values[-1])
    y = np.full(60, np.nan)
    y[[0, 30, 59]] = t[[0, 30, 59]]
    np.testing.assert_allclose(extend.transduce(M, y)[:, 0], t, atol=0.02)


def test_too_few_places_are_said_to_be_so():
    X, t = arc()
    M = isomap_form(extend.geodesic_pencil(graphs.knn(X, 4)), 2)
    y = np.full(60, np.nan)
    y[0] = 0.0
    with pytest.raises(DataError, match="do not determine"):
        extend.transduce(M, y)
    with pytest.raises(DataError, match="no row"):
        extend.transduce(M, np.full(60, np.nan))
    with pytest.raises(ShapeError, match="60"):
        extend.transduce(M, t[:5])
    with pytest.raises(DataError, match="out of range"):
        isomap_form(extend.geodesic_pencil(graphs.knn(X, 4)), 60)


# -- bags -----------------------------------------------------------------------------------------


def bags(count=12, seed=0):
    rng = np.random.default_rng(seed)
    middles = 5.0 * rng.standard_normal((count, 3))
    return [m + rng.standard_normal((rng.integers(20, 60), 3)) for m in middles], middles


@pytest.mark.parametrize("strength", [0.0, 5.0])
def test_mixture_weights_prove_how_good_they_are(strength):
    rng = np.random.default_rng(1)
    K = (rng.random((40, 8)) < 0.4).astype(float)
    K[:, 0] = 1.0
    g = rng.dirichlet(np.ones(8))
    found = extend.mixture_weights(K, g, strength, tol=1e-8)
    assert found.bound - found.value <= 1e-8 * (40 + strength) + 1e-12
    assert found.weights.sum() == pytest.approx(1.0)

    def value(alpha):
        return np.sum(np.log(K @ alpha)) + strength * g @ np.log(np.maximum(alpha, 1e-300))

    others = rng.dirichlet(np.ones(8), size=200)
    assert max(map(value, others)) < found.bound
    assert value(found.weights) == pytest.approx(found.value, rel=1e-6)


def one_step(kernel, prior=None, strength=0.0):
    """(5.8) and (5.10)."""
    prior = np.full(kernel.shape[1], 1.0 / kernel.shape[1]) if prior is None else prior
    kernel = kernel[kernel.any(axis=1)]
    sums = (kernel / kernel.sum(axis=1)[:, None]).sum(axis=0)
    return (strength * prior + sums) / (len(kernel) + strength)


def test_two_iterations_are_one_step_from_equal_weights():
    rng = np.random.default_rng(1)
    K = (rng.random((40, 8)) < 0.4).astype(float)
    K[:, 0] = 1.0
    g = np.full(8, 1.0 / 8.0)
    for strength in (0.0, 3.0):
        found = extend.mixture_weights(K, g, strength, max_iter=2)
        np.testing.assert_allclose(found.weights, one_step(K, g, strength), atol=1e-12)
        assert found.value < extend.mixture_weights(K, g, strength, tol=1e-9).value <= found.bound


def test_the_index_gives_what_a_scan_gives():
    gallery, middles = bags()
    index = extend.BagIndex(80, radius=1.5, seed=0).fit(gallery)
    query = middles[4] + np.random.default_rng(9).standard_normal((25, 3))
    found, scores = index.query(query, len(gallery))
    assert np.all(np.diff(scores) <= 0.0)
    W = index.weights_.toarray()
    near = np.linalg.norm(query[:, None] - index.centers_, axis=2) <= index.radius_
    behind = near @ index.background_
    for bag, score in zip(found, scores, strict=True):
        own = near @ W[bag]
        n, strength = index.sizes_[bag], index.strength_
        kept = behind > 0.0
        expected = np.sum(np.log1p(n / strength * own[kept] / behind[kept]))
        expected += np.sum(kept) * np.log(strength / (n + strength))
        assert score == pytest.approx(expected)
    share = near.any(axis=0) @ (W > 0.0).T > 0
    assert sorted(found) == np.flatnonzero(share).tolist()
    assert found[0] == 4
    assert index.query(query, 1)[0].tolist() == [4]


def test_weights_of_a_bag_are_those_of_one_step():
    gallery, _ = bags()
    index = extend.BagIndex(80, radius=1.5, seed=0).fit(gallery)
    for i in (0, 5):
        near = np.linalg.norm(gallery[i][:, None] - index.centers_, axis=2) <= index.radius_
        np.testing.assert_allclose(index.weights_[[i]].toarray()[0], one_step(near), atol=1e-12)


def test_a_bag_outside_the_list_may_score_higher_by_its_size_alone():
    """The length term favours bags of few points, so the list is not always the best of all."""
    rng = np.random.default_rng(0)
    large = rng.standard_normal((400, 2))
    small = rng.standard_normal((2, 2)) + 100.0
    third = 0.1 * rng.standard_normal((30, 2)) + 50.0
    index = extend.BagIndex(432, radius=0.5, strength=10.0, seed=0).fit([large, small, third])
    query = np.array([[0.1, 0.1], [50.0, 50.0], [50.0, 50.1]])
    found, scores = index.query(query)
    assert sorted(found) == [0, 2]
    of_small = 3 * np.log(10.0 / (index.sizes_[1] + 10.0))
    assert of_small > scores[found == 0][0]
    # Points that no centre covers change nothing.
    again = index.query(np.vstack([query, np.full((9, 2), -70.0)]))
    np.testing.assert_array_equal(again[0], found)
    np.testing.assert_allclose(again[1], scores)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: extend.BagIndex().fit([]), "no bags"),
        (lambda: extend.BagIndex().fit([np.zeros((0, 2))]), "empty"),
        (lambda: extend.BagIndex().fit([np.ones((3, 2)), np.ones((3, 3))]), "bag 1"),
        (lambda: extend.BagIndex().fit([np.full((3, 2), np.nan)]), "nan"),
        (lambda: extend.BagIndex().query(np.ones((3, 2))), "fit"),
        (lambda: extend.mixture_weights(np.zeros((2, 3))), "covered by no"),
        (lambda: extend.mixture_weights(np.ones((2, 3)), strength=-1.0), "strength"),
    ],
)
def test_bags_that_cannot_be_are_named(call, words):
    with pytest.raises((DataError, ShapeError), match=words):
        call()
