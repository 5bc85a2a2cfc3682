"""The largest gain of a linear system, by the bounded real lemma: its dual has a thin interior."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import sdpdr


def system(seed, n=4):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) - 3.0 * np.eye(n)
    return A, rng.standard_normal((n, 2)), rng.standard_normal((1, n))


def largest_gain(A, B, C):
    """The largest square of the transfer function's norm on the imaginary axis."""

    def lost(frequency):
        found = C @ np.linalg.solve(1j * frequency * np.eye(len(A)) - A, B)
        return -(np.linalg.norm(found, 2) ** 2)

    grid = np.linspace(0.0, 20.0, 401)
    best = grid[np.argmin([lost(w) for w in grid])]
    near = (max(best - 0.1, 0.0), best + 0.1)
    return -min(lost(best), minimize_scalar(lost, near, near, method="bounded").fun)


def lemma(A, B, C, P, g):
    corner = A.T @ P + P @ A + C.T @ C
    return [[corner, P @ B], [B.T @ P, -g * np.eye(B.shape[1])]]


def test_the_largest_gain_is_certified_as_a_solver_of_cvxpy():
    A, B, C = system(1)
    P, g = cp.Variable((4, 4), PSD=True), cp.Variable()
    problem = cp.Problem(cp.Minimize(g), [cp.bmat(lemma(A, B, C, P, g)) << 0])
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.solver_stats.extra_stats.certified()
    assert problem.value == pytest.approx(largest_gain(A, B, C), rel=1e-5)
