"""Lower bounds on all factorizations: oracles, soundness, and what is refused."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import NMF

import sdpdr
from sdpdr.errors import DataError, DataTypeError, ShapeError, UnknownNameError
from sdpdr.factorize import nonnegative_rank_bound

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


# -- the printed example --------------------------------------------------------------------------


# -- bounds ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def square():
    return sdpdr.nmf_bound(SQUARE, k=3, method="overlap")


@pytest.mark.nightly
@pytest.mark.integration
def test_three_components_of_the_square(square):
    """The rank is three and Eckart and Young prove nothing; the others do."""
    best = np.sqrt(2.0 - np.sqrt(2.0)) / np.sqrt(8.0)
    assert square.parts["eckart_young"] == 0.0
    assert square.lower / square.norm == pytest.approx(0.126004, abs=2e-6)
    for seconds in (0.2, 1.0, 5.0, 25.0):  # until something is proved, on a busy machine as well
        search = sdpdr.nmf_bound(SQUARE, k=3, method="cones", time_limit=seconds)
        assert search.upper / search.norm == pytest.approx(best, abs=1e-6)
        assert search.lower / search.norm <= best
        if search.lower > 0.0:
            break
    assert "TIME_LIMIT" in search.argument


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


@pytest.mark.parametrize("method", ["eckart_young", "overlap", "cones"])
def test_no_local_method_beats_a_bound(method):
    V = sparse(0, 4, 6)
    lower = sdpdr.nmf_bound(V, k=2, method=method, time_limit=0.3).lower
    for start in range(3):
        W, H = fitted(V, 2, start)
        assert lower <= np.linalg.norm(V - W @ H) + 1e-9


def test_the_program_is_never_worse_than_eckart_and_young():
    for seed in (2, 3):
        found = sdpdr.nmf_bound(sparse(seed, 7, 5), k=3, method="overlap")
        assert found.parts["overlap"] >= found.parts["eckart_young"] - 1e-5 * found.norm
    assert found.parts["overlap"] > 1.02 * found.parts["eckart_young"]


@pytest.mark.nightly
def test_an_inaccurate_solver_gives_a_bound_that_holds():
    V = sparse(0, 4, 5)
    exact = sdpdr.nmf_bound(V, k=2, method="overlap")
    rough = sdpdr.nmf_bound(V, k=2, method="overlap", solver=sdpdr.solvers.Scs(max_iter=20))
    assert rough.parts["overlap"] < exact.parts["overlap"]
    fine = sdpdr.nmf_bound(V, k=2, method="overlap", solver="scs")
    assert fine.parts["overlap"] == pytest.approx(exact.parts["overlap"], rel=1e-4)


@pytest.mark.parametrize("broken", ["none", "nan"])
def test_a_solver_without_multipliers_is_named(monkeypatch, broken):
    module = importlib.import_module("sdpdr.families.factor.nmf.nmf_bound")
    true = module.solve

    def failing(*arguments, **options):
        solution = true(*arguments, **options)
        duals = {name: np.nan * values for name, values in solution.duals.items()}
        duals = {} if broken == "none" else duals
        return replace(solution, duals=duals, status=sdpdr.Status.FAILED)

    monkeypatch.setattr(module, "solve", failing)
    found = sdpdr.nmf_bound(CLOSED, k=2, method="overlap")
    assert found.lower == found.parts["eckart_young"] > 0.0
    assert "clarabel gave no multipliers (FAILED)" in found.argument


def test_an_exact_factorization_has_the_bound_zero():
    rng = np.random.default_rng(0)
    W, H = rng.random((5, 3)), rng.random((3, 6))
    for method in ("auto", "overlap"):
        found = sdpdr.nmf_bound(W @ H, W, H, method=method)
        assert found.lower <= 1e-12
        assert found.gap < 1e-5


def test_one_component_is_closed_by_the_singular_pair():
    found = sdpdr.nmf_bound(LATIN, k=1)
    assert list(found.parts) == ["eckart_young"]
    assert found.gap < 1e-10
    assert "k=1" in repr(found)


# -- the non-negative rank ------------------------------------------------------------------------


def test_the_square_needs_more_components_than_its_rank():
    found = nonnegative_rank_bound(SQUARE)
    assert (found.lower, found.rank, found.fooling, found.upper) == (4, 3, 4, 4)
    assert found.ratio == pytest.approx(4.0, abs=1e-5)
    assert found.ratio <= 4.0 + 1e-12


@pytest.mark.integration
def test_scaled_rows_and_columns_need_as_many():
    rng = np.random.default_rng(0)
    V = np.diag(rng.random(4) + 0.01) @ SQUARE @ np.diag(10.0 ** rng.random(4))
    assert nonnegative_rank_bound(V, balance=False).ratio < 3.0
    balanced = nonnegative_rank_bound(V)
    assert np.ceil(balanced.ratio * (1.0 - 1e-12)) == 4
    assert balanced.ratio <= 4.0 + 1e-9


@pytest.mark.integration
def test_the_program_proves_more_than_zeros_can():
    """No entry is zero, so there is no fooling set; the rank is three."""
    V = SQUARE + 0.02
    found = nonnegative_rank_bound(V)
    assert (found.fooling, found.rank) == (1, 3)
    assert found.lower == 4
    assert found.argument == "the doubly nonnegative program"


# -- wrong input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1.0, 2.0], [3.0, -1.0]], r"X\[1, 1\] = -1"),
        ([[1.0, np.nan], [3.0, 1.0]], "NaN"),
        ([[0.0, 0.0], [0.0, 0.0]], "zero"),
    ],
)
def test_matrices_that_cannot_be_factored_are_named(X, words):
    with pytest.raises(DataError, match=words):
        sdpdr.nmf_bound(X, k=1)
    with pytest.raises(DataError, match=words):
        nonnegative_rank_bound(X)


def test_factors_that_do_not_fit_are_named():
    W, H = np.ones((3, 2)), np.ones((2, 3))
    with pytest.raises(ShapeError, match=r"needs W of shape \(3, k\).*components_"):
        sdpdr.nmf_bound(V3, W, H.T)
    with pytest.raises(ShapeError, match=r"\(4, 2\)"):
        sdpdr.nmf_bound(V3, np.ones((4, 2)), H)
    with pytest.raises(ShapeError, match="k=1, but W and H have 2"):
        sdpdr.nmf_bound(V3, W, H, 1)
    with pytest.raises(DataError, match="both W and H"):
        sdpdr.nmf_bound(V3, W)
    with pytest.raises(DataError, match=r"H\[1, 2\] = -0.5"):
        sdpdr.nmf_bound(V3, W, H - 1.5 * (np.arange(6) == 5).reshape(2, 3))
    with pytest.raises(DataError, match="W contains NaN"):
        sdpdr.nmf_bound(V3, W * np.nan, H)
    with pytest.raises(DataError, match="k=4 is out of range"):
        sdpdr.nmf_bound(V3, np.ones((3, 4)), np.ones((4, 3)))


def test_arguments_that_are_wrong_are_named():
    with pytest.raises(DataError, match="give k"):
        sdpdr.nmf_bound(V3)
    with pytest.raises(DataError, match="k=4 is out of range"):
        sdpdr.nmf_bound(V3, k=4)
    with pytest.raises(UnknownNameError, match="overlap"):
        sdpdr.nmf_bound(V3, k=2, method="overlaps")
    with pytest.raises(DataError, match="time_limit"):
        sdpdr.nmf_bound(V3, k=2, time_limit=0.0)


@pytest.mark.integration
def test_zero_rows_and_columns_cost_no_bound(square):
    """They leave the program as it is, and the factors zero."""
    wide = np.zeros((70, 9))
    wide[np.ix_([3, 10, 33, 69], [0, 2, 6, 8])] = SQUARE
    padded = sdpdr.nmf_bound(wide, k=3, method="overlap")
    assert padded.lower == pytest.approx(square.lower, rel=1e-6)
    assert padded.upper == pytest.approx(square.upper, rel=1e-6)
    assert padded.parts["overlap"] > padded.parts["eckart_young"]
    assert padded.W.shape == (70, 3)
    assert not padded.W[0].any()
    assert np.linalg.norm(wide - padded.W @ padded.H) == pytest.approx(padded.upper)


@pytest.mark.parametrize("shape", [(4, 5), (5, 3), (3, 3)])
@pytest.mark.parametrize("padding", [0, 2])
def test_as_many_components_as_rows_or_columns_leave_no_error(shape, padding):
    V = np.pad(np.random.default_rng(8).random(shape), ((0, padding), (0, padding)))
    for k in (min(shape), min(V.shape)):
        found = sdpdr.nmf_bound(V, k=k)
        assert found.upper == 0.0
        assert found.lower == 0.0
        assert found.gap == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_the_factorization_found_is_the_best_of_several_starts(seed):
    V = np.random.default_rng(seed).random((7, 5))
    found = sdpdr.nmf_bound(V, k=3, method="eckart_young")
    for init, start in (("nndsvda", 0), ("random", 1), ("random", 5)):
        nmf = NMF(3, init=init, random_state=start, max_iter=2000, tol=1e-6)
        error = np.linalg.norm(V - nmf.fit_transform(V) @ nmf.components_)
        assert found.upper <= error * (1.0 + 1e-6)


def test_a_gap_beside_the_matrix_tells_unconverged_from_bad():
    """An exact matrix, factored to 1e-6: the whole error might be saved, but it is small."""
    rng = np.random.default_rng(0)
    W, H = rng.random((12, 3)), rng.random((3, 10))
    found = sdpdr.nmf_bound(W @ H, W * (1.0 + 1e-6 * rng.standard_normal(W.shape)), H)
    assert found.gap == pytest.approx(1.0, abs=1e-6)
    assert 1e-8 < found.norm_gap < 1e-5
    assert f"{found.norm_gap:.1e} of the norm" in repr(found)


@pytest.mark.parametrize("shape", [(12, 9), (80, 40)])
def test_sparse_matrices_are_bounded_as_dense_ones(shape):
    X = sp.random_array(shape, density=0.3, format="csr", rng=np.random.default_rng(0))
    W, H = fitted(X.toarray(), 3)
    whole = sdpdr.nmf_bound(X.toarray(), W, H, method="eckart_young")
    for given in (X, X.tocoo()):
        found = sdpdr.nmf_bound(given, W, H, method="eckart_young")
        assert found.lower == pytest.approx(whole.lower, rel=1e-8)
        assert found.upper == pytest.approx(whole.upper, rel=1e-8)
    alone = sdpdr.nmf_bound(X, k=3)
    assert whole.lower * (1.0 - 1e-8) <= alone.lower <= alone.upper
    assert ("overlap" in alone.parts) == (sum(shape) <= 60)
    with pytest.raises(DataTypeError, match="method='eckart_young', or X.toarray"):
        sdpdr.nmf_bound(X, k=3, method="overlap")
