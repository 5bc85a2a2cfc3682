"""Polishing factors: exact where a factorization is near, stationary where not."""

import numpy as np
import pytest

from sdpdr.errors import DataError, ShapeError
from sdpdr.nonnegative import balanced, partial_matrix, polish_factors

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.3]])


def planted(n, m, k, density=1.0, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.random((n, k)) * (rng.random((n, k)) < density)
    H = rng.random((k, m)) * (rng.random((k, m)) < density)
    return W, H


@pytest.mark.parametrize("density", [1.0, 0.5])
def test_factors_nearby_become_exact(density):
    for seed in range(5):
        W, H = planted(10, 10, 3, density, seed)
        noise = 0.01 * np.random.default_rng(100 + seed).standard_normal((20, 3))
        found = polish_factors(W @ H, W + noise[:10], H + noise[10:].T)
        assert found.error < 1e-12
        assert found.before > 1e-4
        assert min(found.W.min(), found.H.min()) >= 0.0


def test_known_entries_alone_are_fitted():
    W, H = planted(8, 7, 2, seed=3)
    X = W @ H
    gaps = np.random.default_rng(1).random(X.shape) < 0.3
    given = np.where(gaps, np.nan, X)
    found = polish_factors(given, W + 0.01, H + 0.01)
    assert found.error < 1e-13
    # Enough is known for the rest to follow.
    np.testing.assert_allclose(found.W @ found.H, X, atol=1e-9)


def test_scaling_the_matrix_scales_the_factors():
    W, H = planted(6, 5, 2, seed=2)
    small = polish_factors(1e-8 * (W @ H), 1e-4 * (W + 0.1), 1e-4 * (H + 0.1))
    plain = polish_factors(W @ H, W + 0.1, H + 0.1)
    np.testing.assert_allclose(small.W, 1e-4 * plain.W, rtol=1e-6)
    assert small.error < 1e-13


def test_balancing_keeps_the_product():
    W, H = planted(6, 5, 3, seed=4)
    W[:, 1] = 0.0
    left, right = balanced(100.0 * W, H)
    np.testing.assert_allclose(left @ right, 100.0 * (W @ H))
    np.testing.assert_allclose(np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=1))
    assert not right[1].any()


def test_missing_entries_are_read_and_masked():
    X = np.array([[1.0, np.nan, 4.0], [2.0, 3.0, 5.0]])
    known = partial_matrix(X, observed=[[True, True, False], [True, True, True]])
    assert known.positions().tolist() == [[0, 0], [1, 0], [1, 1], [1, 2]]
    np.testing.assert_array_equal(known.with_gaps(), [[1.0, np.nan, np.nan], [2.0, 3.0, 5.0]])
    assert known.norm == pytest.approx(np.sqrt(1.0 + 4.0 + 9.0 + 25.0))


@pytest.mark.parametrize(
    ("X", "observed", "error", "words"),
    [
        ([[1.0, -2.0]], None, DataError, r"X\[0, 1\] = -2"),
        ([[1.0, np.inf]], None, DataError, "infinity"),
        ([[0.0, 0.0]], None, DataError, "all entries of X are zero"),
        ([[1.0, np.nan], [2.0, np.nan]], None, DataError, "column 1 of X has no known entry"),
        ([[np.nan, np.nan], [2.0, 1.0]], None, DataError, "row 0 of X"),
        ([[1.0, 2.0]], [[True]], ShapeError, r"observed has shape \(1, 1\)"),
        ([1.0, 2.0], None, DataError, "2D"),
    ],
)
def test_matrices_that_cannot_be_factored_are_refused(X, observed, error, words):
    with pytest.raises(error, match=words):
        partial_matrix(X, observed)


@pytest.mark.parametrize(
    ("W", "H", "error", "words"),
    [
        (np.ones((2, 1)), np.ones((1, 3)), ShapeError, r"\(3, k\) and \(k, 3\)"),
        (np.ones((3, 2)), np.ones((1, 3)), ShapeError, "shapes"),
        (np.full((3, 1), np.nan), np.ones((1, 3)), DataError, "finite"),
    ],
)
def test_factors_that_do_not_fit_are_refused(W, H, error, words):
    with pytest.raises(error, match=words):
        polish_factors(V3, W, H)
