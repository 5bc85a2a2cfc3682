"""Constraints and variables of cvxpy have names of their own, and one name has one answer."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr.model.conic.labels import labels_of

EYE = np.eye(2)


def labelled(labels, smooth):
    x = cp.Variable(len(labels), name="x")
    limits = [(x[k] >= k).set_label(label) for k, label in enumerate(labels)]
    cost = np.arange(1.0, len(labels) + 1.0) @ x + cp.sum_squares(x)
    return limits, cp.Problem(cp.Minimize(cost + smooth(x[0])), limits)


@pytest.mark.parametrize("smooth", [lambda x: 0.0, cp.exp], ids=["quadratic", "exponential"])
@pytest.mark.parametrize(
    "given",
    [
        ["a", "a", "a_2"],
        ["a_2", "a", "a", "a"],
        [None, "2.0 <= x[2]", "0.0 <= x[0]"],
        ["squares", "auxiliary", "squares"],
    ],
    ids=["numbered", "numbered before", "text", "internal"],
)
def test_each_constraint_has_a_label_of_its_own(given, smooth):
    limits, problem = labelled(given, smooth)
    solution = sdpdr.solve(problem)
    names = [solution.labels[limit] for limit in limits]
    assert len(set(names)) == len(names)
    for label in filter(None, given):
        assert names[given.index(label)] == label
    # The derivative of the cost at x = (0, 1, 2, ...), where every limit binds.
    expected = [3.0 * k + 1.0 for k in range(len(limits))]
    expected[0] += smooth(0.0).value if smooth is cp.exp else 0.0
    for limit, name, multiplier in zip(limits, names, expected, strict=True):
        assert solution.dual(name) == pytest.approx(multiplier, abs=1e-3)
        assert solution.dual(limit) == pytest.approx(multiplier, abs=1e-3)


def test_what_is_shown_is_the_name_of_the_multipliers():
    x = cp.Variable(3, name="x")
    given = ["limit", "limit", "squares"]
    limits = [(x[k] >= k + 1).set_label(label) for k, label in enumerate(given)]
    solution = sdpdr.solve(cp.Problem(cp.Minimize(cp.sum_squares(x)), limits))
    table = solution.report().split("constraint ")[1].split("variable ")[0]
    shown = [line.split("  ")[0] for line in table.splitlines()[1:] if line]
    assert shown == ["squares_2", "limit and limit_2", "squares"]
    for label, expected in zip(shown[1:], ([2.0, 4.0], 6.0), strict=True):
        assert solution.dual(label) == pytest.approx(expected, abs=1e-3)


def test_names_that_are_made_of_a_label_are_no_other_constraint_s():
    X, Y = cp.Variable((2, 2), name="X"), cp.Variable((2, 2), symmetric=True, name="Y")
    above = (cp.bmat([[EYE, X], [X.T, Y]]) >> 0).set_label("above")
    limit = (X[0, 0] >= 1).set_label("above.constants")
    solution = sdpdr.solve(cp.Problem(cp.Minimize(cp.trace(Y)), [above, limit]))
    assert solution.certified()
    assert solution.dual("above.constants") == pytest.approx(2.0, abs=1e-3)
    v, t = cp.Variable(300, name="ball.parts"), cp.Variable(name="t")
    limits = [(v[k] >= 1).set_label(f"ball.{name}") for k, name in enumerate(["1", "parts"])]
    ball = cp.SOC(t, v).set_label("ball")
    solution = sdpdr.solve(cp.Problem(cp.Minimize(t), [ball, *limits]))
    assert solution.certified()
    for limit in limits:
        assert solution.dual(limit) == pytest.approx(np.sqrt(0.5), abs=1e-3)


def test_variables_with_one_name_are_told_apart():
    x, y = cp.Variable(name="x"), cp.Variable(2, name="x")
    for cost in (cp.sum_squares(x - 1) + cp.sum_squares(y - 2), cp.exp(x - 1) - x + cp.norm(y - 2)):
        solution = sdpdr.solve(cp.Problem(cp.Minimize(cost)), gap_scale=1.0)
        assert solution[x] == pytest.approx(1.0, abs=1e-3)
        assert solution[y] == pytest.approx([2.0, 2.0], abs=1e-3)
        assert solution["x_2"] == pytest.approx(solution[y])


def cones():
    x, t, s = cp.Variable(2, name="x"), cp.Variable(name="t"), cp.Variable(name="s")
    X, T, R = cp.Variable((2, 3), name="X"), cp.Variable(3, name="T"), cp.Variable(2, name="R")
    H = cp.Variable((2, 2), hermitian=True, name="H")
    limits = [x[1] == 3, np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 4.0]]) <= X]
    limits += [cp.SOC(t, x - 1), cp.SOC(s, x[0] - 2), cp.SOC(T, X), cp.SOC(R, X, axis=1)]
    limits += [H >> np.array([[1.0, 1j], [-1j, 2.0]]), H[0, 1] == 0.2 + 0.5j]
    return cp.real(cp.trace(H)) + t + s + cp.sum(T) + cp.sum(R), x, limits


@pytest.mark.parametrize("smooth", [lambda x: 0.0, cp.exp], ids=["linear", "exponential"])
def test_a_label_and_its_constraint_have_the_dual_value_of_cvxpy(smooth):
    cost, x, limits = cones()
    problem = cp.Problem(cp.Minimize(cost + smooth(x[0])), limits)
    solution = sdpdr.solve(problem)
    assert solution.certified()
    assert all(dual.value is None for limit in limits for dual in limit.dual_variables)
    problem.solve(solver=cp.CLARABEL)
    for limit, label in labels_of(problem):
        expected = limit.dual_value
        for key in (limit, label):
            found = solution.dual(key)
            assert isinstance(found, list) == isinstance(expected, list)
            pairs = (
                zip(found, expected, strict=True)
                if isinstance(found, list)
                else [(found, expected)]
            )
            for one, other in pairs:
                assert np.shape(one) == np.shape(other)
                assert np.abs(one - other).max() < 1e-3


def test_a_verified_answer_has_multipliers_by_constraint():
    X = cp.Variable((2, 2), PSD=True, name="X")
    limits = [X[0, 1] == 1, X[0, 0] >= 2]
    problem = cp.Problem(cp.Minimize(cp.trace(X)), limits)
    problem.solve(solver=cp.CLARABEL)
    for repair in (True, False):
        found = sdpdr.verify(problem, repair=repair)
        for limit, expected in zip(limits, [1.0, 0.75], strict=True):
            assert abs(found.dual(limit)) == pytest.approx(expected, abs=1e-3)
    assert np.array_equal(found[X], X.value)
