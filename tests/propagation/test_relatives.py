"""Harmonic labels, fixed weights, mixed graphs, correlations and ratings."""

import sys

import numpy as np
import pytest
import scipy.optimize as so
import scipy.sparse as sp

from sdpdr import datasets, propagation
from sdpdr.errors import DataError, IgnoredLabelsWarning, ShapeError, UnknownNameError
from sdpdr.propagation import (
    PropagationStatus,
    eigen,
    fixed_lam,
    harmonic,
    labelled_graph,
    mixed_graph,
    near_and_far,
    pearson,
    spread_labels,
    spread_ratings,
)

NAN = float("nan")
RNG = np.random.default_rng(11)


def random_graph(seed, n=10, known=4):
    return labelled_graph(*datasets.signed_graph(n, known, seed=seed))


def laplacians(graph):
    return [np.diag(S.sum(axis=1)) - S for S in (graph.positive, graph.negative)]


# -- harmonic ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_harmonic_values_are_means_of_their_neighbours_and_lie_between_the_labels(seed):
    graph = random_graph(seed)
    found = harmonic(graph)
    S = graph.positive
    np.testing.assert_allclose((S @ found.y)[4:], (S.sum(axis=1) * found.y)[4:], atol=1e-12)
    assert np.all(np.abs(found.y) <= 1.0 + 1e-12)
    assert found.status is PropagationStatus.NOT_SOUGHT
    above, _ = laplacians(graph)
    printed = -np.linalg.inv(above[4:, 4:]) @ above[4:, :4] @ graph.labels[:4]
    np.testing.assert_allclose(found.y[4:], printed, atol=1e-12)
    thin = labelled_graph(sp.csr_array(graph.positive - graph.negative), graph.labels)
    np.testing.assert_allclose(harmonic(thin).y, found.y, atol=1e-12)


def test_harmonic_energy_is_the_least():
    graph = random_graph(3)
    least = graph.energies(harmonic(graph).y)[0]
    for _ in range(20):
        assert graph.energies(graph.labelling(RNG.standard_normal(6)))[0] >= least


# -- fixed weights ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sdpdr.errors.IgnoredLabelsWarning")
@pytest.mark.parametrize("seed", range(4))
def test_the_weight_of_the_optimum_gives_the_optimum(seed):
    graph = random_graph(seed)
    best = eigen(graph)
    np.testing.assert_allclose(fixed_lam(graph, best.lam).y, best.y, rtol=1e-7)
    np.testing.assert_allclose(fixed_lam(graph, share=1.0).y, best.y, rtol=1e-7)
    for none in ({"lam": 0.0}, {"share": 0.0}):
        np.testing.assert_allclose(fixed_lam(graph, **none).y, harmonic(graph).y, atol=1e-13)


def test_a_share_of_nothing_is_harmonic():
    S = np.zeros((5, 5))
    S[0, 2] = S[1, 3] = S[3, 4] = 1.0
    S[2, 4] = -1.0
    separated = labelled_graph(S + S.T, [2, 5, NAN, NAN, NAN])
    constant = labelled_graph(datasets.signed_graph(6, 2, seed=0)[0], [4] * 2 + [NAN] * 4)
    np.testing.assert_array_equal(fixed_lam(separated).y, harmonic(separated).y)
    np.testing.assert_allclose(fixed_lam(constant).y, 4.0)


