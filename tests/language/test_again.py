"""Answers that begin with the last one."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import sdpdr
from sdpdr import (
    entropy,
    graphs,
    log_det,
    maximize,
    minimize,
    norm,
    parameter,
    psd,
    scalar,
    sum_exp,
    sum_largest,
    sum_logistic,
    sum_squares,
)
from sdpdr.errors import DataError, NotSmoothError
from sdpdr.solving.derivatives.sensitivities import precise_optimum
from sdpdr.solving.derivatives.slopes import Optimum


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


def test_multipliers_of_other_values_are_no_derivatives():
    q = parameter("q", value=1.0)
    K = psd("K", 40)
    model = maximize(K.sum()) + (K.diagonal() <= q)
    solution = sdpdr.solve(model)
    assert sdpdr.sensitivity(model, solution, q) == pytest.approx(1600.0, rel=1e-5)
    q.value = 1.2
    with suppress(DataError):  # or they are made to be
        assert sdpdr.sensitivity(model, solution, q) == pytest.approx(1600.0, rel=1e-5)


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
        return solution, Optimum(model.model, solution).solution.values["x"]

    (_, low), (_, high), (solution, here) = (precise(v) for v in (0.3 - step, 0.3 + step, 0.3))
    np.testing.assert_allclose(high - here, here - low, atol=1e-2 * step)
    slope = sdpdr.derivative(model, solution, p)["x"]
    np.testing.assert_allclose(slope, (high - low) / (2.0 * step), atol=1e-5)


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
        found = precise_optimum(model, sdpdr.solve(model)).values
        return found, model.objective(found)

    (low, below), (high, above) = precise(0.7 - step), precise(0.7 + step)
    assert slope == pytest.approx((above - below) / (2.0 * step), rel=1e-5, abs=1e-5)
    assert moved.keys() == {v.name for v in made.variables() if "." not in v.name}
    for variable, found in moved.items():
        difference = (np.asarray(high[variable]) - low[variable]) / (2.0 * step)
        np.testing.assert_allclose(found, difference, atol=1e-5)
