"""A changed parameter is the model with other numbers, solved from the last answer."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import (
    graphs,
    maximize,
    minimize,
    norm,
    parameter,
    pos,
    psd,
    scalar,
    sensitivity,
    square,
)
from sdpdr.errors import (
    DataError,
    DataTypeError,
    ModelError,
    ShapeError,
    UnknownNameError,
)

from .models import coefficient, linear, penalized, unfolding


@pytest.mark.daily(2)
@pytest.mark.parametrize("make", [unfolding, penalized, coefficient, linear])
def test_a_changed_parameter_is_the_model_with_other_numbers(make):
    p = parameter("p", value=1.0)
    model = make(p)
    first = model.solve()
    assert first.certified(1e-6)
    p.value = 1.2
    again, anew = model.solve(), sdpdr.solve(make(1.2))
    assert again.certified(1e-6)
    assert again.value == pytest.approx(anew.value, rel=3e-6, abs=1e-7)


@pytest.mark.nightly
def test_a_parameter_may_lead_to_infeasibility_and_back():
    p = parameter("p", value=1.0)
    model = unfolding(p)
    first = model.solve()
    for value in (1.1, 0.9, 1.5):
        p.value = value
        again = model.solve()
        assert again.value == pytest.approx(value * first.value, rel=2e-6)
        assert again.certified(1e-6)
        assert max(model.violations(again.values).values()) <= 1e-9
    with pytest.raises(DataError, match="tol must be a positive number"):
        model.solve(tol=-1.0)
    p.value = -1.0
    assert model.solve().status is sdpdr.Status.INFEASIBLE
    p.value = 2.0
    assert model.solve().value == pytest.approx(2.0 * first.value, rel=2e-6)


def test_values_far_from_the_last_ones_are_solved_as_well():
    p = parameter("p", value=[1.0, 1.0])
    x = scalar("x", 2, nonnegative=True)
    model = maximize(x.sum() - p[0] * x[1]) + (x <= 3.0) + (p[1] * x[0] - x[1] <= 2.0)
    assert model.solve().value == pytest.approx(3.0, rel=1e-6)
    # An optimum on another side, far away, and one where rows vanish.
    for value, expected in (([1e4, 1.0], 2.0), ([-1.0, 0.0], 9.0), ([-1e-3, 50.0], 3.103)):
        p.value = value
        assert model.solve().value == pytest.approx(expected, rel=1e-5)


@pytest.mark.nightly
def test_many_solves_in_processes_and_in_turn_agree():
    p, q = parameter("p", value=1.0), parameter("q", value=1.0)
    x = scalar("x", 2, nonnegative=True)
    model = maximize(x @ [1.0, 2.0]) + (x.sum() <= p) + (x[1] <= q)
    grid = {p: [1.0, 2.0], "q": [0.5, 3.0]}
    seen = []
    turn = sdpdr.solve_many(model, grid, progress=lambda record: seen.append(record["done"]))
    assert [round(s.value, 5) for s in turn] == [1.5, 2.0, 2.5, 4.0]
    assert seen == [1, 2, 3, 4]
    both = sdpdr.solve_many(model, grid, n_jobs=2)
    assert [s.value for s in both] == pytest.approx([s.value for s in turn], rel=1e-6)
    assert (float(p.value), float(q.value)) == (1.0, 1.0)


def test_mistakes_are_named():
    p = parameter("p")
    x = scalar("x")
    model = maximize(x) + (x <= p)
    with pytest.raises(ModelError, match="'p' has no value yet"):
        model.solve()
    with pytest.raises(ShapeError, match=r"shape \(\); it was given \(2,\)"):
        p.value = [1.0, 2.0]
    with pytest.raises(ModelError, match="finite"):
        p.value = np.nan
    with pytest.raises(DataTypeError, match="numbers"):
        p.value = "one"
    p.value = 1.0
    with pytest.raises(ModelError, match="product of parameters"):
        p * (x + parameter("q", value=1.0))
    with pytest.raises(UnknownNameError, match="Known: p"):
        sdpdr.solve_many(model, {"P": [1.0]})
    with pytest.raises(ModelError, match="two different parameters"):
        (model + (x >= parameter("p", value=0.0))).parameters()
    assert sdpdr.solve(model).value == pytest.approx(1.0, rel=1e-6)


def test_convex_functions_of_parameters_are_those_of_their_values():
    S, x = sdpdr.symmetric("S", 3), scalar("x", 4)
    p = parameter("p", value=1.0)

    def words(p):
        spread = sdpdr.norm(x - p * np.arange(4.0)) + sdpdr.lambda_max(S + p * np.eye(3))
        return minimize(spread) + (S >> 0) + (x.sum() == 1.0) + (sdpdr.norm(p * x, 1) <= 5.0)

    model = words(p)
    for value in (1.0, 2.0):
        p.value = value
        assert model.solve().value == pytest.approx(sdpdr.solve(words(value)).value, rel=1e-5)


def test_a_parameter_that_multiplies_a_convex_function_is_not_negative():
    x, lam, both = scalar("x", 2), parameter("lam", value=1.0), parameter("both", value=[1.0, 2.0])
    model = minimize(lam * norm(x - 1.0))
    lam.value = -1.0
    with pytest.raises(ModelError, match=r"parameters \(lam\), must be positive .*or zero.* -1"):
        model.solve()
    with pytest.raises(ShapeError, match=r"factors of shape \(2,\)"):
        both * norm(x)


def test_a_goal_alone_is_a_model():
    x, p = scalar("x"), parameter("p", value=1.0)
    goal = minimize(square(x - p) + x)
    assert [s.value for s in sdpdr.solve_many(goal, {"p": [1.0, 2.0]})] == pytest.approx(
        [0.75, 1.75]
    )
    assert next(v.name for v in goal.to_sdp().variables) == "x"
    assert goal.legend().keys() == goal.model.legend().keys()
    assert goal.to_cvxpy().solve("CLARABEL") == pytest.approx(0.75, abs=1e-6)
    assert float(sensitivity(goal, goal.solve(), p)) == pytest.approx(1.0, abs=1e-6)
    assert sdpdr.derivative(goal, goal.solve(), p)["x"] == pytest.approx(1.0, abs=1e-6)


def test_sizes_times_a_parameter_have_limits():
    x, lam = scalar("x", 3), parameter("lam", value=2.0)
    model = minimize(x.sum()) + (lam * abs(x) <= 1.0) + (x[0] >= -0.1)
    assert model.solve()[x] == pytest.approx([-0.1, -0.5, -0.5], abs=1e-5)
    lam.value = 4.0
    assert model.solve()[x] == pytest.approx([-0.1, -0.25, -0.25], abs=1e-5)
    lam.value = -4.0
    with pytest.raises(ModelError, match=r"weights of 'abs', .*\(lam\), must be positive"):
        model.to_sdp()
    with pytest.raises(ModelError, match=r"pos\(v\) times a parameter"):
        assert lam * pos(x) <= 1.0
    for quotient in (lambda: x / lam, lambda: norm(x) / lam):
        with pytest.raises(ModelError, match=r"\(lam\) is not linear.*the inverse a parameter"):
            quotient()


def test_advice_on_a_model_is_about_what_was_written():
    t = scalar("t")
    unbounded = sdpdr.solve(minimize(t), "clarabel")
    empty = sdpdr.solve(minimize(t) + (t >= 1.0) + (t <= 0.0), "clarabel")
    assert "bounds every variable of the objective" in unbounded.advice
    assert "constraint.penalized(weight)" in empty.advice


def test_limits_that_all_grow_leave_nothing_to_search_for():
    roll = graphs.knn(sdpdr.datasets.swiss_roll(100, seed=0)[0], n_neighbors=6)
    p = parameter("p", value=1.0)
    K = psd("K", 100)
    model = (
        maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(roll.edges) <= p * roll.sqdist)
    )
    first = sdpdr.solve(model, "lowrank", "factor")
    p.value = 1.5
    again = sdpdr.solve(model, "lowrank", "factor", start=first)
    assert again.certified(1e-6)
    assert again.claimed.iterations == 0
    assert again.value == pytest.approx(1.5 * first.value, rel=1e-6)


def test_weights_and_their_factor_may_both_be_parameters():
    """x_0^2 + 3 x_2^2 <= 3 makes x_0 + x_2 at least -2."""
    x, p = scalar("x", 3), parameter("p", value=2.0)
    W = parameter("W", value=np.array([1.0, 0.0, 3.0]))
    model = minimize(x.sum()) + (p * (W * x**2).sum() <= 6.0) + (x[1] >= -5.0)
    assert sdpdr.solve(model).value == pytest.approx(-7.0, rel=1e-6)
