"""Completely positive factorization: a factor, a certificate, or neither, and never a false one."""

import numpy as np
import pytest

from sdpdr import iterate, methods
from sdpdr.base.deadline import Deadline
from sdpdr.errors import DataError, DataTypeError
from sdpdr.factorize import CpStatus, completely_positive
from sdpdr.families.factor.completely_positive.factorize import _program_certificate, unit_residual
from sdpdr.families.factor.completely_positive.symmetric import square_residual
from sdpdr.iterate import IterationStatus

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
        assert found.holds is False
    else:
        assert found.certificate is None
        assert found.proof == ""
        assert found.residual > 1e-8


# -- decided without a search ----------------------------------------------------------------------


def test_what_theorems_decide_needs_no_search():
    for A, status, proof in [
        (cycle(5, 1.5), CpStatus.NOT_CP, "eigenvalue"),
        (cycle(5, PHI), CpStatus.NOT_CP, "no triangle"),
        (cycle(5, 1.95), CpStatus.NOT_CP, "no triangle"),
        (cycle(5, 2.0), CpStatus.CP, "dominant"),
        (cycle(5, 2.2), CpStatus.CP, "dominant"),
        (SECOND, CpStatus.NOT_CP, "no triangle"),
        (np.array([[0.0, 1.0], [1.0, 1.0]]), CpStatus.NOT_CP, "eigenvalue"),
        (np.array([[1.0, -0.1], [-0.1, 1.0]]), CpStatus.NOT_CP, "entry"),
        (np.array([[-1.0]]), CpStatus.NOT_CP, "entry"),
        (np.array([[4.0]]), CpStatus.CP, "rank"),
        (product(7, 2, 1.0, 0), CpStatus.CP, "rank"),
        (
            np.outer([1.0, 10.0, 3.0], [1.0, 10.0, 3.0]) * (np.eye(3) + 1),
            CpStatus.CP,
            "scaled dominant",
        ),
    ]:
        found = completely_positive(A, starts=0)
        assert (found.status, found.proof) == (status, proof)
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


# -- certificates ----------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.integration
def test_a_certificate_by_program():
    """Every three rows are joined, in five rows of any scale and in seven."""
    for scale in [np.ones(5), np.array([1e3, 1.0, 1e-2, 1.0, 10.0])]:
        A = scale[:, None] * HARD * scale
        found = completely_positive(A, starts=0)
        assert (found.status, found.proof) == (CpStatus.NOT_CP, "multipliers")
        check(A, found)
    A = cycle(7, 1.85) + 0.02
    found = completely_positive(A, starts=1)
    assert (found.status, found.proof) == (CpStatus.NOT_CP, "multipliers")
    check(A, found)
    # What was tried before is kept.
    assert found.residual < 1.0


@pytest.mark.integration
@pytest.mark.parametrize(
    "c", [1.8, *(pytest.param(c, marks=pytest.mark.nightly) for c in (PHI, 1.95, 2.0, 2.2))]
)
def test_programs_refute_odd_cycles_and_nothing_else(c):
    """At unit diagonal the value is 5 (c - 2) / c."""
    found = _program_certificate(cycle(5, c), 1e-8, Deadline())
    if c >= 2.0:
        assert found is None
        return
    assert found.value == pytest.approx(5.0 * (c - 2.0) / c, abs=1e-5)
    assert found.holds_against(cycle(5, c))
    assert found.least_gap == pytest.approx(5.0 * (2.0 - c) * PHI / 2.0, abs=1e-4)


@pytest.mark.nightly  # thirty programs each
@pytest.mark.parametrize(("c", "gap"), [(1.8, 0.80902), (1.95, 0.20225)])
def test_a_stall_at_the_least_gap(c, gap):
    """What the loop stalls at is what the certificate says no factor can be below."""
    least = 5.0 * (2.0 - c) * PHI / 2.0
    assert least == pytest.approx(gap, abs=1e-5)
    lift = methods.cp_lift(cycle(5, c), 6)
    state = iterate.ConvexIteration(lift, 6, direction="schur", start="random", max_iter=30).run()
    assert state.status in (IterationStatus.STALLED, IterationStatus.ITERATION_LIMIT)
    assert least - 1e-6 <= state.excess <= 1.03 * least


