"""Harmonic labels, fixed weights, mixed graphs, and the similarities that they start from."""

import numpy as np
import pytest
import scipy.optimize as so
import scipy.sparse as sp

from sdpdr import datasets
from sdpdr.errors import DataError, ShapeError
from sdpdr.families.propagate.labellings import given_weight
from sdpdr.propagation import (
    PropagationStatus,
    eigen,
    fixed_lam,
    harmonic,
    labelled_graph,
    mixed_graph,
    near_and_far,
    pearson,
)

NAN = float("nan")
pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.IgnoredLabelsWarning")


def random_graph(seed):
    return labelled_graph(*datasets.signed_graph(10, 4, seed=seed))


def others(graph, y, size):
    steps = size * np.random.default_rng(11).standard_normal((20, graph.unlabelled.size))
    return [graph.labelling(y[graph.unlabelled] + step) for step in steps]


def test_harmonic_values_are_means_of_their_neighbours_and_lie_between_the_labels():
    graph = random_graph(0)
    found = harmonic(graph)
    S = graph.positive.toarray()
    np.testing.assert_allclose((S @ found.y)[4:], (S.sum(axis=1) * found.y)[4:], atol=1e-12)
    assert np.all(np.abs(found.y) <= 1.0 + 1e-12)
    assert found.status is PropagationStatus.NOT_SOUGHT
    above = np.diag(S.sum(axis=1)) - S
    printed = -np.linalg.inv(above[4:, 4:]) @ above[4:, :4] @ graph.labels[:4]
    np.testing.assert_allclose(found.y[4:], printed, atol=1e-12)
    thin = labelled_graph(graph.positive - graph.negative, graph.labels)
    np.testing.assert_allclose(harmonic(thin).y, found.y, atol=1e-12)
    least = graph.energies(found.y)[0]
    assert min(graph.energies(y)[0] for y in others(graph, found.y, 1.0)) >= least


@pytest.mark.integration
def test_large_harmonic_systems_are_solved_by_conjugate_gradients_or_by_factors():
    points = np.random.default_rng(3).standard_normal((3400, 6))
    labels = np.where(np.arange(3400) < 200, np.sign(points[:, 0]), NAN)
    graph = labelled_graph(near_and_far(points), labels)
    matrix, right = graph.pencil.system(0.0)
    left = matrix @ harmonic(graph).y[200:] - right
    assert np.linalg.norm(left) < 1e-10 * np.linalg.norm(right)
    # A long chain takes more steps than there are.
    n = 6000
    chain = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], format="csr")
    ends = np.full(n, NAN)
    ends[[0, -1]] = -1.0, 1.0
    y = harmonic(labelled_graph(chain, ends)).y
    np.testing.assert_allclose(y, np.linspace(-1.0, 1.0, n), atol=1e-7)


def test_a_share_of_the_least_ratio_leads_from_harmonic_labels_to_the_optimum():
    graph = random_graph(0)
    best = eigen(graph)
    np.testing.assert_allclose(fixed_lam(graph, share=1.0).y, best.y, rtol=1e-7)
    np.testing.assert_allclose(fixed_lam(graph, share=0.0).y, harmonic(graph).y, atol=1e-13)
    half = fixed_lam(graph)
    assert half.lam == pytest.approx(0.5 * best.lam, rel=1e-12)

    def cost(y):
        above, below = graph.energies(y)
        return above - half.lam * below

    assert min(map(cost, others(graph, half.y, 0.1))) > cost(half.y)
    with pytest.raises(DataError, match=r"share=1.1 .*must lie in \[0, 1\]"):
        fixed_lam(graph, share=1.1)


def test_weights_that_leave_no_minimum_are_refused():
    S, y = datasets.signed_graph(10, 4, seed=0)
    for matrix in (S, sp.csr_array(S)):
        graph = labelled_graph(matrix, y)
        limit = graph.pencil.unlabelled().least()[0]
        assert given_weight(graph, 0.999 * limit).y.shape == (10,)
        with pytest.raises(DataError, match="has no minimum.*smaller share"):
            given_weight(graph, 1.001 * limit)


