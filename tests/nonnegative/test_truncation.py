"""Factors and bounds that need no search: singular vectors, rank two."""

import numpy as np
import pytest

from sdpdr.families.factor.nonnegative.truncation import closed_form, eckart_young_bound
from sdpdr.nonnegative import clipped_svd

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.30]])
LATIN = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]], dtype=float)
SQUARE = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
_rng = np.random.default_rng(0)
RANDOM = _rng.random((4, 2)) @ _rng.random((2, 3))


def error(V, W, H):
    assert W.min() >= 0.0
    assert H.min() >= 0.0
    return np.linalg.norm(V - W @ H) / np.linalg.norm(V)


def tail(V, k):
    return np.linalg.norm(np.linalg.svd(V)[1][k:]) / np.linalg.norm(V)


def test_errors_of_clipping_two_components():
    for V, clipped in ((V3, 0.134317), (RANDOM, 0.040215), (LATIN, 0.345033)):
        for scaled in (V, 9.0 * V, V.T):
            assert error(scaled, *clipped_svd(scaled, 2)) == pytest.approx(clipped, abs=5e-7)


def test_of_rank_two_the_closed_form_attains_eckart_and_young():
    assert error(V3, *closed_form(V3, 2)) == pytest.approx(tail(V3, 2), abs=1e-14)
    assert tail(V3, 2) == pytest.approx(0.030549, abs=5e-7)
    for seed in range(50):
        rng = np.random.default_rng(seed)
        keep = rng.random((6, 5)) < 0.9
        V = rng.random((6, 2)) * keep[:, :2] @ (rng.random((2, 5)) * keep[:2])
        if V.any():
            assert error(V, *closed_form(V, 2)) < 1e-13
    assert closed_form(np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]]), 2) is None


def test_one_component_is_always_the_leading_pair():
    for V in (V3, LATIN, np.array([[0.0, 1.0], [1.0, 0.0]]), np.kron(np.eye(2), np.ones((2, 3)))):
        assert error(V, *closed_form(V, 1)) == pytest.approx(tail(V, 1), abs=1e-14)


def test_the_tail_is_no_more_than_it_is():
    for seed in range(20):
        V = np.random.default_rng(seed).random((5, 4))
        exact = tail(V, 2) * np.linalg.norm(V)
        assert eckart_young_bound(V, 2) == pytest.approx(exact, rel=1e-12)
        assert eckart_young_bound(V, 4) == 0.0
    # A matrix of rank two: what is left is rounding, and not counted.
    assert eckart_young_bound(RANDOM, 2) == 0.0
    assert tail(RANDOM, 2) > 0.0