def test_a_fixed_weight_is_a_minimum():
    graph = random_graph(0)
    lam = 0.9 * graph.pencil.least()[0]
    found = fixed_lam(graph, share=0.9)
    assert found.lam == pytest.approx(lam, rel=1e-12)

    def price(y):
        above, below = graph.energies(y)
        return above - lam * below

    for _ in range(20):
        other = graph.labelling(found.y[4:] + 0.1 * RNG.standard_normal(6))
        assert price(other) > price(found.y)
    assert fixed_lam(graph).lam == pytest.approx(lam / 1.8, rel=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_weights_that_leave_no_minimum_are_refused_with_the_limit(sparse):
    S, y = datasets.signed_graph(10, 4, seed=0)
    graph = labelled_graph(sp.csr_array(S) if sparse else S, y)
    limit = graph.pencil.unlabelled().least()[0]
    assert fixed_lam(graph, 0.999 * limit).y.shape == (10,)
    with pytest.raises(DataError, match=rf"from {limit:.6g} on"):
        fixed_lam(graph, 1.001 * limit)
    for options, words in (
        ({"lam": -0.1}, "lam=-0.1 .*must be 0 or more"),
        ({"share": 1.1}, r"share=1.1 .*must lie in \[0, 1\]"),
        ({"lam": 0.1, "share": 0.1}, "not both"),
    ):
        with pytest.raises(DataError, match=words):
            fixed_lam(graph, **options)


# -- mixed graphs -----------------------------------------------------------------------------


def mixed_matrix(graph):
    """M = L + (11' - s) o W, as printed."""
    W = graph.positive + graph.negative
    signs = np.where(graph.negative > 0.0, -1.0, 1.0)
    return np.diag(W.sum(axis=1)) - W + (1.0 - signs) * W, W, signs


def test_the_form_of_a_mixed_graph_is_a_sum_of_squares():
    M, W, signs = mixed_matrix(random_graph(6))
    for _ in range(5):
        f = RNG.standard_normal(10)
        squares = 0.5 * np.sum(W * np.square(f[:, None] - signs * f))
        assert f @ M @ f == pytest.approx(squares, rel=1e-12)


@pytest.mark.parametrize("with_kernel", [False, True])
def test_least_squares_on_a_mixed_graph(with_kernel):
    graph = random_graph(6)
    M, _, _ = mixed_matrix(graph)
    X = np.random.default_rng(0).standard_normal((10, 2))
    K = np.exp(-0.5 * np.sum(np.square(X[:, None] - X), axis=2)) if with_kernel else np.eye(10)
    given = {"ridge": 0.3, "smoothness": 0.2}

    def price(alpha):
        f = K @ alpha
        return np.sum((f - graph.labels)[:4] ** 2) + 0.3 * alpha @ f + 0.2 * f @ M @ f

    best = so.minimize(price, np.zeros(10), method="BFGS", options={"gtol": 1e-10})
    found = mixed_graph(graph, **given, kernel=K if with_kernel else None)
    np.testing.assert_allclose(found.y, K @ best.x, atol=1e-6)
    if not with_kernel:
        thin = labelled_graph(sp.csr_array(graph.positive - graph.negative), graph.labels)
        np.testing.assert_allclose(mixed_graph(thin, **given).y, found.y, atol=1e-12)


def test_a_mixed_graph_without_dissimilarity_is_a_ridge_about_the_harmonic_labelling():
    graph = labelled_graph(np.ones((5, 5)), [1, -1, 1, NAN, NAN])
    found = mixed_graph(graph, ridge=1e-12, smoothness=1e-6)
    np.testing.assert_allclose(found.y, harmonic(graph).y, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"ridge": 0.0}, "ridge=.*positive"), ({"smoothness": -1.0}, "smoothness=.*0 or more")],
)
def test_bad_prices_are_refused(options, words):
    with pytest.raises(DataError, match=words):
        mixed_graph(random_graph(0), **options)


def test_a_kernel_of_another_size_is_refused():
    with pytest.raises(ShapeError, match=r"kernel has shape \(3, 3\); the graph has 10"):
        mixed_graph(random_graph(0), kernel=np.eye(3))


# -- correlations -----------------------------------------------------------------------------


def test_pearson_agrees_with_loops():
    R = RNG.integers(1, 6, (7, 9)).astype(float)
    R[RNG.random((7, 9)) < 0.4] = NAN
    R[0] = np.where(np.isnan(R[0]), NAN, 3.0)  # no variation
    R[np.isnan(R).all(axis=1), 0] = 2.0
    mean = np.nanmean(R, axis=1)
    for i in range(7):
        for j in range(7):
            both = ~np.isnan(R[i]) & ~np.isnan(R[j])
            a, b = R[i, both] - mean[i], R[j, both] - mean[j]
            size = np.sqrt(a @ a) * np.sqrt(b @ b)
            expected = a @ b / size if size > 1e-9 else 0.0
            assert pearson(R)[i, j] == pytest.approx(expected, abs=1e-12)


