"""Matrices kept apart do what the same matrices do multiplied out."""

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sdpdr import graphs
from sdpdr.linalg.inertia import is_positive_on
from sdpdr.linalg.outer import Outer

N = 450


@pytest.fixture(scope="module")
def lowered():
    """A Laplacian less side information of three columns, and the vector both kill."""
    rng = np.random.default_rng(0)
    graph = graphs.knn(rng.standard_normal((N, 2)), n_neighbors=6, connect="mst")
    columns = rng.standard_normal((N, 3))
    columns -= columns.mean(axis=0)
    return Outer(graph.laplacian(), columns, np.array([-1e-3, -2e-3, -1e-3])), np.ones((N, 1))


def test_products_sums_and_entries(lowered):
    matrix, _ = lowered
    dense, rng = matrix.toarray(), np.random.default_rng(1)
    x, X = rng.standard_normal(N), rng.standard_normal((N, 2))
    np.testing.assert_allclose(matrix @ x, dense @ x, atol=1e-12)
    np.testing.assert_allclose(matrix @ X, dense @ X, atol=1e-12)
    np.testing.assert_allclose(X.T @ matrix, X.T @ dense, atol=1e-12)
    np.testing.assert_allclose(matrix.diagonal(), np.diagonal(dense), atol=1e-13)
    assert matrix.largest() == np.abs(dense).max()
    eye = sp.eye_array(N, format="csr")
    for mine, theirs in (
        (matrix + eye, dense + np.eye(N)),
        (eye - matrix, np.eye(N) - dense),
        (-2.0 * matrix, -2.0 * dense),
        (matrix + matrix, 2.0 * dense),
    ):
        assert isinstance(mine, Outer)
        np.testing.assert_allclose(mine.toarray(), theirs, atol=1e-12)
    assert isinstance(matrix + np.eye(N), np.ndarray)
    np.testing.assert_array_equal(matrix * dense, dense * dense)
    np.testing.assert_array_equal(np.asarray(matrix), dense)


@given(st.integers(0, 10**6), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_the_inertia_of_a_large_matrix_follows_from_borders(seed, adding, taking, centred):
    """Columns of both signs, with and without the vector of ones, agree with the dense matrix."""
    rng, n = np.random.default_rng(seed), 40
    chain = sp.diags_array([-np.ones(n - 1), np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    columns = rng.standard_normal((n, adding + taking)) / np.sqrt(n)
    signs = np.repeat([1.0, -1.0], [adding, taking]) * rng.uniform(0.5, 3.0, adding + taking)
    matrix = Outer(sp.csr_array(chain), columns, signs)
    null = np.ones((n, 1)) if centred else np.zeros((n, 0))
    basis = np.linalg.qr(np.hstack([null, np.eye(n)]))[0][:, null.shape[1] : n]
    low = np.linalg.eigvalsh(basis.T @ matrix.toarray() @ basis)[0]
    with patch("sdpdr.linalg.outer._DENSE", 10):
        for shift, positive in ((low - 1e-6, True), (low + 1e-6, False)):
            shifted = matrix - shift * sp.eye_array(n, format="csr")
            assert is_positive_on(shifted, null) is positive
