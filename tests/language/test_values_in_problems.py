"""A solution of a problem of cvxpy has the values of the problem's own variables."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import sdpdr

B = np.array([[2.0, 1.0], [1.0, 3.0]])
U = np.arange(6.0).reshape(2, 3)


def problems():
    X = cp.Variable((2, 2), symmetric=True, name="X")
    yield X, cp.Problem(cp.Minimize(cp.trace(X)), [X >> B]), B
    yield X, cp.Problem(cp.Maximize(cp.trace(X)), [X << B]), B
    rows = [2 * X >> 0, X[0, 1] == 1]
    yield X, cp.Problem(cp.Minimize(cp.trace(X)), rows), np.ones((2, 2))
    V = cp.Variable((2, 3), name="X")
    yield V, cp.Problem(cp.Minimize(cp.sum(V)), [V >= U]), U
    yield V, cp.Problem(cp.Minimize(cp.sum(cp.exp(V))), [V >= U]), U
    D = cp.Variable((2, 2), diag=True, name="X")
    yield D, cp.Problem(cp.Minimize(cp.trace(D)), [D >> np.diag([1.0, 2.0])]), np.diag([1.0, 2.0])


@pytest.mark.parametrize("k", range(6))
def test_values_are_those_of_the_problem(k):
    X, problem, expected = list(problems())[k]
    solution = sdpdr.solve(problem, tol=1e-8)
    assert solution[X] == pytest.approx(expected, abs=1e-4)
    assert solution["X"] == pytest.approx(expected, abs=1e-4)
    assert X.value is None
    with pytest.raises(sdpdr.errors.UnknownNameError, match="variable 'Y'"):
        solution["Y"]


def test_a_claim_that_is_not_proved_says_what_is_proved_and_stays_a_claim():
    """No Lyapunov function exists: the only proof is a face in a direction that is irrational."""
    A = np.array([[1.0, 1.0], [1.0, -2.0]])
    P = cp.Variable((2, 2), symmetric=True, name="P")
    decay = A.T @ P + P @ A << -np.eye(2)
    solution = sdpdr.solve(cp.Problem(cp.Minimize(cp.trace(P)), [P >> np.eye(2), decay]))
    for one in (solution, solution.prove()):
        assert one.status is sdpdr.Status.UNVERIFIED
        assert one.bound > 1e6
        assert "is infeasible, which is not proved; it is proved that no feasible point" in str(one)
