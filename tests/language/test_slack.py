"""Slack of penalties beside free scalars, and scalars of tangents, which stay where they are."""

import numpy as np
import pytest

from sdpdr import (
    maximize,
    minimize,
    pos,
    scalar,
    solve,
    square,
    sum_exp,
    sum_log,
    sum_squares,
)
from sdpdr.model.to_sdp import with_slack

DATA = np.random.default_rng(0).standard_normal((40, 5))
NOISE = np.random.default_rng(1).standard_normal(40)


def hinge(x):
    return minimize(pos(1 - DATA @ x).sum() + 0.5 * sum_squares(x))


def least_deviations(x):
    return minimize(abs(DATA @ x - NOISE).sum())


def test_slack_of_penalties_costs_what_these_do_and_satisfies_their_rows():
    x = scalar("x", 5)
    residual = DATA @ x - NOISE
    cost = abs(residual).sum() + 2 * pos(residual).sum() + square(residual).sum()
    model = minimize(cost) + (x <= 9.0)
    values = {"x": np.random.default_rng(0).standard_normal(5)}
    sdp, point = model.to_sdp(), with_slack(model, values)
    assert sdp.primal_value(point) == pytest.approx(model.objective(values))
    for rows in sdp.rows:
        np.testing.assert_allclose(sdp.missed(rows, point), 0.0, atol=1e-12)
    for v in sdp.vector_variables:
        assert not v.nonnegative or np.min(point[v.name]) >= 0.0


@pytest.mark.nightly
@pytest.mark.parametrize("goal", [hinge, least_deviations])
def test_a_model_solved_as_written_has_the_same_optimum(goal):
    model = goal(scalar("x", 5))
    found, usual = solve(model, "clarabel", "cvxpy"), solve(model)
    assert found.certified()
    assert usual.certified()
    assert found.bound <= found.value == pytest.approx(usual.value, rel=1e-6)


def test_two_scalars_with_a_fixed_difference_are_both_kept():
    p = scalar("p", 2, nonnegative=True)
    found = solve(maximize(sum_log(p) - sum_exp(p)) + (p[0] - p[1] == 0.5))
    assert found.certified()
    a, b = found.values["p"]
    assert 1 / a - np.exp(a) + 1 / b - np.exp(b) == pytest.approx(0.0, abs=1e-3)
