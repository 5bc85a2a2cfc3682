"""A changed parameter is the model with other numbers, solved from the last answer; derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import (
    graphs,
    matrix,
    maximize,
    minimize,
    norm,
    parameter,
    pos,
    psd,
    scalar,
    sensitivity,
    square,
    sum_squares,
    symmetric,
)
from sdpdr.errors import (
    CompileError,
    DataError,
    DataTypeError,
    ModelError,
    NonUniqueWarning,
    NotSmoothError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.solving.derivatives.slopes import Optimum

RNG = np.random.default_rng(0)
GRAPH = graphs.knn(RNG.standard_normal((14, 3)), 4, connect="mst")
FORMS = np.einsum("ka,kb->kab", *2 * [RNG.standard_normal((12, 4))])
WEIGHTS = np.abs(RNG.standard_normal((9, 9)))
STEP = 1e-3


def unfolding(p):
    K = psd("K", 14)
    return (
        maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(GRAPH.edges) <= p * GRAPH.sqdist)
    )


def priced(p):
    K = psd("K", 14)
    return unfolding(1.0) + p * abs(K[0, [3, 5]] - [1.0, 2.0])


def design(p):
    w, t = scalar("w", 12, nonnegative=True), scalar("t")
    return maximize(t) + (w.sum() == 1) + (w @ FORMS >> t * np.eye(4)) + (w <= 0.15 * p)


def cut(p):
    K = psd("K", 9)
    return maximize(K.inner(np.diag(WEIGHTS.sum(1)) - WEIGHTS)) + (K.diagonal() == p)


def coefficient(p):
    K = psd("K", 9)
    return minimize(K.inner(WEIGHTS)) + (p * K[0, 1] + K[2, 3] >= 1.0) + (K.diagonal() <= 4.0)


def shifted(p):
    K = psd("K", 9)
    return minimize(K.trace()) + (K - p * np.diag(np.arange(9.0)) >> 0)


def linear(p):
    x = scalar("x", 3, nonnegative=True)
    return maximize(x @ [1.0, 2.0, 3.0]) + (x.sum() <= p) + (x <= 2.0)


MODELS = [unfolding, priced, design, cut, coefficient, shifted, linear]


@pytest.mark.parametrize("make", [unfolding, priced, coefficient, linear])
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


def nearest(p):
    """The nearest correlation matrix."""
    K = psd("K", 6)
    return minimize(square(K - p * FORMS[0, :1, :1] - 0.1 * FORMS[0, 0, 0]).sum()) + (
        K.diagonal() == 1
    )


def ball(p):
    """The nearest point of a ball that satisfies a row."""
    x = scalar("x", 3)
    return (
        minimize(square(x - np.array([3.0, 1.0, 0.0]) - p * np.array([0.0, 0.0, 1.0])).sum())
        + (norm(x) <= 2.0)
        + (x.sum() == 0.5 * p)
    )


def facing(p):
    """Rows that leave a matrix no interior, on a face that moves with the parameter."""
    K = psd("K", 4)
    cost = FORMS[0] - FORMS[1] + np.diag([0.0, 1.0, 2.0, 3.0])
    return maximize(K.inner(cost)) + (p * K[0] + K[1] == 0) + (K.diagonal() <= np.arange(1.0, 5.0))


def precise(model, p, value):
    """The optimum, as precise as doubles allow."""
    before = p.value
    p.value = value
    found = Optimum(model, sdpdr.solve(model)).solution
    p.value = before
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("make", [*MODELS, nearest, ball])
def test_multipliers_are_derivatives_by_the_parameter(make):
    p = parameter("p", value=1.3)
    model = make(p)
    slope = sdpdr.sensitivity(model, sdpdr.solve(model), "p")
    low, high = (precise(model, p, 1.3 + step).value for step in (-STEP, STEP))
    assert float(slope) == pytest.approx((high - low) / (2.0 * STEP), rel=1e-5, abs=1e-5)
    assert float(p.value) == 1.3


@pytest.mark.nightly
@pytest.mark.parametrize("make", [priced, design, cut, coefficient, linear, nearest, ball, facing])
def test_points_move_as_their_derivative_says(make):
    p = parameter("p", value=1.3)
    model = make(p)
    slopes = sdpdr.derivative(model, sdpdr.solve(model), p)
    low, high = (precise(model, p, 1.3 + step).values for step in (-STEP, STEP))
    assert slopes.keys() == {v.name for v in model.variables()} - {"limit.length"}
    for name, slope in slopes.items():
        difference = (np.asarray(high[name]) - np.asarray(low[name])) / (2.0 * STEP)
        size = max(1.0, float(np.max(np.abs(difference))))
        np.testing.assert_allclose(slope, difference, atol=1e-5 * size)


@pytest.mark.nightly
def test_a_vector_of_parameters_has_a_slope_for_each():
    K = psd("K", 14)
    d = parameter("d", value=GRAPH.sqdist)
    model = maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(GRAPH.edges) <= d).named("e")
    solution = sdpdr.solve(model)
    slopes = sdpdr.sensitivity(model, solution, d)
    np.testing.assert_allclose(slopes, Optimum(model, solution).solution.duals["e"], atol=1e-8)
    moved = sdpdr.derivative(model, solution, d)["K"]
    assert moved.shape == (*d.shape, 14, 14)
    # The value is the trace of the point, and both scale with all lengths.
    np.testing.assert_allclose(np.trace(moved, axis1=1, axis2=2), slopes, atol=1e-6)
    point = Optimum(model, solution).solution.values["K"]
    np.testing.assert_allclose(np.tensordot(d.value, moved, 1), point, atol=1e-6)


def test_where_there_is_no_derivative_it_is_said():
    p = parameter("p", value=1.0)
    x, y = scalar("x"), scalar("y")
    kink = maximize(x) + (x <= p) + (x <= 1.0)
    with pytest.warns(NonUniqueWarning, match="no derivative by 'p'"):
        slope = sdpdr.sensitivity(kink, sdpdr.solve(kink), p)
    assert 0.0 <= float(slope) <= 1.0
    with pytest.raises(NotSmoothError, match="leave one of them out"):
        sdpdr.derivative(kink, sdpdr.solve(kink), p)
    many = maximize(x) + (x <= p) + (y <= 1.0) + (y >= 0.0)
    with pytest.raises(NotSmoothError, match="not unique"):
        sdpdr.derivative(many, sdpdr.solve(many), p)
    touching = minimize(square(x - p) + y) + (x <= 1.0) + (y >= 1.0)
    with pytest.raises(NotSmoothError, match="together with its multiplier"):
        sdpdr.derivative(touching, sdpdr.solve(touching), p)
    with pytest.raises(UnknownNameError, match="Known: p"):
        sdpdr.derivative(kink, sdpdr.solve(kink), "q")
    with pytest.raises(DataError, match="no precise optimum"):
        sdpdr.derivative(kink, sdpdr.solve(maximize(y) + (y <= 1.0)), p)


def segment(p):
    y = scalar("y")
    return maximize(2.0 * y) + (y <= p) + (y >= 0.0)


def cone_of_trace(p):
    K = psd("K", 2)
    return minimize((np.array([[1.0, 2.0], [2.0, 1.0]]) @ K).trace()) + (K.trace() <= p)


def corner(p):
    K = psd("K", 3)
    rows = (K[1, 1] <= 1.0) + (K[2, 2] <= 1.0)
    return maximize(2.0 * K[0, 0] + K[1, 1] + K[2, 2]) + (K[0, 0] <= p) + rows


def edge(p):
    K = psd("K", 3)
    length = K[0, 0] + K[1, 1] - 2.0 * K[0, 1] == p
    return maximize(K.trace()) + length + (K[0, 0] <= 1.0) + (K[2, 2] <= 1.0)


@pytest.mark.parametrize("make", [segment, cone_of_trace, corner, edge])
def test_a_value_that_leaves_no_interior_has_no_derivative(make):
    p = parameter("p", value=0.0)
    model = make(p)
    solution = sdpdr.solve(model)
    for slope in (sensitivity, sdpdr.derivative):
        with pytest.raises(NotSmoothError, match="no interior at these values"):
            slope(model, solution, p)
    p.value = 1.0
    slope = float(sensitivity(model, sdpdr.solve(model), p))
    p.value = 1.001
    above = sdpdr.solve(model).value
    p.value = 0.999
    assert (above - sdpdr.solve(model).value) / 0.002 == pytest.approx(slope, rel=1e-3)


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


def test_a_derivative_has_the_shapes_of_parameter_and_variable():
    S, X, t = symmetric("S", 2), matrix("X", (2, 3)), scalar("t")
    p = parameter("p", value=[1.0, 2.0])
    goal = sum_squares(S - p[0] * np.ones((2, 2))) + sum_squares(X - p[1]) + square(t - p.sum())
    found = sdpdr.derivative(minimize(goal), minimize(goal).solve(), p)
    assert {name: each.shape for name, each in found.items()} == {
        "S": (2, 2, 2),
        "X": (2, 2, 3),
        "t": (2,),
    }
    np.testing.assert_allclose(
        found["S"], np.multiply.outer([1.0, 0.0], np.ones((2, 2))), atol=1e-6
    )


def test_what_is_written_in_cvxpy_has_no_derivatives():
    K, p = psd("K", 2), parameter("p", value=1.0)
    written = sdpdr.from_cvxpy(lambda v: [v["K"][0, 1] <= 0.5], name="written")
    model = maximize(K.sum()) + (K.diagonal() <= p) + written
    solution = sdpdr.solve(model)
    for derivative in (sensitivity, sdpdr.derivative):
        with pytest.raises(CompileError, match="'written' cannot be lowered"):
            derivative(model, solution, p)


def test_advice_on_a_model_is_about_what_was_written():
    t = scalar("t")
    unbounded = sdpdr.solve(minimize(t), "clarabel")
    empty = sdpdr.solve(minimize(t) + (t >= 1.0) + (t <= 0.0), "clarabel")
    assert "variable of the goal that no statement limits" in unbounded.advice
    assert "statement.priced(weight)" in empty.advice


def test_a_symmetric_value_of_a_parameter_makes_no_other_rows():
    """Its entries (i, j) and (j, i) may change apart, and so there are derivatives by each."""
    G = np.array([[1.0, 2.0], [2.0, -1.0]])
    K, target = sdpdr.psd("K", 2), sdpdr.parameter("target", (2, 2), value=G)
    model = sdpdr.minimize(sdpdr.sum_squares(K - target)) + (K.diagonal() == 1.0)
    solution = model.solve()
    slope = sdpdr.sensitivity(model, solution, target)
    assert slope == pytest.approx(-2.0 * (np.asarray(solution["K"]) - G), abs=1e-6)
