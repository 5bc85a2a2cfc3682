"""Derivatives of optimal values and points: against closed forms, scaling laws and differences."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import sdpdr
from sdpdr import (
    entropy,
    graphs,
    log_det,
    matrix,
    maximize,
    minimize,
    norm,
    parameter,
    psd,
    scalar,
    sensitivity,
    square,
    sum_exp,
    sum_largest,
    sum_logistic,
    sum_squares,
    symmetric,
)
from sdpdr.errors import (
    CompileError,
    DataError,
    NonUniqueWarning,
    NotSmoothError,
    UncertifiedWarning,
    UnknownNameError,
    VacuousWarning,
)
from sdpdr.solving.derivatives import optimum
from sdpdr.solving.derivatives.optimum import Optimum

from .models import FORMS, GRAPH, WEIGHTS, coefficient, linear, penalized, unfolding

STEP = 1e-3


def design(p):
    w, t = scalar("w", 12, nonnegative=True), scalar("t")
    return maximize(t) + (w.sum() == 1) + (w @ FORMS >> t * np.eye(4)) + (w <= 0.15 * p)


def cut(p):
    K = psd("K", 9)
    return maximize(K.inner(np.diag(WEIGHTS.sum(1)) - WEIGHTS)) + (K.diagonal() == p)


def shifted(p):
    K = psd("K", 9)
    return minimize(K.trace()) + (K - p * np.diag(np.arange(9.0)) >> 0)


MODELS = [unfolding, penalized, design, cut, coefficient, shifted, linear]


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
    found = Optimum(model, sdpdr.solve(model))
    p.value = before
    return found


def ring(p):
    """Six points on a ring; all lengths scale with the parameter."""
    K, g = psd("K", 6), graphs.cycle(6)
    return maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(g.edges) <= p)


def test_lengths_that_all_scale_scale_the_point_on_its_face():
    p = parameter("p", value=2.0)
    model = ring(p)
    solution = sdpdr.solve(model)
    assert float(sensitivity(model, solution, p)) == pytest.approx(6.0, abs=1e-8)
    # The regular hexagon of unit sides, whose radius is one.
    angles = np.pi / 3.0 * np.arange(6)
    hexagon = np.cos(np.subtract.outer(angles, angles))
    np.testing.assert_allclose(sdpdr.derivative(model, solution, p)["K"], hexagon, atol=1e-7)


def test_exact_lengths_that_leave_no_interior_scale_the_point():
    """Equations keep the matrix on a face that no single one of them states."""
    points = np.random.default_rng(2).standard_normal((8, 2))
    g, K, p = graphs.knn(points, 3, connect="mst"), psd("K", 8), parameter("p", value=1.0)
    model = maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(g.edges) == p * g.sqdist)
    found = Optimum(model, sdpdr.solve(model))
    np.testing.assert_allclose(found.derivative(p)["K"], found.values["K"], atol=1e-6)


def test_a_slack_matrix_that_vanishes_altogether_is_no_obstacle():
    """The optimum is p diag(0, ..., 8), where the matrix inequality holds with zero slack."""
    p = parameter("p", value=1.3)
    model = shifted(p)
    solution = sdpdr.solve(model)
    assert float(sensitivity(model, solution, p)) == pytest.approx(36.0, abs=1e-8)
    moved = sdpdr.derivative(model, solution, p)["K"]
    np.testing.assert_allclose(moved, np.diag(np.arange(9.0)), atol=1e-7)


def test_the_corner_of_a_linear_program_moves_along_its_edge():
    p = parameter("p", value=1.0)
    x = scalar("x", 3, nonnegative=True)
    model = maximize(x @ [1.0, 2.0, 3.0]) + (x[2] <= 2.0 * p) + (x[1] + x[2] <= 3.0) + (x[0] <= 1.0)
    solution = sdpdr.solve(model)
    assert float(sensitivity(model, solution, p)) == pytest.approx(2.0, abs=1e-9)
    np.testing.assert_allclose(
        sdpdr.derivative(model, solution, p)["x"], [0.0, -2.0, 2.0], atol=1e-9
    )


@pytest.mark.daily(1)
@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_units_of_points_and_of_costs_do_not_matter(unit):
    """The projection of (3p, p, 0) onto a ball of radius two, by squares and by an arrow."""
    p, x = parameter("p", value=1.0), scalar("x", 3)
    target = np.array([3.0, 1.0, 0.0])
    model = minimize(unit * sum_squares(x - p * unit * target)) + (norm(x) <= 2.0 * unit)
    solution = sdpdr.solve(model)
    far = np.sqrt(10.0)
    slope = float(sensitivity(model, solution, p))
    assert slope == pytest.approx(2.0 * unit**3 * far * (far - 2.0), rel=1e-6)
    # Along its ray the target does not move the nearest point.
    np.testing.assert_allclose(
        sdpdr.derivative(model, solution, p)["x"], np.zeros(3), atol=1e-6 * unit
    )
    q = parameter("q", value=0.0)
    aside = target + q * np.array([-1.0, 3.0, 0.0])
    model = minimize(sum_squares(x - aside)) + (norm(x) <= 2.0)
    turned = np.array([-1.0, 3.0, 0.0]) * 2.0 / far
    slope = sdpdr.derivative(model, sdpdr.solve(model), q)["x"]
    np.testing.assert_allclose(slope, turned, atol=1e-6)


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
@pytest.mark.parametrize(
    "make", [penalized, design, cut, coefficient, linear, nearest, ball, facing]
)
def test_points_move_as_their_derivative_says(make):
    p = parameter("p", value=1.3)
    model = make(p)
    slopes = sdpdr.derivative(model, sdpdr.solve(model), p)
    low, high = (precise(model, p, 1.3 + step).values for step in (-STEP, STEP))
    assert slopes.keys() == {v.name for v in model.variables()}
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
    np.testing.assert_allclose(slopes, solution.duals["e"], atol=1e-4)
    moved = sdpdr.derivative(model, solution, d)["K"]
    assert moved.shape == (*d.shape, 14, 14)
    # The value is the trace of the point, and both scale with all lengths.
    np.testing.assert_allclose(np.trace(moved, axis1=1, axis2=2), slopes, atol=1e-6)
    point = Optimum(model, solution).values["K"]
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
    with (
        pytest.warns(VacuousWarning, match="'y' has no effect"),
        pytest.raises(NotSmoothError, match="not unique"),
    ):
        sdpdr.derivative(many, sdpdr.solve(many), p)
    touching = minimize(square(x - p) + y) + (x <= 1.0) + (y >= 1.0)
    with pytest.raises(NotSmoothError, match="together with its multiplier"):
        sdpdr.derivative(touching, sdpdr.solve(touching), p)
    with pytest.raises(UnknownNameError, match="Known: p"):
        sdpdr.derivative(kink, sdpdr.solve(kink), "q")
    with pytest.raises(DataError, match="lacks some"):
        sdpdr.derivative(kink, sdpdr.solve(maximize(y) + (y <= 1.0)), p)


@pytest.mark.daily(1)
@pytest.mark.parametrize("near", [1e-5, 1e-7])
def test_the_side_of_an_eigenvalue_is_told_however_small_its_multiplier_is(near):
    """K = diag(1, 0) for all p > 1, with p - 1 for the multiplier of the eigenvalue zero."""
    p, K = parameter("p", value=1.0 + near), psd("K", 2)
    model = maximize(p * K[0, 0] + K[1, 1]) + (K.trace() == 1)
    slope = sdpdr.derivative(model, sdpdr.solve(model), p)["K"]
    np.testing.assert_allclose(slope, np.zeros((2, 2)), atol=1e-6)


@pytest.mark.daily(1)
@pytest.mark.parametrize(("large", "near"), [(1.0, -1e-10), (1e6, 1e-4)])
def test_a_rate_next_to_a_kink_is_that_of_its_side(large, near):
    p, t, s = parameter("p", value=near), scalar("t"), scalar("s")
    model = minimize(t + large * s) + (t >= p) + (t >= -p) + (s >= 1)
    slope = sensitivity(model, sdpdr.solve(model), p)
    assert slope == pytest.approx(np.sign(near), abs=1e-3)


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    ("large", "near"),
    [(1.0, -1e-13), (1e4, 1e-9), (1e4, -1e-10), (1e8, 1e-6), (1e8, 1e-8)],
)
def test_a_rate_that_no_multiplier_has_next_to_a_kink_comes_with_a_warning(large, near):
    """A constant that the value is beside hides on which side of the kink it is."""
    p, t, s = parameter("p", value=near), scalar("t"), scalar("s")
    model = minimize(t + s) + (t >= p) + (t >= -p) + (s >= large)
    with suppress(DataError, NonUniqueWarning):
        slope = sensitivity(model, sdpdr.solve(model), p)
        assert slope == pytest.approx(np.sign(near), abs=1e-3)


def test_where_doubles_tell_no_side_of_a_kink_no_rate_is_made_up():
    """The value is the absolute value of p beside one: multipliers have rates from -1 to 1."""
    p, t, s = parameter("p", value=5.55e-17), scalar("t"), scalar("s")
    model = minimize(t + s) + (t >= p) + (t >= -p) + (s >= 1)
    with suppress(DataError, NonUniqueWarning):
        assert -1.001 <= sensitivity(model, sdpdr.solve(model), p) <= 1.001


def test_a_small_number_without_a_multiplier_is_unique():
    p, x, s = parameter("p", value=1e-3), scalar("x"), scalar("s")
    model = minimize(square(x - p) + s) + (x >= 0) + (s >= 1)
    slope = sdpdr.derivative(model, sdpdr.solve(model), p)["x"]
    assert slope == pytest.approx(1.0, abs=1e-6)


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


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    "make",
    [corner, edge, *(pytest.param(f, marks=pytest.mark.nightly) for f in (segment, cone_of_trace))],
)
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


@pytest.mark.daily(1)
@pytest.mark.parametrize("is_stated", [True, False])
@pytest.mark.parametrize("right", [[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
def test_a_face_that_no_other_value_has_leaves_no_derivative(right, is_stated):
    """K (e0 + e1) = p w has no feasible K for p > 0 or p < 0, or for both."""
    K, p = psd("K", 4), parameter("p", value=0.0)
    row = K @ np.array([1.0, 1.0, 0.0, 0.0]) if is_stated else K[0] + K[1]
    model = maximize(K.sum() + K[1, 2]) + (row == p * np.array(right)) + (K.diagonal() <= 1.0)
    solution = sdpdr.solve(model)
    for slope in (sensitivity, sdpdr.derivative):
        with pytest.raises(NotSmoothError, match="no interior at these values"):
            slope(model, solution, p)


def implied(p):
    """A bound that the equation reaches, and exceeds as p grows."""
    x = scalar("x", 2, nonnegative=True)
    return maximize(x[0]) + (x.sum() == 1.0 + p) + (x.sum() <= 1.0) + (x <= 2.0)


def vanished(p):
    """A row that is 0 <= p on the face of the first row."""
    K = psd("K", 2)
    return maximize(K[1, 1]) + (K[0, 0] <= 0.0) + (K[0, 0] - 2.0 * K[0, 1] <= p) + (K.trace() <= 2)


def apart(p):
    x = scalar("x", 2, nonnegative=True)
    return maximize(x[0]) + (x.sum() == 1.0 + p) + (2.0 * x.sum() == 2.0)


def loose(p):
    x, y = scalar("x"), scalar("y")
    return minimize(p * x + y) + (y >= 1.0)


def endless(p):
    x, y = scalar("x", nonnegative=True), scalar("y")
    return maximize(p * x + y) + (y <= 1.0)


@pytest.mark.daily(1)
@pytest.mark.parametrize("make", [implied, vanished, apart, loose, endless])
def test_a_value_that_is_lost_to_one_side_has_no_derivative(make):
    p = parameter("p", value=0.0)
    model = make(p)
    solution = sdpdr.solve(model)
    assert solution.certified()
    with pytest.raises((NotSmoothError, DataError), match="differences of two|come apart"):
        sensitivity(model, solution, p)
    found = []
    for p.value in (-1e-3, 1e-3):
        found.append(sdpdr.solve(model).certified())
    assert not all(found)


def touching(p):
    x = scalar("x")
    return minimize(square(x)) + (x >= p)


def saddle(p):
    """p times a point times a multiplier, neither of them unique: nothing changes."""
    x, z = scalar("x"), scalar("z")
    return minimize(z) + (z >= p * x) + (z >= -p * x) + (x <= 1.0) + (x >= -1.0)


def degenerate(p):
    """Three constraints meet, and the one that changes does so with a number that is zero."""
    x = scalar("x", 2, nonnegative=True)
    return (
        maximize(x @ [1.0, 2.0]) + (x[1] - 2.0 * x[0] <= 1.0) + ((2.0 - p) * x[0] + 2 * x[1] == 2)
    )


def alike(p):
    K = psd("K", 2)
    return maximize((1.0 + p) * K.trace()) + (K.trace() == 1.0)


@pytest.mark.parametrize(
    ("make", "rate"), [(touching, 0), (saddle, 0), (degenerate, 0), (alike, 1)]
)
def test_several_multipliers_or_points_with_one_rate_do_no_harm(make, rate):
    p = parameter("p", value=0.0)
    model = make(p)
    # A multiplier that vanishes with its slack is known to the square root of the last gap.
    assert sensitivity(model, sdpdr.solve(model), p) == pytest.approx(rate, abs=1e-4)


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


def test_a_symmetric_value_of_a_parameter_makes_no_other_rows():
    """Its entries (i, j) and (j, i) may change apart, and so there are derivatives by each."""
    G = np.array([[1.0, 2.0], [2.0, -1.0]])
    K, target = sdpdr.psd("K", 2), sdpdr.parameter("target", (2, 2), value=G)
    model = sdpdr.minimize(sdpdr.sum_squares(K - target)) + (K.diagonal() == 1.0)
    solution = model.solve()
    slope = sdpdr.sensitivity(model, solution, target)
    assert slope == pytest.approx(-2.0 * (np.asarray(solution["K"]) - G), abs=1e-6)


def test_multipliers_of_other_values_are_no_derivatives():
    q = parameter("q", value=1.0)
    K = psd("K", 40)
    model = maximize(K.sum()) + (K.diagonal() <= q)
    solution = sdpdr.solve(model)
    assert sdpdr.sensitivity(model, solution, q) == pytest.approx(1600.0, rel=1e-5)
    q.value = 1.2
    with suppress(DataError):  # or they are made to be
        assert sdpdr.sensitivity(model, solution, q) == pytest.approx(1600.0, rel=1e-5)


def test_a_large_program_has_the_rate_of_its_multipliers(monkeypatch):
    monkeypatch.setattr(optimum, "_LARGEST", 0.0)
    p, x = parameter("p", value=1.0), scalar("x")
    model = maximize(2.0 * x) + (x <= p)
    solution = sdpdr.solve(model)
    with pytest.warns(UncertifiedWarning, match="too large to check"):
        assert sensitivity(model, solution, p) == pytest.approx(2.0, abs=1e-6)
    with pytest.raises(DataError, match="too large for the derivative of its point"):
        sdpdr.derivative(model, solution, p)


LASSOS = {
    "squares and sizes": lambda a, b, x, p: 0.5 * sum_squares(a @ x - b) + 2.0 * p * norm(x, 1),
    "a length and the largest": lambda a, b, x, p: norm(a @ x - b) + p * norm(x, "inf"),
    "a length and the two largest": lambda a, b, x, p: norm(a @ x - b) + p * sum_largest(x, 2),
    "two lengths": lambda a, b, x, p: norm(a @ x - b) + p * norm(x),
}


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "seed"), list(zip(LASSOS, [0, 2, 5, 6], strict=True)))
def test_coefficients_that_are_zero_have_derivatives(name, seed):
    """Wherever differences to both sides agree, as they do unless a multiplier is zero as well."""
    rng = np.random.default_rng(100 + seed)
    x, p = scalar("x", 4), parameter("p", value=0.3)
    model = minimize(LASSOS[name](rng.standard_normal((8, 4)), rng.standard_normal(8), x, p))
    step = 1e-4

    def precise(value):
        p.value = value
        solution = model.solve()
        return solution, Optimum(model.model, solution).values["x"]

    (_, low), (_, high), (solution, here) = (precise(v) for v in (0.3 - step, 0.3 + step, 0.3))
    np.testing.assert_allclose(high - here, here - low, atol=1e-2 * step)
    slope = sdpdr.derivative(model, solution, p)["x"]
    np.testing.assert_allclose(slope, (high - low) / (2.0 * step), atol=1e-5)


@pytest.mark.daily(1)
@pytest.mark.parametrize("share", [1.0 - 1e-3, 1.0, 1.0 + 1e-3])
def test_a_threshold_is_smooth_but_where_it_begins(share):
    x, p = scalar("x", 2), parameter("p", value=1.0)
    model = minimize(0.5 * sum_squares(x - np.array([share, 3.0])) + p * norm(x, 1))
    solution = model.solve()
    if share == 1.0:
        with pytest.raises(NotSmoothError, match="together with its multiplier"):
            sdpdr.derivative(model, solution, p)
        return
    slope = sdpdr.derivative(model, solution, p)["x"]
    np.testing.assert_allclose(slope, [-1.0 if share > 1.0 else 0.0, -1.0], atol=1e-6)


DATA = np.random.default_rng(0).normal(size=(20, 3))
METRIC = DATA[:6, :2].T @ DATA[:6, :2] + np.eye(2)
x, w, K = scalar("x", 3), scalar("w", 6), psd("K", 2)
SMOOTH = {
    "where no row binds": lambda p: maximize(log_det(K) - p * K.inner(METRIC)) + (K.trace() <= 9.0),
    "a weight, and inside": lambda p: minimize(
        p * sum_logistic(DATA @ x + p * DATA[:, 0]) + sum_squares(x - 1.0)
    ),
    "a shift": lambda p: minimize(sum_exp(x - p) + sum_squares(x + 1.0)),
    "shares": lambda p: maximize(entropy(x) + p * x[0]) + (x.sum() == 1.0) + (x >= 0.0),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_costs_have_derivatives(name):
    p, step = parameter("p", value=0.7), 1e-3
    made = SMOOTH[name](p)
    model = getattr(made, "model", made)
    solution = model.solve()
    slope, moved = (f(model, solution, p) for f in (sdpdr.sensitivity, sdpdr.derivative))

    def precise(value):
        p.value = value
        found = Optimum(model, sdpdr.solve(model)).values
        return found, model.objective(found)

    (low, below), (high, above) = precise(0.7 - step), precise(0.7 + step)
    assert slope == pytest.approx((above - below) / (2.0 * step), rel=1e-5, abs=1e-5)
    assert moved.keys() == {v.name for v in made.variables() if "." not in v.name}
    for variable, found in moved.items():
        difference = (np.asarray(high[variable]) - low[variable]) / (2.0 * step)
        np.testing.assert_allclose(found, difference, atol=1e-5)


def test_a_point_that_is_not_unique_is_seen_though_bases_turn_along_the_path():
    """Any entry from -1 to 1 of a matrix of integers is optimal: the system is singular."""
    K, p = sdpdr.psd("K", 3), sdpdr.parameter("p", value=0.0)
    A = np.array([[0.0, 0.0, -2.0], [0.0, 0.0, -1.0], [-2.0, -1.0, -4.0]])
    model = sdpdr.minimize(K.inner(np.diag([2.0, -2.0, 1.0]))) + (K.trace() == 3.0)
    model = model + (K[0, 0] == 2.0) + (K.inner(A) == p)
    with pytest.raises(NotSmoothError, match="point is not unique"):
        sdpdr.derivative(model, sdpdr.solve(model), p)
