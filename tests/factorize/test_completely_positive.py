"""Completely positive factorization: a factor, a certificate, or neither, and never a false one."""

import numpy as np
import pytest

from sdpdr.errors import DataError, DataTypeError
from sdpdr.factorize import CpStatus, completely_positive, copositive_certificate, cp_iteration
from sdpdr.families.factor.nonnegative.symmetric_nmf import unit_residual
from sdpdr.iterate import IterationStatus
from sdpdr.nonnegative import square_residual
from sdpdr.plot import rounds

PHI = (1.0 + np.sqrt(5.0)) / 2.0
SECOND = np.array(
    [[1, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 1, 0], [0, 0, 1, 1, 1], [1, 0, 0, 1, 6]], float
)


def cycle(n: int, c: float) -> np.ndarray:
    shift = np.roll(np.eye(n), 1, axis=0)
    return c * np.eye(n) + shift + shift.T


def product(n: int, rank: int, density: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    B = rng.random((n, rank)) * (rng.random((n, rank)) < density)
    return B @ B.T


# Not completely positive, and nothing obvious about it: every three places are joined.
HARD = cycle(5, 1.8) + 0.02


def check(A, found):
    """What a result says is true."""
    assert np.min(found.factor, initial=0.0) >= 0.0
    assert found.residual == pytest.approx(unit_residual(A, found.factor), rel=1e-6, abs=1e-14)
    assert square_residual(A, found.factor) <= len(A) * found.residual
    if found.status is CpStatus.CP:
        assert found.residual <= 1e-8
        assert found.certificate is None
        assert found.holds
    elif found.status is CpStatus.NOT_CP:
        assert found.certificate.holds_against(A)
        assert found.certificate.kaplan
        assert found.holds is False
    else:
        assert found.certificate is None
        assert found.proof == ""
        assert found.residual > 1e-8


# -- decided without a search ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("A", "status", "proof"),
    [
        (cycle(5, 1.5), CpStatus.NOT_CP, "eigenvalue"),
        (cycle(5, PHI), CpStatus.NOT_CP, "no triangle"),
        (cycle(5, 1.8), CpStatus.NOT_CP, "no triangle"),
        (cycle(5, 1.95), CpStatus.NOT_CP, "no triangle"),
        (cycle(5, 2.0), CpStatus.CP, "dominant"),
        (cycle(5, 2.2), CpStatus.CP, "dominant"),
        (SECOND, CpStatus.NOT_CP, "no triangle"),
        (np.array([[0.0, 1.0], [1.0, 1.0]]), CpStatus.NOT_CP, "eigenvalue"),
        (np.array([[1.0, -0.1], [-0.1, 1.0]]), CpStatus.NOT_CP, "entry"),
        (np.array([[-1.0]]), CpStatus.NOT_CP, "entry"),
        (np.array([[4.0]]), CpStatus.CP, "rank"),
        (product(7, 2, 1.0, 0), CpStatus.CP, "rank"),
        (np.outer([1.0, 10.0, 3.0], [1.0, 10.0, 3.0]) * (np.eye(3) + 1), CpStatus.CP,
         "scaled dominant"),
    ],
)  # fmt: skip
def test_what_theorems_decide_needs_no_search(A, status, proof):
    found = completely_positive(A)
    assert (found.status, found.proof) == (status, proof)
    assert not found.attempts
    check(A, found)


def test_parts_are_decided_one_by_one():
    A = np.zeros((13, 13))
    A[:3, :3] = np.eye(3) + 1.0
    A[4:9, 4:9] = cycle(5, 2.2)
    A[10:, 10:] = product(3, 3, 1.0, 0)
    found = completely_positive(A)
    assert found.status is CpStatus.CP
    check(A, found)
    A[4:9, 4:9] = HARD
    found = completely_positive(A)
    assert found.status is CpStatus.NOT_CP
    assert np.count_nonzero(found.certificate.matrix) <= 25
    check(A, found)


# -- certificates ---------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [np.ones(5), np.array([1e3, 1.0, 1e-2, 1.0, 10.0])])
def test_a_certificate_of_five_places(scale):
    A = scale[:, None] * HARD * scale
    found = completely_positive(A, starts=0)
    assert (found.status, found.proof) == (CpStatus.NOT_CP, "five places")
    check(A, found)
    assert found.certificate.value == pytest.approx(-0.9 / 1.82, abs=1e-5)


