"""The one convention for symmetric matrices as vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sdpdr.linalg import smat, svec, svec_index, svec_size
from sdpdr.linalg.svec import full_from_svec, svec_pairs

LARGEST = 100_000


def symmetric(n, seed):
    root = np.random.default_rng(seed).standard_normal((n, n))
    return root + root.T


@pytest.mark.parametrize("n", [1, 2, 7])
def test_inner_products_are_kept_and_smat_undoes_svec(n):
    a, b = symmetric(n, 0), symmetric(n, 1)
    assert svec(a).shape == (svec_size(n),)
    assert svec(a) @ svec(b) == pytest.approx(np.sum(a * b))
    np.testing.assert_allclose(smat(svec(a)), a, rtol=1e-15)
    assert np.array_equal(smat(svec(a)), smat(svec(a)).T)
    np.testing.assert_allclose(full_from_svec(n) @ svec(a), a.ravel(order="F"), rtol=1e-15)


def test_an_entry_stands_where_svec_index_says():
    n = 5
    vector = svec(np.arange(n * n).reshape(n, n) @ np.eye(n) + np.arange(n * n).reshape(n, n).T)
    for i in range(n):
        for j in range(i, n):
            entry = n * i + j + n * j + i
            assert vector[svec_index(i, j)] == pytest.approx(entry * (1 if i == j else np.sqrt(2)))


@settings(derandomize=True)
@given(
    arrays(np.int64, st.integers(1, 20), elements=st.integers(0, LARGEST - 1)),
    st.integers(0, LARGEST - 1),
)
def test_pairs_undo_index_up_to_large_orders(i, j):
    low, high = svec_pairs(svec_index(i, j))
    assert np.array_equal(low, np.minimum(i, j))
    assert np.array_equal(high, np.maximum(i, j))
