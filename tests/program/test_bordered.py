"""Long cones and squares that share weights are certified."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import minimize, norm, scalar, square


def test_a_long_length_under_a_limit_is_certified():
    """The optimum is known: the point of least norm on the plane, and a step along the goal."""
    n = 120
    rng = np.random.default_rng(n)
    A, b, c = rng.normal(size=(n // 2, n)), rng.normal(size=n // 2), rng.normal(size=n)
    limit = 3.0 * np.sqrt(n)
    least = np.linalg.lstsq(A, b)[0]
    along = c - np.linalg.pinv(A) @ (A @ c)
    exact = c @ least - np.sqrt(limit**2 - least @ least) * np.linalg.norm(along)
    w = scalar("w", n)
    model = minimize((w * c).sum()) + (A @ w == b).named("plane") + (norm(w) <= limit)
    solution = sdpdr.solve(model)
    assert solution.certified(1e-6)
    assert solution.bound <= exact + 1e-9 * abs(exact)
    assert solution.value == pytest.approx(exact, rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("nonnegative", [True, False])
def test_weights_that_thousands_of_squares_share_are_certified(nonnegative):
    """Independent columns with weights inside: the optimum is that of least squares."""
    rng = np.random.default_rng(3)
    A = rng.random((2500, 4))
    b = A @ np.array([1.0, 2.0, 3.0, 4.0]) + 0.1 * rng.normal(size=2500)
    exact = np.linalg.lstsq(A, b)[1][0]
    w = scalar("w", 4, nonnegative=nonnegative)
    model = minimize(square(A @ w - b).sum())
    solution = sdpdr.solve(model if nonnegative else model + (w >= 0.0))
    assert solution.certified(1e-6)
    assert solution.bound <= exact * (1.0 + 1e-12)
    assert solution.value == pytest.approx(exact, rel=1e-6)


def test_a_long_cone_of_cvxpy_is_certified():
    n = 130
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(n // 2, n)), rng.normal(size=n // 2)
    x = cp.Variable(n)
    problem = cp.Problem(cp.Minimize(cp.norm(x - 1.0)), [A @ x == b])
    solution = sdpdr.solve(sdpdr.from_cvxpy(problem))
    exact = np.linalg.norm(np.linalg.lstsq(A, b - A.sum(axis=1))[0])
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(exact, rel=1e-6)
