"""Factorization by convex iteration: oracles, what it may claim, how it ends and goes on."""

from pathlib import Path

import numpy as np
import pytest

import sdpdr
from sdpdr import check_block, methods
from sdpdr.blocks import Close, FactorLift, HoyerSparsity, SmallProducts
from sdpdr.datasets import random_nonnegative
from sdpdr.errors import DataError, ModelError, ShapeError, SolveFailedError, UnknownNameError
from sdpdr.factorize import nmf
from sdpdr.iterate import IterationStatus, Schur, Trailing
from sdpdr.program import Factor

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.3]])
VS = np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
RNG = np.random.default_rng(0)
VR = RNG.random((4, 2)) @ RNG.random((2, 3))
RICE = Path(__file__).parents[2] / "../shared/data/rice.png"
TAIL = np.linalg.svd(V3)[1][2]


def hoyer(x):
    x, root = np.ravel(x), np.sqrt(np.size(x))
    return (root - np.abs(x).sum() / np.linalg.norm(x)) / (root - 1.0)


# -- the program alone ------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize(("solver", "form"), [
    ("clarabel", "lmi"), ("clarabel", "gram"), ("sdpa", "gram"), ("cvxopt", "gram"),
    ("scs", "gram"), ("lowrank", "factor"),
])  # fmt: skip
def test_the_program_alone_finds_the_trace_norm(solver, form):
    solution = sdpdr.solve(methods.nmf_lift(V3, 2), solver, form, tol=1e-7)
    assert solution.value == pytest.approx(3.148557, abs=2e-6)
    assert solution.value == pytest.approx(2 * np.linalg.norm(V3, "nuc"), rel=1e-6)
    assert solution.gap < 1e-6


def test_a_radius_is_the_frobenius_distance():
    """The inequality holds exactly up to the radius, for any number of entries."""
    for p in (1, 2, 3, 5, 12):
        pairs = np.column_stack([np.zeros(p, dtype=int), 1 + np.arange(p)])
        values = np.random.default_rng(p).standard_normal(p)
        block = Close(p + 1, pairs, values, 0.5)
        check_block(block)
        cone, trace = block.terms()
        step = np.random.default_rng(p + 1).standard_normal(p)
        step *= 0.5 / np.linalg.norm(step)
        for stretch, inside in ((0.999, True), (1.001, False)):
            Z = np.zeros((p + 1, p + 1))
            Z[0, 1:] = Z[1:, 0] = values + stretch * step
            best = least_outside(cone, trace, Z, block)
            assert (best <= 1e-9) == inside