def test_pearson_of_complete_rows_is_the_correlation():
    R = RNG.standard_normal((5, 20))
    np.testing.assert_allclose(pearson(R), np.corrcoef(R), atol=1e-12)
    np.testing.assert_allclose(pearson(R[:2], R[2:]), np.corrcoef(R)[:2, 2:], atol=1e-12)


def test_rows_that_cannot_be_compared_are_named():
    with pytest.raises(DataError, match="row 1 of the ratings knows nothing"):
        pearson([[1.0, 2.0], [NAN, NAN]])
    with pytest.raises(DataError, match=r"\[0, 1\] is infinite"):
        pearson([[1.0, np.inf]])
    with pytest.raises(ShapeError, match="2 columns, the others 3"):
        pearson(np.ones((2, 2)), np.ones((2, 3)))


def test_near_wins_over_far():
    line = near_and_far([[0.0], [1.0]], n_neighbors=1).toarray()
    np.testing.assert_array_equal(line, [[0.0, 1.0], [1.0, 0.0]])


# -- labels and ratings -----------------------------------------------------------------------


def test_nodes_that_labels_do_not_reach_get_the_mean_if_asked():
    S = np.zeros((5, 5))
    S[0, 1] = S[1, 2] = 1.0
    S[0, 2] = S[1, 3] = -1.0
    graph = labelled_graph(S + S.T, [1.0, NAN, -0.5, NAN, NAN])
    values, found = spread_labels(graph, "harmonic", unreached="mean")
    np.testing.assert_allclose(values, [1.0, 0.25, -0.5, 0.25, 0.25])
    assert found.y.shape == (3,)
    alone = labelled_graph(np.zeros((3, 3)), [1.0, -1.0, NAN])
    with pytest.raises(DataError, match="join no node without a label"):
        spread_labels(alone, unreached="mean")


def test_names_of_methods_are_checked():
    with pytest.raises(UnknownNameError, match=r"unknown mode 'eigne'.*'eigen'"):
        spread_labels(random_graph(0), "eigne")


def test_ratings_are_spread_item_by_item():
    R = RNG.integers(1, 6, (12, 8)).astype(float)
    R[RNG.random((12, 8)) < 0.3] = NAN
    R[:, 5] = NAN  # nothing known
    R[:, 6] = np.where(np.isnan(R[:, 6]), NAN, 4.0)  # all alike
    R[:, 7] = 1.0  # all known
    found = spread_ratings(R, centred=False)
    known = ~np.isnan(R)
    np.testing.assert_array_equal(found.ratings[known], R[known])
    assert not np.isnan(found.ratings).any()
    np.testing.assert_allclose(found.ratings[:, 5], np.nanmean(R, axis=1))
    np.testing.assert_array_equal(found.ratings[:, 6], 4.0)
    assert sorted(found.propagations) == [0, 1, 2, 3, 4]
    graph = labelled_graph(pearson(R), R[:, 2])
    if not graph.unreached.size:
        np.testing.assert_allclose(found.ratings[:, 2], harmonic(graph).y)


def test_items_whose_ratings_hardly_decide_are_counted_once():
    R = np.random.default_rng(0).integers(1, 6, (30, 10)).astype(float)
    R[np.random.default_rng(1).random((30, 10)) < 0.5] = NAN
    with pytest.warns(IgnoredLabelsWarning, match=r"\d of 10 items") as caught:
        found = spread_ratings(R, "eigen")
    assert len(caught) == 1
    for propagation_ in found.propagations.values():
        assert propagation_.status is PropagationStatus.OPTIMAL


