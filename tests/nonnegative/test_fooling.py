"""Fooling sets bound the non-negative rank by the zeros alone."""

import numpy as np
import pytest

from sdpdr.errors import DataError
from sdpdr.nonnegative import fooling_set

SQUARE = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])


def test_no_two_places_share_a_positive_rectangle():
    for seed in range(20):
        V = np.random.default_rng(seed).random((6, 7))
        V[V < 0.5] = 0.0
        places = fooling_set(V)
        for at, (i, j) in enumerate(places):
            assert V[i, j] > 0.0
            for other in places[:at]:
                assert V[i, other[1]] * V[other[0], j] == 0.0


def test_it_never_exceeds_the_components_of_a_planted_factorization():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        W = rng.random((8, 3)) * (rng.random((8, 3)) < 0.5)
        H = rng.random((3, 8)) * (rng.random((3, 8)) < 0.5)
        if (W @ H).any():
            assert len(fooling_set(W @ H)) <= 3


@pytest.mark.parametrize(
    ("V", "size"),
    [(np.eye(5), 5), (np.triu(np.ones((4, 4))), 4), (np.ones((3, 4)), 1), (SQUARE, 4)],
    ids=["diagonal", "triangle", "ones", "square"],
)
def test_sizes_that_are_known(V, size):
    assert len(fooling_set(V)) == size


def test_a_negative_entry_is_named():
    with pytest.raises(DataError, match=r"X\[0, 0\] = -1"):
        fooling_set([[-1.0]])
