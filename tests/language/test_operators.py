"""An expression and the same words in NumPy have the same values, at any point."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import Model, matrix, maximize, psd, scalar, symmetric
from sdpdr.errors import ModelError
from sdpdr.model.affine import Affine, evaluate
from sdpdr.program.point import Factor

N, M = 4, 3
K = psd("K", N)
S = symmetric("S", 3)
w = scalar("w", M)
t = scalar("t")
X = matrix("X", (2, 3))


def point(rng):
    factor = rng.standard_normal((N, 2))
    return {
        "K": factor @ factor.T,
        "S": rng.standard_normal(6),
        "w": rng.standard_normal(M),
        "t": rng.standard_normal(1),
        "X": rng.standard_normal(6),
    }


def value(expression, values):
    affine = Affine.of(expression)
    return evaluate(affine, values).reshape(affine.shape)


@pytest.mark.nightly
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6))
def test_both_compilers_and_the_terms_agree(seed):
    rng = np.random.default_rng(seed)
    i, j, k = rng.integers(0, N, (3, 5))
    A = rng.standard_normal((2, N))
    model = (
        maximize(K.trace() - 2.0 * t + w @ rng.standard_normal(M) - 3.0 * abs(w).sum())
        + (K.distance2(i, j) <= K.distance2(i, k)).named("order")
        + (A @ K @ A.T + S[:2, :2] >> t * np.eye(2))
        + (K[i, j] + w.sum() == rng.standard_normal(5))
        + (sdpdr.pos(X @ np.ones(3) - 1.0) * 2.0)
        + (X[0] >= w)
        + (S << 5.0 * np.eye(3))
    )
    for block in model.blocks:
        if not block.declares:
            assert "compilers" in sdpdr.check_block(block, seed=seed)
    values = point(rng)
    sdp = model.to_sdp()
    factor = {**values, "K": Factor.of(values["K"])}
    assert model.violations(values) == pytest.approx(model.violations(factor), abs=1e-7)
    assert set(model.violations(values)) <= set(sdp.labels)


def test_parts_of_a_matrix_stay_as_sparse_as_they_are_written():
    n = 50_000
    large = psd("K", n)
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    lengths = large.distance2(edges)
    assert lengths.maps["K"].n_entries < 5 * n
    assert large.trace().maps["K"].n_entries == n
    assert large[0, [1, 2]].maps["K"].matrix().nnz == 2
    assert large.inner(sp.eye_array(n, format="csr")).maps["K"].n_entries == n
    model = Model(()) + maximize(large.trace()) + (lengths <= 1.0)
    assert model.to_sdp().n_rows == n - 1


def test_the_trace_of_a_product_is_as_sparse_as_its_numbers():
    n = 20_000
    large, ones = psd("L", n), np.ones(n)
    ladder = sp.diags_array([ones[1:], 2.0 * ones, ones[1:]], offsets=[-1, 0, 1], format="csr")
    for product in (ladder @ large, large @ ladder):
        assert product.trace().maps["L"].n_entries == 3 * n - 2
        with pytest.raises(ModelError, match=r"20000 x 20000 values.*too many"):
            product.affine()
    assert (ladder @ large @ ladder).trace().maps["L"].n_entries == 5 * n - 6


def test_numpy_and_scipy_leave_operators_to_expressions():
    ones = np.ones(M)
    for expression in (ones + w, ones * w, ones - w, np.eye(M) @ w, sp.eye_array(M) @ w):
        assert isinstance(expression, Affine)
    assert (ones <= w).relation == ">="
    assert (np.eye(3) >> S).relation == "<<"


SIDES = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.mark.parametrize("left", SIDES)
@pytest.mark.parametrize("right", SIDES)
def test_products_from_both_sides_are_those_of_arrays(left, right):
    rng = np.random.default_rng(0)
    values = point(rng)
    A, B, C = (rng.standard_normal(shape) for shape in ((2, N), (N, 2), (N, N)))
    L, R, M, k = SIDES[left](A), SIDES[right](B), SIDES[left](C), values["K"]
    found = [L @ K @ R, L @ (K @ R), (L @ K).T, L @ K @ B[:, 0], A[0] @ (K @ R), (K @ R)[1:, 0]]
    known = [A @ k @ B, A @ k @ B, (A @ k).T, A @ k @ B[:, 0], A[0] @ k @ B, (k @ B)[1:, 0]]
    found += [(M @ K).trace(), np.trace(K @ M), (M @ K @ M).trace(), (L @ K @ R).trace()]
    known += [np.trace(C @ k), np.trace(k @ C), np.trace(C @ k @ C), np.trace(A @ k @ B)]
    for expression, array in zip(found, known, strict=True):
        assert expression.shape == array.shape
        np.testing.assert_allclose(value(expression, values), array, rtol=1e-12, atol=1e-12)
