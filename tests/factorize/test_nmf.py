"""Factorization by convex iteration: oracles, what it may claim, how it ends."""

import numpy as np
import pytest

import sdpdr
from sdpdr import check_block
from sdpdr.blocks import Close
from sdpdr.datasets import random_nonnegative
from sdpdr.errors import DataError, ModelError, SolveFailedError, UnknownNameError
from sdpdr.factorize import nmf
from sdpdr.iterate import IterationStatus, Schur, Trailing
from sdpdr.linalg import smat, svec
from sdpdr.model.affine import evaluate

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.3]])
TAIL = np.linalg.svd(V3)[1][2]


# -- the program alone -----------------------------------------------------------------------------


def test_a_radius_is_the_frobenius_distance():
    """The inequality holds exactly up to the radius, for any number of entries."""
    for p in (1, 2, 3, 5, 12):
        pairs = np.column_stack([np.zeros(p, dtype=int), 1 + np.arange(p)])
        values = np.random.default_rng(p).standard_normal(p)
        block = Close(p + 1, pairs, values, 0.5)
        cone, trace = block.terms()
        step = np.random.default_rng(p + 1).standard_normal(p)
        step *= 0.5 / np.linalg.norm(step)
        for stretch, inside in ((0.999, True), (1.001, False)):
            Z = np.zeros((p + 1, p + 1))
            Z[0, 1:] = Z[1:, 0] = values + stretch * step
            assert (least_outside(cone, trace, Z, block) <= 1e-9) == inside


def least_outside(cone, trace, Z, block):
    """With T = R'R / radius, the only candidate: what its trace has too much."""
    b = block.columns
    M = smat(evaluate(cone.lhs, {"Z": Z, "T": np.zeros(b * (b + 1) // 2)}))
    R = M[b:, :b]
    T = svec(R.T @ R / block.radius)
    M = smat(evaluate(cone.lhs, {"Z": Z, "T": T}))
    assert np.linalg.eigvalsh(M)[0] > -1e-12
    return float(evaluate(trace.lhs, {"Z": Z, "T": T})[0] - trace.rhs[0])


def test_blocks_keep_the_laws():
    block = Close(5, [[0, 3], [1, 4], [2, 4]], [1.0, 2.0, 3.0], 0.5)
    assert "compilers: standard form and cvxpy agree" in check_block(block)


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


# -- oracles of the iteration ----------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize(("n", "k", "density"), [
    (5, 2, 0.7), *(pytest.param(*case, marks=pytest.mark.nightly) for case in (
        (5, 2, 1.0), (8, 4, 1.0), (10, 3, 1.0), (6, 3, 0.6), (10, 3, 0.5))),
])  # fmt: skip
def test_planted_factorizations_are_found_and_exact(n, k, density):
    X, _ = random_nonnegative(n, n, rank=k, density=density, seed=1)
    found = nmf(X, k, seed=1)
    assert found.status is IterationStatus.RANK_REACHED
    W, H = found.factors()
    assert min(W.min(), H.min()) >= 0.0
    assert np.linalg.norm(W @ H - X) <= 1e-12 * np.linalg.norm(X)


@pytest.mark.nightly
def test_an_error_of_nearly_the_least_is_met_and_a_smaller_one_is_not():
    found = nmf(V3, 2, error=1.001 * TAIL)
    assert found.status is IterationStatus.RANK_REACHED
    assert len(found.history) <= 12
    assert found.error * np.linalg.norm(V3) <= 1.001 * TAIL * (1 + 1e-8)
    found = nmf(V3, 2, error=0.9 * TAIL, starts=1, patience=1, stall=5e-2)
    assert found.status is IterationStatus.STALLED


@pytest.mark.nightly
def test_missing_entries_are_filled_in():
    X, _ = random_nonnegative(6, 5, rank=2, seed=4)
    seen = np.random.default_rng(0).random(X.shape) >= 0.2
    found = nmf(np.where(seen, X, np.nan), 2)
    assert found.status is IterationStatus.RANK_REACHED
    W, H = found.factors()
    np.testing.assert_allclose(W @ H, X, atol=1e-6)


@pytest.mark.nightly
def test_factors_of_one_program_are_enough_for_the_polish():
    rng = np.random.default_rng(0)
    found = nmf(rng.random((30, 4)) @ rng.random((4, 30)), 4)
    assert found.status is IterationStatus.RANK_REACHED
    assert len(found.history) == 1


# -- what it may say -------------------------------------------------------------------------------


def test_limits_end_it_with_what_there_is():
    found = nmf(V3, 2, starts=2, max_iter=2)
    assert found.status is IterationStatus.ITERATION_LIMIT
    assert found.error <= min(found.errors)
    rows = found.rows()
    assert [r["start"] for r in rows] == [0, 0, 1, 1]
    assert [r["error"] for r in rows] == list(found.errors)
    assert sdpdr.plot.rounds(rows).axes
    found = nmf(V3, 2, time_limit=1e-9)
    assert found.status is IterationStatus.TIME_LIMIT
    with pytest.raises(SolveFailedError, match="TIME_LIMIT"):
        found.factors()


def test_wrong_arguments_are_named():
    for X, k, options, error, words in [
        (-V3, 2, {}, DataError, r"X\[0, 0\]"),
        (V3, 4, {}, DataError, "n_components=4 is out of range"),
        (V3, 0, {}, DataError, "n_components"),
        (np.zeros((2, 2)), 1, {}, DataError, "zero"),
        (V3, 2, {"error": 0.0}, ModelError, "radius must be positive"),
        (V3, 2, {"sparsity": 2.0}, ModelError, "sparsity"),
        (V3, 2, {"starts": 0}, DataError, "starts"),
        (V3, 2, {"direction": "fantop"}, UnknownNameError, "direction"),
    ]:
        with pytest.raises(error, match=words):
            nmf(X, k, **options)
