"""Lower bounds on all factorizations: oracles, soundness, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import NMF

import sdpdr
from sdpdr.errors import DataError, DataTypeError, ShapeError, UnknownNameError
from sdpdr.factorize import nonnegative_rank_bound
from sdpdr.families.factor.nmf import bounds

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.30]])
SQUARE = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=float)
LATIN = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]], dtype=float)
CLOSED = np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])


def sparse(seed, n, m):
    rng = np.random.default_rng(seed)
    return rng.random((n, m)) * (rng.random((n, m)) < 0.5)


def fitted(V, k, seed=0):
    nmf = NMF(k, init="random", random_state=seed, tol=1e-8, max_iter=20_000)
    return nmf.fit_transform(V), nmf.components_


def test_one_program_proves_the_best_of_a_matrix_that_eckart_and_young_do_not():
    W, H = fitted(CLOSED, 2)
    found = sdpdr.nmf_bound(CLOSED, W, H)
    assert list(found.parts) == ["eckart_young", "overlap"]
    assert found.parts["eckart_young"] / found.norm == pytest.approx(0.225953, abs=1e-6)
    assert found.lower / found.norm == pytest.approx(0.250947, abs=1e-6)
    assert found.gap < 1e-4
    np.testing.assert_array_equal(found.W, W)


@pytest.mark.integration
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_two_components_of_random_matrices_are_closed_by_the_program(seed):
    """Not a theorem: on some matrices a gap is left."""
    V = sparse(seed, 4, 5)
    found = sdpdr.nmf_bound(V, k=2, method="overlap")
    assert found.gap < 1e-6
    assert found.W.min() >= 0.0 <= found.H.min()
    np.testing.assert_allclose(np.linalg.norm(V - found.W @ found.H), found.upper)
    assert found.parts["eckart_young"] < 0.999 * found.lower


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize("method", ["eckart_young", "overlap", "cones"])
def test_no_local_method_beats_a_bound(method):
    V = sparse(3, 4, 6)
    W, H = fitted(V, 2, 0)
    found = sdpdr.nmf_bound(V, W, H, method=method, time_limit=0.1 if method == "cones" else 10.0)
    if method == "overlap":
        assert found.parts["overlap"] > found.parts["eckart_young"]
    for start in range(3):
        W, H = fitted(V, 2, start)
        assert found.lower <= np.linalg.norm(V - W @ H) + 1e-9


@pytest.mark.nightly
def test_an_inaccurate_solver_gives_a_bound_that_holds():
    V = sparse(0, 4, 5)
    exact = sdpdr.nmf_bound(V, k=2, method="overlap")
    rough = sdpdr.nmf_bound(V, k=2, method="overlap", solver=sdpdr.solvers.Scs(max_iter=20))
    assert rough.parts["overlap"] < exact.parts["overlap"]
    fine = sdpdr.nmf_bound(V, k=2, method="overlap", solver="scs")
    assert fine.parts["overlap"] == pytest.approx(exact.parts["overlap"], rel=1e-4)


def test_a_solver_without_multipliers_is_named(monkeypatch):
    true = bounds.solve(bounds.nmf_overlap(CLOSED / np.linalg.norm(CLOSED), 2), "clarabel")
    for duals in ({}, {name: np.nan * values for name, values in true.duals.items()}):
        failed = replace(true, duals=duals, status=sdpdr.Status.FAILED)
        monkeypatch.setattr(bounds, "solve", lambda *_, failed=failed, **__: failed)
        found = sdpdr.nmf_bound(CLOSED, k=2, method="overlap")
        assert found.lower == found.parts["eckart_young"] > 0.0
        assert "clarabel gave no multipliers (FAILED)" in found.argument


def test_an_exact_factorization_has_the_bound_zero_and_a_gap_beside_the_matrix():
    rng = np.random.default_rng(0)
    W, H = rng.random((5, 3)), rng.random((3, 6))
    found = sdpdr.nmf_bound(W @ H, W, H)
    assert found.lower <= 1e-12
    assert found.gap < 1e-5
    # Factored to 1e-6: the whole error might be saved, but it is small beside the matrix.
    found = sdpdr.nmf_bound(W @ H, W * (1.0 + 1e-6 * rng.standard_normal(W.shape)), H)
    assert found.gap == pytest.approx(1.0, abs=1e-6)
    assert 1e-8 < found.norm_gap < 1e-5
    assert f"{found.norm_gap:.1e} of the norm" in repr(found)


def test_one_component_is_closed_by_the_singular_pair():
    found = sdpdr.nmf_bound(LATIN, k=1)
    assert list(found.parts) == ["eckart_young"]
    assert found.gap < 1e-10
    assert "k=1" in repr(found)


def test_as_many_components_as_rows_or_columns_leave_no_error():
    for shape, padding in (((4, 5), 0), ((5, 3), 2), ((3, 3), 2)):
        V = np.pad(np.random.default_rng(8).random(shape), ((0, padding), (0, padding)))
        for k in (min(shape), min(V.shape)):
            found = sdpdr.nmf_bound(V, k=k)
            assert (found.upper, found.lower, found.gap) == (0.0, 0.0, 0.0)


def test_the_factorization_found_is_the_best_of_several_starts():
    for seed in range(2):
        V = np.random.default_rng(seed).random((7, 5))
        found = sdpdr.nmf_bound(V, k=3, method="eckart_young")
        for init, start in (("nndsvda", 0), ("random", 1), ("random", 5)):
            nmf = NMF(3, init=init, random_state=start, max_iter=2000, tol=1e-6)
            error = np.linalg.norm(V - nmf.fit_transform(V) @ nmf.components_)
            assert found.upper <= error * (1.0 + 1e-6)


@pytest.mark.integration
def test_zero_rows_and_columns_cost_no_bound():
    """They leave the program as it is, and the factors zero."""
    wide = np.zeros((70, 9))
    wide[np.ix_([3, 10, 69], [0, 2, 8])] = CLOSED
    padded = sdpdr.nmf_bound(wide, k=2)
    assert padded.lower / padded.norm == pytest.approx(0.250947, rel=1e-5)
    assert padded.upper / padded.norm == pytest.approx(0.250947, rel=1e-5)
    assert padded.W.shape == (70, 2)
    assert not padded.W[0].any()
    assert np.linalg.norm(wide - padded.W @ padded.H) == pytest.approx(padded.upper)


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize("shape", [(9, 6), (80, 40)])
def test_sparse_matrices_are_bounded_as_dense_ones(shape):
    X = sp.random_array(shape, density=0.3, format="csr", rng=np.random.default_rng(0))
    W, H = fitted(X.toarray(), 3)
    whole = sdpdr.nmf_bound(X.toarray(), W, H, method="eckart_young")
    for given in (X, X.tocoo()):
        found = sdpdr.nmf_bound(given, W, H, method="eckart_young")
        assert found.lower == pytest.approx(whole.lower, rel=1e-8)
        assert found.upper == pytest.approx(whole.upper, rel=1e-8)
    alone = sdpdr.nmf_bound(X, k=3, time_limit=0.5)
    assert whole.lower * (1.0 - 1e-8) <= alone.lower <= alone.upper
    assert ("overlap" in alone.parts) == (sum(shape) <= 60)
    with pytest.raises(DataTypeError, match="method='eckart_young', or X.toarray"):
        sdpdr.nmf_bound(X, k=3, method="overlap")


# -- the nonnegative rank --------------------------------------------------------------------------


@pytest.mark.integration
def test_the_square_needs_more_components_than_its_rank():
    found = nonnegative_rank_bound(SQUARE)
    assert (found.lower, found.rank, found.upper) == (4, 3, 4)
    assert found.ratio == pytest.approx(4.0, abs=1e-5)
    assert found.ratio <= 4.0 + 1e-12
    # Without a zero too.
    found = nonnegative_rank_bound(SQUARE + 0.02)
    assert (found.lower, found.rank) == (4, 3)
    assert found.argument == "the doubly nonnegative program"


@pytest.mark.nightly
def test_scaled_rows_and_columns_need_as_many():
    rng = np.random.default_rng(0)
    V = np.diag(rng.random(4) + 0.01) @ SQUARE @ np.diag(10.0 ** rng.random(4))
    assert bounds._ratio(V, "auto") < 3.0
    found = nonnegative_rank_bound(V)
    assert np.ceil(found.ratio * (1.0 - 1e-12)) == 4
    assert found.ratio <= 4.0 + 1e-9


# -- wrong input -----------------------------------------------------------------------------------


def test_arguments_that_are_wrong_are_named():
    for arguments, options, error, words in [
        ((np.ones((3, 2)), np.ones((3, 2))), {}, ShapeError, r"needs W of shape \(3, k\).*compone"),
        ((np.ones((4, 2)), np.ones((2, 3))), {}, ShapeError, r"\(4, 2\)"),
        ((np.ones((3, 2)), np.ones((2, 3)), 1), {}, ShapeError, "k=1, but W and H have 2"),
        ((np.ones((3, 2)),), {}, DataError, "both W and H"),
        ((np.ones((3, 2)), -0.5 * np.eye(2, 3)), {}, DataError, r"H\[0, 0\] = -0.5"),
        ((np.nan * np.ones((3, 2)), np.ones((2, 3))), {}, DataError, "W contains NaN"),
        ((np.ones((3, 4)), np.ones((4, 3))), {}, DataError, "k=4 is out of range"),
        ((), {}, DataError, "give k"),
        ((), {"k": 4}, DataError, "k=4 is out of range"),
        ((), {"k": 2, "method": "overlaps"}, UnknownNameError, "overlap"),
        ((), {"k": 2, "time_limit": 0.0}, DataError, "time_limit"),
    ]:
        with pytest.raises(error, match=words):
            sdpdr.nmf_bound(V3, *arguments, **options)