def test_centred_ratings_follow_the_scale_of_each_user():
    """Who rates everything two points higher is estimated two points higher, and nobody else."""
    R = RNG.integers(1, 6, (12, 8)).astype(float)
    R[RNG.random((12, 8)) < 0.3] = NAN
    plain = spread_ratings(R)
    known = ~np.isnan(R)
    np.testing.assert_array_equal(plain.ratings[known], R[known])
    shift = np.where(np.arange(12) == 3, 2.0, 0.0)[:, None]
    moved = spread_ratings(R + shift, similarity=plain.similarity)
    np.testing.assert_allclose(moved.ratings, plain.ratings + shift, atol=1e-9)


def test_large_harmonic_systems_are_iterated_to_the_same_labels():
    points = np.random.default_rng(3).standard_normal((3400, 6))
    labels = np.where(np.arange(3400) < 200, np.sign(points[:, 0]), NAN)
    graph = labelled_graph(near_and_far(points), labels)
    found = harmonic(graph)
    matrix, right = graph.pencil.system(0.0)
    assert matrix.shape[0] == 3200
    left = matrix @ found.y[200:] - right
    assert np.linalg.norm(left) < 1e-10 * np.linalg.norm(right)
    assert np.abs(found.y).max() <= 1.0 + 1e-9


def test_opposite_tastes_are_heard():
    """The last user rates as the first one's opposite; only dissimilarity knows about item 3."""
    R = np.array(
        [[5, 1, 5, 5, 1], [4, 1, 5, 4, 2], [1, 5, 1, 1, 5], [2, 4, 1, 2, 5], [1, 5, 2, NAN, 4]],
        dtype=float,
    )
    assert spread_ratings(R, "eigen").ratings[4, 3] < 2.0


def test_every_public_name_is_there():
    for name in propagation.__all__:
        assert hasattr(propagation, name)


@pytest.mark.parametrize("centred", [True, False])
def test_a_user_without_ratings_is_taken_for_the_mean_of_all(centred):
    R = np.array([[5.0, 1.0, 4.0], [4.0, 1.0, NAN], [1.0, 5.0, 2.0], [NAN, NAN, NAN]])
    found = spread_ratings(R, similarity=np.ones((4, 4)), centred=centred)
    # Everybody is like everybody: the mean of all, and what others rate above their own.
    known = ~np.isnan(R)
    means = np.array(
        [np.nanmean(r) if k.any() else np.nanmean(R) for r, k in zip(R, known, strict=True)]
    )
    given = np.where(known, R - means[:, None] * centred, NAN)
    expected = np.nanmean(given, axis=0) + means[3] * centred
    np.testing.assert_allclose(found.ratings[3], expected)


def test_an_item_and_a_user_without_ratings_meet_at_the_mean_of_all():
    R = np.array([[5.0, 1.0, NAN], [1.0, 4.0, NAN], [NAN, NAN, NAN]])
    for centred in (True, False):
        found = spread_ratings(R, similarity=np.ones((3, 3)), centred=centred)
        assert found.ratings[2, 2] == pytest.approx(np.nanmean(R))


@pytest.mark.parametrize("way", ["factored", "multigrid", "factored in the end"])
def test_harmonic_labels_of_a_long_chain_are_linear(monkeypatch, hide_packages, way):
    """Without a step of conjugate gradients; by them with multigrid; after them, if in vain."""
    module, steps = sys.modules["sdpdr.families.propagate.harmonic"], []
    iterate = module.cg
    monkeypatch.setattr(module, "cg", lambda *a, **k: steps.append(1) or iterate(*a, **k))
    if way == "multigrid":
        pytest.importorskip("pyamg", reason="the extra 'multigrid' is not installed")
    else:
        hide_packages("pyamg")
    if way != "factored":
        monkeypatch.setattr(module, "_BROAD", 0)
    n = 12_000
    chain = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], format="csr")
    labels = np.full(n, np.nan)
    labels[0], labels[-1] = -1.0, 1.0
    y = harmonic(labelled_graph(chain, labels)).y
    np.testing.assert_allclose(y, np.linspace(-1.0, 1.0, n), atol=1e-7)
    assert bool(steps) is (way != "factored")
