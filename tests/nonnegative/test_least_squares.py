"""Least squares with signs: linear, and for factors that nearly multiply to a matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr.errors import DataError
from sdpdr.families.factor.nonnegative import least_squares
from sdpdr.families.factor.nonnegative.inputs import partial_matrix
from sdpdr.families.factor.nonnegative.least_squares import (
    fit_factors,
    nonnegative_least_squares,
)


@settings(max_examples=50)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_the_answer_meets_its_condition_of_optimality(m, n, seed):
    rng = np.random.default_rng(seed)
    matrix, target = rng.standard_normal((m, n)), rng.standard_normal(m)
    y, away = nonnegative_least_squares(matrix, target)
    inwards = matrix.T @ (target - matrix @ y)
    assert np.all(y >= 0.0)
    assert np.all(inwards <= 1e-7)
    assert inwards @ y == pytest.approx(0.0, abs=1e-7)
    assert away == pytest.approx(np.linalg.norm(matrix @ y - target))


@pytest.mark.parametrize("answer", [np.zeros(2), RuntimeError("too many iterations")])
def test_a_library_that_stops_too_early_is_not_believed(monkeypatch, answer):
    def early(matrix, target):
        if isinstance(answer, Exception):
            raise answer
        return answer, float(np.linalg.norm(target))

    monkeypatch.setattr(least_squares, "nnls", early)
    y, away = nonnegative_least_squares(np.eye(2), np.array([1.0, -2.0]))
    np.testing.assert_allclose(y, [1.0, 0.0], atol=1e-12)
    assert away == pytest.approx(2.0)


def test_known_entries_alone_are_fitted():
    rng = np.random.default_rng(3)
    W, H, gaps = rng.random((8, 2)), rng.random((2, 7)), rng.random((8, 7)) < 0.3
    left, right = fit_factors(np.where(gaps, np.nan, W @ H), W + 0.01, H + 0.01)
    # Enough is known for the rest to follow.
    np.testing.assert_allclose(left @ right, W @ H, atol=1e-9)


def test_matrices_that_cannot_be_factored_are_refused():
    for X, words in [
        ([[1.0, -2.0]], r"X\[0, 1\] = -2"),
        ([[1.0, np.inf]], "infinity"),
        ([[0.0, 0.0]], "all entries of X are zero"),
        ([[np.nan, np.nan]], "no entry of X is known"),
        ([[1.0, np.nan], [2.0, np.nan]], "column 1 of X has no known entry"),
        ([[np.nan, np.nan], [2.0, 1.0]], "row 0 of X"),
        ([1.0, 2.0], "2D"),
    ]:
        with pytest.raises(DataError, match=words):
            partial_matrix(X)
