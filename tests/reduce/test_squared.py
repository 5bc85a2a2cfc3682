"""A length as the cost, by half its square: the same point, value, bound and multipliers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr.reduce.squared import squared


def _length(n: int, seed: int, scale: float = 1.0, constant: float = 0.0) -> sdpdr.Model:
    root = np.random.default_rng(seed).standard_normal((n, n))
    K = sdpdr.psd("K", n)
    goal = scale * sdpdr.norm(K - (root + root.T)) + constant
    return sdpdr.minimize(goal) + (K.diagonal() == 1.0) + (K[0, 1] >= 0.2)


@pytest.mark.nightly
@given(st.integers(2, 7), st.integers(0, 10_000), st.floats(0.1, 10.0), st.floats(-5.0, 5.0))
@settings(max_examples=8)
def test_what_is_lifted_proves_the_length_by_itself(
    n: int, seed: int, scale: float, constant: float
) -> None:
    sdp = _length(n, seed, scale, constant).to_sdp()
    found = squared(sdp)
    assert found is not None
    lifted = found.lift(sdpdr.solve(found.sdp))
    assert lifted.value == pytest.approx(sdp.primal_value(lifted.values))
    # The multipliers, by their own value, are as good as the bound, which a proof may have lowered.
    by_itself = sdp.dual_value(lifted.duals)
    assert lifted.bound - 1e-9 * (1.0 + abs(by_itself)) <= by_itself
    assert by_itself <= lifted.attained + 1e-6 * abs(lifted.attained)
    assert lifted.bound <= lifted.attained
    for v in sdp.vector_variables:
        assert sdp.dual_slack(v.name, lifted.duals) == pytest.approx(0.0, abs=1e-9)
    for lmi in sdp.lmis:
        assert np.linalg.eigvalsh(lifted.duals[lmi.label])[0] >= -1e-9


def test_runs_on_the_squares_are_told_as_runs_on_the_length() -> None:
    found = squared(_length(3, 0, 2.0, -1.0).to_sdp())
    lifted = found.lift(sdpdr.solve(found.sdp))
    assert lifted.claimed.value == pytest.approx(lifted.value, rel=1e-5)
    for run in lifted.runs:
        assert run.value == pytest.approx(lifted.value, rel=1e-5)
        assert run.bound <= lifted.value <= run.attained * (1.0 + 1e-9)
        assert run.bound == pytest.approx(run.attained, rel=1e-5)


def test_a_length_that_can_vanish_has_the_value_zero() -> None:
    K = sdpdr.psd("K", 3)
    found = (sdpdr.minimize(sdpdr.norm(K - np.eye(3))) + (K.trace() == 3)).solve(gap_scale=1.0)
    assert found.status is sdpdr.Status.SOLVED
    assert found.value == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    "goal",
    [
        lambda K: sdpdr.norm(K - np.eye(3)) + K.trace(),
        lambda K: sdpdr.norm(K - np.eye(3)) + sdpdr.norm(K),
        lambda K: K.trace(),
    ],
)
def test_other_costs_stay_as_they_are(goal) -> None:
    K = sdpdr.psd("K", 3)
    assert squared((sdpdr.minimize(goal(K)) + (K.sum() == 1)).to_sdp()) is None


def test_a_length_with_limits_of_its_own_stays_as_it_is() -> None:
    K, t = sdpdr.psd("K", 3), sdpdr.scalar("t")
    free = sdpdr.minimize(t) + (sdpdr.norm(K - np.eye(3)) <= t) + (K.sum() == 1)
    assert squared(free.to_sdp()) is not None
    assert squared((free + (t <= 5.0)).to_sdp()) is None
    assert squared((free + (t + K.trace() >= 2.0)).to_sdp()) is None


def test_an_arrow_with_a_constant_head_is_no_length() -> None:
    """The least t with [[1, v'], [v, t I]] positive semidefinite is the square of v."""
    t = sdpdr.scalar("t")
    shape = np.diag([1.0, 0.0, 0.0])
    shape[0, 1:] = shape[1:, 0] = 1.0, 2.0
    model = sdpdr.minimize(t) + (t * np.diag([0.0, 1.0, 1.0]) + shape >> 0.0) + (t <= 50.0)
    assert squared(model.to_sdp()) is None
    assert sdpdr.solve(model).attained == pytest.approx(5.0, rel=1e-6)
