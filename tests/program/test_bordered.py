"""Systems in blocks with a border, and what is proved by them."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import sdpdr
from sdpdr import minimize, norm, scalar, square
from sdpdr.base.deadline import Effort
from sdpdr.program.attain.bordered import Bordered, Pattern
from sdpdr.program.attain.box import _System
from sdpdr.program.attain.cone import Scaled


def positive(rng, n):
    root = rng.normal(size=(n, n + 2))
    return root @ root.T


@given(seed=st.integers(0, 10_000), n_free=st.integers(0, 4))
def test_a_bordered_system_has_the_solution_of_the_whole(seed, n_free):
    rng = np.random.default_rng(seed)
    m = 14
    seen = [np.array([0, 1, 2, 7]), np.array([3, 4, 7, 8]), np.array([5, 6])]
    shared = np.array([9, 10, *rng.choice(7, 1)])
    scalar = np.array([1, 10, 11, 12, 13])
    matrices = {k: positive(rng, rows.size) for k, rows in enumerate(seen)}
    pattern = Pattern.of(m, seen, np.unique(shared), scalar)
    assert pattern.single.tolist() == [11, 12, 13]
    diagonal = rng.random(m)
    rest = positive(rng, pattern.rest.size)
    free = sp.csr_array(rng.normal(size=(m, n_free)) * (rng.random((m, n_free)) < 0.7))
    corner = -np.diag(rng.random(n_free) + 0.1)
    ordered = []
    whole = np.zeros((m, m))
    for k, rows in enumerate(seen):
        whole[np.ix_(rows, rows)] += matrices[k]
        place = [rows.tolist().index(r) for r in (*pattern.own[k], *pattern.others[k])]
        ordered.append(matrices[k][np.ix_(place, place)])
    whole[np.ix_(pattern.rest, pattern.rest)] += rest
    own = np.concatenate([*pattern.own, pattern.single])
    whole[own, own] += diagonal[own]
    joint = np.block([[whole, free.toarray()], [free.toarray().T, corner]])
    right = rng.normal(size=m + n_free)
    w, v = Bordered(pattern, ordered, diagonal, rest, free, corner).solve(right, Effort())
    assert np.allclose(joint @ np.concatenate([w, v]), right, atol=1e-7)


@pytest.mark.parametrize("n", [120, 250])
def test_a_long_length_under_a_limit_is_certified(n):
    """The optimum is known: the point of least norm on the plane, and a step along the goal."""
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
    n = 250
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(n // 2, n)), rng.normal(size=n // 2)
    x = cp.Variable(n)
    problem = cp.Problem(cp.Minimize(cp.norm(x - 1.0)), [A @ x == b])
    solution = sdpdr.solve(sdpdr.from_cvxpy(problem))
    exact = np.linalg.norm(np.linalg.lstsq(A, b - A.sum(axis=1))[0])
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(exact, rel=1e-6)


@given(seed=st.integers(0, 10_000))
def test_the_departure_is_a_bound_for_every_matrix_within_the_radius(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 5)) * (rng.random((3, 5)) < 0.8) + 0.5 * np.eye(3, 5)
    radius = 1e-3 * rng.random((3, 5)) * (rng.random((3, 5)) < 0.5)
    scaled = Scaled(sp.csr_array(A), sp.csr_array(radius), np.zeros(3), np.ones(5), np.ones(3))
    nothing = np.zeros(0, dtype=np.int64)
    system = _System(scaled, nothing, nothing)
    assume(system.rows.size == 3)
    moved = A + radius * rng.choice([-1.0, 1.0], size=A.shape)
    left = np.eye(3) - moved @ moved.T @ system._inverse
    assert np.linalg.norm(left, np.inf) <= system._alpha * (1.0 + 1e-9)
