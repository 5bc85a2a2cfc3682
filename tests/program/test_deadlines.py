"""Proofs by multipliers that are moved: never beyond the optimum, nor beyond their deadline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import Status, blocks, graphs, methods, soften
from sdpdr.base import deadline as clocks
from sdpdr.base.deadline import Deadline
from sdpdr.linalg import Entries, Trace
from sdpdr.program import SDP, Point, PsdVariable, Rows
from sdpdr.program.attain.local import both_sides
from sdpdr.program.certificate import certify
from sdpdr.solvers import LowRank


class Clock:
    """One second a look."""

    def __init__(self):
        self.looks = 0

    def monotonic(self):
        self.looks += 1
        return float(self.looks)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(clocks, "monotonic", made.monotonic)
    return made


def between_known_points(n):
    """A row of n steps between ends twice as far apart as the lengths: 3 n is the least price."""
    ends = np.array([[0.0], [2.0 * n]])
    lengths = blocks.AnchoredLengths(graphs.path(np.ones(n)), np.array([0, n]), ends, exact=True)
    return (blocks.Coordinates(n - 1, 1) + soften(lengths, 1.0)).to_sdp()


def forces(sdp, n):
    return {r.label: np.full(r.m, -0.99 if r.m == n else 0.0) for r in sdp.rows}


@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [0.0, 2.0, 8.0, 1e9])
def test_a_proof_looks_at_the_clock_no_more_once_the_time_is_up(clock, seconds):
    n = 6
    sdp = between_known_points(n)
    found = certify(sdp, forces(sdp, n), deadline=Deadline(seconds))
    assert clock.looks <= seconds + 2.0
    assert found.bound is None or found.bound <= 3.0 * n * (1.0 + 1e-9)


def test_a_point_with_nothing_right_is_no_answer_of_who_was_stopped():
    """A first point that breaks every row has any value, and one that is better than all."""
    roll = graphs.knn(np.random.default_rng(0).standard_normal((20, 3)), n_neighbors=4)
    solver = LowRank(options={"engine": "general"}, time_limit=0.0)
    found = sdpdr.solve(methods.mvu(roll, "equality"), solver)
    assert found.status is Status.TIME_LIMIT
    assert not found.values
    assert np.isnan(found.value)
    assert "misses the program" in found.attained_by


@pytest.mark.parametrize("seconds", [0.0, 2.0, 1e9])
def test_both_sides_look_at_the_clock_no_more_once_the_time_is_up(clock, seconds):
    """The least trace with X_11 = 1, from a point that breaks its row: 1 is the optimum."""
    rows = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.ones(1))
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,))
    near = Point({"X": np.diag([1.0, -1e-9])}, {"corner": np.full(1, -1.0 - 1e-9)})
    found = both_sides(sdp, near, 1e-6, deadline=Deadline(seconds))
    assert clock.looks <= seconds + 3.0  # one for either side, and one at the beginning
    if seconds in (0.0, 1e9):
        assert found.meet == (seconds == 1e9)
    if found.meet:
        assert found.certificate.bound <= 1.0 <= found.attained.value


@pytest.mark.nightly
@pytest.mark.parametrize("n", [5, 40])
def test_a_row_between_ends_that_are_too_far_apart_costs_what_equal_steps_cost(n):
    """Squares of n steps that add up to 2 n are at least 4 each on average: 3 too much each."""
    found = sdpdr.solve(between_known_points(n), "lowrank")
    assert found.certified(1e-6)
    assert found.value == pytest.approx(3.0 * n, rel=1e-5)


@pytest.mark.nightly
@given(seed=st.integers(0, 2**32 - 1), noise=st.sampled_from([0.0, 1e-8, 1e-4, 1.0]))
@settings(max_examples=30)
def test_multipliers_with_noise_prove_no_more_than_the_optimum(seed, noise):
    n = 6
    sdp, rng = between_known_points(n), np.random.default_rng(seed)
    # Equal forces along the row hold it.
    force = np.full(n, 1.0)
    duals = {
        r.label: (force if r.m == n else np.zeros(r.m)) + noise * rng.standard_normal(r.m)
        for r in sdp.rows
    }
    bound = certify(sdp, duals).bound
    assert bound is not None
    assert bound <= 3.0 * n * (1.0 + 1e-9)