@pytest.mark.integration
def test_a_certificate_by_program():
    """Seven places of which every three are joined and every five are completely positive."""
    A = cycle(7, 1.85) + 0.02
    found = completely_positive(A, starts=0)
    assert (found.status, found.proof) == (CpStatus.NOT_CP, "multipliers")
    check(A, found)
    # What was tried before is kept.
    assert {a.kind for a in found.attempts} == {"draw"}


@pytest.mark.nightly
@pytest.mark.integration
@pytest.mark.parametrize("order", [16, 40])
def test_matrices_of_any_order_are_refuted_by_five_places(order):
    A = np.full((order, order), 0.05) + np.eye(order)
    places = np.sort(np.random.default_rng(order).choice(order, 5, replace=False))
    A[np.ix_(places, places)] = cycle(5, 1.8)
    found = completely_positive(A)
    assert (found.status, found.proof) == (CpStatus.NOT_CP, "five places")
    np.testing.assert_array_equal(np.flatnonzero(found.certificate.matrix.any(axis=0)), places)
    assert found.certificate.kaplan
    assert found.certificate.holds_against(A)
    assert found.certificate.value == pytest.approx(5.0 * (1.8 - 2.0) / 1.8, abs=1e-9)
    assert not found.certificate.holds_against(np.eye(order))


@pytest.mark.integration
@pytest.mark.parametrize(
    "c", [1.8, *(pytest.param(c, marks=pytest.mark.nightly) for c in (PHI, 1.95))]
)
def test_programs_refute_odd_cycles_too(c):
    """At unit diagonal the value is 5 (c - 2) / c."""
    found = copositive_certificate(cycle(5, c))
    assert found.value == pytest.approx(5.0 * (c - 2.0) / c, abs=1e-5)
    assert found.holds_against(cycle(5, c))
    assert found.least_gap == pytest.approx(5.0 * (2.0 - c) * PHI / 2.0, abs=1e-4)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "A",
    [cycle(5, 2.0), cycle(5, 2.2), pytest.param(product(6, 4, 0.7, 1), marks=pytest.mark.nightly)],
)
def test_programs_refute_nothing_else(A):
    assert copositive_certificate(A) is None


# -- the iteration --------------------------------------------------------------------------


@pytest.mark.parametrize(("c", "gap"), [(1.8, 0.80902), (1.95, 0.20225)])
@pytest.mark.nightly  # thirty programs each
def test_a_stall_at_the_least_gap(c, gap):
    """What the loop stalls at is what the certificate says no factor can be below."""
    least = 5.0 * (2.0 - c) * PHI / 2.0
    assert least == pytest.approx(gap, abs=1e-5)
    state = cp_iteration(cycle(5, c), 6, seed=0, max_iter=30).run()
    assert state.status in (IterationStatus.STALLED, IterationStatus.ITERATION_LIMIT)
    assert least - 1e-6 <= state.excess <= 1.03 * least


@pytest.mark.nightly
def test_a_stall_proves_nothing():
    found = completely_positive(HARD, (5, 6), starts=1, draws=3, certificate=False, max_iter=5)
    assert found.status is CpStatus.UNDECIDED
    assert found.holds is None
    check(HARD, found)
    least = copositive_certificate(HARD).least_gap
    assert least - 1e-5 <= found.gap < 1.2 * least
    assert set(found.residuals()) == {5, 6}
    assert all(r > 1e-3 for r in found.residuals().values())


# -- the search -----------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize("draws", [0, 10])
@pytest.mark.parametrize("seed", [0])
def test_products_are_found(seed, draws):
    A = product(5, 5, 0.6, seed)
    found = completely_positive(A, 5, draws=draws, certificate=False)
    assert found.status is CpStatus.CP
    assert found.factor.shape == (5, 5)
    check(A, found)
    if draws == 0 and found.attempts:
        assert {a.kind for a in found.attempts} == {"iteration"}
        assert found.rows()


def test_a_factor_has_as_many_columns_as_are_asked_for():
    assert completely_positive(product(4, 4, 1.0, 0)).n_components == 4
    dominant = cycle(5, 2.2)
    assert completely_positive(dominant).n_components == 10
    assert completely_positive(dominant, 11).factor.shape == (5, 11)
    fewer = completely_positive(dominant, 5)
    assert fewer.status is CpStatus.CP
    assert fewer.factor.shape == (5, 5)
    check(dominant, fewer)


