"""Factors from singular vectors: clipped, and exact up to rank two."""

import numpy as np
import pytest

from sdpdr.errors import DataError
from sdpdr.nonnegative import clipped_svd, rank_two, singular_tail

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.30]])
LATIN = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]], dtype=float)
_rng = np.random.default_rng(0)
RANDOM = _rng.random((4, 2)) @ _rng.random((2, 3))


def error(V, W, H):
    assert W.min() >= 0.0
    assert H.min() >= 0.0
    return np.linalg.norm(V - W @ H) / np.linalg.norm(V)


def tail(V, k):
    return np.linalg.norm(np.linalg.svd(V)[1][k:]) / np.linalg.norm(V)


@pytest.mark.parametrize(
    ("V", "clipped", "refitted"),
    [(V3, 0.134317, 0.131084), (RANDOM, 0.040215, None), (LATIN, 0.345033, None)],
    ids=["V3", "random", "latin"],
)
def test_errors_of_clipping_two_components(V, clipped, refitted):
    assert error(V, *clipped_svd(V, 2)) == pytest.approx(clipped, abs=5e-7)
    again = error(V, *clipped_svd(V, 2, refit=True))
    assert again <= clipped + 1e-12
    if refitted is not None:
        assert again == pytest.approx(refitted, abs=5e-7)


def test_clipping_is_scaled_with_the_matrix_and_turned_with_it():
    W, H = clipped_svd(V3, 2)
    for A, B, V in ((*clipped_svd(9.0 * V3, 2), 9.0 * V3), (*clipped_svd(V3.T, 2), V3.T)):
        assert error(V, A, B) == pytest.approx(error(V3, W, H))


def test_of_rank_two_the_closed_form_attains_eckart_and_young():
    W, H = rank_two(V3)
    assert error(V3, W, H) == pytest.approx(tail(V3, 2), abs=1e-14)
    assert error(V3, W, H) == pytest.approx(0.030549, abs=5e-7)
    assert error(RANDOM, *rank_two(RANDOM)) < 1e-14


def test_of_rank_two_the_closed_form_is_exact_for_random_matrices():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        keep = rng.random((6, 5)) < 0.9
        V = rng.random((6, 2)) * keep[:, :2] @ (rng.random((2, 5)) * keep[:2])
        if V.any():
            assert error(V, *rank_two(V)) < 1e-13


def test_one_component_is_always_the_leading_pair():
    for V in (V3, LATIN, np.array([[0.0, 1.0], [1.0, 0.0]]), np.kron(np.eye(2), np.ones((2, 3)))):
        W, H = rank_two(V, 1)
        assert W.shape[1] == H.shape[0] == 1
        assert error(V, W, H) == pytest.approx(tail(V, 1), abs=1e-14)


def test_where_the_truncation_has_a_negative_entry_it_is_named():
    with pytest.raises(DataError, match=r"entry -0\.\d+ at \[2, 1\].*cone_search"):
        rank_two([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])
    with pytest.raises(DataError, match="k=3: the closed form is for one and two"):
        rank_two(V3, 3)


def test_the_tail_is_no_more_than_it_is():
    for seed in range(20):
        V = np.random.default_rng(seed).random((5, 4))
        assert singular_tail(V, 2) == pytest.approx(tail(V, 2) * np.linalg.norm(V), rel=1e-12)
        assert singular_tail(V, 4) == 0.0
    # A matrix of rank two: what is left is rounding, and not counted.
    assert singular_tail(RANDOM, 2) == 0.0
    assert tail(RANDOM, 2) > 0.0


@pytest.mark.parametrize("make", [clipped_svd, rank_two])
def test_wrong_input_is_named(make):
    with pytest.raises(DataError, match=r"X\[0, 1\] = -2"):
        make([[1.0, -2.0], [3.0, 4.0]], 1)
    with pytest.raises(DataError, match="zero"):
        make(np.zeros((2, 2)), 1)
    with pytest.raises(DataError, match="k=3 is out of range"):
        make([[1.0, 2.0], [3.0, 4.0]], 3)
