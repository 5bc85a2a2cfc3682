"""Measures of quality: the perfect embedding, invariance, scikit-learn, and what is refused."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes as scipy_procrustes
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold

import sdpdr
from sdpdr import graphs
from sdpdr.errors import DataError, ShapeError
from sdpdr.families.unfold.quality import align, edge_changes, procrustes

seeds = st.integers(0, 1000)


def cloud(seed=0, n=40, dim=3):
    return np.random.default_rng(seed).standard_normal((n, dim))


def turned(X, seed=0, mirror=False):
    turn, _ = np.linalg.qr(cloud(seed, X.shape[1], X.shape[1]))
    if (np.linalg.det(turn) < 0) != mirror:
        turn[:, 0] *= -1.0
    return X @ turn


def test_the_data_are_their_own_perfect_embedding():
    X = cloud()
    found = sdpdr.quality(X, X, truth=X, spectrum=[1.0, 0.5, 0.2])
    assert (found.trustworthiness, found.continuity, found.edge_scale) == (1.0, 1.0, 1.0)
    assert max(found.edge_rms, found.edge_max, found.edge_rms_scaled) < 1e-14
    assert found.procrustes == pytest.approx(0.0, abs=1e-12)
    assert found.procrustes_rigid == pytest.approx(0.0, abs=1e-12)
    assert found.share == pytest.approx(1.0)


@given(seed=seeds, scale=st.floats(0.01, 100.0))
@settings(max_examples=8)
def test_motions_change_nothing_and_units_only_what_has_a_unit(seed, scale):
    X, Y, truth = cloud(seed), cloud(seed)[:, :2], cloud(seed + 1, dim=2)
    old = sdpdr.quality(X, Y, truth=truth)
    moved = asdict(sdpdr.quality(X, turned(Y, seed, mirror=True) + 5.0, truth=truth))
    assert {k: pytest.approx(v, abs=1e-9) for k, v in asdict(old).items()} == moved
    sized = sdpdr.quality(X, scale * Y, truth=truth)
    for name in ("trustworthiness", "continuity", "edge_rms_scaled", "procrustes"):
        assert getattr(sized, name) == pytest.approx(getattr(old, name), abs=1e-9)
    assert sized.edge_scale == pytest.approx(old.edge_scale / scale)
    assert old.edge_rms_scaled <= min(old.edge_rms, sized.edge_rms) + 1e-12
    assert old.procrustes <= min(old.procrustes_rigid, sized.procrustes_rigid) + 1e-12


@pytest.mark.parametrize("k", [1, 19])
def test_ranks_agree_with_scikit_learn_on_points_and_on_distances(k):
    X, Y = cloud(), cloud(9, dim=2)
    trusted = manifold.trustworthiness(X, Y, n_neighbors=k)
    continued = manifold.trustworthiness(Y, X, n_neighbors=k)
    for data in (X, graphs.knn(squareform(pdist(X)), 6, metric="precomputed")):
        found = sdpdr.quality(data, Y, n_neighbors=k)
        assert found.trustworthiness == pytest.approx(trusted)
        assert found.continuity == pytest.approx(continued)


def test_ranks_of_points_equally_far_follow_their_numbers():
    X = np.argwhere(np.ones((4, 5))).astype(float)
    Y = np.random.default_rng(1).standard_normal((len(X), 2))
    D = squareform(pdist(X))
    brute = 0.0
    for i in range(len(X)):
        order = [j for j in np.argsort(D[i], kind="stable") if j != i]
        near = [j for j in np.argsort(np.sum((Y - Y[i]) ** 2, axis=1)) if j != i][:3]
        brute += sum(max(0, order.index(j) + 1 - 3) for j in near)
    n = len(X)
    expected = 1.0 - 2.0 * brute / (n * 3 * (2 * n - 10))
    graph = graphs.knn(D, 3, metric="precomputed")
    assert sdpdr.quality(graph, Y, n_neighbors=3).trustworthiness == pytest.approx(expected)


def test_a_sample_estimates_the_whole_says_so_and_can_be_repeated(monkeypatch):
    X, Y = cloud(n=600), cloud(n=600)[:, :2]
    whole = sdpdr.quality(X, Y)
    monkeypatch.setattr("sdpdr.families.unfold.quality.QUICK", 200)
    part = sdpdr.quality(X, Y)
    assert part.trustworthiness == pytest.approx(whole.trustworthiness, abs=0.05)
    assert part.continuity == pytest.approx(whole.continuity, abs=0.05)
    assert part.trustworthiness != whole.trustworthiness
    assert part == sdpdr.quality(X, Y)
    assert (whole.sample, part.sample) == (None, 200)
    assert "200 points drawn" in str(part)
    assert "drawn" not in str(whole)


def test_folding_costs_trust_and_tearing_continuity():
    line = np.linspace(-1.0, 1.0, 60)[:, None] ** 3
    folded = sdpdr.quality(line, np.abs(line))
    assert folded.trustworthiness < folded.continuity - 0.02
    t = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    torn = sdpdr.quality(np.column_stack([np.cos(t), np.sin(t)]), t[:, None])
    assert torn.continuity < torn.trustworthiness - 0.01


def test_changes_of_lengths_known_by_hand():
    graph = graphs.path([1.0, 2.0, 4.0])
    Y = np.cumsum([0.0, 1.0, 1.0, 6.0])[:, None]
    np.testing.assert_allclose(edge_changes(graph, Y), [0.0, -0.5, 0.5])
    found = sdpdr.quality(graph, Y)
    assert (found.edge_rms, found.edge_max) == (pytest.approx(np.sqrt(1 / 6)), 0.5)
    assert found.edge_scale == pytest.approx(3.0 / (1.0 + 0.25 + 2.25))
    tried = [sdpdr.quality(graph, s * Y).edge_rms for s in np.linspace(0.5, 1.5, 201)]
    assert found.edge_rms_scaled == pytest.approx(min(tried), abs=1e-4)
    collapsed = sdpdr.quality(graph, np.zeros((4, 1)))
    assert (collapsed.edge_scale, collapsed.edge_rms_scaled, collapsed.edge_rms) == (0.0, 1.0, 1.0)


@given(seed=seeds)
@settings(max_examples=8)
def test_procrustes_agrees_with_scipy_and_recovers_a_motion(seed):
    truth, Y = cloud(seed, dim=2), cloud(seed + 1, dim=2)
    assert procrustes(truth, Y) ** 2 == pytest.approx(scipy_procrustes(truth, Y)[2])
    mirrored = turned(truth, seed, mirror=True) + 3.0
    assert procrustes(truth, mirrored, scaling=False) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(align(truth, -7.0 * turned(truth, seed)), truth)
    padded = np.column_stack([mirrored, np.zeros(len(truth))])
    assert procrustes(truth, padded) == pytest.approx(0.0, abs=1e-9)


def test_a_graph_takes_rows_of_nodes_or_of_samples():
    X = np.vstack([cloud(), cloud()[:5]])
    with pytest.warns(sdpdr.errors.DuplicatePointsWarning):
        graph = graphs.knn(X, 6)
    assert sdpdr.quality(graph, X) == sdpdr.quality(graph, X[:40])
    dropped = graph.subgraph(np.arange(5, 35))
    Y = np.where(dropped.index[:, None] >= 0, X, np.nan)
    assert sdpdr.quality(dropped, Y).edge_max < 1e-14


def test_a_graph_of_edges_alone_knows_lengths_only():
    found = sdpdr.quality(graphs.path([1.0, 1.0]), [[0.0], [1.0], [2.0]])
    assert found.trustworthiness is found.continuity is found.procrustes is found.share is None
    assert found.edge_rms == 0.0
    assert "trust" not in str(found)


def test_a_spectrum_gives_a_share():
    X = cloud()
    assert sdpdr.quality(X, X[:, :1], spectrum=[4, 9, -1e-9]).share == pytest.approx(9 / 13)


X0 = cloud()


@pytest.mark.parametrize(
    ("measure", "error", "words"),
    [
        (lambda: sdpdr.quality(X0, X0[:5]), ShapeError, "5 rows, but there are 40 nodes"),
        (lambda: sdpdr.quality(X0, X0[:, 0]), ShapeError, r"shape \(40,\)"),
        (lambda: sdpdr.quality(X0, X0 + np.nan), DataError, "NaN or infinity in rows 0, 1"),
        (lambda: sdpdr.quality(X0 + np.inf, X0), DataError, "infinity"),
        (lambda: sdpdr.quality(X0, X0, truth=X0[:3]), ShapeError, "truth has 3 rows"),
        (lambda: sdpdr.quality(X0, X0, n_neighbors=20), DataError, "in 1..19, fewer than half"),
        (lambda: sdpdr.quality(X0, X0, n_neighbors=0), DataError, "n_neighbors=0"),
        (lambda: sdpdr.quality(X0, X0, spectrum=[0.0]), DataError, "positive"),
        (lambda: edge_changes(graphs.path([1.0]), X0), ShapeError, "there are 2 nodes"),
        (lambda: procrustes(X0, X0[:4]), ShapeError, "truth has 40 rows"),
        (lambda: procrustes(X0, 0.0 * X0), DataError, "embedding coincide"),
        (lambda: procrustes(0.0 * X0, X0), DataError, "truth coincide"),
    ],
)
def test_what_cannot_be_used_is_named(measure, error, words):
    with pytest.raises(error, match=words):
        measure()