# -- the search ------------------------------------------------------------------------------------


def test_products_are_found():
    for n, rank, density, seed in ((6, 6, 0.7, 0), (8, 8, 0.7, 1), (30, 35, 0.4, 0)):
        A = product(n, rank, density, seed)
        found = completely_positive(A, certificate=False)
        assert (found.status, found.proof) == (CpStatus.CP, "search")
        check(A, found)


def test_a_factor_has_as_many_columns_as_are_asked_for():
    assert completely_positive(product(4, 4, 1.0, 0)).factor.shape == (4, 4)
    dominant = cycle(5, 2.2)
    assert completely_positive(dominant).factor.shape == (5, 10)
    assert completely_positive(dominant, 11).factor.shape == (5, 11)
    fewer = completely_positive(dominant, 5)
    assert fewer.status is CpStatus.CP
    assert fewer.factor.shape == (5, 5)
    check(dominant, fewer)
    A = np.zeros((6, 6))
    A[np.ix_([0, 2, 3, 5], [0, 2, 3, 5])] = product(4, 3, 1.0, 0)
    found = completely_positive(A, 3)
    assert found.status is CpStatus.CP
    assert found.factor.shape == (6, 3)
    assert not found.factor[[1, 4]].any()
    check(A, found)


def test_known_to_have_a_factor_though_none_was_found():
    """Dominant with ten columns, and of order four: completely positive, but nothing was tried."""
    for A, k, holds in (
        (cycle(5, 2.2), 5, True),
        (product(4, 4, 1.0, 0), 4, True),
        (HARD, 5, None),
    ):
        found = completely_positive(A, k, starts=0, certificate=False)
        assert (found.status, found.holds) == (CpStatus.UNDECIDED, holds)
        assert found.residual == 1.0
    tried = completely_positive(HARD, 5, starts=1, certificate=False)
    assert tried.residual < 1.0
    check(HARD, tried)


def test_order_four_is_decided_by_signs_and_eigenvalues():
    for seed in range(6):
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
    order = np.random.default_rng(0).permutation(6)
    scale = 10.0 ** np.arange(-3, 3)
    for matrix in (A, scale[:, None] * A[np.ix_(order, order)] * scale, 1e-12 * A, 1e12 * A):
        found = completely_positive(matrix)
        assert found.status is CpStatus.CP
        check(matrix, found)
    for matrix in (1e-12 * HARD, 1e12 * HARD):
        assert completely_positive(matrix, starts=0).status is CpStatus.NOT_CP


def test_without_time_nothing_is_decided():
    found = completely_positive(HARD, time_limit=1e-9)
    assert found.status is CpStatus.UNDECIDED
    assert found.timed_out
    assert "proves nothing" in found.status.advice


def test_what_is_refused():
    for X, options, error, words in [
        (HARD, {"n_components": 2}, DataError, "rank 5"),
        (HARD, {"n_components": 12}, DataError, "more than 11"),
        (HARD, {"n_components": 0}, DataError, "at least 1"),
        (HARD, {"n_components": 5.5}, DataTypeError, "not an integer"),
        (np.ones((2, 3)), {}, DataError, "square"),
        ([[1.0, 2.0], [0.0, 1.0]], {}, DataError, "symmetric"),
        ([[np.nan]], {}, DataError, "NaN"),
        (np.zeros((2, 2)), {}, DataError, "nothing to factor"),
        *((HARD, {name: -1}, DataError, name) for name in ("starts", "tol")),
    ]:
        with pytest.raises(error, match=words):
            completely_positive(X, **options)
