"""Slack of penalties beside free scalars, and scalars of tangents, which stay where they are."""

import numpy as np
import pytest

from sdpdr import (
    log_det,
    maximize,
    minimize,
    pos,
    psd,
    scalar,
    solve,
    square,
    sum_exp,
    sum_log,
    sum_logistic,
    sum_squares,
)
from sdpdr.model.to_sdp import with_slack

DATA = np.random.default_rng(0).standard_normal((40, 5))
NOISE = np.random.default_rng(1).standard_normal(40)


def hinge(x):
    return minimize(pos(1 - DATA @ x).sum() + 0.5 * sum_squares(x))


def least_deviations(x):
    return minimize(abs(DATA @ x - NOISE).sum())


def sparse_logistic(x):
    signs = np.sign(DATA[:, 0] + 0.5 * NOISE)
    return minimize(sum_logistic(-signs * (DATA @ x)) + 0.1 * abs(x).sum())


@pytest.mark.parametrize("seed", range(3))
def test_slack_of_penalties_costs_what_these_do_and_satisfies_their_rows(seed):
    x = scalar("x", 5)
    residual = DATA @ x - NOISE
    cost = abs(residual).sum() + 2 * pos(residual).sum() + square(residual).sum()
    model = minimize(cost) + (x <= 9.0)
    values = {"x": np.random.default_rng(seed).standard_normal(5)}
    sdp, point = model.to_sdp(), with_slack(model, values)
    assert sdp.primal_value(point) == pytest.approx(model.objective(values))
    for rows in sdp.rows:
        np.testing.assert_allclose(sdp.missed(rows, point), 0.0, atol=1e-12)
    for v in sdp.vector_variables:
        assert not v.nonnegative or np.min(point[v.name]) >= 0.0


@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize("goal", [hinge, least_deviations])
def test_a_model_solved_as_written_has_the_same_optimum(goal, solver):
    model = goal(scalar("x", 5))
    found, usual = solve(model, solver, "cvxpy"), solve(model)
    assert found.certified()
    assert usual.certified()
    assert found.bound <= found.value == pytest.approx(usual.value, rel=1e-6)


@pytest.mark.nightly
def test_sparse_logistic_regression_is_certified_at_a_stationary_point():
    x = scalar("x", 5)
    found = solve(sparse_logistic(x))
    assert found.certified()
    at = found.values["x"]
    signs = np.sign(DATA[:, 0] + 0.5 * NOISE)
    slope = -DATA.T @ (signs / (1.0 + np.exp(signs * (DATA @ at))))
    assert np.max(np.abs(slope)) <= 0.1 + 1e-5
    assert slope @ at == pytest.approx(-0.1 * np.abs(at).sum(), abs=1e-5)


@pytest.mark.nightly
@pytest.mark.parametrize("beside", [False, True])
def test_a_scalar_inside_its_limits_stays_where_its_tangent_is_flat(beside):
    # The least of exp(w) - 2 w is at log 2; a tangent there has no price for any other place.
    w, K = scalar("w", 3, nonnegative=True), psd("K", 3)
    cost = sum_exp(w) - 2 * w.sum()
    model = minimize(cost - log_det(K)) + (K.diagonal() <= 1) if beside else minimize(cost)
    found = solve(model + (w <= 3))
    assert found.certified()
    assert found.value == pytest.approx(3 * (2.0 - 2.0 * np.log(2.0)))


def test_two_scalars_with_a_fixed_difference_are_both_kept():
    p = scalar("p", 2, nonnegative=True)
    found = solve(maximize(sum_log(p) - sum_exp(p)) + (p[0] - p[1] == 0.5))
    assert found.certified()
    a, b = found.values["p"]
    assert 1 / a - np.exp(a) + 1 / b - np.exp(b) == pytest.approx(0.0, abs=1e-3)
