"""Derivatives of optima, and of where they are attained, are what differences say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.language.test_parameters import (
    FORMS,
    GRAPH,
    MODELS,
    coefficient,
    cut,
    design,
    linear,
    priced,
    unfolding,
)

import sdpdr
from sdpdr import maximize, minimize, norm, parameter, psd, scalar, square
from sdpdr.errors import DataError, NonUniqueWarning, NotSmoothError, UnknownNameError
from sdpdr.solving.again.slopes import Optimum

STEP = 1e-3


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


def precise(model, p, value):
    """The optimum, as precise as doubles allow."""
    before = p.value
    p.value = value
    found = Optimum(model, sdpdr.solve(model, tol=1e-8)).solution
    p.value = before
    return found


@pytest.mark.parametrize("make", [*MODELS, nearest, ball])
def test_multipliers_are_derivatives_by_the_parameter(make):
    p = parameter("p", value=1.3)
    model = make(p)
    slope = sdpdr.sensitivity(model, sdpdr.solve(model), "p")
    low, high = (precise(model, p, 1.3 + step).value for step in (-STEP, STEP))
    assert float(slope) == pytest.approx((high - low) / (2.0 * STEP), rel=1e-5, abs=1e-5)
    assert float(p.value) == 1.3


@pytest.mark.parametrize(
    "make", [unfolding, priced, design, cut, coefficient, linear, nearest, ball]
)
def test_points_move_as_their_derivative_says(make):
    p = parameter("p", value=1.3)
    model = make(p)
    slopes = sdpdr.derivative(model, sdpdr.solve(model), p)
    low, high = (precise(model, p, 1.3 + step).values for step in (-STEP, STEP))
    assert set(slopes) == {v.name for v in model.variables()}
    for name, slope in slopes.items():
        difference = (np.asarray(high[name]) - np.asarray(low[name])) / (2.0 * STEP)
        size = max(1.0, float(np.max(np.abs(difference))))
        np.testing.assert_allclose(slope, difference, atol=1e-5 * size)


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
    touching = minimize(square(x - p)) + (x <= 1.0)
    with pytest.raises(NotSmoothError, match="together with its multiplier"):
        sdpdr.derivative(touching, sdpdr.solve(touching), p)
    with pytest.raises(UnknownNameError, match="Known: p"):
        sdpdr.derivative(kink, sdpdr.solve(kink), "q")
    with pytest.raises(DataError, match="no precise optimum"):
        sdpdr.derivative(kink, sdpdr.solve(maximize(y) + (y <= 1.0)), p)


def test_a_row_said_twice_keeps_the_derivative_of_what_it_fixes():
    p = parameter("p", value=2.0)
    K = psd("K", 2)
    model = maximize(K.sum()) + (K.diagonal() == p) + (2.0 * K.diagonal() == 2.0 * p)
    np.testing.assert_allclose(sdpdr.derivative(model, sdpdr.solve(model), p)["K"], 1.0, atol=1e-8)
    assert float(sdpdr.sensitivity(model, sdpdr.solve(model), p)) == pytest.approx(4.0, abs=1e-7)
