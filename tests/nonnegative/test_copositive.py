"""Copositive matrices, certificates, and factors that can be written down."""

from itertools import combinations

import numpy as np
import pytest

from sdpdr.errors import DataError
from sdpdr.families.factor.completely_positive.factorize import _columns
from sdpdr.families.factor.completely_positive.symmetric import eigenvalue_bound
from sdpdr.families.factor.nonnegative.copositive import (
    _positive_in,
    multiplier_matrix,
    obvious_certificate,
)
from sdpdr.families.factor.nonnegative.dominant import (
    triangle_free_certificate,
)
from sdpdr.families.factor.nonnegative.inputs import symmetric_matrix
from sdpdr.nonnegative import Refutation, copositivity, horn_matrix

PHI = (1.0 + np.sqrt(5.0)) / 2.0


def cycle(n: int, c: float) -> np.ndarray:
    """C times the identity plus the adjacency of a cycle."""
    shift = np.roll(np.eye(n), 1, axis=0)
    return c * np.eye(n) + shift + shift.T


# -- Kaplan's test ---------------------------------------------------------------------------------


def test_horn_is_copositive_and_not_semidefinite():
    horn = horn_matrix()
    root = np.sqrt(5.0)
    expected = [1 - root, 1 - root, 1.0, 1 + root, 1 + root]
    np.testing.assert_allclose(np.linalg.eigvalsh(horn), expected, atol=1e-12)
    assert copositivity(horn)
    # On its boundary: a little less, and there is a witness.
    found = copositivity(horn - 1e-6 * np.eye(5))
    assert not found
    assert np.all(found.witness >= 0.0)
    assert found.witness @ (horn - 1e-6 * np.eye(5)) @ found.witness < 0.0


def test_kaplan_agrees_with_the_least_value_on_the_simplex():
    """The least value is attained where some principal submatrix has a stationary point."""
    answers = []
    for seed in range(10):
        M = np.random.default_rng(seed).standard_normal((5, 5))
        M = M + M.T + 1.7 * np.eye(5) + 0.5
        least = np.inf
        for order in range(1, 6):
            for places in combinations(range(5), order):
                part = M[np.ix_(places, places)]
                x = np.linalg.lstsq(part, np.ones(order), rcond=None)[0]
                if np.all(x > 0.0) or np.all(x < 0.0):
                    x = x / x.sum()
                    least = min(least, x @ part @ x)
        answers.append(least >= 0.0)
        assert bool(copositivity(M)) == answers[-1]
    assert len(set(answers)) == 2


def test_a_multiple_eigenvalue_hides_no_witness():
    """No basis vector of an eigenspace that holds a positive vector need be positive."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(np.column_stack([np.ones(5), rng.standard_normal((5, 2))]))[0]
    span = basis @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    assert not any(np.all(v > 0) or np.all(v < 0) for v in span.T)
    x = _positive_in(span)
    assert np.all(x > 0.0)
    np.testing.assert_allclose(span @ (span.T @ x), x, atol=1e-12)
    # And one that holds none.
    other = np.linalg.qr(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))[0]
    assert _positive_in(other) is None


def test_kaplan_says_what_it_cannot_do():
    for M in [np.ones((2, 3)), np.eye(16)]:
        with pytest.raises(DataError, match="square|principal submatrices"):
            copositivity(M)


def test_inexact_multipliers_are_made_exact():
    """Horn's matrix at level one, with parts spoilt: still a certificate, a little weaker."""
    horn, A = horn_matrix(), cycle(5, 1.8)
    # P_i is the square of the row of place i, and the cubic that is left has coefficients >= 0.
    parts = np.array([np.outer(row, row) for row in horn])
    exact = multiplier_matrix(horn, parts)
    assert np.sum(exact * A) == pytest.approx(-1.0, abs=1e-9)
    assert copositivity(exact)
    noise = 1e-4 * np.random.default_rng(0).standard_normal((5, 5, 5))
    rough = multiplier_matrix(horn, parts + noise + noise.transpose(0, 2, 1))
    assert -1.0 < np.sum(rough * A) < -0.98
    assert copositivity(rough)
    # Multipliers that prove nothing give no certificate.
    assert np.sum(multiplier_matrix(-np.ones((5, 5)), np.zeros((5, 5, 5))) * A) >= 0.0


