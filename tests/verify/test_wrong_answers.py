"""Twenty wrong answers: none is proved beyond what is true, and wrong claims are refuted."""

import math

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import Status

pytestmark = pytest.mark.integration


def linear(b):
    x = cp.Variable(2)
    rows = [x[0] + 2 * x[1] <= 4 * b, 3 * x[0] + x[1] <= 6 * b]
    return cp.Problem(cp.Maximize(x[0] + x[1]), rows), 2.8


def length(b):
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.norm(x)), [x[0] + 2 * x[1] + 2 * x[2] == 9 * b]), 3.0


def pentagon(b):
    X = cp.Variable((5, 5), PSD=True)
    rows = [cp.trace(X) == b, *(X[i, (i + 1) % 5] == 0 for i in range(5))]
    return cp.Problem(cp.Maximize(cp.sum(X)), rows), math.sqrt(5.0)


def unfolding(b):
    """Without interior: rows sum to zero."""
    K = cp.Variable((4, 4), PSD=True)
    rows = [K[i, i] + K[i + 1, i + 1] - 2 * K[i, i + 1] <= b for i in range(3)]
    return cp.Problem(cp.Maximize(cp.trace(K)), [*rows, cp.sum(K) == 0]), 5.0


def entropy(b):
    x = cp.Variable(5)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == b]), math.log(5.0)


def with_a_point_of_the_other_sign(problem, b):
    problem.solve(solver=cp.CLARABEL)
    for v in problem.variables():
        v.save_value(-v.value)
    problem._value = problem.objective.value


def with_multipliers_in_the_wrong_place(problem, b):
    """Those of the first two constraints, or numbers, exchanged, and of the other sign."""
    problem.solve(solver=cp.CLARABEL)
    first, *others = problem.constraints
    dual = first.dual_variables[0]
    if others:
        other = others[0].dual_variables[0]
        one, two = dual.value, other.value
        other.save_value(np.asarray(one).reshape(other.shape))
        dual.save_value(-np.asarray(two).reshape(dual.shape))
    else:
        dual.save_value(-2.0 * dual.value)


def stopped_after_ten_steps(problem, b):
    problem.solve(solver=cp.SCS, max_iters=10)


def of_other_data(problem, b):
    b.value = 3.0
    problem.solve(solver=cp.CLARABEL)
    b.value = 1.0


MISTAKES = [
    with_a_point_of_the_other_sign,
    with_multipliers_in_the_wrong_place,
    stopped_after_ten_steps,
    of_other_data,
]


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.daily(3)
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
@pytest.mark.parametrize("make", [linear, length, pentagon, unfolding, entropy])
def test_nothing_is_proved_beyond_what_is_true(make, mistake):
    b = cp.Parameter(nonneg=True, value=1.0)
    problem, optimum = make(b)
    mistake(problem, b)
    sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    for repair in (True, False):
        found = sdpdr.verify(problem, repair=repair)
        assert found.status not in (Status.INFEASIBLE, Status.UNBOUNDED)
        slack = 4e-16 * optimum
        assert found.attained is None or sign * found.attained >= sign * optimum - slack
        assert found.bound is None or sign * found.bound <= sign * optimum + slack
        # A value outside of the domain is none, and claims nothing.
        is_wrong = np.isfinite(problem.value) and abs(problem.value - optimum) > 1e-5 * optimum
        if found.status is Status.SOLVED:
            assert found.is_refuted == is_wrong
        assert is_wrong or not found.is_refuted


def test_a_wrong_point_leaves_the_bound_of_right_multipliers():
    """Over all cones a bound of zero, which the costs have by themselves, is all that is proved."""
    X = cp.Variable((3, 3), symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [X >> 0, X[0, 1] == 1, X[1, 2] >= 0.5])
    optimum = problem.solve(solver=cp.CLARABEL)
    X.save_value(np.zeros((3, 3)))
    found = sdpdr.verify(problem)
    assert found.status is Status.INACCURATE
    assert found.bound == pytest.approx(optimum, rel=1e-6)


def test_claims_that_there_is_no_optimum_are_proved_or_refuted():
    x = cp.Variable(2)
    empty = cp.Problem(cp.Minimize(x[0]), [x >= 1, cp.sum(x) <= 1])
    endless = cp.Problem(cp.Minimize(x[0]), [cp.sum(x) <= 1])
    for problem, status in ((empty, Status.INFEASIBLE), (endless, Status.UNBOUNDED)):
        problem.solve(solver=cp.CLARABEL)
        found = sdpdr.verify(problem, seconds=60.0)
        assert found.status is status
        assert not found.is_refuted
    bounded, _ = linear(1.0)
    bounded.solve(solver=cp.CLARABEL)
    for lie in ("infeasible", "unbounded_inaccurate"):
        bounded._status = lie
        found = sdpdr.verify(bounded, seconds=60.0)
        assert found.status is Status.SOLVED
        assert found.is_refuted
        assert f"claimed that it is {lie.partition('_')[0]}, which is refuted" in str(found)