def test_known_to_have_a_factor_though_none_was_found():
    """Dominant with ten columns, and of order four: completely positive, but nothing was tried."""
    found = completely_positive(cycle(5, 2.2), 5, starts=0, draws=0)
    assert (found.status, found.holds) == (CpStatus.UNDECIDED, True)
    small = product(4, 4, 1.0, 0)
    found = completely_positive(small, 4, starts=0, draws=0)
    assert (found.status, found.holds) == (CpStatus.UNDECIDED, True)
    assert found.residual == 1.0
    found = completely_positive(HARD, 5, starts=0, draws=0, certificate=False)
    assert (found.status, found.holds) == (CpStatus.UNDECIDED, None)


@pytest.mark.parametrize("seed", range(6))
def test_order_four_is_decided_by_signs_and_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((4, 3 + seed % 2))
    A = factor @ factor.T
    A = A + max(0.0, -A.min()) + (seed % 3 == 0) * np.diag(-rng.random(4))
    found = completely_positive(A)
    expected = np.min(np.linalg.eigvalsh(A)) > -1e-9 and np.min(A) >= 0.0
    assert found.status is (CpStatus.CP if expected else CpStatus.NOT_CP)
    check(A, found)


def test_order_of_rows_and_scale_do_not_matter():
    A = product(6, 4, 0.8, 0)
    turn = np.random.default_rng(0).permutation(6)
    scale = 10.0 ** np.arange(-3, 3)
    other = scale[:, None] * A[np.ix_(turn, turn)] * scale
    for matrix in (A, other, 1e-12 * A, 1e12 * A):
        found = completely_positive(matrix)
        assert found.status is CpStatus.CP
        check(matrix, found)
    for matrix in (1e-12 * HARD, 1e12 * HARD):
        found = completely_positive(matrix, starts=0, draws=0)
        assert found.status is CpStatus.NOT_CP


def test_empty_rows_with_columns_asked_for():
    A = np.zeros((6, 6))
    A[np.ix_([0, 2, 3, 5], [0, 2, 3, 5])] = product(4, 3, 1.0, 0)
    found = completely_positive(A, 3)
    assert found.status is CpStatus.CP
    assert found.factor.shape == (6, 3)
    assert not found.factor[[1, 4]].any()
    check(A, found)


# -- limits, progress and pictures ----------------------------------------------------------


def test_without_time_nothing_is_decided():
    found = completely_positive(HARD, time_limit=1e-9)
    assert found.status is CpStatus.UNDECIDED
    assert found.timed_out
    assert "proves nothing" in found.status.advice


@pytest.mark.integration
def test_progress_and_rows():
    seen = []
    found = completely_positive(
        HARD, (5, 6), starts=1, draws=2, max_iter=2, certificate=False, progress=seen.append
    )
    # Two draws and two programs, and the best of either once more.
    assert [r["n_components"] for r in seen] == [5] * 6 + [6] * 6
    assert [r["iteration"] for r in seen] == list(range(12))
    rows = found.rows()
    assert [r["iteration"] for r in rows] == list(range(4))
    assert [r["start"] for r in rows] == [0, 0, 1, 1]
    assert rounds(rows, tol=1e-6).axes


# -- faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "words"),
    [(2, "rank 5"), (12, "more than 11"), (0, "at least 1"), ((6, 5), "out of range")],
)
def test_columns_out_of_range(k, words):
    with pytest.raises(DataError, match=words):
        completely_positive(HARD, k)


def test_columns_must_be_whole():
    with pytest.raises(DataTypeError, match="not an integer"):
        completely_positive(HARD, 5.5)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((2, 3)), "square"),
        ([[1.0, 2.0], [0.0, 1.0]], "symmetric"),
        ([[np.nan]], "NaN"),
        (np.zeros((2, 2)), "nothing to factor"),
    ],
)
def test_what_is_no_symmetric_matrix(X, words):
    for function in (completely_positive, copositive_certificate):
        with pytest.raises(DataError, match=words):
            function(X)


@pytest.mark.parametrize("name", ["starts", "draws", "max_iter", "tol"])
def test_options_out_of_range(name):
    with pytest.raises(DataError, match=name):
        completely_positive(HARD, **{name: -1})


# -- the joint matrix of non-negative factors -------------------------------------------------