@pytest.mark.parametrize("with_kernel", [False, True])
def test_least_squares_on_a_mixed_graph(with_kernel):
    graph = random_graph(6)
    W = (graph.positive + graph.negative).toarray()
    signs = np.where(graph.negative.toarray() > 0.0, -1.0, 1.0)
    M = np.diag(W.sum(axis=1)) - W + (1.0 - signs) * W  # as printed: L + (11' - s) o W
    f = np.random.default_rng(0).standard_normal(10)
    squares = 0.5 * np.sum(W * np.square(f[:, None] - signs * f))
    assert f @ M @ f == pytest.approx(squares, rel=1e-12)
    X = np.random.default_rng(0).standard_normal((10, 2))
    K = np.exp(-0.5 * np.sum(np.square(X[:, None] - X), axis=2)) if with_kernel else np.eye(10)
    given = {"ridge": 0.3, "smoothness": 0.2}

    def cost(alpha):
        f = K @ alpha
        return np.sum((f - graph.labels)[:4] ** 2) + 0.3 * alpha @ f + 0.2 * f @ M @ f

    best = so.minimize(cost, np.zeros(10), method="BFGS", options={"gtol": 1e-10})
    found = mixed_graph(graph, **given, kernel=K if with_kernel else None)
    np.testing.assert_allclose(found.y, K @ best.x, atol=1e-6)
    if not with_kernel:
        thin = labelled_graph(graph.positive - graph.negative, graph.labels)
        np.testing.assert_allclose(mixed_graph(thin, **given).y, found.y, atol=1e-12)


def test_bad_options_of_a_mixed_graph_are_refused():
    for options, words in (
        ({"ridge": 0.0}, "ridge=.*positive"),
        ({"smoothness": -1.0}, "0 or m"),
        ({"kernel": np.eye(3)}, r"kernel has shape \(3, 3\); the graph has 10"),
    ):
        with pytest.raises((DataError, ShapeError), match=words):
            mixed_graph(random_graph(0), **options)


# -- similarities -----------------------------------------------------------------------------


def test_pearson_agrees_with_loops():
    rng = np.random.default_rng(11)
    R = rng.integers(1, 6, (7, 9)).astype(float)
    R[rng.random((7, 9)) < 0.4] = NAN
    R[0] = np.where(np.isnan(R[0]), NAN, 3.0)  # no variation
    R[np.isnan(R).all(axis=1), 0] = 2.0
    mean, found = np.nanmean(R, axis=1), pearson(R)
    for i, j in np.ndindex(7, 7):
        both = ~np.isnan(R[i]) & ~np.isnan(R[j])
        a, b = R[i, both] - mean[i], R[j, both] - mean[j]
        size = np.sqrt(a @ a) * np.sqrt(b @ b)
        assert found[i, j] == pytest.approx(a @ b / size if size > 1e-9 else 0.0, abs=1e-12)


def test_rows_that_cannot_be_compared_are_named():
    with pytest.raises(DataError, match="row 1 has no known entry"):
        pearson([[1.0, 2.0], [NAN, NAN]])
    with pytest.raises(DataError, match=r"\[0, 1\] is infinite"):
        pearson([[1.0, np.inf]])


def test_the_graph_of_near_and_far_points():
    X = np.random.default_rng(3).standard_normal((60, 4))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.argsort(D + np.diag(np.full(60, np.inf)), axis=1)[:, :5]
    expected, furthest = np.zeros((60, 60)), np.argmax(D, axis=1)
    expected[np.arange(60), furthest] = expected[furthest, np.arange(60)] = -1.0
    rows = np.repeat(np.arange(60), 5)
    expected[rows, near.ravel()] = expected[near.ravel(), rows] = 1.0
    np.testing.assert_array_equal(near_and_far(X, 5).toarray(), expected)
    near_wins = near_and_far([[0.0], [1.0]], n_neighbors=1).toarray()
    np.testing.assert_array_equal(near_wins, [[0.0, 1.0], [1.0, 0.0]])