def least_outside(cone, trace, Z, block):
    """With T = R'R / radius, the only candidate: what its trace has too much."""
    from sdpdr.linalg import smat, svec
    from sdpdr.model.affine import evaluate

    b = block.columns
    M = smat(evaluate(cone.lhs, {"Z": Z, "T": np.zeros(b * (b + 1) // 2)}))
    R = M[b:, :b]
    T = svec(R.T @ R / block.radius)
    M = smat(evaluate(cone.lhs, {"Z": Z, "T": T}))
    assert np.linalg.eigvalsh(M)[0] > -1e-12
    return float(evaluate(trace.lhs, {"Z": Z, "T": T})[0] - trace.rhs[0])


@pytest.mark.parametrize(
    "block",
    [
        Close(5, [[0, 3], [1, 4], [2, 4]], [1.0, 2.0, 3.0], 0.5),
        HoyerSparsity(FactorLift(2, 3, 2), 0.4),
        SmallProducts(2, 2, 1),
    ],
)
def test_blocks_keep_the_laws(block):
    assert "compilers: standard form and cvxpy agree" in check_block(block)


# -- what majorises what ----------------------------------------------------------------------


def test_the_excess_lies_between_multiples_of_the_eigenvalue_tail():
    """tail <= S <= (1 + |T|^2) tail with T read off the best matrix of rank k."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        k, n = rng.integers(1, 4), rng.integers(2, 7)
        X, extra = rng.random((n, k)), rng.standard_normal((n, n))
        Y = X @ X.T + rng.random() * extra @ extra.T
        Z = np.block([[np.eye(k), X.T], [X, Y]])
        excess, tail = Schur(int(k)).excess(Z), Trailing(int(k)).excess(Z)
        values, vectors = np.linalg.eigh(Z)
        cut = (vectors[:, -k:] * values[-k:]) @ vectors[:, -k:].T
        T = cut[k:, :k] @ np.linalg.inv(cut[:k, :k])
        assert tail <= excess * (1.0 + 1e-12)
        assert excess <= (1.0 + np.linalg.norm(T, 2) ** 2) * tail * (1.0 + 1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("direction", ["schur", "trailing"])
def test_the_excess_never_rises_within_a_start(direction):
    X, _ = random_nonnegative(5, 5, rank=3, density=0.6, seed=0)
    found = nmf(X, 3, direction=direction, starts=1, max_iter=6, polish=False, seed=0)
    excesses = [r.excess for r in found.history]
    assert len(excesses) > 2
    assert np.all(np.diff(excesses) <= 1e-5)


# -- oracles of the iteration -----------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize(("n", "k", "density"), [
    (5, 2, 1.0), (5, 2, 0.7), pytest.param(8, 4, 1.0, marks=pytest.mark.nightly),
    pytest.param(10, 3, 1.0, marks=pytest.mark.nightly),
    pytest.param(6, 3, 0.6, marks=pytest.mark.nightly),
    pytest.param(10, 3, 0.5, marks=pytest.mark.nightly),
])  # fmt: skip
def test_planted_factorizations_are_found_and_exact(n, k, density):
    for seed in range(2):
        X, _ = random_nonnegative(n, n, rank=k, density=density, seed=seed)
        found = nmf(X, k, seed=seed)
        assert found.status is IterationStatus.RANK_REACHED
        W, H = found.factors()
        assert min(W.min(), H.min()) >= 0.0
        assert np.linalg.norm(W @ H - X) <= 1e-12 * np.linalg.norm(X)


@pytest.mark.nightly
@pytest.mark.integration
def test_without_a_factorization_the_trace_norm_is_least():
    """Excess 2 sigma_3, and factors at the error of Eckart and Young."""
    found = nmf(V3, 2, starts=1)
    assert found.status is IterationStatus.STALLED
    assert found.excess == pytest.approx(0.080509, abs=1e-6)
    assert found.excess == pytest.approx(2.0 * TAIL, rel=1e-5)
    assert found.errors[-1] == pytest.approx(0.030549, abs=1e-6)
    assert found.error == pytest.approx(TAIL / np.linalg.norm(V3), rel=1e-9)


@pytest.mark.nightly
def test_an_error_of_nearly_the_least_is_met():
    found = nmf(V3, 2, error=1.001 * TAIL, polish=False)
    assert found.reached
    assert len(found.history) <= 12
    assert found.error == pytest.approx(0.030580, abs=2e-6)


@pytest.mark.nightly
def test_an_error_below_the_least_stalls_and_may_grow():
    options = {"starts": 1, "patience": 1, "stall": 5e-2}
    found = nmf(V3, 2, error=0.9 * TAIL, **options)
    assert found.status is IterationStatus.STALLED
    grown = nmf(V3, 2, error=0.9 * TAIL, retries=1, grow=1.5, **options)
    assert grown.reached
    assert grown.radius == pytest.approx(1.35 * TAIL)
    assert grown.error * np.linalg.norm(V3) <= 1.35 * TAIL * (1 + 1e-8)


@pytest.mark.nightly
def test_the_slack_matrix_of_the_square_has_four_terms_and_not_three():
    assert nmf(VS, 4).reached
    stalled = nmf(VS, 3, starts=1, patience=2, stall=1e-2)
    assert stalled.status is IterationStatus.STALLED
    best = np.sqrt(2.0 - np.sqrt(2.0)) / np.sqrt(8.0)
    assert stalled.error >= best - 1e-9
    assert stalled.error < 0.36
    assert stalled.excess > 0.5


@pytest.mark.nightly
def test_a_tall_matrix_is_solved_in_cliques():
    X, _ = random_nonnegative(32, 3, rank=2, seed=0)
    found = nmf(X, 2, solver="clarabel", form="chordal", polish=False)
    assert found.reached
    assert isinstance(found.state.last.values["Z"], Factor)


@pytest.mark.integration
def test_missing_entries_are_filled_in():
    X, _ = random_nonnegative(8, 7, rank=2, seed=4)
    gaps = np.random.default_rng(0).random(X.shape) < 0.3
    found = nmf(np.where(gaps, np.nan, X), 2)
    assert found.reached
    W, H = found.factors()
    np.testing.assert_allclose(W @ H, X, atol=1e-8)
    same = nmf(X, 2, observed=~gaps)
    np.testing.assert_array_equal(same.W, found.W)


@pytest.mark.nightly
def test_a_sparsity_within_the_iteration_is_had():
    rng = np.random.default_rng(3)
    W0 = rng.random((6, 2)) * (rng.random((6, 2)) < 0.5)
    W0 /= np.linalg.norm(W0)
    X = W0 @ rng.random((2, 5))
    found = nmf(X, 2, sparsity=hoyer(W0), tol=1e-4, starts=8)
    assert found.reached
    assert hoyer(found.W) == pytest.approx(hoyer(W0), abs=1e-3)
    assert found.polished is None


# -- small cones ------------------------------------------------------------------------------


@pytest.mark.nightly
def test_weights_of_a_random_point_break_the_symmetry_of_small_cones():
    """With weights 2W, 2H of the last point, two programs factor a matrix of rank two."""
    rng = np.random.default_rng(0)
    W, H = rng.random((3, 2)), rng.random((2, 3))
    for _ in range(3):
        model = methods.nmf_products(VR[:3], 2, left=2.0 * W, right=2.0 * H)
        values = sdpdr.solve(model, "clarabel").values
        W, H = values["W"].reshape(3, 2), values["H"].reshape(3, 2).T
    np.testing.assert_allclose(W @ H, VR[:3], atol=1e-5)


# -- what it may say --------------------------------------------------------------------------


def test_a_reached_rank_is_one_of_the_factors_returned():
    X, _ = random_nonnegative(6, 6, rank=2, seed=0)
    # The state alone would be content after one program; its factors are not good enough.
    found = nmf(X, 2, polish=False, max_iter=1, starts=1, tol=1e-13)
    assert found.status is IterationStatus.ITERATION_LIMIT
    assert found.error > 1e-13


@pytest.mark.nightly
def test_more_programs_go_on_where_a_limit_ended_them():
    X, _ = random_nonnegative(5, 5, rank=2, density=0.7, seed=1)
    whole = nmf(X, 2, polish=False, seed=0)
    cut = nmf(X, 2, polish=False, seed=0, starts=1, max_iter=3)
    assert cut.status is IterationStatus.ITERATION_LIMIT
    on = nmf(X, 2, polish=False, seed=0, resume=cut)
    assert on.reached
    assert len(on.history) == len(whole.history) == len(on.errors)
    np.testing.assert_allclose(on.errors[:5], whole.errors[:5], rtol=1e-6)
    # From the beginning another seed would have gone another way.
    other = nmf(X, 2, polish=False, seed=1, starts=1, max_iter=4, resume=cut)
    np.testing.assert_array_equal(other.errors[:3], cut.errors)


def test_the_history_is_a_table_and_a_figure():
    found = nmf(V3, 2, starts=2, max_iter=2, polish=False)
    rows = found.rows()
    assert [r["start"] for r in rows] == [0, 0, 1, 1]
    assert [r["error"] for r in rows] == list(found.errors)
    assert found.n_starts == 2
    sdpdr.plot.rounds(rows) if hasattr(sdpdr, "plot") else None


def test_given_factors_are_a_start():
    X, W = random_nonnegative(6, 5, rank=2, seed=2)
    H = np.linalg.lstsq(W, X, rcond=None)[0]
    found = nmf(X, 2, init=(10.0 * W, H / 10.0), polish=False)
    assert found.reached
    assert len(found.history) == 1


def test_a_time_limit_is_a_status():
    X, _ = random_nonnegative(10, 10, rank=3, density=0.5, seed=0)
    found = nmf(X, 3, time_limit=1e-9)
    assert found.status is IterationStatus.TIME_LIMIT
    with pytest.raises(SolveFailedError, match="TIME_LIMIT"):
        found.factors()


@pytest.mark.parametrize(
    ("X", "k", "options", "error", "words"),
    [
        (-V3, 2, {}, DataError, r"X\[0, 0\]"),
        (V3, 4, {}, DataError, "n_components=4 is out of range"),
        (V3, 0, {}, DataError, "n_components"),
        (np.zeros((2, 2)), 1, {}, DataError, "zero"),
        (V3, 2, {"error": 0.0}, ModelError, "radius must be positive"),
        (V3, 2, {"sparsity": 2.0}, ModelError, "sparsity"),
        (V3, 2, {"retries": 1}, DataError, "pass one"),
        (V3, 2, {"error": 1.0, "retries": 1, "grow": 1.0}, DataError, "grow"),
        (V3, 2, {"init": (np.ones((3, 1)), np.ones((1, 3)))}, ShapeError, "init"),
        (V3, 2, {"starts": 0}, DataError, "starts"),
        (V3, 2, {"direction": "fantop"}, UnknownNameError, "direction"),
    ],
)
def test_wrong_arguments_are_named(X, k, options, error, words):
    with pytest.raises(error, match=words):
        nmf(X, k, **options)
