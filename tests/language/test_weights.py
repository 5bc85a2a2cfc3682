"""Weights of zero mean no term, negative ones are refused; slack costs what penalties do."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import (
    log_sum_exp,
    minimize,
    norm,
    parameter,
    pos,
    scalar,
    square,
    sum_squares,
    symmetric,
)
from sdpdr.errors import ModelError
from sdpdr.model.to_sdp import with_slack
from sdpdr.solving.options import as_model

RNG = np.random.default_rng(2)
A, b = RNG.standard_normal((6, 3)), RNG.standard_normal(6)
x, t = scalar("x", 3), scalar("t")
S = symmetric("S", 3)
fit = sum_squares(A @ x - b)
SOME = np.array([0.0, 1.0, 2.0])
lam, some = parameter("lam", value=0.0), parameter("some", value=SOME)

# A model with weights of zero, and the same without what they weigh.
MEANT = {
    "a block by a parameter": (lambda: minimize(fit) + lam * abs(x), lambda: minimize(fit)),
    "a norm": (lambda: minimize(fit + lam * norm(x)), lambda: minimize(fit)),
    "a smooth function": (lambda: minimize(fit + lam * log_sum_exp(x)), lambda: minimize(fit)),
    "some broken rows": (
        lambda: minimize(fit) + (x >= 1.0).penalized(SOME),
        lambda: minimize(fit) + (x[1:] >= 1.0).penalized(SOME[1:]),
    ),
    "some of a block": (
        lambda: minimize(fit) + SOME * abs(x),
        lambda: minimize(fit) + SOME[1:] * abs(x[1:]),
    ),
    "limits": (
        lambda: minimize(fit) + (SOME * abs(x) <= 0.1),
        lambda: minimize(fit) + (SOME[1:] * abs(x[1:]) <= 0.1),
    ),
    "a limit of a sum by a parameter": (
        lambda: minimize(fit) + ((lam * abs(x)).sum() <= 0.1),
        lambda: minimize(fit),
    ),
    "of a symmetric matrix": (
        lambda: minimize(square(S - np.ones((3, 3))).sum() + (np.eye(3) * abs(S)).sum()),
        lambda: minimize(square(S - np.ones((3, 3))).sum() + abs(S.diagonal()).sum()),
    ),
}


@pytest.mark.daily(4)
@pytest.mark.parametrize("name", MEANT)
def test_a_weight_of_zero_means_no_term(name):
    with_zeros, without = (model() for model in MEANT[name])
    found, known = sdpdr.solve(with_zeros), sdpdr.solve(without)
    assert found.status is known.status is sdpdr.Status.SOLVED
    assert found.value == pytest.approx(known.value, abs=1e-6)
    # Functions of the point are no more than what the program has in their place.
    objective = as_model(with_zeros).objective(found.values)
    assert objective <= found.value + 1e-9
    assert objective == pytest.approx(found.value, abs=1e-6)


@pytest.mark.parametrize(
    "weighed",
    [
        lambda w: minimize(fit + w * norm(x)),
        lambda w: minimize(fit) + ((w * pos(x)).sum() <= 1.0),
    ],
)
def test_a_negative_one_is_refused_with_one_message(weighed):
    lam = parameter("lam", value=1.0)
    model = weighed(lam)
    lam.value = -1.0
    words = r"the weights of .*\(lam\), must be positive and finite, or zero, which means no term"
    with pytest.raises(ModelError, match=words):
        model.solve()


@pytest.mark.parametrize(("penalty", "largest"), [(abs, 0.5), (pos, 0.5), (square, np.sqrt(1.5))])
def test_a_parameter_that_weighs_a_sum_below_a_limit(penalty, largest):
    weight = parameter("weight", value=1.0)
    model = sdpdr.maximize(x.sum()) + ((weight * penalty(x)).sum() <= 1.0) + (x >= -1.0)
    weight.value = 2.0
    assert model.solve().value == pytest.approx(largest, rel=1e-5)


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
    found, usual = sdpdr.solve(model, "clarabel", "cvxpy"), sdpdr.solve(model)
    assert found.certified()
    assert usual.certified()
    assert found.bound <= found.value == pytest.approx(usual.value, rel=1e-6)