# -- signs and eigenvalues -------------------------------------------------------------------------


def test_negative_entries_and_eigenvalues_are_certificates():
    for A, proof, value in [
        ([[2.0, -1.0], [-1.0, 2.0]], "entry", -2.0),
        (cycle(5, 1.5), "eigenvalue", 1.5 - PHI),
        (cycle(5, PHI - 1e-6), "eigenvalue", -1e-6),
        # A zero beside which there is something; rows too short to count beside the others.
        ([[0.0, 1e-7], [1e-7, 1.0]], "eigenvalue", None),
        ([[1.0, 0.0, 0.0], [0.0, 1e-12, 2e-12], [0.0, 2e-12, 1e-12]], "eigenvalue", None),
        ([[1.0, 0.0, 0.0], [0.0, 1e-12, -5e-13], [0.0, -5e-13, 1e-12]], "entry", None),
    ]:
        found = obvious_certificate(np.array(A))
        assert found.proof == proof
        assert found.value < 0.0
        assert value is None or found.value == pytest.approx(value)
        assert found.holds_against(A)
        assert not found.holds_against(np.eye(len(A)))


def test_rounding_is_no_certificate():
    B = np.random.default_rng(0).random((6, 2))
    A = B @ B.T
    assert np.linalg.eigvalsh(A)[0] < 1e-15
    for matrix in (A, A - 1e-12, cycle(5, PHI)):
        assert obvious_certificate(matrix) is None


def test_what_is_no_symmetric_matrix():
    for X, words in [
        (np.ones((2, 3)), "square"),
        ([[1.0, 2.0], [0.0, 1.0]], r"X\[0, 1\] = 2, X\[1, 0\] = 0"),
        ([[1.0, np.nan], [np.nan, 1.0]], "NaN"),
        ([[np.inf]], "infinity"),
        (np.zeros((3, 3)), "nothing to factor"),
        ([1.0, 2.0], "2D"),
    ]:
        with pytest.raises(DataError, match=words):
            symmetric_matrix(X)


def test_bound_on_the_cp_rank():
    known = [(1, 1, 1), (3, 2, 2), (4, 3, 4), (4, 4, 4), (5, 3, 5), (5, 5, 11), (7, 7, 24)]
    assert [_columns(n, rank, None)[-1] for n, rank, _ in known] == [most for *_, most in known]


# -- without a triangle ----------------------------------------------------------------------------


def test_odd_cycles_are_refuted_below_two():
    for c in [PHI, 1.8, 1.95]:
        A = cycle(5, c)
        found = triangle_free_certificate(A)
        assert found.value == pytest.approx(c - 2.0)
        np.testing.assert_allclose(5.0 * found.matrix, horn_matrix(), atol=1e-12)
        assert found.holds_against(A)
        # How far: to the nearest matrix known to be completely positive, it is at least that.
        assert found.distance <= np.linalg.norm(A - cycle(5, 2.0))
        assert found.least_gap == pytest.approx(5.0 * (2.0 - c) * PHI / 2.0)


def test_a_false_certificate_does_not_hold():
    A = cycle(5, 2.2)
    assert not Refutation.of("eigenvalue", horn_matrix(), A).holds_against(A)
    assert not Refutation.of("eigenvalue", -np.eye(5), A).holds_against(A)


# -- the nearest B B' ------------------------------------------------------------------------------


def test_bound_of_indefinite_matrices():
    assert 1.0 - 1e-14 <= eigenvalue_bound(-np.eye(2), 1) <= 1.0
    assert 1.0 - 1e-14 <= eigenvalue_bound(np.eye(2), 0) <= 1.0
